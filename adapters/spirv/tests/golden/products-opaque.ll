target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @products(ptr addrspace(1) %v13, i64 %v14, i64 %v15, i64 %v16, i32 %v17) #0 {
b18:
  %v19 = mul i64 %v14, %v15
  %t1 = mul i64 0, %v15
  %t2 = mul i64 1, %v15
  %t3 = add i64 %t1, %v19
  br label %b20
b20:
  %c29 = phi i64 [ %t1, %b18 ], [ %n29, %b23 ]
  %c30 = phi i64 [ %t3, %b18 ], [ %n30, %b23 ]
  %v21 = phi i64 [ 0, %b18 ], [ %v22, %b23 ]
  %v24 = phi i32 [ 0, %b18 ], [ %v25, %b23 ]
  %v26 = icmp ult i64 %v21, %v16
  %t4 = add i64 %v14, %v19
  %t5 = mul i64 %t4, %v16
  %t6 = mul i64 %v15, %v16
  br i1 %v26, label %b27, label %b28
b27:
  %v29 = bitcast i64 %c29 to i64
  %v30 = bitcast i64 %c30 to i64
  %v31 = mul i64 %v21, 10
  %v32 = mul i64 %v21, %v21
  %v33 = mul i32 %v24, %v17
  %v34 = zext i32 %v33 to i64
  %v35 = icmp ult i64 %v30, %v16
  br i1 %v35, label %b36, label %b23
b36:
  %v37 = getelementptr inbounds i64, ptr addrspace(1) %v13, i64 %v30
  %v38 = add i64 %v31, %v32
  %v39 = add i64 %v38, %v34
  store i64 %v39, ptr addrspace(1) %v37, align 8
  br label %b23
b23:
  %v22 = add i64 %v21, 1
  %v25 = add i32 %v24, 1
  %n29 = add i64 %c29, %t2
  %n30 = add i64 %c30, %t2
  br label %b20, !llvm.loop !1
b28:
  %c43 = phi i64 [ %t5, %b20 ], [ %n43, %b28 ]
  %v40 = phi i64 [ %v41, %b28 ], [ %v14, %b20 ]
  %v41 = add i64 %v15, %v40
  %v42 = add i64 %v40, %v19
  %v43 = bitcast i64 %c43 to i64
  %v44 = getelementptr inbounds i64, ptr addrspace(1) %v13, i64 %v43
  store i64 %v40, ptr addrspace(1) %v44, align 8
  %v45 = icmp ult i64 %v41, %v16
  %n43 = add i64 %c43, %t6
  br i1 %v45, label %b28, label %b46, !llvm.loop !2
b46:
  br i1 %v45, label %b47, label %b48
b47:
  br label %b48
b48:
  %v49 = phi i64 [ 0, %b46 ], [ 1, %b47 ], [ %v50, %b48 ]
  %v51 = mul i64 %v49, %v15
  %v52 = getelementptr inbounds i64, ptr addrspace(1) %v13, i64 %v51
  store i64 %v49, ptr addrspace(1) %v52, align 8
  %v50 = add i64 %v49, 1
  %v53 = icmp ult i64 %v50, %v16
  br i1 %v53, label %b48, label %b54
b54:
  br label %b55
b55:
  %v56 = phi i64 [ 0, %b54 ], [ %v57, %b55 ]
  %v58 = mul i64 %v56, %v15
  %v59 = add i64 %v58, %v14
  %v60 = mul i64 %v56, %v16
  %v61 = add i64 %v60, %v14
  %v62 = mul i64 %v56, %v19
  %v63 = xor i64 %v59, %v61
  %v64 = xor i64 %v63, %v62
  %v65 = getelementptr inbounds i64, ptr addrspace(1) %v13, i64 %v64
  store i64 %v56, ptr addrspace(1) %v65, align 8
  %v57 = add i64 %v56, 1
  %v66 = icmp ult i64 %v57, %v16
  br i1 %v66, label %b55, label %b67
b67:
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!3, !4}
!nvvmir.version = !{!5}
!0 = !{!"llvm.loop.unroll.count", i32 4}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}
!3 = !{ptr @products, !"kernel", i32 1}
!4 = !{ptr @products, !"maxntidx", i32 1024}
!5 = !{i32 2, i32 0, i32 3, i32 1}
