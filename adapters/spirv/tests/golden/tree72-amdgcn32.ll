target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
declare float @__ocml_ldexp_f32(float, i32)
declare double @__ocml_ldexp_f64(double, i32)
declare i32 @llvm.amdgcn.ballot.i32(i1)
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.cttz.i32(i32, i1)
@ur_scratch = internal addrspace(3) global [33 x i64] undef, align 8
define amdgpu_kernel void @k(ptr addrspace(1) %v111, ptr addrspace(1) %v112, ptr addrspace(1) %v113, ptr addrspace(1) %v114, ptr addrspace(1) %v115) #0 "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" {
b116:
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
  %v117 = bitcast <3 x i64> %t36 to <3 x i64>
  %t37 = extractelement <3 x i64> %v117, i32 0
  %v118 = bitcast i64 %t37 to i64
  %t38 = call i32 @llvm.amdgcn.workitem.id.x()
  %t39 = zext i32 %t38 to i64
  %t40 = insertelement <3 x i64> undef, i64 %t39, i32 0
  %t41 = call i32 @llvm.amdgcn.workitem.id.y()
  %t42 = zext i32 %t41 to i64
  %t43 = insertelement <3 x i64> %t40, i64 %t42, i32 1
  %t44 = call i32 @llvm.amdgcn.workitem.id.z()
  %t45 = zext i32 %t44 to i64
  %t46 = insertelement <3 x i64> %t43, i64 %t45, i32 2
  %v119 = bitcast <3 x i64> %t46 to <3 x i64>
  %t47 = extractelement <3 x i64> %v119, i32 0
  %v120 = bitcast i64 %t47 to i64
  %v121 = trunc i64 %v120 to i32
  %v122 = getelementptr inbounds i64, ptr addrspace(1) %v111, i64 %v118
  %v123 = load i64, ptr addrspace(1) %v122, align 8
  %v124 = trunc i64 %v123 to i8
  %v125 = trunc i64 %v123 to i16
  %v126 = trunc i64 %v123 to i32
  %v127 = getelementptr inbounds i32, ptr addrspace(1) %v112, i64 %v118
  %v128 = load i32, ptr addrspace(1) %v127, align 4
  %v129 = uitofp i32 %v128 to half
  %v130 = sub i32 %v128, 1
  %t48 = fpext half 0xH3C00 to float
  %t49 = call float @__ocml_ldexp_f32(float %t48, i32 %v130)
  %t50 = fptrunc float %t49 to half
  %v131 = bitcast half %t50 to half
  %v132 = uitofp i32 %v128 to float
  %v133 = sub i32 %v128, 1
  %t51 = call float @__ocml_ldexp_f32(float 0x3FF0000000000000, i32 %v133)
  %v134 = bitcast float %t51 to float
  %v135 = uitofp i32 %v128 to double
  %v136 = sub i32 %v128, 1
  %t52 = call double @__ocml_ldexp_f64(double 0x3FF0000000000000, i32 %v136)
  %v137 = bitcast double %t52 to double
  %v138 = and i32 %v128, 1
  %v139 = icmp ne i32 %v138, 0
  %t53 = call i32 @ur_group_reduce_add_i32(i32 %v126) #0
  %v140 = bitcast i32 %t53 to i32
  %v141 = add i64 %v118, 0
  %v142 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v141
  store i32 %v140, ptr addrspace(1) %v142, align 4
  %t54 = call i32 @ur_group_scan_add_i32(i32 %v126) #0
  %v143 = bitcast i32 %t54 to i32
  %v144 = add i64 %v118, 72
  %v145 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v144
  store i32 %v143, ptr addrspace(1) %v145, align 4
  %t55 = call i32 @ur_group_before_add_i32(i32 %v126) #0
  %v146 = bitcast i32 %t55 to i32
  %v147 = add i64 %v118, 144
  %v148 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v147
  store i32 %v146, ptr addrspace(1) %v148, align 4
  %t56 = call i8 @ur_group_reduce_smin_i8(i8 %v124) #0
  %v149 = bitcast i8 %t56 to i8
  %v150 = add i64 %v118, 0
  %v151 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v150
  store i8 %v149, ptr addrspace(1) %v151, align 1
  %t57 = call i8 @ur_group_scan_smin_i8(i8 %v124) #0
  %v152 = bitcast i8 %t57 to i8
  %v153 = add i64 %v118, 72
  %v154 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v153
  store i8 %v152, ptr addrspace(1) %v154, align 1
  %t58 = call i8 @ur_group_before_smin_i8(i8 %v124) #0
  %v155 = bitcast i8 %t58 to i8
  %v156 = add i64 %v118, 144
  %v157 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v156
  store i8 %v155, ptr addrspace(1) %v157, align 1
  %t59 = call i16 @ur_group_reduce_umax_i16(i16 %v125) #0
  %v158 = bitcast i16 %t59 to i16
  %v159 = add i64 %v118, 0
  %v160 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v159
  store i16 %v158, ptr addrspace(1) %v160, align 2
  %t60 = call i16 @ur_group_scan_umax_i16(i16 %v125) #0
  %v161 = bitcast i16 %t60 to i16
  %v162 = add i64 %v118, 72
  %v163 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v162
  store i16 %v161, ptr addrspace(1) %v163, align 2
  %t61 = call i16 @ur_group_before_umax_i16(i16 %v125) #0
  %v164 = bitcast i16 %t61 to i16
  %v165 = add i64 %v118, 144
  %v166 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v165
  store i16 %v164, ptr addrspace(1) %v166, align 2
  %t62 = call i1 @ur_group_reduce_or_b(i1 %v139) #0
  %v167 = bitcast i1 %t62 to i1
  %v168 = select i1 %v167, i32 1, i32 0
  %v169 = add i64 %v118, 216
  %v170 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v169
  store i32 %v168, ptr addrspace(1) %v170, align 4
  %t63 = call i1 @ur_group_reduce_and_b(i1 %v139) #0
  %v171 = bitcast i1 %t63 to i1
  %v172 = select i1 %v171, i32 1, i32 0
  %v173 = add i64 %v118, 288
  %v174 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v173
  store i32 %v172, ptr addrspace(1) %v174, align 4
  %t64 = call i32 @llvm.amdgcn.workitem.id.x()
  %t65 = call i32 @llvm.amdgcn.workitem.id.y()
  %t66 = call i32 @llvm.amdgcn.workitem.id.z()
  %t67 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t68 = getelementptr inbounds i8, ptr addrspace(4) %t67, i64 4
  %t69 = load i16, ptr addrspace(4) %t68, align 2, !invariant.load !0
  %t70 = zext i16 %t69 to i32
  %t71 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t72 = getelementptr inbounds i8, ptr addrspace(4) %t71, i64 6
  %t73 = load i16, ptr addrspace(4) %t72, align 2, !invariant.load !0
  %t74 = zext i16 %t73 to i32
  %t75 = mul i32 %t66, %t74
  %t76 = add i32 %t75, %t65
  %t77 = mul i32 %t76, %t70
  %t78 = add i32 %t77, %t64
  %t79 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t80 = getelementptr inbounds i8, ptr addrspace(4) %t79, i64 4
  %t81 = load i16, ptr addrspace(4) %t80, align 2, !invariant.load !0
  %t82 = zext i16 %t81 to i32
  %t83 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t84 = getelementptr inbounds i8, ptr addrspace(4) %t83, i64 6
  %t85 = load i16, ptr addrspace(4) %t84, align 2, !invariant.load !0
  %t86 = zext i16 %t85 to i32
  %t87 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t88 = getelementptr inbounds i8, ptr addrspace(4) %t87, i64 8
  %t89 = load i16, ptr addrspace(4) %t88, align 2, !invariant.load !0
  %t90 = zext i16 %t89 to i32
  %t91 = mul i32 %t82, %t86
  %t92 = mul i32 %t91, %t90
  %t93 = and i32 %t78, -32
  %t94 = sub i32 %t92, %t93
  %t95 = icmp ugt i32 %t94, 32
  %t96 = select i1 %t95, i32 32, i32 %t94
  %t97 = sub i32 32, %t96
  %t98 = lshr i32 -1, %t97
  %t99 = call i32 @ur_reduce_add_i32(i32 %v126, i32 %t98, i32 %t98) #0
  %v175 = bitcast i32 %t99 to i32
  %v176 = add i64 %v118, 360
  %v177 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v176
  store i32 %v175, ptr addrspace(1) %v177, align 4
  %t100 = call i32 @llvm.amdgcn.workitem.id.x()
  %t101 = call i32 @llvm.amdgcn.workitem.id.y()
  %t102 = call i32 @llvm.amdgcn.workitem.id.z()
  %t103 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t104 = getelementptr inbounds i8, ptr addrspace(4) %t103, i64 4
  %t105 = load i16, ptr addrspace(4) %t104, align 2, !invariant.load !0
  %t106 = zext i16 %t105 to i32
  %t107 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t108 = getelementptr inbounds i8, ptr addrspace(4) %t107, i64 6
  %t109 = load i16, ptr addrspace(4) %t108, align 2, !invariant.load !0
  %t110 = zext i16 %t109 to i32
  %t111 = mul i32 %t102, %t110
  %t112 = add i32 %t111, %t101
  %t113 = mul i32 %t112, %t106
  %t114 = add i32 %t113, %t100
  %t115 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t116 = getelementptr inbounds i8, ptr addrspace(4) %t115, i64 4
  %t117 = load i16, ptr addrspace(4) %t116, align 2, !invariant.load !0
  %t118 = zext i16 %t117 to i32
  %t119 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t120 = getelementptr inbounds i8, ptr addrspace(4) %t119, i64 6
  %t121 = load i16, ptr addrspace(4) %t120, align 2, !invariant.load !0
  %t122 = zext i16 %t121 to i32
  %t123 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t124 = getelementptr inbounds i8, ptr addrspace(4) %t123, i64 8
  %t125 = load i16, ptr addrspace(4) %t124, align 2, !invariant.load !0
  %t126 = zext i16 %t125 to i32
  %t127 = mul i32 %t118, %t122
  %t128 = mul i32 %t127, %t126
  %t129 = and i32 %t114, -32
  %t130 = sub i32 %t128, %t129
  %t131 = icmp ugt i32 %t130, 32
  %t132 = select i1 %t131, i32 32, i32 %t130
  %t133 = sub i32 32, %t132
  %t134 = lshr i32 -1, %t133
  %t135 = call i32 @ur_scan_add_i32(i32 %v126, i32 %t134, i32 %t134) #0
  %v178 = bitcast i32 %t135 to i32
  %v179 = add i64 %v118, 432
  %v180 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v179
  store i32 %v178, ptr addrspace(1) %v180, align 4
  %t136 = call i32 @llvm.amdgcn.workitem.id.x()
  %t137 = call i32 @llvm.amdgcn.workitem.id.y()
  %t138 = call i32 @llvm.amdgcn.workitem.id.z()
  %t139 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t140 = getelementptr inbounds i8, ptr addrspace(4) %t139, i64 4
  %t141 = load i16, ptr addrspace(4) %t140, align 2, !invariant.load !0
  %t142 = zext i16 %t141 to i32
  %t143 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t144 = getelementptr inbounds i8, ptr addrspace(4) %t143, i64 6
  %t145 = load i16, ptr addrspace(4) %t144, align 2, !invariant.load !0
  %t146 = zext i16 %t145 to i32
  %t147 = mul i32 %t138, %t146
  %t148 = add i32 %t147, %t137
  %t149 = mul i32 %t148, %t142
  %t150 = add i32 %t149, %t136
  %t151 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t152 = getelementptr inbounds i8, ptr addrspace(4) %t151, i64 4
  %t153 = load i16, ptr addrspace(4) %t152, align 2, !invariant.load !0
  %t154 = zext i16 %t153 to i32
  %t155 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t156 = getelementptr inbounds i8, ptr addrspace(4) %t155, i64 6
  %t157 = load i16, ptr addrspace(4) %t156, align 2, !invariant.load !0
  %t158 = zext i16 %t157 to i32
  %t159 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t160 = getelementptr inbounds i8, ptr addrspace(4) %t159, i64 8
  %t161 = load i16, ptr addrspace(4) %t160, align 2, !invariant.load !0
  %t162 = zext i16 %t161 to i32
  %t163 = mul i32 %t154, %t158
  %t164 = mul i32 %t163, %t162
  %t165 = and i32 %t150, -32
  %t166 = sub i32 %t164, %t165
  %t167 = icmp ugt i32 %t166, 32
  %t168 = select i1 %t167, i32 32, i32 %t166
  %t169 = sub i32 32, %t168
  %t170 = lshr i32 -1, %t169
  %t171 = call i32 @ur_before_add_i32(i32 %v126, i32 %t170, i32 %t170) #0
  %v181 = bitcast i32 %t171 to i32
  %v182 = add i64 %v118, 504
  %v183 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v182
  store i32 %v181, ptr addrspace(1) %v183, align 4
  %t172 = call i32 @llvm.amdgcn.workitem.id.x()
  %t173 = call i32 @llvm.amdgcn.workitem.id.y()
  %t174 = call i32 @llvm.amdgcn.workitem.id.z()
  %t175 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t176 = getelementptr inbounds i8, ptr addrspace(4) %t175, i64 4
  %t177 = load i16, ptr addrspace(4) %t176, align 2, !invariant.load !0
  %t178 = zext i16 %t177 to i32
  %t179 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t180 = getelementptr inbounds i8, ptr addrspace(4) %t179, i64 6
  %t181 = load i16, ptr addrspace(4) %t180, align 2, !invariant.load !0
  %t182 = zext i16 %t181 to i32
  %t183 = mul i32 %t174, %t182
  %t184 = add i32 %t183, %t173
  %t185 = mul i32 %t184, %t178
  %t186 = add i32 %t185, %t172
  %t187 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t188 = getelementptr inbounds i8, ptr addrspace(4) %t187, i64 4
  %t189 = load i16, ptr addrspace(4) %t188, align 2, !invariant.load !0
  %t190 = zext i16 %t189 to i32
  %t191 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t192 = getelementptr inbounds i8, ptr addrspace(4) %t191, i64 6
  %t193 = load i16, ptr addrspace(4) %t192, align 2, !invariant.load !0
  %t194 = zext i16 %t193 to i32
  %t195 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t196 = getelementptr inbounds i8, ptr addrspace(4) %t195, i64 8
  %t197 = load i16, ptr addrspace(4) %t196, align 2, !invariant.load !0
  %t198 = zext i16 %t197 to i32
  %t199 = mul i32 %t190, %t194
  %t200 = mul i32 %t199, %t198
  %t201 = and i32 %t186, -32
  %t202 = sub i32 %t200, %t201
  %t203 = icmp ugt i32 %t202, 32
  %t204 = select i1 %t203, i32 32, i32 %t202
  %t205 = sub i32 32, %t204
  %t206 = lshr i32 -1, %t205
  %t207 = call i8 @ur_reduce_smin_i8(i8 %v124, i32 %t206, i32 %t206) #0
  %v184 = bitcast i8 %t207 to i8
  %v185 = add i64 %v118, 216
  %v186 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v185
  store i8 %v184, ptr addrspace(1) %v186, align 1
  %t208 = call i32 @llvm.amdgcn.workitem.id.x()
  %t209 = call i32 @llvm.amdgcn.workitem.id.y()
  %t210 = call i32 @llvm.amdgcn.workitem.id.z()
  %t211 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t212 = getelementptr inbounds i8, ptr addrspace(4) %t211, i64 4
  %t213 = load i16, ptr addrspace(4) %t212, align 2, !invariant.load !0
  %t214 = zext i16 %t213 to i32
  %t215 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t216 = getelementptr inbounds i8, ptr addrspace(4) %t215, i64 6
  %t217 = load i16, ptr addrspace(4) %t216, align 2, !invariant.load !0
  %t218 = zext i16 %t217 to i32
  %t219 = mul i32 %t210, %t218
  %t220 = add i32 %t219, %t209
  %t221 = mul i32 %t220, %t214
  %t222 = add i32 %t221, %t208
  %t223 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t224 = getelementptr inbounds i8, ptr addrspace(4) %t223, i64 4
  %t225 = load i16, ptr addrspace(4) %t224, align 2, !invariant.load !0
  %t226 = zext i16 %t225 to i32
  %t227 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t228 = getelementptr inbounds i8, ptr addrspace(4) %t227, i64 6
  %t229 = load i16, ptr addrspace(4) %t228, align 2, !invariant.load !0
  %t230 = zext i16 %t229 to i32
  %t231 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t232 = getelementptr inbounds i8, ptr addrspace(4) %t231, i64 8
  %t233 = load i16, ptr addrspace(4) %t232, align 2, !invariant.load !0
  %t234 = zext i16 %t233 to i32
  %t235 = mul i32 %t226, %t230
  %t236 = mul i32 %t235, %t234
  %t237 = and i32 %t222, -32
  %t238 = sub i32 %t236, %t237
  %t239 = icmp ugt i32 %t238, 32
  %t240 = select i1 %t239, i32 32, i32 %t238
  %t241 = sub i32 32, %t240
  %t242 = lshr i32 -1, %t241
  %t243 = call i8 @ur_scan_smin_i8(i8 %v124, i32 %t242, i32 %t242) #0
  %v187 = bitcast i8 %t243 to i8
  %v188 = add i64 %v118, 288
  %v189 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v188
  store i8 %v187, ptr addrspace(1) %v189, align 1
  %t244 = call i32 @llvm.amdgcn.workitem.id.x()
  %t245 = call i32 @llvm.amdgcn.workitem.id.y()
  %t246 = call i32 @llvm.amdgcn.workitem.id.z()
  %t247 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t248 = getelementptr inbounds i8, ptr addrspace(4) %t247, i64 4
  %t249 = load i16, ptr addrspace(4) %t248, align 2, !invariant.load !0
  %t250 = zext i16 %t249 to i32
  %t251 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t252 = getelementptr inbounds i8, ptr addrspace(4) %t251, i64 6
  %t253 = load i16, ptr addrspace(4) %t252, align 2, !invariant.load !0
  %t254 = zext i16 %t253 to i32
  %t255 = mul i32 %t246, %t254
  %t256 = add i32 %t255, %t245
  %t257 = mul i32 %t256, %t250
  %t258 = add i32 %t257, %t244
  %t259 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t260 = getelementptr inbounds i8, ptr addrspace(4) %t259, i64 4
  %t261 = load i16, ptr addrspace(4) %t260, align 2, !invariant.load !0
  %t262 = zext i16 %t261 to i32
  %t263 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t264 = getelementptr inbounds i8, ptr addrspace(4) %t263, i64 6
  %t265 = load i16, ptr addrspace(4) %t264, align 2, !invariant.load !0
  %t266 = zext i16 %t265 to i32
  %t267 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t268 = getelementptr inbounds i8, ptr addrspace(4) %t267, i64 8
  %t269 = load i16, ptr addrspace(4) %t268, align 2, !invariant.load !0
  %t270 = zext i16 %t269 to i32
  %t271 = mul i32 %t262, %t266
  %t272 = mul i32 %t271, %t270
  %t273 = and i32 %t258, -32
  %t274 = sub i32 %t272, %t273
  %t275 = icmp ugt i32 %t274, 32
  %t276 = select i1 %t275, i32 32, i32 %t274
  %t277 = sub i32 32, %t276
  %t278 = lshr i32 -1, %t277
  %t279 = call i8 @ur_before_smin_i8(i8 %v124, i32 %t278, i32 %t278) #0
  %v190 = bitcast i8 %t279 to i8
  %v191 = add i64 %v118, 360
  %v192 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v191
  store i8 %v190, ptr addrspace(1) %v192, align 1
  %t280 = call i32 @llvm.amdgcn.workitem.id.x()
  %t281 = call i32 @llvm.amdgcn.workitem.id.y()
  %t282 = call i32 @llvm.amdgcn.workitem.id.z()
  %t283 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t284 = getelementptr inbounds i8, ptr addrspace(4) %t283, i64 4
  %t285 = load i16, ptr addrspace(4) %t284, align 2, !invariant.load !0
  %t286 = zext i16 %t285 to i32
  %t287 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t288 = getelementptr inbounds i8, ptr addrspace(4) %t287, i64 6
  %t289 = load i16, ptr addrspace(4) %t288, align 2, !invariant.load !0
  %t290 = zext i16 %t289 to i32
  %t291 = mul i32 %t282, %t290
  %t292 = add i32 %t291, %t281
  %t293 = mul i32 %t292, %t286
  %t294 = add i32 %t293, %t280
  %t295 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t296 = getelementptr inbounds i8, ptr addrspace(4) %t295, i64 4
  %t297 = load i16, ptr addrspace(4) %t296, align 2, !invariant.load !0
  %t298 = zext i16 %t297 to i32
  %t299 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t300 = getelementptr inbounds i8, ptr addrspace(4) %t299, i64 6
  %t301 = load i16, ptr addrspace(4) %t300, align 2, !invariant.load !0
  %t302 = zext i16 %t301 to i32
  %t303 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t304 = getelementptr inbounds i8, ptr addrspace(4) %t303, i64 8
  %t305 = load i16, ptr addrspace(4) %t304, align 2, !invariant.load !0
  %t306 = zext i16 %t305 to i32
  %t307 = mul i32 %t298, %t302
  %t308 = mul i32 %t307, %t306
  %t309 = and i32 %t294, -32
  %t310 = sub i32 %t308, %t309
  %t311 = icmp ugt i32 %t310, 32
  %t312 = select i1 %t311, i32 32, i32 %t310
  %t313 = sub i32 32, %t312
  %t314 = lshr i32 -1, %t313
  %t315 = call i16 @ur_reduce_umax_i16(i16 %v125, i32 %t314, i32 %t314) #0
  %v193 = bitcast i16 %t315 to i16
  %v194 = add i64 %v118, 216
  %v195 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v194
  store i16 %v193, ptr addrspace(1) %v195, align 2
  %t316 = call i32 @llvm.amdgcn.workitem.id.x()
  %t317 = call i32 @llvm.amdgcn.workitem.id.y()
  %t318 = call i32 @llvm.amdgcn.workitem.id.z()
  %t319 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t320 = getelementptr inbounds i8, ptr addrspace(4) %t319, i64 4
  %t321 = load i16, ptr addrspace(4) %t320, align 2, !invariant.load !0
  %t322 = zext i16 %t321 to i32
  %t323 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t324 = getelementptr inbounds i8, ptr addrspace(4) %t323, i64 6
  %t325 = load i16, ptr addrspace(4) %t324, align 2, !invariant.load !0
  %t326 = zext i16 %t325 to i32
  %t327 = mul i32 %t318, %t326
  %t328 = add i32 %t327, %t317
  %t329 = mul i32 %t328, %t322
  %t330 = add i32 %t329, %t316
  %t331 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t332 = getelementptr inbounds i8, ptr addrspace(4) %t331, i64 4
  %t333 = load i16, ptr addrspace(4) %t332, align 2, !invariant.load !0
  %t334 = zext i16 %t333 to i32
  %t335 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t336 = getelementptr inbounds i8, ptr addrspace(4) %t335, i64 6
  %t337 = load i16, ptr addrspace(4) %t336, align 2, !invariant.load !0
  %t338 = zext i16 %t337 to i32
  %t339 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t340 = getelementptr inbounds i8, ptr addrspace(4) %t339, i64 8
  %t341 = load i16, ptr addrspace(4) %t340, align 2, !invariant.load !0
  %t342 = zext i16 %t341 to i32
  %t343 = mul i32 %t334, %t338
  %t344 = mul i32 %t343, %t342
  %t345 = and i32 %t330, -32
  %t346 = sub i32 %t344, %t345
  %t347 = icmp ugt i32 %t346, 32
  %t348 = select i1 %t347, i32 32, i32 %t346
  %t349 = sub i32 32, %t348
  %t350 = lshr i32 -1, %t349
  %t351 = call i16 @ur_scan_umax_i16(i16 %v125, i32 %t350, i32 %t350) #0
  %v196 = bitcast i16 %t351 to i16
  %v197 = add i64 %v118, 288
  %v198 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v197
  store i16 %v196, ptr addrspace(1) %v198, align 2
  %t352 = call i32 @llvm.amdgcn.workitem.id.x()
  %t353 = call i32 @llvm.amdgcn.workitem.id.y()
  %t354 = call i32 @llvm.amdgcn.workitem.id.z()
  %t355 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t356 = getelementptr inbounds i8, ptr addrspace(4) %t355, i64 4
  %t357 = load i16, ptr addrspace(4) %t356, align 2, !invariant.load !0
  %t358 = zext i16 %t357 to i32
  %t359 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t360 = getelementptr inbounds i8, ptr addrspace(4) %t359, i64 6
  %t361 = load i16, ptr addrspace(4) %t360, align 2, !invariant.load !0
  %t362 = zext i16 %t361 to i32
  %t363 = mul i32 %t354, %t362
  %t364 = add i32 %t363, %t353
  %t365 = mul i32 %t364, %t358
  %t366 = add i32 %t365, %t352
  %t367 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t368 = getelementptr inbounds i8, ptr addrspace(4) %t367, i64 4
  %t369 = load i16, ptr addrspace(4) %t368, align 2, !invariant.load !0
  %t370 = zext i16 %t369 to i32
  %t371 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t372 = getelementptr inbounds i8, ptr addrspace(4) %t371, i64 6
  %t373 = load i16, ptr addrspace(4) %t372, align 2, !invariant.load !0
  %t374 = zext i16 %t373 to i32
  %t375 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t376 = getelementptr inbounds i8, ptr addrspace(4) %t375, i64 8
  %t377 = load i16, ptr addrspace(4) %t376, align 2, !invariant.load !0
  %t378 = zext i16 %t377 to i32
  %t379 = mul i32 %t370, %t374
  %t380 = mul i32 %t379, %t378
  %t381 = and i32 %t366, -32
  %t382 = sub i32 %t380, %t381
  %t383 = icmp ugt i32 %t382, 32
  %t384 = select i1 %t383, i32 32, i32 %t382
  %t385 = sub i32 32, %t384
  %t386 = lshr i32 -1, %t385
  %t387 = call i16 @ur_before_umax_i16(i16 %v125, i32 %t386, i32 %t386) #0
  %v199 = bitcast i16 %t387 to i16
  %v200 = add i64 %v118, 360
  %v201 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v200
  store i16 %v199, ptr addrspace(1) %v201, align 2
  %t388 = call i32 @llvm.amdgcn.workitem.id.x()
  %t389 = call i32 @llvm.amdgcn.workitem.id.y()
  %t390 = call i32 @llvm.amdgcn.workitem.id.z()
  %t391 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t392 = getelementptr inbounds i8, ptr addrspace(4) %t391, i64 4
  %t393 = load i16, ptr addrspace(4) %t392, align 2, !invariant.load !0
  %t394 = zext i16 %t393 to i32
  %t395 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t396 = getelementptr inbounds i8, ptr addrspace(4) %t395, i64 6
  %t397 = load i16, ptr addrspace(4) %t396, align 2, !invariant.load !0
  %t398 = zext i16 %t397 to i32
  %t399 = mul i32 %t390, %t398
  %t400 = add i32 %t399, %t389
  %t401 = mul i32 %t400, %t394
  %t402 = add i32 %t401, %t388
  %t403 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t404 = getelementptr inbounds i8, ptr addrspace(4) %t403, i64 4
  %t405 = load i16, ptr addrspace(4) %t404, align 2, !invariant.load !0
  %t406 = zext i16 %t405 to i32
  %t407 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t408 = getelementptr inbounds i8, ptr addrspace(4) %t407, i64 6
  %t409 = load i16, ptr addrspace(4) %t408, align 2, !invariant.load !0
  %t410 = zext i16 %t409 to i32
  %t411 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t412 = getelementptr inbounds i8, ptr addrspace(4) %t411, i64 8
  %t413 = load i16, ptr addrspace(4) %t412, align 2, !invariant.load !0
  %t414 = zext i16 %t413 to i32
  %t415 = mul i32 %t406, %t410
  %t416 = mul i32 %t415, %t414
  %t417 = and i32 %t402, -32
  %t418 = sub i32 %t416, %t417
  %t419 = icmp ugt i32 %t418, 32
  %t420 = select i1 %t419, i32 32, i32 %t418
  %t421 = sub i32 32, %t420
  %t422 = lshr i32 -1, %t421
  %t423 = call i32 @llvm.amdgcn.ballot.i32(i1 %v139) #0
  %v202 = icmp ne i32 %t423, 0
  %v203 = select i1 %v202, i32 1, i32 0
  %v204 = add i64 %v118, 576
  %v205 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v204
  store i32 %v203, ptr addrspace(1) %v205, align 4
  %t424 = call i32 @llvm.amdgcn.workitem.id.x()
  %t425 = call i32 @llvm.amdgcn.workitem.id.y()
  %t426 = call i32 @llvm.amdgcn.workitem.id.z()
  %t427 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t428 = getelementptr inbounds i8, ptr addrspace(4) %t427, i64 4
  %t429 = load i16, ptr addrspace(4) %t428, align 2, !invariant.load !0
  %t430 = zext i16 %t429 to i32
  %t431 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t432 = getelementptr inbounds i8, ptr addrspace(4) %t431, i64 6
  %t433 = load i16, ptr addrspace(4) %t432, align 2, !invariant.load !0
  %t434 = zext i16 %t433 to i32
  %t435 = mul i32 %t426, %t434
  %t436 = add i32 %t435, %t425
  %t437 = mul i32 %t436, %t430
  %t438 = add i32 %t437, %t424
  %t439 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t440 = getelementptr inbounds i8, ptr addrspace(4) %t439, i64 4
  %t441 = load i16, ptr addrspace(4) %t440, align 2, !invariant.load !0
  %t442 = zext i16 %t441 to i32
  %t443 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t444 = getelementptr inbounds i8, ptr addrspace(4) %t443, i64 6
  %t445 = load i16, ptr addrspace(4) %t444, align 2, !invariant.load !0
  %t446 = zext i16 %t445 to i32
  %t447 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t448 = getelementptr inbounds i8, ptr addrspace(4) %t447, i64 8
  %t449 = load i16, ptr addrspace(4) %t448, align 2, !invariant.load !0
  %t450 = zext i16 %t449 to i32
  %t451 = mul i32 %t442, %t446
  %t452 = mul i32 %t451, %t450
  %t453 = and i32 %t438, -32
  %t454 = sub i32 %t452, %t453
  %t455 = icmp ugt i32 %t454, 32
  %t456 = select i1 %t455, i32 32, i32 %t454
  %t457 = sub i32 32, %t456
  %t458 = lshr i32 -1, %t457
  %t459 = call i32 @llvm.amdgcn.ballot.i32(i1 %v139) #0
  %v206 = icmp eq i32 %t459, %t458
  %v207 = select i1 %v206, i32 1, i32 0
  %v208 = add i64 %v118, 648
  %v209 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v208
  store i32 %v207, ptr addrspace(1) %v209, align 4
  %t460 = call i32 @llvm.amdgcn.ballot.i32(i1 true) #0
  %t461 = call i32 @ur_reduce_some_add_i32(i32 %v126, i32 %t460, i32 %t460) #0
  %v210 = bitcast i32 %t461 to i32
  %v211 = add i64 %v118, 720
  %v212 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v211
  store i32 %v210, ptr addrspace(1) %v212, align 4
  %t462 = call i32 @llvm.amdgcn.ballot.i32(i1 true) #0
  %t463 = call i32 @ur_scan_some_add_i32(i32 %v126, i32 %t462, i32 %t462) #0
  %v213 = bitcast i32 %t463 to i32
  %v214 = add i64 %v118, 792
  %v215 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v214
  store i32 %v213, ptr addrspace(1) %v215, align 4
  %t464 = call i32 @llvm.amdgcn.ballot.i32(i1 true) #0
  %t465 = call i32 @ur_before_some_add_i32(i32 %v126, i32 %t464, i32 %t464) #0
  %v216 = bitcast i32 %t465 to i32
  %v217 = add i64 %v118, 864
  %v218 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v217
  store i32 %v216, ptr addrspace(1) %v218, align 4
  ret void
}
define internal i32 @ur_shuffle_bfly_i32(i32 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = xor i32 %t1, %lane
  %t3 = and i32 %t2, 31
  %t4 = shl i32 %t3, 2
  %t5 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t4, i32 %x) #0
  ret i32 %t5
}
define internal i32 @ur_shuffle_down_i32(i32 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = add i32 %t1, %lane
  %t3 = icmp ule i32 %lane, 31
  %t4 = icmp ule i32 %t2, 31
  %t5 = and i1 %t3, %t4
  %t6 = select i1 %t5, i32 %t2, i32 %t1
  %t7 = and i32 %t6, 31
  %t8 = shl i32 %t7, 2
  %t9 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t8, i32 %x) #0
  ret i32 %t9
}
define internal i32 @ur_shuffle_idx_i32(i32 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = and i32 %lane, 31
  %t2 = shl i32 %t1, 2
  %t3 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t2, i32 %x) #0
  ret i32 %t3
}
define internal i32 @ur_reduce_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = icmp eq i32 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i32 @ur_shuffle_bfly_i32(i32 %x, i32 16, i32 -1) #0
  %t3 = add i32 %x, %t2
  %t4 = call i32 @ur_shuffle_bfly_i32(i32 %t3, i32 8, i32 -1) #0
  %t5 = add i32 %t3, %t4
  %t6 = call i32 @ur_shuffle_bfly_i32(i32 %t5, i32 4, i32 -1) #0
  %t7 = add i32 %t5, %t6
  %t8 = call i32 @ur_shuffle_bfly_i32(i32 %t7, i32 2, i32 -1) #0
  %t9 = add i32 %t7, %t8
  %t10 = call i32 @ur_shuffle_bfly_i32(i32 %t9, i32 1, i32 -1) #0
  %t11 = add i32 %t9, %t10
  ret i32 %t11
