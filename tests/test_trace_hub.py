"""Traces of the field (DUMPI, OTF2, Chakra, SimGrid, GOAL, Open MPI), by every verb that takes traces."""

from __future__ import annotations

import dataclasses
import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import netloom as nl
from conftest import ROOT, Netloom
from netloom import _core
from netloom.errors import FormatError
from netloom.recording import collectives, matching, opening, threads
from netloom.recording import trace as traces

TRACES = ROOT / "tests" / "data" / "traces"
LULESH = {
    "SimGrid": TRACES / "lulesh-8.ti.gz",
    "DUMPI": TRACES / "dumpi-lulesh-8",
    "Open MPI": TRACES / "openmpi-monitoring-lulesh-8",
}
COLUMNS = ("function", "thread", "start_ns", "end_ns", "peer", "tag", "communicator", "bytes")
FABRIC = "two-level:leaves=4,hosts=4,spines=2"


def pairs_of(traffic: Any) -> dict[tuple[int, int], float]:
    matrix = traffic.to_scipy().tocoo()
    return {(int(a), int(b)): float(c) for a, b, c in zip(matrix.row, matrix.col, matrix.data, strict=True)}


@pytest.mark.parametrize("source", ["SimGrid", "DUMPI"])
def test_lulesh_is_one_matrix_whatever_recorded_it(source: str) -> None:
    """56 pairs, 267,712 B, as Open MPI's own monitoring and SMPI counted them."""
    expected = scipy.io.mmread(TRACES / "lulesh-8.mtx.gz").tocoo()
    wanted = {
        (int(a), int(b)): float(c) for a, b, c in zip(expected.row, expected.col, expected.data, strict=True)
    }
    assert (len(wanted), sum(wanted.values())) == (56, 267_712)
    found = pairs_of(nl.Traffic.read(str(LULESH[source]), collectives="none"))
    assert found == wanted


