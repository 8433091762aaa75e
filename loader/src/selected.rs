//! `urDeviceGetSelected`: the devices of one platform that `ONEAPI_DEVICE_SELECTOR` exposes. Walks the tree of devices no
//! deeper than the selector asks, and gives back every reference to a device that it does not return.

use crate::dispatch::{self, Tables};
use crate::log;
use crate::selector::{Backend, Kind, Node, Selector};
use std::ptr;
use ur_ffi::releases::Release;
use ur_ffi::*;

/// What the caller asked for, its pointers checked.
#[derive(Debug)]
pub struct Request {
    /// The release of the loader and so of every adapter.
    pub release: Release,
    /// The platform.
    pub platform: ur_platform_handle_t,
    /// The kind of device wanted.
    pub device_type: ur_device_type_t,
    /// Capacity of `devices`.
    pub capacity: u32,
    /// Where handles go; null when only the number is wanted.
    pub devices: *mut ur_device_handle_t,
    /// Where the number of selected devices goes, or null.
    pub count: *mut u32,
}

/// Answers the request for the value that the environment variable has, if any.
///
/// # Safety
/// The platform must be null or live, the pointers null or valid for what the request says.
pub unsafe fn devices(request: &Request, selector: Option<&str>) -> Result<(), ur_result_t> {
    if request.platform.is_null() {
        return Err(ur_result_t::ERROR_INVALID_NULL_HANDLE);
    }
    if request.capacity > 0 && request.devices.is_null() {
        return Err(ur_result_t::ERROR_INVALID_NULL_POINTER);
    }
    if request.capacity == 0 && request.count.is_null() {
        return Err(ur_result_t::ERROR_INVALID_SIZE);
    }
    if !(ur_device_type_t::DEFAULT.0..=ur_device_type_t::CUSTOM.0).contains(&request.device_type.0) {
        return Err(ur_result_t::ERROR_INVALID_ENUMERATION);
    }
    let selector = Selector::parse(selector.unwrap_or_default()).map_err(|error| {
        log::error(format_args!("urDeviceGetSelected: {error}"));
        ur_result_t::ERROR_INVALID_VALUE
    })?;
    // SAFETY: live by the caller's promise.
    let platform = unsafe { Platform::new(request.release, request.platform) }?;
    let backend = platform.backend()?;
    let tree = match backend {
        Some(backend) => platform.tree(&selector, backend, request.device_type)?,
        // A backend that the selector has no name for: only `*` could mean it, so nothing can be filtered.
        None => platform.tree(&Selector::default(), Backend::Offload, request.device_type)?,
    };
    let chosen = match backend {
        Some(backend) => selector.select(backend, &tree.nodes),
        None => (0..tree.nodes.len()).collect(),
    };
    let wanted = if request.devices.is_null() { 0 } else { request.capacity as usize };
    let returned: Vec<_> = chosen.iter().take(wanted).map(|&i| tree.handles[i]).collect();
    for (i, &handle) in returned.iter().enumerate() {
        // SAFETY: at most `capacity` elements, for which the array is valid.
        unsafe { request.devices.add(i).write(handle) };
    }
    if !request.count.is_null() {
        // SAFETY: valid by the caller's promise.
        unsafe { request.count.write(chosen.len() as u32) };
    }
    tree.release_all_but(&returned);
    Ok(())
}

/// A platform with its adapter's tables.
struct Platform {
    handle: ur_platform_handle_t,
    tables: Tables,
}

/// Devices and where each stands, in the same order. Holds one reference to every device.
#[derive(Default)]
struct Tree {
    handles: Vec<ur_device_handle_t>,
    nodes: Vec<Node>,
    tables: Option<Tables>,
}

impl Platform {
    /// # Safety
    /// The handle must be live, and its adapter of the release.
    unsafe fn new(release: Release, handle: ur_platform_handle_t) -> Result<Self, ur_result_t> {
        // SAFETY: the caller's promise.
        let tables = unsafe { dispatch::tables(release, handle) }.ok_or(ur_result_t::ERROR_INVALID_NULL_HANDLE)?;
        Ok(Platform { handle, tables })
    }

