//! How pairs of hosts are spread over virtual lanes, in words: `5sl5vl:seed=1`.
//!
//! Source: Taffet, dissertation, sec. 4.4.1 (s SL v VL: random SL-to-VL tables, and a random level for every pair).

use netloom_model::{Fabric, LaneMap, SERVICE_LEVELS};

/// Most data lanes of a port; lane 15 is management's.
pub const MAX_LANES: u8 = 15;

/// A scheme that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "VL scheme \"{spec}\": expected SslVvl or SslVvl:seed=N, as in 5sl5vl:seed=1, with 1 to {SERVICE_LEVELS} service levels and \
     1 to {MAX_LANES} lanes"
)]
pub struct SchemeError {
    /// What was given.
    pub spec: String,
}

/// The tables that a scheme stands for on this fabric.
///
/// # Errors
/// [`SchemeError`] says how schemes are written.
pub fn lane_scheme(fabric: &Fabric, spec: &str) -> Result<LaneMap, SchemeError> {
    let (levels, lanes, seed) = parse(spec).ok_or_else(|| SchemeError { spec: spec.to_owned() })?;
    Ok(LaneMap::random(fabric, levels, lanes, seed))
}

fn parse(spec: &str) -> Option<(u8, u8, u64)> {
    let (kind, options) = spec.trim().split_once(':').unwrap_or((spec.trim(), ""));
    let (levels, lanes) = kind.strip_suffix("vl")?.split_once("sl")?;
    let (levels, lanes) = (levels.parse().ok()?, lanes.parse().ok()?);
    let seed = if options.is_empty() { 0 } else { options.strip_prefix("seed=")?.parse().ok()? };
    let sane = (1..=SERVICE_LEVELS).contains(&levels) && (1..=MAX_LANES).contains(&lanes);
    sane.then_some((levels, lanes, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_levels_lanes_and_a_seed() {
        assert_eq!(parse("5sl5vl:seed=1"), Some((5, 5, 1)));
        assert_eq!(parse("2sl4vl"), Some((2, 4, 0)));
        for bad in
            ["", "5sl", "5sl5vl:1", "0sl1vl", "17sl1vl", "1sl16vl", "5vl5sl", "-1sl2vl", "5sl5vl:seed=x"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
