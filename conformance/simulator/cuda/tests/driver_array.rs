//! Arrays, texture and surface objects: the real driver's answers, as measured on an H200.

#[macro_use]
mod driver;
use core::ptr::null;
use driver::*;
use simcuda::sys::*;

fn shape(width: usize, height: usize, depth: usize) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format: 0x20, num_channels: 1, flags: CUDA_ARRAY3D_SURFACE_LDST }
}

fn resource(array: Handle) -> CUDA_RESOURCE_DESC {
    CUDA_RESOURCE_DESC { kind: CU_RESOURCE_TYPE_ARRAY, array, rest: [0; 15], flags: 0 }
}

fn reading() -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        address_mode: [1; 3],
        filter_mode: 0,
        flags: 0,
        max_anisotropy: 0,
        mipmap_filter_mode: 0,
        mipmap: [0.0; 3],
        border_color: [0.0; 4],
        reserved: [0; 12],
    }
}

/// The same with layers in place of slices.
fn layered(shape: CUDA_ARRAY3D_DESCRIPTOR) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR { flags: shape.flags | 1, ..shape }
}

/// A copy between an array and host memory of packed floats.
fn copy(array: Handle, host: *mut f32, to_array: bool, extent: [usize; 3]) -> CUDA_MEMCPY3D {
    // SAFETY: numbers alone, of which 0 is one.
    let mut copy: CUDA_MEMCPY3D = unsafe { core::mem::zeroed() };
    let [width, height, depth] = extent;
    (copy.width, copy.height, copy.depth) = (4 * width, height, depth);
    if to_array {
        (copy.src_type, copy.src_host, copy.src_pitch, copy.src_height) =
            (CU_MEMORYTYPE_HOST, host as u64, 4 * width, height);
        (copy.dst_type, copy.dst_array) = (CU_MEMORYTYPE_ARRAY, array);
    } else {
        (copy.dst_type, copy.dst_host, copy.dst_pitch, copy.dst_height) =
            (CU_MEMORYTYPE_HOST, host as u64, 4 * width, height);
        (copy.src_type, copy.src_array) = (CU_MEMORYTYPE_ARRAY, array);
    }
    copy
}

/// Empties the stack of contexts, so that none is current.
fn no_context() {
    for _ in 0..4 {
        c!(cuCtxSetCurrent(0));
    }
}

