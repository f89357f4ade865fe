//! Routings that take detours: what they need of fabric and hardware, refused before the run where that is not there.
//!
//! Lanes go by slot of a packet's way. A scenario that says nothing of lanes gets as many as there are slots; one that asks for fewer is
//! refused, or, with `allow_credit_loops`, has the last slots share a lane and runs until packets wait for each other. Service levels
//! and SL-to-VL tables have no say. Responses get lanes of their own behind these, unless the scenario has too few; then they share.

use netloom_formats::scenario::Scenario;
use netloom_routing::{Engine, RoutingError, Steering};
use netloom_sim::{Model, Modes, Profile, Scheme, SteerOptions, Steered};
use netloom_topology::Shape;

use crate::ComposeError;

/// Refuses a routing that takes detours where it can't run.
///
/// # Errors
/// [`ComposeError`], with the routing's word: the fluid model, no dragonfly, no third group, fewer lanes than slots.
pub fn steering(
    (scenario, profile, modes): (&Scenario, &Profile, &[&Modes]),
    word: &str,
    options: SteerOptions,
    model: Model,
    steering: Result<&Steering, RoutingError>,
) -> Result<(), ComposeError> {
    let scheme = options.scheme;
    let refuse = |key: &str, message: String| {
        ComposeError::Misfit(scenario.origins.error(key, format!("{word}: {message}")))
    };
    if model == Model::Fluid {
        return Err(refuse("model", "expected model = \"packet\", as flows take no detours".into()));
    }
    let checked = steering.and_then(|found| match scheme {
        Steered::Minimal => Ok(found),
        _ => found.check_detours().map(|()| found),
    });
    let steering = checked.map_err(|error| refuse("routes", error.to_string()))?;
    if asked(scenario, "sl2vl") {
        let message = "expected no hardware.sl2vl: its lanes go by slot of the way".into();
        return Err(refuse("hardware.sl2vl", message));
    }
    if profile.config.window_packets.is_none()
        && (options.by_message.is_some() || modes.iter().any(|it| it.chooses().is_some()))
    {
        let message = "expected adapters that count (profile = \"aries\", or hardware.window_packets): aware looks at \
                       what they have counted";
        return Err(refuse("profile", message.into()));
    }
    let (lanes, slots) = (profile.config.lanes, scheme.slots(steering.most_crossings()));
    if asked(scenario, "lanes") && usize::from(lanes) < slots.len() && !scenario.allow_credit_loops {
        let message = format!(
            "lanes: expected at least {}, one a slot of the way ({}), found {lanes} (allow_credit_loops = true runs \
             them until packets wait for each other)",
            slots.len(),
            slots.join(" ")
        );
        return Err(refuse("hardware.lanes", message));
    }
    Ok(())
}

/// Refuses a choice by packet among up*/down* ways on a dragonfly, whose own ways and detours have routings of their own.
///
/// # Errors
/// [`ComposeError`], with the routing's word and those that a dragonfly has.
pub fn upward(scenario: &Scenario, word: &str, shape: &Shape) -> Result<(), ComposeError> {
    if shape.groups().is_none() {
        return Ok(());
    }
    let known = Steered::ALL.map(Steered::name).join(", ");
    let message = format!(
        "{word}: it chooses among up*/down* ways, and this is a dragonfly: expected {known} or tables such as dla"
    );
    Err(ComposeError::Misfit(scenario.origins.error("routes", message)))
}

/// Tables of ftree for messages whose mode is in-order, and else as `adaptive`; with `:` and an engine behind it, that one's tables.
pub(crate) const BY_MODE: &str = "by-mode";

/// The engine of a routing's word that is `name`, or `name` with `:` and an engine behind it; `usual` where none is.
///
/// # Errors
/// [`ComposeError::UnknownRouting`] for something else behind the `:`.
pub(crate) fn with_engine(word: &str, name: &str, usual: Engine) -> Option<Result<Engine, ComposeError>> {
    let rest = word.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(Ok(usual));
    }
    Some(match rest.strip_prefix(':')?.parse() {
        Ok(engine) if engine != Engine::Smodk => Ok(engine),
        _ => {
            Err(ComposeError::UnknownRouting(format!("{word}: expected an engine's name behind \"{name}:\"")))
        }
    })
}

/// The engine of a routing by mode.
///
/// # Errors
/// As [`with_engine`].
pub(crate) fn by_mode(word: &str) -> Option<Result<Engine, ComposeError>> {
    with_engine(word, BY_MODE, Engine::Ftree)
}

/// Whether a scenario has a word on a parameter of the hardware.
fn asked(scenario: &Scenario, key: &str) -> bool {
    scenario.hardware.iter().any(|(name, _)| *name == key)
}

/// The scheme and the hardware of a run, made to fit each other: as many lanes as slots unless the scenario says how many.
pub(crate) fn fitted<'a>(
    scenario: &Scenario,
    profile: &Profile,
    scheme: Scheme<'a>,
) -> (Scheme<'a>, Profile) {
    let mut profile = profile.clone();
    let Scheme::Steered(mut options, steering) = scheme else { return (scheme, profile) };
    let answered = profile.config.window_packets.is_some();
    let crossings = steering.most_crossings();
    options.lanes = options.scheme.slots(crossings).len() as u8;
    let responses = if answered { Steered::Minimal.slots(crossings).len() as u8 } else { 0 };
    if !asked(scenario, "lanes") {
        options.response_lanes = responses;
        profile.config.lanes = profile.config.lanes.max(options.lanes + responses);
    } else if profile.config.lanes >= options.lanes + responses {
        options.response_lanes = responses;
    } else if scenario.allow_credit_loops {
        options.lanes = options.lanes.min(profile.config.lanes);
    }
    (Scheme::Steered(options, steering), profile)
}
