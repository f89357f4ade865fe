"""`netloom diagnose pairs`, `netloom traffic pairs`: slow pairs, and which pairs to test."""

from __future__ import annotations

import csv
import io
import os
import random
import struct
from itertools import combinations

import numpy as np
import pytest

import netloom as nl
import pair_cases
from netloom.errors import FormatError, NetloomError
from netloom.pairs import ALONE, UNKNOWN, Flows, PairTests, Rounds, explain, rounds
from netloom.pairs.formats import read
from netloom.pairs.measured import PairTest

TREE = "two-level:leaves=4,hosts=4,spines=4"
TRIALS = int(os.environ.get("NETLOOM_TRIALS", "3"))
HOSTS = {f"host{number:04}": number for number in range(16)}


def cable(fabric: nl.Fabric, one: str, other: str) -> int:
    """The link from one node to another."""
    table, names = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
    ends = zip(table["source"], table["target"], strict=True)
    return next(link for link, (a, b) in enumerate(ends) if (names[a], names[b]) == (one, other))


def told(fabric: nl.Fabric, found) -> list[tuple[list[str], int]]:
    """Suspects by the names of their cables' lower ends, with how many tests each explains."""
    table, names = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
    return [
        (
            sorted(f"{names[table['source'][c]]}-{names[table['target'][c]]}" for c in one.cables),
            len(one.tests),
        )
        for one in found.suspects
    ]


def explained(fabric: nl.Fabric, engine: str, *tests: PairTest):
    measured = PairTests.of(tests)
    return explain(Flows.of(fabric, nl.route(engine, fabric), measured), measured)


@pytest.mark.parametrize("kind", pair_cases.SEEDS)
def test_hostile_held_out_cases_are_explained(kind, tmp_path):
    """95 % of each kind; all of them with NETLOOM_TRIALS=60 or more (make hostile)."""
    seeds = pair_cases.SEEDS[kind][:TRIALS]
    wrong = {seed: found for seed in seeds if (found := pair_cases.case(kind, seed, tmp_path).wrong())}
    assert len(wrong) <= 0.05 * len(seeds), wrong


def test_tests_alone_name_the_cable_and_what_it_carries(tmp_path):
    fabric = nl.Fabric.generate(TREE)
    slow = cable(fabric, "leaf01", "spine02")
    found = pair_cases.case("cable", 7, tmp_path, rounds=4, alone=True)
    assert found.wrong() == []
    pairs = [[(a, b)] for a in range(16) for b in range(16) if a != b and (a + b) % 5 == 0]
    routes = nl.route("d-mod-k", fabric)
    damaged = pair_cases.with_speeds(fabric, {slow: "2xEDR"})
    tests = pair_cases.measured(damaged, routes, pairs, tmp_path, np.random.default_rng(1), noise=0.01)
    alone = PairTests.of(
        [
            PairTest(int(a), int(b), float(r))
            for a, b, r in zip(tests.source, tests.destination, tests.bytes_per_s, strict=True)
        ]
    )
    result = explain(Flows.of(fabric, routes, alone), alone)
    assert [name for name, _ in told(fabric, result)] == [["leaf01-spine02"]]
    assert result.suspects[0].bytes_per_s == pytest.approx(6.25e9, rel=0.04)
    assert not result.collisions
    assert not result.contradicted


def test_pairs_that_met_on_a_link_are_no_cable():
    # d-mod-k leads hosts 4, 8 and 12 over one spine: three pairs from leaf00 share the cable up.
    fabric = nl.Fabric.generate(TREE)
    third = 12e9 / 3
    alone = [PairTest(a, b, 12e9) for a in range(4) for b in (4, 8, 12)]
    met = [PairTest(a, b, third, 0) for a, b in zip(range(3), (4, 8, 12), strict=True)]
    found = explained(fabric, "d-mod-k", *alone, *met, PairTest(3, 5, 12e9, 0))
    assert not found.suspects
    ((number, link),) = found.collisions
    assert (number, found.collisions[number, link]) == (0, [12, 13, 14])
    table = fabric.link_table()
    assert fabric.switch_names[table["source"][link] - 16] == "leaf00"
    assert found.slow.tolist() == [12, 13, 14]


