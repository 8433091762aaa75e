//! `ur_exp_usm_pool_policy_desc_t`: which blocks that other streams freed a pool may use again, and who may reach its
//! memory.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::null_mut;

use ur_conformance::ffi::{
    ur_device_handle_t, ur_event_info_t, ur_event_status_t, ur_exp_usm_pool_reuse_flags_t as Reuse, ur_queue_flags_t,
    ur_result_t as Code, ur_usm_pool_info_t as info,
};
use ur_conformance::memory;
use ur_conformance::pool::{self, Figures, Plan, Take, figure, give, give_after, known_reuse};
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Gate, Launch, Pool, ask, child, needs_sim, ok, query, refused, ur};

const NONE: Reuse = Reuse::empty();
const ALL: [Reuse; 8] = [
    NONE,
    Reuse::FOLLOW_EVENT_DEPENDENCIES,
    Reuse::OPPORTUNISTIC,
    Reuse::INTERNAL_DEPENDENCIES,
    Reuse::from_bits_retain(3),
    Reuse::from_bits_retain(5),
    Reuse::from_bits_retain(6),
    Reuse::from_bits_retain(7),
];

fn policy(pool: &Pool) -> Reuse {
    Reuse::from_bits_retain(query::get(ask!(USM.pfnPoolGetInfo(pool.handle(), info::REUSE_POLICY_EXP))))
}

fn set_policy(pool: &Pool, reuse: Reuse) -> Code {
    let mut value = reuse;
    ur!(USMExp.pfnPoolSetInfoExp(pool.handle(), info::REUSE_POLICY_EXP, (&raw mut value).cast(), size_of::<Reuse>()))
}

fn peers_of(pool: &Pool) -> Vec<ur_device_handle_t> {
    query::list(ask!(USM.pfnPoolGetInfo(pool.handle(), info::PEERS_EXP)))
}

fn is_complete(event: &Event) -> bool {
    let status: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
    status == ur_event_status_t::COMPLETE.0
}

#[test]
fn REUSE_POLICY_EXP_is_all_without_the_descriptor_and_can_be_queried_and_set() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for pool in [Plan::new().of(&fixture), Plan::new().core_of(&fixture)] {
        assert_eq!(policy(&pool), known_reuse());
        for reuse in ALL {
            assert_eq!(set_policy(&pool, reuse), Code::SUCCESS, "{reuse:?}: {}", ur_conformance::last_error());
            assert_eq!(policy(&pool), reuse);
            give(&queue, Take::new(64).from(&pool).on(&queue));
        }
        for unknown in [8, 0x8000_0000, !0] {
            assert_eq!(set_policy(&pool, Reuse::from_bits_retain(unknown)), Code::ERROR_INVALID_ENUMERATION);
        }
        assert_eq!(policy(&pool), ALL[7], "a refused policy changes nothing");
    }
    for reuse in ALL {
        for pool in [Plan::new().reuse(reuse).of(&fixture), Plan::new().reuse(reuse).core_of(&fixture)] {
            assert_eq!(policy(&pool), reuse);
            give(&queue, Take::new(64).from(&pool).on(&queue));
        }
    }
    for unknown in [8, 0x8000_0000, !0] {
        let plan = Plan::new().reuse(Reuse::from_bits_retain(unknown));
        assert_eq!(
            plan.create(fixture.context(), fixture.device()).expect_err("an unknown policy"),
            Code::ERROR_INVALID_ENUMERATION
        );
        assert_eq!(
            plan.create_core(fixture.context()).expect_err("an unknown policy"),
            Code::ERROR_INVALID_ENUMERATION
        );
    }
    queue.finish();
}

/// What the second queue is told of the first one's free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Event,
}

/// One queue frees most of a limited pool behind a closed gate; another asks for as much. The second use must come after
/// the first in any case.
fn ask_again(fixture: &Fixture, reuse: Reuse, set_later: bool, told: Told) -> Result<(), Code> {
    let plan = Plan::new().limits(1, usize::MAX);
    let pool = if set_later { plan.of(fixture) } else { plan.reuse(reuse).of(fixture) };
    if set_later {
        assert_eq!(set_policy(&pool, reuse), Code::SUCCESS);
    }
    let most = figure(pool.handle(), info::MAXIMUM_SIZE_EXP);
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    let out = fixture.memory(ur_conformance::Kind::Device, 4096);
    let take = Take::new(most * 3 / 4).from(&pool);
    let block = take.on(&first);
    let mut gate = Gate::new(fixture);
    gate.block(&first);
    Launch::new(&fill, &[1024]).pointer(block).value(1u32).value(1024u32).on(&first);
    Launch::new(&copy, &[1024]).pointer(out.pointer()).pointer(block).value(1024u32).on(&first);
    let freed = give_after(&first, block, &[]);
    let again = if told == Told::Event { take.after(&[&freed]) } else { take };
    let answer = again.try_on(&second).map(|block| {
        let launch = Launch::new(&fill, &[1024]).pointer(block).value(2u32).value(1024u32);
        let used = launch.event_on(&second);
        let waits = told == Told::Event || reuse == Reuse::INTERNAL_DEPENDENCIES;
        assert!(!waits || !is_complete(&used), "the block is used before its free was reached");
        give(&second, block);
    });
    gate.open();
    first.finish();
    second.finish();
    assert!(out.read::<u32>(&first, 1024).iter().all(|&word| word == 1), "{reuse:?}, told {told:?}");
    answer
}

