//! Traffic from counters: what it must show (`make inferred`).
//!
//! Counters come from the true traffic under ftree's routes (and others, for `routings`), exact, or as real readings are: 0.5 % of
//! noise, every reading late by up to 2 % of the interval, 2 % of the values missing.
//!
//! | module | idea |
//! |---|---|
//! | [`bully`] | a barrier's small messages beside large ones |
//! | [`field`] | quartz1 with jobs on it: counters, and what is inferred from them |
//! | [`recorded`] | tables 4.2 and 4.3: errors, and how well they are estimated |
//! | [`routes`] | what counts in the end: routes from inferred traffic, under the true one |
//! | [`routings`] | counters of the same traffic under several routings |
//! | [`schemes`] | who has which lane: what switches can do, and what they can't |

mod bully;
mod field;
mod recorded;
mod routes;
mod routings;
mod schemes;

use crate::study::Family;

/// All families, in the order of the page.
pub const FAMILIES: [(&str, Family); 5] = [
    ("recorded", recorded::run),
    ("bully", bully::run),
    ("routes", routes::run),
    ("routings", routings::run),
    ("schemes", schemes::run),
];