def test_a_pair_behind_a_collision_is_no_cable():
    # Two hosts of leaf00 to host 4 meet at its cable; a third shares the first's way up and stands behind it.
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=4,spines=1")
    good = [PairTest(a, b, 12e9) for a in range(4) for b in range(4, 8)]
    met = [PairTest(0, 4, 4e9, 0), PairTest(1, 4, 4e9, 0), PairTest(2, 5, 4e9, 0)]
    found = explained(fabric, "d-mod-k", *good, *met)
    assert not found.suspects
    assert sorted(test for tests in found.collisions.values() for test in tests) == [16, 17, 18]


def test_one_slow_pair_among_others_is_to_be_measured_alone():
    fabric = nl.Fabric.generate(TREE)
    good = [PairTest(a, (a + 5) % 16, 12e9, 0) for a in range(1, 16)]
    # It shares links with nobody: it is evidence of one of the cables of its way.
    found = explained(fabric, "d-mod-k", *good, PairTest(0, 5, 6e9, 1))
    assert len(found.suspects) == 1
    assert len(found.suspects[0].cables) > 1
    # With another on its way it may have waited for that.
    found = explained(
        fabric, "d-mod-k", *good, PairTest(0, 5, 6e9, 1), PairTest(1, 5, 6.5e9, 1), PairTest(2, 6, 12e9, 1)
    )
    assert not found.suspects


def test_slow_alone_on_cables_that_carried_more_contradicts():
    fabric = nl.Fabric.generate(TREE)
    found = explained(
        fabric, "d-mod-k", *[PairTest(a, b, 12e9) for a in range(4) for b in range(4, 8)], PairTest(0, 4, 5e9)
    )
    assert found.contradicted == [16]
    assert not found.suspects


def test_ping_pong_tells_a_cable_that_is_slow_both_ways():
    # There and back are led over two spines: half of the bytes at 6, half at 12 GB/s are 8 GB/s in turn.
    fabric = nl.Fabric.generate(TREE)
    slow = {
        link for pair in (("leaf00", "spine01"), ("spine01", "leaf00")) for link in [cable(fabric, *pair)]
    }
    routes = nl.route("d-mod-k", fabric)
    tests = []
    for a, b in combinations(range(16), 2):
        ways = [routes.path(a, b), routes.path(b, a)]
        one, other = (6e9 if slow & set(way) else 12e9 for way in ways)
        tests.append(PairTest(a, b, 2 / (1 / one + 1 / other), ALONE, in_turn=True))
    found = explained(fabric, "d-mod-k", *tests)
    assert {round(tests[test].bytes_per_s / 1e9, 3) for test in found.slow} == {6.0, 8.0}
    assert [names for names, _ in told(fabric, found)] == [["leaf00-spine01"]]
    assert not found.contradicted


def test_both_ways_at_once_tells_the_slower():
    fabric = nl.Fabric.generate(TREE)
    link, routes = cable(fabric, "leaf02", "spine03"), nl.route("d-mod-k", fabric)
    tests = [
        PairTest(
            a, b, 6e9 if link in [*routes.path(a, b), *routes.path(b, a)] else 12e9, ALONE, both_ways=True
        )
        for a, b in combinations(range(16), 2)
    ]
    found = explained(fabric, "d-mod-k", *tests)
    assert [names for names, _ in told(fabric, found)] == [["leaf02-spine03"]]


def test_beside_unknown_others_nothing_is_accused_and_much_is_cleared():
    # A link that always carries too much looks like a slow cable.
    fabric = nl.Fabric.generate(TREE)
    link, routes = cable(fabric, "leaf02", "spine03"), nl.route("d-mod-k", fabric)
    tests = [
        PairTest(a, b, 3e9 if link in routes.path(a, b) else 12e9, UNKNOWN)
        for a in range(16)
        for b in range(16)
        if a != b
    ]
    found = explained(fabric, "d-mod-k", *tests)
    assert not found.suspects
    assert len(found.untold) == len(found.slow) > 0
    assert not found.cleared[link]
    assert int((~found.cleared).sum()) == 1
    again = explained(
        fabric,
        "d-mod-k",
        *tests,
        PairTest(*next((a, b) for a, b, *_ in tests if link in routes.path(a, b)), 3e9),
    )
    assert [names for names, _ in told(fabric, again)] == [["leaf02-spine03"]]


