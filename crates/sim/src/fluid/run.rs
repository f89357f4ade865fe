//! A run of jobs with flows.

use netloom_model::Control;

use super::network::Fluid;
use crate::SimError;
use crate::program::Program;
use crate::record::{Distribution, Latencies, Recorded};
use crate::repeats::Skipped;
use crate::replay::Player;
use crate::run::{JobOutcome, MOST_STUCK, Outcome, Setup};
use crate::stalled::{Looks, idle};

/// Events between two looks at the [`Control`].
const EVENTS_A_LOOK: u64 = 1 << 12;

/// The outcome with flows in place of packets: nothing is known of packets, then.
///
/// # Errors
/// [`SimError`] for parameters that can't work, messages that have no way, and time beyond its range.
pub(crate) fn flows(setup: Setup, control: &Control) -> Result<Outcome, SimError> {
    let names: Vec<_> = setup.jobs.iter().map(|job| (job.name.clone(), job.hosts.len())).collect();
    let mut player = Player::new(setup.jobs, setup.profile.software)
        .with_addresses(setup.scheme.lmc(), setup.scheme.path());
    player.record_messages(&setup.measure.messages);
    let mut fluid = Fluid::new(setup.fabric, &setup.profile.config, setup.scheme, player)?;
    let until_ps = setup.until_ps.unwrap_or(u64::MAX);
    fluid.start();
    let awaited = |fluid: &Fluid<Player>| fluid.program().awaited(&|_| true);
    let mut looks = Looks::new(!awaited(&fluid).is_empty());
    let mut stalled = false;
    let stopped = loop {
        if let Some(reason) = control.stopped() {
            break Some(reason);
        }
        let more = fluid.run_events(until_ps.min(looks.next_ps()), EVENTS_A_LOOK)?;
        control.report(fluid.now_ps(), setup.until_ps.unwrap_or(0));
        if more {
            continue;
        }
        if !fluid.has_more() || fluid.next_ps() >= until_ps {
            break None;
        }
        let idle = idle([awaited(&fluid)]);
        if idle.is_some_and(|jobs| jobs.iter().all(|&(_, under_way)| under_way == 0)) {
            stalled = true;
            break None;
        }
        looks.skip(fluid.next_ps());
    };
    let silent = stalled || stopped.is_none() && fluid.is_silent();
    let at_max_time = stopped.is_none() && !stalled && fluid.has_more();
    let end_ps = if at_max_time { until_ps } else { fluid.now_ps() };
    let player = fluid.program();
    let mut recorded = Recorded::default();
    let no_packets = Latencies::default().summary();
    let jobs = names.into_iter().enumerate().map(|(j, (name, ranks))| {
        let messages = player.latency(j);
        recorded.distributions.push(Distribution::of("messages", &name, messages));
        JobOutcome::of(player, (j, end_ps), (name, ranks), (no_packets, None))
    });
    let jobs = jobs.collect();
    recorded.messages = fluid.program_mut().take_messages();
    let player = fluid.program();
    Ok(Outcome {
        end_ps,
        stopped,
        at_max_time,
        jobs,
        packet_latency: no_packets,
        packets: 0,
        responses: 0,
        adapters: None,
        detours: None,
        packet_hops: 0,
        earlier_hops: 0,
        events: fluid.events(),
        partitions: 1,
        skipped: setup.skip_repeats.map(|_| Skipped::nothing("flows, not packets, are simulated")),
        counters: fluid.counters_at(end_ps),
        managed: None,
        recorded,
        deadlock: None,
        stuck: if silent { player.stuck(MOST_STUCK) } else { Vec::new() },
        asks_in_vain: silent && player.asks_in_vain(),
    })
}
