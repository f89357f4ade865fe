"""`netloom plan`: designs judged by packets, after failures, grown, and on a page for a tender."""

from __future__ import annotations

import json
import os
import re
from collections import Counter

import numpy as np
import pytest

import netloom as nl
from netloom import _core
from netloom.planning import failures
from netloom.planning import worst as worse
from netloom.planning.judged import judged
from report_bed import Page
from test_report import checked

# 18 hosts on 8 cables to 2 spines. Half of the hosts send to the other half: T = 18/8.
PLAN = """
compare = ["two-level:leaves=3,hosts=18,spines=2,cables=4"]
[machine]
hosts = 48
radix = 36
[catalogue]
file = "slimfly-2014.toml"
[cables]
hosts = { kind = "copper", length_m = 2 }
leaves = { length_m = 20 }
spines = { length_m = 20 }
[nodes]
price = 5000
[placement]
orders = ["block"]
[[application]]
pattern = "shift:24"
name = "halves"
weight = 1
wire_share = 0.5
"""


@pytest.fixture
def plan(netloom, write, paths):
    """Writes a plan beside its catalogue, with texts in it replaced."""
    write("slimfly-2014.toml", (paths.examples / "plan" / "slimfly-2014.toml").read_text())

    def save(*replaced: tuple[str, str], name: str = "plan.toml") -> str:
        text = PLAN
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        return write(name, text)

    return save


def test_packets_stand_beside_the_estimate_with_what_makes_them_differ(netloom, plan):
    result = netloom.result("plan", plan(), "--by-packets")
    assert [row["which"] for row in result["judged"]["designs"]] == ["cheaper", "chosen", "compared"]
    row = result["judged"]["designs"][-1]
    (halves,) = row["applications"]
    # 18 single messages on 8 cables: some cable has 3 of them, and half of the time is on the wire.
    assert halves["estimate"] == row["estimate"] == pytest.approx(0.5 + 0.5 * 18 / 8)
    assert halves["loads"] == pytest.approx({"ftree": 0.5 + 0.5 * 3, "optimized": 0.5 + 0.5 * 3})
    assert halves["slowdown"]["ftree"] == pytest.approx(2.0, rel=0.03)
    assert halves["slowdown"]["adaptive"] == pytest.approx(1.625, rel=0.06)
    assert halves["because"] == {"ftree": "collisions", "adaptive": None, "optimized": "collisions"}
    assert halves["apart_percent"]["ftree"] == pytest.approx(
        100 * (halves["slowdown"]["ftree"] / halves["estimate"] - 1)
    )
    # Two independent ways: the same run as a scenario of its own, without the module.
    ended = []
    for spec in (row["spec"], result["full"]["spec"]):
        fabric = nl.Fabric.generate(f"{spec},speed=40G")
        shift = nl.Traffic.from_triples(fabric, range(48), [(k + 24) % 48 for k in range(48)], [1e6] * 48)
        routing = "ftree" if spec == row["spec"] else "adaptive"
        run = nl.simulate(nl.Scenario.of_traffic(fabric, shift), routing)
        ended.append(run.end_ps)
    assert halves["slowdown"]["ftree"] == pytest.approx(0.5 + 0.5 * ended[0] / ended[1], rel=0.01)


def test_the_first_line_says_what_was_simulated(netloom, plan):
    assert netloom.ok("plan", plan()).splitlines()[0].startswith("no design was simulated")
    text = netloom.ok("plan", plan(), "--by-packets")
    assert (
        text.splitlines()[0]
        == "3 networks were run packet by packet; all other designs rest on the model alone"
    )
    assert "collisions: tables, or minimal ways, put more on a link than the estimate has" in text
    assert nl.plan(netloom.folder / "plan.toml", by_packets=True)["judged"]["routings"] == [
        "ftree",
        "adaptive",
        "optimized",
    ]


def test_judged_designs_are_the_same_for_any_number_of_threads(netloom, plan):
    one, two = (netloom.result("plan", plan(), "--by-packets", "--threads", n)["judged"] for n in (1, 2))
    assert one == two


