//! The first call of a kernel that comes as SPIR-V: from its module to the kernel's end, with nothing known of it and from the disk
//! cache. The other side loads PTX of the same kernel, which the driver compiles or has in a cache of its own.

use std::time::{SystemTime, UNIX_EPOCH};

use ur_client::ffi::ur_device_info_t;
use ur_client::{pointer_argument, value_argument};

use super::shapes::{NO_WAITS, launch, one_by_one};
use super::{Prepared, Sides, raw_of};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, straight};
use crate::options::Options;

pub const COLD: &str = "programs: first call, SPIR-V";
pub const FROM_DISK: &str = "programs: first call, SPIR-V from the disk cache";

pub const CASES: [Prepared; 2] = [
    Prepared { name: COLD, note: "a new module each time; raw: new PTX", make: |f, o| first_call(f, o, true) },
    Prepared { name: FROM_DISK, note: "the same module; raw: the same PTX", make: |f, o| first_call(f, o, false) },
];

/// What the module multiplies with: `OpSpecConstant %u32 %id 3`, by its first and last word.
const CONSTANT: (u32, u32) = (4 << 16 | 50, 3);
/// The same in the PTX, once for each variant of the kernel.
const FACTOR: &str = ", 3, ";

fn read(options: &Options, name: &str) -> Result<Vec<u8>, Failure> {
    let path = options.kernels.join(name);
    std::fs::read(&path).map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
}

/// Where the constant's value is.
fn find_constant(module: &[u8]) -> Option<usize> {
    let word = |at: usize| Some(u32::from_le_bytes(module.get(4 * at..4 * at + 4)?.try_into().ok()?));
    let is_it = |at: &usize| word(*at) == Some(CONSTANT.0) && word(*at + 3) == Some(CONSTANT.1);
    (5..module.len() / 4).find(is_it).map(|at| 4 * (at + 3))
}

/// Numbers that no process before has used.
fn unused() -> impl FnMut() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Microseconds go round in an hour, which is longer than a cache that is bounded keeps what was used once.
    let mut next = now.as_micros() as u32;
    move || {
        next = next.wrapping_add(1);
        next | 1 << 30
    }
}

fn first_call<'f>(fixture: &'f Fixture<'f>, options: &Options, is_new: bool) -> Result<Sides<'f>, Failure> {
    let (ur, device) = (fixture.ur, fixture.listed.device.handle());
    if ur.device_info(device, ur_device_info_t::IL_VERSION)?.text().is_empty() {
        return Err(Failure::Unavailable("the device takes no SPIR-V: libnvvm is not there".to_owned()));
    }
    let mut module = read(options, "spirv/scale.spv")?;
    let at = find_constant(&module).ok_or_else(|| Failure::Other("scale.spv has no constant".to_owned()))?;
    let text = String::from_utf8_lossy(&read(options, "spirv/scale.ptx")?).into_owned();
    // A version that every driver takes which has such a device.
    let text = text.replacen(".version 9.5", ".version 7.8", 1);

    let mut number = unused();
    let memory = fixture.memory;
    let body = one_by_one(move || {
        if is_new {
            module[at..at + 4].copy_from_slice(&number().to_le_bytes());
        }
        let program = ur.program(fixture.context.handle(), device, &module)?;
        let kernel = ur.kernel(program.handle(), c"scale")?;
        let add = 7_u32;
        let arguments = [pointer_argument(0, memory), value_argument(1, &add)];
        launch(fixture, fixture.queue.handle(), kernel.handle(), &arguments, NO_WAITS, std::ptr::null_mut())?;
        Ok(ur.finish(fixture.queue.handle())?)
    });
    let mut number = unused();
    let raw = raw_of(fixture, |raw| {
        let stream = raw.stream();
        Ok(Box::new(move |iterations, meter: &mut Meter<'_>| {
            let mut once = || {
                let factor = if is_new { format!(", {}, ", number()) } else { FACTOR.to_owned() };
                let image = format!("{}\0", text.replace(FACTOR, &factor));
                let function = raw.function(image.as_bytes(), c"scale")?;
                let (mut memory, mut add) = (memory, 7_u32);
                let mut list = [(&raw mut memory).cast(), (&raw mut add).cast()];
                raw.launch_with(&function, &mut list, stream)?;
                raw.synchronize(stream)
            };
            straight(iterations, meter, &mut once)
        }) as Body<'f>)
    })?;
    Ok(Sides { ur: body, raw })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_in_the_module_and_in_the_text() {
        let module = include_bytes!("../../../../conformance/kernels/spirv/scale.spv");
        let text = include_str!("../../../../conformance/kernels/spirv/scale.ptx");
        assert!(find_constant(module).is_some());
        assert_eq!(text.matches(FACTOR).count(), 2);
        assert!(text.contains(".version 9.5"));
    }
}
