//! Compares `sys` with HIP's public headers, by compiling a C program against each that prints their numbers.
//!
//! The headers are named by `UR_HIP_HEADERS_5` (ROCm 5.2's: the folder above `hip` in Debian's `libamdhip64-dev`)
//! and `UR_HIP_HEADERS_7` (ROCm 7.1's: `backends/amd/include` in the `triton` wheel); a test whose headers are not
//! there says so and passes.

use core::mem::offset_of;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use ur_adapter::driver::PoolAttribute;
use ur_adapter::driver::graphs::{CaptureMode, CaptureStatus};
use ur_adapter::program::jit;

use ur_adapter::driver::images::Channel;
use ur_adapter::driver::native::external_layouts::{
    BufferDescriptor, MemoryDescriptor, OPAQUE_FD, SemaphoreDescriptor, SemaphoreParameters, TIMELINE_FD,
};
use ur_adapter::driver::native::image_layouts::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};

use crate::sys::graphs::{
    AttributeValue, BoxParams, BoxParamsSide, HostNodeParams, KernelNodeParams, MemAllocNodeParams, MemsetParams,
    PitchedPointer,
};
use crate::sys::{
    HOST, HipError, IPC_LAZY_PEER_5, IPC_LAZY_PEER_6, IpcEventHandle, IpcMemHandle, MemAccess, MemLocation, Memcpy3D,
    Memcpy3DSide, PhysicalProperties, PointerAttributes, PoolProperties, Properties0000, Properties0600, Uuid, arch,
    attribute, flag, function, memory_type_5, memory_type_6,
};

/// A C expression and what `sys` says it is.
type Numbers = BTreeMap<String, i64>;

fn headers(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.join("hip").is_dir());
    if folder.is_none() {
        println!("skipped: {variable} names no folder that holds `hip`");
    }
    folder
}

/// What the headers say to each expression.
fn ask(folder: &std::path::Path, prelude: &str, expressions: &Numbers) -> Numbers {
    let mut source = format!(
        "#include <hip/hip_runtime_api.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n{prelude}\n\
         static unsigned bits(hipDeviceArch_t arch) {{ unsigned all = 0; memcpy(&all, &arch, sizeof arch); return all; }}\n\
         int main(void) {{\n"
    );
    for expression in expressions.keys() {
        let _ = writeln!(source, "printf(\"%lld %s\\n\", (long long)({expression}), \"{expression}\");");
    }
    source.push_str("return 0; }\n");
    let work = tempfile::tempdir().unwrap();
    let (file, program) = (work.path().join("ask.c"), work.path().join("ask"));
    std::fs::write(&file, source).unwrap();
    let compiled = Command::new("cc")
        .args(["-w", "-D__HIP_PLATFORM_AMD__", "-I"])
        .arg(folder)
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let (number, expression) = line.split_once(' ').unwrap();
            (expression.to_owned(), number.parse().unwrap())
        })
        .collect()
}

fn add(numbers: &mut Numbers, expression: impl Into<String>, value: impl TryInto<i64, Error: core::fmt::Debug>) {
    numbers.insert(expression.into(), value.try_into().unwrap());
}

/// How imports of other APIs are described.
fn add_imports(numbers: &mut Numbers) {
    add(numbers, "hipExternalMemoryHandleTypeOpaqueFd", OPAQUE_FD);
    add(numbers, "hipExternalSemaphoreHandleTypeOpaqueFd", OPAQUE_FD);
    add(numbers, "hipExternalSemaphoreHandleTypeTimelineSemaphoreFd", TIMELINE_FD);
    add(numbers, "sizeof(hipExternalMemoryHandleDesc)", size_of::<MemoryDescriptor>());
    add(numbers, "offsetof(hipExternalMemoryHandleDesc, handle)", offset_of!(MemoryDescriptor, descriptor));
    add(numbers, "offsetof(hipExternalMemoryHandleDesc, size)", offset_of!(MemoryDescriptor, size));
    add(numbers, "offsetof(hipExternalMemoryHandleDesc, flags)", offset_of!(MemoryDescriptor, flags));
    add(numbers, "sizeof(hipExternalMemoryBufferDesc)", size_of::<BufferDescriptor>());
    add(numbers, "offsetof(hipExternalMemoryBufferDesc, size)", offset_of!(BufferDescriptor, size));
    add(numbers, "offsetof(hipExternalMemoryBufferDesc, flags)", offset_of!(BufferDescriptor, flags));
    add(numbers, "sizeof(hipExternalSemaphoreHandleDesc)", size_of::<SemaphoreDescriptor>());
    add(numbers, "offsetof(hipExternalSemaphoreHandleDesc, handle)", offset_of!(SemaphoreDescriptor, descriptor));
    add(numbers, "offsetof(hipExternalSemaphoreHandleDesc, flags)", offset_of!(SemaphoreDescriptor, flags));
    for name in ["hipExternalSemaphoreSignalParams", "hipExternalSemaphoreWaitParams"] {
        add(numbers, format!("sizeof({name})"), size_of::<SemaphoreParameters>());
        add(numbers, format!("offsetof({name}, params.fence.value)"), offset_of!(SemaphoreParameters, value));
        add(numbers, format!("offsetof({name}, flags)"), offset_of!(SemaphoreParameters, flags));
    }
}

