//! Kernels by the symbol of their host function: `ur_ext_kernel_host_symbol_t` behind the properties of
//! `urKernelCreateWithNativeHandle`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_void};
use core::ptr::{from_mut, null, null_mut};
use std::ffi::CString;

use ur_conformance::ffi::{
    CBool, Structure as _, ur_context_handle_t, ur_ext_kernel_host_symbol_t, ur_kernel_handle_t, ur_kernel_info_t,
    ur_kernel_native_properties_t, ur_queue_flags_t, ur_result_t,
};
use ur_conformance::native::Hip;
use ur_conformance::{Environment, Fixture, Kernel, Kind, Launch, ask, query, ur};

/// Stands for what a compiler makes of a kernel on the host: only its address is used.
static SYMBOL: u8 = 0;

fn symbol() -> *const c_void {
    (&raw const SYMBOL).cast()
}

/// Kernels that a test has registered with HIP over CUDA.
struct Registered(Hip);

impl Registered {
    /// `None` where no runtime lets a test register a kernel.
    fn new(name: &CStr) -> Option<Self> {
        let Some(hip) = Hip::loaded().filter(Hip::counts_calls) else {
            println!("skipped: needs the HIP adapter over HIP over CUDA, where a test can register a kernel");
            return None;
        };
        let image = CString::new(Environment::get().image("basic.ptx")).expect("text");
        hip.register_function(symbol(), &image, name);
        Some(Self(hip))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.forget_functions();
    }
}

fn create(
    context: ur_context_handle_t,
    native: usize,
    program: Option<&ur_conformance::Program>,
    named: *const c_void,
) -> Result<Kernel, ur_result_t> {
    let stype = ur_ext_kernel_host_symbol_t::STYPE;
    let mut chained = ur_ext_kernel_host_symbol_t { stype, pSymbol: named, ..Default::default() };
    let properties = ur_kernel_native_properties_t {
        pNext: from_mut(&mut chained).cast(),
        isNativeHandleOwned: CBool::FALSE,
        ..Default::default()
    };
    let mut kernel: ur_kernel_handle_t = null_mut();
    let program = program.map_or(null_mut(), |program| program.handle());
    let answer =
        ur!(Kernel.pfnCreateWithNativeHandle(native, context, program, &raw const properties, &raw mut kernel));
    if answer == ur_result_t::SUCCESS {
        return Ok(Kernel::take(kernel));
    }
    assert!(kernel.is_null(), "a refused call wrote a handle");
    Err(answer)
}

#[test]
fn urKernelCreateWithNativeHandle_finds_a_kernel_by_its_host_function_and_launches_it() {
    let fixture = Fixture::over_all_devices();
    let Some(registered) = Registered::new(c"iota") else { return };
    {
        let kernel = create(fixture.context(), 0, None, symbol()).unwrap();
        let name = query::text(ask!(Kernel.pfnGetInfo(kernel.handle(), ur_kernel_info_t::FUNCTION_NAME)));
        assert_eq!(name, "iota");
        let context: *mut c_void = query::get(ask!(Kernel.pfnGetInfo(kernel.handle(), ur_kernel_info_t::CONTEXT)));
        assert_eq!(context, fixture.context().cast());
        let resolved = registered.0.calls("hipGetFuncBySymbol");
        for &device in &fixture.devices {
            let queue = fixture.queue_in(fixture.context(), device, ur_queue_flags_t::empty());
            let memory = fixture.memory(Kind::Shared, 4000);
            Launch::new(&kernel, &[1000]).pointer(memory.pointer()).value(1000u32).on(&queue);
            assert_eq!(memory.read::<u32>(&queue, 1000), (0..1000).collect::<Vec<u32>>());
        }
        assert_eq!(registered.0.calls("hipGetFuncBySymbol"), resolved, "a launch resolves nothing");
    }
}

#[test]
fn what_names_no_kernel_is_refused() {
    let fixture = Fixture::new();
    let Some(_registered) = Registered::new(c"iota") else { return };
    let context = fixture.context();
    let answer = |native, program, named| create(context, native, program, named).map(drop).unwrap_err();
    assert_eq!(answer(0, None, symbol().wrapping_byte_add(64)), ur_result_t::ERROR_INVALID_KERNEL);
    assert_eq!(answer(0, None, null()), ur_result_t::ERROR_INVALID_NULL_POINTER);
    assert_eq!(answer(1, None, symbol()), ur_result_t::ERROR_INVALID_VALUE);
    let program = fixture.program("basic.ptx");
    assert_eq!(answer(0, Some(&program), symbol()), ur_result_t::ERROR_INVALID_VALUE);
}

#[test]
fn a_host_symbol_is_not_supported_where_the_native_library_knows_none() {
    let fixture = Fixture::new();
    if Hip::loaded().is_some() {
        return println!("skipped: HIP knows host symbols");
    }
    let answer = create(fixture.context(), 0, None, symbol()).map(drop);
    assert_eq!(answer, Err(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
    assert!(ur_conformance::last_error().contains("host symbol"), "{}", ur_conformance::last_error());
}
