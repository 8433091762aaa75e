//! What `docs/coverage.md` calls unsupported is: every such function, called in the adapter's own table with nothing but
//! zeros, answers so, or with what is wrong with its arguments where it looks at them first. The document is
//! written from the map of the engine's entry points; here it is held against a built adapter, which must be this project's.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use std::collections::{BTreeMap, BTreeSet};

use ur_conformance::ffi::EXTENSION_FUNCTIONS;
use ur_conformance::ffi::releases::Release;
use ur_conformance::ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::{Fixture, has_function, needs_ours};

const DOCUMENT: &str = include_str!("../../../docs/coverage.md");

/// A C function that can be called with zeros: nulls, empty sets and no numbers.
trait WithNothing {
    /// # Safety
    /// The function follows no null.
    unsafe fn with_nothing(self) -> Code;
}

macro_rules! with_nothing {
    ($($argument:ident)*) => {
        impl<$($argument),*> WithNothing for unsafe extern "C" fn($($argument),*) -> Code {
            unsafe fn with_nothing(self) -> Code {
                // SAFETY: arguments of the ABI are pointers, numbers and sets of bits, for all of which zero is a value;
                // the rest is the caller's promise.
                unsafe { self($(core::mem::zeroed::<$argument>()),*) }
            }
        }
    };
}

with_nothing!(A);
with_nothing!(A B);
with_nothing!(A B C);
with_nothing!(A B C D);
with_nothing!(A B C D E);
with_nothing!(A B C D E F);
with_nothing!(A B C D E F G);
with_nothing!(A B C D E F G H);
with_nothing!(A B C D E F G H I);
with_nothing!(A B C D E F G H I J);
with_nothing!(A B C D E F G H I J K);
with_nothing!(A B C D E F G H I J K L);
with_nothing!(A B C D E F G H I J K L M);
with_nothing!(A B C D E F G H I J K L M N);
with_nothing!(A B C D E F G H I J K L M N O);
with_nothing!(A B C D E F G H I J K L M N O P);
with_nothing!(A B C D E F G H I J K L M N O P Q);

/// Calls each of the slots with zeros, and gives the answers by the functions' names.
macro_rules! answers {
    ($of:expr; $($table:ident { $($slot:ident)* })*) => {{
        let of: &AllFunctions = $of;
        let mut answers = BTreeMap::new();
        $($({
            let at = core::mem::offset_of!(AllFunctions, $table.$slot);
            let slots = FUNCTIONS.iter().filter_map(|function| Some((function.name, function.slot?.offset)));
            let name = slots.filter(|(_, offset)| *offset == at).map(|(name, _)| name).next();
            let name = name.expect("every slot has a function");
            if has_function(name) {
                let function = of.$table.$slot.expect("every slot is filled");
                // SAFETY: this project's adapters refuse nulls, and what they do not support looks at nothing.
                answers.insert(name, unsafe { function.with_nothing() });
            }
        })*)*
        answers
    }};
}

fn table() -> &'static AllFunctions {
    ur_conformance::adapter_functions()
}

/// The functions with these words in the columns of both backends.
fn called(word: &str) -> BTreeSet<&'static str> {
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `ur").map(|_| line));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter(|row| row[2] == word && row[3] == word).map(|row| row[1].trim_matches('`')).collect()
}

/// Functions that look at their arguments before they say that they can do nothing.
fn asked_first(table: &'static AllFunctions) -> BTreeMap<&'static str, Code> {
    answers!(table;
    Platform { pfnGetNativeHandle pfnCreateWithNativeHandle }
    Device { pfnPartition }
    Program { pfnGetFunctionPointer }
    ProgramExp { pfnDynamicLinkExp }
    Kernel { pfnSetSpecializationConstants })
}

/// Functions that nothing answers.
fn left_out(table: &'static AllFunctions) -> BTreeMap<&'static str, Code> {
    answers!(table;
    Enqueue {
        pfnReadHostPipe pfnWriteHostPipe
    }
    BindlessImagesExp {
        pfnUnsampledImageHandleDestroyExp pfnSampledImageHandleDestroyExp pfnImageAllocateExp
        pfnImageFreeExp pfnUnsampledImageCreateExp pfnSampledImageCreateExp pfnImageCopyExp
        pfnImageGetInfoExp pfnGetImageMemoryHandleTypeSupportExp pfnGetImageUnsampledHandleSupportExp
            pfnGetImageSampledHandleSupportExp pfnMipmapGetLevelExp pfnMipmapFreeExp pfnMapExternalArrayExp
        })
}

#[test]
fn a_function_that_the_document_calls_unsupported_answers_so_to_anything() {
    let _fixture = Fixture::new();
    needs_ours!("are what docs/coverage.md tells of, and refuse nulls themselves");
    for (name, answer) in left_out(table()) {
        assert_eq!(answer, Code::ERROR_UNSUPPORTED_FEATURE, "{name}");
    }
    for (name, answer) in asked_first(table()) {
        assert!(
            [Code::ERROR_INVALID_NULL_HANDLE, Code::ERROR_INVALID_NULL_POINTER].contains(&answer),
            "{name}: {answer:?}"
        );
    }
}

#[test]
fn the_functions_tried_here_are_those_that_the_document_calls_unsupported_for_both_backends() {
    let _fixture = Fixture::new();
    needs_ours!("are what docs/coverage.md tells of, and refuse nulls themselves");
    let tried: BTreeSet<&str> = left_out(table()).into_keys().chain(asked_first(table()).into_keys()).collect();
    let named: BTreeSet<&str> = called("unsupported").into_iter().filter(|name| has_function(name)).collect();
    assert_eq!(tried, named);
}

#[test]
fn the_document_has_a_row_for_every_function_of_the_newest_release_and_of_the_extensions() {
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rows: BTreeSet<&str> = rows.filter(|name| name.starts_with("ur")).collect();
    let all = Release::NEWEST.functions().iter().chain(EXTENSION_FUNCTIONS);
    let all: BTreeSet<&str> = all.map(|function| function.name).collect();
    assert_eq!(rows, all);
    assert_eq!(called("loader").len(), 10, "the loader's own functions and urDeviceGetSelected");
}