/// What both releases must say; `newer` adds what ROCm 5.2 does not have yet.
fn common(newer: bool) -> Numbers {
    let mut numbers = Numbers::new();
    for (status, name) in HipError::ALL {
        // Two statuses of textures came later.
        if newer || !matches!(status.0, 911 | 912) {
            add(&mut numbers, *name, status.0);
        }
    }
    for (name, value, old) in [flag::ALL, function::ALL, attribute::ALL].concat() {
        if newer || old {
            add(&mut numbers, name, value);
        }
    }
    let options = [
        ("hipJitOptionMaxRegisters", jit::option::MAX_REGISTERS),
        ("hipJitOptionInfoLogBuffer", jit::option::INFO_LOG),
        ("hipJitOptionInfoLogBufferSizeBytes", jit::option::INFO_LOG_SIZE),
        ("hipJitOptionErrorLogBuffer", jit::option::ERROR_LOG),
        ("hipJitOptionErrorLogBufferSizeBytes", jit::option::ERROR_LOG_SIZE),
        ("hipJitOptionOptimizationLevel", jit::option::OPTIMIZATION_LEVEL),
        ("hipJitOptionGenerateDebugInfo", jit::option::DEBUG_INFO),
        ("hipJitOptionGenerateLineInfo", jit::option::LINE_INFO),
    ];
    for (name, value) in options {
        add(&mut numbers, name, value);
    }
    add(&mut numbers, "sizeof(hipPointerAttribute_t)", size_of::<PointerAttributes>());
    for (member, offset) in [
        ("device", offset_of!(PointerAttributes, device)),
        ("devicePointer", offset_of!(PointerAttributes, device_pointer)),
        ("hostPointer", offset_of!(PointerAttributes, host_pointer)),
        ("isManaged", offset_of!(PointerAttributes, is_managed)),
        ("allocationFlags", offset_of!(PointerAttributes, allocation_flags)),
    ] {
        add(&mut numbers, format!("offsetof(hipPointerAttribute_t, {member})"), offset);
    }
    // Earlier structures end sooner, with the same first members.
    if newer {
        add_imports(&mut numbers);
    }
    add(&mut numbers, "sizeof(hipMemPoolProps)", size_of::<PoolProperties>());
    add(&mut numbers, "offsetof(hipMemPoolProps, location)", offset_of!(PoolProperties, location));
    add(&mut numbers, "offsetof(hipMemLocation, id)", offset_of!(MemLocation, device));
    add(&mut numbers, "sizeof(hipIpcMemHandle_t)", size_of::<IpcMemHandle>());
    add(&mut numbers, "sizeof(hipIpcEventHandle_t)", size_of::<IpcEventHandle>());
    add(&mut numbers, "hipCpuDeviceId", HOST.0);
    add(&mut numbers, "sizeof(hipMemAccessDesc)", size_of::<MemAccess>());
    add(&mut numbers, "offsetof(hipMemAccessDesc, flags)", offset_of!(MemAccess, flags));
    for (name, attribute) in [
        ("hipMemPoolReuseFollowEventDependencies", PoolAttribute::FollowEventDependencies),
        ("hipMemPoolReuseAllowOpportunistic", PoolAttribute::Opportunistic),
        ("hipMemPoolReuseAllowInternalDependencies", PoolAttribute::InternalDependencies),
        ("hipMemPoolAttrReleaseThreshold", PoolAttribute::ReleaseThreshold),
        ("hipMemPoolAttrReservedMemCurrent", PoolAttribute::ReservedCurrent),
        ("hipMemPoolAttrReservedMemHigh", PoolAttribute::ReservedHigh),
        ("hipMemPoolAttrUsedMemCurrent", PoolAttribute::UsedCurrent),
        ("hipMemPoolAttrUsedMemHigh", PoolAttribute::UsedHigh),
    ] {
        add(&mut numbers, name, attribute as i32);
    }
    for (name, value) in [
        ("hipStreamCaptureModeGlobal", CaptureMode::Global as u32),
        ("hipStreamCaptureModeThreadLocal", CaptureMode::ThreadLocal as u32),
        ("hipStreamCaptureModeRelaxed", CaptureMode::Relaxed as u32),
        ("hipStreamCaptureStatusNone", CaptureStatus::None as u32),
        ("hipStreamCaptureStatusActive", CaptureStatus::Active as u32),
        ("hipStreamCaptureStatusInvalidated", CaptureStatus::Invalidated as u32),
    ] {
        add(&mut numbers, name, value);
    }
    for (name, channel) in [
        ("HIP_AD_FORMAT_UNSIGNED_INT8", Channel::Unsigned8),
        ("HIP_AD_FORMAT_UNSIGNED_INT16", Channel::Unsigned16),
        ("HIP_AD_FORMAT_UNSIGNED_INT32", Channel::Unsigned32),
        ("HIP_AD_FORMAT_SIGNED_INT8", Channel::Signed8),
        ("HIP_AD_FORMAT_SIGNED_INT16", Channel::Signed16),
        ("HIP_AD_FORMAT_SIGNED_INT32", Channel::Signed32),
        ("HIP_AD_FORMAT_HALF", Channel::Half),
        ("HIP_AD_FORMAT_FLOAT", Channel::Float),
    ] {
        add(&mut numbers, name, channel as u32);
    }
    for (name, value) in [
        ("hipArrayLayered", ArrayDescriptor::LAYERED),
        ("hipArraySurfaceLoadStore", ArrayDescriptor::SURFACES),
        ("HIP_TRSF_READ_AS_INTEGER", TextureDescriptor::AS_INTEGER),
        ("HIP_TRSF_NORMALIZED_COORDINATES", TextureDescriptor::NORMALIZED),
        ("HIP_TR_ADDRESS_MODE_WRAP", 0),
        ("HIP_TR_ADDRESS_MODE_CLAMP", 1),
        ("HIP_TR_ADDRESS_MODE_MIRROR", 2),
        ("HIP_TR_ADDRESS_MODE_BORDER", 3),
        ("HIP_TR_FILTER_MODE_LINEAR", 1),
        ("HIP_RESOURCE_TYPE_ARRAY", 0),
        ("hipResourceTypeArray", 0),
    ] {
        add(&mut numbers, name, value);
    }
    add(&mut numbers, "sizeof(HIP_ARRAY3D_DESCRIPTOR)", size_of::<ArrayDescriptor>());
    add(&mut numbers, "offsetof(HIP_ARRAY3D_DESCRIPTOR, Format)", offset_of!(ArrayDescriptor, format));
    add(&mut numbers, "offsetof(HIP_ARRAY3D_DESCRIPTOR, Flags)", offset_of!(ArrayDescriptor, flags));
    add(&mut numbers, "sizeof(HIP_RESOURCE_DESC)", size_of::<ResourceDescriptor>());
    add(&mut numbers, "offsetof(HIP_RESOURCE_DESC, res.array.hArray)", 8);
    add(&mut numbers, "offsetof(hipResourceDesc, res.array.array)", 8);
    add(&mut numbers, "sizeof(hipResourceDesc) <= sizeof(HIP_RESOURCE_DESC)", 1);
    add(&mut numbers, "sizeof(HIP_TEXTURE_DESC)", size_of::<TextureDescriptor>());
    add(&mut numbers, "offsetof(HIP_TEXTURE_DESC, filterMode)", offset_of!(TextureDescriptor, filter));
    add(&mut numbers, "offsetof(HIP_TEXTURE_DESC, flags)", offset_of!(TextureDescriptor, flags));
    add(&mut numbers, "sizeof(hipUUID)", size_of::<Uuid>());
    add(&mut numbers, "sizeof(hipDeviceArch_t)", size_of::<u32>());
    add(&mut numbers, "bits((hipDeviceArch_t){.hasGlobalInt64Atomics = 1})", arch::GLOBAL_INT64_ATOMICS);
    add(&mut numbers, "bits((hipDeviceArch_t){.hasDoubles = 1})", arch::DOUBLES);
    graph_nodes(&mut numbers);
    add(&mut numbers, format!("sizeof(hipKernelNodeAttrValue) <= {}", size_of::<AttributeValue>()), 1);
    numbers
}

