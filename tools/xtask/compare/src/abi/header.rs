//! Reads a C header's declarations: names of types, fields, enumerators, macros, and the text of prototypes. It works on
//! the preprocessor's output and knows only the plain C that an API header is made of; whatever it cannot place is left
//! out of its answer, so whoever compares two headers must also look at how much was found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use xtask::support::failure::Result;
use xtask::support::process;

/// What a header declares, limited to names of the API (`ur…`, `UR_…`).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Structures and unions with their fields.
    pub records: BTreeMap<String, Vec<String>>,
    /// Enumerators.
    pub enumerators: BTreeSet<String>,
    /// All other type names: handles, integer types, enumerations, callbacks.
    pub types: BTreeSet<String>,
    /// Macros that stand for a number or a string, and whether it is a string.
    pub macros: BTreeMap<String, bool>,
    /// Functions, with the text of their declaration.
    pub functions: BTreeMap<String, String>,
    /// Type definitions that are neither records nor enumerations, as text: callbacks and function pointers among them.
    pub aliases: BTreeMap<String, String>,
}

/// Arguments that make a C compiler see these headers and the types they take for granted.
pub fn includes(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<std::ffi::OsString> = vec!["-I".into(), folder.into()];
    for file in ["stdbool.h", "unified-runtime/ur_api.h", "unified-runtime/ur_ddi.h"] {
        arguments.extend(["-include".into(), file.into()]);
    }
    arguments
}

/// Reads `unified-runtime/ur_api.h` and `ur_ddi.h` below a folder.
pub fn read(folder: &Path) -> Result<Header> {
    let preprocess = |extra: &[&str]| {
        let mut cc = process::cc();
        cc.args(includes(folder)).args(["-x", "c", "-E", "-P"]).args(extra).arg("/dev/null");
        process::capture(&mut cc as &mut Command).map(|printed| printed.stdout)
    };
    let mut header = parse(&preprocess(&[])?);
    header.macros = macros(&preprocess(&["-dM"])?);
    Ok(header)
}

fn parse(text: &str) -> Header {
    let mut header = Header::default();
    for declaration in split(text, ';') {
        let declaration = declaration.replace("__attribute__((visibility(\"default\")))", "");
        place(declaration.trim(), &mut header);
    }
    header
}

fn place(declaration: &str, header: &mut Header) {
    let bare = declaration.strip_prefix("typedef").map(str::trim_start);
    let inner = bare.unwrap_or(declaration);
    if let Some((head, body)) = inner.split_once('{').and_then(|(h, b)| Some((h, b.rsplit_once('}')?.0))) {
        let mut words = head.split_whitespace();
        let (Some(keyword), Some(name)) = (words.next(), words.next()) else { return };
        if !name.starts_with("ur_") {
            return;
        }
        match keyword {
            "enum" => {
                header.enumerators.extend(split(body, ',').filter_map(|item| first_word(&item)));
                header.types.insert(name.to_owned());
            }
            "struct" | "union" => {
                header.records.insert(name.to_owned(), split(body, ';').filter_map(|f| declared(&f)).collect());
            }
            _ => {}
        }
        return;
    }
    let Some(name) = declared(declaration) else { return };
    if bare.is_some() && name.starts_with("ur_") {
        let forward = ["struct ", "union ", "enum "]
            .iter()
            .any(|k| inner.strip_prefix(k).is_some_and(|rest| rest.split_whitespace().next() == Some(name.as_str())));
        if !forward {
            header.types.insert(name.clone());
            header.aliases.insert(name, declaration.to_owned());
        }
    } else if bare.is_none() && name.starts_with("ur") && declaration.contains('(') {
        header.functions.insert(name, declaration.to_owned());
    }
}

/// The name that a declaration declares: what stands in `(*name)`, else before the parameter list, else last.
fn declared(declaration: &str) -> Option<String> {
    if let Some((_, rest)) = declaration.split_once("(*") {
        return first_word(rest);
    }
    let before = declaration.split(['(', '[', '=']).next().unwrap_or_default();
    let name = before.rsplit(|c: char| !is_word(c)).find(|word| !word.is_empty())?;
    (before.split_whitespace().count() > 1 || before.contains('*')).then(|| name.to_owned())
}

fn first_word(text: &str) -> Option<String> {
    let word: String = text.trim_start().chars().take_while(|&c| is_word(c)).collect();
    (!word.is_empty()).then_some(word)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Splits at a separator outside of all brackets.
fn split(text: &str, separator: char) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == separator && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().filter(|part| !part.trim().is_empty())
}

/// `UR_…` macros without parameters whose text is a number or a string.
fn macros(text: &str) -> BTreeMap<String, bool> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Some((name, value)) = line.strip_prefix("#define ").and_then(|rest| rest.split_once(' ')) else { continue };
        let value = value.trim();
        if name.starts_with("UR_") && !name.contains('(') {
            match value.chars().next() {
                Some('"') => drop(found.insert(name.to_owned(), true)),
                Some(c) if c.is_ascii_digit() => drop(found.insert(name.to_owned(), false)),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_placed_by_what_they_are() {
        let header = parse(
            "typedef enum ur_e_t { UR_E_A = (1 << 0), UR_E_B = 2 } ur_e_t;
             typedef uint32_t ur_flags_t;
             typedef struct ur_h_ *ur_h;
             typedef struct ur_s_t ur_s_t;
             struct ur_s_t { const void *pNext; size_t dims[3]; ur_e_t e; };
             typedef union ur_u_t { uint32_t a; char *b; } ur_u_t;
             typedef void (*ur_callback_t)(int a, void *b);
             __attribute__((visibility(\"default\"))) ur_e_t urThing(int a, const char *b);",
        );
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(header.enumerators, set(&["UR_E_A", "UR_E_B"]));
        assert_eq!(header.records["ur_s_t"], ["pNext", "dims", "e"]);
        assert_eq!(header.records["ur_u_t"], ["a", "b"]);
        assert_eq!(header.types, set(&["ur_callback_t", "ur_e_t", "ur_flags_t", "ur_h"]));
        assert_eq!(header.aliases["ur_callback_t"], "typedef void (*ur_callback_t)(int a, void *b)");
        assert_eq!(header.functions["urThing"], "ur_e_t urThing(int a, const char *b)");
    }

    #[test]
    fn macros_with_a_value_are_kept() {
        let found = macros(
            "#define UR_MASK 0xfe\n#define UR_NAME \"spir\"\n#define UR_F(x) x\n#define UR_EMPTY \n#define X 1\n",
        );
        assert_eq!(found, BTreeMap::from([("UR_MASK".to_owned(), false), ("UR_NAME".to_owned(), true)]));
    }
}
