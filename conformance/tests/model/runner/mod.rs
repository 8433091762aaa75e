//! Runs random programs of the model (`conformance/model`) on the adapter under test: as many as asked for, each from a seed
//! of its own; a program that fails is made smaller and shown with the command that runs it again.
//!
//! | variable | meaning | without it |
//! |---|---|---|
//! | `UR_MODEL_PROGRAMS` | programs of all families together | 10 000 |
//! | `UR_MODEL_THREADED` | programs of several threads in each test of `threads.rs` | 600 and 400 |
//! | `UR_MODEL_GRAPHS` | programs of command buffers | 10 000 |
//! | `UR_MODEL_PLAIN` | programs of plain memory | 600 |
//! | `UR_MODEL_TIMELINES` | programs of timelines | 4000 |
//! | `UR_MODEL_MEMORY`, `UR_MODEL_SKIP` | as `memory` says | |
//! | `UR_MODEL_SEED` | seed of the first program of each family; `random` for another each time | one that stays |
//! | `UR_MODEL_REPEAT` | runs of each program, for what fails at times only | 1 |
//! | `UR_MODEL_SHRINK` | seconds that a failing program is made smaller for | 30 |
//! | `UR_MODEL_PATIENCE` | seconds after which something that should happen is held not to | 20 |
//! | `UR_MODEL_CONTENT` | 1: nothing counts but what lies in blocks, and what was waited for too long | 0 |
//! | `SIMCUDA_DELAY` | as the simulated driver's header says | `21842:20` |

pub mod families;
pub mod graphs;
pub mod plain;
pub mod pools;
pub mod take;
pub mod threads;
pub mod timelines;
pub mod watch;
pub mod world;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ur_conformance::{Fixture, last_error};
use ur_model::plan::GATES;
use ur_model::{Model, Op, Profile, Sabotage, Step, program};

use families::Family;
use take::{Program, Tally};
use world::World;

/// The seed of every run that does not name one.
const SEED: u64 = 0x5552_2026;

/// A line on standard error that the test harness does not keep to itself.
pub fn say(line: &str) {
    // There is nobody to tell that nobody can be told.
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|_| panic!("{name}={text} is no number"))
}

pub fn first_seed() -> u64 {
    match std::env::var("UR_MODEL_SEED") {
        Ok(text) if text == "random" => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            mixed(u64::try_from(since.as_nanos() & u128::from(u64::MAX)).unwrap_or(SEED))
        }
        _ => number("UR_MODEL_SEED", SEED),
    }
}

/// Steele, Lea and Flood's finalizer: neighbours get seeds that have nothing in common.
pub fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A variable that the driver reads once, when it is loaded: streams of a real device that share no hardware queue, as far as
/// there are so many. Delays of the simulated driver's commands (`SIMCUDA_DELAY`) are for whoever starts the process:
/// they take half as much time again.
pub fn set_surroundings() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("CUDA_DEVICE_MAX_CONNECTIONS").is_none() {
            // SAFETY: the driver, which reads it with C's `getenv`, is not loaded yet, since every test of this binary
            // calls this before it makes a fixture; its other threads use `std`, which locks the environment.
            unsafe { std::env::set_var("CUDA_DEVICE_MAX_CONNECTIONS", "32") };
        }
    });
}

/// A fixture on a driver with the surroundings of the programs.
pub fn fixture() -> Fixture {
    set_surroundings();
    Fixture::new()
}

type Case = (Vec<u8>, Vec<Op>);

struct Failure {
    what: String,
    steps: Vec<String>,
}

/// Runs a family's share of all programs; fails with the first that fails.
pub fn run(family: Family, sabotage: Option<Sabotage>) {
    let programs = share(number("UR_MODEL_PROGRAMS", 10_000), family);
    set_surroundings();
    let fixture = if family.profile.devices > 1 { Fixture::over_all_devices() } else { Fixture::new() };
    let start = Instant::now();
    if let Some(did) = run_in(&fixture, family, programs, 0, sabotage) {
        say(&did.summary(family.profile.name, start.elapsed()));
    }
}

/// Runs as many programs of several families, in turns, so that the number of the first that fails means something.
pub fn run_all(families: &[Family], programs: u64) {
    const ROUNDS: u64 = 20;
    set_surroundings();
    let fixture = Fixture::over_all_devices();
    let (start, mut all) = (Instant::now(), Done::default());
    for _ in 0..ROUNDS {
        for &family in families {
            let programs = share(programs, family).div_ceil(ROUNDS);
            if let Some(did) = run_in(&fixture, family, programs, all.programs, None) {
                all.add(did);
            }
        }
    }
    say(&all.summary("all families", start.elapsed()));
}

