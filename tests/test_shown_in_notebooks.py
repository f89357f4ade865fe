"""What notebooks show of an object: a table of text, whatever a dump calls its nodes."""

from __future__ import annotations

import re
from functools import cache

import pytest

import netloom as nl
from netloom.shown import notebook

EVIL = "<img src=x onerror=alert(1)>&\"'"


@cache
def fabric() -> nl.Fabric:
    """Every name is a tag; findings tell names too."""
    cables = [(f"{EVIL}{i}", f"leaf{EVIL}{i // 2}") for i in range(4)]
    cables += [(f"leaf{EVIL}{leaf}", f"spine{EVIL}") for leaf in (0, 1)]
    return nl.Fabric.from_edges(cables)


@cache
def traffic() -> nl.Traffic:
    return nl.Traffic.read("shift:1", fabric())


@cache
def best() -> nl.Optimized:
    return nl.optimize(fabric(), traffic())


def scenario() -> nl.Scenario:
    job = {"name": EVIL, "program": {"kind": "all-to-all", "bytes": 64}}
    return nl.Scenario.from_dict({"fabric": fabric(), "routes": ["ftree"], "job": [job]})


SHOWN = {
    "Fabric": (fabric, ["hosts", "findings"]),
    "Traffic": (traffic, ["endpoints", "4 hosts", "4 B"]),
    "Routes": (lambda: nl.route("ftree", fabric()), ["addresses a host", "lanes"]),
    "LinkLoads": (lambda: nl.loads(fabric(), "ftree", traffic()), ["1 B", "gap", "0.00 %", "proven optimal"]),
    "Optimized": (best, ["1 B", "gap", "0.00 %", "proven optimal"]),
    "OptimizedLayers": (
        lambda: nl.optimize_layers(fabric(), [(EVIL, traffic(), 1.0)]),
        ["layer &lt;img src=x", "gap 0.00 %", "verdict"],
    ),
    "OptimizedHose": (lambda: nl.optimize_hose(fabric(), nl.Hose.of(traffic())), ["worst load", "verdict"]),
    "CheckReport": (
        lambda: nl.check(fabric(), nl.Routes.from_table(fabric(), nl.route("ftree", fabric()).table() * 0)),
        ["not ok", "&lt;img src=x onerror"],
    ),
    "Verdict": (
        lambda: nl.verify_certificate(fabric(), traffic(), best().certificate, best().routes),
        ["the bound holds", "1 B", "optimal"],
    ),
    "Simulation": (lambda: nl.simulate(scenario()), ["job &lt;img src=x onerror=alert(1)&gt;", "ms"]),
    "Inferred": (
        lambda: nl.infer(fabric(), "ftree", nl.synth_counters(fabric(), "ftree", traffic())),
        ["verdict", "pairs"],
    ),
}


def test_every_class_that_is_shown_is_tried():
    assert set(SHOWN) == set(notebook.ROWS)


@pytest.mark.parametrize("name", SHOWN)
def test_names_are_text_and_figures_have_units(name):
    make, said = SHOWN[name]
    value = make()
    assert type(value).__name__ == name
    shown = value._repr_html_()
    for each in said:
        assert each in shown
    assert set(re.findall(r"<(/?\w+)", shown)) <= {
        "table", "/table", "caption", "/caption", "tbody", "/tbody", "tr", "/tr", "th", "/th", "td", "/td"
    }  # fmt: skip
    assert "=" not in re.sub(r">[^<]*<", "><", shown), "no attributes"


def test_what_was_stopped_says_so():
    fabric = nl.Fabric.generate("quartz1")
    found = nl.loads(fabric, "ftree", "random:partners=20,seed=1", time_limit=0)
    assert "stopped by its time limit" in repr(found)
    assert "time-limit: bounds may be loose" in found._repr_html_()
