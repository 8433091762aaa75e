//! `urCommandBufferCreateExp`, references, properties and finalising.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{description, device_can};
use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    ur_device_command_buffer_update_capability_flags_t as Updates, ur_device_info_t, ur_exp_command_buffer_desc_t,
    ur_exp_command_buffer_info_t as info, ur_result_t as Code, ur_structure_type_t,
};
use ur_conformance::{CommandBuffer, Fixture, Kind, ask, check_every_property, needs_sim, ok, query, refused, ur};

fn references(buffer: &CommandBuffer) -> u32 {
    query::get(ask!(CommandBufferExp.pfnGetInfoExp(buffer.handle(), info::REFERENCE_COUNT)))
}

#[test]
fn urCommandBufferCreateExp_gives_a_buffer_with_the_description_it_was_made_with() {
    let fixture = Fixture::new();
    for number in 0..8u8 {
        let (updatable, in_order, profiled) = (number & 1 != 0, number & 2 != 0, number & 4 != 0);
        let given = description(updatable, in_order, profiled);
        let current = Current::at(Place::LastDevice);
        let buffer = current.after("urCommandBufferCreateExp", || CommandBuffer::with(&fixture, given));
        drop(current);
        let told: [u8; size_of::<ur_exp_command_buffer_desc_t>()] =
            query::get(ask!(CommandBufferExp.pfnGetInfoExp(buffer.handle(), info::DESCRIPTOR)));
        // SAFETY: plain data of that size, whose flags are bytes.
        let told: ur_exp_command_buffer_desc_t = unsafe { core::mem::transmute(told) };
        assert_eq!(told.stype, given.stype);
        assert!(told.pNext.is_null());
        assert_eq!(
            (told.isUpdatable, told.isInOrder, told.enableProfiling),
            (given.isUpdatable, given.isInOrder, given.enableProfiling)
        );
    }
}

#[test]
fn urCommandBufferCreateExp_takes_a_description_without_its_type() {
    let fixture = Fixture::new();
    let given = ur_exp_command_buffer_desc_t { stype: ur_structure_type_t(0), ..description(false, true, false) };
    drop(CommandBuffer::with(&fixture, given));
}

#[test]
fn urCommandBufferCreateExp_refuses_missing_and_wrong_handles_and_makes_nothing() {
    let fixture = Fixture::over_all_devices();
    let (context, device) = (fixture.context(), fixture.device());
    let (given, mut made) = (description(false, false, false), null_mut());
    let (d, out) = (&raw const given, &raw mut made);
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnCreateExp(null_mut(), device, d, out));
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnCreateExp(context, null_mut(), d, out));
    refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnCreateExp(context, device, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnCreateExp(context, device, d, null_mut()));
    refused!(ERROR_INVALID_CONTEXT, CommandBufferExp.pfnCreateExp(device.cast(), device, d, out));
    refused!(ERROR_INVALID_DEVICE, CommandBufferExp.pfnCreateExp(context, context.cast(), d, out));
    if let Some(&second) = fixture.devices.get(1) {
        let one = fixture.context_of(&[device]);
        refused!(ERROR_INVALID_DEVICE, CommandBufferExp.pfnCreateExp(one.handle(), second, d, out));
    }
    assert!(made.is_null());
}

#[test]
fn urCommandBufferRetainExp_and_ReleaseExp_count_references() {
    let fixture = Fixture::new();
    let buffer = CommandBuffer::new(&fixture);
    assert_eq!(references(&buffer), 1);
    ok!(CommandBufferExp.pfnRetainExp(buffer.handle()));
    assert_eq!(references(&buffer), 2);
    ok!(CommandBufferExp.pfnReleaseExp(buffer.handle()));
    assert_eq!(references(&buffer), 1);
    buffer.finalize();
    assert_eq!(references(&buffer), 1);
    assert_eq!(buffer.release(), Code::SUCCESS);
}

#[test]
fn urCommandBufferGetInfoExp_answers_every_property_by_the_rules_of_queries() {
    let fixture = Fixture::new();
    let buffer = CommandBuffer::new(&fixture);
    let answered =
        check_every_property!(ur_exp_command_buffer_info_t, &[], CommandBufferExp.pfnGetInfoExp(buffer.handle()));
    assert_eq!(answered.len(), 2, "{answered:?}");
}

