"""Scenarios and simulations from Python: what the command builds on."""

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netloom as nl
from netloom import _core

SMALL = """
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree", "adaptive", "random", "optimized", "optimized:phases"]
[[job]]
name = "victim"
allocation = "random"
program = { kind = "stencil", shape = [2, 4, 2], bytes = "32KiB", iterations = 2 }
[[job]]
name = "bully"
allocation = "random"
ranks = 16
until = "victim"
program = { kind = "pairs", rounds = 2, messages = 4, bytes = 200000 }
"""
LONG = """
fabric = "two-level:leaves=8,hosts=4,spines=4"
[[job]]
program = { kind = "stream", pattern = "bisection-shuffle", messages = 100000, bytes = "2MiB" }
"""


def read(folder: Path, text: str, *overrides: str) -> _core.Scenario:
    path = folder / "s.toml"
    path.write_text(text)
    return _core.Scenario.read(path, overrides)


def outcome(simulation: _core.Simulation) -> dict[str, Any]:
    return {key: value for key, value in simulation.result().items() if "cpu" not in key}


def test_routings_run_side_by_side_with_the_results_that_they_have_alone(tmp_path: Path) -> None:
    scenario = read(tmp_path, SMALL)
    found: dict[str, dict[str, Any]] = {}

    def run(routing: str) -> None:
        found[routing] = outcome(_core.simulate(scenario, routing))

    threads = [threading.Thread(target=run, args=(routing,)) for routing in scenario.routings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for routing in scenario.routings:
        assert found[routing] == outcome(_core.simulate(scenario, routing, threads=2))


def test_bytes_are_conserved_and_the_traffic_is_what_was_sent(tmp_path: Path) -> None:
    # Without headers and without questions before long messages, links carry the payload.
    scenario = read(tmp_path, SMALL, "hardware.header_bytes=0", "software.eager_bytes=1MiB")
    traffic = scenario.traffic()
    per_host = np.diff(np.concatenate([[0.0], np.cumsum(traffic.data)])[traffic.indptr])
    victim = per_host[scenario.jobs[0].hosts].sum()
    # 16 ranks, 6 neighbours (two of them the same where the grid has 2 ranks), 2 iterations.
    assert victim == 16 * 6 * 2 * 32768
    simulation = _core.simulate(scenario, "ftree")
    job = simulation.result()["jobs"][0]
    assert job["bytes"] == victim
    counters = simulation.counters()
    hosts = counters["link"] < scenario.fabric.hosts
    sent = np.zeros(scenario.fabric.hosts)
    np.add.at(sent, counters["link"][hosts], counters["xmit_bytes"][hosts])
    assert sent[scenario.jobs[0].hosts].sum() == victim
    ended = simulation.ranks()["end_ps"][: job["ranks"]]
    assert ended.max() * 1e-9 == job["completion_ms"]


def test_what_was_recorded_adds_up_to_the_totals(tmp_path: Path) -> None:
    scenario = read(tmp_path, SMALL, "measure.counters_every_us=7", "measure.queues_every_us=3")
    simulation = _core.simulate(scenario, "adaptive")
    intervals, counters = simulation.intervals(), simulation.counters()
    assert intervals is not None
    for name in ("xmit_bytes", "xmit_packets"):
        assert intervals[name].sum() == counters[name].sum()
    queues = simulation.queues()
    assert queues is not None
    assert queues["bytes"].max() > 0
    bare = _core.simulate(read(tmp_path, SMALL), "adaptive")
    assert (bare.intervals(), bare.queues(), bare.trace()) == (None, None, None)
    assert outcome(bare)["jobs"] == outcome(simulation)["jobs"], "who watches changes nothing"


def test_an_interrupt_ends_a_run_or_gives_what_is_known_so_far(tmp_path: Path) -> None:
    scenario = read(tmp_path, LONG)

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            _core.simulate(scenario)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        simulation = _core.simulate(scenario, on_interrupt="return")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    result = simulation.result()
    assert simulation.stopped == result["stopped"] == "interrupted"
    assert result["simulated_ms"] > 0
    assert result["jobs"][0]["completion_ms"] is None
    assert result["packets"] > 0


def test_it_ends_at_its_simulated_time_and_progress_counts_towards_it(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    scenario = read(tmp_path, LONG, "max_time_ms=2")
    simulation = _core.simulate(scenario, progress=lambda done, total: heard.append((done, total)))
    assert (simulation.stopped, simulation.end_ps) == ("max-time", 2_000_000_000)
    assert all(done <= total for done, total in heard if total)


def test_a_missing_file_is_told_with_the_line_that_names_it(tmp_path: Path) -> None:
    text = '[[job]]\nname = "app"\ntrace = "none.ti"\n'
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path, f'fabric = "two-level:leaves=8,hosts=4,spines=4"\n{text}')
    assert caught.value.filename == tmp_path / "none.ti"
    assert caught.value.place == f'{tmp_path / "s.toml"}:4: job "app": trace'


@pytest.mark.parametrize(
    ("error", "override", "message"),
    [
        (
            nl.FormatError,
            "hardware.lanes=99",
            "--set hardware.lanes=99: lanes: expected a whole number of 1 to 15",
        ),
        (nl.FormatError, "job.victm.start_us=1", 'no job is called "victm", did you mean "victim"?'),
        (nl.SpecError, "routes=ftre", 'there is no routing "ftre": did you mean "ftree"?'),
        (nl.PlaceError, "job.bully.ranks=100", 'job "bully" needs 100 hosts'),
        (
            nl.SimulationError,
            "hardware.output_buffer_bytes=100",
            "output_buffer_bytes: expected at least one packet",
        ),
        (nl.SimulationError, "job.bully.ranks=3", "expected an even number of ranks for pairs"),
        (FileNotFoundError, "fabric=none.txt", "none.txt"),
    ],
)
def test_what_cannot_run_is_refused_before_it_runs(
    tmp_path: Path, error: type[Exception], override: str, message: str
) -> None:
    with pytest.raises(error) as caught:
        read(tmp_path, SMALL, override)
    assert message in str(caught.value)


def test_routes_that_must_not_be_run_are_refused(tmp_path: Path) -> None:
    scenario = read(tmp_path, SMALL)
    fabric = scenario.fabric
    with pytest.raises(nl.RoutingError, match="choose the way up by the source"):
        _core.simulate(scenario, "s-mod-k", routes=nl.route("s-mod-k", fabric))
    text = nl.route("ftree", fabric).to_bytes().decode().splitlines(keepends=True)
    entry = next(i for i, line in enumerate(text) if line.startswith("0x"))
    (tmp_path / "holes.lfts").write_text("".join(text[:entry] + text[entry + 1 :]))
    with pytest.raises(nl.RoutingError, match=r"holes.lfts: 1 entries are missing"):
        _core.simulate(scenario, "holes.lfts")