fn share(programs: u64, family: Family) -> u64 {
    (programs * family.percent).div_ceil(100)
}

/// Runs programs in surroundings that are there; `before` is how many ran already.
pub fn run_in(
    fixture: &Fixture,
    family: Family,
    programs: u64,
    before: u64,
    sabotage: Option<Sabotage>,
) -> Option<Done> {
    let profile = family.profile;
    if fixture.devices.len() < profile.devices {
        println!("skipped: {} needs {} devices", family.test, profile.devices);
        return None;
    }
    let patience = Duration::from_secs(number("UR_MODEL_PATIENCE", 20));
    let make = || World::new(fixture, profile.devices, patience);
    let mut world = match before {
        0 => make(),
        // What earlier programs have ruined may show here first.
        _ => catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| {
            panic!(
                "caught by program {before}, or one before it: what the next ones need cannot be made, as said above"
            )
        }),
    };
    world.content_only = number("UR_MODEL_CONTENT", 0) != 0;
    let (first, repeat) = (first_seed().wrapping_add(before), number("UR_MODEL_REPEAT", 1));
    let mut tally = Tally::new();
    let mut all = || {
        for index in 0..programs {
            let seed = if index + before == 0 { first } else { mixed(first.wrapping_add(index)) };
            let mut tree = tree(profile, seed);
            for _ in 0..repeat {
                if let Err(failure) = attempt(&world, profile, &tree.current(), sabotage, seed, false, &mut tally) {
                    let small = shrink(&mut world, profile, tree.as_mut(), sabotage, seed, &failure);
                    panic!("{}", report(&family, seed, before + index + 1, &failure, small.as_ref()));
                }
            }
        }
    };
    let native = match fixture.sim() {
        Some(sim) => Some(sim.calls_of(all).1),
        None => {
            all();
            None
        }
    };
    let native = native.map(|calls| calls.get("cuMemAllocFromPoolAsync").copied().unwrap_or(0));
    Some(Done { programs: programs * repeat, seed: first, tally, native })
}

/// What programs did.
#[derive(Default)]
pub struct Done {
    programs: u64,
    seed: u64,
    tally: Tally,
    /// Native allocations, where they are counted.
    native: Option<u64>,
}

impl Done {
    fn add(&mut self, other: Self) {
        if self.programs == 0 {
            self.seed = other.seed;
        }
        self.programs += other.programs;
        self.native = self.native.or(Some(0)).zip(other.native).map(|(all, more)| all + more);
        for (name, count) in other.tally {
            *self.tally.entry(name).or_insert(0) += count;
        }
    }

    /// One line: programs, ops of each kind, hits.
    fn summary(&self, name: &str, took: Duration) -> String {
        let Self { programs, seed, tally, native } = self;
        let ops = tally.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ");
        let hits = native.map_or_else(String::new, |native| {
            let all = tally.get("alloc").copied().unwrap_or(0);
            format!("; {} of {all} allocations without a native call", all.saturating_sub(native))
        });
        let seconds = took.as_secs_f64();
        format!("model, {name}: {programs} programs of seed {seed:#x} in {seconds:.1} s: {ops}{hits}")
    }
}

fn tree(profile: Profile, seed: u64) -> Box<dyn ValueTree<Value = Case>> {
    let mut bytes = [0u8; 32];
    for (index, chunk) in bytes.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&mixed(seed.wrapping_add(index as u64)).to_le_bytes());
    }
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let tree = program(profile).new_tree(&mut runner);
    Box::new(tree.unwrap_or_else(|reason| panic!("a program of {}: {reason}", profile.name)))
}

/// Runs a program once. A panic of what it is made of, say of an object whose end fails, is a failure of the program.
fn attempt(
    world: &World<'_>,
    profile: Profile,
    (queues, ops): &Case,
    sabotage: Option<Sabotage>,
    seed: u64,
    forgiving: bool,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let mut shown: Vec<Step> = Vec::new();
    let run = || {
        let mut program = Program::begin(world, tally, seed, forgiving)?;
        let outcome = steps_of(&mut program, world, &profile, queues, ops, sabotage, &mut shown);
        if outcome.is_err() {
            program.clear_away(GATES);
        }
        drop(program);
        outcome?;
        accounts(world)
    };
    // Nothing is used afterwards that a panic could have left half done, but `shown`, a list that only grows.
    let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("it panicked, as said above".to_owned()));
    let told = told(world);
    outcome.map_err(|what| Failure { what: what + &told, steps: shown.iter().map(ToString::to_string).collect() })
}

