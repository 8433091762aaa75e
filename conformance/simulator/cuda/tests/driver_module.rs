//! Loading modules: what loads, what does not, and what the compiler's log says.

#[macro_use]
mod driver;
use core::ffi::{CStr, c_void};
use driver::*;
use simcuda::sys::*;

const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .u64 counter = 41;
.visible .entry add_counter(.param .u64 out)
{
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u64 %rd3, counter;
    ld.global.u64 %rd4, [%rd3];
    add.u64 %rd5, %rd4, 1;
    st.global.u64 [%rd2], %rd5;
    ret;
}
";

struct Current {
    context: Handle,
    _session: Session,
}

impl Current {
    fn new() -> Self {
        let session = Session::begin();
        Current { context: get!(cuCtxCreate_v2(0, 0)), _session: session }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        c!(cuCtxDestroy_v2(self.context));
    }
}

fn run(function: Handle) -> u64 {
    let out = get!(cuMemAlloc_v2(8));
    let params = [(&raw const out).cast::<c_void>()];
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, params.as_ptr(), core::ptr::null()));
    let result = u64::from_le_bytes(bytes_of(out, 8).try_into().expect("eight bytes"));
    ok!(cuMemFree_v2(out));
    result
}

#[test]
fn a_module_has_its_functions_and_variables_in_its_context() {
    let _current = Current::new();
    let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: Handle = get!(cuModuleGetFunction(module, c"add_counter".as_ptr()));
    assert_eq!(get!(cuModuleGetFunction(module, c"add_counter".as_ptr())), function);
    assert_eq!(run(function), 42);
    let (mut address, mut size) = (0, 0);
    ok!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"counter".as_ptr()));
    assert_eq!(size, 8);
    ok!(cuMemcpyHtoD_v2(address, 99u64.to_le_bytes().as_ptr().cast(), 8));
    assert_eq!(run(function), 100);
    err!(500, cuModuleGetFunction(&mut 0, module, c"nothing".as_ptr()));
    err!(500, cuModuleGetGlobal_v2(&mut 0, &mut 0, module, c"nothing".as_ptr()));
    ok!(cuModuleUnload(module));
    err!(400, cuModuleUnload(module));
    err!(400, cuFuncGetAttribute(&mut 0, 0, function));
    assert_eq!(report_kinds(), ["destroyed-handle"; 2]);
}

#[test]
fn work_in_flight_outlives_the_unloading_of_its_module() {
    let _current = Current::new();
    let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: Handle = get!(cuModuleGetFunction(module, c"add_counter".as_ptr()));
    let out = get!(cuMemAlloc_v2(8));
    let params = [(&raw const out).cast::<c_void>()];
    c!(simcudaHoldWork());
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, params.as_ptr(), core::ptr::null()));
    ok!(cuModuleUnload(module));
    c!(simcudaReleaseWork());
    ok!(cuCtxSynchronize());
    assert_eq!(bytes_of(out, 8), 42u64.to_le_bytes());
    ok!(cuMemFree_v2(out));
}

#[test]
fn a_library_is_loaded_without_a_context_and_runs_in_any() {
    let _session = Session::begin();
    let none = core::ptr::null();
    let nothing = core::ptr::null_mut();
    let library: Handle = get!(cuLibraryLoadData(PTX.as_ptr().cast(), none, nothing, 0, none, nothing, 0));
    let kernel: Handle = get!(cuLibraryGetKernel(library, c"add_counter".as_ptr()));
    err!(500, cuLibraryGetKernel(&mut 0, library, c"nothing".as_ptr()));
    err!(201, cuKernelGetFunction(&mut 0, kernel));
    for device in 0..2 {
        let context: Handle = get!(cuCtxCreate_v2(0, device));
        let function: Handle = get!(cuKernelGetFunction(kernel));
        assert_eq!(run(function), 42);
        assert_eq!(run(kernel), 42, "a kernel handle can be launched as it is");
        ok!(cuCtxDestroy_v2(context));
    }
    ok!(cuLibraryUnload(library));
    err!(400, cuLibraryUnload(library));
}

/// Loads with an error log of `size` bytes; answers the result, the log and the size written back.
fn load_logged(text: &CStr, size: usize) -> (i32, String, usize) {
    let mut log = vec![b'#'; 4096];
    let options = [5u32, 6, 7];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), size as *mut c_void, 4 as *mut c_void];
    let result = c!(cuModuleLoadDataEx(&mut 0, text.as_ptr().cast(), 3, options.as_ptr(), values.as_mut_ptr()));
    assert!(log[size..].iter().all(|&byte| byte == b'#'), "nothing is written beyond the buffer");
    let end = log.iter().position(|&byte| byte == 0).expect("the log ends");
    (result, String::from_utf8_lossy(&log[..end]).into_owned(), values[1] as usize)
}

