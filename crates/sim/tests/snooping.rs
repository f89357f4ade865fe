//! Switches that listen to congestion notifications: what they send another way, what they leave alone, and when sources slow down after all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use netloom_model::{Control, DestId, Fabric, HostId, Routes};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::{
    Config, Congestion, ControlKind, Forwarding, Job, Keeping, Managed, Measure, Model, Outcome, Pairs,
    Profile, Qcn, Scheme, Setup, SimError, Snooped, simulate,
};
use netloom_testkit::cases::generated;
use netloom_topology::detect;

/// Ethernet at 10 Gb/s, queues by output.
fn profile(setpoint_bytes: u32) -> Profile {
    let mut profile = Profile::infiniband();
    let qcn = Qcn { setpoint_bytes, sample_bytes: 15_000, ..Qcn::default() };
    profile.config = Config {
        packet_bytes: 1460,
        header_bytes: 40,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(16 << 20),
        head_of_line: false,
        switch_delay_ps: 450_000,
        cable_delay_ps: 50_000,
        congestion: Some(Congestion::new(ControlKind::Qcn(qcn), 1)),
        ..Config::infiniband()
    };
    profile.software.eager_bytes = 1 << 30;
    profile
}

struct Net {
    fabric: Fabric,
    paths: PathSet,
    routes: Routes,
}

fn net(spec: &str) -> Net {
    let fabric = generated(&format!("{spec},speed=10G"));
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let routes = route(Engine::Dmodk, &fabric, &structure, &EngineOptions::default()).unwrap();
    Net { fabric, paths, routes }
}

impl Net {
    fn snooping(&self) -> Scheme<'_> {
        Scheme::Snooping(&self.routes, &self.paths)
    }

    /// Each pair of hosts exchanges 3 MB.
    fn setup<'a>(&'a self, scheme: Scheme<'a>, profile: Profile, pairs: &[(u32, u32)]) -> Setup<'a> {
        let hosts = pairs.iter().flat_map(|&(a, b)| [HostId(a), HostId(b)]).collect();
        let partner = (0..2 * pairs.len() as u32).map(|rank| rank ^ 1).collect();
        let program = Pairs { partner, rounds: 1, messages: 1, bytes: 3_000_000 };
        Setup {
            fabric: &self.fabric,
            scheme,
            model: Model::Packet,
            profile,
            jobs: vec![Job::new("pairs", hosts, program)],
            seed: 7,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            skip_repeats: None,
            until_ps: None,
        }
    }

    fn run(&self, scheme: Scheme, profile: Profile, pairs: &[(u32, u32)]) -> (f64, Managed) {
        let outcome = simulate(self.setup(scheme, profile, pairs), &Control::new()).unwrap();
        assert_eq!(outcome.jobs[0].bytes, 3_000_000 * 2 * pairs.len() as u64, "what was posted is received");
        (outcome.end_ps as f64 / 1e9, outcome.managed.unwrap())
    }
}

/// Time of 3 MB at 10 Gb/s with headers, ms.
const ALONE_MS: f64 = 3.0 * 0.8 * 1500.0 / 1460.0;

/// 0 with 4 and 1 with 6 by the same spine in both directions: the leaves themselves are congested. And 0 with 8, 4 with 10: the spine is, and the
/// leaves hear of it.
#[test]
fn packets_go_round_a_link_that_is_congested_here_or_further_on() {
    for (spec, pairs) in [
        ("two-level:leaves=2,hosts=4,spines=2", [(0, 4), (1, 6)]),
        ("two-level:leaves=3,hosts=4,spines=2", [(0, 8), (4, 10)]),
    ] {
        let net = net(spec);
        let mut without = profile(26_000);
        without.config.congestion.as_mut().unwrap().limit = false;
        let (by_tables, managed) = net.run(Scheme::Tables(&net.routes), without, &pairs);
        assert!(by_tables > 1.95 * ALONE_MS, "{by_tables}");
        assert_eq!((managed.snooped, managed.reordering), (None, None), "tables keep packets in order");
        let (round, managed) = net.run(net.snooping(), profile(26_000), &pairs);
        let (snooped, reordering) = (managed.snooped.unwrap(), managed.reordering.unwrap());
        println!("{spec}: {round:.3} of {ALONE_MS:.3} ms, {snooped:?} {reordering:?}");
        assert!(round < 1.25 * ALONE_MS, "{round}");
        assert!(snooped.consumed > 0 && snooped.rerouted > 100, "{snooped:?}");
        assert_eq!(managed.notices, managed.cuts + snooped.consumed, "a notification ends once");
        assert!(reordering.packets > 4 * 2000 && reordering.out_of_order > 0, "{reordering:?}");
        assert!(reordering.most_bytes >= 1500, "{reordering:?}");
    }
}

/// An incast on one leaf: there is no way round, so sources slow down and nothing is sent another way.
#[test]
fn a_congested_link_to_a_host_sends_nothing_another_way() {
    let net = net("two-level:leaves=2,hosts=4,spines=2");
    // Ranks 1, 3, 5 send to a host each; all are ranks of host 0.
    let mut setup = net.setup(net.snooping(), profile(26_000), &[(0, 1), (0, 2), (0, 3)]);
    setup.profile.config.congestion.as_mut().unwrap().measure_from_ps = 0;
    let managed = simulate(setup, &Control::new()).unwrap().managed.unwrap();
    assert!(managed.notices > 10, "{managed:?}");
    assert_eq!(managed.cuts, managed.notices);
    assert_eq!(managed.snooped, Some(Snooped::default()));
    assert_eq!(managed.reordering.unwrap().out_of_order, 0);
}

