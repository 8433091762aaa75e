target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
define amdgpu_kernel void @k(ptr addrspace(1) %v110, ptr addrspace(1) %v111) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b112:
  %t1 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t2 = getelementptr inbounds i8, ptr addrspace(4) %t1, i64 4
  %t3 = load i16, ptr addrspace(4) %t2, align 2, !invariant.load !2
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
  %t15 = load i16, ptr addrspace(4) %t14, align 2, !invariant.load !2
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
  %t27 = load i16, ptr addrspace(4) %t26, align 2, !invariant.load !2
  %t28 = zext i16 %t27 to i32
  %t29 = zext i32 %t28 to i64
  %t30 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t31 = zext i32 %t30 to i64
  %t32 = mul nuw nsw i64 %t29, %t31
  %t33 = call i32 @llvm.amdgcn.workitem.id.z()
  %t34 = zext i32 %t33 to i64
  %t35 = add nuw nsw i64 %t32, %t34
  %t36 = insertelement <3 x i64> %t24, i64 %t35, i32 2
  %v113 = bitcast <3 x i64> %t36 to <3 x i64>
  %t37 = extractelement <3 x i64> %v113, i32 0
  %v114 = bitcast i64 %t37 to i64
  %t38 = call i32 @llvm.amdgcn.workitem.id.x()
  %t39 = zext i32 %t38 to i64
  %t40 = insertelement <3 x i64> undef, i64 %t39, i32 0
  %t41 = call i32 @llvm.amdgcn.workitem.id.y()
  %t42 = zext i32 %t41 to i64
  %t43 = insertelement <3 x i64> %t40, i64 %t42, i32 1
  %t44 = call i32 @llvm.amdgcn.workitem.id.z()
  %t45 = zext i32 %t44 to i64
  %t46 = insertelement <3 x i64> %t43, i64 %t45, i32 2
  %v115 = bitcast <3 x i64> %t46 to <3 x i64>
  %t47 = extractelement <3 x i64> %v115, i32 0
  %v116 = bitcast i64 %t47 to i64
  %v117 = trunc i64 %v116 to i32
  %v118 = getelementptr inbounds i32, ptr addrspace(1) %v110, i64 %v114
  %v119 = load i32, ptr addrspace(1) %v118, align 4
  br label %b120
b120:
  %v121 = phi i32 [ 0, %b112 ], [ %v122, %b123 ]
  %v124 = phi i32 [ 0, %b112 ], [ %v125, %b123 ]
  %v126 = icmp ult i32 %v121, %v119
  br i1 %v126, label %b128, label %b127
b128:
  %v129 = mul i32 %v121, %v121
  %v125 = add i32 %v124, %v129
  br label %b123
b123:
  %v122 = add i32 %v121, 1
  br label %b120, !llvm.loop !1
b127:
  %v130 = add i64 %v114, 0
  %v131 = getelementptr inbounds i32, ptr addrspace(1) %v111, i64 %v130
  store i32 %v124, ptr addrspace(1) %v131, align 4
  %v132 = urem i32 %v119, 7
  switch i32 %v132 , label %b134 [ i32 0, label %b135 i32 1, label %b136 i32 2, label %b133 i32 3, label %b133 i32 4, label %b136 ]
b135:
  br label %b133
b136:
  br label %b133
b134:
  br label %b133
b133:
  %v137 = phi i32 [ 10, %b135 ], [ 20, %b136 ], [ 1, %b134 ], [ 0, %b127 ], [ 0, %b127 ]
  %v138 = add i64 %v114, 32
  %v139 = getelementptr inbounds i32, ptr addrspace(1) %v111, i64 %v138
  store i32 %v137, ptr addrspace(1) %v139, align 4
  %v140 = icmp eq i32 %v119, 1
  br label %b141
b141:
  %v142 = phi i32 [ %v119, %b133 ]
  %v143 = add i64 %v114, 64
  %v144 = getelementptr inbounds i32, ptr addrspace(1) %v111, i64 %v143
  store i32 %v142, ptr addrspace(1) %v144, align 4
  %v145 = call i32 @f102(i32 %v119, i32 %v132) #0
  %v146 = add i64 %v114, 96
  %v147 = getelementptr inbounds i32, ptr addrspace(1) %v111, i64 %v146
  store i32 %v145, ptr addrspace(1) %v147, align 4
  %v148 = zext i32 %v119 to i64
  switch i64 %v148 , label %b149 [ i64 5, label %b150 i64 8589934592, label %b150 ]
b150:
  br label %b149
b149:
  %v151 = phi i32 [ 10, %b150 ], [ 1, %b141 ]
  %v152 = add i64 %v114, 128
  %v153 = getelementptr inbounds i32, ptr addrspace(1) %v111, i64 %v152
  store i32 %v151, ptr addrspace(1) %v153, align 4
  ret void
}
define internal i32 @f102(i32 %v103, i32 %v104) #0 {
b105:
  %v106 = mul i32 %v103, %v104
  %v107 = icmp ugt i32 %v106, 20
  br i1 %v107, label %b109, label %b108
b109:
  ret i32 %v104
b108:
  ret i32 %v106
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{!"llvm.loop.unroll.enable"}
!1 = distinct !{!1, !0}
!2 = !{}
