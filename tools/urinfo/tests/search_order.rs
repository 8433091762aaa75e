//! The order that `--why` prints, beside what the real loader of each release does: its log names every candidate that it tries,
//! and the adapter that it opens tells its number. The search that `--why` prints runs in a process of its own, which logs nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use ur_client::ffi::releases::Release;

const ADAPTER: &str = "libur_adapter_cuda.so.0";
const LOADER: &str = "libur_loader.so.0";

/// Where an adapter can lie. Its number is the version that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    FirstOfPath = 1,
    SecondOfPath = 2,
    System = 3,
    Loader = 4,
}

use Place::{FirstOfPath, Loader, SecondOfPath, System};

impl Place {
    const ALL: [Place; 4] = [FirstOfPath, SecondOfPath, System, Loader];

    fn folder(self) -> &'static str {
        match self {
            FirstOfPath => "first",
            SecondOfPath => "second",
            System => "system",
            Loader => "loader",
        }
    }

    /// The candidate and the rule that names it.
    fn candidate(self, folder: &Path) -> String {
        let file = folder.join(self.folder()).join(ADAPTER);
        match self {
            FirstOfPath | SecondOfPath => format!("{} (UR_ADAPTERS_SEARCH_PATH)", file.display()),
            // The dynamic linker looks for the bare name.
            System => format!("{ADAPTER} (the system's search)"),
            Loader => format!("{} (the loader's directory)", file.display()),
        }
    }
}

/// As seen of the stock loaders: 2026.1 asks the system first, 2026.2 looks beside itself first.
fn order(release: Release) -> [Place; 4] {
    match release {
        Release::R2026_1 => [FirstOfPath, SecondOfPath, System, Loader],
        Release::R2026_2 => [FirstOfPath, SecondOfPath, Loader, System],
    }
}

/// A loader of that release in a folder of its own, with folders around it for adapters.
struct Layout {
    release: Release,
    folder: PathBuf,
    _guard: TempDir,
}

/// What one run printed, and what the real loader did in it.
struct Run {
    /// The rows of `--why` for the adapter's candidates, without their indentation.
    rows: Vec<String>,
    /// The candidates of the adapter that the loader's log names.
    tried: Vec<String>,
    everything: String,
}

impl Layout {
    fn new(release: Release) -> Self {
        let guard = tempfile::tempdir().expect("a folder");
        // The loader's directory is told without links.
        let folder = guard.path().canonicalize().expect("a folder that exists");
        for place in Place::ALL {
            fs::create_dir(folder.join(place.folder())).expect("a new folder");
            build_adapter(release, place as u32, &folder.join(format!("{}.so", place as u32)));
        }
        link_loader(release, &folder.join("loader").join(LOADER));
        Layout { release, folder, _guard: guard }
    }

    /// Has adapters at these places and nowhere else.
    fn place(&self, places: &[Place]) {
        for place in Place::ALL {
            let file = self.folder.join(place.folder()).join(ADAPTER);
            let _ = fs::remove_file(&file);
            if places.contains(&place) {
                fs::copy(self.folder.join(format!("{}.so", place as u32)), file).expect("a copy");
            }
        }
    }

    /// Runs `urinfo --why` with that file as its loader.
    fn run(&self, loader: &Path) -> Run {
        let at = |place: Place| self.folder.join(place.folder());
        let mut command = Command::new(env!("CARGO_BIN_EXE_urinfo"));
        for variable in
            ["UR_ADAPTERS_FORCE_LOAD", "UR_ADAPTERS_DEEP_BIND", "UR_LOADER_PRELOAD_FILTER", "ONEAPI_DEVICE_SELECTOR"]
        {
            command.env_remove(variable);
        }
        let path = format!("{},{}", at(FirstOfPath).display(), at(SecondOfPath).display());
        command.env("UR_ADAPTERS_SEARCH_PATH", path).env("LD_LIBRARY_PATH", at(System));
        command.env("UR_LOG_LOADER", "level:info;output:stderr").arg("--loader").arg(loader).arg("--why");
        let output = command.output().expect("urinfo starts");
        let [printed, log] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let rows = printed.lines().skip_while(|line| *line != format!("  {ADAPTER}")).skip(1);
        let rows = rows.take_while(|line| line.starts_with("    ")).map(|line| line.trim_start().to_owned()).collect();
        let tried = log.lines().filter(|line| line.contains(ADAPTER));
        let tried = tried.filter_map(|line| Some(line.split_once("[INFO]: ")?.1.to_owned())).collect();
        Run { rows, tried, everything: printed + &log }
    }
}

