//! Which function of the engine answers which entry point.
//!
//! This list is the whole of it: what is not forwarded here answers `UR_RESULT_ERROR_UNSUPPORTED_FEATURE` through
//! a filled slot, by the generated defaults of [`EntryPoints`], and [`left_out`] says why. `cargo xtask coverage` reads both
//! and makes `docs/coverage.md` of them; a function of the API that is in neither list, or in both, is an error there.

use core::marker::PhantomData;

use ur_ffi::ur_dditable_t;

#[cfg(feature = "release-2026-1")]
use crate::arguments;
use crate::entry_points::{EntryPoints, table};
use crate::forward;
use crate::{
    adapter, buffer_commands, buffer_rect, context, cooperative, device, device_global, driver::Driver, enqueue, event,
    fill, host_register, image_commands, image_mem, ipc, kernel, launch, mem, memory_export, native_code,
    native_handles, object, peer, physical_memory, platform, pool, prefetch, program, program_link, program_symbols,
    queue, sampler, select_binary, stream_ordered, timestamps, unsupported, usm, usm_2d, virtual_memory,
};
use crate::{device_wait, event_callback, host_task, native_command, timestamp_recording};
#[cfg(not(feature = "release-2026-1"))]
use crate::{ipc_event, ipc_physical, reusable_event};

/// The engine over one driver, as the table sees it; never made.
pub struct Engine<D: Driver> {
    marker: PhantomData<fn() -> D>,
}

/// A backend's table. It is kept in the backend's [`adapter::AdapterCell`], a static, because handles are told
/// apart by its address.
pub const fn of<D: Driver>() -> ur_dditable_t {
    table::<Engine<D>>()
}

impl<D: Driver> EntryPoints for Engine<D> {
    forward!(urAdapterGet => adapter::get::<D>);
    forward!(urAdapterRetain => object::retain::<adapter::Adapter<D>>);
    forward!(urAdapterRelease => object::release::<adapter::Adapter<D>>);
    forward!(urAdapterGetInfo => adapter::get_info::<D>);
    forward!(urAdapterGetLastError => adapter::get_last_error::<D>);
    forward!(urAdapterSetLoggerCallback => adapter::set_logger_callback::<D>);
    forward!(urAdapterSetLoggerCallbackLevel => adapter::set_logger_level::<D>);

    forward!(urPlatformGet => platform::get::<D>);
    forward!(urPlatformGetInfo => platform::get_info::<D>);
    forward!(urPlatformGetApiVersion => platform::get_api_version::<D>);
    forward!(urPlatformGetBackendOption => platform::get_backend_option::<D>);

    forward!(urPlatformGetNativeHandle => native_handles::platform_get::<D>);
    forward!(urPlatformCreateWithNativeHandle => native_handles::platform_create::<D>);

    forward!(urDeviceGet => device::get::<D>);
    forward!(urDeviceGetInfo => device::get_info::<D>);
    forward!(urDeviceRetain => device::keep_or_release::<D>);
    forward!(urDeviceRelease => device::keep_or_release::<D>);
    forward!(urDevicePartition => unsupported::partition::<D>);
    forward!(urDeviceSelectBinary => select_binary::select_binary::<D>);
    forward!(urDeviceGetGlobalTimestamps => timestamps::global_timestamps::<D>);
    forward!(urDeviceGetNativeHandle => native_handles::device_get::<D>);
    forward!(urDeviceCreateWithNativeHandle => native_handles::device_create::<D>);

    forward!(urContextCreate => context::create::<D>);
    forward!(urContextRetain => object::retain::<context::Context<D>>);
    forward!(urContextRelease => object::release::<context::Context<D>>);
    forward!(urContextGetInfo => context::get_info::<D>);
    forward!(urContextGetNativeHandle => native_handles::context_get::<D>);
    forward!(urContextCreateWithNativeHandle => native_handles::context_create::<D>);
    forward!(urContextSetExtendedDeleter => context::set_extended_deleter::<D>);

