//! A device for interpreter tests: host buffers it may touch, and nothing else.
#![allow(dead_code)] // each test file uses its part

use simcuda::exec::{Access, Environment, Grid, LaunchFault, LinkedModule, Memory, MemoryFault, launch};
use simcuda::ptx::Module;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A borrowed buffer. Tests keep the buffer alive and look at it only after the launch.
pub struct Span(pub Range<u64>, bool);

impl Span {
    pub fn of<T: Copy>(slice: &[T]) -> Span {
        let range = slice.as_ptr_range();
        Span(range.start as u64..range.end as u64, false)
    }

    pub fn of_mut<T: Copy>(slice: &mut [T]) -> Span {
        let range = slice.as_mut_ptr_range();
        Span(range.start as u64..range.end as u64, true)
    }
}

/// An argument of a kernel.
pub enum Value {
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    /// A pointer to a buffer that is only read.
    In(Span),
    /// A pointer to a buffer that may be written.
    Out(Span),
    /// Bytes by value, and their alignment.
    Bytes(Vec<u8>, usize),
}

impl Value {
    fn bytes(&self) -> (Vec<u8>, usize) {
        match self {
            Value::U32(v) => (v.to_ne_bytes().to_vec(), 4),
            Value::U64(v) => (v.to_ne_bytes().to_vec(), 8),
            Value::F32(v) => (v.to_ne_bytes().to_vec(), 4),
            Value::F64(v) => (v.to_ne_bytes().to_vec(), 8),
            Value::In(span) | Value::Out(span) => (span.0.start.to_ne_bytes().to_vec(), 8),
            Value::Bytes(bytes, align) => (bytes.clone(), *align),
        }
    }
}

/// A module with its variables in place.
pub struct Device {
    module: LinkedModule,
    variables: Vec<(Range<u64>, bool)>,
    _storage: Vec<Vec<u128>>,
    pub printed: Mutex<Vec<String>>,
}

struct Allowed(Vec<(Range<u64>, bool)>);

impl Memory for Allowed {
    fn check(&self, address: u64, len: usize, access: Access) -> Result<Range<u64>, MemoryFault> {
        let end = address.wrapping_add(len as u64);
        let fits = |(r, writable): &&(Range<u64>, bool)| {
            r.start <= address && end <= r.end && address < end && (access == Access::Read || *writable)
        };
        match self.0.iter().find(fits) {
            Some((range, _)) => Ok(range.clone()),
            None => Err(MemoryFault { message: "not a buffer of the test".into() }),
        }
    }
}

impl Device {
    /// A file of `conformance/kernels`.
    pub fn load(file: &str) -> Device {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels").join(file);
        Self::parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    pub fn parse(text: &str) -> Device {
        let module = Arc::new(Module::parse(text.as_bytes(), 90).unwrap_or_else(|e| panic!("{e}")));
        let mut storage: Vec<Vec<u128>> =
            module.globals().iter().map(|g| vec![0u128; g.size.div_ceil(16).max(1)]).collect();
        let addresses: Vec<u64> = storage.iter().map(|s| s.as_ptr() as u64).collect();
        for (g, s) in module.globals().iter().zip(&mut storage) {
            let mut bytes = g.init.clone().unwrap_or_else(|| vec![0; g.size]);
            for (offset, symbol, addend) in &g.relocations {
                let index = module.globals().iter().position(|o| o.name == *symbol).expect("relocations name globals");
                let value = addresses[index].wrapping_add_signed(*addend);
                bytes[*offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
            }
            for (to, from) in s.iter_mut().zip(bytes.chunks(16)) {
                let mut chunk = [0; 16];
                chunk[..from.len()].copy_from_slice(from);
                *to = u128::from_ne_bytes(chunk);
            }
        }
        let variables =
            module.globals().iter().zip(&addresses).map(|(g, &a)| (a..a + g.size as u64, !g.constant)).collect();
        let module = LinkedModule::new(module, addresses);
        Device { module, variables, _storage: storage, printed: Mutex::new(Vec::new()) }
    }

    pub fn run(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32, arguments: &[Value]) {
        self.try_run(kernel, Grid { grid, block, dynamic_shared, ..Grid::PLAIN }, arguments)
            .unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
    }

    pub fn try_run(&self, kernel: &str, grid: Grid, arguments: &[Value]) -> Result<(), LaunchFault> {
        let function = self.module.module().function(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
        let mut params = Vec::new();
        for argument in arguments {
            let (bytes, align) = argument.bytes();
            params.resize(params.len().next_multiple_of(align), 0);
            params.extend(bytes);
        }
        let mut allowed = self.variables.clone();
        for argument in arguments {
            if let Value::In(span) | Value::Out(span) = argument {
                allowed.push((span.0.clone(), span.1));
            }
        }
        let allowed = Allowed(allowed);
        let output = |text: &str| self.printed.lock().expect("no test panics while printing").push(text.to_owned());
        let environment =
            Environment { memory: &allowed, output: &output, sm_count: 8, grid_id: 1, abort: None, workers: 0 };
        launch(&self.module, function, &grid, &params, &environment)
    }
}

/// The bits of a number in half precision, rounded to nearest even; for normal halves only.
pub fn half(value: f64) -> u64 {
    let sign = if value < 0.0 { 0x8000 } else { 0 };
    let mut exponent = value.abs().log2().floor() as i32;
    let mut mantissa = (value.abs() / 2f64.powi(exponent - 10)).round_ties_even() as u64;
    if mantissa == 2048 {
        (mantissa, exponent) = (1024, exponent + 1);
    }
    if exponent > 15 { sign | 0x7c00 } else { sign | ((exponent + 15) as u64) << 10 | (mantissa - 1024) }
}

/// The value of a normal half.
pub fn half_value(bits: u16) -> f64 {
    let magnitude = (1024.0 + f64::from(bits & 0x3ff)) * 2f64.powi(i32::from(bits >> 10 & 31) - 25);
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}
