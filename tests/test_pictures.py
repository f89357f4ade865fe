"""What pictures draw: legends, scales of colours, sizes of type, titles and descriptions, by their data."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import netloom as nl
from netloom.drawing.basics import borders
from netloom.errors import NetloomError
from netloom.loop import summary
from netloom.plot import style
from netloom.plot.load import Curve, Point, load_picture
from netloom.plot.matrix import coefficients_picture, grey_picture, matrix_picture
from netloom.plot.paper import PAPER, Paper
from netloom.plot.routings.profile import engines, profile_picture
from netloom.plot.search import front_picture, told_points
from netloom.plot.sweep import Curve as Swept
from netloom.plot.sweep import Panel, sweep_picture
from netloom.plot.sweep import Point as Mean
from netloom.shown import legend


@pytest.fixture
def figures(monkeypatch):
    """The figures that are saved, in place of their bytes."""
    kept = []
    monkeypatch.setattr(style, "save", lambda fig, kind: kept.append(fig) or b"")
    return kept


@pytest.fixture
def paper():
    """Sets the size that was asked for."""
    before = PAPER.get()
    yield lambda width, height: PAPER.set(Paper((width, height)))
    PAPER.set(before)


def means(offset: float) -> list[Mean]:
    return [Mean(float(at), at + offset, at + offset - 0.1, at + offset + 0.1) for at in range(2)]


def test_a_sweep_s_curves_have_a_look_each_and_the_same_in_every_panel(figures):
    """Two keys vary: two curves are ftree's. The second panel has no mean of the first curve."""
    curves = [
        Swept(f"{engine}, {size}", engine, means(k))
        for k, (engine, size) in enumerate((e, s) for e in ("ftree", "random") for s in ("1 kB", "1 MB"))
    ]
    panels = [Panel("time", curves), Panel("latency", curves[1:]), Panel("alone", curves[2:3])]
    sweep_picture(panels, across="load", words=None, title="t", kind="svg", named="routing, bytes")
    (fig,) = figures
    looks = {}
    for axes in fig.axes:
        for line in axes.lines:
            look = (line.get_color(), line.get_linestyle(), line.get_marker())
            assert looks.setdefault(line.get_label(), look) == look
    assert len(looks) == len(set(looks.values())) == 4
    assert looks["ftree, 1 kB"][0] == looks["ftree, 1 MB"][0] == legend.look("ftree").colour
    (names,) = fig.legends
    assert [text.get_text() for text in names.get_texts()] == [curve.name for curve in curves]
    assert names.get_title().get_text() == "routing, bytes"
    assert all(axes.get_legend() is None for axes in fig.axes)


@pytest.mark.parametrize("rows", [1, 5])
def test_the_title_of_a_sweep_leaves_the_legend_s_heading_alone_and_none_of_its_keys_is_cut(figures, rows):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    keys = ["job.a.program.bytes", "hardware.cable_delay_ns", "job.a_long_name.program.a_still_longer_key"]
    curves = [Swept(f"{k}, 1, 2", str(k), means(k)) for k in range(4)]
    title = "pl: means by job.a.program.messages, with 95 % intervals" + " and more than that" * 3
    panels = [Panel(f"time {k}", curves) for k in range(rows)]
    sweep_picture(panels, across="load", words=None, title=title, kind="svg", named=", ".join(keys))
    (fig,) = figures
    renderer = FigureCanvasAgg(fig).get_renderer()
    fig.draw(renderer)
    (names,) = fig.legends
    told = names.get_title().get_text()
    assert told.replace("\n", "").replace(" ", "") == ",".join(keys)
    assert not fig._suptitle.get_window_extent(renderer).overlaps(names.get_window_extent(renderer))
    if rows == 1:
        assert not fig.axes[0].get_window_extent(renderer).overlaps(names.get_window_extent(renderer))


def test_points_that_no_line_joins_differ_in_their_markers(figures):
    curves = [Swept(str(k), str(k), means(k)) for k in range(8)]
    sweep_picture([Panel("time", curves)], across="routing", words=["a", "b"], title="t", kind="svg")
    lines = figures[0].axes[0].lines
    assert {line.get_linestyle() for line in lines} == {"None"}
    assert len({line.get_marker() for line in lines}) == 8