def test_rounds_that_lack_pairs_accuse_nobody():
    # Two tests at half of the rate cross leaf00's cable to spine00, each in a round with one test only, where
    # the first round has four: others may have been there. Whole rounds of one test would be evidence.
    fabric = nl.Fabric.generate(TREE)
    clear = [PairTest(*pair, 12e9) for pair in ((0, 5), (1, 5), (12, 4), (12, 8), (4, 0), (8, 1))]
    whole = [
        PairTest(4, 12, 6e9, 0),
        PairTest(5, 8, 6e9, 0),
        PairTest(6, 1, 12e9, 0),
        PairTest(9, 2, 12e9, 0),
    ]
    slow = [PairTest(0, 4, 6e9, 1), PairTest(1, 8, 6e9, 2)]
    found = explained(fabric, "d-mod-k", *clear, *whole, *slow)
    assert not found.suspects
    assert found.untold == [10, 11]
    assert [name for name, _ in told(fabric, explained(fabric, "d-mod-k", *clear, *slow))] == [
        ["leaf00-spine00"]
    ]
    text = "from,to,bytes_per_s,round\nhost0000,host0004,6e9,1\nhost0001,host0008,,1\n"
    assert read(text.encode(), "t.csv", HOSTS).partial == {0}


def test_in_rounds_both_senders_accuse_nobody_whom_they_met():
    # Two pairs share leaf00's cable to spine00 one way; alone they would have had their whole rate.
    fabric = nl.Fabric.generate(TREE)
    pairs = ((0, 5), (1, 5), (13, 4), (13, 8), (5, 0), (9, 1))
    for mode, rate in (({"in_turn": True}, 8e9), ({"both_ways": True}, 4e9)):
        alone = [PairTest(*pair, 12e9, **mode) for pair in pairs]
        met = [PairTest(0, 4, rate, 0, **mode), PairTest(1, 8, rate, 0, **mode)]
        found = explained(fabric, "d-mod-k", *alone, *met)
        assert not found.suspects
        assert found.untold == [6, 7]
        apart = [test._replace(round=ALONE) for test in met]
        assert explained(fabric, "d-mod-k", *alone, *apart).suspects


def test_two_slow_cables_are_not_taken_for_one_host(tmp_path):
    # Each test of one host crosses one of them; the host explains as many tests as either cable.
    fabric = nl.Fabric.generate(TREE)
    routes = nl.route("ftree", fabric)
    back = pair_cases.back(fabric.link_table())
    chosen = rounds(fabric, routes)
    rng = np.random.default_rng(6)
    cables = [
        link
        for link in range(fabric.links)
        if link < back[link] and fabric.link_table()["between_switches"][link]
    ]
    for two in [tuple(rng.choice(cables, 2, replace=False).tolist()) for _ in range(4 * TRIALS)]:
        damaged = pair_cases.with_speeds(fabric, dict.fromkeys(two, "2xEDR"))
        tests = pair_cases.measured(damaged, routes, chosen.pairs, tmp_path, rng, noise=0.01)
        found = explain(Flows.of(fabric, routes, tests), tests)
        told_of = [set(one.cables) for one in found.suspects if len(one.cables) == 1]
        assert all(one <= set(two) for one in told_of)
        assert all(set(one.cables) & set(two) for one in found.suspects)
        assert set(two) <= {cable for one in found.suspects for cable in one.cables}


def test_files_of_slow_pairs_only_are_doubted(netloom, paths):
    slow = "".join(f"host0000,host{b:04},4.9e9\nhost{b:04},host0000,4.8e9\n" for b in range(1, 16))
    (netloom.folder / "p.csv").write_text(f"from,to,bytes_per_s\n{slow}")
    found = netloom.result("diagnose", "pairs", TREE, "d-mod-k", "p.csv", code=1)
    assert (found["doubt"], found["slow"]) == ("low", 0)
    assert "no pair is slower than the others" in netloom("diagnose", "pairs", TREE, "d-mod-k", "p.csv").out
    (finding,) = netloom.result("diagnose", "pairs", TREE, "d-mod-k", "p.csv", "--healthy", 96, code=1)[
        "findings"
    ]
    assert finding["host"] == "host0000"
    assert nl.diagnose_pairs(TREE, "d-mod-k", netloom.folder / "p.csv", healthy_percent=96.0)["slow"] == 30
    # LinkTest tells the fastest of all pairs.
    log = (paths.root / "tests" / "data" / "pairs" / "linktest.txt").read_text()
    assert read(log.encode(), "x", HOSTS).fastest == 11363.64 * 2**20
    (netloom.folder / "p.csv").write_text("from,to,bytes_per_s\nhost0000,host0001,96e9\n")
    assert netloom.result("diagnose", "pairs", TREE, "d-mod-k", "p.csv", code=1)["doubt"] == "high"


# Files


