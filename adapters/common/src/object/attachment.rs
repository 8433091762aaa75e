//! A place in an object for what a room above keeps with it.
//!
//! A lower room declares the place and cannot know the type; the upper room that owns the place fills it at first use and
//! names the type each time. Each place has one type. Reading costs a check of that type, so no hot path goes through it.

use core::any::Any;
use std::sync::OnceLock;

/// A place that an upper room fills once.
#[derive(Debug)]
pub struct Attachment {
    value: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Attachment {
    /// An empty place.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "a field's or a static's initialiser")]
    pub const fn new() -> Self {
        Self { value: OnceLock::new() }
    }

    /// What was filled in, if anything was.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.value.get().map(|value| Self::typed(&**value))
    }

    /// What was filled in, or what `make` makes, which is then filled in.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        Self::typed(&**self.value.get_or_init(|| Box::new(make())))
    }

    fn typed<T: Any>(value: &(dyn Any + Send + Sync)) -> &T {
        let Some(value) = value.downcast_ref() else { unreachable!("an attachment is filled and read as one type") };
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_in_first_stays() {
        let place = Attachment::new();
        assert_eq!(place.get::<u32>(), None);
        assert_eq!((place.get_or_make(|| 1u32), place.get_or_make(|| 2u32)), (&1, &1));
        assert_eq!(place.get::<u32>(), Some(&1));
    }

    #[test]
    #[should_panic(expected = "as one type")]
    fn a_second_type_is_refused() {
        let place = Attachment::new();
        place.get_or_make(|| 1u32);
        place.get_or_make(|| 1u64);
    }
}
