//! The work itself: y = a*x + y on every queue, on memory that lives only between two commands of that queue. The values
//! are whole numbers that single precision holds exactly, so the check is one for equality.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::ffi::{
    CBool, ur_context_handle_t, ur_context_handle_t_, ur_device_info_t, ur_kernel_handle_t, ur_queue_flags_t,
    ur_queue_handle_t, ur_queue_handle_t_,
};
use ur_client::{ClientError, Held, Listed, NativeCalls, Ur, call, pointer_argument, print, value_argument};

use crate::Failure;
use crate::options::Options;
use crate::steps::Steps;

/// Work-items of a work-group.
const LOCAL_SIZE: usize = 256;

/// Host memory that the device copies from and to without staging.
struct HostMemory<'u> {
    ur: &'u Ur,
    context: ur_context_handle_t,
    memory: *mut c_void,
    elements: usize,
}

impl<'u> HostMemory<'u> {
    fn new(ur: &'u Ur, context: &Held<'u, ur_context_handle_t_>, elements: usize) -> Result<Self, ClientError> {
        let mut memory = null_mut();
        let context = context.handle();
        // SAFETY: a live context; the output is writable.
        unsafe { call!(ur, USM.pfnHostAlloc(context, null(), null_mut(), elements * 4, &raw mut memory)) }?;
        let mut this = Self { ur, context, memory, elements };
        this.slice_mut().fill(0.0);
        Ok(this)
    }

    fn slice_mut(&mut self) -> &mut [f32] {
        // SAFETY: `elements` floats that belong to this; borrowed while no command uses them, which `run` sees to.
        unsafe { std::slice::from_raw_parts_mut(self.memory.cast(), self.elements) }
    }

    fn slice(&self) -> &[f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.memory.cast_const().cast(), self.elements) }
    }
}

impl Drop for HostMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated in this context, freed once.
        let _ = unsafe { call!(self.ur, USM.pfnFree(self.context, self.memory)) };
    }
}

/// One queue with its data. The queue is the first field: it is released before the memory that its work uses.
struct Lane<'u> {
    queue: Held<'u, ur_queue_handle_t_>,
    a: f32,
    x: HostMemory<'u>,
    y: HostMemory<'u>,
    device_x: *mut c_void,
    device_y: *mut c_void,
}

fn x_at(index: usize) -> f32 {
    index as f32
}

fn y_at(index: usize) -> f32 {
    (index % 1000) as f32
}

/// Runs and checks the demonstration on one device.
pub fn run(
    ur: &Ur,
    listed: &Listed<'_>,
    options: &Options,
    image: &[u8],
    calls: Option<&NativeCalls>,
) -> Result<(), Failure> {
    let device = listed.device.handle();
    let name = ur.device_info(device, ur_device_info_t::NAME)?.text();
    print(&format!("\nsaxpy on {name}: {} queues, {} elements each\n", options.queues, options.elements))?;
    let mut steps = Steps::new(calls)?;
    let elements = options.elements as usize;

    let context = steps.run("make the context", || ur.context(&[device]))?;
    let mut lanes = steps.run("make the queues and host memory", || {
        (0..options.queues).map(|number| lane(ur, &context, listed, number, elements)).collect::<Result<Vec<_>, _>>()
    })?;
    let program = steps.run("build the program", || ur.program(context.handle(), device, image))?;
    let kernel = steps.run("make the kernel", || ur.kernel(program.handle(), c"saxpy"))?;

    let enqueued = enqueue(ur, &mut steps, &mut lanes, kernel.handle(), options.elements);
    let finished =
        steps.run("wait for the queues", || lanes.iter().try_for_each(|lane| ur.finish(lane.queue.handle())));
    enqueued.and(finished)?;
    check(&lanes, &name)?;
    steps.run("release everything", || -> Result<(), ClientError> {
        for Lane { queue, x, y, .. } in lanes {
            queue.release()?;
            drop((x, y));
        }
        kernel.release()?;
        program.release()?;
        context.release()
    })?;
    steps.end()
}

fn lane<'u>(
    ur: &'u Ur,
    context: &Held<'u, ur_context_handle_t_>,
    listed: &Listed<'_>,
    number: usize,
    elements: usize,
) -> Result<Lane<'u>, ClientError> {
    let queue = ur.queue(context.handle(), listed.device.handle(), ur_queue_flags_t::empty())?;
    let (mut x, mut y) = (HostMemory::new(ur, context, elements)?, HostMemory::new(ur, context, elements)?);
    x.slice_mut().iter_mut().enumerate().for_each(|(index, value)| *value = x_at(index));
    y.slice_mut().iter_mut().enumerate().for_each(|(index, value)| *value = y_at(index));
    Ok(Lane { queue, a: 2.0 + (number % 5) as f32, x, y, device_x: null_mut(), device_y: null_mut() })
}

