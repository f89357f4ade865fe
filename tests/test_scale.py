"""`make scale`: its page is as it was printed, and its commands are commands."""

from __future__ import annotations

import importlib.util
import re
import zlib

import pytest


@pytest.fixture(scope="module")
def scale(paths):
    spec = importlib.util.spec_from_file_location("scale", paths.root / "benches" / "scale.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["scale"] = module
    spec.loader.exec_module(module)
    return module


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
