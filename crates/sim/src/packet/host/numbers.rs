//! Numbers of messages, which no two partitions give out alike.

use serde::{Deserialize, Serialize};

/// Numbers for the messages to one partition: every partition counts in steps of their count from its own on, so that no two give one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Numbers {
    free: Vec<u32>,
    next: u32,
    step: u32,
}

impl Numbers {
    pub fn new(here: u8, count: usize) -> Self {
        Self { free: Vec::new(), next: u32::from(here), step: count as u32 }
    }

    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += self.step;
            self.next - self.step
        })
    }

    pub fn give(&mut self, number: u32) {
        self.free.push(number);
    }
}
