//! What is measured, against numbers worked out by hand and against totals.
//!
//! Links of the star run at 12.5 GB/s: a packet of 4096 bytes takes `W` ps.

use netloom_model::{Control, Fabric, HostId, LinkId, Quality, Quantity};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{
    Choice, Config, Departure, Finished, Forwarding, Hop, Job, LinkCounters, Measure, Model, Network, Nobody,
    Observer, Op, Profile, Scheme, Setup, SimError, Software, Terms, run_network, simulate,
};
use netloom_testkit::any_fabric;
use netloom_testkit::cases::star;
use netloom_topology::detect;

use crate::common::{AtOnce, run};
use crate::conservation::{configs, messages};

const W: u64 = 4096 * 80;

fn counters(fabric: &Fabric, config: &Config, messages: &[(u32, u32, u64)]) -> LinkCounters {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    run(fabric, config, routes.lft().unwrap(), messages).unwrap().counters()
}

fn to_host(fabric: &Fabric, host: u32) -> LinkId {
    fabric.reverse(fabric.host_link(HostId(host)))
}

/// Hosts 1 and 2 send two packets each to host 0, through buffers of one packet; cables and credits take `C` ps, the switch none.
///
/// | packet | leaves its host | is admitted | leaves the switch |
/// |---|---|---|---|
/// | 1a | 0 | W + C | W + C |
/// | 2a | 0 | 2W + C | 2W + 3C: its credit comes when 1a is with host 0 |
/// | 1b | W + 2C: credit of 1a | 3W + 3C | 3W + 5C |
/// | 2b | 2W + 2C: credit of 2a | 4W + 5C | 4W + 7C |
#[test]
fn two_senders_wait_for_the_credits_that_they_lack() {
    const C: u64 = 1_000;
    let config = Config {
        header_bytes: 0,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(4096),
        output_buffer_bytes: 4096,
        host_output_buffer_bytes: 4096,
        switch_delay_ps: 0,
        cable_delay_ps: C,
        credit_bytes: 0,
        ..Config::infiniband()
    };
    let fabric = star(3);
    let counters = counters(&fabric, &config, &[(1, 0, 2 * 4096), (2, 0, 2 * 4096)]);
    let wait = |link: LinkId| counters.sent[link.index()].wait_ps;
    assert_eq!(wait(fabric.host_link(HostId(1))), 2 * C);
    assert_eq!(wait(fabric.host_link(HostId(2))), W + 2 * C);
    assert_eq!(wait(to_host(&fabric, 0)), 3 * 2 * C);
    assert_eq!(wait(to_host(&fabric, 1)), 0);
    // With one lane, the link's waiting is its lane's.
    assert!(fabric.links().all(|link| counters.wait_ps[link.index()] == wait(link)));
}

/// Where room is kept until the next buffer admits, a host waits for word of that (8 bytes, 640 ps); the switch for as long as its delay.
#[test]
fn a_sender_waits_for_word_of_admission() {
    let config = Config { host_output_buffer_bytes: 4096, ..Config::codes() };
    let fabric = star(2);
    let counters = counters(&fabric, &config, &[(0, 1, 2 * 4096)]);
    let wait = |link: LinkId| counters.sent[link.index()].wait_ps;
    assert_eq!(wait(fabric.host_link(HostId(0))), 640);
    // The second packet comes at 2W + 640, when the link has been free for 640; it goes at 2W + delay + 640.
    assert_eq!(wait(to_host(&fabric, 1)), config.switch_delay_ps);
}

#[test]
fn nobody_waits_without_contention() {
    for config in [Config::infiniband(), Config { host_output_buffer_bytes: 65_536, ..Config::codes() }] {
        let fabric = star(2);
        let counters = counters(&fabric, &config, &[(0, 1, 1 << 20)]);
        assert!(counters.wait_ps.iter().all(|&ps| ps == 0), "{:?}", counters.wait_ps);
    }
}

fn measured<C: Choice + Clone>(
    fabric: &Fabric,
    config: &Config,
    choice: C,
    messages: &[(u32, u32, u64)],
    measure: &Measure,
    (partitions, until_ps): (usize, Option<u64>),
) -> Finished<AtOnce, Nobody> {
    let (control, measure) = (Control::new(), Some(measure));
    let terms = Terms {
        threads: 1,
        partitions: Some(partitions),
        until_ps,
        packet_jobs: 1,
        measure,
        keep: None,
        skip_repeats: None,
        control: &control,
    };
    let program = AtOnce { lanes: config.lanes, ..AtOnce::new(messages) };
    run_network(fabric, config, choice, program, |_| Nobody, &terms).unwrap()
}

