//! The tables and the JSON. It measures nothing and leaves nothing out: what could not be measured is listed with the
//! reason.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::Failure;
use crate::beside::Beside;
use crate::calls::Calls;
use crate::fixture::Fixture;
use crate::goals::{self, Row, Verdict};
use crate::options::Options;
use crate::outcome::{Case, Outcome};

/// Says what is measured.
pub struct Report<'o> {
    options: &'o Options,
    subject: Value,
}

impl<'o> Report<'o> {
    /// Of this process's options and environment.
    pub fn new(options: &'o Options) -> Self {
        let variable = |name| std::env::var(name).ok();
        let subject = json!({
            "loader": options.loader.to_string_lossy(),
            "adapter": options.adapter.as_ref().map(|path| path.to_string_lossy().into_owned())
                .or_else(|| variable("UR_ADAPTERS_FORCE_LOAD")),
            "native_library": options.native.to_string_lossy(),
            "hip_library": variable("UR_HIP_LIBRARY"),
            "counted_library": variable("UR_CALLCOUNT_LIBRARY"),
            "magazine_bytes": variable("UR_USM_MAGAZINE_BYTES"),
            "rounds": options.rounds,
            "round_time_ns": options.round_time.as_nanos() as u64,
            "processes": options.processes,
            "processors": std::thread::available_parallelism().map_or(0, usize::from),
        });
        Self { options, subject }
    }

    /// Says what was measured.
    pub fn describe(&mut self, fixture: &Fixture<'_>) {
        self.subject["backend"] = json!(format!("{:?}", fixture.backend));
        self.subject["device"] = json!(fixture.device_name);
        self.subject["driver"] = json!(fixture.driver);
        self.subject["native_calls_counted"] = json!(fixture.calls.is_some());
        self.subject["pool_threshold"] = json!(fixture.threshold);
        if let Some(reason) = &fixture.no_raw {
            self.subject["no_raw_side"] = json!(reason);
        }
    }

    /// Says where native calls were counted, if not here.
    pub fn counted_by(&mut self, library: &std::path::Path) {
        self.subject["native_calls_counted"] = json!(format!("by {} in a second process", library.display()));
    }

    fn goals(&self, outcome: &Outcome) -> Vec<Row> {
        goals::rows(outcome, |case| self.options.wants(case))
    }

    /// The tables.
    pub fn text(&self, outcome: &Outcome, beside: Option<&Beside>) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_tables(&mut out, outcome);
        if let Some(beside) = beside {
            let _ = write!(out, "\n{}", beside.text(self.options, outcome));
        }
        out
    }

    fn write_tables(&self, out: &mut String, outcome: &Outcome) -> std::fmt::Result {
        if let Value::Object(subject) = &self.subject {
            for (key, value) in subject.iter().filter(|(_, value)| !value.is_null()) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                writeln!(out, "{key:<22} {text}")?;
            }
        }
        if !self.options.table && !outcome.cases.is_empty() {
            writeln!(out, "\n{}", cases_table(&outcome.cases))?;
        }
        let goals = self.goals(outcome);
        if !goals.is_empty() {
            writeln!(out, "\n{}", goals_table(&goals))?;
        }
        for missing in &outcome.missing {
            let what = if missing.unsupported { "not supported" } else { "FAILED" };
            writeln!(out, "{}: {what}: {}", missing.name, missing.reason)?;
        }
        Ok(())
    }

    /// Writes the JSON where it was asked for.
    pub fn write_json(&self, outcome: &Outcome, beside: Option<&Beside>) -> Result<(), Failure> {
        let Some(path) = &self.options.json else { return Ok(()) };
        let beside = beside.map(|beside| {
            json!({
                "adapter": beside.adapter.to_string_lossy(),
                "goals": self.goals(&beside.outcome),
                "cases": beside.outcome.cases,
                "missing": beside.outcome.missing,
            })
        });
        let whole = json!({
            "subject": self.subject,
            "goals": self.goals(outcome),
            "cases": outcome.cases,
            "missing": outcome.missing,
            "beside": beside,
        });
        std::fs::write(path, format!("{whole:#}\n"))
            .map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
    }
}

/// Cells of a row, as wide as the widest of their column; all but the first and the last are aligned to the right.
fn aligned<const N: usize>(rows: &[[String; N]], line: impl Fn(&[String; N]) -> String) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    rows.iter()
        .map(|row| {
            line(&std::array::from_fn(|column| match column {
                0 => format!("{:<width$}", row[0], width = widths[0]),
                last if last == N - 1 => format!("{:<width$}", row[last], width = widths[last]),
                column => format!("{:>width$}", row[column], width = widths[column]),
            }))
        })
        .collect()
}

