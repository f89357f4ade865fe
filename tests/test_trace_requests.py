"""Requests of one name, what a wait in SimGrid's format takes; traces that are not whole or cannot be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Netloom

YOUNGER = """num_ranks 2
rank 0 {
l1: recv 8b from 1 tag 0
l2: recv 9b from 1 tag 0
l3: send 7b to 1 tag 7
l3 requires l2
}
rank 1 {
l1: send 8b to 0 tag 0
l2: recv 7b from 0 tag 7
l3: send 9b to 0 tag 0
l3 requires l2
}
"""
"""Rank 0 sends only after its second receive, rank 1 sends that only after what it receives: none goes on."""

LATER = """num_ranks 2
rank 0 {
l1: recv 8b from 1 tag 0
l2: recv 8b from 1 tag 0
l3: calc 1000000
l3 requires l2
}
rank 1 {
l1: send 8b to 0 tag 0
l2: calc 1000000
l2 requires l1
l3: send 8b to 0 tag 0
l3 requires l2
}
"""
"""A millisecond before the second message, and one behind it."""

BESIDE = {
    "sendRecv": "0 irecv 1 0 9 6\n0 sendRecv 10 1 10 1 6 6\n0 isend 1 7 9 6\n"
    "1 isend 0 0 0 6\n1 recv 0 7 9 6\n1 sendRecv 10 0 10 0 6 6\n",
    "recv": "0 irecv 1 0 9 6\n0 recv 1 0 10 6\n0 isend 1 7 9 6\n"
    "1 isend 0 0 9 6\n1 recv 0 7 9 6\n1 send 0 0 10 6\n",
}
"""The second receive of one name waits for what rank 1 sends only after rank 0's last send."""


def kinds(netloom: Netloom, trace: str, code: int) -> list[str]:
    return [one["kind"] for one in netloom.json("trace", "check", trace, code=code)["result"]["findings"]]


def scenario(netloom: Netloom, trace: str, flops: str = "flops_per_s = 1e9\n") -> str:
    text = 'fabric = "two-level:leaves=2,hosts=2,spines=1"\nroutes = "ftree"\n'
    (netloom.folder / "s.toml").write_text(f'{text}[[job]]\nname = "a"\ntrace = "{trace}"\n{flops}')
    return "s.toml"


@pytest.mark.parametrize("name", ["y.ti", "y", "again.goal", "again.bin"])
def test_a_wait_for_the_younger_of_two_requests_waits_for_it_in_every_format(
    name: str, netloom: Netloom
) -> None:
    (netloom.folder / "y.goal").write_text(YOUNGER)
    netloom.ok("trace", "convert", "y.goal", "-o", name, "-q")
    assert kinds(netloom, "y.goal", 1) == kinds(netloom, name, 1) == ["waits-for-ever"]
    netloom.ok("trace", "convert", name, "-o", "z.ti", "-q")
    assert kinds(netloom, "z.ti", 1) == ["waits-for-ever"]
    (netloom.folder / "l.goal").write_text(LATER)
    netloom.ok("trace", "convert", "l.goal", "-o", f"l{name}", "-q")
    flops = "" if "again" in name else "flops_per_s = 1e9\n"
    ran = netloom.json("simulate", scenario(netloom, f"l{name}", flops))["result"]["runs"][0]["jobs"][0]
    # Two milliseconds of computation, one behind the other.
    assert 2 <= ran["completion_ms"] < 2.01


def test_waits_of_what_was_waited_for_are_left_out(netloom: Netloom) -> None:
    """The younger of three first, then the others in turn: two lines, none, one."""
    (netloom.folder / "g.goal").write_text(
        "num_ranks 2\nrank 0 {\n"
        "l1: recv 1b from 1 tag 0\nl2: recv 2b from 1 tag 0\nl3: recv 3b from 1 tag 0\n"
        "l4: calc 5000\nl4 requires l2\nl5: calc 6000\nl5 requires l4\nl5 requires l1\n"
        "l6: calc 7000\nl6 requires l5\nl6 requires l3\n}\n"
        "rank 1 {\nl1: send 1b to 0 tag 0\nl2: send 2b to 0 tag 0\nl3: send 3b to 0 tag 0\n}\n"
    )
    netloom.ok("trace", "convert", "g.goal", "-o", "g.ti", "-q")
    lines = [line for line in (netloom.folder / "g.ti").read_text().splitlines() if line.startswith("0 ")]
    wait = "0 wait 1 0 0"
    assert lines[4:10] == [wait, wait, "0 compute 5000", "0 compute 6000", wait, "0 compute 7000"]
    # A schedule says which one: the third task of rank 0 that computes needs the third receive only.
    netloom.ok("trace", "convert", "g.goal", "-o", "folder", "-q")
    netloom.ok("trace", "convert", "folder", "-o", "h.goal", "-q")
    assert "l4 requires l2\nl4 requires" not in (netloom.folder / "h.goal").read_text()


