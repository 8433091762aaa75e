target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
%s19 = type { i8, i64, [6 x i32] }
declare void @llvm.memcpy.p0.p4.i64(ptr, ptr addrspace(4), i64, i1)
@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16
define amdgpu_kernel void @info(ptr addrspace(1) %v3, ptr addrspace(1) %v27, i64 %p28, ptr addrspace(4) byref(%s19) align 8 %p5, <3 x i32> %v29, i16 %v4) #0 "amdgpu-flat-work-group-size"="64,64" "uniform-work-group-size"="true" !reqd_work_group_size !0 {
b30:
  %t1 = getelementptr [0 x i8], ptr addrspace(3) @ur_dynamic_shared, i64 0, i64 %p28
  %v28 = addrspacecast ptr addrspace(3) %t1 to ptr
  %t2 = alloca %s19, align 8, addrspace(5)
  %v5 = addrspacecast ptr addrspace(5) %t2 to ptr
  %t3 = bitcast ptr %v5 to ptr
  %t4 = bitcast ptr addrspace(4) %p5 to ptr addrspace(4)
  call void @llvm.memcpy.p0.p4.i64(ptr align 8 %t3, ptr addrspace(4) align 8 %t4, i64 40, i1 false)
  %v31 = load i32, ptr addrspace(1) %v27, align 4, !invariant.load !1
  store i32 %v31, ptr %v28, align 4
  %t5 = extractelement <3 x i32> %v29, i32 2
  %v32 = bitcast i32 %t5 to i32
  %v33 = select i1 true, i32 3, i32 %v32
  %v34 = sub i32 6, 2
  %v35 = getelementptr inbounds %s19, ptr %v5, i32 0, i32 2, i32 %v34
  %v36 = load i32, ptr %v35, align 4
  %v37 = zext i16 %v4 to i32
  %v38 = add i32 %v33, %v36
  %v39 = add i32 %v38, %v37
  store i32 %v39, ptr addrspace(1) %v3, align 4
  ret void
}
define amdgpu_kernel void @plain() #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b40:
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{i32 8, i32 4, i32 2}
!1 = !{}
