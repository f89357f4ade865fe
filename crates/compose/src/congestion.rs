//! A scenario's congestion control: its numbers, and what differs from them.

use netloom_formats::scenario::{Knob, OpensmCc, Scenario};
use netloom_model::Fabric;
use netloom_sim::{
    Config, Congestion, ControlKind, Dcqcn, IbCc, Limiters, Qcn, Release, SimError, TableEntry,
};

use crate::ComposeError;

/// Bytes a second of 1 Mb/s.
const MEGABIT: f64 = 125_000.0;

/// The control that a scenario asks for, on such hardware.
///
/// # Errors
/// [`ComposeError::Misfit`] with the fluid model, or hardware whose queues never are as long as the control's setpoint.
pub(crate) fn congestion(
    fabric: &Fabric,
    scenario: &Scenario,
    config: &Config,
) -> Result<Option<Congestion>, ComposeError> {
    let Some(&(_, Knob::Word(control))) = scenario.congestion.first() else { return Ok(None) };
    let misfit = |key: &str, message: String| {
        let at = format!("congestion.{key}");
        Err(ComposeError::Misfit(scenario.origins.error(&at, format!("congestion: {key}: {message}"))))
    };
    if scenario.model == "fluid" {
        let message = "expected \"none\" with the fluid model, whose rates know no queues";
        return misfit("control", format!("{message}; found \"{control}\""));
    }
    if config.release == Release::Admitted {
        let message = "expected \"none\" with profile = \"codes\" (release = \"admitted\"), where full switches \
                       do not hold up the links before them";
        return misfit("control", format!("{message}; found \"{control}\""));
    }
    let numbers = &scenario.congestion[1..];
    let kind = match control {
        "ib-cc" => ControlKind::IbCc(ib_cc(numbers)),
        "dcqcn" => ControlKind::Dcqcn(dcqcn(numbers)),
        _ => ControlKind::Qcn(qcn(numbers)),
    };
    let mut congestion = Congestion::new(kind, scenario.seed);
    for (name, knob) in numbers {
        match (*name, knob) {
            ("limiters", Knob::Word("host")) => congestion.limiters = Limiters::Host,
            ("limit", Knob::Word(word)) => congestion.limit = *word == "true",
            ("memory_ms", &Knob::Time(ps)) => congestion.memory_ps = ps.round() as u64,
            ("measure_from_ms", &Knob::Time(ps)) => congestion.measure_from_ps = ps.round() as u64,
            _ => {}
        }
    }
    let most = config.most_waiting_bytes(fabric);
    // Where a control begins to act.
    let begins = match &congestion.control {
        ControlKind::Qcn(qcn) => vec![
            ("setpoint_bytes", qcn.setpoint_bytes),
            ("host_setpoint_bytes", qcn.host_setpoint_bytes.unwrap_or(0)),
        ],
        ControlKind::Dcqcn(numbers) => vec![("kmin_bytes", numbers.kmin_bytes)],
        ControlKind::IbCc(_) => Vec::new(),
    };
    if let Some((key, bytes)) = begins.into_iter().find(|&(_, bytes)| u64::from(bytes) > most) {
        let why = if config.head_of_line { ", with hardware.head_of_line = true" } else { "" };
        let message = format!("expected at most {most}, as no more can wait for an output{why}");
        return misfit(key, format!("{message}; found {bytes}"));
    }
    match congestion.check() {
        Ok(()) => Ok(Some(congestion)),
        Err(SimError::Config { what, expected }) => misfit(what, format!("expected {expected}")),
        Err(other) => misfit("control", other.to_string()),
    }
}

fn qcn(numbers: &[(&str, Knob)]) -> Qcn {
    let mut qcn = Qcn::default();
    for (name, knob) in numbers {
        match (*name, knob) {
            ("time_reset_ms", &Knob::Time(ps)) => qcn.time_reset_ps = ps.round() as u64,
            ("setpoint_bytes", &Knob::Count(n)) => qcn.setpoint_bytes = n as u32,
            ("host_setpoint_bytes", &Knob::Count(n)) => qcn.host_setpoint_bytes = Some(n as u32),
            ("sample_bytes", &Knob::Count(n)) => qcn.sample_bytes = n as u32,
            ("byte_reset_bytes", &Knob::Count(n)) => qcn.byte_reset_bytes = n as u32,
            ("stages", &Knob::Count(n)) => qcn.stages = n as u32,
            ("weight", &Knob::Number(x)) => qcn.weight = x,
            ("gain", &Knob::Number(x)) => qcn.gain = x,
            ("min_decrease", &Knob::Number(x)) => qcn.min_decrease = x,
            ("jitter", &Knob::Number(x)) => qcn.jitter = x,
            ("active_increase_mbps", &Knob::Number(x)) => qcn.active_increase = x * MEGABIT,
            ("hyper_increase_mbps", &Knob::Number(x)) => qcn.hyper_increase = x * MEGABIT,
            ("min_rate_mbps", &Knob::Number(x)) => qcn.min_rate = x * MEGABIT,
            _ => {}
        }
    }
    qcn
}

