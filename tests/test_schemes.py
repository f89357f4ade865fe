"""`netloom loads FABRIC minimal|valiant|best`: limits by hand, a linear program, the judge."""

from __future__ import annotations

import json

import numpy as np
import pytest

import irregular_bed
import netloom as nl

SMALL = "dragonfly:p=2,a=4,h=2"
LARGE = "dragonfly:p=4,a=8,h=4"


@pytest.mark.parametrize(
    ("fabric", "traffic", "scheme", "throughput"),
    [
        # Kim et al.: k / (a p), (g - 2) k / (2 a p); detours and direct cables full: g k / (2 a p).
        (LARGE, "adversarial:1", "minimal", 1 / 32),
        (LARGE, "adversarial:1", "valiant", 31 / 64),
        (SMALL, "adversarial:1", "minimal", 1 / 8),
        (SMALL, "adversarial:1", "valiant", 7 / 16),
        (SMALL, "adversarial:2", "valiant", 7 / 24),
        # All that comes in on h cables of one router leaves by one neighbour: (g - 2) / ((h + 1) a p).
        (LARGE, "adversarial:4", "valiant", 31 / 160),
        (LARGE + ",arrangement=relative", "adversarial:4", "valiant", 31 / 160),
        # By any switch of the third group only cables between groups are full.
        (LARGE, "adversarial:1", "valiant:router", 31 / 64),
        (LARGE, "adversarial:4", "valiant:router", 31 / 64),
        (SMALL, "adversarial:2", "valiant:router", 7 / 16),
        (SMALL, "all-to-all", "minimal", 1),
    ],
)
def test_expected_loads_are_the_limits_by_hand(fabric, traffic, scheme, throughput):
    loads = nl.scheme_loads(fabric, traffic, scheme)
    assert loads.throughput == pytest.approx(throughput, rel=1e-9)
    assert loads.ar_bound <= loads.max * (1 + 1e-9)
    assert loads.ar_bound_class == loads.bound_class == "any-routes"


@pytest.mark.parametrize(
    ("fabric", "traffic", "throughput"),
    [
        ("dragonfly:p=2,a=2,h=4,g=5,links=2", "adversarial:1", 2 / 3),
        ("dragonfly:p=2,a=3,h=4,g=4,links=4,arrangement=relative", "adversarial:2", 32 / 67),
    ],
)
def test_detours_go_on_from_where_they_come_into_the_third_group(fabric, traffic, throughput):
    """With several cables between groups; the shares are of an own enumeration of ways."""
    found = nl.scheme_loads(fabric, traffic, "valiant")
    assert found.throughput == pytest.approx(throughput, rel=1e-9)


def test_adversarial_valiant_on_circulant_cables():
    loads = nl.scheme_loads(LARGE + ",arrangement=circulant", "adversarial:4", "valiant")
    assert loads.throughput == pytest.approx(0.3229, abs=5e-5)


def test_hottest_links_of_uniform_minimal_traffic():
    fabric = nl.Fabric.generate(LARGE)
    loads = nl.scheme_loads(fabric, "all-to-all", "minimal")
    table, per_link = fabric.link_table(), loads.per_link / 1055
    between = np.minimum(table["source"], table["target"]) >= fabric.hosts
    # Links between groups are those that join switches of two groups: 8 switches a group, in order.
    group = (np.stack([table["source"], table["target"]]) - fabric.hosts) // 8
    crossing = between & (group[0] != group[1])
    assert per_link[crossing].max() == pytest.approx(0.971, abs=5e-4)
    assert per_link[between & ~crossing].max() == pytest.approx(0.986, abs=5e-4)


@pytest.mark.parametrize(
    ("traffic", "throughput"), [("adversarial:1", 9 / 16), ("adversarial:2", 9 / 16), ("all-to-all", 1)]
)
def test_the_best_split_of_72_hosts(traffic, throughput):
    loads = nl.scheme_loads(SMALL, traffic, "best")
    assert loads.throughput == pytest.approx(throughput, rel=1e-4)
    assert loads.ar_bound_upper <= loads.ar_bound * (1 + 1e-4)
    assert loads.ar_bound_upper == pytest.approx(loads.max)


