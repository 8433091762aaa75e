//! Calls of a thread that is being torn down: what the adapter keeps for the thread is gone by then.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use std::cell::RefCell;
use std::sync::Arc;

use ur_conformance::{Cells, Fixture, Launch, Timeline, child, timeline};

const COMMANDS: usize = 20_000;

/// A timeline that is signalled when this goes.
struct SignalledAtEnd(Arc<Timeline>);

impl Drop for SignalledAtEnd {
    fn drop(&mut self) {
        self.0.signal(2);
    }
}

thread_local! {
    static AT_END: RefCell<Option<SignalledAtEnd>> = const { RefCell::new(None) };
}

#[test]
fn urTimelineSignalExt_in_the_destructor_of_a_thread_s_variable_runs_a_long_chain_without_nesting() {
    let test = "urTimelineSignalExt_in_the_destructor_of_a_thread_s_variable_runs_a_long_chain_without_nesting";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, timeline, cells) =
            (fixture.in_order(), Arc::new(Timeline::at_zero(&fixture)), Cells::new(&fixture, 1));
        let kernel = fixture.basic(c"add_constant");
        let add = Launch::new(&kernel, &[1]).local(&[1]).pointer(cells.at(0)).value(1u32).value(1u32);
        queue.wait_for(&timeline, 1);
        add.on(&queue);
        queue.wait_for(&timeline, 2);
        (0..COMMANDS).for_each(|_| add.on(&queue));
        let mine = Arc::clone(&timeline);
        let thread = std::thread::Builder::new().stack_size(1 << 19).spawn(move || {
            // Before the first call that runs what was kept, so that what the adapter makes for the thread then goes first.
            AT_END.set(Some(SignalledAtEnd(Arc::clone(&mine))));
            mine.signal(1);
        });
        thread.expect("a thread").join().expect("the thread ends");
        queue.finish();
        assert_eq!(cells.load(0) as usize, COMMANDS + 1);
    });
}
