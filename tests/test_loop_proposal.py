"""One proposal rule: a dry run in front of OpenSM and the loop in the simulator propose the same tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import canary_bed
import netloom as nl
from netloom.apply import Seen, look
from netloom.live import missing_tools
from netloom.live.bed import Bed, bed
from netloom.live.polling import Poll, Poller
from netloom.loop import journal, live, prediction, simulated
from netloom.loop.live import Live, LiveLoop
from netloom.loop.memory import Memory
from netloom.loop.plan import Phase, Plan, read_plan
from netloom.loop.prediction import Prediction
from netloom.loop.propose import Evidence, draw_canary, jobs_sum, judge, propose
from netloom.loop.simulated import Output, Ran, SimulatedLoop

TREE = "two-level:leaves=8,hosts=4,spines=4"
DATA = Path(nl.__file__).parent / "data" / "demo"
JOBS = DATA / "jobs" / "live-small.toml"
SEED = 7


@pytest.fixture
def evidence() -> Evidence:
    fabric = nl.Fabric.generate(TREE)
    traffic = nl.Traffic.pattern("bisection-shuffle:seed=3", 32)
    return Evidence(fabric=fabric, present=nl.route("ftree", fabric), layers=[(traffic, 1.0)], seed=SEED)


def test_equal_evidence_gives_equal_tables_and_remembered_traffic_counts(evidence):
    proposed = propose(evidence)
    assert proposed.to_bytes() == propose(replace(evidence, threads=1)).to_bytes()
    other = [(nl.Traffic.pattern("bisection-shuffle:seed=5", 32), 1.0)]
    both = propose(replace(evidence, others=[other]))

    def loads(routes: nl.Routes) -> list[float]:
        return [nl.loads(evidence.fabric, routes, one[0][0]).max for one in (evidence.layers, other)]

    # Alone, the present traffic's best tables; together, tables that are as good for what may come again.
    assert loads(proposed)[0] == loads(both)[0] == 1.0
    assert loads(both)[1] < loads(proposed)[1]


def test_a_canary_is_the_draw_that_gains_most(evidence):
    proposed = propose(evidence)
    present = evidence.present
    canary = draw_canary(evidence, proposed, 50.0, 1)
    assert canary is not None
    mixed = canary.routes
    old, new, found = (routes.table()[:, :32] for routes in (present, proposed, mixed))
    moved = (old != new).any(axis=0)
    chosen = (old != found).any(axis=0)
    assert chosen.sum() == np.ceil(moved.sum() / 2)
    assert np.array_equal(found[:, chosen], new[:, chosen])
    assert not (chosen & ~moved).any()
    # The same draws again, one by one: none is predicted to gain more.
    random = np.random.default_rng([SEED, 1])
    gains = []
    for _ in range(8):
        some = random.permutation(np.flatnonzero(moved))[: chosen.sum()].tolist()
        drawn = present.mixed(proposed, some)
        gains.append(nl.loop.predict(evidence.fabric, present, drawn, evidence.layers).sure_gain)
    assert canary.prediction.sure_gain == max(gains) > 0
    assert canary.percent == 50.0
    assert len(set(gains)) > 1
    whole = draw_canary(evidence, proposed, 100.0, 1)
    assert whole is not None
    assert whole.routes.changed_entries(proposed) == 0


def gains_from(percent: float, evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has mixes of fewer destinations predicted to be worse."""
    moved = int((evidence.present.table() != propose(evidence).table()).any(axis=0)[:32].sum())

    def predicted(of: Evidence, mixed: nl.Routes, _: int) -> Prediction:
        changed = (of.present.table() != mixed.table()).any(axis=0)[:32].sum()
        gain = 1.0 if changed >= percent / 100 * moved else -24.9
        return Prediction(gain=gain, sure_gain=gain, mean_gain=gain)

    monkeypatch.setattr("netloom.loop.propose._predicted", predicted)


def test_a_canary_that_gains_nothing_is_drawn_again(evidence, monkeypatch):
    """One that was predicted to be 24.9 % worse was loaded, and the change taken back for it."""
    proposed = propose(evidence)
    gains_from(40.0, evidence, monkeypatch)
    canary = draw_canary(evidence, proposed, 10.0, 1)
    assert canary is not None
    assert canary.percent == 40.0