/// With one spine there is one way: every notification comes to a source.
#[test]
fn without_another_way_it_is_plain_qcn() {
    let net = net("two-level:leaves=2,hosts=4,spines=1");
    let pairs = [(0, 4), (1, 6)];
    let (snooping_ms, managed) = net.run(net.snooping(), profile(26_000), &pairs);
    let (tables_ms, by_tables) = net.run(Scheme::Tables(&net.routes), profile(26_000), &pairs);
    assert!(managed.cuts > 0 && managed.cuts == managed.notices, "{managed:?}");
    // The way back over the same cables takes as long as the shortest one.
    assert_eq!((snooping_ms, managed.cuts), (tables_ms, by_tables.cuts));
}

/// Four flows for two ways that each carry one: all outputs are marked, and sources slow down.
#[test]
fn where_all_ways_are_marked_sources_slow_down() {
    let net = net("two-level:leaves=2,hosts=4,spines=2");
    let (_, managed) = net.run(net.snooping(), profile(26_000), &[(0, 4), (1, 5), (2, 6), (3, 7)]);
    let snooped = managed.snooped.unwrap();
    assert!(snooped.all_marked > 0 && snooped.most_entries == 2, "{snooped:?}");
    assert!(managed.cuts > 0 && managed.held_ps > 0, "{managed:?}");
}

/// Watched, on more threads, and from a state: the same.
#[test]
fn a_run_is_the_same_watched_on_threads_and_after_a_break() {
    let net = net("two-level:leaves=3,hosts=4,spines=2");
    let pairs = [(0, 8), (4, 10), (1, 9), (5, 2)];
    let setup = || net.setup(net.snooping(), profile(13_000), &pairs);
    let shows =
        |outcome: Outcome| (outcome.end_ps, outcome.packet_latency, outcome.counters, outcome.managed);
    let whole = shows(simulate(setup(), &Control::new()).unwrap());
    assert!(whole.3.as_ref().unwrap().snooped.unwrap().rerouted > 0);
    let threads = simulate(Setup { threads: 4, ..setup() }, &Control::new()).unwrap();
    assert_eq!(shows(threads), whole);
    let measure = Measure { trace_ps: Some((0, u64::MAX)), ..Measure::default() };
    assert_eq!(shows(simulate(Setup { measure, ..setup() }, &Control::new()).unwrap()), whole);
    for look in [1, 8, 20] {
        let (looks, kept) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let keeping = Keeping {
            from: None,
            due: &|| looks.fetch_add(1, Relaxed) == look,
            keep: &|state| *kept.lock().unwrap() = state.to_vec(),
        };
        simulate(Setup { keep: Some(&keeping), ..setup() }, &Control::new()).unwrap();
        let state = kept.into_inner().unwrap();
        assert!(!state.is_empty(), "{look}");
        let keeping = Keeping { from: Some(&state), due: &|| false, keep: &|_| {} };
        let rest = simulate(Setup { keep: Some(&keeping), ..setup() }, &Control::new()).unwrap();
        assert_eq!(shows(rest), whole, "{look}");
        let tables = net.setup(Scheme::Tables(&net.routes), profile(13_000), &pairs);
        let other = simulate(Setup { keep: Some(&keeping), ..tables }, &Control::new());
        assert!(other.is_err(), "a state of switches that listen");
    }
}

#[test]
fn what_switches_cannot_listen_to_is_refused() {
    let net = net("two-level:leaves=3,hosts=4,spines=2");
    let refusal = |scheme, profile, model| {
        let setup = Setup { model, ..net.setup(scheme, profile, &[(0, 8)]) };
        simulate(setup, &Control::new()).unwrap_err().to_string()
    };
    let mut silent = profile(26_000);
    silent.config.congestion = None;
    let error = refusal(net.snooping(), silent.clone(), Model::Packet);
    assert!(error.contains("snooping: expected QCN"), "{error}");
    assert!(refusal(net.snooping(), silent, Model::Fluid).contains("listen to its notifications"));
    let error = refusal(net.snooping(), profile(26_000), Model::Fluid);
    assert!(error.contains("as rates know no queues"), "{error}");
    // A table that sends what is for host 0 from another leaf's switch to a host there.
    let mut lft = net.routes.lft().unwrap().clone();
    let leaf = net.fabric.leaf(HostId(8));
    let to_host = net.fabric.reverse(net.fabric.host_link(HostId(8)));
    lft.set(leaf, DestId(0), Some(net.fabric.link(to_host).from_port));
    let strays = Routes::by_dest(&net.fabric, 0, lft);
    let error = refusal(Scheme::Snooping(&strays, &net.paths), profile(26_000), Model::Packet);
    assert!(error.contains("snooping: expected tables of minimal paths: from "), "{error}");
    let mut forgetful = profile(26_000);
    forgetful.config.congestion.as_mut().unwrap().memory_ps = 0;
    let setup = net.setup(net.snooping(), forgetful, &[(0, 8)]);
    let Err(SimError::Config { what, .. }) = simulate(setup, &Control::new()) else { panic!("no memory") };
    assert_eq!(what, "memory_ms");
}
