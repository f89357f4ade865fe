//! Path sampling: two decoders on random fabrics, statistics beside their formulas, the same steps in C.

mod dataplane;
mod decoders;
mod hashes;
mod in_c;
mod layouts;
mod more_layouts;
mod network;
mod statistics;
