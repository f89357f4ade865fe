"""Congested-fraction plots: every link in its place, as thick as its traffic, as dark as its congestion."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

import netloom as nl
from netloom.errors import NetloomError
from netloom.plot.congestion import Panel, congestion_picture, drawing, most_traffic, packets
from netloom.plot.layout import layout
from netloom.plot.page import congestion_page
from netloom.plot.places import places, places_picture


def panel(fabric, seed=1, name="made up"):
    random = np.random.default_rng(seed)
    traffic = random.integers(0, 1000, fabric.links).astype(float)
    return Panel(name, traffic, np.floor(traffic * random.random(fabric.links)))


@pytest.mark.parametrize(
    "spec",
    [
        "quartz1",
        "two-level:leaves=8,hosts=4,spines=4",
        "fattree:pods=2,leaves=3,hosts=2,spines=4,groups=2,cores=2,leaf-cables=2",
        "xgft:m=4x4x4,w=1x2x2",
    ],
)
def test_every_live_link_is_drawn_once(spec):
    fabric = nl.Fabric.generate(spec)
    found = layout(fabric)
    assert sorted(found.links) == np.flatnonzero(fabric.link_table()["alive"]).tolist()
    assert len(found.lines) == len(found.above) == len(found.cables)
    assert len(found.cells) == len(found.hosts)
    for points in (found.lines[:, :2], found.lines[:, 2:], found.cells[:, :2], found.switches):
        assert (points >= 0).all()
        assert (points[:, 0] <= found.width).all()
        assert (points[:, 1] <= found.height).all()
    # No two cells or cables lie on each other.
    assert len(np.unique(found.cells[:, :2].round(3), axis=0)) == len(found.hosts)
    both = np.column_stack([found.lines.round(3), found.above])
    assert len(np.unique(both, axis=0)) == len(found.cables)


def test_dead_cables_are_left_out():
    fabric, _ = nl.Fabric.generate("two-level:leaves=4,hosts=2,spines=3").damage(random_links=2, seed=1)
    found = layout(fabric)
    alive = fabric.link_table()["alive"]
    assert sorted(found.links) == np.flatnonzero(alive).tolist()
    assert alive.sum() == 2 * (8 + 4 * 3 - 2)


def test_both_directions_of_a_cable_share_a_line_up_below_and_down_above():
    fabric = nl.Fabric.generate("quartz1")
    found = layout(fabric)
    table = fabric.link_table()
    ends = {(s, p): i for i, (s, p) in enumerate(zip(table["source"], table["source_port"], strict=True))}
    place = {int(link): at for at, link in enumerate(found.cables)}
    strips = found.strips(np.full(len(found.cables), 2.0))
    for link in found.cables[::97]:
        back = ends[table["target"][link], table["target_port"][link]]
        one, other = place[int(link)], place[back]
        assert (found.lines[one] == found.lines[other]).all()
        assert found.above[one] != found.above[other]
        up, down = (one, other) if found.above[other] else (other, one)
        # Two points thick each, side by side: their middles are two points apart, the one down higher.
        apart = strips[down] - strips[up]
        assert np.hypot(*apart[:2]) == pytest.approx(2.0)
        assert apart[1] > -1e-9


def test_a_host_is_below_its_leaf_and_its_link_down_above_the_one_up():
    fabric = nl.Fabric.generate("quartz1")
    found = layout(fabric)
    table = fabric.link_table()
    cells = dict(zip(found.hosts.tolist(), found.cells, strict=True))
    names = {name: x for name, (x, _) in zip(found.names, found.switches, strict=True)}
    for up in found.hosts[:200:7].tolist():
        if table["source"][up] >= fabric.hosts:
            continue
        (down,) = np.flatnonzero(table["target"] == table["source"][up])
        assert cells[down][1] > cells[up][1]
        assert cells[down][0] == cells[up][0]
        leaf = fabric.switch_names[table["target"][up] - fabric.hosts]
        assert cells[up][0] + cells[up][2] / 2 == pytest.approx(names[leaf])


def test_thickness_is_traffic_and_darkness_the_fraction():
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    found = layout(fabric)
    traffic, congested = np.zeros(fabric.links), np.zeros(fabric.links)
    a, b, c = found.cables[:3]
    traffic[[a, b, c]] = [1000.0, 250.0, 500.0]
    congested[[a, b, c]] = [0.0, 250.0, 250.0]
    host = found.hosts[0]
    traffic[host], congested[host] = 500.0, 500.0
    shown = Panel("p", traffic, congested)
    drawn = drawing(found, shown, most_traffic(found, [shown]))
    # Lightest first, so that what is dark lies on top.
    assert drawn.cables.tolist() == [0, 2, 1]
    assert np.allclose(drawn.widths, found.thickest * np.array([1.0, 0.5, 0.25]))
    light = drawn.greys[0]
    assert np.allclose(drawn.greys, [light, light / 2, 0.0])
    assert 0.5 < light < 0.95
    assert drawn.hosts.tolist() == [0]
    assert drawn.cells[0][2] == pytest.approx(found.cells[0][2] / 2)
    assert drawn.host_greys.tolist() == [0.0]


def test_panels_share_a_scale():
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    found = layout(fabric)
    one, other = panel(fabric, 1), panel(fabric, 2)
    small = Panel("small", one.traffic / 4, one.congested / 4)
    most = most_traffic(found, [small, other])
    assert most == other.traffic.max()
    assert np.allclose(drawing(found, small, most).widths.max() * 4, drawing(found, one, most).widths.max())


def test_a_part_has_its_leaves_and_all_above_them():
    fabric = nl.Fabric.generate("quartz1")
    leaves = layout(fabric, "leaf:22-25")
    # Two leaves of each of two pods: their hosts and cables up, then the pods' spines' cables to the cores.
    assert len(leaves.hosts) == 2 * 4 * 32
    assert len(leaves.cables) == 2 * (4 * 16 + 2 * 16 * 24)
    pod = layout(fabric, "pod:1")
    assert [name for _, _, name in pod.pods] == ["pod 1"]
    assert len(pod.hosts) == 2 * 24 * 32
    for wrong in ("leaf:96", "leaf:5-2", "pod:4", "spine:0", "leaf", "leaf:a-b", ""):
        with pytest.raises(NetloomError, match="expected leaf:FIRST-LAST or pod:FIRST-LAST"):
            layout(fabric, wrong)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_are_the_same_bytes_every_time(kind):
    fabric = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
    found = layout(fabric)
    panels = [panel(fabric, seed, f"tag {seed} $x$") for seed in range(3)]
    one, other = (congestion_picture(found, panels, title="a", kind=kind) for _ in range(2))
    assert one == other
    if kind == "svg":
        assert ET.fromstring(one).tag.endswith("svg")
    empty = Panel("nothing", np.zeros(fabric.links), np.zeros(fabric.links))
    assert congestion_picture(found, [empty], title="b", kind=kind)


class Page(HTMLParser):
    """Collects what is in a page; complains of tags that don't match."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.elements.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def test_the_page_is_whole_and_fetches_nothing():
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    found = layout(fabric)
    whole = panel(fabric)
    parts = [panel(fabric, 2, "</script><b>"), panel(fabric, 3, "tag 2")]
    ends = [(f"a{link}", f"b{link}") for link in found.links]
    page = congestion_page(found, [whole], [parts], ends, title="a < b & c")
    assert page == congestion_page(found, [whole], [parts], ends, title="a < b & c")
    parsed = Page(page.decode())
    for _, attributes in parsed.elements:
        assert not {"src", "href"} & set(attributes)
    assert b"http" not in page.replace(b"http-equiv", b"")
    assert b"url(" not in page
    data = json.loads(parsed.scripts[0])
    assert data["links"] == [list(pair) for pair in ends]
    (told,) = data["panels"]
    assert told["contexts"] == ["</script><b>", "tag 2"]
    assert told["packets"][0] == whole.traffic[found.links].astype(int).tolist()
    assert np.allclose(told["percent"][2], 100 * parts[1].fraction[found.links], atol=0.51)
    # Every link with traffic once, as thick as it carries.
    lines = {int(a["data-l"]): a for tag, a in parsed.elements if tag == "line"}
    carrying = np.flatnonzero(whole.traffic[found.cables] > 0)
    assert sorted(lines) == carrying.tolist()
    assert sum(tag == "line" for tag, _ in parsed.elements) == len(carrying)
    most = whole.traffic[found.links].max()
    for at in carrying:
        thick = float(lines[at]["stroke-width"])
        in_proportion = found.thickest * whole.traffic[found.cables[at]] / most
        assert thick == pytest.approx(max(in_proportion, 0.385), abs=6e-4)
    cells = [int(a["data-l"]) for tag, a in parsed.elements if tag == "rect" and "data-l" in a]
    assert cells == list(range(len(found.cables), len(found.links)))


