"""`netloom.diagnose_run`, `netloom.diagnose_counters`: what `netloom diagnose` does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import extras, reading
from netloom import findings as registry
from netloom.counting.waiting import devices_of
from netloom.diagnose.answer import readings
from netloom.errors import ArgumentError, FormatError, NetloomError
from netloom.files import Scratch
from netloom.manifest import content
from netloom.runs import folder as runs
from netloom.session.arguments import real
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic
    from netloom.counting.waiting import Devices
    from netloom.diagnose.findings import Finding
    from netloom.diagnose.ideal import Mappings
    from netloom.diagnose.observed import Observed
    from netloom.diagnose.tries import Attempt

_SIMULATED_TICK_NS = 1.0


@checked()
def diagnose_run(
    run: str | os.PathLike[str], *, routing: str | None = None, try_: bool = False
) -> dict[str, Any]:
    """Finds what is congested in a run, whose fault it is, and what would help, as `netloom diagnose` does.

    Parameters
    ----------
    run : path
        A folder that `netloom sample run -o` or `simulate_routings(…, output=…)` wrote.
    routing : str, optional
        Its routing. [default: the first that was sampled]
    try_ : bool, default False
        Simulate the proposed remedies, and each waiting job alone.

    Returns
    -------
    dict
        As `result` of `netloom diagnose --format json`.

    Raises
    ------
    ArgumentError
        If the run has no such routing.
    FormatError
        If it is no run, or was altered.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import netloom as nl
    >>> [finding["cause"] for finding in nl.diagnose_run("run")["findings"]]  # doctest: +SKIP
    """
    extras.need("scipy", "arrow")
    return of_run(Session(), os.fspath(run), routing, try_=try_)


@checked()
def diagnose_counters(
    fabric: Fabric | str,
    counters: str | os.PathLike[str],
    *,
    before: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    tick_ns: float | None = None,
    traffic: Traffic | str | None = None,
) -> dict[str, Any]:
    """Finds what is congested in a fabric by its counters, as `netloom diagnose --counters` does.

    Parameters
    ----------
    fabric : Fabric or str
        The fabric.
    counters : path
        Counters in any format that `netloom counters show` reads.
    before : path, optional
        An earlier reading: what was counted since then.
    seconds : float, optional
        The length of the interval, if the files do not have it.
    tick_ns : float, optional
        The length of the device's tick of waiting. [default: as the switches' generation has it, where
        `fabric` is a dump that says which; else waiting is not used]
    traffic : Traffic or str, optional
        The traffic: needed to distinguish bad routes, bad mapping and over-subscription.

    Returns
    -------
    dict
        As `result` of `netloom diagnose --format json`.

    Raises
    ------
    CountersError
        If readings are no interval, or their time is not known.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    >>> nl.synth_counters(fabric, "ftree", nl.Traffic.read("shift:4", fabric)).write("counters.csv")
    >>> nl.diagnose_counters(fabric, "counters.csv", seconds=1)["findings"]
    []
    """
    extras.need("scipy")
    session = Session()
    earlier = None if before is None else Path(before)
    if seconds is not None:
        seconds = real("seconds", seconds, "seconds, 0 to 1e9", most=1e9)
    if tick_ns is not None:
        tick_ns = real("tick_ns", tick_ns, "nanoseconds, 0 to 1e9", most=1e9)
    times = (seconds, tick_ns)
    devices = devices_of(fabric)
    return of_counters(session, session.fabric(fabric), Path(counters), earlier, times, traffic, devices)


def of_counters(
    session: Session,
    net: Fabric,
    counters: Path,
    before: Path | None,
    times: tuple[float | None, float | None],
    traffic: Traffic | str | None,
    devices: Devices,
) -> dict[str, Any]:
    """Of real counters."""
    seen, odd = readings.observed_of(session, net, counters, before, times, traffic, devices)
    return _result(session, {"source": "counters", "routing": None, "enough": True}, seen, odd, False)


def of_run(session: Session, run: str, routing: str | None, *, try_: bool) -> dict[str, Any]:
    """Of a run's folder."""
    folder = Path(run)
    manifest = runs.read_manifest(folder)
    session.note_input("run", run, runs.digest(reading.whole(folder / runs.MANIFEST)))
    entry = _entry(folder, manifest, routing)
    stopped = entry["result"].get("stopped")
    with session.timed("read"):
        if entry["result"].get("sampling") is not None:
            source = "samples"
            enough, seen, findings = _of_samples(folder, entry)
        else:
            source, enough = "counters", True
            seen, findings = _of_run(folder, manifest, entry), []
            session.note(f"{folder} has no samples: counters alone say less (netloom sample run -o)")
    if stopped is not None:
        told = f"{folder}: the run was stopped early ({stopped}): only its beginning is known"
        findings = [told, *findings]
    head = {"source": source, "routing": entry["routing"], "enough": enough}
    ended = entry["result"] if stopped is None else None
    return _result(session, head, seen, findings, try_, manifest=manifest, ended=ended)


