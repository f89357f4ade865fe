"""What a worker does: a batch of runs, one after the other, and what is kept of each.

A worker keeps the fabrics that it has made and the tables of routings that depend on nothing else, so that a
run costs little more than its simulation.

Invariant: what a run gives depends on its task alone. A run that fails is told by its error, and the others
go on.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from netloom.sweeps import kept
from netloom.sweeps.private import private, public
from netloom.sweeps.spec import FABRIC, ROUTES, SEED, texts
from netloom.sweeps.toml import inline, text_of, with_keys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Scenario

PROCESS = os.urandom(8).hex()
"""This process, by a name that no other has."""
_NOT_READ = "failed, and what is wrong may stand in a file: it is not told here"
_MOST_FABRICS, _MOST_TABLES = 8, 64
"""So many are kept, those used last."""


class Plan(TypedDict):
    """What all runs of a sweep share."""

    netloom: str
    """The version that the sweep is of."""
    text: str
    """The scenario."""
    label: str
    folder: str
    """Where the scenario's files are."""
    keep: Sequence[str]
    skip_repeats: float | None
    """The error allowed where iterations are not simulated again; None: all are."""


class Ended(TypedDict):
    """One run that has ended."""

    rows: list[list[Any]]
    """A row a job: its name, the seed, why it was stopped, what is kept; and where runs may skip, which share
    was skipped and the error that was foreseen."""
    error: str | None
    seconds: float


class Batch(TypedDict):
    """What became of a batch of runs, in its order."""

    runs: list[Ended]
    cpu_seconds: float
    process: str
    """Which process ran them."""


def run_batch(plan: Plan, runs: Sequence[Mapping[str, Any]]) -> Batch:
    """Simulates runs, each given by its keys (as `Spec.values` has them).

    Raises
    ------
    RuntimeError
        If this process has another netloom than the one that made the plan.
    """
    from netloom import __version__

    if plan["netloom"] != __version__:
        raise RuntimeError(f"a worker has netloom {__version__}: expected {plan['netloom']}, as the sweep")
    found = [_run(plan, values) for values in runs]
    return {"runs": found, "cpu_seconds": _cpu.spent(), "process": PROCESS}


def _run(plan: Plan, values: Mapping[str, Any]) -> Ended:
    from netloom import _core
    from netloom.errors import NetloomError

    began = time.perf_counter()
    # Whether what an error says may be of a file's content.
    opened = False
    try:
        word = str(values[ROUTES])
        scenario, opened = scenario_of(plan, values)
        opened = opened or bool(scenario.files) or not _is_word(word)
        skip_repeats = plan["skip_repeats"]
        ended = _core.simulate(
            scenario,
            word,
            routes=_routes(plan, values, scenario, word),
            threads=1,
            skip_repeats=skip_repeats,
        )
        result = ended.result()
        told = {} if skip_repeats is None else result["skipped"]
        skipped = [told["share"], told.get("error")] if told else []
        rows = [
            [
                job["name"],
                result["seed"],
                result["stopped"],
                *(kept.value(key, result, job) for key in plan["keep"]),
                *skipped,
            ]
            for job in result["jobs"]
        ]
        return {"rows": rows, "error": None, "seconds": time.perf_counter() - began}
    except (NetloomError, OSError, MemoryError, KeyError) as failed:
        error = attributed(plan, values) or failed
        told = public(error)
        if opened or getattr(error, "opened", False):
            named = [text for text in texts([plan["label"], _document(plan), dict(values)]) if text]
            told = f"{_NOT_READ} ({private(error, named)}): netloom simulate --set says what is wrong"
        return {"rows": [], "error": told, "seconds": time.perf_counter() - began}


def scenario_of(plan: Plan, values: Mapping[str, Any]) -> tuple[Scenario, bool]:
    """The scenario with keys set, on a fabric that is made once; and whether a file was read for the fabric.

    Raises
    ------
    NetloomError, OSError, KeyError
        As the core words it, with a line of a text that nobody has: `attributed` says more.
    """
    from netloom import _core

    routes = {ROUTES: [str(values[ROUTES])]} if ROUTES in values else {}
    text = text_of(with_keys(_document(plan), {**values, **routes}))
    fabric, opened = _fabric(plan, values, text)
    return _core.Scenario.on(fabric, text, plan["label"], plan["folder"]), opened


def attributed(plan: Plan, values: Mapping[str, Any]) -> Exception | None:
    """What is wrong with a scenario with keys set, as `KEY=VALUE: …` where it is a key's; None if nothing."""
    from netloom import _core
    from netloom.errors import NetloomError

    routes = {ROUTES: [str(values[ROUTES])]} if ROUTES in values else {}
    given = [f"{key}={inline(value)}" for key, value in {**values, **routes}.items()]
    try:
        _core.Scenario.parse(
            plan["text"].encode(), label=plan["label"], folder=plan["folder"], overrides=given
        )
    except (NetloomError, OSError) as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (error.args[0].removeprefix("--set "), *error.args[1:])
        return error
    return None


class _Cpu:
    """CPU seconds of this process, each told once, whichever of its threads asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told = time.process_time()

    def spent(self) -> float:
        """Those since the last call."""
        with self._lock:
            before, self._told = self._told, time.process_time()
            return self._told - before


_cpu = _Cpu()


class _Kept:
    """The last so many things that were made; workers may be threads of one process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._made: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """What has this key; made first if it is not there."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        value = make()
        with self._lock:
            self._made[key] = value
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return value


_documents = _Kept(2)
_fabrics = _Kept(_MOST_FABRICS)
_tables = _Kept(_MOST_TABLES)


def _document(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = _documents.get(plan["text"], lambda: tomllib.loads(plan["text"]))
    return found


def _fabric(plan: Plan, values: Mapping[str, Any], text: str) -> tuple[Fabric, bool]:
    """The fabric of a run, which is made once; and whether a file was read for it."""
    from netloom import _core

    label, folder = plan["label"], plan["folder"]
    source = str(values.get(FABRIC, _document(plan).get(FABRIC)))

    def make() -> tuple[Fabric, bool]:
        scenario = _core.Scenario.parse(text.encode(), label=label, folder=folder)
        return scenario.fabric, any(role == FABRIC for role, _ in scenario.files)

    found: tuple[Fabric, bool] = _fabrics.get((folder, source), make)
    return found


def _is_word(word: str) -> bool:
    """Whether a routing is known by its name: what has a dot or a slash is a file."""
    return not {".", "/", "\\"} & set(word)


def _routes(plan: Plan, values: Mapping[str, Any], scenario: Scenario, word: str) -> Routes | None:
    """The tables of a routing: those of an engine do not depend on the jobs, and are kept.

    Those that are made for a run's traffic, or read from a file, are made for every run.
    """
    from netloom import _core

    if not _core.is_engine(word):
        return scenario.routes(word, threads=1)
    others = {key: value for key, value in values.items() if not key.startswith("job.") and key != SEED}
    # Where lanes are drawn, the seed decides whether tables can lock up.
    seedless = word in _SEEDLESS and "sl2vl" not in plan["text"] and "hardware.sl2vl" not in values
    key = (plan["text"], plan["folder"], word, repr(sorted(others.items())), seedless or scenario.seed)
    found: Routes | None = _tables.get(key, lambda: scenario.routes(word, threads=1))
    return found


_SEEDLESS = frozenset({"ftree", "minhop", "updn", "d-mod-k", "s-mod-k", "dla", "dor", "layers"})
"""Engines whose tables do not depend on a seed (a test says so)."""