def test_what_the_time_limit_leaves_is_said(netloom, plan):
    path = netloom.folder / plan()
    result = nl.plan(path)
    late = judged(path, result, until=0.0)
    assert all(slow is None for row in late["designs"] for slow in row["slowdown"].values())
    from netloom.cli.plan import report

    result["judged"] = late
    assert report.first(result).startswith("no design was simulated")
    assert report.unjudged(result) == [row["spec"] for row in late["designs"]]
    found = failures.after_failures(path, result, [result["full"]], until=0.0)
    for one in [*result["designs"], *result["compared"], result["full"]]:
        one["after_failure"] = found.get(one["spec"])
    assert result["full"]["after_failure"]["before"] is None
    assert result["full"]["after_failure"]["spine"] == "late"
    assert result["full"]["spec"] in report.unfailed(result)


def test_the_present_fabric_is_judged_as_it_is(netloom, plan):
    """The compared tree as a dump with faster cables: as much less is estimated, and packets are quicker."""
    spec = "two-level:leaves=3,hosts=18,spines=2,cables=4"
    nl.Fabric.generate(f"{spec},speed=FDR").write(netloom.folder / "today.net")
    result = netloom.result("plan", plan(), "--today", "today.net")
    rows = {row["which"]: row for row in result["judged"]["designs"]}
    assert rows["today"]["spec"] == "today.net"
    # Of 54 hosts 48 are used, as in the design.
    (today,), (there,) = rows["today"]["applications"], rows["compared"]["applications"]
    bandwidth = max(nl.Fabric.read(netloom.folder / "today.net").link_speeds())[0]
    assert today["estimate"] == pytest.approx(0.5 + 0.5 * 18 / 8 * 5e9 / bandwidth)
    assert today["slowdown"]["ftree"] < there["slowdown"]["ftree"]
    kinds = {one["kind"]: one["text"] for one in result["findings"]}
    assert "today.net is judged, not redesigned" in kinds["judged-as-is"]
    assert "no tree" not in kinds["judged-as-is"]


def test_faster_cables_of_a_present_fabric_count(netloom, plan):
    """At 80 instead of 40 Gb/s what is on the wire takes half as long; a part of the hosts is enough."""
    path = plan(('"shift:24"', '"shift:12,ranks=24"'))
    result = netloom.result(
        "plan", path, "--today", "two-level:leaves=2,hosts=18,spines=2,cables=9,speed=80G"
    )
    row = next(one for one in result["judged"]["designs"] if one["which"] == "today")
    assert row["estimate"] == pytest.approx(0.75)
    assert row["slowdown"]["adaptive"] == pytest.approx(0.75, rel=0.02)
    assert row["applications"][0]["because"]["adaptive"] is None


def test_a_present_fabric_without_room_is_refused(netloom, plan):
    line = netloom.refused("plan", plan(), "--today", "two-level:leaves=2,hosts=4,spines=2")
    assert 'expected room for application "halves", 48 hosts; found 8 hosts' in line


def test_without_a_spine_two_levels_lose_one_of_their_share(netloom, plan):
    """4 spines, all-to-all of 16 hosts on 4 leaves at 1:1: 12 of 15 messages leave, over 4 or 3 cables."""
    path = plan(
        ('["two-level:leaves=3,hosts=18,spines=2,cables=4"]', '["two-level:leaves=4,hosts=4,spines=4"]'),
        ("hosts = 48\nradix = 36", "hosts = 16\nradix = 8"),
        ('"shift:24"', '"all-to-all:ranks=16"'),
    )
    result = netloom.result("plan", path, "--failures")
    after = result["compared"][0]["after_failure"]
    assert after["before"]["throughput"] == pytest.approx({"bound": 1, "ftree": 1, "optimized": 1})
    # A leaf sends 48 messages over 3 cables, a host 15: 15/16.
    assert after["spine"]["throughput"]["bound"] == pytest.approx(15 / 16, rel=1e-3)
    assert after["spine"]["throughput"]["optimized"] == pytest.approx(15 / 16)
    assert after["spine"]["estimate"] == pytest.approx(0.5 + 0.5 * 16 / 15, rel=1e-3)
    assert after["core"] is None
    # At 2:1 the cables up are full: one of two spines is half of all.
    halved = path.replace("plan", "halved")
    text = (
        (netloom.folder / path).read_text().replace("leaves=4,hosts=4,spines=4", "leaves=4,hosts=4,spines=2")
    )
    (netloom.folder / halved).write_text(text)
    after = netloom.result("plan", halved, "--failures")["compared"][0]["after_failure"]
    assert after["before"]["throughput"]["bound"] == pytest.approx(15 / 24)
    assert after["spine"]["kept_percent"] == pytest.approx(50)
    assert after["spine"]["throughput"]["optimized"] == pytest.approx(after["spine"]["throughput"]["bound"])