front:
  %t12 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t13 = call i32 @llvm.ctpop.i32(i32 %lanes)
  %t14 = call i32 @ur_shuffle_down_i32(i32 %x, i32 16, i32 %lanes) #0
  %t15 = add i32 %x, %t14
  %t16 = add i32 %t12, 16
  %t17 = icmp ult i32 %t16, %t13
  %t18 = select i1 %t17, i32 %t15, i32 %x
  %t19 = call i32 @ur_shuffle_down_i32(i32 %t18, i32 8, i32 %lanes) #0
  %t20 = add i32 %t18, %t19
  %t21 = add i32 %t12, 8
  %t22 = icmp ult i32 %t21, %t13
  %t23 = select i1 %t22, i32 %t20, i32 %t18
  %t24 = call i32 @ur_shuffle_down_i32(i32 %t23, i32 4, i32 %lanes) #0
  %t25 = add i32 %t23, %t24
  %t26 = add i32 %t12, 4
  %t27 = icmp ult i32 %t26, %t13
  %t28 = select i1 %t27, i32 %t25, i32 %t23
  %t29 = call i32 @ur_shuffle_down_i32(i32 %t28, i32 2, i32 %lanes) #0
  %t30 = add i32 %t28, %t29
  %t31 = add i32 %t12, 2
  %t32 = icmp ult i32 %t31, %t13
  %t33 = select i1 %t32, i32 %t30, i32 %t28
  %t34 = call i32 @ur_shuffle_down_i32(i32 %t33, i32 1, i32 %lanes) #0
  %t35 = add i32 %t33, %t34
  %t36 = add i32 %t12, 1
  %t37 = icmp ult i32 %t36, %t13
  %t38 = select i1 %t37, i32 %t35, i32 %t33
  %t39 = call i32 @ur_shuffle_idx_i32(i32 %t38, i32 0, i32 %lanes) #0
  ret i32 %t39
}
define internal i32 @ur_group_reduce_add_i32(i32 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i32 @ur_reduce_add_i32(i32 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i32 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i32 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i32
  %t113 = select i1 %t109, i32 %t112, i32 0
  %t114 = call i32 @ur_shuffle_bfly_i32(i32 %t113, i32 16, i32 -1) #0
  %t115 = add i32 %t113, %t114
  %t116 = call i32 @ur_shuffle_bfly_i32(i32 %t115, i32 8, i32 -1) #0
  %t117 = add i32 %t115, %t116
  %t118 = call i32 @ur_shuffle_bfly_i32(i32 %t117, i32 4, i32 -1) #0
  %t119 = add i32 %t117, %t118
  %t120 = call i32 @ur_shuffle_bfly_i32(i32 %t119, i32 2, i32 -1) #0
  %t121 = add i32 %t119, %t120
  %t122 = call i32 @ur_shuffle_bfly_i32(i32 %t121, i32 1, i32 -1) #0
  %t123 = add i32 %t121, %t122
  %t124 = zext i32 %t123 to i64
  %t125 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t124, ptr addrspace(3) %t125, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t126 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t127 = load volatile i64, ptr addrspace(3) %t126, align 8
  %t128 = trunc i64 %t127 to i32
  ret i32 %t128
}
define internal i32 @ur_shuffle_up_i32(i32 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = sub i32 %t1, %lane
  %t3 = icmp uge i32 %t1, %lane
  %t4 = select i1 %t3, i32 %t2, i32 %t1
  %t5 = and i32 %t4, 31
  %t6 = shl i32 %t5, 2
  %t7 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t6, i32 %x) #0
  ret i32 %t7
}
define internal i32 @ur_scan_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @ur_shuffle_up_i32(i32 %x, i32 1, i32 %lanes) #0
  %t3 = add i32 %t2, %x
  %t4 = icmp uge i32 %t1, 1
  %t5 = select i1 %t4, i32 %t3, i32 %x
  %t6 = call i32 @ur_shuffle_up_i32(i32 %t5, i32 2, i32 %lanes) #0
  %t7 = add i32 %t6, %t5
  %t8 = icmp uge i32 %t1, 2
  %t9 = select i1 %t8, i32 %t7, i32 %t5
  %t10 = call i32 @ur_shuffle_up_i32(i32 %t9, i32 4, i32 %lanes) #0
  %t11 = add i32 %t10, %t9
  %t12 = icmp uge i32 %t1, 4
  %t13 = select i1 %t12, i32 %t11, i32 %t9
  %t14 = call i32 @ur_shuffle_up_i32(i32 %t13, i32 8, i32 %lanes) #0
  %t15 = add i32 %t14, %t13
  %t16 = icmp uge i32 %t1, 8
  %t17 = select i1 %t16, i32 %t15, i32 %t13
  %t18 = call i32 @ur_shuffle_up_i32(i32 %t17, i32 16, i32 %lanes) #0
  %t19 = add i32 %t18, %t17
  %t20 = icmp uge i32 %t1, 16
  %t21 = select i1 %t20, i32 %t19, i32 %t17
  ret i32 %t21
}
define internal i32 @ur_group_scan_add_i32(i32 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i32 @ur_scan_add_i32(i32 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i32 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i32 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i32
  %t113 = select i1 %t109, i32 %t112, i32 0
  %t114 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t115 = call i32 @ur_shuffle_up_i32(i32 %t113, i32 1, i32 -1) #0
  %t116 = add i32 %t115, %t113
  %t117 = icmp uge i32 %t114, 1
  %t118 = select i1 %t117, i32 %t116, i32 %t113
  %t119 = call i32 @ur_shuffle_up_i32(i32 %t118, i32 2, i32 -1) #0
  %t120 = add i32 %t119, %t118
  %t121 = icmp uge i32 %t114, 2
  %t122 = select i1 %t121, i32 %t120, i32 %t118
  %t123 = call i32 @ur_shuffle_up_i32(i32 %t122, i32 4, i32 -1) #0
  %t124 = add i32 %t123, %t122
  %t125 = icmp uge i32 %t114, 4
  %t126 = select i1 %t125, i32 %t124, i32 %t122
  %t127 = call i32 @ur_shuffle_up_i32(i32 %t126, i32 8, i32 -1) #0
  %t128 = add i32 %t127, %t126
  %t129 = icmp uge i32 %t114, 8
  %t130 = select i1 %t129, i32 %t128, i32 %t126
  %t131 = call i32 @ur_shuffle_up_i32(i32 %t130, i32 16, i32 -1) #0
  %t132 = add i32 %t131, %t130
  %t133 = icmp uge i32 %t114, 16
  %t134 = select i1 %t133, i32 %t132, i32 %t130
  %t135 = zext i32 %t134 to i64
  %t136 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  store volatile i64 %t135, ptr addrspace(3) %t136, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t137 = sub i32 %t103, 1
  %t138 = select i1 %t108, i32 0, i32 %t137
  %t139 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t138
  %t140 = load volatile i64, ptr addrspace(3) %t139, align 8
  %t141 = trunc i64 %t140 to i32
  %t142 = add i32 %t141, %t36
  %t143 = select i1 %t108, i32 %t36, i32 %t142
  ret i32 %t143
}
define internal i32 @ur_before_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i32 @ur_scan_add_i32(i32 %x, i32 %lanes, i32 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = shl i32 1, %t2
  %t4 = sub i32 %t3, 1
  %t5 = and i32 %members, %t4
  %t6 = call i32 @ur_shuffle_up_i32(i32 %t1, i32 1, i32 %lanes) #0
  %t7 = icmp eq i32 %t5, 0
  %t8 = select i1 %t7, i32 0, i32 %t6
  ret i32 %t8
}
define internal i32 @ur_group_before_add_i32(i32 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i32 @ur_before_add_i32(i32 %x, i32 %t35, i32 %t35) #0
  %t37 = add i32 %t36, %x
  %t38 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t39 = getelementptr inbounds i8, ptr addrspace(4) %t38, i64 4
  %t40 = load i16, ptr addrspace(4) %t39, align 2, !invariant.load !0
  %t41 = zext i16 %t40 to i32
  %t42 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t43 = getelementptr inbounds i8, ptr addrspace(4) %t42, i64 6
  %t44 = load i16, ptr addrspace(4) %t43, align 2, !invariant.load !0
  %t45 = zext i16 %t44 to i32
  %t46 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t47 = getelementptr inbounds i8, ptr addrspace(4) %t46, i64 8
  %t48 = load i16, ptr addrspace(4) %t47, align 2, !invariant.load !0
  %t49 = zext i16 %t48 to i32
  %t50 = mul i32 %t41, %t45
  %t51 = mul i32 %t50, %t49
  %t52 = add i32 %t51, 31
  %t53 = lshr i32 %t52, 5
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i32 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.workitem.id.x()
  %t57 = call i32 @llvm.amdgcn.workitem.id.y()
  %t58 = call i32 @llvm.amdgcn.workitem.id.z()
  %t59 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t60 = getelementptr inbounds i8, ptr addrspace(4) %t59, i64 4
  %t61 = load i16, ptr addrspace(4) %t60, align 2, !invariant.load !0
  %t62 = zext i16 %t61 to i32
  %t63 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t64 = getelementptr inbounds i8, ptr addrspace(4) %t63, i64 6
  %t65 = load i16, ptr addrspace(4) %t64, align 2, !invariant.load !0
  %t66 = zext i16 %t65 to i32
  %t67 = mul i32 %t58, %t66
  %t68 = add i32 %t67, %t57
  %t69 = mul i32 %t68, %t62
  %t70 = add i32 %t69, %t56
  %t71 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t72 = getelementptr inbounds i8, ptr addrspace(4) %t71, i64 4
  %t73 = load i16, ptr addrspace(4) %t72, align 2, !invariant.load !0
  %t74 = zext i16 %t73 to i32
  %t75 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t76 = getelementptr inbounds i8, ptr addrspace(4) %t75, i64 6
  %t77 = load i16, ptr addrspace(4) %t76, align 2, !invariant.load !0
  %t78 = zext i16 %t77 to i32
  %t79 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t80 = getelementptr inbounds i8, ptr addrspace(4) %t79, i64 8
  %t81 = load i16, ptr addrspace(4) %t80, align 2, !invariant.load !0
  %t82 = zext i16 %t81 to i32
  %t83 = mul i32 %t74, %t78
  %t84 = mul i32 %t83, %t82
  %t85 = and i32 %t70, -32
  %t86 = sub i32 %t84, %t85
  %t87 = icmp ugt i32 %t86, 32
  %t88 = select i1 %t87, i32 32, i32 %t86
  %t89 = call i32 @llvm.amdgcn.workitem.id.x()
  %t90 = call i32 @llvm.amdgcn.workitem.id.y()
  %t91 = call i32 @llvm.amdgcn.workitem.id.z()
  %t92 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t93 = getelementptr inbounds i8, ptr addrspace(4) %t92, i64 4
  %t94 = load i16, ptr addrspace(4) %t93, align 2, !invariant.load !0
  %t95 = zext i16 %t94 to i32
  %t96 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t97 = getelementptr inbounds i8, ptr addrspace(4) %t96, i64 6
  %t98 = load i16, ptr addrspace(4) %t97, align 2, !invariant.load !0
  %t99 = zext i16 %t98 to i32
  %t100 = mul i32 %t91, %t99
  %t101 = add i32 %t100, %t90
  %t102 = mul i32 %t101, %t95
  %t103 = add i32 %t102, %t89
  %t104 = lshr i32 %t103, 5
  %t105 = sub i32 %t88, 1
  %t106 = icmp eq i32 %t55, %t105
  br i1 %t106, label %write, label %written
write:
  %t107 = zext i32 %t37 to i64
  %t108 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t104
  store volatile i64 %t107, ptr addrspace(3) %t108, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t109 = icmp eq i32 %t104, 0
  br i1 %t109, label %join, label %joined
join:
  %t110 = icmp ult i32 %t55, %t53
  %t111 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t55
  %t112 = load volatile i64, ptr addrspace(3) %t111, align 8
  %t113 = trunc i64 %t112 to i32
  %t114 = select i1 %t110, i32 %t113, i32 0
  %t115 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t116 = call i32 @ur_shuffle_up_i32(i32 %t114, i32 1, i32 -1) #0
  %t117 = add i32 %t116, %t114
  %t118 = icmp uge i32 %t115, 1
  %t119 = select i1 %t118, i32 %t117, i32 %t114
  %t120 = call i32 @ur_shuffle_up_i32(i32 %t119, i32 2, i32 -1) #0
  %t121 = add i32 %t120, %t119
  %t122 = icmp uge i32 %t115, 2
  %t123 = select i1 %t122, i32 %t121, i32 %t119
  %t124 = call i32 @ur_shuffle_up_i32(i32 %t123, i32 4, i32 -1) #0
  %t125 = add i32 %t124, %t123
  %t126 = icmp uge i32 %t115, 4
  %t127 = select i1 %t126, i32 %t125, i32 %t123
  %t128 = call i32 @ur_shuffle_up_i32(i32 %t127, i32 8, i32 -1) #0
  %t129 = add i32 %t128, %t127
  %t130 = icmp uge i32 %t115, 8
  %t131 = select i1 %t130, i32 %t129, i32 %t127
  %t132 = call i32 @ur_shuffle_up_i32(i32 %t131, i32 16, i32 -1) #0
  %t133 = add i32 %t132, %t131
  %t134 = icmp uge i32 %t115, 16
  %t135 = select i1 %t134, i32 %t133, i32 %t131
  %t136 = zext i32 %t135 to i64
  %t137 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t55
  store volatile i64 %t136, ptr addrspace(3) %t137, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t138 = sub i32 %t104, 1
  %t139 = select i1 %t109, i32 0, i32 %t138
  %t140 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t139
  %t141 = load volatile i64, ptr addrspace(3) %t140, align 8
  %t142 = trunc i64 %t141 to i32
  %t143 = add i32 %t142, %t36
  %t144 = select i1 %t109, i32 %t36, i32 %t143
  ret i32 %t144
}
define internal i8 @ur_shuffle_bfly_i8(i8 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = xor i32 %t2, %lane
  %t4 = and i32 %t3, 31
  %t5 = shl i32 %t4, 2
  %t6 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t5, i32 %t1) #0
  %t7 = trunc i32 %t6 to i8
  ret i8 %t7
}
define internal i8 @ur_shuffle_down_i8(i8 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = add i32 %t2, %lane
  %t4 = icmp ule i32 %lane, 31
  %t5 = icmp ule i32 %t3, 31
  %t6 = and i1 %t4, %t5
  %t7 = select i1 %t6, i32 %t3, i32 %t2
  %t8 = and i32 %t7, 31
  %t9 = shl i32 %t8, 2
  %t10 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t9, i32 %t1) #0
  %t11 = trunc i32 %t10 to i8
  ret i8 %t11
}
define internal i8 @ur_shuffle_idx_i8(i8 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = and i32 %lane, 31
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i8
  ret i8 %t5
}
define internal i8 @ur_reduce_smin_i8(i8 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = icmp eq i32 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i8 @ur_shuffle_bfly_i8(i8 %x, i32 16, i32 -1) #0
  %t3 = icmp slt i8 %x, %t2
  %t4 = select i1 %t3, i8 %x, i8 %t2
  %t5 = call i8 @ur_shuffle_bfly_i8(i8 %t4, i32 8, i32 -1) #0
  %t6 = icmp slt i8 %t4, %t5
  %t7 = select i1 %t6, i8 %t4, i8 %t5
  %t8 = call i8 @ur_shuffle_bfly_i8(i8 %t7, i32 4, i32 -1) #0
  %t9 = icmp slt i8 %t7, %t8
  %t10 = select i1 %t9, i8 %t7, i8 %t8
  %t11 = call i8 @ur_shuffle_bfly_i8(i8 %t10, i32 2, i32 -1) #0
  %t12 = icmp slt i8 %t10, %t11
  %t13 = select i1 %t12, i8 %t10, i8 %t11
  %t14 = call i8 @ur_shuffle_bfly_i8(i8 %t13, i32 1, i32 -1) #0
  %t15 = icmp slt i8 %t13, %t14
  %t16 = select i1 %t15, i8 %t13, i8 %t14
  ret i8 %t16
front:
  %t17 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t18 = call i32 @llvm.ctpop.i32(i32 %lanes)
  %t19 = call i8 @ur_shuffle_down_i8(i8 %x, i32 16, i32 %lanes) #0
  %t20 = icmp slt i8 %x, %t19
  %t21 = select i1 %t20, i8 %x, i8 %t19
  %t22 = add i32 %t17, 16
  %t23 = icmp ult i32 %t22, %t18
  %t24 = select i1 %t23, i8 %t21, i8 %x
  %t25 = call i8 @ur_shuffle_down_i8(i8 %t24, i32 8, i32 %lanes) #0
  %t26 = icmp slt i8 %t24, %t25
  %t27 = select i1 %t26, i8 %t24, i8 %t25
  %t28 = add i32 %t17, 8
  %t29 = icmp ult i32 %t28, %t18
  %t30 = select i1 %t29, i8 %t27, i8 %t24
  %t31 = call i8 @ur_shuffle_down_i8(i8 %t30, i32 4, i32 %lanes) #0
  %t32 = icmp slt i8 %t30, %t31
  %t33 = select i1 %t32, i8 %t30, i8 %t31
  %t34 = add i32 %t17, 4
  %t35 = icmp ult i32 %t34, %t18
  %t36 = select i1 %t35, i8 %t33, i8 %t30
  %t37 = call i8 @ur_shuffle_down_i8(i8 %t36, i32 2, i32 %lanes) #0
  %t38 = icmp slt i8 %t36, %t37
  %t39 = select i1 %t38, i8 %t36, i8 %t37
  %t40 = add i32 %t17, 2
  %t41 = icmp ult i32 %t40, %t18
  %t42 = select i1 %t41, i8 %t39, i8 %t36
  %t43 = call i8 @ur_shuffle_down_i8(i8 %t42, i32 1, i32 %lanes) #0
  %t44 = icmp slt i8 %t42, %t43
  %t45 = select i1 %t44, i8 %t42, i8 %t43
  %t46 = add i32 %t17, 1
  %t47 = icmp ult i32 %t46, %t18
  %t48 = select i1 %t47, i8 %t45, i8 %t42
  %t49 = call i8 @ur_shuffle_idx_i8(i8 %t48, i32 0, i32 %lanes) #0
  ret i8 %t49
}
define internal i8 @ur_group_reduce_smin_i8(i8 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i8 @ur_reduce_smin_i8(i8 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i8 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i8 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i8
  %t113 = select i1 %t109, i8 %t112, i8 127
  %t114 = call i8 @ur_shuffle_bfly_i8(i8 %t113, i32 16, i32 -1) #0
  %t115 = icmp slt i8 %t113, %t114
  %t116 = select i1 %t115, i8 %t113, i8 %t114
  %t117 = call i8 @ur_shuffle_bfly_i8(i8 %t116, i32 8, i32 -1) #0
  %t118 = icmp slt i8 %t116, %t117
  %t119 = select i1 %t118, i8 %t116, i8 %t117
  %t120 = call i8 @ur_shuffle_bfly_i8(i8 %t119, i32 4, i32 -1) #0
  %t121 = icmp slt i8 %t119, %t120
  %t122 = select i1 %t121, i8 %t119, i8 %t120
  %t123 = call i8 @ur_shuffle_bfly_i8(i8 %t122, i32 2, i32 -1) #0
  %t124 = icmp slt i8 %t122, %t123
  %t125 = select i1 %t124, i8 %t122, i8 %t123
  %t126 = call i8 @ur_shuffle_bfly_i8(i8 %t125, i32 1, i32 -1) #0
  %t127 = icmp slt i8 %t125, %t126
  %t128 = select i1 %t127, i8 %t125, i8 %t126
  %t129 = zext i8 %t128 to i64
  %t130 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t129, ptr addrspace(3) %t130, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t131 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t132 = load volatile i64, ptr addrspace(3) %t131, align 8
  %t133 = trunc i64 %t132 to i8
  ret i8 %t133
}
define internal i8 @ur_shuffle_up_i8(i8 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = sub i32 %t2, %lane
  %t4 = icmp uge i32 %t2, %lane
  %t5 = select i1 %t4, i32 %t3, i32 %t2
  %t6 = and i32 %t5, 31
  %t7 = shl i32 %t6, 2
  %t8 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t7, i32 %t1) #0
  %t9 = trunc i32 %t8 to i8
  ret i8 %t9
}
define internal i8 @ur_scan_smin_i8(i8 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i8 @ur_shuffle_up_i8(i8 %x, i32 1, i32 %lanes) #0
  %t3 = icmp slt i8 %t2, %x
  %t4 = select i1 %t3, i8 %t2, i8 %x
  %t5 = icmp uge i32 %t1, 1
  %t6 = select i1 %t5, i8 %t4, i8 %x
  %t7 = call i8 @ur_shuffle_up_i8(i8 %t6, i32 2, i32 %lanes) #0
  %t8 = icmp slt i8 %t7, %t6
  %t9 = select i1 %t8, i8 %t7, i8 %t6
  %t10 = icmp uge i32 %t1, 2
  %t11 = select i1 %t10, i8 %t9, i8 %t6
  %t12 = call i8 @ur_shuffle_up_i8(i8 %t11, i32 4, i32 %lanes) #0
  %t13 = icmp slt i8 %t12, %t11
  %t14 = select i1 %t13, i8 %t12, i8 %t11
  %t15 = icmp uge i32 %t1, 4
  %t16 = select i1 %t15, i8 %t14, i8 %t11
  %t17 = call i8 @ur_shuffle_up_i8(i8 %t16, i32 8, i32 %lanes) #0
  %t18 = icmp slt i8 %t17, %t16
  %t19 = select i1 %t18, i8 %t17, i8 %t16
  %t20 = icmp uge i32 %t1, 8
  %t21 = select i1 %t20, i8 %t19, i8 %t16
  %t22 = call i8 @ur_shuffle_up_i8(i8 %t21, i32 16, i32 %lanes) #0
  %t23 = icmp slt i8 %t22, %t21
  %t24 = select i1 %t23, i8 %t22, i8 %t21
  %t25 = icmp uge i32 %t1, 16
  %t26 = select i1 %t25, i8 %t24, i8 %t21
  ret i8 %t26
}
define internal i8 @ur_group_scan_smin_i8(i8 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i8 @ur_scan_smin_i8(i8 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i8 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i8 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i8
  %t113 = select i1 %t109, i8 %t112, i8 127
  %t114 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t115 = call i8 @ur_shuffle_up_i8(i8 %t113, i32 1, i32 -1) #0
  %t116 = icmp slt i8 %t115, %t113
  %t117 = select i1 %t116, i8 %t115, i8 %t113
  %t118 = icmp uge i32 %t114, 1
  %t119 = select i1 %t118, i8 %t117, i8 %t113
  %t120 = call i8 @ur_shuffle_up_i8(i8 %t119, i32 2, i32 -1) #0
  %t121 = icmp slt i8 %t120, %t119
  %t122 = select i1 %t121, i8 %t120, i8 %t119
  %t123 = icmp uge i32 %t114, 2
  %t124 = select i1 %t123, i8 %t122, i8 %t119
  %t125 = call i8 @ur_shuffle_up_i8(i8 %t124, i32 4, i32 -1) #0
  %t126 = icmp slt i8 %t125, %t124
  %t127 = select i1 %t126, i8 %t125, i8 %t124
  %t128 = icmp uge i32 %t114, 4
  %t129 = select i1 %t128, i8 %t127, i8 %t124
  %t130 = call i8 @ur_shuffle_up_i8(i8 %t129, i32 8, i32 -1) #0
  %t131 = icmp slt i8 %t130, %t129
  %t132 = select i1 %t131, i8 %t130, i8 %t129
  %t133 = icmp uge i32 %t114, 8
  %t134 = select i1 %t133, i8 %t132, i8 %t129
  %t135 = call i8 @ur_shuffle_up_i8(i8 %t134, i32 16, i32 -1) #0
  %t136 = icmp slt i8 %t135, %t134
  %t137 = select i1 %t136, i8 %t135, i8 %t134
  %t138 = icmp uge i32 %t114, 16
  %t139 = select i1 %t138, i8 %t137, i8 %t134
  %t140 = zext i8 %t139 to i64
  %t141 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  store volatile i64 %t140, ptr addrspace(3) %t141, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t142 = sub i32 %t103, 1
  %t143 = select i1 %t108, i32 0, i32 %t142
  %t144 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t143
  %t145 = load volatile i64, ptr addrspace(3) %t144, align 8
  %t146 = trunc i64 %t145 to i8
  %t147 = icmp slt i8 %t146, %t36
  %t148 = select i1 %t147, i8 %t146, i8 %t36
  %t149 = select i1 %t108, i8 %t36, i8 %t148
  ret i8 %t149
}
define internal i8 @ur_before_smin_i8(i8 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i8 @ur_scan_smin_i8(i8 %x, i32 %lanes, i32 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = shl i32 1, %t2
  %t4 = sub i32 %t3, 1
  %t5 = and i32 %members, %t4
  %t6 = call i8 @ur_shuffle_up_i8(i8 %t1, i32 1, i32 %lanes) #0
  %t7 = icmp eq i32 %t5, 0
  %t8 = select i1 %t7, i8 127, i8 %t6
  ret i8 %t8
}
define internal i8 @ur_group_before_smin_i8(i8 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i8 @ur_before_smin_i8(i8 %x, i32 %t35, i32 %t35) #0
  %t37 = icmp slt i8 %t36, %x
  %t38 = select i1 %t37, i8 %t36, i8 %x
  %t39 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t40 = getelementptr inbounds i8, ptr addrspace(4) %t39, i64 4
  %t41 = load i16, ptr addrspace(4) %t40, align 2, !invariant.load !0
  %t42 = zext i16 %t41 to i32
  %t43 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t44 = getelementptr inbounds i8, ptr addrspace(4) %t43, i64 6
  %t45 = load i16, ptr addrspace(4) %t44, align 2, !invariant.load !0
  %t46 = zext i16 %t45 to i32
  %t47 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t48 = getelementptr inbounds i8, ptr addrspace(4) %t47, i64 8
  %t49 = load i16, ptr addrspace(4) %t48, align 2, !invariant.load !0
  %t50 = zext i16 %t49 to i32
  %t51 = mul i32 %t42, %t46
  %t52 = mul i32 %t51, %t50
  %t53 = add i32 %t52, 31
  %t54 = lshr i32 %t53, 5
  %t55 = icmp ult i32 %t54, 2
  br i1 %t55, label %alone, label %publish
alone:
  ret i8 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t56 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t57 = call i32 @llvm.amdgcn.workitem.id.x()
  %t58 = call i32 @llvm.amdgcn.workitem.id.y()
  %t59 = call i32 @llvm.amdgcn.workitem.id.z()
  %t60 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t61 = getelementptr inbounds i8, ptr addrspace(4) %t60, i64 4
  %t62 = load i16, ptr addrspace(4) %t61, align 2, !invariant.load !0
  %t63 = zext i16 %t62 to i32
  %t64 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t65 = getelementptr inbounds i8, ptr addrspace(4) %t64, i64 6
  %t66 = load i16, ptr addrspace(4) %t65, align 2, !invariant.load !0
  %t67 = zext i16 %t66 to i32
  %t68 = mul i32 %t59, %t67
  %t69 = add i32 %t68, %t58
  %t70 = mul i32 %t69, %t63
  %t71 = add i32 %t70, %t57
  %t72 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t73 = getelementptr inbounds i8, ptr addrspace(4) %t72, i64 4
  %t74 = load i16, ptr addrspace(4) %t73, align 2, !invariant.load !0
  %t75 = zext i16 %t74 to i32
  %t76 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t77 = getelementptr inbounds i8, ptr addrspace(4) %t76, i64 6
  %t78 = load i16, ptr addrspace(4) %t77, align 2, !invariant.load !0
  %t79 = zext i16 %t78 to i32
  %t80 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t81 = getelementptr inbounds i8, ptr addrspace(4) %t80, i64 8
  %t82 = load i16, ptr addrspace(4) %t81, align 2, !invariant.load !0
  %t83 = zext i16 %t82 to i32
  %t84 = mul i32 %t75, %t79
  %t85 = mul i32 %t84, %t83
  %t86 = and i32 %t71, -32
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 32
  %t89 = select i1 %t88, i32 32, i32 %t87
  %t90 = call i32 @llvm.amdgcn.workitem.id.x()
  %t91 = call i32 @llvm.amdgcn.workitem.id.y()
  %t92 = call i32 @llvm.amdgcn.workitem.id.z()
  %t93 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t94 = getelementptr inbounds i8, ptr addrspace(4) %t93, i64 4
  %t95 = load i16, ptr addrspace(4) %t94, align 2, !invariant.load !0
  %t96 = zext i16 %t95 to i32
  %t97 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t98 = getelementptr inbounds i8, ptr addrspace(4) %t97, i64 6
  %t99 = load i16, ptr addrspace(4) %t98, align 2, !invariant.load !0
  %t100 = zext i16 %t99 to i32
  %t101 = mul i32 %t92, %t100
  %t102 = add i32 %t101, %t91
  %t103 = mul i32 %t102, %t96
  %t104 = add i32 %t103, %t90
  %t105 = lshr i32 %t104, 5
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i8 %t38 to i64
  %t109 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t105
  store volatile i64 %t108, ptr addrspace(3) %t109, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t110 = icmp eq i32 %t105, 0
  br i1 %t110, label %join, label %joined
join:
  %t111 = icmp ult i32 %t56, %t54
  %t112 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t56
  %t113 = load volatile i64, ptr addrspace(3) %t112, align 8
  %t114 = trunc i64 %t113 to i8
  %t115 = select i1 %t111, i8 %t114, i8 127
  %t116 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t117 = call i8 @ur_shuffle_up_i8(i8 %t115, i32 1, i32 -1) #0
  %t118 = icmp slt i8 %t117, %t115
  %t119 = select i1 %t118, i8 %t117, i8 %t115
  %t120 = icmp uge i32 %t116, 1
  %t121 = select i1 %t120, i8 %t119, i8 %t115
  %t122 = call i8 @ur_shuffle_up_i8(i8 %t121, i32 2, i32 -1) #0
  %t123 = icmp slt i8 %t122, %t121
  %t124 = select i1 %t123, i8 %t122, i8 %t121
  %t125 = icmp uge i32 %t116, 2
  %t126 = select i1 %t125, i8 %t124, i8 %t121
  %t127 = call i8 @ur_shuffle_up_i8(i8 %t126, i32 4, i32 -1) #0
  %t128 = icmp slt i8 %t127, %t126
  %t129 = select i1 %t128, i8 %t127, i8 %t126
  %t130 = icmp uge i32 %t116, 4
  %t131 = select i1 %t130, i8 %t129, i8 %t126
  %t132 = call i8 @ur_shuffle_up_i8(i8 %t131, i32 8, i32 -1) #0
  %t133 = icmp slt i8 %t132, %t131
  %t134 = select i1 %t133, i8 %t132, i8 %t131
  %t135 = icmp uge i32 %t116, 8
  %t136 = select i1 %t135, i8 %t134, i8 %t131
  %t137 = call i8 @ur_shuffle_up_i8(i8 %t136, i32 16, i32 -1) #0
  %t138 = icmp slt i8 %t137, %t136
  %t139 = select i1 %t138, i8 %t137, i8 %t136
  %t140 = icmp uge i32 %t116, 16
  %t141 = select i1 %t140, i8 %t139, i8 %t136
  %t142 = zext i8 %t141 to i64
  %t143 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t56
  store volatile i64 %t142, ptr addrspace(3) %t143, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t144 = sub i32 %t105, 1
  %t145 = select i1 %t110, i32 0, i32 %t144
  %t146 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t145
  %t147 = load volatile i64, ptr addrspace(3) %t146, align 8
  %t148 = trunc i64 %t147 to i8
  %t149 = icmp slt i8 %t148, %t36
  %t150 = select i1 %t149, i8 %t148, i8 %t36
  %t151 = select i1 %t110, i8 %t36, i8 %t150
  ret i8 %t151
}
define internal i16 @ur_shuffle_bfly_i16(i16 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = xor i32 %t2, %lane
  %t4 = and i32 %t3, 31
  %t5 = shl i32 %t4, 2
  %t6 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t5, i32 %t1) #0
  %t7 = trunc i32 %t6 to i16
  ret i16 %t7
}
define internal i16 @ur_shuffle_down_i16(i16 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = add i32 %t2, %lane
  %t4 = icmp ule i32 %lane, 31
  %t5 = icmp ule i32 %t3, 31
  %t6 = and i1 %t4, %t5
  %t7 = select i1 %t6, i32 %t3, i32 %t2
  %t8 = and i32 %t7, 31
  %t9 = shl i32 %t8, 2
  %t10 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t9, i32 %t1) #0
  %t11 = trunc i32 %t10 to i16
  ret i16 %t11
}
define internal i16 @ur_shuffle_idx_i16(i16 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = and i32 %lane, 31
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i16
  ret i16 %t5
}
define internal i16 @ur_reduce_umax_i16(i16 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = icmp eq i32 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i16 @ur_shuffle_bfly_i16(i16 %x, i32 16, i32 -1) #0
  %t3 = icmp ugt i16 %x, %t2
  %t4 = select i1 %t3, i16 %x, i16 %t2
  %t5 = call i16 @ur_shuffle_bfly_i16(i16 %t4, i32 8, i32 -1) #0
  %t6 = icmp ugt i16 %t4, %t5
  %t7 = select i1 %t6, i16 %t4, i16 %t5
  %t8 = call i16 @ur_shuffle_bfly_i16(i16 %t7, i32 4, i32 -1) #0
  %t9 = icmp ugt i16 %t7, %t8
  %t10 = select i1 %t9, i16 %t7, i16 %t8
  %t11 = call i16 @ur_shuffle_bfly_i16(i16 %t10, i32 2, i32 -1) #0
  %t12 = icmp ugt i16 %t10, %t11
  %t13 = select i1 %t12, i16 %t10, i16 %t11
  %t14 = call i16 @ur_shuffle_bfly_i16(i16 %t13, i32 1, i32 -1) #0
  %t15 = icmp ugt i16 %t13, %t14
  %t16 = select i1 %t15, i16 %t13, i16 %t14
  ret i16 %t16
front:
  %t17 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t18 = call i32 @llvm.ctpop.i32(i32 %lanes)
  %t19 = call i16 @ur_shuffle_down_i16(i16 %x, i32 16, i32 %lanes) #0
  %t20 = icmp ugt i16 %x, %t19
  %t21 = select i1 %t20, i16 %x, i16 %t19
  %t22 = add i32 %t17, 16
  %t23 = icmp ult i32 %t22, %t18
  %t24 = select i1 %t23, i16 %t21, i16 %x
  %t25 = call i16 @ur_shuffle_down_i16(i16 %t24, i32 8, i32 %lanes) #0
  %t26 = icmp ugt i16 %t24, %t25
  %t27 = select i1 %t26, i16 %t24, i16 %t25
  %t28 = add i32 %t17, 8
  %t29 = icmp ult i32 %t28, %t18
  %t30 = select i1 %t29, i16 %t27, i16 %t24
  %t31 = call i16 @ur_shuffle_down_i16(i16 %t30, i32 4, i32 %lanes) #0
  %t32 = icmp ugt i16 %t30, %t31
  %t33 = select i1 %t32, i16 %t30, i16 %t31
  %t34 = add i32 %t17, 4
  %t35 = icmp ult i32 %t34, %t18
  %t36 = select i1 %t35, i16 %t33, i16 %t30
  %t37 = call i16 @ur_shuffle_down_i16(i16 %t36, i32 2, i32 %lanes) #0
  %t38 = icmp ugt i16 %t36, %t37
  %t39 = select i1 %t38, i16 %t36, i16 %t37
  %t40 = add i32 %t17, 2
  %t41 = icmp ult i32 %t40, %t18
  %t42 = select i1 %t41, i16 %t39, i16 %t36
  %t43 = call i16 @ur_shuffle_down_i16(i16 %t42, i32 1, i32 %lanes) #0
  %t44 = icmp ugt i16 %t42, %t43
  %t45 = select i1 %t44, i16 %t42, i16 %t43
  %t46 = add i32 %t17, 1
  %t47 = icmp ult i32 %t46, %t18
  %t48 = select i1 %t47, i16 %t45, i16 %t42
  %t49 = call i16 @ur_shuffle_idx_i16(i16 %t48, i32 0, i32 %lanes) #0
  ret i16 %t49
}
define internal i16 @ur_group_reduce_umax_i16(i16 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i16 @ur_reduce_umax_i16(i16 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i16 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i16 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i16
  %t113 = select i1 %t109, i16 %t112, i16 0
  %t114 = call i16 @ur_shuffle_bfly_i16(i16 %t113, i32 16, i32 -1) #0
  %t115 = icmp ugt i16 %t113, %t114
  %t116 = select i1 %t115, i16 %t113, i16 %t114
  %t117 = call i16 @ur_shuffle_bfly_i16(i16 %t116, i32 8, i32 -1) #0
  %t118 = icmp ugt i16 %t116, %t117
  %t119 = select i1 %t118, i16 %t116, i16 %t117
  %t120 = call i16 @ur_shuffle_bfly_i16(i16 %t119, i32 4, i32 -1) #0
  %t121 = icmp ugt i16 %t119, %t120
  %t122 = select i1 %t121, i16 %t119, i16 %t120
  %t123 = call i16 @ur_shuffle_bfly_i16(i16 %t122, i32 2, i32 -1) #0
  %t124 = icmp ugt i16 %t122, %t123
  %t125 = select i1 %t124, i16 %t122, i16 %t123
  %t126 = call i16 @ur_shuffle_bfly_i16(i16 %t125, i32 1, i32 -1) #0
  %t127 = icmp ugt i16 %t125, %t126
  %t128 = select i1 %t127, i16 %t125, i16 %t126
  %t129 = zext i16 %t128 to i64
  %t130 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t129, ptr addrspace(3) %t130, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t131 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t132 = load volatile i64, ptr addrspace(3) %t131, align 8
  %t133 = trunc i64 %t132 to i16
  ret i16 %t133
}
define internal i16 @ur_shuffle_up_i16(i16 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = sub i32 %t2, %lane
  %t4 = icmp uge i32 %t2, %lane
  %t5 = select i1 %t4, i32 %t3, i32 %t2
  %t6 = and i32 %t5, 31
  %t7 = shl i32 %t6, 2
  %t8 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t7, i32 %t1) #0
  %t9 = trunc i32 %t8 to i16
  ret i16 %t9
}
define internal i16 @ur_scan_umax_i16(i16 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i16 @ur_shuffle_up_i16(i16 %x, i32 1, i32 %lanes) #0
  %t3 = icmp ugt i16 %t2, %x
  %t4 = select i1 %t3, i16 %t2, i16 %x
  %t5 = icmp uge i32 %t1, 1
  %t6 = select i1 %t5, i16 %t4, i16 %x
  %t7 = call i16 @ur_shuffle_up_i16(i16 %t6, i32 2, i32 %lanes) #0
  %t8 = icmp ugt i16 %t7, %t6
  %t9 = select i1 %t8, i16 %t7, i16 %t6
  %t10 = icmp uge i32 %t1, 2
  %t11 = select i1 %t10, i16 %t9, i16 %t6
  %t12 = call i16 @ur_shuffle_up_i16(i16 %t11, i32 4, i32 %lanes) #0
  %t13 = icmp ugt i16 %t12, %t11
  %t14 = select i1 %t13, i16 %t12, i16 %t11
  %t15 = icmp uge i32 %t1, 4
  %t16 = select i1 %t15, i16 %t14, i16 %t11
  %t17 = call i16 @ur_shuffle_up_i16(i16 %t16, i32 8, i32 %lanes) #0
  %t18 = icmp ugt i16 %t17, %t16
  %t19 = select i1 %t18, i16 %t17, i16 %t16
  %t20 = icmp uge i32 %t1, 8
  %t21 = select i1 %t20, i16 %t19, i16 %t16
  %t22 = call i16 @ur_shuffle_up_i16(i16 %t21, i32 16, i32 %lanes) #0
  %t23 = icmp ugt i16 %t22, %t21
  %t24 = select i1 %t23, i16 %t22, i16 %t21
  %t25 = icmp uge i32 %t1, 16
  %t26 = select i1 %t25, i16 %t24, i16 %t21
  ret i16 %t26
}
define internal i16 @ur_group_scan_umax_i16(i16 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i16 @ur_scan_umax_i16(i16 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i16 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i16 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i16
  %t113 = select i1 %t109, i16 %t112, i16 0
  %t114 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t115 = call i16 @ur_shuffle_up_i16(i16 %t113, i32 1, i32 -1) #0
  %t116 = icmp ugt i16 %t115, %t113
  %t117 = select i1 %t116, i16 %t115, i16 %t113
  %t118 = icmp uge i32 %t114, 1
  %t119 = select i1 %t118, i16 %t117, i16 %t113
  %t120 = call i16 @ur_shuffle_up_i16(i16 %t119, i32 2, i32 -1) #0
  %t121 = icmp ugt i16 %t120, %t119
  %t122 = select i1 %t121, i16 %t120, i16 %t119
  %t123 = icmp uge i32 %t114, 2
  %t124 = select i1 %t123, i16 %t122, i16 %t119
  %t125 = call i16 @ur_shuffle_up_i16(i16 %t124, i32 4, i32 -1) #0
  %t126 = icmp ugt i16 %t125, %t124
  %t127 = select i1 %t126, i16 %t125, i16 %t124
  %t128 = icmp uge i32 %t114, 4
  %t129 = select i1 %t128, i16 %t127, i16 %t124
  %t130 = call i16 @ur_shuffle_up_i16(i16 %t129, i32 8, i32 -1) #0
  %t131 = icmp ugt i16 %t130, %t129
  %t132 = select i1 %t131, i16 %t130, i16 %t129
  %t133 = icmp uge i32 %t114, 8
  %t134 = select i1 %t133, i16 %t132, i16 %t129
  %t135 = call i16 @ur_shuffle_up_i16(i16 %t134, i32 16, i32 -1) #0
  %t136 = icmp ugt i16 %t135, %t134
  %t137 = select i1 %t136, i16 %t135, i16 %t134
  %t138 = icmp uge i32 %t114, 16
  %t139 = select i1 %t138, i16 %t137, i16 %t134
  %t140 = zext i16 %t139 to i64
  %t141 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  store volatile i64 %t140, ptr addrspace(3) %t141, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t142 = sub i32 %t103, 1
  %t143 = select i1 %t108, i32 0, i32 %t142
  %t144 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t143
  %t145 = load volatile i64, ptr addrspace(3) %t144, align 8
  %t146 = trunc i64 %t145 to i16
  %t147 = icmp ugt i16 %t146, %t36
  %t148 = select i1 %t147, i16 %t146, i16 %t36
  %t149 = select i1 %t108, i16 %t36, i16 %t148
  ret i16 %t149
}
define internal i16 @ur_before_umax_i16(i16 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i16 @ur_scan_umax_i16(i16 %x, i32 %lanes, i32 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = shl i32 1, %t2
  %t4 = sub i32 %t3, 1
  %t5 = and i32 %members, %t4
  %t6 = call i16 @ur_shuffle_up_i16(i16 %t1, i32 1, i32 %lanes) #0
  %t7 = icmp eq i32 %t5, 0
  %t8 = select i1 %t7, i16 0, i16 %t6
  ret i16 %t8
}
define internal i16 @ur_group_before_umax_i16(i16 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i16 @ur_before_umax_i16(i16 %x, i32 %t35, i32 %t35) #0
  %t37 = icmp ugt i16 %t36, %x
  %t38 = select i1 %t37, i16 %t36, i16 %x
  %t39 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t40 = getelementptr inbounds i8, ptr addrspace(4) %t39, i64 4
  %t41 = load i16, ptr addrspace(4) %t40, align 2, !invariant.load !0
  %t42 = zext i16 %t41 to i32
  %t43 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t44 = getelementptr inbounds i8, ptr addrspace(4) %t43, i64 6
  %t45 = load i16, ptr addrspace(4) %t44, align 2, !invariant.load !0
  %t46 = zext i16 %t45 to i32
  %t47 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t48 = getelementptr inbounds i8, ptr addrspace(4) %t47, i64 8
  %t49 = load i16, ptr addrspace(4) %t48, align 2, !invariant.load !0
  %t50 = zext i16 %t49 to i32
  %t51 = mul i32 %t42, %t46
  %t52 = mul i32 %t51, %t50
  %t53 = add i32 %t52, 31
  %t54 = lshr i32 %t53, 5
  %t55 = icmp ult i32 %t54, 2
  br i1 %t55, label %alone, label %publish
alone:
  ret i16 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t56 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t57 = call i32 @llvm.amdgcn.workitem.id.x()
  %t58 = call i32 @llvm.amdgcn.workitem.id.y()
  %t59 = call i32 @llvm.amdgcn.workitem.id.z()
  %t60 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t61 = getelementptr inbounds i8, ptr addrspace(4) %t60, i64 4
  %t62 = load i16, ptr addrspace(4) %t61, align 2, !invariant.load !0
  %t63 = zext i16 %t62 to i32
  %t64 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t65 = getelementptr inbounds i8, ptr addrspace(4) %t64, i64 6
  %t66 = load i16, ptr addrspace(4) %t65, align 2, !invariant.load !0
  %t67 = zext i16 %t66 to i32
  %t68 = mul i32 %t59, %t67
  %t69 = add i32 %t68, %t58
  %t70 = mul i32 %t69, %t63
  %t71 = add i32 %t70, %t57
  %t72 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t73 = getelementptr inbounds i8, ptr addrspace(4) %t72, i64 4
  %t74 = load i16, ptr addrspace(4) %t73, align 2, !invariant.load !0
  %t75 = zext i16 %t74 to i32
  %t76 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t77 = getelementptr inbounds i8, ptr addrspace(4) %t76, i64 6
  %t78 = load i16, ptr addrspace(4) %t77, align 2, !invariant.load !0
  %t79 = zext i16 %t78 to i32
  %t80 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t81 = getelementptr inbounds i8, ptr addrspace(4) %t80, i64 8
  %t82 = load i16, ptr addrspace(4) %t81, align 2, !invariant.load !0
  %t83 = zext i16 %t82 to i32
  %t84 = mul i32 %t75, %t79
  %t85 = mul i32 %t84, %t83
  %t86 = and i32 %t71, -32
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 32
  %t89 = select i1 %t88, i32 32, i32 %t87
  %t90 = call i32 @llvm.amdgcn.workitem.id.x()
  %t91 = call i32 @llvm.amdgcn.workitem.id.y()
  %t92 = call i32 @llvm.amdgcn.workitem.id.z()
  %t93 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t94 = getelementptr inbounds i8, ptr addrspace(4) %t93, i64 4
  %t95 = load i16, ptr addrspace(4) %t94, align 2, !invariant.load !0
  %t96 = zext i16 %t95 to i32
  %t97 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t98 = getelementptr inbounds i8, ptr addrspace(4) %t97, i64 6
  %t99 = load i16, ptr addrspace(4) %t98, align 2, !invariant.load !0
  %t100 = zext i16 %t99 to i32
  %t101 = mul i32 %t92, %t100
  %t102 = add i32 %t101, %t91
  %t103 = mul i32 %t102, %t96
  %t104 = add i32 %t103, %t90
  %t105 = lshr i32 %t104, 5
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i16 %t38 to i64
  %t109 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t105
  store volatile i64 %t108, ptr addrspace(3) %t109, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t110 = icmp eq i32 %t105, 0
  br i1 %t110, label %join, label %joined
join:
  %t111 = icmp ult i32 %t56, %t54
  %t112 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t56
  %t113 = load volatile i64, ptr addrspace(3) %t112, align 8
  %t114 = trunc i64 %t113 to i16
  %t115 = select i1 %t111, i16 %t114, i16 0
  %t116 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t117 = call i16 @ur_shuffle_up_i16(i16 %t115, i32 1, i32 -1) #0
  %t118 = icmp ugt i16 %t117, %t115
  %t119 = select i1 %t118, i16 %t117, i16 %t115
  %t120 = icmp uge i32 %t116, 1
  %t121 = select i1 %t120, i16 %t119, i16 %t115
  %t122 = call i16 @ur_shuffle_up_i16(i16 %t121, i32 2, i32 -1) #0
  %t123 = icmp ugt i16 %t122, %t121
  %t124 = select i1 %t123, i16 %t122, i16 %t121
  %t125 = icmp uge i32 %t116, 2
  %t126 = select i1 %t125, i16 %t124, i16 %t121
  %t127 = call i16 @ur_shuffle_up_i16(i16 %t126, i32 4, i32 -1) #0
  %t128 = icmp ugt i16 %t127, %t126
  %t129 = select i1 %t128, i16 %t127, i16 %t126
  %t130 = icmp uge i32 %t116, 4
  %t131 = select i1 %t130, i16 %t129, i16 %t126
  %t132 = call i16 @ur_shuffle_up_i16(i16 %t131, i32 8, i32 -1) #0
  %t133 = icmp ugt i16 %t132, %t131
  %t134 = select i1 %t133, i16 %t132, i16 %t131
  %t135 = icmp uge i32 %t116, 8
  %t136 = select i1 %t135, i16 %t134, i16 %t131
  %t137 = call i16 @ur_shuffle_up_i16(i16 %t136, i32 16, i32 -1) #0
  %t138 = icmp ugt i16 %t137, %t136
  %t139 = select i1 %t138, i16 %t137, i16 %t136
  %t140 = icmp uge i32 %t116, 16
  %t141 = select i1 %t140, i16 %t139, i16 %t136
  %t142 = zext i16 %t141 to i64
  %t143 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t56
  store volatile i64 %t142, ptr addrspace(3) %t143, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t144 = sub i32 %t105, 1
  %t145 = select i1 %t110, i32 0, i32 %t144
  %t146 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t145
  %t147 = load volatile i64, ptr addrspace(3) %t146, align 8
  %t148 = trunc i64 %t147 to i16
  %t149 = icmp ugt i16 %t148, %t36
  %t150 = select i1 %t149, i16 %t148, i16 %t36
  %t151 = select i1 %t110, i16 %t36, i16 %t150
  ret i16 %t151
}
define internal i1 @ur_shuffle_bfly_b(i1 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = xor i32 %t2, %lane
  %t4 = and i32 %t3, 31
  %t5 = shl i32 %t4, 2
  %t6 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t5, i32 %t1) #0
  %t7 = trunc i32 %t6 to i1
  ret i1 %t7
}
define internal i1 @ur_shuffle_down_b(i1 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = add i32 %t2, %lane
  %t4 = icmp ule i32 %lane, 31
  %t5 = icmp ule i32 %t3, 31
  %t6 = and i1 %t4, %t5
  %t7 = select i1 %t6, i32 %t3, i32 %t2
  %t8 = and i32 %t7, 31
  %t9 = shl i32 %t8, 2
  %t10 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t9, i32 %t1) #0
  %t11 = trunc i32 %t10 to i1
  ret i1 %t11
}
define internal i1 @ur_shuffle_idx_b(i1 %x, i32 %lane, i32 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = and i32 %lane, 31
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i1
  ret i1 %t5
}
define internal i1 @ur_reduce_or_b(i1 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = icmp eq i32 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i1 @ur_shuffle_bfly_b(i1 %x, i32 16, i32 -1) #0
  %t3 = or i1 %x, %t2
  %t4 = call i1 @ur_shuffle_bfly_b(i1 %t3, i32 8, i32 -1) #0
  %t5 = or i1 %t3, %t4
  %t6 = call i1 @ur_shuffle_bfly_b(i1 %t5, i32 4, i32 -1) #0
  %t7 = or i1 %t5, %t6
  %t8 = call i1 @ur_shuffle_bfly_b(i1 %t7, i32 2, i32 -1) #0
  %t9 = or i1 %t7, %t8
  %t10 = call i1 @ur_shuffle_bfly_b(i1 %t9, i32 1, i32 -1) #0
  %t11 = or i1 %t9, %t10
  ret i1 %t11
front:
  %t12 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t13 = call i32 @llvm.ctpop.i32(i32 %lanes)
  %t14 = call i1 @ur_shuffle_down_b(i1 %x, i32 16, i32 %lanes) #0
  %t15 = or i1 %x, %t14
  %t16 = add i32 %t12, 16
  %t17 = icmp ult i32 %t16, %t13
  %t18 = select i1 %t17, i1 %t15, i1 %x
  %t19 = call i1 @ur_shuffle_down_b(i1 %t18, i32 8, i32 %lanes) #0
  %t20 = or i1 %t18, %t19
  %t21 = add i32 %t12, 8
  %t22 = icmp ult i32 %t21, %t13
  %t23 = select i1 %t22, i1 %t20, i1 %t18
  %t24 = call i1 @ur_shuffle_down_b(i1 %t23, i32 4, i32 %lanes) #0
  %t25 = or i1 %t23, %t24
  %t26 = add i32 %t12, 4
  %t27 = icmp ult i32 %t26, %t13
  %t28 = select i1 %t27, i1 %t25, i1 %t23
  %t29 = call i1 @ur_shuffle_down_b(i1 %t28, i32 2, i32 %lanes) #0
  %t30 = or i1 %t28, %t29
  %t31 = add i32 %t12, 2
  %t32 = icmp ult i32 %t31, %t13
  %t33 = select i1 %t32, i1 %t30, i1 %t28
  %t34 = call i1 @ur_shuffle_down_b(i1 %t33, i32 1, i32 %lanes) #0
  %t35 = or i1 %t33, %t34
  %t36 = add i32 %t12, 1
  %t37 = icmp ult i32 %t36, %t13
  %t38 = select i1 %t37, i1 %t35, i1 %t33
  %t39 = call i1 @ur_shuffle_idx_b(i1 %t38, i32 0, i32 %lanes) #0
  ret i1 %t39
}
define internal i1 @ur_group_reduce_or_b(i1 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i1 @ur_reduce_or_b(i1 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i1 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i1 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i1
  %t113 = select i1 %t109, i1 %t112, i1 false
  %t114 = call i1 @ur_shuffle_bfly_b(i1 %t113, i32 16, i32 -1) #0
  %t115 = or i1 %t113, %t114
  %t116 = call i1 @ur_shuffle_bfly_b(i1 %t115, i32 8, i32 -1) #0
  %t117 = or i1 %t115, %t116
  %t118 = call i1 @ur_shuffle_bfly_b(i1 %t117, i32 4, i32 -1) #0
  %t119 = or i1 %t117, %t118
  %t120 = call i1 @ur_shuffle_bfly_b(i1 %t119, i32 2, i32 -1) #0
  %t121 = or i1 %t119, %t120
  %t122 = call i1 @ur_shuffle_bfly_b(i1 %t121, i32 1, i32 -1) #0
  %t123 = or i1 %t121, %t122
  %t124 = zext i1 %t123 to i64
  %t125 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t124, ptr addrspace(3) %t125, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t126 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t127 = load volatile i64, ptr addrspace(3) %t126, align 8
  %t128 = trunc i64 %t127 to i1
  ret i1 %t128
}
define internal i1 @ur_reduce_and_b(i1 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = icmp eq i32 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i1 @ur_shuffle_bfly_b(i1 %x, i32 16, i32 -1) #0
  %t3 = and i1 %x, %t2
  %t4 = call i1 @ur_shuffle_bfly_b(i1 %t3, i32 8, i32 -1) #0
  %t5 = and i1 %t3, %t4
  %t6 = call i1 @ur_shuffle_bfly_b(i1 %t5, i32 4, i32 -1) #0
  %t7 = and i1 %t5, %t6
  %t8 = call i1 @ur_shuffle_bfly_b(i1 %t7, i32 2, i32 -1) #0
  %t9 = and i1 %t7, %t8
  %t10 = call i1 @ur_shuffle_bfly_b(i1 %t9, i32 1, i32 -1) #0
  %t11 = and i1 %t9, %t10
  ret i1 %t11
front:
  %t12 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t13 = call i32 @llvm.ctpop.i32(i32 %lanes)
  %t14 = call i1 @ur_shuffle_down_b(i1 %x, i32 16, i32 %lanes) #0
  %t15 = and i1 %x, %t14
  %t16 = add i32 %t12, 16
  %t17 = icmp ult i32 %t16, %t13
  %t18 = select i1 %t17, i1 %t15, i1 %x
  %t19 = call i1 @ur_shuffle_down_b(i1 %t18, i32 8, i32 %lanes) #0
  %t20 = and i1 %t18, %t19
  %t21 = add i32 %t12, 8
  %t22 = icmp ult i32 %t21, %t13
  %t23 = select i1 %t22, i1 %t20, i1 %t18
  %t24 = call i1 @ur_shuffle_down_b(i1 %t23, i32 4, i32 %lanes) #0
  %t25 = and i1 %t23, %t24
  %t26 = add i32 %t12, 4
  %t27 = icmp ult i32 %t26, %t13
  %t28 = select i1 %t27, i1 %t25, i1 %t23
  %t29 = call i1 @ur_shuffle_down_b(i1 %t28, i32 2, i32 %lanes) #0
  %t30 = and i1 %t28, %t29
  %t31 = add i32 %t12, 2
  %t32 = icmp ult i32 %t31, %t13
  %t33 = select i1 %t32, i1 %t30, i1 %t28
  %t34 = call i1 @ur_shuffle_down_b(i1 %t33, i32 1, i32 %lanes) #0
  %t35 = and i1 %t33, %t34
  %t36 = add i32 %t12, 1
  %t37 = icmp ult i32 %t36, %t13
  %t38 = select i1 %t37, i1 %t35, i1 %t33
  %t39 = call i1 @ur_shuffle_idx_b(i1 %t38, i32 0, i32 %lanes) #0
  ret i1 %t39
}
define internal i1 @ur_group_reduce_and_b(i1 %x) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.workitem.id.x()
  %t2 = call i32 @llvm.amdgcn.workitem.id.y()
  %t3 = call i32 @llvm.amdgcn.workitem.id.z()
  %t4 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t5 = getelementptr inbounds i8, ptr addrspace(4) %t4, i64 4
  %t6 = load i16, ptr addrspace(4) %t5, align 2, !invariant.load !0
  %t7 = zext i16 %t6 to i32
  %t8 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t9 = getelementptr inbounds i8, ptr addrspace(4) %t8, i64 6
  %t10 = load i16, ptr addrspace(4) %t9, align 2, !invariant.load !0
  %t11 = zext i16 %t10 to i32
  %t12 = mul i32 %t3, %t11
  %t13 = add i32 %t12, %t2
  %t14 = mul i32 %t13, %t7
  %t15 = add i32 %t14, %t1
  %t16 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t17 = getelementptr inbounds i8, ptr addrspace(4) %t16, i64 4
  %t18 = load i16, ptr addrspace(4) %t17, align 2, !invariant.load !0
  %t19 = zext i16 %t18 to i32
  %t20 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t21 = getelementptr inbounds i8, ptr addrspace(4) %t20, i64 6
  %t22 = load i16, ptr addrspace(4) %t21, align 2, !invariant.load !0
  %t23 = zext i16 %t22 to i32
  %t24 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t25 = getelementptr inbounds i8, ptr addrspace(4) %t24, i64 8
  %t26 = load i16, ptr addrspace(4) %t25, align 2, !invariant.load !0
  %t27 = zext i16 %t26 to i32
  %t28 = mul i32 %t19, %t23
  %t29 = mul i32 %t28, %t27
  %t30 = and i32 %t15, -32
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 32
  %t33 = select i1 %t32, i32 32, i32 %t31
  %t34 = sub i32 32, %t33
  %t35 = lshr i32 -1, %t34
  %t36 = call i1 @ur_reduce_and_b(i1 %x, i32 %t35, i32 %t35) #0
  %t37 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t38 = getelementptr inbounds i8, ptr addrspace(4) %t37, i64 4
  %t39 = load i16, ptr addrspace(4) %t38, align 2, !invariant.load !0
  %t40 = zext i16 %t39 to i32
  %t41 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t42 = getelementptr inbounds i8, ptr addrspace(4) %t41, i64 6
  %t43 = load i16, ptr addrspace(4) %t42, align 2, !invariant.load !0
  %t44 = zext i16 %t43 to i32
  %t45 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t46 = getelementptr inbounds i8, ptr addrspace(4) %t45, i64 8
  %t47 = load i16, ptr addrspace(4) %t46, align 2, !invariant.load !0
  %t48 = zext i16 %t47 to i32
  %t49 = mul i32 %t40, %t44
  %t50 = mul i32 %t49, %t48
  %t51 = add i32 %t50, 31
  %t52 = lshr i32 %t51, 5
  %t53 = icmp ult i32 %t52, 2
  br i1 %t53, label %alone, label %publish
alone:
  ret i1 %t36
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t54 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t55 = call i32 @llvm.amdgcn.workitem.id.x()
  %t56 = call i32 @llvm.amdgcn.workitem.id.y()
  %t57 = call i32 @llvm.amdgcn.workitem.id.z()
  %t58 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t59 = getelementptr inbounds i8, ptr addrspace(4) %t58, i64 4
  %t60 = load i16, ptr addrspace(4) %t59, align 2, !invariant.load !0
  %t61 = zext i16 %t60 to i32
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 6
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = mul i32 %t57, %t65
  %t67 = add i32 %t66, %t56
  %t68 = mul i32 %t67, %t61
  %t69 = add i32 %t68, %t55
  %t70 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t71 = getelementptr inbounds i8, ptr addrspace(4) %t70, i64 4
  %t72 = load i16, ptr addrspace(4) %t71, align 2, !invariant.load !0
  %t73 = zext i16 %t72 to i32
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 6
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 8
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = mul i32 %t73, %t77
  %t83 = mul i32 %t82, %t81
  %t84 = and i32 %t69, -32
  %t85 = sub i32 %t83, %t84
  %t86 = icmp ugt i32 %t85, 32
  %t87 = select i1 %t86, i32 32, i32 %t85
  %t88 = call i32 @llvm.amdgcn.workitem.id.x()
  %t89 = call i32 @llvm.amdgcn.workitem.id.y()
  %t90 = call i32 @llvm.amdgcn.workitem.id.z()
  %t91 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t92 = getelementptr inbounds i8, ptr addrspace(4) %t91, i64 4
  %t93 = load i16, ptr addrspace(4) %t92, align 2, !invariant.load !0
  %t94 = zext i16 %t93 to i32
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 6
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = mul i32 %t90, %t98
  %t100 = add i32 %t99, %t89
  %t101 = mul i32 %t100, %t94
  %t102 = add i32 %t101, %t88
  %t103 = lshr i32 %t102, 5
  %t104 = sub i32 %t87, 1
  %t105 = icmp eq i32 %t54, %t104
  br i1 %t105, label %write, label %written
write:
  %t106 = zext i1 %t36 to i64
  %t107 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t103
  store volatile i64 %t106, ptr addrspace(3) %t107, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t108 = icmp eq i32 %t103, 0
  br i1 %t108, label %join, label %joined
join:
  %t109 = icmp ult i32 %t54, %t52
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t54
  %t111 = load volatile i64, ptr addrspace(3) %t110, align 8
  %t112 = trunc i64 %t111 to i1
  %t113 = select i1 %t109, i1 %t112, i1 true
  %t114 = call i1 @ur_shuffle_bfly_b(i1 %t113, i32 16, i32 -1) #0
  %t115 = and i1 %t113, %t114
  %t116 = call i1 @ur_shuffle_bfly_b(i1 %t115, i32 8, i32 -1) #0
  %t117 = and i1 %t115, %t116
  %t118 = call i1 @ur_shuffle_bfly_b(i1 %t117, i32 4, i32 -1) #0
  %t119 = and i1 %t117, %t118
  %t120 = call i1 @ur_shuffle_bfly_b(i1 %t119, i32 2, i32 -1) #0
  %t121 = and i1 %t119, %t120
  %t122 = call i1 @ur_shuffle_bfly_b(i1 %t121, i32 1, i32 -1) #0
  %t123 = and i1 %t121, %t122
  %t124 = zext i1 %t123 to i64
  %t125 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t124, ptr addrspace(3) %t125, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t126 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t127 = load volatile i64, ptr addrspace(3) %t126, align 8
  %t128 = trunc i64 %t127 to i1
  ret i1 %t128
}
define internal i32 @ur_reduce_some_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = and i32 %lanes, %members
  %t2 = icmp eq i32 %t1, -1
  br i1 %t2, label %tree, label %walk
