//! Observers that do without departures: the engine runs ahead of time for them, and shows the same.

use std::collections::HashSet;

use netloom_model::rng::{below, stream};
use netloom_model::{Fabric, HostId, LinkId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{Arrival, Choice, Config, Forwarding, Network, Observer, Queue};
use netloom_testkit::any_fabric;
use netloom_topology::detect;

use crate::common::AtOnce;
use crate::conservation::configs;

/// What packets find at links, and who receives them when.
type Found = (Vec<(LinkId, Queue)>, Vec<(u64, HostId, HostId, u16)>);

/// By the engine that tells of departures, or by the quick one.
#[derive(Default)]
struct Finds<const TRACED: bool>(Found);

impl<const TRACED: bool> Observer for Finds<TRACED> {
    const TRACES: bool = TRACED;

    fn joins(&mut self, _: u32, link: LinkId, queue: impl FnOnce() -> Queue) {
        self.0.0.push((link, queue()));
    }

    fn moves(&mut self, _: u32, to: LinkId, queue: impl FnOnce() -> Queue) {
        self.0.0.push((to, queue()));
    }

    fn arrives(&mut self, arrival: Arrival) {
        self.0.1.push((arrival.now_ps, arrival.from, arrival.to, arrival.bytes));
    }
}

fn found<const TRACED: bool, C: Choice>(
    fabric: &Fabric,
    config: &Config,
    choice: C,
    messages: &[(u32, u32, u64)],
) -> Found {
    let program = AtOnce::new(messages);
    let mut network = Network::new(fabric, config, choice, program, Finds::<TRACED>::default()).unwrap();
    network.record_packets(1);
    network.run().unwrap();
    let (mut queues, arrivals) = network.observer().0.clone();
    queues.sort_by_key(|(link, queue)| (*link, queue.bytes, queue.credits_bytes));
    (queues, arrivals)
}

/// What was sent ahead of time has not left yet for who asks: queues and credits are those of the engine that waits. Messages are of a packet
/// and odd lengths, so that nothing comes just when something else leaves, where either order would do; with cut-through that is always so,
/// and only what arrives is the same.
#[test]
fn the_quick_engine_shows_the_same_queues() {
    let mut congested = 0;
    for seed in 0..6 {
        let fabric = any_fabric(seed);
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let paths = PathSet::admissible(&fabric, &detect(&fabric));
        let (mut random, hosts) = (stream(seed, 0), fabric.host_count() as u64);
        let mut message = || {
            let (from, other) = (below(&mut random, hosts), 1 + below(&mut random, hosts - 1));
            (from as u32, ((from + other) % hosts) as u32, 1 + below(&mut random, 4000))
        };
        let messages: Vec<(u32, u32, u64)> = (0..60 * hosts).map(|_| message()).collect();
        for config in configs() {
            let stored = config.forwarding == Forwarding::StoreAndForward;
            let tables = || ByTable::new(&fabric, routes.lft().unwrap());
            let adaptive = || Adaptive::new(&fabric, &paths, seed);
            for (quick, traced) in [
                (found::<false, _>(&fabric, &config, tables(), &messages), {
                    found::<true, _>(&fabric, &config, tables(), &messages)
                }),
                (found::<false, _>(&fabric, &config, adaptive(), &messages), {
                    found::<true, _>(&fabric, &config, adaptive(), &messages)
                }),
            ] {
                assert_eq!(quick.1, traced.1);
                // By chance some thing leaves then all the same.
                let (these, those): (HashSet<_>, HashSet<_>) =
                    (quick.0.iter().collect(), traced.0.iter().collect());
                let differ = these.symmetric_difference(&those).count();
                assert!(!stored || differ * 1000 <= these.len(), "{differ} of {}", these.len());
                congested += quick.0.iter().filter(|(_, queue)| queue.is_congested()).count();
            }
        }
    }
    assert!(congested > 100, "{congested}");
}