/// Whatever the division, and whenever it ends: intervals sum to the counters of the run, what is sent is received once the network is
/// silent, samples are the same, and the run is the one without them.
#[test]
fn samples_sum_to_the_run_and_leave_it_as_it_is() {
    let (mut waited, mut queued) = (0, 0);
    for seed in 0..6 {
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let messages = messages(fabric.host_count() as u64, seed);
        let measure = Measure {
            counters_every_ps: Some(700_000),
            queues_every_ps: Some(300_000),
            longest_queues: 3,
            ..Measure::default()
        };
        for config in configs() {
            let config = Config { cable_delay_ps: config.cable_delay_ps.max(5_000), ..config };
            let run = |measure: &Measure, partitions, until_ps| {
                let choice = Adaptive::new(&fabric, &paths, seed);
                measured(&fabric, &config, choice, &messages, measure, (partitions, until_ps))
            };
            let bare = run(&Measure::default(), 1, None);
            assert!(bare.intervals.is_none() && bare.queues.is_none());
            for until_ps in [None, Some(bare.end_ps / 2), Some(bare.end_ps / 5)] {
                let one = run(&measure, 1, until_ps);
                let intervals = one.intervals.as_ref().unwrap();
                // Without samples packets are sent ahead of time; what has been sent by the end is the same.
                for partitions in [1, 2, 3] {
                    let bare = run(&Measure::default(), partitions, until_ps);
                    assert_eq!(one.counters, bare.counters, "seed {seed}, {partitions} partitions");
                    assert_eq!((one.end_ps, one.packets), (bare.end_ps, bare.packets));
                    assert_eq!(one.packet_hops, bare.packet_hops);
                    if partitions == 1 {
                        assert_eq!(one.program.done_ps, bare.program.done_ps);
                    }
                }
                sums_agree(&fabric, &one, until_ps.is_none());
                queued += one.queues.as_ref().unwrap().queues.len();
                waited += intervals.rows.iter().filter(|row| row.wait_ps > 0).count();
                for partitions in [2, 3] {
                    let parts = run(&measure, partitions, until_ps);
                    let same = (&parts.intervals, &parts.queues) == (&one.intervals, &one.queues);
                    assert!(same, "seed {seed}, {partitions} partitions");
                    assert_eq!(parts.packet_latencies, one.packet_latencies);
                }
            }
        }
    }
    assert!(waited > 0 && queued > 0, "somebody waits");
}

fn sums_agree(fabric: &Fabric, run: &Finished<AtOnce, Nobody>, silent: bool) {
    let intervals = run.intervals.as_ref().unwrap();
    let key = |row: &netloom_sim::IntervalRow| (row.interval, row.link, row.lane);
    assert!(intervals.rows.windows(2).all(|two| two[0].interval <= two[1].interval));
    assert!(intervals.rows.windows(2).all(|two| key(&two[0]) != key(&two[1])));
    let lanes = run.counters.lanes;
    let counters = intervals.counters(fabric);
    assert!(counters.fits(fabric) && counters.tick_ps() == Some(1000));
    let total = |quantity, link: LinkId, lane| -> u64 {
        let of = counters.intervals().iter().map(|interval| interval.column(quantity, lane).unwrap());
        of.map(|column| (column.values[link.index()], column.quality(link)))
            .map(|(value, quality)| if quality == Quality::GOOD { value } else { panic!("{quality:?}") })
            .sum()
    };
    for link in fabric.links() {
        for lane in 0..lanes {
            let sent = run.counters.sent[link.index() * lanes + lane];
            let lane = (lanes > 1).then_some(lane as u8);
            assert_eq!(total(Quantity::XmitBytes, link, lane), sent.bytes);
            assert_eq!(total(Quantity::XmitPackets, link, lane), sent.packets);
            assert_eq!(total(Quantity::WaitTicks, link, lane), sent.wait_ps / 1000);
            let (bytes, packets) =
                (total(Quantity::RcvBytes, link, lane), total(Quantity::RcvPackets, link, lane));
            assert!(bytes <= sent.bytes && packets <= sent.packets, "nothing comes that was not sent");
            assert!(!silent || (bytes, packets) == (sent.bytes, sent.packets));
        }
        assert_eq!(total(Quantity::XmitBytes, link, None), run.counters.bytes(link));
        assert_eq!(total(Quantity::WaitTicks, link, None), run.counters.wait_ps[link.index()] / 1000);
    }
}

