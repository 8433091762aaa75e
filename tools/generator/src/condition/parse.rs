//! From text to an [`Expr`], with C's precedence.

use super::{Expr, Fault, Node, Operator, OperatorKind};

/// The operators of two operands, the loosest level first, as C binds them.
const LEVELS: [&[Operator]; 8] = [
    &[operator("||", OperatorKind::Logical)],
    &[operator("&&", OperatorKind::Logical)],
    &[operator("|", OperatorKind::Bits)],
    &[operator("&", OperatorKind::Bits)],
    &[operator("==", OperatorKind::Equality), operator("!=", OperatorKind::Equality)],
    &[
        operator("<", OperatorKind::Order),
        operator(">", OperatorKind::Order),
        operator("<=", OperatorKind::Order),
        operator(">=", OperatorKind::Order),
    ],
    &[operator("+", OperatorKind::Arithmetic), operator("-", OperatorKind::Arithmetic)],
    &[
        operator("*", OperatorKind::Arithmetic),
        operator("/", OperatorKind::Arithmetic),
        operator("%", OperatorKind::Arithmetic),
    ],
];

/// Every symbol, a longer one before those that it begins with.
const SYMBOLS: [&str; 24] = [
    "->", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "&", "|", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]",
    ".", "?", ":",
];

const fn operator(text: &'static str, kind: OperatorKind) -> Operator {
    Operator { text, kind }
}

/// Parses a whole condition.
///
/// # Errors
/// The first place that cannot be read.
pub fn parse(text: &str) -> Result<Expr, Fault> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.chars().count() + 1 };
    let expr = parser.choice()?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(Fault::new(token.column, format!("`{}` follows a complete condition", token.text))),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Number,
    Symbol,
}

struct Token<'t> {
    column: usize,
    kind: Kind,
    text: &'t str,
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Fault> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (kind, length) = if first.is_ascii_whitespace() {
            (None, 1)
        } else if word(first) {
            let kind = if first.is_ascii_digit() { Kind::Number } else { Kind::Name };
            (Some(kind), rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Some(Kind::Symbol), symbol.len())
        } else {
            return Err(Fault::new(column, unreadable(first)));
        };
        let (text, after) = rest.split_at(length);
        tokens.extend(kind.map(|kind| Token { column, kind, text }));
        rest = after;
        column += length;
    }
    Ok(tokens)
}

