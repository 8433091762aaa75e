//! One warp: 32 lanes that run together where they can.
//!
//! Lanes with the same place in the text and the same callers form a *strand*. A jump that lanes take
//! differently splits a strand; strands that meet at the same place merge. The strand deepest in calls and
//! lowest in the text runs first, which makes them meet at the earliest common place; one that runs long while
//! others are ready steps back, so that lanes may wait for each other as on real hardware.

use super::block::{Block, STRAY, Stop};
use super::memory::{Problem, View, lanes};
use super::op::*;
use super::{FaultKind, LaunchFault};

/// Taken jumps after which another strand of the warp gets its turn.
const STRAND_TURN: u32 = 64;
/// Taken jumps after which another warp gets its turn.
const WARP_TURN: u32 = 2048;
/// The deepest chain of calls.
const MAX_CALLS: usize = 1000;

/// Where a call returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub function: u32,
    pub pc: u32,
    regs: u32,
    preds: u32,
    local: u64,
}

/// What a strand waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Ready again when the others had their turn.
    Parked,
    /// At an instruction that other lanes must reach too.
    Meeting,
    /// Behind `bar.warp.sync`, for these lanes.
    WarpBarrier(u32),
    /// Behind a barrier of the block.
    Barrier(u32, BarrierKind),
}

/// Lanes at the same place.
#[derive(Clone, Debug)]
pub(super) struct Strand {
    pub mask: u32,
    pub at: Frame,
    pub frames: Vec<Frame>,
    pub state: State,
}

impl Strand {
    fn meets(&self, other: &Strand) -> bool {
        let mergeable = |s: State| matches!(s, State::Ready | State::Parked | State::Meeting);
        self.at == other.at && mergeable(self.state) && mergeable(other.state) && self.frames == other.frames
    }
}

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// All its threads ended.
    Done,
    /// Every strand waits for something.
    Blocked,
    /// It used up its turn.
    Turn,
}

/// What an instruction did to the strand.
enum Flow {
    /// Strands changed: choose again.
    Choose,
    Turn,
}

/// A warp's state.
pub(super) struct Warp {
    pub index: u32,
    pub regs: Vec<Lanes>,
    pub preds: Vec<u32>,
    /// Local memory, as blocks of 16 bytes for their alignment.
    pub local: Vec<u128>,
    pub stride: u64,
    pub strands: Vec<Strand>,
    /// Lanes that have a thread and have not ended.
    pub alive: u32,
    /// `%tid` of each lane.
    pub tids: [[u32; LANES]; 3],
    turn: u32,
}

impl Warp {
    pub fn new(index: u32, threads: u32, shape: [u32; 3], stride: u64) -> Self {
        let mut tids = [[0; LANES]; 3];
        for lane in 0..LANES as u32 {
            let t = index * LANES as u32 + lane;
            tids[0][lane as usize] = t % shape[0];
            tids[1][lane as usize] = t / shape[0] % shape[1];
            tids[2][lane as usize] = t / shape[0] / shape[1];
        }
        let left = threads - index * LANES as u32;
        let alive = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
        let local = vec![STRAY; (stride as usize * LANES).div_ceil(16)];
        Warp { index, regs: Vec::new(), preds: Vec::new(), local, stride, strands: Vec::new(), alive, tids, turn: 0 }
    }

    /// Puts all lanes at the start of the kernel.
    pub fn start(&mut self, threads: u32, entry: u32, block: &Block<'_>) {
        let left = threads - self.index * LANES as u32;
        self.alive = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
        let at = Frame { function: entry, pc: 0, regs: 0, preds: 0, local: 0 };
        self.strands.clear();
        self.strands.push(Strand { mask: self.alive, at, frames: Vec::new(), state: State::Ready });
        let fresh = self.regs.is_empty();
        self.enter(block, at, u32::MAX, !fresh);
    }

