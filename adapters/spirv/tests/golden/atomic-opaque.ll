target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare float @__nv_fmaxf(float, float)
declare float @__nv_fminf(float, float)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16
define void @k(ptr addrspace(1) %v136, ptr addrspace(1) %v137, i64 %p138) #0 {
b139:
  %t1 = getelementptr [0 x i8], ptr addrspace(3) @ur_dynamic_shared, i64 0, i64 %p138
  %v138 = bitcast ptr addrspace(3) %t1 to ptr addrspace(3)
  %t2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t3 = zext i32 %t2 to i64
  %t4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t5 = zext i32 %t4 to i64
  %t6 = mul nuw nsw i64 %t3, %t5
  %t7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t8 = zext i32 %t7 to i64
  %t9 = add nuw nsw i64 %t6, %t8
  %t10 = insertelement <3 x i64> undef, i64 %t9, i32 0
  %t11 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t12 = zext i32 %t11 to i64
  %t13 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t14 = zext i32 %t13 to i64
  %t15 = mul nuw nsw i64 %t12, %t14
  %t16 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t17 = zext i32 %t16 to i64
  %t18 = add nuw nsw i64 %t15, %t17
  %t19 = insertelement <3 x i64> %t10, i64 %t18, i32 1
  %t20 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t21 = zext i32 %t20 to i64
  %t22 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t23 = zext i32 %t22 to i64
  %t24 = mul nuw nsw i64 %t21, %t23
  %t25 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t26 = zext i32 %t25 to i64
  %t27 = add nuw nsw i64 %t24, %t26
  %t28 = insertelement <3 x i64> %t19, i64 %t27, i32 2
  %v140 = bitcast <3 x i64> %t28 to <3 x i64>
  %t29 = extractelement <3 x i64> %v140, i32 0
  %v141 = bitcast i64 %t29 to i64
  %t30 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t31 = zext i32 %t30 to i64
  %t32 = insertelement <3 x i64> undef, i64 %t31, i32 0
  %t33 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t34 = zext i32 %t33 to i64
  %t35 = insertelement <3 x i64> %t32, i64 %t34, i32 1
  %t36 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t37 = zext i32 %t36 to i64
  %t38 = insertelement <3 x i64> %t35, i64 %t37, i32 2
  %v142 = bitcast <3 x i64> %t38 to <3 x i64>
  %t39 = extractelement <3 x i64> %v142, i32 0
  %v143 = bitcast i64 %t39 to i64
  %v144 = trunc i64 %v143 to i32
  %v145 = getelementptr inbounds i32, ptr addrspace(1) %v136, i64 %v141
  %v146 = load i32, ptr addrspace(1) %v145, align 4
  %v147 = uitofp i32 %v146 to float
  %v148 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 %v143
  %v149 = icmp eq i32 %v144, 2
  %v150 = select i1 %v149, i32 -1, i32 0
  %v151 = icmp eq i32 %v144, 9
  %v152 = select i1 %v151, i32 1315859240, i32 %v150
  store i32 %v152, ptr addrspace(3) %v148, align 4
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #0
  %v153 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 0
  %t40 = call i32 asm sideeffect "atom.relaxed.gpu.shared.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v153, i32 %v146) #3
  %v154 = bitcast i32 %t40 to i32
  %v155 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 1
  %t41 = call i32 asm sideeffect "atom.acq_rel.cta.shared.max.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v155, i32 %v146) #3
  %v156 = bitcast i32 %t41 to i32
  %v157 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 2
  %t42 = call i32 asm sideeffect "atom.release.gpu.shared.min.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v157, i32 %v146) #3
  %v158 = bitcast i32 %t42 to i32
  %v159 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 3
  %t43 = call i32 asm sideeffect "atom.acquire.cta.shared.max.s32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v159, i32 %v146) #3
  %v160 = bitcast i32 %t43 to i32
  %v161 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 4
  call void asm sideeffect "fence.sc.gpu;", "~{memory}"() #3
  %t44 = call i32 asm sideeffect "atom.acq_rel.gpu.shared.or.b32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v161, i32 %v146) #3
  %v162 = bitcast i32 %t44 to i32
  %v163 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 5
  %t45 = call i32 asm sideeffect "atom.relaxed.cta.shared.xor.b32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v163, i32 %v146) #3
  %v164 = bitcast i32 %t45 to i32
  %v165 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 6
  %t46 = call i32 asm sideeffect "atom.relaxed.gpu.shared.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v165, i32 1) #3
  %v166 = bitcast i32 %t46 to i32
  %v167 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 7
  %v168 = bitcast ptr addrspace(3) %v167 to ptr addrspace(3)
  %t47 = call float asm sideeffect "atom.relaxed.gpu.shared.add.f32 $0, [$1], $2;", "=f,l,f,~{memory}"(ptr addrspace(3) %v168, float %v147) #3
  %v169 = bitcast float %t47 to float
  %v170 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 8
  %v171 = bitcast ptr addrspace(3) %v170 to ptr addrspace(3)
  call void asm sideeffect "fence.sc.gpu;", "~{memory}"() #3
  %v172 = call float @ur_atomic_fmax_f32_shared_gpu(ptr addrspace(3) %v171, float %v147)
  call void asm sideeffect "fence.sc.gpu;", "~{memory}"() #3
  %v173 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 9
  %v174 = bitcast ptr addrspace(3) %v173 to ptr addrspace(3)
  call void asm sideeffect "fence.acq_rel.cta;", "~{memory}"() #3
  %v175 = call float @ur_atomic_fmin_f32_shared_cta(ptr addrspace(3) %v174, float %v147)
  call void asm sideeffect "fence.acq_rel.cta;", "~{memory}"() #3
  %v176 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 10
  %v177 = addrspacecast ptr addrspace(3) %v176 to ptr
  %t48 = call i32 asm sideeffect "atom.relaxed.gpu.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr %v177, i32 %v146) #3
  %v178 = bitcast i32 %t48 to i32
  %v179 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 11
  %t49 = sub i32 0, %v146
  %t50 = call i32 asm sideeffect "atom.relaxed.gpu.shared.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v179, i32 %t49) #3
  %v180 = bitcast i32 %t50 to i32
  %v181 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 12
  call void asm sideeffect "fence.sc.gpu;", "~{memory}"() #3
  %t51 = call i32 asm sideeffect "atom.acq_rel.gpu.shared.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"(ptr addrspace(3) %v181, i32 0, i32 77) #3
  %v182 = bitcast i32 %t51 to i32
  %v183 = icmp eq i32 %v182, 0
  %v184 = select i1 %v183, i32 1, i32 0
  %v185 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 13
  %t52 = call i32 asm sideeffect "atom.relaxed.gpu.shared.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v185, i32 %v184) #3
  %v186 = bitcast i32 %t52 to i32
  %v187 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 14
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  call void asm sideeffect "st.relaxed.gpu.shared.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(3) %v187, i32 5) #3
  %v188 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 15
  %t53 = call i32 asm sideeffect "atom.acq_rel.gpu.shared.exch.b32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(3) %v188, i32 6) #3
  %v189 = bitcast i32 %t53 to i32
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #0
  %v190 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 0
  %t54 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v190) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v191 = bitcast i32 %t54 to i32
  %v192 = add i64 %v141, 0
  %v193 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v192
  store i32 %v191, ptr addrspace(1) %v193, align 4
  %v194 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 1
  %t55 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v194) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v195 = bitcast i32 %t55 to i32
  %v196 = add i64 %v141, 64
  %v197 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v196
  store i32 %v195, ptr addrspace(1) %v197, align 4
  %v198 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 2
  %t56 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v198) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v199 = bitcast i32 %t56 to i32
  %v200 = add i64 %v141, 128
  %v201 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v200
  store i32 %v199, ptr addrspace(1) %v201, align 4
  %v202 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 3
  %t57 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v202) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v203 = bitcast i32 %t57 to i32
  %v204 = add i64 %v141, 192
  %v205 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v204
  store i32 %v203, ptr addrspace(1) %v205, align 4
  %v206 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 4
  %t58 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v206) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v207 = bitcast i32 %t58 to i32
  %v208 = add i64 %v141, 256
  %v209 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v208
  store i32 %v207, ptr addrspace(1) %v209, align 4
  %v210 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 5
  %t59 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v210) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v211 = bitcast i32 %t59 to i32
  %v212 = add i64 %v141, 320
  %v213 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v212
  store i32 %v211, ptr addrspace(1) %v213, align 4
  %v214 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 6
  %t60 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v214) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v215 = bitcast i32 %t60 to i32
  %v216 = add i64 %v141, 384
  %v217 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v216
  store i32 %v215, ptr addrspace(1) %v217, align 4
  %v218 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 7
  %t61 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v218) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v219 = bitcast i32 %t61 to i32
  %v220 = add i64 %v141, 448
  %v221 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v220
  store i32 %v219, ptr addrspace(1) %v221, align 4
  %v222 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 8
  %t62 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v222) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v223 = bitcast i32 %t62 to i32
  %v224 = add i64 %v141, 512
  %v225 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v224
  store i32 %v223, ptr addrspace(1) %v225, align 4
  %v226 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 9
  %t63 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v226) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v227 = bitcast i32 %t63 to i32
  %v228 = add i64 %v141, 576
  %v229 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v228
  store i32 %v227, ptr addrspace(1) %v229, align 4
  %v230 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 10
  %t64 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v230) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v231 = bitcast i32 %t64 to i32
  %v232 = add i64 %v141, 640
  %v233 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v232
  store i32 %v231, ptr addrspace(1) %v233, align 4
  %v234 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 11
  %t65 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v234) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v235 = bitcast i32 %t65 to i32
  %v236 = add i64 %v141, 704
  %v237 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v236
  store i32 %v235, ptr addrspace(1) %v237, align 4
  %v238 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 12
  %t66 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v238) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v239 = bitcast i32 %t66 to i32
  %v240 = add i64 %v141, 768
  %v241 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v240
  store i32 %v239, ptr addrspace(1) %v241, align 4
  %v242 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 13
  %t67 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v242) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v243 = bitcast i32 %t67 to i32
  %v244 = add i64 %v141, 832
  %v245 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v244
  store i32 %v243, ptr addrspace(1) %v245, align 4
  %v246 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 14
  %t68 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v246) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v247 = bitcast i32 %t68 to i32
  %v248 = add i64 %v141, 896
  %v249 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v248
  store i32 %v247, ptr addrspace(1) %v249, align 4
  %v250 = getelementptr inbounds i32, ptr addrspace(3) %v138, i64 15
  %t69 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %v250) #3
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"() #3
  %v251 = bitcast i32 %t69 to i32
  %v252 = add i64 %v141, 960
  %v253 = getelementptr inbounds i32, ptr addrspace(1) %v137, i64 %v252
  store i32 %v251, ptr addrspace(1) %v253, align 4
  ret void
}
define internal float @ur_atomic_fmax_f32_shared_gpu(ptr addrspace(3) %p, float %x) #1 {
entry:
  %t1 = call i32 asm sideeffect "ld.relaxed.gpu.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %p) #3
  br label %loop
