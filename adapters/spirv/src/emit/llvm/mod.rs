//! LLVM's text: NVVM IR in either dialect, and that for AMD's devices. A [`Writer`] collects types, globals, functions, helpers and
//! metadata while it walks the functions that the chosen kernels reach; each is written once, when it is first used. Almost nothing is
//! optimised here (`loops` says what is): the target's compiler does that. Code with control flow of its own goes into a helper
//! function, so that blocks of the module stay whole. What only AMD's devices have is in `amdgcn`; a method that writes something else
//! for them begins by asking which target it is.

mod amdgcn;
mod builtins;
mod constants;
mod debug;
mod function;
mod globals;
mod group;
mod helper;
mod instruction;
mod kernel;
mod late;
mod loops;
mod metadata;
mod names;
mod opencl;
mod types;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::fold::Folder;
use crate::limits;
use crate::model::{Id, Instruction, Layouts, Module};

use super::{Dialect, Emitter, GlobalOffset, Options, Program, Translation};

pub(super) use names::symbol;
pub use names::variant_names_are_free;
use types::Scalar;

/// Whose devices the text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Nvptx,
    Amdgcn,
}

/// The emitter of LLVM's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct LlvmEmitter;

impl Emitter for LlvmEmitter {
    fn emit(&self, module: &Module, options: &Options) -> Result<Translation> {
        emit_for(module, options, &Program::of(&[module], options))
    }
}

/// Translates a module of a program. Where nobody knows what its modules import from each other everything that is exported is kept,
/// unless single kernels are wanted.
pub(super) fn emit_for<'m>(module: &'m Module, options: &'m Options, program: &'m Program) -> Result<Translation> {
    let mut writer = Writer::new(module, options, program);
    writer.write_module()?;
    writer.finish()
}

const TRIPLE: &str = "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
     v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n";

/// Attributes that calls and functions refer to.
const ATTRIBUTES: &str = "attributes #0 = { convergent nounwind }\nattributes #1 = { alwaysinline nounwind }\n\
     attributes #2 = { alwaysinline convergent nounwind }\nattributes #3 = { nounwind }\nattributes #4 = { noinline nounwind }\n";

