//! Translates every `.spv` file of a folder, compiles it if asked to, and says what went wrong and how long it took:
//!
//! `cargo run --release -p ur-spirv --example images -- FOLDER [--sm 90] [--compile] [--offset | --both] [--every N] [--out FOLDER] [--threads N]`
//!
//! With `--offset` kernels take a global offset, and files are named `NAME_with_offset`; with `--both` there is either variant of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ur_spirv::nvvm::{Compiler, Nvvm};
use ur_spirv::{GlobalOffset, Options, parse, translate};

#[derive(Default)]
struct Report {
    translated: Vec<Duration>,
    compiled: Vec<Duration>,
    bytes: usize,
    failures: BTreeMap<String, Vec<PathBuf>>,
}

struct Job {
    sm: u32,
    global_offset: GlobalOffset,
    nvvm: Option<Nvvm>,
    out: Option<PathBuf>,
}

impl Job {
    fn run(&self, file: &Path, report: &Mutex<Report>) -> Result<(), String> {
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        let mut options = Options { global_offset: self.global_offset, ..Options::for_architecture(self.sm) };
        if let Some(nvvm) = &self.nvvm {
            options.dialect = nvvm.dialect(self.sm).map_err(|error| error.to_string())?;
        }
        let start = Instant::now();
        let module = parse(&bytes).map_err(|error| error.to_string())?;
        let translation = translate(&module, &options).map_err(|error| error.to_string())?;
        let taken = start.elapsed();
        {
            let mut report = report.lock().unwrap();
            report.translated.push(taken);
            report.bytes += translation.text.len();
        }
        let suffix = if self.global_offset == GlobalOffset::Taken { "_with_offset" } else { "" };
        let name = format!("{}{suffix}", file.file_stem().unwrap_or_default().to_string_lossy());
        if let Some(out) = &self.out {
            std::fs::write(out.join(format!("{name}.ll")), &translation.text).map_err(|error| error.to_string())?;
        }
        let Some(nvvm) = &self.nvvm else { return Ok(()) };
        let start = Instant::now();
        let list = translation.compiler_options(&options);
        let compiled = nvvm
            .compile(&[(name.as_str(), translation.text.as_str())], &list, translation.uses_libdevice)
            .map_err(|error| error.to_string())?;
        report.lock().unwrap().compiled.push(start.elapsed());
        if let Some(out) = &self.out {
            std::fs::write(out.join(format!("{name}.ptx")), &compiled.ptx).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn times(name: &str, list: &mut [Duration]) {
    if list.is_empty() {
        return;
    }
    list.sort();
    let total: Duration = list.iter().sum();
    let median = list[list.len() / 2];
    println!(
        "{name}: {} images, {total:.1?} in all, median {median:.2?}, most {:.2?}",
        list.len(),
        list[list.len() - 1]
    );
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder of .spv files");
    let (mut sm, mut every, mut threads, mut compiles, mut global_offset, mut out) =
        (90, 1, 1, false, GlobalOffset::None, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match argument.as_str() {
            "--sm" => sm = value().parse().expect("a number"),
            "--every" => every = value().parse().expect("a number"),
            "--threads" => threads = value().parse().expect("a number"),
            "--out" => out = Some(PathBuf::from(value())),
            "--compile" => compiles = true,
            "--offset" => global_offset = GlobalOffset::Taken,
            "--both" => global_offset = GlobalOffset::Both,
            other => panic!("unknown option {other}"),
        }
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "spv"));
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().step_by(every).collect();
    let nvvm = compiles.then(|| Nvvm::open().unwrap_or_else(|error| panic!("{error}")));
    let job = Job { sm, global_offset, nvvm, out };
    let (report, next) = (Mutex::new(Report::default()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = job.run(file, &report) {
                        report.lock().unwrap().failures.entry(error).or_default().push(file.clone());
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap();
    times("translated", &mut report.translated);
    times("compiled", &mut report.compiled);
    println!("{} files, {} bytes of text", files.len(), report.bytes);
    for (error, files) in &report.failures {
        println!("{} x {error}\n    {}", files.len(), files[0].display());
    }
    let failed = report.failures.values().map(Vec::len).sum::<usize>();
    println!("{failed} failed");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
