//! Runs random programs of plain memory in a context of their own: blocks of every kind and size that come and go, each filled
//! with a mark of its own on one of two queues. Now and then a block is freed while a fill of it is on its way, which no program
//! may rely on and which native frees wait for: whoever has the block next must not feel it.

use core::ptr::{null, null_mut};
use std::time::Instant;

use ur_conformance::ffi::{ur_context_handle_t, ur_context_info_t, ur_queue_flags_t, ur_result_t, ur_usm_alloc_info_t};
use ur_conformance::memory::{allocate, is_guarded, is_pooled, read};
use ur_conformance::{Context, Fixture, Kind, Queue, ask, ok, query, ur};

use super::{first_seed, mixed, number, say};

/// What a fill that nobody waits for leaves.
const TRASH: u8 = 0xee;
/// Steps of a program, and blocks that live at a time, at most.
const STEPS: usize = 60;
const MOST_BLOCKS: usize = 24;
/// Few sizes, so that blocks are used again: slabs' blocks, blocks of their own, and large ones.
const SIZES: [usize; 9] = [1, 250, 300, 1000, 1024, 5000, 40_000, 100_000, (1 << 20) + 5];

struct Block {
    pointer: usize,
    kind: Kind,
    size: usize,
    mark: u8,
}

struct Program<'f> {
    fixture: &'f Fixture,
    context: Context,
    queues: [Queue; 2],
    blocks: Vec<Block>,
    random: u64,
}

impl Program<'_> {
    fn choose(&mut self, below: usize) -> usize {
        self.random = mixed(self.random);
        usize::try_from(self.random % below as u64).unwrap_or(0)
    }

    fn handle(&self) -> ur_context_handle_t {
        self.context.handle()
    }

    fn fill(&self, queue: usize, pointer: usize, size: usize, mark: u8) {
        let to = core::ptr::with_exposed_provenance_mut(pointer);
        let (q, from) = (self.queues[queue].handle(), (&raw const mark).cast());
        ok!(Enqueue.pfnUSMFill(q, to, 1, from, size, 0, null(), null_mut()));
    }

    fn allocate(&mut self) {
        let (kind, size) = (Kind::ALL[self.choose(3)], SIZES[self.choose(SIZES.len())]);
        let (mark, queue) = (u8::try_from(self.choose(0xe0)).unwrap_or(0), self.choose(2));
        let mut pointer = null_mut();
        let answer = allocate(kind, self.handle(), self.fixture.device(), null(), size, &raw mut pointer);
        assert_eq!(answer, ur_result_t::SUCCESS, "{kind:?} {size}");
        let pointer = pointer.expose_provenance();
        if kind == Kind::Host && self.choose(2) == 0 {
            let bytes = core::ptr::with_exposed_provenance_mut::<u8>(pointer);
            // SAFETY: the host's memory, of that size, which nobody else has.
            unsafe { bytes.write_bytes(mark, size) };
        } else {
            self.fill(queue, pointer, size, mark);
        }
        self.blocks.push(Block { pointer, kind, size, mark });
    }

    /// Frees a block, perhaps with a fill of it on its way.
    fn free(&mut self) {
        let at = self.choose(self.blocks.len());
        let block = self.blocks.swap_remove(at);
        match self.choose(3) {
            // In debug mode the adapter reports what is written after the free, so nothing is on its way.
            _ if is_guarded() => self.queues.iter().for_each(Queue::finish),
            0 => {
                let queue = self.choose(2);
                self.fill(queue, block.pointer, block.size, TRASH);
            }
            1 => self.queues.iter().for_each(Queue::finish),
            _ => {}
        }
        let pointer = core::ptr::with_exposed_provenance_mut(block.pointer);
        ok!(USM.pfnFree(self.handle(), pointer));
    }

    fn free_wrongly(&mut self) -> Result<(), String> {
        let at = self.choose(self.blocks.len());
        let inner = self.blocks[at].pointer + 1 + self.choose(self.blocks[at].size);
        if self.blocks.iter().any(|block| block.pointer == inner) {
            return Ok(());
        }
        let answer = ur!(USM.pfnFree(self.handle(), core::ptr::with_exposed_provenance_mut(inner)));
        let refused = answer == ur_result_t::ERROR_INVALID_MEM_OBJECT;
        if refused { Ok(()) } else { Err(format!("the free of an inner address answers {answer:?}")) }
    }

    /// Every block has its mark in all of its bytes, and is told of as itself.
    fn check(&self) -> Result<(), String> {
        self.queues.iter().for_each(Queue::finish);
        for Block { pointer, kind, size, mark } in &self.blocks {
            let address = core::ptr::with_exposed_provenance_mut(*pointer);
            let found = read::<u8>(&self.queues[0], address, *size);
            // All at once first: in an unoptimised test a look at each byte takes longer than all that the program does.
            if found != vec![*mark; *size] {
                let wrong = found.iter().enumerate().find(|(_, byte)| *byte != mark);
                let (at, byte) = wrong.unwrap_or((found.len(), mark));
                return Err(format!("{kind:?} block of {size} bytes finds {byte:#x} at {at}, not {mark:#x}"));
            }
            let last = address.wrapping_byte_add(size - 1).cast_const();
            let mut told = 0_usize;
            let (property, out) = (ur_usm_alloc_info_t::BASE_PTR, (&raw mut told).cast());
            let bytes = size_of::<usize>();
            let answer = ur!(USM.pfnGetMemAllocInfo(self.handle(), last, property, bytes, out, null_mut()));
            if answer != ur_result_t::SUCCESS || told != *pointer {
                return Err(format!("{kind:?} block of {size} bytes at {pointer:#x} is told to begin at {told:#x}"));
            }
        }
        let used: u64 = query::get(ask!(Context.pfnGetInfo(self.handle(), ur_context_info_t::USM_USED_BYTES_EXP)));
        let [least, most] = self.blocks.iter().fold([0, 0], |[least, most], block| {
            let [low, high] = counted(block.size as u64);
            [least + low, most + high]
        });
        let fits = (least..=most).contains(&used);
        if fits { Ok(()) } else { Err(format!("{used} bytes are said to be in use, not {least} to {most}")) }
    }

    fn run(&mut self) -> Result<usize, String> {
        let steps = 10 + self.choose(STEPS);
        for _ in 0..steps {
            match self.choose(10) {
                0..5 if self.blocks.len() < MOST_BLOCKS => self.allocate(),
                0..8 if !self.blocks.is_empty() => self.free(),
                8 if !self.blocks.is_empty() => self.free_wrongly()?,
                9 => self.check()?,
                _ => self.allocate(),
            }
        }
        self.check()?;
        while !self.blocks.is_empty() {
            self.free();
        }
        self.check().map(|()| steps)
    }
}