fn steps_of(
    program: &mut Program<'_, '_>,
    world: &World<'_>,
    profile: &Profile,
    queues: &[u8],
    ops: &[Op],
    sabotage: Option<Sabotage>,
    shown: &mut Vec<Step>,
) -> take::Outcome {
    let (mut model, first) = Model::begin(profile, &world.abilities, sabotage, queues);
    // For a program that hangs or ends the process, and cannot tell afterwards.
    let traced = number("UR_MODEL_TRACE", 0) != 0;
    let begun = Instant::now();
    let mut go = |steps: Vec<Step>| {
        steps.into_iter().try_for_each(|step| {
            if traced {
                say(&format!("{:?} {step}", begun.elapsed()));
            }
            let outcome = program.take(&step);
            shown.push(step);
            // Here, so that the report ends with the call that waited.
            if outcome.is_ok() && world.watch.had_to_open() {
                return Err("a call waited for work that was to come after it".to_owned());
            }
            outcome
        })
    };
    go(first)?;
    for op in ops {
        go(model.plan(op))?;
    }
    go(model.end())?;
    reports(world)
}

/// What the simulated driver has to say of a failure; it is forgotten then.
fn told(world: &World<'_>) -> String {
    let Some(sim) = world.fixture.sim() else { return String::new() };
    let reports = sim.reports();
    sim.clear_reports();
    reports.iter().take(4).map(|(kind, text)| format!("\n  the driver reports {kind}: {text}")).collect()
}

/// Nothing was reported.
fn reports(world: &World<'_>) -> take::Outcome {
    world.verdict().map_or(Ok(()), Err)?;
    let reports = world.fixture.sim().filter(|_| !world.content_only).map(|sim| sim.reports()).unwrap_or_default();
    match &reports[..] {
        [] => Ok(()),
        [(kind, text), ..] => Err(format!("the driver reports {} misuses, first {kind}: {text}", reports.len())),
    }
}

/// Nothing was left behind.
fn accounts(world: &World<'_>) -> take::Outcome {
    reports(world)?;
    if world.content_only {
        return Ok(());
    }
    world.left_behind().map_or(Ok(()), Err)
}

/// What sort of failure it is: its words up to the first number.
fn sort_of(failure: &Failure) -> &str {
    failure.what.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default()
}

/// A smaller program that fails in the same way, and how. A program that fails at times only is tried several times before it
/// counts as good.
fn shrink(
    world: &mut World<'_>,
    profile: Profile,
    tree: &mut dyn ValueTree<Value = Case>,
    sabotage: Option<Sabotage>,
    seed: u64,
    first: &Failure,
) -> Option<Failure> {
    const TRIES: usize = 3;
    let end = Instant::now() + Duration::from_secs(number("UR_MODEL_SHRINK", 30));
    world.patience = world.patience.min(Duration::from_secs(2));
    let mut smallest = None;
    world.accept_objects();
    while Instant::now() < end {
        if !world.is_well() {
            break;
        }
        let case = tree.current();
        let fails = (0..TRIES).find_map(|_| {
            let outcome = attempt(world, profile, &case, sabotage, seed, true, &mut Tally::new()).err();
            if outcome.is_some() {
                world.accept_objects();
            }
            outcome.filter(|failure| sort_of(failure) == sort_of(first))
        });
        let more = match fails {
            Some(failure) => {
                smallest = Some(failure);
                tree.simplify()
            }
            None => tree.complicate(),
        };
        if !more {
            break;
        }
    }
    smallest
}

fn report(family: &Family, seed: u64, number: u64, failure: &Failure, small: Option<&Failure>) -> String {
    let shown = small.unwrap_or(failure);
    let smaller = if small.is_some() { "made smaller, it fails with" } else { "it could not be made smaller" };
    let steps = shown.steps.iter().map(|step| format!("    {step}\n")).collect::<String>();
    let Family { test, profile, .. } = family;
    format!(
        "caught by program {number}, {}: {}\n{smaller}: {}\nin the last line of\n{steps}again, whole: UR_MODEL_SEED={seed:#x} \
         UR_MODEL_PROGRAMS=1 cargo test -p ur-conformance --test model -- --exact programs::{test}\n(last error: {})",
        profile.name,
        failure.what,
        shown.what,
        last_error()
    )
}
