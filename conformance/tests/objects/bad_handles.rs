//! Null handles and handles of another type, for every entry point that takes one; [`graphs`] has those of command buffers and
//! graphs.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    CBool, ur_adapter_info_t, ur_buffer_create_type_t, ur_buffer_region_t, ur_context_info_t, ur_device_info_t,
    ur_device_type_t, ur_event_info_t, ur_kernel_exec_info_t, ur_kernel_group_info_t, ur_kernel_info_t,
    ur_kernel_sub_group_info_t, ur_logger_level_t, ur_map_flags_t, ur_mem_flags_t, ur_mem_info_t, ur_platform_info_t,
    ur_profiling_info_t, ur_program_build_info_t, ur_program_info_t, ur_queue_flags_t, ur_queue_info_t,
    ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code, ur_structure_type_t, ur_usm_alloc_info_t,
    ur_usm_pool_desc_t, ur_usm_pool_flags_t, ur_usm_pool_info_t,
};
use ur_conformance::pool::Plan;
use ur_conformance::{
    Buffer, Environment, Event, Fixture, Kernel, Kind, Launch, Memory, Pool, Program, Queue, adapter, has_function,
    needs_ours, ur,
};

use graphs::{Graphs, command_buffer_cases, graph_cases, optional_cases};

/// The kinds of handles, in the order of `Objects::handles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Adapter,
    Platform,
    Device,
    Context,
    Queue,
    Event,
    Program,
    Kernel,
    Pool,
    Mem,
    Buffer,
    Command,
    Graph,
    Executable,
}

const TYPES: [Type; 14] = [
    Type::Adapter,
    Type::Platform,
    Type::Device,
    Type::Context,
    Type::Queue,
    Type::Event,
    Type::Program,
    Type::Kernel,
    Type::Pool,
    Type::Mem,
    Type::Buffer,
    Type::Command,
    Type::Graph,
    Type::Executable,
];

impl Type {
    /// The code for a handle that is none of this kind. The API has no code of its own for adapters and pools.
    fn invalid(self) -> Code {
        match self {
            Type::Adapter => Code::ERROR_INVALID_NULL_HANDLE,
            Type::Platform => Code::ERROR_INVALID_PLATFORM,
            Type::Device => Code::ERROR_INVALID_DEVICE,
            Type::Context => Code::ERROR_INVALID_CONTEXT,
            Type::Queue => Code::ERROR_INVALID_QUEUE,
            Type::Event => Code::ERROR_INVALID_EVENT,
            Type::Program => Code::ERROR_INVALID_PROGRAM,
            Type::Kernel => Code::ERROR_INVALID_KERNEL,
            Type::Pool => Code::ERROR_INVALID_VALUE,
            Type::Mem => Code::ERROR_INVALID_MEM_OBJECT,
            Type::Buffer => Code::ERROR_INVALID_COMMAND_BUFFER_EXP,
            Type::Command => Code::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
            Type::Graph | Type::Executable => Code::ERROR_INVALID_GRAPH,
        }
    }
}

/// One object of each kind.
struct Objects<'f> {
    fixture: &'f Fixture,
    queue: Queue,
    event: Event,
    program: Program,
    kernel: Kernel,
    pool: Pool,
    memory: Memory<'f>,
    buffer: Buffer,
    graphs: Graphs,
}

impl<'f> Objects<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let queue = fixture.queue(ur_queue_flags_t::PROFILING_ENABLE);
        let program = fixture.program("basic.ptx");
        let kernel = fixture.kernel(&program, c"empty");
        let event = Launch::new(&kernel, &[1]).event_on(&queue);
        event.wait();
        let memory = fixture.memory(Kind::Device, 64);
        let pool = Plan::new().of(fixture);
        let buffer = Buffer::new(fixture, 64);
        let graphs = Graphs::new(fixture, &kernel);
        Self { fixture, queue, event, program, kernel, pool, memory, buffer, graphs }
    }

    fn handle(&self, of: Type) -> *mut c_void {
        match of {
            Type::Adapter => adapter().cast(),
            Type::Platform => self.fixture.platform.cast(),
            Type::Device => self.fixture.device().cast(),
            Type::Context => self.fixture.context().cast(),
            Type::Queue => self.queue.handle().cast(),
            Type::Event => self.event.handle().cast(),
            Type::Program => self.program.handle().cast(),
            Type::Kernel => self.kernel.handle().cast(),
            Type::Pool => self.pool.handle().cast(),
            Type::Mem => self.buffer.handle().cast(),
            Type::Buffer => self.graphs.buffer.handle().cast(),
            Type::Command => self.graphs.command.cast(),
            // Where there are none, a handle of another type stands for them.
            Type::Graph => {
                self.graphs.graph.as_ref().map_or(self.fixture.platform.cast(), |(one, _)| one.handle().cast())
            }
            Type::Executable => {
                self.graphs.graph.as_ref().map_or(self.fixture.platform.cast(), |(_, one)| one.handle().cast())
            }
        }
    }
}