/// The descriptions of a graph's nodes, which both releases lay out alike.
fn graph_nodes(numbers: &mut Numbers) {
    let (from, to) = (offset_of!(BoxParams, from), offset_of!(BoxParams, to));
    let (origin, pointer) = (offset_of!(BoxParamsSide, origin), offset_of!(BoxParamsSide, pointer));
    for (structure, size, members) in [
        (
            "hipKernelNodeParams",
            size_of::<KernelNodeParams>(),
            [
                ("blockDim", offset_of!(KernelNodeParams, block)),
                ("extra", offset_of!(KernelNodeParams, extra)),
                ("func", offset_of!(KernelNodeParams, function)),
                ("gridDim", offset_of!(KernelNodeParams, grid)),
                ("kernelParams", offset_of!(KernelNodeParams, arguments)),
                ("sharedMemBytes", offset_of!(KernelNodeParams, shared)),
            ]
            .as_slice(),
        ),
        (
            "hipMemsetParams",
            size_of::<MemsetParams>(),
            &[
                ("dst", offset_of!(MemsetParams, to)),
                ("elementSize", offset_of!(MemsetParams, element_size)),
                ("height", offset_of!(MemsetParams, height)),
                ("pitch", offset_of!(MemsetParams, pitch)),
                ("value", offset_of!(MemsetParams, value)),
                ("width", offset_of!(MemsetParams, width)),
            ],
        ),
        (
            "hipHostNodeParams",
            size_of::<HostNodeParams>(),
            &[("fn", offset_of!(HostNodeParams, function)), ("userData", offset_of!(HostNodeParams, data))],
        ),
        (
            "struct hipPitchedPtr",
            size_of::<PitchedPointer>(),
            &[
                ("ptr", offset_of!(PitchedPointer, address)),
                ("pitch", offset_of!(PitchedPointer, pitch)),
                ("xsize", offset_of!(PitchedPointer, width)),
                ("ysize", offset_of!(PitchedPointer, height)),
            ],
        ),
        (
            "struct hipMemcpy3DParms",
            size_of::<BoxParams>(),
            &[
                ("srcArray", from),
                ("srcPos", from + origin),
                ("srcPtr", from + pointer),
                ("dstArray", to),
                ("dstPos", to + origin),
                ("dstPtr", to + pointer),
                ("extent", offset_of!(BoxParams, extent)),
                ("kind", offset_of!(BoxParams, kind)),
            ],
        ),
    ] {
        add(numbers, format!("sizeof({structure})"), size);
        for (member, offset) in members {
            add(numbers, format!("offsetof({structure}, {member})"), *offset);
        }
    }
}

