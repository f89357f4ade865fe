//! Settings of what was counted, and of what an answer may leave of it (docs/methods/inference.md, "Noise").

settings! {
    /// Counters as rows of the operator: which are empty, how much each weighs, how far it may be off.
    CounterSettings {
        /// A row may be off by so many standard deviations of its noise in linear programs.
        deviations: f64 = 4.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-22";
        /// Added to a row's bytes before its weight, one over them, is taken, so that quiet rows do not rule.
        weight_floor: f64 = 0.05, 0.0..=1.0, "of the mean row", "chosen by us on 2026-11-22";
        /// Noise that halves a row's weight, about.
        weight_noise: f64 = 0.01, 1e-9..=1.0, "of the row's bytes", "chosen by us on 2026-11-22";
        /// A row with fewer bytes is empty if its noise says so, too.
        empty_bytes: f64 = 1e-3, 0.0..=1.0, "of the mean row", "chosen by us on 2026-11-22";
        /// Its noise says so if it has no more bytes than so many standard deviations.
        empty_deviations: f64 = 3.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-22";
        /// More unknown rows than this are a finding.
        missing_rows: f64 = 0.25, 0.0..=1.0, "of the rows that pairs cross", "chosen by us on 2026-11-27";
        /// A host of no job that sent or received more takes part as one of another job.
        outsider_bytes: f64 = 1e-3, 0.0..=1.0, "of what a job's host does on average", "chosen by us on 2026-11-22";
        /// And more than so many packets: those of management.
        outsider_packets: f64 = 16.0, 0.0..=1e6, "packets", "chosen by us on 2026-11-22";
        /// Intervals whose hosts' links are no further apart are of the same traffic.
        same_traffic: f64 = 1e-3, 0.0..=1.0, "of the norm of hosts' links", "chosen by us on 2026-11-22";
        /// Intervals whose hosts' links are further apart are of other traffic ...
        other_traffic: f64 = 0.05, 0.0..=1.0, "of the norm of hosts' links", "chosen by us on 2026-11-22";
        /// ... if that is also so many times what noise makes.
        other_traffic_deviations: f64 = 3.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-22";
        /// Equivalent links tell their own scatter from so many known ones on; fewer take that of all.
        scatter_links: usize = 4, 2..=1_000, "links", "chosen by us on 2026-11-22";
    }
}

settings! {
    /// Whether counters and routes belong together.
    FitSettings {
        /// So much of a counter is noise.
        deviations: f64 = 6.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-22";
        /// So is this part of it: ports are read at different moments (10 ms of 10 s).
        slack: f64 = 1e-3, 0.0..=1.0, "of the row's bytes", "chosen by us on 2026-11-22";
        /// Counters that leave more are not of these routes. Right routes leave 0.0013 at most.
        foreign: f64 = 0.004, 0.0..=1.0, "of all bytes counted", "chosen by us on 2026-11-23";
        /// So are noisy ones that leave more, root mean square over bytes. Ports that are read seconds apart in an interval of ten
        /// leave 2.3 under right routes.
        foreign_deviations: f64 = 3.0, 0.0..=20.0, "standard deviations", "chosen by us on 2026-11-23";
    }
}
