//! PTX text to tokens. Knows characters and lines, nothing of what words mean.

use super::error::LoadError;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, with its `%`, `$` or `_` and any `::` in it.
    Word(Box<str>),
    /// An integer; PTX computes with 64 bits and lets the sign be a matter of the user.
    Int(u64),
    /// `0f` and eight hexadecimal digits.
    Single(u32),
    /// `0d` and sixteen hexadecimal digits, or a decimal fraction.
    Double(u64),
    /// A quoted string, without the quotes.
    Text(Box<str>),
    /// Any single punctuation character.
    Punct(char),
    /// `<<` or `>>` in constant expressions.
    Shift(char),
    /// After the last token.
    End,
}

/// A token and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spanned {
    pub token: Token,
    pub line: u32,
}

/// All tokens of the text, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, LoadError> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, at: 0, line: 1, out: Vec::with_capacity(text.len() / 4) };
    while lexer.next()? {}
    let line = lexer.line;
    lexer.out.push(Spanned { token: Token::End, line });
    Ok(lexer.out)
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    line: u32,
    out: Vec<Spanned>,
}

fn starts_word(b: u8) -> bool {
    b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'%')
}

fn continues_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, token: Token) {
        self.out.push(Spanned { token, line: self.line });
    }

    fn next(&mut self) -> Result<bool, LoadError> {
        let Some(&b) = self.bytes.get(self.at) else { return Ok(false) };
        match b {
            b'\n' => {
                self.line += 1;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'/' if self.peek(1) == b'/' => self.skip_line(),
            b'/' if self.peek(1) == b'*' => self.skip_comment()?,
            // `@@DWARF` lines of old compilers are debug information.
            b'@' if self.peek(1) == b'@' => self.skip_line(),
            b'#' => self.skip_line(),
            b'"' => self.string()?,
            b'<' | b'>' if self.peek(1) == b => {
                self.push(Token::Shift(b as char));
                self.at += 2;
            }
            b if b.is_ascii_digit() => self.number()?,
            b if starts_word(b) => self.word(),
            // After a dot everything up to the next punctuation is one modifier: `.2d`, `.v4`, `.L2::128B`.
            b'.' if continues_word(self.peek(1)) => {
                self.push(Token::Punct('.'));
                self.at += 1;
                self.word();
            }
            b if b.is_ascii_graphic() => {
                self.push(Token::Punct(b as char));
                self.at += 1;
            }
            _ => {
                let c = self.text[self.at..].chars().next().unwrap_or('\u{fffd}');
                return Err(LoadError::syntax(self.line, format!("unexpected character {c:?}")));
            }
        }
        Ok(true)
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) -> Result<(), LoadError> {
        let start = self.line;
        self.at += 2;
        while self.at < self.bytes.len() {
            if self.bytes[self.at] == b'*' && self.peek(1) == b'/' {
                self.at += 2;
                return Ok(());
            }
            if self.bytes[self.at] == b'\n' {
                self.line += 1;
            }
            self.at += 1;
        }
        Err(LoadError::syntax(start, "comment without its end"))
    }

    fn string(&mut self) -> Result<(), LoadError> {
        let start = self.at + 1;
        let mut end = start;
        while end < self.bytes.len() && self.bytes[end] != b'"' && self.bytes[end] != b'\n' {
            end += 1;
        }
        if self.bytes.get(end) != Some(&b'"') {
            return Err(LoadError::syntax(self.line, "string without its closing quote"));
        }
        self.push(Token::Text(self.text[start..end].into()));
        self.at = end + 1;
        Ok(())
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            if continues_word(self.peek(0)) {
                self.at += 1;
            } else if self.peek(0) == b':' && self.peek(1) == b':' && continues_word(self.peek(2)) {
                self.at += 3;
            } else {
                break;
            }
        }
        self.push(Token::Word(self.text[start..self.at].into()));
    }

    fn number(&mut self) -> Result<(), LoadError> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let second = self.peek(1).to_ascii_lowercase();
        if rest[0] == b'0' && matches!(second, b'f' | b'd') {
            return self.float_bits(second);
        }
        let (radix, skip) = match (rest[0], second) {
            (b'0', b'x') => (16, 2),
            (b'0', b'b') => (2, 2),
            _ => (10, 0),
        };
        let mut end = start + skip;
        while end < self.bytes.len() && (self.bytes[end] as char).is_digit(radix) {
            end += 1;
        }
        let next = self.bytes.get(end).copied().unwrap_or(0);
        if radix == 10 && (next == b'.' || matches!(next, b'e' | b'E')) {
            return self.decimal_float(start, end);
        }
        let digits = &self.text[start + skip..end];
        // A leading zero makes an octal number.
        let (digits, radix) = if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            (&digits[1..], 8)
        } else {
            (digits, radix)
        };
        let value = u64::from_str_radix(digits, radix)
            .map_err(|_| LoadError::syntax(self.line, format!("bad number '{}'", &self.text[start..end])))?;
        self.at = end;
        if self.peek(0) == b'U' {
            self.at += 1;
        }
        if continues_word(self.peek(0)) {
            return Err(LoadError::syntax(self.line, format!("bad number '{}'", &self.text[start..=self.at])));
        }
        self.push(Token::Int(value));
        Ok(())
    }

    fn float_bits(&mut self, kind: u8) -> Result<(), LoadError> {
        let digits = if kind == b'f' { 8 } else { 16 };
        let text = self.text.get(self.at + 2..self.at + 2 + digits).unwrap_or("");
        let bits = u64::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'));
        let Some(bits) = bits else {
            return Err(LoadError::syntax(self.line, format!("a 0{} constant takes {digits} digits", kind as char)));
        };
        self.at += 2 + digits;
        self.push(if kind == b'f' { Token::Single(bits as u32) } else { Token::Double(bits) });
        Ok(())
    }

    fn decimal_float(&mut self, start: usize, mut end: usize) -> Result<(), LoadError> {
        if self.bytes[end] == b'.' {
            end += 1;
            while end < self.bytes.len() && self.bytes[end].is_ascii_digit() {
                end += 1;
            }
        }
        if matches!(self.bytes.get(end), Some(b'e' | b'E')) {
            end += 1;
            if matches!(self.bytes.get(end), Some(b'+' | b'-')) {
                end += 1;
            }
            while end < self.bytes.len() && self.bytes[end].is_ascii_digit() {
                end += 1;
            }
        }
        let text = &self.text[start..end];
        let value: f64 = text.parse().map_err(|_| LoadError::syntax(self.line, format!("bad number '{text}'")))?;
        self.at = end;
        self.push(Token::Double(value.to_bits()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|s| s.token).collect()
    }

    #[test]
    fn numbers_of_every_form() {
        assert_eq!(
            kinds("10 0x1F 017 0b101 7U 0f3F800000 0d3FF0000000000000 1.5"),
            [
                Token::Int(10),
                Token::Int(31),
                Token::Int(15),
                Token::Int(5),
                Token::Int(7),
                Token::Single(0x3f80_0000),
                Token::Double(0x3ff0_0000_0000_0000),
                Token::Double(1.5f64.to_bits()),
                Token::End
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_comments() {
        let all = tokens("a /* \n\n */ b // c\n d").unwrap();
        assert_eq!(all.iter().map(|s| s.line).collect::<Vec<_>>(), [1, 3, 4, 4]);
    }

    #[test]
    fn errors_name_their_line() {
        assert_eq!(tokens("\n\"open").unwrap_err().line, 2);
        assert_eq!(tokens("\n\n0f12").unwrap_err().line, 3);
        assert_eq!(tokens("/* open").unwrap_err().message, "comment without its end");
        assert!(tokens("99999999999999999999999").is_err());
    }
}
