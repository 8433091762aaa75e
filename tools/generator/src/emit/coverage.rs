//! `docs/coverage.md`: what the adapters support of each entry point, from the rows of the map.

use std::fmt::Write;

use crate::engine::{Row, Support};
use crate::model::{Dispatch, Function, Model};
use crate::output::{Comment, Output};

const PATH: &str = "docs/coverage.md";

const HEAD: &str = "\
# What is supported

Every function of the newest release and of the project's own tables, and what the two adapters do with it. It is written from
`adapters/common/src/api/map.toml`, the table that also says which function of the engine answers. The conformance suite
(`coverage`) and `cargo xtask test` hold it against what built adapters answer: what is supported has worked in a test, and what
is unsupported has not.

- **supported**: all that the specification asks for; what a device or a library must have for it is told as *needs*.
- **partial**: works, but for what is told.
- **unsupported**: answers an error with the reason, `UR_RESULT_ERROR_UNSUPPORTED_FEATURE` if nothing else is said.
- **loader**: the loader answers, no adapter is asked.
";

const BACKENDS: [&str; 2] = ["CUDA", "HIP"];

const SUPPORTED: &str = "supported";
const PARTIAL: &str = "partial";
const UNSUPPORTED: &str = "unsupported";
const LOADER: &str = "loader";
const WORDS: [&str; 4] = [SUPPORTED, PARTIAL, UNSUPPORTED, LOADER];

/// The document; none where there is no engine.
pub fn emit(model: &Model) -> Option<Output> {
    if model.engine.is_empty() {
        return None;
    }
    let rows: Vec<Line> = model.newest().functions.iter().map(|function| Line::of(model, function)).collect();
    let mut out = HEAD.to_owned();
    counts(&mut out, &rows);
    for file in &model.files {
        let own: Vec<_> = rows.iter().filter(|row| row.function.file == file.stem).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {} (`{}.toml`)\n\n", file.title, file.stem);
        out.push_str("| function | CUDA | HIP | what is missing, and why |\n|---|---|---|---|\n");
        for row in own {
            let [cuda, hip] = row.words;
            let _ = writeln!(out, "| `{}` | {cuda} | {hip} | {} |", row.function.name, row.remarks.join("<br>"));
        }
    }
    Some(Output::new(PATH, Comment::Markup, out))
}

struct Line<'m> {
    function: &'m Function,
    words: [&'static str; 2],
    remarks: Vec<String>,
}

impl<'m> Line<'m> {
    fn of(model: &'m Model, function: &'m Function) -> Line<'m> {
        if function.dispatch == Dispatch::Loader && function.name != "urAdapterGet" {
            return Line { function, words: [LOADER; 2], remarks: Vec::new() };
        }
        let reason = model.engine.reason(&function.name);
        let Some(row) = model.engine.row(&function.name) else {
            return Line {
                function,
                words: [UNSUPPORTED; 2],
                remarks: reason.map(str::to_owned).into_iter().collect(),
            };
        };
        let words = [&row.cuda, &row.hip].map(|own| word(&row.both(), own));
        Line { function, words, remarks: remarks(row) }
    }
}

fn word(both: &Support, own: &Support) -> &'static str {
    if both.unsupported.is_some() || own.unsupported.is_some() {
        UNSUPPORTED
    } else if !both.partial.is_empty() || !own.partial.is_empty() {
        PARTIAL
    } else {
        SUPPORTED
    }
}

/// What is missing, then what is needed, then what is worth knowing; each of both backends before one's own.
fn remarks(row: &Row) -> Vec<String> {
    let both = row.both();
    let all = [("", &both), ("CUDA: ", &row.cuda), ("HIP: ", &row.hip)];
    let mut out = Vec::new();
    for (backend, support) in all {
        out.extend(support.unsupported.iter().map(|text| format!("{backend}{text}")));
    }
    for (backend, support) in all {
        out.extend(support.partial.iter().map(|text| format!("{backend}{text}")));
    }
    for (backend, support) in all {
        out.extend(support.needs.iter().map(|text| format!("{backend}*needs* {text}")));
    }
    for (backend, support) in all {
        out.extend(support.notes.iter().map(|text| format!("{backend}{text}")));
    }
    out
}

fn counts(out: &mut String, rows: &[Line<'_>]) {
    let _ = write!(out, "\n|  | {} | all |\n|---|{}---:|\n", WORDS.join(" | "), "---:|".repeat(WORDS.len()));
    for (index, backend) in BACKENDS.iter().enumerate() {
        let count = |word: &str| rows.iter().filter(|row| row.words[index] == word).count().to_string();
        let _ = writeln!(out, "| {backend} | {} | {} |", WORDS.map(count).join(" | "), rows.len());
    }
}
