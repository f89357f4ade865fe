//! Recorded runs, small enough to be worked out by hand: traces of actions, graphs of tasks.

use std::sync::Arc;

use netloom_formats::{read_goal, read_ti_workload};
use netloom_model::{Control, HostId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::choice::ByTable;
use netloom_sim::{
    Algorithms, Config, Job, Measure, Model, Network, Nobody, Player, Profile, Replay, Scheme, Setup,
    SimError, Software, Tasks, simulate,
};
use netloom_testkit::cases::star;
use netloom_topology::detect;

use crate::programs::{CONTROL, MS, POST_PS, RENDEZVOUS_PS, job, message_ps, play, software};
use crate::walk::walk;

/// A chain over three ranks, then a barrier of all four.
const CHAIN: &str = "0 init\n1 init\n2 init\n3 init\n0 compute 1e6\n0 isend 1 5 1000 6\n0 wait 0 1 5\n1 irecv 0 5 1000 6\n\
    1 wait 0 1 5\n1 send 2 6 125 0\n2 recv 1 6 125 0\n0 barrier\n1 barrier\n2 barrier\n3 barrier\n0 finalize\n1 finalize\n\
    2 finalize\n3 finalize\n";

fn replay(text: &str) -> Replay {
    Replay::new(Arc::new(read_ti_workload(text.as_bytes(), "x.ti").unwrap().workload), 1e9)
}

fn tasks(text: &str) -> Tasks {
    Tasks::new(Arc::new(read_goal(text.as_bytes(), "x.goal").unwrap()), 1.0)
}

fn ends(script: impl netloom_sim::Script + 'static, software: Software) -> Vec<Option<u64>> {
    let fabric = star(4);
    let hosts: Vec<u32> = (0..4).collect();
    let network = play(&fabric, vec![job("it", &hosts, script)], software);
    network.program().times(0).ranks_ps
}

/// A wire takes 80 ps a byte. The ranks come to the barrier when their own part is done: rank 0 when its 1000 bytes have left,
/// rank 1 when they are there, rank 2 when its 1000 bytes are there, rank 3 at once. Round 0 goes to the next rank, round 1
/// to the one after that; a round ends when the message (1 byte) is there and one's own has left, `LEFT` after its call.
#[test]
fn a_trace_of_four_ranks_takes_the_time_worked_out_by_hand() {
    const LEFT: u64 = POST_PS + 80;
    let m = message_ps(1);
    let come = [MS + POST_PS + 80_000, MS + message_ps(1000), MS + 2 * message_ps(1000), 0];
    let first = [
        // Rank 3's message came long ago.
        come[0] + LEFT,
        // Its own message leaves behind the 1000 bytes for rank 2.
        come[1] + 80_000 + LEFT,
        // Rank 1's message came right behind the 1000 bytes.
        come[2] + LEFT,
        come[2] + m,
    ];
    let second = [first[2] + m, first[3] + m, first[2] + LEFT, first[3] + LEFT];
    assert_eq!(ends(replay(CHAIN), software()), second.map(Some));
}

#[test]
fn collectives_of_a_trace_are_done_as_told() {
    let lines = |rank: u32| format!("{rank} allreduce 4000 0 6\n");
    let mut script = replay(&(0..4).map(lines).collect::<String>());
    let messages = |script: &Replay| walk(script, 4).values().map(|&(count, _)| count).sum::<u64>();
    // A ring of four: 2 x 3 turns; recursive doubling: 2 rounds.
    assert_eq!(messages(&script), 4 * 6);
    script.algorithms = Algorithms::parse("allreduce=recursive-doubling").unwrap();
    assert_eq!(messages(&script), 4 * 2);
}

/// Rank `r` sends `10 r + to + 1` bytes to each.
#[test]
fn an_uneven_all_to_all_sends_the_bytes_of_the_trace() {
    let lines = |rank: u32| {
        let sends: Vec<_> = (0..4).map(|to| (10 * rank + to + 1).to_string()).collect();
        format!("{rank} alltoallv 100 {} 100 1 1 1 1 6 6\n", sends.join(" "))
    };
    let script = replay(&(0..4).map(lines).collect::<String>());
    let sent = walk(&script, 4);
    assert_eq!(sent.len(), 12);
    assert!(sent.iter().all(|(&(from, to), &sent)| sent == (1, u64::from(10 * from + to + 1))));
    assert!(ends(script, software()).iter().all(Option::is_some));
}

/// Rank 0 computes 100 ns and sends, beside it computes 500 ns on another processor; rank 1 answers when the message is there,
/// before the 500 ns are over.
#[test]
fn a_graph_of_tasks_runs_what_can_run() {
    let text = "num_ranks 4\nrank 0 {\na: calc 100\nb: send 1000b to 1 tag 7\nb requires a\nc: calc 500 cpu 1\n\
                d: recv 8b from 1 tag 7\ne: calc 50 cpu 1\ne requires d\ne requires c\n}\n\
                rank 1 {\na: recv 1000b from 0 tag 7\nb: send 8b to 0 tag 7\nb requires a\n}\nrank 2 { }\nrank 3 { }\n";
    let there = 100_000 + message_ps(1000);
    assert!(there + message_ps(8) < 500_000);
    assert_eq!(ends(tasks(text), software()), [Some(550_000), Some(there), Some(0), Some(0)]);
    assert_eq!(walk(&tasks(text), 4).len(), 2, "it can be walked like a script");
}

/// What follows a long message waits until that has left; its receiver's call comes late, and it asks first.
#[test]
fn a_long_message_of_a_graph_is_complete_when_it_has_left() {
    let text = "num_ranks 4\nrank 0 {\na: send 4000b to 1 tag 7\nb: calc 10\nb requires a\nc: calc 10 cpu 1\nc irequires a\n}\n\
                rank 1 {\na: calc 1000000\nb: recv 4000b from 0 tag 7\nb requires a\n}\nrank 2 { }\nrank 3 { }\n";
    let allowed = MS + message_ps(CONTROL);
    let left = allowed + RENDEZVOUS_PS + 80 * 4000;
    let there = allowed + RENDEZVOUS_PS + message_ps(4000) - POST_PS;
    assert_eq!(ends(tasks(text), software())[..2], [Some(left + 10_000), Some(there)]);
}

/// Two calls of 700 ps, one after another on one processor, side by side on two.
#[test]
fn calls_occupy_their_processor() {
    let sends = |cpu: u8| {
        format!(
            "num_ranks 4\nrank 0 {{\nsend 8b to 1 tag 1\nsend 8b to 2 tag 1 cpu {cpu}\n}}\nrank 1 {{ recv 8b from 0 tag 1 }}\n\
             rank 2 {{ recv 8b from 0 tag 1 }}\nrank 3 {{ }}\n"
        )
    };
    let software = Software { call_ps: 700, ..software() };
    assert_eq!(ends(tasks(&sends(0)), software.clone())[0], Some(1400));
    assert_eq!(ends(tasks(&sends(1)), software)[0], Some(700));
}

#[test]
fn a_task_that_waits_for_ever_is_named() {
    let text = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 3\nb: calc 5\nb requires a\nsend 4000b to 1\n}\nrank 1 { }\n";
    let fabric = star(2);
    let network = play(&fabric, vec![job("it", &[0, 1], tasks(text))], software());
    let stuck = network.program().stuck(10);
    let waits = "it rank 0 (step 0) with 3 tasks to do; open receives: rank 1 tag 3 (schedule:3; never sent); \
                 open sends: rank 1 tag 0 (schedule:6; never received)";
    assert_eq!(stuck, [waits]);
}

