//! Devices, their properties, and the thread's current one.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

use crate::args::{Buffer, Out, Text};
use crate::current::{self, Scope};
use crate::guard::call;
use crate::sys::layout::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipUUID};
use crate::sys::status::*;
use crate::sys::value::enumerator::{hipDevP2PAttrHipArrayAccessSupported, hipDevP2PAttrPerformanceRank};
use crate::{device, pool, properties};

#[unsafe(no_mangle)]
pub extern "C" fn hipGetDeviceCount(count: Out<c_int>) -> hipError_t {
    call!(hipGetDeviceCount, {
        count.required()?;
        let devices = device::all()?.len();
        count.put(c_int::try_from(devices).unwrap_or(c_int::MAX))?;
        if devices == 0 { Err(hipErrorNoDevice) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGet(out: Out<c_int>, ordinal: c_int) -> hipError_t {
    call!(hipDeviceGet, {
        out.required()?;
        out.put(device::get(ordinal)?.ordinal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetName(name: Buffer, length: c_int, device: c_int) -> hipError_t {
    call!(hipDeviceGetName, {
        let device = device::get(device)?;
        cu!(device_name(name.checked(length)?, length, device.cuda))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetUuid(uuid: Out<hipUUID>, device: c_int) -> hipError_t {
    call!(hipDeviceGetUuid, {
        uuid.required()?;
        uuid.put(properties::uuid(device::get(device)?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceTotalMem(bytes: Out<usize>, device: c_int) -> hipError_t {
    call!(hipDeviceTotalMem, {
        bytes.required()?;
        bytes.put(device::get(device)?.total_memory()?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetPCIBusId(text: Buffer, length: c_int, device: c_int) -> hipError_t {
    call!(hipDeviceGetPCIBusId, {
        let device = device::get(device)?;
        cu!(device_pci_bus_id(text.checked(length)?, length, device.cuda))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetByPCIBusId(out: Out<c_int>, text: Text) -> hipError_t {
    call!(hipDeviceGetByPCIBusId, {
        out.required()?;
        text.get()?;
        let mut cuda = 0;
        let devices = device::all()?;
        cu!(device_by_pci_bus_id(&raw mut cuda, text.raw()))?;
        out.put(devices.iter().find(|device| device.cuda == cuda).ok_or(hipErrorInvalidDevice)?.ordinal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: c_int) -> hipError_t {
    use crate::sys::attribute::{hipDeviceAttributeComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMinor};
    call!(hipDeviceComputeCapability, {
        major.required().and(minor.required())?;
        let device = device::get(device)?;
        major.put(properties::attribute(device, hipDeviceAttributeComputeCapabilityMajor)?)?;
        minor.put(properties::attribute(device, hipDeviceAttributeComputeCapabilityMinor)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) -> hipError_t {
    call!(hipDeviceGetAttribute, {
        value.required()?;
        value.put(properties::attribute(device::get(device)?, attribute)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetDevicePropertiesR0600(out: Out<hipDeviceProp_tR0600>, device: c_int) -> hipError_t {
    call!(hipGetDevicePropertiesR0600, {
        out.required()?;
        out.put(properties::r0600(device::get(device)?)?)
    })
}

/// The unversioned name writes the layout of ROCm 5, as ROCm 6's and 7's libraries do.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetDeviceProperties(out: Out<hipDeviceProp_tR0000>, device: c_int) -> hipError_t {
    call!(hipGetDeviceProperties, {
        out.required()?;
        out.put(properties::r0000(device::get(device)?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetDevice(out: Out<c_int>) -> hipError_t {
    call!(hipGetDevice, {
        out.required()?;
        out.put(current::device()?.ordinal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> hipError_t {
    call!(hipSetDevice, { current::set(device) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetDeviceFlags(flags: Out<c_uint>) -> hipError_t {
    call!(hipGetDeviceFlags, {
        flags.required()?;
        flags.put(current::device()?.flags.load(Ordering::Relaxed))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDeviceFlags(flags: c_uint) -> hipError_t {
    /// Scheduling (one of its three bits at most), mapped host memory, local memory kept.
    const KNOWN: c_uint = 7 | 8 | 16;
    call!(hipSetDeviceFlags, {
        if flags & !KNOWN != 0 || (flags & 7).count_ones() > 1 {
            return Err(hipErrorInvalidValue);
        }
        current::device()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> hipError_t {
    call!(hipDeviceSynchronize, {
        let _scope = Scope::here()?;
        cu!(context_synchronize())
    })
}

/// Gives the device's context back: CUDA destroys everything in it unless somebody else retains it.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceReset() -> hipError_t {
    call!(hipDeviceReset, { current::device()?.release_context() })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetLimit(value: Out<usize>, limit: c_int) -> hipError_t {
    call!(hipDeviceGetLimit, {
        value.required()?;
        check_limit(limit)?;
        let _scope = Scope::here()?;
        cu!(context_limit(value.raw(), limit))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSetLimit(limit: c_int, value: usize) -> hipError_t {
    call!(hipDeviceSetLimit, {
        check_limit(limit)?;
        let _scope = Scope::here()?;
        cu!(context_set_limit(limit, value))
    })
}

/// Stack, `printf` buffer and heap have CUDA's numbers; AMD's scratch memory is not there.
fn check_limit(limit: c_int) -> Result {
    use crate::sys::value::enumerator::hipLimitMallocHeapSize;
    if (0..=hipLimitMallocHeapSize).contains(&limit) { Ok(()) } else { Err(hipErrorUnsupportedLimit) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) -> hipError_t {
    call!(hipDeviceCanAccessPeer, {
        can.required()?;
        let (device, peer) = (device::get(device)?, device::get(peer)?);
        if device.ordinal == peer.ordinal {
            return can.put(0);
        }
        cu!(device_can_access_peer(can.raw(), device.cuda, peer.cuda))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetP2PAttribute(value: Out<c_int>, attribute: c_int, from: c_int, to: c_int) -> hipError_t {
    call!(hipDeviceGetP2PAttribute, {
        value.required()?;
        if !(hipDevP2PAttrPerformanceRank..=hipDevP2PAttrHipArrayAccessSupported).contains(&attribute) {
            return Err(hipErrorInvalidValue);
        }
        let (from, to) = (device::get(from)?, device::get(to)?);
        // CUDA has the same four and counts them from 1.
        cu!(device_peer_attribute(value.raw(), attribute + 1, from.cuda, to.cuda))
    })
}

fn peer_context(peer: c_int) -> Result<usize> {
    let peer = device::get(peer)?;
    if peer.ordinal == current::device()?.ordinal {
        return Err(hipErrorInvalidDevice);
    }
    peer.context()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
    call!(hipDeviceEnablePeerAccess, {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let peer = peer_context(peer)?;
        let _scope = Scope::here()?;
        cu!(context_enable_peer(peer, 0))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
    call!(hipDeviceDisablePeerAccess, {
        let peer = peer_context(peer)?;
        let _scope = Scope::here()?;
        cu!(context_disable_peer(peer))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetDefaultMemPool(out: Out<usize>, device: c_int) -> hipError_t {
    call!(hipDeviceGetDefaultMemPool, {
        out.required()?;
        cu!(device_default_pool(out.raw(), device::get(device)?.cuda))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetMemPool(out: Out<usize>, device: c_int) -> hipError_t {
    call!(hipDeviceGetMemPool, {
        out.required()?;
        cu!(device_pool(out.raw(), device::get(device)?.cuda))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSetMemPool(device: c_int, pool: usize) -> hipError_t {
    call!(hipDeviceSetMemPool, {
        pool::required(pool)?;
        cu!(device_set_pool(device::get(device)?.cuda, pool))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) -> hipError_t {
    call!(hipDeviceGetStreamPriorityRange, {
        let _scope = Scope::here()?;
        cu!(context_priority_range(least.raw(), greatest.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemGetInfo(free: Out<usize>, total: Out<usize>) -> hipError_t {
    call!(hipMemGetInfo, {
        let _scope = Scope::here()?;
        let (mut now, mut all) = (0, 0);
        cu!(memory_info(&raw mut now, &raw mut all))?;
        free.put_if(now);
        total.put_if(all);
        Ok(())
    })
}