def _entry(folder: Path, manifest: Mapping[str, Any], routing: str | None) -> dict[str, Any]:
    """The routing's entry; of several the first that was sampled, if any was."""
    entries = manifest["runs"]
    names = [entry["routing"] for entry in entries]
    if routing is not None:
        if routing not in names:
            raise ArgumentError(f"routing {routing}: {folder} has {', '.join(names)}")
        return dict(entries[names.index(routing)])
    if not entries:
        raise FormatError(f"{folder}: a run of no routing", str(folder))
    sampled = [entry for entry in entries if entry["result"].get("sampling") is not None]
    return dict((sampled or entries)[0])


def _of_samples(folder: Path, entry: Mapping[str, Any]) -> tuple[bool, Observed, list[str]]:
    """Whether enough was sampled to tell anything, what was seen, and what is odd."""
    from netloom import sampling
    from netloom.diagnose.sampled import observed_of

    samples = sampling.read(folder, entry["routing"])
    intervals = None
    if "intervals.parquet" in entry["files"]:
        intervals = _table(folder, entry, "intervals")
    return samples.enough, observed_of(samples, intervals), [one["text"] for one in samples.findings]


def _of_run(folder: Path, manifest: Mapping[str, Any], entry: Mapping[str, Any]) -> Observed:
    """Counters of a simulated run that was not sampled."""
    from netloom import _core
    from netloom.diagnose.counted import observed_of

    scenario = Path(manifest["scenario"]["source"])
    _same_scenario(scenario, manifest)
    fabric = _core.Scenario.read(scenario, manifest["scenario"]["overrides"]).fabric
    links = _table(folder, entry, "links")
    if len(links["xmit_bytes"]) != fabric.links:
        raise FormatError(
            f"{folder}: {len(links['xmit_bytes'])} links, the fabric has {fabric.links}", str(folder)
        )
    seconds = float(entry["result"]["simulated_ms"]) * 1e-3
    waited = links["wait_ticks"].astype(np.float64) * _SIMULATED_TICK_NS * 1e-9
    return observed_of(fabric, seconds, links["xmit_bytes"].astype(np.float64), waited)


