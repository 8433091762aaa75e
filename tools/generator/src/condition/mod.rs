//! The language of `errors.when`: C expressions over a function's parameters, such as
//! `NULL != pProperties && UR_QUEUE_FLAGS_MASK & pProperties->flags`.
//!
//! [`parse`] turns text into an [`Expr`], [`check`] resolves its names in a release and finds what no call can meet or
//! break. Nothing here evaluates a condition or knows where it was written; [`crate::lint`] adds file, function and code.

pub mod check;
pub mod parse;

pub use check::{check, check_prose};
pub use parse::parse;

/// What is wrong with a condition, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the character in the condition's text, from 1.
    pub column: usize,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl Fault {
    fn new(column: usize, message: impl Into<String>) -> Fault {
        Fault { column, message: message.into() }
    }
}

/// An expression and where it begins; an operation is where its operator is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Number of the character in the condition's text, from 1.
    pub column: usize,
    /// What stands there.
    pub node: Node,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// `NULL`, or C++'s `nullptr`.
    Null,
    /// A whole number.
    Number(u64),
    /// A parameter, an enumerator, a flag or a mask.
    Name(String),
    /// `of->field` or `of.field`.
    Member {
        /// What has the field.
        of: Box<Expr>,
        /// The field's name.
        field: String,
        /// Whether it was written with an arrow.
        arrow: bool,
    },
    /// `of[index]`.
    Element {
        /// The array.
        of: Box<Expr>,
        /// Which element.
        index: Box<Expr>,
    },
    /// `!of`.
    Not(Box<Expr>),
    /// `left operator right`.
    Binary {
        /// What is done.
        operator: Operator,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `condition ? then : otherwise`.
    Choice {
        /// What decides.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if not.
        otherwise: Box<Expr>,
    },
}

/// An operator of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// As it is written.
    pub text: &'static str,
    /// What kind of operands it takes.
    pub kind: OperatorKind,
}

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorKind {
    /// `&&` and `||`: of conditions.
    Logical,
    /// `==` and `!=`.
    Equality,
    /// `<`, `>`, `<=`, `>=`.
    Order,
    /// `|` and `&`: of flags or numbers.
    Bits,
    /// `+`, `-`, `*`, `/`, `%`: of numbers.
    Arithmetic,
}
