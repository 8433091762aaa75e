//! Which function of the engine answers which entry point.
//!
//! This list is the whole of it: what is not forwarded here answers `UR_RESULT_ERROR_UNSUPPORTED_FEATURE` through
//! a filled slot, by the generated defaults of [`EntryPoints`], and [`left_out`] says why. `cargo xtask coverage` reads both
//! and makes `docs/coverage.md` of them; a function of the API that is in neither list, or in both, is an error there.

use core::marker::PhantomData;

use ur_ffi::releases::{v2026_1, v2026_2};

use crate::driver::Driver;
use crate::entry_points::{self, EntryPoints};
use crate::forward;

/// The engine over one driver, as the table sees it; never made.
pub struct Engine<D: Driver> {
    marker: PhantomData<fn() -> D>,
}

/// A backend's table for oneAPI 2026.1; the backend keeps it in a static.
#[must_use]
pub const fn table_v2026_1<D: Driver>() -> v2026_1::ur_dditable_t {
    entry_points::table_v2026_1::<Engine<D>>()
}

/// A backend's table for oneAPI 2026.2; the backend keeps it in a static.
#[must_use]
pub const fn table_v2026_2<D: Driver>() -> v2026_2::ur_dditable_t {
    entry_points::table_v2026_2::<Engine<D>>()
}

impl<D: Driver> EntryPoints for Engine<D> {
    forward!(urAdapterGet => crate::device::adapter::get::<D>);
    forward!(urAdapterRetain => crate::object::retain::<crate::device::adapter::Adapter<D>>);
    forward!(urAdapterRelease => crate::object::release::<crate::device::adapter::Adapter<D>>);
    forward!(urAdapterGetInfo => crate::device::adapter::get_info::<D>);
    forward!(urAdapterGetLastError => crate::device::adapter::get_last_error::<D>);
    forward!(urAdapterSetLoggerCallback => crate::device::adapter::set_logger_callback::<D>);
    forward!(urAdapterSetLoggerCallbackLevel => crate::device::adapter::set_logger_level::<D>);

    forward!(urPlatformGet => crate::device::platform::get::<D>);
    forward!(urPlatformGetInfo => crate::device::platform::get_info::<D>);
    forward!(urPlatformGetApiVersion => crate::device::platform::get_api_version::<D>);
    forward!(urPlatformGetBackendOption => crate::device::platform::get_backend_option::<D>);

    forward!(urPlatformGetNativeHandle => crate::queue::native_handles::platform_get::<D>);
    forward!(urPlatformCreateWithNativeHandle => crate::queue::native_handles::platform_create::<D>);

    forward!(urDeviceGet => crate::device::get::<D>);
    forward!(urDeviceGetInfo => crate::device::get_info::<D>);
    forward!(urDeviceRetain => crate::device::keep_or_release::<D>);
    forward!(urDeviceRelease => crate::device::keep_or_release::<D>);
    forward!(urDevicePartition => crate::api::unsupported::partition::<D>);
    forward!(urDeviceSelectBinary => crate::program::select_binary::select_binary::<D>);
    forward!(urDeviceGetGlobalTimestamps => crate::device::timestamps::global_timestamps::<D>);
    forward!(urDeviceGetNativeHandle => crate::queue::native_handles::device_get::<D>);
    forward!(urDeviceCreateWithNativeHandle => crate::queue::native_handles::device_create::<D>);

    forward!(urContextCreate => crate::context::create::<D>);
    forward!(urContextRetain => crate::object::retain::<crate::context::Context<D>>);
    forward!(urContextRelease => crate::object::release::<crate::context::Context<D>>);
    forward!(urContextGetInfo => crate::context::get_info::<D>);
    forward!(urContextGetNativeHandle => crate::queue::native_handles::context_get::<D>);
    forward!(urContextCreateWithNativeHandle => crate::queue::native_handles::context_create::<D>);
    forward!(urContextSetExtendedDeleter => crate::context::set_extended_deleter::<D>);

    forward!(urQueueCreate => crate::queue::create::<D>);
    forward!(urQueueRetain => crate::object::retain::<crate::queue::Queue<D>>);
    forward!(urQueueRelease => crate::object::release::<crate::queue::Queue<D>>);
    forward!(urQueueGetInfo => crate::queue::get_info::<D>);
    forward!(urQueueFinish => crate::queue::finish::<D>);
    forward!(urQueueFlush => crate::queue::flush::<D>);
    forward!(urQueueGetNativeHandle => crate::queue::native_handles::queue_get::<D>);
    forward!(urQueueCreateWithNativeHandle => crate::queue::native_handles::queue_create::<D>);

