//! How pairs of hosts are spread over virtual lanes, in words.
//!
//! | spec | |
//! |---|---|
//! | `5sl5vl`, `5sl5vl:pairs` | random SL-to-VL tables for five levels and five lanes, a random level for every pair |
//! | `5sl5vl:groups` | the same tables, a level for every pair of groups of hosts |
//! | `5sl5vl:sources` | the same tables, a level for every sender |
//! | `5sl5vl:uniform`, `5sl5vl:groups:uniform`, … | one table for all ports: level L on lane L modulo 5 |
//! | `5vl:random` | a random lane for every pair and link, which no switch can do |
//! | `5vl:galois` | lanes from a Galois field, which no switch can do either |
//!
//! Each takes `:seed=N` at its end; without it the seed is 0.
//!
//! Source: Taffet, dissertation, sec. 4.4.1 to 4.4.3; groups and sources are ours (`model::levels`).

use netloom_model::{Fabric, LaneMap, LevelGroups, Levels, SERVICE_LEVELS};

use crate::galois;
use crate::lanes::LaneScheme;

/// Most data lanes of a port; lane 15 is management's.
pub const MAX_LANES: u8 = 15;

/// A scheme that is none, or that no tables can say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// Not as schemes are written.
    #[error(
        "VL scheme \"{spec}\": expected SslVvl with :groups, :sources or :uniform, Vvl:random or 5vl:galois, and :seed=N at the end, as \
         in 5sl5vl:groups:seed=1, with 1 to {SERVICE_LEVELS} service levels and 1 to {MAX_LANES} lanes"
    )]
    Unknown {
        /// What was given.
        spec: String,
    },
    /// No SL-to-VL tables do that.
    #[error(
        "VL scheme \"{spec}\": no SL-to-VL table can say it. A switch finds a packet's lane by its service level and its ports in and out, \
         and {why}. Expected a scheme such as 5sl5vl:groups:seed=1"
    )]
    NoTables {
        /// What was given.
        spec: String,
        /// Why not.
        why: &'static str,
    },
}

/// The lanes that a scheme stands for on this fabric.
///
/// # Errors
/// [`SchemeError::Unknown`] says how schemes are written.
pub fn lane_scheme(fabric: &Fabric, spec: &str) -> Result<LaneScheme, SchemeError> {
    let (kind, seed) = parse(spec).ok_or_else(|| SchemeError::Unknown { spec: spec.to_owned() })?;
    let (levels, lanes, rule, uniform) = match kind {
        Kind::Random(lanes) => return Ok(LaneScheme::PairRandom { lanes, seed }),
        Kind::Galois => return Ok(LaneScheme::Galois { seed }),
        Kind::Tables { levels, lanes, rule, uniform } => (levels, lanes, rule, uniform),
    };
    let random = LaneMap::random(fabric, levels, lanes, seed);
    let tables = match (uniform, random.levels()) {
        (true, Some(of_pairs)) => LaneMap::uniform(fabric, lanes).with_levels(of_pairs.clone()),
        _ => random,
    };
    let groups = match rule {
        Rule::Pairs => return Ok(LaneScheme::Tables(tables)),
        Rule::Groups => LevelGroups::across_leaves(fabric, levels, seed),
        Rule::Sources => LevelGroups::by_source(fabric, levels, seed),
    };
    Ok(LaneScheme::Tables(tables.with_levels(Levels::Groups(groups))))
}

/// The SL-to-VL tables of a scheme, for a fabric to have.
///
/// # Errors
/// As [`lane_scheme`], and [`SchemeError::NoTables`] with the reason.
pub fn lane_tables(fabric: &Fabric, spec: &str) -> Result<LaneMap, SchemeError> {
    let why = match lane_scheme(fabric, spec)? {
        LaneScheme::Tables(map) => return Ok(map),
        LaneScheme::One => "everything has one lane",
        LaneScheme::PairRandom { .. } => {
            "here pairs of hosts with the same level and ports have different lanes (Taffet, dissertation, sec. 4.4.2)"
        }
        LaneScheme::Galois { .. } => {
            "here every sender to a destination has lanes of its own: that takes as many levels as a leaf has hosts, for every \
             destination others, and there are 16 (Taffet, dissertation, sec. 4.4.3)"
        }
    };
    Err(SchemeError::NoTables { spec: spec.to_owned(), why })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Tables {
        levels: u8,
        lanes: u8,
        /// Who has which level.
        rule: Rule,
        /// One table for all ports.
        uniform: bool,
    },
    Random(u8),
    Galois,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Pairs,
    Groups,
    Sources,
}

fn parse(spec: &str) -> Option<(Kind, u64)> {
    let mut words = spec.trim().split(':').peekable();
    let size = words.next()?.strip_suffix("vl")?;
    let rule = words.next_if(|word| ["pairs", "groups", "sources", "random", "galois"].contains(word));
    let uniform = words.next_if_eq(&"uniform").is_some();
    let seed = words.next().map_or(Some(0), |word| word.strip_prefix("seed=")?.parse().ok())?;
    if words.next().is_some() {
        return None;
    }
    let lanes = |text: &str| text.parse().ok().filter(|lanes| (1..=MAX_LANES).contains(lanes));
    let kind = match (size.split_once("sl"), rule) {
        (Some((levels, of)), rule) => {
            let levels = levels.parse().ok().filter(|levels| (1..=SERVICE_LEVELS).contains(levels))?;
            let rule = match rule {
                None | Some("pairs") => Rule::Pairs,
                Some("groups") => Rule::Groups,
                Some("sources") => Rule::Sources,
                Some(_) => return None,
            };
            Kind::Tables { levels, lanes: lanes(of)?, rule, uniform }
        }
        (None, Some("random")) if !uniform => Kind::Random(lanes(size)?),
        (None, Some("galois")) if !uniform && lanes(size)? == galois::LANES => Kind::Galois,
        (None, _) => return None,
    };
    Some((kind, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_levels_lanes_a_rule_and_a_seed() {
        let tables = |levels, lanes, rule| Kind::Tables { levels, lanes, rule, uniform: false };
        assert_eq!(parse("5sl5vl:seed=1"), Some((tables(5, 5, Rule::Pairs), 1)));
        assert_eq!(parse("5sl5vl:pairs:seed=1"), parse("5sl5vl:seed=1"));
        assert_eq!(parse("2sl4vl"), Some((tables(2, 4, Rule::Pairs), 0)));
        assert_eq!(parse("2sl4vl:groups:seed=3"), Some((tables(2, 4, Rule::Groups), 3)));
        assert_eq!(parse("16sl15vl:sources"), Some((tables(16, 15, Rule::Sources), 0)));
        let uniform = Kind::Tables { levels: 4, lanes: 4, rule: Rule::Groups, uniform: true };
        assert_eq!(parse("4sl4vl:groups:uniform"), Some((uniform, 0)));
        assert_eq!(parse("4vl:random:seed=9"), Some((Kind::Random(4), 9)));
        assert_eq!(parse("5vl:galois"), Some((Kind::Galois, 0)));
        let bad = "5sl|5sl5vl:1|0sl1vl|17sl1vl|1sl16vl|5vl5sl|-1sl2vl|5sl5vl:seed=x|5vl|5vl:groups|5sl5vl:random|4vl:galois|16vl:random\
                   |5sl5vl:seed=1:groups|5sl5vl:groups:seed=1:|5vl:galois:5|5sl5vl:uniform:groups|5vl:random:uniform";
        for bad in bad.split('|').chain([""]) {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