def test_hosts_lie_where_their_ranks_do():
    # Four hosts of 2 x 2 ranks on a grid of 4 x 4; host 7 has the upper left corner.
    owner = {(0, 0): 7, (1, 0): 3, (0, 1): 5, (1, 1): 4}
    ranks = np.array([owner[x // 2, y // 2] for y in range(4) for x in range(4)])
    found = places([4, 4], ranks)
    assert found.shape == (2, 2, 1)
    assert dict(zip(found.hosts.tolist(), found.at.tolist(), strict=True)) == {
        7: [0, 0, 0],
        3: [1, 0, 0],
        5: [0, 1, 0],
        4: [1, 1, 0],
    }
    rows = [("a", np.array([0.1, 0.9, 0.0, 1.0])), ("b", np.zeros(4))]
    assert places_picture(found, rows, planes=[0], title="t", kind="svg").startswith(b"<?xml")
    with pytest.raises(NetloomError, match="expected one of the job's 16 ranks"):
        places([4, 5], ranks)
    with pytest.raises(NetloomError, match="tiled"):
        places([4, 4], np.arange(16) % 5)


def test_counts_of_packets_are_short():
    assert [packets(n) for n in (0, 7, 1250, 3.2e6, 4e9)] == ["0", "7", "1.25 k", "3.2 M", "4 G"]


@pytest.fixture
def ghost(netloom, paths):
    """miniGhost in little, sampled by tag, with its true counts."""
    scenario = paths.examples / "sampling" / "minighost-small.toml"
    netloom.ok("sample", "run", scenario, "--contexts", "tag", "--with-truth", "-o", "ghost")
    return "ghost"


def test_a_sampled_run_is_drawn_by_context(netloom, ghost):
    result = netloom.result("plot", "congestion", ghost, "--by", "context", "-o", "x.svg")
    assert [row["panel"] for row in result["panels"]][:2] == ["tag 1", "tag 2"]
    some = netloom.result("plot", "congestion", ghost, "--by", "context", "--phase", "2,4,6", "-o", "y.png")
    assert [row["panel"] for row in some["panels"]] == ["tag 2", "tag 4", "tag 6"]
    assert some["panels"][0] == result["panels"][1]
    whole = netloom.result("plot", "congestion", ghost, "-o", "z.html")
    (row,) = whole["panels"]
    assert row["contexts"] == len(result["panels"])
    assert row["packets"] >= max(panel["packets"] for panel in result["panels"])
    Page((netloom.folder / "z.html").read_text())
    part = netloom.result("plot", "congestion", ghost, "--part", "leaf:0-1", "-o", "p.svg")
    assert part["links"] < whole["links"]
    netloom.ok("plot", "congestion", ghost, "--by", "context", "-o", "c.svg", "--format", "csv")


def test_several_runs_share_a_picture(netloom, paths, ghost):
    scenario = paths.examples / "sampling" / "minighost-small.toml"
    netloom.ok("sample", "run", scenario, "--set", "job.1.mapping=block", "-o", "linear")
    result = netloom.result("plot", "congestion", ghost, "linear", "-o", "x.svg")
    assert [row["panel"] for row in result["panels"]] == ["ghost", "linear"]
    other = paths.examples / "scenarios" / "shuffle.toml"
    netloom.ok("sample", "run", other, "--routings", "ftree", "-o", "other")
    refused = netloom.refused("plot", "congestion", ghost, "other", "-o", "x.svg")
    assert "other: samples of another fabric than ghost" in refused


def test_hosts_are_drawn_on_the_grid_of_their_ranks(netloom, ghost):
    result = netloom.result("plot", "congestion", ghost, "--grid", "8x16x4", "--phase", "2", "-o", "x.png")
    assert result["shape"] == [4, 8, 2]
    assert result["planes"] == [0, 1]
    (row,) = result["panels"]
    # Nobody sends south to the last row: it has none to its south.
    assert len(row["congested_percent_by_y"]) == 8
    assert row["congested_percent_by_y"][7] == 0
    one = netloom.result("plot", "congestion", ghost, "--grid", "8x16x4", "--plane", "1", "-o", "x.svg")
    assert one["planes"] == [1]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "netloom plot congestion RUN"),
        (["ghost", "-o", "x.gif"], 2, "expected an ending of .svg, .pdf, .png, .html"),
        (["ghost", "--job", "nobody"], 3, 'has no job "nobody": expected minighost'),
        (["ghost", "--phase", "9"], 3, 'has no phase "9": expected 1, 2, 3, 4, 5, 6, collective'),
        (["ghost", "--part", "leaf:0-99"], 3, "of 0 to 7"),
        (["ghost", "--plane", "0"], 2, "--plane needs --grid"),
        (["ghost", "--grid", "8x8"], 3, "no job has so many ranks (minighost has 512)"),
        (["ghost", "--grid", "eight"], 2, "expected a process grid"),
        (["ghost", "--grid", "8x16x4", "--plane", "2"], 2, "expected FIRST-LAST of 0 to 1"),
        (["ghost", "--routing", "ftree"], 3, "has no samples of ftree: expected adaptive"),
        (
            ["gost"],
            3,
            "gost: no such folder: expected a folder of netloom simulate -o or netloom sample run -o",
        ),
        (["ghost", "--deviations", "-1"], 2, "expected 0 to 100"),
    ],
)
def test_what_cannot_be_drawn_is_said(netloom, ghost, words, code, said):
    output = [] if "-o" in words else ["-o", "x.svg"]
    assert said in netloom.refused("plot", "congestion", *words, *output, code=code)


