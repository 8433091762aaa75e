//! Why an adapter is used or not: the loader's own search and judgement (`ur_loader::search`, `ur_loader::registry`), run
//! once more over the same environment, with what became of every library it considers. It can say so only for the rules
//! of this project's loader, whatever loader lists the devices.
//!
//! The search runs in a process of its own: the dynamic linker answers a name with what is loaded already, so in one
//! process the second of two searches would only find what the first found. The program has no run path, so a bare name is opened
//! for it as for the loader.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use ur_client::ffi::releases::Release;
use ur_loader::registry::{self, Finding, Outcome, Registry};
use ur_loader::search::{self, Environment, Plan};

/// What the search came to.
#[derive(Debug, Serialize, Deserialize)]
pub struct Search {
    /// Where the loader lies, if that could be told.
    pub loader_directory: Option<PathBuf>,
    /// The rules that name candidates, first to last.
    pub order: Vec<String>,
    /// Variables that could not be used.
    pub problems: Vec<String>,
    /// The adapters in order.
    pub adapters: Vec<Considered>,
}

/// One adapter that was looked for.
#[derive(Debug, Serialize, Deserialize)]
pub struct Considered {
    /// Its library or path.
    pub name: String,
    /// Why it was not looked for at all.
    pub skipped: Option<String>,
    /// Its candidates in order.
    pub candidates: Vec<Tried>,
}

/// One candidate.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The path.
    pub path: PathBuf,
    /// The rule that named it.
    pub origin: String,
    /// Whether it is used.
    pub taken: bool,
    /// Why, or why not.
    pub reason: String,
}

/// Searches as the loader does, in a process of its own.
///
/// # Errors
/// Why the process gave no answer.
pub fn explain(loader: &OsStr) -> Result<Search, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg("--search-only")
        .arg("--loader")
        .arg(loader)
        // The loader of this process says the same.
        .env_remove("UR_LOG_LOADER")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Takes standard output for the answer alone. What else is written there, as by libraries when they are opened, goes to standard
/// error from now on.
///
/// # Errors
/// The system's.
pub fn take_output() -> io::Result<File> {
    let answer = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: the process's own descriptors, both open: the standard library opens what of them it was started without.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(answer))
}

/// Searches as the loader does, which is of this release, here; it must not have done so before.
pub fn search(loader: &OsStr, release: Release) -> Search {
    let loader_directory = directory_of(loader);
    let plan = search::plan(release, &Environment::from_process(), loader_directory.as_deref());
    let findings = judge(&plan);
    Search {
        order: plan.order.iter().map(ToString::to_string).collect(),
        problems: plan.problems.iter().chain(&plan.warnings).cloned().collect(),
        adapters: consider(&plan, &findings),
        loader_directory,
    }
}

/// Lets the loader's registry open what the plan lists, and ask it for adapters, as the real one does.
fn judge(plan: &Plan) -> Vec<Finding> {
    let registry = Registry::new();
    if registry.init(|| Ok(plan.clone())).is_err() {
        return Vec::new();
    }
    // An adapter's library that reports none makes way for the next candidate only when it is asked.
    let _ = registry.adapters(|_| Ok(()));
    let findings = registry.findings();
    let _ = registry.tear_down();
    findings
}

/// What became of each candidate. A finding is of one of them: what is listed twice has two, or one and was tried once.
fn consider(plan: &Plan, findings: &[Finding]) -> Vec<Considered> {
    let mut findings: Vec<&Finding> = findings.iter().collect();
    let skipped = plan.skipped.iter().map(|skipped| Considered {
        name: skipped.name.clone(),
        skipped: Some(skipped.reason.clone()),
        candidates: Vec::new(),
    });
    let groups = plan.groups.iter().map(|group| {
        let mut taken: Option<&Path> = None;
        let candidates = group.candidates.iter().map(|candidate| {
            let is_its = |finding: &&Finding| {
                let tried = finding.candidate.as_ref();
                finding.adapter == group.name
                    && tried.is_some_and(|(path, origin)| *path == candidate.path && *origin == candidate.origin)
            };
            let finding = findings.iter().position(is_its).map(|at| findings.remove(at));
            let (used, reason) = match finding.map(|finding| &finding.outcome) {
                Some(Outcome::Loaded) => (true, "used".to_owned()),
                Some(Outcome::Refused(fault)) => (false, fault.to_string()),
                Some(Outcome::Skipped(reason)) => (false, reason.clone()),
                None => (
                    false,
                    match taken {
                        Some(path) => format!("not needed: {} is used", path.display()),
                        None => "not tried".to_owned(),
                    },
                ),
            };
            if used {
                taken = Some(&candidate.path);
            }
            Tried { path: candidate.path.clone(), origin: candidate.origin.to_string(), taken: used, reason }
        });
        Considered { name: group.name.clone(), skipped: None, candidates: candidates.collect() }
    });
    // The search lists what it looks for in a fixed order; what it skips comes last here, as the less surprising part.
    let mut all: Vec<Considered> = groups.collect();
    all.extend(skipped);
    all
}

