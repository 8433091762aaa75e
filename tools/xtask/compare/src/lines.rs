//! `lines`: how many lines each crate has, with generated code and tests apart. It counts; it judges nothing.

use std::fs;
use std::path::Path;

use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Workspace;
use xtask::support::{cargo, files};

/// A package's own folders: another package may lie beside them.
const FOLDERS: [&str; 3] = ["src", "tests", "examples"];

#[derive(Default)]
struct Count {
    code: usize,
    comments: usize,
    tests: usize,
    generated: usize,
}

/// The command.
pub fn run(workspace: &Workspace, _: &[String]) -> Result {
    println!("{:<24}{:>8}{:>10}{:>8}{:>11}", "crate", "code", "comments", "tests", "generated");
    let mut sum = Count::default();
    for package in cargo::packages(workspace)? {
        let mut own = Count::default();
        for folder in FOLDERS {
            count(&package.folder, folder, &mut own)?;
        }
        print(&package.name, &own);
        sum.code += own.code;
        sum.comments += own.comments;
        sum.tests += own.tests;
        sum.generated += own.generated;
    }
    print("all", &sum);
    let mut spec = Count::default();
    count(workspace.root(), "spec/api", &mut spec)?;
    println!("spec/api: {} lines of TOML", spec.code);
    Ok(())
}

fn print(name: &str, count: &Count) {
    println!("{name:<24}{:>8}{:>10}{:>8}{:>11}", count.code, count.comments, count.tests, count.generated);
}

/// Adds the lines of all sources in a folder of `top`.
fn count(top: &Path, folder: &str, sum: &mut Count) -> Result {
    let files = files::list(&top.join(folder))?;
    for file in files.iter().map(|file| Path::new(folder).join(file)) {
        let kind = file.extension().and_then(|extension| extension.to_str());
        if !matches!(kind, Some("rs" | "toml" | "c" | "cpp" | "py" | "sh")) {
            continue;
        }
        let path = top.join(&file);
        let text = fs::read_to_string(&path).context(path.display())?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let within = |name: &str| file.iter().any(|part| part == name);
        if within("generated") {
            sum.generated += lines.count();
        } else if within("tests") {
            sum.tests += lines.count();
        } else {
            // A test module stands at a file's end.
            let mut in_tests = false;
            for line in lines {
                in_tests |= line == "#[cfg(test)]";
                match () {
                    () if in_tests => sum.tests += 1,
                    () if line.trim_start().starts_with("//") => sum.comments += 1,
                    () => sum.code += 1,
                }
            }
        }
    }
    Ok(())
}
