//! Whether a condition means something: names that exist, operands that fit, pointers that were looked at first.
//!
//! The types are those that the API's conditions need, not C's: a flag set is compared with flags of the same set, an
//! enumerator with values of its enumeration, a pointer with `NULL` alone.

use std::collections::BTreeSet;

use super::{Expr, Fault, Node, Operator, OperatorKind, parse};
use crate::ctype::{Array, CType};
use crate::model::{Function, Kind, Release};
use crate::names;

/// Checks a parsed condition that a function answers `code` under.
///
/// # Errors
/// The first fault, in the order of the text.
pub fn check(release: &Release, function: &Function, code: &str, condition: &Expr) -> Result<(), Fault> {
    let mut checker = Checker { release, function, code, seen: BTreeSet::new() };
    let ty = checker.expr(condition)?;
    let decides = ty == Type::Truth || is_mask(condition);
    if decides { Ok(()) } else { Err(Fault::new(condition.column, "is no condition; compare it with something")) }
}

/// Checks the backquoted parts of a sentence: each is an expression over the function's parameters, or names a function
/// or a type.
///
/// # Errors
/// The first fault, in the order of the text.
pub fn check_prose(release: &Release, function: &Function, text: &str) -> Result<(), Fault> {
    let quotes: Vec<usize> = text.chars().zip(1..).filter_map(|(c, column)| (c == '`').then_some(column)).collect();
    if quotes.len() % 2 == 1 {
        return Err(Fault::new(quotes[quotes.len() - 1], "a backquote is left open"));
    }
    let mut column = 1;
    for (index, part) in text.split('`').enumerate() {
        let quoted = index % 2 == 1;
        if quoted && release.function(part).is_none() && release.kind(part).is_none() {
            let shift = |fault: Fault| Fault::new(fault.column + column - 1, fault.message);
            let parsed = parse(part).map_err(shift)?;
            // A sentence says itself when it is about something that may be null.
            let seen = function.params.iter().map(|param| param.name.clone()).collect();
            let mut checker = Checker { release, function, code: "", seen };
            checker.expr(&parsed).map_err(shift)?;
        }
        column += part.chars().count() + 1;
    }
    Ok(())
}

/// `flags & …`, which C takes for true where a bit is left.
fn is_mask(expr: &Expr) -> bool {
    matches!(&expr.node, Node::Binary { operator, .. } if operator.text == "&")
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    /// Something that holds or does not.
    Truth,
    /// A number.
    Number,
    /// Flags of the set with that name.
    Flags(String),
    /// A value of the enumeration with that name.
    Value(String),
    /// A handle, a callback or a pointer, and what it points to if that can be looked at.
    Address(Option<CType>),
    /// `NULL`.
    Null,
    /// A structure or union itself.
    Record(String),
}

impl Type {
    fn say(&self) -> String {
        match self {
            Type::Truth => "a condition".to_owned(),
            Type::Number => "a number".to_owned(),
            Type::Flags(name) => format!("flags of {name}"),
            Type::Value(name) => format!("a value of {name}"),
            Type::Address(_) => "a pointer or handle".to_owned(),
            Type::Null => "NULL".to_owned(),
            Type::Record(name) => format!("a whole {name}"),
        }
    }
}

struct Checker<'r> {
    release: &'r Release,
    function: &'r Function,
    code: &'r str,
    /// Parameters that are known not to be null here.
    seen: BTreeSet<String>,
}

