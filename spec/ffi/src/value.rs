//! Facts about the API for tools that print, trace or patch it: types behind queries, functions and slots.

use core::fmt;

use crate::ur_function_t;

/// The type of the value that a query answers with.
#[derive(Clone, Copy, Debug)]
pub struct ValueType {
    /// The type as the specification writes it.
    pub c_name: &'static str,
    /// What one element is.
    pub element: Element,
    /// How many elements there are.
    pub count: Count,
}

/// How many elements a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// Always this many.
    Fixed(usize),
    /// As many as fit the size that the query reports.
    Many,
    /// A string that ends with a zero byte.
    Text,
}

/// What one element of a value is.
#[derive(Clone, Copy)]
pub enum Element {
    /// `uint8_t` and characters.
    U8,
    /// `uint16_t`.
    U16,
    /// `uint32_t`.
    U32,
    /// `uint64_t`.
    U64,
    /// `int32_t`.
    I32,
    /// `int64_t`.
    I64,
    /// `float`.
    F32,
    /// `size_t` and integers of a pointer's size.
    Size,
    /// A byte that is zero or not.
    Bool,
    /// A 32-bit enumeration, with the function that names a value.
    Enum(fn(u32) -> Option<&'static str>),
    /// A 32-bit set of flags, with the name of each.
    Flags(&'static [(&'static str, u32)]),
    /// An opaque handle.
    Handle,
    /// A plain address.
    Pointer,
    /// A structure.
    Struct {
        /// Its size in bytes.
        size: usize,
    },
}

impl Element {
    /// The size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Element::U8 | Element::Bool => 1,
            Element::U16 => 2,
            Element::U32 | Element::I32 | Element::F32 | Element::Enum(_) | Element::Flags(_) => 4,
            Element::U64 | Element::I64 => 8,
            Element::Size | Element::Handle | Element::Pointer => size_of::<usize>(),
            Element::Struct { size } => size,
        }
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Element::U8 => "U8",
            Element::U16 => "U16",
            Element::U32 => "U32",
            Element::U64 => "U64",
            Element::I32 => "I32",
            Element::I64 => "I64",
            Element::F32 => "F32",
            Element::Size => "Size",
            Element::Bool => "Bool",
            Element::Enum(_) => "Enum",
            Element::Flags(_) => "Flags",
            Element::Handle => "Handle",
            Element::Pointer => "Pointer",
            Element::Struct { .. } => "Struct",
        })
    }
}

/// A function of the API.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub id: ur_function_t,
    /// Where the table has it that the list is about; `None` for what the loader alone implements.
    pub slot: Option<SlotInfo>,
}

/// A function's place in a table of tables: a release's `ur_dditable_t`, [`ExtensionTables`](crate::ExtensionTables), or
/// [`AllFunctions`](crate::releases::any::AllFunctions), which has both.
#[derive(Clone, Copy, Debug)]
pub struct SlotInfo {
    /// The table's field, such as `Context`.
    pub table: &'static str,
    /// The function's field in the table, such as `pfnCreate`.
    pub field: &'static str,
    /// Its number in the table.
    pub index: usize,
    /// Its offset in the table of tables in bytes.
    pub offset: usize,
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;
    use crate::releases::{Release, any, v2026_1, v2026_2};
    use crate::*;

    #[test]
    fn every_query_with_a_type_has_an_element_of_a_size() {
        let typed = ur_device_info_t::VALUES.iter().filter_map(|query| query.value_type());
        assert!(typed.clone().count() > 100);
        assert!(typed.clone().all(|ty| ty.element.size() > 0));
    }

    #[test]
    fn names_of_enumerators_and_flags_are_reachable_from_a_query() {
        let ty = ur_device_info_t::TYPE.value_type().expect("the device type has a type");
        let Element::Enum(name) = ty.element else { panic!("{ty:?}") };
        assert_eq!(name(ur_device_type_t::GPU.0), Some("UR_DEVICE_TYPE_GPU"));
        let ty = ur_queue_info_t::FLAGS.value_type().expect("queue flags have a type");
        let Element::Flags(names) = ty.element else { panic!("{ty:?}") };
        assert!(names.contains(&("UR_QUEUE_FLAG_PROFILING_ENABLE", 2)));
    }

