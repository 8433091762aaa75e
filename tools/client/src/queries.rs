//! Listing adapters, platforms and devices, and asking them. Every list is asked for its length first, as applications do.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use ur_ffi::{
    ur_adapter_handle_t, ur_adapter_info_t, ur_device_handle_t, ur_device_info_t, ur_device_type_t,
    ur_platform_handle_t, ur_platform_info_t, ur_result_t,
};

use crate::{Answer, ClientError, Result, Ur, call};

/// Asks for the size, then for the value.
fn bytes(mut ask: impl FnMut(usize, *mut c_void, *mut usize) -> Result<()>) -> Result<Answer> {
    let mut size = 0;
    ask(0, null_mut(), &raw mut size)?;
    let mut value = vec![0_u8; size];
    if size > 0 {
        ask(size, value.as_mut_ptr().cast(), null_mut())?;
    }
    Ok(Answer(value))
}

/// Asks for the number, then for the handles.
fn list<T>(mut ask: impl FnMut(u32, *mut *mut T, *mut u32) -> Result<()>) -> Result<Vec<*mut T>> {
    let mut count = 0;
    ask(0, null_mut(), &raw mut count)?;
    let mut handles = vec![null_mut(); count as usize];
    if count > 0 {
        ask(count, handles.as_mut_ptr(), null_mut())?;
    }
    Ok(handles)
}

impl Ur {
    /// `urAdapterGet`. The caller owns one reference of each.
    ///
    /// # Errors
    /// What the loader answers.
    pub fn adapters(&self) -> Result<Vec<ur_adapter_handle_t>> {
        let handles = list(|length, handles, count| {
            // SAFETY: the list has `length` entries, the count is null or writable.
            unsafe { call!(self, Adapter.pfnGet(length, handles, count)) }
        })?;
        self.remember_adapters(&handles);
        Ok(handles)
    }

    /// `urPlatformGet`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn platforms(&self, adapter: ur_adapter_handle_t) -> Result<Vec<ur_platform_handle_t>> {
        list(|length, handles, count| {
            // SAFETY: as above; the adapter is one that `adapters` gave.
            unsafe { call!(self, Platform.pfnGet(adapter, length, handles, count)) }
        })
    }

    /// `urDeviceGet` of all types. The caller owns one reference of each. A platform that says it has no device of the
    /// kind has an empty list.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn devices(&self, platform: ur_platform_handle_t) -> Result<Vec<ur_device_handle_t>> {
        let devices = list(|length, handles, count| {
            // SAFETY: as above; the platform is one that `platforms` gave.
            unsafe { call!(self, Device.pfnGet(platform, ur_device_type_t::ALL, length, handles, count)) }
        });
        match devices {
            Err(error) if error.result == ur_result_t::ERROR_DEVICE_NOT_FOUND => Ok(Vec::new()),
            other => other,
        }
    }

    /// `urAdapterGetInfo`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn adapter_info(&self, adapter: ur_adapter_handle_t, query: ur_adapter_info_t) -> Result<Answer> {
        bytes(|size, value, needed| {
            // SAFETY: the value has `size` bytes, the other output is null or writable.
            unsafe { call!(self, Adapter.pfnGetInfo(adapter, query, size, value, needed)) }
        })
    }

    /// `urPlatformGetInfo`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn platform_info(&self, platform: ur_platform_handle_t, query: ur_platform_info_t) -> Result<Answer> {
        bytes(|size, value, needed| {
            // SAFETY: as above.
            unsafe { call!(self, Platform.pfnGetInfo(platform, query, size, value, needed)) }
        })
    }

    /// `urDeviceGetInfo`, with the number that the loader's release has for the query.
    ///
    /// # Errors
    /// What the adapter answers; `UNSUPPORTED_ENUMERATION` for a query that the release does not have.
    pub fn device_info(&self, device: ur_device_handle_t, query: ur_device_info_t) -> Result<Answer> {
        let Some(query) = query.in_release(self.release()) else {
            let result = ur_result_t::ERROR_UNSUPPORTED_ENUMERATION;
            let message = Some(format!("oneAPI {} does not have the query", self.release().name()));
            return Err(ClientError { call: "urDeviceGetInfo", result, message });
        };
        bytes(|size, value, needed| {
            // SAFETY: as above.
            unsafe { call!(self, Device.pfnGetInfo(device, query, size, value, needed)) }
        })
    }

    /// `urAdapterGetLastError`: this thread's last text and native code, if there is a text.
    #[must_use]
    pub fn last_error(&self, adapter: ur_adapter_handle_t) -> Option<(String, i32)> {
        let ask = self.table.Adapter.pfnGetLastError?;
        let (mut text, mut code): (*const c_char, i32) = (std::ptr::null(), 0);
        // SAFETY: an adapter that was listed; both outputs are writable.
        let result = unsafe { ask(adapter, &raw mut text, &raw mut code) };
        if result != ur_result_t::SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: not null, so a C string that stays until this thread's next call.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        (!text.is_empty()).then_some((text, code))
    }
}
