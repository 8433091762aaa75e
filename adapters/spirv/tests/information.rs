//! What a module tells of its kernels and specialisation constants, and the errors of options.

mod common;

use ur_spirv::{ErrorKind, Module, Options, ParameterKind, link, parse, translate};

fn info() -> Module {
    parse(&common::module("modules", "info")).unwrap()
}

#[test]
fn kernels_tell_their_parameters() {
    let kernels = info().kernels().unwrap();
    assert_eq!(kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["info", "plain"]);
    let parameters: Vec<_> = kernels[0].parameters.iter().map(|p| (p.kind, p.size, p.align, p.name.as_str())).collect();
    assert_eq!(
        parameters,
        [
            (ParameterKind::GlobalPointer, 8, 8, "global"),
            (ParameterKind::ConstantPointer, 8, 8, ""),
            (ParameterKind::LocalPointer, 8, 8, ""),
            (ParameterKind::Value, 40, 8, ""),
            (ParameterKind::Value, 16, 16, ""),
            (ParameterKind::Value, 2, 2, "value"),
        ]
    );
}

#[test]
fn kernels_tell_their_modes() {
    let kernels = info().kernels().unwrap();
    assert_eq!(kernels[0].required_size, Some([8, 4, 2]));
    assert_eq!(kernels[0].sub_group_size, Some(32));
    assert!(kernels[0].contraction_off);
    assert_eq!(kernels[1].size_hint, Some([16, 1, 1]));
    assert_eq!((kernels[1].required_size, kernels[1].contraction_off), (None, false));
}

#[test]
fn specialisation_constants_are_listed_with_their_sizes() {
    let constants: Vec<_> = info().spec_constants().iter().map(|c| (c.id, c.size)).collect();
    assert_eq!(constants, [(5, 4), (6, 1), (7, 8)]);
}

#[test]
fn specialise_changes_what_depends_on_the_constant() {
    let mut module = info();
    module.specialise(5, &10u32.to_le_bytes()).unwrap();
    module.specialise(6, &[0]).unwrap();
    // The array's length is twice the constant: 8 bytes, 8 bytes, 20 numbers.
    assert_eq!(module.kernels().unwrap()[0].parameters[3].size, 96);
    let text = translate(&module, &Options::for_architecture(90)).unwrap().text;
    assert!(text.contains("[20 x i32]"), "{text}");
    assert!(text.contains("select i1 false, i32 10"), "{text}");
}

#[test]
fn specialise_refuses_a_wrong_size_and_passes_over_unknown_numbers() {
    let mut module = info();
    assert_eq!(module.specialise(5, &[1, 2]).unwrap_err().kind(), ErrorKind::Option);
    module.specialise(99, &[1, 2, 3]).unwrap();
}

#[test]
fn translate_of_one_kernel_leaves_the_others_out() {
    let options = Options { kernels: Some(vec!["plain".to_owned()]), ..Options::for_architecture(90) };
    let translation = translate(&info(), &options).unwrap();
    assert!(translation.text.contains("@plain(") && !translation.text.contains("@info("), "{}", translation.text);
    assert_eq!(translation.kernels.len(), 1);
    let options = Options { kernels: Some(vec!["none".to_owned()]), ..options };
    assert_eq!(translate(&info(), &options).unwrap_err().kind(), ErrorKind::Option);
}

#[test]
fn translate_refuses_an_architecture_without_a_memory_model() {
    assert_eq!(translate(&info(), &Options::for_architecture(60)).unwrap_err().kind(), ErrorKind::Option);
}

#[test]
fn contraction_off_reaches_the_compiler() {
    let options = Options::for_architecture(90);
    let translation = translate(&info(), &options).unwrap();
    assert!(translation.compiler_options(&options).contains(&"-fma=0".to_owned()));
}

#[test]
fn an_arithmetic_fence_reaches_the_compiler() {
    let options = Options::for_architecture(90);
    let translation = translate(&parse(&common::module("kernels", "intel")).unwrap(), &options).unwrap();
    assert!(translation.compiler_options(&options).contains(&"-fma=0".to_owned()));
}

fn module(name: &str) -> Module {
    parse(&common::module("modules", name)).unwrap()
}

#[test]
fn link_resolves_what_one_module_imports_from_another() {
    let (importer, exporter) = (module("importer"), module("exporter"));
    let options = Options::for_architecture(90);
    let linked = link(&[&importer, &exporter], &options).unwrap();
    assert!(linked.unresolved.is_empty(), "{:?}", linked.unresolved);
    assert_eq!(linked.kernels().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(), ["importer"]);
    let alone = link(&[&importer], &options).unwrap();
    assert_eq!(alone.unresolved, ["factor", "twice"]);
}

#[test]
fn link_keeps_what_the_others_import_when_single_kernels_are_wanted() {
    let (importer, exporter) = (module("importer"), module("exporter"));
    let options = Options { kernels: Some(vec!["importer".to_owned()]), ..Options::for_architecture(90) };
    let linked = link(&[&importer, &exporter], &options).unwrap();
    assert!(linked.translations[1].text.contains("@twice("), "{}", linked.translations[1].text);
    assert!(linked.unresolved.is_empty());
    // A module that exports alone has nothing to keep.
    let options = Options { kernels: Some(Vec::new()), ..options };
    assert!(!link(&[&exporter], &options).unwrap().translations[0].text.contains("@twice("));
}

#[test]
fn link_refuses_names_that_are_there_twice_and_kernels_that_are_not() {
    let (importer, exporter) = (module("importer"), module("exporter"));
    let options = Options::for_architecture(90);
    let error = link(&[&importer, &exporter, &exporter], &options).unwrap_err();
    assert!(error.message().contains("two modules export"), "{error}");
    let error = link(&[&importer, &importer], &options).unwrap_err();
    assert!(error.message().contains("two modules have a kernel importer"), "{error}");
    let options = Options { kernels: Some(vec!["none".to_owned()]), ..options };
    assert_eq!(link(&[&importer], &options).unwrap_err().kind(), ErrorKind::Option);
}

#[test]
fn what_the_host_reads_and_writes_has_its_name_there() {
    let translation = translate(&module("hostglobal"), &Options::for_architecture(90)).unwrap();
    assert_eq!(translation.exports, ["unique"]);
    assert!(translation.text.contains("@unique = addrspace(1) global i32"), "{}", translation.text);
    assert!(translation.text.contains("= internal addrspace(1) global i32"), "{}", translation.text);
}

#[test]
fn imports_and_exports_are_named() {
    let options = Options::for_architecture(90);
    let importer = translate(&parse(&common::module("modules", "importer")).unwrap(), &options).unwrap();
    let mut imports = importer.imports;
    imports.sort();
    assert_eq!(imports, ["factor", "twice"]);
    let exporter = translate(&parse(&common::module("modules", "exporter")).unwrap(), &options).unwrap();
    let mut exports = exporter.exports;
    exports.sort();
    assert_eq!(exports, ["factor", "twice"]);
}
