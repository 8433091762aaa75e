target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%s117 = type { i8, i32, [4 x i32] }
@i136 = internal addrspace(1) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
@i137 = internal addrspace(1) constant %s117 zeroinitializer, align 4
@g124 = internal addrspace(1) global [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
@g122 = internal addrspace(1) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare i1 @llvm.nvvm.isspacep.global(ptr)
declare i1 @llvm.nvvm.isspacep.local(ptr)
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
define void @k(ptr addrspace(1) %v131, ptr addrspace(1) %v132, ptr addrspace(1) %v133, i64 %p134) #0 {
b135:
  %t1 = getelementptr [0 x i8], ptr addrspace(3) @ur_dynamic_shared, i64 0, i64 %p134
  %v134 = bitcast ptr addrspace(3) %t1 to ptr addrspace(3)
  %v136 = alloca [4 x i32], align 4
  %t2 = bitcast ptr %v136 to ptr
  %t3 = bitcast ptr addrspace(1) @i136 to ptr addrspace(1)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %t2, ptr addrspace(1) align 4 %t3, i64 16, i1 false)
  %v137 = alloca %s117, align 4
  %t4 = bitcast ptr %v137 to ptr
  %t5 = bitcast ptr addrspace(1) @i137 to ptr addrspace(1)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %t4, ptr addrspace(1) align 4 %t5, i64 24, i1 false)
  %v138 = alloca half, align 2
  %t6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t7 = zext i32 %t6 to i64
  %t8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t9 = zext i32 %t8 to i64
  %t10 = mul nuw nsw i64 %t7, %t9
  %t11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t12 = zext i32 %t11 to i64
  %t13 = add nuw nsw i64 %t10, %t12
  %t14 = insertelement <3 x i64> undef, i64 %t13, i32 0
  %t15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t16 = zext i32 %t15 to i64
  %t17 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t18 = zext i32 %t17 to i64
  %t19 = mul nuw nsw i64 %t16, %t18
  %t20 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t21 = zext i32 %t20 to i64
  %t22 = add nuw nsw i64 %t19, %t21
  %t23 = insertelement <3 x i64> %t14, i64 %t22, i32 1
  %t24 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t25 = zext i32 %t24 to i64
  %t26 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t27 = zext i32 %t26 to i64
  %t28 = mul nuw nsw i64 %t25, %t27
  %t29 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t30 = zext i32 %t29 to i64
  %t31 = add nuw nsw i64 %t28, %t30
  %t32 = insertelement <3 x i64> %t23, i64 %t31, i32 2
  %v139 = bitcast <3 x i64> %t32 to <3 x i64>
  %t33 = extractelement <3 x i64> %v139, i32 0
  %v140 = bitcast i64 %t33 to i64
  %t34 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t35 = zext i32 %t34 to i64
  %t36 = insertelement <3 x i64> undef, i64 %t35, i32 0
  %t37 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t38 = zext i32 %t37 to i64
  %t39 = insertelement <3 x i64> %t36, i64 %t38, i32 1
  %t40 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t41 = zext i32 %t40 to i64
  %t42 = insertelement <3 x i64> %t39, i64 %t41, i32 2
  %v141 = bitcast <3 x i64> %t42 to <3 x i64>
  %t43 = extractelement <3 x i64> %v141, i32 0
  %v142 = bitcast i64 %t43 to i64
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
  %t44 = bitcast ptr %v168 to ptr
  %t45 = bitcast ptr %v136 to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %t44, ptr align 4 %t45, i64 16, i1 false)
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
  %t46 = call i1 @llvm.nvvm.isspacep.local(ptr %v172)
  %t47 = bitcast ptr %v172 to ptr
  %v176 = select i1 %t46, ptr %t47, ptr null
  %v177 = load i32, ptr %v176, align 4
  %v178 = add i64 %v140, 224
  %v179 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v178
  store i32 %v177, ptr addrspace(1) %v179, align 4
  %t48 = call i1 @llvm.nvvm.isspacep.global(ptr %v172)
  %t49 = addrspacecast ptr %v172 to ptr addrspace(1)
  %v180 = select i1 %t48, ptr addrspace(1) %t49, ptr addrspace(1) null
  %v181 = ptrtoint ptr addrspace(1) %v180 to i64
  %v182 = icmp eq i64 %v181, 0
  %v183 = select i1 %v182, i32 1, i32 0
  %v184 = add i64 %v140, 256
  %v185 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v184
  store i32 %v183, ptr addrspace(1) %v185, align 4
  %v186 = getelementptr inbounds [4 x i32], ptr %v136, i32 0, i32 0
  %t50 = mul i64 1, 2
  %t51 = bitcast ptr %v186 to ptr
  %t52 = getelementptr i32, ptr %t51, i64 %t50
  %t53 = load i32, ptr %t52, align 4
  %t54 = insertelement <2 x i32> undef, i32 %t53, i32 0
  %t55 = getelementptr i32, ptr %t52, i64 1
  %t56 = load i32, ptr %t55, align 4
  %t57 = insertelement <2 x i32> %t54, i32 %t56, i32 1
  %v187 = bitcast <2 x i32> %t57 to <2 x i32>
  %t58 = extractelement <2 x i32> %v187, i32 0
  %v188 = bitcast i32 %t58 to i32
  %v189 = add i64 %v140, 288
  %v190 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v189
  store i32 %v188, ptr addrspace(1) %v190, align 4
  %t59 = mul i64 0, 2
  %t60 = bitcast ptr %v186 to ptr
  %t61 = getelementptr i32, ptr %t60, i64 %t59
  %t62 = extractelement <2 x i32> %v187, i32 0
  store i32 %t62, ptr %t61, align 4
  %t63 = extractelement <2 x i32> %v187, i32 1
  %t64 = getelementptr i32, ptr %t61, i64 1
  store i32 %t63, ptr %t64, align 4
  %v192 = load i32, ptr %v186, align 4
  %v193 = add i64 %v140, 320
  %v194 = getelementptr inbounds i32, ptr addrspace(1) %v132, i64 %v193
  store i32 %v192, ptr addrspace(1) %v194, align 4
  %v195 = uitofp i32 %v146 to float
  %v196 = fadd float %v195, 0x3FB99999A0000000
  %t65 = mul i64 0, 1
  %t66 = bitcast ptr %v138 to ptr
  %t67 = getelementptr half, ptr %t66, i64 %t65
  %t68 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v196) #3
  %t69 = bitcast i16 %t68 to half
  store half %t69, ptr %t67, align 2
  %t70 = mul i64 0, 1
  %t71 = bitcast ptr %v138 to ptr
  %t72 = getelementptr half, ptr %t71, i64 %t70
  %t73 = load half, ptr %t72, align 2
  %t74 = fpext half %t73 to float
  %v198 = bitcast float %t74 to float
  %v199 = add i64 %v140, 0
  %v200 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v199
  store float %v198, ptr addrspace(1) %v200, align 4
  %t75 = mul i64 0, 1
  %t76 = bitcast ptr %v138 to ptr
  %t77 = getelementptr half, ptr %t76, i64 %t75
  %t78 = call i16 asm "cvt.rz.f16.f32 $0, $1;", "=h,f"(float %v196) #3
  %t79 = bitcast i16 %t78 to half
  store half %t79, ptr %t77, align 2
  %t80 = mul i64 0, 1
  %t81 = bitcast ptr %v138 to ptr
  %t82 = getelementptr half, ptr %t81, i64 %t80
  %t83 = load half, ptr %t82, align 2
  %t84 = fpext half %t83 to float
  %v202 = bitcast float %t84 to float
  %v203 = add i64 %v140, 32
  %v204 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v203
  store float %v202, ptr addrspace(1) %v204, align 4
  %t85 = mul i64 0, 1
  %t86 = bitcast ptr %v138 to ptr
  %t87 = getelementptr half, ptr %t86, i64 %t85
  %t88 = call i16 asm "cvt.rp.f16.f32 $0, $1;", "=h,f"(float %v196) #3
  %t89 = bitcast i16 %t88 to half
  store half %t89, ptr %t87, align 2
  %t90 = mul i64 0, 1
  %t91 = bitcast ptr %v138 to ptr
  %t92 = getelementptr half, ptr %t91, i64 %t90
  %t93 = load half, ptr %t92, align 2
  %t94 = fpext half %t93 to float
  %v206 = bitcast float %t94 to float
  %v207 = add i64 %v140, 64
  %v208 = getelementptr inbounds float, ptr addrspace(1) %v133, i64 %v207
  store float %v206, ptr addrspace(1) %v208, align 4
  %v209 = getelementptr inbounds i32, ptr addrspace(3) %v134, i64 %v142
  store i32 %v145, ptr addrspace(3) %v209, align 4
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #0
  %v210 = xor i64 %v142, 1
  %v211 = getelementptr inbounds i32, ptr addrspace(3) %v134, i64 %v210
  %v212 = load i32, ptr addrspace(3) %v211, align 4
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
!nvvm.annotations = !{!1, !2}
!nvvmir.version = !{!3}
!0 = !{}
!1 = !{ptr @k, !"kernel", i32 1}
!2 = !{ptr @k, !"maxntidx", i32 1024}
!3 = !{i32 2, i32 0, i32 3, i32 1}