def test_twelve_curves_of_two_keys_are_told_apart_without_colour(figures):
    """In print and by who sees no colours: the marker alone does; and of one colour the dashes do too."""
    curves = [
        Swept(f"{engine}, {ranks}", engine, means(k))
        for k, (engine, ranks) in enumerate(
            (e, r) for e in ("ftree", "adaptive", "random") for r in (2, 4, 6, 8, 10, 12, 14, 16)
        )
    ]
    for many in (12, 24):
        sweep_picture([Panel("time", curves[:many])], across="load", words=None, title="t", kind="svg")
        lines = [line for line in figures[-1].axes[0].lines if line.get_marker() != "None"]
        assert len(lines) == many
        assert len({(line.get_marker(), line.get_markerfacecolor() == "white") for line in lines}) == many
    named = {line.get_label(): line for line in lines}
    for engine in ("ftree", "adaptive", "random"):
        own = [named[f"{engine}, {ranks}"] for ranks in (2, 4, 6, 8, 10, 12)]
        assert len({line.get_color() for line in own}) == 1
        assert len({str(line._unscaled_dash_pattern) for line in own}) == 6
    assert len({named[f"{engine}, 2"].get_color() for engine in ("ftree", "adaptive", "random")}) == 3


@pytest.mark.parametrize(
    ("rows", "words", "bar"),
    [
        ({}, "nothing is sent", None),
        ({(0, 1): 5.0, (2, 3): 5.0}, "5 B a pair", None),
        ({(0, 1): 5.0, (2, 3): 70_000.0}, None, ["5 B", "100 B", "1 kB", "10 kB", "70 kB"]),
    ],
)
def test_a_scale_of_colours_names_both_ends_and_one_value_has_none(figures, rows, words, bar):
    text = "source,destination,bytes\n" + "".join(f"{a},{b},{size:.0f}\n" for (a, b), size in rows.items())
    traffic = nl.Traffic.parse((text + "3,0,0\n").encode(), "csv")
    matrix_picture(traffic, title="t", kind="svg")
    (fig,) = figures
    axes, *bars = fig.axes
    told = [one.get_text() for one in axes.texts]
    if axes.get_legend() is not None:
        told += [one.get_text() for one in axes.get_legend().get_texts()]
    assert told == ([words] if words else [])
    assert (not bars) if bar is None else [t.get_text() for t in bars[0].get_yticklabels()] == bar


def test_matrices_in_grey_name_both_ends_of_their_scale_and_ranks_as_others_do(figures):
    text = "source,destination,bytes\n0,1,5\n2,3,70000\n"
    traffic = nl.Traffic.parse(text.encode(), "csv")
    grey_picture(traffic, 0, 4, title="t", kind="svg")
    cells = np.zeros((4, 4))
    cells[0, 1], cells[2, 3] = 5.0, -7000.0
    coefficients_picture(cells, 0, what="rank", title="t", kind="svg")
    coefficients_picture(np.zeros((4, 4)), 0, what="rank", title="t", kind="svg")
    bars = [[t.get_text() for t in fig.axes[-1].get_yticklabels()] for fig in figures[:2]]
    assert bars == [["0", "35 kB", "70 kB"], ["-7 kB", "0", "5 B"]]
    assert [fig.axes[0].get_xlabel() for fig in figures] == ["source rank"] * 3
    assert [one.get_text() for one in figures[2].axes[0].texts] == ["all coefficients are 0"]
    assert len(figures[2].axes) == 1


def test_numbers_of_endpoints_are_whole_and_have_their_thousands_separated(figures):
    for ranks in (2, 20_000):
        text = f"source,destination,bytes\n0,{ranks - 1},5\n"
        traffic = nl.Traffic.parse(text.encode(), "csv")
        matrix_picture(traffic, title="t", kind="svg")
        axes = figures[-1].axes[0]
        ticks = axes.get_xticks()
        labels = [axes.xaxis.get_major_formatter()(tick, 0) for tick in ticks]
        assert len(set(labels)) == len(labels)
        assert ("10,000" in labels) == (ranks > 2)


def test_lines_of_a_matrix_are_where_pods_or_leaves_end(figures):
    two = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
    assert borders(two).what == "leaves"
    assert list(borders(two).at) == [4, 8, 12, 16, 20, 24, 28]
    three = nl.Fabric.generate("fattree:pods=3,leaves=2,hosts=4,spines=2,groups=1,cores=2")
    assert (borders(three).what, list(borders(three).at)) == ("pods", [8, 16])
    assert borders(nl.Fabric.generate("two-level:leaves=80,hosts=2,spines=4")) is None
    traffic = nl.Traffic.read("bisection", two)
    matrix_picture(traffic, 6, 20, title="t", kind="svg", borders=borders(two))
    axes = figures[0].axes[0]
    assert sorted({float(line.get_xdata()[0]) for line in axes.lines} - {0.0}) == [8, 12, 16]
    assert axes.get_xlabel() == "destination host (lines between leaves)"


