//! Numbered questions about a device, in the units of [`crate::driver::properties::DeviceProperties`].
//!
//! A backend answers one question; what "not told", a pair or a frequency means is said here once. Nothing here
//! knows what a number stands for.

use crate::object::error::Result;

/// The questions about one device.
pub trait Attributes {
    /// An attribute, `None` when this library does not know it.
    ///
    /// # Errors
    /// What the native library answers otherwise.
    fn optional(&self, attribute: i32) -> Result<Option<i32>>;

    /// A number that is 0 where the library does not know it.
    ///
    /// # Errors
    /// As [`Attributes::optional`], like all that follow.
    fn number(&self, attribute: i32) -> Result<u32> {
        Ok(u32::try_from(self.optional(attribute)?.unwrap_or(0)).unwrap_or(0))
    }

    /// A number of bytes or elements.
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn size(&self, attribute: i32) -> Result<usize> {
        Ok(self.number(attribute)? as usize)
    }

    /// A truth value.
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn flag(&self, attribute: i32) -> Result<bool> {
        Ok(self.number(attribute)? != 0)
    }

    /// A number for which 0 means "not told".
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn some(&self, attribute: i32) -> Result<Option<u32>> {
        Ok(Some(self.number(attribute)?).filter(|value| *value != 0))
    }

    /// A frequency in MHz, asked for in kHz; libraries that stopped telling answer nothing or 0.
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn megahertz(&self, attribute: i32) -> Result<Option<u32>> {
        Ok(self.some(attribute)?.map(|kilohertz| kilohertz / 1000))
    }

    /// Three attributes with consecutive numbers, for x, y and z.
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn three(&self, first: i32) -> Result<[u32; 3]> {
        Ok([self.number(first)?, self.number(first + 1)?, self.number(first + 2)?])
    }

    /// Domain, bus and device on the PCI bus, if the library knows all three.
    #[allow(clippy::missing_errors_doc, reason = "as `number`")]
    fn pci(&self, domain: i32, bus: i32, slot: i32) -> Result<Option<(u32, u32, u32)>> {
        let part = |attribute| -> Result<Option<u32>> {
            Ok(self.optional(attribute)?.and_then(|value| u32::try_from(value).ok()))
        };
        let (domain, bus, slot) = (part(domain)?, part(bus)?, part(slot)?);
        Ok(domain.zip(bus).zip(slot).map(|((domain, bus), slot)| (domain, bus, slot)))
    }
}

/// A native name's bytes up to its NUL, as text.
#[must_use]
pub fn name_of(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(&'static [(i32, i32)]);

    impl Attributes for Told {
        fn optional(&self, attribute: i32) -> Result<Option<i32>> {
            Ok(self.0.iter().find(|(number, _)| *number == attribute).map(|(_, value)| *value))
        }
    }

    #[test]
    fn what_is_not_told_is_zero_none_or_false() {
        let device = Told(&[(1, -3), (2, 0), (3, 1_500_000), (4, 7)]);
        assert_eq!((device.number(1).unwrap(), device.number(9).unwrap()), (0, 0));
        assert_eq!((device.some(2).unwrap(), device.some(4).unwrap()), (None, Some(7)));
        assert_eq!((device.megahertz(3).unwrap(), device.megahertz(2).unwrap()), (Some(1500), None));
        assert!(!device.flag(2).unwrap() && device.flag(4).unwrap());
        assert_eq!(device.three(2).unwrap(), [0, 1_500_000, 7]);
    }

    #[test]
    fn an_address_on_the_bus_is_whole_or_none() {
        let device = Told(&[(1, 0), (2, 0x4e), (3, 0), (4, -1)]);
        assert_eq!(device.pci(1, 2, 3).unwrap(), Some((0, 0x4e, 0)));
        assert_eq!(device.pci(1, 2, 4).unwrap(), None);
        assert_eq!(device.pci(1, 2, 5).unwrap(), None);
    }

    #[test]
    fn a_name_ends_at_its_nul_and_a_full_one_at_its_end() {
        assert_eq!(name_of(b"gfx90a\0rest"), "gfx90a");
        assert_eq!(name_of(b"full"), "full");
    }
}
