//! Modules in a context, libraries outside of any, and their functions.
//!
//! Loading places a module's variables in the context's device memory and links their addresses. A library is
//! compiled once and loaded into a context when first used there. Unloading makes all handles of it dead at once;
//! work in flight keeps what it runs.

use crate::alloc;
use crate::clock::Milestone;
use crate::context::Context;
use crate::device::Device;
use crate::exec::LinkedModule;
use crate::handles::{self, Registry};
use crate::memory::{self, Allocation, Kind, Make};
use crate::ptx::{self, FunctionId};
use crate::region::Region;
use crate::sys::*;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

/// All modules.
pub static MODULES: Registry<Module> = Registry::new(handles::Kind::Module);
/// All functions.
pub static FUNCTIONS: Registry<Function> = Registry::new(handles::Kind::Function);
/// All libraries.
pub static LIBRARIES: Registry<Library> = Registry::new(handles::Kind::Library);
/// All kernels of libraries.
pub static KERNELS: Registry<LibraryKernel> = Registry::new(handles::Kind::Kernel);

/// A module in a context.
pub struct Module {
    /// Its handle.
    pub handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Whether a library owns it.
    pub of_library: bool,
    linked: Arc<LinkedModule>,
    globals: Vec<Arc<Allocation>>,
    functions: Mutex<BTreeMap<String, Handle>>,
}

/// A kernel of a module, ready to be launched.
pub struct Function {
    /// Its handle.
    pub handle: Handle,
    /// The module's handle.
    pub module: Handle,
    /// The context it runs in.
    pub context: Arc<Context>,
    /// The code.
    pub linked: Arc<LinkedModule>,
    /// Which function of it.
    pub id: FunctionId,
    /// Its name.
    pub name: CString,
    /// Most dynamic shared memory a launch may ask for.
    pub max_dynamic_shared: AtomicI32,
    carveout: AtomicI32,
    /// Whether clusters may have more blocks than every device with clusters has.
    pub large_clusters: AtomicBool,
}

impl Module {
    /// Places compiled code in a context.
    pub fn load(context: Arc<Context>, code: Arc<ptx::Module>, of_library: bool) -> Result<Arc<Module>> {
        let globals = place_globals(&context, &code)?;
        let addresses = globals.iter().map(|global| global.base).collect();
        let linked = Arc::new(LinkedModule::new(code, addresses));
        let functions = Mutex::default();
        let make = |handle| Module { handle, context, of_library, linked, globals, functions };
        Ok(MODULES.insert_with(make).1)
    }

    /// The code.
    pub fn code(&self) -> &ptx::Module {
        self.linked.module()
    }

