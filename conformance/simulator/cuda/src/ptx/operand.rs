//! Operands as they are written, before names mean anything.

use super::cursor::{Cursor, MAX_NESTING};
use super::error::LoadError;
use super::lexer::Token;

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// A register, variable, label or function.
    Name(Box<str>),
    /// `%tid.x`.
    Member(Box<str>, Box<str>),
    /// `variable+8`.
    Offset(Box<str>, i64),
    Int(u64),
    Single(u32),
    Double(u64),
    /// `!%p`.
    Not(Box<Operand>),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[base+offset]`; without a base the offset is the address.
    Address(Option<Box<str>>, i64),
    /// `[handle, {x, y}]`, of textures and surfaces.
    Texel(Box<str>, Vec<Operand>),
    /// `a|b`.
    Pair(Box<Operand>, Box<Operand>),
    /// `(a, b)`, in calls.
    List(Vec<Operand>),
}

/// Reads `operand, operand ...` up to a semicolon, which it consumes.
pub(super) fn operands(cursor: &mut Cursor) -> Result<Vec<Operand>, LoadError> {
    let mut out = Vec::new();
    if cursor.accept(';') {
        return Ok(out);
    }
    loop {
        out.push(operand(cursor, 0)?);
        if cursor.accept(';') {
            return Ok(out);
        }
        if !cursor.accept(',') {
            return Err(cursor.unexpected("',' or ';'"));
        }
    }
}

fn operand(cursor: &mut Cursor, nesting: u32) -> Result<Operand, LoadError> {
    if nesting > MAX_NESTING {
        return Err(LoadError::syntax(cursor.line(), "operand nested too deeply"));
    }
    match cursor.peek() {
        Token::Punct('{') => {
            cursor.next();
            Ok(Operand::Vector(sequence(cursor, '}', nesting)?))
        }
        Token::Punct('(') if calls_list(cursor) => {
            cursor.next();
            Ok(Operand::List(sequence(cursor, ')', nesting)?))
        }
        Token::Punct('[') => {
            cursor.next();
            let out = address(cursor, nesting)?;
            cursor.expect(']')?;
            Ok(out)
        }
        Token::Punct('!') if matches!(cursor.ahead(1), Token::Word(_)) => {
            cursor.next();
            Ok(Operand::Not(Box::new(operand(cursor, nesting + 1)?)))
        }
        Token::Word(_) => named(cursor, nesting),
        Token::Single(_) | Token::Double(_) => Ok(float(cursor.next(), false)),
        Token::Punct('-') if matches!(cursor.ahead(1), Token::Single(_) | Token::Double(_)) => {
            cursor.next();
            Ok(float(cursor.next(), true))
        }
        _ => Ok(Operand::Int(cursor.integer()?)),
    }
}

/// A parenthesis opens a list of names, or of nothing; anything else is a constant expression.
fn calls_list(cursor: &Cursor) -> bool {
    matches!(cursor.ahead(1), Token::Word(_) | Token::Punct(')'))
        || matches!((cursor.ahead(1), cursor.ahead(2)), (_, Token::Punct(',')))
}

fn float(token: Token, negative: bool) -> Operand {
    match token {
        Token::Single(bits) => Operand::Single(bits ^ u32::from(negative) << 31),
        Token::Double(bits) => Operand::Double(bits ^ u64::from(negative) << 63),
        _ => unreachable!("the token was a float"),
    }
}

fn sequence(cursor: &mut Cursor, close: char, nesting: u32) -> Result<Vec<Operand>, LoadError> {
    let mut out = Vec::new();
    if cursor.accept(close) {
        return Ok(out);
    }
    loop {
        out.push(operand(cursor, nesting + 1)?);
        if cursor.accept(close) {
            return Ok(out);
        }
        cursor.expect(',')?;
    }
}

fn named(cursor: &mut Cursor, nesting: u32) -> Result<Operand, LoadError> {
    let name = cursor.word("a name")?;
    if cursor.is('.') {
        cursor.next();
        return Ok(Operand::Member(name, cursor.word("a component")?));
    }
    if cursor.accept('|') {
        let second = operand(cursor, nesting + 1)?;
        return Ok(Operand::Pair(Box::new(Operand::Name(name)), Box::new(second)));
    }
    if cursor.is('+') || cursor.is('-') {
        let offset = cursor.integer()? as i64;
        return Ok(Operand::Offset(name, offset));
    }
    Ok(Operand::Name(name))
}

fn address(cursor: &mut Cursor, nesting: u32) -> Result<Operand, LoadError> {
    if let Token::Word(_) = cursor.peek() {
        let name = cursor.word("a name")?;
        if cursor.accept(',') {
            cursor.expect('{')?;
            return Ok(Operand::Texel(name, sequence(cursor, '}', nesting)?));
        }
        let offset = if cursor.is(']') {
            0
        } else if cursor.is('+') || cursor.is('-') {
            cursor.integer()? as i64
        } else {
            return Err(cursor.unexpected("']'"));
        };
        return Ok(Operand::Address(Some(name), offset));
    }
    Ok(Operand::Address(None, cursor.integer()? as i64))
}
