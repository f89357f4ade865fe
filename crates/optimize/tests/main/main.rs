//! The optimiser against exhaustive search, against other crates' arithmetic, and against its own promises.

mod addresses;
mod baselines;
mod beaten;
mod because;
mod change;
mod hose;
mod hostile;
mod islands;
mod layers;
mod levels;
mod lmc;
mod optimum;
mod shared;
mod sound;
