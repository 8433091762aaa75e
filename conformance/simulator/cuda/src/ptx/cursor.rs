//! A place in the token list, constant expressions, and what may be skipped.

use super::error::LoadError;
use super::lexer::{Spanned, Token};

/// Reads tokens one after the other.
pub(super) struct Cursor {
    tokens: Vec<Spanned>,
    at: usize,
}

/// The text of a token, for messages.
pub(super) fn show(token: &Token) -> String {
    match token {
        Token::Word(w) => w.to_string(),
        Token::Int(v) => v.to_string(),
        Token::Single(bits) => format!("0f{bits:08X}"),
        Token::Double(bits) => format!("0d{bits:016X}"),
        Token::Text(t) => format!("\"{t}\""),
        Token::Punct(c) => c.to_string(),
        Token::Shift(c) => format!("{c}{c}"),
        Token::End => "end of text".into(),
    }
}

/// How deep expressions and initialisers may nest.
pub(super) const MAX_NESTING: u32 = 64;

impl Cursor {
    pub fn new(tokens: Vec<Spanned>) -> Self {
        Cursor { tokens, at: 0 }
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.at.min(self.tokens.len() - 1)].line
    }

    pub fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].token
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at < self.tokens.len() - 1 {
            self.at += 1;
        }
        token
    }

    pub fn at_end(&self) -> bool {
        *self.peek() == Token::End
    }

    pub fn is(&self, c: char) -> bool {
        *self.peek() == Token::Punct(c)
    }

    pub fn accept(&mut self, c: char) -> bool {
        let found = self.is(c);
        if found {
            self.next();
        }
        found
    }

    pub fn unexpected(&self, wanted: &str) -> LoadError {
        LoadError::syntax(self.line(), format!("syntax error near '{}': expected {wanted}", show(self.peek())))
    }

    pub fn expect(&mut self, c: char) -> Result<(), LoadError> {
        if self.accept(c) { Ok(()) } else { Err(self.unexpected(&format!("'{c}'"))) }
    }

    pub fn word(&mut self, what: &str) -> Result<Box<str>, LoadError> {
        match self.peek() {
            Token::Word(_) => match self.next() {
                Token::Word(w) => Ok(w),
                _ => unreachable!("the token was a word"),
            },
            _ => Err(self.unexpected(what)),
        }
    }

    /// Accepts `.name`.
    pub fn accept_directive(&mut self, name: &str) -> bool {
        let found = self.is('.') && matches!(self.ahead(1), Token::Word(w) if &**w == name);
        if found {
            self.next();
            self.next();
        }
        found
    }

    /// The name after a dot, not consumed.
    pub fn directive(&self) -> Option<&str> {
        match (self.peek(), self.ahead(1)) {
            (Token::Punct('.'), Token::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// Skips the rest of the line that the token just read is on.
    pub fn skip_line(&mut self) {
        let line = self.tokens[self.at.saturating_sub(1)].line;
        while !self.at_end() && self.line() == line {
            self.next();
        }
    }

    /// Skips to behind the brace that closes the next one.
    pub fn skip_braces(&mut self) -> Result<(), LoadError> {
        let start = self.line();
        let mut depth = 0u32;
        loop {
            match self.next() {
                Token::Punct('{') => depth += 1,
                Token::Punct('}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Token::End => return Err(LoadError::syntax(start, "'{' without its '}'")),
                _ => {}
            }
        }
    }

    /// Skips to behind the next semicolon.
    pub fn skip_statement(&mut self) -> Result<(), LoadError> {
        while !self.accept(';') {
            if self.at_end() {
                return Err(self.unexpected("';'"));
            }
            self.next();
        }
        Ok(())
    }

    /// An integer constant expression.
    pub fn integer(&mut self) -> Result<u64, LoadError> {
        self.binary(0, 0)
    }

    /// A small non-negative constant, such as an array's size.
    pub fn count(&mut self, what: &str) -> Result<usize, LoadError> {
        let line = self.line();
        let value = self.integer()?;
        usize::try_from(value)
            .ok()
            .filter(|&v| v <= 1 << 40)
            .ok_or_else(|| LoadError::syntax(line, format!("{what} {} is out of range", value as i64)))
    }

    fn binary(&mut self, level: u32, nesting: u32) -> Result<u64, LoadError> {
        if level > 5 {
            return self.unary(nesting);
        }
        let mut a = self.binary(level + 1, nesting)?;
        loop {
            let (op, line) = match (level, self.peek()) {
                (0, Token::Punct('|')) | (1, Token::Punct('^')) | (2, Token::Punct('&')) => (self.next(), self.line()),
                (3, Token::Shift(_)) | (4, Token::Punct('+' | '-')) => (self.next(), self.line()),
                (5, Token::Punct('*' | '/' | '%')) => (self.next(), self.line()),
                _ => return Ok(a),
            };
            let b = self.binary(level + 1, nesting)?;
            let zero = || LoadError::syntax(line, "division by zero in a constant expression");
            a = match op {
                Token::Punct('|') => a | b,
                Token::Punct('^') => a ^ b,
                Token::Punct('&') => a & b,
                Token::Shift('<') => a.checked_shl(b as u32).unwrap_or(0),
                Token::Shift(_) => a.checked_shr(b as u32).unwrap_or(0),
                Token::Punct('+') => a.wrapping_add(b),
                Token::Punct('-') => a.wrapping_sub(b),
                Token::Punct('*') => a.wrapping_mul(b),
                Token::Punct('/') => (a as i64).checked_div(b as i64).ok_or_else(zero)? as u64,
                _ => (a as i64).checked_rem(b as i64).ok_or_else(zero)? as u64,
            };
        }
    }

    fn unary(&mut self, nesting: u32) -> Result<u64, LoadError> {
        if nesting > MAX_NESTING {
            return Err(LoadError::syntax(self.line(), "constant expression nested too deeply"));
        }
        match self.peek() {
            Token::Int(v) => {
                let v = *v;
                self.next();
                Ok(v)
            }
            Token::Punct('-') => {
                self.next();
                Ok(self.unary(nesting + 1)?.wrapping_neg())
            }
            Token::Punct('+') => {
                self.next();
                self.unary(nesting + 1)
            }
            Token::Punct('~') => {
                self.next();
                Ok(!self.unary(nesting + 1)?)
            }
            Token::Punct('!') => {
                self.next();
                Ok(u64::from(self.unary(nesting + 1)? == 0))
            }
            Token::Punct('(') => {
                self.next();
                let v = self.binary(0, nesting + 1)?;
                self.expect(')')?;
                Ok(v)
            }
            _ => Err(self.unexpected("an integer constant")),
        }
    }
}
