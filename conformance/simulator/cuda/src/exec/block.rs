//! One block of threads: its warps, shared memory and barriers.

use super::grid::Launch;
use super::memory::Site;
use super::op::Code;
use super::warp::{Pause, State, Warp};
use super::{FaultKind, LaunchFault, Location};

/// What lies in memory of a block and of its threads that nobody has written, and behind the shared memory that a launch asked for.
pub(super) const STRAY: u128 = u128::from_ne_bytes([0xa5; 16]);

/// Why a block stopped before its end.
#[derive(Debug)]
pub(super) enum Stop {
    Fault(Box<LaunchFault>),
    /// Another block failed, or the launch was aborted.
    Cancelled,
}

impl Stop {
    pub fn fault(fault: LaunchFault) -> Stop {
        Stop::Fault(Box::new(fault))
    }

    /// A jump into a function without operations; the loader prevents it.
    pub fn nowhere() -> Stop {
        let at = Location { function: String::new(), line: 0, block: [0; 3], thread: [0; 3] };
        let message = "call of a function that is only declared".into();
        Stop::fault(LaunchFault::Memory { at, kind: FaultKind::InvalidPc, message })
    }
}

/// A barrier of the block.
#[derive(Default)]
struct Barrier {
    /// Lanes that arrived, a word a warp.
    arrived: Vec<u32>,
    /// Threads that complete it; all of the block without.
    count: Option<u32>,
    active: bool,
    popc: u32,
    all: bool,
    any: bool,
}

/// What the warps of a block share.
pub(super) struct Block<'a> {
    pub launch: &'a Launch<'a>,
    /// `%ctaid`.
    pub at: [u32; 3],
    /// The same as one number.
    pub linear: u64,
    pub shared: Vec<u128>,
    pub sites: Vec<Site>,
    barriers: Vec<Barrier>,
    /// Threads that have not ended, a word a warp.
    alive: Vec<u32>,
}

impl<'a> Block<'a> {
    /// The operations of a function.
    pub fn code(&self, function: u32) -> Option<&'a Code> {
        self.launch.functions.get(function as usize)?.code.as_ref()
    }

    pub fn stopped(&self) -> bool {
        self.launch.stopped()
    }

    /// Threads arrive at a barrier.
    pub fn arrive(&mut self, warp: u32, mask: u32, votes: u32, id: u32, count: Option<u32>) {
        let warps = self.alive.len();
        let barrier = &mut self.barriers[id as usize];
        if !barrier.active {
            *barrier = Barrier { arrived: vec![0; warps], active: true, all: true, ..Barrier::default() };
        }
        barrier.arrived[warp as usize] |= mask;
        barrier.count = count.or(barrier.count);
        barrier.popc += votes.count_ones();
        barrier.all &= votes == mask;
        barrier.any |= votes != 0;
    }

    /// Threads of a warp ended.
    pub fn ended(&mut self, warp: u32, alive: u32) {
        self.alive[warp as usize] = alive;
    }

    fn complete(&self, barrier: &Barrier) -> bool {
        let each = || barrier.arrived.iter().zip(&self.alive);
        match barrier.count {
            None => each().all(|(&arrived, &alive)| alive & !arrived == 0),
            // A warp counts whole when all it has are there.
            Some(count) => {
                let arrived: u32 = each()
                    .map(|(&arrived, &alive)| match arrived {
                        0 => 0,
                        a if alive & !a == 0 => 32,
                        a => a.count_ones(),
                    })
                    .sum();
                arrived >= count
            }
        }
    }
}

/// A block and its warps, kept from one block to the next.
pub(super) struct Resident<'a> {
    block: Block<'a>,
    warps: Vec<Warp>,
}

impl<'a> Resident<'a> {
    pub fn new(launch: &'a Launch<'a>, linear: u64) -> Self {
        let stride = (launch.local_bytes as u64).next_multiple_of(16);
        let warps = (0..launch.warps).map(|w| Warp::new(w, launch.threads, launch.grid.block, stride)).collect();
        // What an earlier block has left there is undefined, of the first one too.
        let mut shared = vec![STRAY; (launch.shared_size as usize).div_ceil(16)];
        // A word that lies partly behind is one of the launch's, too.
        shared.resize(launch.shared_reach as usize / 16, STRAY);
        let block = Block {
            launch,
            at: [0; 3],
            linear: 0,
            shared,
            sites: vec![Site::default(); launch.sites as usize + 1],
            barriers: (0..16).map(|_| Barrier::default()).collect(),
            alive: vec![0; launch.warps as usize],
        };
        let mut out = Resident { block, warps };
        out.restart(linear);
        out
    }

    /// Makes it another block at its start.
    pub fn restart(&mut self, linear: u64) {
        let [x, y, _] = self.block.launch.grid.grid.map(u64::from);
        self.block.linear = linear;
        self.block.at = [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32];
        for barrier in &mut self.block.barriers {
            barrier.active = false;
        }
        for warp in &mut self.warps {
            warp.start(self.block.launch.threads, self.block.launch.entry, &self.block);
            self.block.alive[warp.index as usize] = warp.alive;
        }
    }

    /// Gives every warp a turn; true when the block has ended.
    pub fn step(&mut self) -> Result<bool, Stop> {
        let (mut done, mut progress) = (true, false);
        for warp in &mut self.warps {
            if warp.strands.is_empty() {
                continue;
            }
            if warp.strands.iter().any(|s| matches!(s.state, State::Ready | State::Parked)) {
                progress = true;
                done &= warp.run(&mut self.block)? == Pause::Done;
            } else {
                done = false;
            }
        }
        progress |= self.release();
        if done || progress { Ok(done) } else { Err(self.deadlock()) }
    }

    /// Opens the barriers that are complete.
    fn release(&mut self) -> bool {
        let mut released = false;
        for id in 0..self.block.barriers.len() {
            let barrier = &self.block.barriers[id];
            if !barrier.active || !self.block.complete(barrier) {
                continue;
            }
            let (popc, all, any) = (barrier.popc, barrier.all, barrier.any);
            self.block.barriers[id].active = false;
            for warp in &mut self.warps {
                warp.release(id as u32, popc, all, any);
            }
            released = true;
        }
        released
    }

    fn deadlock(&self) -> Stop {
        for warp in &self.warps {
            let Some(strand) = warp.strands.first() else { continue };
            let lane = strand.mask.trailing_zeros() as usize;
            let (back, message) = match strand.state {
                State::Barrier(id, _) => (1, format!("threads wait at barrier {id} for others that never arrive")),
                State::WarpBarrier(m) => {
                    (1, format!("lanes wait at bar.warp.sync for {m:#x}, not all of which arrive"))
                }
                _ => (0, "lanes wait at a .sync instruction for others that never arrive".to_owned()),
            };
            let line = self
                .block
                .code(strand.at.function)
                .and_then(|c| c.insts.get(strand.at.pc.saturating_sub(back) as usize))
                .map_or(0, |i| i.line);
            let at = warp.location(&self.block, strand.at, lane, line);
            return Stop::fault(LaunchFault::Deadlock { at, message });
        }
        Stop::Cancelled
    }
}
