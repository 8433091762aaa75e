//! The rules that every `ur*GetInfo` shares, checked for one property at a time against the type that the
//! specification gives it, and short ways to read an answer.

use core::ffi::c_void;
use core::ptr::null_mut;

use ur_ffi::releases::Release;
use ur_ffi::ur_result_t;
use ur_ffi::value::{Count, Element, ValueType};

/// One query with its property bound: size, value, size returned.
pub type Ask<'a> = &'a dyn Fn(usize, *mut c_void, *mut usize) -> ur_result_t;

/// What a property is asked under.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// How messages name the property.
    pub name: &'a str,
    /// Its type.
    pub value_type: Option<ValueType>,
    /// Whether two answers may differ.
    pub changes: bool,
    /// The code for a buffer of size 0.
    pub zero_size: ur_result_t,
}

impl<'a> Rules<'a> {
    /// The usual ones.
    pub fn new(name: &'a str, value_type: Option<ValueType>) -> Self {
        Self { name, value_type, changes: false, zero_size: ur_result_t::ERROR_INVALID_SIZE }
    }
}

const CANARY: u8 = 0xa5;
const UNTOUCHED: usize = 0x5a5a_5a5a;

/// Asks in every right and wrong way. `None` when the adapter says that it cannot answer the property.
///
/// # Panics
/// When an answer breaks a rule.
pub fn check(rules: Rules<'_>, ask: Ask<'_>) -> Option<Vec<u8>> {
    let name = rules.name;
    let mut size = UNTOUCHED;
    match ask(0, null_mut(), &raw mut size) {
        ur_result_t::SUCCESS => {}
        ur_result_t::ERROR_UNSUPPORTED_ENUMERATION => {
            unsupported(name, ask, size);
            return None;
        }
        other => panic!("{name} answers {other:?}: {}", crate::last_error()),
    }
    check_size(name, rules.value_type, size);
    let mut value = vec![CANARY; size + 8];
    if size > 0 {
        let mut again = UNTOUCHED;
        let answer = ask(size, value.as_mut_ptr().cast(), &raw mut again);
        assert_eq!((answer, again), (ur_result_t::SUCCESS, size), "{name}: value with the size that was told");
        assert_eq!(value[size..], [CANARY; 8], "{name} writes past its size");
        let mut roomy = vec![CANARY; size + 8];
        let answer = ask(size + 8, roomy.as_mut_ptr().cast(), null_mut());
        assert_eq!(answer, ur_result_t::SUCCESS, "{name}: a buffer larger than needed, and no place for the size");
        assert!(rules.changes || roomy == value, "{name} answers {value:x?}, then {roomy:x?}");
    }
    value.truncate(size);
    check_value(name, rules.value_type, &value);
    refusals(&rules, size, ask);
    Some(value)
}

fn unsupported(name: &str, ask: Ask<'_>, mut size: usize) {
    assert_eq!(size, UNTOUCHED, "{name} cannot be answered, but wrote a size");
    let mut value = [CANARY; 64];
    let answer = ask(value.len(), value.as_mut_ptr().cast(), &raw mut size);
    assert_eq!((answer, size), (ur_result_t::ERROR_UNSUPPORTED_ENUMERATION, UNTOUCHED), "{name} with a buffer");
    assert_eq!(value, [CANARY; 64], "{name} cannot be answered, but wrote a value");
}

fn refusals(rules: &Rules<'_>, size: usize, ask: Ask<'_>) {
    let name = rules.name;
    let mut buffer = vec![CANARY; size + 8];
    let mut told = UNTOUCHED;
    if size > 1 {
        let answer = ask(size - 1, buffer.as_mut_ptr().cast(), &raw mut told);
        assert_eq!(answer, ur_result_t::ERROR_INVALID_SIZE, "{name} with a buffer one byte too small");
        assert!(buffer.iter().all(|&byte| byte == CANARY), "{name} wrote into a buffer that is too small");
    }
    let answer = ask(0, buffer.as_mut_ptr().cast(), null_mut());
    assert_eq!(answer, rules.zero_size, "{name} with a buffer of size 0");
    assert!(buffer.iter().all(|&byte| byte == CANARY), "{name} wrote into a buffer of size 0");
    let answer = ask(8, null_mut(), null_mut());
    assert_eq!(answer, ur_result_t::ERROR_INVALID_NULL_POINTER, "{name} with a size and no buffer");
    let answer = ask(0, null_mut(), null_mut());
    assert_eq!(answer, ur_result_t::ERROR_INVALID_NULL_POINTER, "{name} with no output at all");
}

fn check_size(name: &str, value_type: Option<ValueType>, size: usize) {
    let Some(ValueType { c_name, element, count }) = value_type else { return };
    let fits = match count {
        Count::One => size == element.size(),
        Count::Fixed(count) => size == count * element.size(),
        Count::Many => size.is_multiple_of(element.size()),
        Count::Text => size > 0,
    };
    assert!(fits, "{name} is a {c_name} ({count:?} of {} bytes) and answers {size} bytes", element.size());
}

