"""Manifests of runs that lack something, or say something else: refused by whatever reads a run."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from netloom.cli import main
from netloom.runs import folder as runs

SCENARIO = """\
fabric = "two-level:leaves=2,hosts=1,spines=1"
routes = ["ftree"]
[measure]
counters_every_us = 1
[[job]]
name = "pair"
program = { kind = "stream", pattern = "bisection", bytes = 4096 }
"""
READERS = (["plot", "run", "run", "-o", "run.svg"], ["diagnose", "run"])
WITHOUT = [
    ("runs",),
    ("scenario",),
    ("scenario", "name"),
    ("scenario", "source"),
    ("scenario", "text"),
    ("scenario", "overrides"),
    ("model",),
    ("hosts",),
    ("links",),
    ("runs", 0, "routing"),
    ("runs", 0, "folder"),
    ("runs", 0, "files"),
    ("runs", 0, "sha256"),
    ("runs", 0, "result"),
    ("runs", 0, "result", "simulated_ms"),
    ("runs", 0, "result", "jobs"),
    ("runs", 0, "result", "jobs", 0, "name"),
]


def changed(document: dict[str, Any], place: tuple[Any, ...], value: Any = None) -> dict[str, Any]:
    """The document without what is there, or with something else; its sum is right."""
    made = copy.deepcopy(document)
    node = made
    for key in place[:-1]:
        node = node[key]
    if value is None:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    return made


@pytest.fixture
def run(netloom):
    """A run, and its manifest."""
    (netloom.folder / "s.toml").write_text(SCENARIO)
    netloom.ok("simulate", "s.toml", "-o", "run", "--quiet")
    return json.loads((netloom.folder / "run" / "manifest.json").read_text())


def test_what_a_manifest_lacks_is_bad_input(netloom, run, monkeypatch, capsys):
    """Whatever its sum says: exit 3 and the file, not a bug."""
    monkeypatch.chdir(netloom.folder)
    for reader in READERS:
        assert main(reader) in (0, 1), capsys.readouterr().err
    for at, place in enumerate(WITHOUT):
        for value in (None, 7.5):
            altered = changed(run, place, value)
            (netloom.folder / "run" / "manifest.json").write_bytes(runs.sealed(altered))
            if place == ("runs", 0, "result", "simulated_ms") and value is not None:
                continue
            code, told = main(READERS[at % 2]), capsys.readouterr().err
            assert (code, "manifest.json" in told) == (3, True), (place, value, told)


def test_a_manifest_that_leads_elsewhere_removes_nothing(netloom, run):
    """Neither by names nor, where the names are fine, by a link in the place of a routing's folder."""
    home = netloom.folder / "home"
    home.mkdir()
    for name in run["runs"][0]["files"]:
        (home / name).write_text("mine")
    manifest, routing = (
        netloom.folder / "run" / "manifest.json",
        netloom.folder / "run" / run["runs"][0]["folder"],
    )
    manifest.write_bytes(runs.sealed(changed(run, ("runs", 0, "folder"), "../home")))
    assert "manifest.json" in netloom.refused("simulate", "s.toml", "-o", "run", "--quiet")
    manifest.write_bytes(runs.sealed(run))
    routing.rename(netloom.folder / "moved")
    routing.symlink_to("../home")
    assert f"run/{routing.name}: is no folder" in netloom.refused(
        "simulate", "s.toml", "-o", "run", "--quiet"
    )
    assert sorted(path.name for path in home.iterdir()) == sorted(run["runs"][0]["files"])


def test_a_checkpoint_keeps_what_it_does_not_know(netloom, run):
    """A folder that was named as its routings are had all that a link in it led to removed."""
    del run
    netloom.ok("simulate", "s.toml", "--checkpoint", "kept", "--quiet")
    (routing,) = (path for path in (netloom.folder / "kept").iterdir() if path.is_dir())
    (netloom.folder / "kept" / "x-00000000").mkdir()
    (netloom.folder / "kept" / "x-00000000" / "run.json").write_text("{}")
    (routing / "run.json").unlink()
    (routing / "notes").mkdir()
    (routing / "notes" / "thesis.txt").write_text("years of work")
    netloom.ok("simulate", "s.toml", "--checkpoint", "kept", "--quiet")
    assert (routing / "notes" / "thesis.txt").read_text() == "years of work"
    home = netloom.folder / "home"
    routing.rename(home)
    routing.symlink_to("../home")
    before = sorted(path.name for path in home.iterdir())
    assert "is a link: expected a folder" in netloom.refused(
        "simulate", "s.toml", "--checkpoint", "kept", "--quiet"
    )
    assert sorted(path.name for path in home.iterdir()) == before