/// Enqueues every step on every queue; nothing here waits. Memory that was allocated is freed even if a step fails.
fn enqueue(
    ur: &Ur,
    steps: &mut Steps<'_>,
    lanes: &mut [Lane<'_>],
    kernel: ur_kernel_handle_t,
    elements: u32,
) -> Result<(), Failure> {
    let bytes = elements as usize * 4;
    let work = enqueue_work(ur, steps, lanes, kernel, elements, bytes);
    let freed = steps.run("free x and y, in the queue's order", || {
        lanes.iter_mut().try_for_each(|lane| {
            free(ur, lane.queue.handle(), &mut lane.device_x)?;
            free(ur, lane.queue.handle(), &mut lane.device_y)
        })
    });
    work.and(freed)
}

fn enqueue_work(
    ur: &Ur,
    steps: &mut Steps<'_>,
    lanes: &mut [Lane<'_>],
    kernel: ur_kernel_handle_t,
    elements: u32,
    bytes: usize,
) -> Result<(), Failure> {
    steps.run("allocate x and y, in the queue's order", || {
        lanes.iter_mut().try_for_each(|lane| {
            lane.device_x = allocate(ur, lane.queue.handle(), bytes)?;
            lane.device_y = allocate(ur, lane.queue.handle(), bytes)?;
            Ok(())
        })
    })?;
    steps.run("copy x and y to the device", || {
        lanes.iter().try_for_each(|lane| {
            copy(ur, lane.queue.handle(), lane.device_x, lane.x.memory, bytes)?;
            copy(ur, lane.queue.handle(), lane.device_y, lane.y.memory, bytes)
        })
    })?;
    steps.run("launch saxpy", || lanes.iter().try_for_each(|lane| launch(ur, lane, kernel, elements)))?;
    steps.run("copy y back", || {
        lanes.iter().try_for_each(|lane| copy(ur, lane.queue.handle(), lane.y.memory, lane.device_y, bytes))
    })
}

fn allocate(ur: &Ur, queue: ur_queue_handle_t, bytes: usize) -> Result<*mut c_void, ClientError> {
    let mut memory = null_mut();
    // SAFETY: a live queue, no pool, no wait list, and a writable output.
    unsafe {
        call!(
            ur,
            EnqueueExp.pfnUSMDeviceAllocExp(queue, null_mut(), bytes, null(), 0, null(), &raw mut memory, null_mut())
        )
    }?;
    Ok(memory)
}

fn free(ur: &Ur, queue: ur_queue_handle_t, memory: &mut *mut c_void) -> Result<(), ClientError> {
    let memory = std::mem::replace(memory, null_mut());
    if memory.is_null() {
        return Ok(());
    }
    // SAFETY: allocated on this queue; what uses it was enqueued before.
    unsafe { call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), memory, 0, null(), null_mut())) }
}

fn copy(
    ur: &Ur,
    queue: ur_queue_handle_t,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> Result<(), ClientError> {
    // SAFETY: both have `bytes` bytes, and live until the queue has been waited for or frees them itself.
    unsafe { call!(ur, Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, to, from, bytes, 0, null(), null_mut())) }
}

fn launch(ur: &Ur, lane: &Lane<'_>, kernel: ur_kernel_handle_t, elements: u32) -> Result<(), ClientError> {
    let arguments = [
        value_argument(0, &lane.a),
        pointer_argument(1, lane.device_x),
        pointer_argument(2, lane.device_y),
        value_argument(3, &elements),
    ];
    let (offset, local) = (0_usize, LOCAL_SIZE);
    let global = (elements as usize).next_multiple_of(LOCAL_SIZE);
    // SAFETY: one dimension each; the arguments are those of `saxpy(float, const float *, float *, unsigned)`, and both
    // buffers have `elements` floats.
    unsafe {
        call!(
            ur,
            EnqueueExp.pfnKernelLaunchWithArgsExp(
                lane.queue.handle(),
                kernel,
                1,
                &raw const offset,
                &raw const global,
                &raw const local,
                arguments.len() as u32,
                arguments.as_ptr(),
                null(),
                0,
                null(),
                null_mut()
            )
        )
    }
}

/// Compares every element; the queues have been waited for.
fn check(lanes: &[Lane<'_>], device: &str) -> Result<(), Failure> {
    for (queue, lane) in lanes.iter().enumerate() {
        for (index, &got) in lane.y.slice().iter().enumerate() {
            let expected = lane.a * x_at(index) + y_at(index);
            if got != expected {
                return Err(Failure::Wrong { device: device.to_owned(), queue, index, got, expected });
            }
        }
    }
    Ok(())
}
