//! `abi`: compares our headers with those that oneAPI ships, as a C compiler sees them. The names come from both headers,
//! so that what either lacks is a difference, too. Our own specification says one thing alone: which names belong to
//! extensions of the project's own, and may be missing from theirs.

mod header;
mod probe;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xtask::commands::generate;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{process, python};

use header::Header;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let mut bad = Vec::new();
    for release in Release::ALL {
        let theirs = stock_headers(workspace, release)?;
        let report = compare(workspace, release, &theirs)?;
        for difference in &report.differences {
            println!("{}: {difference}", release.name());
        }
        println!(
            "{} ({}): {}, {} different",
            release.name(),
            release.sycl_wheel(),
            report.counts,
            report.differences.len()
        );
        if !report.differences.is_empty() {
            bad.push(release.name());
        }
    }
    if bad.is_empty() { Ok(()) } else { fail!("our headers of {} are not those of oneAPI", bad.join(" and ")) }
}

struct Report {
    counts: String,
    differences: Vec<String>,
}

/// The stock headers of a release, in a folder that can be given to `-I`.
fn stock_headers(workspace: &Workspace, release: Release) -> Result<PathBuf> {
    let folder = workspace.target().join(format!("abi/{}", release.name()));
    let headers = folder.join("unified-runtime");
    python::unpack(&workspace.target().join("wheels"), release.sycl_wheel(), "/include/unified-runtime/", &headers)?;
    Ok(folder)
}

fn compare(workspace: &Workspace, release: Release, stock: &Path) -> Result<Report> {
    let ours_at = workspace.headers(release);
    let (ours, theirs) = (header::read(&ours_at)?, header::read(stock)?);
    let mut differences = names(&ours, &theirs, &generate::project_names(workspace, release)?);

    let common = probe::common(&ours, &theirs);
    if common.values() < 3000 || common.functions < 200 {
        fail!(
            "only {} values and {} functions were found in the headers: they were not understood",
            common.values(),
            common.functions
        );
    }
    let folder = stock.to_path_buf();
    let printed_ours = probe::run(&common, &ours_at, &folder.join("probe-ours"))?;
    let printed_theirs = probe::run(&common, stock, &folder.join("probe-theirs"))?;
    if printed_ours.len() != printed_theirs.len() {
        fail!("the probe printed {} values of ours and {} of theirs", printed_ours.len(), printed_theirs.len());
    }
    for (a, b) in printed_ours.iter().zip(&printed_theirs) {
        if a != b {
            differences.push(format!("ours {a}, theirs {b}"));
        }
    }
    differences.extend(declarations(&ours, &theirs, stock, &folder.join("declarations.c"))?);
    let counts = format!(
        "{} values compared ({} sizes and alignments, {} field offsets and sizes, {} enumerators, {} macros), {} function \
         declarations and {} type definitions compared",
        printed_ours.len(),
        common.sizes(),
        common.fields(),
        common.enumerators.len(),
        common.macros.len(),
        common.functions,
        common.aliases
    );
    Ok(Report { counts, differences })
}

/// Names that only one of the two has, but for what ours may have alone. A name of the project that theirs has as well is
/// compared like any other.
fn names(ours: &Header, theirs: &Header, project: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut one_sided = |what: &str, a: BTreeSet<&String>, b: BTreeSet<&String>| {
        let ours = a.difference(&b).filter(|name| !project.contains(**name));
        found.extend(ours.map(|name| format!("{what} `{name}` is only in ours")));
        found.extend(b.difference(&a).map(|name| format!("{what} `{name}` is only in theirs")));
    };
    one_sided("record", ours.records.keys().collect(), theirs.records.keys().collect());
    one_sided("type", ours.types.iter().collect(), theirs.types.iter().collect());
    one_sided("enumerator", ours.enumerators.iter().collect(), theirs.enumerators.iter().collect());
    one_sided("macro", ours.macros.keys().collect(), theirs.macros.keys().collect());
    one_sided("function", ours.functions.keys().collect(), theirs.functions.keys().collect());
    for (name, fields) in &ours.records {
        if let Some(other) = theirs.records.get(name).filter(|other| *other != fields) {
            found.push(format!("`{name}` has the fields {fields:?}, theirs {other:?}"));
        }
    }
    found
}

/// Declares our functions and type definitions once more after theirs: C allows that only if they are compatible.
fn declarations(ours: &Header, theirs: &Header, stock: &Path, source: &Path) -> Result<Vec<String>> {
    let functions = ours.functions.iter().filter(|(name, _)| theirs.functions.contains_key(*name));
    let aliases = ours.aliases.iter().filter(|(name, _)| theirs.aliases.contains_key(*name));
    let text: String = functions.chain(aliases).map(|(_, declaration)| format!("{declaration};\n")).collect();
    std::fs::write(source, text).context(source.display())?;
    let mut cc = process::cc();
    cc.args(["-std=c11", "-pedantic-errors", "-fmax-errors=0", "-w", "-fsyntax-only"]);
    let (status, printed) = process::outcome(cc.args(header::includes(stock)).arg(source))?;
    let complaints: Vec<_> = printed.stderr.lines().filter(|l| l.contains("error:")).map(str::to_owned).collect();
    if !status.success() && complaints.is_empty() {
        fail!("the declarations in {} do not compile:\n{}", source.display(), printed.stderr);
    }
    Ok(complaints)
}