def test_a_front_has_a_linear_axis_and_its_numbers(figures):
    points = [(0, 30.0), (5, 10.0), (6, 9.9), (7, 9.8), (400, 0.0)]
    front_picture(points, title="t", kind="svg")
    axes = figures[0].axes[0]
    assert axes.get_yscale() == "linear"
    assert [one.get_text() for one in axes.texts] == [
        "0 entries: 30 %",
        "5 entries: 10 %",
        "400 entries: 0 %",
    ]
    assert told_points([(0, 0.0)]) == [0]
    assert told_points([]) == []
    front_picture([(0, 0.0)], title="t", kind="svg")
    front_picture([(1, 3.0)], title="t", kind="svg")
    assert [one.get_text() for one in figures[2].axes[0].texts] == ["1 entry: 3 %"]


def point(load: float) -> Point:
    return Point(load, load, 1.0 + load, saturated=load > 0.5)


def test_type_shrinks_with_the_paper_but_stays_legible(paper, monkeypatch):
    sizes = {}
    saved = style._saved
    for inches in ((8.2, 3.6), (6.0, 3.0), (3.3, 2.4)):
        paper(*inches)

        def look(fig, kind, inches=inches):
            sizes[inches] = min(text.get_fontsize() for text in style.words(fig))
            fig.draw_without_rendering()
            for text in style.words(fig):
                at = text.get_window_extent()
                assert at.x0 >= fig.bbox.x0 - 1, text.get_text()
                assert at.x1 <= fig.bbox.x1 + 1, text.get_text()
            return saved(fig, kind)

        monkeypatch.setattr(style, "_saved", look)
        curves = [Curve("ftree", [point(0.1), point(0.9)]), Curve("random", [point(0.2), point(0.8)])]
        load_picture(curves, title="a title that is long enough to be broken in two or more", kind="svg")
    assert sizes[8.2, 3.6] == 8.5
    assert sizes[6.0, 3.0] == pytest.approx(8.5 * 6.0 / 8.2)
    assert sizes[3.3, 2.4] == pytest.approx(8.5 * 0.7)


def test_names_below_a_small_picture_touch_no_word_of_it(paper, monkeypatch):
    """The first of nine names lay on the axis's label, and left the curves a sixth of the height."""
    saved, seen = style._saved, []

    def look(fig, kind):
        fig.draw_without_rendering()
        (axes,), (names,) = fig.axes, fig.legends
        label = axes.xaxis.label.get_window_extent()
        seen.append(names.get_window_extent().y1 <= label.y0 and axes.bbox.height > fig.bbox.height / 3)
        return saved(fig, kind)

    monkeypatch.setattr(style, "_saved", look)
    paper(4.5, 3.3)
    words = ("optimize", "afar", "coloured", "ftree", "d-mod-k", "s-mod-k", "minhop", "updn", "random")
    cases = [{word: float(k * n) for n, word in enumerate(words)} for k in (1, 2, 3)]
    profile_picture(engines(cases), title="t", kind="png")
    assert seen == [True]


def test_a_size_that_is_too_small_is_one_error_and_no_warning(paper, recwarn, netloom):
    paper(1.0, 1.0)
    with pytest.raises(NetloomError, match=r"^1x1 inches are too few for this picture"):
        load_picture([Curve("ftree", [point(0.1), point(0.9)])], title="t", kind="png")
    assert not recwarn.list
    draw = ("plot", "loads", "two-level:leaves=2,hosts=2,spines=2", "bisection", "ftree", "-o", "x.png")
    assert "too few" in netloom.refused(*draw, "--size", "1x1")


def test_an_svg_says_what_it_shows(netloom):
    draw = ("plot", "loads", "two-level:leaves=8,hosts=4,spines=4", "bisection", "ftree", "optimize")
    netloom.ok(*draw, "-o", "x.svg")
    text = (netloom.folder / "x.svg").read_text()
    assert text.count("<desc>") == 1
    (told,) = re.findall(r"<title>.*</title>\s*<desc>(.*)</desc>", text)
    assert "load" in told
    netloom.ok("plot", "matrix", "bisection", "two-level:leaves=8,hosts=4,spines=4", "-o", "y.svg")
    told = re.findall(r"<desc>(.*)</desc>", (netloom.folder / "y.svg").read_text())
    assert told == ["source host over destination host (lines between leaves)"]


def test_titles_name_the_picture_and_the_fabric(netloom, paths):
    (netloom.folder / "net.txt").symlink_to(paths.ft2)
    netloom.ok("route", "ftree", "net.txt", "-o", "a.lfts")
    search = ("optimize", "net.txt", "bisection-shuffle:seed=2", "--from", "a.lfts", "--front")
    (netloom.folder / "f.json").write_text(json.dumps(netloom.json(*search)))
    for what, told in (("history", "gap to the bound over time"), ("front", "gap to the bound by changed")):
        netloom.ok("plot", what, "f.json", "-o", "x.svg")
        text = (netloom.folder / "x.svg").read_text()
        assert re.search(rf"<title>bisection-shuffle:seed=2 on net.txt: {told}", text), what
    netloom.ok("plot", "coefficients", "bisection", "net.txt", "-o", "x.svg")
    told = "bisection on net.txt (32 hosts): coefficients in symmetric-differences"
    assert f"<title>{told}</title>" in (netloom.folder / "x.svg").read_text()


