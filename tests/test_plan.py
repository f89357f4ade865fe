"""`netloom plan`: the shipped example, counts beside `fabric new`, and every kind of bad input."""

from __future__ import annotations

import csv
import io
import json

import pytest

import netloom as nl
from netloom._core import plan_hosts

KINDS = ("limit", "front", "chosen", "full", "compared")

SMALL = """
compare = ["two-level:leaves=3,hosts=18,spines=2,cables=9"]
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
orders = ["block", "fragmented", "random"]
draws = 2
[[application]]
pattern = "shift:24"
name = "halves"
weight = 1
wire_share = 0.5
"""


@pytest.fixture
def small(netloom, write, paths):
    """Writes a plan of 48 hosts beside its catalogue, with a text in it replaced."""
    catalogue = (paths.examples / "plan" / "slimfly-2014.toml").read_text()
    write("slimfly-2014.toml", catalogue)

    def save(old: str = "", new: str = "") -> str:
        assert old in SMALL
        return write("plan.toml", SMALL.replace(old, new, 1))

    return save


def test_the_first_line_says_that_no_design_was_simulated(netloom, small):
    text = netloom.ok("plan", small())
    assert text.splitlines()[0].startswith("no design was simulated")
    assert "halves" in text


def test_quartz_is_counted_and_priced(netloom, paths):
    result = netloom.result("plan", paths.examples / "plan" / "quartz.toml")
    full, (quartz, filled, twice) = result["full"], result["compared"]
    assert (full["switches"], round(full["price"] / 1e6, 3)) == ([128, 128, 64], 7.507)
    assert (quartz["switches"], round(quartz["price"] / 1e6, 3)) == ([96, 64, 48], 4.604)
    assert (filled["switches"], twice["switches"]) == ([96, 64, 32], [96, 48, 16])
    assert [round(one["price_per_host"]) for one in (full, quartz, filled, twice)] == [2444, 1499, 1416, 1159]
    assert round(quartz["pays_below"], 3) == 1.145
    assert quartz["spare_ports"] == [0, 0, 768]
    front = result["designs"]
    assert len(front) >= 6
    assert result["assumptions"][0].startswith("no design was simulated")
    # LLNL's answer for its mix: what is chosen is tapered, and costs less than the full tree.
    chosen = front[result["chosen"]]
    assert chosen["price"] < full["price"]
    assert chosen["taper"][0] > 1
    assert chosen["slowdown"]["estimate"] < chosen["pays_below"]


def test_every_design_has_its_distance_to_the_limit_at_its_price(netloom, paths):
    result = netloom.result("plan", paths.examples / "plan" / "quartz.toml")
    designs = [*result["designs"], *result["compared"], result["full"]]
    for one in designs:
        limit = one["limit"]
        assert one["gap_percent"] >= 0
        estimate = limit["estimate"] * (1 + one["gap_percent"] / 100)
        assert one["slowdown"]["estimate"] == pytest.approx(estimate)
        assert limit["price"] <= one["price"] * (1 + 1e-9)
        assert limit["price_per_host"] == pytest.approx(limit["price"] / 3072)
        assert len(limit["bandwidth"]) == (1 if limit["leaves_per_pod"] is None else 2)
    assert result["designs"][result["chosen"]]["gap_percent"] < 5
    # The cheapest prices of a unit of bandwidth pay for the division.
    (switch,), (host, leaf, spine) = result["catalogue"]["switches"], result["catalogue"]["cables"]
    port = switch["price"] / 48
    for limit in result["limits"]:
        leaf_up, pod_up = [*limit["bandwidth"], 0.0][:2]
        paid = port + host["price"] + leaf_up * (2 * port + leaf["price"])
        paid += pod_up * (2 * port + spine["price"])
        assert paid == pytest.approx(limit["price_per_host"])
    assert len(result["limits"]) == 25
    # As large as the front's own range, and never quicker for less money.
    assert result["limits"][0]["price"] <= result["designs"][0]["price"] * (1 + 1e-9)
    slowdowns = [limit["estimate"] for limit in result["limits"]]
    assert slowdowns == sorted(slowdowns, reverse=True)


