//! A function while it is read: its names, slots and constants, and the operations so far.

use super::error::LoadError;
use super::operand::Operand;
use super::types::Type;
use crate::exec::op::{Address, Code, Inst, Op, Pred, Slot, Source, Space, Special};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name inside a function stands for.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    Register(Slot, Type),
    Predicate(u32),
    /// A variable or parameter in the frame: offset and size.
    Frame(u64, u64),
    /// A parameter of the kernel: offset.
    Param(u64),
    Global(u32),
    Shared(u32),
    Function(u32),
    /// A list of labels, `.branchtargets`.
    Targets(Vec<Box<str>>),
    /// `.callprototype`.
    Prototype,
}

/// `%r<10>`.
#[derive(Clone, Copy)]
struct Family {
    first: u32,
    count: u32,
    ty: Type,
}

#[derive(Default)]
struct Scope {
    id: u32,
    names: HashMap<Box<str>, Symbol>,
    families: HashMap<Box<str>, Family>,
    /// Where the frame ended when the scope began.
    frame: u64,
}

/// A jump whose label is still to be found.
struct Fixup {
    inst: usize,
    /// For an indexed branch, which entry.
    entry: usize,
    scope: u32,
    label: Box<str>,
    line: u32,
}

/// A function in the making.
pub(super) struct Builder {
    pub code: Code,
    pub entry: bool,
    pub line: u32,
    pub guard: Pred,
    /// Functions called directly.
    pub calls: Vec<u32>,
    /// Functions whose address is taken.
    pub takes: Vec<u32>,
    /// Whether anything is called through an address.
    pub calls_indirectly: bool,
    /// Shared variables named.
    pub shared: Vec<u32>,
    /// Register words declared, for the estimate.
    pub words: u32,
    /// What names mean outside the function.
    module: Rc<HashMap<Box<str>, Symbol>>,
    scopes: Vec<Scope>,
    parents: Vec<u32>,
    labels: HashMap<(u32, Box<str>), u32>,
    fixups: Vec<Fixup>,
    sources: HashMap<Source, Slot>,
    temps: [Slot; 5],
    frame: u64,
}

/// Slots that instructions use for themselves.
pub(super) const SINK: usize = 0;
pub(super) const CARRY: usize = 1;
pub(super) const TEMP: usize = 2;

impl Builder {
    pub fn new(entry: bool, module: Rc<HashMap<Box<str>, Symbol>>) -> Self {
        Builder {
            module,
            // Predicate 0 is always true.
            code: Code { slots: 5, preds: 1, ..Code::default() },
            entry,
            line: 0,
            guard: Pred::TRUE,
            calls: Vec::new(),
            takes: Vec::new(),
            calls_indirectly: false,
            shared: Vec::new(),
            words: 0,
            scopes: vec![Scope::default()],
            parents: vec![0],
            labels: HashMap::new(),
            fixups: Vec::new(),
            sources: HashMap::new(),
            temps: [0, 1, 2, 3, 4],
            frame: 0,
        }
    }

