//! The just-in-time linker: joins PTX texts into one.
//!
//! The "native code" it hands out is the joined PTX, which the module loader of this library takes like any other
//! image. Symbols meet by name in the one text; two private symbols of the same name are therefore an error here,
//! which the real linker would keep apart.

use crate::handles::{self, Registry};
use crate::image::{Failure, JitOptions};
use crate::ptx::{self, LoadErrorKind};
use crate::sys::*;
use parking_lot::Mutex;

/// All linkers.
pub static LINKERS: Registry<Linker> = Registry::new(handles::Kind::Linker);

/// One linker.
pub struct Linker {
    /// Where its log goes.
    pub options: JitOptions,
    /// Capability of the device that it links for.
    pub sm: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inputs: Vec<String>,
    output: Option<Box<[u8]>>,
}

impl Linker {
    /// Makes a linker.
    pub fn create(options: JitOptions, sm: u32) -> Handle {
        LINKERS.insert_with(|_| Linker { options, sm, state: Mutex::default() }).0
    }

    /// Adds a text, which must be PTX by itself but for what other texts define.
    pub fn add(&self, text: Vec<u8>) -> Result<(), Failure> {
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        let text = String::from_utf8(text[..end].to_vec())
            .map_err(|_| Failure::new(CUDA_ERROR_INVALID_PTX, "the PTX is not text"))?;
        match ptx::Module::parse(text.as_bytes(), self.sm) {
            Err(error) if error.kind != LoadErrorKind::UndefinedSymbol => {
                return Err(Failure::new(CUDA_ERROR_INVALID_PTX, error.to_string()));
            }
            _ => {}
        }
        let mut state = self.state.lock();
        state.inputs.push(text);
        match ptx::Module::parse(join(&state.inputs).as_bytes(), self.sm) {
            // The texts are right one by one, so what is wrong is between them.
            Err(error) if error.kind != LoadErrorKind::UndefinedSymbol => {
                state.inputs.pop();
                Err(Failure::new(CUDA_ERROR_UNKNOWN, format!("linked text, {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Joins the texts; the answer's address stays valid while the linker lives.
    pub fn complete(&self) -> Result<(u64, usize), Failure> {
        let mut state = self.state.lock();
        if state.inputs.is_empty() {
            return Err(Failure::new(CUDA_ERROR_INVALID_VALUE, "nothing to link"));
        }
        let joined = join(&state.inputs);
        ptx::Module::parse(joined.as_bytes(), self.sm)
            .map_err(|error| Failure::new(CUDA_ERROR_UNKNOWN, format!("linked text, {error}")))?;
        let mut bytes = joined.into_bytes();
        bytes.push(0);
        let output = state.output.insert(bytes.into_boxed_slice());
        Ok((output.as_ptr() as u64, output.len()))
    }
}

/// One header, then every text without its own.
fn join(inputs: &[String]) -> String {
    const HEADER: [&str; 3] = [".version", ".target", ".address_size"];
    let is_header = |line: &str| HEADER.iter().any(|word| line.trim_start().starts_with(word));
    let mut joined = String::new();
    for word in HEADER {
        // The newest version and target of all inputs covers what each of them uses.
        let lines = inputs.iter().flat_map(|text| text.lines()).filter(|line| line.trim_start().starts_with(word));
        if let Some(line) = lines.max_by_key(|line| version_key(line)) {
            joined.push_str(line);
            joined.push('\n');
        }
    }
    for text in inputs {
        for line in text.lines().filter(|line| !is_header(line)) {
            joined.push_str(line);
            joined.push('\n');
        }
    }
    joined
}

fn version_key(line: &str) -> Vec<u32> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
