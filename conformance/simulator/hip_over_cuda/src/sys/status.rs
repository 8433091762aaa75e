//! `hipError_t`: every value of ROCm 7.1's header with its name and a text.
//!
//! Values and names are facts; the texts are this library's own. Nothing is decided here.

#![allow(non_upper_case_globals, non_camel_case_types, reason = "the C API's own spelling")]
#![allow(missing_docs, reason = "the names are the C API's, which documents them")]

use core::ffi::{CStr, c_int};

/// A status of the HIP API. A newtype, so that a value from elsewhere is no undefined behaviour.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct hipError_t(pub c_int);

/// What this crate's functions answer inside: a value or the API's status.
pub type Result<T = (), E = hipError_t> = core::result::Result<T, E>;

macro_rules! statuses {
    ({$($name:ident = $value:literal, $text:literal;)*} also {$($alias:ident = $same:literal;)*}) => {
        $(pub const $name: hipError_t = hipError_t($value);)*
        $(pub const $alias: hipError_t = hipError_t($same);)*
        /// Every status, second names included, with its C name.
        pub const ALL: &[(&str, hipError_t)] =
            &[$((stringify!($name), $name),)* $((stringify!($alias), $alias),)*];
        /// Name and text of a status.
        pub fn describe(status: hipError_t) -> Option<(&'static CStr, &'static CStr)> {
            match status.0 {
                $($value => {
                    const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    };
                    const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                        Ok(text) => text,
                        Err(_) => c"",
                    };
                    Some((NAME, TEXT))
                })*
                _ => None,
            }
        }
    };
}

statuses! {{
    hipSuccess = 0, "no error";
    hipErrorInvalidValue = 1, "an argument is not valid";
    hipErrorOutOfMemory = 2, "out of memory";
    hipErrorNotInitialized = 3, "not initialised";
    hipErrorDeinitialized = 4, "the driver is shutting down";
    hipErrorProfilerDisabled = 5, "profiling is off";
    hipErrorProfilerNotInitialized = 6, "the profiler is not initialised";
    hipErrorProfilerAlreadyStarted = 7, "the profiler runs already";
    hipErrorProfilerAlreadyStopped = 8, "the profiler does not run";
    hipErrorInvalidConfiguration = 9, "no kernel can be launched in that shape";
    hipErrorInvalidPitchValue = 12, "the pitch is not valid";
    hipErrorInvalidSymbol = 13, "no such device symbol";
    hipErrorInvalidDevicePointer = 17, "not a device pointer";
    hipErrorInvalidMemcpyDirection = 21, "no such direction of a copy";
    hipErrorInsufficientDriver = 35, "the driver is missing or too old";
    hipErrorMissingConfiguration = 52, "a launch without its configuration";
    hipErrorPriorLaunchFailure = 53, "an earlier launch failed";
    hipErrorInvalidDeviceFunction = 98, "no such device function";
    hipErrorNoDevice = 100, "there is no device";
    hipErrorInvalidDevice = 101, "no such device";
    hipErrorInvalidImage = 200, "the device image is not valid";
    hipErrorInvalidContext = 201, "the context is not valid";
    hipErrorContextAlreadyCurrent = 202, "the context is current already";
    hipErrorMapFailed = 205, "mapping failed";
    hipErrorUnmapFailed = 206, "unmapping failed";
    hipErrorArrayIsMapped = 207, "the array is mapped";
    hipErrorAlreadyMapped = 208, "mapped already";
    hipErrorNoBinaryForGpu = 209, "the image holds no code for this device";
    hipErrorAlreadyAcquired = 210, "acquired already";
    hipErrorNotMapped = 211, "not mapped";
    hipErrorNotMappedAsArray = 212, "not mapped as an array";
    hipErrorNotMappedAsPointer = 213, "not mapped as a pointer";
    hipErrorECCNotCorrectable = 214, "memory error that cannot be corrected";
    hipErrorUnsupportedLimit = 215, "the device has no such limit";
    hipErrorContextAlreadyInUse = 216, "the context is in use";
    hipErrorPeerAccessUnsupported = 217, "the devices cannot reach each other";
    hipErrorInvalidKernelFile = 218, "the device code does not compile";
    hipErrorInvalidGraphicsContext = 219, "the graphics context is not valid";
    hipErrorInvalidSource = 300, "the source is not valid";
    hipErrorFileNotFound = 301, "no such file";
    hipErrorSharedObjectSymbolNotFound = 302, "a symbol of a shared object is missing";
    hipErrorSharedObjectInitFailed = 303, "a shared object did not initialise";
    hipErrorOperatingSystem = 304, "the operating system answered an error";
    hipErrorInvalidHandle = 400, "the handle is not valid";
    hipErrorIllegalState = 401, "not possible in this state";
    hipErrorNotFound = 500, "no such name";
    hipErrorNotReady = 600, "not finished yet";
    hipErrorIllegalAddress = 700, "device code touched an address it must not";
    hipErrorLaunchOutOfResources = 701, "the launch needs more than the device has";
    hipErrorLaunchTimeOut = 702, "the kernel took too long";
    hipErrorPeerAccessAlreadyEnabled = 704, "peer access is enabled already";
    hipErrorPeerAccessNotEnabled = 705, "peer access is not enabled";
    hipErrorSetOnActiveProcess = 708, "the device is in use already";
    hipErrorContextIsDestroyed = 709, "the context is destroyed";
    hipErrorAssert = 710, "an assertion failed on the device";
    hipErrorHostMemoryAlreadyRegistered = 712, "the host memory is registered already";
    hipErrorHostMemoryNotRegistered = 713, "the host memory is not registered";
    hipErrorLaunchFailure = 719, "device code failed";
    hipErrorCooperativeLaunchTooLarge = 720, "too many blocks for a cooperative launch";
    hipErrorNotSupported = 801, "not supported";
    hipErrorStreamCaptureUnsupported = 900, "not possible while the stream is captured";
    hipErrorStreamCaptureInvalidated = 901, "the capture was invalidated";
    hipErrorStreamCaptureMerge = 902, "two captures would be merged";
    hipErrorStreamCaptureUnmatched = 903, "the capture began elsewhere";
    hipErrorStreamCaptureUnjoined = 904, "the capture has work that was not joined";
    hipErrorStreamCaptureIsolation = 905, "the capture would depend on work outside of it";
    hipErrorStreamCaptureImplicit = 906, "the capture would depend on the default stream";
    hipErrorCapturedEvent = 907, "the event belongs to a capture";
    hipErrorStreamCaptureWrongThread = 908, "the capture belongs to another thread";
    hipErrorGraphExecUpdateFailure = 910, "the graph cannot be updated";
    hipErrorInvalidChannelDescriptor = 911, "the channel descriptor is not valid";
    hipErrorInvalidTexture = 912, "the texture is not valid";
    hipErrorUnknown = 999, "unknown error";
    hipErrorRuntimeMemory = 1052, "a memory call of the runtime below failed";
    hipErrorRuntimeOther = 1053, "a call of the runtime below failed";
    hipErrorTbd = 1054, "not defined";
} also {
    hipErrorMemoryAllocation = 2;
    hipErrorInitializationError = 3;
    hipErrorMapBufferObjectFailed = 205;
    hipErrorInvalidResourceHandle = 400;
}}
