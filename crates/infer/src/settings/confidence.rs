//! Settings of how far an answer is believed (docs/methods/inference.md, "Verdict and told error").

settings! {
    /// How far an answer is believed to be off.
    ConfidenceSettings {
        /// How often the same is done with known traffic (parametric bootstrap).
        draws: u64 = 3, 1..=1_000, "draws", "chosen by us on 2026-11-22";
        /// A grid that takes an atom more to explain as much is believed so much less.
        weight_per_atom: f64 = 0.8, 0.0..=1.0, "of the weight", "chosen by us on 2026-11-22";
        /// Fits without one of the atoms that count as doubts.
        leave_one_out: usize = 8, 0..=1_000, "fits", "chosen by us on 2026-11-22";
        /// Random combinations of the same atoms that count as doubts.
        perturbed_fits: u64 = 8, 0..=1_000, "fits", "chosen by us on 2026-11-26";
        /// Other flows that are looked for, in random directions.
        rival_flows: u64 = 4, 0..=1_000, "linear programs", "chosen by us on 2026-11-26";
        /// Not among more pairs: that would take longer than all else.
        rival_flow_pairs: usize = 20_000, 0..=1 << 40, "pairs", "chosen by us on 2026-11-26";
        /// Nor where there are so many rows for each flow: there and back over a spine are eight.
        rival_flow_rows: f64 = 6.0, 0.0..=1_000.0, "rows a flow", "chosen by us on 2026-11-26";
        /// On one lane an error `e` of the gravity model is told as `factor e^power h^held_out`, `h` that of rows held out: the factor.
        gravity_factor: f64 = 1.3, 0.0..=10.0, "1", "fitted to 2,870 cases, 2026-11-23";
        /// The power of `e`.
        gravity_power: f64 = 0.85, 0.0..=2.0, "1", "fitted to 2,870 cases, 2026-11-23";
        /// The power of `h`.
        gravity_held_out: f64 = 0.08, 0.0..=2.0, "1", "fitted to 2,870 cases, 2026-11-23";
        /// The same of patterns, `factor e^power`: the factor.
        pattern_factor: f64 = 1.15, 0.0..=10.0, "1", "fitted to 2,870 cases, 2026-11-23";
        /// The power.
        pattern_power: f64 = 0.9, 0.0..=2.0, "1", "fitted to 2,870 cases, 2026-11-23";
        /// So much of what known traffic says of patterns counts on one lane.
        pattern_part: f64 = 0.5, 0.0..=1.0, "of the error", "fitted to 2,870 cases, 2026-11-23";
        /// The same where rows have more noise than their counters show.
        noise_part: f64 = 0.33, 0.0..=1.0, "of the error", "fitted to 2,870 cases, 2026-11-27";
        /// They have where so much is left.
        excess_noise: f64 = 2.0, 1.0..=100.0, "noise of the counters", "chosen by us on 2026-11-27";
        /// Up to so many pairs errors are told from how far explanations of the counters are apart.
        small_pairs: usize = 400, 0..=1 << 40, "pairs", "chosen by us on 2026-11-26";
        /// As `factor e^power d^distance`, `d` that distance: the factor.
        small_factor: f64 = 0.52, 0.0..=10.0, "1", "fitted to 565 cases, 2026-11-27";
        /// The power of `e`.
        small_power: f64 = 0.25, 0.0..=2.0, "1", "fitted to 565 cases, 2026-11-27";
        /// The power of `d`.
        small_distance: f64 = 0.55, 0.0..=2.0, "1", "fitted to 565 cases, 2026-11-27";
        /// Where switches choose, as `factor d^power`, `d` up to 1: the factor.
        adaptive_factor: f64 = 0.6, 0.0..=10.0, "1", "fitted to cases, 2026-11-27";
        /// The power.
        adaptive_power: f64 = 0.8, 0.0..=2.0, "1", "fitted to cases, 2026-11-27";
        /// Up to so many pairs explanations are looked for twice.
        twice_pairs: usize = 5_000, 0..=1 << 40, "pairs", "chosen by us on 2026-11-26";
        /// The gravity model is believed to be no less of the way to the furthest explanation: 0.16 to 0.94 in 9 of 10 cases.
        gravity_floor: f64 = 0.5, 0.0..=1.0, "of the distance", "fitted to cases, 2026-11-27";
        /// The same of atoms that explain a job's counters by chance: they are as far out as what is furthest.
        chance_floor: f64 = 0.7, 0.0..=1.0, "of the distance", "fitted to cases, 2026-11-27";
        /// Hosts' links that carry less say nothing of a pattern: acknowledgements.
        idle_host: f64 = 0.01, 0.0..=1.0, "of the mean", "chosen by us on 2026-11-27";
        /// The gravity model is not identified where it predicts the rows held out worse.
        held_out_limit: f64 = 0.05, 0.0..=1.0, "of the rows held out", "chosen by us on 2026-11-23";
        /// Fewer rows between switches ...
        alike_rows: usize = 64, 0..=1_000_000, "rows", "chosen by us on 2026-11-23";
        /// ... with no more different bytes are explained by many patterns alike.
        alike_values: usize = 3, 0..=1_000_000, "values", "chosen by us on 2026-11-23";
        /// Where fewer rows between switches say what hosts' links do not, whatever explains them is one of many.
        new_rows: usize = 3, 0..=1_000, "independent rows", "chosen by us on 2026-11-27";
        /// Of more rows nobody asks: they tell enough.
        ranked_rows: usize = 400, 0..=10_000, "rows", "chosen by us on 2026-11-27";
        /// So few bits between switches are explained by thousands of patterns. Where switches choose, an atom has to have as many.
        pattern_bits: f64 = 21.0, 0.0..=1_000.0, "bits", "chosen by us on 2026-11-26";
        /// Pairs of hosts that are tried as exchanged.
        exchanges: usize = 100, 0..=1_000_000, "pairs of hosts", "chosen by us on 2026-11-27";
        /// They are alike if their sums differ by no more.
        exchange_difference: f64 = 0.01, 0.0..=1.0, "of the larger", "chosen by us on 2026-11-27";
        /// Of more pairs none is tried.
        exchange_pairs: usize = 20_000, 0..=1 << 40, "pairs", "chosen by us on 2026-11-27";
    }
}

