//! Takes symbols of this library back out of the dynamic linker's sight, by making their entries of the dynamic symbol
//! table undefined. It writes nothing else, and gives the memory its protection back.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use libc::{Dl_info, Elf64_Ehdr, Elf64_Phdr, Elf64_Sym};

/// glibc's request for the symbol table's entry of an address.
const RTLD_DL_SYMENT: c_int = 1;

unsafe extern "C" {
    fn dladdr1(address: *const c_void, info: *mut Dl_info, extra: *mut *mut c_void, flags: c_int) -> c_int;
}

/// Makes `dlsym` answer "undefined symbol" for each of these exported functions. What is exported no longer, or never was
/// (in an executable), is left alone.
pub fn from_lookup(functions: &[*const c_void]) {
    for &function in functions {
        if let Some((entry, base)) = entry_of(function) {
            // SAFETY: the dynamic linker's own answer for a function of this library, which is being initialised: no
            // other thread can look a symbol up in it yet.
            unsafe { undefine(entry, base) };
        }
    }
}

/// The entry of the dynamic symbol table that defines exactly this address, and where the library starts in memory.
fn entry_of(function: *const c_void) -> Option<(*mut Elf64_Sym, *const Elf64_Ehdr)> {
    let mut info = MaybeUninit::<Dl_info>::zeroed();
    let mut entry: *mut c_void = core::ptr::null_mut();
    // SAFETY: both outputs are writable; any address may be asked about.
    let found = unsafe { dladdr1(function, info.as_mut_ptr(), &raw mut entry, RTLD_DL_SYMENT) };
    // SAFETY: all fields are pointers, zeroed above or written by the call.
    let info = unsafe { info.assume_init() };
    let exact = found != 0 && !entry.is_null() && info.dli_saddr.cast_const() == function;
    exact.then_some((entry.cast(), info.dli_fbase.cast_const().cast()))
}

/// # Safety
/// `entry` lies in the mapped dynamic symbol table of the library at `base`, and nobody else uses it meanwhile.
unsafe fn undefine(entry: *mut Elf64_Sym, base: *const Elf64_Ehdr) {
    // SAFETY: the caller's promise.
    let Some(protection) = (unsafe { protection_at(base, entry.addr()) }) else { return };
    // SAFETY: no precondition.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let start = entry.map_addr(|address| address & !(page - 1));
    let length = entry.addr() + size_of::<Elf64_Sym>() - start.addr();
    // SAFETY: whole mapped pages of this library; nothing is taken from them, only writing is added.
    if unsafe { libc::mprotect(start.cast(), length, protection | libc::PROT_WRITE) } != 0 {
        return;
    }
    // SAFETY: mapped and writable now; the caller promises that nobody else looks.
    unsafe {
        (*entry).st_shndx = 0;
        (*entry).st_value = 0;
        libc::mprotect(start.cast(), length, protection);
    }
}

/// How the segment that holds an address was mapped.
///
/// # Safety
/// `base` is where a library's file header is mapped.
unsafe fn protection_at(base: *const Elf64_Ehdr, address: usize) -> Option<c_int> {
    // SAFETY: the caller's promise; a library's program headers lie in its first segment, by the format.
    let headers = unsafe {
        let first = base.byte_add((*base).e_phoff as usize).cast::<Elf64_Phdr>();
        core::slice::from_raw_parts(first, (*base).e_phnum as usize)
    };
    let offset = (address - base.addr()) as u64;
    let segment = headers.iter().find(|header| {
        header.p_type == libc::PT_LOAD && (header.p_vaddr..header.p_vaddr + header.p_memsz).contains(&offset)
    })?;
    let bit = |flag, protection| if segment.p_flags & flag != 0 { protection } else { 0 };
    Some(bit(libc::PF_R, libc::PROT_READ) | bit(libc::PF_W, libc::PROT_WRITE) | bit(libc::PF_X, libc::PROT_EXEC))
}
