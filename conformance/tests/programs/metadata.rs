//! What a compiler says of a program beside its image, and the addresses of what a program holds.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_kernel_group_info_t as group, ur_program_info_t as info, ur_program_metadata_t,
    ur_program_metadata_type_t as Type, ur_program_metadata_value_t, ur_program_properties_t, ur_result_t as Code,
    ur_structure_type_t,
};
use ur_conformance::{
    Environment, Fixture, Kernel, Kind, Launch, Program, ask, expect_code, needs_sim, ok, query, refused, ur,
};

/// A byte array as compilers write it: its size in 8 bytes, then its contents.
fn array(contents: &[u8]) -> Vec<u8> {
    [&(contents.len() as u64).to_le_bytes(), contents].concat()
}

fn sizes(numbers: &[u32]) -> Vec<u8> {
    array(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

/// A byte array's entry, whose bytes must outlive it.
fn bytes(name: &CStr, value: &[u8]) -> ur_program_metadata_t {
    ur_program_metadata_t {
        pName: name.as_ptr(),
        type_: Type::BYTE_ARRAY,
        size: value.len(),
        value: ur_program_metadata_value_t { pData: value.as_ptr().cast_mut().cast() },
    }
}

fn create(fixture: &Fixture, entries: &[ur_program_metadata_t]) -> Result<Program, Code> {
    let properties = ur_program_properties_t {
        stype: ur_structure_type_t::PROGRAM_PROPERTIES,
        pNext: null_mut(),
        count: u32::try_from(entries.len()).unwrap(),
        pMetadatas: entries.as_ptr(),
    };
    fixture.unbuilt_with(&Environment::get().image("basic.ptx"), &raw const properties)
}

fn built(fixture: &Fixture, entries: &[ur_program_metadata_t]) -> Program {
    let program = create(fixture, entries).expect("the metadata is right");
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    program
}

fn of_kernel(fixture: &Fixture, kernel: &Kernel, property: group) -> Vec<usize> {
    query::list(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)))
}

fn suggested(kernel: &Kernel, queue: &ur_conformance::Queue, global: &[usize]) -> Vec<usize> {
    let (mut found, zero) = (vec![0; global.len()], vec![0; global.len()]);
    let dimensions = u32::try_from(global.len()).unwrap();
    ok!(Kernel.pfnGetSuggestedLocalWorkSize(
        kernel.handle(),
        queue.handle(),
        dimensions,
        zero.as_ptr(),
        global.as_ptr(),
        found.as_mut_ptr()
    ));
    found
}

#[test]
fn a_required_work_group_size_is_told_suggested_used_and_enforced() {
    let fixture = Fixture::new();
    let value = sizes(&[16, 2]);
    let program = built(&fixture, &[bytes(c"ids@reqd_work_group_size", &value)]);
    let (kernel, queue) = (fixture.kernel(&program, c"ids"), fixture.in_order());
    assert_eq!(of_kernel(&fixture, &kernel, group::COMPILE_WORK_GROUP_SIZE), [16, 2, 1]);
    assert_eq!(suggested(&kernel, &queue, &[64, 4]), [16, 2]);
    let out = fixture.memory(Kind::Device, 4 * 64 * 4);
    let launch = Launch::new(&kernel, &[64, 4]).pointer(out.pointer());
    launch.on(&queue);
    launch.clone().local(&[16, 2]).on(&queue);
    for wrong in [[32, 1], [2, 16], [16, 1]] {
        launch.clone().local(&wrong).refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], &queue);
    }
    // No work-groups of that size make up such a range.
    let odd = Launch::new(&kernel, &[63, 4]).pointer(out.pointer());
    odd.refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], &queue);
    queue.finish();

    let other = fixture.kernel(&program, c"fill");
    assert_eq!(of_kernel(&fixture, &other, group::COMPILE_WORK_GROUP_SIZE), [0; 3], "of that kernel nothing is said");
}