    /// Makes the registers of a frame; `again` when it was made before and only the block differs.
    fn enter(&mut self, block: &Block<'_>, at: Frame, mask: u32, again: bool) {
        let Some(code) = block.code(at.function) else { return };
        let (regs, preds) = ((at.regs + code.slots) as usize, (at.preds + code.preds) as usize);
        if self.regs.len() < regs {
            self.regs.resize(regs, [0; LANES]);
        }
        if self.preds.len() < preds {
            self.preds.resize(preds, 0);
        }
        self.preds[at.preds as usize] = u32::MAX;
        for &(slot, source) in &code.prologue {
            if again
                && !matches!(
                    source,
                    Source::Special(
                        Special::Ctaid(_)
                            | Special::SmId
                            | Special::ClusterId(_)
                            | Special::ClusterCtaId(_)
                            | Special::ClusterCtaRank
                    )
                )
            {
                continue;
            }
            let value = match source {
                Source::Const(v) => [v; LANES],
                Source::Local(offset) => [at.local + offset; LANES],
                Source::Global(index) => [block.launch.globals[index as usize]; LANES],
                Source::Shared(index) => [block.launch.code.shared_offsets[index as usize].into(); LANES],
                Source::Special(s) => self.special(block, s),
            };
            super::lanes::keep(&mut self.regs[at.regs as usize..], slot, &value, mask);
        }
    }