#[test]
fn the_device_tells_what_its_command_buffers_can_do() {
    let fixture = Fixture::new();
    assert!(device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_SUPPORT_EXP));
    assert!(device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP));
    let property = ur_device_info_t::COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP;
    let updates = Updates::from_bits_retain(query::get(ask!(Device.pfnGetInfo(fixture.device(), property))));
    let all_of_a_launch = Updates::KERNEL_ARGUMENTS
        | Updates::LOCAL_WORK_SIZE
        | Updates::GLOBAL_WORK_SIZE
        | Updates::GLOBAL_WORK_OFFSET
        | Updates::KERNEL_HANDLE;
    assert!(updates.contains(all_of_a_launch), "{updates:?}");
    let events = device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP);
    assert!(events || !updates.contains(Updates::EVENTS), "events of commands cannot be changed where there are none");
}

#[test]
fn urCommandBufferFinalizeExp_ends_recording_once() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    for in_order in [false, true] {
        let buffer = CommandBuffer::with(&fixture, description(false, in_order, false));
        buffer.fill(memory.pointer(), &[1u32], 4, &[]);
        buffer.finalize();
        refused!(ERROR_INVALID_OPERATION, CommandBufferExp.pfnFinalizeExp(buffer.handle()));
        let (b, to, unit, mut point) = (buffer.handle(), memory.at(4), 5u32, u32::MAX);
        let (from, none, event) = ((&raw const unit).cast(), null(), null_mut());
        refused!(
            ERROR_INVALID_OPERATION,
            CommandBufferExp.pfnAppendUSMFillExp(
                b,
                to,
                from,
                4,
                4,
                0,
                none,
                0,
                null(),
                &raw mut point,
                event,
                null_mut()
            )
        );
        assert_eq!(point, u32::MAX);
        memory.write(&queue, &[0u32; 2]);
        buffer.on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 2), [1, 0]);
    }
}

#[test]
fn an_empty_buffer_can_be_finalised_and_launched() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = CommandBuffer::new(&fixture);
    buffer.finalize();
    let event = buffer.event_on(&queue, &[]);
    event.wait();
    queue.finish();
}

#[test]
fn a_buffer_that_is_released_before_it_is_finalised_leaves_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 64);
    for finalised in [false, true] {
        let buffer = CommandBuffer::new(&fixture);
        let first = buffer.fill(memory.pointer(), &[1u8], 64, &[]);
        buffer.fill(memory.pointer(), &[1u8, 2, 3], 63, &[first]);
        if finalised {
            buffer.finalize();
        }
        drop(buffer);
    }
}

#[test]
fn urCommandBufferGetNativeHandleExp_tells_one_graph_for_the_life_of_the_buffer() {
    let fixture = Fixture::new();
    let (one, other) = (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    let native = one.native();
    assert_ne!(native, other.native());
    one.finalize();
    assert_eq!(one.native(), native);
    refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnGetNativeHandleExp(one.handle(), null_mut()));
}

#[test]
fn a_failed_finalising_can_be_tried_again() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::new(&fixture);
    buffer.fill(memory.pointer(), &[3u32], 4, &[]);
    let (_, calls) = sim.calls_of(|| {
        let probe = CommandBuffer::new(&fixture);
        probe.finalize();
    });
    let instantiate = calls.keys().find(|name| name.contains("GraphInstantiate")).expect("finalising instantiates");
    sim.fail(instantiate, 1, ur_conformance::sim::status::OUT_OF_MEMORY);
    let answer = ur!(CommandBufferExp.pfnFinalizeExp(buffer.handle()));
    let codes = [Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_OUT_OF_RESOURCES, Code::ERROR_OUT_OF_HOST_MEMORY];
    assert!(codes.contains(&answer), "{answer:?}");
    refused!(
        ERROR_INVALID_OPERATION,
        EnqueueExp.pfnCommandBufferExp(queue.handle(), buffer.handle(), 0, null(), null_mut())
    );
    buffer.run(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [3]);
}