    forward!(urEventGetInfo => crate::stream::event::get_info::<D>);
    forward!(urEventGetProfilingInfo => crate::stream::event::get_profiling_info::<D>);
    forward!(urEventWait => crate::stream::event::wait::<D>);
    forward!(urEventRetain => crate::object::retain::<crate::stream::event::Event<D>>);
    forward!(urEventSetCallback => crate::stream::event_callback::set::<D>);
    forward!(urEventRelease => crate::object::release::<crate::stream::event::Event<D>>);
    forward!(urEventGetNativeHandle => crate::queue::native_handles::event_get::<D>);
    forward!(urEventCreateWithNativeHandle => crate::queue::native_handles::event_create::<D>);

    forward!(urEventCreateExp => crate::command::reusable_event::create::<D>);

    forward!(urUSMHostAlloc => crate::usm::host_alloc::<D>);
    forward!(urUSMDeviceAlloc => crate::usm::device_alloc::<D>);
    forward!(urUSMSharedAlloc => crate::usm::shared_alloc::<D>);
    forward!(urUSMFree => crate::usm::free::<D>);
    forward!(urUSMGetMemAllocInfo => crate::usm::get_alloc_info::<D>);

    forward!(urUSMPoolCreate => crate::pool::create::for_context::<D>);
    forward!(urUSMPoolRetain => crate::object::retain::<crate::pool::UsmPool<D>>);
    forward!(urUSMPoolRelease => crate::object::release::<crate::pool::UsmPool<D>>);
    forward!(urUSMPoolGetInfo => crate::pool::info::get::<D>);
    forward!(urUSMPoolCreateExp => crate::pool::create::for_device::<D>);
    forward!(urUSMPoolDestroyExp => crate::pool::destroy::<D>);
    forward!(urUSMPoolGetDefaultDevicePoolExp => crate::pool::default_pool::<D>);
    forward!(urUSMPoolGetInfoExp => crate::pool::info::get_exp::<D>);
    forward!(urUSMPoolSetInfoExp => crate::pool::info::set::<D>);
    forward!(urUSMPoolSetDevicePoolExp => crate::pool::set_current_pool::<D>);
    forward!(urUSMPoolGetDevicePoolExp => crate::pool::current_pool::<D>);
    forward!(urUSMPoolTrimToExp => crate::pool::trim_to::<D>);

    forward!(urEnqueueEventsWait => crate::command::events_wait::<D>);
    forward!(urEnqueueEventsWaitWithBarrier => crate::command::barrier::<D>);
    forward!(urEnqueueEventsWaitWithBarrierExt => crate::command::barrier_ext::<D>);
    forward!(urEnqueueHostTaskExp => crate::transfer::host_task::enqueue::<D>);
    forward!(urEnqueueTimestampRecordingExp => crate::transfer::timestamp_recording::enqueue::<D>);
    forward!(urEnqueueNativeCommandExp => crate::transfer::native_command::enqueue::<D>);
    forward!(urDeviceWaitExp => crate::device::wait::wait::<D>);
    forward!(urEnqueueUSMMemcpy => crate::command::usm_memcpy::<D>);
    forward!(urEnqueueUSMFill => crate::usm::fill::usm_fill::<D>);
    forward!(urEnqueueUSMDeviceAllocExp => crate::pool::stream_ordered::device_alloc::<D>);
    forward!(urEnqueueUSMHostAllocExp => crate::pool::stream_ordered::host_alloc::<D>);
    forward!(urEnqueueUSMSharedAllocExp => crate::pool::stream_ordered::shared_alloc::<D>);
    forward!(urEnqueueUSMFreeExp => crate::pool::stream_ordered::free::<D>);
    forward!(urEnqueueKernelLaunchWithArgsExp => crate::kernel::launch::with_args::<D>);
    forward!(urEnqueueKernelLaunch => crate::kernel::arguments::launch::<D>);

