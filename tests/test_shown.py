"""What pictures, tables and the terminal show is true and legible: ticks, lengths, digits, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom.cli.optimize.report import levels_text, verdict
from netloom.cli.shared import render
from netloom.loop.decision import Proposal, decide
from netloom.loop.prediction import Prediction
from netloom.plot import congestion, page, style
from netloom.plot import run as run_plot
from netloom.plot.layout import layout
from netloom.plot.load import Curve, Point, load_picture
from netloom.plot.search import Stairs, history_picture
from netloom.sampling.samples import Totals
from netloom.shown import legend
from netloom.watch import screen
from netloom.watch.sources import spans


@pytest.fixture
def figures(monkeypatch):
    """The figures that are saved, in place of their bytes."""
    kept = []
    monkeypatch.setattr(style, "save", lambda fig, kind: kept.append(fig) or b"")
    return kept


def labels_within(axis) -> list[str]:
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
    return [label.get_text() for at, label in ticks if low <= at <= high and label.get_text()]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0031, 0.0034, [0.002, 0.005]),
        (1.0, 1.0, [1.0, 2.0]),
        (0.15, 0.7, [0.1, 0.2, 0.5, 1.0]),
        (1e-3, 1e3, [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]),
    ],
)
def test_logarithmic_axes_have_two_round_numbers_at_least(low, high, expected):
    assert style.log_ticks(low, high) == expected


def test_a_log_axis_of_many_decades_has_few_ticks():
    ticks = style.log_ticks(1e-9, 1e9)
    assert 2 <= len(ticks) <= 9
    assert ticks[0] <= 1e-9
    assert ticks[-1] >= 1e9


@pytest.mark.parametrize("seconds", [[0.0031, 0.0033], [0.2, 0.4], [0.01, 40.0], [0.0]])
def test_a_search_of_less_than_a_decade_has_its_times_marked(figures, seconds):
    history_picture([Stairs("a", seconds, [5.0] * len(seconds), seconds[-1])], title="t", kind="svg")
    assert len(labels_within(figures[0].axes[0].xaxis)) >= 2


def test_latencies_of_less_than_a_decade_are_marked(figures):
    points = [Point(0.1, 0.1, 1.71, saturated=False), Point(0.5, 0.5, 1.9, saturated=False)]
    load_picture([Curve("ftree", points)], title="t", kind="svg")
    assert len(labels_within(figures[0].axes[0].yaxis)) >= 2


def counted(fabric, intervals) -> nl.Counters:
    """Counters of link 0: bytes between two times in ns each."""
    rows = [f"{start},{end},0,{bytes_},{bytes_}" for start, end, bytes_ in intervals]
    text = "\n".join(["start_ns,end_ns,link,xmit_bytes,rcv_bytes", *rows, ""])
    return nl.Counters.parse(text.encode(), fabric)


def test_an_interval_of_counters_has_its_own_length(netloom, paths):
    """The last of a run is cut short: over the mean of all a full link was more than 100 % busy."""
    fabric = nl.Fabric.read(paths.ft2)
    found = counted(fabric, [(0, 10_000, 5), (10_000, 20_000, 5), (20_000, 20_600, 5)])
    assert spans(found) == pytest.approx([10e-6, 10e-6, 0.6e-6])
    full = fabric.link_table()["bandwidth_bytes_per_s"][0] * 10e-6
    rows = [
        f"{start},{start + long},{link},{full * long / 10_000:.0f},{full * long / 10_000:.0f}"
        for start, long in ((0, 10_000), (10_000, 10_000), (20_000, 600))
        for link in range(fabric.links)
    ]
    text = "\n".join(["start_ns,end_ns,link,xmit_bytes,rcv_bytes", *rows, ""])
    (netloom.folder / "c.csv").write_text(text)
    out = netloom.ok("watch", paths.ft2, "--counters-from", "c.csv", "--every", "0.05")
    assert [line for line in out.splitlines() if line.startswith("over")] == [
        "over 10 µs",
        "over 10 µs",
        "over 600 ns",
    ]
    busy = [float(share) for share in re.findall(r"(\d+\.\d) % ", out)]
    assert max(busy) <= 100.1


def test_links_that_carry_little_are_half_a_pixel_wide_on_the_page():
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=2,spines=2")
    place = layout(fabric)
    traffic = np.ones(fabric.links)
    traffic[place.cables[0]] = 1e6
    panel = congestion.Panel("p", traffic, np.zeros(fabric.links))
    names = [("a", "b")] * len(place.links)
    html = page.congestion_page(place, [panel], [[panel]], names, title="t").decode()
    zoom = float(re.search(r'width="(\d+)">', html)[1]) / float(re.search(r'viewBox="0 0 (\d+)', html)[1])
    widths = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', html)]
    cells = [float(width) for width in re.findall(r'class="f" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', html)]
    assert len(widths) == len(place.cables)
    assert len(cells) == len(place.hosts)
    assert min(widths + cells) * zoom >= 0.49


@pytest.mark.parametrize(
    ("sure", "mean", "whose"), [(49.1, 25.0, "the traffic of the last rounds"), (25.0, 49.1, "the doubt")]
)
def test_a_round_s_reason_and_its_table_name_one_value(sure, mean, whose):
    found = Prediction(gain=60.0, sure_gain=sure, mean_gain=mean)
    decision = decide(Proposal(changed_entries=10, moved=0.0, prediction=found, tables="x"), [])
    assert found.least == 25.0
    assert "at least 25.0 %" in decision.reason
    assert whose in decision.reason


def strips_panel(name, *, queues: bool):
    tiers = [run_plot.Tier("host → leaf", np.full((2, 2), 0.5))]
    edges = np.array([0.0, 0.1, 0.2])
    strips = [run_plot.Strip("busiest link", edges, np.full((1, 2), 1.0))]
    if queues:
        strips.append(run_plot.Strip("longest queue", edges, np.full((1, 2), 9.0), queue=True))
    return run_plot.Panel(name, "1 ms", tiers, strips)


def test_a_run_says_of_what_its_shares_are_and_what_was_not_recorded(figures):
    panels = [strips_panel("ftree", queues=True), strips_panel("adaptive", queues=False)]
    run_plot.run_picture(panels, title="t", kind="svg", longest_ms=0.261)
    (fig,) = figures
    bars = [axes.get_ylabel() for axes in fig.axes]
    assert "busy: images of 0.261 ms,\nstrips of their interval" in bars
    words = [text.get_text() for axes in fig.axes for text in axes.texts]
    assert words.count("not recorded") == 1
    notes = [text.get_text() for text in fig.texts]
    assert any("a column a switch" in note and "a row a cable" in note for note in notes)
    assert run_plot.busy_label([run_plot.Panel("a", "", [])], 2.0) == "busy, of 2 ms"


def test_rows_left_out_on_a_terminal_are_counted_and_levels_never_cut():
    rows = [[str(row)] for row in range(8)]
    tables = [
        screen.Section("load by level", ["a"], rows[:6], whole=True),
        screen.Section("hottest links", ["a"], rows),
        screen.Section("jobs", ["a"], rows),
    ]
    lines = ["head", "x" * 200]
    for height in range(1, 60):
        told, fits = screen.fitted(lines, tables, height, 80)
        assert all(len(line) <= 80 for line in told)
        if height >= 12:
            assert len(told) + sum(3 + len(table.rows) for table in fits) <= height
            assert fits[0].rows == rows[:6]
        shown = {table.title: table for table in fits}
        for table in tables:
            if table.title in shown:
                fit = shown[table.title]
                assert len(fit.rows) + fit.more == len(table.rows)
                assert ("more" in fit.heading) == (len(fit.rows) < len(table.rows))
            else:
                assert f"{table.title} ({len(table.rows)})" in told[-1]
    told, fits = screen.fitted(lines, tables, 24, 80)
    assert [table.heading for table in fits] == ["load by level", "hottest links  … 5 more", "jobs  … 4 more"]


def test_a_watched_terminal_tells_the_time_and_how_old_the_picture_is():
    from rich.console import Console

    console = Console(width=80, height=24, force_terminal=True, color_system=None, record=True)
    view = screen.View(console)
    view.put(["ibsim: 32 hosts"], [screen.Section("jobs", ["a"], [["1"]])])
    view.at_s -= 7
    console.print(view.now())
    assert re.search(r"\d\d:\d\d:\d\d, 7 s ago", console.export_text())


def test_loads_that_differ_have_digits_that_differ():
    assert render.sizes([2_481_900.0, 2_480_100.0, 2.0]) == ["2.482 MB", "2.480 MB", "2 B"]
    assert render.sizes([12_000.0, 11_000.0]) == ["12.00 kB", "11.00 kB"]
    assert render.sizes([5.0, 5.0]) == ["5 B", "5 B"]
    levels = [{"load": 2_481_900.0, "links": 24}, {"load": 2_480_100.0, "links": 43}]
    assert levels_text(levels) == "2.482 MB on 24 links, 2.480 MB on 43"
    levels = [{"load": 2.5e12, "links": 24}, {"load": 2.5e12 - 1, "links": 43}]
    assert levels_text(levels) == "2.50 TB on 67 links, the same but for rounding"


def test_all_of_few_packets_is_no_certainty():
    """Wilson's interval of 20 of 20 reaches down to 95 %, of 10 of 20 from 39 to 61 %."""
    packets = np.array([20.0, 20.0, 20.0, 0.0])
    hits = np.array([20.0, 10.0, 0.0, 0.0])
    doubt = Totals(packets, np.sqrt(packets), hits, np.sqrt(hits), packets.astype(int)).fraction_doubt()
    assert doubt[:3] == pytest.approx([1 / 21, 0.1091, 1 / 21], abs=2e-4)
    assert np.isnan(doubt[3])
    one_bit = Totals(packets, np.zeros(4), hits, np.full(4, 4.0), packets.astype(int)).fraction_doubt()
    assert (one_bit[:3] > 0.01).all()
    exact = Totals(packets, np.zeros(4), hits, np.zeros(4), packets.astype(int)).fraction_doubt()
    assert exact[:3].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "error", "told"),
    [
        (76.92, 10.12, "77 ± 10 %"),
        (99.34, 0.47, "99.3 ± 0.5 %"),
        (100.0, 0.0, "100.00 %"),
        (100.0, 0.13, "100.0 ± 0.1 %"),
        (50.0, 0.001, "50.00 ± < 0.01 %"),
        (42.4, 5.7, "42 ± 6 %"),
    ],
)
def test_a_share_is_rounded_to_its_error(value, error, told):
    assert render.measured(value, error) == told


