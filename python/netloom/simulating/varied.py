"""A scenario again and again, one thing different: the load that is offered, or where ranks are.

With `alone` every job runs once more by itself, on the same hosts and routes: how much slower it is beside
the others is its slowdown.

Invariant: all variants run side by side, each as by itself with that key set; rows are as asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netloom.errors import ArgumentError, FormatError
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.session.side_by_side import partitions, side_by_side
from netloom.session.sources import of_run
from netloom.simulating.routings import Opened, opened, overrides

if TYPE_CHECKING:
    from netloom._core import Scenario


@checked()
def simulate_varied(
    scenario: str | os.PathLike[str],
    *,
    loads: Sequence[float] | None = None,
    mappings: Sequence[str] | None = None,
    alone: bool = False,
    model: Literal["packet", "fluid"] | None = None,
    routings: Sequence[str] | None = None,
    set: Sequence[str] = (),
    allow_credit_loops: bool = False,
    seed: int | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Simulates a scenario with several loads or mappings, as `netloom simulate --loads` and `--mappings` do.

    Parameters
    ----------
    scenario : path
        A scenario (.toml), or a folder that `netloom record` made.
    loads : sequence of float, optional
        Shares of a host's link that jobs of kind `uniform` offer, one after another. This or `mappings`.
    mappings : sequence of str, optional
        Ways to map all jobs' ranks: `block`, `cyclic`, `random`, …
    alone : bool, default False
        Also run every job by itself on the same hosts: `slowdown` is its time beside the others over that.
    model : {"packet", "fluid"}, optional
        Every packet, or flows with their fair rates. [default: the scenario's]
    routings : sequence of str, optional
        Simulate these instead of the scenario's; files as seen from its folder.
    set : sequence of str, optional
        Keys of the scenario with other values, `hardware.lanes=2`.
    allow_credit_loops : bool, default False
        Simulate routes with credit loops too, until packets wait for each other.
    seed : int, optional
        Of all that is random. [default: the scenario's]
    threads : int, default 0
        Threads, one a run; 0 is one a core.
    work : int, optional
        Path searches of routings that are optimised.
    time_limit : float, optional
        End after so many seconds with what is known.
    progress : callable, optional
        Hears of simulated ps, and of all where that is known; called from several threads.

    Returns
    -------
    dict
        As `result` of `netloom simulate --mappings`: `rows` has a row a variant, routing and job.

    Raises
    ------
    ArgumentError
        If loads or mappings make no sense for this scenario.
    FormatError
        If the scenario is wrong, with file and line.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import examples
    >>> path = examples.path("scenarios/shuffle.toml")
    >>> table = nl.simulate_varied(path, mappings=["block", "random"], routings=["ftree"])
    >>> [row["mapping"] for row in table["rows"]]
    ['block', 'random']
    """
    session = Session(seed=seed, threads=threads, work=work, time_limit=time_limit, progress=progress)
    if (loads is None) == (mappings is None):
        raise ArgumentError("loads and mappings are a table each: expected one of them")
    words = overrides(set, model, routings, allow_credit_loops, seed, work)
    given = opened(session, of_run(os.fspath(scenario), "scenario.toml"), words, files=False)
    session.note_fallbacks(given.scenario.routings, given.scenario.fabric)
    with session.timed("read"):
        what = variants(given, loads, mappings)
    return of_variants(session, given.scenario, what, alone=alone)


@dataclass(frozen=True)
class Variant:
    """A scenario with one thing set.

    Attributes
    ----------
    load : float or None
        What all its jobs that offer load were told to offer.
    mapping : str or None
        Where the ranks of all its jobs are.
    scenario : Scenario
        With that set.
    """

    load: float | None
    mapping: str | None
    scenario: Scenario

    @property
    def name(self) -> str:
        """As progress and errors say it."""
        return f"load {self.load:g}" if self.load is not None else str(self.mapping)


def variants(opened: Opened, loads: Sequence[float] | None, mappings: Sequence[str] | None) -> list[Variant]:
    """What is to be run.

    Raises
    ------
    ArgumentError
        If no job offers load, or a value makes no sense for this scenario.
    """
    given = opened.scenario
    if mappings is not None:
        jobs = given.jobs_of_file or [job.name for job in given.jobs]
        return [
            Variant(None, word, _scene(opened, f"mappings {word}", jobs, f"mapping={json.dumps(word)}"))
            for word in mappings
        ]
    check_offers(given)
    return [
        Variant(load, None, _scene(opened, f"loads {load:g}", given.offering, f"program.load={load!r}"))
        for load in map(float, loads or ())
    ]