/// The promises.
fn goals_table(rows: &[Row]) -> String {
    let head =
        ["work, in-order queue", "UR / raw", "quartiles", "goal", "", "C++", "UR ns", "raw ns", "calls, UR / raw"];
    let cells: Vec<[String; 9]> = std::iter::once(head.map(str::to_owned)).chain(rows.iter().map(goal_cells)).collect();
    markdown(&cells)
}

/// Rows, the first of which names the columns, as a table that reads as text and as Markdown.
pub fn markdown<const N: usize>(rows: &[[String; N]]) -> String {
    let mut lines = aligned(rows, |cells| format!("| {} |", cells.join(" | ")));
    if let Some(head) = lines.first() {
        let rule = head.chars().map(|c| if c == '|' { '|' } else { '-' }).collect();
        lines.insert(1, rule);
    }
    lines.join("\n")
}

fn goal_cells(row: &Row) -> [String; 9] {
    let pair = |pair: Option<(f64, Option<f64>)>, text: fn(f64) -> String| {
        let (ours, raw) = pair.unzip();
        [ours, raw.flatten()].map(|value| value.map_or_else(String::new, text))
    };
    let [ours, raw] = pair(row.nanoseconds, figures);
    let calls = pair(row.calls, goals::count);
    let value = row.value.map_or_else(|| "-".to_owned(), |value| row.shown(value));
    [
        row.work.to_owned(),
        match row.raw {
            Some(raw) => format!("{value} (raw {})", row.shown(raw)),
            None => value,
        },
        row.shown_quartiles(),
        row.goal.clone(),
        match row.verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Compare => "",
            Verdict::Unsupported => "unsupported",
            Verdict::Error => "ERROR",
            Verdict::Unknown => "not measured",
        }
        .to_owned(),
        if row.known.is_empty() { String::new() } else { format!("({})", row.known) },
        ours,
        raw,
        calls.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" / "),
    ]
}

/// Nanoseconds in at least three figures.
fn figures(nanoseconds: f64) -> String {
    if nanoseconds < 100.0 { format!("{nanoseconds:.1}") } else { format!("{nanoseconds:.0}") }
}

/// Every case.
fn cases_table(cases: &[Case]) -> String {
    let head = ["case", "UR", "+-%", "raw", "ratio", "calls", "raw calls", "note"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(cases.iter().map(case_cells)).collect();
    aligned(&rows, |cells| cells.join("  ").trim_end().to_owned()).join("\n")
}

fn case_cells(case: &Case) -> [String; 8] {
    let dash = || "-".to_owned();
    let calls = |calls: &Option<Calls>| calls.as_ref().map_or_else(dash, |calls| format!("{:.2}", calls.total()));
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
        calls(&case.calls),
        calls(&case.raw_calls),
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
    use crate::stats::Summary;

    fn case() -> Case {
        Case {
            name: "work: launch".into(),
            measured: Summary::of(vec![3000.0, 3100.0, 2900.0]),
            raw: Some(Summary::of(vec![2800.0])),
            ratio: Some(Summary::of(vec![1.07])),
            calls: Some(Calls { functions: [("cuLaunchKernel".to_owned(), 1.0)].into() }),
            note: "pinned".into(),
            ..Case::default()
        }
    }

    #[test]
    fn the_table_has_aligned_columns_and_dashes_for_what_there_is_not() {
        let text = cases_table(&[case(), Case { name: "x".into(), ..Case::default() }]);
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
        assert_eq!(case_cells(&case)[4], "+2.35 ns");
    }

    #[test]
    fn a_goal_is_a_row_of_a_markdown_table_with_the_known_figure_in_brackets() {
        let outcome = Outcome { cases: vec![case()], missing: Vec::new() };
        let text = goals_table(&goals::rows(&outcome, |case| case == "work: launch"));
        let lines: Vec<&str> = text.lines().collect();
        let cells: Vec<&str> = lines[2].trim_matches('|').split('|').map(str::trim).collect();
        let wanted = ["kernel launch", "1.070", "1.070 to 1.070", "<= 1.00", "FAIL", "(1.06)", "3000", "2800", "1"];
        assert_eq!(cells, wanted);
        assert!(lines[1].chars().all(|c| c == '|' || c == '-') && lines[1].len() == lines[0].len(), "{text}");
    }

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        let shown = [1.234, 480.4, 53_000.0, 1.1e8].map(time);
        assert_eq!(shown, ["1.23 ns", "480 ns", "53.0 us", "110.0 ms"]);
    }
}