#[test]
fn shapes_that_no_array_has_are_refused_and_those_there_are_tell_themselves() {
    let _session = Session::begin();
    let mut array = 7;
    err!(201, cuArray3DCreate_v2(&raw mut array, &shape(4, 4, 4)));
    c!(simcudaClearReports());
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    for bad in [shape(0, 4, 0), shape(4, 0, 4), shape(1 << 20, 4, 0)] {
        err!(1, cuArray3DCreate_v2(&raw mut array, &bad));
    }
    err!(1, cuArray3DCreate_v2(&raw mut array, &CUDA_ARRAY3D_DESCRIPTOR { num_channels: 3, ..shape(4, 4, 0) }));
    err!(1, cuArray3DCreate_v2(&raw mut array, &CUDA_ARRAY3D_DESCRIPTOR { format: 0x15, ..shape(4, 4, 0) }));
    err!(801, cuArray3DCreate_v2(&raw mut array, &CUDA_ARRAY3D_DESCRIPTOR { flags: 4, ..shape(6, 6, 6) }));
    for bad in [shape(4, 0, 0), shape(4, 4, 0), shape(0, 0, 4), shape(4, 0, 2049), shape(4, 4, 2049)] {
        err!(1, cuArray3DCreate_v2(&raw mut array, &layered(bad)));
    }
    for bad in [shape(32769, 0, 1), shape(32769, 4, 1), shape(4, 32769, 1)] {
        err!(1, cuArray3DCreate_v2(&raw mut array, &layered(bad)));
    }
    assert_eq!(array, 7);
    let layers = [layered(shape(9, 0, 2048)), layered(shape(9, 5, 7))];
    for good in [shape(9, 0, 0), shape(9, 5, 0), shape(9, 5, 3)].into_iter().chain(layers) {
        let array: Handle = get!(cuArray3DCreate_v2(&good));
        let mut told = shape(1, 0, 0);
        ok!(cuArray3DGetDescriptor_v2(&raw mut told, array));
        assert_eq!((told.width, told.height, told.depth, told.format), (good.width, good.height, good.depth, 0x20));
        assert_eq!(told.flags, good.flags);
        // Destroying needs no context.
        no_context();
        ok!(cuArrayDestroy(array));
        err!(400, cuArrayDestroy(array));
        c!(cuCtxSetCurrent(context));
    }
    assert_eq!(report_kinds(), ["destroyed-handle"; 5]);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn copies_reach_arrays_of_any_device_without_a_context_and_stay_inside() {
    let _session = Session::begin();
    let (first, second): (Handle, Handle) = (get!(cuCtxCreate_v2(0, 0)), get!(cuCtxCreate_v2(0, 1)));
    let on = |context: Handle| {
        c!(cuCtxSetCurrent(context));
        let array: Handle = get!(cuArray3DCreate_v2(&shape(4, 3, 2)));
        let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        (array, stream)
    };
    let ((a, on_first), (b, on_second)) = (on(first), on(second));
    no_context();
    let mut values: Vec<f32> = (0..24).map(|value| value as f32).collect();
    let mut found = vec![0f32; 24];
    let whole = [4, 3, 2];
    ok!(cuMemcpy3DAsync_v2(&copy(a, values.as_mut_ptr(), true, whole), on_first));
    ok!(cuStreamSynchronize(on_first));
    let mut between = copy(a, core::ptr::null_mut(), false, whole);
    (between.dst_type, between.dst_host, between.dst_array) = (CU_MEMORYTYPE_ARRAY, 0, b);
    ok!(cuMemcpy3DAsync_v2(&between, on_second));
    ok!(cuMemcpy3DAsync_v2(&copy(b, found.as_mut_ptr(), false, whole), on_second));
    ok!(cuStreamSynchronize(on_second));
    assert_eq!(found, values);
    for outside in [[5, 3, 2], [4, 4, 2], [4, 3, 3]] {
        err!(1, cuMemcpy3DAsync_v2(&copy(a, values.as_mut_ptr(), true, outside), on_first));
    }
    let moved = CUDA_MEMCPY3D { dst_x: 4, ..copy(a, values.as_mut_ptr(), true, whole) };
    err!(1, cuMemcpy3DAsync_v2(&moved, on_first));
    for array in [a, b] {
        ok!(cuArrayDestroy(array));
    }
    ok!(cuCtxDestroy_v2(first));
    ok!(cuCtxDestroy_v2(second));
    assert!(reports().iter().all(|(_, text)| !text.contains("array")), "{:?}", reports());
}

#[test]
fn layers_are_copied_along_the_third_axis_and_the_layers_of_lines_have_one_row() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let array: Handle = get!(cuArray3DCreate_v2(&layered(shape(4, 0, 3))));
    let mut values: Vec<f32> = (0..12).map(|value| value as f32).collect();
    ok!(cuMemcpy3DAsync_v2(&copy(array, values.as_mut_ptr(), true, [4, 1, 3]), stream));
    let mut found = vec![0f32; 4];
    let last = CUDA_MEMCPY3D { src_z: 2, ..copy(array, found.as_mut_ptr(), false, [4, 1, 1]) };
    ok!(cuMemcpy3DAsync_v2(&last, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(found, [8.0, 9.0, 10.0, 11.0]);
    for outside in [[4, 2, 1], [4, 3, 1], [4, 1, 4]] {
        err!(1, cuMemcpy3DAsync_v2(&copy(array, values.as_mut_ptr(), true, outside), stream));
    }
    // The largest pitch holds for rows that are never stepped over, too.
    let mut far = |pitch| CUDA_MEMCPY3D { src_pitch: pitch, ..copy(array, values.as_mut_ptr(), true, [4, 1, 1]) };
    ok!(cuMemcpy3DAsync_v2(&far(1 << 31), stream));
    err!(1, cuMemcpy3DAsync_v2(&far((1 << 31) + 4), stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuArrayDestroy(array));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

/// CUDA 13.0 takes the destination's layers for the source's where both are one array (`docs/probes/array_to_itself.c`).
#[test]
fn a_copy_within_a_layered_array_reads_the_destination_s_layers_and_within_another_the_source_s() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let plain = shape(4, 1, 3);
    for (shape, expected) in [(layered(plain), [8.0, 8.0, 9.0, 10.0]), (plain, [8.0, 0.0, 1.0, 2.0])] {
        let array: Handle = get!(cuArray3DCreate_v2(&shape));
        let mut values: Vec<f32> = (0..12).map(|value| value as f32).collect();
        ok!(cuMemcpy3DAsync_v2(&copy(array, values.as_mut_ptr(), true, [4, 1, 3]), stream));
        // The first three of the first layer to the last three of the last one.
        let within = CUDA_MEMCPY3D {
            dst_type: CU_MEMORYTYPE_ARRAY,
            dst_array: array,
            dst_x: 4,
            dst_z: 2,
            ..copy(array, core::ptr::null_mut(), false, [3, 1, 1])
        };
        ok!(cuMemcpy3DAsync_v2(&within, stream));
        let mut found = vec![0f32; 4];
        let last = CUDA_MEMCPY3D { src_z: 2, ..copy(array, found.as_mut_ptr(), false, [4, 1, 1]) };
        ok!(cuMemcpy3DAsync_v2(&last, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(found, expected);
        ok!(cuArrayDestroy(array));
    }
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn objects_are_the_current_context_s_and_so_is_destroying_them() {
    let _session = Session::begin();
    let (first, second): (Handle, Handle) = (get!(cuCtxCreate_v2(0, 0)), get!(cuCtxCreate_v2(0, 1)));
    c!(cuCtxSetCurrent(first));
    let array: Handle = get!(cuArray3DCreate_v2(&shape(4, 3, 0)));
    let (mut texture, mut surface) = (0u64, 0u64);
    for (context, error) in [(0, 201), (second, 705)] {
        no_context();
        c!(cuCtxSetCurrent(context));
        err!(error, cuTexObjectCreate(&raw mut texture, &resource(array), &reading(), null()));
        err!(error, cuSurfObjectCreate(&raw mut surface, &resource(array)));
    }
    c!(cuCtxSetCurrent(first));
    err!(
        1,
        cuTexObjectCreate(
            &raw mut texture,
            &resource(array),
            &CUDA_TEXTURE_DESC { address_mode: [9; 3], ..reading() },
            null()
        )
    );
    ok!(cuTexObjectCreate(&raw mut texture, &resource(array), &reading(), null()));
    ok!(cuSurfObjectCreate(&raw mut surface, &resource(array)));
    no_context();
    err!(201, cuTexObjectDestroy(texture));
    err!(201, cuSurfObjectDestroy(surface));
    c!(cuCtxSetCurrent(first));
    c!(simcudaClearReports());
    ok!(cuTexObjectDestroy(texture));
    ok!(cuSurfObjectDestroy(surface));
    assert!(leaks().contains(&("array".to_owned(), 1)));
    // What is left in a context goes with it, and is told.
    let left: u64 = get!(cuSurfObjectCreate(&resource(array)));
    ok!(cuCtxDestroy_v2(first));
    assert!(
        reports().iter().any(|(kind, text)| kind == "leak" && text.contains("1 arrays, 1 texture")),
        "{:?}",
        reports()
    );
    c!(cuCtxSetCurrent(second));
    err!(400, cuSurfObjectDestroy(left));
    ok!(cuCtxDestroy_v2(second));
    assert_eq!(c!(simcudaLeakCount()), 0);
}
