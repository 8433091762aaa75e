//! Lines of the source (`OpLine`), as LLVM's debug information. Only lines: no variables and no types.

use std::collections::HashMap;

use super::Writer;
use crate::error::Result;
use crate::model::{Id, Instruction};

/// The nodes written so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    unit: Option<usize>,
    files: HashMap<Id, usize>,
    /// The subprogram of the function that is being written.
    scope: Option<usize>,
}

impl Writer<'_> {
    /// Begins a function: what its definition ends with.
    pub(super) fn begin_lines(&mut self, name: &str) -> String {
        self.location.clear();
        self.debug.scope = None;
        if !self.options.line_info {
            return String::new();
        }
        let unit = self.unit();
        let types = self.metadata.node("!{null}");
        let ty = self.metadata.node(&format!("!DISubroutineType(types: !{types})"));
        let file = self.metadata.node("!DIFile(filename: \"module.spv\", directory: \"\")");
        let scope = self.metadata.add(format!(
            "distinct !DISubprogram(name: \"{name}\", linkageName: \"{name}\", scope: !{file}, file: !{file}, type: !{ty}, \
             isLocal: false, isDefinition: true, isOptimized: true, unit: !{unit})"
        ));
        self.debug.scope = Some(scope);
        self.set_location(0, 0, scope);
        format!(" !dbg !{scope}")
    }

    /// What follows stands at this line.
    ///
    /// # Errors
    /// The instruction names no file.
    pub(super) fn take_line(&mut self, line: Instruction) -> Result<()> {
        let Some(function) = self.debug.scope else {
            return Ok(());
        };
        let (file, number, column) =
            (self.module.operand(line, 0)?, self.module.operand(line, 1)?, self.module.operand(line, 2)?);
        let file = self.file(file);
        let scope =
            self.metadata.node(&format!("!DILexicalBlockFile(scope: !{function}, file: !{file}, discriminator: 0)"));
        self.set_location(number, column.min(0xffff), scope);
        Ok(())
    }

    fn set_location(&mut self, line: u32, column: u32, scope: usize) {
        let node = self.metadata.node(&format!("!DILocation(line: {line}, column: {column}, scope: !{scope})"));
        self.location = format!(", !dbg !{node}");
    }

    fn unit(&mut self) -> usize {
        if let Some(unit) = self.debug.unit {
            return unit;
        }
        let file = self.metadata.node("!DIFile(filename: \"module.spv\", directory: \"\")");
        let unit = self.metadata.add(format!(
            "distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !{file}, producer: \"ur-spirv\", isOptimized: true, \
             runtimeVersion: 0, emissionKind: LineTablesOnly)"
        ));
        self.metadata.name("llvm.dbg.cu", unit);
        let version = self.metadata.node("!{i32 2, !\"Debug Info Version\", i32 3}");
        self.metadata.name("llvm.module.flags", version);
        self.debug.unit = Some(unit);
        unit
    }

    fn file(&mut self, id: Id) -> usize {
        if let Some(&known) = self.debug.files.get(&id) {
            return known;
        }
        let path = self.module.strings.get(&id).map_or_else(String::new, |&text| self.module.string(text, 1));
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let node = self.metadata.node(&format!(
            "!DIFile(filename: \"{}\", directory: \"{}\")",
            escaped(name.as_bytes()),
            escaped(folder.as_bytes())
        ));
        self.debug.files.insert(id, node);
        node
    }
}

/// A string as LLVM's text holds it.
pub(super) fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => out.push_str(&format!("\\{byte:02X}")),
            _ => out.push(char::from(byte)),
        }
    }
    out
}