    fn special(&self, block: &Block<'_>, special: Special) -> Lanes {
        let launch = block.launch;
        let all = |v: u64| [v; LANES];
        let each = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32).into());
        match special {
            Special::Tid(d) => std::array::from_fn(|lane| self.tids[d as usize][lane].into()),
            Special::Ntid(d) => all(launch.grid.block[d as usize].into()),
            Special::Ctaid(d) => all(block.at[d as usize].into()),
            Special::Nctaid(d) => all(launch.grid.grid[d as usize].into()),
            Special::ClusterId(d) => all((block.at[d as usize] / launch.grid.cluster[d as usize]).into()),
            Special::NClusterId(d) => all((launch.grid.grid[d as usize] / launch.grid.cluster[d as usize]).into()),
            Special::ClusterCtaId(d) => all((block.at[d as usize] % launch.grid.cluster[d as usize]).into()),
            Special::ClusterNCtaId(d) => all(launch.grid.cluster[d as usize].into()),
            Special::ClusterCtaRank => {
                let [x, y, z] = std::array::from_fn(|d| block.at[d] % launch.grid.cluster[d]);
                let [width, height, _] = launch.grid.cluster;
                all(((z * height + y) * width + x).into())
            }
            Special::ClusterNCtaRank => all(launch.grid.cluster.iter().product::<u32>().into()),
            Special::LaneId => each(&|lane| lane),
            Special::WarpId => all(self.index.into()),
            Special::NWarpId => all(launch.warps.into()),
            Special::SmId => all(block.linear % u64::from(launch.environment.sm_count.max(1))),
            Special::NSmId => all(launch.environment.sm_count.into()),
            Special::GridId => all(launch.environment.grid_id),
            Special::LaneMaskEq => each(&|lane| 1 << lane),
            Special::LaneMaskLe => each(&|lane| u32::MAX >> (31 - lane)),
            Special::LaneMaskLt => each(&|lane| (1 << lane) - 1),
            Special::LaneMaskGe => each(&|lane| u32::MAX << lane),
            Special::LaneMaskGt => each(&|lane| if lane == 31 { 0 } else { u32::MAX << (lane + 1) }),
            Special::DynamicSharedSize => all(launch.grid.dynamic_shared.into()),
            Special::TotalSharedSize => all(launch.shared_size),
            // The address of the grid's workspace, as cooperative groups expect it.
            Special::Env(1) => all(launch.workspace.start >> 32),
            Special::Env(2) => all(launch.workspace.start & 0xffff_ffff),
            Special::Env(_) => all(0),
        }
    }

    /// Runs until nothing more can be done for now.
    pub fn run(&mut self, block: &mut Block<'_>) -> Result<Pause, Stop> {
        loop {
            self.merge();
            let Some(current) = self.choose() else {
                return Ok(if self.strands.is_empty() { Pause::Done } else { Pause::Blocked });
            };
            match self.advance(current, block)? {
                Flow::Choose => {}
                Flow::Turn => return Ok(Pause::Turn),
            }
        }
    }

    fn merge(&mut self) {
        if self.strands.len() < 2 {
            return;
        }
        let mut i = 0;
        while i < self.strands.len() {
            let mut j = i + 1;
            while j < self.strands.len() {
                if self.strands[i].meets(&self.strands[j]) {
                    let other = self.strands.swap_remove(j);
                    self.strands[i].mask |= other.mask;
                    self.strands[i].state = State::Ready;
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// The strand to run: deepest in calls, then lowest in the text.
    fn choose(&mut self) -> Option<usize> {
        for _ in 0..2 {
            let ready = self.strands.iter().enumerate().filter(|(_, s)| s.state == State::Ready);
            if let Some((i, _)) = ready.min_by_key(|(_, s)| (usize::MAX - s.frames.len(), s.at.pc)) {
                return Some(i);
            }
            for strand in self.strands.iter_mut().filter(|s| s.state == State::Parked) {
                strand.state = State::Ready;
            }
        }
        None
    }

    /// The place at which the current strand must stop to meet another.
    fn stop_pc(&self, current: usize) -> u32 {
        let me = &self.strands[current];
        self.strands
            .iter()
            .filter(|s| s.at.function == me.at.function && s.at.pc > me.at.pc && s.frames.len() == me.frames.len())
            .map(|s| s.at.pc)
            .min()
            .unwrap_or(u32::MAX)
    }

    /// Runs one strand until it meets, splits, waits, ends or uses up its turn.
    fn advance(&mut self, current: usize, block: &mut Block<'_>) -> Result<Flow, Stop> {
        let launch = block.launch;
        let mut at = self.strands[current].at;
        let mask = self.strands[current].mask;
        let alone = self.strands.len() == 1;
        let stop = if alone { u32::MAX } else { self.stop_pc(current) };
        let limit = if alone { WARP_TURN } else { STRAND_TURN };
        let code = launch.functions[at.function as usize].code.as_ref().ok_or_else(Stop::nowhere)?;
        let sites = launch.site_base[at.function as usize];
        let regs = &mut self.regs[at.regs as usize..];
        let preds = &mut self.preds[at.preds as usize..];
        let mut view = block.view(&mut self.local, self.stride, sites, code.sites);
        loop {
            if at.pc >= stop {
                self.strands[current].at.pc = at.pc;
                return Ok(Flow::Choose);
            }
            let inst = &code.insts[at.pc as usize];
            let m = mask & inst.guard.mask(preds);
            if m == 0 {
                at.pc += 1;
                continue;
            }
            let outcome = match &inst.op {
                Op::Alu { run, args } => {
                    run(regs, args, m);
                    Ok(())
                }
                Op::Compare(c) => {
                    compare(regs, preds, c, m);
                    Ok(())
                }
                Op::Select { to, a, b, p } => {
                    select(regs, [*to, *a, *b], p.mask(preds), m);
                    Ok(())
                }
                Op::Logic { to, a, b, logic } => {
                    let (a, b) = (a.mask(preds), b.mask(preds));
                    let value = match logic {
                        Logic::And => a & b,
                        Logic::Or => a | b,
                        Logic::Xor => a ^ b,
                    };
                    set(preds, *to, value, m);
                    Ok(())
                }
                Op::Load(load) => view.load(regs, load, m),
                Op::Store(store) => view.store(regs, store, m),
                Op::Atomic(atomic) => super::warp_ops::atomic(&mut view, regs, atomic, m),
                Op::Sample(op) => view.sample(regs, op, m),
                Op::Surface(op) => view.surface(regs, op, m),
                Op::Query(op) => view.query(regs, op, m),
                Op::CopyBytes { from, to, size, read } => {
                    let read = regs[*read as usize];
                    view.copy(regs, from, to, *size, &read, m)
                }
                Op::Branch { target } if m == mask => {
                    at.pc = *target;
                    self.turn += 1;
                    if self.turn >= limit {
                        return Ok(self.step_back(current, at, block));
                    }
                    if !alone {
                        self.strands[current].at.pc = at.pc;
                        return Ok(Flow::Choose);
                    }
                    continue;
                }
                Op::Nop => Ok(()),
                Op::Fence => {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                    Ok(())
                }
                Op::IsSpace { .. }
                | Op::ReadClock { .. }
                | Op::Vote { members: None, .. }
                | Op::Shuffle { members: None, .. }
                | Op::ActiveMask { .. } => {
                    super::warp_ops::exchange(regs, preds, &inst.op, m, m, launch);
                    Ok(())
                }
                op => {
                    self.strands[current].at.pc = at.pc;
                    if let Some(named) = super::warp_ops::members(op) {
                        if !super::warp_ops::meet(regs, preds, op, named, [m, self.alive], launch) {
                            self.strands[current].state = State::Meeting;
                            return Ok(Flow::Choose);
                        }
                        at.pc += 1;
                        continue;
                    }
                    return self.control(current, m, inst, block);
                }
            };
            if let Err(problem) = outcome {
                return Err(self.fault(block, at, problem, inst.line));
            }
            at.pc += 1;
        }
    }

    /// Ends a turn, and lets the other strands go first in the next.
    fn step_back(&mut self, current: usize, at: Frame, block: &Block<'_>) -> Flow {
        self.turn = 0;
        self.strands[current].at.pc = at.pc;
        if self.strands.len() > 1 {
            self.strands[current].state = State::Parked;
            // Other warps get their turn only when all strands had theirs.
            if self.strands.iter().any(|s| s.state == State::Ready) && !block.stopped() {
                return Flow::Choose;
            }
        }
        Flow::Turn
    }

    /// Instructions that change where lanes are, or make them wait.
    fn control(&mut self, current: usize, m: u32, inst: &Inst, block: &mut Block<'_>) -> Result<Flow, Stop> {
        let pc = self.strands[current].at.pc;
        if m != self.strands[current].mask {
            // Those that the guard excludes, or that do not jump, go on behind the instruction.
            let mut rest = self.strands[current].clone();
            rest.mask &= !m;
            rest.at.pc = pc + 1;
            self.strands[current].mask = m;
            self.strands.push(rest);
        }
        match &inst.op {
            Op::Branch { target } => self.strands[current].at.pc = *target,
            Op::BranchIndexed { index, targets } => self.branch_indexed(current, *index, targets, inst.line, block)?,
            Op::Call(call) => self.call(current, call, inst.line, block)?,
            Op::Return => self.ret(current, inst.line, block)?,
            Op::Exit => self.exit(current, block),
            Op::Trap => {
                let lane = m.trailing_zeros() as usize;
                return Err(Stop::fault(LaunchFault::Trap {
                    at: self.location(block, self.strands[current].at, lane, inst.line),
                }));
            }
            Op::Pause => {
                let strand = &mut self.strands[current];
                strand.at.pc = pc + 1;
                let at = strand.at;
                return Ok(self.step_back(current, at, block));
            }
            Op::WarpSync { members } => {
                let base = self.strands[current].at.regs as usize;
                let lane = m.trailing_zeros() as usize;
                let members = self.regs[base + *members as usize][lane] as u32;
                let strand = &mut self.strands[current];
                strand.at.pc = pc + 1;
                strand.state = State::WarpBarrier(members);
                self.release_warp_barriers();
            }
            Op::Barrier { kind, id, count, p } => {
                let strand = &mut self.strands[current];
                let (at, lane) = (strand.at, m.trailing_zeros() as usize);
                let value = |slot: Slot| self.regs[(at.regs + slot) as usize][lane] as u32;
                let (id, count) = (value(*id), count.map(value));
                if id > 15 {
                    let message = format!("barrier {id} does not exist: there are 16");
                    let problem = Problem { lane, kind: FaultKind::IllegalAddress, message };
                    return Err(self.fault(block, at, problem, inst.line));
                }
                let votes = p.mask(&self.preds[at.preds as usize..]) & m;
                strand.at.pc = pc + 1;
                if *kind != BarrierKind::Arrive {
                    strand.state = State::Barrier(id, *kind);
                }
                block.arrive(self.index, m, votes, id, count);
            }
            _ => self.strands[current].at.pc = pc + 1,
        }
        Ok(Flow::Choose)
    }

    fn branch_indexed(
        &mut self,
        current: usize,
        index: Slot,
        targets: &[u32],
        line: u32,
        block: &Block<'_>,
    ) -> Result<(), Stop> {
        let strand = self.strands.swap_remove(current);
        let values = self.regs[(strand.at.regs + index) as usize];
        let mut left = strand.mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let chosen = values[lane] as u32;
            let Some(&pc) = targets.get(chosen as usize) else {
                let message = format!("index {chosen} is beyond the {} targets of brx", targets.len());
                return Err(self.fault(block, strand.at, Problem { lane, kind: FaultKind::InvalidPc, message }, line));
            };
            let group = lanes(left).filter(|&l| values[l] as u32 == chosen).fold(0, |g, l| g | 1 << l);
            let mut part = strand.clone();
            part.mask = group;
            part.at.pc = pc;
            self.strands.push(part);
            left &= !group;
        }
        Ok(())
    }

    fn call(&mut self, current: usize, call: &Call, line: u32, block: &mut Block<'_>) -> Result<(), Stop> {
        let at = self.strands[current].at;
        let mask = self.strands[current].mask;
        let function = match call.callee {
            Callee::Function(f) => f,
            Callee::Builtin(builtin) => return self.builtin(current, builtin, call, line, block),
            Callee::Address(slot) => {
                let values = self.regs[(at.regs + slot) as usize];
                let lane = mask.trailing_zeros() as usize;
                let found = code_index(values[lane]).filter(|&f| block.code(f).is_some());
                let Some(f) = found else {
                    let message = format!("call of {:#x}, which is no function's address", values[lane]);
                    return Err(self.fault(block, at, Problem { lane, kind: FaultKind::InvalidPc, message }, line));
                };
                let group = lanes(mask).filter(|&l| values[l] == values[lane]).fold(0, |g, l| g | 1 << l);
                if group != mask {
                    // The others stay at the call and make theirs later.
                    let mut rest = self.strands[current].clone();
                    rest.mask = mask & !group;
                    self.strands.push(rest);
                    self.strands[current].mask = group;
                }
                f
            }
        };
        let (Some(caller), Some(callee)) = (block.code(at.function), block.code(function)) else {
            return Err(Stop::nowhere());
        };
        let mask = self.strands[current].mask;
        let next = Frame {
            function,
            pc: 0,
            regs: at.regs + caller.slots,
            preds: at.preds + caller.preds,
            local: at.local + caller.frame_bytes,
        };
        if self.strands[current].frames.len() >= MAX_CALLS || next.local + callee.frame_bytes > self.stride {
            let message = format!("the stack of {} bytes is exhausted by a call", self.stride);
            let lane = mask.trailing_zeros() as usize;
            return Err(self.fault(block, at, Problem { lane, kind: FaultKind::Stack, message }, line));
        }
        for (&(from, size), &(to, room)) in call.arguments.iter().zip(&callee.parameters) {
            self.copy_local(mask, at.local + from, next.local + to, size.min(room));
        }
        let strand = &mut self.strands[current];
        strand.frames.push(at);
        strand.at = next;
        self.enter(block, next, mask, false);
        Ok(())
    }

    fn ret(&mut self, current: usize, _line: u32, block: &mut Block<'_>) -> Result<(), Stop> {
        let Some(back) = self.strands[current].frames.pop() else {
            self.exit(current, block);
            return Ok(());
        };
        let (from, mask) = (self.strands[current].at, self.strands[current].mask);
        let (Some(caller), Some(callee)) = (block.code(back.function), block.code(from.function)) else {
            return Err(Stop::nowhere());
        };
        if let Op::Call(call) = &caller.insts[back.pc as usize].op {
            for (&(source, size), &(to, room)) in callee.results.iter().zip(&call.results) {
                self.copy_local(mask, from.local + source, back.local + to, size.min(room));
            }
        }
        self.strands[current].at = Frame { pc: back.pc + 1, ..back };
        Ok(())
    }

    /// Copies within the local memory of each lane.
    fn copy_local(&mut self, mask: u32, from: u64, to: u64, size: u64) {
        let stride = self.stride as usize;
        let bytes = self.local.len() * 16;
        // SAFETY: any bit pattern is a byte, and the slice covers exactly the vector's memory.
        let local = unsafe { std::slice::from_raw_parts_mut(self.local.as_mut_ptr().cast::<u8>(), bytes) };
        for lane in lanes(mask) {
            let (from, to) = (lane * stride + from as usize, lane * stride + to as usize);
            local.copy_within(from..from + size as usize, to);
        }
    }

    fn builtin(
        &mut self,
        current: usize,
        builtin: Builtin,
        call: &Call,
        line: u32,
        block: &mut Block<'_>,
    ) -> Result<(), Stop> {
        let (at, mask) = (self.strands[current].at, self.strands[current].mask);
        let launch = block.launch;
        // A site of its own: what may be read here says nothing about another instruction.
        let mut view = block.view(&mut self.local, self.stride, launch.sites, 1);
        let outcome = match builtin {
            Builtin::Printf => super::printf::print(&mut view, call, at.local, mask, &launch.output()),
            Builtin::AssertFail => Ok(()),
        };
        if builtin == Builtin::AssertFail {
            let lane = mask.trailing_zeros() as usize;
            let message = super::printf::assertion(&mut view, call, at.local, lane);
            let at = self.location(block, at, lane, line);
            return Err(Stop::fault(LaunchFault::Assert { at, message }));
        }
        if let Err(problem) = outcome {
            return Err(self.fault(block, at, problem, line));
        }
        self.strands[current].at.pc += 1;
        Ok(())
    }

    /// Ends the strand's threads.
    fn exit(&mut self, current: usize, block: &mut Block<'_>) {
        let strand = self.strands.swap_remove(current);
        self.alive &= !strand.mask;
        block.ended(self.index, self.alive);
        // Those who wait for the ended ones need wait no longer.
        for strand in self.strands.iter_mut().filter(|s| s.state == State::Meeting) {
            strand.state = State::Ready;
        }
        self.release_warp_barriers();
    }

    fn release_warp_barriers(&mut self) {
        let waiting =
            self.strands.iter().filter(|s| matches!(s.state, State::WarpBarrier(_))).fold(0, |all, s| all | s.mask);
        for strand in &mut self.strands {
            if let State::WarpBarrier(members) = strand.state
                && members & self.alive & !waiting == 0
            {
                strand.state = State::Ready;
            }
        }
    }

    /// Sends on the strands that wait at a barrier, with its result.
    pub fn release(&mut self, id: u32, popc: u32, all: bool, any: bool) {
        for strand in &mut self.strands {
            let State::Barrier(waits, kind) = strand.state else { continue };
            if waits != id {
                continue;
            }
            strand.state = State::Ready;
            let preds = &mut self.preds[strand.at.preds as usize..];
            let bits = |b: bool| if b { u32::MAX } else { 0 };
            match kind {
                BarrierKind::Popc(slot) => {
                    let regs = &mut self.regs[strand.at.regs as usize..];
                    super::lanes::keep(regs, slot, &[popc.into(); LANES], strand.mask);
                }
                BarrierKind::And(p) => set(preds, p, bits(all), strand.mask),
                BarrierKind::Or(p) => set(preds, p, bits(any), strand.mask),
                BarrierKind::Sync | BarrierKind::Arrive => {}
            }
        }
    }

    pub fn location(&self, block: &Block<'_>, at: Frame, lane: usize, line: u32) -> super::Location {
        super::Location {
            function: block.launch.functions[at.function as usize].name.clone(),
            line,
            block: block.at,
            thread: self.tids.map(|t| t[lane.min(LANES - 1)]),
        }
    }

    #[cold]
    fn fault(&self, block: &Block<'_>, at: Frame, problem: Problem, line: u32) -> Stop {
        let at = self.location(block, at, problem.lane, line);
        Stop::fault(LaunchFault::Memory { at, kind: problem.kind, message: problem.message })
    }
}

/// Writes a predicate for the lanes of a mask.
#[inline(always)]
pub(super) fn set(preds: &mut [u32], to: u32, value: u32, mask: u32) {
    let p = &mut preds[to as usize];
    *p = *p & !mask | value & mask;
}

#[inline(always)]
fn compare(regs: &[Lanes], preds: &mut [u32], c: &Compare, mask: u32) {
    let result = (c.run)(regs, c.a, c.b);
    let with = c.c.mask(preds);
    let combine = |r: u32| match c.combine {
        Combine::And => r & with,
        Combine::Or => r | with,
        Combine::Xor => r ^ with,
    };
    set(preds, c.p, combine(result), mask);
    if c.q != 0 {
        set(preds, c.q, combine(!result), mask);
    }
}

#[inline(always)]
fn select(regs: &mut [Lanes], [to, a, b]: [Slot; 3], chosen: u32, mask: u32) {
    let (a, b) = (&regs[a as usize], &regs[b as usize]);
    let value: Lanes = std::array::from_fn(|lane| if chosen >> lane & 1 != 0 { a[lane] } else { b[lane] });
    super::lanes::keep(regs, to, &value, mask);
}

/// The memories that a warp's instructions see.
impl Block<'_> {
    fn view<'v>(&'v mut self, local: &'v mut [u128], stride: u64, first_site: u32, sites: u32) -> View<'v> {
        let launch = self.launch;
        let end = (first_site + sites.max(1)) as usize;
        View {
            memory: launch.environment.memory,
            workspace: launch.workspace.clone(),
            shared: self.shared.as_mut_ptr().cast(),
            shared_size: launch.shared_size,
            shared_reach: launch.shared_reach,
            strayed: &launch.strayed,
            local: local.as_mut_ptr().cast(),
            stride,
            params: launch.params.as_ptr().cast(),
            params_size: launch.params_size,
            sites: &mut self.sites[first_site as usize..end],
        }
    }
}
