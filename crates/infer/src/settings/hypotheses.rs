//! Settings of what is tried: atoms, grids, models (docs/methods/inference.md, "The way to an answer", 2 and 3).

settings! {
    /// Which atoms there are, and how likely each is beforehand. An offset between neighbours has the weight 1.
    DictionarySettings {
        /// All pairs of a line of ranks are one atom in lines up to this length.
        all_pairs_ranks: u32 = 64, 2..=65_536, "ranks", "chosen by us on 2026-11-22";
        /// Patterns with more pairs are not laid out.
        pattern_pairs: u64 = 1 << 19, 1..=1 << 40, "pairs", "chosen by us on 2026-11-22";
        /// An offset from one end of a side to the other.
        weight_of_ends: f64 = 0.7, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
        /// An offset by a power of two.
        weight_of_powers: f64 = 0.6, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
        /// Any other offset.
        weight_of_far: f64 = 0.4, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
        /// Mirrored ranks of all segments, and ranks that differ in one bit.
        weight_of_exchanges: f64 = 0.8, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
        /// Mirrored ranks of one segment.
        weight_of_segments: f64 = 0.5, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
        /// Collectives, patterns and all pairs.
        weight_of_collectives: f64 = 0.7, 0.0..=1.0, "of a neighbour's", "chosen by us on 2026-11-22";
    }
}

settings! {
    /// Orthogonal matching pursuit (Tropp and Gilbert, 2007).
    PursuitSettings {
        /// Atoms whose columns are made before one is chosen.
        candidates: usize = 6, 1..=1_000, "atoms", "chosen by us on 2026-11-22";
        /// Atoms that carry less than so many times the noise, as a part of the largest, are a trace.
        noise_atoms: f64 = 5.0, 0.0..=100.0, "noise of the counters", "chosen by us on 2026-11-22";
        /// Another fit is as good if its squares are no more above: three standard deviations of one row.
        equal_squares: f64 = 9.0, 0.0..=100.0, "mean square of noise by row", "chosen by us on 2026-11-22";
        /// The random part of the target by which one of all exact combinations of atoms is chosen.
        perturbation: f64 = 1e-5, 1e-9..=1e-2, "of the target's norm", "chosen by us on 2026-11-26";
    }
}

settings! {
    /// The process grid of a job.
    GridSettings {
        /// Atoms beside neighbours for each of the better grids.
        first_atoms: usize = 8, 0..=10_000, "atoms", "chosen by us on 2026-11-22";
        /// Atoms more for each of the best.
        more_atoms: usize = 22, 0..=10_000, "atoms", "chosen by us on 2026-11-22";
        /// One in so many grids is among the better ones, and one in so many of these among the best.
        one_in: usize = 3, 1..=1_000, "grids", "chosen by us on 2026-11-22";
        /// The better ones are at least so many.
        better: usize = 8, 1..=1_000, "grids", "chosen by us on 2026-11-22";
        /// The best ones are at least so many.
        best: usize = 3, 1..=1_000, "grids", "chosen by us on 2026-11-22";
        /// A grid that leaves no more explains the counters as well as the best.
        equal_residual: f64 = 1.2, 1.0..=10.0, "the best grid's residual", "chosen by us on 2026-11-22";
        /// Rival grids that are kept where they explain everything.
        rivals: usize = 8, 0..=1_000, "grids", "chosen by us on 2026-11-22";
        /// Rival grids that are kept where none does.
        rivals_unexplained: usize = 3, 0..=1_000, "grids", "chosen by us on 2026-11-22";
        /// Hosts send alike if they differ by no more; only then are patterns in which all do tried.
        alike_deviations: f64 = 5.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-22";
        /// Collectives that are tried without a grid.
        collectives: usize = 16, 1..=1_000, "atoms", "chosen by us on 2026-11-22";
        /// So many of them must explain half of the counters; else it is something else.
        collectives_half: usize = 6, 0..=1_000, "atoms", "chosen by us on 2026-11-22";
    }
}

