//! The module: its directives, variables and functions, in the order of the text.

use super::body;
use super::builder::{Builder, Symbol};
use super::cursor::{Cursor, show};
use super::error::{LoadError, LoadErrorKind};
use super::lexer::{Token, tokens};
use super::variables::{self, Declaration, Initializer};
use crate::exec::op::{Builtin, Code};
use std::collections::HashMap;
use std::rc::Rc;

/// The newest PTX that is read.
const NEWEST_VERSION: u64 = 9;

/// A variable in global or constant memory.
#[derive(Debug)]
pub(super) struct GlobalVariable {
    pub name: Box<str>,
    pub size: usize,
    pub align: usize,
    pub constant: bool,
    pub initializer: Option<Initializer>,
    /// Declared `.extern` and not defined so far.
    pub external: bool,
    pub line: u32,
}

/// A variable in shared memory.
#[derive(Debug)]
pub(super) struct SharedVariable {
    pub size: usize,
    pub align: usize,
    /// As long as the launch says.
    pub dynamic: bool,
}

/// A function declared or defined.
#[derive(Debug)]
pub(super) struct FunctionDeclaration {
    pub name: Box<str>,
    pub entry: bool,
    pub params: Vec<(usize, usize, usize)>,
    pub results: Vec<(usize, usize, usize)>,
    pub max_threads: Option<u32>,
    pub required: Option<[u32; 3]>,
    pub builtin: Option<Builtin>,
    pub body: Option<Body>,
    pub line: u32,
}

/// What a function's text became.
#[derive(Debug)]
pub(super) struct Body {
    pub code: Code,
    pub calls: Vec<u32>,
    pub takes: Vec<u32>,
    pub calls_indirectly: bool,
    pub shared: Vec<u32>,
    pub words: u32,
}

/// Everything a module's text declares.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// What `.version` says, as a number: minor versions of PTX have one digit.
    pub version: f64,
    pub globals: Vec<GlobalVariable>,
    pub shared: Vec<SharedVariable>,
    pub functions: Vec<FunctionDeclaration>,
    pub symbols: Rc<HashMap<Box<str>, Symbol>>,
}

/// Reads a whole text for a device of compute capability `sm`.
pub(super) fn parse(text: &str, sm: u32) -> Result<Parsed, LoadError> {
    let mut cursor = Cursor::new(tokens(text)?);
    let mut parsed = Parsed { version: header(&mut cursor, sm)?, ..Parsed::default() };
    while !cursor.at_end() {
        item(&mut cursor, &mut parsed)?;
    }
    Ok(parsed)
}

/// `.version`, `.target`, `.address_size`; the version.
fn header(cursor: &mut Cursor, sm: u32) -> Result<f64, LoadError> {
    if !cursor.accept_directive("version") {
        return Err(LoadError::syntax(cursor.line(), "missing .version directive at the start of the text"));
    }
    let version = version(cursor)?;
    if !cursor.accept_directive("target") {
        return Err(LoadError::syntax(cursor.line(), "missing .target directive"));
    }
    target(cursor, sm)?;
    if cursor.accept_directive("address_size") {
        let line = cursor.line();
        let size = cursor.integer()?;
        if size != 64 {
            return Err(LoadError::syntax(line, format!(".address_size {size}: only 64 is supported")));
        }
    }
    Ok(version)
}

fn version(cursor: &mut Cursor) -> Result<f64, LoadError> {
    let line = cursor.line();
    let number = match cursor.next() {
        Token::Double(bits) => f64::from_bits(bits),
        Token::Int(v) => v as f64,
        other => return Err(LoadError::syntax(line, format!("'{}' is not a PTX version", show(&other)))),
    };
    if number >= (NEWEST_VERSION + 1) as f64 {
        return Err(LoadError::new(
            line,
            LoadErrorKind::VersionTooNew,
            format!("unsupported .version {number}: the newest supported is {NEWEST_VERSION}.x"),
        ));
    }
    Ok(number)
}

fn target(cursor: &mut Cursor, sm: u32) -> Result<(), LoadError> {
    loop {
        let line = cursor.line();
        let name = cursor.word("a target")?;
        if let Some(digits) = name.strip_prefix("sm_") {
            // A letter at the end makes it a target of exactly that architecture, or of its family.
            let (number, suffix) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
            let Some(wanted) = number.parse::<u32>().ok().filter(|_| matches!(suffix, "" | "a" | "f")) else {
                return Err(LoadError::syntax(line, format!("unknown target '{name}'")));
            };
            let fits = match suffix {
                "" => wanted <= sm,
                "f" => wanted / 10 == sm / 10 && wanted <= sm,
                _ => wanted == sm,
            };
            if !fits {
                return Err(LoadError::new(
                    line,
                    LoadErrorKind::TargetTooNew,
                    format!("target {name} does not run on this device of architecture sm_{sm}"),
                ));
            }
        }
        if !cursor.accept(',') {
            return Ok(());
        }
    }
}

/// What a declaration at module level is preceded by.
#[derive(Clone, Copy, Default)]
struct Linkage {
    external: bool,
}