def least_of_any_ways(fabric: nl.Fabric, traffic: nl.Traffic) -> float:
    """A linear program: flows towards every leaf over all links between switches, of any length."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    table = fabric.link_table()
    hosts, source, target = fabric.hosts, table["source"].astype(int), table["target"].astype(int)
    leaf = {int(s): int(t) for s, t in zip(source, target, strict=True) if s < hosts}
    between = np.nonzero(np.minimum(source, target) >= hosts)[0]
    switches = sorted({*source[between], *target[between], *leaf.values()})
    matrix = traffic.to_scipy().tocoo()
    demand: dict[int, dict[int, float]] = {}
    for i, j, bytes_ in zip(matrix.row, matrix.col, matrix.data, strict=True):
        if leaf[i] != leaf[j]:
            row = demand.setdefault(leaf[j], {})
            row[leaf[i]] = row.get(leaf[i], 0) + bytes_
    rows, columns, values, right = [], [], [], []
    flows = len(demand) * len(between)
    for d, (to, supply) in enumerate(demand.items()):
        for switch in switches:
            if switch == to:
                continue
            row = len(right)
            right.append(supply.get(switch, 0.0))
            for e, link in enumerate(between):
                if source[link] == switch or target[link] == switch:
                    rows.append(row)
                    columns.append(d * len(between) + e)
                    values.append(1.0 if source[link] == switch else -1.0)
    equal = coo_array((values, (rows, columns)), shape=(len(right), flows + 1))
    less_rows = [e for _ in demand for e in range(len(between))] + list(range(len(between)))
    less_columns = list(range(flows)) + [flows] * len(between)
    less = coo_array(
        ([1.0] * flows + [-1.0] * len(between), (less_rows, less_columns)), shape=(len(between), flows + 1)
    )
    found = linprog(
        [0.0] * flows + [1.0], A_ub=less, b_ub=np.zeros(len(between)), A_eq=equal, b_eq=right, method="highs"
    )
    sent, received = matrix.tocsr().sum(1), matrix.tocsr().sum(0)
    return max(found.fun, float(np.max(sent)), float(np.max(received)))


@pytest.mark.parametrize("seed", range(6))
def test_the_best_split_is_that_of_a_linear_program(seed):
    fabric = irregular_bed.fabric(seed)
    for traffic in irregular_bed.traffics(fabric, seed):
        loads = nl.scheme_loads(fabric, traffic, "best")
        least = least_of_any_ways(fabric, traffic)
        assert loads.ar_bound <= least * (1 + 1e-7)
        # Ways may be two links longer than the longest shortest way: more never paid here.
        assert loads.max <= least * (1 + 1e-3)
        assert loads.max >= least * (1 - 1e-7)
        for scheme in ("minimal", "valiant"):
            assert nl.scheme_loads(fabric, traffic, scheme).max >= least * (1 - 1e-7)


def test_the_judge_accepts_the_dual_and_refuses_more(netloom):
    words = ["loads", SMALL, "best", "adversarial:1", "--write-certificate", "proof.json"]
    result = netloom.result(*words)
    assert result["certificate"] == "proof.json"
    netloom.ok("route", "updn", SMALL, "-o", "updn.lfts")
    check = ["check", SMALL, "updn.lfts", "--traffic", "adversarial:1", "--certificate", "proof.json"]
    assert netloom.result(*check)["certificate"]["ok"] is True
    proof = json.loads((netloom.folder / "proof.json").read_text())
    assert proof["ways"] == "any"
    for change in ({"claim": proof["claim"] * 1.001}, {"ways": "all"}, {"kind": "whole-dual", "grid": 1.0}):
        (netloom.folder / "proof.json").write_text(json.dumps({**proof, **change}))
        done = netloom(*check)
        assert done.code in (1, 3), change
        assert "Traceback" not in done.err


@pytest.mark.parametrize("scheme", ["minimal", "valiant", "best"])
def test_any_number_of_threads_gives_the_same(scheme):
    one, two = (nl.scheme_loads(SMALL, "adversarial:1", scheme, threads=n, work=200) for n in (1, 2))
    assert one.per_link.tobytes() == two.per_link.tobytes()
    assert one.ar_bound == two.ar_bound


def test_a_tree_carries_what_its_cuts_say():
    best = nl.scheme_loads("two-level:leaves=8,hosts=4,spines=2", "shift:4", "best")
    assert (best.max, best.ar_bound, best.ar_bound_exact) == (2.0, 2.0, True)


@pytest.mark.parametrize(("scheme", "largest"), [("minimal", 5.0), ("valiant", 5.0), ("best", 5.0)])
def test_a_fabric_in_two_parts_carries_what_each_joins(tmp_path, scheme, largest):
    rows = ["from,port,to,port,speed", *(f"{s},1,h{s},1,4xEDR" for s in "abcd")]
    rows += [f"{s},3,{t},2,4xEDR" for s, t in zip("abc", "bcd", strict=True)]
    (tmp_path / "line.csv").write_text("\n".join(rows) + "\n")
    parts, _ = nl.Fabric.read(tmp_path / "line.csv").damage(links=["b[3]"])
    # Through the sender's or the receiver's switch: no detour leads to the other part.
    traffic = nl.Traffic.from_triples(parts, [0], [1], [5.0])
    assert nl.scheme_loads(parts, traffic, scheme).max == largest


def test_share_and_rate_are_of_one_host_where_hosts_have_several_speeds():
    fabric = nl.Fabric.from_edges([("a", "s", 40e9), ("b", "s", 10e9), ("c", "s", 40e9), ("d", "s", 10e9)])
    names = fabric.host_names
    pairs = {("a", "c"): 30.0, ("b", "d"): 20.0}
    sources, targets = ([names.index(pair[end]) for pair in pairs] for end in (0, 1))
    loads = nl.scheme_loads(
        fabric, nl.Traffic.from_triples(fabric, sources, targets, [*pairs.values()]), "best"
    )
    # b's link is full with 20 B in 2 ns; a's is not.
    assert loads.throughput == 1
    assert loads.host_bytes_max == pytest.approx(20)
    assert loads.host_bytes_max / loads.max_seconds == pytest.approx(10e9)


def test_bad_input_is_told(netloom):
    for words in (
        ["loads", SMALL, "best", "adversarial:1", "--sl2vl", "x"],
        ["loads", SMALL, "updn", "adversarial:1", "--write-certificate", "x.json"],
    ):
        done = netloom(*words)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
    with pytest.raises(nl.ArgumentError, match="valiant:router: expected a dragonfly, found a tree"):
        nl.scheme_loads("two-level:leaves=4,hosts=4,spines=4", "shift:4", "valiant:router")
    with pytest.raises(nl.ArgumentError, match="valiant:router: expected at least three groups, found two"):
        nl.scheme_loads("dragonfly:p=2,a=4,h=2,g=2,links=4", "all-to-all", "valiant:router")
    with pytest.raises(nl.ArgumentError, match="minimal, valiant, valiant:router or best"):
        nl.scheme_loads(SMALL, "adversarial:1", "ugal")
