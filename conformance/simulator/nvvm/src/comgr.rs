//! libamd_comgr's C API over the same folder: what it calls a code object is an ELF file of AMD's machine with PTX in its one section,
//! which `hip_over_cuda` loads where it says that it is an AMD device. Of the actions those are there that a compilation needs; each
//! copies what it is given, and the last one answers.

use std::ffi::{CStr, c_char};

use super::{answer_of, refuse_by_folder};

type Status = u32;
const SUCCESS: Status = 0;
const ERROR: Status = 1;
const INVALID_ARGUMENT: Status = 2;

/// Kinds of data.
const LOG: u32 = 5;
const BITCODE: u32 = 6;
const EXECUTABLE: u32 = 8;

/// Actions.
const ADD_DEVICE_LIBRARIES: u32 = 3;
const LINK_BITCODE: u32 = 4;
const GENERATE_CODE: u32 = 6;
const LINK_EXECUTABLE: u32 = 9;

/// The architectures that this knows.
const ARCHITECTURES: [&str; 2] = ["amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030"];

/// A structure of one number, which is a pointer to what the handle names.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handle {
    object: usize,
}

/// `amd_comgr_data_t`'s.
#[derive(Clone)]
struct Data {
    kind: u32,
    bytes: Vec<u8>,
}

/// `amd_comgr_data_set_t`'s.
#[derive(Default)]
struct Set(Vec<Data>);

/// `amd_comgr_action_info_t`'s.
#[derive(Default)]
struct Info {
    isa: String,
    options: Vec<String>,
}

impl Handle {
    fn of<T>(object: T) -> Self {
        Self { object: Box::into_raw(Box::new(object)).expose_provenance() }
    }

    fn pointer<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.object)
    }

    /// # Safety
    /// The handle is of a `T` that has not ended, and nobody else has it.
    unsafe fn get<'a, T>(self) -> &'a mut T {
        // SAFETY: the caller's.
        unsafe { &mut *self.pointer() }
    }

    /// # Safety
    /// As [`Handle::get`], and it ends here.
    unsafe fn end<T>(self) -> Status {
        // SAFETY: the caller's; `of` made it.
        drop(unsafe { Box::<T>::from_raw(self.pointer()) });
        SUCCESS
    }
}

/// Writes the version of the interface.
///
/// # Safety
/// Both may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_get_version(major: *mut usize, minor: *mut usize) {
    // SAFETY: the caller's.
    unsafe {
        major.write(2);
        minor.write(4);
    }
}

/// Makes data.
///
/// # Safety
/// `data` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_create_data(kind: u32, data: *mut Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { data.write(Handle::of(Data { kind, bytes: Vec::new() })) };
    SUCCESS
}

/// Ends data.
///
/// # Safety
/// It is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_release_data(data: Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { data.end::<Data>() }
}

/// Copies bytes.
///
/// # Safety
/// The data is live; there are `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_set_data(data: Handle, size: usize, bytes: *const c_char) -> Status {
    if size == 0 || bytes.is_null() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    unsafe { data.get::<Data>().bytes = std::slice::from_raw_parts(bytes.cast(), size).to_vec() };
    SUCCESS
}

/// Names data, which nothing here needs.
#[unsafe(no_mangle)]
pub extern "C" fn amd_comgr_set_data_name(_data: Handle, _name: *const c_char) -> Status {
    SUCCESS
}

/// Writes the size, and the bytes if there is a buffer.
///
/// # Safety
/// The data is live; a buffer has the size that was told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_get_data(data: Handle, size: *mut usize, bytes: *mut c_char) -> Status {
    // SAFETY: the caller's.
    unsafe {
        let data = data.get::<Data>();
        size.write(data.bytes.len());
        if !bytes.is_null() {
            std::ptr::copy_nonoverlapping(data.bytes.as_ptr(), bytes.cast(), data.bytes.len());
        }
    }
    SUCCESS
}

/// Makes a set.
///
/// # Safety
/// `set` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_create_data_set(set: *mut Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { set.write(Handle::of(Set::default())) };
    SUCCESS
}

/// Ends a set.
///
/// # Safety
/// It is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_destroy_data_set(set: Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { set.end::<Set>() }
}

/// Adds data.
///
/// # Safety
/// Both are live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_data_set_add(set: Handle, data: Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { set.get::<Set>().0.push(data.get::<Data>().clone()) };
    SUCCESS
}

/// Counts the data of a kind.
///
/// # Safety
/// The set is live, `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_action_data_count(set: Handle, kind: u32, count: *mut usize) -> Status {
    // SAFETY: the caller's.
    unsafe { count.write(set.get::<Set>().0.iter().filter(|data| data.kind == kind).count()) };
    SUCCESS
}

/// Gives a copy of one of the data of a kind.
///
/// # Safety
/// The set is live, `data` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_action_data_get_data(
    set: Handle,
    kind: u32,
    at: usize,
    data: *mut Handle,
) -> Status {
    // SAFETY: the caller's.
    let set = unsafe { set.get::<Set>() };
    let Some(found) = set.0.iter().filter(|data| data.kind == kind).nth(at) else { return INVALID_ARGUMENT };
    // SAFETY: the caller's.
    unsafe { data.write(Handle::of(found.clone())) };
    SUCCESS
}