def test_a_run_without_queues_has_a_strip_of_zeros(netloom, paths):
    """Nothing waited is not the same as nobody looked."""
    scenario = netloom.folder / "s.toml"
    scenario.write_text(
        'name = "s"\nfabric = "two-level:leaves=2,hosts=2,spines=2"\nroutes = ["ftree"]\n'
        "[measure]\nqueues_every_us = 1\n"
        '[[job]]\nname = "a"\nprogram = { kind = "stream", pattern = "bisection", bytes = "4KiB" }\n'
    )
    netloom.ok("simulate", scenario, "-o", "run")
    manifest = json.loads((netloom.folder / "run" / "manifest.json").read_text())
    assert any(name.startswith("queue_levels") for name in manifest["runs"][0]["files"])
    netloom.ok("plot", "run", "run", "-o", "x.svg")
    assert "not recorded" not in (netloom.folder / "x.svg").read_text()


def test_every_engine_has_one_name_and_a_look_of_its_own():
    words = [name for name, _ in nl._core.engines()] + [name for name, _ in nl._core.schemes()]
    words += ["afar", "coloured", "optimize"]
    looks = [legend.look(word) for word in words]
    assert None not in looks
    assert len({(look.colour, look.dashes) for look in looks}) == len(words)
    assert {legend.name(word) for word in ("optimize", "optimized", "netloom")} == {"optimized"}
    assert legend.name("AFAR") == legend.name("afar")
    assert legend.looks(["a.lfts", "ftree"])[1] == legend.looks(["ftree", "b.lfts", "c.lfts"])[0]


