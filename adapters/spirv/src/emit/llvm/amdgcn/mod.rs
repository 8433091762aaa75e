//! What AMD's devices have of their own: registers, kernels' heads, address spaces, and in the files beside this one memory order,
//! what lanes give each other, and numbers. Pointers are opaque here. Variables of functions lie in address space 5 and are cast to
//! the generic one at once, as is what points to work-group memory; the compiler takes such casts back out. A
//! work-group's size is the launch packet's, so that no hidden argument is needed.

mod atomic;
mod lanes;
mod number;

use std::fmt::Write as _;

use super::Writer;
use crate::model::Kernel;

pub(super) const TRIPLE: &str = "target datalayout = \"e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-\
     v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7\"\ntarget triple = \"amdgcn-amd-amdhsa\"\n";

/// Where a launch packet (`hsa_kernel_dispatch_packet_t`) has the first dimension of a work-group's size, in 16 bits each, and of all
/// work-items, in 32 bits each.
const GROUP_SIZE_BYTES: u32 = 4;
const GLOBAL_SIZE_BYTES: u32 = 12;

/// The groups of attributes that calls and functions refer to.
pub(super) fn attributes(flush_denormals: bool) -> String {
    let flush = match flush_denormals {
        true => " \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"",
        false => "",
    };
    let groups = [
        "convergent nounwind",
        "alwaysinline nounwind",
        "alwaysinline convergent nounwind",
        "nounwind",
        "noinline nounwind",
    ];
    let mut text = String::new();
    for (at, group) in groups.iter().enumerate() {
        let _ = writeln!(text, "attributes #{at} = {{ {group}{flush} }}");
    }
    text
}

impl Writer<'_> {
    /// Begins a kernel, with what the compiler may rely on of its work-groups.
    pub(super) fn amdgcn_kernel_head(&mut self, name: &str, header: &str, debug: &str, kernel: &Kernel) {
        let product = |size: [u32; 3]| size.iter().fold(1u32, |all, &one| all.saturating_mul(one.max(1)));
        let (least, most) = match (kernel.required_size, kernel.max_size) {
            (Some(size), _) => (product(size), product(size)),
            (None, Some(size)) => (1, product(size)),
            (None, None) => (1, self.options.max_threads),
        };
        let required =
            kernel.required_size.map(|[x, y, z]| self.metadata.node(&format!("!{{i32 {x}, i32 {y}, i32 {z}}}")));
        let required = required.map_or_else(String::new, |node| format!(" !reqd_work_group_size !{node}"));
        let _ = writeln!(
            self.out,
            "define amdgpu_kernel void @{name}({header}) #0 \"amdgpu-flat-work-group-size\"=\"{least},{most}\" \
             \"uniform-work-group-size\"=\"true\"{debug}{required} {{"
        );
    }

    /// What PTX has as a special register of this name.
    pub(super) fn amdgcn_register(&mut self, name: &str) -> String {
        if let Some(which) = name.strip_prefix("lanemask.") {
            return self.lane_mask(which);
        }
        let (register, axis) = name.split_once('.').unwrap_or((name, "x"));
        let at = match axis {
            "x" => 0,
            "y" => 1,
            _ => 2,
        };
        match register {
            "tid" => self.id_register("workitem", axis),
            "ctaid" => self.id_register("workgroup", axis),
            "ntid" => self.packet_number("i16", GROUP_SIZE_BYTES + 2 * at),
            "nctaid" => {
                let all = self.packet_number("i32", GLOBAL_SIZE_BYTES + 4 * at);
                let size = self.packet_number("i16", GROUP_SIZE_BYTES + 2 * at);
                self.let_temp(format_args!("udiv i32 {all}, {size}"))
            }
            _ => self.lane(),
        }
    }

    fn id_register(&mut self, of: &str, axis: &str) -> String {
        let name = format!("llvm.amdgcn.{of}.id.{axis}");
        self.declare(&name, "i32", "");
        self.call("i32", &name, "")
    }

    /// A number of the launch packet, as 32 bits.
    fn packet_number(&mut self, ty: &str, at: u32) -> String {
        self.declare("llvm.amdgcn.dispatch.ptr", "ptr addrspace(4)", "");
        let packet = self.call("ptr addrspace(4)", "llvm.amdgcn.dispatch.ptr", "");
        let place = self.let_temp(format_args!("getelementptr inbounds i8, ptr addrspace(4) {packet}, i64 {at}"));
        let align = if ty == "i16" { 2 } else { 4 };
        let unchanged = self.metadata.node("!{}");
        let value = self
            .let_temp(format_args!("load {ty}, ptr addrspace(4) {place}, align {align}, !invariant.load !{unchanged}"));
        match ty {
            "i32" => value,
            _ => self.let_temp(format_args!("zext {ty} {value} to i32")),
        }
    }

    /// Whether a generic address lies in a space: `shared`, `local` (private), else `global`, which is what no other has.
    pub(super) fn amdgcn_is_space(&mut self, space: &str, address: &str) -> String {
        let mut is = |name: &str| {
            let name = format!("llvm.amdgcn.is.{name}");
            self.declare(&name, "i1", "ptr");
            self.call("i1", &name, address)
        };
        match space {
            "shared" => is("shared"),
            "local" => is("private"),
            _ => {
                let (shared, private) = (is("shared"), is("private"));
                let either = self.let_temp(format_args!("or i1 {shared}, {private}"));
                self.let_temp(format_args!("xor i1 {either}, true"))
            }
        }
    }

    /// The device's clock, of a constant frequency, or the cycles of this compute unit.
    pub(super) fn amdgcn_clock(&mut self, of_device: bool) -> String {
        let name = if of_device { "llvm.amdgcn.s.memrealtime" } else { "llvm.amdgcn.s.memtime" };
        self.declare(name, "i64", "");
        self.call("i64", name, "")
    }
}
