//! Changes of launches with arguments of all sizes, and of more arguments than an adapter is likely to list without an
//! allocation.

use core::fmt::Write;

use ur_conformance::{Change, CommandBuffer, Fixture, Kernel, Kind, Launch, Queue, needs_sim, ok};

fn run(buffer: &CommandBuffer, queue: &Queue) {
    buffer.on(queue);
    queue.finish();
}

/// A kernel that stores each of so many words where its pointer leads, in their order.
fn storing(fixture: &Fixture, count: usize) -> Kernel {
    let mut text =
        String::from(".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry store_words(.param .u64 to");
    for word in 0..count {
        let _ = write!(text, ", .param .u32 word_{word}");
    }
    text.push_str(
        ")\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd2, %rd1;\n",
    );
    for word in 0..count {
        let _ = write!(text, "ld.param.u32 %r1, [word_{word}];\nst.global.u32 [%rd2+{}], %r1;\n", 4 * word);
    }
    text.push_str("ret;\n}\n");
    let program = match fixture.unbuilt(text.as_bytes()) {
        Ok(program) => program,
        Err(answer) => panic!("{answer:?}: {}", ur_conformance::last_error()),
    };
    ok!(Program.pfnBuild(fixture.context(), program.handle(), core::ptr::null()));
    fixture.kernel(&program, c"store_words")
}

#[test]
fn launches_of_many_arguments_are_changed_argument_by_argument() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    // Around 24 with the pointer, and well above.
    for count in [22, 23, 24, 40] {
        let (kernel, memory) = (storing(&fixture, count), fixture.memory(Kind::Device, 4 * count));
        let buffer = CommandBuffer::updatable(&fixture);
        let mut words: Vec<u32> = (0..count as u32).collect();
        let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer());
        let (_, command) = buffer.command(&words.iter().fold(launch, |launch, &word| launch.value(word)), &[]);
        buffer.finalize();
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, count), words, "{count} words as appended");
        for place in [0, count / 2, count - 1] {
            words[place] += 1000;
            buffer.update(&[Change::of(command).value(1 + place as u32, words[place])]);
            run(&buffer, &queue);
            assert_eq!(memory.read::<u32>(&queue, count), words, "word {place} of {count} changed");
        }
    }
}

/// What a value of 1, 2, 4, 8, 12 or 16 bytes was is saved by other ways.
#[test]
fn values_of_all_sizes_are_put_back_if_the_native_library_refuses_a_change() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue, memory) = (fixture.basic(c"arguments"), fixture.in_order(), fixture.memory(Kind::Device, 72));
    let expected = |round: u64| -> [u64; 9] {
        let word = |index: u64| 10 * round + index;
        core::array::from_fn(|index| word(index as u64))
    };
    let parts = |round: u64| {
        let words = expected(round);
        let three = [words[4] as u32, words[5] as u32, words[6] as u32];
        (words[0] as u8, words[1] as u16, words[2] as u32, words[3], three, [words[7], words[8]])
    };
    let buffer = CommandBuffer::updatable(&fixture);
    let (one, two, four, eight, twelve, sixteen) = parts(1);
    let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(one).value(two).value(four);
    let (_, command) = buffer.command(&launch.value(eight).value(twelve).value(sixteen), &[]);
    buffer.finalize();
    let change = |round: u64| {
        let (one, two, four, eight, twelve, sixteen) = parts(round);
        let change = Change::of(command).value(1, one).value(2, two).value(3, four);
        change.value(4, eight).value(5, twelve).value(6, sixteen)
    };
    let check = |round: u64, what: &str| {
        run(&buffer, &queue);
        assert_eq!(memory.read::<u64>(&queue, 9), expected(round), "{what}");
    };
    check(1, "as appended");
    buffer.update(&[change(2)]);
    check(2, "changed");
    sim.fail("cuGraphExecKernelNodeSetParams_v2", 1, ur_conformance::sim::status::UNKNOWN);
    let answer = buffer.change(&[change(3), change(4)]);
    sim.clear_faults();
    assert_eq!(answer, ur_conformance::ffi::ur_result_t::ERROR_ADAPTER_SPECIFIC);
    check(2, "refused");
    // What was saved for one change is none of the next one's.
    buffer.update(&[change(5)]);
    check(5, "changed behind a refusal");
}
