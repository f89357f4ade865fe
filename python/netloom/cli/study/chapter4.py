"""`netloom study chapter4`: tables 4.1 to 4.3 of the dissertation, over recorded applications, run here.

Every application alone, a rank a host on consecutive hosts from number 10 (sec. 4.7), its counters made from
its traffic: what the least sum of coefficients in the dissertation's bases recovers, and what `infer` finds,
beside the figures that the dissertation gives.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.cli.study import report
from netloom.cli.study.published import BASES as PUBLISHED_BASES
from netloom.cli.study.published import ELSE, LIKE, SCHEMES, Published
from netloom.errors import FormatError
from netloom.files import Scratch

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Inferred, Job, Recovered, Routes, Traffic

_OURS = "netloom"
"""The method that is not a basis."""
_FIRST_HOST = 10
_MOST_ROUTINGS = 64
_LANES = "1,2,5"


def chapter4(
    *applications: str,
    fabric: str = "quartz1",
    routes: str = "ftree",
    lanes: str = _LANES,
    routing_counts: str = "1",
    bases: str = "best,dictionary",
    each: Annotated[float, options.within(0, 1e6)] = 30.0,
    simplex: bool = False,
    options: Computing | None = None,
) -> int:
    """How well traffic is told from counters: tables 4.1 to 4.3 of the dissertation, run here.

    Every application alone, a rank a host on consecutive hosts from number 10, with exact counters. Beside
    the published errors: what the least sum of coefficients in a basis recovers, and what `infer` finds.

    Parameters
    ----------
    applications
        Recorded ones by name (`lulesh-512`), or files of matrices (.mtx). [default: all eight recorded ones]
    fabric
        A dump, or a generator spec.
    routes
        The routes in force: a file, or an engine's name.
    lanes
        Lanes, by number (`5` is `5sl5vl`) or as in `netloom counters synth --vl-scheme`, with commas.
    routing_counts
        Numbers of routings, with commas: `1,2,4`. With more than one, counters have one lane; the routings
        are `--routes`, then random ones.
    bases
        The dissertation's bases to compare with, with commas: `best` is the one that it found best for the
        application, `dictionary` its dictionary of two, `all`, `none`.
    each
        Time limit in seconds for each recovery in a basis.
    simplex
        Count the dictionary's coefficients by a linear program that is finished, by HiGHS
        (`pip install 'netloom-hpc[exact]'`); without it the counts are upper bounds.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    options = options or Computing()
    run = Run("infer-study", options, product=False)
    asked = _Asked(_schemes(lanes), _counts(routing_counts), _methods(bases), each, simplex)
    if simplex:
        from netloom.exact import dictionary as _needed  # noqa: F401 - says now what is not installed
    if lanes != _LANES and 1 not in asked.routings:
        raise UsageError(
            f"--lanes {lanes}: lanes are of one routing, expected 1 among --routing-counts {routing_counts}"
        )
    for name in applications:
        _check_source(name)
    net = run.fabric(fabric)
    tables = [run.routes(routes, net, None)]
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(resources.as_file(resources.files("netloom") / "data" / "demo" / "data"))
        scratch = stack.enter_context(Scratch.private())
        bars = stack.enter_context(run.bars())
        task = None if bars is None else bars.add_task("study", total=None, told="")

        def told(done: int, total: int, what: str) -> None:
            if bars is not None and task is not None:
                bars.update(task, completed=done, total=total, told=what)

        work = _Study(run, net, tables, asked, scratch, told)
        stopped = work.all([_source(name, data) for name in applications or LIKE])
    result = {
        "fabric": fabric,
        "routes": routes,
        "first_host": _FIRST_HOST,
        "simplex": simplex,
        "applications": work.applications,
        "errors": work.errors,
        "stopped": stopped,
        "reproducible": stopped is None and not any(row["stopped"] for row in work.errors),
    }
    return run.finish(result, lambda: report.text(result), rows=work.errors, stopped=stopped)


@dataclass(frozen=True)
class _Asked:
    """What is run of every application."""

    schemes: Sequence[str]
    routings: Sequence[int]
    methods: Sequence[str]
    each: float
    simplex: bool


class _Stopped(Exception):
    """There is no more time, or Ctrl-C came."""


