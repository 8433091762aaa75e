//! The table and the JSON. It measures nothing and leaves nothing out: what could not be measured is listed with the
//! reason.

use serde::Serialize;
use serde_json::{Value, json};

use crate::Failure;
use crate::fixture::Fixture;
use crate::options::Options;
use crate::stats::Summary;

/// Something with the name of its case.
pub type Named<T> = (String, Result<T, Failure>);

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// The group and what is measured; filled in by the report if empty.
    pub name: String,
    /// Nanoseconds of the UR.
    pub measured: Summary,
    /// Nanoseconds of what it is compared with.
    pub raw: Option<Summary>,
    /// The one over the other.
    pub ratio: Option<Summary>,
    /// The one less the other, where that says more.
    pub difference: Option<Summary>,
    /// Native calls of the UR per iteration.
    pub calls: Option<f64>,
    /// Native calls of the raw side per iteration.
    pub raw_calls: Option<f64>,
    /// What else there is to know.
    pub note: String,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            name: String::new(),
            measured: Summary::of(vec![0.0]),
            raw: None,
            ratio: None,
            difference: None,
            calls: None,
            raw_calls: None,
            note: String::new(),
        }
    }
}

/// All rows.
pub struct Report<'o> {
    options: &'o Options,
    subject: Value,
    cases: Vec<Case>,
    missing: Vec<(String, String, bool)>,
}

impl<'o> Report<'o> {
    /// An empty one.
    pub fn new(options: &'o Options) -> Self {
        let subject = json!({
            "loader": options.loader.to_string_lossy(),
            "adapter": options.adapter.as_ref().map(|path| path.to_string_lossy().into_owned())
                .or_else(|| std::env::var("UR_ADAPTERS_FORCE_LOAD").ok()),
            "native_library": options.native.to_string_lossy(),
            "counted_library": std::env::var("UR_CALLCOUNT_LIBRARY").ok(),
            "rounds": options.rounds,
            "round_time_ns": options.round_time.as_nanos() as u64,
            "processors": std::thread::available_parallelism().map_or(0, usize::from),
        });
        Self { options, subject, cases: Vec::new(), missing: Vec::new() }
    }

    /// Says what was measured.
    pub fn describe(&mut self, fixture: &Fixture<'_>) {
        self.subject["backend"] = json!(fixture.backend);
        self.subject["device"] = json!(fixture.device_name);
        self.subject["driver"] = json!(fixture.driver);
        self.subject["native_calls_counted"] = json!(fixture.calls.is_some());
        if let Some(reason) = &fixture.no_raw {
            self.subject["no_raw_side"] = json!(reason);
        }
    }

    /// Adds rows, or the reason why there are none.
    pub fn add(&mut self, name: &str, result: Result<Vec<Case>, Failure>) {
        match result {
            Ok(cases) => self.cases.extend(cases.into_iter().map(|case| match case.name.is_empty() {
                true => Case { name: name.to_owned(), ..case },
                false => case,
            })),
            Err(failure) => self.missing.push((name.to_owned(), failure.to_string(), failure.is_unsupported())),
        }
    }

    /// Whether nothing failed; what a UR does not support is no failure.
    pub fn complete(&self) -> bool {
        self.missing.iter().all(|(_, _, unsupported)| *unsupported)
    }

    /// The table.
    pub fn print(&self) {
        if let Value::Object(subject) = &self.subject {
            for (key, value) in subject.iter().filter(|(_, value)| !value.is_null()) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                println!("{key:<22} {text}");
            }
        }
        println!("\n{}", table(&self.cases));
        for (name, reason, unsupported) in &self.missing {
            println!("{name}: {}: {reason}", if *unsupported { "not supported" } else { "FAILED" });
        }
    }

    fn json(&self) -> Value {
        let missing = self
            .missing
            .iter()
            .map(|(name, reason, unsupported)| json!({ "name": name, "reason": reason, "unsupported": unsupported }));
        json!({ "subject": self.subject, "cases": self.cases, "missing": missing.collect::<Vec<_>>() })
    }

    /// Writes the JSON where it was asked for.
    pub fn write_json(&self) -> Result<(), Failure> {
        let Some(path) = &self.options.json else { return Ok(()) };
        std::fs::write(path, format!("{:#}\n", self.json()))
            .map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
    }
}

/// Columns as wide as their widest cell; the last one is text.
fn table(cases: &[Case]) -> String {
    let head = ["case", "UR", "+-%", "raw", "ratio", "calls", "raw calls", "note"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(cases.iter().map(row)).collect();
    let widths: Vec<usize> =
        (0..8).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 8]| {
        let mut text = format!("{:<width$}", row[0], width = widths[0]);
        for column in 1..7 {
            text += &format!("  {:>width$}", row[column], width = widths[column]);
        }
        format!("{text}  {}", row[7]).trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn row(case: &Case) -> [String; 8] {
    let dash = || "-".to_owned();
    let calls = |calls: Option<f64>| calls.map_or_else(dash, |calls| format!("{calls:.2}"));
    let ratio = match (&case.difference, &case.ratio) {
        (Some(difference), _) => format!("{:+.2} ns", difference.median),
        (None, Some(ratio)) => format!("x{:.2}", ratio.median),
        (None, None) => dash(),
    };
    [
        case.name.clone(),
        time(case.measured.median),
        format!("{:.0}", case.measured.spread()),
        case.raw.as_ref().map_or_else(dash, |raw| time(raw.median)),
        ratio,
        calls(case.calls),
        calls(case.raw_calls),
        case.note.clone(),
    ]
}

/// With three or four digits that mean something.
fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 100.0 => format!("{n:.2} ns"),
        n if n < 10_000.0 => format!("{n:.0} ns"),
        n if n < 10_000_000.0 => format!("{:.1} us", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        Case {
            name: "work: launch".into(),
            measured: Summary::of(vec![3000.0, 3100.0, 2900.0]),
            raw: Some(Summary::of(vec![2800.0])),
            ratio: Some(Summary::of(vec![1.07])),
            calls: Some(1.0),
            note: "pinned".into(),
            ..Case::default()
        }
    }

    #[test]
    fn the_table_has_aligned_columns_and_dashes_for_what_there_is_not() {
        let text = table(&[case(), Case { name: "x".into(), ..Case::default() }]);
        let lines: Vec<&str> = text.lines().collect();
        let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            columns(lines[1]),
            ["work:", "launch", "3000", "ns", "2", "2800", "ns", "x1.07", "1.00", "-", "pinned"]
        );
        assert_eq!(columns(lines[2]), ["x", "0.00", "ns", "0", "-", "-", "-", "-"]);
        assert_eq!(lines[0].find("note"), lines[1].find("pinned"), "{text}");
    }

    #[test]
    fn a_difference_is_shown_instead_of_a_ratio() {
        let case = Case { difference: Some(Summary::of(vec![2.345])), ..case() };
        assert_eq!(row(&case)[4], "+2.35 ns");
    }

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        let shown = [1.234, 480.4, 53_000.0, 1.1e8].map(time);
        assert_eq!(shown, ["1.23 ns", "480 ns", "53.0 us", "110.0 ms"]);
    }
}
