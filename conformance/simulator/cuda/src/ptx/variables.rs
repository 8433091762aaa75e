//! Declarations of variables and parameters, with their initial values.

use super::cursor::{Cursor, MAX_NESTING};
use super::error::LoadError;
use super::lexer::Token;
use super::types::Type;

/// The initial bytes of a variable, and the addresses to add into them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Initializer {
    pub bytes: Vec<u8>,
    /// Offset, symbol, addend.
    pub addresses: Vec<(usize, String, i64)>,
}

/// The largest variable that may have an initial value.
const MAX_INITIALIZED: usize = 64 << 20;

/// One declared variable or parameter.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub name: Box<str>,
    pub size: usize,
    pub align: usize,
    /// Declared `name[]` without a value: as long as the launch says.
    pub unsized_array: bool,
    pub initializer: Option<Initializer>,
    pub line: u32,
}

/// Reads what follows the state space: `.align 4 .b8 name[16] = {...}, name2`. Does not consume the semicolon.
pub(super) fn declarations(cursor: &mut Cursor) -> Result<Vec<Declaration>, LoadError> {
    let prefix = prefix(cursor)?;
    let mut out = vec![declarator(cursor, &prefix)?];
    while cursor.accept(',') {
        out.push(declarator(cursor, &prefix)?);
    }
    Ok(out)
}

/// Reads one parameter of a function or prototype, after `.param`.
pub(super) fn parameter(cursor: &mut Cursor) -> Result<Declaration, LoadError> {
    let prefix = prefix(cursor)?;
    declarator(cursor, &prefix)
}

struct Prefix {
    align: Option<usize>,
    elements: usize,
    ty: Type,
}

/// Alignment, attributes, vector and type, in the orders compilers write them.
fn prefix(cursor: &mut Cursor) -> Result<Prefix, LoadError> {
    let (mut align, mut elements, mut ty) = (None, 1, None);
    while let Some(word) = cursor.directive().map(str::to_owned) {
        cursor.next();
        cursor.next();
        match word.as_str() {
            "align" if align.is_none() => align = Some(alignment(cursor)?),
            "align" => drop(alignment(cursor)?),
            "v2" => elements = 2,
            "v4" => elements = 4,
            "attribute" => {
                cursor.expect('(')?;
                while !cursor.accept(')') {
                    if cursor.at_end() {
                        return Err(cursor.unexpected("')'"));
                    }
                    cursor.next();
                }
            }
            // What a kernel's pointer points to; the alignment that follows is the pointee's.
            "ptr" => {
                while let Some(word) = cursor.directive().map(str::to_owned) {
                    cursor.next();
                    cursor.next();
                    match word.as_str() {
                        "global" | "shared" | "local" | "const" => {}
                        "align" => drop(alignment(cursor)?),
                        _ => return Err(cursor.unexpected("a state space or alignment after .ptr")),
                    }
                }
            }
            other => match Type::parse(other) {
                Some(t) if t != Type::Pred && ty.is_none() => ty = Some(t),
                _ => return Err(LoadError::syntax(cursor.line(), format!("unexpected '.{other}' in a declaration"))),
            },
        }
    }
    let ty = ty.ok_or_else(|| cursor.unexpected("a type"))?;
    Ok(Prefix { align, elements, ty })
}

fn alignment(cursor: &mut Cursor) -> Result<usize, LoadError> {
    let line = cursor.line();
    let value = cursor.count("alignment")?;
    if value.is_power_of_two() && value <= 4096 {
        Ok(value)
    } else {
        Err(LoadError::syntax(line, format!("alignment {value} is not a power of two up to 4096")))
    }
}

