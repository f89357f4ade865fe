//! A scenario's congestion control: the standard's numbers, and what differs from them.

use netloom_formats::scenario::{Knob, Scenario};
use netloom_model::Fabric;
use netloom_sim::{Config, Congestion, ControlKind, Limiters, Qcn, Release, SimError};

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
    let mut qcn = Qcn::default();
    let mut congestion = Congestion::new(ControlKind::Qcn(Qcn::default()), scenario.seed);
    for (name, knob) in &scenario.congestion[1..] {
        match (*name, knob) {
            ("limiters", Knob::Word("host")) => congestion.limiters = Limiters::Host,
            ("limiters", _) => congestion.limiters = Limiters::Destination,
            ("limit", Knob::Word(word)) => congestion.limit = *word == "true",
            ("memory_ms", &Knob::Time(ps)) => congestion.memory_ps = ps.round() as u64,
            ("measure_from_ms", &Knob::Time(ps)) => congestion.measure_from_ps = ps.round() as u64,
            ("time_reset_ms", &Knob::Time(ps)) => qcn.time_reset_ps = ps.round() as u64,
            ("setpoint_bytes", &Knob::Count(n)) => qcn.setpoint_bytes = n as u32,
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
            (other, _) => unreachable!("{other} is no number of QCN"),
        }
    }
    // An output sees what has been sorted to it: of an input whose first packet holds up the others that packet alone.
    let of_input = match (config.head_of_line, config.input_buffer_bytes) {
        (true, _) | (false, None) => config.wire_bytes(),
        (false, Some(bytes)) => bytes,
    };
    let output = config.output_buffer_bytes.max(config.host_output_buffer_bytes);
    // As many inputs as the switch with most cables has.
    let inputs = fabric.switches().map(|switch| fabric.switch_links(switch).len()).max().unwrap_or(0) as u64;
    let most = (inputs * u64::from(of_input) + u64::from(output)) * u64::from(config.lanes);
    if u64::from(qcn.setpoint_bytes) > most {
        let why = if config.head_of_line { ", with hardware.head_of_line = true" } else { "" };
        let message = format!("expected at most {most}, as no more can wait for an output{why}");
        return misfit("setpoint_bytes", format!("{message}; found {}", qcn.setpoint_bytes));
    }
    congestion.control = ControlKind::Qcn(qcn);
    match congestion.check() {
        Ok(()) => Ok(Some(congestion)),
        Err(SimError::Config { what, expected }) => misfit(what, format!("expected {expected}")),
        Err(other) => misfit("control", other.to_string()),
    }
}

/// Refuses switches that listen to notifications where nobody sends any.
///
/// # Errors
/// [`ComposeError::Misfit`] with the routing's word.
pub fn snooping(scenario: &Scenario, word: &str) -> Result<(), ComposeError> {
    if !scenario.congestion.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{word}: expected a congestion control ([congestion] control = \"qcn\"), as switches listen to its notifications"
    );
    Err(ComposeError::Misfit(scenario.origins.error("routes", message)))
}

#[cfg(test)]
mod tests {
    use netloom_formats::read_scenario;
    use netloom_formats::scenario::CONGESTION;
    use netloom_testkit::cases::star;

    use super::*;

    /// Queues by output.
    fn queues() -> Config {
        Config { head_of_line: false, ..Config::infiniband() }
    }

    fn with(overrides: &[String]) -> Result<Option<Congestion>, ComposeError> {
        let text = "fabric = \"f\"\nseed = 4\n[congestion]\ncontrol = \"qcn\"\n[[job]]\ntrace = \"t\"\n";
        let scenario = read_scenario(text.as_bytes(), "s", overrides).unwrap();
        congestion(&star(8), &scenario, &queues())
    }

    #[test]
    fn every_number_that_a_scenario_may_set_changes_the_control() {
        let standard = Congestion::new(ControlKind::Qcn(Qcn::default()), 4);
        assert_eq!(with(&[]).unwrap(), Some(standard.clone()));
        for name in CONGESTION.iter().filter(|name| **name != "control") {
            let value = match *name {
                "limiters" => "host",
                "limit" => "false",
                "stages" => "3",
                _ if name.ends_with("_bytes") => "1234",
                _ => "0.25",
            };
            let changed = with(&[format!("congestion.{name}={value}")]).unwrap();
            assert_ne!(changed, Some(standard.clone()), "{name}");
        }
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
