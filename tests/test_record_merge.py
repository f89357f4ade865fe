"""Records of ranks as a whole: hostile files, lost ranks, hosts, many ranks. No MPI is needed."""

from __future__ import annotations

import fnmatch
import json
import random
import re
import runpy
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from netloom.cli.record import recover
from netloom.errors import FormatError, NetloomError
from netloom.files import Folder
from netloom.recording import jobs, merging, records, unreported

NAMES = ["BSend", "CBcast", "OPut"]
PAGE = 4096


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % PAGE)


def file_of(
    rank: int,
    ranks: int,
    sent: dict[int, tuple[int, int]],
    *,
    host: str = "node1",
    state: int = 2,
    flags: int = 0,
    put: dict[int, tuple[int, int]] | None = None,
    blocks: int = 1,
) -> bytes:
    """A record file as the library writes it: messages and bytes by peer."""
    calls = [(sum(n for n, _ in sent.values()), sum(b for _, b in sent.values())), (2, 80), (0, 0)]
    body = padded(b"".join(name.encode().ljust(32, b"\0") for name in NAMES))
    for _ in range(blocks):
        sums = [*calls, *(sent.get(peer, (0, 0)) for peer in range(ranks))]
        body += block(1, sums)
    if put is not None:
        body += block(2, [*(put.get(peer, (0, 0)) for peer in range(ranks)), *[(0, 0)] * ranks])
    head = struct.pack(
        "=8sIIIIIIIIIIIiQQQQd256s1024s512s",
        *(b"NLRECORD", 0x01020304, 1, 1, PAGE, state, flags, 2, rank, ranks, len(NAMES), 0, 0),
        *(PAGE + len(body), 1, 10**18, 10**18 + 10**9, 4.5, host.encode(), b"/bin/app", b"Test MPI"),
    )
    return padded(head) + body


def block(kind: int, sums: list[tuple[int, int]]) -> bytes:
    data = b"".join(struct.pack("=QQ", *one) for one in sums)
    whole = len(padded(bytes(64) + data))
    return padded(struct.pack("=IIQQQQQQQ", 0x4B4C424E, kind, whole, 0, 0, 0, 0, 0, 0) + data)


def test_pairs_add_up_over_threads_and_kinds():
    one = records.parse(file_of(0, 3, {1: (2, 100), 2: (1, 0)}, put={1: (1, 7)}, blocks=2), "r0")
    other = records.parse(file_of(1, 3, {0: (1, 5)}), "r1")
    whole = merging.merge([other, one])
    pairs = list(zip(whole.sources, whole.destinations, whole.messages, whole.bytes, strict=True))
    assert pairs == [(0, 1, 5, 207), (0, 2, 2, 0), (1, 0, 1, 5)]
    assert whole.kinds["blocking"].calls == 3 * 2 + 1
    assert [(lost.rank, lost.why) for lost in whole.lost] == [(2, "missing")]
    assert whole.seconds == 1.0


@pytest.mark.parametrize(("state", "why"), [(1, "killed"), (3, "exited"), (4, "aborted"), (5, "no-space")])
def test_ranks_that_did_not_finalize_are_named(state, why):
    whole = merging.merge([records.parse(file_of(0, 1, {0: (1, 1)}, host="n7", state=state), "r")])
    assert [(lost.rank, lost.host, lost.why) for lost in whole.lost] == [(0, "n7", why)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([file_of(0, 2, {}), file_of(0, 2, {})], "rank 0 of 2 reported twice"),
        ([file_of(0, 1, {}), file_of(0, 1, {})], "expected the launcher of the program's own MPI"),
        ([file_of(0, 2, {}), file_of(1, 3, {})], "two MPI programs were recorded"),
        ([file_of(0, 1, {}, flags=1)], "two MPI libraries in one process"),
        ([file_of(0, 1, {}, flags=2)], "no rank's record can be read"),
    ],
)
def test_records_that_do_not_belong_together_are_refused(files, expected):
    with pytest.raises(NetloomError, match=expected):
        merging.merge([records.parse(data, "r") for data in files])


GOOD = file_of(1, 4, {0: (3, 30)}, put={2: (1, 8)})