def round_of(number: int, before: float | None, after: float | None) -> dict:
    return {
        "number": number,
        "phase": "a long name of a phase that goes on",
        "verdict": None,
        "time_before_ms": None,
        "time_after_ms": None,
        "gap_before_percent": before,
        "gap_after_percent": after,
        "predicted_gain": 10.0,
        "sure_gain": 5.0,
        "asked_percent": 2.0,
        "realised_gain": None,
        "changed_entries": 3,
        "seconds": {"infer": 0.5},
        "decision": "applied",
        "reason": "gains <10 %>",
    }


def test_a_loop_s_summary_draws_every_round_with_its_numbers():
    """A bar of height 0 was not seen: after 0 % there is a dot, and the number."""
    rows = [round_of(1, 57.2, 0.0), round_of(2, 0.0, None), round_of(3, None, None)]
    found = {"loop": "l", "scenario": "s", "hosts": 32, "switches": 12, "routes": "ftree", "counters": "c"}
    found |= {"weight": "bytes", "applied": 3, "kept": 0, "rolled_back": 0, "rounds": rows}
    page = summary.page(found).decode()
    assert page.count('<circle class="before"') == 2
    assert page.count('<circle class="after"') == 1
    assert page.count('class="way"') == 1
    assert ">57.20 → 0.00 %</text>" in page
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", page)
    assert "must gain" in heads
    assert "asked" not in heads
    assert "time before (ms)" not in heads
    (cells,) = {row.count("<td") for row in re.findall(r'<tr class="told">.*?</tr>', page)}
    assert cells == len(heads)
    assert f'colspan="{len(heads) - 1}">gains &lt;10 %&gt;</td>' in page
    assert "prefers-color-scheme: dark" in page


def test_a_page_scrolls_with_the_wheel_and_zooms_with_ctrl():
    from netloom.shown.html import asset

    script = asset("netloom.plot", "congestion.js")
    handler = script[script.index('addEventListener("wheel"') :]
    assert handler.index("ctrlKey") < handler.index("preventDefault")
    assert "prefers-color-scheme: dark" in asset("netloom.plot", "congestion.css")


def test_pods_without_traffic_are_folded():
    """Hosts 0 to 7 are pod 0's, 16 to 23 pod 2's; they talk, by cores."""
    from netloom.plot.layout import idle_pods, layout

    fabric = nl.Fabric.generate("fattree:pods=3,leaves=2,hosts=4,spines=2,groups=1,cores=2")
    text = "source,destination,bytes\n" + "".join(f"{host},{16 + host},9\n" for host in range(8))
    (traffic,) = (nl.Traffic.parse((text + "23,0,9\n").encode(), "csv"),)
    per_link = nl.loads(fabric, nl.route("ftree", fabric), traffic).per_link
    assert idle_pods(fabric, per_link > 0) == [1]
    assert idle_pods(fabric, per_link < 0) == []
    whole, folded = layout(fabric), layout(fabric, without=[1])
    assert [name for *_, name in folded.pods] == ["pod 0", "pod 2"]
    assert folded.width < whole.width or len(folded.cells) < len(whole.cells)
    # All that carries anything is still drawn.
    assert per_link[folded.links].sum() == per_link.sum()


def test_above_1_000_hosts_a_congestion_picture_leaves_idle_pods_out_and_says_so(netloom):
    (netloom.folder / "s.toml").write_text(
        'name = "s"\nfabric = "fattree:pods=4,leaves=10,hosts=26,spines=2,groups=1,cores=2"\n'
        'routes = ["ftree"]\n[[job]]\nname = "a"\nranks = 8\n'
        'program = { kind = "stream", pattern = "bisection", bytes = "64KiB" }\n'
    )
    netloom.ok("sample", "run", "s.toml", "-o", "sampled", "-q")
    done = netloom("plot", "congestion", "sampled", "-o", "x.svg")
    assert "3 idle pods not drawn, whose links carry nothing" in done.err
    text = (netloom.folder / "x.svg").read_text()
    assert "<title>s (1,040 hosts): who met congestion; 3 idle pods not drawn</title>" in text
    folded = netloom.result("plot", "congestion", "sampled", "-o", "x.svg")
    whole = netloom.result("plot", "congestion", "sampled", "--part", "pod:0-3", "-o", "y.svg")
    assert folded["links"] < whole["links"] / 3
    assert folded["panels"] == whole["panels"]