    forward!(urEnqueueUSMMemcpy2D => crate::usm::rows::memcpy::<D>);
    forward!(urEnqueueUSMFill2D => crate::usm::rows::fill::<D>);
    forward!(urUSMPitchedAllocExp => crate::usm::rows::pitched_alloc::<D>);
    forward!(urEnqueueUSMPrefetch => crate::usm::prefetch::prefetch::<D>);
    forward!(urEnqueueUSMAdvise => crate::usm::prefetch::advise::<D>);
    forward!(urUSMContextMemcpyExp => crate::program::globals::context_memcpy::<D>);
    forward!(urUSMImportExp => crate::usm::host_register::import::<D>);
    forward!(urUSMReleaseExp => crate::usm::host_register::release::<D>);
    forward!(urUSMHostAllocRegisterExp => crate::usm::host_register::register::<D>);
    forward!(urUSMHostAllocUnregisterExp => crate::usm::host_register::unregister::<D>);
    forward!(urUsmP2PEnablePeerAccessExp => crate::device::peer::enable::<D>);
    forward!(urUsmP2PDisablePeerAccessExp => crate::device::peer::disable::<D>);
    forward!(urUsmP2PPeerAccessGetInfoExp => crate::device::peer::get_info::<D>);
    forward!(urEnqueueDeviceGlobalVariableRead => crate::program::globals::read::<D>);
    forward!(urEnqueueDeviceGlobalVariableWrite => crate::program::globals::write::<D>);

    forward!(urVirtualMemGranularityGetInfo => crate::virtual_memory::granularity::<D>);
    forward!(urVirtualMemReserve => crate::virtual_memory::reserve::<D>);
    forward!(urVirtualMemFree => crate::virtual_memory::free::<D>);
    forward!(urVirtualMemMap => crate::virtual_memory::map::<D>);
    forward!(urVirtualMemUnmap => crate::virtual_memory::unmap::<D>);
    forward!(urVirtualMemSetAccess => crate::virtual_memory::set_access::<D>);
    forward!(urVirtualMemGetInfo => crate::virtual_memory::get_info::<D>);
    forward!(urPhysicalMemCreate => crate::virtual_memory::physical::create::<D>);
    forward!(urPhysicalMemRetain => crate::object::retain::<crate::virtual_memory::physical::PhysicalMem<D>>);
    forward!(urPhysicalMemRelease => crate::object::release::<crate::virtual_memory::physical::PhysicalMem<D>>);
    forward!(urPhysicalMemGetInfo => crate::virtual_memory::physical::get_info::<D>);
    forward!(urIPCGetMemHandleExp => crate::ipc::get::<D>);
    forward!(urIPCPutMemHandleExp => crate::ipc::put::<D>);
    forward!(urIPCOpenMemHandleExp => crate::ipc::open::<D>);
    forward!(urIPCCloseMemHandleExp => crate::ipc::close::<D>);
    forward!(urIPCGetPhysMemHandleExp => crate::ipc::physical::get::<D>);
    forward!(urIPCPutPhysMemHandleExp => crate::ipc::physical::put::<D>);
    forward!(urIPCOpenPhysMemHandleExp => crate::ipc::physical::open::<D>);
    forward!(urIPCClosePhysMemHandleExp => crate::ipc::physical::close::<D>);
    forward!(urIPCGetEventHandleExp => crate::ipc::event::get::<D>);
    forward!(urIPCPutEventHandleExp => crate::ipc::event::put::<D>);
    forward!(urIPCOpenEventHandleExp => crate::ipc::event::open::<D>);
    forward!(urMemoryExportAllocExportableMemoryExp => crate::ipc::memory_export::alloc::<D>);
    forward!(urMemoryExportFreeExportableMemoryExp => crate::ipc::memory_export::free::<D>);
    forward!(urMemoryExportExportMemoryHandleExp => crate::ipc::memory_export::export::<D>);

    forward!(urMemBufferCreate => crate::buffer::create::create::<D>);
    forward!(urMemBufferPartition => crate::buffer::create::partition::<D>);
    forward!(urMemRetain => crate::object::retain::<crate::buffer::Mem<D>>);
    forward!(urMemRelease => crate::object::release::<crate::buffer::Mem<D>>);
    forward!(urMemGetInfo => crate::buffer::get_info::<D>);
    forward!(urMemGetNativeHandle => crate::buffer::native::get_native_handle::<D>);
    forward!(urMemBufferCreateWithNativeHandle => crate::buffer::native::create_with_native_handle::<D>);
    forward!(urEnqueueMemBufferRead => crate::buffer::commands::read::<D>);
    forward!(urEnqueueMemBufferWrite => crate::buffer::commands::write::<D>);
    forward!(urEnqueueMemBufferCopy => crate::buffer::commands::copy::<D>);
    forward!(urEnqueueMemBufferFill => crate::buffer::commands::fill::<D>);
    forward!(urEnqueueMemBufferReadRect => crate::buffer::rect_commands::read::<D>);
    forward!(urEnqueueMemBufferWriteRect => crate::buffer::rect_commands::write::<D>);
    forward!(urEnqueueMemBufferCopyRect => crate::buffer::rect_commands::copy::<D>);
    forward!(urEnqueueMemBufferMap => crate::buffer::map::map::<D>);
    forward!(urEnqueueMemUnmap => crate::buffer::map::unmap::<D>);