fn item(cursor: &mut Cursor, parsed: &mut Parsed) -> Result<(), LoadError> {
    let mut linkage = Linkage::default();
    loop {
        let line = cursor.line();
        if cursor.accept(';') {
            return Ok(());
        }
        let Some(word) = cursor.directive().map(str::to_owned) else {
            return Err(cursor.unexpected("a directive"));
        };
        cursor.next();
        cursor.next();
        match word.as_str() {
            "visible" | "weak" | "common" => {}
            "extern" => linkage.external = true,
            "file" | "loc" => {
                cursor.skip_line();
                return Ok(());
            }
            "section" => return cursor.skip_braces(),
            "pragma" => return cursor.skip_statement(),
            "entry" => return function(cursor, parsed, true, line),
            "func" => return function(cursor, parsed, false, line),
            "global" | "const" => return global(cursor, parsed, word == "const", linkage),
            "shared" => return shared(cursor, parsed, linkage),
            "alias" => return alias(cursor, parsed),
            _ => return Err(LoadError::syntax(line, format!("unknown directive '.{word}'"))),
        }
    }
}

/// `.alias name, function;`
fn alias(cursor: &mut Cursor, parsed: &mut Parsed) -> Result<(), LoadError> {
    let line = cursor.line();
    let name = cursor.word("an alias")?;
    cursor.expect(',')?;
    let of = cursor.word("a function")?;
    cursor.expect(';')?;
    let Some(Symbol::Function(index)) = parsed.symbols.get(&of).cloned() else {
        return Err(LoadError::undefined(line, format!("undefined function '{of}'")));
    };
    // The alias was declared as a function of its own; calls made so far go to that one.
    if let Some(Symbol::Function(declared)) = parsed.symbols.get(&name) {
        if parsed.functions[*declared as usize].body.is_some() {
            return Err(LoadError::operand(line, format!("duplicate definition of '{name}'")));
        }
        let early = parsed.functions.iter().filter_map(|f| f.body.as_ref()).any(|b| b.calls.contains(declared));
        if early {
            return Err(LoadError::operand(line, format!("alias '{name}' follows a call of it")));
        }
    }
    Rc::make_mut(&mut parsed.symbols).insert(name, Symbol::Function(index));
    Ok(())
}

fn global(cursor: &mut Cursor, parsed: &mut Parsed, constant: bool, linkage: Linkage) -> Result<(), LoadError> {
    for d in variables::declarations(cursor)? {
        add_global(parsed, d, constant, linkage.external)?;
    }
    cursor.expect(';')
}

/// Adds a variable and returns its index.
pub(super) fn add_global(
    parsed: &mut Parsed,
    d: Declaration,
    constant: bool,
    external: bool,
) -> Result<u32, LoadError> {
    let variable = GlobalVariable {
        name: d.name.clone(),
        size: d.size,
        align: d.align,
        constant,
        initializer: d.initializer,
        external,
        line: d.line,
    };
    match parsed.symbols.get(&d.name) {
        Some(&Symbol::Global(index)) if external || parsed.globals[index as usize].external => {
            if !external {
                parsed.globals[index as usize] = variable;
            }
            Ok(index)
        }
        Some(_) => Err(LoadError::operand(d.line, format!("duplicate definition of '{}'", d.name))),
        None => {
            let index = parsed.globals.len() as u32;
            parsed.globals.push(variable);
            Rc::make_mut(&mut parsed.symbols).insert(d.name, Symbol::Global(index));
            Ok(index)
        }
    }
}

fn shared(cursor: &mut Cursor, parsed: &mut Parsed, linkage: Linkage) -> Result<(), LoadError> {
    for d in variables::declarations(cursor)? {
        if parsed.symbols.contains_key(&d.name) {
            if linkage.external {
                continue;
            }
            return Err(LoadError::operand(d.line, format!("duplicate definition of '{}'", d.name)));
        }
        let name = d.name.clone();
        let index = add_shared(parsed, &d)?;
        Rc::make_mut(&mut parsed.symbols).insert(name, Symbol::Shared(index));
    }
    cursor.expect(';')
}

/// Adds a shared variable and returns its index.
pub(super) fn add_shared(parsed: &mut Parsed, d: &Declaration) -> Result<u32, LoadError> {
    if d.initializer.is_some() {
        return Err(LoadError::operand(d.line, format!("shared variable '{}' has an initial value", d.name)));
    }
    parsed.shared.push(SharedVariable { size: d.size, align: d.align, dynamic: d.unsized_array });
    Ok(parsed.shared.len() as u32 - 1)
}

fn parameters(cursor: &mut Cursor) -> Result<Vec<Declaration>, LoadError> {
    cursor.expect('(')?;
    let mut out = Vec::new();
    if cursor.accept(')') {
        return Ok(out);
    }
    loop {
        if !cursor.accept_directive("param") {
            return Err(cursor.unexpected("'.param'"));
        }
        out.push(variables::parameter(cursor)?);
        if cursor.accept(')') {
            return Ok(out);
        }
        cursor.expect(',')?;
    }
}

