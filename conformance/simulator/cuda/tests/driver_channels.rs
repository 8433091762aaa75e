//! Streams that share a hardware channel: each test runs itself again in a child process with the real driver's variable set.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;
use std::process::Command;
use std::time::{Duration, Instant};

const CHILD: &str = "SIMCUDA_TEST_CHILD";

/// Runs `body` in a child whose device has so many channels.
fn with_channels(test: &str, channels: &str, body: impl FnOnce(Setup)) {
    if std::env::var_os(CHILD).is_some() {
        return body(Setup::new());
    }
    let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").env("CUDA_DEVICE_MAX_CONNECTIONS", channels);
    let output = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "the child failed: {text}");
}

/// Two streams, and a word of memory that they wait for and write.
struct Setup {
    streams: [Handle; 2],
    word: u64,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        let session = Session::begin();
        let _context: Handle = get!(cuCtxCreate_v2(0, 0));
        let streams = [(); 2].map(|()| get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)));
        let word: u64 = get!(cuMemAlloc_v2(8));
        ok!(cuMemsetD8_v2(word, 0, 8));
        Self { streams, word, _session: session }
    }

    fn wait(&self, stream: usize, value: u64) {
        // At least the value.
        ok!(cuStreamWaitValue64_v2(self.streams[stream], self.word, value, 0));
    }

    fn write(&self, stream: usize, value: u64) {
        ok!(cuStreamWriteValue64_v2(self.streams[stream], self.word, value, 0));
    }

    /// Whether a stream gets through within the time.
    fn is_through(&self, stream: usize, within: Duration) -> bool {
        let begun = Instant::now();
        // SAFETY: a live stream.
        while unsafe { cuStreamQuery(self.streams[stream]) } != 0 {
            if begun.elapsed() > within {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn a_wait_holds_up_what_ends_it_behind_it_in_the_only_channel() {
    with_channels("a_wait_holds_up_what_ends_it_behind_it_in_the_only_channel", "1", |setup| {
        setup.wait(0, 1);
        setup.write(1, 1);
        assert!(!setup.is_through(1, SHORT), "the write is behind the wait");
        ok!(cuMemsetD8_v2(setup.word, 1, 1));
        assert!(setup.is_through(0, LONG) && setup.is_through(1, LONG));
    });
}

#[test]
fn a_wait_behind_what_ends_it_goes_through() {
    with_channels("a_wait_behind_what_ends_it_goes_through", "1", |setup| {
        setup.write(1, 1);
        setup.wait(0, 1);
        setup.write(0, 2);
        setup.wait(1, 2);
        assert!(setup.is_through(0, LONG) && setup.is_through(1, LONG));
    });
}

#[test]
fn streams_of_different_channels_hold_each_other_up_no_more() {
    with_channels("streams_of_different_channels_hold_each_other_up_no_more", "2", |setup| {
        setup.wait(0, 1);
        setup.write(1, 1);
        assert!(setup.is_through(0, LONG) && setup.is_through(1, LONG));
    });
}
