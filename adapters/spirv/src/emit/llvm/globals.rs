//! Variables of the module: device memory, constants, work-group memory. Built-in variables are no memory; see `builtins`.

use std::rc::Rc;

use super::Writer;
use super::names::symbol;
use super::types::address_space;
use crate::error::{Error, Result};
use crate::fold::Value;
use crate::limits;
use crate::model::{Id, kind, storage};

impl Writer<'_> {
    /// The text that names a variable of the module.
    pub(super) fn variable_text(&mut self, id: Id) -> Result<Rc<str>> {
        if self.builtin(id).is_some() {
            return Ok(format!("%b{id}").into());
        }
        if let Some(known) = self.symbols.get(&id) {
            return Ok(Rc::clone(known));
        }
        self.pending_globals.push(id);
        let name = format!("@{}", self.variable_name(id));
        let class = self.module.pointer(self.module.definition(id)?.ty)?.0;
        let (space, pointer_space) = (address_space(class)?, self.pointer_space(class)?);
        let text: Rc<str> = if space == pointer_space {
            name.into()
        } else {
            let [from, to] = [space, pointer_space].map(|space| self.pointer_text("i8", space));
            format!("addrspacecast ({from} {name} to {to})").into()
        };
        self.symbols.insert(id, Rc::clone(&text));
        Ok(text)
    }

    fn variable_name(&self, id: Id) -> String {
        match self.module.linkage(id) {
            Some((name, _)) => symbol(&name),
            None => self.own_name(format!("g{id}")),
        }
    }

    /// Writes the variables that other modules or the host see by name.
    pub(super) fn write_exported_variables(&mut self) -> Result<()> {
        for &id in &self.module.variables {
            if self.is_exported(id) && self.builtin(id).is_none() {
                self.variable_text(id)?;
            }
        }
        Ok(())
    }

    /// Notes what another module must define.
    pub(super) fn note_import(&mut self, name: &str) {
        self.result.imports.push(name.to_owned());
        self.remark(&format!("{name} is left for another module to define"));
    }

    pub(super) fn write_global(&mut self, id: Id) -> Result<()> {
        let definition = *self.module.definition(id)?;
        self.global_text(id).map_err(|error| Self::place(error, definition.instruction))
    }

    fn global_text(&mut self, id: Id) -> Result<()> {
        let definition = *self.module.definition(id)?;
        let (class, pointee) = self.module.pointer(definition.ty)?;
        if class == storage::INPUT {
            return Err(Error::unsupported("a variable of class Input without a built-in"));
        }
        let space = address_space(class)?;
        let ty = self.type_text(pointee)?;
        let layout = self.layouts.of(self.module, pointee)?;
        let align = self.module.alignment(id).unwrap_or(layout.align).max(layout.align).min(1 << 12);
        let name = self.variable_name(id);
        let is_constant = class == storage::UNIFORM_CONSTANT || self.module.decoration(id, kind::CONSTANT).is_some();
        let what = if is_constant && space == 1 { "constant" } else { "global" };
        let linkage = self.module.linkage(id);
        if linkage.as_ref().is_some_and(|(_, linkage)| *linkage == 1) {
            self.globals.push_str(&format!("@{name} = external addrspace({space}) {what} {ty}, align {align}\n"));
            self.note_import(&name);
            return Ok(());
        }
        if space == 3 {
            self.result.static_shared_bytes += layout.size;
        }
        let initializer = match self.module.operand(definition.instruction, 3) {
            // Work-group memory begins undefined.
            _ if space == 3 => "undef".into(),
            Ok(initializer) => {
                let (text, value) = (self.value(initializer)?, self.folder.value(self.module, initializer)?);
                self.count_initialised(&value, layout.size)?;
                text
            }
            Err(_) => "zeroinitializer".into(),
        };
        let linkage = match linkage {
            Some((_, 2)) => "linkonce_odr ",
            Some(_) => "",
            None => "internal ",
        };
        if !linkage.starts_with("internal") {
            self.result.exports.push(name.clone());
        }
        self.globals
            .push_str(&format!("@{name} = {linkage}addrspace({space}) {what} {ty} {initializer}, align {align}\n"));
        Ok(())
    }

    /// Counts the bytes of an initialiser, unless the compiler leaves them out.
    pub(super) fn count_initialised(&mut self, value: &Value, size: u64) -> Result<()> {
        if *value != Value::Undef && !value.is_zero() {
            self.initialised_bytes = self.initialised_bytes.saturating_add(size);
        }
        if self.initialised_bytes > limits::MAX_INITIALISED_BYTES {
            return Err(Error::limit(format!(
                "variables of more than {} bytes begin with other values than zeroes",
                limits::MAX_INITIALISED_BYTES
            )));
        }
        Ok(())
    }

    /// The start of the work-group memory that the host sizes at a launch.
    pub(super) fn dynamic_shared(&mut self) -> &'static str {
        const TEXT: &str = "@ur_dynamic_shared = external addrspace(3) global [0 x i8], align 16";
        if !self.declared.contains_key("ur_dynamic_shared") {
            self.declared.insert("ur_dynamic_shared".to_owned(), TEXT.to_owned());
        }
        "@ur_dynamic_shared"
    }
}
