//! Algorithm 1 of De Sensi, Di Girolamo, Hoefler, SC 2019, sec. 4.2: the next message's mode from what the adapter counted of the last.
//!
//! A message of `f` flits and `p` packets is expected to take `(1/2 + floor((p - 1)/w)) L + f (s + 1)` cycles (eq. 2). The mode that is not in use
//! takes over if it is expected to take less (eqs. 3 and 4), by what it showed last if that is fresh, else by two fixed ratios. So without
//! fresh values ADAPTIVE_0 ends below `f = alpha L / (24 s)` and ADAPTIVE_3 above `f = alpha L / (4 s)`.
//!
//! `native/steering/netloom_modes.h` has the same steps in C, in the same order, and a test holds both to the same decisions.
//!
//! A GET sends a flit a packet of 64 bytes, where a PUT sends five (sec. 2.1), and its data are there one L after the last request: 1 in place of
//! 1/2. That is derived here; the paper says only that such a model can be (sec. 2.4), and the authors' library divides a PUT's flits by five and
//! keeps 1/2.
//!
//! What the paper does not say and is ours: a message's counters are its own, known once its last response has come; messages that are not
//! decided on are not counted; equal times change nothing, so neither does 0/0, where nothing is known.

use serde::{Deserialize, Serialize};

use super::Mode;

/// Messages are added up, and a mode is decided on only when the sum is above this.
pub const THRESHOLD_BYTES: u64 = 4_096;
/// What the other mode showed is used for so many samples.
pub const FRESH_SAMPLES: u32 = 5;
/// `L` of ADAPTIVE_0 over that of ADAPTIVE_3, where only one is known.
pub const LATENCY_RATIO: f64 = 1.2;
/// `s` of ADAPTIVE_3 over that of ADAPTIVE_0, the same.
pub const STALL_RATIO: f64 = 5.0;

/// What an adapter has counted of a message.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Mean cycles from a packet to its response, *L*.
    pub latency: f64,
    /// Stalled cycles a flit, *s*.
    pub stalls: f64,
}

/// How large a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Payload.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Flits, headers included.
    pub flits: u64,
    /// Packets that may be without a response, at least 1.
    pub window: u32,
    /// A GET: data come with the responses.
    pub is_get: bool,
}

impl Size {
    /// A PUT on Aries: 64 bytes of payload a packet, a header flit and a flit each 16 bytes, 1,024 packets.
    pub fn put(bytes: u64) -> Self {
        Self::of(bytes, 64, 16, 1024)
    }

    /// A message in packets of so much payload and header.
    pub fn of(bytes: u64, packet_bytes: u32, header_bytes: u32, window: u32) -> Self {
        let (payload, header) = (u64::from(packet_bytes), u64::from(header_bytes));
        let (whole, rest) = (bytes / payload, bytes % payload);
        let last = if rest > 0 { (rest + header).div_ceil(16) } else { 0 };
        let flits = whole * (payload + header).div_ceil(16) + last;
        Self { bytes, packets: whole + u64::from(rest > 0), flits, window, is_get: false }
    }

    /// The same as a GET: a request of one flit for every packet (sec. 2.1).
    #[must_use]
    pub fn fetched(self) -> Self {
        Self { flits: self.packets, is_get: true, ..self }
    }

    /// What a mode that shows `sample` is expected to take, cycles.
    fn cycles(&self, sample: Sample) -> f64 {
        let windows = self.packets.saturating_sub(1) / u64::from(self.window.max(1));
        let first = if self.is_get { 1.0 } else { 0.5 };
        let alpha = first + windows as f64;
        alpha * sample.latency + self.flits as f64 * (sample.stalls + 1.0)
    }
}

/// The state of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Aware {
    high_bias: bool,
    sum_bytes: u64,
    /// Samples so far.
    samples: u32,
    /// Without a bias, with a high one: the last sample, and the number of samples then.
    seen: [Option<(Sample, u32)>; 2],
}