loop:
  %seen = phi i32 [ %t1, %entry ], [ %old, %loop ]
  %t2 = bitcast i32 %seen to float
  %t3 = call float @__nv_fmaxf(float %t2, float %x)
  %t4 = bitcast float %t3 to i32
  %old = call i32 asm sideeffect "atom.relaxed.gpu.shared.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"(ptr addrspace(3) %p, i32 %seen, i32 %t4) #3
  %t5 = icmp eq i32 %old, %seen
  br i1 %t5, label %end, label %loop
end:
  %t6 = bitcast i32 %old to float
  ret float %t6
}
define internal float @ur_atomic_fmin_f32_shared_cta(ptr addrspace(3) %p, float %x) #1 {
entry:
  %t1 = call i32 asm sideeffect "ld.relaxed.cta.shared.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(3) %p) #3
  br label %loop
loop:
  %seen = phi i32 [ %t1, %entry ], [ %old, %loop ]
  %t2 = bitcast i32 %seen to float
  %t3 = call float @__nv_fminf(float %t2, float %x)
  %t4 = bitcast float %t3 to i32
  %old = call i32 asm sideeffect "atom.relaxed.cta.shared.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"(ptr addrspace(3) %p, i32 %seen, i32 %t4) #3
  %t5 = icmp eq i32 %old, %seen
  br i1 %t5, label %end, label %loop
end:
  %t6 = bitcast i32 %old to float
  ret float %t6
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!nvvm.annotations = !{!0, !1}
!nvvmir.version = !{!2}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = !{ptr @k, !"maxntidx", i32 1024}
!2 = !{i32 2, i32 0, i32 3, i32 1}
