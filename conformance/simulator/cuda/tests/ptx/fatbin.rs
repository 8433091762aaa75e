//! The fatbin reader on containers that nvcc made, whole, cut and corrupted.

use simcuda::ptx::Module;
use simcuda::ptx::fatbin::{EntryKind, FatbinError, WRAPPER_MAGIC, entries, from_pointer, is_fatbin, total_len};
use std::path::Path;

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/fatbin").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

const SAMPLES: [&str; 3] = ["saxpy.fatbin", "saxpy.plain.fatbin", "saxpy.speed.fatbin"];

#[test]
fn every_compression_gives_the_same_entries() {
    let all = SAMPLES.map(|name| entries(&sample(name)).unwrap());
    for found in &all {
        let shape: Vec<_> = found.iter().map(|e| (e.kind, e.arch)).collect();
        assert_eq!(shape, [(EntryKind::Elf, 75), (EntryKind::Ptx, 75), (EntryKind::Elf, 90), (EntryKind::Ptx, 90)]);
        for entry in found.iter().filter(|e| e.kind == EntryKind::Ptx) {
            let module = Module::parse(&entry.data, 90).unwrap();
            assert!(module.function("saxpy").is_some());
            assert_eq!(entry.version.0, 9);
        }
        for entry in found.iter().filter(|e| e.kind == EntryKind::Elf) {
            assert_eq!(entry.data[..4], *b"\x7fELF");
        }
    }
    assert!(all[0].iter().any(|e| e.flags & 0x8000 != 0), "one sample is compressed with Zstandard");
    assert!(all[2].iter().any(|e| e.flags & 0x2000 != 0), "one sample is compressed with LZ4");
}

#[test]
fn a_pointer_is_enough_with_and_without_wrapper() {
    let image = sample("saxpy.fatbin");
    #[repr(C)]
    struct Wrapper {
        magic: u32,
        version: u32,
        data: *const u8,
        unused: *const u8,
    }
    let wrapper = Wrapper { magic: WRAPPER_MAGIC, version: 1, data: image.as_ptr(), unused: std::ptr::null() };
    assert_eq!(size_of::<Wrapper>(), 24);
    let null = Wrapper { data: std::ptr::null(), ..wrapper };
    // SAFETY: the image is whole and outlives the slices made of it, and so do the wrappers.
    unsafe {
        assert_eq!(from_pointer(image.as_ptr()).unwrap(), image);
        assert_eq!(from_pointer((&raw const wrapper).cast()).unwrap(), image);
        assert_eq!(from_pointer((&raw const null).cast()), Err(FatbinError::Null));
        assert_eq!(from_pointer(std::ptr::null()), Err(FatbinError::Null));
        assert!(is_fatbin(image.as_ptr()) && is_fatbin((&raw const wrapper).cast()));
        assert!(!is_fatbin(b"\x7fELF".as_ptr()));
    }
    assert_eq!(total_len(&image[..16]), Ok(image.len()));
}

#[test]
fn every_truncation_is_an_error() {
    for name in SAMPLES {
        let image = sample(name);
        for len in 0..image.len() {
            assert!(matches!(entries(&image[..len]), Err(FatbinError::Truncated { .. })), "{name} {len}");
        }
    }
}

#[test]
fn corrupt_fields_are_named() {
    let image = sample("saxpy.fatbin");
    let with = |at: usize, bytes: &[u8]| {
        let mut image = image.clone();
        image[at..at + bytes.len()].copy_from_slice(bytes);
        entries(&image)
    };
    assert_eq!(with(0, b"ABCD"), Err(FatbinError::Magic { found: u32::from_le_bytes(*b"ABCD") }));
    assert!(with(6, &[3, 0]).unwrap_err().to_string().contains("the header's size"));
    assert!(with(16 + 4, &[8, 0, 0, 0]).unwrap_err().to_string().contains("an entry's header size"));
    assert!(matches!(with(16 + 8, &[0xff; 8]), Err(FatbinError::Truncated { what: "an entry", .. })));
    // The second entry is compressed PTX.
    let second = 4664;
    assert!(with(second + 16, &[0xff; 4]).unwrap_err().to_string().contains("packed size"));
    assert!(with(second + 56, &[0xff; 8]).unwrap_err().to_string().contains("unpacked size"));
    assert!(matches!(with(second + 56, &[1, 0]), Err(FatbinError::Compression { .. })));
    assert!(matches!(with(second + 80, &[0xff; 8]), Err(FatbinError::Compression { .. })));
}

#[test]
fn no_mutation_panics() {
    for name in SAMPLES {
        let mut image = sample(name);
        let mut state = 99u64;
        for _ in 0..3000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (at, bit) = ((state >> 16) as usize % image.len(), 1 << (state >> 60 & 7));
            image[at] ^= bit;
            let _ = entries(&image);
            image[at] ^= bit;
        }
        assert!(entries(&image).is_ok());
    }
}
