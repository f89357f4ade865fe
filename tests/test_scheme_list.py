"""Routing schemes without tables: one list of them, read by scenarios, `infer` and the library."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from netloom import _core

ROOT = Path(__file__).parents[1]
SCHEMES = [name for name, _ in _core.schemes()]
FABRIC = "two-level:leaves=2,hosts=2,spines=2"
SCENARIO = """
fabric = "two-level:leaves=2,hosts=2,spines=2"
routes = {routes}
[[job]]
ranks = 4
program = {{ kind = "stream", pattern = "shift:2", messages = 1, bytes = 8192 }}
"""


def _source() -> dict[str, str]:
    """The product's Rust and Python by path, without comments of Rust and tests."""
    files = [
        *ROOT.glob("crates/*/src/**/*.rs"),
        *ROOT.glob("python/netloom/**/*.py"),
        *ROOT.glob("python/netloom/**/*.pyi"),
    ]
    texts = {}
    for file in files:
        text = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        if file.name != "tests.rs":
            texts[file.relative_to(ROOT).as_posix()] = re.sub(r"(?m)^\s*//.*$", "", text)
    return texts


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_is_named_in_at_most_three_files(name):
    """Its own, that of its folder, and the list. Whatever else needs to know of it reads the list."""
    camel = "".join(word.title() for word in name.split("-"))
    variant = camel.removesuffix("PerPacket")
    # Types of schemes are the simulator's own; elsewhere the same word may mean something else.
    # What is written in Python may choose `adaptive` for a scenario of its own, as a user does.
    rust = re.compile(rf'"{name}"|\bPerPacket::{variant}\b')
    of = {
        "crates/sim/": re.compile(rf"{rust.pattern}|\b{camel}\b"),
        "crates/": rust,
        "python/": re.compile("(?!)") if name == "adaptive" else re.compile(re.escape(name)),
    }
    named = [
        path
        for path, text in _source().items()
        if next(pattern for folder, pattern in of.items() if path.startswith(folder)).search(text)
    ]
    assert "crates/sim/src/scheme.rs" in named
    assert 2 <= len(named) <= 3, named


def test_every_scheme_of_the_list_is_a_routing_of_scenarios(netloom):
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes=json.dumps(SCHEMES)))
    runs = netloom.result("simulate", "s.toml")["runs"]
    assert [run["routing"] for run in runs] == SCHEMES


def test_every_scheme_of_the_list_is_a_routing_of_counters(netloom):
    """Its counters are explained where switches are said to choose packet by packet."""
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes=json.dumps(SCHEMES)))
    netloom.ok("simulate", "s.toml", "-o", "run")
    for k, name in enumerate(SCHEMES):
        result = netloom.result("infer", FABRIC, name, f"run/{k}-{name}/links.parquet")
        assert result["scope"]["unexplained"] == 0, name


def test_lanes_by_pair_have_no_meaning_for_any_scheme(netloom):
    for name in SCHEMES:
        error = netloom.refused(
            "lanes", "write", FABRIC, name, "--vl-scheme", "2sl2vl", "-o", "x.sl2vl", code=2
        )
        assert f"{name}: packets of a pair take any way there" in error
