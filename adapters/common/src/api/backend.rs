//! What every driver.rs and sys.rs of a backend names, to be imported whole. Nothing lives here.

pub use crate::driver::cell::AdapterCell;
pub use crate::driver::library::open_first;
pub use crate::driver::symbols::{Texts, cannot_start, check, done, failed, status_text};
pub use crate::driver::{
    BuildRequest, CachePreference, Driver, FunctionAttributes, LaunchShape, PointerInfo, Rows, text_of,
};
pub use crate::object::error::{Error, OpenError, Result};
pub use crate::properties::DeviceProperties;
