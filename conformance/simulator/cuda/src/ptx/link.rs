//! From what a text declares to a module: every name that is used is defined, and every kernel knows what it
//! can reach, hence its shared memory and its stack.

use super::builder::Symbol;
use super::error::LoadError;
use super::parser::{Body, GlobalVariable, Parsed, SharedVariable};
use super::{Function, Global, Module, Param};
use crate::exec::op::{Source, code_address};
use std::collections::HashMap;

/// Stack for what cannot be computed: recursion, and calls through addresses.
const UNBOUNDED_STACK: u64 = 32 << 10;

/// Makes the module.
pub(super) fn link(parsed: Parsed) -> Result<Module, LoadError> {
    require_definitions(&parsed)?;
    let globals = globals(&parsed)?;
    // Functions whose address lies in a variable can be called by whoever calls through addresses.
    let mut taken: Vec<u32> =
        parsed.functions.iter().filter_map(|f| f.body.as_ref()).flat_map(|b| b.takes.clone()).collect();
    for variable in &parsed.globals {
        for (_, name, _) in variable.initializer.iter().flat_map(|i| &i.addresses) {
            if let Some(Symbol::Function(f)) = parsed.symbols.get(name.as_str()) {
                taken.push(*f);
            }
        }
    }
    let bodies: Vec<Option<&Body>> = parsed.functions.iter().map(|f| f.body.as_ref()).collect();
    let reach: Vec<Reach> = (0..bodies.len()).map(|f| Reach::of(f as u32, &bodies, &taken)).collect();
    let layouts: Vec<SharedLayout> = reach.iter().map(|r| shared_layout(&parsed.shared, r)).collect();
    let mut functions = Vec::new();
    for (f, (reach, layout)) in parsed.functions.into_iter().zip(reach.into_iter().zip(layouts)) {
        let (code, words) = match f.body {
            Some(body) => {
                let mut code = body.code;
                code.shared_offsets = layout.offsets;
                code.dynamic_start = layout.dynamic_start;
                (Some(code), body.words)
            }
            None => (None, 0),
        };
        functions.push(Function {
            name: f.name.into(),
            entry: f.entry,
            params: f.params.iter().map(|&(offset, size, align)| Param { offset, size, align }).collect(),
            static_shared: layout.size,
            local_bytes: reach.stack as usize,
            // Virtual registers outnumber real ones; the estimate lets every legal block size launch.
            registers: words.clamp(8, 64),
            max_threads_per_block: f.max_threads,
            required_block: f.required,
            code,
        });
    }
    Ok(Module { functions, globals })
}

fn require_definitions(parsed: &Parsed) -> Result<(), LoadError> {
    for function in &parsed.functions {
        if function.entry && function.body.is_none() {
            continue;
        }
        let Some(body) = &function.body else { continue };
        for &callee in body.calls.iter().chain(&body.takes) {
            let callee = &parsed.functions[callee as usize];
            if callee.body.is_none() && callee.builtin.is_none() {
                return Err(LoadError::undefined(callee.line, format!("undefined function '{}'", callee.name)));
            }
        }
        for (_, source) in &body.code.prologue {
            if let Source::Global(index) = source {
                let variable = &parsed.globals[*index as usize];
                if variable.external {
                    return Err(LoadError::undefined(variable.line, format!("undefined variable '{}'", variable.name)));
                }
            }
        }
    }
    Ok(())
}

fn globals(parsed: &Parsed) -> Result<Vec<Global>, LoadError> {
    parsed.globals.iter().map(|g| global(parsed, g)).collect()
}

fn global(parsed: &Parsed, variable: &GlobalVariable) -> Result<Global, LoadError> {
    let mut out = Global {
        name: variable.name.to_string(),
        size: variable.size,
        align: variable.align,
        constant: variable.constant,
        init: None,
        relocations: Vec::new(),
    };
    let Some(init) = &variable.initializer else { return Ok(out) };
    let mut bytes = init.bytes.clone();
    for (offset, name, addend) in &init.addresses {
        match parsed.symbols.get(name.as_str()) {
            Some(Symbol::Global(_)) => out.relocations.push((*offset, name.clone(), *addend)),
            Some(Symbol::Function(f)) => {
                let address = code_address(*f).wrapping_add(*addend as u64);
                bytes[*offset..*offset + 8].copy_from_slice(&address.to_le_bytes());
            }
            _ => {
                let message = format!("undefined symbol '{name}' in the initial value of '{}'", variable.name);
                return Err(LoadError::undefined(variable.line, message));
            }
        }
    }
    out.init = Some(bytes);
    Ok(out)
}

/// What a function and all it can call need.
#[derive(Default)]
struct Reach {
    shared: Vec<u32>,
    stack: u64,
}

impl Reach {
    fn of(root: u32, bodies: &[Option<&Body>], taken: &[u32]) -> Reach {
        let mut out = Reach::default();
        let mut seen = vec![false; bodies.len()];
        let (mut todo, mut indirect) = (vec![root], false);
        while let Some(f) = todo.pop() {
            let Some(body) = bodies[f as usize] else { continue };
            if std::mem::replace(&mut seen[f as usize], true) {
                continue;
            }
            out.shared.extend(&body.shared);
            todo.extend(&body.calls);
            if body.calls_indirectly {
                indirect = true;
                todo.extend(taken);
            }
        }
        out.shared.sort_unstable();
        out.shared.dedup();
        let (mut memo, mut cyclic) = (HashMap::new(), false);
        out.stack = depth(root, bodies, &mut memo, &mut cyclic, 0);
        if cyclic || indirect {
            out.stack += UNBOUNDED_STACK;
        }
        out
    }
}

/// The deepest chain of frames below a function; `None` in the memo marks those being computed.
fn depth(
    f: u32,
    bodies: &[Option<&Body>],
    memo: &mut HashMap<u32, Option<u64>>,
    cyclic: &mut bool,
    nesting: u32,
) -> u64 {
    match memo.get(&f) {
        Some(Some(known)) => return *known,
        Some(None) => {
            *cyclic = true;
            return 0;
        }
        None => {}
    }
    let Some(body) = bodies[f as usize] else { return 0 };
    if nesting > 1000 {
        *cyclic = true;
        return 0;
    }
    memo.insert(f, None);
    let below = body.calls.iter().map(|&c| depth(c, bodies, memo, cyclic, nesting + 1)).max().unwrap_or(0);
    let total = body.code.frame_bytes + below;
    memo.insert(f, Some(total));
    total
}

/// Where a kernel's shared variables lie.
struct SharedLayout {
    /// One a variable of the module; meaningful for those reached.
    offsets: Vec<u32>,
    /// Bytes of all that have a size.
    size: usize,
    /// Where those without one begin, all at the same place.
    dynamic_start: u32,
}

fn shared_layout(shared: &[SharedVariable], reach: &Reach) -> SharedLayout {
    let mut offsets = vec![0; shared.len()];
    let (mut size, mut dynamic_align) = (0usize, 16);
    for &index in &reach.shared {
        let variable = &shared[index as usize];
        if variable.dynamic {
            dynamic_align = dynamic_align.max(variable.align);
            continue;
        }
        let offset = size.next_multiple_of(variable.align);
        offsets[index as usize] = offset as u32;
        size = offset.saturating_add(variable.size);
    }
    let dynamic_start = size.next_multiple_of(dynamic_align) as u32;
    for &index in reach.shared.iter().filter(|&&i| shared[i as usize].dynamic) {
        offsets[index as usize] = dynamic_start;
    }
    SharedLayout { offsets, size, dynamic_start }
}