def test_there_is_no_canary_where_no_part_gains(evidence, monkeypatch):
    proposed = propose(evidence)
    gains_from(100.0, evidence, monkeypatch)
    assert draw_canary(evidence, proposed, 20.0, 1) is None
    assert draw_canary(evidence, proposed, 60.0, 1) is None


def test_hostile_no_canary_goes_against_its_prediction():
    told = canary_bed.Told()
    for seed in range(1000, 1000 + int(os.environ.get("NETLOOM_TRIALS", "3"))):
        canary_bed.run(seed, told)
    assert told.canaries > 0
    assert told.faults == []


def test_only_bytes_that_take_another_way_cost(evidence):
    proposed = propose(evidence)
    changed = evidence.present.changed_entries(proposed)
    told = judge(evidence, proposed, changed_entries=changed)
    assert told.moved == evidence.present.moved(proposed, evidence.layers[0][0])
    assert 0 < told.moved < 1
    assert judge(evidence, proposed, changed_entries=changed, unsound="1 credit loop").moved == 0


def test_jobs_that_nobody_names_are_the_same_jobs():
    assert jobs_sum([]) == ""
    layers = [[(nl.Traffic.from_triples(4, [0], [to], [1e6], hosts_hash="a"), 1.0)] for to in (1, 2)]
    memory = Memory(6)
    memory.keep(1, "", layers[0])
    assert memory.others(2, "", layers[1]) == [layers[0]]
    # Another fabric's hosts: nothing of it may come again, and no matrix of another size is compared.
    elsewhere = [(nl.Traffic.from_triples(5, [0], [4], [1e6], hosts_hash="b"), 1.0)]
    assert memory.others(3, "", elsewhere) == []
    memory.keep(3, "", elsewhere)
    assert memory.others(4, "", layers[1]) == []


@dataclass
class Both:
    """A fabric under OpenSM, and the same work as phases of a loop in the simulator."""

    there: Bed
    plan: Plan
    traffics: dict[str, nl.Traffic]

    def loop(self, canary: float) -> LiveLoop:
        return LiveLoop(
            self.there.sim.access,
            lambda: self.there.manager.manager,
            seed=SEED,
            dry=True,
            canary_percent=canary,
        )

    def live(self, loop: LiveLoop, phase: Phase) -> Live:
        """A dry round."""

        def interval(seen: Seen) -> None:
            self.there.run(self.traffics[phase.file.stem], seen.tables, scale=1e4, noise=0.001, seed=3)

        found = loop.round(lambda _: phase.scenario.jobs, interval, phase=phase.name)
        assert found.findings == []
        assert found.proposed is not None, found.round
        return found

    def simulated(self, lives: Sequence[Live], canary: float) -> list[Output]:
        """Rounds in the simulator, of what ports counted in the live ones; no change shows a gain there."""
        counters = {phase.name: one.counters for phase, one in zip(self.plan.phases, lives, strict=False)}

        class Fed(SimulatedLoop):
            def _simulated(self, phase: Phase, routes: nl.Routes) -> Ran:
                return Ran(
                    result={},
                    counters=counters[phase.name],
                    sent=None,
                    by_interval=None,
                    times_ms={"all": 1.0},
                    gap_percent=None,
                    bound_class="",
                    held_up=np.ones(self.fabric.hosts),
                )

        phases = self.plan.phases[: len(lives)]
        loop = Fed(replace(self.plan, phases=phases, canary_percent=canary))
        return [output for _, output in loop.rounds()]


def as_loaded(routes: nl.Routes, seen: Seen) -> bytes:
    """A file of routes as OpenSM reads it, with the present ways to switches' own LIDs."""
    return routes.with_lanes(None).with_switches_of(seen.tables).to_bytes()


def polled(both: Both, fabric: nl.Fabric) -> Poll:
    with Poller(both.there.sim.access, fabric, waits=False) as poller:
        return poller.poll()


