target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
define void @k(ptr addrspace(1) %v110, ptr addrspace(1) %v111) #0 {
b112:
  %t1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t2 = zext i32 %t1 to i64
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t4 = zext i32 %t3 to i64
  %t5 = mul nuw nsw i64 %t2, %t4
  %t6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t7 = zext i32 %t6 to i64
  %t8 = add nuw nsw i64 %t5, %t7
  %t9 = insertelement <3 x i64> undef, i64 %t8, i32 0
  %t10 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %t11 = zext i32 %t10 to i64
  %t12 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %t13 = zext i32 %t12 to i64
  %t14 = mul nuw nsw i64 %t11, %t13
  %t15 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t16 = zext i32 %t15 to i64
  %t17 = add nuw nsw i64 %t14, %t16
  %t18 = insertelement <3 x i64> %t9, i64 %t17, i32 1
  %t19 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %t20 = zext i32 %t19 to i64
  %t21 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %t22 = zext i32 %t21 to i64
  %t23 = mul nuw nsw i64 %t20, %t22
  %t24 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t25 = zext i32 %t24 to i64
  %t26 = add nuw nsw i64 %t23, %t25
  %t27 = insertelement <3 x i64> %t18, i64 %t26, i32 2
  %v113 = bitcast <3 x i64> %t27 to <3 x i64>
  %t28 = extractelement <3 x i64> %v113, i32 0
  %v114 = bitcast i64 %t28 to i64
  %t29 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t30 = zext i32 %t29 to i64
  %t31 = insertelement <3 x i64> undef, i64 %t30, i32 0
  %t32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %t33 = zext i32 %t32 to i64
  %t34 = insertelement <3 x i64> %t31, i64 %t33, i32 1
  %t35 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %t36 = zext i32 %t35 to i64
  %t37 = insertelement <3 x i64> %t34, i64 %t36, i32 2
  %v115 = bitcast <3 x i64> %t37 to <3 x i64>
  %t38 = extractelement <3 x i64> %v115, i32 0
  %v116 = bitcast i64 %t38 to i64
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
!nvvm.annotations = !{!2, !3}
!nvvmir.version = !{!4}
!0 = !{!"llvm.loop.unroll.enable"}
!1 = distinct !{!1, !0}
!2 = !{ptr @k, !"kernel", i32 1}
!3 = !{ptr @k, !"maxntidx", i32 1024}
!4 = !{i32 2, i32 0, i32 3, i32 1}
