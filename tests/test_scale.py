"""`make scale`: its page is as it was printed, and its commands are commands."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import zlib

import pytest


def module(paths, name):
    """A script of `benches/`; one may import those that were loaded before."""
    spec = importlib.util.spec_from_file_location(name, paths.root / "benches" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def scale(paths):
    return module(paths, "scale")


@pytest.fixture(scope="module")
def term(scale, paths):
    return module(paths, "term")


def test_nobody_wrote_into_a_stretch_of_the_page(paths):
    page = (paths.root / "docs" / "scale.md").read_text()
    stretches = re.findall(
        r"<!-- (.*?): begin .*?sum (\w+) -->\n\n(.*?)\n\n<!-- \1: end -->", page, re.DOTALL
    )
    assert page.count(": begin ") == len(stretches) > 0
    for name, told, text in stretches:
        assert f"{zlib.crc32(text.encode()):08x}" == told, name


def test_a_stretch_is_replaced_where_it_is_and_others_stay(scale):
    page = scale.into(scale.into("head", "scale a", "one"), "scale b", "two")
    assert "one" in page
    assert "two" in page
    again = scale.into(page, "scale a", "three")
    assert "one" not in again
    assert again.index("three") < again.index("two")


def test_every_shape_has_the_hosts_that_it_says(scale, netloom, tmp_path):
    for shape, make in scale.SHAPES.items():
        fabric = make(netloom.command[0], "1k", tmp_path)
        assert netloom.result("fabric", "show", fabric)["hosts"] == 1024, shape


def test_a_measured_command_tells_time_memory_and_how_it_died(scale, netloom, tmp_path):
    found, _ = scale.measured([netloom.command[0], "fabric", "new", "cab"], tmp_path)
    assert (found.code, found.rss_mb > 5, found.cpu_s > 0) == (0, True, True)
    ended, dying = scale.measured(["sleep", "60"], tmp_path, 0.1)
    assert ended.code == -15
    assert dying is not None


def test_what_a_signalled_command_leaves_behind_is_seen(term):
    tidy = term.run(["sleep", "60"], 0.1)
    assert (tidy.code, tidy.left, tidy.whole) == (-15, [], None)
    assert tidy.dying_s is not None
    untidy = term.run(["sh", "-c", "echo half >.netloom-1.tmp; echo all >out.lfts"])
    assert (untidy.code, untidy.left, untidy.dying_s) == (0, [".netloom-1.tmp"], None)
    assert untidy.whole == hashlib.sha256(b"all\n").hexdigest()
    # A child that outlives its parent.
    alive = term.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & exit 0"])
    assert alive.left == ["a process"]


def test_commands_that_are_signalled_leave_nothing(term, netloom):
    for verb in term.VERBS:
        cells, _ = term.row(netloom.command[0], term.tree("1k", 32, 8), verb, 1, limit_s=60)
        assert cells[5] == "nothing", cells
