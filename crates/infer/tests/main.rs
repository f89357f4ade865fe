//! Inference on random fabrics, on what is solved to the end, on small cases worked by hand, on patterns of whole applications, on several routings, on few flows without a grid, in bases and on recorded applications.

mod bases;
mod collective;
mod curves;
mod exact;
mod fewest;
mod operator;
mod patterns;
mod range;
mod recorded;
mod small;
mod span;
mod split;
mod trust;
mod turns;