impl Aware {
    /// The mode of the next message, and whether it is to be counted: `sample` is then told what came of it.
    pub fn select(&mut self, size: Size, all_to_all: bool) -> (Mode, bool) {
        self.sum_bytes = self.sum_bytes.saturating_add(size.bytes);
        if self.sum_bytes <= THRESHOLD_BYTES {
            return (Mode::HighBias, false);
        }
        self.sum_bytes = 0;
        if let Some((own, _)) = self.seen[usize::from(self.high_bias)] {
            let other = self.fresh(!self.high_bias).unwrap_or(match self.high_bias {
                false => Sample { latency: own.latency / LATENCY_RATIO, stalls: own.stalls * STALL_RATIO },
                true => Sample { latency: own.latency * LATENCY_RATIO, stalls: own.stalls / STALL_RATIO },
            });
            if size.cycles(other) < size.cycles(own) {
                self.high_bias = !self.high_bias;
            }
        }
        let mode = match (self.high_bias, all_to_all) {
            (true, _) => Mode::HighBias,
            (false, true) => Mode::Increasing,
            (false, false) => Mode::Unbiased,
        };
        (mode, true)
    }

    /// What was counted of a message that had a mode.
    pub fn sample(&mut self, mode: Mode, sample: Sample) {
        self.samples = self.samples.wrapping_add(1);
        self.seen[usize::from(mode == Mode::HighBias)] = Some((sample, self.samples));
    }