/// Makes what an action is told.
///
/// # Safety
/// `info` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_create_action_info(info: *mut Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { info.write(Handle::of(Info::default())) };
    SUCCESS
}

/// Ends it.
///
/// # Safety
/// It is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_destroy_action_info(info: Handle) -> Status {
    // SAFETY: the caller's.
    unsafe { info.end::<Info>() }
}

/// Says for which architecture.
///
/// # Safety
/// The object is live, `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_action_info_set_isa_name(info: Handle, name: *const c_char) -> Status {
    // SAFETY: the caller's.
    let (info, name) = unsafe { (info.get::<Info>(), CStr::from_ptr(name).to_string_lossy().into_owned()) };
    if !ARCHITECTURES.contains(&name.as_str()) {
        return INVALID_ARGUMENT;
    }
    info.isa = name;
    SUCCESS
}

/// Says of which language the device libraries are, which there are none of.
#[unsafe(no_mangle)]
pub extern "C" fn amd_comgr_action_info_set_language(_info: Handle, _language: u32) -> Status {
    SUCCESS
}

/// Keeps options.
///
/// # Safety
/// The object is live; there are `count` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_action_info_set_option_list(
    info: Handle,
    options: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the caller's.
    unsafe {
        let list: &[*const c_char] = if count == 0 { &[] } else { std::slice::from_raw_parts(options, count) };
        let text = |&option: &*const c_char| CStr::from_ptr(option).to_string_lossy().into_owned();
        info.get::<Info>().options = list.iter().map(text).collect();
    }
    SUCCESS
}

/// Says that a log is wanted, which there always is.
#[unsafe(no_mangle)]
pub extern "C" fn amd_comgr_action_info_set_logging(_info: Handle, _logging: bool) -> Status {
    SUCCESS
}

/// Works on a set.
///
/// # Safety
/// All three are live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_comgr_do_action(action: u32, info: Handle, input: Handle, output: Handle) -> Status {
    // SAFETY: the caller's, whose objects are three.
    let (info, input, output) = unsafe { (info.get::<Info>(), input.get::<Set>(), output.get::<Set>()) };
    match action {
        ADD_DEVICE_LIBRARIES | LINK_BITCODE => output.0.clone_from(&input.0),
        GENERATE_CODE => {
            let texts: Vec<String> = input
                .0
                .iter()
                .filter(|data| data.kind == BITCODE)
                .map(|data| String::from_utf8_lossy(&data.bytes).into_owned())
                .collect();
            let said = |what: &str| Data { kind: LOG, bytes: format!("simcomgr: {what}\n").into_bytes() };
            if texts.is_empty() || !texts.iter().all(|text| text.contains("target triple = \"amdgcn-amd-amdhsa\"")) {
                output.0.push(said("the text is not for amdgcn"));
                return ERROR;
            }
            let words = [&[info.isa.clone()][..], &info.options].concat();
            if let Err(log) = refuse_by_folder(&texts, &words) {
                output.0.push(said(&log));
                return ERROR;
            }
            let kernels: Vec<&str> = texts.iter().flat_map(|text| kernels(text)).collect();
            let Some(ptx) = answer_of(&kernels) else {
                output.0.push(said(&format!("no file has the kernels {kernels:?}")));
                return ERROR;
            };
            output.0.push(Data { kind: EXECUTABLE, bytes: code_object(for_any_driver(&ptx).as_bytes()) });
        }
        // What was generated is whole already.
        LINK_EXECUTABLE => output.0.clone_from(&input.0),
        _ => return INVALID_ARGUMENT,
    }
    SUCCESS
}

/// The text with a version that every driver takes which knows its target: the compiler that wrote it may be newer than a GPU's
/// driver, and nobody looks into a code object of AMD's to write another.
fn for_any_driver(ptx: &str) -> String {
    const VERSION: &str = ".version 8.0";
    let line = |line: &str| if line.starts_with(".version ") { VERSION.to_owned() } else { line.to_owned() } + "\n";
    ptx.lines().map(line).collect()
}

/// The names of the kernels of a text.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    let heads = text.lines().filter_map(|line| line.strip_prefix("define amdgpu_kernel void @"));
    heads.filter_map(|head| head.split('(').next())
}

/// An ELF file of AMD's machine with one section, which holds these bytes and a zero.
fn code_object(contents: &[u8]) -> Vec<u8> {
    const HEADER: u64 = 64;
    const AMDGPU: u16 = 224;
    const PROGRAM_BITS: u32 = 1;
    let size = contents.len() as u64 + 1;
    let table = (HEADER + size).next_multiple_of(8);
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 64, 2, 0, 0, 0, 0, 0, 0, 0];
    file.extend(3u16.to_le_bytes());
    file.extend(AMDGPU.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    // Entry, segments, sections.
    [0, 0, table].iter().for_each(|number: &u64| file.extend(number.to_le_bytes()));
    file.extend(0u32.to_le_bytes());
    // The header's size, then size and count of segments and of sections, and the section of names.
    [64u16, 0, 0, 64, 2, 0].iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(contents);
    file.resize(table as usize + 64, 0);
    file.extend(0u32.to_le_bytes());
    file.extend(PROGRAM_BITS.to_le_bytes());
    [0, 0, HEADER, size].iter().for_each(|number: &u64| file.extend(number.to_le_bytes()));
    file.resize(table as usize + 128, 0);
    file
}
