"""Pictures of all cables and of all engines: what is drawn, of what, and what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import netloom as nl
from netloom.drawing import cables as verb
from netloom.plot.routings import cables as picture
from netloom.plot.routings import profile


@pytest.fixture(scope="module")
def quartz():
    fabric = nl.Fabric.generate("quartz1")
    return fabric, picture.cables(fabric)


def test_every_cable_has_its_place(quartz):
    _, place = quartz
    assert len(place.names) == len(place.up) == 96 * 16
    assert len(set(zip(place.row.tolist(), place.column.tolist(), strict=True))) == 96 * 16
    assert place.pods == [(0, 24), (24, 48), (48, 72), (72, 96)]
    assert not place.holes.any()
    first = int(np.flatnonzero((place.row == 0) & (place.column == 0))[0])
    assert place.names[first].startswith(f"{place.leaves[0]}[{place.ports[0]}] → ")


def test_a_cable_is_as_dark_as_its_busier_direction(quartz):
    fabric, place = quartz
    loads = np.zeros(fabric.links)
    loads[place.up[5]], loads[place.down[5]], loads[place.down[9]] = 1.0, 3.0, 7.0
    values = place.busier(loads)
    assert (values[5], values[9], np.nansum(values)) == (3.0, 7.0, 10.0)
    panel = picture.Panel("ftree", values)
    assert panel.hottest == 9
    assert picture.Panel("idle", np.zeros(len(values))).hottest is None
    # Both ends of the cable are those of its other direction.
    table = fabric.link_table()
    assert (table["source"][place.up] == table["target"][place.down]).all()
    assert (table["source_port"][place.up] == table["target_port"][place.down]).all()


def test_cut_cables_are_crossed_out(netloom, paths):
    netloom.ok("fabric", "damage", paths.ft2, "--link", "leaf02[6]", "-o", "cut.txt")
    found = netloom.result("plot", "cables", "cut.txt", "bisection", "ftree", "optimize", "-o", "x.svg")
    assert found["cut"] == 1
    whole = netloom.result("plot", "cables", paths.ft2, "bisection", "ftree", "-o", "y.svg")
    assert (whole["cut"], whole["cables"]) == (0, 32)
    place = picture.cables(nl.Fabric.read(netloom.folder / "cut.txt"))
    ((row, column),) = np.argwhere(place.holes).tolist()
    assert (place.leaves[column], place.ports[row]) == ("leaf02", 6)


def test_cables_of_routings_are_those_of_loads(netloom, paths):
    found = netloom.result("plot", "cables", paths.ft2, "bisection", "ftree", "optimize", "-o", "x.svg")
    loads = netloom.result("loads", paths.ft2, "ftree", "bisection")
    before, after = found["panels"]
    assert before["max"] == loads["max_load_between_switches"]
    assert after["max"] <= before["max"]
    assert found["bound"] == loads["ar_bound"]
    drawn = (netloom.folder / "x.svg").read_bytes()
    netloom.ok("plot", "cables", paths.ft2, "bisection", "ftree", "optimize", "-o", "y.svg")
    assert drawn == (netloom.folder / "y.svg").read_bytes()
    assert ET.fromstring(drawn).tag.endswith("svg")


def test_counters_are_drawn_as_shares_of_what_fits(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok("counters", "synth", paths.ft2, "ftree", jobs, "--seconds", "2", "-o", "c.csv")
    found = netloom.result("plot", "cables", paths.ft2, "--counters", "c.csv", "-o", "x.svg")
    loads = netloom.result("loads", paths.ft2, "ftree", jobs)
    speed = nl.Fabric.read(paths.ft2).link_table()["bandwidth_bytes_per_s"].max()
    assert found["unit"] == "share"
    assert found["panels"][0]["max"] == pytest.approx(
        loads["max_load_between_switches"] / 2 / speed, rel=1e-6
    )


def test_a_picture_of_cables_has_few_columns_however_many_leaves():
    place = picture.cables(nl.Fabric.generate("two-level:leaves=1000,hosts=1,spines=2"))
    values = np.zeros(2000)
    values[777] = 5.0
    cells, at = picture._joined(place, place.grid(values))
    assert cells.shape[1] <= 400
    assert cells[place.row[777], int(at[place.column[777]])] == 5.0
    assert np.nansum(cells) == 5.0


def test_what_has_no_cables_to_draw_is_refused(netloom, paths):
    for words in (["bisection"], [], ["bisection", "ftree", "--counters", "c.csv"]):
        assert "plot cables draws" in netloom.refused(
            "plot", "cables", paths.ft2, *words, "-o", "x.svg", code=2
        )
    word = netloom.refused("plot", "cables", "dragonfly:p=2,a=4,h=2", "bisection", "dla", "-o", "x.svg")
    assert "dragonfly" in word


def compared(netloom, paths, seed, *more):
    words = ("optimize", paths.ft2, f"pairs:ranks=32,seed={seed}", "--compare", "--format", "json", *more)
    path = netloom.folder / f"{seed}.json"
    path.write_text(netloom.ok(*words))
    return path.name


def test_engines_are_ranked_over_all_cases(netloom, paths):
    files = [compared(netloom, paths, seed) for seed in (1, 2, 3)]
    found = netloom.result("plot", "engines", *files, "-o", "x.svg")
    assert found["cases"] == 3
    rows = {row["engine"]: row for row in found["engines"]}
    gaps = []
    for file in files:
        document = json.loads((netloom.folder / file).read_text())
        gaps.append({row["name"]: row["ar_gap_percent"] for row in document["result"]["compare"]})
    assert rows["ftree"]["worst_gap_percent"] == max(case["ftree"] for case in gaps)
    assert rows["ftree"]["median_gap_percent"] == sorted(case["ftree"] for case in gaps)[1]
    medians = [row["median_gap_percent"] for row in found["engines"]]
    assert medians == sorted(medians)
    assert "earlier file has" in netloom.refused("plot", "engines", files[0], files[0], "-o", "x.svg")


def test_results_of_loads_on_one_input_are_one_case(netloom, paths):
    for engine in ("ftree", "minhop"):
        out = netloom.ok("loads", paths.ft2, engine, "bisection", "--format", "json")
        (netloom.folder / f"{engine}.json").write_text(out)
    found = netloom.result("plot", "engines", "ftree.json", "minhop.json", "-o", "x.svg")
    assert found["cases"] == 1
    assert {row["engine"] for row in found["engines"]} == {"ftree", "minhop"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '{"schema": "netloom.optimize/1", "result": {"compare": null}, "inputs": []}',
        '{"schema": "netloom.optimize/1", "result": {"compare": [{"name": "a", "ar_gap_percent": "x"}]}, '
        '"inputs": [], "seed": 0}',
        "[" * 100_000,
    ],
)
def test_what_is_no_result_is_refused(netloom, text):
    (netloom.folder / "r.json").write_text(text)
    assert "r.json: expected what netloom optimize" in netloom.refused(
        "plot", "engines", "r.json", "-o", "x.svg"
    )


def test_a_profile_ends_where_an_engine_failed():
    found = profile.engines([{"a": 0.0, "b": 10.0}, {"a": 5.0, "b": None}, {"a": 5.0}])
    a, b = found
    assert (a.name, a.median, a.at_bound) == ("a", 5.0, 1)
    assert (b.median, b.known) == (None, [10.0])
    assert profile.steps(a, 20.0) == (
        [0.0, 0.0, 5.0, 5.0, 20.0],
        [0.0, *[100 / 3 * k for k in (1, 2, 3)], 100.0],
    )
    assert profile.steps(b, 20.0)[1][-1] == pytest.approx(100 / 3)
    same = profile.engines([{"a": 1.0, "b": 1.0, "c": 2.0}])
    assert [[one.name for one in of] for of in profile.alike(same)] == [["a", "b"], ["c"]]


def test_shares_are_told_in_percent():
    assert verb.share(0.1234) == "12.3 %"