def check_offers(given: Scenario) -> None:
    """Refuses a scenario without a job whose load can be varied."""
    if not given.offering:
        raise ArgumentError(f'loads: no job of {given.path} offers load (a program of kind "uniform" does)')


def of_variants(
    session: Session, base: Scenario, variants: Sequence[Variant], *, alone: bool
) -> dict[str, Any]:
    """Runs every variant under every routing; the result."""
    from netloom import _core

    for role, path in {entry for variant in variants for entry in variant.scenario.files}:
        session.read(role, str(path))
    cases = {
        f"{variant.name}, {word}": (variant, variant.scenario, word)
        for variant in variants
        for word in variant.scenario.routings
    }
    done: dict[str, list[dict[str, Any]]] = {}

    def work(name: str, threads: int, left: float | None, progress: Any) -> list[dict[str, Any]]:
        variant, scene, word = cases[name]
        routes = scene.routes(word, threads=threads, progress=progress)
        settings = {
            "routes": routes,
            "threads": partitions(session, threads),
            "time_limit": left,
            "progress": progress,
        }
        found = _core.simulate(scene, word, **settings).result()
        apart = alone_ms(scene, word, settings) if alone else {}
        return rows_of(variant, found, apart)

    def ended(name: str, rows: list[dict[str, Any]]) -> None:
        done[name] = rows

    with session.timed("simulate"):
        side_by_side(session, list(cases), work, ended)
    rows = [row for name in cases for row in done.get(name, [])]
    _add_ratios(rows)
    return {
        "scenario": base.name,
        "model": base.model,
        "profile": base.profile,
        "hosts": base.fabric.hosts,
        "switches": base.fabric.switches,
        "seed": base.seed,
        "varied": "load" if any(one.load is not None for one in variants) else "mapping",
        "rows": rows,
        "not_run": [name for name in cases if name not in done],
    }


def _scene(opened: Opened, what: str, jobs: Sequence[str], key: str) -> Scenario:
    """The scenario with a key of jobs set; what cannot be set is a wrong argument, not a wrong file."""
    from netloom import _core

    keys = [f"job.{job}.{key}" for job in jobs]
    try:
        return _core.Scenario.read(opened.source, [*opened.overrides, *keys])
    except FormatError as error:
        # (The words after `--set …: ` name the setting and what was expected.)
        told = str(error).removeprefix("--set ").partition(": ")[2] or str(error)
        raise ArgumentError(f"{what}: {told}") from None


def alone_ms(scene: Scenario, word: str, settings: Mapping[str, Any]) -> dict[str, float | None]:
    """How long each job takes by itself on its hosts; a job that is alone anyway is left out."""
    from netloom import _core

    if len(scene.jobs) < 2:
        return {}
    found: dict[str, float | None] = {}
    for job in scene.jobs:
        if job.name not in scene.offering:
            one = _core.simulate(scene.alone(job.name), word, **settings).result()
            found[job.name] = one["jobs"][0]["completion_ms"] if one["stopped"] is None else None
    return found


def slowdown(job: Mapping[str, Any], alone: float | None) -> float | None:
    """A job's time over its time alone; None if either is unknown."""
    return job["completion_ms"] / alone if alone and job["completion_ms"] is not None else None


def rows_of(
    variant: Variant, found: Mapping[str, Any], apart: Mapping[str, float | None]
) -> list[dict[str, Any]]:
    """A row a job of one run."""
    return [
        {
            "load": variant.load,
            "mapping": variant.mapping,
            "routing": found["routing"],
            "job": job["name"],
            "ranks": job["ranks"],
            "completion_ms": job["completion_ms"],
            "ratio": None,
            "alone_ms": apart.get(job["name"]),
            "slowdown": slowdown(job, apart.get(job["name"])),
            "time": job["time"],
            "message_latency_us": job["message_latency_us"],
            "accepted": job["load"],
            "max_link_utilisation": found["max_link_utilisation"],
            "stopped": found["stopped"],
        }
        for job in found["jobs"]
    ]


def _add_ratios(rows: Sequence[dict[str, Any]]) -> None:
    """`ratio`: a job's completion over that in the table's first run."""
    first: dict[str, float | None] = {}
    for row in rows:
        base = first.setdefault(row["job"], row["completion_ms"])
        row["ratio"] = row["completion_ms"] / base if base and row["completion_ms"] is not None else None