@pytest.mark.parametrize("verb", BESIDE)
def test_a_receive_beside_an_older_one_of_its_name_waits_for_its_own(verb: str, netloom: Netloom) -> None:
    ends = "0 finalize\n1 finalize\n"
    (netloom.folder / "x.ti").write_text(f"0 init\n1 init\n{BESIDE[verb]}{ends}")
    assert kinds(netloom, "x.ti", 1) == ["waits-for-ever"]
    assert "wait" in netloom.refused("simulate", scenario(netloom, "x.ti"))
    netloom.ok("trace", "convert", "x.ti", "-o", "again.ti", "-q")
    assert kinds(netloom, "again.ti", 1) == ["waits-for-ever"]
    # With the order turned round it ends.
    turned = BESIDE[verb].replace("0 isend 1 7 9 6\n", "").replace("0 irecv", "0 isend 1 7 9 6\n0 irecv", 1)
    (netloom.folder / "t.ti").write_text(f"0 init\n1 init\n{turned}{ends}")
    assert "waits-for-ever" not in kinds(netloom, "t.ti", 0)
    netloom.ok("simulate", scenario(netloom, "t.ti"))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("0 wait 1 0 5\n", "x.ti:3: expected a request that rank 0 began before, found none from 1 to 0"),
        ("0 test 0 1 5\n", "x.ti:3: expected a request that rank 0 began before, found none from 0 to 1"),
        ("0 init\n", "x.ti:3: expected one init of rank 0, found a second one"),
        ("0 finalize\n0 barrier\n", "x.ti:4: expected no calls of rank 0 after its finalize, found barrier"),
        ("0 finalize\n0 init\n", "x.ti:4: expected no calls of rank 0 after its finalize, found init"),
    ],
)
def test_calls_that_cannot_be_are_refused(lines: str, told: str, netloom: Netloom) -> None:
    (netloom.folder / "x.ti").write_text(f"0 init\n1 init\n{lines}1 finalize\n")
    assert netloom.refused("trace", "check", "x.ti").startswith(told)


def test_computation_may_stand_behind_finalize(netloom: Netloom) -> None:
    (netloom.folder / "x.ti").write_text("0 init\n0 finalize\n0 compute 5\n")
    netloom.ok("trace", "check", "x.ti")


@pytest.fixture
def folder(netloom: Netloom) -> Path:
    (netloom.folder / "x.ti").write_text(
        "0 init\n0 send 1 0 8 6\n0 barrier\n0 finalize\n1 init\n1 recv 0 0 8 6\n1 barrier\n1 finalize\n"
    )
    netloom.ok("trace", "convert", "x.ti", "-o", "run", "-q")
    return netloom.folder / "run"


@pytest.mark.parametrize("verb", ["show", "check"])
@pytest.mark.parametrize("gone", ["events.parquet", "communicators.parquet", "trace.json"])
def test_a_folder_of_which_a_file_is_gone_is_refused_by_its_name(
    gone: str, verb: str, folder: Path, netloom: Netloom
) -> None:
    told = f"run/{gone}: expected this file of a recorded run, found none"
    (folder / gone).unlink()
    assert netloom.refused("trace", verb, "run") == told
    (folder / "trace.ti.gz").unlink()
    assert netloom.refused("trace", verb, "run") == told


def test_a_folder_without_what_is_replayed_is_refused_by_its_name(folder: Path, netloom: Netloom) -> None:
    (folder / "trace.ti.gz").unlink()
    netloom.ok("trace", "check", "run")
    told = "run/trace.ti.gz: expected this file of a recorded run, found none"
    assert told in netloom.refused("simulate", scenario(netloom, "run"))
    assert told in netloom.refused("traffic", "show", "run")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hosts": ["a"]}, "expected a host of each of 2 ranks, found 1"),
        ({"dropped": {"9": 5}}, 'expected a rank below 2 and how many events it dropped, found "9": 5'),
        ({"dropped": {"1": -5}}, 'expected a rank below 2 and how many events it dropped, found "1": -5'),
        ({"dropped": {"x": 5}}, 'expected a rank below 2 and how many events it dropped, found "x": 5'),
    ],
)
def test_what_a_folder_says_of_ranks_that_cannot_be_is_refused(
    change: dict[str, Any], told: str, folder: Path, netloom: Netloom
) -> None:
    meta = json.loads((folder / "trace.json").read_text())
    (folder / "trace.json").write_text(json.dumps({**meta, **change}))
    assert netloom.refused("trace", "check", "run") == f"run/trace.json: {told}"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda row: {"function": "Frob"}, 'expected functions of MPI without "MPI_", found "Frob"'),
        (lambda row: {"seq": 0}, "expected the events of each rank numbered from 0 as seq"),
        (
            lambda row: {"communicator": None},
            "expected a communicator of every message and collective, found none",
        ),
    ],
)
def test_events_that_cannot_be_are_refused(
    change: Callable[[dict[str, Any]], dict[str, Any]], told: str, folder: Path, netloom: Netloom
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "events.parquet")
    rows = [{**row, **change(row)} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / "events.parquet")
    assert netloom.refused("trace", "check", "run") == f"run/events.parquet: {told}"


def test_a_schedule_among_files_of_ranks_is_named(netloom: Netloom, tmp_path: Path) -> None:
    both = tmp_path / "sp ace"
    both.mkdir()
    (both / "a b.ti").write_text("0 init\n0 finalize\n")
    (both / "o ut.goal").write_text("num_ranks 1\nrank 0 {\n}\n")
    told = "expected a file of each rank, found a GOAL schedule: give this file by its name"
    assert netloom.refused("trace", "show", both).endswith(f"sp ace/o ut.goal: {told}")
    netloom.ok("trace", "show", both / "o ut.goal")
    shutil.move(both / "o ut.goal", tmp_path / "x.goal")
    netloom.ok("trace", "show", both)