fn declarator(cursor: &mut Cursor, prefix: &Prefix) -> Result<Declaration, LoadError> {
    let line = cursor.line();
    let name = cursor.word("a variable's name")?;
    let element = prefix.ty.bytes() * prefix.elements;
    let (mut count, mut open) = (1usize, false);
    while cursor.accept('[') {
        if cursor.accept(']') {
            open = true;
            continue;
        }
        let n = cursor.count("array size")?;
        cursor.expect(']')?;
        count = count
            .checked_mul(n)
            .filter(|&c| c <= 1 << 36)
            .ok_or_else(|| LoadError::syntax(line, format!("array '{name}' is too large")))?;
    }
    let initializer = if cursor.accept('=') {
        let mut init = Initializer::default();
        value(cursor, prefix.ty, &mut init, 0)?;
        Some(init)
    } else {
        None
    };
    let mut size = element * count;
    let mut unsized_array = false;
    if open {
        match &initializer {
            Some(init) => size = init.bytes.len().next_multiple_of(element.max(1)),
            None => {
                size = 0;
                unsized_array = true;
            }
        }
    }
    let initializer = match initializer {
        Some(init) if init.bytes.len() > size => {
            return Err(LoadError::syntax(line, format!("too many initial values for '{name}'")));
        }
        Some(_) if size > MAX_INITIALIZED => {
            return Err(LoadError::syntax(
                line,
                format!("'{name}' with an initial value is larger than {MAX_INITIALIZED} bytes"),
            ));
        }
        Some(mut init) => {
            init.bytes.resize(size, 0);
            Some(init)
        }
        None => None,
    };
    let align = prefix.align.unwrap_or(1).max(element);
    Ok(Declaration {
        name,
        size,
        align: align.min(16).max(prefix.align.unwrap_or(1)),
        unsized_array,
        initializer,
        line,
    })
}

fn value(cursor: &mut Cursor, ty: Type, out: &mut Initializer, nesting: u32) -> Result<(), LoadError> {
    if nesting > MAX_NESTING {
        return Err(LoadError::syntax(cursor.line(), "initial value nested too deeply"));
    }
    if cursor.accept('{') {
        if cursor.accept('}') {
            return Ok(());
        }
        loop {
            value(cursor, ty, out, nesting + 1)?;
            if cursor.accept('}') {
                return Ok(());
            }
            cursor.expect(',')?;
        }
    }
    scalar(cursor, ty, out)
}

fn scalar(cursor: &mut Cursor, ty: Type, out: &mut Initializer) -> Result<(), LoadError> {
    let line = cursor.line();
    let negative = cursor.is('-') && matches!(cursor.ahead(1), Token::Single(_) | Token::Double(_));
    if negative {
        cursor.next();
    }
    let bits = match (cursor.peek().clone(), ty) {
        (Token::Text(text), _) if ty.bytes() == 1 => {
            cursor.next();
            out.bytes.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        (Token::Word(_), _) => return address(cursor, ty, out),
        (Token::Single(v), Type::F64) => {
            cursor.next();
            f64::from(f32::from_bits(v)).to_bits() ^ u64::from(negative) << 63
        }
        (Token::Single(v), _) => {
            cursor.next();
            u64::from(v) ^ u64::from(negative) << 31
        }
        (Token::Double(v), Type::F32) => {
            cursor.next();
            u64::from((f64::from_bits(v) as f32).to_bits()) ^ u64::from(negative) << 31
        }
        (Token::Double(v), Type::F64 | Type::B64) => {
            cursor.next();
            v ^ u64::from(negative) << 63
        }
        (Token::Double(_), _) => {
            return Err(LoadError::syntax(line, format!("floating-point initial value for .{}", ty.name())));
        }
        (_, Type::F32) => u64::from((cursor.integer()? as i64 as f32).to_bits()),
        (_, Type::F64) => (cursor.integer()? as i64 as f64).to_bits(),
        _ => cursor.integer()?,
    };
    out.bytes.extend_from_slice(&bits.to_le_bytes()[..ty.bytes()]);
    Ok(())
}

/// `symbol`, `symbol+4`, `generic(symbol)+4`.
fn address(cursor: &mut Cursor, ty: Type, out: &mut Initializer) -> Result<(), LoadError> {
    let line = cursor.line();
    let mut name = cursor.word("a symbol")?;
    if &*name == "generic" && cursor.accept('(') {
        name = cursor.word("a symbol")?;
        cursor.expect(')')?;
    }
    let addend = if cursor.is('+') || cursor.is('-') { cursor.integer()? as i64 } else { 0 };
    if ty.bytes() != 8 {
        return Err(LoadError::syntax(line, format!("the address of '{name}' does not fit .{}", ty.name())));
    }
    out.addresses.push((out.bytes.len(), name.into(), addend));
    out.bytes.extend_from_slice(&[0; 8]);
    Ok(())
}
