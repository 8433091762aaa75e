target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
%s11 = type { i32, ptr addrspace(1) }
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
define amdgpu_kernel void @inner_with_offset(ptr addrspace(1) %v24, ptr addrspace(4) byref([3 x i32]) align 4 %offset) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
entry:
  %t1 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 0
  %t2 = load i32, ptr addrspace(4) %t1
  %go0 = zext i32 %t2 to i64
  %t3 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 1
  %t4 = load i32, ptr addrspace(4) %t3
  %go1 = zext i32 %t4 to i64
  %t5 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 2
  %t6 = load i32, ptr addrspace(4) %t5
  %go2 = zext i32 %t6 to i64
  call void @f1(ptr addrspace(1) %v24, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define amdgpu_kernel void @outer_with_offset(ptr addrspace(1) %v29, ptr addrspace(4) byref([3 x i32]) align 4 %offset) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b30:
  %t1 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 0
  %t2 = load i32, ptr addrspace(4) %t1
  %go0 = zext i32 %t2 to i64
  %t3 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 1
  %t4 = load i32, ptr addrspace(4) %t3
  %go1 = zext i32 %t4 to i64
  %t5 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 2
  %t6 = load i32, ptr addrspace(4) %t5
  %go2 = zext i32 %t6 to i64
  %t7 = alloca <3 x i64>, addrspace(5)
  %b3 = addrspacecast ptr addrspace(5) %t7 to ptr
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 4
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = zext i32 %t11 to i64
  %t13 = call i32 @llvm.amdgcn.workgroup.id.x()
  %t14 = zext i32 %t13 to i64
  %t15 = mul nuw nsw i64 %t12, %t14
  %t16 = call i32 @llvm.amdgcn.workitem.id.x()
  %t17 = zext i32 %t16 to i64
  %t18 = add nuw nsw i64 %t15, %t17
  %t19 = add i64 %t18, %go0
  %t20 = insertelement <3 x i64> undef, i64 %t19, i32 0
  %t21 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t22 = getelementptr inbounds i8, ptr addrspace(4) %t21, i64 6
  %t23 = load i16, ptr addrspace(4) %t22, align 2, !invariant.load !0
  %t24 = zext i16 %t23 to i32
  %t25 = zext i32 %t24 to i64
  %t26 = call i32 @llvm.amdgcn.workgroup.id.y()
  %t27 = zext i32 %t26 to i64
  %t28 = mul nuw nsw i64 %t25, %t27
  %t29 = call i32 @llvm.amdgcn.workitem.id.y()
  %t30 = zext i32 %t29 to i64
  %t31 = add nuw nsw i64 %t28, %t30
  %t32 = add i64 %t31, %go1
  %t33 = insertelement <3 x i64> %t20, i64 %t32, i32 1
  %t34 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t35 = getelementptr inbounds i8, ptr addrspace(4) %t34, i64 8
  %t36 = load i16, ptr addrspace(4) %t35, align 2, !invariant.load !0
  %t37 = zext i16 %t36 to i32
  %t38 = zext i32 %t37 to i64
  %t39 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t40 = zext i32 %t39 to i64
  %t41 = mul nuw nsw i64 %t38, %t40
  %t42 = call i32 @llvm.amdgcn.workitem.id.z()
  %t43 = zext i32 %t42 to i64
  %t44 = add nuw nsw i64 %t41, %t43
  %t45 = add i64 %t44, %go2
  %t46 = insertelement <3 x i64> %t33, i64 %t45, i32 2
  store <3 x i64> %t46, ptr %b3
  %v31 = getelementptr inbounds <3 x i64>, ptr %b3, i32 0, i32 0
  %v32 = load i64, ptr %v31, align 8
  %v33 = getelementptr inbounds %s11, ptr addrspace(1) %v29, i64 %v32
  %v34 = getelementptr inbounds %s11, ptr addrspace(1) %v33, i32 0, i32 1
  %v35 = load ptr addrspace(1), ptr addrspace(1) %v34, align 8
  call void @f1(ptr addrspace(1) %v35, i64 %go0, i64 %go1, i64 %go2) #0
  ret void
}
define internal void @f1(ptr addrspace(1) %v24, i64 %go0, i64 %go1, i64 %go2) #0 {
b25:
  %v26 = getelementptr inbounds %s11, ptr addrspace(1) %v24, i32 0, i32 0
  %v27 = load i32, ptr addrspace(1) %v26, align 4
  %v28 = call i32 @f20(i32 %v27, i64 %go0, i64 %go1, i64 %go2) #0
  store i32 %v28, ptr addrspace(1) %v26, align 4
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
!0 = !{}
