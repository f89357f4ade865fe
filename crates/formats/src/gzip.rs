//! Plain or gzip: every reader takes either.
//!
//! Invariants: gzip is known by its first bytes, never by a name; what a small file expands to is
//! bounded; half a gzip file is an error, never half an answer.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use crate::error::FormatError;

/// The most that a compressed input may expand to: 4 GiB.
pub const MAX_EXPANDED_BYTES: u64 = 4 << 30;

/// The input itself, or what gzip packed (all members of it).
///
/// # Errors
/// If gzip data is cut short or damaged, or expands beyond [`MAX_EXPANDED_BYTES`].
pub fn decompress<'a>(bytes: &'a [u8], label: &str) -> Result<Cow<'a, [u8]>, FormatError> {
    decompress_bounded(bytes, label, MAX_EXPANDED_BYTES)
}

fn decompress_bounded<'a>(bytes: &'a [u8], label: &str, bound: u64) -> Result<Cow<'a, [u8]>, FormatError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    // The size field of the last member is a good first guess, and only that: it may lie.
    let claimed = bytes.last_chunk::<4>().map_or(0, |tail| u32::from_le_bytes(*tail) as usize);
    let plausible = claimed.min(bytes.len().saturating_mul(64)).min(bound as usize);
    let mut plain = Vec::with_capacity(plausible + 1);
    let read = MultiGzDecoder::new(bytes).take(bound + 1).read_to_end(&mut plain);
    match read {
        Ok(_) if plain.len() as u64 > bound => Err(FormatError::whole(
            label,
            format!("the gzip data expands beyond {bound} bytes: expected a smaller file"),
        )),
        Ok(_) => Ok(Cow::Owned(plain)),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(FormatError::whole(
            label,
            format!("truncated gzip data: it ends after {} expanded bytes, in the middle", plain.len()),
        )),
        Err(e) => Err(FormatError::whole(label, format!("damaged gzip data: {e}"))),
    }
}

/// `bytes` as a gzip file, for tests.
#[cfg(test)]
pub(crate) fn zipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(bytes).expect("writing to memory");
    gz.finish().expect("writing to memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_packed_read_alike() {
        assert_eq!(decompress(b"abc", "x").unwrap().as_ref(), b"abc");
        assert_eq!(decompress(&zipped(b"abc"), "x").unwrap().as_ref(), b"abc");
        let two = [zipped(b"abc"), zipped(b"def")].concat();
        assert_eq!(decompress(&two, "x").unwrap().as_ref(), b"abcdef");
    }

    #[test]
    fn half_a_gzip_file_is_refused() {
        let packed = zipped(&b"a line of text\n".repeat(100));
        for cut in 2..packed.len() {
            let e = decompress(&packed[..cut], "net.gz").unwrap_err().to_string();
            assert!(e.starts_with("net.gz: truncated gzip data"), "cut at {cut}: {e}");
        }
        let mut bad = packed.clone();
        *bad.last_mut().unwrap() ^= 1;
        assert!(decompress(&bad, "net.gz").unwrap_err().message.starts_with("damaged gzip data"));
    }

    #[test]
    fn expansion_is_bounded() {
        let packed = zipped(&[0; 100_000]);
        let e = decompress_bounded(&packed, "bomb.gz", 1000).unwrap_err();
        assert_eq!(e.message, "the gzip data expands beyond 1000 bytes: expected a smaller file");
        assert_eq!(decompress_bounded(&packed, "x", 100_000).unwrap().len(), 100_000);
    }
}
