//! `lines`: how many lines each crate has, with generated code and tests apart. It counts; it judges nothing.

use std::fs;
use std::path::Path;

use crate::support::failure::{Context, Result};
use crate::support::files;
use crate::support::workspace::Workspace;

const CRATES: [&str; 14] = [
    "spec/ffi",
    "loader",
    "adapters/common",
    "adapters/cuda",
    "conformance/simcuda",
    "conformance/callcount",
    "conformance/suite",
    "conformance/sycl",
    "tools/client",
    "tools/demo",
    "tools/generator",
    "tools/urbench",
    "tools/urinfo",
    "tools/xtask",
];

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
    for name in CRATES {
        let folder = workspace.path(name);
        if !folder.is_dir() {
            continue;
        }
        let count = count(&folder)?;
        print(name, &count);
        sum.code += count.code;
        sum.comments += count.comments;
        sum.tests += count.tests;
        sum.generated += count.generated;
    }
    print("all", &sum);
    let spec = count(&workspace.path("spec/api"))?;
    println!("spec/api: {} lines of TOML", spec.code);
    Ok(())
}

fn print(name: &str, count: &Count) {
    println!("{name:<24}{:>8}{:>10}{:>8}{:>11}", count.code, count.comments, count.tests, count.generated);
}

fn count(folder: &Path) -> Result<Count> {
    let mut sum = Count::default();
    for file in files::list(folder)? {
        let kind = file.extension().and_then(|extension| extension.to_str());
        if !matches!(kind, Some("rs" | "toml" | "c" | "cpp" | "py" | "sh")) {
            continue;
        }
        let path = folder.join(&file);
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
    Ok(sum)
}
