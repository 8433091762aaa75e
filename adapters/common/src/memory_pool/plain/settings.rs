//! What the environment says about plain memory. Read once.

use std::sync::OnceLock;

use crate::memory_pool::settings::bytes_of;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainSettings {
    /// Whether freed memory is kept at all.
    pub is_on: bool,
    /// Bytes that a heap may keep beyond its share of what is live.
    pub keep_bytes: usize,
    /// A heap may keep one part in so many of what is live; 0 for none.
    pub keep_share: usize,
    /// Larger allocations are the native library's alone.
    pub largest: usize,
    /// The most bytes that small blocks are cut from at a time.
    pub slab_bytes: usize,
    /// Whether blocks are guarded and filled.
    pub debugs: bool,
}

impl Default for PlainSettings {
    fn default() -> Self {
        Self {
            is_on: true,
            keep_bytes: 64 << 20,
            keep_share: 8,
            largest: usize::MAX,
            slab_bytes: 2 << 20,
            debugs: false,
        }
    }
}

impl PlainSettings {
    /// Reads variables, each by its name; a value that cannot be read leaves the setting as it is, and its name is returned.
    fn read(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let (mut settings, mut wrong) = (Self::default(), Vec::new());
        let mut number = |name: &str, setting: &mut usize| match variable(name).map(|text| (bytes_of(&text), text)) {
            Some((Some(value), _)) => *setting = value,
            Some((None, text)) => wrong.push(format!("{name}={text}")),
            None => {}
        };
        let (mut is_on, mut debugs) = (1, 0);
        number("UR_USM_POOL", &mut is_on);
        number("UR_USM_POOL_DEBUG", &mut debugs);
        number("UR_USM_POOL_KEEP_BYTES", &mut settings.keep_bytes);
        number("UR_USM_POOL_KEEP_SHARE", &mut settings.keep_share);
        number("UR_USM_POOL_LARGEST", &mut settings.largest);
        number("UR_USM_POOL_SLAB_BYTES", &mut settings.slab_bytes);
        settings.is_on = is_on != 0;
        settings.debugs = debugs != 0;
        (settings, wrong)
    }

    /// Those of the process.
    #[inline]
    pub fn get() -> &'static Self {
        static SETTINGS: OnceLock<PlainSettings> = OnceLock::new();
        if let Some(settings) = SETTINGS.get() {
            return settings;
        }
        let (settings, wrong) = Self::read(|name| std::env::var(name).ok());
        let is_first = SETTINGS.set(settings).is_ok();
        // Said outside the cell's initialisation: the application's logger may come here again.
        for text in wrong.iter().filter(|_| is_first) {
            crate::object::log::wrong_setting(|| {
                format!("{text} is no number, perhaps with K, M or G; it is left out")
            });
        }
        SETTINGS.get_or_init(Self::default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_change_what_they_name_and_wrong_ones_are_told() {
        assert_eq!(PlainSettings::read(|_| None), (PlainSettings::default(), vec![]));
        let (settings, wrong) = PlainSettings::read(|name| {
            let text = match name {
                "UR_USM_POOL" => "0",
                "UR_USM_POOL_KEEP_BYTES" => "1G",
                "UR_USM_POOL_KEEP_SHARE" => "many",
                "UR_USM_POOL_LARGEST" => "16M",
                "UR_USM_POOL_DEBUG" => "1",
                _ => return None,
            };
            Some(text.to_owned())
        });
        let expected = PlainSettings {
            is_on: false,
            keep_bytes: 1 << 30,
            largest: 16 << 20,
            debugs: true,
            ..PlainSettings::default()
        };
        assert_eq!((settings, wrong), (expected, vec!["UR_USM_POOL_KEEP_SHARE=many".to_owned()]));
    }
}
