target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"
declare float @__ocml_ldexp_f32(float, i32)
declare double @__ocml_ldexp_f64(double, i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
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
  %t93 = and i32 %t78, -64
  %t94 = sub i32 %t92, %t93
  %t95 = icmp ugt i32 %t94, 64
  %t96 = select i1 %t95, i32 64, i32 %t94
  %t97 = sub i32 64, %t96
  %t98 = zext i32 %t97 to i64
  %t99 = lshr i64 -1, %t98
  %t100 = call i32 @ur_reduce_add_i32(i32 %v126, i64 %t99, i64 %t99) #0
  %v175 = bitcast i32 %t100 to i32
  %v176 = add i64 %v118, 360
  %v177 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v176
  store i32 %v175, ptr addrspace(1) %v177, align 4
  %t101 = call i32 @llvm.amdgcn.workitem.id.x()
  %t102 = call i32 @llvm.amdgcn.workitem.id.y()
  %t103 = call i32 @llvm.amdgcn.workitem.id.z()
  %t104 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t105 = getelementptr inbounds i8, ptr addrspace(4) %t104, i64 4
  %t106 = load i16, ptr addrspace(4) %t105, align 2, !invariant.load !0
  %t107 = zext i16 %t106 to i32
  %t108 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t109 = getelementptr inbounds i8, ptr addrspace(4) %t108, i64 6
  %t110 = load i16, ptr addrspace(4) %t109, align 2, !invariant.load !0
  %t111 = zext i16 %t110 to i32
  %t112 = mul i32 %t103, %t111
  %t113 = add i32 %t112, %t102
  %t114 = mul i32 %t113, %t107
  %t115 = add i32 %t114, %t101
  %t116 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t117 = getelementptr inbounds i8, ptr addrspace(4) %t116, i64 4
  %t118 = load i16, ptr addrspace(4) %t117, align 2, !invariant.load !0
  %t119 = zext i16 %t118 to i32
  %t120 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t121 = getelementptr inbounds i8, ptr addrspace(4) %t120, i64 6
  %t122 = load i16, ptr addrspace(4) %t121, align 2, !invariant.load !0
  %t123 = zext i16 %t122 to i32
  %t124 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t125 = getelementptr inbounds i8, ptr addrspace(4) %t124, i64 8
  %t126 = load i16, ptr addrspace(4) %t125, align 2, !invariant.load !0
  %t127 = zext i16 %t126 to i32
  %t128 = mul i32 %t119, %t123
  %t129 = mul i32 %t128, %t127
  %t130 = and i32 %t115, -64
  %t131 = sub i32 %t129, %t130
  %t132 = icmp ugt i32 %t131, 64
  %t133 = select i1 %t132, i32 64, i32 %t131
  %t134 = sub i32 64, %t133
  %t135 = zext i32 %t134 to i64
  %t136 = lshr i64 -1, %t135
  %t137 = call i32 @ur_scan_add_i32(i32 %v126, i64 %t136, i64 %t136) #0
  %v178 = bitcast i32 %t137 to i32
  %v179 = add i64 %v118, 432
  %v180 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v179
  store i32 %v178, ptr addrspace(1) %v180, align 4
  %t138 = call i32 @llvm.amdgcn.workitem.id.x()
  %t139 = call i32 @llvm.amdgcn.workitem.id.y()
  %t140 = call i32 @llvm.amdgcn.workitem.id.z()
  %t141 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t142 = getelementptr inbounds i8, ptr addrspace(4) %t141, i64 4
  %t143 = load i16, ptr addrspace(4) %t142, align 2, !invariant.load !0
  %t144 = zext i16 %t143 to i32
  %t145 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t146 = getelementptr inbounds i8, ptr addrspace(4) %t145, i64 6
  %t147 = load i16, ptr addrspace(4) %t146, align 2, !invariant.load !0
  %t148 = zext i16 %t147 to i32
  %t149 = mul i32 %t140, %t148
  %t150 = add i32 %t149, %t139
  %t151 = mul i32 %t150, %t144
  %t152 = add i32 %t151, %t138
  %t153 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t154 = getelementptr inbounds i8, ptr addrspace(4) %t153, i64 4
  %t155 = load i16, ptr addrspace(4) %t154, align 2, !invariant.load !0
  %t156 = zext i16 %t155 to i32
  %t157 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t158 = getelementptr inbounds i8, ptr addrspace(4) %t157, i64 6
  %t159 = load i16, ptr addrspace(4) %t158, align 2, !invariant.load !0
  %t160 = zext i16 %t159 to i32
  %t161 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t162 = getelementptr inbounds i8, ptr addrspace(4) %t161, i64 8
  %t163 = load i16, ptr addrspace(4) %t162, align 2, !invariant.load !0
  %t164 = zext i16 %t163 to i32
  %t165 = mul i32 %t156, %t160
  %t166 = mul i32 %t165, %t164
  %t167 = and i32 %t152, -64
  %t168 = sub i32 %t166, %t167
  %t169 = icmp ugt i32 %t168, 64
  %t170 = select i1 %t169, i32 64, i32 %t168
  %t171 = sub i32 64, %t170
  %t172 = zext i32 %t171 to i64
  %t173 = lshr i64 -1, %t172
  %t174 = call i32 @ur_before_add_i32(i32 %v126, i64 %t173, i64 %t173) #0
  %v181 = bitcast i32 %t174 to i32
  %v182 = add i64 %v118, 504
  %v183 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v182
  store i32 %v181, ptr addrspace(1) %v183, align 4
  %t175 = call i32 @llvm.amdgcn.workitem.id.x()
  %t176 = call i32 @llvm.amdgcn.workitem.id.y()
  %t177 = call i32 @llvm.amdgcn.workitem.id.z()
  %t178 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t179 = getelementptr inbounds i8, ptr addrspace(4) %t178, i64 4
  %t180 = load i16, ptr addrspace(4) %t179, align 2, !invariant.load !0
  %t181 = zext i16 %t180 to i32
  %t182 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t183 = getelementptr inbounds i8, ptr addrspace(4) %t182, i64 6
  %t184 = load i16, ptr addrspace(4) %t183, align 2, !invariant.load !0
  %t185 = zext i16 %t184 to i32
  %t186 = mul i32 %t177, %t185
  %t187 = add i32 %t186, %t176
  %t188 = mul i32 %t187, %t181
  %t189 = add i32 %t188, %t175
  %t190 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t191 = getelementptr inbounds i8, ptr addrspace(4) %t190, i64 4
  %t192 = load i16, ptr addrspace(4) %t191, align 2, !invariant.load !0
  %t193 = zext i16 %t192 to i32
  %t194 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t195 = getelementptr inbounds i8, ptr addrspace(4) %t194, i64 6
  %t196 = load i16, ptr addrspace(4) %t195, align 2, !invariant.load !0
  %t197 = zext i16 %t196 to i32
  %t198 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t199 = getelementptr inbounds i8, ptr addrspace(4) %t198, i64 8
  %t200 = load i16, ptr addrspace(4) %t199, align 2, !invariant.load !0
  %t201 = zext i16 %t200 to i32
  %t202 = mul i32 %t193, %t197
  %t203 = mul i32 %t202, %t201
  %t204 = and i32 %t189, -64
  %t205 = sub i32 %t203, %t204
  %t206 = icmp ugt i32 %t205, 64
  %t207 = select i1 %t206, i32 64, i32 %t205
  %t208 = sub i32 64, %t207
  %t209 = zext i32 %t208 to i64
  %t210 = lshr i64 -1, %t209
  %t211 = call i8 @ur_reduce_smin_i8(i8 %v124, i64 %t210, i64 %t210) #0
  %v184 = bitcast i8 %t211 to i8
  %v185 = add i64 %v118, 216
  %v186 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v185
  store i8 %v184, ptr addrspace(1) %v186, align 1
  %t212 = call i32 @llvm.amdgcn.workitem.id.x()
  %t213 = call i32 @llvm.amdgcn.workitem.id.y()
  %t214 = call i32 @llvm.amdgcn.workitem.id.z()
  %t215 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t216 = getelementptr inbounds i8, ptr addrspace(4) %t215, i64 4
  %t217 = load i16, ptr addrspace(4) %t216, align 2, !invariant.load !0
  %t218 = zext i16 %t217 to i32
  %t219 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t220 = getelementptr inbounds i8, ptr addrspace(4) %t219, i64 6
  %t221 = load i16, ptr addrspace(4) %t220, align 2, !invariant.load !0
  %t222 = zext i16 %t221 to i32
  %t223 = mul i32 %t214, %t222
  %t224 = add i32 %t223, %t213
  %t225 = mul i32 %t224, %t218
  %t226 = add i32 %t225, %t212
  %t227 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t228 = getelementptr inbounds i8, ptr addrspace(4) %t227, i64 4
  %t229 = load i16, ptr addrspace(4) %t228, align 2, !invariant.load !0
  %t230 = zext i16 %t229 to i32
  %t231 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t232 = getelementptr inbounds i8, ptr addrspace(4) %t231, i64 6
  %t233 = load i16, ptr addrspace(4) %t232, align 2, !invariant.load !0
  %t234 = zext i16 %t233 to i32
  %t235 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t236 = getelementptr inbounds i8, ptr addrspace(4) %t235, i64 8
  %t237 = load i16, ptr addrspace(4) %t236, align 2, !invariant.load !0
  %t238 = zext i16 %t237 to i32
  %t239 = mul i32 %t230, %t234
  %t240 = mul i32 %t239, %t238
  %t241 = and i32 %t226, -64
  %t242 = sub i32 %t240, %t241
  %t243 = icmp ugt i32 %t242, 64
  %t244 = select i1 %t243, i32 64, i32 %t242
  %t245 = sub i32 64, %t244
  %t246 = zext i32 %t245 to i64
  %t247 = lshr i64 -1, %t246
  %t248 = call i8 @ur_scan_smin_i8(i8 %v124, i64 %t247, i64 %t247) #0
  %v187 = bitcast i8 %t248 to i8
  %v188 = add i64 %v118, 288
  %v189 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v188
  store i8 %v187, ptr addrspace(1) %v189, align 1
  %t249 = call i32 @llvm.amdgcn.workitem.id.x()
  %t250 = call i32 @llvm.amdgcn.workitem.id.y()
  %t251 = call i32 @llvm.amdgcn.workitem.id.z()
  %t252 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t253 = getelementptr inbounds i8, ptr addrspace(4) %t252, i64 4
  %t254 = load i16, ptr addrspace(4) %t253, align 2, !invariant.load !0
  %t255 = zext i16 %t254 to i32
  %t256 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t257 = getelementptr inbounds i8, ptr addrspace(4) %t256, i64 6
  %t258 = load i16, ptr addrspace(4) %t257, align 2, !invariant.load !0
  %t259 = zext i16 %t258 to i32
  %t260 = mul i32 %t251, %t259
  %t261 = add i32 %t260, %t250
  %t262 = mul i32 %t261, %t255
  %t263 = add i32 %t262, %t249
  %t264 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t265 = getelementptr inbounds i8, ptr addrspace(4) %t264, i64 4
  %t266 = load i16, ptr addrspace(4) %t265, align 2, !invariant.load !0
  %t267 = zext i16 %t266 to i32
  %t268 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t269 = getelementptr inbounds i8, ptr addrspace(4) %t268, i64 6
  %t270 = load i16, ptr addrspace(4) %t269, align 2, !invariant.load !0
  %t271 = zext i16 %t270 to i32
  %t272 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t273 = getelementptr inbounds i8, ptr addrspace(4) %t272, i64 8
  %t274 = load i16, ptr addrspace(4) %t273, align 2, !invariant.load !0
  %t275 = zext i16 %t274 to i32
  %t276 = mul i32 %t267, %t271
  %t277 = mul i32 %t276, %t275
  %t278 = and i32 %t263, -64
  %t279 = sub i32 %t277, %t278
  %t280 = icmp ugt i32 %t279, 64
  %t281 = select i1 %t280, i32 64, i32 %t279
  %t282 = sub i32 64, %t281
  %t283 = zext i32 %t282 to i64
  %t284 = lshr i64 -1, %t283
  %t285 = call i8 @ur_before_smin_i8(i8 %v124, i64 %t284, i64 %t284) #0
  %v190 = bitcast i8 %t285 to i8
  %v191 = add i64 %v118, 360
  %v192 = getelementptr inbounds i8, ptr addrspace(1) %v114, i64 %v191
  store i8 %v190, ptr addrspace(1) %v192, align 1
  %t286 = call i32 @llvm.amdgcn.workitem.id.x()
  %t287 = call i32 @llvm.amdgcn.workitem.id.y()
  %t288 = call i32 @llvm.amdgcn.workitem.id.z()
  %t289 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t290 = getelementptr inbounds i8, ptr addrspace(4) %t289, i64 4
  %t291 = load i16, ptr addrspace(4) %t290, align 2, !invariant.load !0
  %t292 = zext i16 %t291 to i32
  %t293 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t294 = getelementptr inbounds i8, ptr addrspace(4) %t293, i64 6
  %t295 = load i16, ptr addrspace(4) %t294, align 2, !invariant.load !0
  %t296 = zext i16 %t295 to i32
  %t297 = mul i32 %t288, %t296
  %t298 = add i32 %t297, %t287
  %t299 = mul i32 %t298, %t292
  %t300 = add i32 %t299, %t286
  %t301 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t302 = getelementptr inbounds i8, ptr addrspace(4) %t301, i64 4
  %t303 = load i16, ptr addrspace(4) %t302, align 2, !invariant.load !0
  %t304 = zext i16 %t303 to i32
  %t305 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t306 = getelementptr inbounds i8, ptr addrspace(4) %t305, i64 6
  %t307 = load i16, ptr addrspace(4) %t306, align 2, !invariant.load !0
  %t308 = zext i16 %t307 to i32
  %t309 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t310 = getelementptr inbounds i8, ptr addrspace(4) %t309, i64 8
  %t311 = load i16, ptr addrspace(4) %t310, align 2, !invariant.load !0
  %t312 = zext i16 %t311 to i32
  %t313 = mul i32 %t304, %t308
  %t314 = mul i32 %t313, %t312
  %t315 = and i32 %t300, -64
  %t316 = sub i32 %t314, %t315
  %t317 = icmp ugt i32 %t316, 64
  %t318 = select i1 %t317, i32 64, i32 %t316
  %t319 = sub i32 64, %t318
  %t320 = zext i32 %t319 to i64
  %t321 = lshr i64 -1, %t320
  %t322 = call i16 @ur_reduce_umax_i16(i16 %v125, i64 %t321, i64 %t321) #0
  %v193 = bitcast i16 %t322 to i16
  %v194 = add i64 %v118, 216
  %v195 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v194
  store i16 %v193, ptr addrspace(1) %v195, align 2
  %t323 = call i32 @llvm.amdgcn.workitem.id.x()
  %t324 = call i32 @llvm.amdgcn.workitem.id.y()
  %t325 = call i32 @llvm.amdgcn.workitem.id.z()
  %t326 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t327 = getelementptr inbounds i8, ptr addrspace(4) %t326, i64 4
  %t328 = load i16, ptr addrspace(4) %t327, align 2, !invariant.load !0
  %t329 = zext i16 %t328 to i32
  %t330 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t331 = getelementptr inbounds i8, ptr addrspace(4) %t330, i64 6
  %t332 = load i16, ptr addrspace(4) %t331, align 2, !invariant.load !0
  %t333 = zext i16 %t332 to i32
  %t334 = mul i32 %t325, %t333
  %t335 = add i32 %t334, %t324
  %t336 = mul i32 %t335, %t329
  %t337 = add i32 %t336, %t323
  %t338 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t339 = getelementptr inbounds i8, ptr addrspace(4) %t338, i64 4
  %t340 = load i16, ptr addrspace(4) %t339, align 2, !invariant.load !0
  %t341 = zext i16 %t340 to i32
  %t342 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t343 = getelementptr inbounds i8, ptr addrspace(4) %t342, i64 6
  %t344 = load i16, ptr addrspace(4) %t343, align 2, !invariant.load !0
  %t345 = zext i16 %t344 to i32
  %t346 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t347 = getelementptr inbounds i8, ptr addrspace(4) %t346, i64 8
  %t348 = load i16, ptr addrspace(4) %t347, align 2, !invariant.load !0
  %t349 = zext i16 %t348 to i32
  %t350 = mul i32 %t341, %t345
  %t351 = mul i32 %t350, %t349
  %t352 = and i32 %t337, -64
  %t353 = sub i32 %t351, %t352
  %t354 = icmp ugt i32 %t353, 64
  %t355 = select i1 %t354, i32 64, i32 %t353
  %t356 = sub i32 64, %t355
  %t357 = zext i32 %t356 to i64
  %t358 = lshr i64 -1, %t357
  %t359 = call i16 @ur_scan_umax_i16(i16 %v125, i64 %t358, i64 %t358) #0
  %v196 = bitcast i16 %t359 to i16
  %v197 = add i64 %v118, 288
  %v198 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v197
  store i16 %v196, ptr addrspace(1) %v198, align 2
  %t360 = call i32 @llvm.amdgcn.workitem.id.x()
  %t361 = call i32 @llvm.amdgcn.workitem.id.y()
  %t362 = call i32 @llvm.amdgcn.workitem.id.z()
  %t363 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t364 = getelementptr inbounds i8, ptr addrspace(4) %t363, i64 4
  %t365 = load i16, ptr addrspace(4) %t364, align 2, !invariant.load !0
  %t366 = zext i16 %t365 to i32
  %t367 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t368 = getelementptr inbounds i8, ptr addrspace(4) %t367, i64 6
  %t369 = load i16, ptr addrspace(4) %t368, align 2, !invariant.load !0
  %t370 = zext i16 %t369 to i32
  %t371 = mul i32 %t362, %t370
  %t372 = add i32 %t371, %t361
  %t373 = mul i32 %t372, %t366
  %t374 = add i32 %t373, %t360
  %t375 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t376 = getelementptr inbounds i8, ptr addrspace(4) %t375, i64 4
  %t377 = load i16, ptr addrspace(4) %t376, align 2, !invariant.load !0
  %t378 = zext i16 %t377 to i32
  %t379 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t380 = getelementptr inbounds i8, ptr addrspace(4) %t379, i64 6
  %t381 = load i16, ptr addrspace(4) %t380, align 2, !invariant.load !0
  %t382 = zext i16 %t381 to i32
  %t383 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t384 = getelementptr inbounds i8, ptr addrspace(4) %t383, i64 8
  %t385 = load i16, ptr addrspace(4) %t384, align 2, !invariant.load !0
  %t386 = zext i16 %t385 to i32
  %t387 = mul i32 %t378, %t382
  %t388 = mul i32 %t387, %t386
  %t389 = and i32 %t374, -64
  %t390 = sub i32 %t388, %t389
  %t391 = icmp ugt i32 %t390, 64
  %t392 = select i1 %t391, i32 64, i32 %t390
  %t393 = sub i32 64, %t392
  %t394 = zext i32 %t393 to i64
  %t395 = lshr i64 -1, %t394
  %t396 = call i16 @ur_before_umax_i16(i16 %v125, i64 %t395, i64 %t395) #0
  %v199 = bitcast i16 %t396 to i16
  %v200 = add i64 %v118, 360
  %v201 = getelementptr inbounds i16, ptr addrspace(1) %v115, i64 %v200
  store i16 %v199, ptr addrspace(1) %v201, align 2
  %t397 = call i32 @llvm.amdgcn.workitem.id.x()
  %t398 = call i32 @llvm.amdgcn.workitem.id.y()
  %t399 = call i32 @llvm.amdgcn.workitem.id.z()
  %t400 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t401 = getelementptr inbounds i8, ptr addrspace(4) %t400, i64 4
  %t402 = load i16, ptr addrspace(4) %t401, align 2, !invariant.load !0
  %t403 = zext i16 %t402 to i32
  %t404 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t405 = getelementptr inbounds i8, ptr addrspace(4) %t404, i64 6
  %t406 = load i16, ptr addrspace(4) %t405, align 2, !invariant.load !0
  %t407 = zext i16 %t406 to i32
  %t408 = mul i32 %t399, %t407
  %t409 = add i32 %t408, %t398
  %t410 = mul i32 %t409, %t403
  %t411 = add i32 %t410, %t397
  %t412 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t413 = getelementptr inbounds i8, ptr addrspace(4) %t412, i64 4
  %t414 = load i16, ptr addrspace(4) %t413, align 2, !invariant.load !0
  %t415 = zext i16 %t414 to i32
  %t416 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t417 = getelementptr inbounds i8, ptr addrspace(4) %t416, i64 6
  %t418 = load i16, ptr addrspace(4) %t417, align 2, !invariant.load !0
  %t419 = zext i16 %t418 to i32
  %t420 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t421 = getelementptr inbounds i8, ptr addrspace(4) %t420, i64 8
  %t422 = load i16, ptr addrspace(4) %t421, align 2, !invariant.load !0
  %t423 = zext i16 %t422 to i32
  %t424 = mul i32 %t415, %t419
  %t425 = mul i32 %t424, %t423
  %t426 = and i32 %t411, -64
  %t427 = sub i32 %t425, %t426
  %t428 = icmp ugt i32 %t427, 64
  %t429 = select i1 %t428, i32 64, i32 %t427
  %t430 = sub i32 64, %t429
  %t431 = zext i32 %t430 to i64
  %t432 = lshr i64 -1, %t431
  %t433 = call i64 @llvm.amdgcn.ballot.i64(i1 %v139) #0
  %v202 = icmp ne i64 %t433, 0
  %v203 = select i1 %v202, i32 1, i32 0
  %v204 = add i64 %v118, 576
  %v205 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v204
  store i32 %v203, ptr addrspace(1) %v205, align 4
  %t434 = call i32 @llvm.amdgcn.workitem.id.x()
  %t435 = call i32 @llvm.amdgcn.workitem.id.y()
  %t436 = call i32 @llvm.amdgcn.workitem.id.z()
  %t437 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t438 = getelementptr inbounds i8, ptr addrspace(4) %t437, i64 4
  %t439 = load i16, ptr addrspace(4) %t438, align 2, !invariant.load !0
  %t440 = zext i16 %t439 to i32
  %t441 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t442 = getelementptr inbounds i8, ptr addrspace(4) %t441, i64 6
  %t443 = load i16, ptr addrspace(4) %t442, align 2, !invariant.load !0
  %t444 = zext i16 %t443 to i32
  %t445 = mul i32 %t436, %t444
  %t446 = add i32 %t445, %t435
  %t447 = mul i32 %t446, %t440
  %t448 = add i32 %t447, %t434
  %t449 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t450 = getelementptr inbounds i8, ptr addrspace(4) %t449, i64 4
  %t451 = load i16, ptr addrspace(4) %t450, align 2, !invariant.load !0
  %t452 = zext i16 %t451 to i32
  %t453 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t454 = getelementptr inbounds i8, ptr addrspace(4) %t453, i64 6
  %t455 = load i16, ptr addrspace(4) %t454, align 2, !invariant.load !0
  %t456 = zext i16 %t455 to i32
  %t457 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t458 = getelementptr inbounds i8, ptr addrspace(4) %t457, i64 8
  %t459 = load i16, ptr addrspace(4) %t458, align 2, !invariant.load !0
  %t460 = zext i16 %t459 to i32
  %t461 = mul i32 %t452, %t456
  %t462 = mul i32 %t461, %t460
  %t463 = and i32 %t448, -64
  %t464 = sub i32 %t462, %t463
  %t465 = icmp ugt i32 %t464, 64
  %t466 = select i1 %t465, i32 64, i32 %t464
  %t467 = sub i32 64, %t466
  %t468 = zext i32 %t467 to i64
  %t469 = lshr i64 -1, %t468
  %t470 = call i64 @llvm.amdgcn.ballot.i64(i1 %v139) #0
  %v206 = icmp eq i64 %t470, %t469
  %v207 = select i1 %v206, i32 1, i32 0
  %v208 = add i64 %v118, 648
  %v209 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v208
  store i32 %v207, ptr addrspace(1) %v209, align 4
  %t471 = call i64 @llvm.amdgcn.ballot.i64(i1 true) #0
  %t472 = call i32 @ur_reduce_some_add_i32(i32 %v126, i64 %t471, i64 %t471) #0
  %v210 = bitcast i32 %t472 to i32
  %v211 = add i64 %v118, 720
  %v212 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v211
  store i32 %v210, ptr addrspace(1) %v212, align 4
  %t473 = call i64 @llvm.amdgcn.ballot.i64(i1 true) #0
  %t474 = call i32 @ur_scan_some_add_i32(i32 %v126, i64 %t473, i64 %t473) #0
  %v213 = bitcast i32 %t474 to i32
  %v214 = add i64 %v118, 792
  %v215 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v214
  store i32 %v213, ptr addrspace(1) %v215, align 4
  %t475 = call i64 @llvm.amdgcn.ballot.i64(i1 true) #0
  %t476 = call i32 @ur_before_some_add_i32(i32 %v126, i64 %t475, i64 %t475) #0
  %v216 = bitcast i32 %t476 to i32
  %v217 = add i64 %v118, 864
  %v218 = getelementptr inbounds i32, ptr addrspace(1) %v113, i64 %v217
  store i32 %v216, ptr addrspace(1) %v218, align 4
  ret void
}
define internal i32 @ur_shuffle_bfly_i32(i32 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = xor i32 %t2, %lane
  %t4 = and i32 %t3, 63
  %t5 = shl i32 %t4, 2
  %t6 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t5, i32 %x) #0
  ret i32 %t6
}
define internal i32 @ur_shuffle_down_i32(i32 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = add i32 %t2, %lane
  %t4 = icmp ule i32 %lane, 63
  %t5 = icmp ule i32 %t3, 63
  %t6 = and i1 %t4, %t5
  %t7 = select i1 %t6, i32 %t3, i32 %t2
  %t8 = and i32 %t7, 63
  %t9 = shl i32 %t8, 2
  %t10 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t9, i32 %x) #0
  ret i32 %t10
}
define internal i32 @ur_shuffle_idx_i32(i32 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = and i32 %lane, 63
  %t2 = shl i32 %t1, 2
  %t3 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t2, i32 %x) #0
  ret i32 %t3
}
define internal i32 @ur_reduce_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = icmp eq i64 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i32 @ur_shuffle_bfly_i32(i32 %x, i32 32, i64 -1) #0
  %t3 = add i32 %x, %t2
  %t4 = call i32 @ur_shuffle_bfly_i32(i32 %t3, i32 16, i64 -1) #0
  %t5 = add i32 %t3, %t4
  %t6 = call i32 @ur_shuffle_bfly_i32(i32 %t5, i32 8, i64 -1) #0
  %t7 = add i32 %t5, %t6
  %t8 = call i32 @ur_shuffle_bfly_i32(i32 %t7, i32 4, i64 -1) #0
  %t9 = add i32 %t7, %t8
  %t10 = call i32 @ur_shuffle_bfly_i32(i32 %t9, i32 2, i64 -1) #0
  %t11 = add i32 %t9, %t10
  %t12 = call i32 @ur_shuffle_bfly_i32(i32 %t11, i32 1, i64 -1) #0
  %t13 = add i32 %t11, %t12
  ret i32 %t13