def test_open_mpis_sums_are_the_same_matrix_and_collectives_as_the_library_did_them() -> None:
    both = pairs_of(nl.Traffic.read(str(LULESH["Open MPI"])))
    lines = [
        line.split()
        for path in sorted(LULESH["Open MPI"].iterdir())
        for line in path.read_text().splitlines()
        if line[:1] in ("E", "I")
    ]
    wanted: dict[tuple[int, int], float] = {}
    for _, source, destination, size, *_ in lines:
        key = int(source), int(destination)
        wanted[key] = wanted.get(key, 0) + int(size)
    assert both == {key: size for key, size in wanted.items() if size}
    assert sum(int(line[3]) for line in lines if line[0] == "E") == 267_712
    own = pairs_of(nl.Traffic.read(str(LULESH["Open MPI"]), collectives="none"))
    assert (len(own), sum(own.values())) == (56, 267_712)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda lines: [*lines, next(line for line in lines if line.startswith("E"))], "every pair once"),
        (lambda lines: [line.split(" msgs")[0] for line in lines], "msgs sent"),
    ],
)
def test_sums_that_are_cut_short_or_told_twice_are_refused(tmp_path: Path, damage: Any, told: str) -> None:
    for path in LULESH["Open MPI"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    last = sorted(tmp_path.iterdir())[-1]
    last.write_text("\n".join(damage(last.read_text().splitlines())) + "\n")
    with pytest.raises(nl.FormatError, match=told):
        nl.Traffic.read(str(tmp_path))


def test_a_rank_of_chakra_that_is_not_there_is_named(netloom: Netloom) -> None:
    folder = netloom.folder / "gap"
    folder.mkdir()
    for path in (TRACES / "chakra-alltoall-4").iterdir():
        if ".2." not in path.name:
            (folder / path.name).write_bytes(path.read_bytes())
    assert "found none of rank 2" in netloom.refused("trace", "check", "gap")
    assert "found none of rank 2" in netloom.refused("traffic", "show", "gap")
    # By the name of a file, too; and the last rank, where a message names it.
    assert "found none of rank 2" in netloom.refused("trace", "check", "gap/all_to_all.0.et")
    cut = netloom.folder / "cut"
    cut.mkdir()
    for path in (TRACES / "chakra-ring-8").iterdir():
        if ".7." not in path.name:
            (cut / path.name).write_bytes(path.read_bytes())
    assert "expected the file of every rank, found none of rank 7" in netloom.refused("trace", "check", "cut")
    # Where only collectives are left nothing can tell: said.
    for path in (netloom.folder / "gap").glob("*.3.et"):
        path.unlink()
    found = netloom.json("trace", "check", "gap")["result"]["findings"]
    assert any("taken as 2, one a file" in one["text"] for one in found)


def test_traces_without_times_have_no_clocks_that_differ(netloom: Netloom) -> None:
    netloom.ok("trace", "convert", TRACES / "dumpi-lulesh-8", "-o", "l.goal", "-q")
    found = netloom.json("trace", "check", "l.goal")["result"]["findings"]
    assert [one["kind"] for one in found if one["kind"] == "clocks-differ"] == []


def test_ft_of_128_ranks_is_three_alltoalls_and_little_more() -> None:
    traffic = nl.Traffic.read(str(ROOT / "examples" / "data" / "ft-128.ti.gz"))
    assert (len(pairs_of(traffic)), traffic.total_bytes) == (16_256, 6_392_124_764)
    # 128 x 127 pairs, 8,192 complex numbers each, three times.
    assert 0 < traffic.total_bytes - 3 * 128 * 127 * 8192 * 16 < 10_000


def test_is_sends_what_the_monitoring_counted() -> None:
    trace, _ = opening.read(TRACES / "dumpi-is-8")
    bases = trace.bases()
    sent = sum(int(events.bytes[events.function == bases.index("Send")].sum()) for events in trace.events)
    between = 0
    for rank, events in enumerate(trace.events):
        which, member, size = events.counts
        between += int(size[(member != rank)].sum())
        assert {bases[i] for i in events.function[which].tolist()} <= {"Alltoallv"}
    assert (between, sent) == (2_522_352, 28)


def test_score_p_and_chakra_have_their_messages(netloom: Netloom) -> None:
    shown = netloom.json("trace", "show", TRACES / "otf2-scorep-10")["result"]
    calls = {one["name"]: (one["calls"], one["bytes"]) for one in shown["functions"]}
    # 90 messages each of 4 B, 8 B, … 128 KiB, as otf2-print lists them.
    assert calls["MPI_Isend"] == (1440, 90 * 262_140)
    assert (shown["ranks"], shown["hosts"], shown["tool"]) == (10, 10, "Score-P 2.0.2")
    checked = netloom.json("trace", "check", TRACES / "otf2-scorep-10")["result"]
    assert (checked["messages"], checked["unmatched"], checked["late"]) == (1440, [], 0)
    ring = netloom.json("trace", "check", TRACES / "chakra-ring-8")["result"]
    assert (ring["messages"], ring["unmatched"]) == (8 * 14, [])
    traffic = nl.Traffic.read(str(TRACES / "chakra-alltoall-4"))
    # Each rank keeps a quarter of its mebibyte.
    assert traffic.total_bytes == 4 * 3 * 2**18


def test_collectives_of_communicators_are_among_their_members() -> None:
    """Score-P's four pairs of ranks, 0 and 6, 1 and 7, …, have collectives of their own."""
    trace, _ = opening.read(TRACES / "otf2-scorep-10")
    pairs = [one.members.tolist() for one in trace.communicators if len(one.members) == 2]
    assert pairs == [[0, 6], [1, 7], [2, 8], [3, 9]]
    traffic = nl.Traffic.read(str(TRACES / "otf2-scorep-10"))
    none = nl.Traffic.read(str(TRACES / "otf2-scorep-10"), collectives="none")
    # 488 of the 1,440 messages go to another rank.
    assert none.total_bytes == 7_864_232 < traffic.total_bytes


READ = [
    TRACES / "lulesh-8.ti.gz",
    TRACES / "dumpi-lulesh-8" / "dumpi-2026.11.23.00.51.07.meta",
    TRACES / "dumpi-lulesh-8",
    TRACES / "dumpi-sst",
    TRACES / "otf2-scorep-10" / "traces.otf2",
    TRACES / "otf2-scorep-bcast-4",
    TRACES / "chakra-ring-8" / "custom_allreduce.0.et",
    TRACES / "chakra-alltoall-4",
]


@pytest.mark.parametrize("source", READ, ids=lambda path: path.name)
def test_every_format_goes_through_every_verb(source: Path, netloom: Netloom, tmp_path: Path) -> None:
    """Shown, converted to each format that is written, which is read again; traffic of it; a run of it."""
    shown = netloom.json("trace", "show", source)["result"]
    ranks = shown["ranks"]
    for name in ("run.ti.gz", "run.goal", "run"):
        made = netloom.json("trace", "convert", source, "-o", tmp_path / name)["result"]
        assert made["ranks"] == ranks
        again = netloom.json("trace", "show", tmp_path / name)["result"]
        assert again["ranks"] == ranks
    netloom.ok("traffic", "convert", source, "-o", tmp_path / "traffic.csv")
    (tmp_path / "scene.toml").write_text(
        f'fabric = "{FABRIC}"\nroutes = "ftree"\n[[job]]\nname = "a"\ntrace = "{source}"\n'
    )
    ran = netloom.json("simulate", tmp_path / "scene.toml")["result"]
    assert ran["runs"][0]["jobs"][0]["completion_ms"] > 0


ROUND = [
    "0 compute 5000000\n0 isend 1 3 1000 6\n0 wait 0 1 3\n1 recv 0 3 1000 6\n1 compute 2500\n",
    "".join(
        f"{r} irecv {(r + 3) % 4} 1 9 6\n{r} isend {(r + 1) % 4} 1 90000 6\n{r} waitall 2\n" for r in range(4)
    ),
    "".join(
        f"{r} compute {1000 * (r + 1)}\n{r} {'recv' if r % 2 else 'send'} {r ^ 1} 7 {4096 * (r // 2 + 1)} 6\n"
        for r in range(8)
    ),
]


@pytest.mark.parametrize("body", ROUND, ids=["pair", "ring", "halves"])
def test_a_round_trip_keeps_work_and_time(body: str, netloom: Netloom, tmp_path: Path) -> None:
    """TI to Parquet to GOAL to TI: the same messages, and the same time in a run."""
    ranks = sorted({int(line.split()[0]) for line in body.splitlines()})
    text = (
        "".join(f"{rank} init\n" for rank in ranks) + body + "".join(f"{rank} finalize\n" for rank in ranks)
    )
    files = [tmp_path / name for name in ("a.ti", "b", "c.goal", "d.ti")]
    files[0].write_text(text)
    for source, target in itertools.pairwise(files):
        netloom.ok("trace", "convert", source, "-o", target)
    times, matrices = [], []
    for path in (files[0], files[2], files[3]):
        matrices.append(pairs_of(nl.Traffic.read(str(path))))
        flops = "" if path.suffix == ".goal" else "flops_per_s = 1e9\n"
        (tmp_path / "scene.toml").write_text(
            f'fabric = "{FABRIC}"\nroutes = "ftree"\n[[job]]\nname = "a"\ntrace = "{path}"\n{flops}'
        )
        ran = netloom.json("simulate", tmp_path / "scene.toml")["result"]["runs"][0]["jobs"][0]
        times.append(ran["completion_ms"])
    assert matrices[0] == matrices[1] == matrices[2]
    assert times[0] == times[2]
    assert times[1] == pytest.approx(times[0], rel=0.02)


def test_a_converted_trace_is_the_traffic_of_the_trace(netloom: Netloom, tmp_path: Path) -> None:
    """Two ways to one matrix: the core's program of DUMPI, and Python's conversion of it."""
    netloom.ok("trace", "convert", LULESH["DUMPI"], "-o", tmp_path / "a.ti")
    assert pairs_of(nl.Traffic.read(str(tmp_path / "a.ti"))) == pairs_of(
        nl.Traffic.read(str(LULESH["DUMPI"]))
    )


def test_dumpi_has_the_calls_of_its_own_text() -> None:
    """sst-dumpi's dumpi2ascii lists rank 0: an isend to 1, a receive from 3, a wait, an allreduce."""
    trace, _ = opening.read(TRACES / "dumpi-sst")
    names = [trace.functions[i] for i in trace.events[0].function.tolist()]
    assert names == ["Barrier", "Isend", "Recv", "Wait", "Allreduce"]
    assert trace.events[0].peer.tolist()[1:3] == [1, 3]
    # MPI_Barrier entering at walltime 1296777956.737712000
    assert trace.events[0].start_ns[0] == 1_296_777_956_737_712_000
    assert matching.match(trace).messages == 4


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("dumpi-sst/testtrace-0000.bin", "expected the metafile of a DUMPI trace"),
        ("otf2-scorep-10/traces.def", "expected the anchor of an OTF2 archive"),
        ("openmpi-monitoring-lulesh-8", "they make traffic, and cannot be played"),
    ],
)
def test_parts_of_traces_are_refused_by_name(source: str, told: str, netloom: Netloom) -> None:
    refused = netloom("trace", "show", TRACES / source)
    assert refused.code == 3
    assert told in refused.err
    assert source.split("/")[0] in refused.err