def test_a_run_in_which_nothing_was_sent_is_refused(netloom):
    (netloom.folder / "s.toml").write_text(
        'fabric = "two-level:leaves=2,hosts=2,spines=1"\n'
        '[[job]]\nranks = 1\nprogram = { kind = "all-to-all", bytes = 9 }\n'
    )
    netloom.ok("sample", "run", "s.toml", "-o", "silent")
    for by in ((), ("--by", "window"), ("--job", "job1")):
        said = netloom.refused("plot", "congestion", "silent", *by, "-o", "x.svg", "--quiet")
        assert "silent: no sampled packet was received" in said


def test_a_lone_switch_has_hosts_alone(netloom):
    (netloom.folder / "s.toml").write_text(
        'fabric = "xgft:m=8,w=1"\n[[job]]\nprogram = { kind = "incast", bytes = 200000 }\n'
    )
    netloom.ok("sample", "run", "s.toml", "-o", "star")
    for by in ((), ("--by", "window")):
        (row,) = netloom.result("plot", "congestion", "star", *by, "-o", "x.html")["panels"]
        assert row["up_percent"] is row["down_percent"] is None
        assert row["worst"].startswith("host")
        # Seven hosts send to one: they wait for room at the switch, which never waits for the one's.
        assert 50 < row["from_hosts_percent"] <= 100
        assert row["to_hosts_percent"] == 0


def test_a_run_that_was_stopped_early_is_drawn_with_a_word(netloom, paths):
    scenario = paths.examples / "sampling" / "minighost-small.toml"
    longer = ("--set", "job.1.program.iterations=100000", "--time-limit", "1")
    netloom.ok("sample", "run", scenario, *longer, "-o", "cut")
    done = netloom("plot", "congestion", "cut", "-o", "x.svg")
    assert done.code == 0
    assert "cut: the run was stopped early (time-limit): only its beginning is drawn" in done.err


def test_a_run_without_samples_is_refused(netloom, paths):
    scenario = paths.examples / "scenarios" / "shuffle.toml"
    netloom.ok("simulate", scenario, "--routings", "ftree", "-o", "run")
    assert "has no samples: expected a folder of netloom sample run -o" in netloom.refused(
        "plot", "congestion", "run", "-o", "x.svg"
    )