front:
  %t14 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t15 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t14)
  %t16 = call i64 @llvm.ctpop.i64(i64 %lanes)
  %t17 = trunc i64 %t16 to i32
  %t18 = call i32 @ur_shuffle_down_i32(i32 %x, i32 32, i64 %lanes) #0
  %t19 = add i32 %x, %t18
  %t20 = add i32 %t15, 32
  %t21 = icmp ult i32 %t20, %t17
  %t22 = select i1 %t21, i32 %t19, i32 %x
  %t23 = call i32 @ur_shuffle_down_i32(i32 %t22, i32 16, i64 %lanes) #0
  %t24 = add i32 %t22, %t23
  %t25 = add i32 %t15, 16
  %t26 = icmp ult i32 %t25, %t17
  %t27 = select i1 %t26, i32 %t24, i32 %t22
  %t28 = call i32 @ur_shuffle_down_i32(i32 %t27, i32 8, i64 %lanes) #0
  %t29 = add i32 %t27, %t28
  %t30 = add i32 %t15, 8
  %t31 = icmp ult i32 %t30, %t17
  %t32 = select i1 %t31, i32 %t29, i32 %t27
  %t33 = call i32 @ur_shuffle_down_i32(i32 %t32, i32 4, i64 %lanes) #0
  %t34 = add i32 %t32, %t33
  %t35 = add i32 %t15, 4
  %t36 = icmp ult i32 %t35, %t17
  %t37 = select i1 %t36, i32 %t34, i32 %t32
  %t38 = call i32 @ur_shuffle_down_i32(i32 %t37, i32 2, i64 %lanes) #0
  %t39 = add i32 %t37, %t38
  %t40 = add i32 %t15, 2
  %t41 = icmp ult i32 %t40, %t17
  %t42 = select i1 %t41, i32 %t39, i32 %t37
  %t43 = call i32 @ur_shuffle_down_i32(i32 %t42, i32 1, i64 %lanes) #0
  %t44 = add i32 %t42, %t43
  %t45 = add i32 %t15, 1
  %t46 = icmp ult i32 %t45, %t17
  %t47 = select i1 %t46, i32 %t44, i32 %t42
  %t48 = call i32 @ur_shuffle_idx_i32(i32 %t47, i32 0, i64 %lanes) #0
  ret i32 %t48
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i32 @ur_reduce_add_i32(i32 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i32 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i32 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i32
  %t116 = select i1 %t111, i32 %t115, i32 0
  %t117 = call i32 @ur_shuffle_bfly_i32(i32 %t116, i32 32, i64 -1) #0
  %t118 = add i32 %t116, %t117
  %t119 = call i32 @ur_shuffle_bfly_i32(i32 %t118, i32 16, i64 -1) #0
  %t120 = add i32 %t118, %t119
  %t121 = call i32 @ur_shuffle_bfly_i32(i32 %t120, i32 8, i64 -1) #0
  %t122 = add i32 %t120, %t121
  %t123 = call i32 @ur_shuffle_bfly_i32(i32 %t122, i32 4, i64 -1) #0
  %t124 = add i32 %t122, %t123
  %t125 = call i32 @ur_shuffle_bfly_i32(i32 %t124, i32 2, i64 -1) #0
  %t126 = add i32 %t124, %t125
  %t127 = call i32 @ur_shuffle_bfly_i32(i32 %t126, i32 1, i64 -1) #0
  %t128 = add i32 %t126, %t127
  %t129 = zext i32 %t128 to i64
  %t130 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t129, ptr addrspace(3) %t130, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t131 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t132 = load volatile i64, ptr addrspace(3) %t131, align 8
  %t133 = trunc i64 %t132 to i32
  ret i32 %t133
}
define internal i32 @ur_shuffle_up_i32(i32 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = sub i32 %t2, %lane
  %t4 = icmp uge i32 %t2, %lane
  %t5 = select i1 %t4, i32 %t3, i32 %t2
  %t6 = and i32 %t5, 63
  %t7 = shl i32 %t6, 2
  %t8 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t7, i32 %x) #0
  ret i32 %t8
}
define internal i32 @ur_scan_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = call i32 @ur_shuffle_up_i32(i32 %x, i32 1, i64 %lanes) #0
  %t4 = add i32 %t3, %x
  %t5 = icmp uge i32 %t2, 1
  %t6 = select i1 %t5, i32 %t4, i32 %x
  %t7 = call i32 @ur_shuffle_up_i32(i32 %t6, i32 2, i64 %lanes) #0
  %t8 = add i32 %t7, %t6
  %t9 = icmp uge i32 %t2, 2
  %t10 = select i1 %t9, i32 %t8, i32 %t6
  %t11 = call i32 @ur_shuffle_up_i32(i32 %t10, i32 4, i64 %lanes) #0
  %t12 = add i32 %t11, %t10
  %t13 = icmp uge i32 %t2, 4
  %t14 = select i1 %t13, i32 %t12, i32 %t10
  %t15 = call i32 @ur_shuffle_up_i32(i32 %t14, i32 8, i64 %lanes) #0
  %t16 = add i32 %t15, %t14
  %t17 = icmp uge i32 %t2, 8
  %t18 = select i1 %t17, i32 %t16, i32 %t14
  %t19 = call i32 @ur_shuffle_up_i32(i32 %t18, i32 16, i64 %lanes) #0
  %t20 = add i32 %t19, %t18
  %t21 = icmp uge i32 %t2, 16
  %t22 = select i1 %t21, i32 %t20, i32 %t18
  %t23 = call i32 @ur_shuffle_up_i32(i32 %t22, i32 32, i64 %lanes) #0
  %t24 = add i32 %t23, %t22
  %t25 = icmp uge i32 %t2, 32
  %t26 = select i1 %t25, i32 %t24, i32 %t22
  ret i32 %t26
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i32 @ur_scan_add_i32(i32 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i32 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i32 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i32
  %t116 = select i1 %t111, i32 %t115, i32 0
  %t117 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t118 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t117)
  %t119 = call i32 @ur_shuffle_up_i32(i32 %t116, i32 1, i64 -1) #0
  %t120 = add i32 %t119, %t116
  %t121 = icmp uge i32 %t118, 1
  %t122 = select i1 %t121, i32 %t120, i32 %t116
  %t123 = call i32 @ur_shuffle_up_i32(i32 %t122, i32 2, i64 -1) #0
  %t124 = add i32 %t123, %t122
  %t125 = icmp uge i32 %t118, 2
  %t126 = select i1 %t125, i32 %t124, i32 %t122
  %t127 = call i32 @ur_shuffle_up_i32(i32 %t126, i32 4, i64 -1) #0
  %t128 = add i32 %t127, %t126
  %t129 = icmp uge i32 %t118, 4
  %t130 = select i1 %t129, i32 %t128, i32 %t126
  %t131 = call i32 @ur_shuffle_up_i32(i32 %t130, i32 8, i64 -1) #0
  %t132 = add i32 %t131, %t130
  %t133 = icmp uge i32 %t118, 8
  %t134 = select i1 %t133, i32 %t132, i32 %t130
  %t135 = call i32 @ur_shuffle_up_i32(i32 %t134, i32 16, i64 -1) #0
  %t136 = add i32 %t135, %t134
  %t137 = icmp uge i32 %t118, 16
  %t138 = select i1 %t137, i32 %t136, i32 %t134
  %t139 = call i32 @ur_shuffle_up_i32(i32 %t138, i32 32, i64 -1) #0
  %t140 = add i32 %t139, %t138
  %t141 = icmp uge i32 %t118, 32
  %t142 = select i1 %t141, i32 %t140, i32 %t138
  %t143 = zext i32 %t142 to i64
  %t144 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  store volatile i64 %t143, ptr addrspace(3) %t144, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t145 = sub i32 %t105, 1
  %t146 = select i1 %t110, i32 0, i32 %t145
  %t147 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t146
  %t148 = load volatile i64, ptr addrspace(3) %t147, align 8
  %t149 = trunc i64 %t148 to i32
  %t150 = add i32 %t149, %t37
  %t151 = select i1 %t110, i32 %t37, i32 %t150
  ret i32 %t151
}
define internal i32 @ur_before_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i32 @ur_scan_add_i32(i32 %x, i64 %lanes, i64 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = zext i32 %t3 to i64
  %t5 = shl i64 1, %t4
  %t6 = sub i64 %t5, 1
  %t7 = and i64 %members, %t6
  %t8 = call i32 @ur_shuffle_up_i32(i32 %t1, i32 1, i64 %lanes) #0
  %t9 = icmp eq i64 %t7, 0
  %t10 = select i1 %t9, i32 0, i32 %t8
  ret i32 %t10
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i32 @ur_before_add_i32(i32 %x, i64 %t36, i64 %t36) #0
  %t38 = add i32 %t37, %x
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
  %t53 = add i32 %t52, 63
  %t54 = lshr i32 %t53, 6
  %t55 = icmp ult i32 %t54, 2
  br i1 %t55, label %alone, label %publish
alone:
  ret i32 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t56 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t57 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t56)
  %t58 = call i32 @llvm.amdgcn.workitem.id.x()
  %t59 = call i32 @llvm.amdgcn.workitem.id.y()
  %t60 = call i32 @llvm.amdgcn.workitem.id.z()
  %t61 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t62 = getelementptr inbounds i8, ptr addrspace(4) %t61, i64 4
  %t63 = load i16, ptr addrspace(4) %t62, align 2, !invariant.load !0
  %t64 = zext i16 %t63 to i32
  %t65 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t66 = getelementptr inbounds i8, ptr addrspace(4) %t65, i64 6
  %t67 = load i16, ptr addrspace(4) %t66, align 2, !invariant.load !0
  %t68 = zext i16 %t67 to i32
  %t69 = mul i32 %t60, %t68
  %t70 = add i32 %t69, %t59
  %t71 = mul i32 %t70, %t64
  %t72 = add i32 %t71, %t58
  %t73 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t74 = getelementptr inbounds i8, ptr addrspace(4) %t73, i64 4
  %t75 = load i16, ptr addrspace(4) %t74, align 2, !invariant.load !0
  %t76 = zext i16 %t75 to i32
  %t77 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t78 = getelementptr inbounds i8, ptr addrspace(4) %t77, i64 6
  %t79 = load i16, ptr addrspace(4) %t78, align 2, !invariant.load !0
  %t80 = zext i16 %t79 to i32
  %t81 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t82 = getelementptr inbounds i8, ptr addrspace(4) %t81, i64 8
  %t83 = load i16, ptr addrspace(4) %t82, align 2, !invariant.load !0
  %t84 = zext i16 %t83 to i32
  %t85 = mul i32 %t76, %t80
  %t86 = mul i32 %t85, %t84
  %t87 = and i32 %t72, -64
  %t88 = sub i32 %t86, %t87
  %t89 = icmp ugt i32 %t88, 64
  %t90 = select i1 %t89, i32 64, i32 %t88
  %t91 = call i32 @llvm.amdgcn.workitem.id.x()
  %t92 = call i32 @llvm.amdgcn.workitem.id.y()
  %t93 = call i32 @llvm.amdgcn.workitem.id.z()
  %t94 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t95 = getelementptr inbounds i8, ptr addrspace(4) %t94, i64 4
  %t96 = load i16, ptr addrspace(4) %t95, align 2, !invariant.load !0
  %t97 = zext i16 %t96 to i32
  %t98 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t99 = getelementptr inbounds i8, ptr addrspace(4) %t98, i64 6
  %t100 = load i16, ptr addrspace(4) %t99, align 2, !invariant.load !0
  %t101 = zext i16 %t100 to i32
  %t102 = mul i32 %t93, %t101
  %t103 = add i32 %t102, %t92
  %t104 = mul i32 %t103, %t97
  %t105 = add i32 %t104, %t91
  %t106 = lshr i32 %t105, 6
  %t107 = sub i32 %t90, 1
  %t108 = icmp eq i32 %t57, %t107
  br i1 %t108, label %write, label %written