fn check_value(name: &str, value_type: Option<ValueType>, value: &[u8]) {
    let Some(ValueType { c_name, element, count }) = value_type else { return };
    if count == Count::Text {
        let nul = value.iter().position(|&byte| byte == 0);
        assert_eq!(nul, Some(value.len() - 1), "{name} is text that must end with its only NUL: {value:x?}");
        return;
    }
    for item in value.chunks(element.size()) {
        let number = || item.try_into().map_or(0, u32::from_ne_bytes);
        match element {
            Element::Enum(name_of) => assert!(name_of(number()).is_some(), "{name}: {} is no {c_name}", number()),
            Element::Flags(names) => {
                let known = names.iter().fold(0, |known, (_, bit)| known | bit);
                assert_eq!(number() & !known, 0, "{name}: {:#x} has bits that no {c_name} has", number());
            }
            Element::Bool => assert!(item[0] <= 1, "{name}: {} is no {c_name}", item[0]),
            _ => {}
        }
    }
}

/// Plain data that an answer can be read as.
///
/// # Safety
/// Every bit pattern is a value.
pub unsafe trait Plain: Copy {}
// SAFETY: a byte.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
// SAFETY: an integer.
unsafe impl Plain for usize {}
// SAFETY: an integer.
unsafe impl Plain for i32 {}
// SAFETY: a raw pointer may have any bits.
unsafe impl<T> Plain for *mut T {}
// SAFETY: an array of such values.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// A property that has exactly the size of `T` and must be answered.
#[track_caller]
#[must_use]
pub fn get<T: Plain>(ask: Ask<'_>) -> T {
    let mut value = core::mem::MaybeUninit::<T>::zeroed();
    let mut size = 0;
    let answer = ask(size_of::<T>(), value.as_mut_ptr().cast(), &raw mut size);
    crate::expect_success(answer, "a query");
    assert_eq!(size, size_of::<T>(), "the size of the answer");
    // SAFETY: any bits are a value, and they were zeroed at least.
    unsafe { value.assume_init() }
}

/// A property that has exactly the size of `T`, if the adapter answers it: the specification lets it leave it out.
#[track_caller]
#[must_use]
pub fn optional<T: Plain>(ask: Ask<'_>) -> Option<T> {
    let mut size = 0;
    let answer = ask(0, null_mut(), &raw mut size);
    (answer != ur_result_t::ERROR_UNSUPPORTED_ENUMERATION).then(|| get(ask))
}

/// A list property that must be answered.
#[track_caller]
#[must_use]
pub fn list<T: Plain>(ask: Ask<'_>) -> Vec<T> {
    let mut size = 0;
    crate::expect_success(ask(0, null_mut(), &raw mut size), "a query");
    assert!(size.is_multiple_of(size_of::<T>()), "{size} bytes");
    let mut values: Vec<T> = Vec::with_capacity(size / size_of::<T>());
    if size > 0 {
        crate::expect_success(ask(size, values.as_mut_ptr().cast(), null_mut()), "a query");
        // SAFETY: `size` bytes were written, and any bits are a value.
        unsafe { values.set_len(size / size_of::<T>()) };
    }
    values
}

/// A text property that must be answered.
#[track_caller]
#[must_use]
pub fn text(ask: Ask<'_>) -> String {
    let mut bytes = list::<u8>(ask);
    assert_eq!(bytes.pop(), Some(0), "text ends with a NUL");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The query `$table.$slot` of a handle (and further leading parameters) for one property, as an [`Ask`].
#[macro_export]
macro_rules! ask {
    ($table:ident.$slot:ident($($leading:expr),+)) => {
        &|size, value, told| $crate::ur!($table.$slot($($leading,)+ size, value, told))
    };
}

/// What a query's property is called by in a release. Where all releases agree it is the number of the bindings; an
/// enumeration where they do not has a method of this name of its own, which comes before this one.
pub trait Numbered: Copy {
    /// The number in the release, if it has the property.
    fn in_release(self, _release: Release) -> Option<Self> {
        Some(self)
    }
}

impl<T: Copy> Numbered for T {}

/// Every property of a query that the release under test has, each with its number there.
#[macro_export]
macro_rules! every_property {
    ($info:ident) => {{
        #[allow(unused_imports, reason = "not every enumeration needs it")]
        use $crate::query::Numbered as _;
        let release = $crate::release();
        let known = $crate::ffi::$info::VALUES.iter();
        known.filter_map(move |&property| Some((property, property.in_release(release)?)))
    }};
}

/// Checks every property of a query that the release defines; gives the properties that were answered.
#[macro_export]
macro_rules! check_every_property {
    ($info:ident, $changing:expr, $table:ident.$slot:ident($($handle:expr),+)) => {{
        let changing: &[$crate::ffi::$info] = $changing;
        let mut answered: Vec<($crate::ffi::$info, Vec<u8>)> = Vec::new();
        for (property, number) in $crate::every_property!($info) {
            let name = format!("{property:?}");
            let mut rules = $crate::query::Rules::new(&name, property.value_type());
            rules.changes = changing.contains(&property);
            let value = $crate::query::check(rules, $crate::ask!($table.$slot($($handle,)+ number)));
            answered.extend(value.map(|value| (property, value)));
        }
        let unknown = $crate::ffi::$info(0x7fff_0000);
        let mut size = 0;
        $crate::refused!(
            ERROR_INVALID_ENUMERATION | ERROR_UNSUPPORTED_ENUMERATION,
            $table.$slot($($handle,)+ unknown, 0, core::ptr::null_mut(), &raw mut size)
        );
        assert_eq!(size, 0, "an unknown property wrote a size");
        answered
    }};
}