def changed(at: int, data: bytes) -> bytes:
    return GOOD[:at] + data + GOOD[at + len(data) :]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "the record is empty"),
        (GOOD[:100], "cut short"),
        (GOOD[:-1], "cut short"),
        (changed(0, b"SOMETHIN"), "something else"),
        (changed(8, b"\1\2\3\4"), "byte order"),
        (changed(12, b"\4"), "version"),
        (changed(16, b"\3"), "kind 3"),
        (changed(24, b"\x63"), "numbers that it cannot have"),
        (changed(36, b"\xff\xff\xff\xff"), "a rank below"),
        (changed(40, b"\xff\xff\xff\xff"), "a rank below"),
        (changed(40, b"\x00\x10"), "fewer"),
        (changed(44, b"\xff\xff\xff\xff"), "functions"),
        (changed(44, b"\x00\x0f"), "cut short"),
        (changed(88, struct.pack("=d", float("nan"))), "a time a call"),
        (changed(2 * PAGE, b"\0"), "a block at byte 8192"),
        (changed(2 * PAGE + 8, bytes(8)), "found fewer"),
        (changed(2 * PAGE + 8, b"\xff" * 8), "a block at byte 8192"),
        (changed(PAGE, b"?"), "the name of function 0"),
    ],
)
def test_hostile_files_are_refused_by_name(data, expected):
    with pytest.raises(FormatError, match=expected) as told:
        records.parse(data, "rank.1")
    assert str(told.value).startswith("rank.1: ")


def test_any_bytes_are_a_record_or_an_error():
    draw = random.Random(1)
    for _ in range(500):
        data = bytearray(GOOD)
        for _ in range(draw.randrange(1, 6)):
            data[draw.choice([draw.randrange(104), draw.randrange(len(data))])] = draw.randrange(256)
        try:
            records.parse(bytes(data[: draw.choice([len(data), draw.randrange(len(data))])]), "r")
        except FormatError:
            continue


def test_links_and_pipes_are_no_records(tmp_path):
    (tmp_path / "real").write_bytes(GOOD)
    (tmp_path / "rank.1.7.node1").symlink_to(tmp_path / "real")
    (tmp_path / "rank.2.8.node1").mkdir()
    (tmp_path / "rank.0.9.node1").write_bytes(file_of(0, 4, {}))
    found, bad = merging.read_folder(tmp_path)
    assert [one.rank for one in found] == [0]
    assert [(one.rank, one.host, one.why) for one in bad] == [
        (1, "node1", "unreadable"),
        (2, "node1", "unreadable"),
    ]
    lost = merging.merge(found, bad).lost
    assert [(one.rank, one.why) for one in lost] == [(1, "unreadable"), (2, "unreadable"), (3, "missing")]


def test_memory_goes_by_pairs():
    # Of 100,000 ranks a matrix would have 10^10 entries.
    whole = merging.merge([records.parse(file_of(7, 100_000, {99_999: (1, 10**15)}), "r")])
    assert (whole.sources.tolist(), whole.destinations.tolist()) == ([7], [99_999])
    assert whole.bytes.tolist() == [10**15]


# What a killed recording left


def test_what_a_killed_recording_left_is_recovered(netloom, validate):
    ranks = netloom.folder / ".netloom-7-abc.tmp" / "ranks"
    ranks.mkdir(parents=True)
    (ranks / "rank.0.1.node1").write_bytes(file_of(0, 2, {1: (3, 300)}))
    (ranks / "rank.1.2.node1").write_bytes(file_of(1, 2, {0: (1, 5)}, state=1))
    document = json.loads(
        netloom.ok("record", "--recover", ranks.parent, "-o", "run", "--format", "json", code=1)
    )
    validate(document)
    assert document["result"]["messages"] == 4
    assert [one["why"] for one in document["result"]["lost_ranks"]] == ["killed"]
    assert netloom.result("traffic", "show", "run/matrix.mtx.gz")["bytes"]["point_to_point"] == 305
    # What is read stays: a second try gives the same.
    assert (ranks / "rank.0.1.node1").exists()


def test_a_folder_without_records_has_nothing_to_recover(netloom):
    (netloom.folder / "empty").mkdir()
    assert "nothing to recover" in netloom.refused("record", "--recover", "empty")
    assert "takes no command" in netloom.refused("record", "--recover", "empty", "--", "true", code=2)
    assert "--matrix or --events" in netloom.refused("record", "--recover", "empty", "--matrix", code=2)