type Call<'a> = Box<dyn Fn(*mut c_void) -> Code + 'a>;

/// An entry point with everything right but one handle.
struct Case<'a> {
    name: &'static str,
    takes: Type,
    call: Call<'a>,
}

macro_rules! cases {
    ($($takes:ident: $name:literal => |$h:ident| $call:expr;)*) => {
        vec![$(Case { name: $name, takes: Type::$takes, call: Box::new(move |$h| $call) },)*]
    };
}

mod graphs;

/// Somewhere to write whatever a call that ought to fail writes.
fn scratch<T>() -> *mut T {
    thread_local! {
        static ROOM: core::cell::UnsafeCell<[u64; 512]> = const { core::cell::UnsafeCell::new([0; 512]) };
    }
    ROOM.with(|room| room.get().cast())
}

fn made<T>() -> *mut *mut T {
    scratch()
}

/// A size to write to; all queries ask for the size alone.
fn told() -> *mut usize {
    scratch()
}

fn listing_cases<'a>(_: &'a Objects<'_>) -> Vec<Case<'a>> {
    let none: *mut c_void = null_mut();
    cases! {
        Adapter: "urAdapterRetain" => |h| ur!(Adapter.pfnRetain(h.cast()));
        Adapter: "urAdapterRelease" => |h| ur!(Adapter.pfnRelease(h.cast()));
        Adapter: "urAdapterGetInfo" =>
            |h| ur!(Adapter.pfnGetInfo(h.cast(), ur_adapter_info_t::BACKEND, 0, none, told()));
        Adapter: "urAdapterGetLastError" => |h| ur!(Adapter.pfnGetLastError(h.cast(), scratch(), scratch()));
        Adapter: "urAdapterSetLoggerCallback" =>
            |h| ur!(Adapter.pfnSetLoggerCallback(h.cast(), None, none, ur_logger_level_t::QUIET));
        Adapter: "urAdapterSetLoggerCallbackLevel" =>
            |h| ur!(Adapter.pfnSetLoggerCallbackLevel(h.cast(), ur_logger_level_t::QUIET));
        Adapter: "urPlatformGet" => |h| ur!(Platform.pfnGet(h.cast(), 0, null_mut(), scratch()));
        Platform: "urPlatformGetInfo" =>
            |h| ur!(Platform.pfnGetInfo(h.cast(), ur_platform_info_t::NAME, 0, none, told()));
        Platform: "urPlatformGetApiVersion" => |h| ur!(Platform.pfnGetApiVersion(h.cast(), scratch()));
        Platform: "urPlatformGetBackendOption" =>
            |h| ur!(Platform.pfnGetBackendOption(h.cast(), c"-O2".as_ptr(), scratch()));
        Platform: "urDeviceGet" =>
            |h| ur!(Device.pfnGet(h.cast(), ur_device_type_t::ALL, 0, null_mut(), scratch()));
        Device: "urDeviceGetInfo" => |h| ur!(Device.pfnGetInfo(h.cast(), ur_device_info_t::NAME, 0, none, told()));
        Device: "urDeviceRetain" => |h| ur!(Device.pfnRetain(h.cast()));
        Device: "urDeviceRelease" => |h| ur!(Device.pfnRelease(h.cast()));
        Device: "urDeviceGetNativeHandle" => |h| ur!(Device.pfnGetNativeHandle(h.cast(), scratch()));
        Device: "urDeviceGetGlobalTimestamps" =>
            |h| ur!(Device.pfnGetGlobalTimestamps(h.cast(), scratch(), scratch()));
        Adapter: "urDeviceCreateWithNativeHandle" =>
            |h| ur!(Device.pfnCreateWithNativeHandle(0, h.cast(), null(), made()));
        Adapter: "urContextCreateWithNativeHandle" =>
            |h| ur!(Context.pfnCreateWithNativeHandle(64, h.cast(), 0, null(), null(), made()));
        Device: "urContextCreate" => |h| ur!(Context.pfnCreate(1, [h.cast()].as_ptr(), null(), made()));
        Context: "urContextRetain" => |h| ur!(Context.pfnRetain(h.cast()));
        Context: "urContextRelease" => |h| ur!(Context.pfnRelease(h.cast()));
        Context: "urContextGetInfo" =>
            |h| ur!(Context.pfnGetInfo(h.cast(), ur_context_info_t::NUM_DEVICES, 0, none, told()));
    }
}

