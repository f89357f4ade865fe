//! Traces as programs: what each action becomes, and which lines are refused.

use super::*;

fn read(text: &str) -> Workload {
    read_ti_workload(text.as_bytes(), "x.ti").unwrap().workload
}

fn refusal(text: &str) -> String {
    read_ti_workload(text.as_bytes(), "x.ti").unwrap_err().to_string()
}

fn wait(peer: u32, tag: u32, sends: bool) -> Action {
    Action::Wait { peer, tag, sends }
}

#[test]
fn sends_and_receives_have_sizes_and_tags() {
    let workload = read(
        "0 init\n1 init\n0 isend 1 7 10 0\n1 irecv 0 7 10 0\n0 send 1 -3 5\n1 recv 0 -3 -1 6\n0 compute 1e9\n1 sleep 1e-6\n\
         0 finalize\n1 finalize\n",
    );
    let tag = (1 << 31) - 3;
    assert_eq!(
        workload.actions(0),
        [
            Action::Isend { to: 1, bytes: 80, tag: 7 },
            Action::Send { to: 1, bytes: 5, tag },
            Action::Compute { flops: 1e9 },
            Action::WaitAll,
        ],
        "bytes after a bare init; finalize waits"
    );
    assert_eq!(
        workload.actions(1),
        [
            Action::Irecv { from: 0, tag: 7 },
            Action::Recv { from: 0, tag },
            Action::Sleep { ps: 1_000_000 },
            Action::WaitAll,
        ]
    );
}

/// The `wait` lines behind a `waitall` list what it completed; each request is waited for once.
#[test]
fn what_is_complete_is_not_waited_for_again() {
    let workload = read(
        "0 irecv 1 5 1 6\n0 irecv 1 5 1 6\n0 isend 1 5 1 6\n0 wait 0 1 5\n0 wait 1 0 5\n0 wait 0 1 5\n0 waitall 1\n\
         0 wait 1 0 5\n0 waitall 1\n1 barrier\n0 barrier\n",
    );
    let waits: Vec<_> = workload.actions(0)[3..].to_vec();
    assert_eq!(
        waits,
        [wait(1, 5, true), wait(1, 5, false), Action::WaitAll, Action::Together { number: 0, shares: None }]
    );
}

#[test]
fn the_last_test_of_a_request_is_the_one_that_succeeded() {
    let workload = read("0 isend 0 5 1 6\n0 test 0 0 5\n0 compute 1\n0 test 0 0 5\n0 test 0 0 5\n");
    assert_eq!(workload.actions(0)[1..], [Action::Compute { flops: 1.0 }, wait(0, 5, true)]);
}

/// A sweep: what came with a tag goes on with this tag, and a poll may have found it.
#[test]
fn a_send_after_a_poll_waits_for_what_was_open_with_its_tag() {
    let head = "1 barrier\n2 barrier\n0 barrier\n0 irecv 1 5 1 6\n0 irecv 1 6 1 6\n";
    let sends = |middle: &str| {
        let workload = read(&format!("{head}{middle}0 isend 2 5 1 6\n0 isend 2 5 1 6\n"));
        workload.actions(0)[3..].to_vec()
    };
    let isend = Action::Isend { to: 2, bytes: 1, tag: 5 };
    assert_eq!(sends("0 testsome\n"), [wait(1, 5, false), isend, isend]);
    assert_eq!(sends(""), [isend, isend]);
    let late = sends("0 testsome\n0 irecv 2 5 1 6\n");
    assert_eq!(late[1..], [wait(1, 5, false), isend, isend]);
}

