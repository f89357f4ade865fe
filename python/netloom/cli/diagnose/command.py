"""`netloom diagnose`: what congests a run or a fabric, whose fault it is, and what would help."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from netloom import extras, reading
from netloom import findings as registry
from netloom.cli.diagnose import report as diagnosed
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.diagnose import readings
from netloom.errors import FormatError, NetloomError
from netloom.files import Scratch
from netloom.manifest import content
from netloom.runs import folder as runs

if TYPE_CHECKING:
    from netloom._core import Traffic
    from netloom.diagnose.findings import Finding
    from netloom.diagnose.ideal import Mappings
    from netloom.diagnose.observed import Observed
    from netloom.diagnose.tries import Attempt

_SIMULATED_TICK_NS = 1.0
_UNFIT = (
    *exclude(
        "--counters",
        ("--try", "--routing"),
        "--try and --routing are of a simulated run, not of --counters",
    ),
    *need(("--before", "--seconds", "--tick-ns", "--traffic"), ("--counters",), "{option} needs --counters"),
)


def diagnose(
    run_or_fabric: str,
    /,
    *,
    routing: str | None = None,
    counters_: Annotated[Path | None, Parameter(name="--counters")] = None,
    before: Path | None = None,
    seconds: Annotated[float | None, options.within(1e-12, 1e9)] = None,
    tick_ns: Annotated[float | None, options.within(1e-6, 1e9)] = None,
    traffic: str | None = None,
    try_: Annotated[bool, Parameter(name="--try")] = False,
    options: Options | None = None,
) -> int:
    """Find what is congested, whose fault it is, and what would help.

    Exit code 1 says that something was found.

    Parameters
    ----------
    run_or_fabric
        A folder that `netloom sample run -o` or `netloom simulate -o` wrote; with `--counters` a fabric.
    routing
        The run's routing to diagnose. [default: its first]
    counters_
        Counters of the fabric, in any format that `netloom counters show` reads. They allow fewer findings
        than a sampled run.
    before
        An earlier reading: what was counted since then.
    seconds
        The length of the interval, if the files do not have it.
    tick_ns
        The length of the device's tick of waiting. [default: waiting is not used]
    traffic
        The traffic, as `netloom infer -o` writes it: needed to distinguish bad routes, bad mapping and
        over-subscription.
    try_
        Simulate the proposed remedies with the run's scenario, and each waiting job alone. Without findings,
        simulate other routes.
    options
        Common options; `-o` writes the result.
    """
    options = options or Options()
    asked = named(
        counters=counters_,
        try_=try_,
        routing=routing,
        before=before,
        seconds=seconds,
        tick_ns=tick_ns,
        traffic=traffic,
    )
    refuse(_UNFIT, asked)
    extras.need("scipy", *([] if counters_ is not None else ["arrow"]))
    run = Run("diagnose", options, product=False)
    if counters_ is not None:
        net = run.fabric(run_or_fabric, warn=True)
        seen, findings = readings.observed_of(run, net, counters_, before, (seconds, tick_ns), traffic)
        return _finish(run, {"source": "counters", "routing": None, "enough": True}, seen, findings, False)
    from netloom import _core

    folder = Path(run_or_fabric)
    if not folder.exists() and _core.is_generator(run_or_fabric):
        raise UsageError(f"{run_or_fabric}: is a fabric: expected --counters with it, or a run's folder")
    manifest = runs.read_manifest(folder)
    run.note_input("run", run_or_fabric, runs.digest(reading.whole(folder / runs.MANIFEST)))
    entry = _entry(folder, manifest, routing)
    stopped = entry["result"].get("stopped")
    with run.timed("read"):
        if entry["result"].get("sampling") is not None:
            source = "samples"
            enough, seen, findings = _of_samples(folder, entry)
        else:
            source, enough = "counters", True
            seen, findings = _of_run(folder, manifest, entry), []
            run.note(f"{folder} has no samples: counters alone say less (netloom sample run -o)")
    if stopped is not None:
        told = f"{folder}: the run was stopped early ({stopped}): only its beginning is known"
        findings = [told, *findings]
    from netloom.diagnose.tries import completions

    head = {"source": source, "routing": entry["routing"], "enough": enough}
    times = completions(entry["result"]) if stopped is None else None
    return _finish(run, head, seen, findings, try_, manifest=manifest, times=times)


def _entry(folder: Path, manifest: Mapping[str, Any], routing: str | None) -> dict[str, Any]:
    """The routing's entry; of several the first that was sampled, if any was."""
    entries = manifest["runs"]
    names = [entry["routing"] for entry in entries]
    if routing is not None:
        if routing not in names:
            raise UsageError(f"--routing {routing}: {folder} has {', '.join(names)}")
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


