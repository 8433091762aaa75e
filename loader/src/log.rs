//! The loader's log, steered by `UR_LOG_LOADER` as users of the stock loader know it:
//! `level:debug|info|warning|error|quiet;flush:…;output:stdout|stderr|file,PATH`. Silent by default. Logging never fails
//! a call and never panics: what cannot be written is dropped.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

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
    /// Reads the variable. `flush` is checked but changes nothing: every message is written out at once.
    fn parse(value: &str) -> Result<Self, String> {
        let mut settings = Settings::default();
        for option in value.split(';').filter(|o| !o.is_empty()) {
            let (name, value) = option.split_once(':').unwrap_or((option, ""));
            match name {
                "level" | "flush" => {
                    let level = Level::parse(value)
                        .ok_or_else(|| format!("`{option}`: the level is debug, info, warning, error or quiet"))?;
                    if name == "level" {
                        settings.level = level;
                    }
                }
                "output" => {
                    settings.output = match value.split_once(',') {
                        None if value == "stdout" => Output::Stdout,
                        None if value == "stderr" => Output::Stderr,
                        Some(("file", path)) if !path.is_empty() => Output::File(path.trim_matches(['\'', '"']).into()),
                        _ => return Err(format!("`{option}`: the output is stdout, stderr or file,PATH")),
                    }
                }
                _ => return Err(format!("`{option}`: the options are level:, flush: and output:")),
            }
        }
        Ok(settings)
    }
}

struct Logger {
    level: Level,
    sink: Sink,
}

enum Sink {
    Stdout,
    Stderr,
    File(Mutex<File>),
}

impl Logger {
    fn from_environment() -> Self {
        let value = std::env::var_os("UR_LOG_LOADER").unwrap_or_default();
        let settings = Settings::parse(&value.to_string_lossy()).unwrap_or_else(|problem| {
            complain(format_args!("UR_LOG_LOADER is ignored: {problem}"));
            Settings::default()
        });
        let sink = match settings.output {
            Output::Stdout => Sink::Stdout,
            Output::Stderr => Sink::Stderr,
            Output::File(path) => match File::create(&path) {
                Ok(file) => Sink::File(Mutex::new(file)),
                Err(error) => {
                    complain(format_args!(
                        "UR_LOG_LOADER: cannot write `{}` ({error}); logging to stderr",
                        path.display()
                    ));
                    Sink::Stderr
                }
            },
        };
        Logger { level: settings.level, sink }
    }

    fn write(&self, level: Level, message: fmt::Arguments<'_>) {
        // One write per message keeps the lines of several threads apart.
        let line = format!("<LOADER>[{}]: {message}\n", level.name());
        let _ = match &self.sink {
            Sink::Stdout => io::stdout().write_all(line.as_bytes()).and_then(|()| io::stdout().flush()),
            Sink::Stderr => io::stderr().write_all(line.as_bytes()),
            Sink::File(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
        };
    }
}

fn complain(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "<LOADER>[ERROR]: {message}");
}

fn log(level: Level, message: fmt::Arguments<'_>) {
    static LOGGER: OnceLock<Logger> = OnceLock::new();
    let logger = LOGGER.get_or_init(Logger::from_environment);
    if level >= logger.level {
        logger.write(level, message);
    }
}

/// Logs a failure.
pub fn error(message: fmt::Arguments<'_>) {
    log(Level::Error, message);
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
        let settings = |level, output| Ok(Settings { level, output });
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
    fn a_wrong_option_is_named() {
        for value in ["level:loud", "flush:", "output:file", "output:printer", "colour:red", "level"] {
            let problem = Settings::parse(value).expect_err(value);
            assert!(problem.contains(value), "{problem}");
        }
    }

    #[test]
    fn levels_are_ordered_by_severity() {
        assert!(Level::Debug < Level::Info && Level::Info < Level::Warning);
        assert!(Level::Warning < Level::Error && Level::Error < Level::Quiet);
    }
}
