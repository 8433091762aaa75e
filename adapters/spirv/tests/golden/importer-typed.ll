target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@factor = external addrspace(1) global i32, align 4
declare i32 @twice(i32)
define void @importer(i32 addrspace(1)* %v10) #0 {
b11:
  %v12 = load i32, i32 addrspace(1)* @factor, align 4
  %v13 = call i32 @twice(i32 %v12) #0
  store i32 %v13, i32 addrspace(1)* %v10, align 4
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!0, !1}
!nvvmir.version = !{!2}
!0 = !{void (i32 addrspace(1)*)* @importer, !"kernel", i32 1}
!1 = !{void (i32 addrspace(1)*)* @importer, !"maxntidx", i32 1024}
!2 = !{i32 2, i32 0, i32 3, i32 1}
