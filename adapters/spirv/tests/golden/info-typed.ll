target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%s19 = type { i8, i64, [6 x i32] }
@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16
define void @info(i32 addrspace(1)* %v3, i32 addrspace(1)* %v27, i64 %p28, %s19* byval align 8 %v5, <3 x i32> %v29, i16 %v4) #0 {
b30:
  %t1 = getelementptr [0 x i8], [0 x i8] addrspace(3)* @ur_dynamic_shared, i64 0, i64 %p28
  %v28 = bitcast i8 addrspace(3)* %t1 to i32 addrspace(3)*
  %v31 = load i32, i32 addrspace(1)* %v27, align 4, !invariant.load !0
  store i32 %v31, i32 addrspace(3)* %v28, align 4
  %t2 = extractelement <3 x i32> %v29, i32 2
  %v32 = bitcast i32 %t2 to i32
  %v33 = select i1 true, i32 3, i32 %v32
  %v34 = sub i32 6, 2
  %v35 = getelementptr inbounds %s19, %s19* %v5, i32 0, i32 2, i32 %v34
  %v36 = load i32, i32* %v35, align 4
  %v37 = zext i16 %v4 to i32
  %v38 = add i32 %v33, %v36
  %v39 = add i32 %v38, %v37
  store i32 %v39, i32 addrspace(1)* %v3, align 4
  ret void
}
define void @plain() #0 {
b40:
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!1, !2, !3, !4, !5, !6}
!nvvmir.version = !{!7}
!0 = !{}
!1 = !{void (i32 addrspace(1)*, i32 addrspace(1)*, i64, %s19*, <3 x i32>, i16)* @info, !"kernel", i32 1}
!2 = !{void (i32 addrspace(1)*, i32 addrspace(1)*, i64, %s19*, <3 x i32>, i16)* @info, !"reqntidx", i32 8}
!3 = !{void (i32 addrspace(1)*, i32 addrspace(1)*, i64, %s19*, <3 x i32>, i16)* @info, !"reqntidy", i32 4}
!4 = !{void (i32 addrspace(1)*, i32 addrspace(1)*, i64, %s19*, <3 x i32>, i16)* @info, !"reqntidz", i32 2}
!5 = !{void ()* @plain, !"kernel", i32 1}
!6 = !{void ()* @plain, !"maxntidx", i32 1024}
!7 = !{i32 2, i32 0, i32 3, i32 1}
