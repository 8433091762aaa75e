//! The text of a few modules in every dialect, compared with what is checked in. `UR_SPIRV_BLESS=1` writes it anew.

mod common;

use std::fs;

use ur_spirv::{Dialect, GlobalOffset, Options, parse, translate};

fn compare(folder: &str, name: &str, options: &Options, suffix: &str) {
    let translation = translate(&parse(&common::module(folder, name)).unwrap(), options).unwrap();
    let file = common::folder("golden").join(format!("{name}{suffix}.ll"));
    if std::env::var_os("UR_SPIRV_BLESS").is_some() {
        fs::write(&file, &translation.text).unwrap();
    }
    let golden = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let differs = golden.lines().zip(translation.text.lines()).position(|(a, b)| a != b);
    if let Some(line) = differs {
        let (want, got) = (golden.lines().nth(line).unwrap(), translation.text.lines().nth(line).unwrap());
        panic!("{}, line {}:\n  {want}\nis now\n  {got}", file.display(), line + 1);
    }
    assert_eq!(golden.len(), translation.text.len(), "{} and the text have one length", file.display());
}

fn compare_both(folder: &str, name: &str) {
    for (dialect, suffix) in [(Dialect::Typed, "-typed"), (Dialect::Opaque, "-opaque")] {
        compare(folder, name, &Options { dialect, ..Options::for_architecture(90) }, suffix);
    }
}

#[test]
fn parameters_sizes_and_specialisation_constants() {
    compare_both("modules", "info");
}

#[test]
fn printf_assertion_and_loop_hints() {
    compare_both("modules", "print");
}

#[test]
fn lines_of_the_source() {
    compare("modules", "print", &Options { line_info: true, ..Options::for_architecture(90) }, "-lines");
}

#[test]
fn imports_and_exports() {
    compare_both("modules", "importer");
    compare_both("modules", "exporter");
}

#[test]
fn recursive_types_function_pointers_and_called_kernels() {
    compare_both("modules", "pointers");
}

#[test]
fn a_global_offset_is_a_parameter_of_every_function() {
    compare(
        "modules",
        "pointers",
        &Options { global_offset: GlobalOffset::Taken, ..Options::for_architecture(90) },
        "-offset",
    );
}

#[test]
fn kernels_with_and_without_a_global_offset_share_variables_and_functions() {
    let both = |options: Options| Options { global_offset: GlobalOffset::Both, ..options };
    compare("modules", "pointers", &both(Options::for_architecture(90)), "-both");
    compare("modules", "pointers", &both(Options::for_amdgcn(32)), "-amdgcn32-both");
}

#[test]
fn addresses_that_loops_step_from_stay_before_them() {
    compare_both("modules", "bases");
}

#[test]
fn divisions_stand_where_they_are_needed() {
    compare_both("modules", "late");
    compare("modules", "late", &Options::for_amdgcn(32), "-amdgcn32");
}

#[test]
fn products_of_a_loops_counter_are_sums_that_it_carries() {
    compare_both("modules", "products");
    // AMD's devices have LLVM's own passes.
    compare("modules", "products", &Options::for_amdgcn(32), "-amdgcn32");
}

#[test]
fn control_flow_and_memory() {
    compare_both("kernels", "control");
    compare_both("kernels", "memory");
    compare_both("kernels", "atomic");
}

#[test]
fn for_amd_devices_with_either_wave_size() {
    for wave_size in [32, 64] {
        let options = Options::for_amdgcn(wave_size);
        for name in ["control", "memory", "atomic", "tree72", "contraction"] {
            compare("kernels", name, &options, &format!("-amdgcn{wave_size}"));
        }
        compare("modules", "exporter", &options, &format!("-amdgcn{wave_size}"));
    }
    compare("modules", "info", &Options::for_amdgcn(32), "-amdgcn32");
    compare(
        "modules",
        "pointers",
        &Options { global_offset: GlobalOffset::Taken, ..Options::for_amdgcn(32) },
        "-amdgcn32-offset",
    );
}

/// `memory`'s barrier of its work-group, with the execution scope of a sub-group.
fn with_a_barrier_of_sub_groups() -> Vec<u8> {
    let mut words: Vec<u32> = common::module("kernels", "memory")
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let (mut at, mut three, mut barrier) = (5, None, None);
    while let Some(&first) = words.get(at) {
        match (first & 0xffff, &words[at + 1..at + (first >> 16) as usize]) {
            (43, &[_, id, 3]) => three = Some(id),
            (224, _) => barrier = Some(at + 1),
            _ => {}
        }
        at += (first >> 16) as usize;
    }
    words[barrier.unwrap()] = three.unwrap();
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn a_barrier_of_sub_groups_orders_the_memory_of_the_work_group_where_it_names_that_on_amd_devices() {
    let text = translate(&parse(&with_a_barrier_of_sub_groups()).unwrap(), &Options::for_amdgcn(32)).unwrap().text;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains("call void @llvm.amdgcn.wave.barrier")).unwrap();
    // Beside the fences of the wave.
    assert_eq!([at - 2, at + 2].map(|at| lines[at]), ["fence syncscope(\"workgroup\") seq_cst"; 2]);
}

#[test]
fn a_barrier_of_sub_groups_orders_the_memory_of_the_work_group_where_it_names_that() {
    let options = Options::for_architecture(90);
    let text = translate(&parse(&with_a_barrier_of_sub_groups()).unwrap(), &options).unwrap().text;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains("bar.warp.sync")).unwrap();
    let fences: Vec<&&str> = lines[..at].iter().filter(|line| line.contains("fence.")).collect();
    assert_eq!(fences, [&"call void asm sideeffect \"fence.sc.cta;\", \"~{memory}\"() #3"]);
    // A work-group's barrier orders that memory itself.
    let text = translate(&parse(&common::module("kernels", "memory")).unwrap(), &options).unwrap().text;
    assert!(text.contains("bar.sync 0;") && !text.contains("fence."), "{text}");
}

#[test]
fn a_translation_does_not_depend_on_the_run() {
    for name in common::names("kernels") {
        let module = parse(&common::module("kernels", &name)).unwrap();
        let options = Options::for_architecture(90);
        assert_eq!(translate(&module, &options).unwrap().text, translate(&module, &options).unwrap().text);
    }
}
