//! What switches and cables cost and draw, and which of them a plan buys.
//!
//! A price is a fixed part and one a port or a metre. Nothing is built in: prices age, so every catalogue has a date and
//! a source, which the reader of catalogues insists on.

use crate::{Design, PlanError};

/// An amount with a part that grows: `fixed + each * n`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Whatever `n` is.
    pub fixed: f64,
    /// A port, or a metre.
    pub each: f64,
}

impl Rate {
    /// The amount for `n` ports or metres.
    pub fn of(&self, n: f64) -> f64 {
        self.fixed + self.each * n
    }
}

/// A switch on offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Its ports; `None` if it is sold with any number.
    pub ports: Option<u32>,
    /// Speed of a port, Gb/s.
    pub speed_gbps: f64,
    /// Price by ports.
    pub price: Rate,
    /// Power by ports, W.
    pub power_w: Rate,
}

/// A kind of cable on offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// `copper`, `optical`, ….
    pub kind: String,
    /// Its speed, Gb/s.
    pub speed_gbps: f64,
    /// Price by metres.
    pub price: Rate,
    /// Power of both ends, W.
    pub power_w: f64,
    /// The longest, m.
    pub most_m: f64,
}

/// Switches and cables on offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// The switches.
    pub switches: Vec<Switch>,
    /// The cables.
    pub cables: Vec<Cable>,
}

/// The cables of one level, as the machine room asks for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The kind; `None` for the cheapest that is long enough.
    pub kind: Option<String>,
    /// Length, m.
    pub length_m: f64,
}

/// The cable that is bought for a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Bought {
    /// Its kind.
    pub kind: String,
    /// Its length, m.
    pub length_m: f64,
    /// Price of one.
    pub price: f64,
    /// Power of one, W.
    pub power_w: f64,
}

/// The prices of one plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// Speed of all ports, Gb/s.
    pub speed_gbps: f64,
    /// Price of a switch.
    pub switch: f64,
    /// Power of a switch, W.
    pub switch_power_w: f64,
    /// The cables by level: of hosts, of leaves, of spines.
    pub cables: Vec<Bought>,
}

/// Switches of so many ports, at their price.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Ports of a switch.
    pub radix: u32,
    /// What it and its cables cost.
    pub prices: Prices,
}

impl Catalogue {
    /// Numbers of ports of the switches that have a fixed number, of this speed if one is given, rising: the even ones, and
    /// the odd ones, of which no tree without taper can be made.
    pub fn radices(&self, speed_gbps: Option<f64>) -> (Vec<u32>, Vec<u32>) {
        let sold = self.switches.iter().filter(|s| speed_gbps.is_none_or(|speed| s.speed_gbps == speed));
        let mut found: Vec<u32> = sold.filter_map(|s| s.ports).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().partition(|ports| ports % 2 == 0)
    }

    /// The prices of switches with `radix` ports and of cables for these runs, by level.
    ///
    /// # Errors
    /// [`PlanError`]: no switch with so many ports, no cable for a level, two speeds and none chosen, a price below 0.
    pub fn prices(&self, radix: u32, speed_gbps: Option<f64>, runs: &[Run]) -> Result<Prices, PlanError> {
        let speed = match speed_gbps {
            Some(speed) => speed,
            None => self.only_speed()?,
        };
        let ports = f64::from(radix);
        let fits = |s: &&Switch| s.speed_gbps == speed && s.ports.is_none_or(|n| n == radix);
        let dearer = |a: &&Switch, b: &&Switch| a.price.of(ports).total_cmp(&b.price.of(ports));
        let Some(switch) = self.switches.iter().filter(fits).min_by(dearer) else {
            let mut sold: Vec<u32> = self.switches.iter().filter_map(|s| s.ports).collect();
            sold.sort_unstable();
            sold.dedup();
            return Err(PlanError::NoSwitch { radix, speed_gbps: speed, sold });
        };
        let cables = runs.iter().enumerate().map(|(level, run)| self.cable(level, run, speed));
        let prices = Prices {
            speed_gbps: speed,
            switch: switch.price.of(ports),
            switch_power_w: switch.power_w.of(ports),
            cables: cables.collect::<Result<_, _>>()?,
        };
        match prices.switch >= 0.0 && prices.switch_power_w >= 0.0 {
            true => Ok(prices),
            false => Err(PlanError::NegativeSwitch { radix, price: prices.switch }),
        }
    }

    fn only_speed(&self) -> Result<f64, PlanError> {
        let mut speeds: Vec<f64> = self.switches.iter().map(|s| s.speed_gbps).collect();
        speeds.extend(self.cables.iter().map(|c| c.speed_gbps));
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        match speeds[..] {
            [only] => Ok(only),
            _ => Err(PlanError::Speeds { speeds }),
        }
    }

    fn cable(&self, level: usize, run: &Run, speed: f64) -> Result<Bought, PlanError> {
        let fits = |c: &&Cable| {
            c.speed_gbps == speed
                && c.most_m >= run.length_m
                && run.kind.as_ref().is_none_or(|kind| *kind == c.kind)
        };
        let dearer = |a: &&Cable, b: &&Cable| a.price.of(run.length_m).total_cmp(&b.price.of(run.length_m));
        let cable = self.cables.iter().filter(fits).min_by(dearer);
        let cable = cable.ok_or_else(|| PlanError::NoCable {
            level,
            kind: run.kind.clone(),
            length_m: run.length_m,
            speed_gbps: speed,
        })?;
        Ok(Bought {
            kind: cable.kind.clone(),
            length_m: run.length_m,
            price: cable.price.of(run.length_m),
            power_w: cable.power_w,
        })
    }
}

impl Prices {
    /// Price and power (W) of a design, with cables for `hosts` hosts only.
    pub fn of(&self, design: &Design, hosts: u32) -> (f64, f64) {
        let switches = design.switches().iter().sum::<u64>() as f64;
        let mut price = switches * self.switch;
        let mut power_w = switches * self.switch_power_w;
        let [_, leaves, spines] = design.cables();
        for (cable, count) in self.cables.iter().zip([u64::from(hosts), leaves, spines]) {
            price += count as f64 * cable.price;
            power_w += count as f64 * cable.power_w;
        }
        (price, power_w)
    }
}