/// Two hosts send four packets each to a third, at once, into large buffers. In every packet's time two come and one goes, so the
/// queue grows by one to four, then shrinks.
#[test]
fn a_queue_grows_by_what_comes_and_shrinks_by_what_goes() {
    let config = Config {
        header_bytes: 0,
        forwarding: Forwarding::StoreAndForward,
        output_buffer_bytes: 65_536,
        host_output_buffer_bytes: 65_536,
        switch_delay_ps: 0,
        cable_delay_ps: 1_000,
        ..Config::infiniband()
    };
    let fabric = star(3);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let messages = [(1, 0, 4 * 4096), (2, 0, 4 * 4096)];
    let measure = Measure { queues_every_ps: Some(W), ..Measure::default() };
    let queues = measured(&fabric, &config, choice, &messages, &measure, (1, None)).queues.unwrap();
    // Samples are taken just before packets come: the first two come a packet's time and a cable after the start.
    let found: Vec<_> =
        queues.queues.iter().map(|row| (queues.time_ps(row.sample) / W, row.bytes / 4096)).collect();
    assert_eq!(found, [(2, 1), (3, 2), (4, 3), (5, 4), (6, 3), (7, 2), (8, 1)]);
    assert!(queues.queues.iter().all(|row| row.link == to_host(&fabric, 0)));
    // The same of all outputs to hosts together.
    assert_eq!(
        queues.levels.iter().map(|l| (l.name.as_str(), l.links)).collect::<Vec<_>>(),
        [("level 0 down", 3)]
    );
    let level = queues.by_level[3];
    assert_eq!(
        (level.sum_bytes, level.max_bytes, queues.mean_bytes(&level)),
        (16_384, 16_384, 16_384.0 / 3.0)
    );
}

#[test]
fn absurd_intervals_are_refused_by_name() {
    for (measure, name) in [
        (Measure { counters_every_ps: Some(0), ..Measure::default() }, "counters_every"),
        (Measure { queues_every_ps: Some(u64::MAX), ..Measure::default() }, "queues_every"),
        (Measure { trace_ps: Some((5, 5)), ..Measure::default() }, "trace"),
    ] {
        assert!(matches!(measure.check(), Err(SimError::Config { what, .. }) if what == name), "{name}");
    }
}

/// Counts what an observer is told.
#[derive(Default)]
struct Seen {
    hops: Vec<Hop>,
    departures: Vec<Departure>,
}

impl Observer for Seen {
    fn hop(&mut self, hop: Hop) {
        self.hops.push(hop);
    }
    fn departs(&mut self, departure: Departure) {
        self.departures.push(departure);
    }
}

/// An observer is told of every packet at every hop, from its host to its destination along the tables; and watching changes nothing.
#[test]
fn observers_see_every_hop_and_change_nothing() {
    for seed in 0..4 {
        let fabric = any_fabric(seed);
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let messages = messages(fabric.host_count() as u64, seed);
        for config in configs() {
            let bare = run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap();
            let choice = ByTable::new(&fabric, routes.lft().unwrap());
            let program = AtOnce::new(&messages);
            let mut network = Network::new(&fabric, &config, choice, program, Seen::default()).unwrap();
            network.run().unwrap();
            assert_eq!(network.program().done_ps, bare.program().done_ps);
            assert_eq!(network.counters(), bare.counters());
            let Seen { hops, departures } = network.observer();
            assert_eq!(departures.len() as u64, bare.packet_hops());
            assert_eq!(hops.len() as u64, bare.packet_hops() - bare.packets_received());
            assert!(departures.windows(2).all(|two| two[0].start_ps <= two[1].start_ps));
            // Hosts send what they sent, and every link carries what it counted.
            let mut bytes = vec![0; fabric.link_count()];
            for Departure { link, packet, start_ps, end_ps } in departures {
                bytes[link.index()] += u64::from(packet.bytes);
                assert!(end_ps > start_ps);
                let (from, to) = (packet.from.0, packet.address.0);
                assert!(messages.iter().any(|&(f, t, _)| (f, t) == (from, to)));
                assert!(fabric.link_from_switch(*link).is_some() || fabric.host_link(packet.from) == *link);
            }
            assert!(fabric.links().all(|link| bytes[link.index()] == bare.counters().bytes(link)));
        }
    }
}

