"""The runs of `netloom noise`: every job alone, then all together, under every routing and with every seed.

What is worth keeping is put down as soon as its runs have ended, so that a signal or a time limit keeps all
that is complete: what runs then is given up, be it a simulation or the joining of millions of messages.

Invariant: `Campaign.found` is what had been put down when it was asked for; what comes later changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from netloom.noise import by_size, differences, estimate, joined, summary, worst
from netloom.noise.neighbours import Beside, LeaveOut, left_out, links_of, neighbours_of, recorded
from netloom.noise.ran import Ran
from netloom.simulating.skipping import Skipping

if TYPE_CHECKING:
    from netloom._core import Scenario, Simulation
    from netloom.session.side_by_side import Line

WORST = 5
"""Messages that are named."""
_GIVEN_UP = ("interrupted", "time-limit")
"""How a simulation ends that was not to its end."""


@dataclass
class Found:
    """What is known under a routing with a seed.

    Attributes
    ----------
    stopped : str or None
        Why it ended before all was done: of the run with all jobs, or of what was given up.
    complete : bool
        Whether all runs ended, each by itself.
    jobs : dict
        By name, what is told of a job so far.
    recorded : dict or None
        From when to when packets were recorded to see who waits where.
    explained : bool
        Whether that, and the runs without one of the jobs, are done.
    skipped : Skipping or None
        What its simulations left out; None where they were to run in full.
    """

    stopped: str | None = None
    complete: bool = False
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    recorded: dict[str, Any] | None = None
    explained: bool = False
    skipped: Skipping | None = None


class Campaign:
    """All runs, and what is found.

    Parameters
    ----------
    given : Scenario
        With the first seed.
    jobs : sequence of str
        Those that are measured.
    scene : callable
        The scenario with another seed and other keys set.
    leave_out : {"likely", "all", "none"}
        Which jobs are left out in turn.
    skip_repeats : float, optional
        The error allowed where iterations are not simulated again; None: all are.
    """

    def __init__(
        self,
        given: Scenario,
        jobs: Sequence[str],
        scene: Callable[[int, Sequence[str]], Scenario],
        leave_out: LeaveOut,
        skip_repeats: float | None = None,
    ) -> None:
        self._given, self._jobs, self._scene, self._leave_out = given, jobs, scene, leave_out
        self._skip_repeats = skip_repeats
        self._numbers = {one.name: number for number, one in enumerate(given.jobs)}
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], Found] = {}

    def found(self, word: str, seed: int) -> Found | None:
        """What is known by now; None where nothing was begun."""
        with self._lock:
            now = self._found.get((word, seed))
            return None if now is None else replace(now, jobs=dict(now.jobs))

    def measure(
        self, word: str, seed: int, cores: tuple[int, int], left: float | None, progress: Line, told: str
    ) -> None:
        """The runs under one routing with one seed.

        Parameters
        ----------
        word : str
            The routing.
        seed : int
            The seed.
        cores : tuple of int
            Threads of the optimiser, and of one simulation.
        left : float or None
            Seconds.
        progress : Line
            Where it is told which run this is.
        told : str
            What is told before that.
        """
        end = None if left is None else time.monotonic() + left
        scene = self._given if seed == self._given.seed else self._scene(seed, [])
        skipping = None if self._skip_repeats is None else Skipping(self._skip_repeats)
        found = Found(skipped=skipping)
        with self._lock:
            self._found[word, seed] = found
        simulated = _Simulated(scene, word, cores, end, progress, skipping)
        runs = len(self._jobs) + 1
        alone: dict[str, Ran] = {}
        for at, name in enumerate(self._jobs, 1):
            progress.says(f"{told}{name} alone, run {at} of {runs}")
            apart = simulated(scene.alone(name), [name])
            if apart.stopped in _GIVEN_UP:
                self._give_up(found, apart.stopped)
                return
            alone[name] = Ran.of(apart, apart.messages() or {}, 0)
            self._put(found, _job(name, scene, None, alone[name]))
        progress.says(f"{told}all jobs, run {runs} of {runs}")
        whole = simulated(scene, self._jobs)
        if whole.stopped in _GIVEN_UP:
            self._give_up(found, whole.stopped)
            return
        with self._lock:
            found.stopped = whole.stopped
        messages = whole.messages() or {}
        beside: dict[str, Ran] = {}
        for name in self._jobs:
            progress.check()
            beside[name] = Ran.of(whole, messages, self._numbers[name])
            self._put(found, _job(name, scene, beside[name], alone[name]))
        with self._lock:
            found.complete = True
        if seed == self._given.seed and len(self._numbers) > 1:
            self._explain(
                found,
                Beside(scene, lambda keys: self._scene(seed, keys), simulated, whole, beside, alone),
                lambda what: progress.says(f"{told}{what}"),
            )

    def _explain(self, found: Found, beside: Beside, says: Callable[[str], None]) -> None:
        """Who slows each job down, and where."""
        says("who waits where")
        seen = recorded(beside)
        waits, looked = (None, None) if seen is None else seen
        if waits is not None:
            for name, job in self._told(found).items():
                self._put(found, job | {"links": links_of(waits, self._numbers[name], beside.scene)})
            with self._lock:
                found.recorded = looked
        without = left_out(beside, waits, self._leave_out, says)
        if without is None:
            return
        for name, job in self._told(found).items():
            self._put(found, job | {"neighbours": neighbours_of(name, beside, waits, without)})
        with self._lock:
            found.explained = True

    def _told(self, found: Found) -> dict[str, dict[str, Any]]:
        with self._lock:
            return dict(found.jobs)

    def _put(self, found: Found, job: dict[str, Any]) -> None:
        with self._lock:
            found.jobs[job["name"]] = job

    def _give_up(self, found: Found, why: str | None) -> None:
        with self._lock:
            found.stopped = why


class _Simulated:
    """Runs scenes under one routing, with its tables, until a time comes."""

    def __init__(
        self,
        scene: Scenario,
        word: str,
        cores: tuple[int, int],
        end: float | None,
        progress: Line,
        skipping: Skipping | None,
    ) -> None:
        self._skipping = skipping
        self._word, self._threads, self._end, self._progress = word, cores[1], end, progress
        self._routes = scene.routes(word, threads=cores[0], progress=progress)

    def __call__(self, scene: Scenario, messages: Sequence[str]) -> Simulation:
        from netloom import _core

        ended = _core.simulate(
            scene,
            self._word,
            routes=self._routes,
            threads=self._threads,
            time_limit=None if self._end is None else max(0.0, self._end - time.monotonic()),
            progress=self._progress,
            messages=messages,
            skip_repeats=None if self._skipping is None else self._skipping.allowed,
        )
        if self._skipping is not None:
            self._skipping.add(ended)
        return ended


def _job(name: str, scene: Scenario, beside: Ran | None, apart: Ran) -> dict[str, Any]:
    """A job alone, and with its neighbours if that run has ended."""
    repeats = name in scene.repeating
    alone_ps, alone = apart.took_ps, apart.messages
    end_ps = None if beside is None else beside.took_ps
    pairs = None if beside is None else joined(beside.messages, alone)
    # One that starts over ends with the others, whatever they do to it; offered load ends with its last
    # message, which is another one where a run ended before it arrived.
    known = not repeats and end_ps is not None and alone_ps is not None
    if name in scene.offering and beside is not None and pairs is not None:
        known &= len(beside.messages) == len(alone) == len(pairs.in_beside)
    of_alone = summary(alone.time_ps)
    told: dict[str, Any] = {
        "name": name,
        "repeats": repeats,
        "completion_ps": end_ps,
        "alone_ps": alone_ps,
        "difference_ps": end_ps - alone_ps if known and end_ps is not None and alone_ps is not None else None,
        "slowdown": end_ps / alone_ps if known and end_ps is not None and alone_ps else None,
        "alone_stopped": apart.stopped,
        "alone": of_alone,
        "neighbours": None,
        "links": None,
    }
    if beside is None or pairs is None:
        return told | {
            **dict.fromkeys(("noise", "same", "differences", "only_beside", "only_alone", "estimate")),
            "cut": alone.cut,
            "sizes": [],
            "worst": [],
        }
    of_beside = summary(beside.messages.time_ps)
    only_beside, only_alone = (len(one) - len(pairs.in_beside) for one in (beside.messages, alone))
    return told | {
        "noise": of_beside,
        "same": {
            "noise": summary(pairs.beside_ps) if only_beside else of_beside,
            "alone": summary(pairs.alone_ps) if only_alone else of_alone,
        },
        "differences": differences(pairs.difference_ps),
        "only_beside": only_beside,
        "only_alone": only_alone,
        "estimate": estimate(beside.messages.sent),
        "cut": beside.messages.cut or alone.cut,
        "sizes": by_size(pairs),
        "worst": worst(pairs, WORST),
    }
