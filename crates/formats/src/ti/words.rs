//! Arguments of an action, one after another, each checked as it is taken.

use super::{datatype, number, strtod};
use crate::error::excerpt;

/// The largest message, bytes: 1 TB.
const MAX_BYTES: u64 = 1_000_000_000_000;

/// Tags lie between plus and minus this.
const MAX_TAG: i64 = 1 << 30;

/// What is left of a line.
#[derive(Clone)]
pub(super) struct Words<'a> {
    /// Its words.
    pub words: std::str::SplitAsciiWhitespace<'a>,
    /// Ranks of the trace.
    pub ranks: u32,
    /// Bytes of an item without a datatype.
    pub item: u64,
}

impl Words<'_> {
    pub fn integer(&mut self, what: &str) -> Result<i64, String> {
        let word = self.words.next().ok_or_else(|| format!("expected {what}, found the end of the line"))?;
        whole(word).ok_or_else(|| format!("expected {what}, found \"{}\"", excerpt(word)))
    }

    pub fn number(&mut self, what: &str) -> Result<(), String> {
        number(self.words.next(), what)
    }

    pub fn end(&mut self) -> Result<(), String> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(format!("expected the end of the line, found \"{}\"", excerpt(word))),
        }
    }

    pub fn count(&mut self, what: &str) -> Result<u64, String> {
        let count = self.integer(what)?;
        u64::try_from(count).map_err(|_| format!("expected {what}, found {count}"))
    }

    pub fn counts(&mut self, n: usize) -> Result<Vec<u64>, String> {
        (0..n).map(|k| self.count(&format!("a count for rank {k} of {n}"))).collect()
    }

    pub fn rank(&mut self, what: &str) -> Result<u32, String> {
        let rank = self.integer(what)?;
        let known = u32::try_from(rank).ok().filter(|&rank| rank < self.ranks);
        known.ok_or_else(|| beyond(what, self.ranks, rank))
    }

    /// The root is rank 0 unless said.
    pub fn root(&mut self) -> Result<u32, String> {
        if self.words.clone().next().is_none() { Ok(0) } else { self.rank("a root rank") }
    }

    /// Negative tags move to the top of 31 bits.
    pub fn tag(&mut self) -> Result<u32, String> {
        let tag = self.integer("a tag")?;
        if tag.abs() >= MAX_TAG {
            return Err(format!("expected a tag between -2^30 and 2^30, found {tag}"));
        }
        Ok(tag as u32 & 0x7fff_ffff)
    }

    pub fn flops(&mut self, what: &str) -> Result<f64, String> {
        let word = self.words.next().ok_or_else(|| format!("expected {what}, found the end of the line"))?;
        let value = strtod(word).filter(|v| v.is_finite() && *v >= 0.0);
        value.ok_or_else(|| format!("expected {what}, not negative, found \"{}\"", excerpt(word)))
    }

    /// Bytes of an item of the datatype that follows, if one does.
    pub fn datatype(&mut self) -> Result<u64, String> {
        self.words.next().map_or(Ok(self.item), datatype)
    }

    pub fn sized(&mut self, count: u64) -> Result<u64, String> {
        let size = self.datatype()?;
        let bytes = count.checked_mul(size).filter(|&bytes| bytes <= MAX_BYTES);
        bytes.ok_or_else(|| format!("expected at most {MAX_BYTES} bytes, found {count} x {size}"))
    }

    pub fn rest_are_numbers(&mut self) -> Result<(), String> {
        self.words.try_for_each(|word| number(Some(word), "a number"))
    }
}

/// A whole number, as `strtod` reads it: `50000`, `5e4`, `0xc350`.
fn whole(word: &str) -> Option<i64> {
    /// Doubles are exact up to here.
    const EXACT: f64 = (1u64 << 53) as f64;
    word.parse().ok().or_else(|| {
        strtod(word).filter(|value| value.fract() == 0.0 && value.abs() <= EXACT).map(|value| value as i64)
    })
}

/// A rank that has no line.
pub(super) fn beyond(what: &str, ranks: u32, found: i64) -> String {
    let hint = if found < 0 { "" } else { ": is the trace cut short?" };
    format!("expected {what} below {ranks}, those that have lines, found {found}{hint}")
}

/// Bytes of each of several counts.
pub(super) fn scaled(counts: &[u64], item: u64) -> Result<Vec<u64>, String> {
    let one = |&count: &u64| count.checked_mul(item).filter(|&bytes| bytes <= MAX_BYTES);
    let scaled: Option<Vec<u64>> = counts.iter().map(one).collect();
    scaled.ok_or_else(|| format!("expected at most {MAX_BYTES} bytes a rank"))
}