tree:
  %t3 = call i32 @ur_shuffle_bfly_i32(i32 %x, i32 16, i32 -1) #0
  %t4 = add i32 %x, %t3
  %t5 = call i32 @ur_shuffle_bfly_i32(i32 %t4, i32 8, i32 -1) #0
  %t6 = add i32 %t4, %t5
  %t7 = call i32 @ur_shuffle_bfly_i32(i32 %t6, i32 4, i32 -1) #0
  %t8 = add i32 %t6, %t7
  %t9 = call i32 @ur_shuffle_bfly_i32(i32 %t8, i32 2, i32 -1) #0
  %t10 = add i32 %t8, %t9
  %t11 = call i32 @ur_shuffle_bfly_i32(i32 %t10, i32 1, i32 -1) #0
  %t12 = add i32 %t10, %t11
  ret i32 %t12
walk:
  br label %step
step:
  %left = phi i32 [ %lanes, %walk ], [ %rest, %step ]
  %sum = phi i32 [ 0, %walk ], [ %kept, %step ]
  %t13 = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %t14 = call i32 @ur_shuffle_idx_i32(i32 %x, i32 %t13, i32 %lanes) #0
  %t15 = add i32 %sum, %t14
  %t16 = add i32 %left, -1
  %rest = and i32 %left, %t16
  %t17 = xor i32 %left, %rest
  %t18 = and i32 %members, %t17
  %t19 = icmp ne i32 %t18, 0
  %kept = select i1 %t19, i32 %t15, i32 %sum
  %t20 = icmp eq i32 %rest, 0
  br i1 %t20, label %end, label %step, !llvm.loop !2