def test_a_run_whose_name_was_taken_meanwhile_gets_the_next(tmp_path):
    for name in ("run", "run.1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "matrix.mtx.gz").write_bytes(b"another")
    made = tmp_path / "made"
    made.mkdir()
    with Folder.open(tmp_path) as here:
        assert recover.settle(here, "made", here, "run") == "run.2"
    assert (tmp_path / "run" / "matrix.mtx.gz").read_bytes() == b"another"


# Jobs files


@pytest.mark.parametrize(
    ("hosts", "lines"),
    [
        (["a", "a", "b", "b"], ['hosts = ["a", "b"]', "ranks_per_host = 2", 'mapping = "block"']),
        (["a", "a", "b"], ['hosts = ["a", "b"]', "ranks_per_host = 2", 'mapping = "block"']),
        (["a", "b", "a", "b"], ['hosts = ["a", "b"]', "ranks_per_host = 2", 'mapping = "file:ranks.txt"']),
        (["a.x.org", "b.x.org"], ['hosts = ["a", "b"]', "ranks_per_host = 1", 'mapping = "block"']),
        (["a.x", "a.y"], ['hosts = ["a.x", "a.y"]', "ranks_per_host = 1", 'mapping = "block"']),
        (["a", "a"], ['allocation = "contiguous:0"']),
        (["a", None, "b"], ['allocation = "contiguous:0"']),
        (["a", 'b"]\nx = 1'], ['allocation = "contiguous:0"']),
    ],
)
def test_hosts_of_ranks_are_kept(hosts, lines):
    assert list(jobs.place(hosts).lines) == lines


def test_hosts_in_any_order_are_where_the_ranks_go(netloom, paths):
    hosts = ["host0009", "host0002", "host0009", "host0031", "host0002", "host0009"]
    placement = jobs.place(hosts)
    (netloom.folder / "jobs.toml").write_bytes(jobs.jobs_file('a "b"\n', "first\nsecond", placement))
    (netloom.folder / jobs.RANKS).write_text("".join(f"{host}\n" for host in placement.by_rank))
    # Rank 0 on host0009 sends to rank 3 on host0031.
    (netloom.folder / jobs.MATRIX).write_text(
        "%%MatrixMarket matrix coordinate integer general\n6 6 1\n1 4 77\n"
    )
    netloom.ok("traffic", "place", paths.ft2, "jobs.toml", "-o", "t.csv")
    rows = [line for line in (netloom.folder / "t.csv").read_text().splitlines() if not line.startswith("#")]
    assert [row.split(",")[:3] for row in rows[1:]] == [["9", "31", "77"]]


# The table of functions


def table(events: bool = True) -> tuple[set[str], set[str], list[str]]:
    """Functions with a wrapper, those that move data without, and patterns of those that move none."""
    made = runpy.run_path(str(ROOT / "native" / "recorder" / "wrappers.py"))
    functions, others = made["read"]()
    recorded = {name for name, _ in made["names"](functions, others, events)}
    return recorded, set(others["not-recorded"]), others["no-data"]


@pytest.mark.parametrize("library", ["libmpi.so.40", "libmpich.so.12"])
def test_every_function_of_the_installed_library_is_known(library):
    found = sorted(Path("/usr/lib").glob(f"*/{library}"))
    if not found or shutil.which("nm") is None:
        pytest.skip(f"not installed: {library}")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", found[0]], capture_output=True, text=True, check=True
    )
    exported = set(re.findall(r" [TW] MPI_([A-Z][a-z]\w+|T_\w+)$", listed.stdout, re.MULTILINE))
    assert len(exported) > 300
    recorded, known, patterns = table()
    # Callbacks that the library gives to programs, and conversions of handles.
    unknown = {
        name
        for name in exported - recorded - known
        if not name.isupper()
        and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        and not re.fullmatch(r"\w+_(?:FN|c2f|f2c)|Conversion_fn_null(?:_c)?", name)
    }
    assert unknown == set()
    # No pattern hides a function that sends.
    sends = re.compile(
        r"(?i)i?[sbr]?send|put|get_acc|bcast|gather|scatter|reduce(?!_local)|alltoall|e?x?scan|accumulate"
    )
    missed = {name for name in exported - recorded - known if sends.match(name)}
    assert missed == set()
    # Nor is one missed that makes a communicator.
    makes = re.compile(
        r"(Comm_(i?dup|create(?!_(err|key))|split|spawn|accept|connect|join)|Intercomm_|Cart_(create|sub)|"
        r"(Dist_)?Graph_create)"
    )
    assert {name for name in exported - recorded if makes.match(name)} == set()


@pytest.mark.parametrize("events", [False, True])
def test_the_library_defines_both_names_of_every_function(events):
    name = "events" if events else "record"
    library = ROOT / "python" / "netloom" / "native" / f"libnetloom_{name}.so"
    if not library.exists() or shutil.which("nm") is None:
        pytest.skip("not built: the recorder (make build)")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    exported = set(re.findall(r" T (\w+)$", listed.stdout, re.MULTILINE))
    recorded, _, _ = table(events)
    assert exported == {f"{prefix}MPI_{name}" for name in recorded for prefix in ("", "P")}
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libmpi" not in needed


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"\x7fELF\2\1" + bytes(58), b"#!/bin/sh\n", b"\x7fELF\2\1" + b"\xff" * 58]
)
def test_no_file_is_taken_for_a_static_program_by_mistake(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    assert not unreported.is_static(str(tmp_path / "file"))