    pub fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::operand(self.line, message)
    }

    // ---- scopes and names ----

    pub fn open_scope(&mut self) {
        let id = self.parents.len() as u32;
        let parent = self.scopes.last().map_or(0, |s| s.id);
        self.parents.push(parent);
        self.scopes.push(Scope { id, frame: self.frame, ..Scope::default() });
    }

    /// False when no scope but the function's own is open.
    pub fn close_scope(&mut self) -> bool {
        if self.scopes.len() < 2 {
            return false;
        }
        if let Some(scope) = self.scopes.pop() {
            self.frame = scope.frame;
        }
        true
    }

    pub fn declare(&mut self, name: Box<str>, symbol: Symbol) -> Result<(), LoadError> {
        let line = self.line;
        let names = &mut self.scopes.last_mut().expect("the function's scope is open").names;
        if names.contains_key(&name) {
            return Err(LoadError::operand(line, format!("duplicate definition of '{name}'")));
        }
        names.insert(name, symbol);
        Ok(())
    }

    pub fn declare_register(&mut self, name: Box<str>, count: Option<u32>, ty: Type) -> Result<(), LoadError> {
        let number = count.unwrap_or(1);
        let next = if ty == Type::Pred { &mut self.code.preds } else { &mut self.code.slots };
        let first = *next;
        *next = first
            .checked_add(number)
            .filter(|&n| n <= 1 << 16)
            .ok_or_else(|| LoadError::operand(self.line, "too many registers"))?;
        self.words = self.words.saturating_add(number.saturating_mul(ty.bits().div_ceil(32)));
        if count.is_some() {
            let families = &mut self.scopes.last_mut().expect("the function's scope is open").families;
            families.insert(name, Family { first, count: number, ty });
            return Ok(());
        }
        let symbol = if ty == Type::Pred { Symbol::Predicate(first) } else { Symbol::Register(first, ty) };
        self.declare(name, symbol)
    }

    /// What a name stands for inside the function.
    pub fn lookup(&self, name: &str) -> Option<Symbol> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[prefix.len()..].parse::<u32>().ok();
        for scope in self.scopes.iter().rev() {
            if let Some(symbol) = scope.names.get(name) {
                return Some(symbol.clone());
            }
            if let (Some(n), Some(f)) = (number, scope.families.get(prefix))
                && n < f.count
            {
                let index = f.first + n;
                return Some(match f.ty {
                    Type::Pred => Symbol::Predicate(index),
                    ty => Symbol::Register(index, ty),
                });
            }
        }
        self.module.get(name).cloned()
    }

    fn find(&self, name: &str) -> Result<Symbol, LoadError> {
        self.lookup(name).ok_or_else(|| self.undefined(name))
    }

    pub fn undefined(&self, name: &str) -> LoadError {
        let what = if name.starts_with('%') { "register" } else { "symbol" };
        LoadError::undefined(self.line, format!("undefined {what} '{name}'"))
    }

    // ---- the frame ----

    /// Reserves bytes of the frame.
    pub fn reserve(&mut self, size: u64, align: u64) -> Result<u64, LoadError> {
        let offset = self.frame.next_multiple_of(align.max(1));
        self.frame = offset + size;
        if self.frame > 1 << 20 {
            return Err(self.error("more than 1 MiB of local memory"));
        }
        self.code.frame_bytes = self.code.frame_bytes.max(self.frame.next_multiple_of(16));
        Ok(offset)
    }

    // ---- slots ----

    pub fn temp(&self, which: usize) -> Slot {
        self.temps[which]
    }

    /// The slot that holds a value from the frame's making on.
    pub fn source(&mut self, source: Source) -> Slot {
        if let Source::Shared(index) = source {
            self.shared.push(index);
        }
        let (slots, prologue) = (&mut self.code.slots, &mut self.code.prologue);
        *self.sources.entry(source).or_insert_with(|| {
            let slot = *slots;
            *slots += 1;
            prologue.push((slot, source));
            slot
        })
    }

    pub fn constant(&mut self, value: u64) -> Slot {
        self.source(Source::Const(value))
    }

    /// An operand that is read with type `ty`.
    pub fn read(&mut self, operand: &Operand, ty: Type) -> Result<Slot, LoadError> {
        self.read_if(operand, ty, Type::agrees)
    }

    /// An operand that may be wider than `ty`.
    pub fn read_wide(&mut self, operand: &Operand, ty: Type) -> Result<Slot, LoadError> {
        self.read_if(operand, ty, Type::holds)
    }

    fn read_if(&mut self, operand: &Operand, ty: Type, fits: fn(Type, Type) -> bool) -> Result<Slot, LoadError> {
        match operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Register(slot, register)) => {
                    self.check(name, register, ty, fits)?;
                    Ok(slot)
                }
                Some(_) => Err(self.error(format!("'{name}' is not a register of type .{}", ty.name()))),
                None => match special(name, "") {
                    Some(s) => Ok(self.source(Source::Special(s))),
                    None if &**name == "WARP_SZ" => Ok(self.constant(32)),
                    None => Err(self.undefined(name)),
                },
            },
            Operand::Member(name, component) => match special(name, component) {
                Some(s) => Ok(self.source(Source::Special(s))),
                None => Err(self.undefined(&format!("{name}.{component}"))),
            },
            Operand::Int(_) | Operand::Single(_) | Operand::Double(_) => {
                let value = self.literal(operand, ty)?;
                Ok(self.constant(value))
            }
            _ => Err(self.error(format!("unexpected operand, a value of type .{} is expected", ty.name()))),
        }
    }

    fn check(&self, name: &str, register: Type, ty: Type, fits: fn(Type, Type) -> bool) -> Result<(), LoadError> {
        if fits(register, ty) {
            return Ok(());
        }
        let (have, want) = (register.name(), ty.name());
        Err(self.error(format!("type mismatch: '{name}' is .{have}, the instruction is .{want}")))
    }

    fn literal(&self, operand: &Operand, ty: Type) -> Result<u64, LoadError> {
        let mask = if ty.bits() >= 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
        Ok(match (operand, ty) {
            (Operand::Int(v), Type::F32 | Type::F64) => {
                return Err(self.error(format!("integer constant {} in a .{} instruction", *v as i64, ty.name())));
            }
            (Operand::Int(v), _) => v & mask,
            (Operand::Single(bits), Type::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Operand::Single(bits), Type::F32 | Type::B32 | Type::B64) => u64::from(*bits),
            (Operand::Double(bits), Type::F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            (Operand::Double(bits), Type::F64 | Type::B64) => *bits,
            _ => return Err(self.error(format!("floating-point constant in a .{} instruction", ty.name()))),
        })
    }

    /// An operand that is written with type `ty`; `_` is written nowhere.
    pub fn write(&mut self, operand: &Operand, ty: Type) -> Result<Slot, LoadError> {
        Ok(self.write_if(operand, ty, Type::agrees)?.0)
    }

    /// The same for a register that may be wider, with its width in bits.
    pub fn write_wide(&mut self, operand: &Operand, ty: Type) -> Result<(Slot, u32), LoadError> {
        self.write_if(operand, ty, Type::holds)
    }

    fn write_if(
        &mut self,
        operand: &Operand,
        ty: Type,
        fits: fn(Type, Type) -> bool,
    ) -> Result<(Slot, u32), LoadError> {
        match operand {
            Operand::Name(name) if &**name == "_" => Ok((self.temps[SINK], ty.bits())),
            Operand::Name(name) => match self.find(name)? {
                Symbol::Register(slot, register) => {
                    self.check(name, register, ty, fits)?;
                    Ok((slot, register.bits()))
                }
                _ => Err(self.error(format!("'{name}' is not a register of type .{}", ty.name()))),
            },
            _ => Err(self.error("the destination is not a register")),
        }
    }

    /// The register type of an operand, if it is a register.
    pub fn register_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Register(_, ty)) => Some(ty),
                Some(Symbol::Predicate(_)) => Some(Type::Pred),
                _ => None,
            },
            _ => None,
        }
    }

    /// A predicate operand, possibly negated or constant.
    pub fn predicate(&self, operand: &Operand) -> Result<Pred, LoadError> {
        match operand {
            Operand::Not(inner) => {
                let p = self.predicate(inner)?;
                Ok(Pred { negated: !p.negated, ..p })
            }
            Operand::Int(0) => Ok(Pred::FALSE),
            Operand::Int(_) => Ok(Pred::TRUE),
            Operand::Name(name) => match self.find(name)? {
                Symbol::Predicate(index) => Ok(Pred { index, negated: false }),
                _ => Err(self.error(format!("'{name}' is not a predicate register"))),
            },
            _ => Err(self.error("a predicate is expected")),
        }
    }

    /// A predicate that is written; `_` is predicate `!0`, which [`Builder::scratch`] stands for.
    pub fn predicate_target(&mut self, operand: &Operand) -> Result<u32, LoadError> {
        match operand {
            Operand::Name(name) if &**name == "_" => Ok(self.scratch()),
            Operand::Name(_) => Ok(self.predicate(operand)?.index),
            _ => Err(self.error("the destination is not a predicate register")),
        }
    }

    /// A fresh predicate.
    pub fn scratch(&mut self) -> u32 {
        self.code.preds += 1;
        self.code.preds - 1
    }

    // ---- addresses ----

    /// The slot of a symbol's address, and the space it lies in.
    pub fn address_of(&mut self, name: &str) -> Result<(Slot, Space), LoadError> {
        Ok(match self.find(name)? {
            Symbol::Frame(offset, _) => (self.source(Source::Local(offset)), Space::Local),
            Symbol::Param(offset) => (self.constant(offset), Space::Param),
            Symbol::Global(index) => (self.source(Source::Global(index)), Space::Global),
            Symbol::Shared(index) => (self.source(Source::Shared(index)), Space::Shared),
            Symbol::Function(index) => {
                self.takes.push(index);
                (self.constant(crate::exec::op::code_address(index)), Space::Generic)
            }
            _ => return Err(self.error(format!("'{name}' has no address"))),
        })
    }

    /// `[base+offset]` in a space.
    pub fn address(&mut self, operand: &Operand, mut space: Space) -> Result<Address, LoadError> {
        let Operand::Address(base, offset) = operand else {
            return Err(self.error("an address in brackets is expected"));
        };
        let (base, offset) = match base {
            None => (self.constant(*offset as u64), 0),
            Some(name) => match self.lookup(name) {
                Some(Symbol::Register(slot, Type::B64 | Type::U64 | Type::S64 | Type::B32 | Type::U32 | Type::S32)) => {
                    // A function's own parameters live in its frame, and so do those it passes.
                    if space == Space::Param && !self.entry {
                        space = Space::Local;
                    }
                    (slot, *offset)
                }
                Some(Symbol::Register(_, ty)) => {
                    return Err(self.error(format!("'{name}' of type .{} cannot hold an address", ty.name())));
                }
                _ => {
                    let (slot, found) = self.address_of(name)?;
                    let fits = match space {
                        Space::Param => matches!(found, Space::Param | Space::Local),
                        Space::Generic => true,
                        other => other == found,
                    };
                    if !fits || matches!(self.find(name)?, Symbol::Function(_)) {
                        return Err(self.error(format!("'{name}' does not lie in the state space of the instruction")));
                    }
                    space = found;
                    (slot, *offset)
                }
            },
        };
        let site = self.code.sites;
        self.code.sites += 1;
        Ok(Address { space, base, offset, site })
    }

    // ---- operations and labels ----

    pub fn emit(&mut self, op: Op) {
        self.code.insts.push(Inst { op, guard: self.guard, line: self.line });
    }

    pub fn label(&mut self, name: Box<str>) -> Result<(), LoadError> {
        let scope = self.scopes.last().map_or(0, |s| s.id);
        let here = self.code.insts.len() as u32;
        if self.labels.insert((scope, name.clone()), here).is_some() {
            return Err(self.error(format!("duplicate definition of label '{name}'")));
        }
        Ok(())
    }

    /// Remembers that the operation to be emitted next jumps to a label.
    pub fn jump(&mut self, entry: usize, label: &str) {
        let scope = self.scopes.last().map_or(0, |s| s.id);
        self.fixups.push(Fixup { inst: self.code.insts.len(), entry, scope, label: label.into(), line: self.line });
    }

    /// Fills in the targets of all jumps.
    pub fn resolve_labels(&mut self) -> Result<(), LoadError> {
        for fixup in std::mem::take(&mut self.fixups) {
            let Some(target) = self.find_label(fixup.scope, &fixup.label) else {
                return Err(LoadError::undefined(fixup.line, format!("undefined label '{}'", fixup.label)));
            };
            match &mut self.code.insts[fixup.inst].op {
                Op::Branch { target: to } => *to = target,
                Op::BranchIndexed { targets, .. } => targets[fixup.entry] = target,
                _ => {}
            }
        }
        Ok(())
    }

    fn find_label(&self, mut scope: u32, name: &str) -> Option<u32> {
        loop {
            if let Some(&target) = self.labels.get(&(scope, Box::from(name))) {
                return Some(target);
            }
            if scope == 0 {
                return None;
            }
            scope = self.parents[scope as usize];
        }
    }
}

