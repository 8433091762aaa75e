//! The C program that prints what a header makes of its names, and the list of names it is made for. It prints values
//! only; comparing them is somebody else's.

use std::fmt::Write;
use std::path::Path;

use super::header::{self, Header};
use xtask::support::failure::{Context, Result};
use xtask::support::process;

/// What both headers have.
pub struct Common<'a> {
    records: Vec<(&'a str, Vec<&'a str>)>,
    types: Vec<&'a str>,
    /// Enumerators of all enumerations.
    pub enumerators: Vec<&'a str>,
    /// Macros with a value, and whether it is a string.
    pub macros: Vec<(&'a str, bool)>,
    /// How many functions.
    pub functions: usize,
    /// How many type definitions.
    pub aliases: usize,
}

impl Common<'_> {
    /// Sizes and alignments of types.
    pub fn sizes(&self) -> usize {
        2 * (self.records.len() + self.types.len())
    }

    /// Offsets and sizes of fields.
    pub fn fields(&self) -> usize {
        2 * self.records.iter().map(|(_, fields)| fields.len()).sum::<usize>()
    }

    /// How many values the program prints.
    pub fn values(&self) -> usize {
        self.sizes() + self.fields() + self.enumerators.len() + self.macros.len()
    }
}

/// The names to ask for.
pub fn common<'a>(ours: &'a Header, theirs: &'a Header) -> Common<'a> {
    let records = ours.records.iter().filter_map(|(name, fields)| {
        let other = theirs.records.get(name)?;
        Some((name.as_str(), fields.iter().filter(|field| other.contains(field)).map(String::as_str).collect()))
    });
    Common {
        records: records.collect(),
        types: ours.types.intersection(&theirs.types).map(String::as_str).collect(),
        enumerators: ours.enumerators.intersection(&theirs.enumerators).map(String::as_str).collect(),
        macros: ours
            .macros
            .iter()
            .filter(|&(name, string)| theirs.macros.get(name) == Some(string))
            .map(|(name, &string)| (name.as_str(), string))
            .collect(),
        functions: ours.functions.keys().filter(|name| theirs.functions.contains_key(*name)).count(),
        aliases: ours.aliases.keys().filter(|name| theirs.aliases.contains_key(*name)).count(),
    }
}

/// Compiles the program against the headers in `include` and answers its lines.
pub fn run(common: &Common<'_>, include: &Path, program: &Path) -> Result<Vec<String>> {
    let source = program.with_extension("c");
    std::fs::write(&source, text(common)).context(source.display())?;
    let mut cc = process::cc();
    cc.args(["-std=c11", "-w", "-O0", "-o"]).arg(program).args(header::includes(include));
    process::capture(cc.arg(&source))?;
    Ok(process::capture(&mut process::limited(60, program))?.stdout.lines().map(str::to_owned).collect())
}

fn text(common: &Common<'_>) -> String {
    let mut lines = String::new();
    let mut number = |what: String, value: String| {
        writeln!(lines, "    printf(\"{what} = %lld\\n\", (long long)({value}));").expect("strings grow");
    };
    let records = common.records.iter().map(|(name, _)| *name);
    for name in records.chain(common.types.iter().copied()) {
        number(format!("sizeof {name}"), format!("sizeof({name})"));
        number(format!("alignof {name}"), format!("_Alignof({name})"));
    }
    for (record, fields) in &common.records {
        for field in fields {
            number(format!("offsetof {record}.{field}"), format!("offsetof({record}, {field})"));
            number(format!("sizeof {record}.{field}"), format!("sizeof((({record} *)0)->{field})"));
        }
    }
    for name in &common.enumerators {
        number((*name).to_owned(), (*name).to_owned());
    }
    for (name, string) in &common.macros {
        if *string {
            writeln!(lines, "    printf(\"{name} = %s\\n\", {name});").expect("strings grow");
        } else {
            writeln!(lines, "    printf(\"{name} = %lld\\n\", (long long)({name}));").expect("strings grow");
        }
    }
    format!("#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{lines}    return 0;\n}}\n")
}