    forward!(urQueueCreate => queue::create::<D>);
    forward!(urQueueRetain => object::retain::<queue::Queue<D>>);
    forward!(urQueueRelease => object::release::<queue::Queue<D>>);
    forward!(urQueueGetInfo => queue::get_info::<D>);
    forward!(urQueueFinish => queue::finish::<D>);
    forward!(urQueueFlush => queue::flush::<D>);
    forward!(urQueueGetNativeHandle => native_handles::queue_get::<D>);
    forward!(urQueueCreateWithNativeHandle => native_handles::queue_create::<D>);

    forward!(urEventGetInfo => event::get_info::<D>);
    forward!(urEventGetProfilingInfo => event::get_profiling_info::<D>);
    forward!(urEventWait => event::wait::<D>);
    forward!(urEventRetain => object::retain::<event::Event<D>>);
    forward!(urEventSetCallback => event_callback::set::<D>);
    forward!(urEventRelease => object::release::<event::Event<D>>);
    forward!(urEventGetNativeHandle => native_handles::event_get::<D>);
    forward!(urEventCreateWithNativeHandle => native_handles::event_create::<D>);

    #[cfg(not(feature = "release-2026-1"))]
    forward!(urEventCreateExp => reusable_event::create::<D>);

    forward!(urUSMHostAlloc => usm::host_alloc::<D>);
    forward!(urUSMDeviceAlloc => usm::device_alloc::<D>);
    forward!(urUSMSharedAlloc => usm::shared_alloc::<D>);
    forward!(urUSMFree => usm::free::<D>);
    forward!(urUSMGetMemAllocInfo => usm::get_alloc_info::<D>);

    forward!(urUSMPoolCreate => pool::create::for_context::<D>);
    forward!(urUSMPoolRetain => object::retain::<pool::UsmPool<D>>);
    forward!(urUSMPoolRelease => object::release::<pool::UsmPool<D>>);
    forward!(urUSMPoolGetInfo => pool::info::get::<D>);
    forward!(urUSMPoolCreateExp => pool::create::for_device::<D>);
    forward!(urUSMPoolDestroyExp => pool::destroy::<D>);
    forward!(urUSMPoolGetDefaultDevicePoolExp => pool::default_pool::<D>);
    forward!(urUSMPoolGetInfoExp => pool::info::get_exp::<D>);
    forward!(urUSMPoolSetInfoExp => pool::info::set::<D>);
    forward!(urUSMPoolSetDevicePoolExp => pool::set_current_pool::<D>);
    forward!(urUSMPoolGetDevicePoolExp => pool::current_pool::<D>);
    forward!(urUSMPoolTrimToExp => pool::trim_to::<D>);

    forward!(urEnqueueEventsWait => enqueue::events_wait::<D>);
    forward!(urEnqueueEventsWaitWithBarrier => enqueue::barrier::<D>);
    forward!(urEnqueueEventsWaitWithBarrierExt => enqueue::barrier_ext::<D>);
    forward!(urEnqueueHostTaskExp => host_task::enqueue::<D>);
    forward!(urEnqueueTimestampRecordingExp => timestamp_recording::enqueue::<D>);
    forward!(urEnqueueNativeCommandExp => native_command::enqueue::<D>);
    forward!(urDeviceWaitExp => device_wait::wait::<D>);
    forward!(urEnqueueUSMMemcpy => enqueue::usm_memcpy::<D>);
    forward!(urEnqueueUSMFill => fill::usm_fill::<D>);
    forward!(urEnqueueUSMDeviceAllocExp => stream_ordered::device_alloc::<D>);
    forward!(urEnqueueUSMHostAllocExp => stream_ordered::host_alloc::<D>);
    forward!(urEnqueueUSMSharedAllocExp => stream_ordered::shared_alloc::<D>);
    forward!(urEnqueueUSMFreeExp => stream_ordered::free::<D>);
    forward!(urEnqueueKernelLaunchWithArgsExp => launch::with_args::<D>);
    forward!(urEnqueueKernelLaunch => arguments::launch::<D>);

