//! What a compiler says of a program beside its image: names with values, `KERNEL@TAG`.
//!
//! Read when the program is made, into what the engine uses: sizes of work-groups that kernels require or allow, and
//! which symbol a device global has. Tags that nobody here uses are passed over. Nothing here is looked up during a
//! launch: a kernel takes its sizes when it is made.

use std::collections::HashMap;
use std::ffi::CString;

use ur_ffi::{ur_program_metadata_t, ur_program_metadata_type_t, ur_program_properties_t, ur_result_t};

use crate::object::error::{Error, Result};
use crate::object::params;

/// Bytes of a byte array before its contents: their number, which `size` tells too.
const ARRAY_HEADER: usize = size_of::<u64>();

/// Sizes that a kernel's source declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclaredSizes {
    /// The only work-group size the kernel runs with, in x, y and z.
    pub required: Option<[usize; 3]>,
    /// The largest in each dimension.
    pub most: Option<[usize; 3]>,
    /// Most work-items of a group.
    pub most_items: Option<usize>,
}

/// A program's metadata.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    kernels: HashMap<String, DeclaredSizes>,
    globals: HashMap<String, CString>,
}

impl Metadata {
    /// Reads the list of a program's properties.
    ///
    /// # Safety
    /// `properties` are valid: the list holds `count` entries, names are NUL-terminated, arrays have their sizes.
    ///
    /// # Errors
    /// `INVALID_SIZE` and `INVALID_NULL_POINTER` where list and count contradict each other, `INVALID_VALUE` for a
    /// value that its tag cannot have.
    pub unsafe fn read(call: &'static str, properties: Option<&ur_program_properties_t>) -> Result<Self> {
        let mut metadata: Metadata = Self::default();
        let Some(properties) = properties else { return Ok(metadata) };
        if properties.count == 0 && !properties.pMetadatas.is_null() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{call}: pMetadatas is given and its count is 0"),
            ));
        }
        // SAFETY: holds `count` entries by the caller's promise.
        for entry in unsafe { params::optional_slice(call, properties.count, properties.pMetadatas) }? {
            // SAFETY: null or NUL-terminated by the caller's promise.
            let name = params::required(call, unsafe { params::optional_text(entry.pName) })?.to_string_lossy();
            if let Some((subject, tag)) = name.rsplit_once('@') {
                // SAFETY: the entry is valid by the caller's promise.
                metadata.add(call, subject, tag, unsafe { Value::of(entry) })?;
            }
        }
        Ok(metadata)
    }

    fn add(&mut self, call: &str, subject: &str, tag: &str, value: Value<'_>) -> Result<()> {
        let refuse = |what: &str| {
            Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{call}: metadata `{subject}@{tag}` {what}"))
        };
        match tag {
            "reqd_work_group_size" | "max_work_group_size" => {
                let Value::Bytes(bytes) = value else { return Err(refuse("is no byte array of numbers")) };
                let sizes = three(bytes).ok_or_else(|| refuse("is not one to three 32-bit numbers above 0"))?;
                let kernel = self.kernels.entry(subject.to_owned()).or_default();
                *(if tag.starts_with("reqd") { &mut kernel.required } else { &mut kernel.most }) = Some(sizes);
            }
            "max_linear_work_group_size" => {
                let Value::Number(items) = value else { return Err(refuse("is no number")) };
                let items = usize::try_from(items).ok().filter(|items| *items > 0);
                self.kernels.entry(subject.to_owned()).or_default().most_items =
                    Some(items.ok_or_else(|| refuse("is 0"))?);
            }
            "global_id_mapping" => {
                let symbol = value.text().ok_or_else(|| refuse("is no text without a NUL"))?;
                self.globals.insert(subject.to_owned(), symbol);
            }
            _ => {}
        }
        Ok(())
    }

    /// What is declared of a kernel.
    #[must_use]
    pub fn sizes_of(&self, kernel: &str) -> DeclaredSizes {
        self.kernels.get(kernel).copied().unwrap_or_default()
    }

    /// The symbol of a device global, where it is not its name.
    #[must_use]
    pub fn symbol_of(&self, global: &str) -> Option<&CString> {
        self.globals.get(global)
    }

    /// Takes over what another program's metadata says; the first to speak of a name is right.
    pub fn join(&mut self, other: &Self) {
        for (name, sizes) in &other.kernels {
            self.kernels.entry(name.clone()).or_insert(*sizes);
        }
        for (name, symbol) in &other.globals {
            self.globals.entry(name.clone()).or_insert_with(|| symbol.clone());
        }
    }
}

