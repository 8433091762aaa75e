target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @late(ptr addrspace(1) %v12, i64 %v13, i64 %v14, i32 %v15, <2 x i64> %v16) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b17:
  %v18 = udiv i64 %v13, %v14
  %v19 = srem i64 %v14, %v13
  %v20 = urem i32 %v15, %v15
  %v21 = udiv i64 %v13, 10
  %v22 = udiv i64 %v14, %v13
  %v23 = sdiv i64 %v13, %v14
  %t1 = srem i64 %v13, %v14
  %t2 = xor i64 %t1, %v14
  %t3 = icmp slt i64 %t2, 0
  %t4 = icmp ne i64 %t1, 0
  %t5 = and i1 %t3, %t4
  %t6 = add i64 %t1, %v14
  %t7 = select i1 %t5, i64 %t6, i64 %t1
  %v24 = bitcast i64 %t7 to i64
  %v25 = urem i64 %v13, %v14
  %v26 = udiv <2 x i64> %v16, %v16
  %v27 = icmp ult i64 %v22, %v13
  br i1 %v27, label %b28, label %b29
b28:
  %v30 = zext i32 %v20 to i64
  %v31 = add i64 %v30, 1
  %v32 = udiv i64 %v18, %v14
  %v33 = add i64 %v31, %v21
  %v34 = add i64 %v33, %v23
  store i64 %v34, ptr addrspace(1) %v12, align 8
  %v35 = icmp ult i64 %v34, %v13
  br i1 %v35, label %b36, label %b29
b36:
  store i64 %v32, ptr addrspace(1) %v12, align 8
  br label %b29
b29:
  %v37 = phi i64 [ 0, %b17 ], [ %v24, %b28 ], [ 1, %b36 ], [ %v38, %b39 ]
  %v40 = icmp ult i64 %v37, %v13
  br i1 %v40, label %b39, label %b41
b39:
  %v38 = add i64 %v37, %v25
  %v42 = getelementptr inbounds i64, ptr addrspace(1) %v12, i64 %v37
  store i64 %v23, ptr addrspace(1) %v42, align 8
  br label %b29
b41:
  %t8 = extractelement <2 x i64> %v26, i32 1
  %v43 = bitcast i64 %t8 to i64
  %v44 = add i64 %v43, %v19
  store i64 %v44, ptr addrspace(1) %v12, align 8
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
