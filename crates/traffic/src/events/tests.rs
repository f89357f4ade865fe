//! Records of four ranks by hand: what becomes of collectives of some, of duplicates, of what has no other half.

use super::*;

/// Four ranks, of which 3, 1 make a communicator; events as `(function, peer, communicator, bytes)`.
fn run(ranks: &[&[(&str, i32, u32, u64)]]) -> Events {
    let mut events =
        Events { communicators: vec![vec![0, 1, 2, 3], vec![3, 1], vec![0, 1, 2, 3]], ..Events::default() };
    for own in ranks {
        let mut list = RankEvents::default();
        for (at, &(name, peer, communicator, bytes)) in (0..).zip(*own) {
            let function = events.function(name);
            let (start_ns, end_ns) = (10_000 * at, 10_000 * at + 100);
            list.events.push(Event {
                function,
                thread: 0,
                request: name.starts_with('I'),
                cancelled: false,
                peer,
                tag: 5,
                communicator,
                bytes,
                start_ns,
                end_ns,
            });
        }
        events.ranks.push(list);
    }
    events
}

#[test]
fn a_collective_of_a_communicator_is_its_messages_among_the_members() {
    let bcast: &[_] = &[("Bcast", 3, 1, 64)];
    let trace = program(&run(&[&[], bcast, &[], bcast]), Some(&Algorithms::default())).unwrap();
    let named = trace.named.unwrap();
    assert_eq!((named.collectives, named.bytes), (1, 64));
    // The root is rank 3, place 0: its 64 bytes go to rank 1.
    let tag = 1;
    assert_eq!(
        trace.workload.actions(3),
        [
            Action::Isend { to: 1, bytes: 64, tag },
            Action::Wait { peer: 1, tag, sends: true },
            Action::WaitAll
        ]
    );
    assert!(trace.workload.actions(1).contains(&Action::Irecv { from: 3, tag }));
    let left = program(&run(&[&[], bcast, &[], bcast]), None).unwrap();
    assert_eq!((left.named.unwrap().left_out, left.workload.actions(3)), (64, &[Action::WaitAll][..]));
}

#[test]
fn collectives_of_a_duplicate_are_of_all_where_the_order_is_one() {
    let calls: &[_] = &[("Allreduce", -1, 2, 8), ("Barrier", -1, 0, 0)];
    let other: &[_] = &[("Barrier", -1, 0, 0), ("Allreduce", -1, 2, 8)];
    let same = program(&run(&[calls; 4]), Some(&Algorithms::default())).unwrap();
    let kinds: Vec<Kind> = same.workload.collectives().iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::Allreduce, Kind::Barrier]);
    // 9,900 ns from one call to the next.
    assert_eq!(same.workload.actions(0)[1], Action::Compute { flops: 9_900.0 });
    let differ = program(&run(&[calls, calls, other, calls]), Some(&Algorithms::default())).unwrap();
    assert_eq!(differ.workload.collectives().len(), 1);
    assert_eq!(differ.named.unwrap().collectives, 1);
}

#[test]
fn what_has_no_other_half_is_told_and_left_out() {
    let trace = program(
        &run(&[
            &[("Send", 1, 0, 8), ("Send", 1, 0, 9)],
            &[("Recv", 0, 0, 0)],
            &[("Recv", -2, 0, 0)],
            &[("Barrier", -1, 0, 0)],
        ]),
        Some(&Algorithms::default()),
    )
    .unwrap();
    assert_eq!(
        trace.named.unwrap().lacks,
        [
            ("sends without a receive".to_owned(), 1),
            ("receives without a source".to_owned(), 1),
            ("collectives that not all members called".to_owned(), 1)
        ]
    );
    let sends = |action: &&Action| matches!(action, Action::Send { .. });
    assert_eq!(trace.workload.actions(0).iter().filter(sends).count(), 1);
}

#[test]
fn a_nonblocking_collective_stands_where_it_is_waited_for() {
    let calls: &[_] = &[("Ibarrier", -1, 0, 0), ("Send", 1, 0, 8), ("Wait", -1, 0, 0)];
    let mut events = run(&[
        calls,
        &[("Recv", 0, 0, 0), ("Barrier", -1, 0, 0)],
        &[("Barrier", -1, 0, 0)],
        &[("Barrier", -1, 0, 0)],
    ]);
    events.ranks[0].completes.push((2, 0));
    let trace = program(&events, None).unwrap();
    let at = |wanted: fn(&Action) -> bool| trace.workload.actions(0).iter().position(wanted).unwrap();
    assert!(
        at(|action| matches!(action, Action::Together { .. }))
            > at(|action| matches!(action, Action::Send { .. }))
    );
}

/// Rank 0 waits for the younger of two receives of one name, receives a third, and waits for the older.
#[test]
fn a_wait_for_a_younger_request_is_behind_those_for_older_ones_of_its_name() {
    let mut events = run(&[
        &[
            ("Irecv", 1, 0, 0),
            ("Irecv", 1, 0, 0),
            ("Wait", -1, 0, 0),
            ("Irecv", 1, 0, 0),
            ("Recv", 1, 0, 0),
            ("Waitall", -1, 0, 0),
        ],
        &[("Send", 0, 0, 8); 4],
        &[],
        &[],
    ]);
    events.ranks[0].completes.extend([(2, 1), (5, 0), (5, 3)]);
    let trace = program(&events, None).unwrap();
    let calls: Vec<_> =
        trace.workload.actions(0).iter().filter(|a| !matches!(a, Action::Compute { .. })).collect();
    let (begin, wait) = (&Action::Irecv { from: 1, tag: 0 }, &Action::Wait { peer: 1, tag: 0, sends: false });
    // The receive beside an older one is a request too, and its wait takes both.
    assert_eq!(calls, [begin, begin, wait, wait, begin, begin, wait, wait, &Action::WaitAll]);
}
