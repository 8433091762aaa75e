//! What a command does with bytes: to the model's, by a call on a queue, and by one that appends to a command buffer.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{SyncPoint, list};
use ur_conformance::ffi::{CBool, ur_event_handle_t, ur_mem_flags_t as Flags, ur_result_t as Code};
use ur_conformance::{CommandBuffer, Kernel, Launch, Queue, expect_success, ur};

use super::area::{Area, Object, Storage};

/// What a command does.
#[derive(Clone, Debug)]
pub enum Work {
    Copy {
        from: Area,
        to: Area,
    },
    Fill {
        to: Area,
        pattern: Vec<u8>,
    },
    /// A kernel that adds to each word of a whole view or of memory.
    Add {
        to: Area,
        value: u32,
    },
    /// A kernel that copies words.
    Move {
        from: Area,
        to: Area,
    },
    /// A host task.
    Task {
        to: Area,
        flip: u8,
    },
    /// `urEnqueueEventsWait`, or the barrier.
    Wait {
        barrier: bool,
    },
}

struct Task {
    at: *mut u8,
    bytes: usize,
    flip: u8,
}

unsafe extern "C" fn flip(data: *mut c_void) {
    // SAFETY: the enqueue gave the task away for this one call.
    let task = unsafe { Box::from_raw(data.cast::<Task>()) };
    for at in 0..task.bytes {
        // SAFETY: in range, and nothing else uses the bytes until the task's event, by the program's plan.
        unsafe { *task.at.add(at) ^= task.flip };
    }
}

/// The kernels that programs launch.
pub struct Kernels {
    pub add: Kernel,
    pub copy: Kernel,
}

/// How a command is enqueued.
pub struct Request<'a> {
    pub queue: &'a Queue,
    pub blocking: bool,
    pub waits: &'a [ur_event_handle_t],
    pub event: *mut ur_event_handle_t,
}

/// Enqueues a host task that flips bits of bytes.
pub fn enqueue_task(at: *mut u8, bytes: usize, bits: u8, request: &Request<'_>) -> Code {
    let (queue, (count, waits), event) = (request.queue.handle(), list(request.waits), request.event);
    let data = Box::into_raw(Box::new(Task { at, bytes, flip: bits })).cast();
    ur!(EnqueueExp.pfnHostTaskExp(queue, Some(flip), data, null(), count, waits, event))
}

impl Work {
    /// What it uses, and whether it writes there.
    pub fn uses(&self) -> Vec<(Area, bool)> {
        match *self {
            Self::Copy { from, to } | Self::Move { from, to } => vec![(from, false), (to, true)],
            Self::Fill { to, .. } | Self::Add { to, .. } | Self::Task { to, .. } => vec![(to, true)],
            Self::Wait { .. } => vec![],
        }
    }

