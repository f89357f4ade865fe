"""The limit of a command: what is kept aside for the end, and what is left for the rest."""

from __future__ import annotations

import threading
import time

import pytest

from netloom.cli.shared.guard import Limit
from netloom.session.session import Session


def test_what_is_set_aside_is_not_left_and_is_at_most_half():
    limit = Limit(100.0, time.perf_counter())
    limit.sets_aside(30.0)
    assert limit.left == pytest.approx(70.0, abs=1.0)
    limit = Limit(10.0, time.perf_counter())
    limit.sets_aside(1e9)
    assert limit.left == pytest.approx(5.0, abs=1.0)
    late = Limit(1.0, time.perf_counter() - 2.0)
    late.sets_aside(1.0)
    assert (late.left, late.aside) == (0.0, 0.0)


def test_what_looks_at_no_limit_is_left_behind_or_has_the_least_time():
    late, ends = Session(time_limit=0.0), threading.Event()
    assert late.unless_late(lambda: 5, least=600.0) == 5
    with pytest.raises(TimeoutError):
        late.unless_late(ends.wait)
    assert not late.left_behind  # it was not begun
    with pytest.raises(TimeoutError):
        late.unless_late(ends.wait, least=0.01)
    assert late.left_behind
    ends.set()


def test_a_limit_in_which_no_answer_can_be_is_refused_at_once(netloom):
    many = "fattree:pods=4,leaves=32,hosts=32,spines=8,groups=8,cores=8"
    netloom.ok("counters", "synth", many, "ftree", "permutation:seed=1", "-o", "counters.csv")
    refused = netloom.refused("infer", many, "ftree", "counters.csv", "--time-limit", "0.5", code=2)
    assert "16,773,120 pairs of hosts need about 4 s before there is any answer" in refused
    assert "expected jobs (--jobs) or more time" in refused


def test_tables_that_come_after_the_limit_are_whole_and_told_as_late(netloom, paths):
    """An engine looks at no limit: what it makes within the slack is written, and not as if in time."""
    done = netloom("route", "ftree", paths.ft2, "-o", "r.lfts", "--time-limit", "0")
    assert done.code == 0
    assert done.err.startswith("netloom: note: the time limit of 0 s came before the end, after ")
    assert done.err.count("\n") == 1
    assert netloom.result("check", paths.ft2, "r.lfts")["ok"] is True
    assert netloom("route", "ftree", paths.ft2, "-o", "r.lfts", "--time-limit", "600").err == ""


def test_a_sweep_whose_limit_passes_before_any_run_is_done_leaves_no_table(netloom, paths):
    """README: 124, as there is nothing to keep; an empty table would look like a sweep without results."""
    words = ("sweep", "run", paths.examples / "sweeps" / "shuffle.toml", "-o", "swept")
    done = netloom(*words, "--time-limit", "0", "--format", "json")
    told = "netloom: error: the time limit of 0 s passed before there was anything to keep\n"
    assert (done.code, done.out, done.err) == (124, "", told)
    assert not (netloom.folder / "swept" / "table.parquet").exists()
