//! The bytes that a query answers with, and the ways to read them. Reading never fails loudly: a size that does not fit
//! the type gives `None`, since adapters are the thing under test.

/// A query's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(pub Vec<u8>);

impl Answer {
    /// As text, up to the first zero byte.
    #[must_use]
    pub fn text(&self) -> String {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }

    /// As a 32-bit number, if it has that size.
    #[must_use]
    pub fn u32(&self) -> Option<u32> {
        self.0.as_slice().try_into().ok().map(u32::from_ne_bytes)
    }

    /// As a 64-bit number, if it has that size.
    #[must_use]
    pub fn u64(&self) -> Option<u64> {
        self.0.as_slice().try_into().ok().map(u64::from_ne_bytes)
    }

    /// As a truth value: whether any byte is set.
    #[must_use]
    pub fn bool(&self) -> bool {
        self.0.iter().any(|&byte| byte != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn text_ends_at_the_first_zero_byte_or_at_the_end() {
        assert_eq!(Answer(b"GPU\0rest".to_vec()).text(), "GPU");
        assert_eq!(Answer(b"GPU".to_vec()).text(), "GPU");
        assert_eq!(Answer(Vec::new()).text(), "");
    }

    #[test]
    fn numbers_are_read_only_from_their_own_size() {
        let answer = Answer(7u32.to_ne_bytes().to_vec());
        assert_eq!((answer.u32(), answer.u64()), (Some(7), None));
        assert_eq!(Answer(9u64.to_ne_bytes().to_vec()).u64(), Some(9));
        assert!(answer.bool() && !Answer(vec![0, 0]).bool());
    }
}