write:
  %t109 = zext i32 %t38 to i64
  %t110 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t106
  store volatile i64 %t109, ptr addrspace(3) %t110, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t111 = icmp eq i32 %t106, 0
  br i1 %t111, label %join, label %joined
join:
  %t112 = icmp ult i32 %t57, %t54
  %t113 = select i1 %t112, i32 %t57, i32 32
  %t114 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t113
  %t115 = load volatile i64, ptr addrspace(3) %t114, align 8
  %t116 = trunc i64 %t115 to i32
  %t117 = select i1 %t112, i32 %t116, i32 0
  %t118 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t119 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t118)
  %t120 = call i32 @ur_shuffle_up_i32(i32 %t117, i32 1, i64 -1) #0
  %t121 = add i32 %t120, %t117
  %t122 = icmp uge i32 %t119, 1
  %t123 = select i1 %t122, i32 %t121, i32 %t117
  %t124 = call i32 @ur_shuffle_up_i32(i32 %t123, i32 2, i64 -1) #0
  %t125 = add i32 %t124, %t123
  %t126 = icmp uge i32 %t119, 2
  %t127 = select i1 %t126, i32 %t125, i32 %t123
  %t128 = call i32 @ur_shuffle_up_i32(i32 %t127, i32 4, i64 -1) #0
  %t129 = add i32 %t128, %t127
  %t130 = icmp uge i32 %t119, 4
  %t131 = select i1 %t130, i32 %t129, i32 %t127
  %t132 = call i32 @ur_shuffle_up_i32(i32 %t131, i32 8, i64 -1) #0
  %t133 = add i32 %t132, %t131
  %t134 = icmp uge i32 %t119, 8
  %t135 = select i1 %t134, i32 %t133, i32 %t131
  %t136 = call i32 @ur_shuffle_up_i32(i32 %t135, i32 16, i64 -1) #0
  %t137 = add i32 %t136, %t135
  %t138 = icmp uge i32 %t119, 16
  %t139 = select i1 %t138, i32 %t137, i32 %t135
  %t140 = call i32 @ur_shuffle_up_i32(i32 %t139, i32 32, i64 -1) #0
  %t141 = add i32 %t140, %t139
  %t142 = icmp uge i32 %t119, 32
  %t143 = select i1 %t142, i32 %t141, i32 %t139
  %t144 = zext i32 %t143 to i64
  %t145 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t113
  store volatile i64 %t144, ptr addrspace(3) %t145, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t146 = sub i32 %t106, 1
  %t147 = select i1 %t111, i32 0, i32 %t146
  %t148 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t147
  %t149 = load volatile i64, ptr addrspace(3) %t148, align 8
  %t150 = trunc i64 %t149 to i32
  %t151 = add i32 %t150, %t37
  %t152 = select i1 %t111, i32 %t37, i32 %t151
  ret i32 %t152
}
define internal i8 @ur_shuffle_bfly_i8(i8 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = xor i32 %t3, %lane
  %t5 = and i32 %t4, 63
  %t6 = shl i32 %t5, 2
  %t7 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t6, i32 %t1) #0
  %t8 = trunc i32 %t7 to i8
  ret i8 %t8
}
define internal i8 @ur_shuffle_down_i8(i8 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = add i32 %t3, %lane
  %t5 = icmp ule i32 %lane, 63
  %t6 = icmp ule i32 %t4, 63
  %t7 = and i1 %t5, %t6
  %t8 = select i1 %t7, i32 %t4, i32 %t3
  %t9 = and i32 %t8, 63
  %t10 = shl i32 %t9, 2
  %t11 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t10, i32 %t1) #0
  %t12 = trunc i32 %t11 to i8
  ret i8 %t12
}
define internal i8 @ur_shuffle_idx_i8(i8 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = and i32 %lane, 63
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i8
  ret i8 %t5
}
define internal i8 @ur_reduce_smin_i8(i8 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = icmp eq i64 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i8 @ur_shuffle_bfly_i8(i8 %x, i32 32, i64 -1) #0
  %t3 = icmp slt i8 %x, %t2
  %t4 = select i1 %t3, i8 %x, i8 %t2
  %t5 = call i8 @ur_shuffle_bfly_i8(i8 %t4, i32 16, i64 -1) #0
  %t6 = icmp slt i8 %t4, %t5
  %t7 = select i1 %t6, i8 %t4, i8 %t5
  %t8 = call i8 @ur_shuffle_bfly_i8(i8 %t7, i32 8, i64 -1) #0
  %t9 = icmp slt i8 %t7, %t8
  %t10 = select i1 %t9, i8 %t7, i8 %t8
  %t11 = call i8 @ur_shuffle_bfly_i8(i8 %t10, i32 4, i64 -1) #0
  %t12 = icmp slt i8 %t10, %t11
  %t13 = select i1 %t12, i8 %t10, i8 %t11
  %t14 = call i8 @ur_shuffle_bfly_i8(i8 %t13, i32 2, i64 -1) #0
  %t15 = icmp slt i8 %t13, %t14
  %t16 = select i1 %t15, i8 %t13, i8 %t14
  %t17 = call i8 @ur_shuffle_bfly_i8(i8 %t16, i32 1, i64 -1) #0
  %t18 = icmp slt i8 %t16, %t17
  %t19 = select i1 %t18, i8 %t16, i8 %t17
  ret i8 %t19
front:
  %t20 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t21 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t20)
  %t22 = call i64 @llvm.ctpop.i64(i64 %lanes)
  %t23 = trunc i64 %t22 to i32
  %t24 = call i8 @ur_shuffle_down_i8(i8 %x, i32 32, i64 %lanes) #0
  %t25 = icmp slt i8 %x, %t24
  %t26 = select i1 %t25, i8 %x, i8 %t24
  %t27 = add i32 %t21, 32
  %t28 = icmp ult i32 %t27, %t23
  %t29 = select i1 %t28, i8 %t26, i8 %x
  %t30 = call i8 @ur_shuffle_down_i8(i8 %t29, i32 16, i64 %lanes) #0
  %t31 = icmp slt i8 %t29, %t30
  %t32 = select i1 %t31, i8 %t29, i8 %t30
  %t33 = add i32 %t21, 16
  %t34 = icmp ult i32 %t33, %t23
  %t35 = select i1 %t34, i8 %t32, i8 %t29
  %t36 = call i8 @ur_shuffle_down_i8(i8 %t35, i32 8, i64 %lanes) #0
  %t37 = icmp slt i8 %t35, %t36
  %t38 = select i1 %t37, i8 %t35, i8 %t36
  %t39 = add i32 %t21, 8
  %t40 = icmp ult i32 %t39, %t23
  %t41 = select i1 %t40, i8 %t38, i8 %t35
  %t42 = call i8 @ur_shuffle_down_i8(i8 %t41, i32 4, i64 %lanes) #0
  %t43 = icmp slt i8 %t41, %t42
  %t44 = select i1 %t43, i8 %t41, i8 %t42
  %t45 = add i32 %t21, 4
  %t46 = icmp ult i32 %t45, %t23
  %t47 = select i1 %t46, i8 %t44, i8 %t41
  %t48 = call i8 @ur_shuffle_down_i8(i8 %t47, i32 2, i64 %lanes) #0
  %t49 = icmp slt i8 %t47, %t48
  %t50 = select i1 %t49, i8 %t47, i8 %t48
  %t51 = add i32 %t21, 2
  %t52 = icmp ult i32 %t51, %t23
  %t53 = select i1 %t52, i8 %t50, i8 %t47
  %t54 = call i8 @ur_shuffle_down_i8(i8 %t53, i32 1, i64 %lanes) #0
  %t55 = icmp slt i8 %t53, %t54
  %t56 = select i1 %t55, i8 %t53, i8 %t54
  %t57 = add i32 %t21, 1
  %t58 = icmp ult i32 %t57, %t23
  %t59 = select i1 %t58, i8 %t56, i8 %t53
  %t60 = call i8 @ur_shuffle_idx_i8(i8 %t59, i32 0, i64 %lanes) #0
  ret i8 %t60
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i8 @ur_reduce_smin_i8(i8 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i8 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i8 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i8
  %t116 = select i1 %t111, i8 %t115, i8 127
  %t117 = call i8 @ur_shuffle_bfly_i8(i8 %t116, i32 32, i64 -1) #0
  %t118 = icmp slt i8 %t116, %t117
  %t119 = select i1 %t118, i8 %t116, i8 %t117
  %t120 = call i8 @ur_shuffle_bfly_i8(i8 %t119, i32 16, i64 -1) #0
  %t121 = icmp slt i8 %t119, %t120
  %t122 = select i1 %t121, i8 %t119, i8 %t120
  %t123 = call i8 @ur_shuffle_bfly_i8(i8 %t122, i32 8, i64 -1) #0
  %t124 = icmp slt i8 %t122, %t123
  %t125 = select i1 %t124, i8 %t122, i8 %t123
  %t126 = call i8 @ur_shuffle_bfly_i8(i8 %t125, i32 4, i64 -1) #0
  %t127 = icmp slt i8 %t125, %t126
  %t128 = select i1 %t127, i8 %t125, i8 %t126
  %t129 = call i8 @ur_shuffle_bfly_i8(i8 %t128, i32 2, i64 -1) #0
  %t130 = icmp slt i8 %t128, %t129
  %t131 = select i1 %t130, i8 %t128, i8 %t129
  %t132 = call i8 @ur_shuffle_bfly_i8(i8 %t131, i32 1, i64 -1) #0
  %t133 = icmp slt i8 %t131, %t132
  %t134 = select i1 %t133, i8 %t131, i8 %t132
  %t135 = zext i8 %t134 to i64
  %t136 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t135, ptr addrspace(3) %t136, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t137 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t138 = load volatile i64, ptr addrspace(3) %t137, align 8
  %t139 = trunc i64 %t138 to i8
  ret i8 %t139
}
define internal i8 @ur_shuffle_up_i8(i8 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i8 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = sub i32 %t3, %lane
  %t5 = icmp uge i32 %t3, %lane
  %t6 = select i1 %t5, i32 %t4, i32 %t3
  %t7 = and i32 %t6, 63
  %t8 = shl i32 %t7, 2
  %t9 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t8, i32 %t1) #0
  %t10 = trunc i32 %t9 to i8
  ret i8 %t10
}
define internal i8 @ur_scan_smin_i8(i8 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = call i8 @ur_shuffle_up_i8(i8 %x, i32 1, i64 %lanes) #0
  %t4 = icmp slt i8 %t3, %x
  %t5 = select i1 %t4, i8 %t3, i8 %x
  %t6 = icmp uge i32 %t2, 1
  %t7 = select i1 %t6, i8 %t5, i8 %x
  %t8 = call i8 @ur_shuffle_up_i8(i8 %t7, i32 2, i64 %lanes) #0
  %t9 = icmp slt i8 %t8, %t7
  %t10 = select i1 %t9, i8 %t8, i8 %t7
  %t11 = icmp uge i32 %t2, 2
  %t12 = select i1 %t11, i8 %t10, i8 %t7
  %t13 = call i8 @ur_shuffle_up_i8(i8 %t12, i32 4, i64 %lanes) #0
  %t14 = icmp slt i8 %t13, %t12
  %t15 = select i1 %t14, i8 %t13, i8 %t12
  %t16 = icmp uge i32 %t2, 4
  %t17 = select i1 %t16, i8 %t15, i8 %t12
  %t18 = call i8 @ur_shuffle_up_i8(i8 %t17, i32 8, i64 %lanes) #0
  %t19 = icmp slt i8 %t18, %t17
  %t20 = select i1 %t19, i8 %t18, i8 %t17
  %t21 = icmp uge i32 %t2, 8
  %t22 = select i1 %t21, i8 %t20, i8 %t17
  %t23 = call i8 @ur_shuffle_up_i8(i8 %t22, i32 16, i64 %lanes) #0
  %t24 = icmp slt i8 %t23, %t22
  %t25 = select i1 %t24, i8 %t23, i8 %t22
  %t26 = icmp uge i32 %t2, 16
  %t27 = select i1 %t26, i8 %t25, i8 %t22
  %t28 = call i8 @ur_shuffle_up_i8(i8 %t27, i32 32, i64 %lanes) #0
  %t29 = icmp slt i8 %t28, %t27
  %t30 = select i1 %t29, i8 %t28, i8 %t27
  %t31 = icmp uge i32 %t2, 32
  %t32 = select i1 %t31, i8 %t30, i8 %t27
  ret i8 %t32
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i8 @ur_scan_smin_i8(i8 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i8 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i8 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i8
  %t116 = select i1 %t111, i8 %t115, i8 127
  %t117 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t118 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t117)
  %t119 = call i8 @ur_shuffle_up_i8(i8 %t116, i32 1, i64 -1) #0
  %t120 = icmp slt i8 %t119, %t116
  %t121 = select i1 %t120, i8 %t119, i8 %t116
  %t122 = icmp uge i32 %t118, 1
  %t123 = select i1 %t122, i8 %t121, i8 %t116
  %t124 = call i8 @ur_shuffle_up_i8(i8 %t123, i32 2, i64 -1) #0
  %t125 = icmp slt i8 %t124, %t123
  %t126 = select i1 %t125, i8 %t124, i8 %t123
  %t127 = icmp uge i32 %t118, 2
  %t128 = select i1 %t127, i8 %t126, i8 %t123
  %t129 = call i8 @ur_shuffle_up_i8(i8 %t128, i32 4, i64 -1) #0
  %t130 = icmp slt i8 %t129, %t128
  %t131 = select i1 %t130, i8 %t129, i8 %t128
  %t132 = icmp uge i32 %t118, 4
  %t133 = select i1 %t132, i8 %t131, i8 %t128
  %t134 = call i8 @ur_shuffle_up_i8(i8 %t133, i32 8, i64 -1) #0
  %t135 = icmp slt i8 %t134, %t133
  %t136 = select i1 %t135, i8 %t134, i8 %t133
  %t137 = icmp uge i32 %t118, 8
  %t138 = select i1 %t137, i8 %t136, i8 %t133
  %t139 = call i8 @ur_shuffle_up_i8(i8 %t138, i32 16, i64 -1) #0
  %t140 = icmp slt i8 %t139, %t138
  %t141 = select i1 %t140, i8 %t139, i8 %t138
  %t142 = icmp uge i32 %t118, 16
  %t143 = select i1 %t142, i8 %t141, i8 %t138
  %t144 = call i8 @ur_shuffle_up_i8(i8 %t143, i32 32, i64 -1) #0
  %t145 = icmp slt i8 %t144, %t143
  %t146 = select i1 %t145, i8 %t144, i8 %t143
  %t147 = icmp uge i32 %t118, 32
  %t148 = select i1 %t147, i8 %t146, i8 %t143
  %t149 = zext i8 %t148 to i64
  %t150 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  store volatile i64 %t149, ptr addrspace(3) %t150, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t151 = sub i32 %t105, 1
  %t152 = select i1 %t110, i32 0, i32 %t151
  %t153 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t152
  %t154 = load volatile i64, ptr addrspace(3) %t153, align 8
  %t155 = trunc i64 %t154 to i8
  %t156 = icmp slt i8 %t155, %t37
  %t157 = select i1 %t156, i8 %t155, i8 %t37
  %t158 = select i1 %t110, i8 %t37, i8 %t157
  ret i8 %t158
}
define internal i8 @ur_before_smin_i8(i8 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i8 @ur_scan_smin_i8(i8 %x, i64 %lanes, i64 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = zext i32 %t3 to i64
  %t5 = shl i64 1, %t4
  %t6 = sub i64 %t5, 1
  %t7 = and i64 %members, %t6
  %t8 = call i8 @ur_shuffle_up_i8(i8 %t1, i32 1, i64 %lanes) #0
  %t9 = icmp eq i64 %t7, 0
  %t10 = select i1 %t9, i8 127, i8 %t8
  ret i8 %t10
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i8 @ur_before_smin_i8(i8 %x, i64 %t36, i64 %t36) #0
  %t38 = icmp slt i8 %t37, %x
  %t39 = select i1 %t38, i8 %t37, i8 %x
  %t40 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t41 = getelementptr inbounds i8, ptr addrspace(4) %t40, i64 4
  %t42 = load i16, ptr addrspace(4) %t41, align 2, !invariant.load !0
  %t43 = zext i16 %t42 to i32
  %t44 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t45 = getelementptr inbounds i8, ptr addrspace(4) %t44, i64 6
  %t46 = load i16, ptr addrspace(4) %t45, align 2, !invariant.load !0
  %t47 = zext i16 %t46 to i32
  %t48 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t49 = getelementptr inbounds i8, ptr addrspace(4) %t48, i64 8
  %t50 = load i16, ptr addrspace(4) %t49, align 2, !invariant.load !0
  %t51 = zext i16 %t50 to i32
  %t52 = mul i32 %t43, %t47
  %t53 = mul i32 %t52, %t51
  %t54 = add i32 %t53, 63
  %t55 = lshr i32 %t54, 6
  %t56 = icmp ult i32 %t55, 2
  br i1 %t56, label %alone, label %publish
alone:
  ret i8 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t57 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t58 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t57)
  %t59 = call i32 @llvm.amdgcn.workitem.id.x()
  %t60 = call i32 @llvm.amdgcn.workitem.id.y()
  %t61 = call i32 @llvm.amdgcn.workitem.id.z()
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 4
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t67 = getelementptr inbounds i8, ptr addrspace(4) %t66, i64 6
  %t68 = load i16, ptr addrspace(4) %t67, align 2, !invariant.load !0
  %t69 = zext i16 %t68 to i32
  %t70 = mul i32 %t61, %t69
  %t71 = add i32 %t70, %t60
  %t72 = mul i32 %t71, %t65
  %t73 = add i32 %t72, %t59
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 4
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 6
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t83 = getelementptr inbounds i8, ptr addrspace(4) %t82, i64 8
  %t84 = load i16, ptr addrspace(4) %t83, align 2, !invariant.load !0
  %t85 = zext i16 %t84 to i32
  %t86 = mul i32 %t77, %t81
  %t87 = mul i32 %t86, %t85
  %t88 = and i32 %t73, -64
  %t89 = sub i32 %t87, %t88
  %t90 = icmp ugt i32 %t89, 64
  %t91 = select i1 %t90, i32 64, i32 %t89
  %t92 = call i32 @llvm.amdgcn.workitem.id.x()
  %t93 = call i32 @llvm.amdgcn.workitem.id.y()
  %t94 = call i32 @llvm.amdgcn.workitem.id.z()
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 4
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t100 = getelementptr inbounds i8, ptr addrspace(4) %t99, i64 6
  %t101 = load i16, ptr addrspace(4) %t100, align 2, !invariant.load !0
  %t102 = zext i16 %t101 to i32
  %t103 = mul i32 %t94, %t102
  %t104 = add i32 %t103, %t93
  %t105 = mul i32 %t104, %t98
  %t106 = add i32 %t105, %t92
  %t107 = lshr i32 %t106, 6
  %t108 = sub i32 %t91, 1
  %t109 = icmp eq i32 %t58, %t108
  br i1 %t109, label %write, label %written
write:
  %t110 = zext i8 %t39 to i64
  %t111 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t107
  store volatile i64 %t110, ptr addrspace(3) %t111, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t112 = icmp eq i32 %t107, 0
  br i1 %t112, label %join, label %joined
join:
  %t113 = icmp ult i32 %t58, %t55
  %t114 = select i1 %t113, i32 %t58, i32 32
  %t115 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t114
  %t116 = load volatile i64, ptr addrspace(3) %t115, align 8
  %t117 = trunc i64 %t116 to i8
  %t118 = select i1 %t113, i8 %t117, i8 127
  %t119 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t120 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t119)
  %t121 = call i8 @ur_shuffle_up_i8(i8 %t118, i32 1, i64 -1) #0
  %t122 = icmp slt i8 %t121, %t118
  %t123 = select i1 %t122, i8 %t121, i8 %t118
  %t124 = icmp uge i32 %t120, 1
  %t125 = select i1 %t124, i8 %t123, i8 %t118
  %t126 = call i8 @ur_shuffle_up_i8(i8 %t125, i32 2, i64 -1) #0
  %t127 = icmp slt i8 %t126, %t125
  %t128 = select i1 %t127, i8 %t126, i8 %t125
  %t129 = icmp uge i32 %t120, 2
  %t130 = select i1 %t129, i8 %t128, i8 %t125
  %t131 = call i8 @ur_shuffle_up_i8(i8 %t130, i32 4, i64 -1) #0
  %t132 = icmp slt i8 %t131, %t130
  %t133 = select i1 %t132, i8 %t131, i8 %t130
  %t134 = icmp uge i32 %t120, 4
  %t135 = select i1 %t134, i8 %t133, i8 %t130
  %t136 = call i8 @ur_shuffle_up_i8(i8 %t135, i32 8, i64 -1) #0
  %t137 = icmp slt i8 %t136, %t135
  %t138 = select i1 %t137, i8 %t136, i8 %t135
  %t139 = icmp uge i32 %t120, 8
  %t140 = select i1 %t139, i8 %t138, i8 %t135
  %t141 = call i8 @ur_shuffle_up_i8(i8 %t140, i32 16, i64 -1) #0
  %t142 = icmp slt i8 %t141, %t140
  %t143 = select i1 %t142, i8 %t141, i8 %t140
  %t144 = icmp uge i32 %t120, 16
  %t145 = select i1 %t144, i8 %t143, i8 %t140
  %t146 = call i8 @ur_shuffle_up_i8(i8 %t145, i32 32, i64 -1) #0
  %t147 = icmp slt i8 %t146, %t145
  %t148 = select i1 %t147, i8 %t146, i8 %t145
  %t149 = icmp uge i32 %t120, 32
  %t150 = select i1 %t149, i8 %t148, i8 %t145
  %t151 = zext i8 %t150 to i64
  %t152 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t114
  store volatile i64 %t151, ptr addrspace(3) %t152, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t153 = sub i32 %t107, 1
  %t154 = select i1 %t112, i32 0, i32 %t153
  %t155 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t154
  %t156 = load volatile i64, ptr addrspace(3) %t155, align 8
  %t157 = trunc i64 %t156 to i8
  %t158 = icmp slt i8 %t157, %t37
  %t159 = select i1 %t158, i8 %t157, i8 %t37
  %t160 = select i1 %t112, i8 %t37, i8 %t159
  ret i8 %t160
}
define internal i16 @ur_shuffle_bfly_i16(i16 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = xor i32 %t3, %lane
  %t5 = and i32 %t4, 63
  %t6 = shl i32 %t5, 2
  %t7 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t6, i32 %t1) #0
  %t8 = trunc i32 %t7 to i16
  ret i16 %t8
}
define internal i16 @ur_shuffle_down_i16(i16 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = add i32 %t3, %lane
  %t5 = icmp ule i32 %lane, 63
  %t6 = icmp ule i32 %t4, 63
  %t7 = and i1 %t5, %t6
  %t8 = select i1 %t7, i32 %t4, i32 %t3
  %t9 = and i32 %t8, 63
  %t10 = shl i32 %t9, 2
  %t11 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t10, i32 %t1) #0
  %t12 = trunc i32 %t11 to i16
  ret i16 %t12
}
define internal i16 @ur_shuffle_idx_i16(i16 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = and i32 %lane, 63
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i16
  ret i16 %t5
}
define internal i16 @ur_reduce_umax_i16(i16 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = icmp eq i64 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i16 @ur_shuffle_bfly_i16(i16 %x, i32 32, i64 -1) #0
  %t3 = icmp ugt i16 %x, %t2
  %t4 = select i1 %t3, i16 %x, i16 %t2
  %t5 = call i16 @ur_shuffle_bfly_i16(i16 %t4, i32 16, i64 -1) #0
  %t6 = icmp ugt i16 %t4, %t5
  %t7 = select i1 %t6, i16 %t4, i16 %t5
  %t8 = call i16 @ur_shuffle_bfly_i16(i16 %t7, i32 8, i64 -1) #0
  %t9 = icmp ugt i16 %t7, %t8
  %t10 = select i1 %t9, i16 %t7, i16 %t8
  %t11 = call i16 @ur_shuffle_bfly_i16(i16 %t10, i32 4, i64 -1) #0
  %t12 = icmp ugt i16 %t10, %t11
  %t13 = select i1 %t12, i16 %t10, i16 %t11
  %t14 = call i16 @ur_shuffle_bfly_i16(i16 %t13, i32 2, i64 -1) #0
  %t15 = icmp ugt i16 %t13, %t14
  %t16 = select i1 %t15, i16 %t13, i16 %t14
  %t17 = call i16 @ur_shuffle_bfly_i16(i16 %t16, i32 1, i64 -1) #0
  %t18 = icmp ugt i16 %t16, %t17
  %t19 = select i1 %t18, i16 %t16, i16 %t17
  ret i16 %t19
front:
  %t20 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t21 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t20)
  %t22 = call i64 @llvm.ctpop.i64(i64 %lanes)
  %t23 = trunc i64 %t22 to i32
  %t24 = call i16 @ur_shuffle_down_i16(i16 %x, i32 32, i64 %lanes) #0
  %t25 = icmp ugt i16 %x, %t24
  %t26 = select i1 %t25, i16 %x, i16 %t24
  %t27 = add i32 %t21, 32
  %t28 = icmp ult i32 %t27, %t23
  %t29 = select i1 %t28, i16 %t26, i16 %x
  %t30 = call i16 @ur_shuffle_down_i16(i16 %t29, i32 16, i64 %lanes) #0
  %t31 = icmp ugt i16 %t29, %t30
  %t32 = select i1 %t31, i16 %t29, i16 %t30
  %t33 = add i32 %t21, 16
  %t34 = icmp ult i32 %t33, %t23
  %t35 = select i1 %t34, i16 %t32, i16 %t29
  %t36 = call i16 @ur_shuffle_down_i16(i16 %t35, i32 8, i64 %lanes) #0
  %t37 = icmp ugt i16 %t35, %t36
  %t38 = select i1 %t37, i16 %t35, i16 %t36
  %t39 = add i32 %t21, 8
  %t40 = icmp ult i32 %t39, %t23
  %t41 = select i1 %t40, i16 %t38, i16 %t35
  %t42 = call i16 @ur_shuffle_down_i16(i16 %t41, i32 4, i64 %lanes) #0
  %t43 = icmp ugt i16 %t41, %t42
  %t44 = select i1 %t43, i16 %t41, i16 %t42
  %t45 = add i32 %t21, 4
  %t46 = icmp ult i32 %t45, %t23
  %t47 = select i1 %t46, i16 %t44, i16 %t41
  %t48 = call i16 @ur_shuffle_down_i16(i16 %t47, i32 2, i64 %lanes) #0
  %t49 = icmp ugt i16 %t47, %t48
  %t50 = select i1 %t49, i16 %t47, i16 %t48
  %t51 = add i32 %t21, 2
  %t52 = icmp ult i32 %t51, %t23
  %t53 = select i1 %t52, i16 %t50, i16 %t47
  %t54 = call i16 @ur_shuffle_down_i16(i16 %t53, i32 1, i64 %lanes) #0
  %t55 = icmp ugt i16 %t53, %t54
  %t56 = select i1 %t55, i16 %t53, i16 %t54
  %t57 = add i32 %t21, 1
  %t58 = icmp ult i32 %t57, %t23
  %t59 = select i1 %t58, i16 %t56, i16 %t53
  %t60 = call i16 @ur_shuffle_idx_i16(i16 %t59, i32 0, i64 %lanes) #0
  ret i16 %t60
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i16 @ur_reduce_umax_i16(i16 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i16 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i16 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i16
  %t116 = select i1 %t111, i16 %t115, i16 0
  %t117 = call i16 @ur_shuffle_bfly_i16(i16 %t116, i32 32, i64 -1) #0
  %t118 = icmp ugt i16 %t116, %t117
  %t119 = select i1 %t118, i16 %t116, i16 %t117
  %t120 = call i16 @ur_shuffle_bfly_i16(i16 %t119, i32 16, i64 -1) #0
  %t121 = icmp ugt i16 %t119, %t120
  %t122 = select i1 %t121, i16 %t119, i16 %t120
  %t123 = call i16 @ur_shuffle_bfly_i16(i16 %t122, i32 8, i64 -1) #0
  %t124 = icmp ugt i16 %t122, %t123
  %t125 = select i1 %t124, i16 %t122, i16 %t123
  %t126 = call i16 @ur_shuffle_bfly_i16(i16 %t125, i32 4, i64 -1) #0
  %t127 = icmp ugt i16 %t125, %t126
  %t128 = select i1 %t127, i16 %t125, i16 %t126
  %t129 = call i16 @ur_shuffle_bfly_i16(i16 %t128, i32 2, i64 -1) #0
  %t130 = icmp ugt i16 %t128, %t129
  %t131 = select i1 %t130, i16 %t128, i16 %t129
  %t132 = call i16 @ur_shuffle_bfly_i16(i16 %t131, i32 1, i64 -1) #0
  %t133 = icmp ugt i16 %t131, %t132
  %t134 = select i1 %t133, i16 %t131, i16 %t132
  %t135 = zext i16 %t134 to i64
  %t136 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t135, ptr addrspace(3) %t136, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t137 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t138 = load volatile i64, ptr addrspace(3) %t137, align 8
  %t139 = trunc i64 %t138 to i16
  ret i16 %t139
}
define internal i16 @ur_shuffle_up_i16(i16 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i16 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = sub i32 %t3, %lane
  %t5 = icmp uge i32 %t3, %lane
  %t6 = select i1 %t5, i32 %t4, i32 %t3
  %t7 = and i32 %t6, 63
  %t8 = shl i32 %t7, 2
  %t9 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t8, i32 %t1) #0
  %t10 = trunc i32 %t9 to i16
  ret i16 %t10
}
define internal i16 @ur_scan_umax_i16(i16 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t2 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t1)
  %t3 = call i16 @ur_shuffle_up_i16(i16 %x, i32 1, i64 %lanes) #0
  %t4 = icmp ugt i16 %t3, %x
  %t5 = select i1 %t4, i16 %t3, i16 %x
  %t6 = icmp uge i32 %t2, 1
  %t7 = select i1 %t6, i16 %t5, i16 %x
  %t8 = call i16 @ur_shuffle_up_i16(i16 %t7, i32 2, i64 %lanes) #0
  %t9 = icmp ugt i16 %t8, %t7
  %t10 = select i1 %t9, i16 %t8, i16 %t7
  %t11 = icmp uge i32 %t2, 2
  %t12 = select i1 %t11, i16 %t10, i16 %t7
  %t13 = call i16 @ur_shuffle_up_i16(i16 %t12, i32 4, i64 %lanes) #0
  %t14 = icmp ugt i16 %t13, %t12
  %t15 = select i1 %t14, i16 %t13, i16 %t12
  %t16 = icmp uge i32 %t2, 4
  %t17 = select i1 %t16, i16 %t15, i16 %t12
  %t18 = call i16 @ur_shuffle_up_i16(i16 %t17, i32 8, i64 %lanes) #0
  %t19 = icmp ugt i16 %t18, %t17
  %t20 = select i1 %t19, i16 %t18, i16 %t17
  %t21 = icmp uge i32 %t2, 8
  %t22 = select i1 %t21, i16 %t20, i16 %t17
  %t23 = call i16 @ur_shuffle_up_i16(i16 %t22, i32 16, i64 %lanes) #0
  %t24 = icmp ugt i16 %t23, %t22
  %t25 = select i1 %t24, i16 %t23, i16 %t22
  %t26 = icmp uge i32 %t2, 16
  %t27 = select i1 %t26, i16 %t25, i16 %t22
  %t28 = call i16 @ur_shuffle_up_i16(i16 %t27, i32 32, i64 %lanes) #0
  %t29 = icmp ugt i16 %t28, %t27
  %t30 = select i1 %t29, i16 %t28, i16 %t27
  %t31 = icmp uge i32 %t2, 32
  %t32 = select i1 %t31, i16 %t30, i16 %t27
  ret i16 %t32
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i16 @ur_scan_umax_i16(i16 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i16 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i16 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i16
  %t116 = select i1 %t111, i16 %t115, i16 0
  %t117 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t118 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t117)
  %t119 = call i16 @ur_shuffle_up_i16(i16 %t116, i32 1, i64 -1) #0
  %t120 = icmp ugt i16 %t119, %t116
  %t121 = select i1 %t120, i16 %t119, i16 %t116
  %t122 = icmp uge i32 %t118, 1
  %t123 = select i1 %t122, i16 %t121, i16 %t116
  %t124 = call i16 @ur_shuffle_up_i16(i16 %t123, i32 2, i64 -1) #0
  %t125 = icmp ugt i16 %t124, %t123
  %t126 = select i1 %t125, i16 %t124, i16 %t123
  %t127 = icmp uge i32 %t118, 2
  %t128 = select i1 %t127, i16 %t126, i16 %t123
  %t129 = call i16 @ur_shuffle_up_i16(i16 %t128, i32 4, i64 -1) #0
  %t130 = icmp ugt i16 %t129, %t128
  %t131 = select i1 %t130, i16 %t129, i16 %t128
  %t132 = icmp uge i32 %t118, 4
  %t133 = select i1 %t132, i16 %t131, i16 %t128
  %t134 = call i16 @ur_shuffle_up_i16(i16 %t133, i32 8, i64 -1) #0
  %t135 = icmp ugt i16 %t134, %t133
  %t136 = select i1 %t135, i16 %t134, i16 %t133
  %t137 = icmp uge i32 %t118, 8
  %t138 = select i1 %t137, i16 %t136, i16 %t133
  %t139 = call i16 @ur_shuffle_up_i16(i16 %t138, i32 16, i64 -1) #0
  %t140 = icmp ugt i16 %t139, %t138
  %t141 = select i1 %t140, i16 %t139, i16 %t138
  %t142 = icmp uge i32 %t118, 16
  %t143 = select i1 %t142, i16 %t141, i16 %t138
  %t144 = call i16 @ur_shuffle_up_i16(i16 %t143, i32 32, i64 -1) #0
  %t145 = icmp ugt i16 %t144, %t143
  %t146 = select i1 %t145, i16 %t144, i16 %t143
  %t147 = icmp uge i32 %t118, 32
  %t148 = select i1 %t147, i16 %t146, i16 %t143
  %t149 = zext i16 %t148 to i64
  %t150 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  store volatile i64 %t149, ptr addrspace(3) %t150, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t151 = sub i32 %t105, 1
  %t152 = select i1 %t110, i32 0, i32 %t151
  %t153 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t152
  %t154 = load volatile i64, ptr addrspace(3) %t153, align 8
  %t155 = trunc i64 %t154 to i16
  %t156 = icmp ugt i16 %t155, %t37
  %t157 = select i1 %t156, i16 %t155, i16 %t37
  %t158 = select i1 %t110, i16 %t37, i16 %t157
  ret i16 %t158
}
define internal i16 @ur_before_umax_i16(i16 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i16 @ur_scan_umax_i16(i16 %x, i64 %lanes, i64 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = zext i32 %t3 to i64
  %t5 = shl i64 1, %t4
  %t6 = sub i64 %t5, 1
  %t7 = and i64 %members, %t6
  %t8 = call i16 @ur_shuffle_up_i16(i16 %t1, i32 1, i64 %lanes) #0
  %t9 = icmp eq i64 %t7, 0
  %t10 = select i1 %t9, i16 0, i16 %t8
  ret i16 %t10
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i16 @ur_before_umax_i16(i16 %x, i64 %t36, i64 %t36) #0
  %t38 = icmp ugt i16 %t37, %x
  %t39 = select i1 %t38, i16 %t37, i16 %x
  %t40 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t41 = getelementptr inbounds i8, ptr addrspace(4) %t40, i64 4
  %t42 = load i16, ptr addrspace(4) %t41, align 2, !invariant.load !0
  %t43 = zext i16 %t42 to i32
  %t44 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t45 = getelementptr inbounds i8, ptr addrspace(4) %t44, i64 6
  %t46 = load i16, ptr addrspace(4) %t45, align 2, !invariant.load !0
  %t47 = zext i16 %t46 to i32
  %t48 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t49 = getelementptr inbounds i8, ptr addrspace(4) %t48, i64 8
  %t50 = load i16, ptr addrspace(4) %t49, align 2, !invariant.load !0
  %t51 = zext i16 %t50 to i32
  %t52 = mul i32 %t43, %t47
  %t53 = mul i32 %t52, %t51
  %t54 = add i32 %t53, 63
  %t55 = lshr i32 %t54, 6
  %t56 = icmp ult i32 %t55, 2
  br i1 %t56, label %alone, label %publish
alone:
  ret i16 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t57 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t58 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t57)
  %t59 = call i32 @llvm.amdgcn.workitem.id.x()
  %t60 = call i32 @llvm.amdgcn.workitem.id.y()
  %t61 = call i32 @llvm.amdgcn.workitem.id.z()
  %t62 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t63 = getelementptr inbounds i8, ptr addrspace(4) %t62, i64 4
  %t64 = load i16, ptr addrspace(4) %t63, align 2, !invariant.load !0
  %t65 = zext i16 %t64 to i32
  %t66 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t67 = getelementptr inbounds i8, ptr addrspace(4) %t66, i64 6
  %t68 = load i16, ptr addrspace(4) %t67, align 2, !invariant.load !0
  %t69 = zext i16 %t68 to i32
  %t70 = mul i32 %t61, %t69
  %t71 = add i32 %t70, %t60
  %t72 = mul i32 %t71, %t65
  %t73 = add i32 %t72, %t59
  %t74 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t75 = getelementptr inbounds i8, ptr addrspace(4) %t74, i64 4
  %t76 = load i16, ptr addrspace(4) %t75, align 2, !invariant.load !0
  %t77 = zext i16 %t76 to i32
  %t78 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t79 = getelementptr inbounds i8, ptr addrspace(4) %t78, i64 6
  %t80 = load i16, ptr addrspace(4) %t79, align 2, !invariant.load !0
  %t81 = zext i16 %t80 to i32
  %t82 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t83 = getelementptr inbounds i8, ptr addrspace(4) %t82, i64 8
  %t84 = load i16, ptr addrspace(4) %t83, align 2, !invariant.load !0
  %t85 = zext i16 %t84 to i32
  %t86 = mul i32 %t77, %t81
  %t87 = mul i32 %t86, %t85
  %t88 = and i32 %t73, -64
  %t89 = sub i32 %t87, %t88
  %t90 = icmp ugt i32 %t89, 64
  %t91 = select i1 %t90, i32 64, i32 %t89
  %t92 = call i32 @llvm.amdgcn.workitem.id.x()
  %t93 = call i32 @llvm.amdgcn.workitem.id.y()
  %t94 = call i32 @llvm.amdgcn.workitem.id.z()
  %t95 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t96 = getelementptr inbounds i8, ptr addrspace(4) %t95, i64 4
  %t97 = load i16, ptr addrspace(4) %t96, align 2, !invariant.load !0
  %t98 = zext i16 %t97 to i32
  %t99 = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %t100 = getelementptr inbounds i8, ptr addrspace(4) %t99, i64 6
  %t101 = load i16, ptr addrspace(4) %t100, align 2, !invariant.load !0
  %t102 = zext i16 %t101 to i32
  %t103 = mul i32 %t94, %t102
  %t104 = add i32 %t103, %t93
  %t105 = mul i32 %t104, %t98
  %t106 = add i32 %t105, %t92
  %t107 = lshr i32 %t106, 6
  %t108 = sub i32 %t91, 1
  %t109 = icmp eq i32 %t58, %t108
  br i1 %t109, label %write, label %written
write:
  %t110 = zext i16 %t39 to i64
  %t111 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t107
  store volatile i64 %t110, ptr addrspace(3) %t111, align 8
  br label %written
written:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t112 = icmp eq i32 %t107, 0
  br i1 %t112, label %join, label %joined
join:
  %t113 = icmp ult i32 %t58, %t55
  %t114 = select i1 %t113, i32 %t58, i32 32
  %t115 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t114
  %t116 = load volatile i64, ptr addrspace(3) %t115, align 8
  %t117 = trunc i64 %t116 to i16
  %t118 = select i1 %t113, i16 %t117, i16 0
  %t119 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t120 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t119)
  %t121 = call i16 @ur_shuffle_up_i16(i16 %t118, i32 1, i64 -1) #0
  %t122 = icmp ugt i16 %t121, %t118
  %t123 = select i1 %t122, i16 %t121, i16 %t118
  %t124 = icmp uge i32 %t120, 1
  %t125 = select i1 %t124, i16 %t123, i16 %t118
  %t126 = call i16 @ur_shuffle_up_i16(i16 %t125, i32 2, i64 -1) #0
  %t127 = icmp ugt i16 %t126, %t125
  %t128 = select i1 %t127, i16 %t126, i16 %t125
  %t129 = icmp uge i32 %t120, 2
  %t130 = select i1 %t129, i16 %t128, i16 %t125
  %t131 = call i16 @ur_shuffle_up_i16(i16 %t130, i32 4, i64 -1) #0
  %t132 = icmp ugt i16 %t131, %t130
  %t133 = select i1 %t132, i16 %t131, i16 %t130
  %t134 = icmp uge i32 %t120, 4
  %t135 = select i1 %t134, i16 %t133, i16 %t130
  %t136 = call i16 @ur_shuffle_up_i16(i16 %t135, i32 8, i64 -1) #0
  %t137 = icmp ugt i16 %t136, %t135
  %t138 = select i1 %t137, i16 %t136, i16 %t135
  %t139 = icmp uge i32 %t120, 8
  %t140 = select i1 %t139, i16 %t138, i16 %t135
  %t141 = call i16 @ur_shuffle_up_i16(i16 %t140, i32 16, i64 -1) #0
  %t142 = icmp ugt i16 %t141, %t140
  %t143 = select i1 %t142, i16 %t141, i16 %t140
  %t144 = icmp uge i32 %t120, 16
  %t145 = select i1 %t144, i16 %t143, i16 %t140
  %t146 = call i16 @ur_shuffle_up_i16(i16 %t145, i32 32, i64 -1) #0
  %t147 = icmp ugt i16 %t146, %t145
  %t148 = select i1 %t147, i16 %t146, i16 %t145
  %t149 = icmp uge i32 %t120, 32
  %t150 = select i1 %t149, i16 %t148, i16 %t145
  %t151 = zext i16 %t150 to i64
  %t152 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t114
  store volatile i64 %t151, ptr addrspace(3) %t152, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t153 = sub i32 %t107, 1
  %t154 = select i1 %t112, i32 0, i32 %t153
  %t155 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t154
  %t156 = load volatile i64, ptr addrspace(3) %t155, align 8
  %t157 = trunc i64 %t156 to i16
  %t158 = icmp ugt i16 %t157, %t37
  %t159 = select i1 %t158, i16 %t157, i16 %t37
  %t160 = select i1 %t112, i16 %t37, i16 %t159
  ret i16 %t160
}
define internal i1 @ur_shuffle_bfly_b(i1 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = xor i32 %t3, %lane
  %t5 = and i32 %t4, 63
  %t6 = shl i32 %t5, 2
  %t7 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t6, i32 %t1) #0
  %t8 = trunc i32 %t7 to i1
  ret i1 %t8
}
define internal i1 @ur_shuffle_down_b(i1 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = add i32 %t3, %lane
  %t5 = icmp ule i32 %lane, 63
  %t6 = icmp ule i32 %t4, 63
  %t7 = and i1 %t5, %t6
  %t8 = select i1 %t7, i32 %t4, i32 %t3
  %t9 = and i32 %t8, 63
  %t10 = shl i32 %t9, 2
  %t11 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t10, i32 %t1) #0
  %t12 = trunc i32 %t11 to i1
  ret i1 %t12
}
define internal i1 @ur_shuffle_idx_b(i1 %x, i32 %lane, i64 %mask) #2 {
entry:
  %t1 = zext i1 %x to i32
  %t2 = and i32 %lane, 63
  %t3 = shl i32 %t2, 2
  %t4 = call i32 @llvm.amdgcn.ds.bpermute(i32 %t3, i32 %t1) #0
  %t5 = trunc i32 %t4 to i1
  ret i1 %t5
}
define internal i1 @ur_reduce_or_b(i1 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = icmp eq i64 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i1 @ur_shuffle_bfly_b(i1 %x, i32 32, i64 -1) #0
  %t3 = or i1 %x, %t2
  %t4 = call i1 @ur_shuffle_bfly_b(i1 %t3, i32 16, i64 -1) #0
  %t5 = or i1 %t3, %t4
  %t6 = call i1 @ur_shuffle_bfly_b(i1 %t5, i32 8, i64 -1) #0
  %t7 = or i1 %t5, %t6
  %t8 = call i1 @ur_shuffle_bfly_b(i1 %t7, i32 4, i64 -1) #0
  %t9 = or i1 %t7, %t8
  %t10 = call i1 @ur_shuffle_bfly_b(i1 %t9, i32 2, i64 -1) #0
  %t11 = or i1 %t9, %t10
  %t12 = call i1 @ur_shuffle_bfly_b(i1 %t11, i32 1, i64 -1) #0
  %t13 = or i1 %t11, %t12
  ret i1 %t13
front:
  %t14 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t15 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t14)
  %t16 = call i64 @llvm.ctpop.i64(i64 %lanes)
  %t17 = trunc i64 %t16 to i32
  %t18 = call i1 @ur_shuffle_down_b(i1 %x, i32 32, i64 %lanes) #0
  %t19 = or i1 %x, %t18
  %t20 = add i32 %t15, 32
  %t21 = icmp ult i32 %t20, %t17
  %t22 = select i1 %t21, i1 %t19, i1 %x
  %t23 = call i1 @ur_shuffle_down_b(i1 %t22, i32 16, i64 %lanes) #0
  %t24 = or i1 %t22, %t23
  %t25 = add i32 %t15, 16
  %t26 = icmp ult i32 %t25, %t17
  %t27 = select i1 %t26, i1 %t24, i1 %t22
  %t28 = call i1 @ur_shuffle_down_b(i1 %t27, i32 8, i64 %lanes) #0
  %t29 = or i1 %t27, %t28
  %t30 = add i32 %t15, 8
  %t31 = icmp ult i32 %t30, %t17
  %t32 = select i1 %t31, i1 %t29, i1 %t27
  %t33 = call i1 @ur_shuffle_down_b(i1 %t32, i32 4, i64 %lanes) #0
  %t34 = or i1 %t32, %t33
  %t35 = add i32 %t15, 4
  %t36 = icmp ult i32 %t35, %t17
  %t37 = select i1 %t36, i1 %t34, i1 %t32
  %t38 = call i1 @ur_shuffle_down_b(i1 %t37, i32 2, i64 %lanes) #0
  %t39 = or i1 %t37, %t38
  %t40 = add i32 %t15, 2
  %t41 = icmp ult i32 %t40, %t17
  %t42 = select i1 %t41, i1 %t39, i1 %t37
  %t43 = call i1 @ur_shuffle_down_b(i1 %t42, i32 1, i64 %lanes) #0
  %t44 = or i1 %t42, %t43
  %t45 = add i32 %t15, 1
  %t46 = icmp ult i32 %t45, %t17
  %t47 = select i1 %t46, i1 %t44, i1 %t42
  %t48 = call i1 @ur_shuffle_idx_b(i1 %t47, i32 0, i64 %lanes) #0
  ret i1 %t48
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i1 @ur_reduce_or_b(i1 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i1 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i1 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i1
  %t116 = select i1 %t111, i1 %t115, i1 false
  %t117 = call i1 @ur_shuffle_bfly_b(i1 %t116, i32 32, i64 -1) #0
  %t118 = or i1 %t116, %t117
  %t119 = call i1 @ur_shuffle_bfly_b(i1 %t118, i32 16, i64 -1) #0
  %t120 = or i1 %t118, %t119
  %t121 = call i1 @ur_shuffle_bfly_b(i1 %t120, i32 8, i64 -1) #0
  %t122 = or i1 %t120, %t121
  %t123 = call i1 @ur_shuffle_bfly_b(i1 %t122, i32 4, i64 -1) #0
  %t124 = or i1 %t122, %t123
  %t125 = call i1 @ur_shuffle_bfly_b(i1 %t124, i32 2, i64 -1) #0
  %t126 = or i1 %t124, %t125
  %t127 = call i1 @ur_shuffle_bfly_b(i1 %t126, i32 1, i64 -1) #0
  %t128 = or i1 %t126, %t127
  %t129 = zext i1 %t128 to i64
  %t130 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t129, ptr addrspace(3) %t130, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t131 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t132 = load volatile i64, ptr addrspace(3) %t131, align 8
  %t133 = trunc i64 %t132 to i1
  ret i1 %t133
}
define internal i1 @ur_reduce_and_b(i1 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = icmp eq i64 %lanes, -1
  br i1 %t1, label %tree, label %front
tree:
  %t2 = call i1 @ur_shuffle_bfly_b(i1 %x, i32 32, i64 -1) #0
  %t3 = and i1 %x, %t2
  %t4 = call i1 @ur_shuffle_bfly_b(i1 %t3, i32 16, i64 -1) #0
  %t5 = and i1 %t3, %t4
  %t6 = call i1 @ur_shuffle_bfly_b(i1 %t5, i32 8, i64 -1) #0
  %t7 = and i1 %t5, %t6
  %t8 = call i1 @ur_shuffle_bfly_b(i1 %t7, i32 4, i64 -1) #0
  %t9 = and i1 %t7, %t8
  %t10 = call i1 @ur_shuffle_bfly_b(i1 %t9, i32 2, i64 -1) #0
  %t11 = and i1 %t9, %t10
  %t12 = call i1 @ur_shuffle_bfly_b(i1 %t11, i32 1, i64 -1) #0
  %t13 = and i1 %t11, %t12
  ret i1 %t13
front:
  %t14 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t15 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t14)
  %t16 = call i64 @llvm.ctpop.i64(i64 %lanes)
  %t17 = trunc i64 %t16 to i32
  %t18 = call i1 @ur_shuffle_down_b(i1 %x, i32 32, i64 %lanes) #0
  %t19 = and i1 %x, %t18
  %t20 = add i32 %t15, 32
  %t21 = icmp ult i32 %t20, %t17
  %t22 = select i1 %t21, i1 %t19, i1 %x
  %t23 = call i1 @ur_shuffle_down_b(i1 %t22, i32 16, i64 %lanes) #0
  %t24 = and i1 %t22, %t23
  %t25 = add i32 %t15, 16
  %t26 = icmp ult i32 %t25, %t17
  %t27 = select i1 %t26, i1 %t24, i1 %t22
  %t28 = call i1 @ur_shuffle_down_b(i1 %t27, i32 8, i64 %lanes) #0
  %t29 = and i1 %t27, %t28
  %t30 = add i32 %t15, 8
  %t31 = icmp ult i32 %t30, %t17
  %t32 = select i1 %t31, i1 %t29, i1 %t27
  %t33 = call i1 @ur_shuffle_down_b(i1 %t32, i32 4, i64 %lanes) #0
  %t34 = and i1 %t32, %t33
  %t35 = add i32 %t15, 4
  %t36 = icmp ult i32 %t35, %t17
  %t37 = select i1 %t36, i1 %t34, i1 %t32
  %t38 = call i1 @ur_shuffle_down_b(i1 %t37, i32 2, i64 %lanes) #0
  %t39 = and i1 %t37, %t38
  %t40 = add i32 %t15, 2
  %t41 = icmp ult i32 %t40, %t17
  %t42 = select i1 %t41, i1 %t39, i1 %t37
  %t43 = call i1 @ur_shuffle_down_b(i1 %t42, i32 1, i64 %lanes) #0
  %t44 = and i1 %t42, %t43
  %t45 = add i32 %t15, 1
  %t46 = icmp ult i32 %t45, %t17
  %t47 = select i1 %t46, i1 %t44, i1 %t42
  %t48 = call i1 @ur_shuffle_idx_b(i1 %t47, i32 0, i64 %lanes) #0
  ret i1 %t48
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
  %t30 = and i32 %t15, -64
  %t31 = sub i32 %t29, %t30
  %t32 = icmp ugt i32 %t31, 64
  %t33 = select i1 %t32, i32 64, i32 %t31
  %t34 = sub i32 64, %t33
  %t35 = zext i32 %t34 to i64
  %t36 = lshr i64 -1, %t35
  %t37 = call i1 @ur_reduce_and_b(i1 %x, i64 %t36, i64 %t36) #0
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
  %t52 = add i32 %t51, 63
  %t53 = lshr i32 %t52, 6
  %t54 = icmp ult i32 %t53, 2
  br i1 %t54, label %alone, label %publish
