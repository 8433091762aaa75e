//! The gaps behind an entry point: those of the function that answers it, and of all that it calls.
//!
//! Calls are resolved by name, not by type: a path by the module's imports, a method by every type that has one of that
//! name that fits what is known of the receiver, a driver's method in both backends. Where that reaches too much, the
//! calling function says so (`// coverage: without NAME because …`): of its own calls, and, if it answers an entry point,
//! of all behind them.

use std::collections::{BTreeSet, VecDeque};

use super::body::{Call, Receiver};
use super::gaps::{Gap, Weight};
use super::source::{Code, ENGINE, Function};

/// What all entry points lead to.
#[derive(Debug, Default)]
pub struct Reached {
    functions: BTreeSet<usize>,
    /// Functions that kept a call from being followed, with the callee's name.
    cuts: BTreeSet<(usize, String)>,
}

impl Reached {
    /// Functions whose gaps no entry point leads to: a dead sentence, or a call that is not seen here.
    pub fn orphans(&self, code: &Code) -> Vec<String> {
        let functions = code.functions.iter().enumerate();
        let orphans = functions
            .filter(|(index, function)| function.missing().next().is_some() && !self.functions.contains(index));
        orphans.map(|(_, function)| format!("{}: no entry point leads to its gaps", function.label())).collect()
    }

    /// Comments that say of a call which is not there, or leads nowhere, that it cannot happen.
    pub fn idle_cuts(&self, code: &Code) -> Vec<String> {
        let cuts = code
            .functions
            .iter()
            .enumerate()
            .flat_map(|(index, function)| function.cuts.iter().map(move |name| (index, name)));
        let idle = cuts.filter(|(index, name)| !self.cuts.contains(&(*index, (*name).clone())));
        idle.map(|(index, name)| format!("{}: nothing to cut at `{name}`", code.functions[index].label())).collect()
    }
}

/// All gaps of the function with that path, nearest first; `None` if there is no such function.
pub fn gaps(code: &Code, path: &[String], reached: &mut Reached) -> Option<Vec<Gap>> {
    let (name, module) = path.split_last()?;
    let start = find(code, |function| {
        function.of == ENGINE
            && function.owner.is_none()
            && function.module == module.join("::")
            && function.name == *name
    });
    let mut seen: BTreeSet<usize> = start.iter().copied().collect();
    if seen.is_empty() {
        return None;
    }
    let mut open: VecDeque<usize> = seen.iter().copied().collect();
    let mut found: Vec<Gap> = Vec::new();
    while let Some(index) = open.pop_front() {
        let function = &code.functions[index];
        let notes = function.gaps.iter().filter(|gap| gap.weight == Weight::Note && start.contains(&index));
        for gap in function.missing().chain(notes) {
            if !found.contains(gap) {
                found.push(gap.clone());
            }
        }
        for call in &function.calls {
            for next in callees(code, function, call) {
                let name = &code.functions[next].name;
                let mut cutting = [index].into_iter().chain(start.iter().copied());
                match cutting.find(|by| code.functions[*by].cuts.contains(name)) {
                    Some(by) => {
                        reached.cuts.insert((by, name.clone()));
                    }
                    None if seen.insert(next) => open.push_back(next),
                    None => {}
                }
            }
        }
    }
    reached.functions.extend(&seen);
    Some(found)
}

fn find(code: &Code, holds: impl Fn(&Function) -> bool) -> Vec<usize> {
    (0..code.functions.len()).filter(|index| holds(&code.functions[*index])).collect()
}

/// Methods of both drivers.
fn driver(code: &Code, name: &str) -> Vec<usize> {
    find(code, |function| function.is_drivers() && function.owner.is_some() && function.name == name)
}

fn callees(code: &Code, caller: &Function, call: &Call) -> Vec<usize> {
    match call {
        Call::Method { on, name, arguments } => {
            if let Receiver::Variable(on) | Receiver::Made(on) = on
                && on == "driver"
            {
                return driver(code, name);
            }
            let owned_by = |may_be: &dyn Fn(&str) -> bool| {
                find(code, |function| {
                    let fits = function.of == caller.of && function.name == *name;
                    fits && function.behind_self == Some(*arguments) && function.owner.as_deref().is_some_and(may_be)
                })
            };
            match types(code, caller, on) {
                Some(known) => owned_by(&|owner| known.contains(owner)),
                None => owned_by(&|_| true),
            }
        }
        Call::Path(path) => named(code, caller, path),
    }
}

