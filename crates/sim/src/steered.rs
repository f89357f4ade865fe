//! Schemes of dragonflies by name, with their parameters. What they do is in `packet/choice/steer.rs`.

use crate::mode::{AS_IT_COMES, ByMessage, HIGH_BIAS_BYTES, Mode, Modes};

/// Schemes of dragonflies: minimal ways, and detours through a third group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Steered {
    /// The minimal way.
    Minimal,
    /// Through a random third group, always.
    Valiant,
    /// Through a random switch of a random third group, always.
    ValiantRouter,
    /// One or the other, by the queues of a packet's first switch.
    Ugal,
    /// The same, by the queues of all links of both ways.
    UgalGlobal,
    /// The same as [`Ugal`](Self::Ugal), and again at later switches of the first group.
    Par,
    /// `adaptive:0` to `adaptive:3` and other modes, as on Aries: one or the other, by mode, within a group too.
    Aries,
}

impl Steered {
    /// All of them, in the order lists show them.
    pub const ALL: [Self; 7] = [
        Self::Minimal,
        Self::Valiant,
        Self::ValiantRouter,
        Self::Ugal,
        Self::UgalGlobal,
        Self::Par,
        Self::Aries,
    ];

    /// As scenarios spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Valiant => "valiant",
            Self::ValiantRouter => "valiant:router",
            Self::Ugal => "ugal",
            Self::UgalGlobal => "ugal:global",
            Self::Par => "par",
            Self::Aries => "adaptive:0",
        }
    }

    /// One line on what it does.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Minimal => "minimal ways of a dragonfly",
            Self::Valiant => "through a random third group of a dragonfly, always",
            Self::ValiantRouter => "through a random switch of a random third group of a dragonfly, always",
            Self::Ugal => {
                "minimal or through a third group of a dragonfly, by the queues of the first switch"
            }
            Self::UgalGlobal => {
                "the same by the queues of all links of both ways, as they are at that moment"
            }
            Self::Par => {
                "as ugal, and a packet on its minimal way chooses again at later switches of its group"
            }
            Self::Aries => {
                "the same as on Aries, within groups too; adaptive:1 to adaptive:3 have a bias against detours"
            }
        }
    }

    /// Whether it chooses between minimal ways and detours by queues alone, with parameters.
    pub fn compares(self) -> bool {
        matches!(self, Self::Ugal | Self::UgalGlobal | Self::Par)
    }

    /// The slots of its ways, in order: L is a cable within a group (or some, round a missing one), G one between groups. Each has
    /// a lane. Minimal ways cross at most so many cables between groups: one where none is missing.
    pub fn slots(self, crossings: u8) -> &'static [&'static str] {
        const ALL: [&str; 7] = ["L0", "G0", "L1", "G1", "L2", "G2", "L3"];
        const AGAIN: [&str; 8] = ["L0", "L1", "G0", "L2", "G1", "L3", "G2", "L4"];
        let plain = |crossings: u8| 2 * usize::from(crossings) + 1;
        match self {
            Self::Minimal => &ALL[..plain(crossings).min(ALL.len())],
            Self::ValiantRouter if crossings < 2 => &["L0", "G0", "L1", "L2", "G1", "L3"],
            Self::ValiantRouter => &ALL,
            Self::Par => &AGAIN[..plain(crossings.max(2)).min(ALL.len()) + 1],
            _ => &ALL[..plain(crossings.max(2)).min(ALL.len())],
        }
    }

    /// The lane of every slot, by what a packet counts: twice the cables between groups behind it, plus one for the next of these; a third
    /// switch counts as one too. And the lane of a cable that a detour takes within its first group, behind its first switch.
    ///
    /// With fewer `lanes` than slots, the two slots within one group share a lane; with fewer still, the last ones do.
    pub(crate) fn lanes_of_slots(self, crossings: u8, lanes: u8) -> ([u8; 8], u8) {
        let enough = usize::from(lanes) >= self.slots(crossings).len();
        let (of, again) = match self {
            Self::ValiantRouter if crossings < 2 && enough => ([0, 1, 2, 4, 3, 4, 5, 5], 0),
            Self::ValiantRouter if crossings < 2 => ([0, 1, 2, 3, 2, 3, 4, 4], 0),
            Self::Par if enough => ([0, 2, 3, 4, 5, 6, 7, 7], 1),
            _ => ([0, 1, 2, 3, 4, 5, 6, 7], 0),
        };
        (of.map(|lane: u8| lane.min(lanes - 1)), again)
    }
}

/// Most bytes that may be added to a load: sums stay far from overflow.
const MOST_BIAS_BYTES: u32 = 1 << 30;

/// A scheme of dragonflies with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteerOptions {
    /// Which.
    pub scheme: Steered,
    /// Minimal outputs that UGAL draws, at least 1.
    pub minimal: u8,
    /// Detours that it draws.
    pub detours: u8,
    /// The load at a detour's output counts this power of 2.
    pub shift: u8,
    /// And so many bytes more.
    pub add_bytes: u32,
    /// Lanes: one a slot of the way; with fewer the last ones share a lane, and packets may wait for each other for ever.
    pub lanes: u8,
    /// Lanes behind these that are responses' own: as many as minimal ways have slots, or none.
    pub response_lanes: u8,
    /// Lanes go by SL-to-VL tables instead.
    pub by_tables: bool,
    /// The mode of messages that have none of their own, where there are modes.
    pub mode: Mode,
    /// That of messages of all-to-all collectives, if it is another.
    pub all_to_all: Option<Mode>,
    /// Who chooses for these instead.
    pub by_message: Option<ByMessage>,
    /// The high bias, bytes.
    pub bias_bytes: u32,
}

