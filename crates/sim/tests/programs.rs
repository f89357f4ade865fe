//! Programs of ranks, with times worked out by hand.
//!
//! On a star, with the `codes` profile, a packet of `b` bytes takes `2 x 80 b` ps on two wires and 90,000 ps in the switch.

use netloom_model::{Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::choice::ByTable;
use netloom_sim::{
    Collective, Config, Injection, Job, Kind, Network, Nobody, Op, OpenLoop, Pairs, Player, Repeat, Script,
    SimError, Software, Uniform, sends,
};
use netloom_testkit::cases::star;
use netloom_topology::detect;

use crate::common::AtOnce;

pub const POST_PS: u64 = 1_000;
pub const RENDEZVOUS_PS: u64 = 5_000;
pub const CONTROL: u64 = 16;
pub const MS: u64 = 1_000_000_000;

pub fn software() -> Software {
    Software {
        call_ps: 0,
        post_ps: POST_PS,
        rendezvous_ps: RENDEZVOUS_PS,
        eager_bytes: 1024,
        control_bytes: CONTROL,
        copy_ps_per_byte: 2.0,
    }
}

/// A message of one packet from its send to its receiver.
pub fn message_ps(bytes: u64) -> u64 {
    POST_PS + 2 * 80 * bytes + 90_000
}

pub fn job(name: &str, hosts: &[u32], script: impl Script + 'static) -> Job {
    let hosts = hosts.iter().map(|&h| HostId(h)).collect();
    Job::new(name, hosts, script)
}

pub fn play(fabric: &Fabric, jobs: Vec<Job>, software: Software) -> Network<'_, ByTable, Player, Nobody> {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(fabric, routes.lft().unwrap());
    let mut network =
        Network::new(fabric, &Config::codes(), choice, Player::new(jobs, software), Nobody).unwrap();
    network.run().unwrap();
    network
}

fn ends(hosts: &[u32], script: Vec<Vec<Op>>) -> Vec<u64> {
    let fabric = star(4);
    let network = play(&fabric, vec![job("it", hosts, script)], software());
    network.program().times(0).ranks_ps.into_iter().map(|t| t.expect("every rank ends")).collect()
}

fn send(to: u32, bytes: u64) -> Op {
    Op::Send { to, bytes, tag: 7 }
}

fn receive(from: u32) -> Op {
    Op::Recv { from, tag: 7 }
}

#[test]
fn an_eager_message_takes_one_way() {
    let ends = ends(&[0, 1], vec![vec![send(1, 1000)], vec![receive(0)]]);
    assert_eq!(ends, [0, message_ps(1000)]);
}

#[test]
fn a_long_message_asks_first_and_its_sender_waits_until_it_has_left() {
    let ends = ends(&[0, 1], vec![vec![send(1, 4000)], vec![receive(0)]]);
    let allowed = 2 * message_ps(CONTROL);
    let arrived = allowed + RENDEZVOUS_PS + message_ps(4000) - POST_PS;
    assert_eq!(ends, [allowed + RENDEZVOUS_PS + 80 * 4000, arrived]);
}

#[test]
fn an_early_message_waits_for_its_receive() {
    let late = vec![Op::Compute { ps: MS }, receive(0)];
    assert_eq!(ends(&[0, 1], vec![vec![send(1, 1000)], late]), [0, MS]);
}

#[test]
fn a_long_message_waits_for_its_receive_before_it_leaves() {
    let late = vec![Op::Compute { ps: MS }, receive(0)];
    let ends = ends(&[0, 1], vec![vec![send(1, 4000)], late]);
    assert_eq!(ends[1], MS + message_ps(CONTROL) + RENDEZVOUS_PS + message_ps(4000) - POST_PS);
}

#[test]
fn ranks_of_one_host_copy() {
    let ends = ends(&[2, 2], vec![vec![send(1, 1000)], vec![receive(0)]]);
    assert_eq!(ends, [0, POST_PS + 2 * 1000]);
}

#[test]
fn every_call_costs_the_processor() {
    let fabric = star(2);
    let script = vec![vec![send(1, 8), send(1, 8)], vec![receive(0), receive(0)]];
    let network = play(&fabric, vec![job("it", &[0, 1], script)], Software { call_ps: 700, ..software() });
    // The second send is called at 1400, and its receive was called long before it comes.
    assert_eq!(network.program().times(0).ranks_ps, [Some(1400), Some(1400 + message_ps(8))]);
}

