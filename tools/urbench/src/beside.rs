//! Another adapter's rows beside this one's: each of its processes runs next to one of ours, and which of the two comes first changes
//! every time, so that a host that is slow for a while is slow for both. It compares and gives no verdict: what a change may cost is
//! said by whoever made it.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::options::Options;
use crate::outcome::Outcome;
use crate::report::markdown;
use crate::{goals, once_more, processes_of};

/// The rows of another adapter.
pub struct Beside {
    /// The adapter.
    pub adapter: PathBuf,
    /// What was measured of it, and what was not.
    pub outcome: Outcome,
}

/// Measures the processes that are still to come of both, if another adapter was named: ours have made the first one each way. Of the
/// other the same cases are measured but for those that make processes of their own.
pub fn measure(options: &Options, ours: &mut Outcome) -> Option<Beside> {
    let adapter = options.beside.clone()?;
    let its = Options { adapter: Some(adapter.clone()), ..options.clone() };
    let mut outcome = Outcome::default();
    for (answer, suffix) in processes_of(&its, ours) {
        match answer {
            Ok(rows) => outcome.merge(rows, suffix),
            Err(failure) => outcome.add(&format!("the adapter beside{suffix}"), Err(failure)),
        }
    }
    for process in 1..options.processes {
        // Ours was first before, so the other one is first now.
        if process % 2 == 1 {
            once_more(&its, &mut outcome);
            once_more(options, ours);
        } else {
            once_more(options, ours);
            once_more(&its, &mut outcome);
        }
    }
    Some(Beside { adapter, outcome })
}

impl Beside {
    /// The rows of the table of goals that both have, and what could not be measured of the other adapter.
    pub fn text(&self, options: &Options, ours: &Outcome) -> String {
        let rows = |outcome| goals::rows(outcome, |case| options.wants(case));
        let mut cells = vec![["beside", "its", "quartiles", "ours", "quartiles", "ours less its"].map(str::to_owned)];
        for (its, ours) in rows(&self.outcome).iter().zip(&rows(ours)) {
            let (Some(value), Some(own)) = (its.value, ours.value) else { continue };
            cells.push([
                its.work.to_owned(),
                its.shown(value),
                its.shown_quartiles(),
                ours.shown(own),
                ours.shown_quartiles(),
                format!("{:+.3}", own - value),
            ]);
        }
        let mut text = format!("beside {}\n\n{}\n", self.adapter.display(), markdown(&cells));
        for missing in &self.outcome.missing {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "beside: {}: {}", missing.name, missing.reason);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;
    use crate::outcome::Case;
    use crate::stats::Summary;

    fn launch(ratio: f64) -> Outcome {
        let ratio = Some(Summary::of(vec![ratio]));
        Outcome { cases: vec![Case { name: "work: launch".into(), ratio, ..Case::default() }], missing: Vec::new() }
    }

    #[test]
    fn a_row_that_both_have_shows_both_figures_and_the_difference() {
        let beside = Beside { adapter: "old.so".into(), outcome: launch(1.018) };
        let text = beside.text(&Options::default(), &launch(1.022));
        let row = text.lines().find(|line| line.contains("kernel launch ")).expect("the row");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells, ["kernel launch", "1.018", "1.018 to 1.018", "1.022", "1.022 to 1.022", "+0.004"]);
    }

    #[test]
    fn a_row_that_one_of_them_lacks_is_left_out_and_what_failed_of_the_other_is_told() {
        let mut outcome = Outcome::default();
        outcome.add("work: launch", Err(Failure::Other("broken".into())));
        let text = Beside { adapter: "old.so".into(), outcome }.text(&Options::default(), &launch(1.0));
        assert!(!text.contains("kernel launch") && text.contains("beside: work: launch: broken"), "{text}");
    }
}