def test_curves_never_look_alike():
    words = [*legend.names(), *(f"{i}.lfts" for i in range(40)), "ftree", "ftree"]
    looks = legend.looks(words)
    assert len({(look.colour, look.dashes, look.marker) for look in looks}) == len(words)


def test_an_engine_s_curve_is_of_its_colour_in_every_picture(figures):
    from netloom.plot import loads

    links = np.array([3.0, 2.0, 1.0])
    for names in (["ftree", "optimize"], ["minhop", "afar", "ftree"]):
        curves = [loads.Curve(name, links, best=name == names[-1]) for name in names]
        loads.loads_picture(curves, bound=1.0, bound_name="AR bound", title="t", kind="svg")
    points = [Point(0.1, 0.1, 1.71, saturated=False)]
    load_picture([Curve("random", points), Curve("ftree", points)], title="t", kind="svg")
    drawn = [line.get_color() for fig in figures for axes in fig.axes for line in axes.lines]
    assert drawn.count(legend.look("ftree").colour) >= 3
    text = [word.get_text() for fig in figures for axes in fig.axes for word in axes.texts]
    assert any(word.startswith("optimized ") for word in text)


def test_colours_of_pictures_are_named_in_two_places_alone():
    folder = Path(style.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name == "style.py":
            continue
        assert re.findall(r"[\"']#[0-9a-fA-F]{3,8}[\"']", path.read_text()) == [], path.name
        for word in ("ftree", "minhop", "optimized", "netloom-lmc"):
            assert f'"{word}"' not in path.read_text(), path.name


def test_a_picture_says_what_it_is_and_of_which_fabric(netloom, paths):
    draw = ("plot", "loads", "two-level:leaves=8,hosts=4,spines=4", "bisection", "ftree", "optimize")
    netloom.ok(*draw, "-o", "x.svg")
    told = "bisection on two-level:leaves=8,hosts=4,spines=4 (32 hosts): load of every link"
    assert f"<title>{told}</title>" in (netloom.folder / "x.svg").read_text()
    netloom.ok("plot", "matrix", "bisection", paths.ft2, "--title", "Costs $5", "-o", "y.svg")
    assert "<title>Costs $5</title>" in (netloom.folder / "y.svg").read_text()


def test_loads_that_differ_are_told_apart():
    from netloom.plot.loads import figure

    assert [figure(load, 2.86) for load in (2.86, 2.95, 3.61, 2.87)] == [
        "2.86",
        "2.95 (+3 %)",
        "3.61 (+26 %)",
        "2.87 (+0.35 %)",
    ]
    assert figure(250.0, 0.0) == "250"


def test_people_read_one_arrow_and_scripts_what_they_read_before(netloom, paths):
    told = netloom.ok("loads", paths.ft2, "ftree", "bisection", "--users-of", "leaf00[5]")
    assert "->" not in told
    assert " → spine00[1]" in told
    assert render.arrows("<!-- a --> b->c, d -> e") == "<!-- a --> b → c, d → e"


@pytest.mark.parametrize(
    ("start", "end", "proven", "told"),
    [
        (3.61e6, 2.86e6, False, "3.61 → 2.86 MB, 21 % less than ftree; 3 % above the proven bound"),
        (1.2e6, 454_700, True, "1.20 MB → 454.7 kB, 62 % less than ftree: proven optimal among any routes"),
        (2.0, 2.0, True, "2 B, as with ftree: proven optimal among any routes"),
        (None, 2.0, True, "2 B: proven optimal among any routes"),
        (2.0, 3.0, False, "2 → 3 B, 50 % more than ftree; 3 % above the proven bound"),
    ],
)
def test_a_search_says_first_what_it_has_come_to(start, end, proven, told):
    goal = {"kind": "total", "value": end, "gap_percent": 3.0, "proven_optimal": proven}
    goal["bound_class"] = "any-routes"
    history = [] if start is None else [{"max_load": start}]
    result = {"objective": goal, "history": history, "background": None, "best_engine": None}
    assert verdict(result, "ftree") == told
    if start is not None:
        before = {"value": start, "routes": "here/ftree"}
        assert verdict(result | {"history": [], "background": before}, "here/ftree") == told


def test_the_verdict_of_a_search_without_from_is_of_ftree_s_loads(netloom, paths):
    traffic = "bisection-shuffle:seed=1,bytes=1000"
    ftree = netloom.result("loads", paths.ft2, "ftree", traffic)["max_load"]
    out = netloom.ok("optimize", paths.ft2, traffic)
    assert out.splitlines()[0] == (
        f"verdict             {ftree / 1000:.2f} → 1.00 kB, {100 - 1e5 / ftree:.0f} % less than ftree: "
        "proven optimal among any routes"
    )


def test_links_of_hosts_that_are_all_alike_give_way_to_those_between_switches(netloom, paths):
    """64 links of hosts carry 31 bytes each; a list of ten of them says nothing."""
    found = netloom.result("loads", paths.ft2, "ftree", "all-to-all")
    assert {link["from"][:4] for link in found["hottest"]} == {"host"}
    between = found["hottest_between_switches"]
    assert len(between) == 10
    assert {link["from"][:4] for link in between} <= {"leaf", "spin"}
    out = netloom.ok("loads", paths.ft2, "ftree", "all-to-all")
    assert "hottest links between switches (64 links of hosts: 31 B)\n" in out
    # An incast's host is the hottest link alone, and stays.
    rows = "".join(f"{source},31,9\n" for source in range(8))
    (netloom.folder / "incast.csv").write_text(f"source,destination,bytes\n{rows}")
    out = netloom.ok("loads", paths.ft2, "ftree", "incast.csv")
    assert "\nhottest links\nload  from         to\n72 B  leaf07[4]" in out