    /// The function of a name; the same handle every time.
    pub fn function(&self, name: &str) -> Result<Handle> {
        let mut functions = self.functions.lock();
        if let Some(&handle) = functions.get(name) {
            return Ok(handle);
        }
        let id = self.code().function(name).ok_or(CUDA_ERROR_NOT_FOUND)?;
        let c_name = CString::new(name).map_err(|_| CUDA_ERROR_INVALID_VALUE)?;
        let default_dynamic = Device::SHARED.saturating_sub(self.code().functions()[id.index()].static_shared);
        let make = |handle| Function {
            handle,
            module: self.handle,
            context: self.context.clone(),
            linked: self.linked.clone(),
            id,
            name: c_name,
            max_dynamic_shared: AtomicI32::new(default_dynamic as i32),
            carveout: AtomicI32::new(-1),
            large_clusters: AtomicBool::new(false),
        };
        let (handle, _) = FUNCTIONS.insert_with(make);
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Names of its kernels.
    pub fn kernels(&self) -> Vec<&str> {
        kernel_names(self.code())
    }

    /// A variable's address and size.
    pub fn global(&self, name: &str) -> Result<(u64, usize)> {
        let index = self.code().globals().iter().position(|global| global.name == name).ok_or(CUDA_ERROR_NOT_FOUND)?;
        Ok((self.globals[index].base, self.code().globals()[index].size))
    }

    /// Makes it and its functions invalid and frees its variables.
    pub fn unload(&self) {
        MODULES.remove(self.handle);
        for handle in self.functions.lock().values() {
            FUNCTIONS.remove(*handle);
        }
        for global in &self.globals {
            alloc::free_now(global);
        }
    }
}

/// Names of the kernels of compiled code.
pub fn kernel_names(code: &ptx::Module) -> Vec<&str> {
    // A kernel that is only declared cannot be found by its name.
    let names = code.functions().iter().filter(|function| function.entry).map(|function| function.name.as_str());
    names.filter(|name| code.function(name).is_some()).collect()
}

fn place_globals(context: &Context, code: &ptx::Module) -> Result<Vec<Arc<Allocation>>> {
    let mut size = 0;
    let mut offsets = Vec::new();
    for global in code.globals() {
        let offset = usize::next_multiple_of(size, global.align.max(256));
        offsets.push(offset);
        size = offset + global.size.max(1);
    }
    let bytes: u64 = code.globals().iter().map(|global| alloc::accounted(global.size)).sum();
    if size == 0 {
        return Ok(Vec::new());
    }
    alloc::reserve(context.device, bytes)?;
    let Some(region) = Region::new(size) else {
        context.device.release(bytes);
        return Err(CUDA_ERROR_OUT_OF_MEMORY);
    };
    let addresses: Vec<u64> = offsets.iter().map(|&offset| region.base() + offset as u64).collect();
    for (global, &address) in code.globals().iter().zip(&addresses) {
        initialise(code, global, address, &addresses);
    }
    let enter = |(global, &base): (&ptx::Global, &u64)| {
        let make = Make {
            base,
            size: global.size,
            kind: Kind::Module,
            device: Some(context.device.ordinal),
            context: context.handle,
            flags: 0,
            pool: None,
            region: Some(region.clone()),
        };
        memory::add(make, Milestone::immediate())
    };
    Ok(code.globals().iter().zip(&addresses).map(enter).collect())
}

fn initialise(code: &ptx::Module, global: &ptx::Global, address: u64, addresses: &[u64]) {
    let Some(init) = &global.init else { return };
    let mut bytes = init.clone();
    for (offset, symbol, addend) in &global.relocations {
        let target = code.globals().iter().position(|other| other.name == *symbol).map(|index| addresses[index]);
        if let (Some(target), Some(field)) = (target, bytes.get_mut(*offset..*offset + 8)) {
            field.copy_from_slice(&target.wrapping_add_signed(*addend).to_le_bytes());
        }
    }
    let len = bytes.len().min(global.size);
    // SAFETY: the module's fresh region has `global.size` bytes at this address and nobody else knows it yet.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, len) };
}

impl Function {
    /// The decoded function.
    pub fn code(&self) -> &ptx::Function {
        &self.linked.module().functions()[self.id.index()]
    }

    /// Most threads that a block of it may have.
    pub fn max_threads(&self) -> u32 {
        let by_registers = Device::REGISTERS / self.code().registers.max(16).next_multiple_of(8);
        let by_registers = by_registers / Device::WARP * Device::WARP;
        let declared = self.code().required_block.map(|block| block.iter().product());
        declared
            .or(self.code().max_threads_per_block)
            .unwrap_or(Device::MAX_THREADS)
            .min(by_registers)
            .min(Device::MAX_THREADS)
    }

    /// A function attribute.
    pub fn attribute(&self, attribute: i32) -> Result<i32> {
        let code = self.code();
        let constants =
            || self.linked.module().globals().iter().filter(|global| global.constant).map(|global| global.size);
        Ok(match attribute {
            0 => self.max_threads() as i32,
            1 => code.static_shared as i32,
            2 => constants().sum::<usize>() as i32,
            3 => code.local_bytes as i32,
            4 => code.registers as i32,
            5 | 6 => (self.context.device.capability.0 * 10 + self.context.device.capability.1) as i32,
            8 => self.max_dynamic_shared.load(Ordering::Relaxed),
            9 => self.carveout.load(Ordering::Relaxed),
            14 => self.large_clusters.load(Ordering::Relaxed).into(),
            7 | 10..=13 | 15..=17 => 0,
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        })
    }