@pytest.mark.parametrize(
    "spec",
    [
        "two-level:leaves=4,hosts=3,spines=3",
        "two-level:leaves=4,hosts=6,spines=2,cables=2",
        "two-level:leaves=5,hosts=4,spines=3,up=5",
        "two-level:leaves=4,hosts=3,spines=3,up=4",
        "fattree:pods=3,leaves=2,hosts=3,spines=4,groups=2,cores=1",
        "fattree:pods=2,leaves=3,hosts=2,spines=2,groups=1,cores=2,leaf-cables=2",
    ],
)
@pytest.mark.parametrize("phases", [1, 3])
def test_what_is_told_to_be_the_worst_is_the_worst_hostile(spec, phases):
    """Random traffic in phases: no other cable, spine or core leaves less than the one that is told."""
    fabric = nl.Fabric.generate(spec)
    table, links = fabric.switch_table(), fabric.link_table()
    level, names = np.asarray(table["level"]), list(table["name"])
    ends = [np.asarray(links[key], np.int64) - fabric.hosts for key in ("source", "target")]
    climbs = [k for k in np.flatnonzero(links["between_switches"]) if level[ends[0][k]] < level[ends[1][k]]]
    every = {
        "cable": [{"links": [f"{names[ends[0][k]]}[{links['source_port'][k]}]"]} for k in climbs],
        "spine": [{"switches": [names[k]]} for k in np.flatnonzero(level == 1)],
        "core": [{"switches": [names[k]]} for k in np.flatnonzero(level == 2)],
    }
    for seed in range(int(os.environ.get("NETLOOM_TRIALS", "200")) // 100):
        rng = np.random.default_rng(seed)
        placed = []
        for _ in range(phases):
            # Few pairs in a phase, so that phases are unlike each other.
            many = int(rng.integers(2, 4 * fabric.hosts // phases))
            source, target = rng.integers(0, fabric.hosts, (2, many))
            sent = rng.integers(1, 5, many).astype(float)
            away = source != target
            one = nl.Traffic.from_triples(fabric, source[away], target[away], sent[away])
            placed.append((float(rng.integers(1, 4)), one))
        for kind, of in every.items():
            worst = failures._worst(fabric, placed, kind, 0)
            assert (worst is None) == (not of)
            if worst is None:
                continue
            left = min(failures._bounded(fabric, placed, one)["throughput"]["bound"] for one in of)
            assert worst[1]["proven"]
            assert worst[1]["throughput"]["bound"] == pytest.approx(left, rel=3e-4), (seed, kind)
        (drawn,) = worse.failures(fabric, placed, "one_percent", 7)
        if len(climbs) < 150:
            told = failures._worst(fabric, placed, "cable", 7)[1]["throughput"]["bound"]
            assert told <= failures._bounded(fabric, placed, drawn.lost)["throughput"]["bound"]


@pytest.mark.parametrize(
    ("spec", "spine", "core"),
    [
        # A leaf sends 4 x 12 messages over 3 cables; 6 x 18 over 3.
        ("two-level:leaves=4,hosts=4,spines=4", 16, None),
        ("two-level:leaves=4,hosts=6,spines=4", 36, None),
        # A leaf sends 4 x 28 over the cable that is left of 2; a pod 8 x 24 over 3 of 4.
        ("fattree:pods=4,leaves=2,hosts=4,spines=2,groups=2,cores=2", 112, 64),
        # A pod sends 12 x 24 over 6 of 8 cables, without a spine as without a core.
        ("fattree:pods=3,leaves=3,hosts=4,spines=4,groups=2,cores=2", 48, 48),
    ],
)
def test_optimised_routes_reach_the_bound_without_any_single_spine_or_core(spec, spine, core):
    """All-to-all: the tables' fullest link has what the bound on the damaged fabric says, by hand."""
    fabric = nl.Fabric.generate(spec)
    whole = nl.Traffic.pattern(f"all-to-all:ranks={fabric.hosts}")
    level = np.asarray(fabric.switch_table()["level"])
    for switch in np.flatnonzero(level > 0):
        lost = {"switches": [fabric.switch_names[switch]]}
        found = failures._bounded(fabric, [(1.0, whole)], lost)["throughput"]
        found |= failures._routed(fabric, [(1.0, whole)], lost, None)
        load = spine if level[switch] == 1 else core
        throughput = (fabric.hosts - 1) / load
        assert found["bound"] == pytest.approx(throughput, rel=1e-4), fabric.switch_names[switch]
        assert found["optimized"] == pytest.approx(throughput), fabric.switch_names[switch]


def test_a_single_spine_cuts_hosts_off(netloom, plan):
    path = plan(("spines=2,cables=4", "spines=1,cables=8"))
    result = netloom.result("plan", path, "--failures")
    after = result["compared"][0]["after_failure"]["spine"]
    assert after["throughput"] == {"bound": 0, "ftree": 0, "optimized": 0}
    assert after["estimate"] is None
    assert "cut-off" in [one["kind"] for one in result["findings"]]
    assert "cut off" in netloom.ok("plan", path, "--failures")


def pairs(spec: str) -> tuple[Counter, int]:
    """Cables by the names of their ends, and the most ports that a switch uses."""
    fabric = nl.Fabric.generate(spec)
    links, names = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
    found, ports = Counter(), Counter()
    for source, target, between in zip(
        links["source"], links["target"], links["between_switches"], strict=True
    ):
        ports[int(source)] += 1
        if between:
            # Numbers without their zeros in front, which more switches have more of.
            found[tuple("".join(filter(None, _plain(names[int(end)]))) for end in (source, target))] += 1
    return found, max(count for end, count in ports.items() if end >= fabric.hosts)


def _plain(name: str) -> list[str]:
    return [part.lstrip("0") or "0" if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def more(spec: str, key: str, by: int) -> str:
    return re.sub(rf"\b{key}=(\d+)", lambda found: f"{key}={int(found[1]) + by}", spec, count=1)


GROWN = [
    "two-level:leaves=3,hosts=18,spines=2,cables=4",
    "two-level:leaves=4,hosts=12,spines=3,up=7",
    "fattree:pods=2,leaves=3,hosts=8,spines=4,groups=2,cores=2,leaf-cables=2,core-cables=2",
    "fattree:pods=2,leaves=2,hosts=12,spines=6,groups=3,cores=3",
]


@pytest.mark.parametrize("spec", GROWN)
def test_what_still_fits_moves_no_cable_and_one_more_does_not_fit(netloom, plan, spec):
    path = plan(("two-level:leaves=3,hosts=18,spines=2,cables=4", spec))
    (design,) = netloom.result("plan", path)["compared"]
    grown = design["growth"]
    step = grown["next_step"]
    assert step["what"] == "leaf"
    of = dict(one.split("=") for one in design["spec"].split(":")[1].split(","))
    in_pods = int(of.get("pods", 1))
    whole = more(design["spec"], "leaves", grown["leaves"] // in_pods)
    if grown["pods"]:
        whole = more(whole, "pods", grown["pods"])
    before, _ = pairs(design["spec"])
    after, ports = pairs(whole)
    assert ports <= 36
    assert all(after[pair] >= count for pair, count in before.items())
    assert nl.Fabric.generate(whole).hosts == 48 + grown["hosts_without_recabling"]
    # Neither another leaf nor another pod has its ports.
    assert pairs(more(whole, "leaves", 1))[1] > 36
    assert "pods" not in of or pairs(more(whole, "pods", 1))[1] > 36


def test_the_next_pod_of_quartz1_has_its_price(netloom, paths):
    result = netloom.result("plan", paths.examples / "plan" / "quartz.toml")
    grown = result["compared"][0]["growth"]
    # Two pods of 24 leaves with 32 hosts on 16 spare ports of 48 cores; the same with full cores has none.
    assert (grown["hosts_without_recabling"], grown["leaves"], grown["pods"]) == (1536, 0, 2)
    assert result["compared"][1]["growth"]["next_step"] is None
    switches, cables = 24 + 16, 24 * 16 + 16 * 24
    price = switches * 15926.9 + cables * 364.502 + 768 * 55.716
    assert grown["next_step"]["what"] == "pod"
    assert grown["next_step"]["price"] == pytest.approx(price, rel=1e-4)
    assert "a pod of 768 hosts" in netloom.ok("plan", paths.examples / "plan" / "quartz.toml")


def test_a_page_for_a_tender(netloom, plan):
    path = plan()
    netloom.ok("plan", path, "--by-packets", "--failures", "-o", "page.md")
    netloom.ok("plan", path, "--by-packets", "--failures", "-o", "page.html")
    netloom.ok("plan", path, "--by-packets", "--failures", "-o", "plan.json")
    document = json.loads((netloom.folder / "plan.json").read_text())
    text = (netloom.folder / "page.md").read_text()
    html = (netloom.folder / "page.html").read_text()
    result = document["result"]
    chosen = result["designs"][result["chosen"]]
    assert checked(Page(html)).document["parts"][0]["document"]["result"]["judged"] == result["judged"]
    for page in (text, html):
        assert chosen["spec"] in page
        assert "3 networks were run packet by packet" in page
        assert all(one["sha256"] in page for one in document["inputs"])
        assert result["catalogue"]["sources"][0] in page
    # Every assumption, every price, and what was not simulated.
    assert all(one[5:] in text for one in result["assumptions"])
    assert "prices of 2014-11-16" in text
    assert f"{chosen['price']:,.2f} $" in text
    assert "| compared | the worst spine | 0.2222 | 0.2000 | 0.2000 | 50.0 % |" in text
    assert "All other designs rest on the model alone" in text
    netloom.ok("plan", path, "-o", "alone.md")
    words = (netloom.folder / "alone.md").read_text()
    assert words.splitlines()[2].startswith("No design was simulated")
    assert "Nothing was: all slowdowns are bounds and estimates" in words
    assert "Not looked at." in words


NAMES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>|b",
    "`c` *d* __e__ ~~f~~ [g](http://h) &lt;",
    "i | k\\|",
    "# l",
    "1. m",
    "- n",
]


def test_names_are_no_markup_on_a_page_for_a_tender(netloom, plan):
    """A reader of Markdown that lets HTML through finds the names as they are, and no element of theirs."""
    from markdown_it import MarkdownIt

    catalogue = (netloom.folder / "slimfly-2014.toml").read_text()
    for name in NAMES:
        told = json.dumps(name)
        (netloom.folder / "offer`|.toml").write_text(
            re.sub(r'(?m)^source = ".*"$', lambda _, told=told: f"source = {told}", catalogue)
        )
        path = plan(
            ("compare =", f"name = {told}\ncompare ="),
            ('file = "slimfly-2014.toml"', 'file = "offer`|.toml"'),
            ('name = "halves"', f"name = {told}"),
        )
        netloom.ok("plan", path, "-o", "page.md")
        reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
        page = (netloom.folder / "page.md").read_text()
        html = reader.render(page)
        shown = re.sub("<[^>]*>", "\n", html).replace("&lt;", "<").replace("&gt;", ">")
        shown = shown.replace("&quot;", '"').replace("&amp;", "&").split("\n")
        assert f"{name}: a network for 48 hosts" in shown
        assert name in shown, "in the table, and among the sources"
        assert "offer`|.toml" in shown
        assert not re.search("<(script|img|a |em|strong|s>|ol)", html), name
        assert html.count("<h1>") == 1
        # No cell more or less than its table has columns.
        for table in re.findall("(?s)<table>.*?</table>", html):
            head, *rows = re.findall("(?s)<tr>.*?</tr>", table)
            assert all(row.count("<td>") == head.count("<th>") for row in rows)
        for block in re.split("\n\n", page):
            rows = [row for row in block.splitlines() if row.startswith("|")]
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) < 2


@pytest.mark.parametrize("name", ["page.pdf", "page.docx", "page.htm", "plan.json.gz"])
def test_a_page_of_another_kind_is_refused_before_anything_is_counted(netloom, plan, name):
    line = netloom.refused("plan", plan(), "-o", name, code=2)
    assert f"{name}: expected an ending of .html, .md, .json, .csv, .txt" in line
    assert not (netloom.folder / name).exists()


def in_phases(fabric: nl.Fabric, *phases: list[tuple[int, int, int]]) -> list[tuple[float, nl.Traffic]]:
    """In each phase leaves of 8 hosts send to leaves, each host so much to its like."""
    placed = []
    for sent in phases:
        pairs = [(8 * a + k, 8 * b + k, much) for a, b, much in sent for k in range(8)]
        placed.append((1.0, nl.Traffic.from_triples(fabric, *zip(*pairs, strict=True))))
    return placed


def test_the_worst_cable_is_not_that_of_the_leaf_with_most_bytes():
    """Leaf 2 sends 120 in all, but 60 a phase; leaf 0 sends 100 in one, and a cable of it costs more."""
    fabric = nl.Fabric.generate("two-level:leaves=8,hosts=8,spines=4")
    placed = in_phases(fabric, [(0, 3, 100), (2, 6, 60)], [(1, 5, 100), (2, 7, 60)])
    lost, found = failures._worst(fabric, placed, "cable", 1)
    # 8 hosts send 800 over 4 cables, 200 each, in both phases; over 3 in one of them.
    assert found["throughput"]["bound"] == pytest.approx(200 / (800 / 3 + 200), rel=1e-3)
    assert lost["links"][0].split("[")[0] in ("leaf00", "leaf01", "leaf03", "leaf05")
    assert found["proven"]


def test_the_worst_cable_of_uneven_bundles_is_one_that_a_pair_of_leaves_shares():
    """Leaves 0 and 1 have 2, 1, 1 and 1, 2, 1 cables to the spines: at most 3 between each other, then 2."""
    fabric = nl.Fabric.generate("two-level:leaves=6,hosts=8,spines=3,up=4")
    (placed,) = in_phases(fabric, [(0, 1, 1200), (3, 4, 625), (3, 5, 625)])
    lost, found = failures._worst(fabric, [placed], "cable", 1)
    # A host of leaf 3 sends 1250. Its leaf needs 10,000/3, but leaf 0 needs 9600/2.
    assert found["throughput"]["bound"] == pytest.approx(1250 / 4800, rel=1e-3)
    assert lost["links"][0].split("[")[0] in ("leaf00", "leaf01")
    # The leaf with most bytes keeps more without one of its own.
    own = failures._bounded(fabric, [placed], {"links": ["leaf03[9]"]})["throughput"]["bound"]
    assert own == pytest.approx(1250 / (10_000 / 3), rel=1e-3)


def test_optimised_tables_are_of_the_phases_and_never_worse_than_ftree(monkeypatch):
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=8,spines=2,cables=2")
    placed = in_phases(fabric, [(0, 3, 100), (2, 1, 60)], [(1, 3, 100), (2, 0, 60)])
    lost, found = failures._worst(fabric, placed, "cable", 1)
    told = failures._routed(fabric, placed, lost, None)
    # 8 messages of 100 on 3 cables of leaf 3: 3 on one of them, in both phases, with the tables for these.
    assert told["optimized"] == pytest.approx(200 / 600)
    assert told["ftree"] <= told["optimized"] <= found["throughput"]["bound"]

    def none(*_: object) -> None:
        raise nl.OptimizeError("no tables")

    monkeypatch.setattr(failures, "_optimized", none)
    told = failures._routed(fabric, placed, lost, None)
    assert told["optimized"] == told["ftree"] > 0


def test_what_is_not_proven_to_be_the_worst_is_told_by_how_many_were_tried(netloom, plan, monkeypatch):
    path = netloom.folder / plan(("spines=2,cables=4", "spines=3,up=8"))
    result = nl.plan(path)
    (row,) = failures.after_failures(path, result, result["compared"]).values()
    assert row["cable"]["tried"] is None
    # 3 leaves to 3 spines, of which two are alike or none.
    assert 3 < row["cable"]["applications"][0]["tried"] <= 10
    monkeypatch.setattr(failures, "MOST_TRIED", 2)
    (row,) = failures.after_failures(path, result, result["compared"]).values()
    # And the one that is drawn.
    assert row["cable"]["tried"] == 3
    assert not row["cable"]["applications"][0]["proven"]
    assert row["cable"]["throughput"]["bound"] <= row["one_percent"]["throughput"]["bound"]
    result["compared"][0]["after_failure"] = row
    from netloom.cli.plan import report

    assert "worst cable of 3 tried" in "\n".join(report._failures(result))


def test_hosts_of_a_dump_are_taken_leaf_by_leaf(write, netloom):
    """Orders count along leaves, whatever a dump's own order of hosts is."""
    from netloom.planning.placed import Network

    cables = ["b,1,n0,1", "a,1,n1,1", "b,2,n2,1", "a,2,n3,1", "a,3,s,1", "b,3,s,2"]
    write("cables.csv", "\n".join(["from,port,to,port,speed", *(f"{one},4xEDR" for one in cables)]) + "\n")
    path = str(netloom.folder / "cables.csv")
    fabric = nl.Fabric.read(path)
    network = Network.today(path, fabric)
    assert network.names([[0, 1], [2, 3]]) == [["n0", "n2"], ["n1", "n3"]]
    assert network.source == path


def test_phases_of_a_trace_are_stretched_as_the_plan_stretches_them(paths):
    """T of placed traffic, by the bound on the generated fabric, is the plan's own T."""
    from netloom.planning.placed import Application, Network, busiest_host

    source = paths.examples / "plan" / "quartz.toml"
    result = nl.plan(source)
    design = result["compared"][0]
    network = Network.of(design["spec"], result["speed_gbps"])
    ft = Application.all_of(source, result)[-1]
    hosts = _core.plan_hosts("block", 3072, 2, ft.each, seed=1, draw=0)
    bound = sum(
        often * _core.loads(network.fabric, "ftree", one).ar_bound for often, one in ft.on(network, hosts)
    )
    wire = sum(often * busiest_host(one) for often, one in ft.on(network, hosts))
    on = next(row for row in design["applications"] if (row["name"], row["order"]) == ("ft", "block"))
    # Leaves of 32 hosts, so that a copy's share of its pod's cables is as with all copies.
    assert len(ft.phases) == 4
    assert 1 + 0.5 * (bound / wire - 1) == pytest.approx(on["slowdown"]["estimate"], rel=1e-9)


def test_rounds_that_collide_are_told_apart_from_packets_that_wait(netloom, plan, paths):
    """All 12 send to all, round by round; tables are balanced over all rounds, and not in each."""
    from netloom.planning import judged as judging
    from netloom.planning.placed import Application, Network

    network = Network.of("two-level:leaves=3,hosts=4,spines=2,cables=2", 40)
    told = {"kind": "pattern", "told": True, "source": "all-to-all", "ranks_per_host": 1, "name": "all"}
    traffic = nl.Traffic.pattern("all-to-all:ranks=12")
    a = Application(told, 1.0, 1.0, 12, 1, traffic)
    hosts = [list(range(12))]
    rounds = list(a.rounds(traffic, network, hosts))
    assert len(rounds) == 11
    assert sum(one.total_bytes for one in rounds) == traffic.total_bytes
    for apart, one in enumerate(rounds, 1):
        assert list(one.indices) == [(k + apart) % 12 for k in range(12)]
    fabric = network.fabric
    assert fabric.hosts == 12
    tables = _core.route("ftree", fabric)
    each = [nl.loads(fabric, tables, one).max_seconds for one in rounds]
    assert judging._in_rounds(a, network, hosts, tables, None) == pytest.approx(sum(each))
    cell = judging._Cell(ran_s={"ftree": 1.1}, rounds_s={"ftree": 1.0})
    assert judging._by_rounds(cell, "ftree")
    assert not judging._by_rounds(judging._Cell(ran_s={"ftree": 1.1}), "ftree")
    assert judging._because(50.0, 1.5, 1.0, 0.0, True) == "rounds"
    assert judging._because(50.0, 1.5, 1.0, 0.0, False) == "blocking"
    assert judging._because(50.0, 1.5, 1.4, 0.0, True) == "collisions"
