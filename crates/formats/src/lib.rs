//! Every parser and writer of netloom: text in, a valid noun or an error with its line out.
//!
//! Readers take bytes (plain or gzip) and a label for messages; nothing here opens a path. What comes
//! out is checked, so algorithms never re-check.
//!
//! | module | idea |
//! |---|---|
//! | [`catalogue`] | prices of switches and cables (TOML) |
//! | [`certificate`] | proofs of lower bounds, as JSON |
//! | [`counters`] | port counters: what tools and kernels show, and tables |
//! | [`error`] | [`FormatError`] `file:line: expected ..., found ...`; [`WriteError`] |
//! | [`gzip`] | plain or gzip, bounded |
//! | [`text`] | bytes to lines; a cursor for one line |
//! | [`fabric`] | `ibnetdiscover`, `ibnetdiscover -p`, ibsim net files, ibdiagnet's dumps, DOT; node-name-maps |
//! | [`dense`] | dense traffic matrices as text |
//! | [`lft`] | forwarding tables: OpenSM's dumps in, files for its `file` engine out |
//! | [`goal`] | GOAL: tasks of ranks that depend on each other, as text and binary |
//! | [`hostlist`] | Slurm hostlists |
//! | [`jobs`] | jobs files (TOML) |
//! | `keys` | TOML tables whose keys are all known |
//! | [`mtx`] | Matrix Market: traffic matrices |
//! | [`plan`] | machines to be planned (TOML) |
//! | [`prof`] | what Open MPI's monitoring counted |
//! | [`recording`] | recorded runs of one file or many; what a file of traffic is |
//! | [`scenario`] | scenarios to simulate (TOML), with overrides |
//! | [`lanes`] | SL-to-VL tables, service levels of pairs, QoS policies |
//! | [`sums`] | what every host sends and receives, as CSV |
//! | [`ti`] | SimGrid's time-independent traces, as traffic and as programs |
//! | [`traces`] | binary traces: DUMPI, OTF2, Chakra |
//! | [`triples`] | traffic as CSV |
//! | [`perfetto`] | timelines, for viewers of traces |
//! | [`paths`] | which of a host's addresses each sender uses, as CSV |
//! | `csv` | what the two share |
//! | `db_csv` | the sections of ibdiagnet's database |

mod amount_text;
pub mod catalogue;
pub mod certificate;
pub mod counters;
mod csv;
mod db_csv;
pub mod dense;
pub mod error;
pub mod fabric;
pub mod goal;
pub mod gzip;
pub mod hostlist;
pub mod jobs;
mod keys;
pub mod lanes;
pub mod lft;
pub mod mtx;
pub mod paths;
pub mod perfetto;
pub mod plan;
pub mod prof;
pub mod recording;
pub mod scenario;
pub mod sums;
pub mod text;
pub mod ti;
pub mod traces;
pub mod triples;

pub use catalogue::{CatalogueFile, read_catalogue};
pub use certificate::{read_certificate, write_certificate};
pub use counters::{CountersContent, CountersFile, read_counters, read_sysfs, write_counter_table};
pub use dense::read_dense;
pub use error::{FormatError, WriteError};
pub use fabric::{
    FabricFile, FabricKind, Finding, machine_of, read_fabric, read_plane, write_cables, write_dot,
    write_ibnetdiscover, write_ibsim_net,
};
pub use goal::{read_goal, rewrite_goal};
pub use gzip::{RAISE, allow, decompress, most_bytes, most_expanded};
pub use hostlist::{HostlistError, expand_hostlist};
pub use jobs::placing::{parse_adapters, parse_allocation, parse_mapping};
pub use jobs::{JobsFile, read_jobs};
pub use lanes::qos_policy::write_qos_policy;
pub use lanes::service_levels::{read_service_levels, write_service_levels};
pub use lanes::sl2vl::{read_sl2vl, write_sl2vl};
pub use lft::{LftFault, LftFaultKind, LftFile, LftTexts, Lids, lft_texts, read_lfts, write_lfts};
pub use mtx::{read_mtx, write_mtx};
pub use paths::{read_pair_paths, write_pair_paths};
pub use perfetto::write_perfetto;
pub use plan::{PlanFile, PlanSource, read_plan};
pub use recording::{Recording, TrafficKind};
pub use scenario::{
    OpensmCc, Scenario, has_jobs_of_jobs_file, read_jobs_scenario, read_opensm_cc, read_scenario,
};
pub use sums::{read_sums, write_sums};
pub use ti::{read_ti, read_ti_calls, read_ti_workload};
pub use traces::{Found, RecordingError};
pub use triples::{read_csv_triples, write_csv_triples};
