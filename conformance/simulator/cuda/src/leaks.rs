//! What is still alive, and the report at exit.
//!
//! Leaks are listed when the process ends, after every other exit handler, so that only what nobody ever destroyed
//! is on the list. The default pools and the devices themselves are no leaks.

use crate::array::{self, ARRAYS, SURFACES, TEXTURES};
use crate::config::ReportTo;
use crate::context::{CONTEXTS, Context};
use crate::device;
use crate::event::EVENTS;
use crate::external::{self, MEMORIES};
use crate::external_semaphore::SEMAPHORES;
use crate::graph::GRAPHS;
use crate::graph::exec::EXECS;
use crate::linker::LINKERS;
use crate::memory::{self, Kind};
use crate::module::{LIBRARIES, MODULES};
use crate::pool::POOLS;
use crate::reports::{self, Kind as Misuse};
use crate::stream::STREAMS;
use crate::vmm::{self, PHYSICAL};
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::Write;

static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether the process is past its exit handlers.
pub fn has_ended() -> bool {
    ENDED.load(Ordering::Acquire)
}

/// Objects alive by kind; kinds with none are left out.
pub fn counts() -> Vec<(&'static str, usize)> {
    let allocations = |kind| memory::count(|allocation| allocation.kind == kind);
    let retained = device::all().iter().map(|device| device.primary.lock().references as usize).sum();
    let all = [
        ("context", CONTEXTS.all().iter().filter(|context| !context.primary).count()),
        ("primary context retain", retained),
        ("stream", STREAMS.len()),
        ("event", EVENTS.len()),
        ("module", MODULES.all().iter().filter(|module| !module.of_library).count()),
        ("library", LIBRARIES.len()),
        ("linker", LINKERS.len()),
        ("memory pool", POOLS.all().iter().filter(|pool| !pool.default).count()),
        ("graph", GRAPHS.all().iter().filter(|graph| !graph.embedded).count()),
        ("executable graph", EXECS.len()),
        ("array", ARRAYS.len()),
        ("texture object", TEXTURES.len()),
        ("surface object", SURFACES.len()),
        ("physical memory", PHYSICAL.len()),
        ("address reservation", vmm::reservations()),
        ("device memory", allocations(Kind::Device)),
        ("host memory", allocations(Kind::Host)),
        ("registered host memory", allocations(Kind::Registered)),
        ("managed memory", allocations(Kind::Managed)),
        ("pool memory", allocations(Kind::Pool)),
        ("graph memory", allocations(Kind::Graph)),
        ("mapped memory", allocations(Kind::Mapped)),
        ("opened memory", allocations(Kind::Opened)),
        ("mapped external memory", allocations(Kind::External)),
        ("external memory", MEMORIES.len()),
        ("external semaphore", SEMAPHORES.len()),
    ];
    all.into_iter().filter(|&(_, count)| count > 0).collect()
}

/// Makes all that lives in a context invalid, and reports it: the client ought to have destroyed it.
pub fn end_of_context(context: &Context) {
    let streams: Vec<_> = STREAMS.all().into_iter().filter(|stream| stream.context.id == context.id).collect();
    for stream in &streams {
        stream.close();
    }
    let events: Vec<_> = EVENTS.all().into_iter().filter(|event| event.context.id == context.id).collect();
    for event in &events {
        EVENTS.remove(event.handle);
    }
    let modules: Vec<_> = MODULES.all().into_iter().filter(|module| module.context.id == context.id).collect();
    for module in &modules {
        module.unload();
    }
    let (arrays, objects) = array::end_of_context(context);
    let imports = external::end_of_context(context);
    let owned = |kind| {
        matches!(kind, Kind::Device | Kind::Host | Kind::Registered | Kind::Managed | Kind::Opened | Kind::External)
    };
    let mut allocations = memory::all();
    allocations.retain(|allocation| allocation.context == context.handle && owned(allocation.kind));
    for allocation in &allocations {
        match allocation.kind {
            Kind::Registered => drop(memory::take(allocation.base, |found| found.id == allocation.id)),
            Kind::Opened => crate::ipc::forget(allocation),
            _ => {
                crate::alloc::free_now(allocation);
            }
        }
    }
    let modules = modules.iter().filter(|module| !module.of_library).count();
    let left = [
        ("streams", streams.len()),
        ("events", events.len()),
        ("modules", modules),
        ("arrays", arrays),
        ("texture and surface objects", objects),
        ("imports of other APIs", imports),
        ("allocations", allocations.len()),
    ];
    let text: Vec<_> = left.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| format!("{n} {kind}")).collect();
    if !text.is_empty() {
        let text = text.join(", ");
        reports::add(Misuse::Leak, format!("context {:#x} is destroyed with {text} in it", context.handle));
    }
}

/// Runs after all exit handlers: writes the report and makes every later call answer that the driver is gone.
extern "C" fn at_exit() {
    if ENDED.swap(true, Ordering::AcqRel) {
        return;
    }
    let Some(target) = device::config().and_then(|config| config.report.as_ref()) else { return };
    // The child of a fork has nothing of its own to report, and its parent's threads may hold the tables' locks for good.
    if !device::made_by_this_process() {
        return;
    }
    // Nothing may unwind out of an exit handler, whatever state the process is in.
    let _ = std::panic::catch_unwind(|| write(target));
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

fn write(target: &ReportTo) {
    let mut text = String::new();
    for report in reports::all() {
        text.push_str(&format!("simcuda: report: {}: {}\n", report.kind.name(), report.text));
    }
    for (kind, count) in counts() {
        text.push_str(&format!("simcuda: leak: {kind}: {count}\n"));
    }
    let written = match target {
        ReportTo::Stderr => std::io::stderr().write_all(text.as_bytes()),
        ReportTo::File(path) => std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes())),
    };
    if let Err(error) = written {
        eprintln!("simcuda: the report could not be written: {error}");
    }
}
