//! Which function of the engine answers which entry point.
//!
//! This list is the whole of it: what is not named here answers `UR_RESULT_ERROR_UNSUPPORTED_FEATURE` through
//! a filled slot, by the generated defaults of [`EntryPoints`].

use core::marker::PhantomData;

use ur_ffi::ur_dditable_t;

use crate::entry_points::{EntryPoints, table};
use crate::forward;
use crate::{
    adapter, context, device, driver::Driver, enqueue, event, fill, kernel, launch, object, platform, pool, program,
    queue, stream_ordered, usm,
};
use crate::{device_wait, event_callback, host_task, native_command, timestamp_recording};

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

    forward!(urDeviceGet => device::get::<D>);
    forward!(urDeviceGetInfo => device::get_info::<D>);
    forward!(urDeviceRetain => object::retain::<device::Device<D>>);
    forward!(urDeviceRelease => device::release::<D>);

    forward!(urContextCreate => context::create::<D>);
    forward!(urContextRetain => object::retain::<context::Context<D>>);
    forward!(urContextRelease => object::release::<context::Context<D>>);
    forward!(urContextGetInfo => context::get_info::<D>);
    forward!(urContextSetExtendedDeleter => context::set_extended_deleter::<D>);

    forward!(urQueueCreate => queue::create::<D>);
    forward!(urQueueRetain => object::retain::<queue::Queue<D>>);
    forward!(urQueueRelease => object::release::<queue::Queue<D>>);
    forward!(urQueueGetInfo => queue::get_info::<D>);
    forward!(urQueueFinish => queue::finish::<D>);
    forward!(urQueueFlush => queue::flush::<D>);

    forward!(urEventGetInfo => event::get_info::<D>);
    forward!(urEventGetProfilingInfo => event::get_profiling_info::<D>);
    forward!(urEventWait => event::wait::<D>);
    forward!(urEventRetain => object::retain::<event::Event<D>>);
    forward!(urEventSetCallback => event_callback::set::<D>);
    forward!(urEventRelease => object::release::<event::Event<D>>);

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

    forward!(urProgramCreateWithBinary => program::create_with_binary::<D>);
    forward!(urProgramBuild => program::build::<D>);
    forward!(urProgramRetain => object::retain::<program::Program<D>>);
    forward!(urProgramRelease => object::release::<program::Program<D>>);
    forward!(urProgramGetInfo => program::get_info::<D>);
    forward!(urProgramGetBuildInfo => program::get_build_info::<D>);

    forward!(urKernelCreate => kernel::create::<D>);
    forward!(urKernelRetain => object::retain::<kernel::Kernel<D>>);
    forward!(urKernelRelease => object::release::<kernel::Kernel<D>>);
    forward!(urKernelGetInfo => kernel::get_info::<D>);
    forward!(urKernelGetGroupInfo => kernel::get_group_info::<D>);
    forward!(urKernelGetSubGroupInfo => kernel::get_sub_group_info::<D>);
    forward!(urKernelSetExecInfo => kernel::set_exec_info::<D>);
    forward!(urKernelGetSuggestedLocalWorkSize => launch::suggested_local_size::<D>);
    forward!(urKernelGetSuggestedLocalWorkSizeWithArgs => launch::suggested_local_size_with_args::<D>);
}
