//! Words of the program itself (kinds of findings, names of engines): `&'static str` here and in what is read back.
//!
//! Invariant: what reading back can make static is bounded, whatever it reads.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word is at most so long, and there are at most so many: there are about a hundred.
const LONGEST: usize = 64;
const MOST: usize = 1024;

/// A word of the program.
#[derive(Clone, Copy)]
pub struct Word(pub &'static str);

static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(word) = known.get(text.as_str()) {
            return Ok(Self(word));
        }
        if text.len() > LONGEST || known.len() >= MOST {
            return Err(D::Error::custom("no word of netloom"));
        }
        let word: &'static str = text.leak();
        known.insert(word);
        Ok(Self(word))
    }
}

/// Kinds and texts, as they are kept.
pub fn kept<'a>(list: impl IntoIterator<Item = (&'static str, &'a str)>) -> Vec<(Word, String)> {
    list.into_iter().map(|(kind, text)| (Word(kind), text.to_owned())).collect()
}
