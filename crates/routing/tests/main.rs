//! What routing promises across files: engines against real tables, loads against arithmetic.

mod dragonflies;
mod layers;
mod opensm;
mod properties;
