//! Where adapters are looked for: environment and directories in, an ordered list of candidate paths out. Pure: it opens
//! nothing and asks the file system nothing, so the loader, the tools and the tests see the same list.
//!
//! The order of precedence is that of the stock loader of the same release: `UR_ADAPTERS_FORCE_LOAD` (and nothing else
//! then), each directory of `UR_ADAPTERS_SEARCH_PATH`, and then the loader's own directory and the system's search, which
//! changed places with 2026.2 ([`order`]). Among the candidates of one adapter the first that can be used wins.

use crate::environment;
use crate::selector::{Backend, Kind, Selector};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use ur_ffi::releases::Release;

/// An adapter that is looked for by name.
#[derive(Clone, Copy, Debug)]
pub struct KnownAdapter {
    /// File name of its library.
    pub library: &'static str,
    /// The backend it implements.
    pub backend: Backend,
    /// The only kinds of device it can have; none given means any.
    pub kinds: &'static [Kind],
}

/// The adapters that are looked for, in the order in which the loader lists them. Both Level Zero adapters are loaded:
/// since 2026.1 they agree between themselves which of the two reports an adapter (`UR_LOADER_USE_LEVEL_ZERO_V2`).
pub const KNOWN_ADAPTERS: [KnownAdapter; 7] = [
    KnownAdapter { library: "libur_adapter_cuda.so.0", backend: Backend::Cuda, kinds: &[Kind::Gpu] },
    KnownAdapter { library: "libur_adapter_hip.so.0", backend: Backend::Hip, kinds: &[Kind::Gpu] },
    KnownAdapter { library: "libur_adapter_level_zero.so.0", backend: Backend::LevelZero, kinds: &[] },
    KnownAdapter { library: "libur_adapter_level_zero_v2.so.0", backend: Backend::LevelZero, kinds: &[] },
    KnownAdapter { library: "libur_adapter_native_cpu.so.0", backend: Backend::NativeCpu, kinds: &[Kind::Cpu] },
    KnownAdapter { library: "libur_adapter_offload.so.0", backend: Backend::Offload, kinds: &[] },
    KnownAdapter { library: "libur_adapter_opencl.so.0", backend: Backend::OpenCl, kinds: &[] },
];

/// The adapter that `urLoaderConfigSetMockingEnabled` asks for.
pub const MOCK_ADAPTER: &str = "libur_adapter_mock.so.0";

/// The environment variables that steer the search, as they were at one moment. An empty variable counts as unset.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `UR_ADAPTERS_FORCE_LOAD`
    pub force_load: Option<OsString>,
    /// `UR_ADAPTERS_SEARCH_PATH`
    pub search_path: Option<OsString>,
    /// `ONEAPI_DEVICE_SELECTOR`
    pub device_selector: Option<OsString>,
    /// `UR_LOADER_PRELOAD_FILTER`: whether the selector also decides what is loaded at all; on when unset.
    pub preload_filter: Option<OsString>,
    /// `UR_ADAPTERS_DEEP_BIND`: whether adapters prefer their own libraries' symbols; off when unset.
    pub deep_bind: Option<OsString>,
    /// Variables that are set and not read, because they name libraries and the process runs with raised rights.
    pub withheld: Vec<&'static str>,
}

impl Environment {
    /// The variables of this process, now.
    pub fn from_process() -> Self {
        Self::read(environment::has_raised_rights(), environment::variable)
    }

    fn read(raised_rights: bool, get: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut withheld = Vec::new();
        let mut trusted = |name| {
            let value = get(name);
            if value.is_some() && raised_rights {
                withheld.push(name);
                return None;
            }
            value
        };
        Environment {
            force_load: trusted("UR_ADAPTERS_FORCE_LOAD"),
            search_path: trusted("UR_ADAPTERS_SEARCH_PATH"),
            device_selector: get("ONEAPI_DEVICE_SELECTOR"),
            preload_filter: get("UR_LOADER_PRELOAD_FILTER"),
            deep_bind: get("UR_ADAPTERS_DEEP_BIND"),
            withheld,
        }
    }
}

/// Which rule named a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Listed in `UR_ADAPTERS_FORCE_LOAD`.
    ForceLoad,
    /// In a directory of `UR_ADAPTERS_SEARCH_PATH`.
    SearchPath,
    /// A bare name that the dynamic linker looks for (`LD_LIBRARY_PATH`, run paths, its cache, the system's directories).
    System,
    /// Beside the loader.
    LoaderDirectory,
}

