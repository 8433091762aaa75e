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
define void @inner(%s11 addrspace(1)* %v24) #0 {
entry:
  %go0 = add i64 0, 0
  %go1 = add i64 0, 0
  %go2 = add i64 0, 0
  call void @f1(%s11 addrspace(1)* %v24, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
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
define void @outer(%s11 addrspace(1)* %v29) #0 {
entry:
  %go0 = add i64 0, 0
  %go1 = add i64 0, 0
  %go2 = add i64 0, 0
  call void @f2(%s11 addrspace(1)* %v29, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define void @outer_with_offset(%s11 addrspace(1)* %v29, [3 x i32]* byval align 4 %offset) #0 {
entry:
  %t7 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 0
  %t8 = load i32, i32* %t7
  %go0 = zext i32 %t8 to i64
  %t9 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 1
  %t10 = load i32, i32* %t9
  %go1 = zext i32 %t10 to i64
  %t11 = getelementptr [3 x i32], [3 x i32]* %offset, i32 0, i32 2
  %t12 = load i32, i32* %t11
  %go2 = zext i32 %t12 to i64
  call void @f2(%s11 addrspace(1)* %v29, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define internal void @f2(%s11 addrspace(1)* %v29, i64 %go0, i64 %go1, i64 %go2) #2 {
b30:
  %b3 = alloca <3 x i64>
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = mul nuw nsw i64 %t2, %t4
  %t6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t7 = zext i32 %t6 to i64
  %t8 = add nuw nsw i64 %t5, %t7
  %t9 = add i64 %t8, %go0
  %t10 = insertelement <3 x i64> undef, i64 %t9, i32 0
  %t11 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t12 = zext i32 %t11 to i64
  %t13 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t14 = zext i32 %t13 to i64
  %t15 = mul nuw nsw i64 %t12, %t14
  %t16 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t17 = zext i32 %t16 to i64
  %t18 = add nuw nsw i64 %t15, %t17
  %t19 = add i64 %t18, %go1
  %t20 = insertelement <3 x i64> %t10, i64 %t19, i32 1
  %t21 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t22 = zext i32 %t21 to i64
  %t23 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t24 = zext i32 %t23 to i64
  %t25 = mul nuw nsw i64 %t22, %t24
  %t26 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t27 = zext i32 %t26 to i64
  %t28 = add nuw nsw i64 %t25, %t27
  %t29 = add i64 %t28, %go2
  %t30 = insertelement <3 x i64> %t20, i64 %t29, i32 2
  store <3 x i64> %t30, <3 x i64>* %b3
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
!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7}
!nvvmir.version = !{!8}
!0 = !{void (%s11 addrspace(1)*)* @inner, !"kernel", i32 1}
!1 = !{void (%s11 addrspace(1)*)* @inner, !"maxntidx", i32 1024}
!2 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @inner_with_offset, !"kernel", i32 1}
!3 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @inner_with_offset, !"maxntidx", i32 1024}
!4 = !{void (%s11 addrspace(1)*)* @outer, !"kernel", i32 1}
!5 = !{void (%s11 addrspace(1)*)* @outer, !"maxntidx", i32 1024}
!6 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @outer_with_offset, !"kernel", i32 1}
!7 = !{void (%s11 addrspace(1)*, [3 x i32]*)* @outer_with_offset, !"maxntidx", i32 1024}
!8 = !{i32 2, i32 0, i32 3, i32 1}
