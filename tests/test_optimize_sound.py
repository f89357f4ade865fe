"""Whatever tables it begins with: no function or verb returns routes that can deadlock.

Tables of another class than the search's (minhop's, an engine's from before damage, entries of two engines
mixed, random ones) are the background or today's routes; what comes back is looked at by `netloom.check`, by
(link, lane), and by a few lines of this file that follow every entry.

As many cases as NETLOOM_TRIALS says, by the API and by the command, of the seeds from `FIRST` on.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netloom as nl

FIRST = 690_400_000
"""Of the seeds: they were chosen before anything was run."""
TRIALS = int(os.environ.get("NETLOOM_TRIALS", "40"))
BATCH = 20
"""Cases of the API that are one test: they are short."""
SPECS = (
    "two-level:leaves=8,hosts=4,spines=4",
    "two-level:leaves=5,hosts=2,spines=3",
    "two-level:leaves=6,hosts=2,spines=2",
    "fattree:pods=2,leaves=3,hosts=2,spines=2,groups=2,cores=2",
    "xgft:m=2x2x2x2,w=1x2x2x2",
    "dragonfly:a=4,h=2,p=2",
)
ENGINES = ("minhop", "updn", "ftree", "random", "d-mod-k", "dla")
FOUND = nl.NetloomError
Case = tuple[nl.Fabric, nl.Traffic, nl.Routes]


def case_of(draw: random.Random) -> Case | None:
    """A damaged fabric, a traffic on it, and tables to begin with; None where there are no such tables."""
    whole = nl.Fabric.generate(draw.choice(SPECS))
    try:
        fabric, _ = whole.damage(
            random_links=draw.randrange(8),
            random_switches=draw.choice((0, 0, 0, 1)),
            seed=draw.randrange(10_000),
        )
        traffic = nl.Traffic.read(
            draw.choice(("bisection", "shift:3", "permutation:seed=4", "random:partners=2,seed=3")), fabric
        )
        return fabric, traffic, tables_of(draw, whole, fabric)
    except FOUND:
        return None


def tables_of(draw: random.Random, whole: nl.Fabric, fabric: nl.Fabric) -> nl.Routes:
    """An engine's, those of before, two engines' by destination or by entry, or ports drawn."""
    kind = draw.choice(("engine", "engine", "before", "mixed", "entries", "drawn"))
    first = nl.route(draw.choice(ENGINES), fabric, seed=draw.randrange(100))
    if kind == "engine":
        return first
    if kind == "before":
        old = nl.route(draw.choice(ENGINES), whole, seed=draw.randrange(100))
        table = np.array(old.table())
        known = np.zeros((fabric.switches, 65536), bool)
        links = fabric.link_table()
        alive = np.asarray(links["alive"]) & (links["source"] >= fabric.hosts)
        known[links["source"][alive] - fabric.hosts, links["source_port"][alive]] = True
        table[~np.take_along_axis(known, table.astype(np.int64), axis=1) & (table != 0)] = 65535
        return nl.Routes.from_table(fabric, table)
    second = nl.route(draw.choice(ENGINES), fabric, seed=draw.randrange(100))
    one, two = np.array(first.table()), np.array(second.table())
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    if kind == "mixed":
        chosen = np.broadcast_to(numbers.random(one.shape[1]) < 0.5, one.shape)
    else:
        chosen = numbers.random(one.shape) < (0.5 if kind == "entries" else 0.1)
    return nl.Routes.from_table(fabric, np.where(chosen, one, two))


def returned(draw: random.Random, case: Case) -> list[nl.Routes]:
    """What a function of the API returns for a case."""
    fabric, traffic, tables = case
    budget: dict[str, Any] = {"work": 300, "threads": 1, "seed": draw.randrange(100)}
    begin: dict[str, Any] = draw.choice(({"background": tables}, {"today": tables}))
    few = {**begin, "max_changes": draw.choice((0, 2, 9))} if "today" in begin else begin
    doors: tuple[Callable[[], Any], ...] = (
        lambda: nl.optimize(fabric, traffic, **begin, **budget).routes,
        lambda: nl.optimize(fabric, traffic, **few, **budget).routes,
        lambda: nl.optimize_lmc(fabric, traffic, draw.choice((0, 1)), background=tables, **budget).routes,
        lambda: (
            nl.optimize_layers(fabric, [("a", traffic, 1.0), ("b", traffic, 2.0)], **begin, **budget).routes
        ),
        lambda: nl.optimize_hose(fabric, nl.Hose.of(traffic), **begin, **budget).routes,
        lambda: (
            nl.optimize_judged(nl.Scenario.of_traffic(fabric, traffic), traffic, "fluid", **begin, **budget)[
                0
            ].routes
        ),
        lambda: nl.coloured(fabric, traffic, background=tables, threads=1).routes,
        lambda: nl.afar(fabric, traffic, tables, threads=1, max_iterations=50).routes,
        lambda: nl.repaired(fabric, tables),
    )
    weights = (8, 4, 2, 2, 1, 1, 2, 2, 2)
    door = draw.choices(doors, weights)[0]
    return [door()]


def circles(fabric: nl.Fabric, routes: nl.Routes) -> int:
    """Links between switches that wait for each other on one lane, or are walked round: none is right."""
    links, hosts = fabric.link_table(), fabric.hosts
    by_port = {
        (int(s) - hosts, int(p)): (link, int(t) - hosts)
        for link, (s, p, t, alive) in enumerate(
            zip(links["source"], links["source_port"], links["target"], links["alive"], strict=True)
        )
        if alive and s >= hosts and t >= hosts
    }
    alive = np.asarray(links["alive"])
    leaves = {
        int(t) - hosts
        for s, t in zip(links["source"][alive], links["target"][alive], strict=True)
        if s < hosts
    }
    table = np.asarray(routes.table())
    after: dict[int, set[int]] = {}
    for dest in range(table.shape[1]):
        for leaf in leaves:
            at, last, seen = leaf, None, set()
            while at not in seen:
                seen.add(at)
                step = by_port.get((at, int(table[at, dest])))
                if step is None:
                    break
                link, at = step
                if last is not None:
                    after.setdefault(last, set()).add(link)
                last = link
            else:
                return -1
    waits = dict.fromkeys(after, 0)
    for then in after.values():
        for link in then:
            waits[link] = waits.get(link, 0) + 1
    free = [link for link, count in waits.items() if count == 0]
    while free:
        for link in after.get(free.pop(), ()):
            waits[link] -= 1
            if waits[link] == 0:
                free.append(link)
    return sum(count > 0 for count in waits.values())


@pytest.mark.parametrize("batch", range(-(-TRIALS // BATCH)))
def test_hostile_tables_to_begin_with_bring_no_loop_by_the_api(batch):
    answered = 0
    for seed in range(FIRST + batch * BATCH, FIRST + min((batch + 1) * BATCH, TRIALS)):
        draw = random.Random(seed)
        case = case_of(draw)
        if case is None:
            continue
        try:
            found = returned(draw, case)
        except FOUND as error:
            # Only for what no tables can mend.
            told = str(error)
            assert "can deadlock" not in told, f"seed {seed}: {told}"
            continue
        for routes in found:
            report = nl.check(case[0], routes)
            kinds = {one["kind"] for one in report.findings}
            assert report.credit_loops == 0, f"seed {seed}: {report.findings}"
            assert "loop" not in kinds, f"seed {seed}: {report.findings}"
            assert report.lanes > 1 or circles(case[0], routes) == 0, f"seed {seed}"
            answered += 1
    assert answered > 0


@pytest.mark.parametrize("seed", range(FIRST, FIRST + -(-TRIALS // 4)))
def test_hostile_tables_to_begin_with_bring_no_loop_by_the_command(netloom, seed):
    draw = random.Random(seed)
    case = case_of(draw)
    if case is None:
        return
    fabric, _, tables = case
    fabric.write(netloom.folder / "now.net")
    # Such tables are not written for anybody to load.
    (netloom.folder / "today.lfts").write_bytes(tables.to_bytes())
    options = draw.choice(
        (
            ("--background", "today.lfts"),
            ("--background", "today.lfts", "--compare"),
            ("--background", "today.lfts", "--lmc", "1"),
            ("--background", "today.lfts", "--hose"),
            ("--from", "today.lfts", "--repair"),
            ("--from", "today.lfts", "--repair", "--max-changes", "2"),
        )
    )
    traffic = draw.choice(("shift:3", "permutation:seed=4", "random:partners=2,seed=3"))
    words = ("optimize", "now.net", traffic, *options, "--work", 300, "--threads", 1, "-o", "new.lfts")
    done = netloom(*words)
    assert done.code in (0, 1, 3), f"{words}\n{done.err}"
    for said in ("not written: these tables", "these routes can deadlock"):
        assert said not in done.err, f"{words}\n{done.err}"
    if done.code == 3:
        return
    report = nl.check(fabric, nl.Routes.read(netloom.folder / "new.lfts", fabric))
    assert report.credit_loops == 0, f"{words}\n{report.findings}"
    assert "loop" not in {one["kind"] for one in report.findings}, f"{words}\n{report.findings}"


def test_two_sound_classes_are_made_sound_together():
    """What was found: minhop's entries towards spines turn at a leaf, and wait for the search's."""
    fabric, _ = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4").damage(random_links=6, seed=1286)
    minhop, traffic = nl.route("minhop", fabric, seed=1286), nl.Traffic.read("bisection", fabric)
    assert nl.check(fabric, minhop).credit_loops == 0
    best = nl.optimize(fabric, traffic, background=minhop, work=1000, threads=1)
    assert nl.check(fabric, best.routes).credit_loops == 0
    assert circles(fabric, best.routes) == 0