    /// What a mode showed, unless that is too old.
    fn fresh(&self, high_bias: bool) -> Option<Sample> {
        let (sample, number) = self.seen[usize::from(high_bias)]?;
        (self.samples.wrapping_sub(number) <= FRESH_SAMPLES).then_some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: u64 = 1 << 20;

    fn sample(latency: f64, stalls: f64) -> Sample {
        Sample { latency, stalls }
    }

    /// After a message that showed something, in a mode.
    fn after(mode: Mode, latency: f64, stalls: f64) -> Aware {
        let mut aware = Aware { high_bias: mode == Mode::HighBias, ..Aware::default() };
        aware.sample(mode, sample(latency, stalls));
        aware
    }

    fn decides(mut aware: Aware, flits: u64, packets: u64) -> Mode {
        let (mode, counts) =
            aware.select(Size { bytes: BIG, packets, flits, window: 1024, is_get: false }, false);
        assert!(counts);
        mode
    }

    /// "We assume that the application starts by using Adaptive routing."
    #[test]
    fn it_starts_without_a_bias() {
        assert_eq!(Aware::default().select(Size::put(BIG), false), (Mode::Unbiased, true));
    }

    /// "i.e. if the message has a number of flits such that" (eq. 4): from Adaptive, with L = 4800 and s = 0.5, alpha = 1/2:
    /// (1/2) 4800 (1 - 1/1.2) / (4 · 0.5) = 200 flits; alpha L / (24 s) is the same.
    #[test]
    fn the_threshold_from_adaptive_is_alpha_l_over_24_s() {
        let aware = after(Mode::Unbiased, 4_800.0, 0.5);
        assert_eq!(decides(aware, 199, 40), Mode::HighBias);
        assert_eq!(decides(aware, 201, 40), Mode::Unbiased);
        // Beyond the window alpha grows: 1,025 packets, 3/2, 600 flits.
        assert_eq!(decides(aware, 599, 1_025), Mode::HighBias);
        assert_eq!(decides(aware, 601, 1_025), Mode::Unbiased);
    }

    /// "A similar model can be derived for GET messages" (sec. 2.4): what the last request brings is there after a whole L, so alpha is 1, and requests
    /// are a flit a packet. From Adaptive, with L = 4800 and s = 0.5: 4800 / (24 · 0.5) = 400 packets, 25,600 bytes; a PUT of as many packets is 2,000 flits.
    #[test]
    fn a_get_waits_for_its_data_and_sends_a_flit_a_packet() {
        let aware = after(Mode::Unbiased, 4_800.0, 0.5);
        let mode = |size| {
            let mut aware = aware;
            aware.select(size, false).0
        };
        assert_eq!(mode(Size::put(64 * 399).fetched()), Mode::HighBias);
        assert_eq!(mode(Size::put(64 * 401).fetched()), Mode::Unbiased);
        assert_eq!(mode(Size::put(64 * 399)), Mode::Unbiased);
        let get = Size::put(1 << 22).fetched();
        assert_eq!((get.packets, get.flits), (65_536, 65_536));
        // 4 MiB, s = 0, L = 1600: 64 windows' L and the requests.
        assert_eq!(get.cycles(sample(1_600.0, 0.0)), 64.0 * 1_600.0 + 65_536.0);
    }

    /// "The dual equation of Equation 4 can be derived": alpha L / (4 s) = (1/2) 4000 / (4 · 2.5) = 200 flits.
    #[test]
    fn the_threshold_from_high_bias_is_alpha_l_over_4_s() {
        let aware = after(Mode::HighBias, 4_000.0, 2.5);
        assert_eq!(decides(aware, 199, 40), Mode::HighBias);
        assert_eq!(decides(aware, 201, 40), Mode::Unbiased);
    }

    /// "The algorithm will store the last values observed for latency and stalls for both routing algorithms": they go before the ratios.
    #[test]
    fn what_the_other_mode_showed_goes_before_the_ratios() {
        let mut aware = after(Mode::HighBias, 9_000.0, 0.5);
        aware.high_bias = false;
        aware.sample(Mode::Unbiased, sample(4_800.0, 0.5));
        assert_eq!(decides(aware, 10, 2), Mode::Unbiased, "the other one's latency is higher");
    }

    /// "These values are discarded after a given number of samples."
    #[test]
    fn values_are_discarded_after_five_samples() {
        let mut aware = after(Mode::HighBias, 9_000.0, 0.5);
        aware.high_bias = false;
        for more in 1..=6 {
            aware.sample(Mode::Unbiased, sample(4_800.0, 0.5));
            let expected = if more <= 5 { Mode::Unbiased } else { Mode::HighBias };
            assert_eq!(decides(aware, 10, 2), expected, "{more} samples later");
        }
    }

    /// "We keep a cumulative counter of the message sizes, and we apply the algorithm when this counter is higher than a threshold (4KiB). If the
    /// cumulative size is lower than the threshold, the message is sent with Adaptive with High Bias."
    #[test]
    fn small_messages_add_up() {
        let mut aware = Aware::default();
        let mut sends = |bytes| aware.select(Size::put(bytes), false);
        assert_eq!(sends(4_096), (Mode::HighBias, false), "not higher");
        assert_eq!(sends(1), (Mode::Unbiased, true), "4,097 in all");
        let found: Vec<Mode> = (0..9).map(|_| sends(1_024).0).collect();
        let expected = |i| if i == 4 { Mode::Unbiased } else { Mode::HighBias };
        assert_eq!(found, (0..9).map(expected).collect::<Vec<_>>());
    }

    /// "For MPI_Alltoall communication, Adaptive is replaced with Increasingly Minimal Bias."
    #[test]
    fn all_to_all_has_mode_1_for_mode_0() {
        assert_eq!(Aware::default().select(Size::put(BIG), true), (Mode::Increasing, true));
        let mut high = after(Mode::HighBias, 4_000.0, 0.0);
        assert_eq!(high.select(Size::put(BIG), true), (Mode::HighBias, true));
        let mut low = after(Mode::Increasing, 4_800.0, 0.5);
        assert_eq!(low.select(Size { flits: 10, ..Size::put(8_192) }, true).0, Mode::HighBias);
    }

    /// No stalls: the threshold is infinite, and the lower latency decides. Nothing at all is 0/0, and changes nothing.
    #[test]
    fn without_stalls_latency_decides_and_without_latency_nothing_does() {
        assert_eq!(decides(after(Mode::Unbiased, 800.0, 0.0), 1 << 30, 9), Mode::HighBias);
        assert_eq!(decides(after(Mode::HighBias, 800.0, 0.0), 1 << 30, 9), Mode::HighBias);
        for mode in [Mode::Unbiased, Mode::HighBias] {
            assert_eq!(decides(after(mode, 0.0, 0.0), 1_000, 200), mode);
        }
    }

    #[test]
    fn flits_are_those_of_packets_and_headers() {
        let found = [1, 48, 64, 65, 4 << 20].map(Size::put).map(|size| (size.packets, size.flits));
        assert_eq!(found, [(1, 2), (1, 4), (1, 5), (2, 7), (65_536, 327_680)]);
        let large = Size::of(5_000, 2_048, 512, 32);
        assert_eq!((large.packets, large.flits), (3, 160 + 160 + 89));
    }
}