    forward!(urEnqueueUSMMemcpy2D => usm_2d::memcpy::<D>);
    forward!(urEnqueueUSMFill2D => usm_2d::fill::<D>);
    forward!(urUSMPitchedAllocExp => usm_2d::pitched_alloc::<D>);
    forward!(urEnqueueUSMPrefetch => prefetch::prefetch::<D>);
    forward!(urEnqueueUSMAdvise => prefetch::advise::<D>);
    forward!(urUSMContextMemcpyExp => device_global::context_memcpy::<D>);
    forward!(urUSMImportExp => host_register::import::<D>);
    forward!(urUSMReleaseExp => host_register::release::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urUSMHostAllocRegisterExp => host_register::register::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urUSMHostAllocUnregisterExp => host_register::unregister::<D>);
    forward!(urUsmP2PEnablePeerAccessExp => peer::enable::<D>);
    forward!(urUsmP2PDisablePeerAccessExp => peer::disable::<D>);
    forward!(urUsmP2PPeerAccessGetInfoExp => peer::get_info::<D>);
    forward!(urEnqueueDeviceGlobalVariableRead => device_global::read::<D>);
    forward!(urEnqueueDeviceGlobalVariableWrite => device_global::write::<D>);

    forward!(urVirtualMemGranularityGetInfo => virtual_memory::granularity::<D>);
    forward!(urVirtualMemReserve => virtual_memory::reserve::<D>);
    forward!(urVirtualMemFree => virtual_memory::free::<D>);
    forward!(urVirtualMemMap => virtual_memory::map::<D>);
    forward!(urVirtualMemUnmap => virtual_memory::unmap::<D>);
    forward!(urVirtualMemSetAccess => virtual_memory::set_access::<D>);
    forward!(urVirtualMemGetInfo => virtual_memory::get_info::<D>);
    forward!(urPhysicalMemCreate => physical_memory::create::<D>);
    forward!(urPhysicalMemRetain => object::retain::<physical_memory::PhysicalMem<D>>);
    forward!(urPhysicalMemRelease => object::release::<physical_memory::PhysicalMem<D>>);
    forward!(urPhysicalMemGetInfo => physical_memory::get_info::<D>);
    forward!(urIPCGetMemHandleExp => ipc::get::<D>);
    forward!(urIPCPutMemHandleExp => ipc::put::<D>);
    forward!(urIPCOpenMemHandleExp => ipc::open::<D>);
    forward!(urIPCCloseMemHandleExp => ipc::close::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCGetPhysMemHandleExp => ipc_physical::get::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCPutPhysMemHandleExp => ipc_physical::put::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCOpenPhysMemHandleExp => ipc_physical::open::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCClosePhysMemHandleExp => ipc_physical::close::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCGetEventHandleExp => ipc_event::get::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCPutEventHandleExp => ipc_event::put::<D>);
    #[cfg(not(feature = "release-2026-1"))]
    forward!(urIPCOpenEventHandleExp => ipc_event::open::<D>);
    forward!(urMemoryExportAllocExportableMemoryExp => memory_export::alloc::<D>);
    forward!(urMemoryExportFreeExportableMemoryExp => memory_export::free::<D>);
    forward!(urMemoryExportExportMemoryHandleExp => memory_export::export::<D>);

    forward!(urMemBufferCreate => mem::buffer::create::<D>);
    forward!(urMemBufferPartition => mem::buffer::partition::<D>);
    forward!(urMemRetain => object::retain::<mem::Mem<D>>);
    forward!(urMemRelease => object::release::<mem::Mem<D>>);
    forward!(urMemGetInfo => mem::get_info::<D>);
    forward!(urMemGetNativeHandle => mem::native::get_native_handle::<D>);
    forward!(urMemBufferCreateWithNativeHandle => mem::native::create_with_native_handle::<D>);
    forward!(urEnqueueMemBufferRead => buffer_commands::read::<D>);
    forward!(urEnqueueMemBufferWrite => buffer_commands::write::<D>);
    forward!(urEnqueueMemBufferCopy => buffer_commands::copy::<D>);
    forward!(urEnqueueMemBufferFill => buffer_commands::fill::<D>);
    forward!(urEnqueueMemBufferReadRect => buffer_rect::read::<D>);
    forward!(urEnqueueMemBufferWriteRect => buffer_rect::write::<D>);
    forward!(urEnqueueMemBufferCopyRect => buffer_rect::copy::<D>);
    forward!(urEnqueueMemBufferMap => mem::map::map::<D>);
    forward!(urEnqueueMemUnmap => mem::map::unmap::<D>);

