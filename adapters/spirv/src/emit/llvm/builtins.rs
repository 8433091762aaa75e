//! Built-in variables: special registers of the thread, and what is computed from them. A sub-group is a warp; the last one of a
//! group may be partial. Numbers of dimensions go as the host gives them: dimension 0 is x.

use super::types::address_space;
use super::{Target, Writer};
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Instruction, builtin, kind};

const AXES: [&str; 3] = ["x", "y", "z"];

impl Writer<'_> {
    /// The number of the built-in that the variable `id` is, if it is one.
    pub(super) fn builtin(&self, id: Id) -> Option<u32> {
        self.module.decoration(id, kind::BUILT_IN)?.first().copied()
    }

    /// Gives a variable's worth of memory to each built-in that is used as memory.
    pub(super) fn copy_builtins(&mut self) -> Result<()> {
        for id in std::mem::take(&mut self.current.copied_builtins) {
            let pointee = self.module.pointer(self.module.type_of(id)?)?.1;
            let ty = self.type_text(pointee)?;
            let pointer = self.pointer_text(&ty, 0);
            self.put_variable(&format!("%b{id}"), &ty, "");
            let value = self.builtin_value(id, pointee)?;
            self.put(format_args!("store {ty} {value}, {pointer} %b{id}"));
        }
        Ok(())
    }

    /// The address of a built-in variable's element, that variable, and the element's number, where the module has the variable in memory
    /// of the device, as Khronos' translator wrote it up to LLVM 14. No address there has the thread's own value, so loads take it as it is.
    pub(super) fn builtin_element(&self, chain: Instruction) -> Option<(Id, (Id, Id))> {
        let operands = self.module.operands(chain);
        let (&address, &variable) = (operands.get(1)?, operands.get(2)?);
        let element = match (chain.opcode, operands.get(3..)?) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, &[element]) => element,
            (op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN, &[first, element])
                if self.constant(first) == Ok(0) =>
            {
                element
            }
            _ => return None,
        };
        self.builtin(variable)?;
        let class = self.module.pointer(self.module.type_of(variable).ok()?).ok()?.0;
        (address_space(class).ok()? != 0).then_some((address, (variable, element)))
    }

    /// The value of a built-in variable, of the type that the module gives it.
    ///
    /// # Errors
    /// The built-in is none of a kernel's.
    pub(super) fn builtin_value(&mut self, id: Id, ty: Id) -> Result<String> {
        let number = self.builtin(id).ok_or_else(|| Error::malformed(format!("variable {id} is no built-in")))?;
        let (scalar, count) = self.shape(ty)?;
        let element = scalar.text();
        if scalar.bits() < 32 {
            return Err(Error::malformed("a built-in of this type"));
        }
        if (builtin::SUBGROUP_EQ_MASK..=builtin::SUBGROUP_LT_MASK).contains(&number) {
            let register = ["eq", "ge", "gt", "le", "lt"][(number - builtin::SUBGROUP_EQ_MASK) as usize];
            let mask = self.register(&format!("lanemask.{register}"));
            return Ok(self.ballot_vector(count, &mask));
        }
        if count == 1 {
            let value = self.scalar_builtin(number)?;
            return Ok(self.resize(&value, 64, scalar.bits()));
        }
        let text = self.type_text(ty)?;
        let mut vector = "undef".to_owned();
        for at in 0..count.min(3) as usize {
            let value = self.vector_builtin(number, at)?;
            let value = self.resize(&value, 64, scalar.bits());
            vector = self.let_temp(format_args!("insertelement {text} {vector}, {element} {value}, i32 {at}"));
        }
        Ok(vector)
    }

    /// A special register of 32 bits, by PTX's name; `lanemask` has a bit for each lane.
    pub(super) fn register(&mut self, name: &str) -> String {
        if self.target == Target::Amdgcn {
            return self.amdgcn_register(name);
        }
        let name = format!("llvm.nvvm.read.ptx.sreg.{name}");
        self.declare(&name, "i32", "");
        self.call("i32", &name, "")
    }

    fn wide_register(&mut self, name: &str, at: usize) -> String {
        let value = self.register(&format!("{name}.{}", AXES[at.min(2)]));
        self.let_temp(format_args!("zext i32 {value} to i64"))
    }

    /// An integer of `from` bits as one of `to`, zero-extended.
    pub(super) fn resize(&mut self, value: &str, from: u32, to: u32) -> String {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => value.to_owned(),
            std::cmp::Ordering::Less => self.let_temp(format_args!("zext i{from} {value} to i{to}")),
            std::cmp::Ordering::Greater => self.let_temp(format_args!("trunc i{from} {value} to i{to}")),
        }
    }

    fn vector_builtin(&mut self, number: u32, at: usize) -> Result<String> {
        Ok(match number {
            builtin::NUM_WORKGROUPS => self.wide_register("nctaid", at),
            builtin::WORKGROUP_SIZE | builtin::ENQUEUED_WORKGROUP_SIZE => self.wide_register("ntid", at),
            builtin::WORKGROUP_ID => self.wide_register("ctaid", at),
            builtin::LOCAL_INVOCATION_ID => self.wide_register("tid", at),
            builtin::GLOBAL_INVOCATION_ID => {
                let local = self.global_id_without_offset(at);
                match self.global_offset(at) {
                    Some(offset) => self.let_temp(format_args!("add i64 {local}, {offset}")),
                    None => local,
                }
            }
            builtin::GLOBAL_SIZE => self.global_size(at),
            builtin::GLOBAL_OFFSET => self.global_offset(at).unwrap_or_else(|| "0".to_owned()),
            _ => return Err(Error::unsupported(format!("built-in {number} as a vector"))),
        })
    }

    fn global_offset(&self, at: usize) -> Option<String> {
        self.functions_take_offset().then(|| format!("%go{at}"))
    }

    fn global_size(&mut self, at: usize) -> String {
        let (size, groups) = (self.wide_register("ntid", at), self.wide_register("nctaid", at));
        self.let_temp(format_args!("mul nuw nsw i64 {size}, {groups}"))
    }

    fn global_id_without_offset(&mut self, at: usize) -> String {
        let (size, group) = (self.wide_register("ntid", at), self.wide_register("ctaid", at));
        let start = self.let_temp(format_args!("mul nuw nsw i64 {size}, {group}"));
        let local = self.wide_register("tid", at);
        self.let_temp(format_args!("add nuw nsw i64 {start}, {local}"))
    }

    /// A built-in number, as 64 bits.
    fn scalar_builtin(&mut self, number: u32) -> Result<String> {
        let narrow = match number {
            builtin::LOCAL_INVOCATION_INDEX => self.local_index(),
            builtin::WORK_DIM => self.work_dimensions(),
            builtin::SUBGROUP_SIZE => self.sub_group_size(),
            builtin::SUBGROUP_MAX_SIZE => self.lanes.to_string(),
            builtin::NUM_SUBGROUPS | builtin::NUM_ENQUEUED_SUBGROUPS => self.sub_group_count(),
            builtin::SUBGROUP_ID => {
                let index = self.local_index();
                self.sub_group_of(&index)
            }
            builtin::SUBGROUP_LOCAL_INVOCATION_ID => self.register("laneid"),
            builtin::GLOBAL_LINEAR_ID => return Ok(self.global_linear_id()),
            _ => return Err(Error::unsupported(format!("built-in {number} as a number"))),
        };
        Ok(self.let_temp(format_args!("zext i32 {narrow} to i64")))
    }

    fn global_linear_id(&mut self) -> String {
        let mut id = self.global_id_without_offset(2);
        for at in [1, 0] {
            let (size, next) = (self.global_size(at), self.global_id_without_offset(at));
            let scaled = self.let_temp(format_args!("mul i64 {id}, {size}"));
            id = self.let_temp(format_args!("add i64 {scaled}, {next}"));
        }
        id
    }

    /// The thread's index in its group, dimension 0 fastest.
    pub(super) fn local_index(&mut self) -> String {
        let (x, y, z) = (self.register("tid.x"), self.register("tid.y"), self.register("tid.z"));
        let (width, height) = (self.register("ntid.x"), self.register("ntid.y"));
        let rows = self.let_temp(format_args!("mul i32 {z}, {height}"));
        let row = self.let_temp(format_args!("add i32 {rows}, {y}"));
        let start = self.let_temp(format_args!("mul i32 {row}, {width}"));
        self.let_temp(format_args!("add i32 {start}, {x}"))
    }

    /// The number of threads of the group.
    pub(super) fn group_size(&mut self) -> String {
        let (x, y, z) = (self.register("ntid.x"), self.register("ntid.y"), self.register("ntid.z"));
        let area = self.let_temp(format_args!("mul i32 {x}, {y}"));
        self.let_temp(format_args!("mul i32 {area}, {z}"))
    }

    /// The number of threads of this thread's sub-group: all its lanes, or what is left for the last.
    pub(super) fn sub_group_size(&mut self) -> String {
        let lanes = self.lanes;
        let (index, size) = (self.local_index(), self.group_size());
        let start = self.let_temp(format_args!("and i32 {index}, -{lanes}"));
        let left = self.let_temp(format_args!("sub i32 {size}, {start}"));
        let full = self.let_temp(format_args!("icmp ugt i32 {left}, {lanes}"));
        self.let_temp(format_args!("select i1 {full}, i32 {lanes}, i32 {left}"))
    }

    /// The number of the sub-group that a thread of this index in its group belongs to.
    pub(super) fn sub_group_of(&mut self, index: &str) -> String {
        self.let_temp(format_args!("lshr i32 {index}, {}", self.lanes.trailing_zeros()))
    }

    pub(super) fn sub_group_count(&mut self) -> String {
        let size = self.group_size();
        let above = self.let_temp(format_args!("add i32 {size}, {}", self.lanes - 1));
        self.sub_group_of(&above)
    }

    /// The lanes of this thread's sub-group that exist.
    pub(super) fn sub_group_mask(&mut self) -> String {
        let size = self.sub_group_size();
        let lanes = self.lanes;
        let missing = self.let_temp(format_args!("sub i32 {lanes}, {size}"));
        let missing = self.resize(&missing, 32, lanes);
        self.let_temp(format_args!("lshr {} -1, {missing}", self.mask().text()))
    }

    /// The dimensions of the launch. CUDA keeps no such number: trailing dimensions of one do not count.
    fn work_dimensions(&mut self) -> String {
        self.remark("WorkDim is the highest dimension whose size is not 1: CUDA keeps no other");
        let (depth, height) = (self.global_size(2), self.global_size(1));
        let three = self.let_temp(format_args!("icmp ugt i64 {depth}, 1"));
        let two = self.let_temp(format_args!("icmp ugt i64 {height}, 1"));
        let flat = self.let_temp(format_args!("select i1 {two}, i32 2, i32 1"));
        self.let_temp(format_args!("select i1 {three}, i32 3, i32 {flat}"))
    }
}
