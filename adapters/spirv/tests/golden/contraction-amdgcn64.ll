target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
define amdgpu_kernel void @k(ptr addrspace(1) %v93, ptr addrspace(1) %v94, ptr addrspace(1) %v95, ptr addrspace(1) %v96, ptr addrspace(1) %v97, ptr addrspace(1) %v98, ptr addrspace(1) %v99, ptr addrspace(1) %v100, ptr addrspace(1) %v101, ptr addrspace(1) %v102, ptr addrspace(1) %v103, ptr addrspace(1) %v104) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b105:
  %t1 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t2 = getelementptr inbounds i8, ptr addrspace(4) %t1, i64 4
  %t3 = load i16, ptr addrspace(4) %t2, align 2, !invariant.load !0
  %t4 = zext i16 %t3 to i32
  %t5 = zext i32 %t4 to i64
  %t6 = call i32 @llvm.amdgcn.workgroup.id.x()
  %t7 = zext i32 %t6 to i64
  %t8 = mul nuw nsw i64 %t5, %t7
  %t9 = call i32 @llvm.amdgcn.workitem.id.x()
  %t10 = zext i32 %t9 to i64
  %t11 = add nuw nsw i64 %t8, %t10
  %t12 = insertelement <3 x i64> undef, i64 %t11, i32 0
  %t13 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t14 = getelementptr inbounds i8, ptr addrspace(4) %t13, i64 6
  %t15 = load i16, ptr addrspace(4) %t14, align 2, !invariant.load !0
  %t16 = zext i16 %t15 to i32
  %t17 = zext i32 %t16 to i64
  %t18 = call i32 @llvm.amdgcn.workgroup.id.y()
  %t19 = zext i32 %t18 to i64
  %t20 = mul nuw nsw i64 %t17, %t19
  %t21 = call i32 @llvm.amdgcn.workitem.id.y()
  %t22 = zext i32 %t21 to i64
  %t23 = add nuw nsw i64 %t20, %t22
  %t24 = insertelement <3 x i64> %t12, i64 %t23, i32 1
  %t25 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t26 = getelementptr inbounds i8, ptr addrspace(4) %t25, i64 8
  %t27 = load i16, ptr addrspace(4) %t26, align 2, !invariant.load !0
  %t28 = zext i16 %t27 to i32
  %t29 = zext i32 %t28 to i64
  %t30 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t31 = zext i32 %t30 to i64
  %t32 = mul nuw nsw i64 %t29, %t31
  %t33 = call i32 @llvm.amdgcn.workitem.id.z()
  %t34 = zext i32 %t33 to i64
  %t35 = add nuw nsw i64 %t32, %t34
  %t36 = insertelement <3 x i64> %t24, i64 %t35, i32 2
  %v106 = bitcast <3 x i64> %t36 to <3 x i64>
  %t37 = extractelement <3 x i64> %v106, i32 0
  %v107 = bitcast i64 %t37 to i64
  %t38 = call i32 @llvm.amdgcn.workitem.id.x()
  %t39 = zext i32 %t38 to i64
  %t40 = insertelement <3 x i64> undef, i64 %t39, i32 0
  %t41 = call i32 @llvm.amdgcn.workitem.id.y()
  %t42 = zext i32 %t41 to i64
  %t43 = insertelement <3 x i64> %t40, i64 %t42, i32 1
  %t44 = call i32 @llvm.amdgcn.workitem.id.z()
  %t45 = zext i32 %t44 to i64
  %t46 = insertelement <3 x i64> %t43, i64 %t45, i32 2
  %v108 = bitcast <3 x i64> %t46 to <3 x i64>
  %t47 = extractelement <3 x i64> %v108, i32 0
  %v109 = bitcast i64 %t47 to i64
  %v110 = trunc i64 %v109 to i32
  %v111 = getelementptr inbounds half, ptr addrspace(1) %v93, i64 %v107
  %v112 = load half, ptr addrspace(1) %v111, align 2
  %v113 = getelementptr inbounds half, ptr addrspace(1) %v94, i64 %v107
  %v114 = load half, ptr addrspace(1) %v113, align 2
  %v115 = getelementptr inbounds half, ptr addrspace(1) %v95, i64 %v107
  %v116 = load half, ptr addrspace(1) %v115, align 2
  %v117 = fmul half %v112, %v114
  %v118 = fadd half %v117, %v116
  %v119 = add i64 %v107, 0
  %v120 = getelementptr inbounds half, ptr addrspace(1) %v102, i64 %v119
  store half %v118, ptr addrspace(1) %v120, align 2
  %v121 = fmul half %v112, %v114
  %v122 = fsub half %v121, %v116
  %v123 = add i64 %v107, 32
  %v124 = getelementptr inbounds half, ptr addrspace(1) %v102, i64 %v123
  store half %v122, ptr addrspace(1) %v124, align 2
  %v125 = getelementptr inbounds float, ptr addrspace(1) %v96, i64 %v107
  %v126 = load float, ptr addrspace(1) %v125, align 4
  %v127 = getelementptr inbounds float, ptr addrspace(1) %v97, i64 %v107
  %v128 = load float, ptr addrspace(1) %v127, align 4
  %v129 = getelementptr inbounds float, ptr addrspace(1) %v98, i64 %v107
  %v130 = load float, ptr addrspace(1) %v129, align 4
  %v131 = fmul float %v126, %v128
  %v132 = fadd float %v131, %v130
  %v133 = add i64 %v107, 0
  %v134 = getelementptr inbounds float, ptr addrspace(1) %v103, i64 %v133
  store float %v132, ptr addrspace(1) %v134, align 4
  %v135 = fmul float %v126, %v128
  %v136 = fsub float %v135, %v130
  %v137 = add i64 %v107, 32
  %v138 = getelementptr inbounds float, ptr addrspace(1) %v103, i64 %v137
  store float %v136, ptr addrspace(1) %v138, align 4
  %v139 = getelementptr inbounds double, ptr addrspace(1) %v99, i64 %v107
  %v140 = load double, ptr addrspace(1) %v139, align 8
  %v141 = getelementptr inbounds double, ptr addrspace(1) %v100, i64 %v107
  %v142 = load double, ptr addrspace(1) %v141, align 8
  %v143 = getelementptr inbounds double, ptr addrspace(1) %v101, i64 %v107
  %v144 = load double, ptr addrspace(1) %v143, align 8
  %v145 = fmul double %v140, %v142
  %v146 = fadd double %v145, %v144
  %v147 = add i64 %v107, 0
  %v148 = getelementptr inbounds double, ptr addrspace(1) %v104, i64 %v147
  store double %v146, ptr addrspace(1) %v148, align 8
  %v149 = fmul double %v140, %v142
  %v150 = fsub double %v149, %v144
  %v151 = add i64 %v107, 32
  %v152 = getelementptr inbounds double, ptr addrspace(1) %v104, i64 %v151
  store double %v150, ptr addrspace(1) %v152, align 8
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{}