/// The directory of the loader that this process has loaded under this name.
fn directory_of(loader: &OsStr) -> Option<PathBuf> {
    let name = CString::new(loader.as_bytes()).ok()?;
    registry::directory_of(&loaded_path(&name)?)
}

fn loaded_path(name: &CStr) -> Option<PathBuf> {
    // SAFETY: RTLD_NOLOAD loads nothing and runs nothing; the handle is closed below.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: a live handle; the address alone is used.
    let symbol: *mut c_void = unsafe { libc::dlsym(handle, c"urLoaderInit".as_ptr()) };
    let path = path_of(symbol);
    // SAFETY: opened above; the client keeps the library itself open.
    unsafe { libc::dlclose(handle) };
    path
}

/// The file that holds an address.
fn path_of(address: *mut c_void) -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the output is writable.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: all fields are pointers, zeroed above or written by the call.
    let info = unsafe { info.assume_init() };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's own string, which stays as long as the library does.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ur_loader::library::Fault;
    use ur_loader::search::{Candidate, Group, Origin, Skipped};

    fn plan() -> Plan {
        let candidate = |path: &str, origin| Candidate { path: path.into(), origin };
        Plan {
            groups: vec![Group {
                name: "a.so".into(),
                candidates: vec![
                    candidate("/x/a.so", Origin::SearchPath),
                    candidate("a.so", Origin::System),
                    candidate("/l/a.so", Origin::LoaderDirectory),
                ],
            }],
            skipped: vec![Skipped { name: "b.so".into(), reason: "the selector".into() }],
            ..Plan::empty(Release::NEWEST)
        }
    }

    fn finding(path: &str, origin: Origin, outcome: Outcome) -> Finding {
        Finding { adapter: "a.so".into(), candidate: Some((path.into(), origin)), outcome }
    }

    #[test]
    fn every_candidate_has_its_reason_and_those_after_the_used_one_name_it() {
        let findings = [
            finding("/x/a.so", Origin::SearchPath, Outcome::Refused(Fault::NotAnAdapter)),
            finding("a.so", Origin::System, Outcome::Loaded),
        ];
        let considered = consider(&plan(), &findings);
        let reasons: Vec<_> = considered[0].candidates.iter().map(|c| (c.taken, c.reason.as_str())).collect();
        assert_eq!(reasons[0], (false, Fault::NotAnAdapter.to_string().as_str()));
        assert_eq!(reasons[1], (true, "used"));
        assert_eq!(reasons[2], (false, "not needed: a.so is used"));
        assert_eq!((considered[1].name.as_str(), considered[1].skipped.as_deref()), ("b.so", Some("the selector")));
    }

    #[test]
    fn a_path_that_is_listed_twice_is_used_once() {
        let mut twice = plan();
        let listed = Candidate { path: "/x/a.so".into(), origin: Origin::ForceLoad };
        twice.groups = ["/x/a.so"; 2].map(|name| Group { name: name.into(), candidates: vec![listed.clone()] }).into();
        let finding = |outcome| Finding { adapter: "/x/a.so".into(), ..finding("/x/a.so", Origin::ForceLoad, outcome) };
        let again = Fault::Duplicate("/x/a.so".into());
        let considered = consider(&twice, &[finding(Outcome::Loaded), finding(Outcome::Refused(again.clone()))]);
        let reasons: Vec<_> = considered.iter().take(2).map(|adapter| adapter.candidates[0].reason.clone()).collect();
        assert_eq!(reasons, ["used".to_owned(), again.to_string()]);
        // In one adapter's folders, where the second is never tried.
        twice.groups.truncate(1);
        twice.groups[0].candidates.push(listed);
        let considered = consider(&twice, &[finding(Outcome::Loaded)]);
        assert_eq!(considered[0].candidates[1].reason, "not needed: /x/a.so is used");
    }

    #[test]
    fn a_file_that_is_no_library_is_judged_by_the_loaders_own_rules() {
        let file = std::env::current_exe().expect("a file that exists").with_file_name("nothing-like-it.so");
        let plan = Plan {
            groups: vec![Group {
                name: "x".into(),
                candidates: vec![Candidate { path: file, origin: Origin::ForceLoad }],
            }],
            ..Plan::empty(Release::NEWEST)
        };
        let considered = consider(&plan, &judge(&plan));
        assert_eq!(considered[0].candidates[0].reason, Fault::NotFound.to_string());
        assert!(!considered[0].candidates[0].taken);
    }
}