alone:
  ret i1 %t37
publish:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t55 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t56 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t55)
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
  %t86 = and i32 %t71, -64
  %t87 = sub i32 %t85, %t86
  %t88 = icmp ugt i32 %t87, 64
  %t89 = select i1 %t88, i32 64, i32 %t87
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
  %t105 = lshr i32 %t104, 6
  %t106 = sub i32 %t89, 1
  %t107 = icmp eq i32 %t56, %t106
  br i1 %t107, label %write, label %written
write:
  %t108 = zext i1 %t37 to i64
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
  %t111 = icmp ult i32 %t56, %t53
  %t112 = select i1 %t111, i32 %t56, i32 32
  %t113 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 %t112
  %t114 = load volatile i64, ptr addrspace(3) %t113, align 8
  %t115 = trunc i64 %t114 to i1
  %t116 = select i1 %t111, i1 %t115, i1 true
  %t117 = call i1 @ur_shuffle_bfly_b(i1 %t116, i32 32, i64 -1) #0
  %t118 = and i1 %t116, %t117
  %t119 = call i1 @ur_shuffle_bfly_b(i1 %t118, i32 16, i64 -1) #0
  %t120 = and i1 %t118, %t119
  %t121 = call i1 @ur_shuffle_bfly_b(i1 %t120, i32 8, i64 -1) #0
  %t122 = and i1 %t120, %t121
  %t123 = call i1 @ur_shuffle_bfly_b(i1 %t122, i32 4, i64 -1) #0
  %t124 = and i1 %t122, %t123
  %t125 = call i1 @ur_shuffle_bfly_b(i1 %t124, i32 2, i64 -1) #0
  %t126 = and i1 %t124, %t125
  %t127 = call i1 @ur_shuffle_bfly_b(i1 %t126, i32 1, i64 -1) #0
  %t128 = and i1 %t126, %t127
  %t129 = zext i1 %t128 to i64
  %t130 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  store volatile i64 %t129, ptr addrspace(3) %t130, align 8
  br label %joined
