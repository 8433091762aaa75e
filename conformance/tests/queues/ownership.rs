//! A queue is its thread's: who else asks and frees takes nothing from it, so the thread's next command costs what the last one
//! did. Taking a queue over takes a barrier of the system's (`membarrier`), which children refuse here.
#![cfg(target_os = "linux")]
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;

use ur_conformance::ffi::ur_usm_alloc_info_t;
use ur_conformance::memory::Kind;
use ur_conformance::{Fixture, Queue, child, needs_ours, ok};

/// `MEMBARRIER_CMD_QUERY` and `MEMBARRIER_CMD_PRIVATE_EXPEDITED`.
const QUERY: libc::c_int = 0;
const EXPEDITED: libc::c_long = 8;

fn has_barrier() -> bool {
    // SAFETY: a question without an address.
    let told = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    let has = told > 0 && told & EXPEDITED != 0;
    if !has {
        println!("skipped: the system has no membarrier");
    }
    has
}

/// Lets this thread make no such barrier any more: the adapter ends the process then.
fn refuse_barrier() {
    let step = |code: u32, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The call's number is the first word of `seccomp_data`.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_membarrier as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: numbers alone; and the kernel copies the program of four steps during the call.
    let set = unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::c_ulong::from(libc::SECCOMP_MODE_FILTER), &raw const filter)
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// Allocates in the queue's order, and enqueues something more.
fn enqueue(queue: &Queue) -> *mut c_void {
    let mut block = null_mut();
    let out = &raw mut block;
    ok!(EnqueueExp.pfnUSMDeviceAllocExp(queue.handle(), null_mut(), 512, null(), 0, null(), out, null_mut()));
    let pattern = 7u8;
    let value = (&raw const pattern).cast();
    ok!(Enqueue.pfnUSMFill(queue.handle(), block, 1, value, 512, 0, null(), null_mut()));
    block
}

/// Has a thread enqueue, then another one do something without the barrier, then the first one enqueue again.
fn beside(act: impl FnOnce(&Fixture, &Queue, *mut c_void) + Send) {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (tell, told) = channel();
    let (let_go, go) = channel::<()>();
    std::thread::scope(|scope| {
        let queue = &queue;
        scope.spawn(move || {
            let block = enqueue(queue);
            // Addresses go to other threads as numbers.
            tell.send(block.expose_provenance()).expect("the other thread waits");
            go.recv().expect("the other thread says so");
            let more = enqueue(queue);
            for block in [block, more] {
                ok!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), block, 0, null(), null_mut()));
            }
            queue.finish();
        });
        let block = told.recv().expect("the thread enqueues");
        let fixture = &fixture;
        scope.spawn(move || {
            refuse_barrier();
            act(fixture, queue, core::ptr::with_exposed_provenance_mut(block));
            let_go.send(()).expect("the first thread waits");
        });
    });
}

fn ask(fixture: &Fixture, memory: *mut c_void) {
    let mut kind = 0u32;
    let (what, out) = (ur_usm_alloc_info_t::TYPE, (&raw mut kind).cast());
    ok!(USM.pfnGetMemAllocInfo(fixture.context(), memory, what, 4, out, null_mut()));
}

#[test]
fn urUSMGetMemAllocInfo_and_urUSMFree_take_no_queue_from_its_thread() {
    needs_ours!("leave a queue to its thread");
    let name = "urUSMGetMemAllocInfo_and_urUSMFree_take_no_queue_from_its_thread";
    child::in_process(name, &[("", ""); 0], || {
        if !has_barrier() {
            return;
        }
        beside(|fixture, _, block| {
            for kind in [Kind::Device, Kind::Host, Kind::Shared] {
                let memory = fixture.memory(kind, 512);
                ask(fixture, memory.pointer());
                ask(fixture, block);
            }
        });
    });
}

/// The other test can fail.
#[test]
fn a_queue_is_taken_from_its_thread_by_who_else_enqueues() {
    needs_ours!("leave a queue to its thread");
    if !has_barrier() {
        return;
    }
    let words = "the other thread enqueues";
    child::fails("a_queue_is_taken_from_its_thread_by_who_else_enqueues", &[("", ""); 0], words, || {
        beside(|_, queue, _| {
            println!("{words}");
            let block = enqueue(queue);
            ok!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), block, 0, null(), null_mut()));
        });
    });
}
