//! `ur-demo`: what the project does, shown on whatever GPU the loader finds. It lists what there is, and then, on each
//! GPU in turn, runs saxpy over several in-order queues on memory that is allocated and freed in the order of the queues,
//! checks every element, and prints what each step cost in time and native calls. It must never report a success that it
//! has not checked, nor leave an object behind.

mod options;
mod saxpy;
mod steps;

use std::ffi::OsStr;
use std::process::ExitCode;

use ur_client::ffi::{ur_adapter_info_t, ur_backend_t, ur_device_info_t, ur_device_type_t, ur_platform_info_t};
use ur_client::{Listed, NativeCalls, Ur, native_library, print};

use options::Options;

/// What stops the demonstration.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}; try `ur-demo --help`")]
    Options(#[from] lexopt::Error),
    #[error(transparent)]
    Open(#[from] ur_client::OpenError),
    #[error(transparent)]
    Call(#[from] ur_client::ClientError),
    #[error("cannot read {0}: {1}; name the folder of the kernels with --kernels")]
    Kernel(String, std::io::Error),
    #[error("cannot print: {0}")]
    Print(#[from] std::io::Error),
    #[error("there is no GPU: {0}")]
    NoGpu(String),
    #[error(
        "wrong result on {device}, queue {queue}: element {index} is {got} instead of {expected}, the first wrong one"
    )]
    Wrong { device: String, queue: usize, index: usize, got: f32, expected: f32 },
}

fn main() -> ExitCode {
    let result = match Options::from_process() {
        Ok(Some(options)) => run(&options),
        Ok(None) => print(options::HELP).map_err(Failure::from),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("demo: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    print(&format!("loader          {}\n", options.loader.display()))?;
    let native = native_library();
    print(&format!("native library  {}\n", describe_native(&native)))?;
    let path = options.kernels.join("saxpy.ptx");
    let image = std::fs::read(&path).map_err(|error| Failure::Kernel(path.display().to_string(), error))?;

    let ur = Ur::open(&options.loader)?;
    ur.init()?;
    demonstrate(&ur, options, &image, &native)?;
    ur.tear_down()?;
    Ok(())
}

/// Everything between start and end of the loader; all handles are given back on the way out.
fn demonstrate(ur: &Ur, options: &Options, image: &[u8], native: &OsStr) -> Result<(), Failure> {
    let adapters = ur.adapters()?;
    let _held = ur.hold_adapters(&adapters);
    let devices = ur.all_devices(&adapters)?;
    list(ur, &adapters, &devices)?;
    let gpus: Vec<&Listed<'_>> = devices.iter().filter(|listed| is_gpu(ur, listed)).collect();
    if gpus.is_empty() {
        let reasons: Vec<String> =
            adapters.iter().filter_map(|&adapter| ur.last_error(adapter)).map(|(text, _)| text).collect();
        return Err(Failure::NoGpu(match reasons.is_empty() {
            true => format!("{} adapters, {} devices; `urinfo --why` tells more", adapters.len(), devices.len()),
            false => reasons.join("; "),
        }));
    }
    let calls = NativeCalls::of_loaded(native);
    if calls.is_none() {
        print("\n(native calls are not counted: the native library is neither callcount nor simcuda)\n")?;
    }
    for gpu in &gpus {
        saxpy::run(ur, gpu, options, image, calls.as_ref())?;
    }
    let each = if gpus.len() == 1 { String::new() } else { format!(" on each of {} devices", gpus.len()) };
    print(&format!("\ndemo: verified {} x {} elements{each}\n", options.queues, options.elements))?;
    Ok(())
}

fn describe_native(native: &OsStr) -> String {
    let name = native.to_string_lossy().into_owned();
    match std::env::var_os("UR_CALLCOUNT_LIBRARY").filter(|counted| !counted.is_empty()) {
        Some(counted) if name.contains("callcount") => {
            format!("{} (calls counted by {name})", counted.to_string_lossy())
        }
        _ => name,
    }
}

fn is_gpu(ur: &Ur, listed: &Listed<'_>) -> bool {
    let ty = ur.device_info(listed.device.handle(), ur_device_info_t::TYPE);
    ty.ok().and_then(|answer| answer.u32()) == Some(ur_device_type_t::GPU.0)
}

fn list(ur: &Ur, adapters: &[ur_client::ffi::ur_adapter_handle_t], devices: &[Listed<'_>]) -> Result<(), Failure> {
    for &adapter in adapters {
        let backend = ur.adapter_info(adapter, ur_adapter_info_t::BACKEND)?.u32().unwrap_or(0);
        print(&format!("\nadapter   {:?}\n", ur_backend_t(backend)))?;
        for platform in ur.platforms(adapter)? {
            let name = ur.platform_info(platform, ur_platform_info_t::NAME)?.text();
            print(&format!("platform  {name}\n"))?;
            for listed in devices.iter().filter(|listed| listed.platform == platform) {
                print(&format!("device    {}\n", describe(ur, listed)?))?;
            }
        }
    }
    Ok(())
}

fn describe(ur: &Ur, listed: &Listed<'_>) -> Result<String, Failure> {
    let ask = |query| ur.device_info(listed.device.handle(), query);
    let memory = ask(ur_device_info_t::GLOBAL_MEM_SIZE)?.u64().unwrap_or(0);
    Ok(format!(
        "{}, {:.1} GiB, {} compute units, driver {}",
        ask(ur_device_info_t::NAME)?.text(),
        memory as f64 / f64::from(1 << 30),
        ask(ur_device_info_t::MAX_COMPUTE_UNITS)?.u32().unwrap_or(0),
        ask(ur_device_info_t::DRIVER_VERSION)?.text()
    ))
}