    /// Sets one of the attributes that can be set.
    pub fn set_attribute(&self, attribute: i32, value: i32) -> Result {
        let most = Device::SHARED_OPTIN as i32 - self.code().static_shared as i32;
        match (attribute, value) {
            (8, 0..) if value <= most => self.max_dynamic_shared.store(value, Ordering::Relaxed),
            (9, -1..=100) => self.carveout.store(value, Ordering::Relaxed),
            (14, 0 | 1) => self.large_clusters.store(value == 1, Ordering::Relaxed),
            (15, _) => {}
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        }
        Ok(())
    }

    /// Bytes of its parameters.
    pub fn params_size(&self) -> usize {
        self.code().params.iter().map(|param| param.offset + param.size).max().unwrap_or(0)
    }
}

/// Compiled code that no context owns.
pub struct Library {
    /// Its handle.
    pub handle: Handle,
    /// The code.
    pub code: Arc<ptx::Module>,
    loaded: Mutex<Vec<(u64, Handle)>>,
    kernels: Mutex<BTreeMap<String, Handle>>,
}

/// A kernel of a library.
pub struct LibraryKernel {
    /// Its library.
    pub library: Arc<Library>,
    /// Its name.
    pub name: CString,
}

impl Library {
    /// Makes a library.
    pub fn create(code: Arc<ptx::Module>) -> Handle {
        LIBRARIES.insert_with(|handle| Library { handle, code, loaded: Mutex::default(), kernels: Mutex::default() }).0
    }

    /// Its module in a context, loaded when first asked for.
    pub fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut loaded = self.loaded.lock();
        if let Some(&(_, handle)) = loaded.iter().find(|(id, _)| *id == context.id)
            && let Some(module) = MODULES.get(handle)
        {
            return Ok(module);
        }
        let module = Module::load(context.clone(), self.code.clone(), true)?;
        loaded.push((context.id, module.handle));
        Ok(module)
    }

    /// The kernel of a name.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Handle> {
        let mut kernels = self.kernels.lock();
        if let Some(&handle) = kernels.get(name) {
            return Ok(handle);
        }
        self.code.function(name).ok_or(CUDA_ERROR_NOT_FOUND)?;
        let c_name = CString::new(name).map_err(|_| CUDA_ERROR_INVALID_VALUE)?;
        let (handle, _) = KERNELS.insert_with(|_| LibraryKernel { library: self.clone(), name: c_name });
        kernels.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Makes it, its kernels and its modules invalid.
    pub fn unload(&self) {
        for handle in core::mem::take(&mut *self.kernels.lock()).into_values() {
            KERNELS.remove(handle);
        }
        for (_, handle) in self.loaded.lock().drain(..) {
            if let Some(module) = MODULES.get(handle) {
                module.unload();
            }
        }
    }
}

impl LibraryKernel {
    /// The function in a context.
    pub fn function(&self, context: &Arc<Context>) -> Result<Arc<Function>> {
        let name = self.name.to_str().map_err(|_| CUDA_ERROR_INVALID_HANDLE)?;
        let handle = self.library.module(context)?.function(name)?;
        FUNCTIONS.get(handle).ok_or(CUDA_ERROR_INVALID_HANDLE)
    }
}

/// Resolves a function handle, or a kernel handle in place of one, for a context.
pub fn resolve_function(handle: Handle, context: &Arc<Context>) -> Result<Arc<Function>> {
    if handles::is_kind(handle, handles::Kind::Kernel) {
        return KERNELS.lookup(handle, CUDA_ERROR_INVALID_HANDLE)?.function(context);
    }
    FUNCTIONS.lookup(handle, CUDA_ERROR_INVALID_HANDLE)
}