    fn info<T: Default>(&self, property: ur_platform_info_t) -> Result<T, ur_result_t> {
        let get = self.tables.platform.pfnGetInfo.ok_or(ur_result_t::ERROR_UNINITIALIZED)?;
        let mut value = T::default();
        // SAFETY: the platform is live, and the property's value has the size of `T`.
        check(unsafe { get(self.handle, property, size_of::<T>(), (&raw mut value).cast(), ptr::null_mut()) })?;
        Ok(value)
    }

    fn backend(&self) -> Result<Option<Backend>, ur_result_t> {
        Ok(match ur_backend_t(self.info::<u32>(ur_platform_info_t::BACKEND)?) {
            ur_backend_t::LEVEL_ZERO => Some(Backend::LevelZero),
            ur_backend_t::OPENCL => Some(Backend::OpenCl),
            ur_backend_t::CUDA => Some(Backend::Cuda),
            ur_backend_t::HIP => Some(Backend::Hip),
            ur_backend_t::NATIVE_CPU => Some(Backend::NativeCpu),
            ur_backend_t::OFFLOAD => Some(Backend::Offload),
            _ => None,
        })
    }

    fn device_count(&self) -> Result<u32, ur_result_t> {
        let get = self.tables.device.pfnGet.ok_or(ur_result_t::ERROR_UNINITIALIZED)?;
        let mut count = 0;
        // SAFETY: counting needs no array.
        let result = unsafe { get(self.handle, ur_device_type_t::ALL, 0, ptr::null_mut(), &mut count) };
        match result {
            // Some adapters have no other way to say "none".
            ur_result_t::ERROR_DEVICE_NOT_FOUND => Ok(0),
            _ => check(result).map(|()| count),
        }
    }

    fn root_devices(&self) -> Result<Vec<ur_device_handle_t>, ur_result_t> {
        let count = self.device_count()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let get = self.tables.device.pfnGet.ok_or(ur_result_t::ERROR_UNINITIALIZED)?;
        let mut handles = vec![ptr::null_mut(); count as usize];
        // SAFETY: the array has `count` elements.
        check(unsafe { get(self.handle, ur_device_type_t::ALL, count, handles.as_mut_ptr(), ptr::null_mut()) })?;
        Ok(handles)
    }

    /// Device numbers run through all platforms of an adapter: how many stand before this platform's first.
    fn first_number(&self) -> Result<u32, ur_result_t> {
        let adapter: ur_adapter_handle_t = {
            let address: usize = self.info(ur_platform_info_t::ADAPTER)?;
            ptr::with_exposed_provenance_mut(address)
        };
        let get = self.tables.platform.pfnGet.ok_or(ur_result_t::ERROR_UNINITIALIZED)?;
        let mut count = 0;
        // SAFETY: the adapter of a live platform is live; counting needs no array.
        check(unsafe { get(adapter, 0, ptr::null_mut(), &mut count) })?;
        let mut platforms = vec![ptr::null_mut(); count as usize];
        if count > 0 {
            // SAFETY: the array has `count` elements.
            check(unsafe { get(adapter, count, platforms.as_mut_ptr(), ptr::null_mut()) })?;
        }
        platforms
            .into_iter()
            .take_while(|&platform| platform != self.handle)
            .map(|handle| Platform { handle, tables: self.tables }.device_count())
            .sum()
    }

