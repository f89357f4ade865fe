"""`netloom study modes`: the job's hosts, the benchmarks as programs, what the command tells."""

from __future__ import annotations

import json

import netloom as nl
from netloom.studies.modes import published, signs
from netloom.studies.modes.runs import Row, hosts, scenario


def row(benchmark: str, size: str, times: tuple[float, float, float, float], share: float = 0.5) -> Row:
    ran = {routing: [time] for routing, time in zip(published.ROUTINGS, times, strict=True)}
    return Row(benchmark, size, ran, dict.fromkeys(published.ROUTINGS, share))


def test_the_job_is_on_33_switches_of_five_groups():
    placed = hosts()
    assert (len(placed), len({host // 4 for host in placed}), len({host // 384 for host in placed})) == (
        published.HOSTS,
        published.SWITCHES,
        5,
    )


def test_every_row_is_a_scenario(paths):
    fabric = nl.Fabric.read(published.FABRIC)
    names = [str(fabric.host_table()["name"][host]) for host in hosts()]
    ranks = {"ping-pong": [2] * 3, "barrier": [16, 32, 64]}
    for benchmark, sizes in published.BENCHMARKS.items():
        for size, expected in zip(sizes, ranks.get(benchmark, [64] * 3), strict=True):
            scene = nl.Scenario.on(fabric, scenario(benchmark, size, 1, names), "row.toml", paths.root)
            assert [len(job.host_of_rank) for job in scene.jobs] == [expected, 128], (benchmark, size)


def test_statements_are_judged_where_their_rows_are_there():
    assert signs.claims([]) == []
    large = row("alltoall", "16KiB", (10, 12, 10.2, 10), 0.7)
    [claim] = signs.claims([large])
    assert claim["holds"]
    assert "less than all on it" in claim["says"]
    assert not signs.claims([row("alltoall", "16KiB", (10, 12, 11, 10), 0.7)])[0]["holds"]
    # By hand: within 5 % of 10 is up to 10.5; the worse one is 12.
    rows = [large, row("sweep3d", "32KiB", (12, 10, 10.6, 12.1))]
    assert signs.totals(rows) == {
        "rows": 2,
        "aware_within": 1,
        "steady_within": 1,
        "steady_not_slower": 1,
        "default_better": 1,
    }


def test_a_benchmark_is_run_with_all_routings(netloom):
    assert "steady" in netloom.ok("study", "modes", "--benchmarks", "barrier", "-o", "modes.json")
    result = json.loads((netloom.folder / "modes.json").read_text())["result"]
    assert [row["size"] for row in result["rows"]] == list(published.BENCHMARKS["barrier"])
    for found in result["rows"]:
        assert found["ratio"]["adaptive:default"] == 1
        assert found["default_share"]["adaptive:default"] == 1
        assert found["default_share"]["adaptive:3"] == found["default_share"]["aware"] == 0, "small messages"
    told = netloom.refused("study", "modes", "--benchmarks", "barriers", code=2)
    assert "expected some of ping-pong" in told