/// A long message asks and is not answered. Only schedules named it; here there are two to one rank and one that is taken.
#[test]
fn a_send_that_nobody_receives_is_named_with_its_line() {
    let text = "0 init\n1 init\n0 isend 1 5 4000 6\n0 isend 1 5 4000 6\n0 isend 1 4 4000 6\n1 recv 0 4 4000 6\n\
                0 isend 1 5 4000 6\n1 recv 0 5 4000 6\n0 waitall 4\n0 finalize\n1 finalize\n";
    let fabric = star(2);
    let network = play(&fabric, vec![job("it", &[0, 1], replay(text))], software());
    // Of three alike the first has been taken: the oldest of the others was begun in line 4.
    let waits = "it rank 0 (step 5, trace:9) in waitall; open sends: rank 1 tag 5 (trace:4; never received)";
    assert_eq!(network.program().stuck(10), [waits]);
}

/// Task b requires a, which never comes; rank 1 waits for what b would send, so rank 0 is the one to begin with.
#[test]
fn what_a_schedule_has_still_to_send_is_no_message_that_never_comes() {
    let text = "num_ranks 2\nrank 0 {\nb: send 8b to 1 tag 1\na: recv 8b from 1 tag 3\nb requires a\n}\n\
                rank 1 { recv 8b from 0 tag 1 }\n";
    let fabric = star(2);
    let network = play(&fabric, vec![job("it", &[0, 1], tasks(text))], software());
    let [one, other] = &network.program().stuck(10)[..] else { panic!("two ranks wait") };
    assert!(one.starts_with("it rank 0") && one.ends_with("rank 1 tag 3 (schedule:4; never sent)"), "{one}");
    assert!(other.starts_with("it rank 1") && other.ends_with("rank 0 tag 1 (schedule:7)"), "{other}");
}

