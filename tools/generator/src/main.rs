//! `generator --root . [--check]`: the library from the command line. `--project-names RELEASE` prints the names that the
//! project's own extensions add to a release's headers, and writes nothing. Nothing is decided here.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use generator::{Mode, Problem, generate, model, project};

fn main() -> ExitCode {
    let (root, task) = match arguments() {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("generator: {message}\nusage: generator [--root FOLDER] [--check | --project-names RELEASE]");
            return ExitCode::from(2);
        }
    };
    let done = match task {
        Task::Generate(mode) => generate(&root, mode).map(|report| {
            let (written, unchanged, removed) = (report.written.len(), report.unchanged.len(), report.removed.len());
            format!("{written} files written, {unchanged} unchanged, {removed} removed")
        }),
        Task::ProjectNames(release) => project_names(&root, &release),
    };
    match done {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The names, one a line.
fn project_names(root: &Path, name: &str) -> Result<String, Vec<Problem>> {
    let model = model(root)?;
    let own = project::files(&model);
    let Some(release) = model.releases.iter().find(|release| release.name == name) else {
        let message = format!("there is no release {name}");
        return Err(vec![Problem::Io { file: "spec/releases".to_owned(), message }]);
    };
    Ok(project::names(release, &own).into_iter().collect::<Vec<_>>().join("\n"))
}

enum Task {
    Generate(Mode),
    ProjectNames(String),
}

fn arguments() -> Result<(PathBuf, Task), String> {
    let mut root = PathBuf::from(".");
    let mut task = Task::Generate(Mode::Write);
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--check" => task = Task::Generate(Mode::Check),
            "--project-names" => task = Task::ProjectNames(given.next().ok_or("--project-names needs a release")?),
            "--root" => root = given.next().ok_or("--root needs a folder")?.into(),
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    Ok((root, task))
}
