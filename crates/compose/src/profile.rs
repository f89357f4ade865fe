//! A scenario's hardware and software: a profile, and what differs from it.

use netloom_formats::scenario::{Knob, Scenario};
use netloom_model::Fabric;
use netloom_sim::{
    ARIES_GLOBAL_CABLE_PS, Admission, Config, Forwarding, Injection, Profile, Release, SimError, Software,
};
use netloom_topology::detect;

use crate::ComposeError;
use crate::congestion::congestion;
use crate::wiring::wiring;

/// The parameters of a scenario on its fabric.
///
/// # Errors
/// [`ComposeError::Misfit`] if they can't work together: a buffer below one packet.
pub fn profile(fabric: &Fabric, scenario: &Scenario) -> Result<Profile, ComposeError> {
    let mut profile = match scenario.profile.as_str() {
        "codes" => Profile::codes(),
        "aries" => Profile::aries(),
        _ => Profile::infiniband(),
    };
    for (name, knob) in &scenario.hardware {
        hardware(&mut profile.config, name, knob);
    }
    for (name, knob) in &scenario.software {
        software(&mut profile.software, name, knob);
    }
    if scenario.profile == "aries" && detect(fabric).shape.groups().is_some() {
        let long = Knob::Times(vec![("global".into(), ARIES_GLOBAL_CABLE_PS as f64)]);
        let refuse = |key: &str, message: String| misfit(scenario, "profile", key, &message);
        wiring(&mut profile.config, fabric, scenario.seed, "cable_delays_ns", &long, &refuse)?;
    }
    // These look at the others.
    for (name, knob) in &scenario.hardware {
        let refuse = |key: &str, message: String| misfit(scenario, name, key, &message);
        wiring(&mut profile.config, fabric, scenario.seed, name, knob, &refuse)?;
    }
    let refuse = |key: &str, message: String| Err(misfit(scenario, key, "", &message));
    // The profile's own number gives way to `release`; one that somebody chose would do nothing.
    let asked = scenario.hardware.iter().find(|(name, _)| *name == "input_buffer_bytes");
    if profile.config.release == Release::Admitted {
        if let Some((key, Knob::Count(bytes))) = asked {
            let expected = "expected \"unlimited\" with release = \"admitted\", where senders wait for room in the next \
                            output and never look at inputs; or release = \"sent\"";
            return refuse(key, format!("{expected}; found {bytes}"));
        }
        profile.config.input_buffer_bytes = None;
    }
    profile.config.congestion = congestion(fabric, scenario, &profile.config)?;
    match profile.config.check() {
        Ok(()) => Ok(profile),
        Err(SimError::Config { what, expected }) => refuse(what, format!("expected {expected}")),
        Err(other) => Err(ComposeError::Misfit(scenario.origins.error("hardware", other.to_string()))),
    }
}

/// A key of the hardware, or one in its table, that does not fit.
fn misfit(scenario: &Scenario, key: &str, inner: &str, message: &str) -> ComposeError {
    let place = format!("hardware.{key}.{inner}");
    let place = place.trim_end_matches('.');
    ComposeError::Misfit(scenario.origins.error(place, format!("hardware: {key}: {message}")))
}

/// Service levels that jobs may have, from 0 on: as many as the SL-to-VL table lists, or lanes without one; level 0 alone where pairs of hosts
/// have theirs.
pub fn service_levels(scenario: &Scenario, lanes: u8) -> u8 {
    match scenario.hardware.iter().find(|(name, _)| *name == "sl2vl") {
        Some((_, Knob::LaneOfLevel(list))) => list.len() as u8,
        Some(_) => 1,
        None => lanes,
    }
}

/// What the reader let in has the right type.
fn count(knob: &Knob) -> u64 {
    match *knob {
        Knob::Count(n) => n,
        _ => unreachable!("the reader has checked it"),
    }
}

fn time_ps(knob: &Knob) -> u64 {
    match *knob {
        Knob::Time(ps) => ps.round() as u64,
        _ => unreachable!("the reader has checked it"),
    }
}