def test_price_against_slowdown_is_drawn(netloom, small):
    netloom.ok("plan", small(), "-o", "plan.json")
    planned = json.loads((netloom.folder / "plan.json").read_text())
    drawn = netloom.result("plot", "plan", "plan.json", "-o", "plan.svg")
    points = {kind: [one for one in drawn["points"] if one["kind"] == kind] for kind in KINDS}
    result = planned["result"]
    assert len(points["front"]) + len(points["chosen"]) == len(result["designs"])
    assert [one["spec"] for one in points["chosen"]] == [result["designs"][result["chosen"]]["spec"]]
    assert [one["spec"] for one in points["compared"]] == [one["spec"] for one in result["compared"]]
    assert len(points["full"]) == 1
    assert len(points["limit"]) == len(result["limits"])
    full = points["full"][0]
    assert (full["slower_percent"], full["price_per_host"]) == (0.0, result["full"]["price_per_host"])
    assert all(one["bound_percent"] <= one["slower_percent"] for one in points["front"])
    assert b"<svg" in (netloom.folder / "plan.svg").read_bytes()[:1000]
    netloom.ok("plot", "plan", "plan.json", "-o", "plan.png")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.update(schema="netloom.optimize/1"),
        lambda document: document["result"].update(designs=[]),
        lambda document: document["result"]["designs"][0].update(price_per_host="cheap"),
        lambda document: document["result"]["designs"][0].update(price_per_host=0),
        lambda document: document["result"]["full"]["slowdown"].update(estimate=None),
        lambda document: document["result"]["limits"].append({}),
        lambda document: document["result"].pop("catalogue"),
    ],
)
def test_what_is_no_plan_s_result_is_not_drawn(netloom, small, spoil):
    netloom.ok("plan", small(), "-o", "plan.json")
    planned = json.loads((netloom.folder / "plan.json").read_text())
    spoil(planned)
    (netloom.folder / "bad.json").write_text(json.dumps(planned))
    error = netloom.refused("plot", "plan", "bad.json", "-o", "bad.svg")
    assert "bad.json: expected what netloom plan --format json prints" in error
    assert not (netloom.folder / "bad.svg").exists()


def test_a_design_s_counts_are_those_that_fabric_show_reads(netloom, small):
    result = netloom.result("plan", small())
    designs = [*result["designs"], *result["compared"], result["full"]]
    for spec in {design["spec"] for design in designs}:
        design = next(one for one in designs if one["spec"] == spec)
        netloom.ok("fabric", "new", spec, "-o", "design.txt")
        shown = netloom.result(
            "fabric", "show", "design.txt", code=netloom("fabric", "show", "design.txt").code
        )
        between = sum(cable["count"] for cable in design["cables"] if cable["level"] != "hosts")
        assert shown["hosts"] == design["host_ports"]
        assert shown["switches"] == sum(design["switches"])
        # Both directions of every cable.
        assert shown["links"] == 2 * (design["host_ports"] + between)


def test_half_of_the_hosts_to_the_other_half(netloom, small):
    # Shift by half in order: every byte of a leaf of 18 leaves it, and 18 cables carry it.
    result = netloom.result("plan", small(' "fragmented", "random"', ""))
    compared = result["compared"][0]
    assert compared["slowdown"] == {"bound": 1.0, "estimate": 1.0, "mean": 1.0}
    assert compared["applications"][0]["share"] == [1.0]
    assert compared["applications"][0]["busiest"] == [18.0]
    slim = small(' "fragmented", "random"', "").replace("plan", "slim")
    text = (netloom.folder / "plan.toml").read_text().replace("cables=9", "cables=4")
    (netloom.folder / slim).write_text(text)
    # 18 hosts on 8 cables, half of the time: 1 - 0.5 + 0.5 * 18 / 8, and at least 0.5 * 18 / 8.
    found = netloom.result("plan", slim)["compared"][0]["slowdown"]
    assert found["estimate"] == pytest.approx(0.5 + 0.5 * 18 / 8)
    assert found["bound"] == pytest.approx(0.5 * 18 / 8)