fn queue_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (c, d, none) = (all.fixture.context(), all.fixture.device(), null_mut::<c_void>());
    cases! {
        Context: "urQueueCreate" => |h| ur!(Queue.pfnCreate(h.cast(), d, null(), made()));
        Device: "urQueueCreate's device" => |h| ur!(Queue.pfnCreate(c, h.cast(), null(), made()));
        Queue: "urQueueRetain" => |h| ur!(Queue.pfnRetain(h.cast()));
        Queue: "urQueueRelease" => |h| ur!(Queue.pfnRelease(h.cast()));
        Queue: "urQueueGetInfo" => |h| ur!(Queue.pfnGetInfo(h.cast(), ur_queue_info_t::FLAGS, 0, none, told()));
        Queue: "urQueueFinish" => |h| ur!(Queue.pfnFinish(h.cast()));
        Queue: "urQueueFlush" => |h| ur!(Queue.pfnFlush(h.cast()));
        Queue: "urQueueGetNativeHandle" => |h| ur!(Queue.pfnGetNativeHandle(h.cast(), null_mut(), scratch()));
        Context: "urQueueCreateWithNativeHandle" =>
            |h| ur!(Queue.pfnCreateWithNativeHandle(0, h.cast(), d, null(), made()));
        Event: "urEventGetNativeHandle" => |h| ur!(Event.pfnGetNativeHandle(h.cast(), scratch()));
        Context: "urEventCreateWithNativeHandle" =>
            |h| ur!(Event.pfnCreateWithNativeHandle(64, h.cast(), null(), made()));
        Event: "urEventGetInfo" =>
            |h| ur!(Event.pfnGetInfo(h.cast(), ur_event_info_t::COMMAND_TYPE, 0, none, told()));
        Event: "urEventGetProfilingInfo" => |h| {
            let property = ur_profiling_info_t::COMMAND_QUEUED;
            ur!(Event.pfnGetProfilingInfo(h.cast(), property, 0, none, told()))
        };
        Event: "urEventRetain" => |h| ur!(Event.pfnRetain(h.cast()));
        Event: "urEventRelease" => |h| ur!(Event.pfnRelease(h.cast()));
        Context: "urUSMHostAlloc" => |h| ur!(USM.pfnHostAlloc(h.cast(), null(), null_mut(), 8, scratch()));
        Context: "urUSMDeviceAlloc" => |h| ur!(USM.pfnDeviceAlloc(h.cast(), d, null(), null_mut(), 8, scratch()));
        Device: "urUSMDeviceAlloc's device" =>
            |h| ur!(USM.pfnDeviceAlloc(c, h.cast(), null(), null_mut(), 8, scratch()));
        Context: "urUSMSharedAlloc" => |h| ur!(USM.pfnSharedAlloc(h.cast(), d, null(), null_mut(), 8, scratch()));
        Device: "urUSMSharedAlloc's device" =>
            |h| ur!(USM.pfnSharedAlloc(c, h.cast(), null(), null_mut(), 8, scratch()));
    }
}

