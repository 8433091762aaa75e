target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %v136, ptr addrspace(1) %v137, i64 %p138) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b139:
  %t1 = getelementptr [0 x i8], ptr addrspace(3) @ur_dynamic_shared, i64 0, i64 %p138
  %v138 = addrspacecast ptr addrspace(3) %t1 to ptr
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
  %t13 = insertelement <3 x i64> undef, i64 %t12, i32 0
  %t14 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t15 = getelementptr inbounds i8, ptr addrspace(4) %t14, i64 6
  %t16 = load i16, ptr addrspace(4) %t15, align 2, !invariant.load !0
  %t17 = zext i16 %t16 to i32
  %t18 = zext i32 %t17 to i64
  %t19 = call i32 @llvm.amdgcn.workgroup.id.y()
  %t20 = zext i32 %t19 to i64
  %t21 = mul nuw nsw i64 %t18, %t20
  %t22 = call i32 @llvm.amdgcn.workitem.id.y()
  %t23 = zext i32 %t22 to i64
  %t24 = add nuw nsw i64 %t21, %t23
  %t25 = insertelement <3 x i64> %t13, i64 %t24, i32 1
  %t26 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t27 = getelementptr inbounds i8, ptr addrspace(4) %t26, i64 8
  %t28 = load i16, ptr addrspace(4) %t27, align 2, !invariant.load !0
  %t29 = zext i16 %t28 to i32
  %t30 = zext i32 %t29 to i64
  %t31 = call i32 @llvm.amdgcn.workgroup.id.z()
  %t32 = zext i32 %t31 to i64
  %t33 = mul nuw nsw i64 %t30, %t32
  %t34 = call i32 @llvm.amdgcn.workitem.id.z()
  %t35 = zext i32 %t34 to i64
  %t36 = add nuw nsw i64 %t33, %t35
  %t37 = insertelement <3 x i64> %t25, i64 %t36, i32 2
  %v140 = bitcast <3 x i64> %t37 to <3 x i64>
  %t38 = extractelement <3 x i64> %v140, i32 0
  %v141 = bitcast i64 %t38 to i64
  %t39 = call i32 @llvm.amdgcn.workitem.id.x()
  %t40 = zext i32 %t39 to i64
  %t41 = insertelement <3 x i64> undef, i64 %t40, i32 0
  %t42 = call i32 @llvm.amdgcn.workitem.id.y()
  %t43 = zext i32 %t42 to i64
  %t44 = insertelement <3 x i64> %t41, i64 %t43, i32 1
  %t45 = call i32 @llvm.amdgcn.workitem.id.z()
  %t46 = zext i32 %t45 to i64
  %t47 = insertelement <3 x i64> %t44, i64 %t46, i32 2
  %v142 = bitcast <3 x i64> %t47 to <3 x i64>
  %t48 = extractelement <3 x i64> %v142, i32 0
  %v143 = bitcast i64 %t48 to i64
  %v144 = trunc i64 %v143 to i32
  %v145 = getelementptr inbounds i32, ptr addrspace(1) %v136, i64 %v141
  %v146 = load i32, ptr addrspace(1) %v145, align 4
  %v147 = uitofp i32 %v146 to float
  %v148 = getelementptr inbounds i32, ptr %v138, i64 %v143
  %v149 = icmp eq i32 %v144, 2
  %v150 = select i1 %v149, i32 -1, i32 0
  %v151 = icmp eq i32 %v144, 9
  %v152 = select i1 %v151, i32 1315859240, i32 %v150
  store i32 %v152, ptr %v148, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %v153 = getelementptr inbounds i32, ptr %v138, i64 0
  %t49 = atomicrmw add ptr %v153, i32 %v146 syncscope("agent") monotonic, align 4
  %v154 = bitcast i32 %t49 to i32
  %v155 = getelementptr inbounds i32, ptr %v138, i64 1
  %t50 = atomicrmw umax ptr %v155, i32 %v146 syncscope("workgroup") acq_rel, align 4
  %v156 = bitcast i32 %t50 to i32
  %v157 = getelementptr inbounds i32, ptr %v138, i64 2
  %t51 = atomicrmw umin ptr %v157, i32 %v146 syncscope("agent") release, align 4
  %v158 = bitcast i32 %t51 to i32
  %v159 = getelementptr inbounds i32, ptr %v138, i64 3
  %t52 = atomicrmw max ptr %v159, i32 %v146 syncscope("workgroup") acquire, align 4
  %v160 = bitcast i32 %t52 to i32
  %v161 = getelementptr inbounds i32, ptr %v138, i64 4
  %t53 = atomicrmw or ptr %v161, i32 %v146 syncscope("agent") seq_cst, align 4
  %v162 = bitcast i32 %t53 to i32
  %v163 = getelementptr inbounds i32, ptr %v138, i64 5
  %t54 = atomicrmw xor ptr %v163, i32 %v146 syncscope("workgroup") monotonic, align 4
  %v164 = bitcast i32 %t54 to i32
  %v165 = getelementptr inbounds i32, ptr %v138, i64 6
  %t55 = atomicrmw add ptr %v165, i32 1 syncscope("agent") monotonic, align 4
  %v166 = bitcast i32 %t55 to i32
  %v167 = getelementptr inbounds i32, ptr %v138, i64 7
  %v168 = bitcast ptr %v167 to ptr
  %t56 = atomicrmw fadd ptr %v168, float %v147 syncscope("agent") monotonic, align 4
  %v169 = bitcast float %t56 to float
  %v170 = getelementptr inbounds i32, ptr %v138, i64 8
  %v171 = bitcast ptr %v170 to ptr
  %t57 = atomicrmw fmax ptr %v171, float %v147 syncscope("agent") seq_cst, align 4
  %v172 = bitcast float %t57 to float
  %v173 = getelementptr inbounds i32, ptr %v138, i64 9
  %v174 = bitcast ptr %v173 to ptr
  %t58 = atomicrmw fmin ptr %v174, float %v147 syncscope("workgroup") acq_rel, align 4
  %v175 = bitcast float %t58 to float
  %v176 = getelementptr inbounds i32, ptr %v138, i64 10
  %v177 = bitcast ptr %v176 to ptr
  %t59 = atomicrmw add ptr %v177, i32 %v146 syncscope("agent") monotonic, align 4
  %v178 = bitcast i32 %t59 to i32
  %v179 = getelementptr inbounds i32, ptr %v138, i64 11
  %t60 = atomicrmw sub ptr %v179, i32 %v146 syncscope("agent") monotonic, align 4
  %v180 = bitcast i32 %t60 to i32
  %v181 = getelementptr inbounds i32, ptr %v138, i64 12
  %t61 = cmpxchg ptr %v181, i32 0, i32 77 syncscope("agent") seq_cst seq_cst, align 4
  %t62 = extractvalue { i32, i1 } %t61, 0
  %v182 = bitcast i32 %t62 to i32
  %v183 = icmp eq i32 %v182, 0
  %v184 = select i1 %v183, i32 1, i32 0
  %v185 = getelementptr inbounds i32, ptr %v138, i64 13
  %t63 = atomicrmw add ptr %v185, i32 %v184 syncscope("agent") monotonic, align 4
  %v186 = bitcast i32 %t63 to i32
  %v187 = getelementptr inbounds i32, ptr %v138, i64 14
  store atomic i32 5, ptr %v187 syncscope("agent") release, align 4
  %v188 = getelementptr inbounds i32, ptr %v138, i64 15
  %t64 = atomicrmw xchg ptr %v188, i32 6 syncscope("agent") acq_rel, align 4
  %v189 = bitcast i32 %t64 to i32
  fence syncscope("agent") acq_rel
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %v190 = getelementptr inbounds i32, ptr %v138, i64 0
  %t65 = load atomic i32, ptr %v190 syncscope("agent") acquire, align 4
  %v191 = bitcast i32 %t65 to i32
  %v192 = add i64 %v141, 0
  %v193 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v192
  store i32 %v191, ptr addrspace(1) %v193, align 4
  %v194 = getelementptr inbounds i32, ptr %v138, i64 1
  %t66 = load atomic i32, ptr %v194 syncscope("agent") acquire, align 4
  %v195 = bitcast i32 %t66 to i32
  %v196 = add i64 %v141, 64
  %v197 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v196
  store i32 %v195, ptr addrspace(1) %v197, align 4
  %v198 = getelementptr inbounds i32, ptr %v138, i64 2
  %t67 = load atomic i32, ptr %v198 syncscope("agent") acquire, align 4
  %v199 = bitcast i32 %t67 to i32
  %v200 = add i64 %v141, 128
  %v201 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v200
  store i32 %v199, ptr addrspace(1) %v201, align 4
  %v202 = getelementptr inbounds i32, ptr %v138, i64 3
  %t68 = load atomic i32, ptr %v202 syncscope("agent") acquire, align 4
  %v203 = bitcast i32 %t68 to i32
  %v204 = add i64 %v141, 192
  %v205 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v204
  store i32 %v203, ptr addrspace(1) %v205, align 4
  %v206 = getelementptr inbounds i32, ptr %v138, i64 4
  %t69 = load atomic i32, ptr %v206 syncscope("agent") acquire, align 4
  %v207 = bitcast i32 %t69 to i32
  %v208 = add i64 %v141, 256
  %v209 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v208
  store i32 %v207, ptr addrspace(1) %v209, align 4
  %v210 = getelementptr inbounds i32, ptr %v138, i64 5
  %t70 = load atomic i32, ptr %v210 syncscope("agent") acquire, align 4
  %v211 = bitcast i32 %t70 to i32
  %v212 = add i64 %v141, 320
  %v213 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v212
  store i32 %v211, ptr addrspace(1) %v213, align 4
  %v214 = getelementptr inbounds i32, ptr %v138, i64 6
  %t71 = load atomic i32, ptr %v214 syncscope("agent") acquire, align 4
  %v215 = bitcast i32 %t71 to i32
  %v216 = add i64 %v141, 384
  %v217 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v216
  store i32 %v215, ptr addrspace(1) %v217, align 4
  %v218 = getelementptr inbounds i32, ptr %v138, i64 7
  %t72 = load atomic i32, ptr %v218 syncscope("agent") acquire, align 4
  %v219 = bitcast i32 %t72 to i32
  %v220 = add i64 %v141, 448
  %v221 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v220
  store i32 %v219, ptr addrspace(1) %v221, align 4
  %v222 = getelementptr inbounds i32, ptr %v138, i64 8
  %t73 = load atomic i32, ptr %v222 syncscope("agent") acquire, align 4
  %v223 = bitcast i32 %t73 to i32
  %v224 = add i64 %v141, 512
  %v225 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v224
  store i32 %v223, ptr addrspace(1) %v225, align 4
  %v226 = getelementptr inbounds i32, ptr %v138, i64 9
  %t74 = load atomic i32, ptr %v226 syncscope("agent") acquire, align 4
  %v227 = bitcast i32 %t74 to i32
  %v228 = add i64 %v141, 576
  %v229 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v228
  store i32 %v227, ptr addrspace(1) %v229, align 4
  %v230 = getelementptr inbounds i32, ptr %v138, i64 10
  %t75 = load atomic i32, ptr %v230 syncscope("agent") acquire, align 4
  %v231 = bitcast i32 %t75 to i32
  %v232 = add i64 %v141, 640
  %v233 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v232
  store i32 %v231, ptr addrspace(1) %v233, align 4
  %v234 = getelementptr inbounds i32, ptr %v138, i64 11
  %t76 = load atomic i32, ptr %v234 syncscope("agent") acquire, align 4
  %v235 = bitcast i32 %t76 to i32
  %v236 = add i64 %v141, 704
  %v237 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v236
  store i32 %v235, ptr addrspace(1) %v237, align 4
  %v238 = getelementptr inbounds i32, ptr %v138, i64 12
  %t77 = load atomic i32, ptr %v238 syncscope("agent") acquire, align 4
  %v239 = bitcast i32 %t77 to i32
  %v240 = add i64 %v141, 768
  %v241 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v240
  store i32 %v239, ptr addrspace(1) %v241, align 4
  %v242 = getelementptr inbounds i32, ptr %v138, i64 13
  %t78 = load atomic i32, ptr %v242 syncscope("agent") acquire, align 4
  %v243 = bitcast i32 %t78 to i32
  %v244 = add i64 %v141, 832
  %v245 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v244
  store i32 %v243, ptr addrspace(1) %v245, align 4
  %v246 = getelementptr inbounds i32, ptr %v138, i64 14
  %t79 = load atomic i32, ptr %v246 syncscope("agent") acquire, align 4
  %v247 = bitcast i32 %t79 to i32
  %v248 = add i64 %v141, 896
  %v249 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v248
  store i32 %v247, ptr addrspace(1) %v249, align 4
  %v250 = getelementptr inbounds i32, ptr %v138, i64 15
  %t80 = load atomic i32, ptr %v250 syncscope("agent") acquire, align 4
  %v251 = bitcast i32 %t80 to i32
  %v252 = add i64 %v141, 960
  %v253 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v252
  store i32 %v251, ptr addrspace(1) %v253, align 4
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{}