/// The rules that name the candidates of a known adapter, first to last.
pub const fn order(release: Release) -> [Origin; 3] {
    match release {
        Release::R2026_1 => [Origin::SearchPath, Origin::System, Origin::LoaderDirectory],
        Release::R2026_2 => [Origin::SearchPath, Origin::LoaderDirectory, Origin::System],
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::ForceLoad => "UR_ADAPTERS_FORCE_LOAD",
            Origin::SearchPath => "UR_ADAPTERS_SEARCH_PATH",
            Origin::System => "the system's search",
            Origin::LoaderDirectory => "the loader's directory",
        })
    }
}

/// One path to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is handed to the dynamic linker. A path without `/` is one that the linker searches for.
    pub path: PathBuf,
    /// The rule that named it.
    pub origin: Origin,
}

/// The candidates for one adapter, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The adapter's name for messages: its library's file name, or the path the user listed.
    pub name: String,
    /// Where it may be.
    pub candidates: Vec<Candidate>,
}

/// What the search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The release that adapters must be of.
    pub release: Release,
    /// The rules that named the candidates, first to last.
    pub order: Vec<Origin>,
    /// The adapters to load, in the order in which the loader lists them.
    pub groups: Vec<Group>,
    /// Adapters that are not looked for, and why.
    pub skipped: Vec<Skipped>,
    /// Variables that could not be used, each with its remedy.
    pub problems: Vec<String>,
    /// Variables that were not read, and why.
    pub warnings: Vec<String>,
    /// Whether libraries are opened with their own symbols first.
    pub deep_bind: bool,
}

impl Plan {
    /// A plan that lists nothing.
    pub fn empty(release: Release) -> Self {
        Plan {
            release,
            order: Vec::new(),
            groups: Vec::new(),
            skipped: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            deep_bind: false,
        }
    }
}

/// An adapter left out before anything was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Library or path.
    pub name: String,
    /// Why, and what to change.
    pub reason: String,
}

/// Lists what a release's loader loads. `loader_directory` is where the loader's own file lies, if that is known.
pub fn plan(release: Release, environment: &Environment, loader_directory: Option<&Path>) -> Plan {
    let order = order(release);
    let mut plan = empty_plan(release, environment);
    if let Some(value) = &environment.force_load {
        match parse_list(value) {
            Ok(paths) => {
                force_load(&paths, &mut plan);
                return plan;
            }
            Err(error) => plan.problems.push(format!("UR_ADAPTERS_FORCE_LOAD is ignored: {error}")),
        }
    }
    let directories = match environment.search_path.as_deref().map(parse_list) {
        None => Vec::new(),
        Some(Ok(directories)) => directories,
        Some(Err(error)) => {
            plan.problems.push(format!("UR_ADAPTERS_SEARCH_PATH is ignored: {error}"));
            Vec::new()
        }
    };
    plan.order = order.to_vec();
    let selector = preload_selector(environment, &mut plan.problems);
    for adapter in KNOWN_ADAPTERS {
        if selector.admits(adapter.backend, adapter.kinds) {
            plan.groups.push(known_group(&order, adapter.library, &directories, loader_directory));
        } else {
            plan.skipped.push(Skipped {
                name: adapter.library.to_owned(),
                reason: format!(
                    "ONEAPI_DEVICE_SELECTOR=`{}` selects no device of backend {}",
                    environment.device_selector.as_deref().unwrap_or_default().display(),
                    adapter.backend.name()
                ),
            });
        }
    }
    plan
}

/// A plan that lists nothing yet.
fn empty_plan(release: Release, environment: &Environment) -> Plan {
    Plan {
        deep_bind: truth(environment.deep_bind.as_deref(), false),
        warnings: environment.withheld.iter().map(|name| environment::withheld(name)).collect(),
        ..Plan::empty(release)
    }
}

/// Lists the mock adapter alone: it is a test's own, so only the loader's directory may provide it.
pub fn mock_plan(release: Release, environment: &Environment, loader_directory: Option<&Path>) -> Plan {
    let candidates = loader_directory
        .map(|d| Candidate { path: d.join(MOCK_ADAPTER), origin: Origin::LoaderDirectory })
        .into_iter()
        .collect();
    Plan {
        order: vec![Origin::LoaderDirectory],
        groups: vec![Group { name: MOCK_ADAPTER.to_owned(), candidates }],
        ..empty_plan(release, environment)
    }
}

