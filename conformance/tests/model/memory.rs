//! Random programs of memory: buffers with their parts and maps, USM and the process's own memory, and every command that
//! changes bytes, on queues of both kinds and of one device or two, in command buffers, behind timelines, and with buffers,
//! queues and events that go while work is on its way. What lies everywhere in the end is compared with plain memory.
//!
//! | variable | meaning | without it |
//! |---|---|---|
//! | `UR_MODEL_MEMORY` | programs of each test | 300 |
//! | `UR_MODEL_SEED` | seed of the first program | one that stays |
//! | `UR_MODEL_SKIP` | numbers of steps that are left out, to make a program that fails smaller | none |

mod area;
mod order;
mod told;
mod work;
mod world;

use ur_conformance::Fixture;

use crate::runner::{first_seed, mixed, number, say, set_surroundings};
use world::{Place, World};

fn run(fixture: &Fixture) {
    let place = Place::new(fixture);
    let (first, programs) = (first_seed(), number("UR_MODEL_MEMORY", 300));
    let mut commands = 0;
    for index in 0..programs {
        let seed = if index == 0 { first } else { mixed(first.wrapping_add(index)) };
        commands += World::run(&place, seed);
    }
    say(&format!("model, memory of {} devices: {programs} programs, {commands} commands", place.devices));
}

#[test]
fn programs_of_memory_on_one_device_leave_what_plain_memory_has() {
    set_surroundings();
    run(&Fixture::new());
}

#[test]
fn programs_of_memory_on_two_devices_leave_what_plain_memory_has() {
    set_surroundings();
    run(&Fixture::over_all_devices());
}
