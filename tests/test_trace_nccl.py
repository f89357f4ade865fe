"""Collectives of recorded runs as NCCL does them: `trace convert --decompose`."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from netloom.errors import SpecError
from netloom.training.collective import Collective
from netloom.training.decomposed import Decomposed
from netloom.training.schedule import goal

MIB = 1 << 20
RUN = 'name = "t"\nfabric = "two-level:leaves=1,hosts=4,spines=1,speed=NDR"\nroutes = ["ftree"]\n'
RUN += "[software]\ncall_ns = 0\n"


def sent(text: str) -> Counter:
    """Bytes by sender and receiver of a schedule."""
    found: Counter = Counter()
    rank = 0
    for line in text.splitlines():
        if line.startswith("rank"):
            rank = int(line.split()[1])
        elif told := re.fullmatch(r"l\d+: send (\d+)b to (\d+) tag \d+", line):
            found[rank, int(told[2])] += int(told[1])
    return found


def trace(calls: str, ranks: int = 4) -> str:
    lines = calls.split(";")
    return "".join(
        f"{rank} {line.strip()}\n" for rank in range(ranks) for line in ["init", *lines, "finalize"]
    )


def took(netloom, write, name: str) -> float:
    write("run.toml", RUN + f'[[job]]\nname = "t"\ntrace = "{name}"\n')
    return netloom.result("simulate", "run.toml")["runs"][0]["jobs"][0]["completion_ms"]


def test_the_all_to_all_of_a_chakra_trace_is_nccls(netloom, paths, write):
    source = paths.root / "tests/data/traces/chakra-alltoall-4"
    result = netloom.result("trace", "convert", source, "--decompose", "nccl-ring", "-o", "nccl.goal")
    assert result["decomposed"] == [{"name": "MPI_Alltoall", "algorithm": "nccl-pairs", "calls": 1}]
    what = Collective.parse("nccl-pairs:ranks=4,bytes=1MiB")
    write("pairs.goal", goal(what))
    text = (netloom.folder / "nccl.goal").read_text()
    assert sent(text) == sent(goal(what))
    assert took(netloom, write, "nccl.goal") == took(netloom, write, "pairs.goal")
    netloom.ok("trace", "convert", source, "--decompose", "nccl-tree", "-o", "nccl.bin")
    assert took(netloom, write, "nccl.bin") == took(netloom, write, "nccl.goal")


@pytest.mark.parametrize("word", ["nccl-ring", "nccl-tree"])
def test_all_reduce_takes_as_long_as_its_schedule_between_what_is_computed(netloom, write, word):
    write("t.ti", trace(f"compute 2000000; allreduce {MIB} 0 6; compute 3000000; allreduce {MIB} 0 6"))
    result = netloom.result("trace", "convert", "t.ti", "--decompose", word, "-o", "t.goal")
    assert result["decomposed"] == [{"name": "MPI_Allreduce", "algorithm": word, "calls": 2}]
    what = Collective.parse(f"{word}:ranks=4,bytes=1MiB")
    once = sent(goal(what))
    assert sent((netloom.folder / "t.goal").read_text()) == {pair: 2 * size for pair, size in once.items()}
    write("one.goal", goal(what))
    # The second begins when a rank has computed, and ranks end the first at different times.
    expected = 5 + 2 * took(netloom, write, "one.goal")
    assert took(netloom, write, "t.goal") == pytest.approx(
        expected, rel=0.002 if word == "nccl-ring" else 0.01
    )


def test_other_collectives_have_their_sizes(netloom, write):
    # Gathered: what each gives goes to all others.
    write("t.ti", trace("allgather 1000 1000 6 6; reducescatter 250 250 250 250 0 6; bcast 4 0 6"))
    result = netloom.result("trace", "convert", "t.ti", "--decompose", "nccl-ring", "-o", "t.goal")
    by = {row["name"]: row["algorithm"] for row in result["decomposed"]}
    assert by["MPI_Allgather"] == "nccl-ring"
    assert by["MPI_Bcast"] == "binomial tree"
    found = sent((netloom.folder / "t.goal").read_text())
    ring = {pair: size for pair, size in found.items() if (pair[1] - pair[0]) % 4 == 1}
    assert sum(ring.values()) >= 4 * 3 * 1000


def test_what_is_no_schedule_and_too_much_is_refused(netloom, write):
    write("t.ti", trace(f"allreduce {MIB} 0 6"))
    done = netloom("trace", "convert", "t.ti", "--decompose", "nccl-ring", "-o", "t.ti.gz")
    assert (done.code, "expected -o FILE.goal, .goal.gz or .bin" in done.err) == (2, True)
    write("x.goal", goal(Collective.parse("nccl-pairs:ranks=2,bytes=9")))
    done = netloom("trace", "convert", "x.goal", "--decompose", "nccl-ring", "-o", "t.goal")
    assert (done.code, "expected a trace with collectives" in done.err) == (2, True)
    trees = Decomposed("nccl-tree", chunk=1)
    with pytest.raises(SpecError, match="4,000,000 tasks"):
        trees("Allreduce", 4, [MIB] * 4)
    assert not (netloom.folder / "t.goal").exists()
