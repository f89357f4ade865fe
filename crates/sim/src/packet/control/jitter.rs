//! Draws of a control: each belongs to an output or a host and has a number, so none depends on what happens elsewhere.

use netloom_model::rng::{stream, unit};

/// The draws of one output or host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter {
    seed: u64,
    of: u64,
    width: f64,
}

impl Jitter {
    /// Draws of who is called `of` (an output's link; a flow's number from the links on), from `1 - width` to `1 + width`.
    pub fn new(seed: u64, of: u64, width: f64) -> Self {
        Self { seed, of, width }
    }

    /// Draw `number`.
    pub fn factor(&mut self, number: u32) -> f64 {
        if self.width == 0.0 {
            return 1.0;
        }
        let id = self.of << 32 | u64::from(number);
        1.0 + self.width * (2.0 * unit(&mut stream(self.seed, id)) - 1.0)
    }
}
