"""`netloom study modes`: the job's hosts, the benchmarks as programs, what the command tells."""

from __future__ import annotations

import netloom as nl
from netloom.cli.study import modes
from netloom.studies.modes import published, signs
from netloom.studies.modes.runs import Row, Study, hosts, scenario


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


def test_rows_are_scenarios(paths):
    fabric = nl.Fabric.read(published.FABRIC.format(published.LINKS))
    names = [str(fabric.host_table()["name"][host]) for host in hosts()]
    ranks = {
        ("ping-pong", "8"): 2,
        ("barrier", "16 ranks"): 16,
        ("halo3d", "1KiB"): 64,
        ("sweep3d", "256"): 64,
    }
    for (benchmark, size), expected in ranks.items():
        text = scenario(benchmark, size, 1, names).replace("messages = 5000", "messages = 1")
        scene = nl.Scenario.on(fabric, text, "row.toml", paths.root)
        assert [len(job.host_of_rank) for job in scene.jobs] == [expected, 128], benchmark


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


def test_a_benchmark_is_run_with_all_routings():
    found = (
        Study(nl.Fabric.read(published.FABRIC.format(published.LINKS)), range(1, 2))
        .row("broadcast", "1KiB")
        .result()
    )
    assert found["ratio"]["adaptive:default"] == 1
    # What was run can be run again, by itself.
    again = nl.simulate(nl.Scenario.parse(found["scenario"].encode()), "aware")
    assert again.result()["jobs"][0]["completion_ms"] * 1e3 == found["times_us"]["aware"][0]
    assert {routing: len(times) for routing, times in found["times_us"].items()} == dict.fromkeys(
        published.ROUTINGS, 1
    )
    shares = found["default_share"]
    assert (shares["adaptive:default"], shares["adaptive:3"]) == (1, 0)
    assert 0 < shares["aware"] < 0.2, "a sender decides only above 4 KiB in all"


def test_unknown_benchmarks_are_refused(netloom):
    told = netloom.refused("study", "modes", "--benchmarks", "barriers", code=2)
    assert "expected some of ping-pong" in told
    told = netloom.refused("study", "modes", "--sizes", "small,huge", code=2)
    assert "--sizes small,huge: expected some of small,middle,large" in told
    told = netloom.refused("study", "modes", "--links", "3", code=2)
    assert told == "--links 3: expected an even number of 2 to 48, as cables come in twos"


def test_a_ratio_of_several_seeds_has_its_spread():
    ran = dict(zip(published.ROUTINGS, ([10, 10, 20], [12, 15, 22], [10] * 3, [10] * 3), strict=True))
    one = Row("alltoall", "16KiB", ran, dict.fromkeys(published.ROUTINGS, 0.5)).result()
    # By hand: 1.2, 1.5 and 1.1.
    assert modes._ratio(one, "adaptive:3") == "1.200 (1.100 to 1.500)"
    assert modes._ratio(row("alltoall", "128", (10, 12, 10, 10)).result(), "adaptive:3") == "1.200"


def test_the_report_has_rows_totals_and_statements():
    rows = [row("alltoall", "16KiB", (10, 12, 10.2, 10), 0.7), row("sweep3d", "32KiB", (12, 10, 10.6, 12.1))]
    result = {
        "rows": [one.result() for one in rows],
        "totals": signs.totals(rows),
        "claims": signs.claims(rows),
        "stopped": None,
    }
    text = modes._text(result)
    assert "aware within 5 % of the better mode    1 of 2" in text
    assert "fails" in text
    assert "as there" in text