/// Rank 1 hears from rank 0 at once, from rank 2 after a millisecond.
#[test]
fn waits_end_with_what_they_wait_for() {
    let scripts = |wait: Vec<Op>| {
        let both = [0, 2].map(|from| Op::Irecv { from, tag: 7 });
        vec![
            vec![Op::Isend { to: 1, bytes: 8, tag: 7 }, Op::WaitAll],
            both.into_iter().chain(wait).collect(),
            vec![Op::Compute { ps: MS }, send(1, 8)],
        ]
    };
    let end = |wait| ends(&[0, 1, 2], scripts(wait))[1];
    let wait_for = |peer| Op::Wait { peer, tag: 7, sends: false };
    assert_eq!(end(vec![Op::WaitAny]), message_ps(8));
    assert_eq!(end(vec![wait_for(0)]), message_ps(8));
    assert_eq!(end(vec![wait_for(2)]), MS + message_ps(8));
    assert_eq!(end(vec![Op::WaitAny, Op::WaitAny]), MS + message_ps(8));
    assert_eq!(end(vec![wait_for(0), Op::WaitAll]), MS + message_ps(8));
}

/// Two rounds for four ranks, three barriers.
#[test]
fn a_barrier_takes_as_many_messages_one_after_another_as_its_rounds() {
    let fabric = star(4);
    let barrier = Repeat { collective: Collective::all(Kind::Barrier, 8, 4), iterations: 3 };
    let network = play(&fabric, vec![job("barrier", &[0, 1, 2, 3], barrier)], software());
    assert_eq!(network.program().times(0).ranks_ps, [Some(3 * 2 * message_ps(8)); 4]);
    assert_eq!(network.program().latency(0).summary().count, 3 * 2 * 4);
}

#[test]
fn a_job_that_repeats_until_another_ends_is_not_waited_for() {
    let fabric = star(4);
    let pairs = Pairs { partner: vec![1, 0], rounds: 2, messages: 3, bytes: 1000 };
    let bully = Job { until: Some(0), ..job("bully", &[2, 3], pairs) };
    let network =
        play(&fabric, vec![job("victim", &[0, 1], vec![vec![Op::Compute { ps: MS }]; 2]), bully], software());
    let program = network.program();
    assert_eq!(program.times(0).end_ps(), Some(MS));
    assert_eq!(program.times(1).end_ps(), None);
    // A round: three packets of 1000 bytes one after another, then the next.
    let round = message_ps(1000) + 2 * 80 * 1000;
    let rounds = u64::from(program.times(1).rounds);
    assert_eq!(rounds, MS / (2 * round));
}

#[test]
fn a_receive_without_a_send_is_named() {
    let fabric = star(2);
    let network = play(&fabric, vec![job("it", &[0, 1], vec![vec![], vec![receive(0)]])], software());
    assert_eq!(network.program().times(0).end_ps(), None);
    let stuck = network.program().stuck(10);
    let waits = "it rank 1 (step 1) in receive from rank 0 tag 7; open receives: rank 0 tag 7 (never sent)";
    assert_eq!(stuck, [waits]);
}

/// Every rank waits for the next one's message before it sends its own; the last for one that nobody sends. It was named last, or not at
/// all, and nothing said that there were more.
#[test]
fn of_many_ranks_that_wait_the_one_to_begin_with_is_named_first() {
    let fabric = star(12);
    let ranks: Vec<u32> = (0..12).collect();
    let steps = ranks.iter().map(|&rank| match rank {
        0 => vec![receive(1)],
        11 => vec![receive(0), send(10, 8)],
        _ => vec![receive(rank + 1), send(rank - 1, 8)],
    });
    let network = play(&fabric, vec![job("it", &ranks, steps.collect::<Vec<_>>())], software());
    let stuck = network.program().stuck(3);
    let chain = |rank: u32| {
        let from = rank + 1;
        format!("it rank {rank} (step 1) in receive from rank {from} tag 7; open receives: rank {from} tag 7")
    };
    let last = "it rank 11 (step 1) in receive from rank 0 tag 7; open receives: rank 0 tag 7 (never sent)";
    assert_eq!(stuck, [last.to_owned(), chain(0), chain(1), "and 9 more".into()]);
    assert_eq!(network.program().stuck(12).len(), 12);
    // Where packets wait for each other, what is not there may be under way.
    assert_eq!(network.program().held_up(1), [chain(0), "and 11 more".into()]);
}

/// Rank 0 waits for six messages at once.
#[test]
fn of_many_messages_that_a_rank_waits_for_some_are_named_and_the_rest_counted() {
    let fabric = star(7);
    let ranks: Vec<u32> = (0..7).collect();
    let mut steps: Vec<Vec<Op>> = vec![vec![]; 7];
    steps[0] = (1..7).map(|from| Op::Irecv { from, tag: 7 }).chain([Op::WaitAll]).collect();
    // The last one sends, but only after a message that nobody sends.
    steps[6] = vec![Op::Recv { from: 1, tag: 9 }, send(0, 8)];
    let network = play(&fabric, vec![job("it", &ranks, steps)], software());
    let never = |from: u32| format!("rank {from} tag 7 (never sent)");
    let named: Vec<String> = (1..5).map(never).collect();
    let first = format!("it rank 0 (step 7) in waitall; open receives: {}, and 2 more", named.join(", "));
    assert_eq!(network.program().stuck(1), [first, "and 1 more".into()]);
}