end:
  ret i32 %kept
}
define internal i32 @ur_scan_some_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = and i32 %lanes, %members
  %t2 = icmp eq i32 %t1, -1
  br i1 %t2, label %tree, label %walk
tree:
  %t3 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t4 = call i32 @ur_shuffle_up_i32(i32 %x, i32 1, i32 -1) #0
  %t5 = add i32 %t4, %x
  %t6 = icmp uge i32 %t3, 1
  %t7 = select i1 %t6, i32 %t5, i32 %x
  %t8 = call i32 @ur_shuffle_up_i32(i32 %t7, i32 2, i32 -1) #0
  %t9 = add i32 %t8, %t7
  %t10 = icmp uge i32 %t3, 2
  %t11 = select i1 %t10, i32 %t9, i32 %t7
  %t12 = call i32 @ur_shuffle_up_i32(i32 %t11, i32 4, i32 -1) #0
  %t13 = add i32 %t12, %t11
  %t14 = icmp uge i32 %t3, 4
  %t15 = select i1 %t14, i32 %t13, i32 %t11
  %t16 = call i32 @ur_shuffle_up_i32(i32 %t15, i32 8, i32 -1) #0
  %t17 = add i32 %t16, %t15
  %t18 = icmp uge i32 %t3, 8
  %t19 = select i1 %t18, i32 %t17, i32 %t15
  %t20 = call i32 @ur_shuffle_up_i32(i32 %t19, i32 16, i32 -1) #0
  %t21 = add i32 %t20, %t19
  %t22 = icmp uge i32 %t3, 16
  %t23 = select i1 %t22, i32 %t21, i32 %t19
  ret i32 %t23