fn force_load(paths: &[PathBuf], plan: &mut Plan) {
    plan.order = vec![Origin::ForceLoad];
    for path in paths {
        if path.extension().is_some_and(|e| e == "a") {
            plan.skipped.push(Skipped {
                name: path.display().to_string(),
                reason: "it is a static library; list the adapter's shared library (.so)".into(),
            });
            continue;
        }
        // A bare name goes to the dynamic linker as it is, which looks for it as the system does and never in the
        // current directory.
        plan.groups.push(Group {
            name: path.display().to_string(),
            candidates: vec![Candidate { path: path.clone(), origin: Origin::ForceLoad }],
        });
    }
}

fn known_group(order: &[Origin], library: &str, directories: &[PathBuf], loader_directory: Option<&Path>) -> Group {
    let at = |directory: &Path, origin| {
        // An empty component would turn into a bare name and so into the system's search.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        Candidate { path: directory.join(library), origin }
    };
    let of_rule = |&origin: &Origin| -> Vec<Candidate> {
        match origin {
            Origin::SearchPath => directories.iter().map(|directory| at(directory, origin)).collect(),
            Origin::LoaderDirectory => loader_directory.map(|directory| at(directory, origin)).into_iter().collect(),
            Origin::System | Origin::ForceLoad => vec![Candidate { path: library.into(), origin }],
        }
    };
    let candidates = order.iter().flat_map(of_rule).collect();
    Group { name: library.to_owned(), candidates }
}

/// The selector as far as loading is concerned: a malformed one filters nothing here, `urDeviceGetSelected` reports it.
fn preload_selector(environment: &Environment, problems: &mut Vec<String>) -> Selector {
    let Some(value) = &environment.device_selector else { return Selector::default() };
    if !truth(environment.preload_filter.as_deref(), true) {
        return Selector::default();
    }
    match Selector::parse(&value.to_string_lossy()) {
        Ok(selector) => selector,
        Err(error) => {
            problems.push(format!("{error}. All adapters are loaded"));
            Selector::default()
        }
    }
}

/// `y`, `yes`, `t`, `true` and `1` in any case are true, anything else is false.
fn truth(value: Option<&OsStr>, unset: bool) -> bool {
    match value {
        None => unset,
        Some(value) => ["y", "yes", "t", "true", "1"].iter().any(|t| value.eq_ignore_ascii_case(t)),
    }
}

/// Why a list of paths could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError {
    /// Two commas follow each other, or the list begins with one.
    Empty,
    /// A `:` or `;` outside quotes: most likely the list was separated with those.
    Separator(String),
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListError::Empty => f.write_str("it has an empty entry; separate paths with single commas"),
            ListError::Separator(entry) => write!(
                f,
                "entry `{entry}` has a `:` or `;`; separate paths with commas, and put a path that has one in quotes"
            ),
        }
    }
}

