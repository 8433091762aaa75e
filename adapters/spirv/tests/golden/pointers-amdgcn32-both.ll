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
define amdgpu_kernel void @inner(ptr addrspace(1) %v24) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
entry:
  %go0 = add i64 0, 0
  %go1 = add i64 0, 0
  %go2 = add i64 0, 0
  call void @f1(ptr addrspace(1) %v24, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
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
define amdgpu_kernel void @outer(ptr addrspace(1) %v29) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
entry:
  %go0 = add i64 0, 0
  %go1 = add i64 0, 0
  %go2 = add i64 0, 0
  call void @f2(ptr addrspace(1) %v29, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define amdgpu_kernel void @outer_with_offset(ptr addrspace(1) %v29, ptr addrspace(4) byref([3 x i32]) align 4 %offset) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
entry:
  %t7 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 0
  %t8 = load i32, ptr addrspace(4) %t7
  %go0 = zext i32 %t8 to i64
  %t9 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 1
  %t10 = load i32, ptr addrspace(4) %t9
  %go1 = zext i32 %t10 to i64
  %t11 = getelementptr [3 x i32], ptr addrspace(4) %offset, i32 0, i32 2
  %t12 = load i32, ptr addrspace(4) %t11
  %go2 = zext i32 %t12 to i64
  call void @f2(ptr addrspace(1) %v29, i64 %go0, i64 %go1, i64 %go2)
  ret void
}
define internal void @f2(ptr addrspace(1) %v29, i64 %go0, i64 %go1, i64 %go2) #2 {
b30:
  %t1 = alloca <3 x i64>, addrspace(5)
  %b3 = addrspacecast ptr addrspace(5) %t1 to ptr
  %t2 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t3 = getelementptr inbounds i8, ptr addrspace(4) %t2, i64 4
  %t4 = load i16, ptr addrspace(4) %t3, align 2, !invariant.load !0
  %t5 = zext i16 %t4 to i32
  %t6 = zext i32 %t5 to i64
  %t7 = call i32 @llvm.amdgcn.workgroup.id.x()
  %t8 = zext i32 %t7 to i64
  %t9 = mul nuw nsw i64 %t6, %t8
  %t10 = call i32 @llvm.amdgcn.workitem.id.x()
  %t11 = zext i32 %t10 to i64
  %t12 = add nuw nsw i64 %t9, %t11
  %t13 = add i64 %t12, %go0
  %t14 = insertelement <3 x i64> undef, i64 %t13, i32 0
  %t15 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t16 = getelementptr inbounds i8, ptr addrspace(4) %t15, i64 6
  %t17 = load i16, ptr addrspace(4) %t16, align 2, !invariant.load !0
  %t18 = zext i16 %t17 to i32
  %t19 = zext i32 %t18 to i64
  %t20 = call i32 @llvm.amdgcn.workgroup.id.y()
  %t21 = zext i32 %t20 to i64
  %t22 = mul nuw nsw i64 %t19, %t21
  %t23 = call i32 @llvm.amdgcn.workitem.id.y()
  %t24 = zext i32 %t23 to i64
  %t25 = add nuw nsw i64 %t22, %t24
  %t26 = add i64 %t25, %go1
  %t27 = insertelement <3 x i64> %t14, i64 %t26, i32 1
  %t28 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t29 = getelementptr inbounds i8, ptr addrspace(4) %t28, i64 8
  %t30 = load i16, ptr addrspace(4) %t29, align 2, !invariant.load !0
  %t31 = zext i16 %t30 to i32
  %t32 = zext i32 %t31 to i64
  %t33 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t34 = zext i32 %t33 to i64
  %t35 = mul nuw nsw i64 %t32, %t34
  %t36 = call i32 @llvm.amdgcn.workitem.id.z()
  %t37 = zext i32 %t36 to i64
  %t38 = add nuw nsw i64 %t35, %t37
  %t39 = add i64 %t38, %go2
  %t40 = insertelement <3 x i64> %t27, i64 %t39, i32 2
  store <3 x i64> %t40, ptr %b3
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
