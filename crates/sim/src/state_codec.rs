//! How the state of a run is written and read back, value by value.
//!
//! Form: the form's number, the number of partitions, then each of them, in [postcard](https://postcard.jamesmunns.com/wire-format.html)'s format.

use serde::{Deserialize, Serialize};

use crate::SimError;

/// Rises whenever what is kept, or its order, changes: states of another form are refused.
const FORM: u32 = 8;

/// Takes what is to be kept.
#[derive(Debug, Default)]
pub struct StateWriter(Vec<u8>);

impl StateWriter {
    /// All that was added.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }

    /// Adds a value.
    ///
    /// # Panics
    /// If it does not know its own length.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) {
        let before = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(value, before).expect("memory takes any value");
    }
}

/// Gives back what was kept, in the same order.
#[derive(Debug)]
pub struct StateReader<'a>(&'a [u8]);

impl<'a> StateReader<'a> {
    pub(crate) fn new(state: &'a [u8]) -> Self {
        Self(state)
    }

    /// The number of partitions, with which a state begins.
    ///
    /// # Errors
    /// [`SimError::State`] if it is of another form.
    pub(crate) fn partitions(&mut self) -> Result<usize, SimError> {
        let (form, partitions): (u32, usize) = self.take()?;
        if form == FORM { Ok(partitions) } else { Err(SimError::State) }
    }

    /// The next value.
    ///
    /// # Errors
    /// [`SimError::State`] if it can't be one.
    pub fn take<T: Deserialize<'a>>(&mut self) -> Result<T, SimError> {
        let (value, rest) = postcard::take_from_bytes(self.0).map_err(|_| SimError::State)?;
        self.0 = rest;
        Ok(value)
    }

    /// The next value, which takes the place of one that is as long.
    ///
    /// # Errors
    /// [`SimError::State`] if it is not.
    pub fn replace<T: Deserialize<'a>>(&mut self, old: &mut [T]) -> Result<(), SimError> {
        let new: Vec<T> = self.take()?;
        if new.len() != old.len() {
            return Err(SimError::State);
        }
        old.iter_mut().zip(new).for_each(|(old, new)| *old = new);
        Ok(())
    }

    /// Refuses what is left over.
    pub(crate) fn end(self) -> Result<(), SimError> {
        if self.0.is_empty() { Ok(()) } else { Err(SimError::State) }
    }
}

/// The state of a run from those of its partitions.
pub(crate) fn joined(parts: impl ExactSizeIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut state = StateWriter::default();
    state.put(&(FORM, parts.len()));
    parts.for_each(|part| state.0.extend(part));
    state.0
}
