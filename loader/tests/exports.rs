//! The shared object exports the release's functions and table getters under the loader's symbol version, the project's own
//! functions under theirs, and nothing else.

mod common;
use common::{crate_folder, loader, release, run};
use std::collections::BTreeMap;
use std::process::Command;

const VERSION: &str = "LIBUR_LOADER_0.12";
const OWN_VERSION: &str = "LIBUR_EXT_0.1";

fn lines_of(tool: &str, arguments: &[&str]) -> String {
    run(Command::new(tool).args(arguments).arg(loader()))
}

#[test]
fn the_exports_are_exactly_those_of_the_release() {
    let map = crate_folder().join(format!("libraries/{}/src/generated/libur_loader.map", release().name()));
    let map = std::fs::read_to_string(map).unwrap();
    let (vendors, own) = map.split_once(&format!("{OWN_VERSION} {{")).unwrap();
    let names = |text: &str| -> Vec<String> {
        let (_, global) = text.split_once("global:").unwrap();
        let (global, _) = global.split_once("local:").or_else(|| global.split_once('}')).unwrap();
        global.split(';').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    let with =
        |version: &'static str, names: Vec<String>| names.into_iter().map(move |name| (name, version.to_owned()));
    let in_map: BTreeMap<_, _> = with(VERSION, names(vendors)).chain(with(OWN_VERSION, names(own))).collect();

    let functions = release().functions().iter().map(|f| f.name.to_owned());
    let getters = ur_loader::release::Layout::of(release()).tables;
    let getters = getters.iter().map(|(name, _)| format!("urGet{name}ProcAddrTable"));
    let own = ur_ffi::EXTENSION_FUNCTIONS.iter().map(|f| f.name.to_owned());
    let own = own.chain(["urGetExtensionProcAddrTableExt".to_owned()]).collect();
    let of_release: BTreeMap<_, _> =
        with(VERSION, functions.chain(getters).collect()).chain(with(OWN_VERSION, own)).collect();
    assert_eq!(in_map, of_release);

    let symbols = lines_of("nm", &["-D", "--defined-only"]);
    let mut exported = BTreeMap::new();
    for line in symbols.lines() {
        let fields: Vec<_> = line.split_whitespace().collect();
        match fields[1..] {
            ["A", VERSION | OWN_VERSION] => {}
            ["T", symbol] => {
                let (name, version) = symbol.split_once("@@").unwrap_or_else(|| panic!("no default version: {line}"));
                assert!(exported.insert(name.to_owned(), version.to_owned()).is_none(), "{line}");
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