fn ib_cc(numbers: &[(&str, Knob)]) -> IbCc {
    let mut found = IbCc::default();
    for (name, knob) in numbers {
        match (*name, knob) {
            ("settings", Knob::Word("opa-fm")) => found = IbCc::opa_fm(),
            ("settings", Knob::Word("tuned")) => found = IbCc::tuned(),
            ("threshold", &Knob::Count(n)) => found.threshold = n as u8,
            ("packet_size", &Knob::Count(n)) => found.packet_size = n as u8,
            ("marking_rate", &Knob::Count(n)) => found.marking_rate = n as u16,
            ("victim_mask", &Knob::Mask(ports)) => found.victim_mask = ports,
            ("ccti_increase", &Knob::Count(n)) => found.ccti_increase = n as u8,
            ("ccti_timer", &Knob::Count(n)) => found.ccti_timer = n as u16,
            ("cct", Knob::Word("linear")) => found.table = IbCc::linear(128),
            ("cct", Knob::Word(_)) => found.table = IbCc::fine(),
            ("cct", Knob::Entries(entries)) => {
                let entry = |&(shift, multiplier): &(u8, u16)| TableEntry { shift, multiplier };
                found.table = entries.iter().map(entry).collect();
                found.ccti_limit = entries.len() as u16 - 1;
            }
            ("ccti_limit", &Knob::Count(n)) => found.ccti_limit = n as u16,
            ("ccti_min", &Knob::Count(n)) => found.ccti_min = n as u16,
            _ => {}
        }
    }
    found
}

fn dcqcn(numbers: &[(&str, Knob)]) -> Dcqcn {
    let mut found = Dcqcn::default();
    for (name, knob) in numbers {
        match (*name, knob) {
            ("kmin_bytes", &Knob::Count(n)) => found.kmin_bytes = n as u32,
            ("kmax_bytes", &Knob::Count(n)) => found.kmax_bytes = n as u32,
            ("pmax", &Knob::Number(x)) => found.pmax = x,
            ("cnp_interval_us", &Knob::Time(ps)) => found.cnp_interval_ps = ps.round() as u64,
            ("g", &Knob::Number(x)) => found.g = x,
            ("alpha_timer_us", &Knob::Time(ps)) => found.alpha_timer_ps = ps.round() as u64,
            ("time_reset_ms", &Knob::Time(ps)) => found.time_reset_ps = ps.round() as u64,
            ("byte_reset_bytes", &Knob::Count(n)) => found.byte_reset_bytes = n as u32,
            ("stages", &Knob::Count(n)) => found.stages = n as u32,
            ("active_increase_mbps", &Knob::Number(x)) => found.active_increase = x * MEGABIT,
            ("hyper_increase_mbps", &Knob::Number(x)) => found.hyper_increase = x * MEGABIT,
            ("min_rate_mbps", &Knob::Number(x)) => found.min_rate = x * MEGABIT,
            _ => {}
        }
    }
    found
}

/// What OpenSM would set for a control; `None` unless it is InfiniBand's and limits hosts, which no option of OpenSM
/// switches off. OpenSM's largest index is the table's last.
pub fn opensm_cc(congestion: &Congestion) -> Option<OpensmCc> {
    let ControlKind::IbCc(numbers) = &congestion.control else { return None };
    if !congestion.limit {
        return None;
    }
    let used = &numbers.table[..=usize::from(numbers.ccti_limit)];
    Some(OpensmCc {
        threshold: numbers.threshold,
        packet_size: numbers.packet_size,
        marking_rate: numbers.marking_rate,
        victim_mask: numbers.victim_mask,
        by_level: congestion.limiters == Limiters::Host,
        ccti_timer: numbers.ccti_timer,
        ccti_increase: numbers.ccti_increase,
        ccti_min: numbers.ccti_min as u8,
        table: used.iter().map(|entry| (entry.shift, entry.multiplier)).collect(),
    })
}