GOAL = ROOT / "tests" / "data" / "cases" / "goal-binary"


def test_both_forms_of_goal_are_one_schedule_as_txt2bin_makes_it(netloom: Netloom, tmp_path: Path) -> None:
    """LogGOPSim's own txt2bin made the binary file of the text."""
    text, binary = GOAL / "exchange.goal", GOAL / "exchange.bin"
    netloom.ok("trace", "convert", text, "-o", tmp_path / "a.bin")
    netloom.ok("trace", "convert", tmp_path / "a.bin", "-o", tmp_path / "b.goal")
    assert (tmp_path / "a.bin").read_bytes() == binary.read_bytes()
    # One of the tags is 2^32 - 1.
    assert netloom.json("trace", "check", binary)["result"]["messages"] == 3
    assert (tmp_path / "b.goal").read_bytes() == text.read_bytes()
    times = []
    for path in (text, binary):
        assert pairs_of(nl.Traffic.read(str(path))) == {(0, 1): 4096, (1, 2): 100_000, (2, 0): 8}
        (tmp_path / "scene.toml").write_text(
            f'fabric = "{FABRIC}"\nroutes = "ftree"\n[[job]]\nname = "a"\ntrace = "{path}"\n'
        )
        ran = netloom.json("simulate", tmp_path / "scene.toml")["result"]["runs"][0]["jobs"][0]
        times.append(ran["completion_ms"])
    assert times[0] == times[1] > 0


