//! What cannot be planned, and the key of the plan that says so.

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// More hosts than any tree has ports for.
    #[error(
        "expected at most {most} hosts ({full} without taper), as many as a tree of {levels} levels of {radix}-port \
         switches holds, found {hosts}"
    )]
    TooManyHosts {
        /// Hosts asked for.
        hosts: u32,
        /// Ports of a switch.
        radix: u32,
        /// Levels allowed, the most.
        levels: u32,
        /// What fits with one cable up a leaf.
        most: u64,
        /// What fits without taper.
        full: u64,
    },
    /// Enough ports, but no tree.
    #[error("no tree holds {hosts} hosts with {radix}-port switches: expected fewer hosts or more ports")]
    NoDesign {
        /// Hosts asked for.
        hosts: u32,
        /// Ports of a switch.
        radix: u32,
    },
    /// Several speeds, and none chosen.
    #[error(
        "the catalogue has {}: expected machine.speed_gbps to choose one (ports that are split among slower hosts are \
         not planned)",
        speeds_text(speeds)
    )]
    Speeds {
        /// Those on offer, Gb/s.
        speeds: Vec<f64>,
    },
    /// No such switch.
    #[error("the catalogue has no switch with {radix} ports of {speed_gbps} Gb/s: {}", sold_text(sold))]
    NoSwitch {
        /// Ports asked for.
        radix: u32,
        /// Speed asked for, Gb/s.
        speed_gbps: f64,
        /// Numbers of ports on offer.
        sold: Vec<u32>,
    },
    /// A switch's price formula goes below 0.
    #[error("a switch with {radix} ports would cost {price}: expected a price that is not negative")]
    NegativeSwitch {
        /// Its ports.
        radix: u32,
        /// What the formula gives.
        price: f64,
    },
    /// No such cable.
    #[error(
        "the catalogue has no {} of {length_m} m at {speed_gbps} Gb/s: expected a price for this level's cables",
        kind.as_ref().map_or_else(|| "cable".to_owned(), |kind| format!("cable of the kind \"{kind}\""))
    )]
    NoCable {
        /// 0: hosts', 1: leaves', 2: spines'.
        level: usize,
        /// The kind, if one was asked for.
        kind: Option<String>,
        /// Length, m.
        length_m: f64,
        /// Speed, Gb/s.
        speed_gbps: f64,
    },
    /// Less money than the cheapest design costs.
    #[error("expected at least {cheapest:.2}, the price of the cheapest design, found {budget}")]
    Budget {
        /// Money there is.
        budget: f64,
        /// Price of the cheapest design.
        cheapest: f64,
    },
    /// An application does not fit.
    #[error("{ranks} ranks, {ranks_per_host} a host, need {needed} hosts: expected at most {hosts}")]
    TooManyRanks {
        /// Number of the application.
        application: usize,
        /// Its ranks.
        ranks: u32,
        /// Ranks a host.
        ranks_per_host: u32,
        /// Hosts that all copies need.
        needed: u64,
        /// Hosts of the machine.
        hosts: u32,
    },
    /// A run that is shorter than its bytes take.
    #[error(
        "expected at least {}, the seconds that the bytes of the busiest host of every phase take at {speed_gbps} Gb/s",
        seconds(*wire_s)
    )]
    ShortRun {
        /// Number of the application.
        application: usize,
        /// Its wire time, s.
        wire_s: f64,
        /// Speed of the links, Gb/s.
        speed_gbps: f64,
    },
    /// A design to compare with does not hold the hosts, or has switches with too many ports.
    #[error("{what}")]
    Compared {
        /// Its number.
        number: usize,
        /// What was expected, and found.
        what: String,
    },
    /// Stopped by the control before there was an answer.
    #[error("stopped before all was counted")]
    Stopped,
}

impl PlanError {
    /// The key of the plan that is to blame, if one is: `machine.hosts`, `application.0.ranks_per_host`.
    pub fn key(&self) -> Option<String> {
        let key = match self {
            Self::TooManyHosts { .. } | Self::NoDesign { .. } => "machine.hosts",
            Self::Speeds { .. } => "catalogue",
            Self::NoSwitch { .. } | Self::NegativeSwitch { .. } => "machine.radix",
            Self::NoCable { level, .. } => {
                ["cables.hosts", "cables.leaves", "cables.spines"][(*level).min(2)]
            }
            Self::Budget { .. } => "budget",
            Self::TooManyRanks { application, .. } => return Some(format!("application.{application}")),
            Self::ShortRun { application, .. } => return Some(format!("application.{application}.run_s")),
            Self::Compared { .. } => "compare",
            Self::Stopped => return None,
        };
        Some(key.to_owned())
    }
}

/// Seconds to four places, however few.
fn seconds(n: f64) -> String {
    if n >= 1e-3 { format!("{n:.6}") } else { format!("{n:.3e}") }
}

fn speeds_text(speeds: &[f64]) -> String {
    match speeds {
        [] => "neither switches nor cables".to_owned(),
        _ => {
            let speeds: Vec<String> = speeds.iter().map(f64::to_string).collect();
            format!("speeds of {} Gb/s", speeds.join(", "))
        }
    }
}

fn sold_text(sold: &[u32]) -> String {
    match sold {
        [] => "expected one".to_owned(),
        _ => {
            let sold: Vec<String> = sold.iter().map(u32::to_string).collect();
            format!("expected one of {} ports", sold.join(", "))
        }
    }
}
