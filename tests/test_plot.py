"""Pictures: files of the right kind, the same bytes every time, names on every curve."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

import netloom as nl
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.plot import style
from netloom.plot.search import front_picture


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_pictures_are_the_same_bytes_every_time(netloom, paths, ending):
    for name in ("a", "b"):
        netloom.ok("plot", "matrix", "stencil:4x4x2", paths.ft2, "-o", f"matrix-{name}.{ending}")
        netloom.ok(
            "plot", "loads", paths.ft2, "bisection", "minhop", "optimize", "-o", f"loads-{name}.{ending}"
        )
    for kind in ("matrix", "loads"):
        a, b = ((netloom.folder / f"{kind}-{name}.{ending}").read_bytes() for name in "ab")
        assert a == b
        if ending == "svg":
            assert ET.fromstring(a).tag.endswith("svg")
        else:
            assert a.startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[ending])


def test_loads_of_every_routing_are_reported(netloom, paths):
    netloom.ok("route", "updn", paths.ft3, "-o", "r.lfts")
    result = netloom.result(
        "plot", "loads", paths.ft3, "bisection", "r.lfts", "ftree", "afar", "optimize", "-o", "x.svg"
    )
    assert [curve["routes"] for curve in result["curves"]] == ["r.lfts", "ftree", "afar", "optimize"]
    assert result["curves"][3]["max_load"] <= min(curve["max_load"] for curve in result["curves"])
    assert result["ar_bound"] > 0


@pytest.mark.parametrize("traffic", ["empty", "one", "large"])
def test_extreme_matrices_are_drawn(netloom, traffic):
    header = "%%MatrixMarket matrix coordinate real general\n"
    body = {"empty": "4 4 0\n", "one": "4 4 1\n1 2 7\n", "large": "100000 100000 1\n1 100000 1e15\n"}[traffic]
    (netloom.folder / "t.mtx").write_text(header + body)
    result = netloom.result("plot", "matrix", "t.mtx", "-o", "t.png")
    assert result["output"] == "t.png"


def test_loads_of_no_traffic_are_drawn(netloom, paths):
    (netloom.folder / "t.mtx").write_text("%%MatrixMarket matrix coordinate real general\n32 32 0\n")
    assert (
        netloom.result("plot", "loads", paths.ft2, "t.mtx", "ftree", "-o", "t.svg")["curves"][0]["max_load"]
        == 0
    )


def test_blocks_keep_all_bytes():
    import netloom as nl
    from netloom.plot.matrix import blocks

    traffic = nl.Traffic.pattern("all-to-all:bytes=2", 1000)
    cells, block = blocks(traffic)
    assert (cells.shape, block) == ((334, 334), 3)
    assert cells.sum() == traffic.total_bytes
    assert cells[0, 0] == 6 * 2  # three endpoints, not to themselves


def test_labels_keep_their_distance_and_their_order():
    wanted = [1.0, 1.01, 1.02, 5.0, 0.0, 9.99]
    placed = style.spread(wanted, 0.5, 0.0, 10.0)
    assert np.argsort(placed).tolist() == np.argsort(wanted).tolist()
    assert np.diff(np.sort(placed)).min() >= 0.5 - 1e-9
    assert placed[3] == 5.0
    assert 0.0 <= min(placed) <= max(placed) <= 10.0


def test_a_title_is_taken(netloom, paths):
    netloom.ok("plot", "matrix", "bisection", paths.ft2, "--title", "Half to half", "-o", "x.png")
    assert "picture goes to a file" in netloom.refused(
        "plot", "matrix", "bisection", paths.ft2, "-o", "-", code=2
    )


def test_history_of_phases_is_drawn_against_the_bound_of_the_objective(netloom, paths):
    """A step's load is then the objective's value: a sum over phases, not one phase's load."""
    (netloom.folder / "jobs.toml").write_text(
        '[[job]]\nname = "a"\n[[job.phase]]\npattern = "all-to-all:ranks=32"\n'
        '[[job.phase]]\npattern = "permutation:ranks=32,seed=2,bytes=3"\n'
    )
    document = netloom.json("optimize", paths.ft2, "jobs.toml", "--background", "minhop")
    (netloom.folder / "r.json").write_text(json.dumps(document))
    result = netloom.result("plot", "history", "r.json", "-o", "h.svg")
    assert document["result"]["objective"]["lower_bound"] == 31 + 3
    assert result["curves"][0]["gap_percent"] == document["result"]["objective"]["gap_percent"]
    assert result["curves"][0]["steps"] == len(document["result"]["history"])


def test_the_front_is_drawn(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    document = netloom.json("optimize", paths.ft2, jobs, "--from", "ftree", "--front")
    (netloom.folder / "r.json").write_text(json.dumps(document))
    result = netloom.result("plot", "front", "r.json", "-o", "f.svg")
    assert result["points"][0]["changed_entries"] == 0
    assert result["points"][-1]["gap_percent"] == document["result"]["lower_bound_gap_percent"]
    assert ET.parse(netloom.folder / "f.svg").getroot().tag.endswith("svg")
    del document["result"]["front"]
    (netloom.folder / "r.json").write_text(json.dumps(document))
    assert "optimize --front" in netloom.refused("plot", "front", "r.json", "-o", "g.svg")


def test_a_picture_has_the_size_and_the_pixels_asked_for(netloom, paths):
    draw = ("plot", "matrix", "bisection", paths.ft2)
    for name in ("a.pdf", "b.pdf"):
        netloom.ok(*draw, "-o", name, "--size", "5x3.5")
    data = (netloom.folder / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert data == (netloom.folder / "b.pdf").read_bytes()
    assert b"/MediaBox [ 0 0 360 252 ]" in data  # 72 points an inch
    netloom.ok(*draw, "-o", "c.png", "--size", "5x3.5", "--dpi", "80")
    assert struct.unpack(">II", (netloom.folder / "c.png").read_bytes()[16:24]) == (400, 280)
    for size in ("5", "0x3", "5x1000", "5cmx3cm"):
        assert "WIDTHxHEIGHT in inches" in netloom.refused(*draw, "-o", "d.png", "--size", size, code=2)


@pytest.mark.filterwarnings("error")
def test_a_front_of_one_point_has_axes():
    """Nothing to gain by any change: the axis of entries went from 0 to 0."""
    assert front_picture([(0, 5.0)], title="one", kind="png")
    assert front_picture([(0, 0.0)], title="one", kind="png")


class TestHalfASearch:
    """Routes that a search was to make for a picture, or for loads, where it was cut short."""

    @pytest.fixture
    def routes(self, monkeypatch):
        fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
        traffic = nl.Traffic.read("shift:4", fabric)

        def made(stopped):
            found = SimpleNamespace(stopped=stopped, proven_optimal=False, routes=nl.route("ftree", fabric))
            monkeypatch.setattr(Run, "made_for", lambda *_: found)
            return Run("loads", Options()).routes("optimize", fabric, traffic)

        return made

    def test_an_interrupted_one_gives_none(self, routes):
        with pytest.raises(KeyboardInterrupt):
            routes("interrupted")

    def test_a_time_limit_is_told(self, routes, capsys):
        assert routes("time-limit") is not None
        assert capsys.readouterr().err == "netloom: note: optimize: time limit: the best so far\n"
        assert routes(None) is not None
        assert capsys.readouterr().err == ""