#[test]
fn bad_ptx_says_where_and_why_within_the_logs_size() {
    let _current = Current::new();
    let bad = c".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n    frobnicate.b32 %r1;\n}\n";
    let (result, log, written) = load_logged(bad, 2048);
    assert_eq!(result, CUDA_ERROR_INVALID_PTX);
    assert!(log.contains("line 6") && log.contains("frobnicate"), "{log}");
    assert_eq!(written, log.len() + 1);
    let (result, cut, written) = load_logged(bad, 10);
    assert_eq!((result, cut.as_str(), written), (CUDA_ERROR_INVALID_PTX, &log[..9], 10));
}

#[test]
fn images_that_are_not_for_this_device_have_errors_of_their_own() {
    let _current = Current::new();
    let newer = c".version 8.0\n.target sm_120\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
    err!(209, cuModuleLoadData(&mut 0, newer.as_ptr().cast()));
    err!(200, cuModuleLoadData(&mut 0, c"this is no image".as_ptr().cast()));
    err!(200, cuModuleLoadData(&mut 0, c"".as_ptr().cast()));
    err!(1, cuModuleLoadData(&mut 0, core::ptr::null()));
    let mut elf = [0u8; 64];
    elf[..4].copy_from_slice(b"\x7fELF");
    elf[18] = 190;
    err!(209, cuModuleLoadData(&mut 0, elf.as_ptr().cast()));
}

#[test]
fn linked_texts_become_one_module() {
    let _current = Current::new();
    let caller = b".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) answer();\n\
        .visible .entry add_counter(.param .u64 out)\n{\n    .reg .b64 %rd<3>;\n    ld.param.u64 %rd1, [out];\n    {\n    \
        .param .b64 retval;\n    call (retval), answer, ();\n    ld.param.b64 %rd2, [retval];\n    }\n    \
        st.global.u64 [%rd1], %rd2;\n    ret;\n}\n";
    let callee = b".version 8.1\n.target sm_80\n.address_size 64\n.visible .func (.param .b64 r) answer()\n{\n    \
        .reg .b64 %rd<2>;\n    mov.u64 %rd1, 1234;\n    st.param.b64 [r], %rd1;\n    ret;\n}\n";
    let (none, nothing) = (core::ptr::null(), core::ptr::null_mut());
    let linker: Handle = {
        let mut out = 0;
        ok!(cuLinkCreate_v2(0, none, nothing, &mut out));
        out
    };
    for text in [&caller[..], &callee[..]] {
        ok!(cuLinkAddData_v2(linker, 1, text.as_ptr().cast(), text.len(), c"a".as_ptr(), 0, none, nothing));
    }
    let (mut image, mut size) = (0, 0);
    ok!(cuLinkComplete(linker, &mut image, &mut size));
    assert!(size > 0);
    let module: Handle = get!(cuModuleLoadData(image as *const c_void));
    ok!(cuLinkDestroy(linker));
    err!(400, cuLinkComplete(linker, &mut image, &mut size));
    assert_eq!(run(get!(cuModuleGetFunction(module, c"add_counter".as_ptr()))), 1234);
    ok!(cuModuleUnload(module));
}

#[test]
fn fat_binaries_load_their_ptx_and_native_code_alone_does_not() {
    let _current = Current::new();
    let kernels = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let read = |name: &str| std::fs::read(kernels.join(name)).expect("the kernels are there");
    for name in ["fatbin/saxpy.fatbin", "fatbin/saxpy.plain.fatbin"] {
        let fat = read(name);
        let module: Handle = get!(cuModuleLoadData(fat.as_ptr().cast()));
        let mut count = 0u32;
        ok!(cuModuleGetFunctionCount(&mut count, module));
        assert!(count > 0, "{name}");
        ok!(cuModuleUnload(module));
        let wrapper = [0x4662_43b1u64 | 1 << 32, fat.as_ptr() as u64, 0];
        let module: Handle = get!(cuModuleLoadData(wrapper.as_ptr().cast()));
        ok!(cuModuleUnload(module));
    }
    err!(209, cuModuleLoadData(&mut 0, read("cubin/saxpy.sm_90.cubin").as_ptr().cast()));
    let mut cut = read("fatbin/saxpy.plain.fatbin");
    cut[16 + 8..16 + 16].fill(0xff);
    err!(200, cuModuleLoadData(&mut 0, cut.as_ptr().cast()));
}