fn enqueue_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (q, k, none) = (all.queue.handle(), all.kernel.handle(), null_mut::<c_void>());
    let (to, from, word) = (all.memory.pointer(), all.memory.at(32).cast_const(), c"word".as_ptr().cast());
    static ONE: usize = 1;
    let one = &raw const ONE;
    cases! {
        Context: "urUSMFree" => |h| ur!(USM.pfnFree(h.cast(), to));
        Context: "urUSMGetMemAllocInfo" =>
            |h| ur!(USM.pfnGetMemAllocInfo(h.cast(), from, ur_usm_alloc_info_t::TYPE, 0, none, told()));
        Queue: "urEnqueueEventsWait" => |h| ur!(Enqueue.pfnEventsWait(h.cast(), 0, null(), null_mut()));
        Queue: "urEnqueueEventsWaitWithBarrier" =>
            |h| ur!(Enqueue.pfnEventsWaitWithBarrier(h.cast(), 0, null(), null_mut()));
        Queue: "urEnqueueEventsWaitWithBarrierExt" =>
            |h| ur!(Enqueue.pfnEventsWaitWithBarrierExt(h.cast(), null(), 0, null(), null_mut()));
        Queue: "urEnqueueUSMMemcpy" =>
            |h| ur!(Enqueue.pfnUSMMemcpy(h.cast(), CBool::TRUE, to, from, 8, 0, null(), null_mut()));
        Queue: "urEnqueueUSMFill" => |h| ur!(Enqueue.pfnUSMFill(h.cast(), to, 4, word, 8, 0, null(), null_mut()));
        Queue: "urEnqueueUSMDeviceAllocExp" => |h| {
            let none = null_mut();
            ur!(EnqueueExp.pfnUSMDeviceAllocExp(h.cast(), none, 8, null(), 0, null(), scratch(), null_mut()))
        };
        Queue: "urEnqueueUSMHostAllocExp" => |h| {
            let none = null_mut();
            ur!(EnqueueExp.pfnUSMHostAllocExp(h.cast(), none, 8, null(), 0, null(), scratch(), null_mut()))
        };
        Queue: "urEnqueueUSMSharedAllocExp" => |h| {
            let none = null_mut();
            ur!(EnqueueExp.pfnUSMSharedAllocExp(h.cast(), none, 8, null(), 0, null(), scratch(), null_mut()))
        };
        Queue: "urEnqueueUSMFreeExp" =>
            |h| ur!(EnqueueExp.pfnUSMFreeExp(h.cast(), null_mut(), to, 0, null(), null_mut()));
        Queue: "urEnqueueKernelLaunchWithArgsExp" => |h| {
            let (q, no, args, list) = (h.cast(), null(), null(), null());
            ur!(EnqueueExp.pfnKernelLaunchWithArgsExp(q, k, 1, no, one, no, 0, args, null(), 0, list, null_mut()))
        };
        Kernel: "urEnqueueKernelLaunchWithArgsExp's kernel" => |h| {
            let (k, no, args, list) = (h.cast(), null(), null(), null());
            ur!(EnqueueExp.pfnKernelLaunchWithArgsExp(q, k, 1, no, one, no, 0, args, null(), 0, list, null_mut()))
        };
        Kernel: "urKernelGetSuggestedLocalWorkSize" =>
            |h| ur!(Kernel.pfnGetSuggestedLocalWorkSize(h.cast(), q, 1, one, one, scratch()));
        Queue: "urKernelGetSuggestedLocalWorkSize's queue" =>
            |h| ur!(Kernel.pfnGetSuggestedLocalWorkSize(k, h.cast(), 1, one, one, scratch()));
    }
}

