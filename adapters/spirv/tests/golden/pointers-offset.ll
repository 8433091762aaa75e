target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%s11 = type { i32, %s11 addrspace(1)* }
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
define void @inner_with_offset(%s11 addrspace(1)* %v24, [3 x i32]* byval align 4 %offset) #0 {
entry:
  %t1 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 0
  %t2 = load i32, i32* %t1
  %go0 = zext i32 %t2 to i64
  %t3 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 1
  %t4 = load i32, i32* %t3
  %go1 = zext i32 %t4 to i64
  %t5 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 2
  %t6 = load i32, i32* %t5
  %go2 = zext i32 %t6 to i64
  call void @f1(%s11 addrspace(1)* %v24, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define void @outer_with_offset(%s11 addrspace(1)* %v29, [3 x i32]* byval align 4 %offset) #0 {
b30:
  %t1 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 0
  %t2 = load i32, i32* %t1
  %go0 = zext i32 %t2 to i64
  %t3 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 1
  %t4 = load i32, i32* %t3
  %go1 = zext i32 %t4 to i64
  %t5 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 2
  %t6 = load i32, i32* %t5
  %go2 = zext i32 %t6 to i64
  %b3 = alloca <3 x i64>
  %t7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t8 = zext i32 %t7 to i64
  %t9 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t10 = zext i32 %t9 to i64
  %t11 = mul nuw nsw i64 %t8, %t10
  %t12 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t13 = zext i32 %t12 to i64
  %t14 = add nuw nsw i64 %t11, %t13
  %t15 = add i64 %t14, %go0
  %t16 = insertelement <3 x i64> undef, i64 %t15, i32 0
  %t17 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t18 = zext i32 %t17 to i64
  %t19 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t20 = zext i32 %t19 to i64
  %t21 = mul nuw nsw i64 %t18, %t20
  %t22 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t23 = zext i32 %t22 to i64
  %t24 = add nuw nsw i64 %t21, %t23
  %t25 = add i64 %t24, %go1
  %t26 = insertelement <3 x i64> %t16, i64 %t25, i32 1
  %t27 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t28 = zext i32 %t27 to i64
  %t29 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t30 = zext i32 %t29 to i64
  %t31 = mul nuw nsw i64 %t28, %t30
  %t32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t33 = zext i32 %t32 to i64
  %t34 = add nuw nsw i64 %t31, %t33
  %t35 = add i64 %t34, %go2
  %t36 = insertelement <3 x i64> %t26, i64 %t35, i32 2
  store <3 x i64> %t36, <3 x i64>* %b3
  %v31 = getelementptr inbounds <3 x i64>, <3 x i64>* %b3, i32 0, i32 0
  %v32 = load i64, i64* %v31, align 8
  %v33 = getelementptr inbounds %s11, %s11 addrspace(1)* %v29, i64 %v32
  %v34 = getelementptr inbounds %s11, %s11 addrspace(1)* %v33, i32 0, i32 1
  %v35 = load %s11 addrspace(1)*, %s11 addrspace(1)* addrspace(1)* %v34, align 8
  call void @f1(%s11 addrspace(1)* %v35, i64 %go0, i64 %go1, i64 %go2) #0
  ret void
}
define internal void @f1(%s11 addrspace(1)* %v24, i64 %go0, i64 %go1, i64 %go2) #0 {
b25:
  %v26 = getelementptr inbounds %s11, %s11 addrspace(1)* %v24, i32 0, i32 0
  %v27 = load i32, i32 addrspace(1)* %v26, align 4
  %v28 = call i32 @f20(i32 %v27, i64 %go0, i64 %go1, i64 %go2) #0
  store i32 %v28, i32 addrspace(1)* %v26, align 4
  ret void
}
define internal i32 @f20(i32 %v21, i64 %go0, i64 %go1, i64 %go2) #0 noinline {
b22:
  %v23 = add i32 %v21, 1
  ret i32 %v23
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!0, !1, !2, !3}
!nvvmir.version = !{!4}
!0 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @inner_with_offset, !"kernel", i32 1}
!1 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @inner_with_offset, !"maxntidx", i32 1024}
!2 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @outer_with_offset, !"kernel", i32 1}
!3 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @outer_with_offset, !"maxntidx", i32 1024}
!4 = !{i32 2, i32 0, i32 3, i32 1}
