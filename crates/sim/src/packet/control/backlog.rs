//! What waits for every output, as a control sees it: all that has come for it and has not begun to leave.
//!
//! Unlike `Loads` it knows nothing of room downstream. Only runs with a control keep it.

use serde::{Deserialize, Serialize};

use crate::record::ManagedOutput;

/// Bytes that wait, by link, and their means over time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Backlog {
    outputs: Vec<Output>,
    /// Means are over the time from here on, ps.
    from_ps: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Output {
    bytes: u32,
    most: u32,
    /// Packets that it marked, or told sources of, in the measured time.
    marks: u32,
    /// Bytes x ps until `since_ps`.
    area: u128,
    since_ps: u64,
}

impl Output {
    fn pass(&mut self, now_ps: u64) {
        if now_ps > self.since_ps {
            self.area += u128::from(self.bytes) * u128::from(now_ps - self.since_ps);
            self.since_ps = now_ps;
        }
    }
}

impl Backlog {
    /// For so many links.
    pub fn new(links: usize, from_ps: u64) -> Self {
        let output = Output { since_ps: from_ps, ..Output::default() };
        Self { outputs: vec![output; links], from_ps }
    }

    /// Bytes that wait for an output.
    pub fn bytes(&self, link: u32) -> u32 {
        self.outputs[link as usize].bytes
    }

    /// Bytes come to wait, or (less than 0) begin to leave.
    pub fn change(&mut self, link: u32, bytes: i32, now_ps: u64) {
        let output = &mut self.outputs[link as usize];
        output.pass(now_ps);
        output.bytes = output.bytes.checked_add_signed(bytes).expect("what leaves has waited");
        if now_ps >= self.from_ps {
            output.most = output.most.max(output.bytes);
        }
    }

    /// An output marks a packet.
    pub fn marks(&mut self, link: u32, now_ps: u64) {
        if now_ps >= self.from_ps {
            self.outputs[link as usize].marks += 1;
        }
    }

    /// What waited until `end_ps` and what was marked, by link.
    pub fn means(&self, end_ps: u64) -> Vec<ManagedOutput> {
        let time_ps = end_ps.saturating_sub(self.from_ps);
        let one = |output: &Output| {
            let mut output = *output;
            output.pass(end_ps);
            let mean_bytes = if time_ps == 0 { 0.0 } else { output.area as f64 / time_ps as f64 };
            ManagedOutput { mean_bytes, max_bytes: output.most, marked: output.marks }
        };
        self.outputs.iter().map(one).collect()
    }

    /// Links that it knows.
    pub fn links(&self) -> usize {
        self.outputs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_time_from_the_start_of_measuring() {
        let mut backlog = Backlog::new(2, 100);
        backlog.change(1, 300, 50);
        backlog.change(1, -100, 120);
        backlog.change(1, -200, 160);
        // 300 for 20 ps, 200 for 40 ps, then nothing for 40 ps.
        backlog.marks(1, 99);
        backlog.marks(1, 100);
        let mean_bytes = (300.0 * 20.0 + 200.0 * 40.0) / 100.0;
        let none = ManagedOutput { mean_bytes: 0.0, max_bytes: 0, marked: 0 };
        assert_eq!(backlog.means(200), [none, ManagedOutput { mean_bytes, max_bytes: 200, marked: 1 }]);
        assert_eq!(backlog.bytes(1), 0);
    }
}