    forward!(urMemImageCreate => crate::image::create::<D>);
    forward!(urMemImageCreateWithNativeHandle => crate::image::create_with_native_handle::<D>);
    forward!(urMemImageGetInfo => crate::image::get_image_info::<D>);

    forward!(urEnqueueMemImageRead => crate::image::commands::transfer::<D, { crate::image::commands::READ }>);
    forward!(urEnqueueMemImageWrite => crate::image::commands::transfer::<D, { crate::image::commands::WRITE }>);
    forward!(urEnqueueMemImageCopy => crate::image::commands::copy::<D>);

    forward!(urSamplerCreate => crate::image::sampler::create::<D>);
    forward!(urSamplerCreateWithNativeHandle => crate::image::sampler::create_with_native_handle::<D>);
    forward!(urSamplerRetain => crate::object::retain::<crate::image::sampler::Sampler<D>>);
    forward!(urSamplerRelease => crate::object::release::<crate::image::sampler::Sampler<D>>);
    forward!(urSamplerGetInfo => crate::image::sampler::get_info::<D>);
    forward!(urSamplerGetNativeHandle => crate::image::sampler::get_native_handle::<D>);

    forward!(urProgramCreateWithBinary => crate::program::create_with_binary::<D>);
    forward!(urProgramBuild => crate::program::build::<D>);
    forward!(urProgramRetain => crate::object::retain::<crate::program::Program<D>>);
    forward!(urProgramRelease => crate::object::release::<crate::program::Program<D>>);
    forward!(urProgramGetInfo => crate::program::get_info::<D>);
    forward!(urProgramGetBuildInfo => crate::program::get_build_info::<D>);
    forward!(urProgramCreateWithIL => crate::api::unsupported::create_with_il::<D>);
    forward!(urProgramSetSpecializationConstants => crate::api::unsupported::program_constants::<D>);
    forward!(urProgramBuildExp => crate::program::build_exp::<D>);
    forward!(urProgramCompile => crate::program::link::compile::<D>);
    forward!(urProgramCompileExp => crate::program::link::compile_exp::<D>);
    forward!(urProgramLink => crate::program::link::link::<D>);
    forward!(urProgramLinkExp => crate::program::link::link_exp::<D>);
    forward!(urProgramDynamicLinkExp => crate::api::unsupported::dynamic_link::<D>);
    forward!(urProgramGetFunctionPointer => crate::program::symbols::function_pointer::<D>);
    forward!(urProgramGetGlobalVariablePointer => crate::program::symbols::global_variable_pointer::<D>);
    forward!(urProgramGetNativeHandle => crate::program::native_code::program_get::<D>);
    forward!(urProgramCreateWithNativeHandle => crate::program::native_code::program_create::<D>);

    forward!(urKernelCreate => crate::kernel::create::<D>);
    forward!(urKernelRetain => crate::object::retain::<crate::kernel::Kernel<D>>);
    forward!(urKernelRelease => crate::object::release::<crate::kernel::Kernel<D>>);
    forward!(urKernelGetInfo => crate::kernel::get_info::<D>);
    forward!(urKernelGetGroupInfo => crate::kernel::get_group_info::<D>);
    forward!(urKernelGetSubGroupInfo => crate::kernel::get_sub_group_info::<D>);
    forward!(urKernelSetExecInfo => crate::kernel::set_exec_info::<D>);
    forward!(urKernelSetArgValue => crate::kernel::arguments::set_value::<D>);
    forward!(urKernelSetArgLocal => crate::kernel::arguments::set_local::<D>);
    forward!(urKernelSetArgPointer => crate::kernel::arguments::set_pointer::<D>);
    forward!(urKernelSetArgMemObj => crate::kernel::arguments::set_mem_obj::<D>);
    forward!(urKernelSetArgSampler => crate::kernel::arguments::set_sampler::<D>);
    forward!(urKernelSetSpecializationConstants => crate::api::unsupported::kernel_constants::<D>);
    forward!(urKernelSuggestMaxCooperativeGroupCount => crate::kernel::cooperative::suggest_group_count::<D>);
    forward!(urKernelGetNativeHandle => crate::program::native_code::kernel_get::<D>);
    forward!(urKernelCreateWithNativeHandle => crate::program::native_code::kernel_create::<D>);
    forward!(urKernelGetSuggestedLocalWorkSize => crate::kernel::launch::suggested_local_size::<D>);
    forward!(urKernelGetSuggestedLocalWorkSizeWithArgs => crate::kernel::launch::suggested_local_size_with_args::<D>);
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