settings! {
    /// The verdict, and how errors are told.
    VerdictSettings {
        /// Sums are *identified* up to this error. At 0.04 routes of the answer were eight points worse than routes of the truth.
        identified: f64 = 0.015, 0.0..=1.0, "of the sums' norm", "chosen by us on 2026-11-22";
        /// And *partly* known up to this one.
        partly: f64 = 0.5, 0.0..=1.0, "of the sums' norm", "chosen by us on 2026-11-22";
        /// An error is told as it is up to this; of what is above, half: answers are hardly ever worse than nothing.
        told_whole: f64 = 0.6, 0.0..=2.0, "of the sums' norm", "fitted to 2,870 cases, 2026-11-23";
        /// Rows that are held out tell nothing better.
        least_held_out: f64 = 1e-3, 0.0..=1.0, "of the rows held out", "fitted to 2,870 cases, 2026-11-23";
        /// What known traffic says counts as no less than so much of how far explanations are apart.
        least_of_distance: f64 = 0.02, 0.0..=1.0, "of the distance", "fitted to 565 cases, 2026-11-26";
        /// The truth may be so much of the way to the furthest explanation.
        truth_of_distance: f64 = 0.4, 0.0..=1.0, "of the distance", "chosen by us on 2026-11-26";
        /// A likely range is so wide, either way.
        likely: f64 = 2.0, 0.0..=20.0, "standard deviations", "95 % of a normal distribution, 2026-11-22";
        /// A sum is known if it is off by no more.
        known_sum: f64 = 0.1, 0.0..=1.0, "of the sum", "chosen by us on 2026-11-27";
        /// Nothing is identified if more is of hosts of no job, or unexplained.
        outside: f64 = 0.01, 0.0..=1.0, "of all that was counted", "chosen by us on 2026-11-23";
        /// What counters that may have wrapped are off by, at least.
        wrapped: f64 = 0.5, 0.0..=1.0, "of the sums' norm", "chosen by us on 2026-11-23";
        /// An answer that leaves more of the counters is none.
        unexplained: f64 = 0.3, 0.0..=1.0, "of the target's norm", "chosen by us on 2026-11-22";
        /// More unknown rows may hide what a pattern does not have.
        unknown_rows: f64 = 0.03, 0.0..=1.0, "of the rows that pairs cross", "chosen by us on 2026-11-27";
    }
}

settings! {
    /// A second attempt where counters have more noise than they show: managing a fabric leaves a little on every link.
    RetrySettings {
        /// They have where an answer leaves more than so many times what they show ...
        noise: f64 = 2.0, 1.0..=100.0, "noise of the counters", "chosen by us on 2026-11-27";
        /// ... and no more than this.
        residual: f64 = 0.02, 0.0..=1.0, "of the target's norm", "chosen by us on 2026-11-27";
        /// Then so many times what was left is a row's deviation, as what is made up for it explains most.
        deviations: f64 = 3.0, 0.0..=100.0, "root mean square of what is left", "chosen by us on 2026-11-27";
    }
}

settings! {
    /// What is remembered of a job.
    EarlierSettings {
        /// Most pairs that are remembered beside the means of offsets.
        pairs: usize = 20_000, 0..=1 << 40, "pairs", "chosen by us on 2026-11-22";
        /// A pair differs from its offset's mean if it does by more.
        difference: f64 = 1e-4, 0.0..=1.0, "of the largest pair", "chosen by us on 2026-11-22";
    }
}