    /// All devices of the wanted kind, with their sub-devices as far as the selector looks.
    fn tree(&self, selector: &Selector, backend: Backend, wanted: ur_device_type_t) -> Result<Tree, ur_result_t> {
        let first = if selector.uses_numbers(backend) { self.first_number()? } else { 0 };
        let mut tree = Tree { tables: Some(self.tables), ..Tree::default() };
        let mut unwanted = Vec::new();
        for (number, handle) in (first..).zip(self.root_devices()?) {
            let device_type = self.device_type(handle);
            let every = [ur_device_type_t::ALL, ur_device_type_t::DEFAULT].contains(&wanted);
            if every || wanted == device_type {
                tree.handles.push(handle);
                tree.nodes.push(Node { path: vec![number], kind: kind(device_type) });
            } else {
                unwanted.push(handle);
            }
        }
        for handle in unwanted {
            release(self.tables, handle);
        }
        let mut level = 0..tree.nodes.len();
        for _ in 1..selector.depth(backend) {
            let next = level.end;
            for parent in level {
                self.partition(&mut tree, parent);
            }
            level = next..tree.nodes.len();
        }
        Ok(tree)
    }

    fn device_type(&self, device: ur_device_handle_t) -> ur_device_type_t {
        let mut value = ur_device_type_t::DEFAULT;
        if let Some(get) = self.tables.device.pfnGetInfo {
            let size = size_of_val(&value);
            // SAFETY: the device is live and the property is one `ur_device_type_t`. A failure leaves the default, which
            // no kind matches.
            unsafe { get(device, ur_device_info_t::TYPE, size, (&raw mut value).cast(), ptr::null_mut()) };
        }
        value
    }

    /// Appends the sub-devices of a device; one that cannot be split has none.
    fn partition(&self, tree: &mut Tree, parent: usize) {
        let Some(split) = self.tables.device.pfnPartition else { return };
        let property = ur_device_partition_property_t {
            type_: ur_device_partition_t::BY_AFFINITY_DOMAIN,
            value: ur_device_partition_value_t {
                affinity_domain: ur_device_affinity_domain_flags_t::NEXT_PARTITIONABLE,
            },
        };
        let properties =
            ur_device_partition_properties_t { pProperties: &raw const property, PropCount: 1, ..Default::default() };
        let device = tree.handles[parent];
        let mut count = 0;
        // SAFETY: a live device and a complete description; counting needs no array.
        let counted = unsafe { split(device, &properties, 0, ptr::null_mut(), &mut count) };
        if counted != ur_result_t::SUCCESS || count == 0 {
            return;
        }
        let mut handles = vec![ptr::null_mut(); count as usize];
        // SAFETY: the array has `count` elements.
        let result = unsafe { split(device, &properties, count, handles.as_mut_ptr(), ptr::null_mut()) };
        if result != ur_result_t::SUCCESS {
            log::warning(format_args!("urDeviceGetSelected: urDevicePartition answers {result:?}"));
            return;
        }
        let Node { path, kind } = tree.nodes[parent].clone();
        for (number, handle) in (0..).zip(handles) {
            tree.handles.push(handle);
            tree.nodes.push(Node { path: [&path[..], &[number]].concat(), kind });
        }
    }
}

impl Tree {
    /// Gives back every reference but those to `kept`.
    fn release_all_but(self, kept: &[ur_device_handle_t]) {
        let Some(tables) = self.tables else { return };
        for handle in self.handles.into_iter().filter(|handle| !kept.contains(handle)) {
            release(tables, handle);
        }
    }
}

fn release(tables: Tables, device: ur_device_handle_t) {
    if let Some(release) = tables.device.pfnRelease {
        // SAFETY: a live device of this table's adapter, to which the caller owns a reference.
        unsafe { release(device) };
    }
}

fn kind(device_type: ur_device_type_t) -> Kind {
    match device_type {
        ur_device_type_t::GPU => Kind::Gpu,
        ur_device_type_t::CPU => Kind::Cpu,
        ur_device_type_t::FPGA => Kind::Fpga,
        ur_device_type_t::MCA | ur_device_type_t::VPU | ur_device_type_t::CUSTOM => Kind::Accelerator,
        _ => Kind::Unknown,
    }
}

fn check(result: ur_result_t) -> Result<(), ur_result_t> {
    if result == ur_result_t::SUCCESS { Ok(()) } else { Err(result) }
}
