//! What the programs of one test run in: the context, the kernels, the memory that kernels report in, the watch over closed
//! gates, and what the implementation is able to do.

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ur_conformance::ffi::{ur_program_handle_t, ur_queue_flags_t, ur_result_t as Code, ur_usm_pool_handle_t};
use ur_conformance::{Environment, Fixture, Kernel, Kind, Memory, Program, Queue, ok, ur};
use ur_model::set::CAPACITY;
use ur_model::{Abilities, Flavour, plan::GATES};

use super::pools;
use super::watch::Watch;

/// Words of the verdict: mismatches, command, index, found, expected.
const VERDICT: usize = 0;
/// One word for each command that ran.
const RAN: usize = 8;
/// One word for each gate.
const GATE: usize = RAN + CAPACITY;
const WORDS: usize = GATE + GATES;

/// Everything around the programs of a test. Made after the fixture, so that it goes before.
pub struct World<'f> {
    pub fixture: &'f Fixture,
    pub check: Kernel,
    pub gate: Kernel,
    pub abilities: Abilities,
    pub patience: Duration,
    /// Whether nothing counts but what lies in blocks.
    pub content_only: bool,
    pub watch: Watch,
    notes: Memory<'f>,
    baseline: BTreeMap<String, u64>,
}

/// Native objects that must not grow in number from program to program; events are kept in pools.
/// Native pools are not among them: those of host memory end with the context, not with their pool.
const COUNTED: [&str; 6] = ["stream", "pool memory", "device memory", "host memory", "managed memory", "module"];

impl<'f> World<'f> {
    pub fn new(fixture: &'f Fixture, devices: usize, patience: Duration) -> Self {
        let program = program_of(fixture, devices);
        let kernel = |name: &CStr| fixture.kernel(&program, name);
        let notes = fixture.memory(Kind::Host, WORDS * 4);
        let abilities = abilities_of(fixture, devices);
        let (check, gate) = (kernel(c"check_and_write"), kernel(c"stand_at_gate"));
        let watch = Watch::new(patience);
        let mut world = Self {
            fixture,
            check,
            gate,
            abilities,
            patience,
            content_only: false,
            watch,
            notes,
            baseline: BTreeMap::new(),
        };
        world.clear_notes();
        world.warm_up(devices);
        world.baseline = world.objects().unwrap_or_else(|what| panic!("before the first program: {what}"));
        world
    }

    /// Every kernel runs once on every device: drivers load code at its first launch, and that may wait for a gate.
    fn warm_up(&self, devices: usize) {
        for &device in &self.fixture.devices[..devices] {
            let queue = self.fixture.queue_in(self.fixture.context(), device, ur_queue_flags_t::empty());
            self.open(0);
            self.launch_gate(0, 0).on(&queue);
            self.launch_nothing().on(&queue);
            queue.finish();
        }
        self.clear_notes();
    }

    pub fn clear_notes(&self) {
        (0..WORDS).for_each(|word| self.notes.store(word, 0));
    }

    fn at(&self, word: usize) -> *mut c_void {
        self.notes.at(word * 4)
    }

    pub fn open(&self, gate: usize) {
        self.notes.store(GATE + gate, 1);
    }

    pub fn gate_address(&self, gate: usize) -> *mut c_void {
        self.at(GATE + gate)
    }

    pub fn ran(&self, command: usize) -> bool {
        self.notes.load(RAN + command) != 0
    }

    /// What a kernel found that should not be there.
    pub fn verdict(&self) -> Option<String> {
        let word = |index| self.notes.load(VERDICT + index);
        (word(0) != 0).then(|| {
            let [_, command, at, found, expected] = [0, 1, 2, 3, 4].map(word);
            format!("kernel #{command} found {found:#x} at word {at} of its block, not {expected:#x}")
        })
    }

