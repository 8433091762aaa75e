target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@format0 = internal addrspace(1) constant [12 x i8] c"%f,%f %s %d\00", align 1
@format79 = internal addrspace(1) constant [12 x i8] c"%f,%f %s %d\00", align 1
@g30 = internal addrspace(1) constant [14 x i8] [i8 37, i8 118, i8 50, i8 104, i8 108, i8 102, i8 32, i8 37, i8 115, i8 32, i8 37, i8 100, i8 0, i8 0], align 1
declare void @__assertfail(i8*, i8*, i32, i8*, i64)
declare i32 @vprintf(i8*, i8*)
define void @print(<2 x float> %v37, i32 %v38) #0 !dbg !5 {
b39:
  %v40 = getelementptr inbounds [14 x i8], [14 x i8] addrspace(1)* @g30, i32 0, i32 0, !dbg !11
  %t1 = extractelement <2 x float> %v37, i32 0, !dbg !11
  %t2 = fpext float %t1 to double, !dbg !11
  %t3 = extractelement <2 x float> %v37, i32 1, !dbg !11
  %t4 = fpext float %t3 to double, !dbg !11
  %t5 = addrspacecast i8 addrspace(1)* %v40 to i8*, !dbg !11
  %t6 = ptrtoint i8* %t5 to i64, !dbg !11
  %t7 = addrspacecast [12 x i8] addrspace(1)* @format0 to i8*, !dbg !11
  %t8 = call i32 @ur_printf_double_double_i64_i32(i8* %t7, double %t2, double %t4, i64 %t6, i32 %v38), !dbg !11
  %t9 = icmp slt i32 %t8, 0, !dbg !11
  %v41 = select i1 %t9, i32 -1, i32 0, !dbg !11
  br label %b42, !dbg !11
b42:
  %v43 = phi i32 [ 0, %b39 ], [ %v44, %b45 ], !dbg !11
  %v46 = icmp ult i32 %v43, %v38, !dbg !11
  br i1 %v46, label %b45, label %b47, !dbg !11
b45:
  %t10 = extractelement <2 x float> %v37, i32 0, !dbg !12
  %t11 = fpext float %t10 to double, !dbg !12
  %t12 = extractelement <2 x float> %v37, i32 1, !dbg !12
  %t13 = fpext float %t12 to double, !dbg !12
  %t14 = addrspacecast i8 addrspace(1)* %v40 to i8*, !dbg !12
  %t15 = ptrtoint i8* %t14 to i64, !dbg !12
  %t16 = addrspacecast [12 x i8] addrspace(1)* @format79 to i8*, !dbg !12
  %t17 = call i32 @ur_printf_double_double_i64_i32(i8* %t16, double %t11, double %t13, i64 %t15, i32 %v43), !dbg !12
  %t18 = icmp slt i32 %t17, 0, !dbg !12
  %v48 = select i1 %t18, i32 -1, i32 0, !dbg !12
  %v44 = add i32 %v43, 1, !dbg !12
  br label %b42, !llvm.loop !8, !dbg !12
b47:
  %v49 = inttoptr i64 14 to i8*, !dbg !12
  %t19 = bitcast i8* %v49 to i8*, !dbg !12
  %t20 = bitcast i8* %v49 to i8*, !dbg !12
  %t21 = bitcast i8* %v49 to i8*, !dbg !12
  call void @__assertfail(i8* %t19, i8* %t20, i32 %v38, i8* %t21, i64 1), !dbg !12
  ret void, !dbg !12
}
define internal i32 @ur_printf_double_double_i64_i32(i8* %format, double %a0, double %a1, i64 %a2, i32 %a3) #1 {
entry:
  %t1 = alloca { double, double, i64, i32 }, align 8
  %t2 = getelementptr { double, double, i64, i32 }, { double, double, i64, i32 }* %t1, i32 0, i32 0
  store double %a0, double* %t2
  %t3 = getelementptr { double, double, i64, i32 }, { double, double, i64, i32 }* %t1, i32 0, i32 1
  store double %a1, double* %t3
  %t4 = getelementptr { double, double, i64, i32 }, { double, double, i64, i32 }* %t1, i32 0, i32 2
  store i64 %a2, i64* %t4
  %t5 = getelementptr { double, double, i64, i32 }, { double, double, i64, i32 }* %t1, i32 0, i32 3
  store i32 %a3, i32* %t5
  %t6 = bitcast { double, double, i64, i32 }* %t1 to i8*
  %t7 = call i32 @vprintf(i8* %format, i8* %t6)
  ret i32 %t7
}
attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind }
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!2}
!nvvm.annotations = !{!13, !14}
!nvvmir.version = !{!15}
!0 = !DIFile(filename: "module.spv", directory: "")
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !0, producer: "ur-spirv", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{null}
!4 = !DISubroutineType(types: !3)
!5 = distinct !DISubprogram(name: "print", linkageName: "print", scope: !0, file: !0, type: !4, isLocal: false, isDefinition: true, isOptimized: true, unit: !1)
!6 = !DILocation(line: 0, column: 0, scope: !5)
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !7}
!9 = !DIFile(filename: "print.cl", directory: "/src")
!10 = !DILexicalBlockFile(scope: !5, file: !9, discriminator: 0)
!11 = !DILocation(line: 12, column: 3, scope: !10)
!12 = !DILocation(line: 14, column: 5, scope: !10)
!13 = !{void (<2 x float>, i32)* @print, !"kernel", i32 1}
!14 = !{void (<2 x float>, i32)* @print, !"maxntidx", i32 1024}
!15 = !{i32 2, i32 0, i32 3, i32 1}