fn unreadable(found: char) -> String {
    match found {
        '`' => "a condition is an expression without backquotes; move a sentence to `prose`".to_owned(),
        '=' => "`=` is no operator of a condition; compare with `==`".to_owned(),
        other => format!("`{other}` is no part of a condition"),
    }
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    next: usize,
    end: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.next)
    }

    /// The column of the symbol `text`, if that is what comes next.
    fn take(&mut self, text: &str) -> Option<usize> {
        let token = self.peek().filter(|token| token.kind == Kind::Symbol && token.text == text)?;
        self.next += 1;
        Some(token.column)
    }

    fn expect(&mut self, text: &str, why: &str) -> Result<(), Fault> {
        self.take(text).map(drop).ok_or_else(|| self.missing(&format!("`{text}` {why}")))
    }

    fn missing(&self, what: &str) -> Fault {
        match self.peek() {
            Some(token) => Fault::new(token.column, format!("expected {what}, found `{}`", token.text)),
            None => Fault::new(self.end, format!("expected {what}, found the end")),
        }
    }

    fn choice(&mut self) -> Result<Expr, Fault> {
        let condition = self.level(0)?;
        let Some(column) = self.take("?") else { return Ok(condition) };
        let then = self.choice()?;
        self.expect(":", "of the `?`")?;
        let otherwise = self.choice()?;
        let node = Node::Choice { condition: condition.into(), then: then.into(), otherwise: otherwise.into() };
        Ok(Expr { column, node })
    }

    /// Operations of this level and those that bind tighter.
    fn level(&mut self, level: usize) -> Result<Expr, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.prefixed() };
        let mut left = self.level(level + 1)?;
        while let Some((operator, column)) =
            operators.iter().find_map(|operator| Some((*operator, self.take(operator.text)?)))
        {
            let right = self.level(level + 1)?;
            left = Expr { column, node: Node::Binary { operator, left: left.into(), right: right.into() } };
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Result<Expr, Fault> {
        match self.take("!") {
            Some(column) => Ok(Expr { column, node: Node::Not(self.prefixed()?.into()) }),
            None => self.postfixed(),
        }
    }

    fn postfixed(&mut self) -> Result<Expr, Fault> {
        let mut expr = self.primary()?;
        loop {
            if let Some(column) = self.take("[") {
                let index = self.choice()?;
                self.expect("]", "after the index")?;
                expr = Expr { column, node: Node::Element { of: expr.into(), index: index.into() } };
                continue;
            }
            let arrow = self.take("->");
            let Some(column) = arrow.or_else(|| self.take(".")) else { return Ok(expr) };
            let Some(token) = self.peek().filter(|token| token.kind == Kind::Name) else {
                return Err(self.missing("the name of a field"));
            };
            self.next += 1;
            let node = Node::Member { of: expr.into(), field: token.text.to_owned(), arrow: arrow.is_some() };
            expr = Expr { column, node };
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        if self.take("(").is_some() {
            let inner = self.choice()?;
            self.expect(")", "of the `(`")?;
            return Ok(inner);
        }
        let Some(token) = self.peek().filter(|token| token.kind != Kind::Symbol) else {
            return Err(self.missing("a name, a number or `(`"));
        };
        self.next += 1;
        let node = match (token.kind, token.text) {
            (Kind::Number, text) => Node::Number(
                number(text).ok_or_else(|| Fault::new(token.column, format!("`{text}` is not a whole number")))?,
            ),
            (_, "NULL" | "nullptr") => Node::Null,
            (_, name) => Node::Name(name.to_owned()),
        };
        Ok(Expr { column: token.column, node })
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with every operation in parentheses.
    fn shape(expr: &Expr) -> String {
        match &expr.node {
            Node::Null => "NULL".to_owned(),
            Node::Number(number) => number.to_string(),
            Node::Name(name) => name.clone(),
            Node::Member { of, field, arrow } => format!("{}{}{field}", shape(of), if *arrow { "->" } else { "." }),
            Node::Element { of, index } => format!("{}[{}]", shape(of), shape(index)),
            Node::Not(of) => format!("(!{})", shape(of)),
            Node::Binary { operator, left, right } => format!("({} {} {})", shape(left), operator.text, shape(right)),
            Node::Choice { condition, then, otherwise } => {
                format!("({} ? {} : {})", shape(condition), shape(then), shape(otherwise))
            }
        }
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, expected) in [
            ("NULL != p && M & p->f", "((NULL != p) && (M & p->f))"),
            ("p && a.b == 0 || !c", "((p && (a.b == 0)) || (!c))"),
            ("f & (A | B) == 0", "(f & ((A | B) == 0))"),
            ("w * h % n != 0", "(((w * h) % n) != 0)"),
            ("s % (r != 0 ? r : g.w) != 0", "((s % ((r != 0) ? r : g.w)) != 0)"),
            ("a - 1 - b[0x10]", "((a - 1) - b[16])"),
        ] {
            assert_eq!(parse(text).map(|expr| shape(&expr)), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_operation_is_where_its_operator_is() {
        let expr = parse("(count == 0)").unwrap();
        assert_eq!(expr.column, 8);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_column() {
        for (text, column, message) in [
            ("", 1, "expected a name, a number or `(`, found the end"),
            ("count = 0", 7, "`=` is no operator of a condition; compare with `==`"),
            ("count ==", 9, "expected a name, a number or `(`, found the end"),
            ("(count == 0", 12, "expected `)` of the `(`, found the end"),
            ("count 0", 7, "`0` follows a complete condition"),
            ("p->0 == 1", 4, "expected the name of a field, found `0`"),
            ("a[0 == 1", 9, "expected `]` after the index, found the end"),
            ("size` is too large", 5, "a condition is an expression without backquotes; move a sentence to `prose`"),
            ("a == 1f", 6, "`1f` is not a whole number"),
            ("a ? b", 6, "expected `:` of the `?`, found the end"),
            ("a ~ b", 3, "`~` is no part of a condition"),
        ] {
            assert_eq!(parse(text), Err(Fault::new(column, message)), "{text}");
        }
    }
}
