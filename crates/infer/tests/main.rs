//! Inference on random fabrics, on small cases worked by hand and on recorded applications.

mod operator;
mod recorded;
mod small;