def test_tables_are_read_with_their_lines():
    lines = [
        "\ufefffrom,to,bytes_per_s,round,mode",
        "# a remark",
        "host0000,host0001.site.org,12e9,7,",
        "host0002,host0003,6e9,,ping-pong",
        "host0004,host0005,5e9,?,both-ways",
        "host0000,nobody,1,,",
        "host0000,host0001,,,",
    ]
    found = read("\r\n".join(lines).encode(), "t.csv", HOSTS)
    assert (found.tool, found.rounds) == ("table", ["7"])
    assert found.tests.round.tolist() == [0, ALONE, UNKNOWN]
    assert found.tests.destination.tolist() == [1, 3, 5]
    assert found.tests.in_turn.tolist() == [False, True, False]
    assert found.tests.both_ways.tolist() == [False, False, True]
    assert sum(found.left_out.values()) == 2
    cases = {
        "from,to,rate\n": "t.csv:1: expected the columns from, to, bytes_per_s",
        "from,to,bytes_per_s\nhost0000,host0001,fast\n": "t.csv:2: expected bytes per second, found fast",
        "from,to,bytes_per_s\nhost0000,host0001,-1\n": "t.csv:2: expected a rate from 0",
        "from,to,bytes_per_s\n\n#\nhost0000,host0001,nan\n": "t.csv:4: expected a rate from 0",
        "from,to,bytes_per_s\n,host0001,1\n": "t.csv:2: expected a host in each of from and to",
        "from,to,bytes_per_s\nhost0000,host0001,1,2\n": "and no more columns than line 1 has",
        "from,to,bytes_per_s,mode\nhost0000,host0001,1,half\n": "t.csv:2: expected one of one-way",
        "from,to,bytes_per_s\na,b,1\n": "found none (1 with a name that is no host of the fabric)",
        "": "t.csv:1: expected the columns",
    }
    for text, expected in cases.items():
        with pytest.raises(FormatError) as error:
            read(text.encode(), "t.csv", HOSTS)
        assert expected in str(error.value)


def test_nccl_tests_print_runs_of_pairs(paths):
    found = read((paths.root / "tests" / "data" / "pairs" / "nccl.log").read_bytes(), "nccl.log", HOSTS)
    assert found.tool == "nccl-tests"
    assert found.tests.bytes_per_s.tolist() == [11.95e9, 5.98e9]
    assert found.tests.destination.tolist() == [4, 5]
    assert found.tests.both_ways.all()
    assert found.left_out == {"runs of broadcast_perf, in which not both hosts send": 1}


def test_linktest_prints_pairs_in_turn(paths):
    found = read(
        (paths.root / "tests" / "data" / "pairs" / "linktest.txt").read_bytes(), "linktest.txt", HOSTS
    )
    assert found.tool == "linktest"
    assert found.tests.in_turn.all()
    assert found.tests.round.tolist() == [ALONE] * 3 + [UNKNOWN, ALONE] * 3
    assert found.tests.bytes_per_s[2] == 5681.82 * 2**20
    tree = nl.Fabric.generate(TREE)
    flows = Flows.of(tree, nl.route("d-mod-k", tree), found.tests)
    (suspect,) = explain(flows, found.tests).suspects
    assert suspect.cables == [5]  # host0005's
    text = (
        (paths.root / "tests" / "data" / "pairs" / "linktest.txt")
        .read_text()
        .replace("task[000003]", "rank[3]")
    )
    with pytest.raises(FormatError, match=r"expected a line task\[3\] on HOST"):
        read(text.encode(), "linktest.txt", HOSTS)


def test_hp2p_writes_a_matrix(paths):
    # Written by hp2p 4.1 with four ranks of Open MPI 4.1.4 on one machine, names hidden (-y 1).
    data = (paths.root / "tests" / "data" / "pairs" / "hp2p-4.bin").read_bytes()
    hosts = {f"rank_{rank}": rank for rank in range(4)}
    found = read(data, "pairs.bin", hosts)
    assert found.tool == "hp2p"
    assert len(found.tests) == 12
    assert (found.tests.round == UNKNOWN).all()
    assert found.tests.both_ways.all()
    assert 1e8 < found.tests.bytes_per_s.min() <= found.tests.bytes_per_s.max() < 1e11
    with pytest.raises(FormatError):
        read(data[:-1], "pairs.bin", hosts)
    odd = bytearray(data)
    struct.pack_into("<d", odd, 4 + 4 * 256 + 8, float("nan"))
    with pytest.raises(FormatError, match="expected bytes per second"):
        read(bytes(odd), "pairs.bin", hosts)