impl Checker<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<Type, Fault> {
        match &expr.node {
            Node::Null => Ok(Type::Null),
            Node::Number(_) => Ok(Type::Number),
            Node::Name(name) => self.name(expr.column, name),
            Node::Member { of, field, arrow } => self.member(expr.column, of, field, *arrow),
            Node::Element { of, index } => {
                let ty = self.expr(of)?;
                let at = self.expr(index)?;
                match (ty, at) {
                    (Type::Address(Some(element)), Type::Number) => {
                        self.guarded(of)?;
                        Ok(self.of_ctype(&element))
                    }
                    (Type::Address(Some(_)), at) => {
                        Err(Fault::new(index.column, format!("an index is a number, this is {}", at.say())))
                    }
                    (ty, _) => Err(Fault::new(expr.column, format!("{} has no elements", ty.say()))),
                }
            }
            Node::Not(of) => self.truth(of).map(|()| Type::Truth),
            Node::Binary { operator, left, right } => self.binary(expr.column, *operator, left, right),
            Node::Choice { condition, then, otherwise } => {
                let before = self.seen.clone();
                self.truth(condition)?;
                self.seen.extend(not_null(condition));
                let then = self.expr(then);
                self.seen = before;
                let (then, otherwise) = (then?, self.expr(otherwise)?);
                if then == otherwise {
                    return Ok(then);
                }
                let message = format!("chooses between {} and {}", then.say(), otherwise.say());
                Err(Fault::new(expr.column, message))
            }
        }
    }

    /// Takes an expression for something that holds or does not: a condition, a pointer that is not null, a bit left.
    fn truth(&mut self, expr: &Expr) -> Result<(), Fault> {
        match self.expr(expr)? {
            Type::Truth | Type::Address(_) => Ok(()),
            Type::Flags(_) | Type::Number if is_mask(expr) => Ok(()),
            other => {
                Err(Fault::new(expr.column, format!("{} is no condition; compare it with something", other.say())))
            }
        }
    }

    fn binary(&mut self, column: usize, operator: Operator, left: &Expr, right: &Expr) -> Result<Type, Fault> {
        if operator.kind == OperatorKind::Logical {
            self.truth(left)?;
            let before = self.seen.clone();
            if operator.text == "&&" {
                self.seen.extend(not_null(left));
            }
            let right = self.truth(right);
            self.seen = before;
            return right.map(|()| Type::Truth);
        }
        let (left_type, right_type) = (self.expr(left)?, self.expr(right)?);
        let pair = (&left_type, &right_type);
        let alike = left_type == right_type;
        let fits = match operator.kind {
            OperatorKind::Logical => true,
            OperatorKind::Equality => match pair {
                (Type::Address(_), Type::Null) | (Type::Null, Type::Address(_)) => true,
                // What a set of flags comes to, such as `(flags & …) == 0`.
                (Type::Flags(_), Type::Number) | (Type::Number, Type::Flags(_)) => true,
                (Type::Number | Type::Flags(_) | Type::Value(_), _) => alike,
                _ => false,
            },
            OperatorKind::Order => alike && matches!(left_type, Type::Number | Type::Value(_)),
            OperatorKind::Bits => alike && matches!(left_type, Type::Number | Type::Flags(_)),
            OperatorKind::Arithmetic => alike && left_type == Type::Number,
        };
        if !fits {
            let message = format!("`{}` joins {} and {}", operator.text, left_type.say(), right_type.say());
            return Err(Fault::new(column, message));
        }
        if operator.text == "<" && self.code == "UR_RESULT_ERROR_INVALID_ENUMERATION" {
            self.last(left)?;
        }
        match operator.kind {
            OperatorKind::Bits | OperatorKind::Arithmetic => Ok(left_type),
            _ => Ok(Type::Truth),
        }
    }

    /// `LAST < value` refuses what is above `LAST`, so that must be the enumeration's last.
    fn last(&self, expr: &Expr) -> Result<(), Fault> {
        let Node::Name(name) = &expr.node else { return Ok(()) };
        let owner = self.release.enums.iter().find(|item| item.values.iter().any(|value| value.name == *name));
        let Some(last) = owner.and_then(|owner| owner.values.iter().max_by_key(|value| value.value)) else {
            return Ok(());
        };
        let own = owner.and_then(|owner| owner.values.iter().find(|value| value.name == *name));
        if own.is_some_and(|own| own.value == last.value) {
            return Ok(());
        }
        let message =
            format!("{name} is not the last value of its enumeration, which is {0}; compare with {0}", last.name);
        Err(Fault::new(expr.column, message))
    }

    fn member(&mut self, column: usize, of: &Expr, field: &str, arrow: bool) -> Result<Type, Fault> {
        let ty = self.expr(of)?;
        let record = match (&ty, arrow) {
            (Type::Address(Some(target)), true) => {
                self.guarded(of)?;
                self.of_ctype(target)
            }
            (Type::Record(_), false) => ty.clone(),
            (Type::Address(_), false) => return Err(Fault::new(column, "a pointer's field is named with `->`")),
            (Type::Record(_), true) => return Err(Fault::new(column, "a structure's own field is named with `.`")),
            _ => return Err(Fault::new(column, format!("{} has no fields", ty.say()))),
        };
        let Type::Record(name) = &record else {
            return Err(Fault::new(column, format!("{} has no fields", record.say())));
        };
        let mut records = self.release.structs.iter().chain(&self.release.unions);
        let fields = records.find(|item| item.name == *name).map(|item| item.fields.as_slice()).unwrap_or_default();
        match fields.iter().find(|known| known.name == field) {
            Some(known) => Ok(self.of_ctype(&known.ty)),
            None => {
                let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                Err(Fault::new(column, format!("{name} has no field {field}; it has {}", known.join(", "))))
            }
        }
    }

    /// An optional parameter may be null, so a condition that looks behind it asks first.
    fn guarded(&self, expr: &Expr) -> Result<(), Fault> {
        let Node::Name(name) = &expr.node else { return Ok(()) };
        let optional = self.function.params.iter().any(|param| param.name == *name && param.has("optional"));
        if !optional || self.seen.contains(name) {
            return Ok(());
        }
        Err(Fault::new(expr.column, format!("{name} is optional; put `NULL != {name} &&` before what looks behind it")))
    }

    fn name(&self, column: usize, name: &str) -> Result<Type, Fault> {
        if let Some(param) = self.function.params.iter().find(|param| param.name == name) {
            return Ok(self.of_ctype(&param.ty));
        }
        for item in &self.release.enums {
            let flags = || Type::Flags(names::flags_typedef(&item.name));
            if item.flags && names::flags_mask(&item.name) == name {
                return Ok(flags());
            }
            if item.values.iter().any(|value| value.name == name) {
                return Ok(if item.flags { flags() } else { Type::Value(item.name.clone()) });
            }
        }
        if self.release.defines.iter().any(|item| item.name == name) {
            return Err(Fault::new(column, format!("{name} is a text, which no condition can be about")));
        }
        let params: Vec<&str> = self.function.params.iter().map(|param| param.name.as_str()).collect();
        let known = if params.is_empty() { "the function has none".to_owned() } else { params.join(", ") };
        Err(Fault::new(
            column,
            format!(
                "there is no parameter, enumerator or mask {name} in release {}; parameters are {known}",
                self.release.name
            ),
        ))
    }

    fn of_ctype(&self, ty: &CType) -> Type {
        if ty.array != Array::None {
            return Type::Address(Some(CType { array: Array::None, ..ty.clone() }));
        }
        if ty.pointers > 0 {
            let target = CType { pointers: ty.pointers - 1, ..ty.clone() };
            let opaque = target.pointers == 0 && target.base == "void";
            return Type::Address((!opaque).then_some(target));
        }
        match self.release.kind(&ty.base) {
            Some(Kind::Handle | Kind::Callback) => Type::Address(None),
            Some(Kind::Enum) => Type::Value(ty.base.clone()),
            Some(Kind::Flag) => Type::Flags(names::flags_typedef(&ty.base)),
            Some(Kind::Flags) => Type::Flags(ty.base.clone()),
            Some(Kind::Struct | Kind::Union) => Type::Record(ty.base.clone()),
            Some(Kind::Typedef) => {
                let named = self.release.typedefs.iter().find(|item| item.name == ty.base);
                named.map_or(Type::Number, |named| self.of_ctype(&named.ty))
            }
            // An unknown type is told where it is written.
            Some(Kind::Primitive) | None => Type::Number,
        }
    }
}

/// The parameters that are not null where a condition holds.
fn not_null(condition: &Expr) -> Vec<String> {
    match &condition.node {
        Node::Name(name) => vec![name.clone()],
        Node::Binary { operator, left, right } if operator.text == "&&" => [not_null(left), not_null(right)].concat(),
        Node::Binary { operator, left, right } if operator.text == "!=" => match (&left.node, &right.node) {
            (Node::Null, Node::Name(name)) | (Node::Name(name), Node::Null) => vec![name.clone()],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
