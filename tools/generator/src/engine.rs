//! The map from entry points to the engine: which function answers each one, how it takes its parameters, and what an
//! adapter supports of it.
//!
//! Read from `adapters/common/src/api/map.toml`, whose head explains the keys. A specification without that file has no
//! engine, and every entry point of it answers that it is not supported. Nothing here looks at the engine's code: the
//! compiler holds the thunks against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::model::{Model, Release};
use crate::problem::{Location, Problem};

/// Where the map lies.
pub const PATH: &str = "adapters/common/src/api/map.toml";

/// The map.
#[derive(Clone, Debug, Default)]
pub struct EngineMap {
    rows: BTreeMap<String, Row>,
    /// Reasons that several entry points share.
    unsupported: BTreeMap<String, String>,
    text: Option<String>,
}

/// What the map says of one entry point.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The engine's function, with checked parameters.
    engine: Option<String>,
    /// The engine's function, with C's own parameters.
    raw: Option<String>,
    /// Pointers to several elements and the parameter that says how many, where the specification does not.
    #[serde(default)]
    pub slices: BTreeMap<String, String>,
    /// The number of work dimensions, which is checked before anything has so many elements.
    pub dimensions: Option<String>,
    /// Pointers that may be null and become addresses, for the function or its command reads or writes there.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Handles that are set to null before anything is checked.
    #[serde(default)]
    pub clears: Vec<String>,
    /// What the thunk leaves to the engine's function to check.
    #[serde(default)]
    pub unchecked: Vec<String>,
    /// Structures that the engine's function gets together with their `pNext` chain.
    #[serde(default)]
    pub chained: Vec<String>,
    /// Handles whose reference the call gives back, where the specification does not say so.
    #[serde(default)]
    pub gives_back: Vec<String>,
    /// Whether it is called once more when it found no memory and something that was kept came back.
    #[serde(default)]
    pub makes: bool,
    /// Why it is not supported at all.
    unsupported: Option<String>,
    /// What is missing.
    #[serde(default)]
    partial: Vec<String>,
    /// What a device or a library must have.
    #[serde(default)]
    needs: Vec<String>,
    /// What is worth knowing of what is supported.
    #[serde(default)]
    notes: Vec<String>,
    /// What CUDA alone supports or lacks.
    #[serde(default)]
    pub cuda: Support,
    /// What HIP alone supports or lacks.
    #[serde(default)]
    pub hip: Support,
}