#[test]
fn collectives_are_shared_by_all_ranks() {
    let line = |rank: u32| {
        format!(
            "{rank} bcast 4 1 6\n{rank} reduce 2 8 1 0\n{rank} allreduce 3 0 1\n{rank} allgather 5 5 6 6\n\
             {rank} alltoall {} 2 1 1\n{rank} gather 3 3 1 6 6\n{rank} scatter 3 4 0 6 6\n{rank} scan 2 0 0\n\
             {rank} reducescatter 4 4 0 0\n",
            2 * rank
        )
    };
    let workload = read(&(line(0) + &line(1)));
    let all: Vec<_> = workload.collectives().iter().map(|t| (t.kind.name(), t.root, t.bytes)).collect();
    let expected = [
        ("broadcast", 1, 4),
        ("reduce", 1, 16),
        ("allreduce", 0, 12),
        ("allgather", 0, 5),
        ("alltoall", 0, 8),
        ("gather", 1, 3),
        ("scatter", 0, 4),
        ("scan", 0, 16),
        ("reduce-scatter", 0, 32),
    ];
    assert_eq!(all, expected);
    assert_eq!(workload.actions(0)[2], Action::Compute { flops: 8.0 }, "computed after the reduction");
}

#[test]
fn uneven_collectives_have_shares() {
    let both = |line: &str| format!("0 {line}\n1 {line}\n");
    let text = both("alltoallv 9 1 2 9 1 1 1 1")
        + &both("gatherv 7 5 6 1 6 6")
        + &both("allgatherv 5 5 6")
        + &both("scatterv 3 4 9 1 1 1")
        + &both("reducescatter 3 4 0 6");
    let workload = read(&text);
    let shares = |rank: u32| {
        let row = |action: &Action| match action {
            Action::Together { shares: Some(row), .. } => workload.shares(*row).to_vec(),
            other => panic!("{other:?}"),
        };
        workload.actions(rank).iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(shares(0), [[4, 8], [7, 6], [40, 48], [12, 16], [3, 4]]);
    assert_eq!(shares(1)[1], [5, 7], "a rank's own share is what it sends");
    assert!(workload.collectives().iter().all(|t| t.uneven));
}

#[test]
fn truncated_and_wrong_lines_are_named() {
    assert!(
        refusal("0 isend 0 7\n").starts_with("x.ti:1: expected a tag and a count, found the end of the line")
    );
    assert_eq!(refusal("0 barrier\n0 wait 0 0\n"), "x.ti:2: expected a tag, found the end of the line");
    assert_eq!(
        refusal("0 irecv -555 7 1\n"),
        "x.ti:1: expected a source rank below 1, those that have lines, found -555"
    );
    assert_eq!(refusal("0 isend 0 7 1 6 6\n"), "x.ti:1: expected the end of the line, found \"6\"");
    assert!(refusal("0 isend 0 1073741824 1 6\n").contains("expected a tag between"));
    assert!(refusal("0 isend 0 7 1000000000001 6\n").contains("expected at most 1000000000000 bytes"));
    assert!(refusal("0 alltoallv 9 1\n").contains("expected the size of the receive buffer"));
    assert!(refusal("0 compute -1\n").contains("not negative"));
    assert!(refusal("0 init\n0 barrier\n").contains("cut short"));
    assert!(refusal("0 init\n0 isend 2 7 1\n1 init\n1 i").ends_with("found 2: is the trace cut short?"));
    assert!(refusal("1 barrier\n").contains("none of rank 0"));
    assert!(refusal("").contains("found none"));
}

#[test]
fn ranks_agree_about_collectives() {
    assert_eq!(
        refusal("0 bcast 4 0 6\n1 bcast 4 1 6\n"),
        "x.ti:2: expected broadcast of root 0 as collective 1 of rank 1, as on other ranks, found broadcast of root 1: \
         communicators of some ranks only can't be replayed"
    );
    assert_eq!(
        refusal("0 barrier\n1 barrier\n1 barrier\n"),
        "x.ti: expected 1 collectives of every rank, as of rank 0, found 2 of rank 1"
    );
}

/// Beside an older receive of that name; the older one's own wait adds nothing.
#[test]
fn a_sendrecv_waits_for_its_own_receive() {
    let workload = read("0 irecv 1 0 1 6\n0 sendRecv 2 1 2 1 6 6\n0 wait 1 0 0\n0 barrier\n1 barrier\n");
    let receive = Action::Irecv { from: 1, tag: 0 };
    let send = Action::Send { to: 1, bytes: 2, tag: 0 };
    assert_eq!(workload.actions(0)[..5], [receive, receive, send, wait(1, 0, false), wait(1, 0, false)]);
    assert_eq!(workload.actions(0).len(), 6);
}