/// The value of an entry.
#[derive(Clone, Copy)]
enum Value<'a> {
    /// A number of 32 or 64 bits.
    Number(u64),
    /// What a byte array holds behind its header.
    Bytes(&'a [u8]),
    /// A string; the bytes before its NUL.
    Text(&'a [u8]),
    /// A value without contents, or of a type that no release has.
    Nothing,
}

impl<'a> Value<'a> {
    /// # Safety
    /// `type_` says which member of the value holds. `pData` is null or readable for the entry's size, `pString` is null
    /// or NUL-terminated, during `'a`.
    unsafe fn of(entry: &'a ur_program_metadata_t) -> Self {
        // SAFETY: the type says which member holds, and that member is as the caller promises.
        unsafe {
            match entry.type_ {
                ur_program_metadata_type_t::UINT32 => Self::Number(entry.value.data32.into()),
                ur_program_metadata_type_t::UINT64 => Self::Number(entry.value.data64),
                ur_program_metadata_type_t::BYTE_ARRAY => Self::bytes(entry.value.pData.cast(), entry.size),
                ur_program_metadata_type_t::STRING => {
                    params::optional_text(entry.value.pString).map_or(Self::Nothing, |text| Self::Text(text.to_bytes()))
                }
                _ => Self::Nothing,
            }
        }
    }

    /// # Safety
    /// `data` is null or readable for `size` bytes during `'a`.
    unsafe fn bytes(data: *const u8, size: usize) -> Self {
        // SAFETY: the caller's promise is the same.
        let array = unsafe { params::slice("a byte array", size, data) };
        array.ok().and_then(|bytes| bytes.get(ARRAY_HEADER..)).map_or(Self::Nothing, Self::Bytes)
    }

    /// The value as a text that is not empty. A byte array may end with zeros.
    fn text(self) -> Option<CString> {
        let text = match self {
            Self::Text(text) => text,
            Self::Bytes(bytes) => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                &bytes[..end]
            }
            Self::Number(_) | Self::Nothing => return None,
        };
        CString::new(text).ok().filter(|text| !text.is_empty())
    }
}

/// One to three 32-bit numbers; dimensions that are not given are 1.
fn three(bytes: &[u8]) -> Option<[usize; 3]> {
    if bytes.is_empty() || bytes.len() > 12 || !bytes.len().is_multiple_of(4) {
        return None;
    }
    let mut sizes = [1; 3];
    for (size, bytes) in sizes.iter_mut().zip(bytes.chunks_exact(4)) {
        *size = u32::from_le_bytes(bytes.try_into().ok()?) as usize;
    }
    (!sizes.contains(&0)).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use core::ffi::CStr;

    use super::*;
    use ur_ffi::ur_program_metadata_value_t;

    #[test]
    fn one_to_three_sizes_are_filled_up_with_ones() {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(three(&bytes(&[8])), Some([8, 1, 1]));
        assert_eq!(three(&bytes(&[8, 4, 2])), Some([8, 4, 2]));
        for bad in [bytes(&[]), bytes(&[0]), bytes(&[8, 0]), bytes(&[1, 2, 3, 4]), vec![1, 0, 0]] {
            assert_eq!(three(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_first_program_to_speak_of_a_kernel_is_right() {
        let of = |size| Metadata {
            kernels: [("k".to_owned(), DeclaredSizes { required: Some([size; 3]), ..Default::default() })].into(),
            globals: HashMap::new(),
        };
        let mut first = of(1);
        first.join(&of(2));
        assert_eq!(first.sizes_of("k").required, Some([1; 3]));
        assert_eq!(first.sizes_of("other"), DeclaredSizes::default());
    }

    #[test]
    fn the_symbol_lies_behind_its_length_and_a_value_that_is_none_is_refused() {
        let bytes = ur_program_metadata_type_t::BYTE_ARRAY;
        let symbol = *b"\x05\0\0\0\0\0\0\0_Z1xv";
        let ended = *b"\x06\0\0\0\0\0\0\0_Z1yv\0";
        let entry = |name: &'static CStr, type_, bytes: &[u8]| {
            let value = ur_program_metadata_value_t { pData: bytes.as_ptr().cast_mut().cast() };
            ur_program_metadata_t { pName: name.as_ptr(), type_, size: bytes.len(), value }
        };
        let read = |list: &[ur_program_metadata_t]| {
            let mut properties = ur_program_properties_t::default();
            (properties.count, properties.pMetadatas) = (u32::try_from(list.len()).unwrap(), list.as_ptr());
            // SAFETY: every entry's name and bytes live in the test.
            unsafe { Metadata::read("test", Some(&properties)) }
        };
        let told = read(&[
            entry(c"x@global_id_mapping", bytes, &symbol),
            entry(c"y@global_id_mapping", bytes, &ended),
            entry(c"x@some_other_tag", bytes, &symbol),
        ])
        .unwrap();
        assert_eq!(told.symbol_of("x").map(CString::as_c_str), Some(c"_Z1xv"));
        assert_eq!(told.symbol_of("y").map(CString::as_c_str), Some(c"_Z1yv"));
        assert_eq!(told.symbol_of("z"), None);
        for bad in [
            entry(c"short@global_id_mapping", bytes, &symbol[..8]),
            entry(c"number@global_id_mapping", ur_program_metadata_type_t::UINT32, &symbol),
        ] {
            assert_eq!(read(&[bad]).unwrap_err().code(), ur_result_t::ERROR_INVALID_VALUE);
        }
    }
}
