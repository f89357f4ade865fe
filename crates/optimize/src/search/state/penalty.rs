//! The penalty of a link's load: steep, smooth and never flat.

/// `exp(e)`, but rising also where `exp` would vanish or overflow.
#[inline]
pub(crate) fn penalty(e: f64) -> f64 {
    const LOW: f64 = -200.0;
    const HIGH: f64 = 500.0;
    if e < LOW {
        LOW.exp() * (LOW / e)
    } else if e > HIGH {
        HIGH.exp() * (e - HIGH + 1.0)
    } else {
        e.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::penalty;

    #[test]
    fn penalty_rises_everywhere() {
        let points = [-1e9, -1e4, -300.0, -200.1, -200.0, -199.0, -1.0, 0.0, 1.0, 499.0, 500.0, 500.1, 1e4];
        for pair in points.windows(2) {
            assert!(penalty(pair[0]) < penalty(pair[1]), "{pair:?}");
        }
        assert_eq!(penalty(0.0), 1.0);
    }
}