/// The special register of that name that keeps its value while a thread runs.
pub(super) fn special(name: &str, component: &str) -> Option<Special> {
    let axis = match component {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    Some(match (name, component) {
        ("%clusterid", _) => Special::ClusterId(axis?),
        ("%nclusterid", _) => Special::NClusterId(axis?),
        ("%cluster_ctaid", _) => Special::ClusterCtaId(axis?),
        ("%cluster_nctaid", _) => Special::ClusterNCtaId(axis?),
        ("%cluster_ctarank", "") => Special::ClusterCtaRank,
        ("%cluster_nctarank", "") => Special::ClusterNCtaRank,
        ("%tid", _) => Special::Tid(axis?),
        ("%ntid", _) => Special::Ntid(axis?),
        ("%ctaid", _) => Special::Ctaid(axis?),
        ("%nctaid", _) => Special::Nctaid(axis?),
        ("%laneid", "") => Special::LaneId,
        ("%warpid", "") => Special::WarpId,
        ("%nwarpid", "") => Special::NWarpId,
        ("%smid", "") => Special::SmId,
        ("%nsmid", "") => Special::NSmId,
        ("%gridid", "") => Special::GridId,
        ("%lanemask_eq", "") => Special::LaneMaskEq,
        ("%lanemask_le", "") => Special::LaneMaskLe,
        ("%lanemask_lt", "") => Special::LaneMaskLt,
        ("%lanemask_ge", "") => Special::LaneMaskGe,
        ("%lanemask_gt", "") => Special::LaneMaskGt,
        ("%dynamic_smem_size", "") => Special::DynamicSharedSize,
        ("%total_smem_size", "") => Special::TotalSharedSize,
        _ => Special::Env(name.strip_prefix("%envreg")?.parse().ok().filter(|&n| n < 32 && component.is_empty())?),
    })
}
