//! Two readings make an interval.
//!
//! Invariants: a value is [`Quality::GOOD`] only where both readings have it and the counter neither stands at its largest value nor has
//! fallen; nothing is guessed, so what is missing in either reading is missing in the interval.
//!
//! Counters of InfiniBand stop at their largest value (vol. 1, sec. 16.1.3.5) and are set back by whoever reads them with reset: one that
//! has fallen was set back in between, and holds what was counted since.

use netloom_model::{Column, Fabric, Interval, LinkId, Quality, Quantity, Reading};

/// Why two readings make no interval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadingError {
    /// A reading of other cables.
    #[error("the {which} reading is of another fabric: expected one of this fabric's ports")]
    Fabric {
        /// `first` or `second`.
        which: &'static str,
    },
    /// The second is older than the first.
    #[error("the second reading is {} s older than the first: expected times that rise", (*first_ns - *second_ns) as f64 * 1e-9)]
    Order {
        /// Time of the first.
        first_ns: u64,
        /// Time of the second.
        second_ns: u64,
    },
    /// No counter is in both.
    #[error("the two readings have no counter in common: expected the same counters of the same ports")]
    Nothing,
}

/// What was counted from one reading to the next. Where a reading has no time, the interval's ends are both 0.
///
/// # Errors
/// [`ReadingError`] if the readings are of other fabrics, run backwards, or share nothing.
pub fn span(fabric: &Fabric, before: &Reading, after: &Reading) -> Result<Interval, ReadingError> {
    for (reading, which) in [(before, "first"), (after, "second")] {
        if !reading.fits(fabric) {
            return Err(ReadingError::Fabric { which });
        }
    }
    let (start_ns, end_ns) = match (before.time_ns(), after.time_ns()) {
        (Some(first_ns), Some(second_ns)) if second_ns < first_ns => {
            return Err(ReadingError::Order { first_ns, second_ns });
        }
        (Some(start_ns), Some(end_ns)) => (start_ns, end_ns),
        _ => (0, 0),
    };
    let mut columns: Vec<Column> = Vec::new();
    for new in after.columns() {
        let old = before.column(new.quantity, new.lane);
        columns.push(difference(fabric, old, new));
    }
    let read = |c: &Column| fabric.links().any(|l| c.quality(l).is_read());
    if !columns.iter().any(read) {
        return Err(ReadingError::Nothing);
    }
    // What the second reading lacks altogether is missing, not absent: the interval must not look complete.
    for old in before.columns().iter().filter(|c| after.column(c.quantity, c.lane).is_none()) {
        let nothing = Column {
            values: vec![0; old.values.len()],
            quality: vec![Quality::MISSING; old.values.len()],
            ..*old
        };
        columns.push(nothing);
    }
    Ok(Interval { start_ns, end_ns, routes: 0, columns: tidy(columns) })
}

/// How many counters of data and packets have fallen from one reading to the next, and how many have changed at all.
pub fn fallen(fabric: &Fabric, before: &Reading, after: &Reading) -> (usize, usize) {
    let (mut fallen, mut changed) = (0, 0);
    for new in after.columns().iter().filter(|column| column.quantity != Quantity::WaitTicks) {
        let Some(old) = before.column(new.quantity, new.lane) else { continue };
        let read = |&link: &LinkId| new.quality(link).is_read() && old.quality(link).is_read();
        for link in fabric.links().filter(read) {
            let (first, last) = (old.values[link.index()], new.values[link.index()]);
            fallen += usize::from(last < first);
            changed += usize::from(last != first);
        }
    }
    (fallen, changed)
}

/// What was counted since the counters were last set back, whenever that was.
pub fn since_reset(reading: &Reading) -> Interval {
    let end_ns = 0; // When they were set back is not known, and so is how long ago.
    Interval { start_ns: 0, end_ns, routes: 0, columns: tidy(reading.columns().to_vec()) }
}

fn difference(fabric: &Fabric, old: Option<&Column>, new: &Column) -> Column {
    let mut values = vec![0; fabric.link_count()];
    let mut quality = vec![Quality::MISSING; fabric.link_count()];
    for link in fabric.links() {
        let here = new.quality(link);
        let there = old.map_or(Quality::MISSING, |c| c.quality(link));
        if !(here.is_read() && there.is_read()) {
            let unsupported = here == Quality::UNSUPPORTED || there == Quality::UNSUPPORTED;
            quality[link.index()] = if unsupported { Quality::UNSUPPORTED } else { Quality::MISSING };
            continue;
        }
        let (last, first) = (new.values[link.index()], old.map_or(0, |c| c.values[link.index()]));
        let (value, doubt) = match last.checked_sub(first) {
            Some(more) => (more, Quality::GOOD),
            None => (last, Quality::RESET),
        };
        // A counter that stood at its largest value before and was then set back tells what came since.
        let doubts = if last < first { here } else { here.with(there) };
        values[link.index()] = value;
        quality[link.index()] = doubt.with(doubts);
    }
    Column { quantity: new.quantity, lane: new.lane, values, quality }
}