#[test]
fn computing_for_longer_than_time_lasts_is_refused() {
    let fabric = star(2);
    let run = |script: Arc<dyn netloom_sim::Script>| {
        let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let choice = ByTable::new(&fabric, routes.lft().unwrap());
        let hosts = vec![HostId(0), HostId(1)];
        let job = Job::new("it", hosts, script);
        let player = Player::new(vec![job], software());
        let mut network = Network::new(&fabric, &Config::codes(), choice, player, Nobody).unwrap();
        network.run().unwrap_err()
    };
    let of = |who: &str| SimError::TimeOverflow { who: Some(who.into()) };
    let late = "1 compute 5\n1 compute 1e30\n0 barrier\n1 barrier\n";
    assert_eq!(run(Arc::new(replay(late))), of("job \"it\" rank 1 (trace:2)"));
    let goal = "num_ranks 2\nrank 0 {\ncalc 18446744073709551615\n}\nrank 1 { }\n";
    assert_eq!(run(Arc::new(tasks(goal))), of("job \"it\" rank 0 (schedule:3)"));
}

/// The recorded traces of examples/data: every send meets a receive, nobody waits for ever, and there are as many messages as the
/// trace's own lines and its collectives make: a barrier or short allreduce of 2^k ranks k a rank, a reduction or broadcast one
/// less than ranks.
#[test]
fn the_recorded_traces_can_be_replayed_to_their_end() {
    let lulesh = |ranks: u64, k: u64, allreduces: u64| (1 + allreduces) * ranks * k + ranks - 1;
    // Barriers and short allreduces, allreduces of 90,792 bytes round a ring, broadcasts.
    let nekbone = (4 + 611) * 64 * 6 + 12 * 2 * 63 * 64 + 13 * 63;
    // Of 168 ranks 40 fold into 128: 7 rounds and two messages for each of the 40; barriers take 8 rounds.
    let snap = 3 * 8 * 168 + 9 * 167 + 11 * (128 * 7 + 2 * 40);
    let all = [
        ("lulesh-64", 17_856 + lulesh(64, 6, 9)),
        ("lulesh-512", 99_596 + lulesh(512, 9, 4)),
        ("nekbone-64", 208_173 + nekbone),
        // A barrier, two reductions, 13 allreduces, an allgather.
        ("boxlibmg-64", 12_672 + (1 + 13 + 1) * 64 * 6 + 2 * 63),
        ("snap-168-short", 29_760 + snap),
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    for (name, messages) in all {
        let bytes = std::fs::read(folder.join(format!("{name}.ti.gz"))).unwrap();
        let script = Replay::new(Arc::new(read_ti_workload(&bytes, name).unwrap().workload), f64::INFINITY);
        let sent: u64 = walk(&script, script.ranks()).values().map(|&(count, _)| count).sum();
        assert_eq!(sent, messages, "{name}");
    }
}

/// A graph of tasks shows what its ranks do as other programs do: each processor on a track, and waiting when all of them wait.
#[test]
fn a_window_shows_the_processors_of_a_graph() {
    let fabric = star(2);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let text = "num_ranks 2\nrank 0 {\na: calc 10\nb: calc 20 cpu 3\ns: send 10b to 1 tag 0\ns requires a\ns requires b\n}\n\
                rank 1 {\nr: recv 10b from 0 tag 0\nc: calc 5\nc requires r\n}\n";
    let setup = |software: Software, trace_ps| Setup {
        fabric: &fabric,
        scheme: Scheme::Tables(&routes),
        model: Model::Packet,
        profile: Profile { config: Config::codes(), software },
        jobs: vec![job("it", &[0, 1], tasks(text))],
        seed: 1,
        threads: 1,
        measure: Measure { trace_ps, ..Measure::default() },
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let shown = |software, window| {
        let outcome = simulate(setup(software, Some(window)), &Control::new()).unwrap();
        let timeline = outcome.recorded.timeline.unwrap();
        let ranks = timeline.spans.into_iter().filter(|span| span.group == 0).map(|span| {
            let track = timeline.groups[0].tracks[span.track as usize].clone();
            (track, span.name, span.start_ps, span.end_ps)
        });
        ranks.collect::<Vec<_>>()
    };
    let expected = |spans: &[(&str, &str, u64, u64)]| {
        let spans =
            spans.iter().map(|&(track, name, from, to)| (track.to_owned(), name.to_owned(), from, to));
        spans.collect::<Vec<_>>()
    };
    let there = 20_000 + message_ps(10);
    let spans = [
        ("rank 0", "compute", 0, 10_000),
        ("rank 1", "wait for 0", 0, there),
        ("rank 1", "compute", there, there + 5_000),
        ("rank 0, processor 2", "compute", 0, 20_000),
    ];
    assert_eq!(shown(software(), (0, u64::MAX)), expected(&spans));
    assert_eq!(shown(software(), (there, u64::MAX)), expected(&spans[2..3]));
    // The receiver's call is over long before; the sender's comes when both have computed.
    let busy = Software { call_ps: 300, ..software() };
    let spans = [
        ("rank 0", "compute", 0, 10_000),
        ("rank 0", "call", 20_000, 20_300),
        ("rank 1", "call", 0, 300),
        ("rank 1", "wait for 0", 300, there + 300),
        ("rank 1", "compute", there + 300, there + 5_300),
        ("rank 0, processor 2", "compute", 0, 20_000),
    ];
    assert_eq!(shown(busy, (0, u64::MAX)), expected(&spans));
}