/// Congested is who finds a queue longer than the credits for it. Into buffers of four packets, three hosts send at once: the first packet leaves
/// at once for one of four credits, the second finds the link busy and nothing queued, the third one packet against three credits.
#[test]
fn a_port_is_congested_when_its_queue_is_longer_than_its_credits() {
    let config = Config {
        header_bytes: 0,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(4 * 4096),
        output_buffer_bytes: 65_536,
        host_output_buffer_bytes: 65_536,
        head_of_line: false,
        // Credits come back long after.
        cable_delay_ps: 100 * W,
        switch_delay_ps: 0,
        ..Config::infiniband()
    };
    let fabric = star(7);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let program = AtOnce::new(&[1, 2, 3, 4, 5, 6].map(|from| (from, 0, 4096)));
    let mut network = Network::new(&fabric, &config, choice, program, Seen::default()).unwrap();
    network.run().unwrap();
    let hops = &network.observer().hops;
    let found: Vec<_> = hops.iter().map(|hop| (hop.queued_bytes / 4096, hop.congested)).collect();
    // One has left, so three credits are there: the fourth, fifth and sixth find 2, 3 and 4 queued.
    assert_eq!(found, [(0, false), (0, false), (1, false), (2, false), (3, false), (4, true)]);
    assert!(hops.iter().all(|hop| hop.now_ps == 101 * W));
}

/// The window holds what ranks did and the packets on every link, with the times that the run has.
#[test]
fn a_window_shows_ranks_and_packets() {
    let fabric = star(2);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let software = Software { call_ps: 0, post_ps: 1_000, eager_bytes: 1 << 30, ..Profile::codes().software };
    let script = vec![
        vec![Op::Compute { ps: 5_000 }, Op::Isend { to: 1, bytes: 2 * 4096, tag: 7 }, Op::WaitAll],
        vec![Op::Recv { from: 0, tag: 7 }],
    ];
    let config = Config::codes();
    let outcome = |trace_ps| {
        let setup = Setup {
            fabric: &fabric,
            scheme: Scheme::Tables(&routes),
            model: Model::Packet,
            profile: Profile { config: config.clone(), software: software.clone() },
            jobs: vec![Job::new("it", vec![HostId(0), HostId(1)], script.clone())],
            seed: 1,
            threads: 2,
            measure: Measure { trace_ps, ..Measure::default() },
            keep: None,
            skip_repeats: None,
            until_ps: None,
        };
        simulate(setup, &Control::new()).unwrap()
    };
    let (watched, bare) = (outcome(Some((0, u64::MAX))), outcome(None));
    assert_eq!((watched.end_ps, &watched.counters), (bare.end_ps, &bare.counters));
    let timeline = watched.recorded.timeline.unwrap();
    assert!(bare.recorded.timeline.is_none() && timeline.notes.is_empty());
    let names: Vec<_> = timeline.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["ranks of it", "links"]);
    let spans: Vec<_> = timeline
        .spans
        .iter()
        .map(|s| {
            (
                timeline.groups[s.group as usize].tracks[s.track as usize].as_str(),
                s.name.as_str(),
                s.start_ps,
                s.end_ps,
            )
        })
        .collect();
    let posted = 6_000;
    let delay = config.switch_delay_ps;
    let (out, down) = (fabric.host_link(HostId(0)), to_host(&fabric, 1));
    let (out, down) = (fabric.describe_link(out), fabric.describe_link(down));
    let mut links = vec![
        (out.as_str(), "it 0 to 1", posted, posted + W),
        (out.as_str(), "it 0 to 1", posted + W, posted + 2 * W),
        (down.as_str(), "it 0 to 1", posted + W, posted + 2 * W),
        (down.as_str(), "it 0 to 1", posted + 2 * W, posted + 3 * W),
    ];
    let mut expected = vec![
        ("rank 0", "compute", 0, 5_000),
        ("rank 0", "wait for all", 5_000, posted + 2 * W),
        ("rank 1", "receive from 0", 0, posted + 3 * W + delay),
    ];
    expected.append(&mut links);
    assert_eq!(spans, expected);
    // A window keeps what touches it.
    let part = outcome(Some((5_500, posted + W))).recorded.timeline.unwrap();
    assert_eq!(part.spans.iter().filter(|span| span.group == 1).count(), 1);
    assert_eq!(part.spans.len(), 3);
}