    forward!(urMemImageCreate => image_mem::create::<D>);
    forward!(urMemImageCreateWithNativeHandle => image_mem::create_with_native_handle::<D>);
    forward!(urMemImageGetInfo => image_mem::get_image_info::<D>);

    forward!(urEnqueueMemImageRead => image_commands::transfer::<D, { image_commands::READ }>);
    forward!(urEnqueueMemImageWrite => image_commands::transfer::<D, { image_commands::WRITE }>);
    forward!(urEnqueueMemImageCopy => image_commands::copy::<D>);

    forward!(urSamplerCreate => sampler::create::<D>);
    forward!(urSamplerCreateWithNativeHandle => sampler::create_with_native_handle::<D>);
    forward!(urSamplerRetain => object::retain::<sampler::Sampler<D>>);
    forward!(urSamplerRelease => object::release::<sampler::Sampler<D>>);
    forward!(urSamplerGetInfo => sampler::get_info::<D>);
    forward!(urSamplerGetNativeHandle => sampler::get_native_handle::<D>);

    forward!(urProgramCreateWithBinary => program::create_with_binary::<D>);
    forward!(urProgramBuild => program::build::<D>);
    forward!(urProgramRetain => object::retain::<program::Program<D>>);
    forward!(urProgramRelease => object::release::<program::Program<D>>);
    forward!(urProgramGetInfo => program::get_info::<D>);
    forward!(urProgramGetBuildInfo => program::get_build_info::<D>);
    forward!(urProgramCreateWithIL => unsupported::create_with_il::<D>);
    forward!(urProgramSetSpecializationConstants => unsupported::program_constants::<D>);
    forward!(urProgramBuildExp => program::build_exp::<D>);
    forward!(urProgramCompile => program_link::compile::<D>);
    forward!(urProgramCompileExp => program_link::compile_exp::<D>);
    forward!(urProgramLink => program_link::link::<D>);
    forward!(urProgramLinkExp => program_link::link_exp::<D>);
    forward!(urProgramDynamicLinkExp => unsupported::dynamic_link::<D>);
    forward!(urProgramGetFunctionPointer => program_symbols::function_pointer::<D>);
    forward!(urProgramGetGlobalVariablePointer => program_symbols::global_variable_pointer::<D>);
    forward!(urProgramGetNativeHandle => native_code::program_get::<D>);
    forward!(urProgramCreateWithNativeHandle => native_code::program_create::<D>);

    forward!(urKernelCreate => kernel::create::<D>);
    forward!(urKernelRetain => object::retain::<kernel::Kernel<D>>);
    forward!(urKernelRelease => object::release::<kernel::Kernel<D>>);
    forward!(urKernelGetInfo => kernel::get_info::<D>);
    forward!(urKernelGetGroupInfo => kernel::get_group_info::<D>);
    forward!(urKernelGetSubGroupInfo => kernel::get_sub_group_info::<D>);
    forward!(urKernelSetExecInfo => kernel::set_exec_info::<D>);
    forward!(urKernelSetArgValue => arguments::set_value::<D>);
    forward!(urKernelSetArgLocal => arguments::set_local::<D>);
    forward!(urKernelSetArgPointer => arguments::set_pointer::<D>);
    forward!(urKernelSetArgMemObj => arguments::set_mem_obj::<D>);
    forward!(urKernelSetArgSampler => arguments::set_sampler::<D>);
    forward!(urKernelSetSpecializationConstants => unsupported::kernel_constants::<D>);
    forward!(urKernelSuggestMaxCooperativeGroupCount => cooperative::suggest_group_count::<D>);
    forward!(urKernelGetNativeHandle => native_code::kernel_get::<D>);
    forward!(urKernelCreateWithNativeHandle => native_code::kernel_create::<D>);
    forward!(urKernelGetSuggestedLocalWorkSize => launch::suggested_local_size::<D>);
    forward!(urKernelGetSuggestedLocalWorkSizeWithArgs => launch::suggested_local_size_with_args::<D>);
}

/// `left_out!("reason" => urFunction, …)`: functions that nothing of the engine answers, and why. It expands to nothing;
/// `cargo xtask coverage` sees to it that every function is either here or forwarded.
macro_rules! left_out {
    ($reason:literal => $($name:ident),+ $(,)?) => {};
}