#[test]
fn uniform_load_is_delivered_and_depends_on_its_seed_alone() {
    let fabric = star(4);
    let run = |seed| {
        let window =
            OpenLoop { from_ps: 10_000_000, to_ps: 50_000_000, wire_bytes: 1000, capacity_bytes_per_s: 5e10 };
        let uniform = Uniform::new(vec![0, 1, 2, 3], vec![200_000.0; 4], 1000, window, seed);
        let sent: usize = (0..4).map(|rank| sends(&uniform, rank).count()).sum();
        let network = play(&fabric, vec![job("load", &[0, 1, 2, 3], uniform)], software());
        assert_eq!(network.packets_received(), sent as u64);
        // 60 us before, in and after the window, a message each 200 ns.
        assert!((1_200 - 150..1_200 + 150).contains(&sent), "{sent}");
        network.program().latency(0).summary()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    // No message is faster than an empty network; at 40 % load they wait for less than a packet on average.
    let mean = run(1).mean_ps as u64;
    assert!((message_ps(1000)..message_ps(1000) + 80_000).contains(&mean), "{mean}");
}

/// Messages of one host on two lanes take turns packet by packet, those of one lane follow each other.
#[test]
fn lanes_take_turns() {
    let fabric = star(3);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let done = |lanes: u8| {
        let config = Config { lanes, injection: Injection::InOrder, ..Config::infiniband() };
        let mut program = AtOnce::new(&[(0, 1, 100 * 4096), (0, 2, 100 * 4096)]);
        program.lanes = lanes;
        let choice = ByTable::new(&fabric, routes.lft().unwrap());
        let mut network = Network::new(&fabric, &config, choice, program, Nobody).unwrap();
        network.run().unwrap();
        network.program().done_ps.iter().map(|t| t.unwrap()).collect::<Vec<u64>>()
    };
    let wire = u64::from(Config::infiniband().wire_bytes()) * 80;
    let (one, two) = (done(1), done(2));
    assert_eq!(one[1] - one[0], 100 * wire);
    assert_eq!(two[1] - two[0], wire);
    assert_eq!(one[1], two[1]);
}

/// A job that repeats until another has ended, with rounds that take no time: a rank that sends eagerly, software that costs nothing, and a rank
/// with nothing to do but wait for nothing. Both went round for ever at time 0.
#[test]
fn rounds_that_take_no_time_pass_time_or_are_the_last() {
    let fabric = star(3);
    let busy = job("busy", &[2], vec![vec![Op::Compute { ps: 1_000_000 }]]);
    let idle = Job { until: Some(0), ..job("idle", &[0, 1], vec![vec![send(1, 10)], vec![Op::WaitAll]]) };
    let network = play(&fabric, vec![busy, idle], software());
    assert_eq!(network.program().times(1).ranks_ps, [None, Some(0)]);
    // The next message is posted when the last one has left: POST_PS, and 10 bytes on the wire.
    let sent = network.counters().sent[fabric.host_link(HostId(0)).index()].packets;
    let fits = 1_000_000 / (POST_PS + 10 * 80);
    assert!((fits..=fits + 1).contains(&sent), "{sent}");
}

#[test]
fn a_pause_beyond_the_range_of_time_is_refused() {
    let fabric = star(1);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let steps = vec![vec![Op::Compute { ps: 1 }, Op::Compute { ps: u64::MAX }]];
    let player = Player::new(vec![job("it", &[0], steps)], software());
    let mut network = Network::new(&fabric, &Config::codes(), choice, player, Nobody).unwrap();
    assert_eq!(network.run(), Err(SimError::TimeOverflow { who: Some("job \"it\" rank 0".into()) }));
}

/// Free software, and nobody receives: a job that starts over sends its next messages when the last ones have left, not a billion of them
/// into the adapter's memory.
#[test]
fn a_job_that_starts_over_sends_no_faster_than_its_link() {
    let fabric = star(3);
    let free = Software {
        call_ps: 0,
        post_ps: 0,
        rendezvous_ps: 0,
        eager_bytes: u64::MAX,
        control_bytes: 1,
        copy_ps_per_byte: 0.0,
    };
    let bytes = 100_000;
    let busy = job("busy", &[2], vec![vec![Op::Compute { ps: 1_000_000_000 }]]);
    let flood = vec![vec![send(1, bytes)], vec![send(0, bytes)]];
    let flood = Job { until: Some(0), ..job("flood", &[0, 1], flood) };
    let network = play(&fabric, vec![busy, flood], free);
    let fits = 1_000_000_000 / (80 * bytes);
    let rounds = u64::from(network.program().times(1).rounds);
    assert!((fits..=fits + 1).contains(&rounds), "{rounds} rounds, {fits} messages fit");
}