/// The least and the most that a block of so many bytes counts as in use: with what fills up its size class and, in debug mode, the
/// guards of 256 bytes or a page before it and 64 behind. Memory that is the native library's alone does not count.
fn counted(size: u64) -> [u64; 2] {
    let guards = match (is_pooled(), is_guarded()) {
        (false, _) => return [0, 0],
        (true, false) => [0, 0],
        (true, true) => [256 + 64, 4096 + 64],
    };
    // A block that begins with a page is whole pages.
    let rounding = if is_guarded() { 4096 } else { 256 };
    [size + guards[0], (size + guards[1]) * 9 / 8 + rounding]
}

/// Runs as many programs; fails with the first that goes wrong.
pub fn run(programs: u64) {
    super::set_surroundings();
    let fixture = Fixture::new();
    let (first, start, mut steps) = (first_seed(), Instant::now(), 0);
    for index in 0..programs {
        let seed = if index == 0 { first } else { mixed(first.wrapping_add(index)) };
        let context = fixture.context_of(&[fixture.device()]);
        let queues =
            [0; 2].map(|_: u8| fixture.queue_in(context.handle(), fixture.device(), ur_queue_flags_t::empty()));
        let mut program = Program { fixture: &fixture, context, queues, blocks: Vec::new(), random: seed };
        match program.run() {
            Ok(more) => steps += more,
            Err(what) => {
                // What is on its way ends before its memory goes.
                program.queues.iter().for_each(Queue::finish);
                panic!("caught by program {}, plain memory: {what}; again: UR_MODEL_SEED={seed:#x}", index + 1);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("model, plain memory: {programs} programs, {steps} steps in {seconds:.1} s"));
}

/// As many programs as the suite runs.
pub fn count() -> u64 {
    number("UR_MODEL_PLAIN", 600)
}