/// How much of a pair's variance it has for itself, with its opposite, with its offset and with like offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Correlation of a pair and its opposite, 0 to 1.
    pub opposite: f64,
    /// Variance of an offset over that of a pair.
    pub offset: f64,
    /// Variance of like offsets over that of a pair.
    pub alike: f64,
    /// How a pair's variance grows with its bytes: their power. 0: all alike.
    pub growth: f64,
    /// Bytes that every pair has besides, over the mean, when its variance is told from its bytes.
    pub floor: f64,
}

/// How changes of a model spread over pairs; all chosen by us on 2026-11-22.
impl Shares {
    /// Changes go to whole families as well as to single pairs, to those that carry much a little more.
    pub const BROAD: Self = Self { opposite: 0.9, offset: 0.5, alike: 0.5, growth: 0.5, floor: 0.3 };
    /// Changes go to pairs that carry much.
    pub const MIDDLE: Self = Self { opposite: 0.9, offset: 0.2, alike: 0.2, growth: 1.0, floor: 0.3 };
    /// Hardly any go to pairs that carry little.
    pub const NARROW: Self = Self { opposite: 0.9, offset: 0.1, alike: 0.1, growth: 1.5, floor: 0.1 };
}

settings! {
    /// Models that are tried on rows held out, and when nothing has to be tried.
    ModelSettings {
        /// One row of so many is held out.
        hold_out: u64 = 8, 2..=1_000, "rows", "chosen by us on 2026-11-22";
        /// Neighbours and atoms are at most one for so many rows.
        rows_per_atom: usize = 5, 1..=1_000, "rows", "chosen by us on 2026-11-22";
        /// Atoms or flows are few where there are so many rows for each: else they explain anything.
        rows_per_term: usize = 4, 1..=1_000, "rows", "chosen by us on 2026-11-22";
        /// The same of noisy counters.
        rows_per_term_noisy: usize = 20, 1..=1_000, "rows", "chosen by us on 2026-11-22";
        /// Counters with less noise are as good as exact.
        nearly_exact: f64 = 1e-3, 0.0..=1.0, "of the target's norm", "chosen by us on 2026-11-23";
        /// A pattern must predict the rows held out so many times better than the gravity model ...
        gain_over_gravity: f64 = 1.5, 1.0..=10.0, "the gravity model's error", "chosen by us on 2026-11-22";
        /// ... and better still where that leaves less, as on dense traffic: there half as much is chance.
        dense_residual: f64 = 0.08, 1e-9..=1.0, "of the rows held out", "chosen by us on 2026-11-22";
        /// What jobs sent before may predict so many times worse.
        loss_of_earlier: f64 = 1.2, 1.0..=10.0, "the best model's error", "chosen by us on 2026-11-22";
        /// The fewest flows that predict the rows held out to this are right ...
        flows_held_out: f64 = 0.01, 0.0..=1.0, "of the rows held out", "chosen by us on 2026-11-22";
        /// ... or to so many times their noise.
        flows_noise: f64 = 1.5, 0.0..=20.0, "noise of the rows held out", "chosen by us on 2026-11-22";
        /// Rounds of the least change of a model that is tried.
        trial_rounds: usize = 6, 1..=1_000, "rounds", "chosen by us on 2026-11-22";
        /// Its steps of conjugate gradients a round.
        trial_steps: usize = 40, 1..=10_000, "steps", "chosen by us on 2026-11-22";
    }
}

impl ModelSettings {
    /// How many atoms beside neighbours are tried; chosen by us on 2026-11-22.
    pub const ATOMS: [usize; 5] = [0, 12, 24, 48, 96];
    /// How changes are spread; chosen by us on 2026-11-22.
    pub const SHARES: [Shares; 3] = [Shares::BROAD, Shares::MIDDLE, Shares::NARROW];
}