/// Everything of one translation.
struct Writer<'m> {
    module: &'m Module,
    options: &'m Options,
    program: &'m Program,
    /// What the module itself names, so that the translation must not.
    given_names: HashSet<String>,
    target: Target,
    /// Lanes of a full sub-group: 32, or 64 on AMD's devices.
    lanes: u32,
    opaque: bool,
    /// Some kernel of the module forbids to fuse multiplications with additions.
    forbids_contraction: bool,
    folder: Folder,
    /// Constants that instructions take as numbers, for those who only look.
    numbers: RefCell<Folder>,
    layouts: Layouts,
    types: HashMap<Id, Rc<str>>,
    constants: HashMap<Id, Rc<str>>,
    /// The texts of the functions and variables that were named, and thereby are written or imported.
    symbols: HashMap<Id, Rc<str>>,
    /// Bytes of the texts of types and constants.
    names_length: usize,
    remarks: HashSet<String>,
    structures: String,
    pending_structures: Vec<Id>,
    globals: String,
    pending_globals: Vec<Id>,
    /// Bytes of the variables that do not begin as zeroes.
    initialised_bytes: u64,
    /// Functions of kernels in two variants, which both call them and nobody else.
    shared_by_variants: HashSet<Id>,
    pending_functions: Vec<Id>,
    /// Declarations by name.
    declared: BTreeMap<String, String>,
    helpers: HashSet<String>,
    helper_text: String,
    functions: String,
    metadata: metadata::Metadata,
    debug: debug::Lines,
    /// The text of the function that is being written.
    out: String,
    temporaries: u32,
    /// Ends each instruction: the line it stands for.
    location: String,
    current: function::Current,
    result: Translation,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module, options: &'m Options, program: &'m Program) -> Self {
        Self {
            module,
            options,
            program,
            given_names: names::given_names(module),
            target: match options.dialect {
                Dialect::Amdgcn { .. } => Target::Amdgcn,
                Dialect::Typed | Dialect::Opaque => Target::Nvptx,
            },
            lanes: options.dialect.sub_group_size(),
            opaque: options.dialect != Dialect::Typed,
            forbids_contraction: module.forbids_contraction(),
            folder: Folder::default(),
            numbers: RefCell::default(),
            names_length: 0,
            remarks: HashSet::new(),
            layouts: Layouts::default(),
            types: HashMap::new(),
            constants: HashMap::new(),
            symbols: HashMap::new(),
            structures: String::new(),
            pending_structures: Vec::new(),
            globals: String::new(),
            pending_globals: Vec::new(),
            initialised_bytes: 0,
            shared_by_variants: HashSet::new(),
            pending_functions: Vec::new(),
            declared: BTreeMap::new(),
            helpers: HashSet::new(),
            helper_text: String::new(),
            functions: String::new(),
            metadata: metadata::Metadata::default(),
            debug: debug::Lines::default(),
            out: String::new(),
            temporaries: 0,
            location: String::new(),
            current: function::Current::default(),
            result: Translation::default(),
        }
    }

    fn write_module(&mut self) -> Result<()> {
        self.write_kernels()?;
        self.write_exports()?;
        loop {
            if let Some(function) = self.pending_functions.pop() {
                self.write_function(function)?;
            } else if let Some(variable) = self.pending_globals.pop() {
                self.write_global(variable)?;
            } else if let Some(structure) = self.pending_structures.pop() {
                self.write_structure(structure)?;
            } else {
                break;
            }
            self.check_length()?;
        }
        if self.target == Target::Nvptx {
            self.write_versions();
        }
        Ok(())
    }

    /// The text so far, that of names included, keeps within the limit.
    fn check_length(&self) -> Result<()> {
        let text = self.functions.len() + self.globals.len() + self.helper_text.len() + self.out.len();
        if text + self.names_length > limits::MAX_TEXT {
            return Err(Error::limit(format!("the text is longer than {} bytes", limits::MAX_TEXT)));
        }
        Ok(())
    }

    /// The text of one instruction, which may name a long constant many times and is not yet among what `check_length` counts.
    fn check_instruction_length(text: &str) -> Result<()> {
        if text.len() > limits::MAX_CONSTANT_TEXT {
            return Err(Error::limit(format!(
                "an instruction's text is longer than {} bytes",
                limits::MAX_CONSTANT_TEXT
            )));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Translation> {
        // Kernels share functions, and the compiler's option is for all of them. Only flushing may be left out.
        self.result.flush_denormals &= !self.result.preserve_denormals;
        let mut text = String::with_capacity(self.functions.len() + self.helper_text.len() + self.globals.len() + 4096);
        text.push_str(match self.target {
            Target::Nvptx => TRIPLE,
            Target::Amdgcn => amdgcn::TRIPLE,
        });
        text.push_str(&self.structures);
        text.push_str(&self.globals);
        for declaration in self.declared.values() {
            text.push_str(declaration);
            text.push('\n');
        }
        text.push_str(&self.functions);
        text.push_str(&self.helper_text);
        match self.target {
            Target::Nvptx => text.push_str(ATTRIBUTES),
            Target::Amdgcn => text.push_str(&amdgcn::attributes(self.result.flush_denormals)),
        }
        self.metadata.write(&mut text);
        self.result.text = text;
        self.result.contraction_off |= self.forbids_contraction;
        Ok(self.result)
    }

    /// A pointer's text: to `pointee` in an address space.
    fn pointer_text(&self, pointee: &str, space: u32) -> String {
        match (self.opaque, space) {
            (true, 0) => "ptr".to_owned(),
            (true, _) => format!("ptr addrspace({space})"),
            (false, 0) => format!("{pointee}*"),
            (false, _) => format!("{pointee} addrspace({space})*"),
        }
    }

    /// Declares a function of the compiler's or of libdevice, once.
    fn declare(&mut self, name: &str, returns: &str, parameters: &str) {
        if self.declared.contains_key(name) {
            return;
        }
        if name.starts_with("__nv_") || name.starts_with("__oc") {
            self.result.uses_libdevice = true;
        }
        self.declared.insert(name.to_owned(), format!("declare {returns} @{name}({parameters})"));
    }

    /// A new name for a value.
    fn fresh(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    /// Writes an instruction that has no result.
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        if self.out.len() > limits::MAX_TEXT {
            // One instruction can be that long; `check_length` refuses the module behind it.
            return;
        }
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "  {text}{}", self.location);
    }

    /// Writes an instruction and names its result.
    fn let_temp(&mut self, text: std::fmt::Arguments<'_>) -> String {
        let name = self.fresh();
        self.put(format_args!("{name} = {text}"));
        name
    }

    /// Writes the instruction whose result is the module's id.
    fn set(&mut self, result: Id, text: std::fmt::Arguments<'_>) {
        self.put(format_args!("%v{result} = {text}"));
    }

    /// Calls a function and names its result.
    fn call(&mut self, returns: &str, name: &str, arguments: &str) -> String {
        self.let_temp(format_args!("call {returns} @{name}({arguments})"))
    }

    /// Writes a variable of the function, whose generic address has this name. `align` is empty or `, align N`.
    fn put_variable(&mut self, name: &str, ty: &str, align: &str) {
        match self.target {
            Target::Nvptx => self.put(format_args!("{name} = alloca {ty}{align}")),
            Target::Amdgcn => {
                let private = self.let_temp(format_args!("alloca {ty}{align}, addrspace(5)"));
                self.put(format_args!("{name} = addrspacecast ptr addrspace(5) {private} to ptr"));
            }
        }
    }

    /// The integer with a bit for each lane of a sub-group.
    fn mask(&self) -> Scalar {
        Scalar::Int(self.lanes)
    }

    /// Gives the module's id to a value that has a name already.
    fn alias(&mut self, result: Id, ty: &str, value: &str) {
        // `freeze` and copies do not exist in both dialects; a bit cast to the same type does.
        if ty.starts_with('{')
            || ty.starts_with('[')
            || ty.starts_with('%')
            || ty.starts_with('<') && ty.ends_with("}>")
        {
            self.set(result, format_args!("select i1 true, {ty} {value}, {ty} {value}"));
        } else {
            self.set(result, format_args!("bitcast {ty} {value} to {ty}"));
        }
    }

    fn remark(&mut self, text: &str) {
        if self.remarks.insert(text.to_owned()) {
            self.result.log.push_str(text);
            self.result.log.push('\n');
        }
    }

    fn place(error: Error, instruction: Instruction) -> Error {
        error.at(instruction.at as usize, instruction.opcode)
    }
}
