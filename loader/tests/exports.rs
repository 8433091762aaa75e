//! The shared object exports the release's functions and table getters under the loader's symbol version, and nothing else.

mod common;
use common::{crate_folder, loader, release, run};
use std::collections::BTreeSet;
use std::process::Command;

const VERSION: &str = "LIBUR_LOADER_0.12";

fn lines_of(tool: &str, arguments: &[&str]) -> String {
    run(Command::new(tool).args(arguments).arg(loader()))
}

#[test]
fn the_exports_are_exactly_those_of_the_release() {
    let map = crate_folder().join(format!("libraries/{}/src/generated/libur_loader.map", release().name()));
    let map = std::fs::read_to_string(map).unwrap();
    let (_, global) = map.split_once("global:").unwrap();
    let (global, _) = global.split_once("local:").unwrap();
    let in_map: BTreeSet<String> = global.split(';').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();

    let functions = release().functions().iter().map(|f| f.name.to_owned());
    let getters = ur_loader::release::Layout::of(release()).tables;
    let getters = getters.iter().map(|(name, _)| format!("urGet{name}ProcAddrTable"));
    let of_release: BTreeSet<String> = functions.chain(getters).collect();
    assert_eq!(in_map, of_release);

    let symbols = lines_of("nm", &["-D", "--defined-only"]);
    let mut exported = BTreeSet::new();
    for line in symbols.lines() {
        let fields: Vec<_> = line.split_whitespace().collect();
        match fields[1..] {
            ["A", VERSION] => {}
            ["T", symbol] => {
                let (name, version) = symbol.split_once("@@").unwrap_or_else(|| panic!("no default version: {line}"));
                assert_eq!(version, VERSION, "{line}");
                assert!(exported.insert(name.to_owned()), "{line}");
            }
            _ => panic!("not a function of the API: {line}"),
        }
    }
    assert_eq!(exported, of_release);
}

#[test]
fn the_shared_object_has_its_soname_and_stays_loaded() {
    let dynamic = lines_of("readelf", &["--dynamic", "--wide"]);
    assert!(dynamic.contains("Library soname: [libur_loader.so.0]"), "{dynamic}");
    let flags = dynamic.lines().find(|l| l.contains("(FLAGS_1)")).unwrap();
    assert!(flags.contains("NODELETE") && flags.contains("NOW"), "{flags}");
    assert!(!dynamic.contains("TEXTREL"), "{dynamic}");
    for needed in dynamic.lines().filter(|l| l.contains("(NEEDED)")) {
        let system = ["libc.so", "libgcc_s.so", "ld-linux", "libdl.so", "libpthread.so", "libm.so", "librt.so"];
        assert!(system.iter().any(|s| needed.contains(s)), "only the system's own libraries: {needed}");
    }
}