joined:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() #0
  fence syncscope("workgroup") acquire
  %t131 = getelementptr inbounds [33 x i64], ptr addrspace(3) @ur_scratch, i32 0, i32 32
  %t132 = load volatile i64, ptr addrspace(3) %t131, align 8
  %t133 = trunc i64 %t132 to i1
  ret i1 %t133
}
define internal i32 @ur_reduce_some_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = and i64 %lanes, %members
  %t2 = icmp eq i64 %t1, -1
  br i1 %t2, label %tree, label %walk
tree:
  %t3 = call i32 @ur_shuffle_bfly_i32(i32 %x, i32 32, i64 -1) #0
  %t4 = add i32 %x, %t3
  %t5 = call i32 @ur_shuffle_bfly_i32(i32 %t4, i32 16, i64 -1) #0
  %t6 = add i32 %t4, %t5
  %t7 = call i32 @ur_shuffle_bfly_i32(i32 %t6, i32 8, i64 -1) #0
  %t8 = add i32 %t6, %t7
  %t9 = call i32 @ur_shuffle_bfly_i32(i32 %t8, i32 4, i64 -1) #0
  %t10 = add i32 %t8, %t9
  %t11 = call i32 @ur_shuffle_bfly_i32(i32 %t10, i32 2, i64 -1) #0
  %t12 = add i32 %t10, %t11
  %t13 = call i32 @ur_shuffle_bfly_i32(i32 %t12, i32 1, i64 -1) #0
  %t14 = add i32 %t12, %t13
  ret i32 %t14
