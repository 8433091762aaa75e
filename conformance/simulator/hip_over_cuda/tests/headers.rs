//! `sys` against the public headers: sizes, offsets and values, compared by a C compiler.
//!
//! `HIP_HEADERS_ROCM7` and `HIP_HEADERS_ROCM5` name the `include` folders of ROCm 7's and 5's headers (PyPI's `triton`
//! wheel carries the first, Debian's `libamdhip64-dev` the second). Without them the tests say so and compare nothing.

#![allow(missing_docs, reason = "a test")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use hip_on_cuda::sys::graph::*;
use hip_on_cuda::sys::layout::*;
use hip_on_cuda::sys::{attribute, status, value};

/// Assertions in C, and how many.
struct Program {
    text: String,
    count: usize,
}

impl Program {
    fn new() -> Self {
        let text = "#define __HIP_PLATFORM_AMD__ 1\n#include <stddef.h>\n#include <hip/hip_runtime_api.h>\n".to_owned();
        Self { text, count: 0 }
    }

    fn holds(&mut self, condition: &str, message: &str) {
        writeln!(self.text, "_Static_assert({condition}, \"{message}\");").unwrap();
        self.count += 1;
    }

    /// A structure, `name` in C; `other` names fields that C calls otherwise.
    fn layout<T: Layout>(&mut self, name: &str, other: &[(&str, &str)]) {
        self.holds(&format!("sizeof({name}) == {}", size_of::<T>()), &format!("size of {name}"));
        for (field, offset, size) in T::FIELDS {
            let field = field.trim_start_matches("r#");
            let field = other.iter().find(|(ours, _)| *ours == field).map_or(field, |(_, theirs)| theirs);
            let place = format!("{name}.{field}");
            self.holds(&format!("offsetof({name}, {field}) == {offset}"), &format!("offset of {place}"));
            self.holds(&format!("sizeof((({name} *)0)->{field}) == {size}"), &format!("size of {place}"));
        }
    }

    fn values<'v>(&mut self, values: impl IntoIterator<Item = (&'v str, i64)>) {
        for (name, value) in values {
            // Flags are compared as 32 bits: the headers write some as signed and some as unsigned.
            self.holds(&format!("(unsigned)({name}) == (unsigned)({value}ll)"), &format!("value of {name}"));
        }
    }

    fn addresses(&mut self) {
        for (name, value) in value::handle::ALL {
            self.holds(&format!("(size_t)({name}) == {value}"), &format!("value of {name}"));
        }
    }

    /// Compiles; the compiler's words name whatever differs.
    fn check(self, include: &PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("compare.c");
        std::fs::write(&file, &self.text).unwrap();
        let compiler = Command::new("cc")
            .args(["-std=gnu11", "-w", "-fsyntax-only", "-fmax-errors=40", "-I"])
            .arg(include)
            .arg(&file)
            .output()
            .expect("a C compiler");
        let words = String::from_utf8_lossy(&compiler.stderr);
        assert!(compiler.status.success(), "{} differs:\n{words}", include.display());
        println!("{} facts agree with {}", self.count, include.display());
    }
}

fn headers(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {variable} names no include folder");
    }
    folder
}