fn hardware(config: &mut Config, name: &str, knob: &Knob) {
    match (name, knob) {
        ("packet_bytes", knob) => config.packet_bytes = count(knob) as u32,
        ("header_bytes", knob) => config.header_bytes = count(knob) as u32,
        ("forwarding", knob) => {
            let through = *knob == Knob::Word("cut-through");
            config.forwarding = if through { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        }
        ("lanes", knob) => config.lanes = count(knob) as u8,
        ("lane_weights", Knob::Weights(weights)) => config.lane_weights.clone_from(weights),
        ("input_buffer_bytes", Knob::Word(_)) => config.input_buffer_bytes = None,
        ("input_buffer_bytes", knob) => config.input_buffer_bytes = Some(count(knob) as u32),
        ("output_buffer_bytes", knob) => config.output_buffer_bytes = count(knob) as u32,
        ("host_output_buffer_bytes", knob) => config.host_output_buffer_bytes = count(knob) as u32,
        ("release", knob) => {
            config.release = if *knob == Knob::Word("sent") { Release::Sent } else { Release::Admitted };
        }
        ("head_of_line", knob) => config.head_of_line = *knob == Knob::Flag(true),
        ("admission", knob) => {
            let in_order = *knob == Knob::Word("in-order");
            config.admission = if in_order { Admission::InOrder } else { Admission::RoundRobin };
        }
        ("injection", knob) => {
            config.injection = match knob {
                Knob::Word("in-order") => Injection::InOrder,
                Knob::Word("round-robin-messages") => Injection::RoundRobinMessages,
                _ => Injection::RoundRobin,
            };
        }
        ("switch_delay_ns", knob) => config.switch_delay_ps = time_ps(knob),
        ("cable_delay_ns", knob) => config.cable_delay_ps = time_ps(knob),
        ("credit_bytes", knob) => config.credit_bytes = count(knob) as u32,
        ("window_packets", Knob::Word(_)) => config.window_packets = None,
        ("window_packets", knob) => config.window_packets = Some(count(knob) as u32),
        ("sl2vl" | "host_cable_delay_ns" | "switch_delays_ns" | "cable_delays_ns", _) => {} // in `wiring`
        (other, _) => unreachable!("{other} is no parameter of the hardware"),
    }
}

fn software(software: &mut Software, name: &str, knob: &Knob) {
    match (name, knob) {
        ("call_ns", knob) => software.call_ps = time_ps(knob),
        ("post_ns", knob) => software.post_ps = time_ps(knob),
        ("rendezvous_ns", knob) => software.rendezvous_ps = time_ps(knob),
        ("eager_bytes", Knob::Word(_)) => software.eager_bytes = u64::MAX,
        ("eager_bytes", knob) => software.eager_bytes = count(knob),
        ("control_bytes", knob) => software.control_bytes = count(knob),
        ("copy_ns_per_byte", Knob::Time(ps)) => software.copy_ps_per_byte = *ps,
        (other, _) => unreachable!("{other} is no parameter of the software"),
    }
}

#[cfg(test)]
mod tests {
    use netloom_formats::read_scenario;
    use netloom_formats::scenario::{HARDWARE, SOFTWARE};

    use netloom_testkit::cases::star;

    use super::*;

    fn with(overrides: &[String]) -> Result<Profile, ComposeError> {
        let text = "fabric = \"f\"\nprofile = \"codes\"\n[[job]]\ntrace = \"t\"\n";
        profile(&star(2), &read_scenario(text.as_bytes(), "s", overrides).unwrap())
    }

    #[test]
    fn every_parameter_that_a_scenario_may_set_changes_the_profile() {
        // Each with a value that the profile does not have, and another where that alone can't work.
        let value = |name: &str| match name {
            "forwarding" => "cut-through",
            "release" => "sent",
            "admission" | "injection" => "round-robin",
            "head_of_line" => "true",
            "lanes" => "3",
            "lane_weights" => "[7]",
            "sl2vl" => "[0]",
            "packet_bytes" => "1KiB",
            "copy_ns_per_byte" => "0.5",
            "switch_delays_ns" => "{ switch = 7 }",
            "cable_delays_ns" => "{ host-leaf = 7 }",
            _ => "100000",
        };
        let section = |table: &str, names: &[&str]| {
            for name in names {
                let value =
                    if *name == "header_bytes" || *name == "credit_bytes" { "13" } else { value(name) };
                let mut overrides = vec![format!("{table}.{name}={value}")];
                match *name {
                    "window_packets" => overrides.push("hardware.header_bytes=16".into()),
                    "release" => overrides.push("hardware.input_buffer_bytes=100000".into()),
                    "input_buffer_bytes" => overrides.push("hardware.release=sent".into()),
                    _ => {}
                }
                let changed = with(&overrides).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_ne!(changed, Profile::codes(), "{name}");
            }
        };
        section("hardware", &HARDWARE);
        section("software", &SOFTWARE);
        assert_eq!(with(&[]).unwrap(), Profile::codes());
    }

    #[test]
    fn times_are_nanoseconds() {
        let profile = with(&["hardware.switch_delay_ns=90.5".into(), "software.call_ns=2".into()]).unwrap();
        assert_eq!((profile.config.switch_delay_ps, profile.software.call_ps), (90_500, 2_000));
    }

    #[test]
    fn the_words_of_the_documented_table_are_values() {
        let profile = with(&["software.eager_bytes=unlimited".into()]).unwrap();
        assert_eq!(profile.software.eager_bytes, Profile::codes().software.eager_bytes);
    }

    #[test]
    fn room_at_inputs_that_nobody_looks_at_is_refused() {
        let error = with(&["hardware.input_buffer_bytes=64KiB".into()]).unwrap_err().to_string();
        assert!(error.contains("hardware: input_buffer_bytes: expected \"unlimited\""), "{error}");
        assert!(error.contains("or release = \"sent\"; found 65536"), "{error}");
        let own = ["hardware.release=admitted".into(), "profile=infiniband".into()];
        assert_eq!(with(&own).unwrap().config.input_buffer_bytes, None, "the profile's number gives way");
    }

    #[test]
    fn a_buffer_below_one_packet_is_refused() {
        let error = with(&["hardware.output_buffer_bytes=100".into()]).unwrap_err().to_string();
        assert!(error.starts_with("--set hardware.output_buffer_bytes=100: hardware: output_buffer_bytes: expected at least one packet"), "{error}");
    }
}