/// The description of a box, whose sizes a release counts in `N`.
fn box_copy<N>(numbers: &mut Numbers) {
    let (src, dst) = (offset_of!(Memcpy3D<N>, src), offset_of!(Memcpy3D<N>, dst));
    for (member, offset) in [
        ("srcY", src + offset_of!(Memcpy3DSide<N>, y)),
        ("srcMemoryType", src + offset_of!(Memcpy3DSide<N>, memory_type)),
        ("srcHost", src + offset_of!(Memcpy3DSide<N>, host)),
        ("srcDevice", src + offset_of!(Memcpy3DSide<N>, device)),
        ("srcArray", src + offset_of!(Memcpy3DSide<N>, array)),
        ("srcPitch", src + offset_of!(Memcpy3DSide<N>, pitch)),
        ("srcHeight", src + offset_of!(Memcpy3DSide<N>, height)),
        ("dstXInBytes", dst + offset_of!(Memcpy3DSide<N>, x_in_bytes)),
        ("dstMemoryType", dst + offset_of!(Memcpy3DSide<N>, memory_type)),
        ("dstHost", dst + offset_of!(Memcpy3DSide<N>, host)),
        ("dstDevice", dst + offset_of!(Memcpy3DSide<N>, device)),
        ("dstArray", dst + offset_of!(Memcpy3DSide<N>, array)),
        ("dstPitch", dst + offset_of!(Memcpy3DSide<N>, pitch)),
        ("dstHeight", dst + offset_of!(Memcpy3DSide<N>, height)),
        ("WidthInBytes", offset_of!(Memcpy3D<N>, width)),
        ("Height", offset_of!(Memcpy3D<N>, height)),
        ("Depth", offset_of!(Memcpy3D<N>, depth)),
    ] {
        add(numbers, format!("offsetof(HIP_MEMCPY3D, {member})"), offset);
    }
    add(numbers, "sizeof(HIP_MEMCPY3D)", size_of::<Memcpy3D<N>>());
}