def _table(folder: Path, entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A table of a run's routing as columns, if it is as it was written."""
    from netloom import sampling

    file = f"{name}.parquet"
    data = content(folder, entry, file)
    table = sampling.parquet(data, name, str(folder / entry["folder"] / file))
    return {column: np.asarray(table[column]) for column in table.column_names}


def _same_scenario(path: Path, manifest: Mapping[str, Any]) -> None:
    try:
        text = reading.whole(path).decode(errors="replace")
    except FileNotFoundError:
        raise FormatError(
            f"{path}: the run's scenario is not there: expected to be called where the run was made",
            str(path),
        ) from None
    if text != manifest["scenario"]["text"]:
        raise FormatError(
            f"{path}: not as it was when the run was made: expected the same scenario", str(path)
        )


@contextlib.contextmanager
def _mappings(manifest: Mapping[str, Any], odd: list[str]) -> Iterator[Mappings]:
    """Other mappings of the run's jobs, from its scenario where it is as it was, else from what the run kept.

    If that reads files which are not at hand, `odd` says so.
    """
    from netloom import _core
    from netloom.diagnose.mappings import other_mappings

    path, overrides = Path(manifest["scenario"]["source"]), manifest["scenario"]["overrides"]
    with Scratch.private() as scratch:
        try:
            _same_scenario(path, manifest)
        except (OSError, NetloomError):
            scratch.write("scenario.toml", manifest["scenario"]["text"].encode())
            path = scratch.path / "scenario.toml"

        def of(job: int) -> dict[str, Traffic]:
            try:
                return other_mappings(path, overrides, _core.Scenario.read(path, overrides), job)
            except (OSError, NetloomError):
                told = "what the run's scenario reads is not here: other mappings of ranks were not compared"
                if told not in odd:
                    odd.append(told)
                return {}

        yield of


def _result(
    session: Session,
    head: Mapping[str, Any],
    seen: Observed,
    odd: list[str],
    try_: bool,
    *,
    manifest: Mapping[str, Any] | None = None,
    ended: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Diagnoses, tries, tells; `ended` is the result of a run that came to its end."""
    from netloom.diagnose.evidence import DELAYED_HOPS
    from netloom.diagnose.hot import hot_links
    from netloom.diagnose.ideal import no_mappings
    from netloom.diagnose.rules import diagnose as rules

    without = contextlib.nullcontext(no_mappings)
    with session.timed("diagnose"), without if manifest is None else _mappings(manifest, odd) as mappings:
        found = rules(seen, mappings)
    if not head["enough"]:
        for finding in found.findings:
            finding.uncertain, finding.confidence = True, min(finding.confidence, 0.5)
    tried: list[list[Attempt]] = [[] for _ in found.findings]
    others: list[Attempt] = []
    if try_ and manifest is not None:
        from netloom.diagnose.tries import Trials

        scenario = Path(manifest["scenario"]["source"])
        _same_scenario(scenario, manifest)
        with session.timed("try"):
            trials = Trials(scenario, manifest["scenario"]["overrides"], str(head["routing"]), ended)
            sampled = head["source"] == "samples"
            tried = [trials.of(finding, sampled) for finding in found.findings]
            waiting = {job for job, hops in enumerate(found.congested_hops) if hops >= DELAYED_HOPS}
            waiting |= {victim for finding in found.findings for victim in finding.victims}
            held_up = sorted(waiting) if sampled else range(len(trials.scenario.jobs))
            others = trials.others(held_up, routes=not found.findings)
        odd = [*odd, *trials.notes]
    for line in odd:
        session.note(line, kind="warning")
    return {
        **head,
        "hosts": seen.fabric.hosts,
        "switches": seen.fabric.switches,
        "windows": len(seen.seconds),
        "jobs": [
            {"name": name, "congested_hops": float(hops) if seen.waiting_known else None}
            for name, hops in zip(seen.jobs, found.congested_hops, strict=True)
        ],
        "congested": [
            {"link": seen.links.name(hot.link), "waiting": hot.waiting, "utilisation": hot.utilisation}
            for hot in hot_links(seen)
        ],
        "tried": _attempts(others) if try_ else None,
        "findings": [
            _finding(seen, finding, attempts if try_ else None)
            for finding, attempts in zip(found.findings, tried, strict=True)
        ],
        "notes": odd,
    }


def _finding(seen: Observed, finding: Finding, tried: list[Attempt] | None) -> dict[str, Any]:
    roots = len(finding.root_links)
    where = f"{seen.links.name(finding.root_links[0])}{f' and {roots - 1} more' if roots > 1 else ''}"
    who = ", ".join(seen.jobs[job] for job in finding.culprits) or "nobody who was sampled"
    text = f"{where}: {who}: {finding.remedy}"
    if finding.cause == "slow-cable":
        text = f"{finding.evidence[0]}: {finding.remedy}"
    return {
        **registry.finding(finding.cause, text),
        "cause": finding.cause,
        "confidence": finding.confidence,
        "uncertain": finding.uncertain,
        "root_links": [seen.links.name(link) for link in finding.root_links],
        "culprits": [seen.jobs[job] for job in finding.culprits],
        "phases": finding.phases,
        "victims": [seen.jobs[job] for job in finding.victims],
        "evidence": finding.evidence,
        "remedy": finding.remedy,
        "predicted_gain_percent": round(
            tried[0].gain_percent if tried else finding.predicted_gain_percent, 2
        ),
        "tried": None if tried is None else _attempts(tried),
    }


def _attempts(tried: Sequence[Attempt]) -> list[dict[str, Any]]:
    return [
        {
            "what": attempt.what,
            "job": attempt.job,
            "before_ms": attempt.before_ms,
            "after_ms": attempt.after_ms,
            "gain_percent": attempt.gain_percent,
            "slower": [
                {
                    "job": job.job,
                    "measure": job.measure,
                    "before": job.before,
                    "after": job.after,
                    "worse_percent": job.worse_percent,
                }
                for job in attempt.slower
            ],
        }
        for attempt in tried
    ]