fn pool_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (c, d, p, none) = (all.fixture.context(), all.fixture.device(), all.pool.handle(), null_mut::<c_void>());
    static DESC: Descriptor = Descriptor(ur_usm_pool_desc_t {
        stype: ur_structure_type_t::USM_POOL_DESC,
        pNext: null(),
        flags: ur_usm_pool_flags_t::empty(),
    });
    let desc = (&raw const DESC.0).cast_mut();
    let used = ur_usm_pool_info_t::USED_CURRENT_EXP;
    cases! {
        Context: "urUSMPoolCreate" => |h| ur!(USM.pfnPoolCreate(h.cast(), desc, made()));
        Pool: "urUSMPoolRetain" => |h| ur!(USM.pfnPoolRetain(h.cast()));
        Pool: "urUSMPoolRelease" => |h| ur!(USM.pfnPoolRelease(h.cast()));
        Pool: "urUSMPoolGetInfo" => |h| ur!(USM.pfnPoolGetInfo(h.cast(), used, 0, none, told()));
        Context: "urUSMPoolCreateExp" => |h| ur!(USMExp.pfnPoolCreateExp(h.cast(), d, desc, made()));
        Device: "urUSMPoolCreateExp's device" => |h| ur!(USMExp.pfnPoolCreateExp(c, h.cast(), desc, made()));
        Context: "urUSMPoolDestroyExp" => |h| ur!(USMExp.pfnPoolDestroyExp(h.cast(), d, p));
        Device: "urUSMPoolDestroyExp's device" => |h| ur!(USMExp.pfnPoolDestroyExp(c, h.cast(), p));
        Pool: "urUSMPoolDestroyExp's pool" => |h| ur!(USMExp.pfnPoolDestroyExp(c, d, h.cast()));
        Context: "urUSMPoolGetDefaultDevicePoolExp" =>
            |h| ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(h.cast(), d, made()));
        Device: "urUSMPoolGetDefaultDevicePoolExp's device" =>
            |h| ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(c, h.cast(), made()));
        Context: "urUSMPoolGetDevicePoolExp" => |h| ur!(USMExp.pfnPoolGetDevicePoolExp(h.cast(), d, made()));
        Device: "urUSMPoolGetDevicePoolExp's device" => |h| ur!(USMExp.pfnPoolGetDevicePoolExp(c, h.cast(), made()));
        Context: "urUSMPoolSetDevicePoolExp" => |h| ur!(USMExp.pfnPoolSetDevicePoolExp(h.cast(), d, p));
        Device: "urUSMPoolSetDevicePoolExp's device" => |h| ur!(USMExp.pfnPoolSetDevicePoolExp(c, h.cast(), p));
        Pool: "urUSMPoolSetDevicePoolExp's pool" => |h| ur!(USMExp.pfnPoolSetDevicePoolExp(c, d, h.cast()));
        Context: "urUSMPoolTrimToExp" => |h| ur!(USMExp.pfnPoolTrimToExp(h.cast(), d, p, 0));
        Device: "urUSMPoolTrimToExp's device" => |h| ur!(USMExp.pfnPoolTrimToExp(c, h.cast(), p, 0));
        Pool: "urUSMPoolTrimToExp's pool" => |h| ur!(USMExp.pfnPoolTrimToExp(c, d, h.cast(), 0));
        Pool: "urUSMPoolGetInfoExp" => |h| ur!(USMExp.pfnPoolGetInfoExp(h.cast(), used, none, told()));
        Pool: "urUSMPoolSetInfoExp" => |h| {
            let mut mark = 0usize;
            let mark = (&raw mut mark).cast();
            ur!(USMExp.pfnPoolSetInfoExp(h.cast(), ur_usm_pool_info_t::USED_HIGH_EXP, mark, 8))
        };
    }
}

/// A descriptor that every call may read.
struct Descriptor(ur_usm_pool_desc_t);
// SAFETY: nobody changes it, and its pointer is null.
unsafe impl Sync for Descriptor {}

