//! Contexts that come and go as the only objects of a process: context, queue, device memory, a small copy, and all of it
//! back, again and again. In a process of its own, since any other object would keep alive what is measured. The raw side
//! follows in the same process, with the device's primary context retained.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use ur_client::ffi::{CBool, ur_adapter_info_t, ur_backend_t, ur_device_handle_t, ur_device_info_t, ur_queue_flags_t};
use ur_client::{Ur, call};

use crate::Failure;
use crate::children;
use crate::options::{Child, Options};
use crate::outcome::Case;
use crate::raw::{Address, Api, COPY, Raw};
use crate::stats::Summary;

/// The case.
pub const CASE: &str = "lifetimes: context, queue, memory, copy";

/// Lifetimes of each side.
const COUNT: usize = 100;
const FEW: usize = 5;

/// What a child process tells.
#[derive(Debug, Serialize, Deserialize)]
struct Lives {
    ur: Vec<f64>,
    raw: Vec<f64>,
}

/// The case: one child.
pub fn cases(options: &Options) -> Result<Vec<Case>, Failure> {
    let lives = children::ask::<Lives>(options, Child::Lifetimes, &[], &[])?;
    let (first, measured) = (lives.ur.first().copied().unwrap_or(0.0), Summary::of(lives.ur));
    let raw = (!lives.raw.is_empty()).then(|| Summary::of(lives.raw));
    Ok(vec![Case {
        name: CASE.to_owned(),
        ratio: raw.as_ref().map(|raw| measured.combine(raw, |ur, raw| ur / raw)),
        note: format!("{} times, the first {:.1} ms", measured.rounds.len(), first / 1e6),
        measured,
        raw,
        ..Case::default()
    }])
}

/// Measures in this process, which has done nothing before, and prints the result.
pub fn child(options: &Options) -> Result<(), Failure> {
    let ur = Ur::open(&options.loader)?;
    ur.init()?;
    let adapters = ur.adapters()?;
    let held = ur.hold_adapters(&adapters);
    let lives = lives(&ur, &adapters, options)?;
    children::answer(&lives)?;
    drop(held);
    ur.tear_down()?;
    Ok(())
}

fn lives(ur: &Ur, adapters: &[ur_client::ffi::ur_adapter_handle_t], options: &Options) -> Result<Lives, Failure> {
    let devices = ur.all_devices(adapters)?;
    let listed = devices.first().ok_or_else(|| Failure::Other("the loader finds no device".to_owned()))?;
    let device = listed.device.handle();
    let bytes = vec![1_u8; COPY];
    let count = if options.quick { FEW } else { COUNT };
    let measured = repeated(count, || life(ur, device, &bytes))?;
    let backend = ur.adapter_info(listed.adapter, ur_adapter_info_t::BACKEND)?.u32().unwrap_or(0);
    let Some(api) = Api::of(ur_backend_t(backend)) else { return Ok(Lives { ur: measured, raw: Vec::new() }) };
    let libraries = match api {
        Api::Hip => ur_client::hip_libraries(),
        Api::Cuda => vec![options.native.clone()],
    };
    let uuid = ur.device_info(device, ur_device_info_t::UUID).ok().and_then(|uuid| uuid.0.try_into().ok());
    let raw = Raw::new(api, &libraries, uuid, &options.kernels)?;
    let from = bytes.as_ptr().expose_provenance() as Address;
    let raw = match repeated(count, || raw.lifetime(from, COPY)) {
        Err(failure) if failure.is_unsupported() => Vec::new(),
        raw => raw?,
    };
    Ok(Lives { ur: measured, raw })
}

/// Nanoseconds of each time.
fn repeated(count: usize, mut once: impl FnMut() -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    let timed = |_| {
        let start = Instant::now();
        once()?;
        Ok(start.elapsed().as_nanos() as f64)
    };
    (0..count).map(timed).collect()
}

fn life(ur: &Ur, device: ur_device_handle_t, bytes: &[u8]) -> Result<(), Failure> {
    let context = ur.context(&[device])?;
    let queue = ur.queue(context.handle(), device, ur_queue_flags_t::empty())?;
    let (mut memory, from) = (null_mut::<c_void>(), bytes.as_ptr().cast());
    let (context, queue) = (context.handle(), queue.handle());
    // SAFETY: live handles, a writable output; both sides of the copy have its size, and the copy is over before the free.
    unsafe {
        call!(ur, USM.pfnDeviceAlloc(context, device, null(), null_mut(), bytes.len(), &raw mut memory))?;
        call!(ur, Enqueue.pfnUSMMemcpy(queue, CBool::TRUE, memory, from, bytes.len(), 0, null(), null_mut()))?;
        call!(ur, USM.pfnFree(context, memory))?;
    }
    Ok(())
}
