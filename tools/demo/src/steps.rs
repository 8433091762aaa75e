//! The table of steps: what each took in time and native calls. It measures the host's side only, which is the point: a
//! step that enqueues is over when it has enqueued.

use std::time::{Duration, Instant};

use ur_client::{ClientError, NativeCalls, print};

use crate::Failure;

/// Prints a line for every step that runs through it.
pub struct Steps<'a> {
    calls: Option<&'a NativeCalls>,
    time: Duration,
    total: u64,
}

impl<'a> Steps<'a> {
    /// Begins a table.
    pub fn new(calls: Option<&'a NativeCalls>) -> Result<Self, Failure> {
        print(&format!("  {:<44} {:>12} {:>13}\n", "step", "time", "native calls"))?;
        Ok(Self { calls, time: Duration::ZERO, total: 0 })
    }

    /// Runs a step and prints its line.
    pub fn run<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T, ClientError>) -> Result<T, Failure> {
        let before = self.calls.map(NativeCalls::total);
        let start = Instant::now();
        let value = step()?;
        let time = start.elapsed();
        let calls = self.calls.map(|calls| calls.total() - before.unwrap_or(0));
        self.time += time;
        self.total += calls.unwrap_or(0);
        print(&line(name, time, calls))?;
        Ok(value)
    }

    /// Prints the sums.
    pub fn end(self) -> Result<(), Failure> {
        Ok(print(&line("together", self.time, self.calls.map(|_| self.total)))?)
    }
}

fn line(name: &str, time: Duration, calls: Option<u64>) -> String {
    let calls = calls.map_or_else(|| "-".to_owned(), |calls| calls.to_string());
    format!("  {name:<44} {:>9.1} us {calls:>13}\n", time.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_columns_and_a_dash_for_what_is_not_counted() {
        let columns = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(columns(line("finish", Duration::from_nanos(1500), Some(4))), ["finish", "1.5", "us", "4"]);
        assert_eq!(columns(line("finish", Duration::from_micros(20), None)), ["finish", "20.0", "us", "-"]);
        assert_eq!(line("a", Duration::ZERO, None).len(), line("b", Duration::from_secs(9), Some(99)).len());
    }
}
