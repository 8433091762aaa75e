target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @bases(float addrspace(1)* %v15, i64 %v16, i64 %v17) #0 {
b18:
  %v19 = alloca [4 x float], align 4
  %v20 = getelementptr inbounds [4 x float], [4 x float]* %v19, i64 0, i64 0
  %v21 = mul i64 %v16, %v17
  %t1 = getelementptr inbounds float, float addrspace(1)* %v15, i64 %v21
  %v22 = call float addrspace(1)* asm "mov.b64 $0, $1;", "=l,l"(float addrspace(1)* %t1)
  %v23 = getelementptr inbounds float, float addrspace(1)* %v22, i64 1
  br label %b24
b24:
  %v25 = phi i64 [ 0, %b18 ], [ %v26, %b27 ]
  %t2 = getelementptr inbounds float, float addrspace(1)* %v22, i64 %v25
  %v28 = call float addrspace(1)* asm "mov.b64 $0, $1;", "=l,l"(float addrspace(1)* %t2)
  br label %b29
b29:
  %v30 = phi i64 [ 0, %b24 ], [ %v31, %b32 ]
  %v33 = phi float [ 0x0000000000000000, %b24 ], [ %v34, %b32 ]
  %v35 = icmp ult i64 %v30, %v17
  br i1 %v35, label %b36, label %b32
b36:
  %v37 = getelementptr inbounds float, float addrspace(1)* %v28, i64 %v30
  %v38 = getelementptr inbounds float, float addrspace(1)* %v37, i64 1
  %v39 = load float, float addrspace(1)* %v38, align 4
  %v40 = getelementptr inbounds float, float* %v20, i64 %v30
  store float %v39, float* %v40, align 4
  %v41 = fadd float %v33, %v39
  br label %b32
b32:
  %v34 = phi float [ %v33, %b29 ], [ %v41, %b36 ]
  %v31 = add i64 %v30, 1
  %v42 = icmp ult i64 %v31, %v16
  br i1 %v42, label %b29, label %b27
b27:
  store float %v34, float addrspace(1)* %v28, align 4
  %v26 = add i64 %v25, 1
  %v43 = icmp ult i64 %v26, %v17
  br i1 %v43, label %b24, label %b44
b44:
  %v45 = getelementptr inbounds float, float addrspace(1)* %v23, i64 %v16
  store float 0x0000000000000000, float addrspace(1)* %v45, align 4
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!0, !1}
!nvvmir.version = !{!2}
!0 = !{void (float addrspace(1)*, i64, i64)* @bases, !"kernel", i32 1}
!1 = !{void (float addrspace(1)*, i64, i64)* @bases, !"maxntidx", i32 1024}
!2 = !{i32 2, i32 0, i32 3, i32 1}
