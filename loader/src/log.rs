//! The loader's log, steered by `UR_LOG_LOADER` as users of the stock loader know it:
//! `level:debug|info|warning|error|quiet;flush:…;output:stdout|stderr|file,PATH`. Silent by default. An option that is
//! wrong is named on stderr and skipped; the rest of the setting holds.
//!
//! Logging never fails a call and never panics: what cannot be written is dropped. It takes no lock, each message being
//! one `write` to a descriptor, so that the child of a fork can log whatever other threads were doing.

use crate::environment;
use crate::log_file;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Severity of a message, and threshold below which messages are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The variants are the names.
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
    /// Threshold only: nothing is as severe.
    Quiet,
}

impl Level {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "debug" => Level::Debug,
            "info" => Level::Info,
            "warning" | "warn" => Level::Warning,
            "error" => Level::Error,
            "quiet" => Level::Quiet,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
            Level::Quiet => "QUIET",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Stdout,
    Stderr,
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    level: Level,
    output: Output,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: Level::Quiet, output: Output::Stderr }
    }
}

impl Settings {
    /// Reads the variable, with a sentence for each option that is skipped. `flush` is checked but changes nothing: every
    /// message is written out at once.
    fn parse(value: &str) -> (Self, Vec<String>) {
        let mut settings = Settings::default();
        let options = value.split(';').filter(|option| !option.is_empty());
        let problems = options.filter_map(|option| settings.take(option).err()).collect();
        (settings, problems)
    }

    fn take(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once(':').unwrap_or((option, ""));
        match name {
            "level" | "flush" => {
                let level = Level::parse(value)
                    .ok_or_else(|| format!("`{option}`: the level is debug, info, warning, error or quiet"))?;
                if name == "level" {
                    self.level = level;
                }
            }
            "output" => {
                self.output = match value.split_once(',') {
                    None if value == "stdout" => Output::Stdout,
                    None if value == "stderr" => Output::Stderr,
                    Some(("file", path)) if !path.is_empty() => Output::File(path.trim_matches(['\'', '"']).into()),
                    _ => return Err(format!("`{option}`: the output is stdout, stderr or file,PATH")),
                }
            }
            _ => return Err(format!("`{option}`: the options are level:, flush: and output:")),
        }
        Ok(())
    }
}

struct Logger {
    level: Level,
    sink: Sink,
}

enum Sink {
    Descriptor(RawFd),
    File(File),
}

impl Sink {
    /// Where `output` says, or the reason why not.
    fn open(output: Output, raised_rights: bool) -> Result<Self, String> {
        match output {
            Output::Stdout => Ok(Sink::Descriptor(libc::STDOUT_FILENO)),
            Output::Stderr => Ok(Sink::Descriptor(libc::STDERR_FILENO)),
            Output::File(_) if raised_rights => Err(environment::withheld("the file of UR_LOG_LOADER")),
            Output::File(path) => log_file::open(&path)
                .map(Sink::File)
                .map_err(|reason| format!("UR_LOG_LOADER: cannot log to `{}`: {reason}", path.display())),
        }
    }

    fn write(&self, line: &[u8]) {
        // What cannot be written is dropped. The descriptor stays open when the `File` around it goes.
        let _ = match self {
            // SAFETY: the process's own output; whoever closed it makes the write fail, nothing else.
            Sink::Descriptor(fd) => ManuallyDrop::new(unsafe { File::from_raw_fd(*fd) }).write_all(line),
            Sink::File(file) => { file }.write_all(line),
        };
    }
}

const STDERR: Sink = Sink::Descriptor(libc::STDERR_FILENO);

impl Logger {
    fn from_environment() -> Self {
        let value = environment::variable("UR_LOG_LOADER").unwrap_or_default();
        let (settings, problems) = Settings::parse(&value.to_string_lossy());
        for problem in problems {
            complain(Level::Warning, format_args!("UR_LOG_LOADER: an option is skipped: {problem}"));
        }
        let sink = Sink::open(settings.output, environment::has_raised_rights()).unwrap_or_else(|reason| {
            complain(Level::Warning, format_args!("{reason}; logging to stderr"));
            STDERR
        });
        Logger { level: settings.level, sink }
    }
}

fn line(level: Level, message: fmt::Arguments<'_>) -> String {
    format!("{}{}]: {message}\n", log_file::MARK, level.name())
}

/// Says on stderr what the user must learn whatever the log's settings are.
pub fn complain(level: Level, message: fmt::Arguments<'_>) {
    STDERR.write(line(level, message).as_bytes());
}

static LOGGER: OnceLock<Logger> = OnceLock::new();

fn log_to(logger: &Logger, level: Level, message: fmt::Arguments<'_>) {
    if level >= logger.level {
        // One write per message keeps the lines of several threads apart.
        logger.sink.write(line(level, message).as_bytes());
    }
}

fn log(level: Level, message: fmt::Arguments<'_>) {
    log_to(LOGGER.get_or_init(Logger::from_environment), level, message);
}

/// Logs a failure.
pub fn error(message: fmt::Arguments<'_>) {
    log(Level::Error, message);
}

/// Logs a failure if the log is open already, and waits for nobody who may be opening it: for the child of a fork.
pub fn error_if_open(message: fmt::Arguments<'_>) {
    if let Some(logger) = LOGGER.get() {
        log_to(logger, Level::Error, message);
    }
}

/// Logs a suspect condition.
pub fn warning(message: fmt::Arguments<'_>) {
    log(Level::Warning, message);
}

/// Logs normal operation.
pub fn info(message: fmt::Arguments<'_>) {
    log(Level::Info, message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_reads_as_in_the_stock_loader() {
        let settings = |level, output| (Settings { level, output }, Vec::new());
        let cases = [
            ("", settings(Level::Quiet, Output::Stderr)),
            ("level:warning;output:stdout", settings(Level::Warning, Output::Stdout)),
            ("level:info;flush:warning;output:file,out.log", settings(Level::Info, Output::File("out.log".into()))),
            ("output:stderr;level:debug", settings(Level::Debug, Output::Stderr)),
            ("level:error;", settings(Level::Error, Output::Stderr)),
        ];
        for (value, expected) in cases {
            assert_eq!(Settings::parse(value), expected, "{value}");
        }
    }

    #[test]
    fn a_wrong_option_is_named_and_the_rest_holds() {
        for wrong in ["level:loud", "flush:", "output:file", "output:printer", "colour:red", "level"] {
            for value in [format!("{wrong};level:info"), format!("level:info;{wrong}")] {
                let (settings, problems) = Settings::parse(&value);
                assert_eq!(settings.level, Level::Info, "{value}");
                assert_eq!(problems.len(), 1, "{value}: {problems:?}");
                assert!(problems[0].contains(wrong), "{value}: {problems:?}");
            }
        }
    }

    #[test]
    fn with_raised_rights_no_file_is_opened() {
        let path = std::env::temp_dir().join(format!("ur-raised-{}.log", std::process::id()));
        let reason = Sink::open(Output::File(path.clone()), true).err().expect("refused");
        assert!(reason.contains("raised rights"), "{reason}");
        assert!(!path.exists());
        assert!(Sink::open(Output::Stdout, true).is_ok(), "it is no file");
    }

    #[test]
    fn levels_are_ordered_by_severity() {
        assert!(Level::Debug < Level::Info && Level::Info < Level::Warning);
        assert!(Level::Warning < Level::Error && Level::Error < Level::Quiet);
    }
}