walk:
  br label %step
step:
  %left = phi i64 [ %lanes, %walk ], [ %rest, %step ]
  %sum = phi i32 [ 0, %walk ], [ %kept, %step ]
  %t15 = call i64 @llvm.cttz.i64(i64 %left, i1 false)
  %t16 = trunc i64 %t15 to i32
  %t17 = call i32 @ur_shuffle_idx_i32(i32 %x, i32 %t16, i64 %lanes) #0
  %t18 = add i32 %sum, %t17
  %t19 = add i64 %left, -1
  %rest = and i64 %left, %t19
  %t20 = xor i64 %left, %rest
  %t21 = and i64 %members, %t20
  %t22 = icmp ne i64 %t21, 0
  %kept = select i1 %t22, i32 %t18, i32 %sum
  %t23 = icmp eq i64 %rest, 0
  br i1 %t23, label %end, label %step, !llvm.loop !2
end:
  ret i32 %kept
}
define internal i32 @ur_scan_some_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = and i64 %lanes, %members
  %t2 = icmp eq i64 %t1, -1
  br i1 %t2, label %tree, label %walk
tree:
  %t3 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t4 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t3)
  %t5 = call i32 @ur_shuffle_up_i32(i32 %x, i32 1, i64 -1) #0
  %t6 = add i32 %t5, %x
  %t7 = icmp uge i32 %t4, 1
  %t8 = select i1 %t7, i32 %t6, i32 %x
  %t9 = call i32 @ur_shuffle_up_i32(i32 %t8, i32 2, i64 -1) #0
  %t10 = add i32 %t9, %t8
  %t11 = icmp uge i32 %t4, 2
  %t12 = select i1 %t11, i32 %t10, i32 %t8
  %t13 = call i32 @ur_shuffle_up_i32(i32 %t12, i32 4, i64 -1) #0
  %t14 = add i32 %t13, %t12
  %t15 = icmp uge i32 %t4, 4
  %t16 = select i1 %t15, i32 %t14, i32 %t12
  %t17 = call i32 @ur_shuffle_up_i32(i32 %t16, i32 8, i64 -1) #0
  %t18 = add i32 %t17, %t16
  %t19 = icmp uge i32 %t4, 8
  %t20 = select i1 %t19, i32 %t18, i32 %t16
  %t21 = call i32 @ur_shuffle_up_i32(i32 %t20, i32 16, i64 -1) #0
  %t22 = add i32 %t21, %t20
  %t23 = icmp uge i32 %t4, 16
  %t24 = select i1 %t23, i32 %t22, i32 %t20
  %t25 = call i32 @ur_shuffle_up_i32(i32 %t24, i32 32, i64 -1) #0
  %t26 = add i32 %t25, %t24
  %t27 = icmp uge i32 %t4, 32
  %t28 = select i1 %t27, i32 %t26, i32 %t24
  ret i32 %t28