/// What one backend supports of an entry point, beside what the row says of both.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Why it is not supported at all.
    pub unsupported: Option<String>,
    /// What is missing.
    #[serde(default)]
    pub partial: Vec<String>,
    /// What a device or a library must have.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What is worth knowing of what is supported.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Who answers an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'m> {
    /// A function of the engine with checked parameters.
    Checked(&'m str),
    /// A function of the engine with C's own parameters.
    Raw(&'m str),
    /// Nobody: it is not supported.
    Nobody,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    functions: BTreeMap<String, Row>,
    #[serde(default)]
    unsupported: Vec<Unsupported>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unsupported {
    why: String,
    functions: Vec<String>,
}

impl EngineMap {
    /// Reads the map under `root`.
    ///
    /// # Errors
    /// A file that cannot be read, or a key that the format does not have.
    pub fn load(root: &Path) -> Result<EngineMap, Problem> {
        let path = root.join(PATH);
        if !path.exists() {
            return Ok(EngineMap::default());
        }
        let text = fs::read_to_string(&path).map_err(|error| Problem::Io {
            file: PATH.to_owned(),
            message: format!("cannot read the file: {error}"),
        })?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            problem(line, "", format!("{}; the head of the file explains the keys", error.message()))
        })?;
        let mut unsupported = BTreeMap::new();
        for group in file.unsupported {
            for name in group.functions {
                unsupported.insert(name, group.why.clone());
            }
        }
        Ok(EngineMap { rows: file.functions, unsupported, text: Some(text) })
    }

    /// Whether there is no engine.
    pub fn is_empty(&self) -> bool {
        self.text.is_none()
    }

    /// The row of an entry point, where it has one of its own.
    pub fn row(&self, function: &str) -> Option<&Row> {
        self.rows.get(function)
    }

    /// Who answers an entry point.
    pub fn answer(&self, function: &str) -> Answer<'_> {
        match self.row(function) {
            Some(Row { engine: Some(path), .. }) => Answer::Checked(path),
            Some(Row { raw: Some(path), .. }) => Answer::Raw(path),
            _ => Answer::Nobody,
        }
    }

    /// Why nothing answers an entry point.
    pub fn reason(&self, function: &str) -> Option<&str> {
        let own = || self.row(function)?.unsupported.as_deref();
        self.unsupported.get(function).map(String::as_str).or_else(own)
    }

    /// What is wrong with the map: entry points that it lacks, that the API does not have, or that it has twice, and
    /// rows that do not say who answers.
    pub fn lint(&self, model: &Model) -> Vec<Problem> {
        let Some(text) = &self.text else { return Vec::new() };
        let mut problems = Vec::new();
        let mut add = |name: &str, message: &str| {
            let line = text.lines().position(|line| line.contains(name)).map_or(1, |index| index + 1);
            problems.push(problem(line, name, message.to_owned()));
        };
        let has = |release: &Release, name: &str| release.function(name).is_some_and(|f| f.slot.is_some());
        for release in &model.releases {
            for function in release.functions.iter().filter(|function| function.slot.is_some()) {
                if !self.rows.contains_key(&function.name) && !self.unsupported.contains_key(&function.name) {
                    add(&function.name, "has no row; say which function of the engine answers it, or why none does");
                }
            }
        }
        for name in self.rows.keys().chain(self.unsupported.keys()) {
            if !model.releases.iter().any(|release| has(release, name)) {
                add(name, "is no entry point of an adapter in any release; remove it");
            }
            if self.rows.contains_key(name) && self.unsupported.contains_key(name) {
                add(name, "has a row and stands in a list of what is unsupported; keep one");
            }
        }
        for (name, row) in &self.rows {
            match (&row.engine, &row.raw) {
                (Some(_), Some(_)) => add(name, "has both `engine` and `raw`; keep the one that fits its function"),
                (None, None) if row.unsupported.is_none() => {
                    add(name, "has neither `engine` nor `raw` nor `unsupported`");
                }
                _ => {}
            }
        }
        let known = constants(model);
        for (name, row) in &self.rows {
            for word in row.quoted().into_iter().filter(|word| !known.contains(word.as_str())) {
                add(name, &format!("names `{word}`, which the specification does not have"));
            }
        }
        problems.sort();
        problems.dedup();
        problems
    }
}

impl Row {
    /// What both backends support.
    pub fn both(&self) -> Support {
        Support {
            unsupported: self.unsupported.clone(),
            partial: self.partial.clone(),
            needs: self.needs.clone(),
            notes: self.notes.clone(),
        }
    }

    /// The API's constants that the row names whole.
    fn quoted(&self) -> Vec<String> {
        let both = self.both();
        let texts = [&both, &self.cuda, &self.hip].map(|support| {
            let lists = [&support.partial, &support.needs, &support.notes];
            support.unsupported.iter().chain(lists.into_iter().flatten()).cloned().collect::<Vec<_>>().join(" ")
        });
        let all = texts.join(" ");
        let quoted = all.split('`').skip(1).step_by(2);
        quoted.filter(|word| word.starts_with("UR_") && !word.ends_with('*')).map(str::to_owned).collect()
    }
}

/// The names of all constants in all releases.
fn constants(model: &Model) -> BTreeSet<&str> {
    let releases = model.releases.iter();
    let enumerators =
        releases.clone().flat_map(|release| &release.enums).flat_map(|e| &e.values).map(|v| v.name.as_str());
    enumerators.chain(releases.flat_map(|release| &release.defines).map(|define| define.name.as_str())).collect()
}

fn problem(line: usize, item: &str, message: String) -> Problem {
    Problem::Spec { at: Location { file: PATH.to_owned(), line }, item: item.to_owned(), message }
}
