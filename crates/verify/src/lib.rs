//! The second opinion: whether routes are sound, and whether a claimed bound holds.
//!
//! Shares no code with `routing`, `bounds` and `optimize`: everything is recomputed from the fabric, the
//! tables and the traffic, by other means where there are other means.
//!
//! | module | idea |
//! |---|---|
//! | [`check`](mod@check) | every pair of addresses: reachable, loop-free, minimal, up*/down*, free of credit loops |
//! | [`report`] | what `check` found |
//! | [`lanes`] | credit loops by (link, lane) |
//! | [`moves`] | the same of routing schemes of dragonflies, by every move that a packet may make |
//! | [`certificate`] | recomputes loads and bound; says yes or no to a certificate |
//! | [`mix`](mod@mix) | what any mix of old and new entries can do while tables change |
//! | [`stages`](mod@stages) | a change in stages, each safe however its entries mix |
//! | [`at_max`] | how many links must carry the maximum |
//! | `wiring` | what is behind every port; hops and up*/down* reachability, many leaves at once |
//! | `plain` | addresses whose entries are all as they should be, found many at once |
//! | `walker` | following one destination's entries from all switches |
//! | `channels` | the channel dependency graph and its cycles |
//! | `distance` | shortest admissible paths under link weights, leaf by leaf |
//! | `joined` | which hosts working cables join at all |
//! | `forced` | which sets of links no path from one leaf to another avoids |
//! | `whole` | arguments about whole items through few links, recomputed |
//! | `patterns` | weights of items, against all that fits a link |
//! | `loads` | link loads by walking the tables |
//! | `ways` | whether routes take minimal up*/down* ways |

pub mod at_max;
pub mod certificate;
mod channels;
pub mod check;
mod distance;
mod forced;
mod joined;
pub mod lanes;
mod loads;
pub mod mix;
pub mod moves;
mod patterns;
mod plain;
pub mod report;
pub mod stages;
mod walker;
mod ways;
mod whole;
mod wiring;

pub use at_max::verify_links_at_max;
pub use certificate::{Verdict, verify_certificate};
pub use check::{check, check_on};
pub use lanes::{LaneReport, lane_loops, mixed_lane_loops};
pub use mix::{MixReport, mix, patched};
pub use moves::{AnyOrder, LanesBy, Moves, MovesReport, Slot, Through, move_loops};
pub use report::{CheckReport, Finding, FindingKind};
pub use stages::{NoStages, Stages, stages};
