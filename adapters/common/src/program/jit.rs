//! Options and logs of a native module loader that compiles: what build options mean to it, and what it said.
//!
//! The loaders served here take the same list of numbered options; the call is the backend's. Nothing here reads
//! an image.

use core::ffi::{c_uint, c_void};

use ur_ffi::ur_result_t;

use crate::driver::BuildRequest;
use crate::driver::native::attributes::name_of;
use crate::object::error::{Error, Result};

/// Numbers of the options, the same in `CUjit_option` and `hipJitOption`.
pub mod option {
    /// Most registers of a thread.
    pub const MAX_REGISTERS: u32 = 0;
    /// Where warnings go.
    pub const INFO_LOG: u32 = 3;
    /// How many bytes of warnings.
    pub const INFO_LOG_SIZE: u32 = 4;
    /// Where errors go.
    pub const ERROR_LOG: u32 = 5;
    /// How many bytes of errors.
    pub const ERROR_LOG_SIZE: u32 = 6;
    /// 0 to 4.
    pub const OPTIMIZATION_LEVEL: u32 = 7;
    /// Whether to keep debug information.
    pub const DEBUG_INFO: u32 = 11;
    /// Whether to keep line numbers.
    pub const LINE_INFO: u32 = 13;
}

/// Bytes of each of the two logs.
const LOG_SIZE: usize = 16 * 1024;

/// What the build options ask of the just-in-time compiler.
#[derive(Debug, Default, PartialEq, Eq)]
struct JitOptions {
    optimization: Option<u32>,
    max_registers: Option<u32>,
    debug_info: bool,
    line_info: bool,
    /// Options that mean nothing to this compiler, as given.
    ignored: Vec<String>,
}

impl JitOptions {
    /// Reads `urProgramBuild`'s words; the last of several wins.
    fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-O0" | "-cl-opt-disable" => options.optimization = Some(0),
                "-O1" => options.optimization = Some(1),
                "-O2" => options.optimization = Some(2),
                // The highest level, which the compiler counts as its fourth.
                "-O3" => options.optimization = Some(4),
                "-g" => options.debug_info = true,
                "-lineinfo" | "--generate-line-info" => options.line_info = true,
                "-maxrregcount" | "--maxrregcount" => {
                    options.max_registers = Some(registers(word, words.next().map_or("", String::as_str))?);
                }
                other => match other.strip_prefix("--maxrregcount=").or_else(|| other.strip_prefix("-maxrregcount=")) {
                    Some(number) => options.max_registers = Some(registers(word, number)?),
                    None => options.ignored.push(word.clone()),
                },
            }
        }
        Ok(options)
    }
}

fn registers(word: &str, number: &str) -> Result<u32> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("the build option {word} needs a number of registers, such as {word}=64, and has {number:?}")
                .replace("==", "="),
        )
    })
}

/// Makes a loader's call with the options that the request asks for and two logs; what the loader said, and which
/// options mean nothing to it, is in `request.log` afterwards, whatever the call answered.
///
/// `call` is given the number of options, their numbers and their values.
///
/// # Errors
/// `INVALID_VALUE` for an option without its number; then the call is not made.
pub fn load<R>(
    request: &mut BuildRequest<'_>,
    call: impl FnOnce(c_uint, *mut u32, *mut *mut c_void) -> R,
) -> Result<R> {
    let options = JitOptions::parse(request.options)?;
    let mut information = vec![0_u8; LOG_SIZE];
    let mut errors = vec![0_u8; LOG_SIZE];
    // Numbers travel in the pointers themselves.
    let number = |value: usize| core::ptr::without_provenance_mut::<c_void>(value);
    let mut list: Vec<(u32, *mut c_void)> = vec![
        (option::INFO_LOG, information.as_mut_ptr().cast()),
        (option::INFO_LOG_SIZE, number(LOG_SIZE)),
        (option::ERROR_LOG, errors.as_mut_ptr().cast()),
        (option::ERROR_LOG_SIZE, number(LOG_SIZE)),
    ];
    list.extend(options.optimization.map(|level| (option::OPTIMIZATION_LEVEL, number(level as usize))));
    list.extend(options.max_registers.map(|count| (option::MAX_REGISTERS, number(count as usize))));
    list.extend(options.debug_info.then(|| (option::DEBUG_INFO, number(1))));
    list.extend(options.line_info.then(|| (option::LINE_INFO, number(1))));
    let (mut keys, mut values): (Vec<u32>, Vec<*mut c_void>) = list.into_iter().unzip();
    let count = c_uint::try_from(keys.len()).unwrap_or(0);

    let writer = call(count, keys.as_mut_ptr(), values.as_mut_ptr());
    let ignored = (!options.ignored.is_empty()).then(|| {
        format!("ignored build options, which mean nothing to the PTX compiler: {}", options.ignored.join(" "))
    });
    let text_of = |buffer: &[u8]| name_of(buffer).trim_end().to_owned();
    let parts = [ignored.unwrap_or_default(), text_of(&information), text_of(&errors)];
    request.log = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn build_options_become_compiler_options_and_unknown_ones_are_kept_for_the_log() {
        let options =
            JitOptions::parse(&words("-O1 -g -lineinfo --maxrregcount=64 -cl-fast-relaxed-math -O3")).unwrap();
        let expected = JitOptions {
            optimization: Some(4),
            max_registers: Some(64),
            debug_info: true,
            line_info: true,
            ignored: vec!["-cl-fast-relaxed-math".to_owned()],
        };
        assert_eq!(options, expected);
        assert_eq!(JitOptions::parse(&words("-maxrregcount 32")).unwrap().max_registers, Some(32));
        assert_eq!(JitOptions::parse(&words("-cl-opt-disable")).unwrap().optimization, Some(0));
        assert_eq!(JitOptions::parse(&[]).unwrap(), JitOptions::default());
    }

    #[test]
    fn a_register_limit_without_its_number_is_refused() {
        for text in ["--maxrregcount=", "--maxrregcount=many", "-maxrregcount", "--maxrregcount=0"] {
            let error = JitOptions::parse(&words(text)).expect_err(text);
            assert_eq!(error.code(), ur_result_t::ERROR_INVALID_VALUE);
            assert!(error.message().contains("maxrregcount"), "{error}");
        }
    }

    #[test]
    fn the_loader_gets_its_options_and_its_words_come_back() {
        let options = words("-O2 --maxrregcount=64 -cl-unknown");
        let mut request = BuildRequest { options: &options, log: String::new() };
        let writer = load(&mut request, |count, keys, values| {
            // SAFETY: both lists have `count` entries.
            let (keys, values) = unsafe {
                (core::slice::from_raw_parts(keys, count as usize), core::slice::from_raw_parts(values, count as usize))
            };
            let of = |key: u32| values[keys.iter().position(|known| *known == key).expect("given")];
            assert_eq!((of(option::OPTIMIZATION_LEVEL).addr(), of(option::MAX_REGISTERS).addr()), (2, 64));
            assert_eq!(of(option::ERROR_LOG_SIZE).addr(), LOG_SIZE);
            // SAFETY: the log is writable for its size.
            unsafe { core::ptr::copy_nonoverlapping(c"ptxas fatal\n".as_ptr(), of(option::ERROR_LOG).cast(), 13) };
            7
        });
        assert_eq!(writer.unwrap(), 7);
        assert_eq!(
            request.log,
            "ignored build options, which mean nothing to the PTX compiler: -cl-unknown\nptxas fatal"
        );
    }
}
