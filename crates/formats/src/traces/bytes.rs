//! A cursor over a file's bytes: numbers in either order of bytes, and errors that name the byte.

use crate::FormatError;

/// Where reading is.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    /// The next byte.
    pub at: usize,
    label: &'a str,
}

impl<'a> Bytes<'a> {
    /// From the first byte.
    pub fn new(data: &'a [u8], label: &'a str) -> Self {
        Self { data, at: 0, label }
    }

    /// How many bytes there are behind the cursor.
    pub fn left(&self) -> usize {
        self.data.len() - self.at
    }

    /// An error at the next byte.
    #[cold]
    pub fn wrong(&self, expected: &str) -> FormatError {
        FormatError::whole(self.label, format!("byte {}: expected {expected}", self.at))
    }

    /// The next bytes.
    #[inline]
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], FormatError> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.data.len());
        let Some(end) = end else {
            return Err(self.wrong(&format!("{what}, found the end of the file: is it cut short?")));
        };
        let found = &self.data[self.at..end];
        self.at = end;
        Ok(found)
    }

    /// The next bytes as a cursor of their own; its errors name the same file and bytes.
    pub fn split(&mut self, count: usize) -> Result<Self, FormatError> {
        let start = self.at;
        self.take(count, "a part")?;
        Ok(Self { data: &self.data[..self.at], at: start, label: self.label })
    }

    fn fixed<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FormatError> {
        let mut found = [0; N];
        found.copy_from_slice(self.take(N, what)?);
        Ok(found)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, what: &str) -> Result<u8, FormatError> {
        Ok(u8::from_be_bytes(self.fixed(what)?))
    }

    /// Two bytes, the higher one first.
    #[inline]
    pub fn be16(&mut self, what: &str) -> Result<u16, FormatError> {
        Ok(u16::from_be_bytes(self.fixed(what)?))
    }

    /// Four bytes, the highest first.
    #[inline]
    pub fn be32(&mut self, what: &str) -> Result<u32, FormatError> {
        Ok(u32::from_be_bytes(self.fixed(what)?))
    }

    /// Eight bytes, the highest first.
    #[inline]
    pub fn be64(&mut self, what: &str) -> Result<u64, FormatError> {
        Ok(u64::from_be_bytes(self.fixed(what)?))
    }

    /// Four bytes, the lowest first.
    #[inline]
    pub fn le32(&mut self, what: &str) -> Result<u32, FormatError> {
        Ok(u32::from_le_bytes(self.fixed(what)?))
    }

    /// Eight bytes, the lowest first.
    #[inline]
    pub fn le64(&mut self, what: &str) -> Result<u64, FormatError> {
        Ok(u64::from_le_bytes(self.fixed(what)?))
    }
}
