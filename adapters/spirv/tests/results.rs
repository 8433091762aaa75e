//! The kernels of `tests/kernels` on the simulated GPU: their PTX was compiled by libnvvm from this crate's text and is checked
//! in, their expected numbers come from `make.py`. `UR_SPIRV_COMPILE=1` compiles them anew where libnvvm is found, `UR_SPIRV_BLESS=1`
//! writes what it made into the folder, too.

mod common;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fs;
use std::sync::Once;

use simcuda as _;
use ur_spirv::nvvm::{Compiler, Nvvm, with_ptx_version};
use ur_spirv::{Options, link, parse};

unsafe extern "C" {
    fn cuInit(flags: c_uint) -> c_int;
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_int;
    fn cuCtxSetCurrent(context: *mut c_void) -> c_int;
    fn cuCtxSynchronize() -> c_int;
    fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int;
    fn cuModuleUnload(module: *mut c_void) -> c_int;
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> c_int;
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int;
    fn cuMemFree_v2(address: u64) -> c_int;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> c_int;
    fn cuLaunchKernel(
        function: *mut c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: *mut c_void,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> c_int;
}

fn begin() {
    static ONCE: Once = Once::new();
    let mut context = std::ptr::null_mut();
    // SAFETY: the driver's entry points with valid outputs.
    unsafe {
        ONCE.call_once(|| assert_eq!(cuInit(0), 0));
        assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), 0);
        assert_eq!(cuCtxSetCurrent(context), 0);
    }
}

/// A buffer of the device.
struct Buffer {
    address: u64,
    bytes: usize,
}

impl Buffer {
    fn new(content: &[u8]) -> Self {
        let mut address = 0;
        // SAFETY: the memory has the size of what is copied into it.
        unsafe {
            assert_eq!(cuMemAlloc_v2(&mut address, content.len()), 0);
            assert_eq!(cuMemcpyHtoD_v2(address, content.as_ptr().cast(), content.len()), 0);
        }
        Self { address, bytes: content.len() }
    }

    fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: both have this size.
        unsafe { assert_eq!(cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), self.address, self.bytes), 0) };
        bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the address came from cuMemAlloc and is freed once.
        unsafe { cuMemFree_v2(self.address) };
    }
}

/// One row of an output: what each thread must give, and by how many units in the last place it may be off.
struct Row {
    ulps: u64,
    bits: Vec<u64>,
}

struct Output {
    ty: String,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Case {
    /// The architecture that the kernel is compiled for, if not 90.
    sm: Option<u32>,
    /// A module of `tests/modules` that defines what the kernel imports.
    beside: Option<String>,
    groups: u32,
    threads: u32,
    shared: u32,
    inputs: Vec<Vec<u8>>,
    outputs: Vec<Output>,
}

fn size(ty: &str) -> usize {
    ty[1..].parse::<usize>().unwrap() / 8
}

fn numbers(words: &[&str]) -> Vec<u64> {
    words.iter().map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

fn read_case(name: &str) -> Case {
    let text = fs::read_to_string(common::folder("kernels").join(format!("{name}.case"))).unwrap();
    let mut case = Case::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "launch" => {
                let number = |at: usize| words[at].parse().unwrap();
                (case.groups, case.threads, case.shared) = (number(1), number(2), number(3));
            }
            "in" => {
                let values = numbers(&words[2..]);
                let bytes = values.iter().flat_map(|value| value.to_le_bytes()[..size(words[1])].to_vec());
                case.inputs.push(bytes.collect());
            }
            "beside" => case.beside = Some(words[1].to_owned()),
            "sm" => case.sm = Some(words[1].parse().unwrap()),
            "out" => case.outputs.push(Output { ty: words[1].to_owned(), rows: Vec::new() }),
            _ => {
                let row = Row { ulps: words[1].parse().unwrap(), bits: numbers(&words[2..]) };
                case.outputs.last_mut().unwrap().rows.push(row);
            }
        }
    }
    case
}