#[test]
fn a_launch_without_a_local_size_has_groups_of_the_required_size() {
    let fixture = Fixture::new();
    let value = sizes(&[8]);
    let program = built(&fixture, &[bytes(c"shape@reqd_work_group_size", &value)]);
    let (kernel, queue) = (fixture.kernel(&program, c"shape"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 12 * 3);
    Launch::new(&kernel, &[24]).pointer(out.pointer()).on(&queue);
    let found = out.read::<u32>(&queue, 12 * 3);
    assert_eq!(found[3..6], [8, 1, 1], "threads of a block");
    assert_eq!(found[9..12], [3, 1, 1], "blocks");
}

#[test]
fn largest_work_group_sizes_are_told_and_enforced() {
    let fixture = Fixture::new();
    let value = sizes(&[64, 4, 1]);
    let linear = ur_program_metadata_t {
        pName: c"ids@max_linear_work_group_size".as_ptr(),
        type_: Type::UINT64,
        size: 8,
        value: ur_program_metadata_value_t { data64: 128 },
    };
    let program = built(&fixture, &[bytes(c"ids@max_work_group_size", &value), linear]);
    let (kernel, queue) = (fixture.kernel(&program, c"ids"), fixture.in_order());
    assert_eq!(of_kernel(&fixture, &kernel, group::COMPILE_MAX_WORK_GROUP_SIZE), [64, 4, 1]);
    assert_eq!(of_kernel(&fixture, &kernel, group::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE), [128]);
    assert_eq!(of_kernel(&fixture, &kernel, group::WORK_GROUP_SIZE), [128]);
    let out = fixture.memory(Kind::Device, 4 * 256 * 8);
    let launch = Launch::new(&kernel, &[256, 8]).pointer(out.pointer());
    launch.on(&queue);
    launch.clone().local(&[64, 2]).on(&queue);
    for wrong in [[128, 1], [1, 8], [64, 4]] {
        launch.clone().local(&wrong).refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], &queue);
    }
    let local = suggested(&kernel, &queue, &[256, 8]);
    assert!(local[0] <= 64 && local[1] <= 4 && local[0] * local[1] <= 128, "{local:?}");
    queue.finish();
}

#[test]
fn metadata_that_cannot_be_right_is_refused_by_name_and_strange_tags_are_passed_over() {
    let fixture = Fixture::new();
    let (none, zero, many, short) = (array(&[]), sizes(&[1, 0]), sizes(&[1, 1, 1, 1]), array(&[1, 2, 3]));
    for wrong in [&none, &zero, &many, &short] {
        let answer = create(&fixture, &[bytes(c"ids@reqd_work_group_size", wrong)]).err();
        assert_eq!(answer, Some(Code::ERROR_INVALID_VALUE), "{wrong:?}");
        let words = ur_conformance::last_error();
        assert!(words.contains("ids@reqd_work_group_size"), "{words}");
    }
    let number = ur_program_metadata_t {
        pName: c"ids@reqd_work_group_size".as_ptr(),
        type_: Type::UINT32,
        size: 4,
        value: ur_program_metadata_value_t { data32: 7 },
    };
    assert_eq!(create(&fixture, &[number]).err(), Some(Code::ERROR_INVALID_VALUE));
    let nameless = ur_program_metadata_t { pName: null(), ..number };
    assert_eq!(create(&fixture, &[nameless]).err(), Some(Code::ERROR_INVALID_NULL_POINTER));
    let strange = [
        ur_program_metadata_t { pName: c"ids@some_later_tag".as_ptr(), ..number },
        ur_program_metadata_t { pName: c"Requires finalization".as_ptr(), ..number },
    ];
    assert!(create(&fixture, &strange).is_ok());
}

fn variable(fixture: &Fixture, program: &Program, name: &CStr) -> Result<(*mut c_void, usize), Code> {
    let (mut pointer, mut size) = (null_mut(), 0);
    let (device, name) = (fixture.device(), name.as_ptr());
    let (size_out, out) = (&raw mut size, &raw mut pointer);
    match ur!(Program.pfnGetGlobalVariablePointer(device, program.handle(), name, size_out, out)) {
        Code::SUCCESS => Ok((pointer, size)),
        code => {
            assert!(pointer.is_null() && size == 0, "a refused question touched an output");
            Err(code)
        }
    }
}

#[test]
fn urProgramGetGlobalVariablePointer_finds_what_kernels_use() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let queue = fixture.in_order();
    let (table, size) = variable(&fixture, &program, c"table").expect("the program has a table");
    assert_eq!(size, 32);
    let mut found = [0u32; 8];
    let blocking = ur_conformance::ffi::CBool::TRUE;
    let (q, to) = (queue.handle(), found.as_mut_ptr().cast());
    ok!(Enqueue.pfnUSMMemcpy(q, blocking, to, table.cast_const(), 32, 0, null(), null_mut()));
    assert_eq!(found, [1, 2, 4, 8, 16, 32, 64, 128]);
    let (counter, size) = variable(&fixture, &program, c"counter").expect("the program has a counter");
    assert_eq!(size, 4);
    let start = 41u32;
    let from = (&raw const start).cast();
    ok!(Enqueue.pfnUSMMemcpy(q, blocking, counter, from, 4, 0, null(), null_mut()));
    let kernel = fixture.kernel(&program, c"module_variables");
    let (out, scaled) = (fixture.memory(Kind::Device, 36), fixture.memory(Kind::Device, 4));
    Launch::new(&kernel, &[8]).local(&[8]).pointer(out.pointer()).pointer(scaled.pointer()).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 9)[8], 42, "the kernel counts where the host wrote");
}

