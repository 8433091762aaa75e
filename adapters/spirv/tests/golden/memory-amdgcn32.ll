target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
%s117 = type { i8, i32, [4 x i32] }
@i136 = internal addrspace(1) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
@i137 = internal addrspace(1) constant %s117 zeroinitializer, align 4
@g124 = internal addrspace(1) global [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
@g122 = internal addrspace(1) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i1 @llvm.amdgcn.is.private(ptr)
declare i1 @llvm.amdgcn.is.shared(ptr)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %v131, ptr addrspace(1) %v132, ptr addrspace(1) %v133, i64 %p134) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b135:
  %t1 = getelementptr [0 x i8], ptr addrspace(3) @ur_dynamic_shared, i64 0, i64 %p134
  %v134 = addrspacecast ptr addrspace(3) %t1 to ptr
  %t2 = alloca [4 x i32], align 4, addrspace(5)
  %v136 = addrspacecast ptr addrspace(5) %t2 to ptr
  %t3 = bitcast ptr %v136 to ptr
  %t4 = bitcast ptr addrspace(1) @i136 to ptr addrspace(1)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %t3, ptr addrspace(1) align 4 %t4, i64 16, i1 false)
  %t5 = alloca %s117, align 4, addrspace(5)
  %v137 = addrspacecast ptr addrspace(5) %t5 to ptr
  %t6 = bitcast ptr %v137 to ptr
  %t7 = bitcast ptr addrspace(1) @i137 to ptr addrspace(1)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %t6, ptr addrspace(1) align 4 %t7, i64 24, i1 false)
  %t8 = alloca half, align 2, addrspace(5)
  %v138 = addrspacecast ptr addrspace(5) %t8 to ptr
  %t9 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t10 = getelementptr inbounds i8, ptr addrspace(4) %t9, i64 4
  %t11 = load i16, ptr addrspace(4) %t10, align 2, !invariant.load !0
  %t12 = zext i16 %t11 to i32
  %t13 = zext i32 %t12 to i64
  %t14 = call i32 @llvm.amdgcn.workgroup.id.x()
  %t15 = zext i32 %t14 to i64
  %t16 = mul nuw nsw i64 %t13, %t15
  %t17 = call i32 @llvm.amdgcn.workitem.id.x()
  %t18 = zext i32 %t17 to i64
  %t19 = add nuw nsw i64 %t16, %t18
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
  %t32 = insertelement <3 x i64> %t20, i64 %t31, i32 1
  %t33 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t34 = getelementptr inbounds i8, ptr addrspace(4) %t33, i64 8
  %t35 = load i16, ptr addrspace(4) %t34, align 2, !invariant.load !0
  %t36 = zext i16 %t35 to i32
  %t37 = zext i32 %t36 to i64
  %t38 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t39 = zext i32 %t38 to i64
  %t40 = mul nuw nsw i64 %t37, %t39
  %t41 = call i32 @llvm.amdgcn.workitem.id.z()
  %t42 = zext i32 %t41 to i64
  %t43 = add nuw nsw i64 %t40, %t42
  %t44 = insertelement <3 x i64> %t32, i64 %t43, i32 2
  %v139 = bitcast <3 x i64> %t44 to <3 x i64>
  %t45 = extractelement <3 x i64> %v139, i32 0
  %v140 = bitcast i64 %t45 to i64
  %t46 = call i32 @llvm.amdgcn.workitem.id.x()
  %t47 = zext i32 %t46 to i64
  %t48 = insertelement <3 x i64> undef, i64 %t47, i32 0
  %t49 = call i32 @llvm.amdgcn.workitem.id.y()
  %t50 = zext i32 %t49 to i64
  %t51 = insertelement <3 x i64> %t48, i64 %t50, i32 1
  %t52 = call i32 @llvm.amdgcn.workitem.id.z()
  %t53 = zext i32 %t52 to i64
  %t54 = insertelement <3 x i64> %t51, i64 %t53, i32 2
  %v141 = bitcast <3 x i64> %t54 to <3 x i64>
  %t55 = extractelement <3 x i64> %v141, i32 0
  %v142 = bitcast i64 %t55 to i64
  %v143 = trunc i64 %v142 to i32
  %v144 = getelementptr inbounds i32, ptr addrspace(1) %v131, i64 %v140
  %v145 = load i32, ptr addrspace(1) %v144, align 4
  %v146 = and i32 %v145, 3
  %v147 = getelementptr inbounds [4 x i32], ptr %v136, i32 0, i32 %v146
  %v148 = load i32, ptr %v147, align 4
  %v149 = add i64 %v140, 0
  %v150 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v149
  store i32 %v148, ptr addrspace(1) %v150, align 4
  %v151 = getelementptr inbounds [4 x i32], ptr addrspace(1) @g122, i32 0, i32 %v146
  %v152 = load i32, ptr addrspace(1) %v151, align 4, !invariant.load !0
  %v153 = add i64 %v140, 32
  %v154 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v153
  store i32 %v152, ptr addrspace(1) %v154, align 4
  %v155 = getelementptr inbounds [4 x i32], ptr addrspace(1) @g124, i32 0, i32 %v146
  %v156 = load i32, ptr addrspace(1) %v155, align 4
  %v157 = add i64 %v140, 64
  %v158 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v157
  store i32 %v156, ptr addrspace(1) %v158, align 4
  %v159 = getelementptr %s117, ptr %v137, i32 0, i32 1
  store i32 %v145, ptr %v159, align 4
  %v160 = getelementptr %s117, ptr %v137, i32 0, i32 2, i32 %v146
  store i32 %v145, ptr %v160, align 4
  %v161 = getelementptr %s117, ptr %v137, i32 0, i32 2, i32 0
  %v162 = load i32, ptr %v161, align 4
  %v163 = add i64 %v140, 96
  %v164 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v163
  store i32 %v162, ptr addrspace(1) %v164, align 4
  %v165 = load volatile i32, ptr %v159, align 4
  %v166 = add i64 %v140, 128
  %v167 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v166
  store i32 %v165, ptr addrspace(1) %v167, align 4
  %v168 = getelementptr %s117, ptr %v137, i32 0, i32 2
  %t56 = bitcast ptr %v168 to ptr
  %t57 = bitcast ptr %v136 to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %t56, ptr align 4 %t57, i64 16, i1 false)
  %v169 = load i32, ptr %v160, align 4
  %v170 = add i64 %v140, 160
  %v171 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v170
  store i32 %v169, ptr addrspace(1) %v171, align 4
  %v172 = bitcast ptr %v160 to ptr
  store i32 %v145, ptr %v172, align 4
  %v173 = load i32, ptr %v160, align 4
  %v174 = add i64 %v140, 192
  %v175 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v174
  store i32 %v173, ptr addrspace(1) %v175, align 4
  %t58 = call i1 @llvm.amdgcn.is.private(ptr %v172)
  %t59 = bitcast ptr %v172 to ptr
  %v176 = select i1 %t58, ptr %t59, ptr null
  %v177 = load i32, ptr %v176, align 4
  %v178 = add i64 %v140, 224
  %v179 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v178
  store i32 %v177, ptr addrspace(1) %v179, align 4
  %t60 = call i1 @llvm.amdgcn.is.shared(ptr %v172)
  %t61 = call i1 @llvm.amdgcn.is.private(ptr %v172)
  %t62 = or i1 %t60, %t61
  %t63 = xor i1 %t62, true
  %t64 = addrspacecast ptr %v172 to ptr addrspace(1)
  %v180 = select i1 %t63, ptr addrspace(1) %t64, ptr addrspace(1) null
  %v181 = ptrtoint ptr addrspace(1) %v180 to i64
  %v182 = icmp eq i64 %v181, 0
  %v183 = select i1 %v182, i32 1, i32 0
  %v184 = add i64 %v140, 256
  %v185 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v184
  store i32 %v183, ptr addrspace(1) %v185, align 4
  %v186 = getelementptr inbounds [4 x i32], ptr %v136, i32 0, i32 0
  %t65 = mul i64 1, 2
  %t66 = bitcast ptr %v186 to ptr
  %t67 = getelementptr i32, ptr %t66, i64 %t65
  %t68 = load i32, ptr %t67, align 4
  %t69 = insertelement <2 x i32> undef, i32 %t68, i32 0
  %t70 = getelementptr i32, ptr %t67, i64 1
  %t71 = load i32, ptr %t70, align 4
  %t72 = insertelement <2 x i32> %t69, i32 %t71, i32 1
  %v187 = bitcast <2 x i32> %t72 to <2 x i32>
  %t73 = extractelement <2 x i32> %v187, i32 0
  %v188 = bitcast i32 %t73 to i32
  %v189 = add i64 %v140, 288
  %v190 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v189
  store i32 %v188, ptr addrspace(1) %v190, align 4
  %t74 = mul i64 0, 2
  %t75 = bitcast ptr %v186 to ptr
  %t76 = getelementptr i32, ptr %t75, i64 %t74
  %t77 = extractelement <2 x i32> %v187, i32 0
  store i32 %t77, ptr %t76, align 4
  %t78 = extractelement <2 x i32> %v187, i32 1
  %t79 = getelementptr i32, ptr %t76, i64 1
  store i32 %t78, ptr %t79, align 4
  %v192 = load i32, ptr %v186, align 4
  %v193 = add i64 %v140, 320
  %v194 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v193
  store i32 %v192, ptr addrspace(1) %v194, align 4
  %v195 = uitofp i32 %v146 to float
  %v196 = fadd contract float %v195, 0x3FB99999A0000000
  %t80 = mul i64 0, 1
  %t81 = bitcast ptr %v138 to ptr
  %t82 = getelementptr half, ptr %t81, i64 %t80
  %t83 = fptrunc float %v196 to half
  store half %t83, ptr %t82, align 2
  %t84 = mul i64 0, 1
  %t85 = bitcast ptr %v138 to ptr
  %t86 = getelementptr half, ptr %t85, i64 %t84
  %t87 = load half, ptr %t86, align 2
  %t88 = fpext half %t87 to float
  %v198 = bitcast float %t88 to float
  %v199 = add i64 %v140, 0
  %v200 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v199
  store float %v198, ptr addrspace(1) %v200, align 4
  %t89 = mul i64 0, 1
  %t90 = bitcast ptr %v138 to ptr
  %t91 = getelementptr half, ptr %t90, i64 %t89
  %t92 = fptrunc float %v196 to half
  %t93 = fpext half %t92 to float
  %t94 = bitcast half %t92 to i16
  %t95 = icmp slt i16 %t94, 0
  %t96 = fcmp ogt float %t93, %v196
  %t97 = fcmp olt float %t93, %v196
  %t98 = select i1 %t95, i1 %t97, i1 %t96
  %t99 = add i16 %t94, -1
  %t100 = select i1 %t98, i16 %t99, i16 %t94
  %t101 = bitcast i16 %t100 to half
  store half %t101, ptr %t91, align 2
  %t102 = mul i64 0, 1
  %t103 = bitcast ptr %v138 to ptr
  %t104 = getelementptr half, ptr %t103, i64 %t102
  %t105 = load half, ptr %t104, align 2
  %t106 = fpext half %t105 to float
  %v202 = bitcast float %t106 to float
  %v203 = add i64 %v140, 32
  %v204 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v203
  store float %v202, ptr addrspace(1) %v204, align 4
  %t107 = mul i64 0, 1
  %t108 = bitcast ptr %v138 to ptr
  %t109 = getelementptr half, ptr %t108, i64 %t107
  %t110 = fptrunc float %v196 to half
  %t111 = fpext half %t110 to float
  %t112 = bitcast half %t110 to i16
  %t113 = icmp slt i16 %t112, 0
  %t114 = fcmp olt float %t111, %v196
  %t115 = select i1 %t113, i16 -1, i16 1
  %t116 = add i16 %t112, %t115
  %t117 = select i1 %t114, i16 %t116, i16 %t112
  %t118 = bitcast i16 %t117 to half
  store half %t118, ptr %t109, align 2
  %t119 = mul i64 0, 1
  %t120 = bitcast ptr %v138 to ptr
  %t121 = getelementptr half, ptr %t120, i64 %t119
  %t122 = load half, ptr %t121, align 2
  %t123 = fpext half %t122 to float
  %v206 = bitcast float %t123 to float
  %v207 = add i64 %v140, 64
  %v208 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v207
  store float %v206, ptr addrspace(1) %v208, align 4
  %v209 = getelementptr inbounds i32, ptr %v134, i64 %v142
  store i32 %v145, ptr %v209, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %v210 = xor i64 %v142, 1
  %v211 = getelementptr inbounds i32, ptr %v134, i64 %v210
  %v212 = load i32, ptr %v211, align 4
  %v213 = add i64 %v140, 352
  %v214 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v213
  store i32 %v212, ptr addrspace(1) %v214, align 4
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{}