@pytest.fixture
def both(paths, tmp_path) -> Iterator[Both]:
    """Two placements of the same application that take turns: one, other, one."""
    fabric = nl.Fabric.read(paths.ft2)
    file = tmp_path / "routes.lfts"
    nl.route("ftree", fabric).write(file)
    with bed(fabric, file) as there:
        (tmp_path / "net.txt").write_bytes(there.sim.discover())
        look(there.sim.access).tables.write(tmp_path / "start.lfts")
        traffics = {}
        for name, seed in (("one", 4), ("other", 11)):
            traffics[name], jobs = nl.place_jobs(there.fabric, JOBS, seed=seed)
            text = f'fabric = "net.txt"\nname = "{name}"\n'
            for job in jobs:
                hosts = [there.fabric.host_names[host] for host in job.host_of_rank[::32].tolist()]
                program = f'{{ kind = "matrix", matrix = "{DATA / "data" / "lulesh-512.mtx.gz"}" }}'
                text += f'[[job]]\nname = "{job.name}"\nhosts = {hosts}\nranks_per_host = 32\n'
                text += f"program = {program}\n"
            (tmp_path / f"{name}.toml").write_text(text)
        text = f'routes = "start.lfts"\nseed = {SEED}\n'
        for number, name in enumerate(("one", "other", "one")):
            text += f'[[phase]]\nname = "{number}"\nscenario = "{name}.toml"\n'
        (tmp_path / "loop.toml").write_text(text)
        yield Both(there, read_plan(tmp_path / "loop.toml"), traffics)


@pytest.mark.opensm
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
class TestALiveLoopProposesWhatTheSimulatedOneDoes:
    @pytest.mark.parametrize("canary", [0.0, 60.0])
    def test_of_the_same_counters_with_memory_and_canary(self, both, monkeypatch, canary):
        # What a live loop has no scenario for: the time of flows, which counts in the choice of a canary.
        monkeypatch.setattr(prediction, "MOST_FLOWS", 0)
        remembered: dict[str, list[int]] = {"live": [], "simulated": []}
        for name, module in (("live", live), ("simulated", simulated)):

            def seen(evidence: Evidence, name: str = name) -> nl.Routes:
                remembered[name].append(len(evidence.others))
                return propose(evidence)

            monkeypatch.setattr(module, "propose", seen)
        with both.loop(canary) as loop:
            lives = [both.live(loop, phase) for phase in both.plan.phases]
        outputs = both.simulated(lives, canary)
        # In the third round the first jobs are back, so what ran in between may come again.
        assert remembered == {"live": [0, 0, 1], "simulated": [0, 0, 1]}
        canaries = [output.canary for output in outputs]
        assert any(canaries) == (canary > 0)
        for one, output in zip(lives, outputs, strict=True):
            assert one.round.decision == "proposed", one.round
            assert as_loaded(output.proposed, one.before) == one.proposed.to_bytes()
            assert one.proposed.changed_entries(one.before.tables) == one.round.changed_entries > 0
            if output.canary is not None:
                assert as_loaded(output.canary, one.before) == one.canary.to_bytes()
                assert one.canary.changed_entries(one.before.tables) < one.round.changed_entries
                assert "60 % of the destinations first, predicted to gain" in one.round.reason
            else:
                assert one.canary is None
                assert ("no part of it gains" in one.round.reason) == (canary > 0)
        # Memory counts: the third round sees what the first one saw, and proposes other tables.
        assert lives[0].proposed.to_bytes() != lives[2].proposed.to_bytes()

    def test_after_a_restart_with_its_journal(self, both, tmp_path):
        first, second, third = both.plan.phases
        kept = journal.Journal(tmp_path / "kept")
        with both.loop(0.0) as loop:
            for phase in (first, second):
                kept.append(*journal.of_live(both.live(loop, phase)))
            # A reading adds a little to the counters, and more where a machine is slow: both read the same.
            polls: list[Poll] = []
            loop.reader = lambda fabric: polls.append(polled(both, fabric)) or polls[-1]
            whole = both.live(loop, third)
        again = journal.Journal(tmp_path / "kept", append=True)
        with both.loop(0.0) as loop:
            loop.resume(again)
            loop.reader = lambda _: polls.pop(0)
            assert [one.number for one in loop.history] == [1, 2]
            assert both.live(loop, third).proposed.to_bytes() == whole.proposed.to_bytes()
        fabric = whole.before.fabric
        found = journal.remembered(again, fabric, 6)
        assert [(number, jobs) for number, jobs, _ in found] == [
            (number, jobs_sum(phase.scenario.jobs)) for number, phase in ((1, first), (2, second))
        ]
        assert [number for number, *_ in journal.remembered(again, fabric, 1)] == [2]
        assert journal.remembered(again, SimpleNamespace(hosts_hash="other"), 6) == []
        # A file that is not what the round has written says nothing.
        (tmp_path / "kept" / "round-0002" / "traffic.mtx.gz").write_bytes(b"x")
        assert [number for number, *_ in journal.remembered(again, fabric, 6)] == [1]
