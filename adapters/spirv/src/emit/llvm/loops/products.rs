//! Products of a loop's counter become sums: `first + i * step` is carried from round to round, and each round adds `step`.
//!
//! A product of 64 bits is three instructions of the device and a sum two; an unrolled loop has one for each round. libnvvm goes the other
//! way: it draws what was computed before the loop into the product (`(first + i) * step`), so that each guarded load of a reduction
//! waits for three multiplications. Modulo 2^64 both give the same bits.

use std::collections::HashMap;

use super::super::instruction::Inst;
use super::super::{Target, Writer};
use super::places;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Function, Id, Instruction, Type};

/// With more of them in one loop, registers cost more than products.
const MOST: usize = 4;

/// Rounds of a short loop that libnvvm puts behind each other of its own accord. Said as a hint, it marks the result as unrolled, and
/// ptxas does not unroll that once more: each way into it would cost more than a loop of eight rounds saves.
const ROUNDS: u32 = 4;

/// Instructions of a short loop, as the module has them; it has no loop in it and calls nothing.
const SHORT: usize = 32;

/// A loop that carries products.
#[derive(Debug)]
pub(in super::super) struct CountedLoop {
    head: Id,
    /// The only block from which the loop is entered, and the only one that goes back to its head.
    before: Id,
    last: Id,
    counters: Vec<Counter>,
    /// In the module's order, so each stands behind what it is made of.
    values: Vec<Linear>,
    /// The names of each value at the loop's start and of its step, once `before` is written.
    names: Vec<(String, String)>,
}

/// A phi of 64 bits that steps by something from before the loop.
#[derive(Clone, Copy, Debug)]
struct Counter {
    phi: Id,
    start: Id,
    step: Id,
}

/// A value that is linear in a counter.
#[derive(Clone, Copy, Debug)]
struct Linear {
    result: Id,
    of: Source,
    /// What it is multiplied by, or what is added to it: something from before the loop.
    with: Id,
    multiplies: bool,
    /// Whether there is a product in it. A counter and a number make a sum that stays as it is.
    carried: bool,
    /// Whether something is carried that is made of it, itself included.
    needed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Counter(usize),
    Value(usize),
}

