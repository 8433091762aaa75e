//! A result as the bytes of a file: what it is, a checksum of the rest, the log's length, log and image.

use sha2::{Digest, Sha256};

use crate::program::spirv::Product;

const MAGIC: &[u8; 8] = b"urspirv1";
const SUM: usize = 32;

/// The bytes of a result.
pub(super) fn write(product: &Product) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + SUM + 8 + product.log.len() + product.image.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; SUM]);
    bytes.extend_from_slice(&(product.log.len() as u64).to_le_bytes());
    bytes.extend_from_slice(product.log.as_bytes());
    bytes.extend_from_slice(&product.image);
    let sum = Sha256::digest(&bytes[MAGIC.len() + SUM..]);
    bytes[MAGIC.len()..MAGIC.len() + SUM].copy_from_slice(&sum);
    bytes
}

/// The result in a file's bytes; `None` if they are not what [`write`] made.
pub(super) fn read(bytes: &[u8]) -> Option<Product> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, rest) = rest.split_at_checked(SUM)?;
    if sum != &*Sha256::digest(rest) {
        return None;
    }
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (log, image) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some(Product { image: image.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        for (image, log) in [(&b""[..], ""), (b".version 8.4\n", ""), (b"\x7fELF\xff", "a log\n")] {
            let product = Product { image: image.to_vec(), log: log.to_owned() };
            let bytes = write(&product);
            assert_eq!(read(&bytes), Some(product));
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length]), None, "cut at {length}");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                assert_eq!(read(&damaged), None, "byte {at}");
            }
            assert_eq!(read(&[&bytes[..], b"x"].concat()), None);
        }
    }
}