class _Study:
    """The applications one by one; what is known so far is in `applications` and `errors`."""

    def __init__(
        self, run: Run, net: Fabric, tables: list[Routes], asked: _Asked, scratch: Scratch, told: Any
    ) -> None:
        self.applications: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self._run, self._net, self._tables = run, net, tables
        self._asked, self._scratch, self._told = asked, scratch, told
        run.keeps()
        left = run.left
        self._end = None if left is None else time.monotonic() + left

    def all(self, sources: Sequence[tuple[str, Path]]) -> str | None:
        """Runs everything; returns why it ended early, if it did."""
        try:
            for at, (name, path) in enumerate(sources):
                self._told(at, len(sources), name)
                self._one(name, path, lambda what, at=at: self._told(at, len(sources), what))
        except KeyboardInterrupt:
            return "interrupted"
        except _Stopped as why:
            return str(why)
        return None

    def _one(self, name: str, path: Path, told: Any) -> None:
        demand, jobs = self._placed(name, path)
        matrix = self._matrix(path)
        like = LIKE.get(name)
        self.applications.append(
            {
                "application": name,
                "ranks": matrix.endpoints,
                "pairs": matrix.pairs,
                "published_as": None if like is None else like.name,
                "coefficients": [],
            }
        )
        if self._asked.methods:
            self._sparsity(matrix, like, told)
        for scheme in self._asked.schemes:
            if 1 in self._asked.routings:
                self._under_one(name, scheme, demand, jobs, like, told)
        for count in self._asked.routings:
            if count > 1:
                self._under_several(name, count, demand, jobs, like, told)

    def _sparsity(self, matrix: Traffic, like: Published | None, told: Any) -> None:
        from netloom import _core

        rows = self.applications[-1]["coefficients"]
        for at, basis in enumerate(PUBLISHED_BASES):
            told(f"{self.applications[-1]['application']}: coefficients, {basis}")
            limit = self._seconds(self._asked.each)
            if basis == "dictionary" and self._asked.simplex:
                found = self._finished(matrix, limit)
            else:
                found = _core.sparsity(matrix, basis, threads=self._run.threads, time_limit=limit)
            ranks = matrix.endpoints
            counts = [None] * 3 if found is None else [count / ranks for count in found]
            rows.append(
                {
                    "basis": basis,
                    "a_rank": counts[0],
                    "a_rank_for_10_percent_error": counts[1],
                    "a_rank_for_90_percent_power": counts[2],
                    "published_a_rank": None if like is None else like.coefficients[at],
                    "published_a_rank_for_10_percent_error": None
                    if like is None
                    else like.within_10_percent[at],
                    "published_a_rank_for_90_percent_power": None
                    if like is None
                    else like.with_90_percent[at],
                }
            )

    def _finished(self, matrix: Traffic, limit: float | None) -> tuple[int, int, int] | None:
        from netloom.exact import dictionary

        found = dictionary.split(matrix, time_limit=limit)
        return None if found is None else (found.all, found.of_error, found.of_power)

    def _under_one(
        self, name: str, scheme: str, demand: Traffic, jobs: list[Job], like: Published | None, told: Any
    ) -> None:
        from netloom import _core

        spec = None if _base(scheme) == SCHEMES[0] else scheme
        told(f"{name}, {scheme}")
        counted = self._counted(self._tables[0], demand, spec)
        for method in [*self._of(jobs, like), _OURS]:
            told(f"{name}, {scheme}: {method}")
            start = time.perf_counter()
            found: Inferred | Recovered
            if method == _OURS:
                found = _core.infer(
                    self._net,
                    self._tables[0],
                    counted,
                    jobs,
                    vl_scheme=spec,
                    truth=demand,
                    seed=self._run.given_seed,
                    threads=self._run.threads,
                    time_limit=self._seconds(None),
                )
            else:
                found = _core.recover(
                    self._net,
                    self._tables[0],
                    counted,
                    jobs,
                    method,
                    vl_scheme=spec,
                    truth=demand,
                    threads=self._run.threads,
                    time_limit=self._seconds(self._asked.each),
                )
            self._add(name, scheme, 1, method, like, found, time.perf_counter() - start)

    def _under_several(
        self, name: str, count: int, demand: Traffic, jobs: list[Job], like: Published | None, told: Any
    ) -> None:
        from netloom import _core

        told(f"{name}, {count} routings")
        while len(self._tables) < count:
            self._tables.append(
                _core.route("random", self._net, seed=len(self._tables), threads=self._run.threads)
            )
        windows = [(tables, self._counted(tables, demand, None)) for tables in self._tables[:count]]
        start = time.perf_counter()
        found = _core.infer(
            self._net,
            *windows[0],
            jobs,
            also=windows[1:],
            truth=demand,
            seed=self._run.given_seed,
            threads=self._run.threads,
            time_limit=self._seconds(None),
        )
        self._add(name, SCHEMES[0], count, _OURS, like, found, time.perf_counter() - start)

    def _add(
        self,
        name: str,
        scheme: str,
        routings: int,
        method: str,
        like: Published | None,
        found: Inferred | Recovered,
        seconds: float,
    ) -> None:
        of = found.summary()
        best, first_order = _published(like, scheme, routings)
        self.errors.append(
            {
                "application": name,
                "scheme": scheme,
                "lanes": int(_base(scheme).rpartition("vl")[0].rpartition("sl")[2] or 1),
                "routings": routings,
                "method": method,
                "relative_error_percent": of["relative_error_percent"],
                "leaf_error_percent": of["leaf_error_percent"],
                "estimated_error_percent": of.get("estimated_error_percent"),
                "estimated_leaf_error_percent": of.get("estimated_leaf_error_percent"),
                "verdict": of.get("verdict"),
                "iterations": of.get("iterations"),
                "converged": of.get("converged"),
                "stopped": found.stopped,
                "seconds": round(seconds, 3),
                "published_as": None if like is None else like.name,
                "published_best_basis": None if like is None else like.basis,
                "published_best_basis_percent": best,
                "published_dictionary_percent": first_order,
            }
        )
        if found.stopped == "interrupted":
            raise KeyboardInterrupt

    def _of(self, jobs: list[Job], like: Published | None) -> list[str]:
        """The methods for an application; a basis that is not defined for so many ranks is left out."""
        best = ELSE if like is None else like.basis
        ranks = len(jobs[0].host_of_rank)
        power_of_two = ranks & (ranks - 1) == 0
        named = [best if method == "best" else method for method in self._asked.methods]
        return [m for m in dict.fromkeys(named) if power_of_two or not m.endswith("copy-shift")]

    def _placed(self, name: str, path: Path) -> tuple[Traffic, list[Job]]:
        from netloom import _core

        file = f"{len(self.applications)}.toml"
        quoted = [json.dumps(str(what)) for what in (name, path.resolve())]
        place = f'allocation = "contiguous:{_FIRST_HOST}"'
        text = f"[[job]]\nname = {quoted[0]}\nmatrix = {quoted[1]}\n{place}\n"
        self._scratch.write(file, text.encode())
        self._run.read("matrix", str(path))
        with self._run.timed("read"):
            return _core.place_jobs(self._net, self._scratch.path / file)

    def _matrix(self, path: Path) -> Traffic:
        from netloom import _core

        with self._run.timed("read"):
            return _core.Traffic.read(path)

    def _counted(self, tables: Routes, demand: Traffic, scheme: str | None) -> Counters:
        from netloom import _core

        # A thousand seconds: slow enough for every link.
        threads = self._run.threads
        return _core.synth_counters(
            self._net, tables, demand, vl_scheme=scheme, seconds=1000.0, threads=threads
        )

    def _seconds(self, most: float | None) -> float | None:
        if self._end is None:
            return most
        left = self._end - time.monotonic()
        if left <= 0:
            raise _Stopped("time-limit")
        return left if most is None else min(most, left)


