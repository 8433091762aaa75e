//! Device images: which format they have, whether they are whole, and how they are loaded.
//!
//! As in every backend the loader is told no length, so an image is checked from its bytes alone first
//! (`ur_adapter::program::device_image`). AMD's formats are code objects (ELF) and offload bundles; where HIP runs on NVIDIA's
//! driver, its loader takes that driver's formats and no others.

use ur_adapter::driver::BuildRequest;
use ur_adapter::driver::native;
use ur_adapter::object::error::Result;
use ur_adapter::program::device_image::{Bytes, check_nvidia, elf, invalid, unknown, wrapper};
use ur_adapter::program::jit;

use crate::sys::{HipModule, Symbols};

/// Whose formats the library's module loader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loader {
    /// Code objects and offload bundles.
    Amd,
    /// PTX text, cubins and fat binaries.
    Nvidia,
}

impl Loader {
    /// The loader for a device of that architecture.
    pub(crate) fn of(architecture: &str) -> Self {
        if architecture.starts_with("sm_") { Self::Nvidia } else { Self::Amd }
    }
}

/// AMD's machine code.
const CODE_OBJECT: elf::Machine = elf::Machine { number: 224, vendor: "AMD", format: "code object (ELF)" };
/// First bytes of several images with a list of their targets.
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// First bytes of such a bundle, compressed.
const COMPRESSED: &[u8] = b"CCOB";
/// First bytes of the structure by which compiled host code points at a bundle.
const WRAPPER: &[u8] = b"FPIH";

/// Checks that an image has a format that the loader takes, and is whole.
///
/// # Errors
/// `INVALID_BINARY` with format, offset and remedy.
pub(crate) fn check(image: &[u8], loader: Loader) -> Result<()> {
    if loader == Loader::Nvidia {
        return check_nvidia(image);
    }
    if image.starts_with(elf::MAGIC) {
        return elf::check(Bytes(image), 0, &CODE_OBJECT);
    }
    if image.starts_with(BUNDLE) {
        return check_bundle(Bytes(image));
    }
    if image.starts_with(COMPRESSED) {
        return check_compressed(Bytes(image));
    }
    if image.starts_with(WRAPPER) {
        return Err(wrapper(8));
    }
    Err(unknown(
        0,
        "neither a code object (ELF) nor an offload bundle, plain or compressed",
        "compile for amdgcn and the device's architecture",
    ))
}

/// A bundle whose list of images and images lie within, with every code object in it whole.
fn check_bundle(bundle: Bytes<'_>) -> Result<()> {
    const LIST: u64 = BUNDLE.len() as u64;
    /// Bytes of an entry before its target's name.
    const ENTRY: u64 = 24;

    let wrong = |offset: u64, what: &str| invalid("offload bundle", offset, what);
    let count = bundle.u64(LIST).ok_or_else(|| wrong(bundle.len(), "the image ends inside its header"))?;
    if count == 0 {
        return Err(wrong(LIST, "it holds no image"));
    }
    let mut entry = LIST + 8;
    for number in 0..count {
        let (Some(start), Some(size), Some(length)) =
            (bundle.u64(entry), bundle.u64(entry + 8), bundle.u64(entry + 16))
        else {
            return Err(wrong(entry, &format!("the list of {count} images reaches past the end")));
        };
        let name = bundle.part(entry + ENTRY, length);
        let Some(name) = name else {
            return Err(wrong(entry + 16, &format!("a target's name of {length} bytes reaches past the end")));
        };
        let Some(contents) = bundle.part(start, size) else {
            return Err(wrong(entry, &format!("image {number} of {size} bytes reaches past the end")));
        };
        // The host's own entry holds host code or nothing, which the loader passes over.
        if contents.starts_with(elf::MAGIC) && name.windows(6).any(|part| part == b"amdgcn") {
            elf::check(Bytes(contents), start, &CODE_OBJECT)?;
        }
        entry += ENTRY + length;
    }
    Ok(())
}