/// What a receiver may be, as far as a name tells it: every type that a field of that name has, or a function gives.
fn types<'c>(code: &'c Code, caller: &'c Function, receiver: &'c Receiver) -> Option<BTreeSet<&'c str>> {
    match receiver {
        Receiver::Variable(name) if name == "self" => Some(caller.owner.as_deref().into_iter().collect()),
        Receiver::Variable(name) => match (caller.typed.get(name), caller.bound.get(name)) {
            (Some(types), _) => Some(types.iter().map(String::as_str).collect()),
            (None, Some(Receiver::Made(made))) => of_made(code, caller, made),
            _ => None,
        },
        Receiver::Made(name) => of_made(code, caller, name),
        Receiver::Unknown => None,
    }
}

fn of_made<'c>(code: &'c Code, caller: &Function, name: &str) -> Option<BTreeSet<&'c str>> {
    let known = code.types.get(&(caller.of, name.to_owned()))?;
    Some(known.iter().map(String::as_str).collect())
}

fn named(code: &Code, caller: &Function, path: &[String]) -> Vec<usize> {
    let Some((name, before)) = path.split_last() else { return Vec::new() };
    let Some(first) = before.first() else { return free(code, caller, name) };
    if before.len() == 1 && (first == "D" || first == "Driver") {
        return driver(code, name);
    }
    if before.len() == 1 && first == "Self" {
        return find(code, |function| {
            function.of == caller.of && function.owner == caller.owner && function.name == *name
        });
    }
    let imports = code.imports.get(&(caller.of, caller.module.clone()));
    let given = match imports.and_then(|imports| imports.get(first)) {
        Some(full) => [full.as_slice(), &before[1..]].concat(),
        None => before.to_vec(),
    };
    let (of, module) = module_of(caller, &given);
    let relative = if caller.module.is_empty() { module.clone() } else { format!("{}::{module}", caller.module) };
    let found = find(code, |function| {
        let there = function.module == module || function.module == relative;
        function.of == of && function.owner.is_none() && there && function.name == *name
    });
    if !found.is_empty() {
        return found;
    }
    let owner = before.last();
    find(code, |function| function.of == of && function.owner.as_ref() == owner && function.name == *name)
}

/// A function that is named alone: of the same module, or brought in.
fn free(code: &Code, caller: &Function, name: &str) -> Vec<usize> {
    let at = |of: &str, module: &str, name: &str| {
        find(code, |function| {
            function.of == of && function.owner.is_none() && function.module == module && function.name == name
        })
    };
    let own = at(caller.of, &caller.module, name);
    if !own.is_empty() {
        return own;
    }
    let Some(imports) = code.imports.get(&(caller.of, caller.module.clone())) else { return Vec::new() };
    if let Some((last, before)) = imports.get(name).and_then(|full| full.split_last()) {
        let (of, module) = module_of(caller, before);
        return at(of, &module, last);
    }
    let globs = imports.iter().filter(|(name, _)| name.starts_with('*'));
    globs
        .flat_map(|(_, full)| {
            let (of, module) = module_of(caller, full);
            at(of, &module, name)
        })
        .collect()
}

/// The crate and module that a path begins with, seen from a function.
fn module_of(caller: &Function, path: &[String]) -> (&'static str, String) {
    let mut base: Vec<&str> = Vec::new();
    let mut of = caller.of;
    for (index, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" => base.clear(),
            "ur_adapter" if index == 0 => of = ENGINE,
            "self" if index == 0 => base = caller.module.split("::").collect(),
            "super" => {
                if index == 0 {
                    base = caller.module.split("::").collect();
                }
                base.pop();
            }
            name => base.push(name),
        }
    }
    (of, base.join("::"))
}