/// Places parameters one after the other, each aligned.
fn layout(list: &[Declaration]) -> Vec<(usize, usize, usize)> {
    let mut end = 0usize;
    list.iter()
        .map(|d| {
            let offset = end.next_multiple_of(d.align);
            end = offset + d.size;
            (offset, d.size, d.align)
        })
        .collect()
}

fn builtin(name: &str) -> Option<Builtin> {
    match name {
        "vprintf" => Some(Builtin::Printf),
        "__assertfail" => Some(Builtin::AssertFail),
        _ => None,
    }
}

fn function(cursor: &mut Cursor, parsed: &mut Parsed, entry: bool, line: u32) -> Result<(), LoadError> {
    let results = if !entry && cursor.is('(') { parameters(cursor)? } else { Vec::new() };
    let name = cursor.word("a function's name")?;
    let params = if cursor.is('(') { parameters(cursor)? } else { Vec::new() };
    let mut declaration = FunctionDeclaration {
        name: name.clone(),
        entry,
        params: layout(&params),
        results: layout(&results),
        max_threads: None,
        required: None,
        builtin: if entry { None } else { builtin(&name) },
        body: None,
        line,
    };
    tuning(cursor, &mut declaration)?;
    let index = declare_function(parsed, declaration, line)?;
    if cursor.accept(';') {
        return Ok(());
    }
    if parsed.functions[index as usize].body.is_some() {
        return Err(LoadError::operand(line, format!("duplicate definition of '{name}'")));
    }
    let mut builder = Builder::new(entry, Rc::clone(&parsed.symbols));
    builder.line = line;
    declare_parameters(&mut builder, params, results)?;
    body::parse(cursor, &mut builder, parsed)?;
    let function = &mut parsed.functions[index as usize];
    function.builtin = None;
    function.body = Some(Body {
        code: builder.code,
        calls: builder.calls,
        takes: builder.takes,
        calls_indirectly: builder.calls_indirectly,
        shared: builder.shared,
        words: builder.words,
    });
    Ok(())
}

fn declare_parameters(
    builder: &mut Builder,
    params: Vec<Declaration>,
    results: Vec<Declaration>,
) -> Result<(), LoadError> {
    if builder.entry {
        let offsets = layout(&params);
        for (d, (offset, ..)) in params.into_iter().zip(offsets) {
            builder.declare(d.name, Symbol::Param(offset as u64))?;
        }
        return Ok(());
    }
    for (list, is_result) in [(params, false), (results, true)] {
        for d in list {
            let (size, align) = (d.size as u64, d.align as u64);
            let offset = builder.reserve(size, align)?;
            let placed = if is_result { &mut builder.code.results } else { &mut builder.code.parameters };
            placed.push((offset, size));
            builder.declare(d.name, Symbol::Frame(offset, size))?;
        }
    }
    Ok(())
}

fn declare_function(parsed: &mut Parsed, new: FunctionDeclaration, line: u32) -> Result<u32, LoadError> {
    match parsed.symbols.get(&new.name) {
        Some(&Symbol::Function(index)) => {
            let old = &mut parsed.functions[index as usize];
            let sizes = |list: &[(usize, usize, usize)]| list.iter().map(|p| p.1).collect::<Vec<_>>();
            let same = old.entry == new.entry
                && sizes(&old.params) == sizes(&new.params)
                && sizes(&old.results) == sizes(&new.results);
            if !same {
                return Err(LoadError::operand(line, format!("'{}' is declared differently before", new.name)));
            }
            if old.body.is_none() {
                old.max_threads = new.max_threads.or(old.max_threads);
                old.required = new.required.or(old.required);
            }
            Ok(index)
        }
        Some(_) => Err(LoadError::operand(line, format!("duplicate definition of '{}'", new.name))),
        None => {
            let index = parsed.functions.len() as u32;
            Rc::make_mut(&mut parsed.symbols).insert(new.name.clone(), Symbol::Function(index));
            parsed.functions.push(new);
            Ok(index)
        }
    }
}

/// Performance directives between a function's head and its body.
fn tuning(cursor: &mut Cursor, declaration: &mut FunctionDeclaration) -> Result<(), LoadError> {
    while let Some(word) = cursor.directive().map(str::to_owned) {
        let line = cursor.line();
        cursor.next();
        cursor.next();
        match word.as_str() {
            "maxntid" => {
                let [x, y, z] = triple(cursor)?;
                let product = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
                declaration.max_threads = Some(u32::try_from(product).unwrap_or(u32::MAX));
            }
            "reqntid" => declaration.required = Some(triple(cursor)?),
            "minnctapersm" | "maxnctapersm" | "maxnreg" => drop(cursor.integer()?),
            "noreturn" | "noinline" => {}
            "pragma" => cursor.skip_statement()?,
            _ => return Err(LoadError::syntax(line, format!("unknown directive '.{word}'"))),
        }
    }
    Ok(())
}

fn triple(cursor: &mut Cursor) -> Result<[u32; 3], LoadError> {
    let mut out = [1; 3];
    for (i, value) in out.iter_mut().enumerate() {
        if i > 0 && !cursor.accept(',') {
            break;
        }
        *value = cursor.count("number of threads")?.min(u32::MAX as usize) as u32;
    }
    Ok(out)
}
