//! SPIR-V on a device whose loader takes machine code alone.

use core::ptr::null;

use ur_adapter::api::generated::*;
use ur_adapter::api::noop::Noop;
use ur_ffi::*;

use crate::handles::{Handles, turn};

const MODULE: &[u8] = include_bytes!("../../../../conformance/kernels/spirv/scale.spv");

#[test]
fn urProgramCreateWithIL_says_that_the_device_takes_machine_code_alone() {
    let _turn = turn();
    let handles = Handles::new();
    let create = |bytes: &[u8]| {
        let mut made = core::ptr::without_provenance_mut(0x5a);
        let (context, pointer) = (handles.context(), bytes.as_ptr().cast());
        // SAFETY: a live context, bytes of their length, a writable output.
        let code = unsafe { urProgramCreateWithIL::<Noop>(context, pointer, bytes.len(), null(), &raw mut made) };
        assert_eq!(made.addr(), 0x5a, "outputs stay as they are");
        code
    };
    assert_eq!(create(MODULE), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    assert_eq!(create(&MODULE[..MODULE.len() - 4]), ur_result_t::ERROR_INVALID_BINARY);
}
