//! Handles that command buffers and graphs take, beside what the functions on them take.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Command, SyncPoint, description};
use ur_conformance::ffi::{
    ur_event_handle_t, ur_exp_command_buffer_handle_t, ur_exp_command_buffer_info_t,
    ur_exp_command_buffer_update_kernel_launch_desc_t, ur_exp_command_buffer_update_memobj_arg_desc_t,
    ur_kernel_handle_t, ur_rect_offset_t, ur_rect_region_t, ur_usm_advice_flags_t as Advice,
    ur_usm_migration_flags_t as Migration,
};
use ur_conformance::graph::{ExecutableGraph, are_there};
use ur_conformance::{CommandBuffer, Fixture, Graph, Kernel, Launch, Queue, ur};

use super::{Case, Objects, Type, made, scratch, told};

/// Objects of the two extensions.
pub struct Graphs {
    /// A buffer that takes commands.
    pub buffer: CommandBuffer,
    /// One that is finalised, with a command of it.
    pub done: CommandBuffer,
    /// The command.
    pub command: Command,
    /// A graph and what was instantiated from it, where the library has captures.
    pub graph: Option<(Graph, ExecutableGraph)>,
    /// A queue that captures, there too.
    pub capturing: Queue,
}

impl Graphs {
    pub fn new(fixture: &Fixture, kernel: &Kernel) -> Self {
        let (buffer, done) = (CommandBuffer::new(fixture), CommandBuffer::updatable(fixture));
        let (_, command) = done.command_of(&Launch::new(kernel, &[1]), &[], &[]);
        done.finalize();
        let graph = are_there(fixture).then(|| {
            let graph = Graph::empty(fixture);
            let executable = graph.instantiate();
            (graph, executable)
        });
        Self { buffer, done, command, graph, capturing: fixture.in_order() }
    }
}

/// What all append functions take beside their own.
type Common = (ur_exp_command_buffer_handle_t, u32, *const ur_event_handle_t);

/// The parameters behind those of an append function's own: no sync points, these events, and no outputs.
macro_rules! append {
    ($name:ident($with:expr $(, $own:expr)* $(,)?)) => {{
        let (buffer, count, events): Common = $with;
        let (none, point, event) = (null::<SyncPoint>(), null_mut::<SyncPoint>(), null_mut());
        ur!(CommandBufferExp.$name(buffer, $($own,)* 0, none, count, events, point, event, null_mut()))
    }};
}

