//! Whole, broken and foreign images of the formats that NVIDIA's loader takes.

use proptest::prelude::*;

use crate::program::device_image::*;

const FATBIN: &[u8] = include_bytes!("../../../../../conformance/kernels/fatbin/saxpy.fatbin");
const PTX: &[u8] = include_bytes!("../../../../../conformance/kernels/saxpy.ptx");

/// The cubin inside the fat binary.
fn cubin() -> Vec<u8> {
    let size = u64::from_le_bytes(FATBIN[0x18..0x20].try_into().unwrap());
    FATBIN[0x50..0x50 + usize::try_from(size).unwrap()].to_vec()
}

fn message(image: &[u8]) -> String {
    let error = check_nvidia(image).expect_err("a broken image was accepted");
    assert_eq!(error.code(), ur_result_t::ERROR_INVALID_BINARY);
    error.message().to_owned()
}

fn patched(image: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut image = image.to_vec();
    image[at..at + bytes.len()].copy_from_slice(bytes);
    image
}

#[test]
fn whole_images_of_all_three_formats_are_accepted() {
    check_nvidia(FATBIN).unwrap();
    check_nvidia(&cubin()).unwrap();
    check_nvidia(PTX).unwrap();
    check_nvidia(b"/* made by hand */ // twice\n\t.version 8.0\n.target sm_70\0\0").unwrap();
}

#[test]
fn every_truncation_of_a_fat_binary_is_refused() {
    for length in 4..FATBIN.len() {
        assert!(message(&FATBIN[..length]).contains("fat binary"), "{length}");
    }
}

#[test]
fn every_truncation_of_a_cubin_that_cuts_into_its_tables_or_sections_is_refused() {
    let cubin = cubin();
    let elf = Bytes(&cubin);
    // The used part ends with the last table or section; padding may follow.
    let table =
        |offset, size, count| elf.u64(offset).unwrap() + u64::from(elf.u16(size).unwrap() * elf.u16(count).unwrap());
    let used = table(32, 54, 56).max(table(40, 58, 60));
    for length in 4..usize::try_from(used).unwrap() {
        assert!(message(&cubin[..length]).contains("cubin"), "{length}");
    }
}

#[test]
fn every_truncation_of_ptx_inside_a_parameter_list_or_body_is_refused() {
    let text = std::str::from_utf8(PTX).unwrap();
    let parameters = text.find('(').unwrap()..text.find("\n)").unwrap();
    let body = text.find('{').unwrap()..text.find("\n}").unwrap();
    assert!(parameters.end < body.start && body.len() > 100);
    for length in parameters.chain(body) {
        assert!(message(&PTX[..=length]).contains("PTX text"), "{length}");
    }
}

#[test]
fn a_broken_header_is_named_with_its_offset() {
    let cubin = cubin();
    assert!(message(&patched(&cubin, 18, &62_u16.to_le_bytes())).contains("at byte 18, the machine is 62 and not 190"));
    assert!(message(&patched(&cubin, 4, &[1])).contains("at byte 4, it is not a 64-bit"));
    assert!(message(&patched(&cubin, 40, &u64::MAX.to_le_bytes())).contains("the section table reaches past the end"));
    assert!(message(&patched(&cubin, 40, &0_u64.to_le_bytes())).contains("at byte 40, it has no section table"));
    assert!(message(&patched(&cubin, 32, &u64::MAX.to_le_bytes())).contains("the program header table reaches past"));
    assert!(message(&patched(&cubin, 58, &[1, 0])).contains("a section header is shorter"));
    assert!(message(&patched(FATBIN, 6, &8_u16.to_le_bytes())).contains("at byte 6, the header says"));
    assert!(message(&patched(FATBIN, 8, &u64::MAX.to_le_bytes())).contains("at byte 8, the entries take"));
    assert!(message(&patched(FATBIN, 0x14, &1_u32.to_le_bytes())).contains("at byte 20, an entry's header"));
    assert!(message(&patched(FATBIN, 0x18, &u64::MAX.to_le_bytes())).contains("at byte 24, an entry of"));
    // The cubin inside is named by its place in the whole image.
    assert!(message(&patched(FATBIN, 0x50 + 18, &[62, 0])).contains("at byte 98, the machine is 62"));
    assert!(message(&patched(&FATBIN[..16], 8, &[0; 8])).contains("it holds no image"));
}

#[test]
fn anything_else_is_refused_with_what_would_be_taken() {
    for image in [&b""[..], b"\0\0\0\0", b"BC\xC0\xDE", b"\x03\x02\x23\x07", b"hello", b".target sm_70"] {
        let text = message(image);
        assert!(text.contains("PTX's `.version` directive") && text.contains("compile for nvptx64"), "{text}");
    }
    let wrapper = [&WRAPPER_MAGIC.to_le_bytes()[..], &1_u32.to_le_bytes(), &[0; 16]].concat();
    assert!(message(&wrapper).contains("give the fat binary that it points to"));
    assert!(message(b".version").contains("has no number"));
    assert!(message(b".version 8.0\n/* open").contains("at byte 13, a comment opens"));
    assert!(message(b".version 8.0\n.file 1 \"a").contains("at byte 21, a string opens"));
    assert!(message(b".version 8.0\n}").contains("at byte 13, a `}` or `)` closes nothing"));
    assert!(message(b".version 8.0\0\n.target").contains("at byte 12, a NUL byte ends the text"));
    check_nvidia(b".version 8.0 // {\n /* { */ .file 1 \"{\"").unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_judged_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = check_nvidia(&bytes);
    }

    #[test]
    fn any_damage_to_a_good_image_is_judged_without_a_panic(
        fat in any::<bool>(),
        damage in proptest::collection::vec((0_usize..1024, any::<u8>()), 1..16),
        length in 0_usize..12_000,
    ) {
        let mut image = if fat { FATBIN.to_vec() } else { cubin() };
        for (at, byte) in damage {
            if let Some(old) = image.get_mut(at) {
                *old = byte;
            }
        }
        image.truncate(length);
        let _ = check_nvidia(&image);
    }
}
