//! Operations in which lanes see each other, and atomics.

use super::Access;
use super::grid::Launch;
use super::memory::{Problem, View, lanes};
use super::op::*;
use super::warp::set;

/// What a lane reads from one that is not there.
const UNDEFINED: u64 = 0xbad1_bad1;

/// Where an operation names the lanes it is for, if it is one that waits for them.
pub(super) fn members(op: &Op) -> Option<Slot> {
    match op {
        Op::Vote { members: Some(m), .. } | Op::Shuffle { members: Some(m), .. } => Some(*m),
        Op::MatchAny { members, .. }
        | Op::MatchAll { members, .. }
        | Op::Redux { members, .. }
        | Op::Elect { members, .. } => Some(*members),
        _ => None,
    }
}

/// Runs an operation that waits for the lanes it names, for all lanes of `mask`; false when some of those named are
/// alive but not here, and nothing was done. Parts of a warp may name themselves in one instruction.
pub(super) fn meet(
    regs: &mut [Lanes],
    preds: &mut [u32],
    op: &Op,
    named: Slot,
    [mask, alive]: [u32; 2],
    launch: &Launch<'_>,
) -> bool {
    let named = regs[named as usize].map(|n| n as u32);
    if lanes(mask).any(|lane| named[lane] & alive & !mask != 0) {
        return false;
    }
    let mut left = mask;
    while left != 0 {
        let members = named[left.trailing_zeros() as usize];
        let group = lanes(left).filter(|&l| named[l] == members).fold(0, |g, l| g | 1 << l);
        exchange(regs, preds, op, group, members & mask, launch);
        left &= !group;
    }
    true
}

/// Runs an operation that exchanges values: the lanes of `mask` receive, those of `present` take part.
pub(super) fn exchange(regs: &mut [Lanes], preds: &mut [u32], op: &Op, mask: u32, present: u32, launch: &Launch<'_>) {
    let ones = |b: bool| if b { u32::MAX } else { 0 };
    match op {
        Op::Vote { vote, p, .. } => {
            let yes = p.mask(preds) & present;
            match *vote {
                Vote::All(to) => set(preds, to, ones(yes == present), mask),
                Vote::Any(to) => set(preds, to, ones(yes != 0), mask),
                Vote::Uni(to) => set(preds, to, ones(yes == 0 || yes == present), mask),
                Vote::Ballot(to) => super::lanes::keep(regs, to, &[yes.into(); LANES], mask),
            }
        }
        Op::Shuffle { mode, to, ok, a, b, c, .. } => {
            let (value, valid) = shuffle(regs, *mode, [*a, *b, *c], present);
            super::lanes::keep(regs, *to, &value, mask);
            set(preds, *ok, valid, mask);
        }
        Op::MatchAny { to, a, .. } => {
            let a = regs[*a as usize];
            let same = |v: u64| lanes(present).filter(|&l| a[l] == v).fold(0u32, |m, l| m | 1 << l);
            let value: Lanes = std::array::from_fn(|lane| if mask >> lane & 1 != 0 { same(a[lane]).into() } else { 0 });
            super::lanes::keep(regs, *to, &value, mask);
        }
        Op::MatchAll { to, ok, a, .. } => {
            let a = regs[*a as usize];
            let first = a[present.trailing_zeros().min(31) as usize];
            let all = lanes(present).all(|l| a[l] == first);
            super::lanes::keep(regs, *to, &[if all { present.into() } else { 0 }; LANES], mask);
            set(preds, *ok, ones(all), mask);
        }
        Op::Redux { redux, to, a, .. } => {
            let a = regs[*a as usize];
            let all = lanes(present).map(|l| a[l] as u32);
            let value = match redux {
                Redux::Add => all.fold(0, u32::wrapping_add),
                Redux::MinU => all.min().unwrap_or(0),
                Redux::MaxU => all.max().unwrap_or(0),
                Redux::MinS => all.map(|v| v as i32).min().unwrap_or(0) as u32,
                Redux::MaxS => all.map(|v| v as i32).max().unwrap_or(0) as u32,
                Redux::And => all.fold(u32::MAX, |x, y| x & y),
                Redux::Or => all.fold(0, |x, y| x | y),
                Redux::Xor => all.fold(0, |x, y| x ^ y),
            };
            super::lanes::keep(regs, *to, &[value.into(); LANES], mask);
        }
        Op::ActiveMask { to } => super::lanes::keep(regs, *to, &[mask.into(); LANES], mask),
        Op::Elect { to, ok, .. } => {
            let leader = present.trailing_zeros().min(31);
            super::lanes::keep(regs, *to, &[leader.into(); LANES], mask);
            set(preds, *ok, 1 << leader, mask);
        }
        Op::IsSpace { to, address, space } => {
            let a = &regs[*address as usize];
            let lies = |v: u64| match space {
                Space::Shared => v & WINDOW_MASK == SHARED_WINDOW,
                Space::Local => v & WINDOW_MASK == LOCAL_WINDOW,
                Space::Param => v & WINDOW_MASK == PARAM_WINDOW,
                Space::Global => v & WINDOW_MASK < SHARED_WINDOW,
                Space::Generic => true,
            };
            let value = (0..LANES).fold(0, |m, l| m | u32::from(lies(a[l])) << l);
            set(preds, *to, value, mask);
        }
        Op::ReadClock { to, clock, keep } => {
            let now = match clock {
                Clock::Cycles => launch.started.elapsed().as_nanos() as u64,
                Clock::Nanoseconds => std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |d| d.as_nanos() as u64),
            };
            let value = match keep {
                32 => now & 0xffff_ffff,
                33 => now >> 32,
                _ => now,
            };
            super::lanes::keep(regs, *to, &[value; LANES], mask);
        }
        _ => {}
    }
}