pub fn command_buffer_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (c, d, q) = (all.fixture.context(), all.fixture.device(), all.queue.handle());
    let (b, m, k) = (all.graphs.buffer.handle(), all.buffer.handle(), all.kernel.handle());
    let (done, command) = (all.graphs.done.handle(), all.graphs.command);
    let (to, from, word) = (all.memory.pointer(), all.memory.at(32), c"wordword".as_ptr().cast::<c_void>());
    static ONE: usize = 1;
    let one = &raw const ONE;
    let (here, small) = (ur_rect_offset_t::default(), ur_rect_region_t { width: 1, height: 1, depth: 1 });
    let there = ur_rect_offset_t { x: 32, ..here };
    let of = |h: *mut c_void| -> Common { (h.cast(), 0, null()) };
    let plain: Common = (b, 0, null());
    let no = null_mut::<ur_kernel_handle_t>();
    cases! {
        Context: "urCommandBufferCreateExp" => |h| {
            let given = description(false, false, false);
            ur!(CommandBufferExp.pfnCreateExp(h.cast(), d, &raw const given, made()))
        };
        Device: "urCommandBufferCreateExp's device" => |h| {
            let given = description(false, false, false);
            ur!(CommandBufferExp.pfnCreateExp(c, h.cast(), &raw const given, made()))
        };
        Buffer: "urCommandBufferRetainExp" => |h| ur!(CommandBufferExp.pfnRetainExp(h.cast()));
        Buffer: "urCommandBufferReleaseExp" => |h| ur!(CommandBufferExp.pfnReleaseExp(h.cast()));
        Buffer: "urCommandBufferFinalizeExp, Build" => |h| ur!(CommandBufferExp.pfnFinalizeExp(h.cast()));
        Buffer: "urCommandBufferAppendKernelLaunchExp" =>
            |h| append!(pfnAppendKernelLaunchExp(of(h), k, 1, null(), one, null(), 0, no));
        Kernel: "urCommandBufferAppendKernelLaunchExp's kernel" =>
            |h| append!(pfnAppendKernelLaunchExp(plain, h.cast(), 1, null(), one, null(), 0, no));
        Kernel: "urCommandBufferAppendKernelLaunchExp's alternative, Create" => |h| {
            let mut other: ur_kernel_handle_t = h.cast();
            append!(pfnAppendKernelLaunchExp(plain, k, 1, null(), one, null(), 1, &raw mut other))
        };
        Buffer: "urCommandBufferAppendKernelLaunchWithArgsExp" =>
            |h| append!(pfnAppendKernelLaunchWithArgsExp(of(h), k, 1, null(), one, null(), 0, null(), 0, no));
        Kernel: "urCommandBufferAppendKernelLaunchWithArgsExp's kernel" =>
            |h| append!(pfnAppendKernelLaunchWithArgsExp(plain, h.cast(), 1, null(), one, null(), 0, null(), 0, no));
        Buffer: "urCommandBufferAppendUSMMemcpyExp" => |h| append!(pfnAppendUSMMemcpyExp(of(h), to, from, 8));
        Buffer: "urCommandBufferAppendUSMFillExp" => |h| append!(pfnAppendUSMFillExp(of(h), to, word, 4, 8));
        Buffer: "urCommandBufferAppendMemBufferCopyExp" =>
            |h| append!(pfnAppendMemBufferCopyExp(of(h), m, m, 0, 32, 8));
        Mem: "urCommandBufferAppendMemBufferCopyExp's source" =>
            |h| append!(pfnAppendMemBufferCopyExp(plain, h.cast(), m, 0, 32, 8));
        Mem: "urCommandBufferAppendMemBufferCopyExp's destination" =>
            |h| append!(pfnAppendMemBufferCopyExp(plain, m, h.cast(), 0, 32, 8));
        Buffer: "urCommandBufferAppendMemBufferWriteExp" =>
            |h| append!(pfnAppendMemBufferWriteExp(of(h), m, 0, 4, word));
        Mem: "urCommandBufferAppendMemBufferWriteExp's buffer" =>
            |h| append!(pfnAppendMemBufferWriteExp(plain, h.cast(), 0, 4, word));
        Buffer: "urCommandBufferAppendMemBufferReadExp" =>
            |h| append!(pfnAppendMemBufferReadExp(of(h), m, 0, 4, scratch()));
        Mem: "urCommandBufferAppendMemBufferReadExp's buffer" =>
            |h| append!(pfnAppendMemBufferReadExp(plain, h.cast(), 0, 4, scratch()));
        Buffer: "urCommandBufferAppendMemBufferCopyRectExp" =>
            |h| append!(pfnAppendMemBufferCopyRectExp(of(h), m, m, here, there, small, 0, 0, 0, 0));
        Mem: "urCommandBufferAppendMemBufferCopyRectExp's source" =>
            |h| append!(pfnAppendMemBufferCopyRectExp(plain, h.cast(), m, here, there, small, 0, 0, 0, 0));
        Mem: "urCommandBufferAppendMemBufferCopyRectExp's destination" =>
            |h| append!(pfnAppendMemBufferCopyRectExp(plain, m, h.cast(), here, there, small, 0, 0, 0, 0));
        Buffer: "urCommandBufferAppendMemBufferWriteRectExp" =>
            |h| append!(pfnAppendMemBufferWriteRectExp(of(h), m, here, here, small, 0, 0, 0, 0, scratch()));
        Mem: "urCommandBufferAppendMemBufferWriteRectExp's buffer" =>
            |h| append!(pfnAppendMemBufferWriteRectExp(plain, h.cast(), here, here, small, 0, 0, 0, 0, scratch()));
        Buffer: "urCommandBufferAppendMemBufferReadRectExp" =>
            |h| append!(pfnAppendMemBufferReadRectExp(of(h), m, here, here, small, 0, 0, 0, 0, scratch()));
        Mem: "urCommandBufferAppendMemBufferReadRectExp's buffer" =>
            |h| append!(pfnAppendMemBufferReadRectExp(plain, h.cast(), here, here, small, 0, 0, 0, 0, scratch()));
        Buffer: "urCommandBufferAppendMemBufferFillExp" =>
            |h| append!(pfnAppendMemBufferFillExp(of(h), m, word, 4, 0, 8));
        Mem: "urCommandBufferAppendMemBufferFillExp's buffer" =>
            |h| append!(pfnAppendMemBufferFillExp(plain, h.cast(), word, 4, 0, 8));
        Buffer: "urCommandBufferAppendUSMPrefetchExp, Alloc" =>
            |h| append!(pfnAppendUSMPrefetchExp(of(h), to, 8, Migration::HOST_TO_DEVICE));
        Buffer: "urCommandBufferAppendUSMAdviseExp, Alloc" =>
            |h| append!(pfnAppendUSMAdviseExp(of(h), to, 8, Advice::SET_READ_MOSTLY));
        Buffer: "urCommandBufferAppendNativeCommandExp" => |h| {
            let none = null_mut();
            ur!(CommandBufferExp.pfnAppendNativeCommandExp(h.cast(), Some(nothing), none, none.cast(), 0, null(), scratch()))
        };
        Queue: "urEnqueueCommandBufferExp" =>
            |h| ur!(EnqueueExp.pfnCommandBufferExp(h.cast(), done, 0, null(), null_mut()));
        Buffer: "urEnqueueCommandBufferExp's buffer, Build" =>
            |h| ur!(EnqueueExp.pfnCommandBufferExp(q, h.cast(), 0, null(), null_mut()));
        Buffer: "urCommandBufferUpdateKernelLaunchExp, Build" => |h| {
            let change = ur_exp_command_buffer_update_kernel_launch_desc_t { hCommand: command, ..Default::default() };
            ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(h.cast(), 1, &raw const change))
        };
        Command: "urCommandBufferUpdateKernelLaunchExp's command" => |h| {
            let change = ur_exp_command_buffer_update_kernel_launch_desc_t { hCommand: h.cast(), ..Default::default() };
            ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(done, 1, &raw const change))
        };
        Command: "urCommandBufferUpdateSignalEventExp, Create" =>
            |h| ur!(CommandBufferExp.pfnUpdateSignalEventExp(h.cast(), made()));
        Command: "urCommandBufferUpdateWaitEventsExp, Create" =>
            |h| ur!(CommandBufferExp.pfnUpdateWaitEventsExp(h.cast(), 0, null()));
        Buffer: "urCommandBufferGetInfoExp" => |h| {
            let property = ur_exp_command_buffer_info_t::DESCRIPTOR;
            ur!(CommandBufferExp.pfnGetInfoExp(h.cast(), property, 0, null_mut(), told()))
        };
        Buffer: "urCommandBufferGetNativeHandleExp" =>
            |h| ur!(CommandBufferExp.pfnGetNativeHandleExp(h.cast(), scratch()));
    }
}

