//! Several addresses a host: senders use the one that the routes choose, whatever the model and the partitions.

use netloom_model::{Control, Fabric, HostId, PairPaths, PathChoice, Routes};
use netloom_routing::{Engine, EngineOptions, loads, route};
use netloom_sim::choice::ByTable;
use netloom_sim::{
    Config, Job, Measure, Model, Nobody, Op, Player, Profile, Scheme, Setup, SimError, Software, Terms,
    run_network, simulate,
};
use netloom_testkit::cases::star;
use netloom_testkit::{any_fabric, matrix};
use netloom_topology::detect;

use crate::common::three_each;

/// Messages that leave without asking.
fn software() -> Software {
    Software {
        call_ps: 0,
        post_ps: 1_000,
        rendezvous_ps: 0,
        eager_bytes: 1 << 40,
        control_bytes: 1,
        copy_ps_per_byte: 0.0,
    }
}

fn job(hosts: u32, messages: &[(u32, u32, u64)]) -> Job {
    let mut steps = vec![Vec::new(); hosts as usize];
    for &(from, to, bytes) in messages {
        steps[from as usize].push(Op::Isend { to, bytes, tag: 0 });
        steps[to as usize].push(Op::Irecv { from, tag: 0 });
    }
    for rank in &mut steps {
        rank.push(Op::WaitAll);
    }
    Job::new("it", (0..hosts).map(HostId).collect(), steps)
}

fn setup<'a>(fabric: &'a Fabric, routes: &'a Routes, model: Model, job: Job) -> Setup<'a> {
    let config = Config { cable_delay_ps: 5_000, ..Config::infiniband() };
    Setup {
        fabric,
        scheme: Scheme::Tables(routes),
        model,
        profile: Profile { config, software: software() },
        jobs: vec![job],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    }
}

/// Four addresses a host, chosen by source or pair by pair: links carry what routing's own loads say.
#[test]
fn links_carry_what_goes_to_the_chosen_addresses() {
    let mut matters = 0;
    for seed in 0..8 {
        let fabric = any_fabric(seed);
        let hosts = fabric.host_count() as u32;
        let messages = three_each(&fabric);
        let options = EngineOptions { seed: 0, lmc: 2 };
        let base = route(Engine::Updn, &fabric, &detect(&fabric), &options).unwrap();
        let pairs = fabric.hosts().flat_map(|s| fabric.hosts().map(move |d| (s, d))).filter(|(s, d)| s != d);
        let pairs: Vec<_> = pairs.map(|(s, d)| (s, d, (s.0 * 5 + d.0 * 3) % 4)).collect();
        let pairs = PairPaths::new(hosts as usize, 2, &pairs).unwrap();
        let by_source = Routes { path: PathChoice::SourceMod, ..base.clone() };
        let by_pair = base.clone().with_paths(&fabric, pairs).unwrap();
        let wire = |b: u64| b + b.div_ceil(4096) * u64::from(Config::infiniband().header_bytes);
        let entries: Vec<_> =
            messages.iter().map(|&(i, j, b)| (i.into(), j.into(), wire(b) as f64)).collect();
        let traffic = matrix(hosts as usize, &entries);
        let bytes = |routes: &Routes| -> Vec<u64> {
            let expected = loads(&fabric, routes, &traffic).unwrap();
            let of_link =
                |link| expected.load[netloom_model::LinkId::index(link)] * fabric.relative_capacity(link);
            fabric.links().map(|link| of_link(link).round() as u64).collect()
        };
        matters += u32::from(bytes(&base) != bytes(&by_source)) + u32::from(bytes(&base) != bytes(&by_pair));
        for routes in [&base, &by_source, &by_pair] {
            let expected = bytes(routes);
            for model in [Model::Packet, Model::Fluid] {
                let setup = setup(&fabric, routes, model, job(hosts, &messages));
                let counters = simulate(setup, &Control::new()).unwrap().counters;
                let carried: Vec<u64> = fabric.links().map(|link| counters.bytes(link)).collect();
                assert_eq!(carried, expected, "seed {seed}, {:?}, {model:?}", routes.path);
            }
            let config = Config { cable_delay_ps: 5_000, ..Config::infiniband() };
            let in_parts = |partitions| {
                let control = Control::new();
                let terms = Terms {
                    threads: 1,
                    partitions: Some(partitions),
                    until_ps: None,
                    packet_jobs: 1,
                    measure: None,
                    keep: None,
                    skip_repeats: None,
                    control: &control,
                };
                let player = Player::new(vec![job(hosts, &messages)], software())
                    .with_addresses(2, routes.path.clone());
                let choice = ByTable::new(&fabric, routes.lft().unwrap());
                let end = run_network(&fabric, &config, choice, player, |_| Nobody, &terms).unwrap();
                (end.end_ps, end.program.times(0), end.counters)
            };
            assert_eq!(in_parts(1), in_parts(3), "seed {seed}");
        }
    }
    assert!(matters > 8, "addresses lead different ways: {matters}");
}

#[test]
fn tables_and_paths_of_another_kind_are_refused() {
    let fabric = star(3);
    let refused = |routes: &Routes, model| {
        let error = simulate(setup(&fabric, routes, model, job(3, &[])), &Control::new()).unwrap_err();
        assert!(matches!(error, SimError::Config { what: "routes", .. }), "{error}");
    };
    let options = EngineOptions { seed: 0, lmc: 1 };
    let good = route(Engine::Updn, &fabric, &detect(&fabric), &options).unwrap();
    for model in [Model::Packet, Model::Fluid] {
        refused(&Routes { lmc: 0, ..good.clone() }, model);
        let others = PathChoice::PerPair(PairPaths::base(4, 1).into());
        refused(&Routes { path: others, ..good.clone() }, model);
    }
}