fn program_cases<'a>(all: &'a Objects<'_>, image: &'static [u8]) -> Vec<Case<'a>> {
    let (c, d, none) = (all.fixture.context(), all.fixture.device(), null_mut::<c_void>());
    let (p, k, yes) = (all.program.handle(), all.kernel.handle(), c"yes".as_ptr().cast());
    cases! {
        Context: "urProgramCreateWithBinary" => |h| {
            let (mut d, mut n, mut i) = (d, image.len(), image.as_ptr());
            let (d, n, i) = (&raw mut d, &raw mut n, &raw mut i);
            ur!(Program.pfnCreateWithBinary(h.cast(), 1, d, n, i, null(), made()))
        };
        Device: "urProgramCreateWithBinary's device" => |h| {
            let (mut d, mut n, mut i) = (h.cast(), image.len(), image.as_ptr());
            let (d, n, i) = (&raw mut d, &raw mut n, &raw mut i);
            ur!(Program.pfnCreateWithBinary(c, 1, d, n, i, null(), made()))
        };
        Context: "urProgramBuild" => |h| ur!(Program.pfnBuild(h.cast(), p, null()));
        Program: "urProgramBuild's program" => |h| ur!(Program.pfnBuild(c, h.cast(), null()));
        Program: "urProgramGetNativeHandle" => |h| ur!(Program.pfnGetNativeHandle(h.cast(), scratch()));
        Context: "urProgramCreateWithNativeHandle" =>
            |h| ur!(Program.pfnCreateWithNativeHandle(64, h.cast(), null(), made()));
        Program: "urProgramGetGlobalVariablePointer" =>
            |h| ur!(Program.pfnGetGlobalVariablePointer(d, h.cast(), c"table".as_ptr(), told(), made()));
        Device: "urProgramGetGlobalVariablePointer's device" =>
            |h| ur!(Program.pfnGetGlobalVariablePointer(h.cast(), p, c"table".as_ptr(), told(), made()));
        Kernel: "urKernelGetNativeHandle" => |h| ur!(Kernel.pfnGetNativeHandle(h.cast(), scratch()));
        Context: "urKernelCreateWithNativeHandle" =>
            |h| ur!(Kernel.pfnCreateWithNativeHandle(64, h.cast(), p, null(), made()));
        Program: "urProgramRetain" => |h| ur!(Program.pfnRetain(h.cast()));
        Program: "urProgramRelease" => |h| ur!(Program.pfnRelease(h.cast()));
        Program: "urProgramGetInfo" =>
            |h| ur!(Program.pfnGetInfo(h.cast(), ur_program_info_t::NUM_DEVICES, 0, none, told()));
        Program: "urProgramGetBuildInfo" =>
            |h| ur!(Program.pfnGetBuildInfo(h.cast(), d, ur_program_build_info_t::LOG, 0, none, told()));
        Device: "urProgramGetBuildInfo's device" =>
            |h| ur!(Program.pfnGetBuildInfo(p, h.cast(), ur_program_build_info_t::LOG, 0, none, told()));
        Program: "urKernelCreate" => |h| ur!(Kernel.pfnCreate(h.cast(), c"empty".as_ptr(), made()));
        Kernel: "urKernelRetain" => |h| ur!(Kernel.pfnRetain(h.cast()));
        Kernel: "urKernelRelease" => |h| ur!(Kernel.pfnRelease(h.cast()));
        Kernel: "urKernelGetInfo" =>
            |h| ur!(Kernel.pfnGetInfo(h.cast(), ur_kernel_info_t::FUNCTION_NAME, 0, none, told()));
        Kernel: "urKernelGetGroupInfo" =>
            |h| ur!(Kernel.pfnGetGroupInfo(h.cast(), d, ur_kernel_group_info_t::WORK_GROUP_SIZE, 0, none, told()));
        Device: "urKernelGetGroupInfo's device" =>
            |h| ur!(Kernel.pfnGetGroupInfo(k, h.cast(), ur_kernel_group_info_t::WORK_GROUP_SIZE, 0, none, told()));
        Kernel: "urKernelGetSubGroupInfo" => |h| {
            let property = ur_kernel_sub_group_info_t::MAX_SUB_GROUP_SIZE;
            ur!(Kernel.pfnGetSubGroupInfo(h.cast(), d, property, 0, none, told()))
        };
        Kernel: "urKernelSetExecInfo" =>
            |h| ur!(Kernel.pfnSetExecInfo(h.cast(), ur_kernel_exec_info_t::USM_INDIRECT_ACCESS, 1, null(), yes));
    }
}