fn loader_crate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loader")
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The loader's tests' adapter, with this number.
fn build_adapter(release: Release, number: u32, out: &Path) {
    let headers = if release == Release::NEWEST { "include".into() } else { format!("include-{}", release.name()) };
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-shared", "-fPIC"]).arg(format!("-DID={number}"));
    cc.arg("-I").arg(loader_crate().join(headers)).arg(loader_crate().join("tests/fixtures/adapter.c"));
    succeed(cc.arg("-o").arg(out));
}

/// The shared object, linked from the static library as for a release.
fn link_loader(release: Release, out: &Path) {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let package = format!("ur-loader-{}", release.name().replace('.', "-"));
    build.args(["build", "--quiet", "--package", &package, "--message-format=json"]).current_dir(loader_crate());
    let messages = succeed(&mut build);
    let archive = format!("libur_loader_{}.a", release.name().replace('.', "_"));
    let archive = messages.split('"').find(|text| text.ends_with(&archive)).expect("cargo names what it built");
    succeed(Command::new("sh").arg(loader_crate().join("link.sh")).arg(archive).arg(out).arg(release.name()));
}

/// Fails unless both the rows and the loader go through the candidates in the release's order, to the first place that has an adapter.
fn expect_order(layout: &Layout, run: &Run, places: &[Place]) {
    let order = order(layout.release);
    let taken = order.iter().position(|place| places.contains(place)).expect("a place with an adapter");
    let candidates = order.map(|place| place.candidate(&layout.folder));
    let path = candidates[taken].split_once(" (").expect("a rule behind the path").0;
    let row = |(index, candidate): (usize, &String)| match index {
        before if before < taken => format!("- {candidate}: not found"),
        at if at == taken => format!("* {candidate}: used"),
        _ => format!("- {candidate}: not needed: {path} is used"),
    };
    let rows: Vec<_> = candidates.iter().enumerate().map(row).collect();
    assert_eq!(run.rows, rows, "{:?} with adapters in {places:?}\n{}", layout.release, run.everything);
    let mut tried: Vec<_> = candidates[..taken].iter().map(|candidate| format!("{candidate}: not found")).collect();
    tried.push(format!("loaded {}", candidates[taken]));
    assert_eq!(run.tried, tried, "{:?} with adapters in {places:?}\n{}", layout.release, run.everything);
    let adapter = format!("\nadapter 0: CUDA, version {}\n", order[taken] as u32);
    assert!(run.everything.contains(&adapter), "{adapter:?} is missing from\n{}", run.everything);
}

#[test]
fn why_prints_the_candidates_in_the_order_in_which_the_loader_of_each_release_tries_them() {
    for release in Release::ALL.iter().copied() {
        let layout = Layout::new(release);
        for places in [&Place::ALL[..], &[SecondOfPath, System, Loader], &[System, Loader], &[System], &[Loader]] {
            layout.place(places);
            let run = layout.run(&layout.folder.join("loader").join(LOADER));
            expect_order(&layout, &run, places);
        }
    }
}

#[test]
fn why_prints_the_directory_of_the_loader_s_file_and_not_that_of_a_link_to_it() {
    let layout = Layout::new(Release::NEWEST);
    layout.place(&[Loader]);
    let links = layout.folder.join("links");
    fs::create_dir(&links).expect("a new folder");
    std::os::unix::fs::symlink(Path::new("../loader").join(LOADER), links.join(LOADER)).expect("a link");
    fs::copy(layout.folder.join("1.so"), links.join(ADAPTER)).expect("a copy");
    let run = layout.run(&links.join(LOADER));
    let directory = format!("\n  the loader's directory is {}\n", layout.folder.join("loader").display());
    assert!(run.everything.contains(&directory), "{directory:?} is missing from\n{}", run.everything);
    expect_order(&layout, &run, &[Loader]);
}