walk:
  %t29 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t30 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t29)
  %t31 = zext i32 %t30 to i64
  %t32 = shl i64 1, %t31
  %t33 = sub i64 %t32, 1
  %t34 = or i64 %t33, %t32
  %t35 = and i64 %members, %t34
  br label %step
step:
  %left = phi i64 [ %lanes, %walk ], [ %rest, %step ]
  %sum = phi i32 [ 0, %walk ], [ %kept, %step ]
  %t36 = call i64 @llvm.cttz.i64(i64 %left, i1 false)
  %t37 = trunc i64 %t36 to i32
  %t38 = call i32 @ur_shuffle_idx_i32(i32 %x, i32 %t37, i64 %lanes) #0
  %t39 = add i32 %sum, %t38
  %t40 = add i64 %left, -1
  %rest = and i64 %left, %t40
  %t41 = xor i64 %left, %rest
  %t42 = and i64 %t35, %t41
  %t43 = icmp ne i64 %t42, 0
  %kept = select i1 %t43, i32 %t39, i32 %sum
  %t44 = icmp eq i64 %rest, 0
  br i1 %t44, label %end, label %step, !llvm.loop !3
end:
  ret i32 %kept
}
define internal i32 @ur_before_some_add_i32(i32 %x, i64 %lanes, i64 %members) #2 {
entry:
  %t1 = call i32 @ur_scan_some_add_i32(i32 %x, i64 %lanes, i64 %members) #0
  %t2 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %t3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %t2)
  %t4 = zext i32 %t3 to i64
  %t5 = shl i64 1, %t4
  %t6 = sub i64 %t5, 1
  %t7 = and i64 %members, %t6
  %t8 = call i64 @llvm.ctlz.i64(i64 %t7, i1 false)
  %t9 = trunc i64 %t8 to i32
  %t10 = sub i32 63, %t9
  %t11 = call i32 @ur_shuffle_idx_i32(i32 %t1, i32 %t10, i64 %lanes) #0
  %t12 = icmp eq i64 %t7, 0
  %t13 = select i1 %t12, i32 0, i32 %t11
  ret i32 %t13
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