fn memory_object_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (d, none) = (all.fixture.device(), null_mut::<c_void>());
    let native = all.memory.pointer().expose_provenance();
    cases! {
        Context: "urMemBufferCreate" =>
            |h| ur!(Mem.pfnBufferCreate(h.cast(), ur_mem_flags_t::READ_WRITE, 64, null(), made()));
        Context: "urMemBufferCreateWithNativeHandle" =>
            |h| ur!(Mem.pfnBufferCreateWithNativeHandle(native, h.cast(), null(), made()));
        Mem: "urMemBufferPartition, Create" => |h| {
            let region = ur_buffer_region_t { size: 8, ..Default::default() };
            let (flags, kind) = (ur_mem_flags_t::empty(), ur_buffer_create_type_t::REGION);
            ur!(Mem.pfnBufferPartition(h.cast(), flags, kind, &raw const region, made()))
        };
        Mem: "urMemRetain" => |h| ur!(Mem.pfnRetain(h.cast()));
        Mem: "urMemRelease" => |h| ur!(Mem.pfnRelease(h.cast()));
        Mem: "urMemGetInfo" => |h| ur!(Mem.pfnGetInfo(h.cast(), ur_mem_info_t::SIZE, 0, none, told()));
        Mem: "urMemGetNativeHandle" => |h| ur!(Mem.pfnGetNativeHandle(h.cast(), d, scratch()));
    }
}

fn buffer_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (q, m, yes) = (all.queue.handle(), all.buffer.handle(), CBool::TRUE);
    let (to, word) = (scratch::<c_void>(), c"word".as_ptr().cast());
    let (here, one) = (ur_rect_offset_t::default(), ur_rect_region_t { width: 1, height: 1, depth: 1 });
    let there = ur_rect_offset_t { x: 32, ..here };
    cases! {
        Queue: "urEnqueueMemBufferRead" =>
            |h| ur!(Enqueue.pfnMemBufferRead(h.cast(), m, yes, 0, 8, to, 0, null(), null_mut()));
        Mem: "urEnqueueMemBufferRead's buffer" =>
            |h| ur!(Enqueue.pfnMemBufferRead(q, h.cast(), yes, 0, 8, to, 0, null(), null_mut()));
        Queue: "urEnqueueMemBufferWrite" =>
            |h| ur!(Enqueue.pfnMemBufferWrite(h.cast(), m, yes, 0, 4, word, 0, null(), null_mut()));
        Mem: "urEnqueueMemBufferWrite's buffer" =>
            |h| ur!(Enqueue.pfnMemBufferWrite(q, h.cast(), yes, 0, 4, word, 0, null(), null_mut()));
        Queue: "urEnqueueMemBufferFill" =>
            |h| ur!(Enqueue.pfnMemBufferFill(h.cast(), m, word, 4, 0, 8, 0, null(), null_mut()));
        Mem: "urEnqueueMemBufferFill's buffer" =>
            |h| ur!(Enqueue.pfnMemBufferFill(q, h.cast(), word, 4, 0, 8, 0, null(), null_mut()));
        Queue: "urEnqueueMemBufferCopy" =>
            |h| ur!(Enqueue.pfnMemBufferCopy(h.cast(), m, m, 0, 32, 8, 0, null(), null_mut()));
        Mem: "urEnqueueMemBufferCopy's source" =>
            |h| ur!(Enqueue.pfnMemBufferCopy(q, h.cast(), m, 0, 32, 8, 0, null(), null_mut()));
        Mem: "urEnqueueMemBufferCopy's destination" =>
            |h| ur!(Enqueue.pfnMemBufferCopy(q, m, h.cast(), 0, 32, 8, 0, null(), null_mut()));
        Queue: "urEnqueueMemBufferReadRect" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferReadRect(h, m, yes, here, here, one, 0, 0, 0, 0, to, 0, null(), null_mut()))
        };
        Mem: "urEnqueueMemBufferReadRect's buffer" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferReadRect(q, h, yes, here, here, one, 0, 0, 0, 0, to, 0, null(), null_mut()))
        };
        Queue: "urEnqueueMemBufferWriteRect" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferWriteRect(h, m, yes, here, here, one, 0, 0, 0, 0, to, 0, null(), null_mut()))
        };
        Mem: "urEnqueueMemBufferWriteRect's buffer" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferWriteRect(q, h, yes, here, here, one, 0, 0, 0, 0, to, 0, null(), null_mut()))
        };
        Queue: "urEnqueueMemBufferCopyRect" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferCopyRect(h, m, m, here, there, one, 0, 0, 0, 0, 0, null(), null_mut()))
        };
        Mem: "urEnqueueMemBufferCopyRect's source" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferCopyRect(q, h, m, here, there, one, 0, 0, 0, 0, 0, null(), null_mut()))
        };
        Mem: "urEnqueueMemBufferCopyRect's destination" => |h| {
            let h = h.cast();
            ur!(Enqueue.pfnMemBufferCopyRect(q, m, h, here, there, one, 0, 0, 0, 0, 0, null(), null_mut()))
        };
        Queue: "urEnqueueMemBufferMap" => |h| {
            let (h, read) = (h.cast(), ur_map_flags_t::READ);
            ur!(Enqueue.pfnMemBufferMap(h, m, yes, read, 0, 8, 0, null(), null_mut(), scratch()))
        };
        Mem: "urEnqueueMemBufferMap's buffer" => |h| {
            let (h, read) = (h.cast(), ur_map_flags_t::READ);
            ur!(Enqueue.pfnMemBufferMap(q, h, yes, read, 0, 8, 0, null(), null_mut(), scratch()))
        };
        Queue: "urEnqueueMemUnmap, Free of a map" => |h| ur!(Enqueue.pfnMemUnmap(h.cast(), m, to, 0, null(), null_mut()));
        Mem: "urEnqueueMemUnmap's object, Free of a map" =>
            |h| ur!(Enqueue.pfnMemUnmap(q, h.cast(), to, 0, null(), null_mut()));
    }
}