def test_hostile_files_are_refused_or_read(paths):
    folder = paths.root / "tests" / "data" / "pairs"
    whole = [path.read_bytes() for path in sorted(folder.iterdir())]
    whole.append((paths.examples / "pairs" / "rounds.csv").read_bytes())
    hosts = HOSTS | {f"rank_{rank}": rank for rank in range(4)}
    draw = random.Random(5)
    for _ in range(100 * TRIALS):
        data = bytearray(draw.choice(whole))
        for _ in range(draw.randrange(1, 6)):
            place = draw.randrange(len(data))
            kind = draw.randrange(3)
            if kind == 0:
                data[place] = draw.randrange(256)
            elif kind == 1:
                del data[place : place + draw.randrange(1, 40)]
            else:
                data[place:place] = draw.choice([b",", b"\n", b'"', b"\0", b"# nThread", b"1e400", b"\xff"])
        try:
            found = read(bytes(data), "x", hosts)
        except FormatError:
            continue
        assert np.isfinite(found.tests.bytes_per_s).all()
        assert (found.tests.source != found.tests.destination).all()


# Rounds


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        (TREE, "d-mod-k"),
        (TREE, "random"),
        (TREE, "s-mod-k"),
        ("fattree:pods=2,leaves=2,hosts=3,spines=2,groups=1,cores=3", "ftree"),
        ("dragonfly:p=2,a=4,h=2", "minhop"),
    ],
)
def test_rounds_tell_apart_what_pairs_can(spec, engine):
    fabric = nl.Fabric.generate(spec)
    routes = nl.route(engine, fabric)
    found = rounds(fabric, routes, seed=1)
    other = {}
    table = fabric.link_table()
    ends = list(
        zip(table["source"], table["source_port"], table["target"], table["target_port"], strict=True)
    )
    where = {(a, p): link for link, (a, p, _, _) in enumerate(ends)}
    for link, (_, _, b, q) in enumerate(ends):
        other[link] = where[b, q]
    for one in found.pairs:
        links = [link for pair in one for link in routes.path(*pair)]
        assert len(links) == len(set(links))
    every = [(a, b) for a in range(fabric.hosts) for b in range(fabric.hosts) if a != b]

    def crossing(pairs):
        by_cable: dict[int, set[tuple[int, int]]] = {}
        for pair in pairs:
            for link in routes.path(*pair):
                by_cable.setdefault(min(link, other[link]), set()).add(pair)
        return by_cable

    chosen = [pair for one in found.pairs for pair in one]
    ours, all_pairs = crossing(chosen), crossing(every)
    assert ours.keys() == all_pairs.keys()
    assert found.cables == len(ours)
    for one, two in combinations(all_pairs, 2):
        assert (ours[one] == ours[two]) == (all_pairs[one] == all_pairs[two])
    assert {link for pair in chosen for link in routes.path(*pair)} == {
        link for pair in every for link in routes.path(*pair)
    }
    assert len(found.pairs) <= 5
    assert Rounds.of(fabric, routes, found.pairs) == found
    assert rounds(fabric, routes, seed=1) == found


def test_few_rounds_find_any_slow_cable(tmp_path):
    fabric = nl.Fabric.generate("two-level:leaves=3,hosts=3,spines=3")
    routes = nl.route("d-mod-k", fabric)
    chosen = rounds(fabric, routes)
    assert (len(chosen.pairs), chosen.alike, chosen.unused) == (3, [], [])
    back = pair_cases.back(fabric.link_table())
    rng = np.random.default_rng(4)
    for link in [link for link in range(fabric.links) if link < back[link]]:
        damaged = pair_cases.with_speeds(fabric, {link: "4xQDR"})
        tests = pair_cases.measured(damaged, routes, chosen.pairs, tmp_path, rng)
        found = explain(Flows.of(fabric, routes, tests), tests)
        assert [one.cables for one in found.suspects] == [[link]]


def test_what_no_pair_separates_is_told_together():
    # With two pods every way over a core uses both of its cables.
    fabric = nl.Fabric.generate("fattree:pods=2,leaves=3,hosts=4,spines=3,groups=1,cores=4")
    found = rounds(fabric, nl.route("ftree", fabric))
    assert found.alike
    assert found.inseparable == found.alike
    assert {len(group) for group in found.alike} == {2}


# The command