#[test]
fn INTERNAL_DEPENDENCIES_makes_an_allocation_wait_for_another_stream_s_free() {
    let test = "INTERNAL_DEPENDENCIES_makes_an_allocation_wait_for_another_stream_s_free";
    with_and_without_free_lists(test, || {
        let fixture = Fixture::new();
        for later in [false, true] {
            assert_eq!(ask_again(&fixture, Reuse::INTERNAL_DEPENDENCIES, later, Told::Nothing), Ok(()));
            assert_eq!(ask_again(&fixture, known_reuse(), later, Told::Nothing), Ok(()));
            assert_eq!(ask_again(&fixture, Reuse::INTERNAL_DEPENDENCIES, later, Told::Event), Ok(()));
            for without in [NONE, Reuse::FOLLOW_EVENT_DEPENDENCIES, Reuse::OPPORTUNISTIC, ALL[4]] {
                let answer = ask_again(&fixture, without, later, Told::Nothing);
                assert_eq!(answer, Err(Code::ERROR_OUT_OF_DEVICE_MEMORY), "{without:?}");
            }
        }
    });
}

/// The same with free lists, whose blocks the engine gives, and without, where the native pool does; and on devices without
/// native pools, where both come from slabs.
fn with_and_without_free_lists(test: &str, promise: impl Fn() + Copy) {
    promise();
    let (no_lists, no_pools) = (("UR_USM_MAGAZINE_BYTES", "0"), pool::NO_NATIVE_POOLS);
    for variables in [&[no_lists][..], &[no_pools], &[no_lists, no_pools]] {
        child::in_process(test, variables, promise);
    }
}

#[test]
fn FOLLOW_EVENT_DEPENDENCIES_gives_a_block_to_a_stream_that_waits_for_an_event_behind_its_free() {
    let test = "FOLLOW_EVENT_DEPENDENCIES_gives_a_block_to_a_stream_that_waits_for_an_event_behind_its_free";
    with_and_without_free_lists(test, || {
        let fixture = Fixture::new();
        for later in [false, true] {
            for with in [Reuse::FOLLOW_EVENT_DEPENDENCIES, ALL[4]] {
                assert_eq!(ask_again(&fixture, with, later, Told::Event), Ok(()), "{with:?}");
            }
            for without in [NONE, Reuse::OPPORTUNISTIC] {
                let answer = ask_again(&fixture, without, later, Told::Event);
                assert_eq!(answer, Err(Code::ERROR_OUT_OF_DEVICE_MEMORY), "{without:?}");
            }
        }
    });
}

#[test]
fn OPPORTUNISTIC_gives_a_block_away_once_its_free_was_reached() {
    let test = "OPPORTUNISTIC_gives_a_block_away_once_its_free_was_reached";
    with_and_without_free_lists(test, || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        for (reuse, reused) in [(NONE, false), (Reuse::OPPORTUNISTIC, true), (known_reuse(), true)] {
            let (first, second) = (fixture.in_order(), fixture.in_order());
            let pool = Plan::new().limits(0, usize::MAX).reuse(reuse).of(&fixture);
            give(&first, Take::new(30 << 20).from(&pool).on(&first));
            first.finish();
            let before = Figures::of(pool.handle()).reserved;
            let block = Take::new(30 << 20).from(&pool).on(&second);
            let grown = Figures::of(pool.handle()).reserved - before;
            assert_eq!(grown == 0, reused, "{reuse:?} reserves {grown} bytes more");
            give(&second, block);
            second.finish();
        }
    });
}

/// A queue that frees a block behind a closed gate, and keeps it. The event of that free covers its last use.
struct Kept {
    pool: Pool,
    queue: ur_conformance::Queue,
    block: *mut c_void,
    before: Event,
    freed: Event,
}