@pytest.mark.parametrize("name", ["dumpi-lulesh-8", "chakra-ring-8"])
def test_a_trace_as_goal_is_the_same_in_both_forms(name: str, netloom: Netloom, tmp_path: Path) -> None:
    for ending in (".goal", ".bin"):
        netloom.ok("trace", "convert", TRACES / name, "-o", tmp_path / f"a{ending}")
    netloom.ok("trace", "convert", tmp_path / "a.bin", "-o", tmp_path / "b.goal")
    (tmp_path / "plain.goal").write_text(
        "".join(line for line in (tmp_path / "a.goal").open() if not line.startswith("//"))
    )
    netloom.ok("trace", "convert", tmp_path / "plain.goal", "-o", tmp_path / "c.goal")
    assert (tmp_path / "b.goal").read_bytes() == (tmp_path / "c.goal").read_bytes()


@pytest.mark.parametrize("name", ["otf2-scorep-10", "dumpi-sst"])
def test_without_collectives_a_converted_trace_has_the_numbers_of_its_source(
    name: str, netloom: Netloom, tmp_path: Path
) -> None:
    """Messages that collectives became are told apart, after several conversions too."""
    own = pairs_of(nl.Traffic.read(str(TRACES / name), collectives="none"))
    source = TRACES / name
    for target in ("a.ti.gz", "b.goal", "c", "d.goal"):
        netloom.ok("trace", "convert", source, "-o", tmp_path / target)
        source = tmp_path / target
        assert pairs_of(nl.Traffic.read(str(source), collectives="none")) == own, target


