//! The statements of a function's body.

use super::builder::{Builder, Symbol};
use super::cursor::Cursor;
use super::decode;
use super::error::LoadError;
use super::lexer::Token;
use super::operand::operands;
use super::parser::{Parsed, add_global, add_shared};
use super::types::Type;
use super::variables;
use crate::exec::op::{Op, Pred};

/// Reads `{ ... }` into the builder.
pub(super) fn parse(cursor: &mut Cursor, b: &mut Builder, parsed: &mut Parsed) -> Result<(), LoadError> {
    cursor.expect('{')?;
    loop {
        b.line = cursor.line();
        match cursor.peek() {
            Token::Punct('{') => {
                cursor.next();
                b.open_scope();
            }
            Token::Punct('}') => {
                cursor.next();
                if !b.close_scope() {
                    break;
                }
            }
            Token::Punct(';') => drop(cursor.next()),
            Token::Punct('.') => directive(cursor, b, parsed)?,
            Token::Punct('@') => guarded(cursor, b, parsed)?,
            Token::Word(_) if *cursor.ahead(1) == Token::Punct(':') => label(cursor, b)?,
            Token::Word(_) => instruction(cursor, b, parsed)?,
            _ => return Err(cursor.unexpected("a statement")),
        }
    }
    // Control that reaches the end of a function returns.
    b.guard = Pred::TRUE;
    b.emit(Op::Return);
    b.resolve_labels()
}

fn guarded(cursor: &mut Cursor, b: &mut Builder, parsed: &mut Parsed) -> Result<(), LoadError> {
    cursor.next();
    let negated = cursor.accept('!');
    let name = cursor.word("a predicate register")?;
    let p = b.predicate(&super::operand::Operand::Name(name))?;
    b.guard = Pred { negated: p.negated ^ negated, ..p };
    instruction(cursor, b, parsed)?;
    b.guard = Pred::TRUE;
    Ok(())
}

fn instruction(cursor: &mut Cursor, b: &mut Builder, parsed: &mut Parsed) -> Result<(), LoadError> {
    b.line = cursor.line();
    let base = cursor.word("an instruction")?;
    let mut mods = Vec::new();
    while cursor.accept('.') {
        mods.push(cursor.word("a modifier")?);
    }
    decode::require_known(&base, &mods, b.line)?;
    let ops = operands(cursor)?;
    decode::decode(b, parsed, &base, &mods, &ops)
}

fn label(cursor: &mut Cursor, b: &mut Builder) -> Result<(), LoadError> {
    let name = cursor.word("a label")?;
    cursor.expect(':')?;
    if cursor.accept_directive("branchtargets") {
        let mut targets = Vec::new();
        loop {
            targets.push(cursor.word("a label")?);
            if !cursor.accept(',') {
                break;
            }
        }
        cursor.expect(';')?;
        return b.declare(name, Symbol::Targets(targets));
    }
    if cursor.accept_directive("callprototype") {
        cursor.skip_statement()?;
        return b.declare(name, Symbol::Prototype);
    }
    if cursor.accept_directive("calltargets") {
        cursor.skip_statement()?;
        return b.declare(name, Symbol::Prototype);
    }
    b.label(name)
}

fn directive(cursor: &mut Cursor, b: &mut Builder, parsed: &mut Parsed) -> Result<(), LoadError> {
    let Some(word) = cursor.directive().map(str::to_owned) else {
        return Err(cursor.unexpected("a directive"));
    };
    cursor.next();
    cursor.next();
    match word.as_str() {
        "loc" | "file" => {
            cursor.skip_line();
            return Ok(());
        }
        "section" => return cursor.skip_braces(),
        "pragma" => return cursor.skip_statement(),
        "reg" => registers(cursor, b)?,
        "local" | "param" => {
            for d in variables::declarations(cursor)? {
                let (size, align) = (d.size as u64, d.align as u64);
                let offset = b.reserve(size, align)?;
                b.declare(d.name, Symbol::Frame(offset, size))?;
            }
        }
        "shared" => {
            for d in variables::declarations(cursor)? {
                let index = add_shared(parsed, &d)?;
                b.declare(d.name, Symbol::Shared(index))?;
            }
        }
        "global" | "const" => {
            for mut d in variables::declarations(cursor)? {
                let name = d.name.clone();
                // Names inside functions do not meet those of other functions.
                d.name = format!("{name}${}", parsed.globals.len()).into();
                let index = add_global(parsed, d, word == "const", false)?;
                b.declare(name, Symbol::Global(index))?;
            }
        }
        _ => return Err(LoadError::syntax(b.line, format!("unknown directive '.{word}'"))),
    }
    cursor.expect(';')
}

/// `.reg .b32 %r<5>, %x;`
fn registers(cursor: &mut Cursor, b: &mut Builder) -> Result<(), LoadError> {
    cursor.expect('.')?;
    let line = cursor.line();
    let word = cursor.word("a type")?;
    let Some(ty) = Type::parse(&word) else {
        return Err(LoadError::syntax(line, format!("unknown register type '.{word}'")));
    };
    loop {
        let name = cursor.word("a register's name")?;
        let count = if cursor.accept('<') {
            let count = cursor.count("number of registers")?;
            cursor.expect('>')?;
            Some(u32::try_from(count).unwrap_or(u32::MAX))
        } else {
            None
        };
        b.declare_register(name, count, ty)?;
        if !cursor.accept(',') {
            return Ok(());
        }
    }
}