/// Refuses switches that listen to notifications where nobody sends any.
///
/// # Errors
/// [`ComposeError::Misfit`] with the routing's word.
pub fn snooping(scenario: &Scenario, word: &str) -> Result<(), ComposeError> {
    if let Some(("control", Knob::Word("qcn"))) = scenario.congestion.first() {
        return Ok(());
    }
    let message = format!(
        "{word}: expected a congestion control ([congestion] control = \"qcn\"), as switches listen to its notifications"
    );
    Err(ComposeError::Misfit(scenario.origins.error("routes", message)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use netloom_formats::read_scenario;
    use netloom_formats::scenario::CONGESTION;
    use netloom_testkit::cases::star;

    use super::*;

    /// Queues by output.
    fn queues() -> Config {
        Config { head_of_line: false, ..Config::infiniband() }
    }

    fn with(control: &str, overrides: &[String]) -> Result<Option<Congestion>, ComposeError> {
        let text = format!(
            "fabric = \"f\"\nseed = 4\n[congestion]\ncontrol = \"{control}\"\n[[job]]\ntrace = \"t\"\n"
        );
        let scenario = read_scenario(text.as_bytes(), "s", overrides).unwrap();
        congestion(&star(8), &scenario, &queues())
    }

    /// Every key changes a control, but those that are another's, which the reader refuses.
    #[test]
    fn every_number_that_a_scenario_may_set_changes_the_control() {
        let mut used = BTreeSet::from(["control"]);
        let kinds = [
            ControlKind::Qcn(Qcn::default()),
            ControlKind::IbCc(IbCc::gran()),
            ControlKind::Dcqcn(Dcqcn::default()),
        ];
        for kind in kinds {
            let control = kind.name();
            let standard = Congestion::new(kind, 4);
            assert_eq!(with(control, &[]).unwrap(), Some(standard.clone()));
            for name in CONGESTION.iter().filter(|name| **name != "control") {
                let value = match *name {
                    "limiters" => "host",
                    "settings" => "tuned",
                    "limit" => "false",
                    "cct" => "0:0,1:3",
                    "kmax_bytes" => "12345",
                    "victim_mask" => "0x1e",
                    "stages" | "threshold" | "packet_size" | "marking_rate" => "3",
                    _ if name.starts_with("ccti_") => "3",
                    _ if name.ends_with("_bytes") => "1234",
                    _ => "0.25",
                };
                let text = format!(
                    "fabric = \"f\"\n[congestion]\ncontrol = \"{control}\"\n[[job]]\ntrace = \"t\"\n"
                );
                let set = [format!("congestion.{name}={value}")];
                match read_scenario(text.as_bytes(), "s", &set) {
                    Ok(_) => {
                        used.insert(name);
                        assert_ne!(with(control, &set).unwrap(), Some(standard.clone()), "{name}");
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains("expected this with control = "), "{name}: {error}");
                    }
                }
            }
        }
        assert_eq!(used.len(), CONGESTION.len());
    }

    #[test]
    fn where_there_are_no_congestion_trees_a_control_is_refused() {
        let text = "fabric = \"f\"\n[congestion]\ncontrol = \"qcn\"\n[[job]]\ntrace = \"t\"\n";
        let read = |overrides: &[String]| read_scenario(text.as_bytes(), "s.toml", overrides).unwrap();
        let error = congestion(&star(8), &read(&[]), &Config::codes()).unwrap_err().to_string();
        assert!(
            error.starts_with("s.toml:3: congestion: control: expected \"none\" with profile"),
            "{error}"
        );
        let error = congestion(&star(8), &read(&["model=fluid".into()]), &queues()).unwrap_err().to_string();
        assert!(error.contains("fluid model, whose rates know no queues; found \"qcn\""), "{error}");
    }

    #[test]
    fn a_setpoint_that_no_queue_reaches_is_refused() {
        // Eight inputs with a packet of 4122 bytes each, and an output buffer.
        let text = "fabric = \"f\"\n[congestion]\ncontrol = \"qcn\"\nsetpoint_bytes = 41425\n[[job]]\ntrace = \"t\"\n";
        let scenario = read_scenario(text.as_bytes(), "s.toml", &[]).unwrap();
        let error = congestion(&star(8), &scenario, &Config::infiniband()).unwrap_err().to_string();
        let expected = "s.toml:4: congestion: setpoint_bytes: expected at most 41424, as no more can wait for an output, \
                        with hardware.head_of_line = true; found 41425";
        assert_eq!(error, expected);
        assert!(congestion(&star(8), &scenario, &queues()).is_ok());
    }
}
