"""`netloom study training`: what order, routes and both buy eight jobs."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom.cli.study import training as command
from netloom.errors import ArgumentError
from netloom.studies import training

SMALL = "rail:units=4,machines=8,rails=2,radix=16"


def row(result: dict, order: str, routes: str) -> dict:
    return next(one for one in result["choices"] if (one["order"], one["routes"]) == (order, routes))


def test_jobs_share_all_machines_and_keep_them_in_any_order():
    fabric = nl.Fabric.generate(SMALL)
    given, leaf = (training.placed(fabric, order=order, bytes=1 << 20, seed=3) for order in training.ORDERS)
    taken = np.concatenate([job.ranked.hosts for job in given])
    assert sorted(taken.tolist()) == list(range(fabric.hosts))
    assert [job.what.machines for job in given] == [2, 4, 6, 8, 2, 4, 2, 4]
    names = fabric.host_names
    for one, two in zip(given, leaf, strict=True):
        assert set(one.ranked.hosts.tolist()) == set(two.ranked.host_of_rank.tolist())
        assert one.traffic.total_bytes == two.traffic.total_bytes
        machines = [names[host].split()[0] for host in two.ranked.host_of_rank]
        assert machines == sorted(machines), "units' machines are named in the order of their leaves"


def test_percent_of_line_is_as_counted_by_hand():
    # Two hosts on each of two leaves, one spine: jobs a and b send from leaf to leaf, 10 and 30 bytes.
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
    loads, jobs = [], []
    for name, source, target, size in (("a", 0, 2, 10), ("b", 1, 3, 30)):
        traffic = nl.Traffic.from_triples(fabric, [source], [target], [float(size)])
        what = training.Collective.parse("nccl-ring:ranks=2,bytes=10")
        jobs.append(training.Placed(name, what, training.Ranked(name, [], []), traffic))
        loads.append(nl.loads(fabric, "ftree", traffic).per_link)
    # The cable between the switches carries 40.
    assert training.of_line(jobs, loads) == [25, 75]


def test_hashed_loads_of_jobs_add_up():
    # What makes a sum over jobs right: a flow's way depends on its draw, and on no other flow.
    fabric = nl.Fabric.generate(SMALL)
    jobs = training.placed(fabric, order="given", bytes=1 << 20, seed=1)
    every = sum((job.traffic for job in jobs[1:]), jobs[0].traffic)
    apart = sum(nl.ecmp_loads(fabric, job.traffic, pairs=4, draws=1, seed=5)[0].per_link for job in jobs)
    together = nl.ecmp_loads(fabric, every, pairs=4, draws=1, seed=5)[0].per_link
    assert together == pytest.approx(apart)


def test_hashing_is_the_median_of_twenty_draws(netloom):
    fabric = nl.Fabric.generate(SMALL)
    jobs = training.placed(fabric, order="given", bytes=training.BYTES, seed=7)
    draws = []
    for seed in range(7, 27):
        loads = [nl.ecmp_loads(fabric, job.traffic, pairs=4, draws=1, seed=seed)[0].per_link for job in jobs]
        draws.append(training.of_line(jobs, loads))
    assert len({tuple(draw) for draw in draws}) > 1
    result = netloom.result("study", "training", "--fabric", SMALL, "--seed", "7")
    told = row(result, "given", "ecmp:pairs=4")["of_line_percent"]
    assert told == pytest.approx(np.median(draws, axis=0))


def test_optimised_routes_serve_no_job_worse_than_ftree_by_loads(netloom):
    result = netloom.result("study", "training")
    base = row(result, "given", "ftree")["of_line_percent"]
    for order in ("given", "leaf"):
        best = row(result, order, "optimized")["of_line_percent"]
        assert all(new >= old for new, old in zip(best, base, strict=True))
        assert min(best) > 99
        for other in ("ftree", "ecmp:pairs=4", "adaptive"):
            assert min(row(result, order, other)["of_line_percent"]) <= min(best) + 1e-9
    assert result["slower"] == []
    assert min(row(result, "leaf", "ftree")["of_line_percent"]) > min(base), "order alone helps"
    assert [job["ranks"] for job in result["jobs"]] == [64, 128, 192, 256, 64, 128, 64, 128]


def test_times_are_told_and_so_is_who_loses(netloom):
    result = netloom.result("study", "training", "--fabric", SMALL, "--model", "packet", "--seed", "2")
    base = row(result, "given", "ftree")
    told = {(one["order"], one["routes"], one["job"]) for one in result["slower"]}
    for order, routes in (("given", "optimized"), ("leaf", "ftree"), ("leaf", "optimized")):
        best = row(result, order, routes)
        for at, job in enumerate(result["jobs"]):
            lost = best["time_ms"][at] > base["time_ms"][at] * 1.001
            less = best["of_line_percent"][at] < base["of_line_percent"][at] * 0.999
            assert ((order, routes, job["name"]) in told) == (lost or less)
            # Nobody sends faster than its line: 50 GB/s, so 16 MB take 0.32 ms.
            ring = job["algorithm"] == "nccl-ring"
            assert best["time_ms"][at] > (0.32 * (1 - 1 / job["ranks"]) * 0.99 if ring else 0.05)
    text = command._text(result)
    assert "ms until a collective is complete, by packets" in text
    assert ("leaf", "ftree", "expert 1") in told, "order alone is judged too"
    for _, _, name in told:
        assert f"{name} (" in text
    flows = netloom.result("study", "training", "--fabric", SMALL, "--model", "fluid")
    assert row(flows, "given", "ecmp:pairs=4")["time_ms"] is None
    assert all(row(flows, "given", "adaptive")["time_ms"])


def test_small_fabrics_are_refused(netloom):
    line = netloom.refused("study", "training", "--fabric", "two-level:leaves=4,hosts=4,spines=4")
    assert "expected a fabric of 32 machines or more, found 16" in line
    with pytest.raises(ArgumentError):
        training.placed(nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1"), order="given", bytes=1)


def test_jobs_name_their_machines_and_the_hosts_of_their_ranks(netloom):
    result = netloom.result("study", "training", "--fabric", SMALL, "--seed", "3")
    fabric = nl.Fabric.generate(SMALL)
    for order in training.ORDERS:
        for job, told in zip(
            training.placed(fabric, order=order, bytes=1, seed=3), result["jobs"], strict=True
        ):
            hosts = [fabric.host_names[host] for host in job.ranked.host_of_rank]
            assert told["hosts"][order] == hosts
            assert told["machine_names"] == sorted({host.split()[0] for host in hosts})
    assert sum(len(job["machine_names"]) for job in result["jobs"]) == 32
    assert result["jobs"][3]["hosts"]["given"] != result["jobs"][3]["hosts"]["leaf"]


def test_less_than_the_threshold_is_not_slower():
    def choice(order: str, routes: str, percent: float, time: float) -> dict:
        return {"order": order, "routes": routes, "of_line_percent": [percent], "time_ms": [time]}

    jobs = [{"name": "a"}]
    rows = [choice("given", "ftree", 100, 1), choice("given", "optimized", 99.95, 1.0009)]
    assert command._slower(jobs, rows) == []
    assert command._slower(jobs, [*rows, choice("leaf", "adaptive", 50, 2)]) == []
    both = choice("leaf", "optimized", 150, 1.002)
    order, found = command._slower(jobs, [*rows, choice("leaf", "ftree", 75, 0.5), both])
    assert (order["order"], order["routes"], order["job"]) == ("leaf", "ftree", "a")
    assert (order["of_line_change_percent"], order["time_change_percent"]) == (-25, -50)
    assert (found["order"], found["routes"]) == ("leaf", "optimized")
    assert (found["of_line_change_percent"], round(found["time_change_percent"], 6)) == (50, 0.2)
    text = command._slower_text({"slower": [order, found]})
    assert [line.split(maxsplit=1) for line in text.splitlines()] == [
        ["routes", "none"],
        ["order", "a (25.0 % less of line)"],
        ["both", "a (0.2 % longer)"],
    ]
