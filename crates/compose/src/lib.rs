//! A scenario put together: fabric, routes, jobs on their hosts and their programs become a run.
//!
//! No file is opened here: who calls gives a [`Reader`].
//!
//! | module | idea |
//! |---|---|
//! | [`sampled`] | paths sampled inside the packets of a run |
//! | [`scene`] | jobs on hosts, each rank with its script; a run's setup |
//! | [`profile`](mod@profile) | hardware and software: a profile, and what differs |
//! | [`by_way`] | routings with an address a way |
//! | `congestion` | congestion control: its numbers, and what differs; what OpenSM would set |
//! | [`program`] | patterns and traces as scripts |
//! | `offered` | offered load: how often, and what is measured when |
//! | [`routing`] | words become routes or schemes; nothing unsound is run |
//! | [`gate`] | what is handed out cannot deadlock |
//! | [`portfolio`] | what was found is never worse than what anybody can have |
//! | [`reader`] | files, through whoever calls |
//! | [`traffic`] | what the jobs send, in all or message by message |
//! | [`judged`] | candidates simulated, the quickest taken |
//! | [`on_lanes`] | shortest ways searched and put on lanes, where a fabric is no tree |
//! | [`optimized`](mod@optimized) | routes optimised for that |
//! | `wiring` | delays and lanes of single cables, switches and ports |
//! | `steered` | routings that take detours: what they need of fabric and hardware |
//! | [`error`] | what does not fit together |

mod asked;
pub mod by_way;
mod congestion;
pub mod error;
pub mod gate;
pub mod judged;
mod offered;
pub mod on_lanes;
pub mod optimized;
pub mod portfolio;
pub mod profile;
pub mod program;
pub mod reader;
pub mod routing;
pub mod sampled;
pub mod scene;
mod steered;
pub mod traffic;
mod wiring;

pub use by_way::ByWay;
pub use congestion::{opensm_cc, snooping};
pub use error::ComposeError;
pub use gate::{Passed, Wanted, fit, pass, pass_mended};
pub use judged::{Asked, Candidate, Choice, choose};
pub use on_lanes::{Kept, OnLanes, search_on_lanes};
pub use optimized::optimized;
pub use portfolio::{Best, Found, Measure, Portfolio};
pub use reader::Reader;
pub use routing::{Routing, check_sound, check_sound_on, oblivious, suited, tables};
pub use sampled::{Marking, Method, Sampled, Sampler, Sampling};
pub use scene::{Scene, SceneJob};
pub use steered::{steering, upward};