/// How far two values are apart: 0 for the same bits, units in the last place for floating-point numbers.
fn distance(ty: &str, a: u64, b: u64) -> u64 {
    if a == b {
        return 0;
    }
    if !ty.starts_with('f') {
        return u64::MAX;
    }
    let bits = size(ty) * 8;
    let infinity: u64 = match bits {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    let sign = 1u64 << (bits - 1);
    let (magnitude_a, magnitude_b) = (a & !sign, b & !sign);
    match (magnitude_a > infinity, magnitude_b > infinity) {
        (true, true) => return 0,
        (false, false) => {}
        _ => return u64::MAX,
    }
    let ordered =
        |bits: u64, magnitude: u64| if bits & sign == 0 { i128::from(magnitude) } else { -i128::from(magnitude) };
    let apart = (ordered(a, magnitude_a) - ordered(b, magnitude_b)).unsigned_abs();
    // Zeroes of both signs are one number, yet not the same.
    u64::try_from(apart).unwrap_or(u64::MAX).max(u64::from(apart == 0))
}

fn ptx(name: &str, case: &Case) -> Vec<u8> {
    let file = common::folder("kernels").join(format!("{name}.ptx"));
    let [blesses, compiles] = ["UR_SPIRV_BLESS", "UR_SPIRV_COMPILE"].map(|name| std::env::var_os(name).is_some());
    let mut bytes = if blesses || compiles {
        let options = Options::for_architecture(case.sm.unwrap_or(90));
        let mut modules = vec![parse(&common::module("kernels", name)).unwrap()];
        modules.extend(case.beside.iter().map(|beside| parse(&common::module("modules", beside)).unwrap()));
        let linked = link(&modules.iter().collect::<Vec<_>>(), &options).unwrap();
        assert!(linked.unresolved.is_empty(), "{:?}", linked.unresolved);
        let texts = linked.texts();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let nvvm = Nvvm::open().unwrap();
        let compiled = nvvm.compile(&texts, &linked.compiler_options(&options), linked.uses_libdevice()).unwrap();
        if blesses {
            fs::write(&file, &compiled.ptx).unwrap();
        }
        compiled.ptx.into_bytes()
    } else {
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    bytes.push(0);
    bytes
}

/// Loads the text as a driver gets it that is older than the libnvvm which wrote it.
fn check_oldest_version(name: &str, image: &[u8]) {
    // Where sm_90 begins.
    let text = with_ptx_version(std::str::from_utf8(image).unwrap(), (7, 8));
    let mut module = std::ptr::null_mut();
    // SAFETY: the image's zero ends the text too.
    unsafe {
        assert_eq!(cuModuleLoadData(&mut module, text.as_ptr().cast()), 0, "{name} loads in version 7.8");
        cuModuleUnload(module);
    }
}

fn run(name: &str) {
    begin();
    let case = read_case(name);
    let image = ptx(name, &case);
    check_oldest_version(name, &image);
    let inputs: Vec<Buffer> = case.inputs.iter().map(|bytes| Buffer::new(bytes)).collect();
    let threads = (case.groups * case.threads) as usize;
    let outputs: Vec<Buffer> = case
        .outputs
        .iter()
        .map(|output| Buffer::new(&vec![0xee; output.rows.len() * threads * size(&output.ty)]))
        .collect();
    let mut values: Vec<u64> = inputs.iter().chain(&outputs).map(|buffer| buffer.address).collect();
    if case.shared > 0 {
        values.push(0);
    }
    let mut parameters: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the image ends with a zero; the parameters are those of the case's kernel, all of 64 bits.
    unsafe {
        assert_eq!(cuModuleLoadData(&mut module, image.as_ptr().cast()), 0, "{name} loads");
        assert_eq!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()), 0);
        let (stream, extra) = (std::ptr::null_mut(), std::ptr::null_mut());
        let list = parameters.as_mut_ptr();
        let status = cuLaunchKernel(function, case.groups, 1, 1, case.threads, 1, 1, case.shared, stream, list, extra);
        assert_eq!(status, 0, "{name} is launched");
        assert_eq!(cuCtxSynchronize(), 0, "{name} runs");
    }
    for (output, buffer) in case.outputs.iter().zip(&outputs) {
        let (bytes, width) = (buffer.read(), size(&output.ty));
        for (number, row) in output.rows.iter().enumerate() {
            for (thread, &want) in row.bits.iter().enumerate() {
                let at = (number * threads + thread) * width;
                let mut got = [0; 8];
                got[..width].copy_from_slice(&bytes[at..at + width]);
                let got = u64::from_le_bytes(got);
                let off = distance(&output.ty, got, want);
                assert!(
                    off <= row.ulps,
                    "{name}, {} row {number}, thread {thread}: {got:#x} instead of {want:#x}, {off} ulp of {}",
                    output.ty,
                    row.ulps
                );
            }
        }
    }
    // SAFETY: the module was loaded above, and its kernel has finished.
    unsafe { cuModuleUnload(module) };
}

macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_kernel_of_the_folder_is_run() {
            assert_eq!(common::names("kernels"), [$(stringify!($name)),*]);
        }
    };
}

cases!(address approximate atomic atomic64 byvalue constants contraction control converged72 convert copies edges16 edges32 edges64 elements exchange96 fields float16 float32 float64 flow flushed geometry group100 halfmemory imports integer16 integer32 integer64 integer8 intel late linked math16 math32 math64 memory nonuniform72 products tree72 uncontracted uniform72 vector walk wrapped);

/// ptxas fuses products and sums without a rounding mode, whatever stands between them; simcuda never does.
#[test]
fn products_that_must_stay_rounded_are_written_with_their_rounding() {
    for name in ["contraction", "intel", "uncontracted"] {
        let text = String::from_utf8(ptx(name, &read_case(name))).unwrap();
        let open: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| ["mul.f", "add.f", "sub.f", "fma"].iter().any(|start| line.starts_with(start)))
            .collect();
        assert!(open.is_empty(), "{name}: {open:#?}");
    }
}

#[test]
fn distances_tell_numbers_apart() {
    assert_eq!(distance("u32", 1, 2), u64::MAX);
    assert_eq!(distance("f32", 0x3f80_0000, 0x3f80_0001), 1);
    assert_eq!(distance("f32", 0, 0x8000_0000), 1);
    assert_eq!(distance("f32", 0x7fc0_0000, 0x7f80_0001), 0);
    assert_eq!(distance("f16", 0x7c00, 0x7e00), u64::MAX);
    assert_eq!(distance("f64", 1, 0x8000_0000_0000_0001), 2);
}
