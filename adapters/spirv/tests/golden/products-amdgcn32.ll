target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @products(ptr addrspace(1) %v13, i64 %v14, i64 %v15, i64 %v16, i32 %v17) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b18:
  %v19 = mul i64 %v14, %v15
  br label %b20
b20:
  %v21 = phi i64 [ 0, %b18 ], [ %v22, %b23 ]
  %v24 = phi i32 [ 0, %b18 ], [ %v25, %b23 ]
  %v26 = icmp ult i64 %v21, %v16
  br i1 %v26, label %b27, label %b28
b27:
  %v29 = mul i64 %v21, %v15
  %v30 = add i64 %v19, %v29
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
  br label %b20
b28:
  %v40 = phi i64 [ %v41, %b28 ], [ %v14, %b20 ]
  %v41 = add i64 %v15, %v40
  %v42 = add i64 %v40, %v19
  %v43 = mul i64 %v42, %v16
  %v44 = getelementptr inbounds i64, ptr addrspace(1) %v13, i64 %v43
  store i64 %v40, ptr addrspace(1) %v44, align 8
  %v45 = icmp ult i64 %v41, %v16
  br i1 %v45, label %b28, label %b46
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