/// Room that is kept until admission: of two packets to host 0 the second waits from the moment the first has been sent, and nothing at
/// all happens then. An interval in which nothing had happened was skipped, and its waiting counted in a later one.
#[test]
fn a_link_that_waits_in_silence_waits_in_every_interval() {
    let config = Config {
        header_bytes: 0,
        output_buffer_bytes: 4096,
        host_output_buffer_bytes: 4096,
        switch_delay_ps: 0,
        cable_delay_ps: 10 * W,
        ..Config::codes()
    };
    let fabric = star(3);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let every_ps = W / 4;
    let measure = Measure { counters_every_ps: Some(every_ps), ..Measure::default() };
    let messages = [(1, 0, 4096), (2, 0, 4096)];
    let finished = measured(&fabric, &config, choice, &messages, &measure, (1, None));
    let waits: Vec<u64> =
        finished.intervals.unwrap().rows.iter().map(|row| row.wait_ps).filter(|&ps| ps > 0).collect();
    // Two cables' time, to the host and back with the credit (8 bytes: 640 ps), in quarters of a packet's.
    assert_eq!(waits.iter().sum::<u64>(), 20 * W + 640 - (20 * W + 640) % 1000);
    assert!(waits.len() >= 80 && waits.iter().all(|&ps| ps < every_ps + 1000), "{waits:?}");
}

/// However the network is divided: what hosts sent each other is what their links carried, and counting it changes nothing.
#[test]
fn pairs_of_hosts_sum_to_what_their_links_carried() {
    for seed in 0..4 {
        let fabric = any_fabric(seed);
        let paths = PathSet::admissible(&fabric, &detect(&fabric));
        let messages = messages(fabric.host_count() as u64, seed);
        for config in configs() {
            let config = Config { cable_delay_ps: config.cable_delay_ps.max(5_000), ..config };
            let run = |measure: &Measure, partitions| {
                let choice = Adaptive::new(&fabric, &paths, seed);
                measured(&fabric, &config, choice, &messages, measure, (partitions, None))
            };
            let bare = run(&Measure::default(), 1);
            let whole = Measure { pairs: true, ..Measure::default() };
            let often = Measure { counters_every_ps: Some(700_000), ..whole.clone() };
            for partitions in [1, 2, 3] {
                let one = run(&whole, partitions);
                assert_eq!((one.end_ps, &one.counters.sent), (bare.end_ps, &bare.counters.sent));
                let rows = one.pairs.unwrap();
                assert!(rows.is_sorted());
                let mut sums = vec![(0, 0); fabric.link_count()];
                for row in &rows {
                    let to = fabric.reverse(fabric.host_link(netloom_model::HostId(row.to)));
                    for link in [fabric.host_link(netloom_model::HostId(row.from)), to] {
                        sums[link.index()].0 += row.bytes;
                        sums[link.index()].1 += row.packets;
                    }
                }
                for host in fabric.hosts() {
                    for link in [fabric.host_link(host), fabric.reverse(fabric.host_link(host))] {
                        let carried =
                            &bare.counters.sent[link.index() * bare.counters.lanes..][..bare.counters.lanes];
                        let carried = carried
                            .iter()
                            .fold((0, 0), |sum, lane| (sum.0 + lane.bytes, sum.1 + lane.packets));
                        assert_eq!(sums[link.index()], carried);
                    }
                }
                let parts = run(&often, partitions).pairs.unwrap();
                let bytes = |rows: &[netloom_sim::PairRow]| rows.iter().map(|row| row.bytes).sum::<u64>();
                assert_eq!(bytes(&parts), bytes(&rows));
                assert!(parts.is_sorted() && parts.len() >= rows.len());
            }
        }
    }
}