impl Kept {
    const BYTES: usize = 4096;

    fn behind(fixture: &Fixture, gate: &Gate<'_>, reuse: Reuse) -> Self {
        let (queue, pool) = (fixture.in_order(), Plan::new().limits(0, usize::MAX).reuse(reuse).of(fixture));
        let block = Take::new(Self::BYTES).from(&pool).on(&queue);
        gate.block(&queue);
        let fill = fixture.basic(c"fill");
        let before = Launch::new(&fill, &[1]).pointer(block).value(1u32).value(1u32).event_on(&queue);
        Launch::new(&fill, &[1024]).pointer(block).value(2u32).value(1024u32).on(&queue);
        let freed = give_after(&queue, block, &[]);
        Self { pool, queue, block, before, freed }
    }

    fn take(&self) -> Take {
        Take::new(Self::BYTES).from(&self.pool)
    }

    fn finish(self, gate: &mut Gate<'_>, others: &[ur_conformance::Queue]) {
        gate.open();
        self.queue.finish();
        others.iter().for_each(ur_conformance::Queue::finish);
    }
}

#[test]
fn a_kept_block_serves_the_queue_that_waits_for_its_free_without_a_native_allocation() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    for flags in [Default::default(), ur_conformance::ffi::ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let mut gate = Gate::new(&fixture);
        let kept = Kept::behind(&fixture, &gate, Reuse::FOLLOW_EVENT_DEPENDENCIES);
        let other = fixture.queue(flags);
        let take = kept.take().after(&[&kept.freed]);
        let ((again, allocated), calls) = sim.calls_of(|| take.event_on(&other));
        assert_eq!((again, calls.get("cuMemAllocFromPoolAsync")), (kept.block, None), "{flags:?}");
        assert!(!is_complete(&allocated), "{flags:?}: the block is there before its free");
        drop(give_after(&other, again, &[&allocated]));
        kept.finish(&mut gate, &[other]);
    }
}

/// The queue has been made to wait for the event by an earlier command.
#[test]
fn a_kept_block_serves_a_queue_that_has_waited_for_its_free_before() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    let mut gate = Gate::new(&fixture);
    let kept = Kept::behind(&fixture, &gate, Reuse::FOLLOW_EVENT_DEPENDENCIES);
    let (other, empty) = (fixture.in_order(), fixture.basic(c"empty"));
    Launch::new(&empty, &[1]).after(&[&kept.freed]).on(&other);
    let again = kept.take().on(&other);
    assert_eq!(again, kept.block);
    give(&other, again);
    kept.finish(&mut gate, &[other]);
}

#[test]
fn a_kept_block_serves_nobody_who_waits_for_less_than_its_last_use() {
    let fixture = Fixture::new();
    for reuse in [known_reuse(), Reuse::FOLLOW_EVENT_DEPENDENCIES, NONE] {
        let mut gate = Gate::new(&fixture);
        let kept = Kept::behind(&fixture, &gate, reuse);
        let other = fixture.in_order();
        let early = kept.take().after(&[&kept.before]).on(&other);
        assert_ne!(early, kept.block, "{reuse:?}: the block is still in use");
        let late = kept.take().after(&[&kept.freed]).on(&other);
        // Without free lists a real driver's pool is free to take other memory.
        if reuse == NONE || fixture.sim().is_some() || std::env::var_os("UR_USM_MAGAZINE_BYTES").is_none() {
            assert_eq!(late == kept.block, reuse != NONE, "{reuse:?}");
        }
        [early, late].into_iter().for_each(|block| give(&other, block));
        kept.finish(&mut gate, &[other]);
    }
}

/// The driver makes the whole stream wait, so an event of a command before the allocation must not be recorded behind that.
#[test]
fn an_allocation_never_delays_an_event_of_earlier_work() {
    let fixture = Fixture::new();
    let pool = Plan::new().limits(1, usize::MAX).of(&fixture);
    let size = figure(pool.handle(), info::MAXIMUM_SIZE_EXP) * 3 / 4;
    let kernel = fixture.basic(c"empty");
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let block = Take::new(size).from(&pool).on(&first);
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    give(&first, block);
    let early = Launch::new(&kernel, &[1]).event_on(&second);
    // Blocks whose events nobody has looked at, too.
    let (small, taken) = Take::new(64).from(&Plan::new().of(&fixture)).event_on(&second);
    let (block, allocated) = Take::new(size).from(&pool).event_on(&second);
    early.wait();
    taken.wait();
    assert!(!is_complete(&allocated), "the allocation waits for the other stream");
    gate.open();
    allocated.wait();
    give(&second, block);
    give(&second, small);
    first.finish();
    second.finish();
}