    #[test]
    fn values_are_listed_in_order_and_once() {
        assert!(ur_device_info_t::VALUES.is_sorted_by(|a, b| a < b));
        assert!(ur_result_t::VALUES.is_sorted_by(|a, b| a < b));
        assert!(ur_api_version_t::VALUES.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_slot_offset_leads_to_the_function_pointer() {
        let lists = [
            (any::FUNCTIONS, offset_of!(any::AllFunctions, Queue.pfnFinish)),
            (Release::R2026_1.functions(), offset_of!(v2026_1::ur_dditable_t, Queue.pfnFinish)),
            (Release::R2026_2.functions(), offset_of!(v2026_2::ur_dditable_t, Queue.pfnFinish)),
        ];
        for (functions, offset) in lists {
            let finish = functions.iter().find(|f| f.name == "urQueueFinish").expect("a function");
            let slot = finish.slot.expect("an adapter has it");
            assert_eq!((slot.offset, slot.table, slot.field), (offset, "Queue", "pfnFinish"));
            assert_eq!(finish.id, ur_function_t::QUEUE_FINISH);
        }
    }

    #[test]
    fn every_function_of_a_release_has_a_place_among_all_functions_and_none_is_there_twice() {
        let names =
            |list: &'static [FunctionInfo]| -> Vec<&str> { list.iter().map(|function| function.name).collect() };
        let all = names(any::FUNCTIONS);
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
        let extensions = names(EXTENSION_FUNCTIONS);
        let own: Vec<&str> =
            Release::ALL.iter().flat_map(|release| names(release.functions())).chain(extensions.clone()).collect();
        assert!(Release::ALL.iter().all(|release| names(release.functions()).iter().all(|f| !extensions.contains(f))));
        assert!(own.iter().all(|name| all.contains(name)) && all.iter().all(|name| own.contains(name)));
    }

    /// Written down by hand from the releases' headers: the numbers that moved, and their neighbours.
    #[test]
    fn numbers_of_an_older_release_mean_what_its_headers_say() {
        use ur_device_info_t as info;
        let old = Release::R2026_1;
        let known = [
            (130, Some(info::NODE_MASK)),
            (131, None),
            (132, None),
            (133, Some(info::XE_STACK_COUNT)),
            (138, Some(info::MAX_LANES_PER_HW_THREAD)),
            (139, None),
            (0x2024, None),
            (0x2023, Some(info(0x2023))),
        ];
        for (number, meaning) in known {
            assert_eq!(info(number).of_release(old), meaning, "{number}");
            assert_eq!(info(number).of_release(Release::NEWEST), Some(info(number)));
        }
        assert_eq!((info::XE_STACK_COUNT.0, info::XE_STACK_COUNT.in_release(old)), (134, Some(info(133))));
        assert_eq!(info::MAX_WORK_GROUPS.in_release(old), None);
        for value in info::VALUES {
            let back = value.in_release(old).map(|number| number.of_release(old));
            assert!(back.is_none_or(|back| back == Some(*value)), "{value:?}");
        }
        assert_eq!(ur_physical_mem_flags_t::mask(old), !1);
        assert_eq!(ur_physical_mem_flags_t::mask(Release::R2026_2), !2);
    }

    #[test]
    fn unknown_values_are_shown_as_numbers_and_unknown_flags_are_kept() {
        assert_eq!(format!("{:?}", ur_result_t(0x1234)), "ur_result_t(0x1234)");
        assert_eq!(format!("{:?}", ur_result_t::SUCCESS), "UR_RESULT_SUCCESS");
        let odd = ur_queue_flags_t::from_bits_retain(0x8000_0000) | ur_queue_flags_t::PROFILING_ENABLE;
        assert_eq!(odd.bits(), 0x8000_0002);
        assert_ne!(odd.bits() & UR_QUEUE_FLAGS_MASK, 0);
    }

    #[test]
    fn a_default_structure_carries_its_tag() {
        let properties = ur_queue_properties_t::default();
        assert_eq!(properties.stype, ur_structure_type_t::QUEUE_PROPERTIES);
        assert!(properties.pNext.is_null());
        assert!(properties.flags.is_empty());
    }
}