def flipped(folder: Path) -> Path:
    """sst-dumpi's own trace, whose rank 0 says in its barrier that it is of thread 32,768."""
    shutil.copytree(TRACES / "dumpi-sst", folder)
    path = folder / "testtrace-0000.bin"
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    # The number of MPI_Barrier and a mask that says that a thread follows.
    at = data.index(b"\x00\x34\x4f")
    data[at + 3] ^= 0x80
    path.write_bytes(data)
    return folder


def test_threads_are_numbered_without_gaps(netloom: Netloom, tmp_path: Path) -> None:
    """One bit of a thread's number once became 32,769 processes a rank, and 722 MB."""
    source = flipped(tmp_path / "flipped")
    netloom.ok("trace", "convert", source, "-o", tmp_path / "a.goal")
    assert "num_ranks 8\n" in (tmp_path / "a.goal").read_text()
    trace, _ = opening.read(source)
    assert [int(events.thread.max()) for events in trace.events] == [1, 0, 0, 0]


def test_a_folder_with_a_thread_of_2_31_is_two_processes_a_rank(netloom: Netloom, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    netloom.ok("trace", "convert", TRACES / "dumpi-sst", "-o", tmp_path / "run")
    table = pq.read_table(tmp_path / "run" / "events.parquet")
    threads = table["thread"].to_pylist()
    threads[1] = 2**31 - 1
    column = pa.array(threads, pa.int32())
    pq.write_table(table.set_column(1, "thread", column), tmp_path / "run" / "events.parquet")
    netloom.ok("trace", "convert", tmp_path / "run", "-o", tmp_path / "a.goal")
    assert "num_ranks 8\n" in (tmp_path / "a.goal").read_text()


def test_more_threads_than_there_can_be_are_refused() -> None:
    """One rank of 2,000 has 60 threads: 120,000 processes of 60 events."""
    trace, _ = opening.read(TRACES / "dumpi-sst")
    none = dataclasses.replace(trace.events[0], **dict.fromkeys(COLUMNS, np.empty(0, np.int64)))
    busy = dataclasses.replace(none, **{name: np.arange(60) for name in COLUMNS})
    trace.events = [busy, *(dataclasses.replace(none) for _ in range(1999))]
    trace.ranks = 2000
    with pytest.raises(FormatError, match="at most 100000 threads of all ranks, found that rank 0 has 60"):
        threads.numbered(trace, "x")


def test_collectives_that_not_all_called_are_told(netloom: Netloom, tmp_path: Path) -> None:
    """The last call of rank 3 on the pair of ranks 3 and 9 is taken away."""
    trace, _ = opening.read(TRACES / "otf2-scorep-10")
    number = next(n for n, one in enumerate(trace.communicators) if one.members.tolist() == [3, 9])
    calls = collectives.by_rank(trace)[3][number]
    events = trace.events[3]
    name = trace.functions[int(events.function[calls[-1]])]
    # It becomes a wait for nothing.
    trace.functions.append("Waitall")
    events.function[calls[-1]] = len(trace.functions) - 1
    assert collectives.incomplete(trace) == [(number, name, 1, [3])]
    traces.write(tmp_path / "run", trace, {})
    checked = netloom("trace", "check", tmp_path / "run", "--format", "json")
    assert checked.code == 1
    assert '"incomplete-collectives"' in checked.out
    assert f"1 collective was not called by all members: the first is MPI_{name}" in checked.out
    whole, _ = opening.read(TRACES / "otf2-scorep-10")
    assert collectives.incomplete(whole) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 barrier\n0 allreduce 8 0 6\n1 barrier\n", "incomplete-collectives"),
        ("0 barrier\n1 allreduce 8 0 6\n", "incomplete-collectives"),
        ("0 bcast 8 0 6\n1 bcast 8 1 6\n", "different-roots"),
    ],
)
def test_ranks_that_disagree_are_one_finding_in_every_format(text: str, told: str, netloom: Netloom) -> None:
    (netloom.folder / "x.ti").write_text(text)
    kinds = [one["kind"] for one in netloom.json("trace", "check", "x.ti", code=1)["result"]["findings"]]
    assert kinds == [told]
    # A replay of it has no meaning; as traffic it is left out, with a word.
    scenario = f'fabric = "{FABRIC}"\nroutes = "ftree"\n[[job]]\nname = "a"\ntrace = "x.ti"\n'
    (netloom.folder / "s.toml").write_text(scenario)
    assert "collective" in netloom.refused("simulate", "s.toml")
    found = netloom.json("traffic", "show", "x.ti", code=1)["result"]["findings"]
    assert "collectives-left-out" in [one["kind"] for one in found]


