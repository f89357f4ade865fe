"""Slimmed trees and modulo routing (paper 002): programs, routings by way, and what they take."""

from __future__ import annotations

import pytest

WRF = "examples/slimming/wrf.toml"
CG = "examples/slimming/cg.toml"


@pytest.fixture
def examples(netloom, paths):
    (netloom.folder / "examples").symlink_to(paths.examples)
    return netloom


def times(netloom, scenario: str, *settings: str) -> dict[str, float]:
    """Milliseconds by routing."""
    given = [word for setting in settings for word in ("--set", setting)]
    found = netloom.result("simulate", scenario, *given)
    return {run["routing"]: run["jobs"][0]["completion_ms"] for run in found["runs"]}


def test_one_spine_less_takes_twice_as_long_and_seven_more_change_nothing(examples):
    """By hand: 16 flows a leaf each way over W links; the largest number on one is 16 / W, rounded up."""
    full = times(examples, WRF)
    whole = full["d-mod-k"]
    assert full["random"] > 2.5 * whole
    for spines, factor in [(15, 2), (8, 2), (7, 3), (6, 3), (5, 4), (4, 4), (3, 6), (2, 8), (1, 16)]:
        found = times(examples, WRF, f"fabric=xgft:m=16x16,w=1x{spines}")
        for routing in ("d-mod-k", "s-mod-k", "d-mod-k:digit", "s-mod-k:digit", "coloured"):
            assert found[routing] / whole == pytest.approx(factor, rel=0.03), (spines, routing)


def test_cg_is_pathological_for_modulo_and_not_for_colouring(examples):
    """By hand: four exchanges in the leaf, and one in which 7 flows share a link: (4 + 7) / 5 = 2.2."""
    crossbar = times(examples, CG, "fabric=xgft:m=128,w=1", 'routes="d-mod-k"')["d-mod-k"]
    found = times(examples, CG)
    for routing in ("d-mod-k", "s-mod-k", "d-mod-k:digit", "s-mod-k:digit"):
        assert found[routing] / crossbar == pytest.approx(2.2, rel=0.03)
    assert found["coloured"] / crossbar == pytest.approx(1.0, rel=0.02)
    for spines, least in [(14, 1.0), (13, 1.2), (7, 1.2), (4, 1.6)]:
        slim = times(examples, CG, f"fabric=xgft:m=16x8,w=1x{spines}")
        assert slim["coloured"] / crossbar == pytest.approx(least, rel=0.05)
        assert slim["d-mod-k:digit"] / crossbar == pytest.approx(2.2, rel=0.03), (
            "by digit it is 2.2 everywhere"
        )
    fifteen = times(examples, CG, "fabric=xgft:m=16x8,w=1x15")
    assert fifteen["d-mod-k"] / crossbar == pytest.approx(1.2, rel=0.03), "by number the pathology is gone"


def test_ft_in_order_meets_no_contention(examples):
    ft = "job.cg.program={ kind = 'nas-ft', class = 'W' }"
    one = times(examples, CG, ft, 'routes="d-mod-k"')["d-mod-k"]
    crossbar = times(examples, CG, ft, 'routes="d-mod-k"', "fabric=xgft:m=128,w=1")["d-mod-k"]
    # Two more switches and cables for most of the 127 messages: 0.35 us each.
    assert one - crossbar < 127 * 0.35e-3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["job.cg.ranks=96"], 'job "cg": expected a power of two of ranks, found 96'),
        (["job.cg.program.class=E"], 'class: expected S, W, A, B, C or D, found "E"'),
        (
            ["fabric=fattree:pods=2,leaves=4,hosts=16,spines=4,groups=2,cores=2"],
            "coloured routes are for trees",
        ),
        (["fabric=dragonfly:p=4,a=8,h=4"], "no routes by way: the fabric is no tree"),
        (["routes='colored'"], 'there is no routing "colored": did you mean "coloured"?'),
    ],
)
def test_what_cannot_be_is_refused(examples, settings, message):
    given = [word for setting in ["routes='coloured'", *settings] for word in ("--set", setting)]
    answer = examples("simulate", CG, *given)
    assert answer.code == 3
    assert message in answer.err


def test_more_hosts_than_pairs_are_kept_for_are_refused(examples):
    answer = examples("simulate", CG, "--set", "routes='s-mod-k'", "--set", "fabric=xgft:m=64x65,w=1x2")
    assert answer.code == 3
    assert "a way is kept for each pair of at most 4096 hosts, found 4160" in answer.err


def test_more_ways_than_addresses_are_refused(examples):
    fabric = "fabric=fattree:pods=4,leaves=4,hosts=16,spines=16,groups=16,cores=16"
    answer = examples("simulate", CG, "--set", "routes='s-mod-k'", "--set", fabric)
    assert answer.code == 3
    assert "ways up, more than the 128 addresses of a host" in answer.err
