//! One call of a DUMPI file: its number, its times and its arguments, as they lie there.

use super::calls::FUNCTIONS;
use crate::FormatError;
use crate::traces::bytes::Bytes;

/// Bits of a call's mask.
const STATUSES: u8 = 0b11;
const CPU_TIME: u8 = 1 << 2;
const WALL_TIME: u8 = 1 << 3;
const THREAD: u8 = 1 << 6;
const PERFORMANCE: u8 = 1 << 7;

/// What a receive or a completion told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub source: i32,
    pub tag: i32,
    pub cancelled: bool,
}

/// A call's arguments; used again for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    /// Numbers, in order.
    pub numbers: Vec<i64>,
    /// Entries of lists, and where each list begins and ends among them.
    entries: Vec<i32>,
    lists: Vec<(usize, usize)>,
    pub statuses: Vec<Status>,
    pub thread: u16,
    /// Seconds and nanoseconds, of the start and of the end; of the wall, without the bias.
    pub times: Option<[(u16, u32); 2]>,
}

impl Call {
    /// A list; empty if there is none.
    pub fn list(&self, number: usize) -> &[i32] {
        self.lists.get(number).map_or(&[], |&(from, to)| &self.entries[from..to])
    }

    /// A number; 0 if there is none.
    pub fn number(&self, index: usize) -> i64 {
        self.numbers.get(index).copied().unwrap_or(0)
    }

    /// Reads the rest of a call of this function.
    pub fn read(&mut self, function: usize, bytes: &mut Bytes) -> Result<(), FormatError> {
        self.numbers.clear();
        self.entries.clear();
        self.lists.clear();
        self.statuses.clear();
        self.times = None;
        self.thread = 0;
        let mask = bytes.u8("a call's mask")?;
        if mask & THREAD != 0 {
            self.thread = bytes.be16("a thread")?;
        }
        if mask & CPU_TIME != 0 {
            bytes.take(12, "processor times")?;
        }
        if mask & WALL_TIME != 0 {
            let start = (bytes.be16("a time")?, bytes.be32("a time")?);
            self.times = Some([start, (bytes.be16("a time")?, bytes.be32("a time")?)]);
        }
        if mask & PERFORMANCE != 0 {
            let counters = usize::from(bytes.u8("a number of counters")?);
            bytes.take(16 * counters, "counters")?;
        }
        let arguments = FUNCTIONS[function].1.as_bytes();
        let mut at = 0;
        while at < arguments.len() {
            let kind = arguments[at];
            at += 1;
            match kind {
                b'?' => {
                    let place = |at: usize| usize::from(arguments[at] - b'0');
                    let (one, other) = (self.number(place(at)), self.number(place(at + 1)));
                    at += 2;
                    if one != other {
                        let end = arguments[at..].iter().position(|&b| b == b'.');
                        at = end.map_or(arguments.len(), |end| at + end);
                    }
                }
                b'.' => {}
                b's' => self.read_statuses(mask & STATUSES != 0, bytes)?,
                _ => self.argument(kind, bytes)?,
            }
        }
        Ok(())
    }

    fn argument(&mut self, kind: u8, bytes: &mut Bytes) -> Result<(), FormatError> {
        match kind {
            b'b' => self.numbers.push(i64::from(bytes.u8("a number")? as i8)),
            b'h' => self.numbers.push(i64::from(bytes.be16("a number")? as i16)),
            b'i' => self.numbers.push(i64::from(bytes.be32("a number")? as i32)),
            b'l' => self.numbers.push(bytes.be64("a number")? as i64),
            b'I' => self.read_list(4, bytes)?,
            b'H' => self.read_list(2, bytes)?,
            b'B' => self.read_list(1, bytes)?,
            b'J' => {
                for _ in 0..length(bytes, 4)? {
                    self.read_list(4, bytes)?;
                }
            }
            b'C' => text(bytes)?,
            b'D' => {
                for _ in 0..length(bytes, 4)? {
                    text(bytes)?;
                }
            }
            b'E' => {
                for _ in 0..length(bytes, 4)? {
                    for _ in 0..length(bytes, 4)? {
                        text(bytes)?;
                    }
                }
            }
            _ => return Err(bytes.wrong("a call that traces have, found another")),
        }
        Ok(())
    }

    fn read_list(&mut self, size: usize, bytes: &mut Bytes) -> Result<(), FormatError> {
        let count = length(bytes, size)?;
        let from = self.entries.len();
        let found = bytes.take(count * size, "a list")?;
        self.entries.extend(found.chunks_exact(size).map(|one| match *one {
            [a, b, c, d] => i32::from_be_bytes([a, b, c, d]),
            [a, b] => i32::from(i16::from_be_bytes([a, b])),
            _ => i32::from(one[0] as i8),
        }));
        self.lists.push((from, self.entries.len()));
        Ok(())
    }

    fn read_statuses(&mut self, told: bool, bytes: &mut Bytes) -> Result<(), FormatError> {
        if !told {
            return Ok(());
        }
        for _ in 0..length(bytes, 14)? {
            bytes.be32("a status")?;
            let source = bytes.be32("a status")? as i32;
            let cancelled = bytes.u8("a status")? != 0;
            bytes.u8("a status")?;
            let tag = bytes.be32("a status")? as i32;
            self.statuses.push(Status { source, tag, cancelled });
        }
        Ok(())
    }
}

/// How many entries of so many bytes follow.
fn length(bytes: &mut Bytes, size: usize) -> Result<usize, FormatError> {
    let count = (bytes.be32("a length")? as i32).max(0) as usize;
    if count.saturating_mul(size) > bytes.left() {
        bytes.at -= 4;
        return Err(bytes.wrong(&format!("a list that the file has, found one of {count} entries")));
    }
    Ok(count)
}

fn text(bytes: &mut Bytes) -> Result<(), FormatError> {
    let count = length(bytes, 1)?;
    bytes.take(count, "a text").map(|_| ())
}
