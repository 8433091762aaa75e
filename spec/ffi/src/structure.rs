//! Which structure a tag in a `pNext` chain names. The specification says it; the generator writes an `impl` for each
//! structure that has a tag.

use crate::ur_structure_type_t;

/// A structure that begins with `stype` and `pNext` and can be found in a chain by its tag.
///
/// # Safety
/// The type is `repr(C)`, its first two members are `stype` and `pNext`, and no other type has the tag [`Self::STYPE`].
pub unsafe trait Structure: Copy {
    /// The structure's own tag.
    const STYPE: ur_structure_type_t;
}