def test_the_result_is_the_same_for_any_number_of_threads_and_another_for_another_seed(netloom, small):
    one, three = (netloom.result("plan", small(), "--threads", n) for n in (1, 3))
    assert one == three
    assert netloom.result("plan", small(), "--seed", 9)["designs"] != one["designs"]


def test_csv_has_a_row_a_design(netloom, small):
    rows = list(csv.DictReader(io.StringIO(netloom.ok("plan", small(), "--format", "csv"))))
    result = netloom.result("plan", small())
    assert [row["kind"] for row in rows].count("compared") == 1
    assert len(rows) == len(result["designs"]) + 2
    assert float(rows[0]["price"]) == pytest.approx(result["designs"][0]["price"])


def test_python_has_it_too(netloom, small):
    result = nl.plan(netloom.folder / small())
    assert result["compared"][0]["switches"] == [3, 2]
    with pytest.raises(TimeoutError):
        nl.plan(netloom.folder / small(), time_limit=0)


def test_a_plan_is_whole_or_none(netloom, small):
    """The limit passes while designs are counted, not two seconds later by force."""
    done = netloom("plan", small(), "--time-limit", "0", "-o", "plan.json")
    assert (done.code, done.out) == (124, "")
    told = "netloom: error: the time limit of 0 s passed before there was anything to keep\n"
    assert done.err == told
    assert not (netloom.folder / "plan.json").exists()


def test_the_files_of_a_plan_are_inputs(netloom, paths):
    inputs = netloom.json("plan", paths.examples / "plan" / "quartz.toml")["inputs"]
    roles = [one["role"] for one in inputs]
    assert roles == ["plan", "catalogue", *["matrix"] * 4, "trace"]
    assert all(one["sha256"] for one in inputs)


def test_a_goal_chooses(netloom, small):
    front = netloom.result("plan", small())["designs"]
    assert len(front) > 1
    within = small("[nodes]\nprice = 5000", f"[budget]\nnetwork = {front[0]['price'] + 1}")
    assert netloom.result("plan", within)["chosen"] == 0
    slowdown = front[1]["slowdown"]["estimate"]
    quick = small("[nodes]\nprice = 5000", f"[target]\nslowdown = {slowdown + 1e-6}")
    assert netloom.result("plan", quick)["chosen"] == 1


