//! How long an adapter with a window takes for a message, from what it counts: flits, packets, stalls and the time to responses.
//!
//! Source: De Sensi, Di Girolamo, Hoefler, "Mitigating network noise on Dragonfly networks through application-aware routing", SC 2019,
//! sec. 2.4. Its formulas, in cycles, a flit each: `T = L/2 + f (s + 1)` for what fits the window of `w` packets (eq. 1), and beyond that
//! `T = (1/2 + floor((p - 1)/w)) L + f (s + 1)` (eq. 2), which lets the adapter wait for a response after every window.
//!
//! A window that slides waits only if responses take longer than a window takes to leave. Then packets leave in bursts of `w`, one every
//! `L`: the last burst begins after `floor((p - 1)/w) L`. That is [`Sent::sliding_cycles`].

/// A message, as its sender's adapter has counted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Flits.
    pub flits: u64,
    /// Stalled cycles a flit, *s*.
    pub stall_ratio: f64,
    /// Mean cycles from a packet to its response, *L*.
    pub latency_cycles: f64,
    /// Packets that may be without a response, at least 1.
    pub window: u32,
}

impl Sent {
    /// Windows that lie whole before the last packet.
    fn windows(&self) -> u64 {
        self.packets.saturating_sub(1) / u64::from(self.window.max(1))
    }

    /// Eqs. 1 and 2 as published.
    ///
    /// ```
    /// use netloom_planning::Sent;
    /// // 4 MiB in packets of 64 bytes, 5 flits each: 536.6 us at 1.25 ns a cycle.
    /// let put = Sent { packets: 65_536, flits: 327_680, stall_ratio: 0.0, latency_cycles: 1600.0, window: 1024 };
    /// assert_eq!(put.published_cycles(), 429_280.0);
    /// ```
    pub fn published_cycles(&self) -> f64 {
        let leaving = self.flits as f64 * (self.stall_ratio + 1.0);
        (0.5 + self.windows() as f64) * self.latency_cycles + leaving
    }

    /// What a window that slides does.
    pub fn sliding_cycles(&self) -> f64 {
        let leaving = self.flits as f64 * (self.stall_ratio + 1.0);
        let windows = self.windows();
        let in_last = self.packets - windows * u64::from(self.window.max(1));
        let last = leaving * in_last as f64 / self.packets.max(1) as f64;
        0.5 * self.latency_cycles + leaving.max(windows as f64 * self.latency_cycles + last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(packets: u64, stall_ratio: f64, latency_cycles: f64) -> Sent {
        Sent { packets, flits: 5 * packets, stall_ratio, latency_cycles, window: 1024 }
    }

    /// 4 MiB: 65,536 packets, 63 whole windows before the last packet.
    #[test]
    fn four_mebibytes_by_hand() {
        let quick = put(65_536, 0.0, 1_600.0);
        assert_eq!(quick.published_cycles(), 63.5 * 1_600.0 + 327_680.0);
        assert_eq!(quick.published_cycles() * 1.25e-3, 536.6);
        // Responses are there before the window is full: nothing waits.
        assert_eq!(quick.sliding_cycles(), 800.0 + 327_680.0);
        // They take 10,000 cycles, a window 5,120: 63 bursts, and a window more.
        let slow = put(65_536, 0.0, 10_000.0);
        assert_eq!(slow.sliding_cycles(), 5_000.0 + 630_000.0 + 5_120.0);
        // Stalls that slow the flits down to that take the waits' place.
        assert_eq!(put(65_536, 1.0, 10_000.0).sliding_cycles(), 5_000.0 + 655_360.0);
    }

    #[test]
    fn what_fits_the_window_waits_in_neither() {
        for packets in [1, 1_024] {
            let message = put(packets, 0.5, 9_000.0);
            let by_hand = 4_500.0 + 7.5 * packets as f64;
            assert_eq!(message.published_cycles(), by_hand);
            assert_eq!(message.sliding_cycles(), by_hand);
        }
        assert_eq!(put(1_025, 0.0, 9_000.0).published_cycles(), 1.5 * 9_000.0 + 5_125.0);
        assert_eq!(put(1_025, 0.0, 9_000.0).sliding_cycles(), 1.5 * 9_000.0 + 5.0);
        assert_eq!(put(0, 0.0, 0.0).sliding_cycles(), 0.0);
    }
}
