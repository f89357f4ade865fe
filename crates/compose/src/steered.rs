//! Routings that take detours: what they need of fabric and hardware, refused before the run where that is not there.
//!
//! Lanes go by slot of a packet's way. A scenario that says nothing of lanes gets as many as there are slots; with fewer, slots share a lane, and
//! `verify` must prove that packets cannot wait for each other in a circle, or the run is refused, or, with `allow_credit_loops`, runs until they do.
//! The same holds of the lanes of `dla`'s tables. Service levels and other tables have no say. Responses get lanes of their own behind these, unless the scenario has too few; then they share.

use netloom_formats::scenario::{Knob, Scenario};
use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_routing::{Engine, RoutingError, Steering};
use netloom_sim::{Model, Modes, Profile, Scheme, SteerOptions, Steered};
use netloom_topology::Shape;
use netloom_verify::{LanesBy, Moves, move_loops};

use crate::ComposeError;

/// Refuses a routing that takes detours where it can't run.
///
/// # Errors
/// [`ComposeError`], with the routing's word: the fluid model, no dragonfly, no third group, fewer lanes than slots.
pub fn steering(
    fabric: &Fabric,
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
    let by_tables = by_tables(scenario);
    if asked(scenario, "sl2vl") && !by_tables {
        let message = "expected no hardware.sl2vl but \"dla\": its lanes go by slot of the way".into();
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
    let few = asked(scenario, "lanes") && usize::from(lanes) < slots.len();
    if !(few || by_tables) || scenario.allow_credit_loops {
        return Ok(());
    }
    let circle = match (by_tables, &profile.config.lane_map) {
        (true, Some(map)) => circle(fabric, scheme, steering, LanesBy::Tables(map)),
        _ => circle(fabric, scheme, steering, LanesBy::Slot(lanes)),
    };
    let Some(circle) = circle else { return Ok(()) };
    let hint = "(allow_credit_loops = true runs them until packets wait for each other)";
    if by_tables {
        return Err(refuse("hardware.sl2vl", format!("dla's lanes do not free its ways{circle} {hint}")));
    }
    let message = format!(
        "lanes: expected {}, one a slot of the way ({}), or fewer that make no circle, found {lanes}{circle} {hint}",
        slots.len(),
        slots.join(" ")
    );
    Err(refuse("hardware.lanes", message))
}

/// A circle of lanes of links in which packets of a scheme can wait for each other, in words; `None`: there is none.
fn circle(fabric: &Fabric, scheme: Steered, steering: &Steering, lanes: LanesBy) -> Option<String> {
    let Some(&(_, moves)) = Moves::ALL.iter().find(|(name, _)| *name == scheme.name()) else {
        return Some(String::new()); // modes: not followed
    };
    let group: Vec<u32> = fabric.switches().map(|s| steering.group(s)).collect();
    let links = |from: SwitchId, to: SwitchId| steering.paths.links(from, to).to_vec();
    let found = move_loops(fabric, &group, &links, moves, lanes).lanes;
    let told = |&(link, lane): &(LinkId, u8)| format!("{} lane {lane}", fabric.describe_link(link));
    let cycle: Vec<String> = found.cycle.iter().map(told).collect();
    (found.credit_loops > 0)
        .then(|| format!(": {} lanes of links wait for each other, {}", cycle.len(), cycle.join("; ")))
}

/// Whether lanes go by the tables of `dla`, not by slot.
fn by_tables(scenario: &Scenario) -> bool {
    let is = |knob: &Knob| matches!(knob, Knob::Lanes(name) if name == Engine::Dla.name());
    scenario.hardware.iter().any(|(name, knob)| *name == "sl2vl" && is(knob))
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
    if by_tables(scenario) {
        options.by_tables = true;
        options.lanes = profile.config.lanes;
        return (Scheme::Steered(options, steering), profile);
    }
    let responses = if answered { Steered::Minimal.slots(crossings).len() as u8 } else { 0 };
    if !asked(scenario, "lanes") {
        options.response_lanes = responses;
        profile.config.lanes = profile.config.lanes.max(options.lanes + responses);
    } else if profile.config.lanes >= options.lanes + responses {
        options.response_lanes = responses;
    } else {
        // Proved free of circles, or run until packets wait for each other.
        options.lanes = options.lanes.min(profile.config.lanes);
    }
    (Scheme::Steered(options, steering), profile)
}