impl Writer<'_> {
    /// Finds them in a function, before it is written.
    pub(in super::super) fn find_products(&mut self, function: &Function) -> Result<()> {
        if self.target != Target::Nvptx {
            return Ok(());
        }
        let innermost = self.innermost_loops(function)?;
        if innermost.iter().all(Option::is_none) {
            return Ok(());
        }
        let (entered, reached) = self.edges_of(function)?;
        let mut blocks_of: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, head) in innermost.into_iter().enumerate().filter(|&(at, _)| reached[at]) {
            blocks_of.entry(head.unwrap_or(usize::MAX)).or_default().push(at);
        }
        for (head, from) in entered.iter().enumerate() {
            let &[before, last] = from.as_slice() else { continue };
            if before >= head || last < head || [before, last].iter().any(|&at| self.is_switch(function, at)) {
                continue;
            }
            let labels = [head, before, last].map(|at| function.blocks[at].label);
            let counters = self.counters(function, head, labels)?;
            let own = blocks_of.remove(&head).unwrap_or_default();
            let values = self.linear_values(function, head, &counters, &own)?;
            let carried: Vec<Id> = values.iter().filter(|value| value.carried).map(|value| value.result).collect();
            let short = own.len() == last - head + 1 && self.is_short(function, &own);
            if (1..=MOST).contains(&carried.len()) {
                self.current.carried.extend(carried);
                let [head, before, last] = labels;
                let counted = CountedLoop { head, before, last, counters, values, names: Vec::new() };
                if short {
                    self.hint_rounds(head, last);
                }
                let index = self.current.counted_loops.len();
                for label in [head, before, last] {
                    let at = self.current.counted_at.entry(label).or_default();
                    // A loop of one block begins where it goes back.
                    if at.last() != Some(&index) {
                        at.push(index);
                    }
                }
                self.current.counted_loops.push(counted);
            }
        }
        Ok(())
    }

    fn is_short(&self, function: &Function, blocks: &[usize]) -> bool {
        let bodies = blocks.iter().map(|&at| &self.module.body[function.blocks[at].first..function.blocks[at].end]);
        let mut count = 0;
        for instruction in bodies.flatten() {
            count += 1;
            if count > SHORT || instruction.opcode == op::FUNCTION_CALL {
                return false;
            }
        }
        true
    }

    /// Leaves a loop alone that has hints of the module's.
    fn hint_rounds(&mut self, head: Id, last: Id) {
        if !self.current.loops.contains_key(&last) {
            let hint = self.metadata.node(&format!("!{{!\"llvm.loop.unroll.count\", i32 {ROUNDS}}}"));
            let node = self.metadata.distinct(&[hint]);
            self.current.loops.insert(last, (head, node));
        }
    }

    /// For each block those that go to it, once for each edge and in their order; and whether anything goes there from the entry.
    fn edges_of(&self, function: &Function) -> Result<(Vec<Vec<usize>>, Vec<bool>)> {
        let places = places(function);
        let count = function.blocks.len();
        let (mut entered, mut left) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, block) in function.blocks.iter().enumerate() {
            for target in self.targets(block)? {
                if let Some(&target) = places.get(&target) {
                    entered[target].push(at);
                    left[at].push(target);
                }
            }
        }
        let (mut reached, mut next) = (vec![false; count], vec![0]);
        while let Some(at) = next.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                next.extend(&left[at]);
            }
        }
        Ok((entered, reached))
    }

    /// LLVM's phis name each edge of a switch.
    fn is_switch(&self, function: &Function, at: usize) -> bool {
        let block = &function.blocks[at];
        self.module.body[block.first..block.end].last().is_none_or(|terminator| terminator.opcode == op::SWITCH)
    }

    /// The counters among the phis of a loop's head; `labels` are those of the head, of the block before it and of the last.
    fn counters(&self, function: &Function, head: usize, labels: [Id; 3]) -> Result<Vec<Counter>> {
        let [_, before, last] = labels;
        let block = &function.blocks[head];
        let mut counters = Vec::new();
        for &phi in self.module.body[block.first..block.end].iter().filter(|i| i.opcode == op::PHI) {
            let &[ty, id, ref pairs @ ..] = self.module.operands(phi) else { continue };
            let (start, next) = match *pairs {
                [start, from, next, back] if (from, back) == (before, last) => (start, next),
                [next, back, start, from] if (from, back) == (before, last) => (start, next),
                _ => continue,
            };
            let Some(next) = self.module.find(next).map(|definition| definition.instruction) else { continue };
            if next.opcode != op::I_ADD || !matches!(self.module.ty(ty)?, Type::Int(64)) {
                continue;
            }
            if let Some(step) = self.other_operand(next, id)?
                && self.is_before(step, function, head)
            {
                counters.push(Counter { phi: id, start, step });
            }
        }
        Ok(counters)
    }

    /// What is linear in a counter, in these blocks of the loop.
    fn linear_values(
        &self,
        function: &Function,
        head: usize,
        counters: &[Counter],
        blocks: &[usize],
    ) -> Result<Vec<Linear>> {
        let mut values: Vec<Linear> = Vec::new();
        let mut sources: HashMap<Id, Source> =
            counters.iter().enumerate().map(|(at, counter)| (counter.phi, Source::Counter(at))).collect();
        if sources.is_empty() {
            return Ok(values);
        }
        for &at in blocks {
            let block = &function.blocks[at];
            for &instruction in &self.module.body[block.first..block.end] {
                let multiplies = instruction.opcode == op::I_MUL;
                if !multiplies && instruction.opcode != op::I_ADD {
                    continue;
                }
                let (a, b) = (self.module.operand(instruction, 2)?, self.module.operand(instruction, 3)?);
                let (of, with) = match (sources.get(&a), sources.get(&b)) {
                    (Some(&of), None) => (of, b),
                    (None, Some(&of)) => (of, a),
                    _ => continue,
                };
                // A product by a constant costs little, and the compiler knows more of it.
                if !self.is_before(with, function, head) || multiplies && self.is_constant(with, function) {
                    continue;
                }
                let has_product = matches!(of, Source::Value(at) if values[at].carried);
                let result = self.module.operand(instruction, 1)?;
                sources.insert(result, Source::Value(values.len()));
                values.push(Linear { result, of, with, multiplies, carried: multiplies || has_product, needed: false });
            }
        }
        for at in (0..values.len()).rev() {
            values[at].needed |= values[at].carried;
            if let (true, Source::Value(of)) = (values[at].needed, values[at].of) {
                values[of].needed = true;
            }
        }
        Ok(values)
    }

    /// The other operand of a sum or a product of `id`.
    fn other_operand(&self, instruction: Instruction, id: Id) -> Result<Option<Id>> {
        let (a, b) = (self.module.operand(instruction, 2)?, self.module.operand(instruction, 3)?);
        Ok(match (a == id, b == id) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        })
    }

    /// Whether the id is a constant, a parameter, or made in a block before the head. Where it and the counter meet, both dominate, so
    /// that it dominates the head, and the only block from which the loop is entered.
    fn is_before(&self, id: Id, function: &Function, head: usize) -> bool {
        let body = &self.module.body[function.blocks[head].first..function.blocks[head].end];
        let (Some(definition), Some(first)) = (self.module.find(id), body.first()) else { return false };
        definition.instruction.at < first.at
    }

    fn is_constant(&self, id: Id, function: &Function) -> bool {
        self.module.find(id).is_none_or(|definition| definition.instruction.at < function.instruction.at)
    }

    /// Writes the phis of what the loop carries that begins here.
    pub(in super::super) fn begin_carried(&mut self, block: Id) {
        let Some(here) = self.current.counted_at.get(&block).cloned() else { return };
        let loops = std::mem::take(&mut self.current.counted_loops);
        for counted in here.iter().map(|&at| &loops[at]).filter(|counted| counted.head == block) {
            let (before, last) = (counted.before, counted.last);
            for (value, (start, _)) in counted.values.iter().zip(&counted.names).filter(|(value, _)| value.carried) {
                let id = value.result;
                self.put(format_args!("%c{id} = phi i64 [ {start}, %b{before} ], [ %n{id}, %b{last} ]"));
            }
        }
        self.current.counted_loops = loops;
    }

    /// Writes what such a loop begins with, if this block is the one before it, and its steps, if this block goes back.
    pub(in super::super) fn end_carried(&mut self, block: Id) -> Result<()> {
        let Some(here) = self.current.counted_at.remove(&block) else { return Ok(()) };
        let mut loops = std::mem::take(&mut self.current.counted_loops);
        for at in here {
            let counted = &mut loops[at];
            if counted.before == block {
                counted.names = self.starts_and_steps(counted)?;
            }
            if counted.last == block {
                for (value, (_, step)) in counted.values.iter().zip(&counted.names).filter(|(value, _)| value.carried) {
                    let id = value.result;
                    self.put(format_args!("%n{id} = add i64 %c{id}, {step}"));
                }
            }
        }
        self.current.counted_loops = loops;
        Ok(())
    }

    fn starts_and_steps(&mut self, counted: &CountedLoop) -> Result<Vec<(String, String)>> {
        let mut names: Vec<(String, String)> = Vec::with_capacity(counted.values.len());
        for value in &counted.values {
            if !value.needed {
                names.push((String::new(), String::new()));
                continue;
            }
            let (start, step) = match value.of {
                Source::Counter(at) => {
                    let Counter { start, step, .. } = counted.counters[at];
                    (self.value(start)?.to_string(), self.value(step)?.to_string())
                }
                Source::Value(at) => names[at].clone(),
            };
            let with = self.value(value.with)?;
            names.push(if value.multiplies {
                (
                    self.let_temp(format_args!("mul i64 {start}, {with}")),
                    self.let_temp(format_args!("mul i64 {step}, {with}")),
                )
            } else {
                (self.let_temp(format_args!("add i64 {start}, {with}")), step)
            });
        }
        Ok(names)
    }

    /// Takes the value from what its loop carries; false if none does.
    pub(in super::super) fn take_carried(&mut self, inst: Inst<'_>) -> Result<bool> {
        let id = inst.result()?;
        let carried = self.current.carried.contains(&id);
        if carried {
            self.alias(id, "i64", &format!("%c{id}"));
        }
        Ok(carried)
    }
}