/// Internal dependencies come last: while there is anything else, nothing waits.
#[test]
fn an_allocation_that_something_else_can_serve_waits_for_no_other_stream() {
    let fixture = Fixture::new();
    let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let block = Take::new(30 << 20).from(&pool).on(&first);
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    give(&first, block);
    // What the first queue keeps goes to the native pool, which then has it and could make somebody wait for it.
    pool::trim(&fixture, pool.handle(), 0);
    let (other, allocated) = Take::new(30 << 20).from(&pool).event_on(&second);
    memory::write(&second, other, &[7u8; 64]);
    allocated.wait();
    give(&second, other);
    second.finish();
    gate.open();
    first.finish();
}

#[test]
fn PEERS_EXP_lists_the_other_devices_that_may_reach_the_pool() {
    let fixture = Fixture::over_all_devices();
    let (own, others) = (fixture.device(), &fixture.devices[1..]);
    assert_eq!(peers_of(&Plan::new().of(&fixture)), []);
    assert_eq!(peers_of(&Plan::new().peers(&[]).of(&fixture)), []);
    let pool = Plan::new().peers(others).of(&fixture);
    assert_eq!((peers_of(&pool), policy(&pool)), (others.to_vec(), known_reuse()));
    let twice: Vec<_> = others.iter().chain(others).chain([&own]).copied().collect();
    let pool = Plan::new().peers(&twice).of(&fixture);
    assert_eq!(peers_of(&pool), others, "each once, and not the pool's own");
    if !others.is_empty() {
        // A list that is longer than the number says is read as far as the number says.
        let pool = Plan::new().peers(&twice).claiming_peers(1).of(&fixture);
        assert_eq!(peers_of(&pool), others[..1]);
        let pool = Plan::new().peers(&twice).claiming_peers(0).of(&fixture);
        assert_eq!(peers_of(&pool), []);
        let many = vec![others[0]; 10_000];
        assert_eq!(peers_of(&Plan::new().peers(&many).of(&fixture)), others[..1]);
    }
}

#[test]
fn urUSMPoolCreate_refuses_peers_that_are_none() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let foreign = fixture.context_of(std::slice::from_ref(&fixture.device()));
    let refuse = |what: &str, plan: Plan, code: Code| {
        let exp = plan.create(fixture.context(), fixture.device());
        assert_eq!(exp.err(), Some(code), "{what}");
        assert_eq!(plan.create_core(fixture.context()).err(), Some(code), "{what}");
    };
    for count in [1, 2, u32::MAX] {
        refuse("a list that is not there", Plan::new().claiming_peers(count), Code::ERROR_INVALID_NULL_POINTER);
    }
    refuse("a null device", Plan::new().peers(&[null_mut()]), Code::ERROR_INVALID_NULL_HANDLE);
    let other: *mut c_void = queue.handle().cast();
    refuse("a queue", Plan::new().peers(&[other.cast()]), Code::ERROR_INVALID_DEVICE);
    refuse("a context", Plan::new().peers(&[fixture.device(), foreign.handle().cast()]), Code::ERROR_INVALID_DEVICE);
    if let Some(&outside) = fixture.devices.get(1) {
        refuse("a device outside of the context", Plan::new().peers(&[outside]), Code::ERROR_INVALID_DEVICE);
    }
}

/// The simulated driver reports a kernel that touches memory which its device has no access to.
#[test]
fn a_peer_reaches_the_pool_s_memory() {
    let fixture = Fixture::over_all_devices();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let image = ur_conformance::Environment::get().image("basic.ptx");
    let pair = fixture.context_of(&[fixture.device(), other]);
    for exp in [true, false] {
        let (owner, user) = (
            fixture.queue_in(pair.handle(), fixture.device(), Default::default()),
            fixture.queue_in(pair.handle(), other, Default::default()),
        );
        let (mut device, mut length, mut bytes) = (other, image.len(), image.as_ptr());
        let (mut program, mut kernel) = (null_mut(), null_mut());
        let (device, length, bytes) = (&raw mut device, &raw mut length, &raw mut bytes);
        let none = core::ptr::null();
        ok!(Program.pfnCreateWithBinary(pair.handle(), 1, device, length, bytes, none, &raw mut program));
        let program = ur_conformance::Program::take(program);
        ok!(Program.pfnBuild(pair.handle(), program.handle(), core::ptr::null()));
        ok!(Kernel.pfnCreate(program.handle(), c"fill".as_ptr(), &raw mut kernel));
        let kernel = ur_conformance::Kernel::take(kernel);
        let plan = Plan::new().peers(&[other]);
        let made = if exp { plan.create(pair.handle(), fixture.device()) } else { plan.create_core(pair.handle()) };
        let pool = match made {
            Ok(pool) => pool,
            Err(code) => {
                assert!(fixture.sim().is_none(), "{code:?}: {}", ur_conformance::last_error());
                println!("skipped: these devices do not reach each other: {}", ur_conformance::last_error());
                return;
            }
        };
        for round in 0..3u32 {
            let (block, allocated) = Take::new(4096).from(&pool).event_on(&owner);
            let launch = Launch::new(&kernel, &[1024]).pointer(block).value(round).value(1024u32);
            let filled = launch.after(&[&allocated]).event_on(&user);
            filled.wait();
            assert!(memory::read::<u32>(&owner, block, 1024).iter().all(|&word| word == round));
            drop(give_after(if round == 1 { &user } else { &owner }, block, &[&filled]));
        }
        owner.finish();
        user.finish();
    }
}

