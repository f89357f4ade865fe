"""Whatever today's tables, the damage and the options: `check` accepts what `optimize` wrote with exit 0.

The core's own tests (crates/optimize/tests/main/hostile.rs) try thousands of random trees; these drive the
command, as many cases as NETLOOM_TRIALS says.
"""

from __future__ import annotations

import os
import random

import pytest

from conftest import ROOT

SPECS = (
    "two-level:leaves=5,hosts=2,spines=3",
    "fattree:pods=2,leaves=3,hosts=2,spines=2,groups=2,cores=2",
    "xgft:m=2x2x2x2,w=1x2x2x2",
)
OPTIONS: tuple[tuple[str, ...], ...] = (
    ("--penalty-per-change", "1"),
    ("--max-changes", "3"),
    ("--max-changes", "0"),
    ("--front",),
    ("--keep-jobs", "permutation:seed=4"),
    ("--objective", "total"),
    ("--hose",),
    ("--also", "random:partners=2,seed=1"),
    ("--depth", "0"),
)
FREE: tuple[tuple[str, ...], ...] = (("--lmc", "1"), ("--islands", "2"), ("--background", "today.lfts"))


@pytest.mark.parametrize("seed", range(int(os.environ.get("NETLOOM_TRIALS", "5"))))
def test_hostile_what_is_written_with_exit_0_is_accepted(netloom, seed):
    draw = random.Random(seed)
    spec = draw.choice(SPECS)
    netloom.ok("fabric", "new", spec, "-o", "whole.net")
    cables = draw.randrange(1, 7)
    netloom.ok("fabric", "damage", "whole.net", "--random-links", cables, "--seed", seed, "-o", "now.net")
    if netloom("fabric", "show", "now.net").code == 3:
        return  # In parts: no verb reads it, and says so.
    before = draw.choice(("whole.net", "now.net"))
    netloom.ok("route", draw.choice(("minhop", "updn", "random")), before, "-o", "today.lfts")
    if before == "now.net" and draw.random() < 0.3:
        options = draw.choice(FREE)
    else:
        options = ("--from", "today.lfts", "--repair", *draw.choice(OPTIONS))
    traffic = draw.choice(("random:partners=3,seed=2", "permutation:seed=4", "all-to-all"))
    arguments = ("optimize", "now.net", traffic, *options, "--work", 3000, "-o", "new.lfts")
    done = netloom(*arguments)
    if done.code == 3:
        # Hosts that exchange traffic and are cut off from each other.
        assert "no up/down path" in done.err or "cut off" in done.err, f"{arguments}\n{done.err}"
        return
    checked = netloom("check", "now.net", "new.lfts")
    assert (done.code, checked.code) in ((0, 0), (1, 1)), (
        f"{arguments}\n{done.err}\n{checked.out}{checked.err}"
    )


def test_a_credit_loop_of_todays_tables_is_not_kept(netloom):
    """Minhop's entries towards switches waited for each other in a circle; they were kept as they were."""
    net, today, traffic = (
        ROOT / "tests" / "data" / "credit-loop" / name for name in ("net.txt", "today.lfts", "t.csv")
    )
    assert "credit-loop" in netloom.ok("check", net, today, code=1)
    arguments = ("optimize", net, traffic, "--from", today, "--penalty-per-change", 1, "-o", "new.lfts")
    result = netloom.result(*arguments)
    assert result["repaired_entries"] > 0
    assert {one["severity"] for one in result["findings"]} <= {"note"}
    assert netloom.result("check", net, "new.lfts")["credit_loops"] == 0