def _finish(
    run: Run,
    head: Mapping[str, Any],
    seen: Observed,
    odd: list[str],
    try_: bool,
    *,
    manifest: Mapping[str, Any] | None = None,
    times: Mapping[str, float] | None = None,
) -> int:
    """Diagnoses, tries, tells; `times` are the jobs' to completion (ms), of a run that came to its end."""
    from netloom.diagnose.evidence import HELD_UP
    from netloom.diagnose.hot import hot_links
    from netloom.diagnose.ideal import no_mappings
    from netloom.diagnose.rules import diagnose as rules

    without = contextlib.nullcontext(no_mappings)
    with run.timed("diagnose"), without if manifest is None else _mappings(manifest, odd) as mappings:
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
        with run.timed("try"):
            trials = Trials(scenario, manifest["scenario"]["overrides"], str(head["routing"]), times)
            sampled = head["source"] == "samples"
            tried = [trials.of(finding, sampled) for finding in found.findings]
            waiting = {job for job, hops in enumerate(found.congested_hops) if hops >= HELD_UP}
            waiting |= {victim for finding in found.findings for victim in finding.victims}
            held_up = sorted(waiting) if sampled else range(len(trials.scenario.jobs))
            others = trials.others(held_up, routes=not found.findings)
        odd = [*odd, *trials.notes]
    for line in odd:
        run.note(line, kind="warning")
    result = {
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
    rows = [
        {
            **{key: value for key, value in finding.items() if not isinstance(value, list)},
            **{key: " ".join(finding[key]) for key in ("root_links", "culprits", "victims")},
        }
        for finding in result["findings"]
    ]
    # What could not be told is no all-clear.
    return run.finish(
        result, lambda: diagnosed.text(result), rows=rows, findings=bool(found.findings) or not head["enough"]
    )


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
        }
        for attempt in tried
    ]


def self_test(
    *, cases: Annotated[int, options.within(1, 1_000_000)] = 60, options: Options | None = None
) -> int:
    """Diagnose generated runs of known cause (`--seed`): how often the right one is named.

    Parameters
    ----------
    cases
        How many of them.
    options
        Common options; `-o` writes the result.
    """
    extras.need("scipy", "arrow")
    from netloom.diagnose import selftest

    run = Run("diagnose-self-test", options or Options(), product=False)
    with run.timed("self_test"), run.progress("cases") as progress:
        ended = (lambda _: None) if progress is None else (lambda done: progress(done, cases))
        tested = selftest.self_test(cases, run.seed, threads=run.options.threads, ended=ended)
    result = {
        "cases": cases,
        "correct": tested.correct,
        "false_alarms": tested.false_alarms,
        "confusion": tested.confusion(),
    }

    def report() -> str:
        header, rows = selftest.table(tested)
        told = [
            ("cases", str(cases)),
            ("right", str(tested.correct)),
            ("false alarms", str(tested.false_alarms)),
        ]
        return f"{render.pairs(told)}\n\n{render.table(header, rows, right=range(1, len(header)))}"

    return run.finish(result, report)