walk:
  %t24 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t25 = shl i32 1, %t24
  %t26 = sub i32 %t25, 1
  %t27 = or i32 %t26, %t25
  %t28 = and i32 %members, %t27
  br label %step
step:
  %left = phi i32 [ %lanes, %walk ], [ %rest, %step ]
  %sum = phi i32 [ 0, %walk ], [ %kept, %step ]
  %t29 = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %t30 = call i32 @ur_shuffle_idx_i32(i32 %x, i32 %t29, i32 %lanes) #0
  %t31 = add i32 %sum, %t30
  %t32 = add i32 %left, -1
  %rest = and i32 %left, %t32
  %t33 = xor i32 %left, %rest
  %t34 = and i32 %t28, %t33
  %t35 = icmp ne i32 %t34, 0
  %kept = select i1 %t35, i32 %t31, i32 %sum
  %t36 = icmp eq i32 %rest, 0
  br i1 %t36, label %end, label %step, !llvm.loop !3
end:
  ret i32 %kept
}
define internal i32 @ur_before_some_add_i32(i32 %x, i32 %lanes, i32 %members) #2 {
entry:
  %t1 = call i32 @ur_scan_some_add_i32(i32 %x, i32 %lanes, i32 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = shl i32 1, %t2
  %t4 = sub i32 %t3, 1
  %t5 = and i32 %members, %t4
  %t6 = call i32 @llvm.ctlz.i32(i32 %t5, i1 false)
  %t7 = sub i32 31, %t6
  %t8 = call i32 @ur_shuffle_idx_i32(i32 %t1, i32 %t7, i32 %lanes) #0
  %t9 = icmp eq i32 %t5, 0
  %t10 = select i1 %t9, i32 0, i32 %t8
  ret i32 %t10
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!0 = !{}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !1}
!3 = distinct !{!3, !1}