    /// `check_and_write` with pattern `[is base, is step, becomes base, becomes step]`.
    pub fn launch_check(
        &self,
        block: *mut c_void,
        known: u32,
        words: u32,
        pattern: [u32; 4],
        command: usize,
    ) -> ur_conformance::Launch<'_> {
        let [is, is_step, becomes, becomes_step] = pattern;
        ur_conformance::Launch::new(&self.check, &[32])
            .local(&[32])
            .pointer(block)
            .value(known)
            .value(words)
            .value([is, is_step])
            .value([becomes, becomes_step])
            .pointer(self.at(VERDICT))
            .pointer(self.at(RAN))
            .value(u32::try_from(command).unwrap_or(u32::MAX))
    }

    /// A launch that touches no block.
    pub fn launch_nothing(&self) -> ur_conformance::Launch<'_> {
        self.launch_check(self.at(VERDICT), 0, 0, [0; 4], 0)
    }

    pub fn launch_gate(&self, gate: usize, command: usize) -> ur_conformance::Launch<'_> {
        ur_conformance::Launch::new(&self.gate, &[1])
            .local(&[1])
            .pointer(self.gate_address(gate))
            .pointer(self.at(RAN))
            .value(u32::try_from(command).unwrap_or(u32::MAX))
    }

    /// Lets go of what default pools may keep by their thresholds: where native pools are missing, that is plain native memory.
    /// A program's blocks go below with that, and the failure of one of them is the program's.
    fn trim_default_pools(&self) -> Result<(), String> {
        if !self.abilities.pools {
            return Ok(());
        }
        for &device in &self.fixture.devices {
            let Ok(pool) = pools::default_of(self.fixture, device) else { continue };
            match ur!(USMExp.pfnPoolTrimToExp(self.fixture.context(), device, pool.handle, 0)) {
                Code::SUCCESS => {}
                code => {
                    return Err(format!("a default pool's trim answers {code:?}: {}", ur_conformance::last_error()));
                }
            }
        }
        Ok(())
    }

    fn objects(&self) -> Result<BTreeMap<String, u64>, String> {
        if self.fixture.sim().is_some() {
            self.trim_default_pools()?;
            // What the adapter keeps for the next program is no program's.
            ur_conformance::renew_adapter();
        }
        let mut objects = self.fixture.sim().map(|sim| sim.objects()).unwrap_or_default();
        objects.retain(|kind, _| COUNTED.contains(&kind.as_str()));
        Ok(objects)
    }

    /// Native objects that the last program left behind; waits for what is taken down behind the scenes.
    pub fn left_behind(&self) -> Option<String> {
        self.more_than_before(&[])
    }

    /// The same but for what pools reserve: memory that was freed last, on a stream that nobody waited for since, stays.
    pub fn objects_left_behind(&self) -> Option<String> {
        self.more_than_before(&["pool memory"])
    }

    fn more_than_before(&self, but: &[&str]) -> Option<String> {
        let end = Instant::now() + self.patience;
        loop {
            let now = match self.objects() {
                Ok(now) => now,
                Err(what) => return Some(what),
            };
            let kinds = self.baseline.keys().chain(now.keys()).filter(|kind| !but.contains(&kind.as_str()));
            if kinds.into_iter().all(|kind| now.get(kind) == self.baseline.get(kind)) {
                return None;
            }
            if Instant::now() > end {
                return Some(format!("native objects: {:?} before, {now:?} after", self.baseline));
            }
            std::thread::yield_now();
        }
    }

    /// Takes what lives now for given, after a program that failed. What cannot be counted is the next program's failure.
    pub fn accept_objects(&mut self) {
        if let Ok(objects) = self.objects() {
            self.baseline = objects;
        }
    }
}

fn program_of(fixture: &Fixture, devices: usize) -> Program {
    let image = Environment::get().image("pattern.ptx");
    let mut list = fixture.devices[..devices].to_vec();
    let mut lengths = vec![image.len(); devices];
    let mut images = vec![image.as_ptr(); devices];
    let mut program: ur_program_handle_t = null_mut();
    ok!(Program.pfnCreateWithBinary(
        fixture.context(),
        u32::try_from(devices).unwrap_or(u32::MAX),
        list.as_mut_ptr(),
        lengths.as_mut_ptr(),
        images.as_mut_ptr(),
        null(),
        &raw mut program
    ));
    let program = Program::take(program);
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    program
}

/// Tries what there is. Whatever answers `UNSUPPORTED_FEATURE` is left out of the programs, anything else is not asked for
/// its reasons here: the programs would stumble over it.
fn abilities_of(fixture: &Fixture, devices: usize) -> Abilities {
    let queues: Vec<Queue> = fixture.devices[..devices]
        .iter()
        .map(|&device| fixture.queue_in(fixture.context(), device, ur_queue_flags_t::empty()))
        .collect();
    let device = fixture.device();
    let able = |flavour: Flavour| {
        let device = (flavour != Flavour::Context).then_some(device);
        match pools::create(fixture, device, flavour) {
            Ok(pool) => {
                let works = pool.allocates(&queues[0]);
                ur_conformance::expect_success(pool.give_back(fixture), "a pool's destruction");
                works
            }
            Err(Code::ERROR_UNSUPPORTED_FEATURE) => false,
            Err(code) => panic!("a pool, {flavour:?}: {code:?} {}", ur_conformance::last_error()),
        }
    };
    let every = |kind| queues.iter().all(|queue| pools::allocates(queue, null_mut(), kind));
    assert!(every(ur_model::Kind::Device), "no stream-ordered device memory: {}", ur_conformance::last_error());
    let pools = able(Flavour::Plain);
    let mut default: ur_usm_pool_handle_t = null_mut();
    let device_pool = pools && {
        let got = ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), device, &raw mut default));
        got == Code::SUCCESS && ur!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), device, default)) == Code::SUCCESS
    };
    let on_simulated = fixture.sim().is_some();
    Abilities {
        devices,
        pools,
        context_pools: pools && able(Flavour::Context),
        host: every(ur_model::Kind::Host),
        shared: every(ur_model::Kind::Shared),
        limits: pools && able(Flavour::Limited(1 << 20)),
        zero: pools && able(Flavour::Zero),
        policies: pools && able(Flavour::Reuse(0)),
        buffers: pools && able(Flavour::Buffer(1 << 20)),
        device_pool,
        // Whether a copy may reach another device's pool depends on the machine; the simulated one lets it.
        cross_copies: on_simulated,
    }
}

impl World<'_> {
    /// Whether the device still does anything after a program that failed.
    pub fn is_well(&self) -> bool {
        let queue = self.fixture.device();
        let mut handle = null_mut();
        let properties = ur_conformance::ffi::ur_queue_properties_t::default();
        let made = ur!(Queue.pfnCreate(self.fixture.context(), queue, &raw const properties, &raw mut handle));
        if made != Code::SUCCESS {
            return false;
        }
        let queue = Queue::take(handle);
        self.clear_notes();
        let launched = self.launch_nothing().enqueue(&queue, null_mut());
        let finished = ur!(Queue.pfnFinish(queue.handle()));
        let ran = self.ran(0);
        launched == Code::SUCCESS && queue.release() == Code::SUCCESS && finished == Code::SUCCESS && ran
    }
}
