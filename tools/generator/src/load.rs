//! Reads the specification's files from disk. Syntax errors and unknown keys end here, with file and line.

use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::problem::{Location, Problem};
use crate::spec::{ApiFile, ReleaseFile};

/// A parsed file together with what is needed to turn a byte position into a line.
#[derive(Debug)]
pub struct Source<T> {
    /// Name without folder and extension.
    pub stem: String,
    /// Path relative to the project's root.
    pub path: String,
    /// The content.
    pub data: T,
    line_starts: Vec<usize>,
}

impl<T> Source<T> {
    /// The place that a span of this file begins at.
    pub fn at(&self, span: Range<usize>) -> Location {
        Location { file: self.path.clone(), line: line_of(&self.line_starts, span.start) }
    }

    /// The file as a whole.
    pub fn top(&self) -> Location {
        Location { file: self.path.clone(), line: 1 }
    }
}

/// The whole specification as written.
#[derive(Debug)]
pub struct Spec {
    /// Files of `spec/api`, by name.
    pub api: Vec<Source<ApiFile>>,
    /// Files of `spec/releases`, oldest release first.
    pub releases: Vec<Source<ReleaseFile>>,
}

/// Reads `spec/api/*.toml` and `spec/releases/*.toml` under `root`.
pub fn load(root: &Path) -> Result<Spec, Vec<Problem>> {
    let mut problems = Vec::new();
    let api = read_folder(root, "spec/api", &mut problems);
    let mut releases: Vec<Source<ReleaseFile>> = read_folder(root, "spec/releases", &mut problems);
    releases.sort_by_key(|file| release_key(file.data.release.get_ref()));
    if problems.is_empty() { Ok(Spec { api, releases }) } else { Err(problems) }
}

/// Orders releases by number, so that 2026.10 comes after 2026.9.
pub fn release_key(name: &str) -> Vec<u32> {
    name.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn read_folder<T: DeserializeOwned>(root: &Path, folder: &str, problems: &mut Vec<Problem>) -> Vec<Source<T>> {
    let mut names = match toml_files(&root.join(folder)) {
        Ok(names) => names,
        Err(error) => {
            problems.push(Problem::Io { file: folder.to_owned(), message: format!("cannot list the folder: {error}") });
            return Vec::new();
        }
    };
    names.sort();
    let mut sources = Vec::new();
    for name in names {
        let path = format!("{folder}/{name}");
        match fs::read_to_string(root.join(&path)) {
            Ok(text) => match parse(&path, &text) {
                Ok(source) => sources.push(source),
                Err(problem) => problems.push(problem),
            },
            Err(error) => problems.push(Problem::Io { file: path, message: format!("cannot read the file: {error}") }),
        }
    }
    sources
}

fn toml_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") && !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<Source<T>, Problem> {
    let line_starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    match toml::from_str(text) {
        Ok(data) => {
            let file = path.rsplit('/').next().unwrap_or(path);
            let stem = file.strip_suffix(".toml").unwrap_or(file).to_owned();
            Ok(Source { stem, path: path.to_owned(), data, line_starts })
        }
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(&line_starts, span.start));
            Err(Problem::Spec {
                at: Location { file: path.to_owned(), line },
                item: String::new(),
                message: format!("{}; see spec/README.md for the format", error.message()),
            })
        }
    }
}

fn line_of(line_starts: &[usize], position: usize) -> usize {
    line_starts.partition_point(|start| *start <= position)
}