extern "C" fn nothing(_: *mut c_void) {}

/// Handles whose null is none, or has a code of its list's, and which handles of other types may not stand for.
pub fn optional_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let (b, done, command) = (all.graphs.buffer.handle(), all.graphs.done.handle(), all.graphs.command);
    let k = all.kernel.handle();
    static ONE: usize = 1;
    let (one, no) = (&raw const ONE, null_mut::<ur_kernel_handle_t>());
    fn with_event(buffer: ur_exp_command_buffer_handle_t, event: &*mut c_void) -> Common {
        (buffer, 1, core::ptr::from_ref(event).cast())
    }
    cases! {
        Event: "urCommandBufferAppendKernelLaunchExp's event" =>
            |h| append!(pfnAppendKernelLaunchExp(with_event(b, &h), k, 1, null(), one, null(), 0, no));
        Buffer: "urCommandBufferAppendNativeCommandExp's child" => |h| {
            let (call, none, point) = (Some(nothing as _), null_mut(), scratch());
            ur!(CommandBufferExp.pfnAppendNativeCommandExp(b, call, none, h.cast(), 0, null(), point))
        };
        Kernel: "urCommandBufferUpdateKernelLaunchExp's kernel" => |h| {
            let change = ur_exp_command_buffer_update_kernel_launch_desc_t {
                hCommand: command,
                hNewKernel: h.cast(),
                ..Default::default()
            };
            ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(done, 1, &raw const change))
        };
        Mem: "urCommandBufferUpdateKernelLaunchExp's memory object" => |h| {
            let memory =
                ur_exp_command_buffer_update_memobj_arg_desc_t { hNewMemObjArg: h.cast(), ..Default::default() };
            let change = ur_exp_command_buffer_update_kernel_launch_desc_t {
                hCommand: command,
                numNewMemObjArgs: 1,
                pNewMemObjArgList: &raw const memory,
                ..Default::default()
            };
            ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(done, 1, &raw const change))
        };
    }
}