def test_a_message_without_payload_adds_nothing_in_any_format(netloom: Netloom) -> None:
    (netloom.folder / "x.ti").write_text(
        "0 send 1 0 0 6\n0 send 1 0 10 6\n1 recv 0 0 0 6\n1 recv 0 0 10 6\n1 send 0 0 0 6\n0 recv 1 0 0 6\n"
    )
    for name in ("x.ti", "x.goal", "x.bin", "x"):
        if name != "x.ti":
            netloom.ok("trace", "convert", "x.ti", "-o", name, "-q")
        matrix = nl.Traffic.read(str(netloom.folder / name)).to_scipy().tocoo()
        assert (matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist()) == ([0], [1], [10.0]), name


def test_a_rank_without_a_file_of_sums_is_named(netloom: Netloom, tmp_path: Path) -> None:
    for path in LULESH["Open MPI"].iterdir():
        if path.name not in ("mon.2.prof", "mon.5.prof"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    told = "expected a folder with a file of each of 8 ranks, found none of ranks 2, 5"
    assert told in netloom.refused("traffic", "show", tmp_path)
    assert "found none of ranks 0, 1, 2" in netloom.refused("traffic", "show", tmp_path / "mon.3.prof")


@pytest.mark.parametrize("name", ["x.et", "x.otf2", "x.meta", "x.prof", "x.ti", "x.goal"])
@pytest.mark.parametrize("verb", [("trace", "show"), ("traffic", "show")])
def test_an_empty_file_is_told_in_one_line(verb: tuple[str, str], name: str, netloom: Netloom) -> None:
    (netloom.folder / name).write_bytes(b"")
    assert netloom.refused(*verb, name) == f"{name}: expected a recorded run, found an empty file"


def test_a_trace_cut_short_leaves_nothing(netloom: Netloom, tmp_path: Path) -> None:
    shutil.copytree(TRACES / "dumpi-sst", tmp_path / "cut")
    path = tmp_path / "cut" / "testtrace-0002.bin"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:1000])
    refused = netloom("trace", "convert", tmp_path / "cut", "-o", tmp_path / "out.ti")
    assert refused.code == 3
    assert not (tmp_path / "out.ti").exists()
    assert re.search(r"testtrace-0002\.bin: byte \d+: expected", refused.err)
    with pytest.raises(FormatError, match="byte"):
        _core.trace_events(tmp_path / "cut")
    (tmp_path / "there").mkdir()
    taken = netloom("trace", "convert", TRACES / "dumpi-sst", "-o", tmp_path / "there")
    assert taken.code != 0
    assert not [*(tmp_path / "there").iterdir()]


def test_the_page_has_what_is_read_and_written() -> None:
    """The table on the page of the verb names every format that this file walks."""
    page = (ROOT / "docs" / "verbs" / "trace.md").read_text()
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.count("|") == 7]
    named = [row[0].strip() for row in rows[2:]]
    assert [name.split()[0].rstrip(",") for name in named] == [
        "netloom's",
        "SimGrid's",
        "GOAL",
        "DUMPI",
        "OTF2",
        "Chakra",
        "Open",
    ]
    assert [row[2].strip().startswith("yes") for row in rows[2:]] == [True] * 6 + [False]
