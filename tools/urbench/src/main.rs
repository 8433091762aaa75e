//! `urbench`: what a Unified Runtime costs over the raw driver calls. Loader and adapter are given by path, so any UR is
//! measured by the same binary; the raw calls run in the same process, on the same device and in rounds that alternate
//! with the measured ones, so what disturbs one disturbs the other. Only ratios and differences are meant to be
//! compared between machines. It judges nothing: a bad number is not a failure, a call that fails is.

mod dispatch;
mod fixture;
mod init;
mod measure;
mod options;
mod raw;
mod report;
mod stats;
mod threads;
mod work;

use std::process::ExitCode;

use ur_client::Ur;

use fixture::Fixture;
use options::Options;
use report::Report;

/// What stops the program, or a single case.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line.
    #[error("{0}; try `urbench --help`")]
    Options(#[from] lexopt::Error),
    /// The loader.
    #[error(transparent)]
    Open(#[from] ur_client::OpenError),
    /// A call of the API.
    #[error(transparent)]
    Call(#[from] ur_client::ClientError),
    /// A raw call.
    #[error("the raw call {call} answers {status}")]
    Raw {
        /// The native function.
        call: &'static str,
        /// Its status.
        status: i32,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Whether it only says that the UR lacks the feature.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Failure::Call(error) if error.is_unsupported())
    }
}

fn main() -> ExitCode {
    let result = match Options::from_process() {
        Ok(Some(options)) => run(&options),
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("urbench: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and reports; answers whether every case could be measured or is unsupported.
fn run(options: &Options) -> Result<bool, Failure> {
    options.steer();
    if options.child_init {
        init::child(options)?;
        return Ok(true);
    }
    let mut report = Report::new(options);
    if options.wants("init") {
        report.add("init", init::cases(options));
    }
    if ["dispatch", "work", "threads"].iter().any(|group| options.wants_some_of(group)) {
        let ur = Ur::open(&options.loader)?;
        ur.init()?;
        with_device(&ur, options, &mut report)?;
        ur.tear_down()?;
    }
    report.print();
    report.write_json()?;
    Ok(report.complete())
}

/// The groups that need a device; every handle is given back before the loader is torn down.
fn with_device(ur: &Ur, options: &Options, report: &mut Report<'_>) -> Result<(), Failure> {
    let adapters = ur.adapters()?;
    let _held = ur.hold_adapters(&adapters);
    let fixture = Fixture::new(ur, &adapters, options)?;
    report.describe(&fixture);
    for (name, case) in dispatch::cases(&fixture, options) {
        report.add(&name, case.map(|case| vec![case]));
    }
    for (name, case) in work::cases(&fixture, options) {
        report.add(&name, case.map(|case| vec![case]));
    }
    if options.wants("threads") {
        report.add("threads", threads::cases(&fixture, options));
    }
    Ok(())
}
