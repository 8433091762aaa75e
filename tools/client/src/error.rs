//! What can go wrong, in words that name the call or the file. Nothing here calls the loader.

use ur_ffi::ur_result_t;

/// The answer of a call, or what failed.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Why a loader cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The dynamic linker cannot open it.
    #[error("cannot open the loader {path}: {message}")]
    Library {
        /// What was to be opened.
        path: String,
        /// The dynamic linker's words.
        message: String,
    },
    /// It is some other library.
    #[error("{path} is no Unified Runtime loader: it does not export urLoaderInit; name a libur_loader.so.0")]
    NotALoader {
        /// What was opened.
        path: String,
    },
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call} answers {result:?}{}", .message.as_deref().map(|m| format!(" (the adapter says: {m})")).unwrap_or_default())]
pub struct ClientError {
    /// The function's name.
    pub call: &'static str,
    /// Its answer.
    pub result: ur_result_t,
    /// The last error text that an adapter has for this thread.
    pub message: Option<String>,
}

impl ClientError {
    /// The loader does not export the function.
    #[cold]
    #[must_use]
    pub fn missing(call: &'static str) -> Self {
        Self {
            call,
            result: ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            message: Some("the loader does not export it".to_owned()),
        }
    }

    /// Whether the answer only says that the feature is not there.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.result, ur_result_t::ERROR_UNSUPPORTED_FEATURE | ur_result_t::ERROR_UNSUPPORTED_ENUMERATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_result_and_text() {
        let mut error = ClientError { call: "urQueueFinish", result: ur_result_t::ERROR_DEVICE_LOST, message: None };
        assert_eq!(error.to_string(), "urQueueFinish answers UR_RESULT_ERROR_DEVICE_LOST");
        error.message = Some("CUDA 719".to_owned());
        assert_eq!(error.to_string(), "urQueueFinish answers UR_RESULT_ERROR_DEVICE_LOST (the adapter says: CUDA 719)");
    }

    #[test]
    fn a_missing_function_counts_as_unsupported() {
        assert!(ClientError::missing("urFoo").is_unsupported());
        assert!(!ClientError { call: "x", result: ur_result_t::ERROR_UNKNOWN, message: None }.is_unsupported());
    }
}
