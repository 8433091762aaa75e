//! Devices and their properties.

use super::args::{Buffer, Out, Text};
use super::guard::call;
use crate::device::{self, Device};
use crate::pool;
use crate::sys::*;
use core::ffi::{c_char, c_int};

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGet(out: Out<CUdevice>, ordinal: c_int) -> CUresult {
    call!(cuDeviceGet, {
        device::get(ordinal)?;
        out.put(ordinal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetCount(count: Out<c_int>) -> CUresult {
    call!(cuDeviceGetCount, { count.put(device::all().len() as c_int) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetName(name: Buffer<c_char>, len: c_int, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetName, { name.write_text(&device::get(dev)?.name(), len.max(0) as usize) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetUuid(uuid: Out<CUuuid>, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetUuid, { uuid.put(device::get(dev)?.uuid()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetUuid_v2(uuid: Out<CUuuid>, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetUuid_v2, { uuid.put(device::get(dev)?.uuid()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, dev: CUdevice) -> CUresult {
    call!(cuDeviceTotalMem_v2, { bytes.put(device::get(dev)?.memory as usize) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_int, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetAttribute, {
        let found = device::get(dev)?.attribute(attribute);
        value.put(found.ok_or(CUDA_ERROR_INVALID_VALUE)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, dev: CUdevice) -> CUresult {
    call!(cuDeviceComputeCapability, {
        let capability = device::get(dev)?.capability;
        major.put(capability.0 as c_int)?;
        minor.put(capability.1 as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetPCIBusId(text: Buffer<c_char>, len: c_int, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetPCIBusId, { text.write_text(&device::get(dev)?.pci_bus_id(), len.max(0) as usize) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetByPCIBusId(out: Out<CUdevice>, text: Text) -> CUresult {
    call!(cuDeviceGetByPCIBusId, {
        let text = text.get()?.to_ascii_uppercase();
        // The domain and the function may be left out.
        let matches = |device: &&Device| {
            let id = device.pci_bus_id();
            id == text || id.strip_prefix("0000:") == Some(&text) || id.strip_suffix(".0") == Some(&text)
        };
        let found = device::all().iter().find(matches).ok_or(CUDA_ERROR_INVALID_DEVICE)?;
        out.put(found.ordinal as CUdevice)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceCanAccessPeer(can: Out<c_int>, dev: CUdevice, peer: CUdevice) -> CUresult {
    call!(cuDeviceCanAccessPeer, {
        let (dev, peer) = (device::get(dev)?, device::get(peer)?);
        can.put((dev.ordinal != peer.ordinal && device::are_linked()).into())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetP2PAttribute(
    value: Out<c_int>,
    attribute: c_int,
    src: CUdevice,
    dst: CUdevice,
) -> CUresult {
    call!(cuDeviceGetP2PAttribute, {
        let (src, dst) = (device::get(src)?, device::get(dst)?);
        if src.ordinal == dst.ordinal {
            return Err(CUDA_ERROR_INVALID_DEVICE);
        }
        value.put(match attribute {
            1 => 0,
            2 | 3 => 1,
            4 | 5 => 0,
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetDefaultMemPool(out: Out<Handle>, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetDefaultMemPool, { out.put(device::get(dev)?.default_pool()?.handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetMemPool(out: Out<Handle>, dev: CUdevice) -> CUresult {
    call!(cuDeviceGetMemPool, { out.put(device::get(dev)?.pool()?.handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceSetMemPool(dev: CUdevice, handle: Handle) -> CUresult {
    call!(cuDeviceSetMemPool, {
        let device = device::get(dev)?;
        let pool = pool::POOLS.lookup(handle, CUDA_ERROR_INVALID_VALUE)?;
        if pool.location != pool::Location::Device(device.ordinal) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        *device.current_pool.lock() = Some(pool);
        Ok(())
    })
}