pub fn graph_cases<'a>(all: &'a Objects<'_>) -> Vec<Case<'a>> {
    let Some((graph, executable)) = &all.graphs.graph else { return Vec::new() };
    let (q, g, x) = (all.graphs.capturing.handle(), graph.handle(), executable.handle());
    cases! {
        Context: "urGraphCreateExp" => |h| ur!(GraphExp.pfnCreateExp(h.cast(), made()));
        Queue: "urQueueBeginGraphCaptureExp, Build" => |h| ur!(QueueExp.pfnBeginGraphCaptureExp(h.cast()));
        Queue: "urQueueBeginCaptureIntoGraphExp, Build" => |h| ur!(QueueExp.pfnBeginCaptureIntoGraphExp(h.cast(), g));
        Graph: "urQueueBeginCaptureIntoGraphExp's graph, Build" =>
            |h| ur!(QueueExp.pfnBeginCaptureIntoGraphExp(q, h.cast()));
        Queue: "urQueueEndGraphCaptureExp, Build" => |h| ur!(QueueExp.pfnEndGraphCaptureExp(h.cast(), made()));
        Queue: "urQueueIsGraphCaptureEnabledExp" =>
            |h| ur!(QueueExp.pfnIsGraphCaptureEnabledExp(h.cast(), scratch()));
        Queue: "urQueueGetGraphExp, Build" => |h| ur!(QueueExp.pfnGetGraphExp(h.cast(), made()));
        Graph: "urGraphInstantiateGraphExp, Create" => |h| ur!(GraphExp.pfnInstantiateGraphExp(h.cast(), made()));
        Queue: "urEnqueueGraphExp" => |h| ur!(EnqueueExp.pfnGraphExp(h.cast(), x, 0, null(), null_mut()));
        Executable: "urEnqueueGraphExp's graph" =>
            |h| ur!(EnqueueExp.pfnGraphExp(all.queue.handle(), h.cast(), 0, null(), null_mut()));
        Graph: "urGraphDestroyExp" => |h| ur!(GraphExp.pfnDestroyExp(h.cast()));
        Executable: "urGraphExecutableGraphDestroyExp" => |h| ur!(GraphExp.pfnExecutableGraphDestroyExp(h.cast()));
        Graph: "urGraphIsEmptyExp" => |h| ur!(GraphExp.pfnIsEmptyExp(h.cast(), scratch()));
        Graph: "urGraphGetIdExp" => |h| ur!(GraphExp.pfnGetIdExp(h.cast(), scratch()));
        Graph: "urGraphSetDestructionCallbackExp" =>
            |h| ur!(GraphExp.pfnSetDestructionCallbackExp(h.cast(), Some(nothing), null_mut()));
        Graph: "urGraphDumpContentsExp, Create" =>
            |h| ur!(GraphExp.pfnDumpContentsExp(h.cast(), c"/nowhere/at/all".as_ptr()));
        Graph: "urGraphGetNativeHandleExp" => |h| ur!(GraphExp.pfnGetNativeHandleExp(h.cast(), scratch()));
        Executable: "urGraphExecutableGraphGetNativeHandleExp" =>
            |h| ur!(GraphExp.pfnExecutableGraphGetNativeHandleExp(h.cast(), scratch()));
    }
}
