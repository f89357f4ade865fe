//! What went wrong at ports, by its counters: of two readings what was counted in between, of one since they were set back.
//!
//! Of one reading nobody knows how long it counted: it is told (`errors-since-reset`) from the thresholds on that `ibqueryerrors` has by default
//! (infiniband-diags, `error_thresholds`). What was counted between two readings happened now: a kind each, told from the first one on
//! where none is usual. A counter that has fallen was set back, and counts from 0. Full counters (the narrow ones have 4, 8 or 16 bits)
//! stand still: what they show is no count, and they are told by themselves (`errors-full`).

use netloom_model::{Fabric, Finding, LinkId, PortError, Reading};

use crate::labels::Labels;

/// So many ports are named, the worst first.
const SHOWN: usize = 3;

/// How an error is told.
struct Rule {
    /// Of what happened between two readings.
    kind: &'static str,
    what: &'static str,
    /// From so many on: between two readings, since the counter was set back.
    from: [u64; 2],
}

fn rule(error: PortError) -> Rule {
    let (kind, what, from) = match error {
        PortError::SymbolErrors => ("symbol-errors", "symbol errors", [10, 10]),
        PortError::LinkRecoveries => ("link-recovered", "links trained again", [1, 10]),
        PortError::LinkDowned => ("link-downed", "links that went down", [1, 10]),
        PortError::ReceiveErrors => ("receive-errors", "packets received spoilt", [10, 10]),
        PortError::RemotePhysicalErrors => {
            ("remote-physical-errors", "packets that were spoilt before they came here", [100, 100])
        }
        PortError::SwitchRelayErrors => ("relay-errors", "packets that could not be passed on", [100, 100]),
        PortError::TransmitDiscards => ("discards", "packets thrown away instead of sent", [100, 100]),
        PortError::TransmitConstraintErrors => {
            ("constraint-errors", "packets kept from being sent by partitions", [100, 100])
        }
        PortError::ReceiveConstraintErrors => {
            ("constraint-errors", "packets kept from being received by partitions", [100, 100])
        }
        PortError::LinkIntegrityErrors => ("link-integrity", "times too many errors on a link", [1, 10]),
        PortError::BufferOverruns => ("buffer-overruns", "packets received without credit", [1, 10]),
        PortError::Vl15Dropped => ("vl15-dropped", "management packets dropped", [100, 100]),
    };
    Rule { kind, what, from }
}

/// The kind of an error's finding between two readings, and from how many on it is told: between two readings, and of one.
pub fn told_from(error: PortError) -> (&'static str, [u64; 2]) {
    let Rule { kind, from, .. } = rule(error);
    (kind, from)
}

/// What ports say went wrong: since `before`, or, without, since their counters were set back. A finding an error.
pub fn port_errors(fabric: &Fabric, before: Option<&Reading>, after: &Reading) -> Vec<Finding> {
    let fabric = &Labels::of(fabric);
    let told = PortError::ALL.into_iter().filter_map(|error| told(fabric, before, after, error));
    let full = PortError::ALL.into_iter().filter_map(|error| full(fabric, after, error));
    told.chain(full).collect()
}

/// Counters that stand at their largest value: what they show is no count.
fn full(fabric: &Labels<'_>, after: &Reading, error: PortError) -> Option<Finding> {
    let ports = after.full_errors(error);
    let worst: Vec<String> = ports.iter().take(SHOWN).map(|&port| fabric.port(port)).collect();
    let more = if ports.len() > SHOWN { ", …" } else { "" };
    let number = match ports.len() {
        0 => return None,
        1 => "1 port".to_owned(),
        n => format!("{n} ports"),
    };
    let largest = (1_u64 << error.bits()) - 1;
    let text = format!(
        "{} is full at {largest} at {number}: there may be more, and new ones are not seen until it is set back (perfquery -R): {}{more}",
        error.name(),
        worst.join(", ")
    );
    Some(Finding { kind: "errors-full", text })
}