/// A compressed bundle that has all the bytes its header counts.
fn check_compressed(bundle: Bytes<'_>) -> Result<()> {
    let wrong = |offset: u64, what: &str| invalid("compressed offload bundle", offset, what);
    let short = || wrong(bundle.len(), "the image ends inside its header");
    let (header, size) = match bundle.u16(4).ok_or_else(short)? {
        2 => (24, u64::from(bundle.u32(8).ok_or_else(short)?)),
        3 => (32, bundle.u64(8).ok_or_else(short)?),
        // Version 1 does not say how long it is, so that no loader could keep to its end.
        version => {
            return Err(wrong(
                4,
                &format!("its version is {version}; versions 2 and 3 are known, others need `--no-offload-compress`"),
            ));
        }
    };
    if size <= header {
        return Err(wrong(8, &format!("the header says that all of it has {size} bytes")));
    }
    if !bundle.holds(0, size) {
        return Err(wrong(8, &format!("its {size} bytes reach past the end at {}", bundle.len())));
    }
    Ok(())
}

/// Loads a checked image that a NUL byte follows; what the loader said is in `request.log` afterwards.
///
/// # Errors
/// As [`jit::load`]; what the loader answers.
pub(crate) fn load(
    symbols: &Symbols,
    loader: Loader,
    image: &[u8],
    request: &mut BuildRequest<'_>,
) -> Result<HipModule> {
    let mut module = HipModule::default();
    let mut call = |count, options, values| {
        // SAFETY: the symbol has the API's signature; the image is whole and a NUL follows it; both lists have
        // `count` entries, and the log buffers among them the sizes told.
        unsafe { (symbols.module_load)(&raw mut module, image.as_ptr().cast(), count, options, values) }
    };
    let status = match loader {
        Loader::Nvidia => jit::load(request, call)?,
        // Machine code is loaded as it is, and AMD's loader reads no option; its words are the status's.
        Loader::Amd => {
            if !request.options.is_empty() {
                let options = request.options.join(" ");
                request.log =
                    format!("ignored build options, which mean nothing to a loader of machine code: {options}");
            }
            call(0, core::ptr::null_mut(), core::ptr::null_mut())
        }
    };
    let loaded = native::check(symbols, "hipModuleLoadDataEx", status);
    if let (Err(error), Loader::Amd) = (&loaded, loader) {
        if !request.log.is_empty() {
            request.log.push('\n');
        }
        request.log.push_str(error.message());
    }
    loaded.map(|()| module)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ur_ffi::ur_result_t;

    use super::*;

    /// A file of AMD's machine with two sections, the second of 64 bytes behind the section table.
    fn code_object() -> Vec<u8> {
        let mut file = vec![0_u8; 64 + 2 * 64 + 64];
        file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x40");
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(18, &224_u16.to_le_bytes());
        put(40, &64_u64.to_le_bytes());
        put(54, &56_u16.to_le_bytes());
        put(58, &64_u16.to_le_bytes());
        put(60, &2_u16.to_le_bytes());
        put(128 + 4, &1_u32.to_le_bytes());
        put(128 + 24, &192_u64.to_le_bytes());
        put(128 + 32, &64_u64.to_le_bytes());
        file
    }

    /// A bundle of an empty host image and one code object.
    fn bundle() -> Vec<u8> {
        let code = code_object();
        let names = ["host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a"];
        let list: usize = names.iter().map(|name| 24 + name.len()).sum();
        let start = BUNDLE.len() + 8 + list;
        let mut image = [BUNDLE, &2_u64.to_le_bytes()].concat();
        for (name, size) in names.iter().zip([0, code.len()]) {
            for number in [start, size, name.len()] {
                image.extend((number as u64).to_le_bytes());
            }
            image.extend(name.as_bytes());
        }
        image.extend(code);
        image
    }

    fn compressed(version: u16, size: u64) -> Vec<u8> {
        let mut image = [COMPRESSED, &version.to_le_bytes(), &1_u16.to_le_bytes()].concat();
        image.extend(if version == 3 { size.to_le_bytes().to_vec() } else { size.to_le_bytes()[..4].to_vec() });
        image.resize(100, 0x28);
        image
    }

    fn message(image: &[u8]) -> String {
        let error = check(image, Loader::Amd).expect_err("a broken image was accepted");
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_BINARY);
        error.message().to_owned()
    }

    #[test]
    fn whole_images_of_amds_formats_are_accepted() {
        for image in [code_object(), bundle(), compressed(2, 100), compressed(3, 100), compressed(3, 90)] {
            check(&image, Loader::Amd).unwrap();
        }
    }

    #[test]
    fn every_truncation_is_refused_with_the_formats_name() {
        let (code, bundle, compressed) = (code_object(), bundle(), compressed(3, 100));
        let formats =
            [(&code, 4, "code object"), (&bundle, BUNDLE.len(), "offload bundle"), (&compressed, 4, "compressed")];
        for (image, magic, format) in formats {
            for length in magic..image.len() {
                let text = message(&image[..length]);
                assert!(text.contains(format) || text.contains("code object"), "{length}: {text}");
            }
        }
    }

    #[test]
    fn a_broken_bundle_is_named_with_its_offset() {
        let patched = |at: usize, number: u64| {
            let mut image = bundle();
            image[at..at + 8].copy_from_slice(&number.to_le_bytes());
            image
        };
        assert!(message(&patched(24, 0)).contains("at byte 24, it holds no image"));
        assert!(message(&patched(24, u64::MAX)).contains("offload bundle"));
        assert!(message(&patched(32, u64::MAX)).contains("at byte 32, image 0 of 0 bytes reaches past the end"));
        assert!(message(&patched(48, u64::MAX)).contains("at byte 48, a target's name"));
        // The code object inside is named by its place in the whole image.
        let mut image = bundle();
        let start = image.len() - code_object().len();
        image[start + 18] = 62;
        assert!(message(&image).contains(&format!("at byte {}, the machine is 62 and not 224, AMD's", start + 18)));
    }

    #[test]
    fn a_compressed_bundle_that_counts_wrong_is_refused() {
        assert!(message(&compressed(2, 101)).contains("its 101 bytes reach past the end at 100"));
        assert!(message(&compressed(3, u64::MAX)).contains("reach past the end"));
        assert!(message(&compressed(2, 24)).contains("at byte 8, the header says that all of it has 24 bytes"));
        assert!(message(&compressed(1, 100)).contains("its version is 1"));
    }

    #[test]
    fn anything_else_is_refused_with_what_would_be_taken() {
        for image in [&b""[..], b"\0\0\0\0", b"BC\xC0\xDE", b".version 8.0\n.target sm_70", b"\x50\xed\x55\xba"] {
            assert!(message(image).contains("compile for amdgcn"), "{image:?}");
        }
        assert!(message(b"FPIH\x01\0\0\0\0\0\0\0\0\0\0\0").contains("give the fat binary that it points to"));
    }

    #[test]
    fn a_loader_for_nvidias_devices_takes_their_formats_and_not_amds() {
        assert_eq!((Loader::of("sm_90"), Loader::of("gfx90a:xnack-"), Loader::of("")), {
            (Loader::Nvidia, Loader::Amd, Loader::Amd)
        });
        check(b".version 8.0\n.target sm_70\n", Loader::Nvidia).unwrap();
        for image in [code_object(), bundle(), compressed(2, 100)] {
            check(&image, Loader::Nvidia).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn any_damage_is_judged_without_a_panic(
            which in 0_usize..4,
            damage in proptest::collection::vec((0_usize..400, any::<u8>()), 0..16),
            length in 0_usize..500,
        ) {
            let mut image = [code_object(), bundle(), compressed(2, 100), compressed(3, 100)][which].clone();
            for (at, byte) in damage {
                if let Some(old) = image.get_mut(at) {
                    *old = byte;
                }
            }
            image.truncate(length);
            let _ = check(&image, Loader::Amd);
        }
    }
}