BAD = [
    ("hosts = 48", "hosts = 60000", "plan.toml:4: hosts: expected at most 44100 hosts (11664 without taper)"),
    ("radix = 36", "radix = 35", "plan.toml:5: radix: expected an even number of ports"),
    (
        "radix = 36\n",
        "",
        "plan.toml:3: radix: expected the ports of a switch: the catalogue has none with a fixed",
    ),
    ("radix = 36", "radix = 36\nbundles = 'odd'", 'plan.toml:6: bundles: expected any or equal, found "odd"'),
    ("[nodes]\nprice", "[budget]\nnetwork", "plan.toml:12: budget: expected at least "),
    ("wire_share = 0.5", "wire_share = 2", "wire_share: expected a share of 0 to 1, found 2"),
    ("wire_share = 0.5", "run_s = 1e-12", "plan.toml:21: run_s: expected at least 2.000e-10, the seconds"),
    ("hosts = 48", "hosts = 6.5", "plan.toml:4: hosts: expected a whole number of 2 to 1000000, found 6.5"),
    ("weight = 1", "weight = 0", "application: expected a weight above 0"),
    ("shift:24", "shift:24,ranks=49", "application: 49 ranks, 1 a host, need 49 hosts: expected at most 48"),
    ("shift:24", "shfit:24", "plan.toml:18: pattern: "),
    ('pattern = "shift:24"', 'matrix = "none.mtx"', "plan.toml:18: none.mtx: No such file or directory"),
    (
        'pattern = "shift:24"',
        'matrix = "placed.npz"',
        "placed.npz is of the hosts of a fabric: expected",
    ),
    ("slimfly-2014.toml", "none.toml", "plan.toml:7: none.toml: No such file or directory"),
    ("slimfly-2014.toml", "twice.toml", "speeds of 40, 100 Gb/s: expected machine.speed_gbps"),
    ("slimfly-2014.toml", "undated.toml", "undated.toml:1: expected date = "),
    (
        'kind = "copper"',
        'kind = "cooper"',
        'plan.toml:9: hosts: the catalogue has no cable of the kind "coop',
    ),
    ("leaves=3", "leaves=2", "compare: two-level:leaves=2,hosts=18,spines=2,cables=9 has ports for 36 hosts"),
    (
        "two-level:",
        "three-level:",
        "compare: expected a spec of two-level, fattree or quartz1, or xgft:m=N,w=1 of one switch",
    ),
    ("[nodes]", "[node]", 'a plan has no key "node", did you mean "nodes"?'),
]