fn all_cases<'a>(objects: &'a Objects<'_>) -> Vec<Case<'a>> {
    let image: &'static [u8] = Environment::get().image("saxpy.ptx").leak();
    let mut cases = listing_cases(objects);
    cases.extend(queue_cases(objects));
    cases.extend(enqueue_cases(objects));
    cases.extend(pool_cases(objects));
    cases.extend(program_cases(objects, image));
    cases.extend(memory_object_cases(objects));
    cases.extend(buffer_cases(objects));
    cases.extend(command_buffer_cases(objects));
    cases.extend(graph_cases(objects));
    cases.retain(|case| has_function(case.name.split(['\'', ',']).next().unwrap_or(case.name)));
    cases
}

#[test]
fn every_entry_point_refuses_a_null_handle() {
    let fixture = Fixture::new();
    let current = Current::at(Place::LastDevice);
    let objects = Objects::new(&fixture);
    for case in all_cases(&objects) {
        let answer = current.after(case.name, || (case.call)(null_mut()));
        assert_eq!(answer, Code::ERROR_INVALID_NULL_HANDLE, "{} with null", case.name);
    }
    objects.queue.finish();
}

#[test]
fn every_entry_point_refuses_a_handle_of_another_type_with_the_code_of_its_own() {
    let fixture = Fixture::new();
    needs_ours!("look at what a handle is before they follow it");
    let current = Current::at(Place::LastDevice);
    let objects = Objects::new(&fixture);
    let optional = optional_cases(&objects);
    for case in all_cases(&objects).iter().chain(&optional) {
        for other in TYPES.into_iter().filter(|&other| other != case.takes) {
            let answer = current.after(case.name, || (case.call)(objects.handle(other)));
            assert_eq!(answer, case.takes.invalid(), "{} with a handle of type {other:?}", case.name);
        }
    }
    objects.queue.finish();
}

/// The calls above fail because of their handle and nothing else.
#[test]
fn the_entry_points_of_this_test_get_past_their_handles_when_these_are_right() {
    let fixture = Fixture::new();
    let current = Current::at(Place::LastDevice);
    let objects = Objects::new(&fixture);
    let changing = ["Retain", "Release", "Create", "Alloc", "Free", "Build", "Destroy"];
    for case in all_cases(&objects).iter().filter(|case| !changing.iter().any(|word| case.name.contains(word))) {
        let answer = current.after(case.name, || (case.call)(objects.handle(case.takes)));
        assert_eq!(answer, Code::SUCCESS, "{}: {}", case.name, ur_conformance::last_error());
    }
    objects.queue.finish();
}