#[test]
fn urProgramGetGlobalVariablePointer_goes_by_the_names_of_the_metadata() {
    let fixture = Fixture::new();
    let symbol = array(b"counter");
    let program = built(&fixture, &[bytes(c"my_device_global@global_id_mapping", &symbol)]);
    let mapped = variable(&fixture, &program, c"my_device_global").expect("mapped to a symbol");
    assert_eq!(Ok(mapped), variable(&fixture, &program, c"counter"));
}

#[test]
fn urProgramGetGlobalVariablePointer_refuses_what_is_not_there() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    for name in [c"", c"count", c"fill", c"no_such_variable"] {
        assert_eq!(variable(&fixture, &program, name), Err(Code::ERROR_INVALID_VALUE), "{name:?}");
    }
    let unbuilt = fixture.unbuilt(&Environment::get().image("basic.ptx")).expect("PTX is an image");
    assert_eq!(variable(&fixture, &unbuilt, c"counter"), Err(Code::ERROR_INVALID_PROGRAM_EXECUTABLE));
    let (device, handle, mut pointer) = (fixture.device(), program.handle(), null_mut());
    let out = &raw mut pointer;
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnGetGlobalVariablePointer(device, handle, null(), null_mut(), out));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Program.pfnGetGlobalVariablePointer(device, handle, c"table".as_ptr(), null_mut(), null_mut())
    );
    ok!(Program.pfnGetGlobalVariablePointer(device, handle, c"table".as_ptr(), null_mut(), out));
    assert!(!pointer.is_null(), "the size need not be asked for");
}

#[test]
fn urProgramGetFunctionPointer_tells_apart_what_is_there_and_what_is_not() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let mut pointer = null_mut();
    let ask =
        |name: &CStr, out| ur!(Program.pfnGetFunctionPointer(fixture.device(), program.handle(), name.as_ptr(), out));
    let there = ask(c"fill", &raw mut pointer);
    expect_code(there, &[Code::SUCCESS, Code::ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE], "urProgramGetFunctionPointer");
    assert_eq!(there == Code::SUCCESS, !pointer.is_null());
    pointer = null_mut();
    for name in [c"", c"fil", c"counter"] {
        expect_code(
            ask(name, &raw mut pointer),
            &[Code::ERROR_INVALID_KERNEL_NAME],
            "urProgramGetFunctionPointer of nothing",
        );
    }
    expect_code(ask(c"fill", null_mut()), &[Code::ERROR_INVALID_NULL_POINTER], "urProgramGetFunctionPointer");
    assert!(pointer.is_null());
}

#[test]
fn urProgramGetInfo_KERNEL_NAMES_lists_what_urKernelCreate_finds() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let mut size = 0;
    let handle = program.handle();
    if ur!(Program.pfnGetInfo(handle, info::KERNEL_NAMES, 0, null_mut(), &raw mut size))
        == Code::ERROR_UNSUPPORTED_ENUMERATION
    {
        println!("skipped: the native library does not list kernels");
        return;
    }
    let names = query::text(ask!(Program.pfnGetInfo(handle, info::KERNEL_NAMES)));
    let names: Vec<&str> = names.split(';').collect();
    let count: usize = query::get(ask!(Program.pfnGetInfo(handle, info::NUM_KERNELS)));
    assert_eq!(names.len(), count);
    for expected in ["empty", "fill", "iota", "shape"] {
        assert!(names.contains(&expected), "{expected} in {names:?}");
    }
    for name in names {
        drop(fixture.kernel(&program, &std::ffi::CString::new(name).unwrap()));
    }
    let unbuilt = fixture.unbuilt(&Environment::get().image("basic.ptx")).expect("PTX is an image");
    refused!(
        ERROR_INVALID_PROGRAM_EXECUTABLE,
        Program.pfnGetInfo(unbuilt.handle(), info::NUM_KERNELS, 0, null_mut(), &raw mut size)
    );
}

/// Of variables alone. Drivers refuse lists without room of graphs, so none is asked for here either.
#[test]
fn urProgramGetInfo_NUM_KERNELS_and_KERNEL_NAMES_of_a_program_without_kernels_are_none_without_a_list() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let text = b".version 6.0\n.target sm_60\n.address_size 64\n.visible .global .align 4 .u32 only;\n";
    let program = fixture.unbuilt(text).expect("PTX is an image");
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    let (handle, mut size) = (program.handle(), 0);
    if ur!(Program.pfnGetInfo(handle, info::KERNEL_NAMES, 0, null_mut(), &raw mut size))
        == Code::ERROR_UNSUPPORTED_ENUMERATION
    {
        println!("skipped: the native library does not list kernels");
        return;
    }
    let told = || {
        let count: usize = query::get(ask!(Program.pfnGetInfo(handle, info::NUM_KERNELS)));
        (count, query::text(ask!(Program.pfnGetInfo(handle, info::KERNEL_NAMES))))
    };
    let (told, calls) = sim.calls_of(told);
    assert_eq!((told, calls.get("cuModuleEnumerateFunctions")), ((0, String::new()), None));
}
