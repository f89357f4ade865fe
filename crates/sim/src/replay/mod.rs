//! Programs of ranks, one step at a time: what MPI codes do to a network.
//!
//! | module | what |
//! |---|---|
//! | `op` | what a rank can do |
//! | `script` | programs of it |
//! | `job` | jobs |
//! | `log` | what ranks did in a window of time |
//! | `matching` | receives and messages find each other |
//! | `cycle` | what a rank does again and again |
//! | `offered` | offered load, and what is accepted of it |
//! | `recorded` | recorded runs as scripts |
//! | `sends` | what ranks send, without playing |
//! | `spent` | what ranks spend their time on |
//! | `tasks` | ranks whose program is a graph of tasks |
//! | `player` | the ranks of all jobs on their hosts |

mod coupled;
mod cycle;
mod job;
mod log;
mod matching;
mod offered;
mod op;
mod player;
mod recorded;
mod script;
mod sends;
mod spent;
mod tasks;

pub use job::{Job, JobTimes};
pub use log::RankSpan;
pub use netloom_traffic::collective::{Algorithm, Algorithms, Collective, Kind, algorithms_of};
pub use offered::{Offered, OpenLoop};
pub use op::Op;
pub use player::{Envelope, Player, SentBy, Sight, Software};
pub use recorded::Replay;
pub use script::{Cycle, Script};
pub use sends::sends;
pub use spent::Spent;
pub use tasks::Tasks;