/// The layout before ROCm 6, under the name that a release gives it.
fn old_properties(numbers: &mut Numbers, name: &str) {
    add(numbers, format!("sizeof({name})"), size_of::<Properties0000>());
    add(numbers, format!("_Alignof({name})"), align_of::<Properties0000>());
    add(numbers, format!("offsetof({name}, name)"), offset_of!(Properties0000, name));
    add(numbers, format!("offsetof({name}, gcnArchName)"), offset_of!(Properties0000, gcn_arch_name));
    add(numbers, format!("offsetof({name}, arch)"), offset_of!(Properties0000, arch));
}

#[test]
fn the_numbers_and_layouts_are_those_of_rocm_5_2() {
    let Some(folder) = headers("UR_HIP_HEADERS_5") else { return };
    let mut numbers = common(false);
    old_properties(&mut numbers, "hipDeviceProp_t");
    box_copy::<core::ffi::c_uint>(&mut numbers);
    add(&mut numbers, "offsetof(hipPointerAttribute_t, memoryType)", offset_of!(PointerAttributes, memory_type));
    add(&mut numbers, "hipIpcMemLazyEnablePeerAccess", IPC_LAZY_PEER_5);
    add(&mut numbers, "hipMemoryTypeHost", memory_type_5::HOST);
    add(&mut numbers, "hipMemoryTypeDevice", memory_type_5::DEVICE);
    add(&mut numbers, "hipMemoryTypeArray", memory_type_5::ARRAY);
    assert_eq!(ask(&folder, "", &numbers), numbers);
}

#[test]
fn the_numbers_and_layouts_are_those_of_rocm_7_1() {
    // The header of old structures wants the names that the first header gives to the new ones.
    const PRELUDE: &str = "#undef hipGetDeviceProperties\n#undef hipDeviceProp_t\n#undef hipChooseDevice\n\
                           #include <hip/hip_deprecated.h>";
    let Some(folder) = headers("UR_HIP_HEADERS_7") else { return };
    let mut numbers = common(true);
    old_properties(&mut numbers, "hipDeviceProp_tR0000");
    add(&mut numbers, "offsetof(hipMemPoolProps, maxSize)", offset_of!(PoolProperties, max_size));
    box_copy::<usize>(&mut numbers);
    add(&mut numbers, "sizeof(hipDeviceProp_tR0600)", size_of::<Properties0600>());
    add(&mut numbers, "_Alignof(hipDeviceProp_tR0600)", align_of::<Properties0600>());
    add(&mut numbers, "offsetof(hipDeviceProp_tR0600, name)", offset_of!(Properties0600, name));
    add(&mut numbers, "offsetof(hipDeviceProp_tR0600, gcnArchName)", offset_of!(Properties0600, gcn_arch_name));
    add(&mut numbers, "offsetof(hipDeviceProp_tR0600, arch)", offset_of!(Properties0600, arch));
    add(&mut numbers, "offsetof(hipPointerAttribute_t, type)", offset_of!(PointerAttributes, memory_type));
    add(&mut numbers, "sizeof(hipMemAllocationProp)", size_of::<PhysicalProperties>());
    add(&mut numbers, "offsetof(hipMemAllocationProp, location)", offset_of!(PhysicalProperties, location));
    add(&mut numbers, "offsetof(hipMemAllocationProp, allocFlags)", offset_of!(PhysicalProperties, flags));
    add(&mut numbers, "hipIpcMemLazyEnablePeerAccess", IPC_LAZY_PEER_6);
    add(&mut numbers, "sizeof(hipLaunchAttributeValue)", size_of::<AttributeValue>());
    add(&mut numbers, "sizeof(hipMemAllocNodeParams)", size_of::<MemAllocNodeParams>());
    add(&mut numbers, "offsetof(hipMemAllocNodeParams, accessDescs)", offset_of!(MemAllocNodeParams, access));
    add(&mut numbers, "offsetof(hipMemAllocNodeParams, bytesize)", offset_of!(MemAllocNodeParams, size));
    add(&mut numbers, "offsetof(hipMemAllocNodeParams, dptr)", offset_of!(MemAllocNodeParams, address));
    add(&mut numbers, "hipMemoryTypeHost", memory_type_6::HOST);
    add(&mut numbers, "hipMemoryTypeDevice", memory_type_6::DEVICE);
    add(&mut numbers, "hipMemoryTypeManaged", memory_type_6::MANAGED);
    add(&mut numbers, "hipMemoryTypeArray", memory_type_6::ARRAY);
    assert_eq!(ask(&folder, PRELUDE, &numbers), numbers);
}