def test_the_command_tells_what_to_look_at(netloom, paths):
    asked = ("two-level:leaves=8,hosts=4,spines=4", "d-mod-k", paths.examples / "pairs" / "rounds.csv")
    found = netloom.result("diagnose", "pairs", *asked, code=1)
    causes = [(one["cause"], one["cables"][0]["text"], one["seems"]) for one in found["findings"]]
    assert causes == [
        ("host", "host0009[1] -> leaf02[2]", "2xEDR"),
        ("cable", "leaf01[6] -> spine01[2]", "4xQDR"),
    ]
    assert nl.diagnose_pairs(*asked[:2], asked[2])["findings"] == found["findings"]
    text = netloom("diagnose", "pairs", *asked).out
    assert "slow host: host0009" in text
    assert "as 4xQDR instead of 4xEDR" in text
    rows = list(csv.DictReader(io.StringIO(netloom("diagnose", "pairs", *asked, "--format", "csv").out)))
    assert [row["cause"] for row in rows] == ["cable", "cable", "host", "host"]
    nobody = (netloom.folder / "healthy.csv").write_text("from,to,bytes_per_s\nhost0000,host0004,12e9\n")
    assert nobody
    assert "no pair is slow" in netloom.ok("diagnose", "pairs", *asked[:2], "healthy.csv")


def test_rounds_are_a_table_to_fill_in(netloom):
    text = netloom.ok("traffic", "pairs", TREE, "d-mod-k", "-o", "pairs.csv")
    assert "one slow cable from every other" in text
    rows = list(csv.DictReader((netloom.folder / "pairs.csv").open()))
    filled = "from,to,bytes_per_s,round\n" + "".join(
        f"{r['from']},{r['to']},12e9,{r['round']}\n" for r in rows
    )
    (netloom.folder / "filled.csv").write_text(filled)
    found = netloom.result("diagnose", "pairs", TREE, "d-mod-k", "filled.csv")
    assert (found["slow"], found["cables_cleared"], found["cables"]) == (0, 32, 32)
    result = netloom.result("traffic", "pairs", TREE, "d-mod-k")
    assert [row["from"] for row in result["pairs"]] == [row["from"] for row in rows]
    assert "found none" in netloom.refused("diagnose", "pairs", TREE, "d-mod-k", "pairs.csv")


def test_rounds_end_with_the_time_limit(netloom):
    """What is chosen from is a quarter of a million pairs: no rounds in a second, and nothing written."""
    tree = "two-level:leaves=64,hosts=32,spines=8"
    ran = netloom("traffic", "pairs", tree, "d-mod-k", "--time-limit", "1", "-o", "pairs.csv")
    assert ran.code == 124
    assert "time limit" in ran.err
    assert not (netloom.folder / "pairs.csv").exists()


def test_alternatives_come_with_the_next_test(netloom):
    good = [(1, 5), (5, 1), (2, 6), (6, 2)]
    text = "".join(f"host{a:04},host{b:04},12e9\n" for a, b in good)
    (netloom.folder / "p.csv").write_text(
        f"from,to,bytes_per_s\n{text}host0000,host0004,6e9\nhost0004,host0000,6e9\n"
    )
    (finding,) = netloom.result("diagnose", "pairs", TREE, "d-mod-k", "p.csv", code=1)["findings"]
    assert finding["cause"] == "one-of"
    routes = nl.route("d-mod-k", nl.Fabric.generate(TREE))
    names = {name: number for number, name in enumerate(nl.Fabric.generate(TREE).host_names)}
    way = routes.path(*(names[finding["measure_next"][end]] for end in ("from", "to")))
    fabric = nl.Fabric.generate(TREE)
    table, nodes = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
    ends = {frozenset((nodes[table["source"][link]], nodes[table["target"][link]])) for link in way}
    cables = [frozenset((one["from"]["name"], one["to"]["name"])) for one in finding["cables"]]
    assert 0 < sum(one in ends for one in cables) < len(cables)


def test_hosts_with_several_adapters_are_named_whole():
    with pytest.raises(FormatError, match="of a machine with several adapters"):
        read(b"from,to,bytes_per_s\na,b,1e9\n", "t.csv", {"a": -1, "a mlx5_0": 0, "b": 1})


def test_errors_are_ones_of_netloom(tmp_path):
    (tmp_path / "p.csv").write_text("from,to,bytes_per_s\nhost0000,host0001,1e9\n")
    with pytest.raises(NetloomError):
        nl.diagnose_pairs(TREE, "no-engine", tmp_path / "p.csv")