// It has a slot, and the loader never looks into it.
left_out!("the loader answers" => urDeviceGetSelected);

left_out!("the pipes are those of FPGAs; GPUs have none" => urEnqueueReadHostPipe, urEnqueueWriteHostPipe);

left_out!(
    "command buffers are not built yet (`UR_DEVICE_INFO_COMMAND_BUFFER_SUPPORT_EXP` says so); native graphs would carry them" =>
    urCommandBufferCreateExp,
    urCommandBufferRetainExp,
    urCommandBufferReleaseExp,
    urCommandBufferFinalizeExp,
    urCommandBufferAppendKernelLaunchExp,
    urCommandBufferAppendKernelLaunchWithArgsExp,
    urCommandBufferAppendUSMMemcpyExp,
    urCommandBufferAppendUSMFillExp,
    urCommandBufferAppendMemBufferCopyExp,
    urCommandBufferAppendMemBufferWriteExp,
    urCommandBufferAppendMemBufferReadExp,
    urCommandBufferAppendMemBufferCopyRectExp,
    urCommandBufferAppendMemBufferWriteRectExp,
    urCommandBufferAppendMemBufferReadRectExp,
    urCommandBufferAppendMemBufferFillExp,
    urCommandBufferAppendUSMPrefetchExp,
    urCommandBufferAppendUSMAdviseExp,
    urCommandBufferAppendNativeCommandExp,
    urEnqueueCommandBufferExp,
    urCommandBufferUpdateKernelLaunchExp,
    urCommandBufferUpdateSignalEventExp,
    urCommandBufferUpdateWaitEventsExp,
    urCommandBufferGetInfoExp,
    urCommandBufferGetNativeHandleExp,
);

left_out!(
    "graphs are not built yet (`UR_DEVICE_INFO_GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP` says so); native stream capture would carry them" =>
    urGraphCreateExp,
    urQueueBeginGraphCaptureExp,
    urQueueBeginCaptureIntoGraphExp,
    urQueueEndGraphCaptureExp,
    urGraphInstantiateGraphExp,
    urEnqueueGraphExp,
    urGraphDestroyExp,
    urGraphExecutableGraphDestroyExp,
    urQueueIsGraphCaptureEnabledExp,
    urQueueGetGraphExp,
    urGraphIsEmptyExp,
    urGraphGetIdExp,
    urGraphSetDestructionCallbackExp,
    urGraphDumpContentsExp,
    urGraphGetNativeHandleExp,
    urGraphExecutableGraphGetNativeHandleExp,
);

left_out!(
    "bindless images are not built yet (their device properties say so); images of `urMemImageCreate` are there" =>
    urBindlessImagesUnsampledImageHandleDestroyExp,
    urBindlessImagesSampledImageHandleDestroyExp,
    urBindlessImagesImageAllocateExp,
    urBindlessImagesImageFreeExp,
    urBindlessImagesUnsampledImageCreateExp,
    urBindlessImagesSampledImageCreateExp,
    urBindlessImagesImageCopyExp,
    urBindlessImagesImageGetInfoExp,
    urBindlessImagesGetImageMemoryHandleTypeSupportExp,
    urBindlessImagesGetImageUnsampledHandleSupportExp,
    urBindlessImagesGetImageSampledHandleSupportExp,
    urBindlessImagesMipmapGetLevelExp,
    urBindlessImagesMipmapFreeExp,
);

left_out!(
    "memory of another API is not imported yet (`UR_DEVICE_INFO_EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP` says so); it is exported" =>
    urBindlessImagesImportExternalMemoryExp,
    urBindlessImagesMapExternalArrayExp,
    urBindlessImagesMapExternalLinearMemoryExp,
    urBindlessImagesReleaseExternalMemoryExp,
    urBindlessImagesFreeMappedLinearMemoryExp,
    urBindlessImagesSupportsImportingHandleTypeExp,
);

left_out!(
    "semaphores of another API are not imported yet (`UR_DEVICE_INFO_EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP` says so)" =>
    urBindlessImagesImportExternalSemaphoreExp,
    urBindlessImagesReleaseExternalSemaphoreExp,
    urBindlessImagesWaitExternalSemaphoreExp,
    urBindlessImagesSignalExternalSemaphoreExp,
);