/// It is made of the caller's memory, so the driver's policies mean nothing to it; they can be set all the same.
#[test]
fn policies_of_a_buffer_backed_pool_can_be_set_and_change_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.memory(ur_conformance::Kind::Device, 1 << 20);
    let plan = Plan::new().buffer(memory.pointer(), 1 << 20, ur_conformance::Kind::Device, fixture.device());
    let pool = plan.reuse(NONE).of(&fixture);
    assert_eq!(policy(&pool), NONE);
    assert_eq!(set_policy(&pool, known_reuse()), Code::SUCCESS);
    assert_eq!(policy(&pool), known_reuse());
    let queue = fixture.in_order();
    give(&queue, Take::new(64).from(&pool).on(&queue));
    queue.finish();
    refused!(ERROR_INVALID_SIZE, USMExp.pfnPoolSetInfoExp(pool.handle(), info::REUSE_POLICY_EXP, memory.pointer(), 8));
}

/// A pool without a native pool yet has its policy from the start of that.
#[test]
fn urUSMPoolSetInfoExp_of_the_policy_holds_for_native_pools_that_are_made_later() {
    let fixture = Fixture::new();
    for (reuse, wanted) in [(NONE, Err(Code::ERROR_OUT_OF_DEVICE_MEMORY)), (ALL[1], Ok(()))] {
        let pool = Plan::new().reuse(ALL[7]).limits(1, usize::MAX).core_of(&fixture);
        assert_eq!(set_policy(&pool, reuse), Code::SUCCESS);
        let most = figure(pool.handle(), info::MAXIMUM_SIZE_EXP);
        let (first, second) = (fixture.in_order(), fixture.in_order());
        let take = Take::new(most * 3 / 4).from(&pool);
        let block = take.on(&first);
        let mut gate = Gate::new(&fixture);
        gate.block(&first);
        let freed = give_after(&first, block, &[]);
        let answer = take.after(&[&freed]).try_on(&second).map(|block| give(&second, block));
        gate.open();
        first.finish();
        second.finish();
        assert_eq!(answer, wanted, "{reuse:?}");
    }
}

/// The native pool of each device of the context has the old value again.
#[test]
fn urUSMPoolSetInfoExp_that_fails_for_one_of_several_devices_changes_it_for_none() {
    let test = "urUSMPoolSetInfoExp_that_fails_for_one_of_several_devices_changes_it_for_none";
    child::with_native_pools(test, || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let pool = Plan::new().core_of(&fixture);
        let queues: Vec<_> = fixture
            .devices
            .iter()
            .map(|&device| fixture.queue_in(fixture.context(), device, ur_queue_flags_t::empty()))
            .collect();
        queues.iter().for_each(|queue| give(queue, Take::new(64).from(&pool).on(queue)));
        let (set, count, threshold) = ("cuMemPoolSetAttribute", queues.len() as u64, info::RELEASE_THRESHOLD_EXP);
        let before = figure(pool.handle(), threshold);
        sim.fail(set, count, status::UNKNOWN);
        let (answer, calls) = sim.calls_of(|| pool::set(pool.handle(), threshold, before + (1 << 20)));
        sim.clear_faults();
        assert_eq!((answer, figure(pool.handle(), threshold)), (Code::ERROR_ADAPTER_SPECIFIC, before));
        assert_eq!(calls.get(set), Some(&(2 * count)), "each is set, and set back: {calls:?}");
        queues.iter().for_each(ur_conformance::Queue::finish);
    });
}
