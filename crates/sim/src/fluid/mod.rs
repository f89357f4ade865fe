//! The fluid model: messages as flows with max-min fair rates, for quick prediction.
//!
//! The same fabric, routes, hardware and programs as for packets, and the same times; but a message is a flow over its way, all flows
//! have max-min fair rates ([`fair`]), and rates change only when a flow starts or ends. What is between two such times needs no
//! event, so a run takes milliseconds where packets take seconds.
//!
//! | module | idea |
//! |---|---|
//! | `network` | what there is: hosts, messages, streams |
//! | `engine` | what happens to them, event by event |
//! | [`fair`] | max-min fair rates, mended where flows come and go |
//! | `stream` | what a host sends to one address |
//! | `sending` | streams open and end; settling rates |
//! | `ways` | what a flow uses, and delays |
//! | [`spread`] | links that are alike where traffic spreads evenly |
//! | `queues` | how long short messages wait behind flows |
//! | `short` | messages of one packet |
//!
//! What is approximate: docs/methods/fluid.md, with its error against packets.

mod engine;
mod fair;
mod network;
mod queues;
mod run;
mod sending;
mod short;
mod spread;
mod stream;
mod ways;

pub use network::Fluid;
pub(crate) use run::flows;
