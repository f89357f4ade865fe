//! Records of an OTF2 file: their numbers, chunks and lengths.
//!
//! A file begins with `03` and the order of bytes (`42`: lowest first, `23`: highest first). Files of events and of
//! definitions are cut into chunks of one size, each with the same beginning and the numbers of its first and last
//! record; `00` fills a chunk's end, `02` ends the file. A number is a length and so many bytes; `ff` alone is
//! none. Most records have their length before them, so that unknown ones are passed over.

use crate::FormatError;
use crate::traces::bytes::Bytes;

/// A number that is none.
pub(super) const NONE: u64 = u64::MAX;

/// The record that a chunk ends with, and the one that a file ends with.
const END_OF_CHUNK: u8 = 0;
const END_OF_FILE: u8 = 2;
const CHUNK: u8 = 3;

/// A cursor over records.
pub(super) struct Records<'a> {
    pub bytes: Bytes<'a>,
    lowest_first: bool,
    chunk: usize,
}

impl<'a> Records<'a> {
    /// At the first record of a file; `chunk`: bytes of each, 0 if it has none.
    pub fn new(data: &'a [u8], label: &'a str, chunk: u64) -> Result<Self, FormatError> {
        let chunk = usize::try_from(chunk).unwrap_or(usize::MAX);
        let mut records = Self { bytes: Bytes::new(data, label), lowest_first: true, chunk };
        records.begin()?;
        Ok(records)
    }

    fn begin(&mut self) -> Result<(), FormatError> {
        let at = self.bytes.at;
        let head = self.bytes.take(2, "a chunk")?;
        self.lowest_first = match head {
            [CHUNK, 0x42] => true,
            [CHUNK, 0x23] => false,
            _ => {
                self.bytes.at = at;
                return Err(self
                    .bytes
                    .wrong("a chunk of OTF2, which begins with 03 42 or 03 23, found another"));
            }
        };
        if self.chunk > 0 {
            self.bytes.take(16, "a chunk's records")?;
        }
        Ok(())
    }

    /// The number of the next record; `None` at the end of the file.
    #[inline]
    pub fn next(&mut self) -> Result<Option<u8>, FormatError> {
        loop {
            match self.bytes.u8("a record, or the end of the records")? {
                END_OF_FILE => return Ok(None),
                END_OF_CHUNK if self.chunk > 0 => {
                    let next = self.bytes.at.div_ceil(self.chunk).saturating_mul(self.chunk);
                    let rest = next.saturating_sub(self.bytes.at);
                    self.bytes.take(rest, "the next chunk")?;
                    self.begin()?;
                }
                other => return Ok(Some(other)),
            }
        }
    }

    /// Where the record ends whose length is next.
    #[inline]
    pub fn length(&mut self) -> Result<usize, FormatError> {
        let mut length = u64::from(self.bytes.u8("a record's length")?);
        if length == 0xff {
            length = self.fixed64("a record's length")?;
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.bytes.left() {
            let left = self.bytes.left();
            return Err(self.bytes.wrong(&format!(
                "a record of {length} bytes, found {left} until the end of the file: is it cut short?"
            )));
        }
        Ok(self.bytes.at + length)
    }

    /// Passes over a record with a length.
    pub fn pass(&mut self) -> Result<(), FormatError> {
        self.bytes.at = self.length()?;
        Ok(())
    }

    /// Eight bytes.
    #[inline]
    pub fn fixed64(&mut self, what: &str) -> Result<u64, FormatError> {
        let number = self.bytes.be64(what)?;
        Ok(if self.lowest_first { number.swap_bytes() } else { number })
    }

    /// Four bytes.
    pub fn fixed32(&mut self, what: &str) -> Result<u32, FormatError> {
        let number = self.bytes.be32(what)?;
        Ok(if self.lowest_first { number.swap_bytes() } else { number })
    }

    /// A number with its length; [`NONE`].
    #[inline]
    pub fn number(&mut self, what: &str) -> Result<u64, FormatError> {
        let length = self.bytes.u8(what)?;
        match length {
            0xff => Ok(NONE),
            0..=8 => {
                let mut number = [0; 8];
                let found = self.bytes.take(usize::from(length), what)?;
                if self.lowest_first {
                    number[..found.len()].copy_from_slice(found);
                    Ok(u64::from_le_bytes(number))
                } else {
                    number[8 - found.len()..].copy_from_slice(found);
                    Ok(u64::from_be_bytes(number))
                }
            }
            other => {
                self.bytes.at -= 1;
                Err(self.bytes.wrong(&format!("{what} of at most 8 bytes, found one of {other}")))
            }
        }
    }

    /// A text, up to a byte of 0.
    pub fn text(&mut self, what: &str) -> Result<String, FormatError> {
        let mut text = Vec::new();
        loop {
            match self.bytes.u8(what)? {
                0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                byte => text.push(byte),
            }
        }
    }
}