    pub fn apply(&self, objects: &mut [Object<'_>]) {
        match self {
            Self::Copy { from, to } | Self::Move { from, to } => {
                let bytes = from.gather(objects);
                to.scatter(objects, &bytes);
            }
            Self::Fill { to, pattern } => {
                let bytes: Vec<u8> = pattern.iter().copied().cycle().take(to.bytes()).collect();
                to.scatter(objects, &bytes);
            }
            Self::Add { to, value } => {
                let add = |word: &[u8]| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]).wrapping_add(*value);
                let bytes = to.gather(objects);
                let bytes: Vec<u8> = bytes.chunks(4).flat_map(|word| add(word).to_ne_bytes()).collect();
                to.scatter(objects, &bytes);
            }
            Self::Task { to, flip } => {
                let bytes: Vec<u8> = to.gather(objects).iter().map(|byte| byte ^ flip).collect();
                to.scatter(objects, &bytes);
            }
            Self::Wait { .. } => {}
        }
    }

    fn launch<'k>(&self, objects: &mut [Object<'_>], kernels: &'k Kernels) -> Option<Launch<'k>> {
        let mut with = |launch: Launch<'k>, area: &Area, flags| match &mut objects[area.object] {
            Object { storage: Storage::Buffer { views, .. }, .. } => launch.buffer(&views[area.view].1, flags),
            memory => launch.pointer(memory.pointer(area.at())),
        };
        match self {
            Self::Add { to, value } => {
                let words = to.bytes() / 4;
                let launch = with(Launch::new(&kernels.add, &[words]), to, Flags::READ_WRITE);
                Some(launch.value(*value).value(words as u32))
            }
            Self::Move { from, to } => {
                let words = to.bytes() / 4;
                let launch = with(Launch::new(&kernels.copy, &[words]), to, Flags::WRITE_ONLY);
                Some(with(launch, from, Flags::READ_ONLY).value(words as u32))
            }
            _ => None,
        }
    }

    /// Enqueues it.
    pub fn enqueue(&self, objects: &mut [Object<'_>], kernels: &Kernels, request: &Request<'_>) -> Code {
        let Request { queue, blocking, waits, event } = *request;
        let (q, blocking, (count, waits)) = (queue.handle(), CBool::from(blocking), list(waits));
        match self {
            Self::Add { .. } | Self::Move { .. } => {
                let launch = self.launch(objects, kernels).expect("a kernel");
                return launch.after_handles(request.waits).enqueue(queue, event);
            }
            Self::Wait { barrier: false } => return ur!(Enqueue.pfnEventsWait(q, count, waits, event)),
            Self::Wait { barrier: true } => return ur!(Enqueue.pfnEventsWaitWithBarrier(q, count, waits, event)),
            Self::Task { to, flip } => {
                let at = objects[to.object].pointer(to.at()).cast();
                return enqueue_task(at, to.bytes(), *flip, request);
            }
            Self::Fill { to, pattern } => {
                let (from, length) = (pattern.as_ptr().cast(), pattern.len());
                let [width, height, _] = to.region;
                if objects[to.object].is_buffer() {
                    let m = objects[to.object].handle(to.view);
                    return ur!(Enqueue.pfnMemBufferFill(q, m, from, length, to.at(), width, count, waits, event));
                }
                let at = objects[to.object].pointer(to.at());
                if to.is_line() {
                    return ur!(Enqueue.pfnUSMFill(q, at, length, from, width, count, waits, event));
                }
                return ur!(Enqueue.pfnUSMFill2D(q, at, to.row, length, from, width, height, count, waits, event));
            }
            Self::Copy { .. } => {}
        }
        let Self::Copy { from, to } = self else { panic!("a copy") };
        let (line, bytes, region) = (from.is_line() && to.is_line(), from.bytes(), from.size());
        let (source, target) = (objects[from.object].is_buffer(), objects[to.object].is_buffer());
        let (rows, slices) = ([from.row, to.row], [from.slice, to.slice]);
        if source && target {
            let (m, n) = (objects[from.object].handle(from.view), objects[to.object].handle(to.view));
            if line {
                return ur!(Enqueue.pfnMemBufferCopy(q, m, n, from.at(), to.at(), bytes, count, waits, event));
            }
            let (here, there) = (from.offset(), to.offset());
            return ur!(Enqueue.pfnMemBufferCopyRect(
                q, m, n, here, there, region, rows[0], slices[0], rows[1], slices[1], count, waits, event
            ));
        }
        if source {
            let m = objects[from.object].handle(from.view);
            if line {
                let out = objects[to.object].pointer(to.at());
                return ur!(Enqueue.pfnMemBufferRead(q, m, blocking, from.at(), bytes, out, count, waits, event));
            }
            let (here, there, out) = (from.offset(), to.offset(), objects[to.object].pointer(0));
            return ur!(Enqueue.pfnMemBufferReadRect(
                q, m, blocking, here, there, region, rows[0], slices[0], rows[1], slices[1], out, count, waits, event
            ));
        }
        if target {
            let m = objects[to.object].handle(to.view);
            if line {
                let out = objects[from.object].pointer(from.at());
                return ur!(Enqueue.pfnMemBufferWrite(q, m, blocking, to.at(), bytes, out, count, waits, event));
            }
            let (here, there, out) = (from.offset(), to.offset(), objects[from.object].pointer(0));
            return ur!(Enqueue.pfnMemBufferWriteRect(
                q, m, blocking, there, here, region, rows[1], slices[1], rows[0], slices[0], out, count, waits, event
            ));
        }
        let (here, there) = (objects[from.object].pointer(from.at()), objects[to.object].pointer(to.at()));
        if line {
            return ur!(Enqueue.pfnUSMMemcpy(q, blocking, there, here, bytes, count, waits, event));
        }
        let [width, height, _] = from.region;
        ur!(Enqueue.pfnUSMMemcpy2D(q, blocking, there, rows[1], here, rows[0], width, height, count, waits, event))
    }

    /// Appends it, behind other commands of the buffer.
    pub fn append(
        &self,
        objects: &mut [Object<'_>],
        kernels: &Kernels,
        commands: &CommandBuffer,
        after: &[SyncPoint],
    ) -> SyncPoint {
        if let Some(launch) = self.launch(objects, kernels) {
            return commands.launch(&launch, after);
        }
        let (b, (count, after)) = (commands.handle(), list(after));
        let (mut point, no, none, command) = (SyncPoint::MAX, null(), null_mut(), null_mut());
        let out = &raw mut point;
        let answer = match self {
            Self::Fill { to, pattern } => {
                let (value, length, bytes) = (pattern.as_ptr().cast(), pattern.len(), to.bytes());
                if objects[to.object].is_buffer() {
                    let (m, at) = (objects[to.object].handle(to.view), to.at());
                    ur!(CommandBufferExp.pfnAppendMemBufferFillExp(
                        b, m, value, length, at, bytes, count, after, 0, no, out, none, command
                    ))
                } else {
                    let at = objects[to.object].pointer(to.at());
                    ur!(CommandBufferExp
                        .pfnAppendUSMFillExp(b, at, value, length, bytes, count, after, 0, no, out, none, command))
                }
            }
            Self::Copy { from, to } => {
                let (line, bytes, region) = (from.is_line() && to.is_line(), from.bytes(), from.size());
                let (here, there) = (from.offset(), to.offset());
                let ([r, s], [t, u]) = ([from.row, from.slice], [to.row, to.slice]);
                match (objects[from.object].is_buffer(), objects[to.object].is_buffer()) {
                    (true, true) => {
                        let (m, n) = (objects[from.object].handle(from.view), objects[to.object].handle(to.view));
                        if line {
                            ur!(CommandBufferExp.pfnAppendMemBufferCopyExp(
                                b,
                                m,
                                n,
                                from.at(),
                                to.at(),
                                bytes,
                                count,
                                after,
                                0,
                                no,
                                out,
                                none,
                                command
                            ))
                        } else {
                            ur!(CommandBufferExp.pfnAppendMemBufferCopyRectExp(
                                b, m, n, here, there, region, r, s, t, u, count, after, 0, no, out, none, command
                            ))
                        }
                    }
                    (true, false) => {
                        let m = objects[from.object].handle(from.view);
                        let at = objects[to.object].pointer(if line { to.at() } else { 0 });
                        if line {
                            ur!(CommandBufferExp.pfnAppendMemBufferReadExp(
                                b,
                                m,
                                from.at(),
                                bytes,
                                at,
                                count,
                                after,
                                0,
                                no,
                                out,
                                none,
                                command
                            ))
                        } else {
                            ur!(CommandBufferExp.pfnAppendMemBufferReadRectExp(
                                b, m, here, there, region, r, s, t, u, at, count, after, 0, no, out, none, command
                            ))
                        }
                    }
                    (false, true) => {
                        let m = objects[to.object].handle(to.view);
                        let at = objects[from.object].pointer(if line { from.at() } else { 0 });
                        if line {
                            ur!(CommandBufferExp.pfnAppendMemBufferWriteExp(
                                b,
                                m,
                                to.at(),
                                bytes,
                                at,
                                count,
                                after,
                                0,
                                no,
                                out,
                                none,
                                command
                            ))
                        } else {
                            ur!(CommandBufferExp.pfnAppendMemBufferWriteRectExp(
                                b, m, there, here, region, t, u, r, s, at, count, after, 0, no, out, none, command
                            ))
                        }
                    }
                    (false, false) => {
                        let (here, there) =
                            (objects[from.object].pointer(from.at()), objects[to.object].pointer(to.at()));
                        ur!(CommandBufferExp
                            .pfnAppendUSMMemcpyExp(b, there, here, bytes, count, after, 0, no, out, none, command))
                    }
                }
            }
            other => panic!("{other:?} is no command of a command buffer"),
        };
        expect_success(answer, "an append");
        point
    }
}
