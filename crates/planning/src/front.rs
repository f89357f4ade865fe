//! Price against slowdown: the designs than which none is both cheaper and quicker.

/// What a design is kept or dropped by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merit {
    /// Price of its network.
    pub price: f64,
    /// Slowdown of the mix.
    pub slowdown: f64,
}

/// Slowdowns that differ by less are equal: they are sums of the same numbers in another order.
const EQUAL_SLOWDOWN: f64 = 1e-9;

/// The best so far, cheapest first; slowdowns fall as prices rise.
#[derive(Clone, Debug)]
pub struct Front<T> {
    members: Vec<(Merit, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { members: Vec::new() }
    }
}

impl<T> Front<T> {
    /// Whether something is at least as cheap and as quick. The first of equals stays.
    pub fn beats(&self, merit: Merit) -> bool {
        // Of all that are no dearer, the dearest is the quickest.
        let cheaper = self.members.partition_point(|(m, _)| m.price <= merit.price);
        cheaper > 0 && self.members[cheaper - 1].0.slowdown <= merit.slowdown * (1.0 + EQUAL_SLOWDOWN)
    }

    /// Takes a member in, unless something beats it; what it beats falls out.
    pub fn offer(&mut self, merit: Merit, member: T) {
        if self.beats(merit) {
            return;
        }
        let from = self.members.partition_point(|(m, _)| m.price < merit.price);
        let beaten = self.members[from..]
            .iter()
            .take_while(|(m, _)| m.slowdown * (1.0 + EQUAL_SLOWDOWN) >= merit.slowdown)
            .count();
        self.members.splice(from..from + beaten, [(merit, member)]);
    }

    /// The members, cheapest first.
    pub fn into_members(self) -> Vec<(Merit, T)> {
        self.members
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{stream, unit};

    use super::*;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let mut random = stream(1, 0);
        let all: Vec<Merit> = (0..500)
            .map(|_| {
                let (x, y) = (unit(&mut random), unit(&mut random));
                Merit { price: (x * 40.0).round(), slowdown: 1.0 + (y * 40.0).round() }
            })
            .collect();
        let mut front = Front::default();
        for (i, &merit) in all.iter().enumerate() {
            front.offer(merit, i);
        }
        let better = |a: Merit, b: Merit| {
            a.price <= b.price && a.slowdown <= b.slowdown && (a.price < b.price || a.slowdown < b.slowdown)
        };
        let mut expected: Vec<Merit> =
            all.iter().copied().filter(|&m| !all.iter().any(|&other| better(other, m))).collect();
        expected.sort_by(|a, b| a.price.total_cmp(&b.price));
        expected.dedup();
        let found = front.into_members();
        assert_eq!(found.iter().map(|(m, _)| *m).collect::<Vec<_>>(), expected);
        // The first of equals stays.
        for (merit, i) in found {
            assert_eq!(all.iter().position(|&m| m == merit), Some(i));
        }
    }
}