@pytest.mark.parametrize(("old", "new", "expected"), BAD)
def test_bad_input_is_told_by_its_line(netloom, small, write, paths, old, new, expected):
    catalogue = (paths.examples / "plan" / "slimfly-2014.toml").read_text()
    write("twice.toml", catalogue.replace("speed_gbps = 40", "speed_gbps = 100", 1))
    write("undated.toml", '[[switch]]\nspeed_gbps = 40\nprice = 1\nsource = "x"\n[[cable]]\n')
    placed = nl.Traffic.read("shift:1", nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2"))
    placed.write(netloom.folder / "placed.npz")
    before = small(old, new)
    line = netloom.refused("plan", before)
    assert expected in line
    if "network" in new:
        cheapest = netloom.result("plan", small())["designs"][0]["price"]
        assert f"expected at least {cheapest:.2f}, the price of the cheapest design, found 5000" in line


def test_a_plan_does_not_come_from_standard_input(netloom):
    assert "cannot come from standard input" in netloom.refused("plan", "-", code=2)


def test_no_design_quick_enough_is_a_finding(netloom, small):
    # 36 * 36 / 2 = 648 hosts fit without taper on two levels.
    plan = small("radix = 36", "radix = 36\nlevels = 2").replace("plan", "large")
    text = (netloom.folder / "plan.toml").read_text().replace("hosts = 48", "hosts = 1000")
    text = text.replace("[nodes]\nprice = 5000", "[target]\nslowdown = 1")
    text = text.replace("shift:24", "shift:500").replace(
        'compare = ["two-level:leaves=3,hosts=18,spines=2,cables=9"]', ""
    )
    (netloom.folder / plan).write_text(text)
    result = netloom.result("plan", plan, code=1)
    assert (result["full"], result["chosen"]) == (None, None)
    assert [one["kind"] for one in result["findings"]] == ["no-design"]


# Four times: every rank computes 1 ms, sends 1,000,000 bytes to the rank across, and waits for all.
EXCHANGES = "\n".join(
    line
    for _ in range(4)
    for rank in range(24)
    for line in (
        f"{rank} compute 1000000",
        f"{rank} isend {(rank + 12) % 24} 0 1000000 6",
        f"{rank} recv {(rank + 12) % 24} 0 1000000 6",
        f"{rank} waitall 1",
        f"{rank} barrier",
    )
)


def of_trace(write, small, *lines: str) -> str:
    trace = "\n".join([*(f"{rank} init" for rank in range(24)), EXCHANGES])
    write("run.ti", trace + "\n" + "\n".join(f"{rank} finalize" for rank in range(24)) + "\n")
    text = SMALL.replace('pattern = "shift:24"', 'trace = "run.ti"').replace('"fragmented", "random"', "")
    text = text.replace("wire_share = 0.5", "\n".join(lines))
    return write("plan.toml", text.replace("cables=9", "cables=2"))


def test_the_share_of_a_trace_is_computed_from_a_run_on_the_full_tree(netloom, small, write):
    """Wire time over run time: 4 MB take 0.8 ms at 40 Gb/s, beside computation of 4 ms if it takes time."""
    small()
    plan = of_trace(write, small)
    result = netloom.result("plan", plan)
    (idle,) = result["applications"]
    assert idle["wire_share_source"] == "packets"
    assert idle["wire_share"] == pytest.approx(0.8e-3 / idle["run_s"], rel=1e-3)
    assert 0.9 < idle["wire_share"] <= 1
    (busy,) = netloom.result("plan", of_trace(write, small, "flops_per_s = 1e9"))["applications"]
    assert busy["run_s"] == pytest.approx(idle["run_s"] + 4e-3, rel=0.02)
    # 18 of the second leaf's hosts send to another leaf, over 4 cables.
    (reference,) = idle["reference"]["runs"]
    least = min(one["hosts_per_leaf"] for one in [*result["designs"], *result["compared"], result["full"]])
    assert (reference["order"], reference["draw"], idle["reference"]["hosts_per_leaf"]) == ("block", 0, least)
    wire_s = idle["wire_share"] * idle["run_s"]
    stretched = result["compared"][0]["slowdown"]["bound"] / (wire_s / reference["run_s"])
    assert stretched == pytest.approx(18 / 4, rel=1e-3)
    # The same, with the run time told.
    told = netloom.result("plan", of_trace(write, small, f"run_s = {busy['run_s']}"))
    assert told["applications"][0]["wire_share_source"] == "run"
    assert told["applications"][0]["wire_share"] == pytest.approx(busy["wire_share"])
    share, slow = busy["wire_share"], told["compared"][0]["slowdown"]
    assert slow["bound"] == pytest.approx(max(1, share * stretched))
    assert slow["estimate"] == pytest.approx(1 - share + share * stretched)


def test_the_bound_is_below_packets_where_a_run_waits_for_latency(netloom, paths, write, small):
    """BoxLib's solver moves few bytes at a time: a fourth of the cables slows it by less than a tenth."""
    small()
    trace = paths.examples / "data" / "boxlibmg-64.ti.gz"
    spec = "two-level:leaves=4,hosts=16,spines=4"
    text = SMALL.replace('pattern = "shift:24"', f"trace = '{trace}'").replace('"fragmented", "random"', "")
    text = text.replace("hosts = 48\nradix = 36", "hosts = 64\nradix = 36").replace("wire_share = 0.5\n", "")
    plan = write("plan.toml", text.replace("two-level:leaves=3,hosts=18,spines=2,cables=9", spec))
    found = netloom.result("plan", plan)["compared"][0]["slowdown"]
    ran = []
    for fabric in (spec, spec.replace("spines=4", "spines=16")):
        scenario = f"fabric = '{fabric},speed=40G'\nroutes = ['adaptive']\n[[job]]\ntrace = '{trace}'\n"
        ran.append(nl.simulate(nl.Scenario.parse(scenario.encode())).end_ps)
    assert found["bound"] <= ran[0] / ran[1] * 1.01
    assert found["estimate"] == pytest.approx(ran[0] / ran[1], rel=0.15)


@pytest.mark.parametrize(
    ("order", "spec"),
    [
        # Against a full tree with ranks in order the bound was up to 6 % above packets, for that is quicker.
        ("random", "two-level:leaves=2,hosts=32,spines=1"),
        # Against one with smaller leaves 1 was up to 5 % above packets: ways were longer there.
        ("block", "two-level:leaves=2,hosts=32,spines=1,cables=4"),
    ],
)
def test_the_bound_is_against_the_same_order_of_ranks_on_the_same_leaves(
    netloom, paths, write, small, order, spec
):
    small()
    trace = paths.examples / "data" / "lulesh-64.ti.gz"
    text = SMALL.replace('pattern = "shift:24"', f"trace = '{trace}'").replace("wire_share = 0.5\n", "")
    text = text.replace('"block", "fragmented", "random"', f'"{order}"').replace("draws = 3", "draws = 2")
    text = text.replace("hosts = 48\nradix = 36", "hosts = 64\nradix = 36")
    plan = write("plan.toml", text.replace("two-level:leaves=3,hosts=18,spines=2,cables=9", spec))
    result = netloom.result("plan", plan)
    found = result["compared"][0]["slowdown"]["bound"]
    slower = []
    for draw in range(1 if order == "block" else 2):
        (hosts,) = plan_hosts(order, 64, 1, 64, seed=result["seed"], draw=draw)
        ran = []
        for fabric in (spec, "two-level:leaves=2,hosts=32,spines=32"):
            names = nl.Fabric.generate(fabric).host_names
            placed = json.dumps([names[host] for host in hosts])
            job = f"[[job]]\ntrace = '{trace}'\nhosts = {placed}\n"
            scenario = f"fabric = '{fabric},speed=40G'\nroutes = ['adaptive']\n{job}"
            ran.append(nl.simulate(nl.Scenario.parse(scenario.encode())).end_ps)
        slower.append(ran[0] / ran[1])
    assert 1 <= found <= sum(slower) / len(slower) * 1.01
    runs = result["applications"][0]["reference"]["runs"]
    assert [(one["order"], one["draw"]) for one in runs] == [(order, draw) for draw in range(len(slower))]


def test_switches_with_an_odd_number_of_ports_are_said_to_be_left_out(netloom, small, write, paths):
    small()
    sold = (paths.examples / "plan" / "slimfly-2014.toml").read_text()
    for ports in (24, 25):
        sold += f"\n[[switch]]\nports = {ports}\nspeed_gbps = 40\nprice = 24000\npower_w = 72\n"
    write("slimfly-2014.toml", sold)

    def told(text: str) -> list[str]:
        result = netloom.result("plan", text)
        assert 25 not in result["radices"]
        return [one["text"] for one in result["findings"] if one["kind"] == "odd-ports"]

    text = of(write, 48, 24)
    assert told(text) == []
    (found,) = told(write("all.toml", (netloom.folder / text).read_text().replace("radix = 24\n", "")))
    assert "switches of 25 ports are left out" in found


def test_trees_of_two_levels_need_no_cables_of_spines(netloom, small, write):
    small()
    plan = of(write, 48, 36, "levels = [2]")
    text = (netloom.folder / plan).read_text()
    bare = text.replace("spines = { length_m = 20 }\n", "")
    assert bare != text
    assert (
        netloom.result("plan", write("bare.toml", bare))["designs"] == netloom.result("plan", plan)["designs"]
    )
    word = netloom.refused("plan", write("three.toml", bare.replace("levels = [2]", "levels = [2, 3]")))
    assert "expected spines = {" in word


def of(write, hosts: int, radix: int | str, *machine: str, tail: str = "") -> str:
    """A plan of `shift:N/2` without taper."""
    text = SMALL.replace('compare = ["two-level:leaves=3,hosts=18,spines=2,cables=9"]\n', "")
    text = text.replace(
        "hosts = 48\nradix = 36", "\n".join([f"hosts = {hosts}", f"radix = {radix}", *machine])
    )
    text = text.replace("shift:24", f"shift:{hosts // 2}").replace('"fragmented", "random"', "")
    return write("plan.toml", tail + text)


def test_spines_are_filled_as_far_as_they_go(netloom, small, write):
    """500 hosts on 40 ports: 25 + 13 switches, routed and sound; with equal bundles 25 + 20."""
    small()
    result = netloom.result("plan", of(write, 500, 40))
    full = result["full"]
    assert (full["switches"], full["up_per_leaf"], full["up_between_leaves"]) == ([25, 13], 20, 14)
    assert "uneven-bundles" in [one["kind"] for one in result["findings"]]
    fabric = nl.Fabric.generate(full["spec"])
    assert (fabric.hosts, fabric.switches) == (500, 38)
    routes = nl.route("ftree", fabric)
    assert nl.check(fabric, routes).ok
    equal = netloom.result("plan", of(write, 500, 40, "bundles = 'equal'"))["full"]
    assert equal["switches"] == [25, 20]
    assert equal["price"] > 1.1 * full["price"]


def test_one_switch_is_proposed_where_it_does(netloom, small, write):
    small()
    result = netloom.result("plan", of(write, 20, 36))
    assert [one["spec"] for one in result["designs"]] == ["xgft:m=20,w=1"]
    full = result["full"]
    assert (full["levels"], full["switches"], full["taper"]) == (1, [1], [])
    assert full["slowdown"] == {"bound": 1.0, "estimate": 1.0, "mean": 1.0}
    assert "xgft:m=20,w=1" in netloom.ok("plan", "plan.toml")


def test_more_cables_up_than_hosts_may_need_fewer_switches(netloom, small, write):
    small()
    full = netloom.result("plan", of(write, 97, 36, "bundles = 'equal'"))["full"]
    assert (full["switches"], full["hosts_per_leaf"], full["up_per_leaf"]) == ([6, 3], 17, 18)


def test_all_numbers_of_ports_that_the_catalogue_has_are_tried(netloom, small, write, paths):
    small()
    sold = (paths.examples / "plan" / "slimfly-2014.toml").read_text()
    for ports in (24, 36, 40):
        price = f"ports = {ports}\nspeed_gbps = 40\nprice = {1000 * ports}\npower_w = {3 * ports}"
        sold += f"\n[[switch]]\n{price}\n"
    write("slimfly-2014.toml", sold)
    text = of(write, 100, "[24, 40]")
    named = netloom.result("plan", text)
    assert named["radices"] == [24, 40]
    assert {one["radix"] for one in named["designs"]} <= {24, 40}
    write("plan.toml", (netloom.folder / text).read_text().replace("radix = [24, 40]\n", ""))
    result = netloom.result("plan", text)
    assert result["radices"] == [one["radix"] for one in result["catalogue"]["switches"]] == [24, 36, 40]
    alone = [netloom.result("plan", of(write, 100, ports))["full"]["price"] for ports in (24, 36, 40)]
    assert result["full"]["price"] == min(alone)
    assert {one["radix"] for one in result["designs"]} > {result["full"]["radix"]} or len(
        result["designs"]
    ) == 1


def test_a_compared_design_that_beats_the_chosen_one_is_said(netloom, small, write):
    small()
    spec = "two-level:leaves=25,hosts=20,spines=13,up=20"
    goal = f"compare = ['{spec}']\n"
    text = of(write, 500, 40, "bundles = 'equal'", tail=goal)
    write(
        "plan.toml",
        (netloom.folder / text).read_text().replace("[nodes]\nprice = 5000", "[target]\nslowdown = 1"),
    )
    result = netloom.result("plan", text, code=1)
    assert result["better"] == [0]
    finding = next(one for one in result["findings"] if one["kind"] == "better-compared")
    assert spec in finding["text"]
    # Without the restriction it is what is chosen.
    write("plan.toml", (netloom.folder / text).read_text().replace("bundles = 'equal'\n", ""))
    result = netloom.result("plan", text)
    assert result["better"] == []
    assert result["designs"][result["chosen"]]["spec"] == spec
