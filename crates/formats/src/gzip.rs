//! Plain or gzip: every reader takes either.
//!
//! Invariants: gzip is known by its first bytes, never by a name; what a file expands to is bounded by its
//! own size; half a gzip file is an error, never half an answer.
//!
//! One input holds at most [`most_bytes`]. What expands, or is sparse on disk, holds at most [`most_expanded`]
//! of its size: text and tables that repeat themselves shrink to a fiftieth, gzip can do a thousandth. Whoever
//! has such files raises both with [`allow`]. Python asks here (`netloom/reading/limits.py`).

use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::FormatError;

/// What an input may hold if nobody says otherwise: 4 GiB.
pub const MOST_BYTES: u64 = 4 << 30;
/// A small input may expand to this much: 256 MiB.
const SMALL: u64 = 256 << 20;
/// So many times its size may an input expand to, up to [`MIDDLE`]; and so many times beyond.
const TIMES: u64 = 100;
const MIDDLE: u64 = 768 << 20;
const LARGE_TIMES: u64 = 20;

/// What was allowed; 0: nobody said.
static ALLOWED: AtomicU64 = AtomicU64::new(0);

/// Allows every input to hold so many bytes, expanded too, whatever its size; 0: as usual.
pub fn allow(bytes: u64) {
    ALLOWED.store(bytes, Ordering::Relaxed);
}

/// The most that one input may hold.
pub fn most_bytes() -> u64 {
    match ALLOWED.load(Ordering::Relaxed) {
        0 => MOST_BYTES,
        allowed => allowed,
    }
}

/// The most that an input of this size may expand to.
pub fn most_expanded(size: u64) -> u64 {
    match ALLOWED.load(Ordering::Relaxed) {
        0 => {
            let small = size.saturating_mul(TIMES).clamp(SMALL, MIDDLE);
            size.saturating_mul(LARGE_TIMES).clamp(small, MOST_BYTES)
        }
        allowed => allowed,
    }
}

/// How a bound is raised, for messages.
pub const RAISE: &str = "--max-input or NETLOOM_MAX_INPUT raises that";

/// The input itself, or what gzip packed (all members of it).
///
/// # Errors
/// If gzip data is cut short or damaged, or expands beyond [`most_expanded`].
pub fn decompress<'a>(bytes: &'a [u8], label: &str) -> Result<Cow<'a, [u8]>, FormatError> {
    decompress_bounded(bytes, label, most_expanded(bytes.len() as u64))
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
            format!(
                "{} bytes of gzip expand beyond {bound} bytes: expected a smaller file ({RAISE})",
                bytes.len()
            ),
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
        let size = packed.len();
        let expected = format!("{size} bytes of gzip expand beyond 1000 bytes: expected a smaller file (");
        assert_eq!(e.message, expected + RAISE + ")");
        assert_eq!(decompress_bounded(&packed, "x", 100_000).unwrap().len(), 100_000);
    }

    #[test]
    fn bounds_follow_the_size() {
        assert_eq!(most_expanded(0), 256 << 20);
        assert_eq!(most_expanded(5 << 20), 500 << 20);
        assert_eq!(most_expanded(10 << 20), 768 << 20);
        assert_eq!(most_expanded(100 << 20), 2000 << 20);
        assert_eq!(most_expanded(u64::MAX), MOST_BYTES);
    }
}
