"""Traces without MPI: events as the library writes them, hostile files, collectives as messages."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netloom import _core
from netloom.errors import FormatError
from netloom.recording import events, goal, matching, records, schedules, ti, trace
from netloom.recording.records import Record

NAMES = ["BSend", "NIsend", "-Irecv", "-Recv", "-Wait", "CBcast", "CAlltoallv", "CIallreduce", "CBarrier"]
SEND, ISEND, IRECV, RECV, WAIT, BCAST, ALLTOALLV, IALLREDUCE, BARRIER = range(len(NAMES))
PAGE, START, CLOCK = 4096, 10**18, 5000
NONE, ANY, NO_TAG = 0xFFFFFF, 0xFFFFFE, 0xFFFF
TREE = "two-level:leaves=2,hosts=4,spines=2"


def call(
    function: int, peer: int, size: int = 0, tag: int = NO_TAG, communicator: int = 0, at: int = 0
) -> bytes:
    """The event of a call, as format.h has it."""
    first = at | (16 + function) << 32 | tag << 48
    return struct.pack("=QQ", first, peer | communicator << 24 | size << 32)


def other(code: int, low: int = 0, second: int = 0) -> bytes:
    return struct.pack("=QQ", code << 32 | low, second)


CLOCKED = other(events.CLOCK, 0, CLOCK) + other(events.TIME, 0, START)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % PAGE)


def file_of(
    rank: int,
    ranks: int,
    stream: bytes,
    *,
    state: int = 2,
    flags: int = 0,
    dropped: int = 0,
    end_ns: int = START + 10**6,
    end: int = CLOCK + 10**6,
    pace: float = 1.0,
) -> bytes:
    """A record file of one thread with these events; the pace is as measured at the start."""
    body = padded(b"".join(name.encode().ljust(32, b"\0") for name in NAMES))
    sums = bytes(16 * (len(NAMES) + ranks))
    for kind, data in ((1, sums), (3, stream)):
        whole = len(padded(bytes(64) + data))
        body += padded(
            struct.pack("=IIQQQQQQQ", 0x4B4C424E, kind, whole, 0, 0, 0, dropped * (kind == 1), 0, 0) + data
        )
    head = struct.pack(
        "=8sIIIIIIIIIIIiQQQQd256s1024s512sQQdQ",
        *(b"NLRECORD", 0x01020304, 1, 2, PAGE, state, flags, 2, rank, ranks, len(NAMES), 0, 0),
        *(PAGE + len(body), 1, START, end_ns, 4.5, b"node1", b"/bin/app", b"Test MPI"),
        *(CLOCK, end, pace, len(stream)),
    )
    return padded(head) + body


def read(folder: Path, rank: int, data: bytes) -> Record:
    path = folder / f"rank.{rank}.1.node1"
    path.write_bytes(data)
    return records.read(path)


def trace_of(folder: Path, *streams: bytes) -> trace.Trace:
    folder.mkdir(exist_ok=True)
    return trace.of_records(
        [
            read(folder, rank, file_of(rank, len(streams), CLOCKED + stream))
            for rank, stream in enumerate(streams)
        ]
    )


def write(found: trace.Trace, folder: Path) -> None:
    for name, data in trace.to_files(found).items():
        (folder / name).write_bytes(data)


def lines_of(found: trace.Trace, rank: int) -> list[str]:
    parts: list[str] = []
    ti.write(found, parts.append)
    return [line for line in "".join(parts).splitlines() if line.startswith(f"{rank} ")]


def test_a_receive_from_any_source_gets_what_its_completion_told(tmp_path):
    found = trace_of(
        tmp_path,
        call(IRECV, ANY, at=10)
        + other(events.REQUEST, 0, 77)
        + call(WAIT, NONE, 1, at=50)
        + other(events.COMPLETES, 0, 77)
        + other(events.MATCHED, 9, 1),
        call(SEND, 0, 300, tag=9, at=20),
    )
    assert lines_of(found, 0) == ["0 init", "0 irecv 1 0 300 6", "0 wait 1 0 0", "0 finalize"]
    assert lines_of(found, 1) == ["1 init", "1 send 0 0 300 6", "1 finalize"]
    assert (found.events[0].end_ns - START).tolist() == [10, 50]


def test_handles_that_are_used_again_name_the_last_request(tmp_path):
    begin = call(IRECV, 1, tag=1) + other(events.REQUEST, 0, 77)
    done = call(WAIT, NONE, 1) + other(events.COMPLETES, 0, 77)
    found = trace_of(tmp_path, begin + done + done + begin + done, call(SEND, 0, 1, tag=1) * 2)
    which, begun = found.events[0].completes
    # The wait in between completes nothing: the handle was no request's any more.
    assert (which.tolist(), begun.tolist()) == ([1, 4], [0, 3])


def test_large_numbers_stand_before_their_event(tmp_path):
    size, tag = (5 << 32) + 7, 70_000
    wide = other(events.WIDE, tag, 5 << 32 | 0)
    found = trace_of(
        tmp_path, wide + call(SEND, 1, 7, communicator=0xFF), wide + call(RECV, 0, communicator=0xFF)
    )
    assert (found.events[0].bytes[0], found.events[0].tag[0]) == (size, tag)
    assert matching.match(found).messages == 1


def test_a_nonblocking_collective_stands_where_it_is_waited_for(tmp_path):
    begin = call(IALLREDUCE, NONE, 64) + other(events.REQUEST, 0, 5)
    done = call(WAIT, NONE, 1) + other(events.COMPLETES, 0, 5)
    found = trace_of(tmp_path, begin + call(SEND, 1, 10, tag=0) + done, begin + call(RECV, 0, tag=0) + done)
    assert lines_of(found, 1) == ["1 init", "1 recv 0 0 10 6", "1 allreduce 64 0 6", "1 finalize"]


def test_what_has_no_other_half_is_left_out_and_told(tmp_path):
    found = trace_of(
        tmp_path,
        call(SEND, 1, 10, tag=0) * 2 + call(BARRIER, NONE),
        call(RECV, 0, tag=0) + call(RECV, 2, tag=0),
        call(BARRIER, NONE),
    )
    pairs = matching.match(found)
    assert pairs.unmatched == [(0, 1, 0, 0, 2, 1), (2, 1, 0, 0, 0, 1)]
    parts: list[str] = []
    written = ti.write(found, parts.append, pairs)
    assert written.left_out == {
        "sends without a receive": 1,
        "receives without a send": 1,
        "collectives that not all members called": 1,
    }
    assert "barrier" not in "".join(parts)
    _core.Traffic.parse("".join(parts).encode(), "ti")


def test_a_rank_that_was_killed_ends_with_its_last_whole_event(tmp_path):
    # The code of a record is written last: what has none is no event; nor has a prefix without its call.
    half = struct.pack("=QQ", 0, 12345)
    found = trace_of(
        tmp_path, call(SEND, 0, 8, tag=0) + other(events.SPENT, 0, 3), call(SEND, 1, 8, tag=0) + half
    )
    assert [len(one) for one in found.events] == [1, 1]


@pytest.mark.parametrize("killed", [False, True])
def test_the_pace_of_the_clock_is_told_by_the_longest_span(tmp_path, killed):
    # Measured at the start a tick is 1.001 ns; over the run, or up to the last time that was told, 1.
    later = CLOCKED + call(SEND, 0, 8, tag=0, at=1000)
    later += other(events.CLOCK, 0, CLOCK + 40 * 10**6) + other(events.TIME, 0, START + 40 * 10**6)
    later += call(SEND, 0, 8, tag=0, at=10**7)
    ends = {"end_ns": 0, "end": 0} if killed else {"end_ns": START + 5 * 10**7, "end": CLOCK + 5 * 10**7}
    one = events.read(read(tmp_path, 0, file_of(0, 1, later, state=1 if killed else 2, pace=1.001, **ends)))
    assert one.end_ns.tolist() == [START + 1000, START + 5 * 10**7]


def test_a_clock_that_was_set_keeps_the_pace_of_the_start(tmp_path):
    stream = CLOCKED + call(SEND, 0, 8, tag=0, at=10**7)
    one = events.read(read(tmp_path, 0, file_of(0, 1, stream, end_ns=START + 10**9, end=CLOCK + 5 * 10**7)))
    assert one.end_ns.tolist() == [START + 10**7]


def test_two_communicators_of_the_same_members_are_one(tmp_path):
    def make(number: int, *members: int) -> bytes:
        rows = [other(events.MEMBER, i, member) for i, member in enumerate(members)]
        return other(events.COMMUNICATOR, number, len(members)) + b"".join(rows)

    found = trace_of(
        tmp_path,
        make(1, 2, 0)
        + call(BCAST, 1, 50, communicator=1)
        + make(2, 2, 0)
        + call(BARRIER, NONE, communicator=2),
        b"",
        make(4, 2, 0) + call(BCAST, 1, 0, communicator=4) + call(BARRIER, NONE, communicator=4),
    )
    assert [members.tolist() for members, *_ in found.communicators] == [[0, 1, 2], [2, 0]]
    # The root is the second member, rank 0.
    assert [line.split()[1:3] for line in lines_of(found, 0)[1:3]] == [["send", "2"], ["irecv", "2"]]
    assert [line.split()[1:3] for line in lines_of(found, 2)[1:3]] == [["recv", "0"], ["irecv", "0"]]


def test_contexts_tell_communicators_of_the_same_members_apart(netloom, tmp_path):
    def make(number: int, context: int, *members: int, remote: int = 0) -> bytes:
        rows = [other(events.MEMBER, i, member) for i, member in enumerate(members)]
        head = other(events.COMMUNICATOR, number, remote << 32 | len(members))
        return head + other(events.CONTEXT, 0, context) + b"".join(rows)

    # Rank 1 receives on its second duplicate first; between the groups {0} and {1} rank 0 sends 30 bytes.
    found = trace_of(
        tmp_path / "records",
        make(1, 1 << 62, 0, 1)
        + make(2, 77, 0, 1)
        + make(3, 78, 1, remote=1)
        + call(SEND, 1, 10, tag=0, communicator=1)
        + call(SEND, 1, 20, tag=0, communicator=2)
        + call(SEND, 1, 30, tag=0, communicator=3),
        make(1, 78, 0, remote=1)
        + make(2, 77, 0, 1)
        + make(5, 1 << 62, 0, 1)
        + call(RECV, 0, tag=0, communicator=1)
        + call(RECV, 0, tag=0, communicator=2)
        + call(RECV, 0, tag=0, communicator=5),
    )
    assert [(one.members.tolist(), one.remote, one.context) for one in found.communicators] == [
        ([0, 1], False, 0),
        ([0, 1], False, 1),
        ([0, 1], False, 2),
        ([1], True, 3),
        ([0], True, 3),
    ]
    assert matching.match(found).received[1].tolist() == [30, 20, 10]
    run = netloom.folder / "run"
    run.mkdir()
    write(found, run)
    assert matching.match(trace.read(run)).received[1].tolist() == [30, 20, 10]
    # Traces of earlier versions do not say: all between groups are one, and others are told by their rows.
    file = run / trace.COMMUNICATORS
    table = pq.read_table(file)
    pq.write_table(table.drop_columns(["context"]), file)
    assert matching.match(trace.read(run)).received[1].tolist() == [30, 20, 10]
    pq.write_table(column(table, "context", [0, 1, 2, 5, 3]), file)
    assert "row 3: expected a row as the context" in netloom.refused("trace", "show", run)


def test_collectives_of_duplicates_that_ranks_order_differently_become_messages(tmp_path):
    def make(number: int) -> bytes:
        members = [other(events.MEMBER, i, i) for i in range(2)]
        return other(events.COMMUNICATOR, number, 2) + other(events.CONTEXT, 0, 77) + b"".join(members)

    barrier, second = call(BARRIER, NONE), call(BARRIER, NONE, communicator=1)
    same = trace_of(tmp_path / "a", make(1) + barrier + second, make(1) + barrier + second)
    assert [line.split()[1] for line in lines_of(same, 0)] == ["init", "barrier", "barrier", "finalize"]
    other_way = trace_of(tmp_path / "b", make(1) + barrier + second, make(1) + second + barrier)
    verbs = [line.split()[1] for line in lines_of(other_way, 0)]
    assert verbs == ["init", "barrier", "irecv", "isend", "wait", "wait", "finalize"]


def test_what_makes_no_sense_is_counted_and_left_out(tmp_path):
    found = trace_of(
        tmp_path,
        call(SEND, 7, 8, tag=0) + call(SEND, 1, 8, tag=0, communicator=9) + other(99) + call(RECV, 1, tag=0),
        call(SEND, 0, 8, tag=0),
    )
    assert (len(found.events[0]), found.meta["unread"]) == (1, 3)


@pytest.mark.parametrize("seed", range(40))
def test_hostile_records_are_refused_or_read(tmp_path, seed):
    draw = random.Random(seed)
    stream = CLOCKED + b"".join(
        draw.choice(
            [
                call(
                    draw.randrange(len(NAMES)),
                    draw.choice([0, 1, NONE, ANY]),
                    draw.randrange(99),
                    draw.randrange(9),
                ),
                other(draw.randrange(1, 12), draw.randrange(5), draw.randrange(1 << 40)),
                bytes(draw.randrange(256) for _ in range(16)),
            ]
        )
        for _ in range(200)
    )
    good = [bytearray(file_of(rank, 2, stream)) for rank in range(2)]
    for _ in range(draw.choice([0, 3])):
        good[0][draw.randrange(len(good[0]))] = draw.randrange(256)
    try:
        found = trace.of_records([read(tmp_path, rank, bytes(data)) for rank, data in enumerate(good)])
    except FormatError:
        return
    if found.ranks > 2:
        return
    parts: list[str] = []
    ti.write(found, parts.append)
    _core.Traffic.parse("".join(parts).encode(), "ti")
    write(found, tmp_path)
    again = trace.read(tmp_path)
    assert len(again) == len(found)
    matching.match(again)


# Collectives as messages


KINDS = sorted(schedules.ALGORITHMS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 7, 8])
def test_every_message_of_a_collective_is_received(kind, n):
    root, sizes = n - 1, [100 + member for member in range(n)]
    rows = [[10 * a + b for b in range(n)] for a in range(n)]
    each = [schedules.steps(kind, me, n, root, sizes, rows) for me in range(n)]
    sent = Counter((me, to) for me, steps in enumerate(each) for to, _, _ in steps if to >= 0)
    received = Counter((source, me) for me, steps in enumerate(each) for _, _, source in steps if source >= 0)
    assert sent == received
    # They go on to the end: no member waits for one that waits for it.
    at, moved = [0] * n, True
    arrived: Counter[tuple[int, int]] = Counter()
    begun = [-1] * n
    while moved:
        moved = False
        for me, steps in enumerate(each):
            while at[me] < len(steps):
                to, _, source = steps[at[me]]
                if to >= 0 and begun[me] < at[me]:
                    begun[me] = at[me]
                    arrived[me, to] += 1
                    moved = True
                if source >= 0 and arrived[source, me] == 0:
                    break
                if source >= 0:
                    arrived[source, me] -= 1
                at[me] += 1
                moved = True
    assert at == [len(steps) for steps in each]


def test_bytes_of_collectives_are_those_of_their_algorithms():
    def total(kind: str, n: int, sizes: list[int], rows: list[list[int]]) -> int:
        each = (schedules.steps(kind, me, n, 0, sizes, rows) for me in range(n))
        return sum(size for steps in each for to, size, _ in steps if to >= 0)

    assert total("Bcast", 6, [64] * 6, []) == 5 * 64
    assert total("Allreduce", 8, [64] * 8, []) == 8 * 3 * 64
    # Of six, two hand over and get back; four exchange twice.
    assert total("Allreduce", 6, [64] * 6, []) == (2 + 2 + 4 * 2) * 64
    assert total("Allgather", 5, [1, 2, 3, 4, 5], []) == 4 * 15
    assert total("Alltoallv", 3, [0] * 3, [[9, 1, 2], [3, 9, 4], [5, 6, 9]]) == 1 + 2 + 3 + 4 + 5 + 6


def test_every_collective_is_read_as_it_is_written():
    rows = [[3 * a + b for b in range(4)] for a in range(4)]
    for kind in KINDS:
        sizes = [40] * 4
        counts: list[dict[int, int]] = [{}] * 4
        if kind in ("Alltoallv", "Alltoallw"):
            counts = [dict(enumerate(row)) for row in rows]
            sizes = [sum(row) for row in rows]
        elif kind in ("Scatterv", "Reduce_scatter"):
            counts, sizes = [dict(enumerate(rows[3]))] * 4, [sum(rows[3])] * 4
        made = ti._Call(kind, 4, 3, sizes, counts)
        assert not made.lacks, kind
        text = "".join(f"{rank} init\n{made.line(rank)}\n{rank} finalize\n" for rank in range(4))
        assert _core.Traffic.parse(text.encode(), "ti", label=kind).total_bytes > 0


# Parquet, and the verbs


@pytest.fixture
def run(tmp_path, netloom):
    """A folder with a trace: rank 0 sends two messages to rank 1, which receives one."""
    found = trace_of(
        tmp_path / "records",
        call(SEND, 1, 1000, tag=3, at=10) * 2 + call(BARRIER, NONE, at=20),
        call(RECV, 0, tag=3, at=15) + call(BARRIER, NONE, at=25),
    )
    folder = netloom.folder / "run"
    folder.mkdir()
    write(found, folder)
    return folder


def test_show_check_and_convert(netloom, run, validate):
    shown = netloom.json("trace", "show", run)
    validate(shown)
    assert shown["result"]["functions"] == [
        {"name": "MPI_Barrier", "calls": 2, "bytes": 0},
        {"name": "MPI_Recv", "calls": 1, "bytes": 0},
        {"name": "MPI_Send", "calls": 2, "bytes": 2000},
    ]
    checked = netloom.json("trace", "check", run, code=1)
    validate(checked)
    assert checked["result"]["unmatched"] == [
        {"source": 0, "destination": 1, "communicator": 0, "tag": 3, "sent": 2, "received": 1}
    ]
    assert checked["result"]["messages"] == 1
    for name in ("x.ti", "x.ti.gz", "x.goal", "x.goal.gz"):
        made = netloom.json("trace", "convert", run, "-o", name)
        validate(made)
        assert made["result"]["left_out"] == [{"what": "sends without a receive", "count": 1}]
        # A barrier of two is two messages, a byte each; in GOAL they are messages of nothing.
        sent = netloom.result("traffic", "show", name)["bytes"]
        assert (sent["point_to_point"], sent["collective"]) == (1000, 2 if ".ti" in name else 0)
        netloom.folder.joinpath("s.toml").write_text(f'fabric = "{TREE}"\n[[job]]\ntrace = "{name}"\n')
        assert netloom.result("simulate", "s.toml")["runs"][0]["jobs"][0]["ranks"] == 2


@pytest.mark.parametrize(("tags", "side", "ambiguous"), [((3, 3), 0, 2), ((3, 3), 1, 2), ((3, 4), 0, 0)])
def test_an_order_that_only_the_clock_tells_is_said(netloom, tmp_path, tags, side, ambiguous):
    found = trace_of(
        tmp_path / "raw",
        b"".join(call(SEND, 1, 8, tag=tag, at=10 * place) for place, tag in enumerate(tags)),
        b"".join(call(RECV, 0, 8, tag=tag, at=100 + place) for place, tag in enumerate(tags)),
    )
    found.events[side].thread = np.arange(2)
    run = netloom.folder / "run"
    run.mkdir()
    write(found, run)
    result = netloom.result("trace", "check", "run")
    assert (result["messages"], result["ambiguous"]) == (2, ambiguous)
    assert [one["kind"] for one in result["findings"]] == ["ambiguous-order"] * (ambiguous > 0)


@pytest.mark.parametrize(
    ("hosts", "context", "why"),
    [
        (["a", "b"], 0, "clocks of hosts differ"),
        (["a", "a"], 0, "clocks of the host's processors differ"),
        (["a", "a"], None, "this trace does not tell duplicates of a communicator apart"),
    ],
)
def test_a_message_that_comes_too_early_is_told_by_what_it_can_be(netloom, tmp_path, hosts, context, why):
    begun = call(ISEND, 1, 8, tag=1, at=100) + other(events.REQUEST, 0, 7)
    found = trace_of(tmp_path / "raw", other(events.SPENT, 0, 10) + begun, call(RECV, 0, tag=1, at=20))
    found.meta["hosts"] = hosts
    found.communicators.append(events.Communicator(np.arange(2), False, context))
    run = netloom.folder / "run"
    run.mkdir()
    write(found, run)
    result = netloom.json("trace", "check", "run", code=1)["result"]
    assert result["late"] == 1
    assert [(one["kind"], one["text"]) for one in result["findings"]] == [
        ("clocks-differ", f"1 messages were received before they were sent: {why}")
    ]


def test_goal_tasks_wait_for_what_was_waited_for(tmp_path):
    begin = call(ISEND, 1, 5, tag=0) + other(events.REQUEST, 0, 7)
    done = call(WAIT, NONE, 1) + other(events.COMPLETES, 0, 7)
    found = trace_of(
        tmp_path,
        begin + call(RECV, 1, tag=1) + done + call(SEND, 1, 6, tag=0),
        call(SEND, 0, 2, tag=1) + call(RECV, 0, tag=0) * 2,
    )
    parts: list[str] = []
    goal.write(found, parts.append)
    assert parts[1].splitlines() == [
        "rank 0 {",
        "l1: send 5b to 1 tag 0",
        "l2: recv 2b from 1 tag 1",
        "l3: send 6b to 1 tag 0",
        "l3 requires l2",
        "l3 requires l1",
        "}",
    ]
    _core.Traffic.parse("".join(parts).encode(), "goal")


def rewritten(run: Path, change) -> None:
    table = pq.read_table(run / trace.EVENTS)
    pq.write_table(change(table), run / trace.EVENTS)


def column(table: pa.Table, name: str, values: list[object]) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.set_column(at, name, pa.array(values, table.schema.field(name).type))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda table: table.drop_columns(["tag"]), "events.parquet: expected a column tag, found none"),
        (lambda table: column(table, "rank", [0, 0, 0, 1, 2]), "expected ranks below 2, in order"),
        (lambda table: column(table, "rank", [1, 0, 0, 1, 1]), "expected ranks below 2, in order"),
        (lambda table: column(table, "peer", [9, 1, None, 0, None]), "expected peers below 2"),
        (lambda table: column(table, "communicator", [0, 0, 5, 0, 0]), "communicators below 1"),
        (lambda table: column(table, "bytes", [-1, 0, 0, 0, 0]), "expected bytes, 0 or more"),
        (lambda table: column(table, "completes", [[0], [], [], [], []]), "requests that begin before"),
        (lambda table: column(table, "counts", [[(0, -5)], [], [], [], []]), "expected bytes by member"),
        (
            lambda table: table.set_column(2, "seq", pa.array(["a"] * 5)),
            "expected columns of the types of a trace",
        ),
        (lambda table: column(table, "function", [None] * 5), "expected a function in every row"),
    ],
)
def test_parquet_that_is_no_trace_is_refused(netloom, run, change, expected):
    rewritten(run, change)
    assert expected in netloom.refused("trace", "show", run)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("trace.json", "{", "expected JSON"),
        ("trace.json", "[]", "expected a trace of version 1"),
        (
            "trace.json",
            json.dumps({"schema": "netloom.trace/2", "ranks": 2}),
            "expected a trace of version 1",
        ),
        (
            "trace.json",
            json.dumps({"schema": "netloom.trace/1", "ranks": -2}),
            "expected a number of ranks, found -2",
        ),
        (
            "trace.json",
            json.dumps({"schema": "netloom.trace/1", "ranks": 2, "lost": 5}),
            "expected lost as a list",
        ),
        (
            "trace.json",
            json.dumps({"schema": "netloom.trace/1", "ranks": 3}),
            "expected all 3 ranks as communicator 0",
        ),
        ("events.parquet", "PAR1", "events.parquet: expected a Parquet file"),
        ("communicators.parquet", "", "communicators.parquet: expected a Parquet file"),
    ],
)
def test_files_that_are_no_trace_are_refused(netloom, run, name, text, expected):
    (run / name).write_text(text)
    assert expected in netloom.refused("trace", "check", run)


def test_what_is_no_folder_of_a_trace_is_told(netloom):
    (netloom.folder / "x.ti").write_text("0 init\n")
    assert "is the trace cut short" in netloom.refused("trace", "show", "x.ti")
    (netloom.folder / "empty").mkdir()
    assert "empty" in netloom.refused("trace", "show", "empty")
    assert "No such file" in netloom.refused("trace", "show", "none")
    assert "standard input" in netloom.refused("trace", "show", "-", code=2)
    assert "-o" in netloom.refused("trace", "convert", "x.ti", code=2)
    assert ".ti" in netloom.refused("trace", "convert", "x.ti", "-o", "x.csv", code=2)


def test_empty_ranks_and_empty_traces(tmp_path):
    found = trace_of(tmp_path, b"", b"")
    assert len(found) == 0
    write(found, tmp_path)
    again = trace.read(tmp_path)
    assert (again.ranks, len(again)) == (2, 0)
    assert lines_of(again, 1) == ["1 init", "1 finalize"]
    assert np.array_equal(again.communicators[0][0], [0, 1])