/// Reads a list of paths: separated by commas; an entry in `'…'` or `"…"` may hold colons and semicolons.
pub fn parse_list(value: &OsStr) -> Result<Vec<PathBuf>, ListError> {
    let bytes = value.as_bytes();
    let bytes = bytes.strip_suffix(b",").unwrap_or(bytes);
    bytes
        .split(|&b| b == b',')
        .map(|entry| match entry {
            [] => Err(ListError::Empty),
            [b'\'', quoted @ .., b'\''] | [b'"', quoted @ .., b'"'] if !quoted.is_empty() => {
                Ok(PathBuf::from(OsStr::from_bytes(quoted)))
            }
            [b'\'', b'\''] | [b'"', b'"'] => Err(ListError::Empty),
            plain if plain.iter().any(|b| matches!(b, b':' | b';')) => {
                Err(ListError::Separator(String::from_utf8_lossy(plain).into_owned()))
            }
            plain => Ok(PathBuf::from(OsStr::from_bytes(plain))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWEST: Release = Release::NEWEST;

    fn environment(set: impl FnOnce(&mut Environment)) -> Environment {
        let mut environment = Environment::default();
        set(&mut environment);
        environment
    }

    fn names(plan: &Plan) -> Vec<&str> {
        plan.groups.iter().map(|g| g.name.as_str()).collect()
    }

    #[test]
    fn lists_are_separated_by_commas_and_quotes_protect_colons() {
        let paths = |list: &[&str]| Ok(list.iter().map(PathBuf::from).collect::<Vec<_>>());
        let cases = [
            ("/a/x.so", paths(&["/a/x.so"])),
            ("/a/x.so,b.so", paths(&["/a/x.so", "b.so"])),
            ("/a/x.so,", paths(&["/a/x.so"])),
            ("'/a:b/x.so',\"/c;d/y.so\"", paths(&["/a:b/x.so", "/c;d/y.so"])),
            ("/with space/x.so", paths(&["/with space/x.so"])),
            ("'odd", paths(&["'odd"])),
            ("/a.so:/b.so", Err(ListError::Separator("/a.so:/b.so".into()))),
            ("/a.so;/b.so", Err(ListError::Separator("/a.so;/b.so".into()))),
            ("/a.so,,/b.so", Err(ListError::Empty)),
            (",/a.so", Err(ListError::Empty)),
            ("''", Err(ListError::Empty)),
        ];
        for (value, expected) in cases {
            assert_eq!(parse_list(OsStr::new(value)), expected, "{value}");
        }
    }

    #[test]
    fn force_load_lists_exactly_what_it_names_in_its_order() {
        let plan = plan(
            NEWEST,
            &environment(|e| {
                e.force_load = Some("/b/two.so,one.so,./three.so,/x/four.a".into());
                e.search_path = Some("/elsewhere".into());
                e.device_selector = Some("opencl:*".into());
            }),
            Some(Path::new("/loader")),
        );
        let forced = |name: &str, path: &str| Group {
            name: name.into(),
            candidates: vec![Candidate { path: path.into(), origin: Origin::ForceLoad }],
        };
        assert_eq!(
            plan.groups,
            [forced("/b/two.so", "/b/two.so"), forced("one.so", "one.so"), forced("./three.so", "./three.so")]
        );
        assert_eq!(plan.skipped.len(), 1);
        assert_eq!(plan.skipped[0].name, "/x/four.a");
        assert!(plan.skipped[0].reason.contains("static library"));
    }

    #[test]
    fn a_malformed_force_load_is_reported_and_the_known_adapters_are_searched() {
        let plan = plan(NEWEST, &environment(|e| e.force_load = Some("/a.so:/b.so".into())), None);
        assert_eq!(names(&plan).len(), KNOWN_ADAPTERS.len());
        assert_eq!(plan.problems.len(), 1);
        assert!(plan.problems[0].starts_with("UR_ADAPTERS_FORCE_LOAD is ignored"), "{}", plan.problems[0]);
        assert!(plan.problems[0].contains("commas"));
    }

    #[test]
    fn each_release_has_its_order_of_the_system_and_the_loaders_directory() {
        let environment = environment(|e| e.search_path = Some("/first,second".into()));
        let candidate = |path: &str, origin| Candidate { path: path.into(), origin };
        let [first, second, beside, system] = [
            candidate("/first/libur_adapter_cuda.so.0", Origin::SearchPath),
            candidate("second/libur_adapter_cuda.so.0", Origin::SearchPath),
            candidate("/opt/loader/libur_adapter_cuda.so.0", Origin::LoaderDirectory),
            candidate("libur_adapter_cuda.so.0", Origin::System),
        ];
        let older = [Origin::SearchPath, Origin::System, Origin::LoaderDirectory];
        let newer = [Origin::SearchPath, Origin::LoaderDirectory, Origin::System];
        let orders = [
            (Release::R2026_1, older, [first.clone(), second.clone(), system.clone(), beside.clone()]),
            (Release::R2026_2, newer, [first, second, beside, system]),
        ];
        for (release, order, expected) in orders {
            let plan = super::plan(release, &environment, Some(Path::new("/opt/loader")));
            assert_eq!(
                names(&plan),
                KNOWN_ADAPTERS.map(|a| a.library),
                "every known adapter is looked for, in the order of the names"
            );
            assert_eq!(plan.groups[0].candidates, expected);
            assert_eq!(plan.order, order, "for those who show it");
        }
    }

    #[test]
    fn without_variables_the_system_and_the_loaders_directory_are_searched() {
        let plan = plan(NEWEST, &Environment::default(), Some(Path::new("/opt")));
        let origins: Vec<_> = plan.groups[1].candidates.iter().map(|c| c.origin).collect();
        assert_eq!(origins, order(NEWEST)[1..]);
        assert!(plan.problems.is_empty() && plan.warnings.is_empty() && plan.skipped.is_empty() && !plan.deep_bind);
    }

    #[test]
    fn with_raised_rights_the_variables_that_name_libraries_are_not_read_and_are_named() {
        let get = |name: &str| match name {
            "UR_ADAPTERS_FORCE_LOAD" => Some("/force.so".into()),
            "UR_ADAPTERS_SEARCH_PATH" => Some("/search".into()),
            "ONEAPI_DEVICE_SELECTOR" => Some("cuda:*".into()),
            _ => None,
        };
        let usual = Environment::read(false, get);
        assert_eq!((usual.force_load, usual.withheld.len()), (Some("/force.so".into()), 0));
        let raised = Environment::read(true, get);
        assert_eq!((&raised.force_load, &raised.search_path), (&None, &None));
        assert_eq!(raised.device_selector, Some("cuda:*".into()), "it names no file");
        let plan = plan(NEWEST, &raised, None);
        assert_eq!(names(&plan), ["libur_adapter_cuda.so.0"]);
        assert_eq!(plan.warnings.len(), 2);
        assert!(plan.warnings[0].starts_with("UR_ADAPTERS_FORCE_LOAD is ignored"), "{}", plan.warnings[0]);
        assert!(plan.warnings[1].starts_with("UR_ADAPTERS_SEARCH_PATH is ignored"), "{}", plan.warnings[1]);
        assert!(Environment::read(true, |_| None).withheld.is_empty(), "what is not set is not missed");
    }

    #[test]
    fn the_selector_leaves_out_adapters_of_backends_it_does_not_accept() {
        let plan = plan(NEWEST, &environment(|e| e.device_selector = Some("cuda:*;opencl:cpu".into())), None);
        assert_eq!(names(&plan), ["libur_adapter_cuda.so.0", "libur_adapter_opencl.so.0"]);
        assert_eq!(plan.skipped.len(), KNOWN_ADAPTERS.len() - 2);
        assert!(plan.skipped[0].reason.contains("cuda:*;opencl:cpu"), "{}", plan.skipped[0].reason);
        assert!(plan.skipped[0].reason.contains("backend hip"), "{}", plan.skipped[0].reason);
    }

    #[test]
    fn both_level_zero_adapters_are_candidates_of_one_backend() {
        let plan = plan(NEWEST, &environment(|e| e.device_selector = Some("level_zero:*".into())), None);
        assert_eq!(names(&plan), ["libur_adapter_level_zero.so.0", "libur_adapter_level_zero_v2.so.0"]);
    }

    #[test]
    fn the_filter_can_be_switched_off_and_a_malformed_selector_filters_nothing() {
        for (filter, selector, problems) in [(Some("0"), "cuda:*", 0), (None, "cuda", 1)] {
            let plan = plan(
                NEWEST,
                &environment(|e| {
                    e.preload_filter = filter.map(Into::into);
                    e.device_selector = Some(selector.into());
                }),
                None,
            );
            assert_eq!(plan.groups.len(), KNOWN_ADAPTERS.len(), "{selector}");
            assert_eq!(plan.problems.len(), problems, "{selector}");
        }
    }

    #[test]
    fn deep_binding_takes_the_usual_spellings_of_true() {
        for (value, expected) in [("1", true), ("YES", true), ("True", true), ("0", false), ("on", false)] {
            let plan = plan(NEWEST, &environment(|e| e.deep_bind = Some(value.into())), None);
            assert_eq!(plan.deep_bind, expected, "{value}");
        }
    }

    #[test]
    fn mocking_looks_for_the_mock_adapter_beside_the_loader_only() {
        let plan = mock_plan(NEWEST, &environment(|e| e.force_load = Some("/x.so".into())), Some(Path::new("/opt")));
        assert_eq!(names(&plan), [MOCK_ADAPTER]);
        assert_eq!(plan.groups[0].candidates[0].path, Path::new("/opt/libur_adapter_mock.so.0"));
    }
}