/// The values read and, a bit a lane, whether they came from within the segment.
fn shuffle(regs: &[Lanes], mode: Shuffle, [a, b, c]: [Slot; 3], present: u32) -> (Lanes, u32) {
    let (a, b, c) = (&regs[a as usize], &regs[b as usize], &regs[c as usize]);
    let mut out = [0; LANES];
    let mut valid = 0;
    for lane in 0..32i32 {
        let (by, control) = (b[lane as usize] as i32 & 31, c[lane as usize] as i32);
        let (clamp, segment) = (control & 31, control >> 8 & 31);
        let last = (lane & segment) | (clamp & !segment);
        let first = lane & segment;
        let (from, fits) = match mode {
            Shuffle::Up => (lane - by, lane - by >= last),
            Shuffle::Down => (lane + by, lane + by <= last),
            Shuffle::Bfly => (lane ^ by, lane ^ by <= last),
            Shuffle::Idx => (first | (by & !segment), first | (by & !segment) <= last),
        };
        let from = if fits { from } else { lane };
        // A value from a lane that does not take part is undefined: one that no kernel takes for a right one.
        out[lane as usize] = if present >> from & 1 != 0 { a[from as usize] } else { UNDEFINED };
        valid |= u32::from(fits) << lane;
    }
    (out, valid)
}

/// Runs an atomic operation, lane after lane.
pub(super) fn atomic(view: &mut View<'_>, regs: &mut [Lanes], op: &Atomic, mask: u32) -> Result<(), Problem> {
    let Address { space, base, offset, site } = op.address;
    for lane in lanes(mask) {
        let address = regs[base as usize][lane].wrapping_add(offset as u64);
        let pointer = view.resolve(space, address, op.width.into(), lane, Access::Atomic, site)?;
        let (b, c) = (regs[op.b as usize][lane], regs[op.c as usize][lane]);
        // SAFETY: `resolve` allowed an aligned access of the operation's width.
        regs[op.to as usize][lane] = unsafe { (op.run)(pointer, b, c) };
    }
    Ok(())
}