fn told(fabric: &Labels<'_>, before: Option<&Reading>, after: &Reading, error: PortError) -> Option<Finding> {
    let Rule { kind, what, from } = rule(error);
    let from = from[usize::from(before.is_none())];
    let counted = |&(port, value): &(LinkId, u64)| {
        let Some(before) = before else { return Some((port, value)) };
        let earlier = before.error(error, port)?;
        Some((port, if value < earlier { value } else { value - earlier }))
    };
    let full = after.full_errors(error);
    let counts = after.errors(error);
    let counts: Vec<_> = counts.into_iter().filter(|(port, _)| full.binary_search(port).is_err()).collect();
    let mut ports: Vec<(LinkId, u64)> = counts.iter().filter_map(counted).filter(|p| p.1 >= from).collect();
    ports.sort_by_key(|&(port, count)| (std::cmp::Reverse(count), port));
    let worst: Vec<String> =
        ports.iter().take(SHOWN).map(|&(port, count)| format!("{} {count}", fabric.port(port))).collect();
    let more = if ports.len() > SHOWN { ", …" } else { "" };
    let number = match ports.len() {
        0 => return None,
        1 => "1 port".to_owned(),
        n => format!("{n} ports"),
    };
    let times = if from == 1 { String::new() } else { format!(", {from} or more each") };
    let (kind, when) = match before {
        Some(_) => (kind, ""),
        None => ("errors-since-reset", " since the counters were last set back"),
    };
    let text = format!("{what} ({}) at {number}{when}{times}: {}{more}", error.name(), worst.join(", "));
    Some(Finding { kind, text })
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    /// Hosts on ports 1 and 2 of a switch: links 2 and 3 leave it.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 0xabc, 4));
        for i in 1..=2 {
            let h = b.host(HostSpec::new(format!("h{i}"), 16 * u64::from(i)));
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn reading(counts: &[(u32, PortError, u64)]) -> Reading {
        let mut reading = Reading::new(&fabric(), None);
        for &(port, error, value) in counts {
            reading.set_error(LinkId(port), error, value);
        }
        reading
    }

    fn lines(before: Option<&Reading>, after: &Reading) -> Vec<String> {
        port_errors(&fabric(), before, after).into_iter().map(|f| format!("{}: {}", f.kind, f.text)).collect()
    }

    #[test]
    fn between_two_readings_the_difference_counts() {
        use PortError::{LinkDowned, SymbolErrors, Vl15Dropped};
        let before = reading(&[(2, SymbolErrors, 500), (3, SymbolErrors, 500), (2, LinkDowned, 7)]);
        let after = reading(&[
            (2, SymbolErrors, 509),
            (3, SymbolErrors, 40),
            (2, LinkDowned, 8),
            // Not in the first reading: nobody knows what was new.
            (3, Vl15Dropped, 9999),
        ]);
        assert_eq!(
            lines(Some(&before), &after),
            [
                "symbol-errors: symbol errors (SymbolErrorCounter) at 1 port, 10 or more each: s[2] 40",
                "link-downed: links that went down (LinkDownedCounter) at 1 port: s[1] 1",
            ]
        );
        assert_eq!(lines(Some(&after), &after), [] as [String; 0]);
    }

    #[test]
    fn a_full_counter_is_no_count() {
        use PortError::{LinkIntegrityErrors, SymbolErrors};
        // 40 is more than 4 bits hold: these counters are wide, and 15 is a number like any other.
        let wide = [(2, LinkIntegrityErrors, 15), (3, LinkIntegrityErrors, 40)];
        let after = reading(&[&[(2, SymbolErrors, 65_535), (3, SymbolErrors, 40)][..], &wide].concat());
        let before = reading(&[(2, SymbolErrors, 100), (3, SymbolErrors, 10)]);
        let full = "errors-full: SymbolErrorCounter is full at 65535 at 1 port: there may be more, and new ones are not seen until it is \
                    set back (perfquery -R): s[1]";
        let told = lines(Some(&before), &after);
        assert_eq!(
            told,
            ["symbol-errors: symbol errors (SymbolErrorCounter) at 1 port, 10 or more each: s[2] 30", full]
        );
        let told = lines(None, &after);
        assert!(told[0].ends_with("10 or more each: s[2] 40"), "{told:?}");
        assert!(told[1].ends_with("s[2] 40, s[1] 15"), "{told:?}");
        assert_eq!(told[2..], [full]);
    }

    #[test]
    fn a_single_reading_is_told_as_what_it_is_the_worst_ports_first() {
        let one = |port, value| (port, PortError::TransmitDiscards, value);
        let after = reading(&[one(0, 100), one(1, 300), one(2, 99), one(3, 200)]);
        assert_eq!(
            lines(None, &after),
            [
                "errors-since-reset: packets thrown away instead of sent (PortXmitDiscards) at 3 ports since the counters were \
              last set back, 100 or more each: h2[1] 300, s[2] 200, h1[1] 100"
            ]
        );
    }
}