/// Columns in order: the whole link first, then lanes up to the highest that carried something.
fn tidy(mut columns: Vec<Column>) -> Vec<Column> {
    let idle = |c: &Column| c.values.iter().all(|&v| v == 0);
    let highest = columns.iter().filter(|c| !idle(c)).filter_map(|c| c.lane).max();
    columns.retain(|c| c.lane.is_none_or(|lane| Some(lane) <= highest));
    let place = |q: Quantity| Quantity::ALL.iter().position(|&other| other == q);
    columns.sort_by_key(|c| (c.lane, place(c.quantity)));
    columns
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    /// Hosts a and b on a switch: links 0 and 1 leave the hosts, 2 and 3 the switch.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new();
        let switch = builder.switch(SwitchSpec::new("s", 1, 2));
        for (port, name) in [(1, "a"), (2, "b")] {
            let host = builder.host(HostSpec::new(name, 1 + u64::from(port)));
            builder.cable(End::Host(host), End::Switch(switch, port), 1e9);
        }
        builder.build().unwrap()
    }

    fn reading(time_ns: Option<u64>, bytes: &[(u32, u64, Quality)]) -> Reading {
        let fabric = fabric();
        let mut reading = Reading::new(&fabric, time_ns);
        for &(port, value, quality) in bytes {
            reading.set(&fabric, LinkId(port), (Quantity::XmitBytes, None), value, quality);
        }
        reading
    }

    #[test]
    fn every_value_is_a_difference_with_its_quality() {
        let (good, full) = (Quality::GOOD, Quality::SATURATED);
        let before = reading(Some(5), &[(0, 100, good), (1, 90, good), (2, 7, good)]);
        let after = reading(Some(9), &[(0, 130, good), (1, 40, good), (2, 99, full), (3, 1, good)]);
        let span = span(&fabric(), &before, &after).unwrap();
        assert_eq!((span.start_ns, span.end_ns), (5, 9));
        let sent = span.column(Quantity::XmitBytes, None).unwrap();
        assert_eq!(sent.values, [30, 40, 92, 0]);
        assert_eq!(sent.quality, [good, Quality::RESET, full, Quality::MISSING]);
    }

    #[test]
    fn counters_that_have_fallen_are_counted_among_those_that_changed() {
        let good = Quality::GOOD;
        let before = reading(None, &[(0, 100, good), (1, 90, good), (2, 7, good)]);
        let after = reading(None, &[(0, 130, good), (1, 40, good), (2, 7, good), (3, 1, good)]);
        assert_eq!(fallen(&fabric(), &before, &after), (1, 2));
        assert_eq!(fallen(&fabric(), &after, &before), (1, 2));
    }

    #[test]
    fn a_full_counter_that_was_set_back_tells_what_came_since() {
        let before = reading(None, &[(0, 100, Quality::SATURATED)]);
        let after = reading(None, &[(0, 30, Quality::GOOD)]);
        let span = span(&fabric(), &before, &after).unwrap();
        assert_eq!(span.columns[0].values[0], 30);
        assert_eq!(span.columns[0].quality[0], Quality::RESET);
        assert_eq!((span.start_ns, span.end_ns), (0, 0));
    }

    #[test]
    fn readings_that_make_no_interval_are_refused() {
        let one = |time| reading(time, &[(0, 1, Quality::GOOD)]);
        let backwards = span(&fabric(), &one(Some(9)), &one(Some(4))).unwrap_err();
        assert_eq!(backwards, ReadingError::Order { first_ns: 9, second_ns: 4 });
        let other = reading(None, &[(1, 1, Quality::GOOD)]);
        assert_eq!(span(&fabric(), &one(None), &other), Err(ReadingError::Nothing));
        let elsewhere = netloom_topology::generate("two-level:leaves=2,hosts=2,spines=1").unwrap();
        let stranger = Reading::new(&elsewhere, None);
        assert_eq!(span(&fabric(), &one(None), &stranger), Err(ReadingError::Fabric { which: "second" }));
    }

    #[test]
    fn lanes_that_nobody_uses_are_left_out() {
        let fabric = fabric();
        let mut before = Reading::new(&fabric, None);
        let mut after = before.clone();
        for lane in 0..16 {
            let what = (Quantity::RcvBytes, Some(lane));
            before.set(&fabric, LinkId(0), what, 10, Quality::GOOD);
            after.set(&fabric, LinkId(0), what, if lane == 2 { 15 } else { 10 }, Quality::GOOD);
        }
        let span = span(&fabric, &before, &after).unwrap();
        let lanes: Vec<_> = span.columns.iter().map(|c| c.lane).collect();
        assert_eq!(lanes, [Some(0), Some(1), Some(2)]);
    }
}
