//! `wheel-images [--every N] [--sm N]`: the device images of dpnp's and dpctl's wheels. Each is taken out of its library, translated,
//! compiled by libnvvm and given to ptxas; all must be taken. With `--every N`, one of N is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::python::{self, Venv};
use xtask::support::workspace::Workspace;
use xtask::support::{cargo, files, process};

use crate::dpnp;
use crate::elf::Library;

/// The packages whose libraries are looked through.
const PACKAGES: [&str; 2] = ["dpnp", "dpctl"];
const PTXAS: &str = "nvidia-cuda-nvcc==13.5.37";
const SPIRV: &[u8] = b"\x03\x02\x23\x07";
/// Version 3 of an image's descriptor, and the programming model SYCL.
const DESCRIPTOR: &[u8] = b"\x03\x00\x04";
/// Where a descriptor has its target's name, and its bytes' first and end.
const TARGET_AT: u64 = 8;
const BYTES_AT: [u64; 2] = [0x20, 0x28];
/// Seconds of one call.
const LIMIT: u32 = 4 * 3600;
const PTXAS_LIMIT: u32 = 120;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let (mut every, mut sm) = (1_usize, 90_u32);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, value] if flag == "--every" => every = value.parse().context("--every")?,
            [flag, value] if flag == "--sm" => sm = value.parse().context("--sm")?,
            _ => fail!("it takes `--every N` and `--sm N`, and nothing else"),
        }
    }
    let venv = Venv::with(&workspace.target().join("dpnp"), &dpnp::PACKAGES)?;
    let folder = workspace.target().join("wheel-images");
    let (images, ptx) = (folder.join("spv"), folder.join("ptx"));
    extract_all(&venv, &images)?;
    let _ = fs::remove_dir_all(&ptx);
    fs::create_dir_all(&ptx).context(ptx.display())?;

    let mut example = cargo::cargo(workspace);
    example.args(["run", "--quiet", "--release", "--package", "ur-spirv", "--example", "images", "--"]);
    example.arg(&images).args(["--compile", "--every", &every.to_string(), "--sm", &sm.to_string(), "--out"]).arg(&ptx);
    let mut limited = process::limited(LIMIT, example.get_program());
    limited.args(example.get_args()).envs(example.get_envs().filter_map(|(name, value)| Some((name, value?))));
    process::run(limited.env("UR_NVVM_LIBRARY", nvvm(&venv)?))?;
    assemble_all(workspace, &ptx, sm)
}

/// The library that the environment's `nvidia-nvvm` brings.
fn nvvm(venv: &Venv) -> Result<PathBuf> {
    Ok(venv.package("nvidia")?.join("cu13/lib/libnvvm.so.4"))
}

/// Writes the SPIR-V images of the packages' libraries into a folder, unless they lie there.
fn extract_all(venv: &Venv, folder: &Path) -> Result {
    let stamp = folder.join("extracted");
    let from = dpnp::PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|known| known == from) {
        return Ok(());
    }
    let (mut count, mut size) = (0, 0);
    for package in PACKAGES {
        let package = venv.package(package)?;
        for file in files::list(&package)?.into_iter().filter(|file| is_library(file)) {
            let path = package.join(&file);
            let bytes = fs::read(&path).context(path.display())?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let name = name.split('.').next().unwrap_or_default();
            for (index, image) in images(&Library::read(&bytes).context(path.display())?)?.into_iter().enumerate() {
                files::write(&folder.join(format!("{name}-{index:05}.spv")), image)?;
                count += 1;
                size += image.len();
            }
        }
    }
    println!("{count} images of {} in {}: {:.1} MB", PACKAGES.join(" and "), folder.display(), size as f64 / 1e6);
    fs::write(&stamp, from).context(stamp.display())
}

fn is_library(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "so")
}

/// What the library registers for `spir64`.
fn images<'a>(library: &Library<'a>) -> Result<Vec<&'a [u8]>> {
    let mut images = Vec::new();
    for &[place, target] in library.pointers() {
        let is = |at: u64, text: &[u8]| {
            library.offset(at).and_then(|at| library.part(at, text.len() as u64)).is_ok_and(|found| found == text)
        };
        let Some(descriptor) = place.checked_sub(TARGET_AT) else { continue };
        if !is(target, b"spir64\0") || !is(descriptor, DESCRIPTOR) {
            continue;
        }
        let [Some(start), Some(end)] = BYTES_AT.map(|at| library.pointer_at(descriptor + at)) else {
            fail!("the image at {descriptor:#x} has no bytes")
        };
        let image = library.part(library.offset(start)?, end - start)?;
        if !image.starts_with(SPIRV) {
            fail!("the image at {descriptor:#x} is no SPIR-V");
        }
        images.push(image);
    }
    Ok(images)
}

/// Gives every file of PTX to ptxas.
fn assemble_all(workspace: &Workspace, folder: &Path, sm: u32) -> Result {
    let tools = workspace.target().join("ptxas");
    python::unpack(&workspace.target().join("wheels"), PTXAS, "nvidia/cu13/", &tools)?;
    let ptxas = tools.join("bin/ptxas");
    process::run(Command::new("chmod").arg("+x").arg(&ptxas))?;
    let list: Vec<PathBuf> =
        files::list(folder)?.into_iter().filter(|file| file.extension().is_some_and(|e| e == "ptx")).collect();
    let (next, refused) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (next, refused, list, ptxas) = (&next, &refused, &list, &ptxas);
            let product = folder.join(format!("{thread}.cubin"));
            scope.spawn(move || {
                while let Some(file) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = process::limited(PTXAS_LIMIT, ptxas);
                    command.arg(format!("-arch=sm_{sm}")).arg(folder.join(file)).arg("-o").arg(&product);
                    if let Err(failure) = process::capture(&mut command) {
                        refused.lock().unwrap_or_else(|poison| poison.into_inner()).push(failure);
                    }
                }
            });
        }
    });
    let refused = refused.into_inner().unwrap_or_else(|poison| poison.into_inner());
    println!("ptxas for sm_{sm}: {} files, {} refused", list.len(), refused.len());
    match refused.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::made;

    /// A library with a module and a descriptor that says these things of it.
    fn found(descriptor: &[u8], target: &[u8], module: &[u8]) -> Result<usize> {
        let end = 0x520 + module.len() as u64;
        let addresses = [(0x408, 0x500), (0x420, 0x520), (0x428, end)];
        let bytes =
            made::library(&[(0x400, descriptor), (0x450, &[0; 8]), (0x500, target), (0x520, module)], &addresses);
        images(&Library::read(&bytes)?).map(|images| images.iter().filter(|image| **image == module).count())
    }

    #[test]
    fn images_for_spir64_are_found_and_no_other() {
        let module = b"\x03\x02\x23\x07 and more";
        assert_eq!(found(DESCRIPTOR, b"spir64\0", module).expect("a library"), 1);
        assert_eq!(found(DESCRIPTOR, b"spir64_gen\0", module).expect("a library"), 0);
        assert_eq!(found(b"\x02\x00\x04", b"spir64\0", module).expect("a library"), 0);
        assert!(found(DESCRIPTOR, b"spir64\0", b"compressed").is_err(), "an image that is no SPIR-V was passed over");
    }
}