impl SteerOptions {
    /// Lanes of responses where no cable is missing: one a slot of minimal ways.
    pub const RESPONSE_LANES: u8 = 3;

    /// A scheme as it is meant: UGAL with two candidates of each kind, a detour twice as long.
    pub fn new(scheme: Steered) -> Self {
        let lanes = scheme.slots(1).len() as u8;
        // Loads of all links of a way tell its length.
        let shift = if matches!(scheme, Steered::Aries | Steered::UgalGlobal) { 0 } else { 1 };
        Self {
            scheme,
            minimal: 2,
            detours: 2,
            shift,
            add_bytes: 0,
            lanes,
            response_lanes: 0,
            by_tables: false,
            mode: Mode::Unbiased,
            all_to_all: None,
            by_message: None,
            bias_bytes: HIGH_BIAS_BYTES,
        }
    }

    /// The scheme that a word names; parameters of those that compare queues follow a colon: `ugal:minimal=1,detours=1,shift=1,add=12288`. `None`: the word
    /// names none.
    ///
    /// # Errors
    /// What is wrong with its parameters.
    pub fn parse(word: &str) -> Option<Result<Self, String>> {
        if let Some(found) = Self::of_mode(word) {
            return Some(found);
        }
        let behind = |scheme: Steered| {
            let rest = word.strip_prefix(scheme.name())?;
            if rest.is_empty() { Some((scheme, None)) } else { Some((scheme, Some(rest.strip_prefix(':')?))) }
        };
        // `ugal:global` begins with another's name.
        let (scheme, rest) =
            Steered::ALL.into_iter().filter_map(behind).max_by_key(|(scheme, _)| scheme.name().len())?;
        let mut it = Self::new(scheme);
        let Some(rest) = rest else { return Some(Ok(it)) };
        if !scheme.compares() {
            return Some(Err(format!("\"{word}\": {} has no parameters", scheme.name())));
        }
        for pair in rest.split(',') {
            let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
            let number = |range: std::ops::RangeInclusive<u32>| {
                let (least, most) = (*range.start(), *range.end());
                let number = text.parse::<u32>().ok().filter(|n| range.contains(n));
                number
                    .ok_or_else(|| format!("\"{word}\": {key}: expected a whole number of {least} to {most}"))
            };
            let set = match key {
                "minimal" => number(1..=16).map(|n| it.minimal = n as u8),
                "detours" => number(1..=16).map(|n| it.detours = n as u8),
                "shift" => number(0..=16).map(|n| it.shift = n as u8),
                "add" => number(0..=MOST_BIAS_BYTES).map(|n| it.add_bytes = n),
                _ => {
                    Err(format!("\"{word}\": expected minimal=, detours=, shift= or add=, found \"{pair}\""))
                }
            };
            if let Err(message) = set {
                return Some(Err(message));
            }
        }
        Some(Ok(it))
    }

    /// Words of modes besides [`Steered::name`].
    pub fn words_of_modes() -> impl Iterator<Item = &'static str> {
        let fixed = Mode::ALL.into_iter().skip(1).map(Mode::word);
        fixed.chain([AS_IT_COMES]).chain(ByMessage::ALL.map(ByMessage::word))
    }

    /// `adaptive:0`, `min-hash`, `aware:steady`, `adaptive:3:bias=8192`; `None`: it is nothing of that.
    fn of_mode(word: &str) -> Option<Result<Self, String>> {
        let (name, bias) = match word.split_once(":bias") {
            Some((name, rest)) => (name, Some(rest)),
            None => (word, None),
        };
        let mut it = Self::new(Steered::Aries);
        match (Mode::parse(name), ByMessage::parse(name)) {
            _ if !name.contains(|c: char| c.is_ascii_alphabetic()) || name == "default" => return None,
            (Some(mode), _) => it.mode = mode,
            _ if name == AS_IT_COMES => it.all_to_all = Some(Mode::Increasing),
            (None, Some(by_message)) => it.by_message = Some(by_message),
            (None, None) if name.starts_with("adaptive:") || name.starts_with("aware:") => {
                let words: Vec<&str> =
                    [Steered::Aries.name()].into_iter().chain(Self::words_of_modes()).collect();
                return Some(Err(format!("\"{word}\": expected one of {}", words.join(", "))));
            }
            (None, None) => return None,
        }
        let Some(bias) = bias else { return Some(Ok(it)) };
        let bytes = bias.strip_prefix('=').and_then(|text| text.parse().ok());
        let Some(bytes) = bytes.filter(|&bytes| bytes <= MOST_BIAS_BYTES) else {
            return Some(Err(format!(
                "\"{word}\": expected bias= with bytes of 0 to {MOST_BIAS_BYTES}, found \"bias{bias}\""
            )));
        };
        it.bias_bytes = bytes;
        Some(Ok(it))
    }

    /// The modes of a job's messages: what is said of them, and where nothing is, what is said here.
    pub fn modes(&self, own: &Modes) -> Modes {
        let all = match self.by_message {
            _ if self.scheme != Steered::Aries => Modes::default(),
            Some(by_message) => Modes::by_message(by_message),
            None => Modes::all(self.mode).with_all_to_all(self.all_to_all),
        };
        own.clone().or(all)
    }
}
