//! Settings of what solves for bytes (docs/methods/inference.md, "The way to an answer", 4 and 5).

settings! {
    /// The gravity model and the least change of a guess.
    LeastChangeSettings {
        /// Rounds of setting to zero what became negative.
        rounds: usize = 30, 1..=1_000, "rounds", "chosen by us on 2026-11-22";
        /// Conjugate gradients a round.
        steps: usize = 50, 1..=10_000, "steps", "chosen by us on 2026-11-22";
        /// Enough is explained where the weighted residual is no more.
        tolerance: f64 = 1e-9, 0.0..=1.0, "of the target's norm", "chosen by us on 2026-11-22";
        /// No counter is taken as more exact: a byte here and there that crossed between two readings may contradict itself in a way
        /// that only huge changes explain.
        least_deviation: f64 = 2e-4, 0.0..=1.0, "of the row's bytes", "chosen by us on 2026-11-22";
        /// Rounds of expectation maximisation (Vardi, 1996) that explain the last hundredth.
        em_rounds: usize = 60, 0..=10_000, "rounds", "chosen by us on 2026-11-22";
        /// Rounds of it that make the gravity model of hosts' links.
        gravity_rounds: usize = 30, 0..=10_000, "rounds", "chosen by us on 2026-11-22";
    }
}

settings! {
    /// The nearest traffic, by Newton's method on the dual (Qi and Sun, 1993).
    NearestSettings {
        /// What a row costs: the `s` of the squares that are left, per byte of it.
        slack: f64 = 1e-7, 1e-12..=1.0, "of the row's bytes", "chosen by us on 2026-11-26";
        /// A pair without bytes may change as if it had so much.
        freedom: f64 = 0.1, 1e-9..=10.0, "of the mean pair, or its quietest row", "chosen by us on 2026-11-26";
        /// Newton steps.
        newton_steps: usize = 60, 1..=10_000, "steps", "chosen by us on 2026-11-26";
        /// Halvings of a step.
        halvings: usize = 30, 1..=100, "halvings", "chosen by us on 2026-11-26";
        /// Enough is explained where rows are off by no more, root mean square.
        tolerance: f64 = 1e-9, 0.0..=1.0, "of the row's bytes", "chosen by us on 2026-11-26";
        /// Up to so many rows a step's system is solved as a matrix; of more by conjugate gradients.
        dense_rows: usize = 700, 0..=10_000, "rows", "chosen by us on 2026-11-26";
        /// Conjugate gradients a step.
        gradients: usize = 400, 1..=100_000, "steps", "chosen by us on 2026-11-26";
        /// Where a system is a matrix, what is left beyond noise is explained exactly if it is more.
        worth: f64 = 1e-4, 0.0..=1.0, "of all bytes counted", "chosen by us on 2026-11-26";
    }
}

settings! {
    /// The fewest flows: reweighted l1 (Candès, Wakin and Boyd, 2008).
    FlowSettings {
        /// Linear programs, each with the costs that the last one's answer says.
        rounds: usize = 3, 1..=100, "rounds", "chosen by us on 2026-11-22";
        /// Steps of a linear program.
        steps: usize = 1_000, 1..=10_000_000, "steps", "chosen by us on 2026-11-22";
        /// Fewer where there are so many pairs that steps times pairs were more.
        work: usize = 100_000_000, 1..=1 << 40, "steps x pairs", "chosen by us on 2026-11-22";
        /// But no fewer than these.
        least_steps: usize = 200, 1..=10_000_000, "steps", "chosen by us on 2026-11-22";
        /// Relative error of a linear program that is enough.
        tolerance: f64 = 1e-6, 0.0..=1.0, "of the program's norms", "chosen by us on 2026-11-22";
        /// A pair and its opposite with the same bytes cost so much (the symmetric basis, sec. 4.3.2).
        both_ways_cost: f64 = 0.7, 0.5..=1.0, "of the two alone", "chosen by us on 2026-11-22";
        /// Costs of a second opinion are up to so much higher.
        cost_spread: f64 = 0.3, 0.0..=10.0, "of the cost", "chosen by us on 2026-11-22";
        /// After the first round a column costs as if it carried so much more.
        reweighting_floor: f64 = 0.05, 1e-9..=1.0, "of what it could carry", "chosen by us on 2026-11-22";
        /// Columns with less are not in use.
        least_used: f64 = 1e-4, 0.0..=1.0, "of what it could carry", "chosen by us on 2026-11-22";
        /// Rounds end where less moves, or no more than noise makes.
        least_moved: f64 = 1e-4, 0.0..=1.0, "of all bytes", "chosen by us on 2026-11-22";
        /// Conjugate gradients when columns in use are fitted.
        fit_steps: usize = 400, 1..=100_000, "steps", "chosen by us on 2026-11-22";
        /// Jobs whose hosts' links carry so many times what those of the next ones do are solved before them (sec. 5.4.2).
        magnitude_ratio: f64 = 30.0, 1.0..=1e9, "bytes of the next", "chosen by us on 2026-11-22";
        /// Flows are few where hosts use less of their links' lanes.
        used_lanes: f64 = 0.7, 0.0..=1.0, "of the lanes", "chosen by us on 2026-11-22";
        /// More possible pairs are too many to choose from.
        pairs_per_row: usize = 50, 1..=1_000_000, "pairs a row", "chosen by us on 2026-11-22";
        /// Other flows that explain the counters may cost so much.
        rival_cost: f64 = 1.05, 1.0..=10.0, "of the answer's cost", "chosen by us on 2026-11-26";
        /// Steps of the linear programs that look for them.
        rival_steps: usize = 2_000, 1..=10_000_000, "steps", "chosen by us on 2026-11-26";
    }
}

settings! {
    /// Linear programs of what pairs carry at least and at most.
    ExtremeSettings {
        /// Steps of one whose bound is told.
        steps: usize = 1_000, 1..=10_000_000, "steps", "chosen by us on 2026-11-22";
        /// Where only something far is looked for: steps times pairs.
        work: usize = 6_000_000, 1..=1 << 40, "steps x pairs", "chosen by us on 2026-11-26";
        /// Its steps are no fewer than these.
        least_steps: usize = 100, 1..=10_000_000, "steps", "chosen by us on 2026-11-26";
        /// And no more.
        most_steps: usize = 600, 1..=10_000_000, "steps", "chosen by us on 2026-11-26";
    }
}