/// Values that both generations have.
fn common(program: &mut Program, text: &str) {
    program.values(value::flag::ALL.iter().copied());
    program.values(value::enumerator::ALL.iter().copied());
    let known = |name: &str| text.contains(&format!("{name} ")) || text.contains(&format!("{name},"));
    let statuses = status::ALL.iter().filter(|(name, _)| known(name));
    program.values(statuses.map(|(name, status)| (*name, i64::from(status.0))));
    program.addresses();
    program.layout::<hipUUID>("hipUUID", &[]);
    program.layout::<hipMemLocation>("hipMemLocation", &[]);
    program.layout::<hipMemAccessDesc>("hipMemAccessDesc", &[]);
    program.layout::<hip_Memcpy2D>("hip_Memcpy2D", &[]);
    program.layout::<HIP_ARRAY3D_DESCRIPTOR>("HIP_ARRAY3D_DESCRIPTOR", &[]);
    program.layout::<HIP_RESOURCE_DESC>("HIP_RESOURCE_DESC", &[]);
    program.layout::<hipResourceDesc>("hipResourceDesc", &[]);
    program.layout::<HIP_TEXTURE_DESC>("HIP_TEXTURE_DESC", &[]);
    program.layout::<hipIpcMemHandle_t>("hipIpcMemHandle_t", &[]);
    program.layout::<hipIpcEventHandle_t>("hipIpcEventHandle_t", &[]);
    program.layout::<hipMemPoolPtrExportData>("hipMemPoolPtrExportData", &[]);
    program.layout::<dim3>("dim3", &[]);
    program.layout::<hipKernelNodeParams>("hipKernelNodeParams", &[]);
    program.layout::<hipMemsetParams>("hipMemsetParams", &[]);
    program.layout::<hipHostNodeParams>("hipHostNodeParams", &[]);
    program.layout::<hipPitchedPtr>("hipPitchedPtr", &[]);
    program.layout::<hipPos>("hipPos", &[]);
    program.layout::<hipExtent>("hipExtent", &[]);
    program.layout::<hipMemcpy3DParms>("hipMemcpy3DParms", &[]);
    program.holds("sizeof(hipDeviceArch_t) == 4", "size of hipDeviceArch_t");
}

#[test]
fn layouts_and_values_are_those_of_rocm_7() {
    let Some(include) = headers("HIP_HEADERS_ROCM7") else { return };
    let mut program = Program::new();
    let text = std::fs::read_to_string(include.join("hip/hip_runtime_api.h")).unwrap();
    common(&mut program, &text);
    let missing: Vec<_> = status::ALL.iter().filter(|(name, _)| !text.contains(name)).collect();
    assert!(missing.is_empty(), "statuses that ROCm 7 does not have: {missing:?}");
    program.values(attribute::ALL.iter().map(|(name, value)| (*name, i64::from(*value))));
    program.values(value::memory_type::ALL.iter().copied());
    program.values(value::flag7::ALL.iter().copied());
    program.values(value::enumerator7::ALL.iter().copied());
    program.holds("(size_t)hipStreamLegacy == 1", "value of hipStreamLegacy");
    program.layout::<hipDeviceProp_tR0600>("hipDeviceProp_tR0600", &[]);
    program.layout::<hipPointerAttribute_t>("hipPointerAttribute_t", &[]);
    program.layout::<hipMemPoolProps>("hipMemPoolProps", &[]);
    program.layout::<HIP_MEMCPY3D>("HIP_MEMCPY3D", &[]);
    program.layout::<hipMemAllocationProp>("hipMemAllocationProp", &[]);
    program.layout::<hipMemAllocNodeParams>("hipMemAllocNodeParams", &[]);
    program.layout::<hipGraphInstantiateParams>("hipGraphInstantiateParams", &[]);
    program.check(&include);
}

#[test]
fn what_rocm_5_shares_has_the_same_layouts_and_values() {
    let Some(include) = headers("HIP_HEADERS_ROCM5") else { return };
    let mut program = Program::new();
    let text = std::fs::read_to_string(include.join("hip/hip_runtime_api.h")).unwrap();
    common(&mut program, &text);
    program.layout::<hipDeviceProp_tR0000>("hipDeviceProp_t", &[]);
    program.layout::<hipPointerAttribute_t>("hipPointerAttribute_t", &[("type", "memoryType")]);
    // ROCm 5's last field, `reserved`, is `maxSize` and a shorter `reserved` now.
    program.holds(&format!("sizeof(hipMemPoolProps) == {}", size_of::<hipMemPoolProps>()), "size of hipMemPoolProps");
    let offset = core::mem::offset_of!(hipMemPoolProps, maxSize);
    program.holds(&format!("offsetof(hipMemPoolProps, reserved) == {offset}"), "offset of hipMemPoolProps.reserved");
    program.check(&include);
}
