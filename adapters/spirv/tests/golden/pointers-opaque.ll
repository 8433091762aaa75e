target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%s11 = type { i32, ptr addrspace(1) }
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
define void @inner(ptr addrspace(1) %v24) #0 {
entry:
  call void @f1(ptr addrspace(1) %v24)
  ret void
}
define void @outer(ptr addrspace(1) %v29) #0 {
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
  %t9 = insertelement <3 x i64> undef, i64 %t8, i32 0
  %t10 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t11 = zext i32 %t10 to i64
  %t12 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t13 = zext i32 %t12 to i64
  %t14 = mul nuw nsw i64 %t11, %t13
  %t15 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t16 = zext i32 %t15 to i64
  %t17 = add nuw nsw i64 %t14, %t16
  %t18 = insertelement <3 x i64> %t9, i64 %t17, i32 1
  %t19 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t20 = zext i32 %t19 to i64
  %t21 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t22 = zext i32 %t21 to i64
  %t23 = mul nuw nsw i64 %t20, %t22
  %t24 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t25 = zext i32 %t24 to i64
  %t26 = add nuw nsw i64 %t23, %t25
  %t27 = insertelement <3 x i64> %t18, i64 %t26, i32 2
  store <3 x i64> %t27, ptr %b3
  %v31 = getelementptr inbounds <3 x i64>, ptr %b3, i32 0, i32 0
  %v32 = load i64, ptr %v31, align 8
  %v33 = getelementptr inbounds %s11, ptr addrspace(1) %v29, i64 %v32
  %v34 = getelementptr inbounds %s11, ptr addrspace(1) %v33, i32 0, i32 1
  %v35 = load ptr addrspace(1), ptr addrspace(1) %v34, align 8
  call void @f1(ptr addrspace(1) %v35) #0
  ret void
}
define internal void @f1(ptr addrspace(1) %v24) #0 {
b25:
  %v26 = getelementptr inbounds %s11, ptr addrspace(1) %v24, i32 0, i32 0
  %v27 = load i32, ptr addrspace(1) %v26, align 4
  %v28 = call i32 @f20(i32 %v27) #0
  store i32 %v28, ptr addrspace(1) %v26, align 4
  ret void
}
define internal i32 @f20(i32 %v21) #0 noinline {
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
!0 = !{ptr @inner, !"kernel", i32 1}
!1 = !{ptr @inner, !"maxntidx", i32 1024}
!2 = !{ptr @outer, !"kernel", i32 1}
!3 = !{ptr @outer, !"maxntidx", i32 1024}
!4 = !{i32 2, i32 0, i32 3, i32 1}