def _published(like: Published | None, scheme: str, routings: int) -> tuple[float | None, float | None]:
    """Errors in the best basis and in the dictionary, where the tables have this scheme."""
    base = _base(scheme)
    if like is None or routings > 1 or base not in SCHEMES:
        return None, None
    at = SCHEMES.index(base)
    return like.best_basis[at], like.dictionary[at]


def _base(scheme: str) -> str:
    """The scheme without its seed; levels by pair are what a scheme without a rule has."""
    return scheme.partition(":seed=")[0].removesuffix(":pairs")


def _schemes(text: str) -> list[str]:
    found = []
    for item in _items("--lanes", text):
        if item.isdecimal():
            number = int(item)
            if not 1 <= number <= 15:
                raise UsageError(f"--lanes {text}: expected 1 to 15 lanes, found {item}")
            item = f"{number}sl{number}vl"
        found.append(item if ":seed=" in item or item == SCHEMES[0] else f"{item}:seed=1")
    return list(dict.fromkeys(found))


def _counts(text: str) -> list[int]:
    items = _items("--routing-counts", text)
    for item in items:
        if not item.isdecimal() or not 1 <= int(item) <= _MOST_ROUTINGS:
            raise UsageError(f"--routing-counts {text}: expected 1 to {_MOST_ROUTINGS}, found {item}")
    return sorted({int(item) for item in items})


def _methods(text: str) -> list[str]:
    if text == "none":
        return []
    if text == "all":
        return list(PUBLISHED_BASES)
    items = _items("--bases", text)
    for item in items:
        if item not in (*PUBLISHED_BASES, "best"):
            names = ", ".join(["best", *PUBLISHED_BASES])
            raise UsageError(f"--bases {text}: expected all, none or some of {names}, found {item}")
    return items


def _items(option: str, text: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise UsageError(f"{option} {text}: expected values with commas between them")
    return items


def _check_source(name: str) -> None:
    if name not in LIKE and not os.path.isfile(name):
        raise FormatError(f"{name}: neither a file nor a recorded application ({', '.join(LIKE)})")


def _source(name: str, data: Path) -> tuple[str, Path]:
    """A recorded application, or a file: its name and where it is."""
    if name in LIKE:
        return name, data / f"{name}.mtx.gz"
    return Path(name).name.removesuffix(".gz").removesuffix(".mtx"), Path(name)
