"""What a recording is told as: ranks, pairs, bytes by kind of call, what it cost, what of it is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netloom.findings import Finding, finding
from netloom.recording import schedules
from netloom.recording.merging import POINT_TO_POINT, Lost, Merged
from netloom.recording.ti import Written
from netloom.recording.trace import Trace
from netloom.shown import units

_MOST_NAMED = 8
"""Ranks that a finding names."""
_WHY = {
    "missing": "left no record",
    "unreadable": "left a record that cannot be read",
    "killed": "ended without a word: the record is whole up to there",
    "exited": "ended without MPI_Finalize: the record is whole up to there",
    "aborted": "called MPI_Abort: the record is whole up to there",
    "no-space": "found no space left for the record",
}


def result(
    merged: Merged, words: Sequence[str], code: int, *, seconds: float | None, trace: Trace | None = None
) -> dict[str, Any]:
    """The result object.

    Parameters
    ----------
    merged : Merged
        What ranks recorded.
    words : sequence of str
        The command.
    code : int
        The program's exit code.
    seconds : float, optional
        The time limit, if that ended the program.
    trace : Trace, optional
        What was recorded in order, if it was.
    """
    by_kind = {name: {"calls": one.calls, "bytes": one.bytes} for name, one in merged.kinds.items()}
    bytes_ = {
        "point_to_point": sum(by_kind[kind]["bytes"] for kind in POINT_TO_POINT),
        "collective": by_kind["collective"]["bytes"],
        "one_sided": by_kind["one_sided"]["bytes"],
        "neighbourhood": by_kind["neighbourhood"]["bytes"],
    }
    calls = sum(one["calls"] for one in by_kind.values())
    total = sum(bytes_.values())
    took = merged.seconds
    hosts = Counter(host for host in merged.hosts if host)
    return {
        "command": list(words),
        "exit_code": code,
        "mpi": merged.mpi,
        "abi": merged.abi,
        "ranks": merged.ranks,
        "hosts": [{"name": host, "ranks": ranks} for host, ranks in hosts.items()],
        "pairs": len(merged.sources),
        "messages": int(merged.messages.sum()),
        "bytes": bytes_,
        "by_kind": by_kind,
        "calls": [
            {"name": f"MPI_{one.name}", "kind": one.kind, "calls": one.calls, "bytes": one.bytes}
            for one in merged.functions
        ],
        "collectives": "as-asked",
        "collective_percent": 100 * bytes_["collective"] / total if total else 0.0,
        "seconds": took,
        "ns_per_call": merged.ns_per_call,
        "overhead_percent": merged.ns_per_call * calls / merged.ranks / took * 1e-7 if took else None,
        "lost_ranks": [{"rank": one.rank, "host": one.host, "why": one.why} for one in merged.lost],
        "outside": {"messages": merged.outside, "bytes": merged.outside_bytes},
        "uncounted_calls": merged.unknown,
        "spawned": merged.spawned,
        "events": None if trace is None else len(trace),
        "dropped_events": sum(trace.meta["dropped"].values()) if trace is not None else 0,
        "replay": None,
        "files": {},
        "findings": _findings(merged, bytes_, list(hosts), seconds, trace),
    }


def _findings(
    merged: Merged,
    bytes_: Mapping[str, int],
    hosts: Sequence[str],
    seconds: float | None,
    trace: Trace | None,
) -> list[Finding]:
    found = _of_trace(merged, trace) if trace is not None else []
    if seconds is not None:
        found.append(finding("time-limit", f"the program was ended after {seconds:g} s"))
    for why in dict.fromkeys(one.why for one in merged.lost):
        lost = [one for one in merged.lost if one.why == why]
        found.append(finding("lost-ranks", f"{_ranks(lost)} {_WHY[why]}{_detail(lost)}"))
    count = units.count
    if merged.unknown:
        text = f"{count(merged.unknown)} calls have a datatype or communicator that was not understood"
        found.append(finding("uncounted-calls", text))
    if merged.spawned:
        text = f"{count(merged.spawned)} processes were spawned by the program: what they sent is not counted"
        found.append(finding("other-world", text))
    if merged.outside:
        what = f"{count(merged.outside)} messages with {units.size(merged.outside_bytes)}"
        found.append(finding("other-world", f"{what} went to processes outside of MPI_COMM_WORLD"))
    if bytes_["collective"]:
        what = units.size(bytes_["collective"])
        text = f"{what} of collectives are counted as the program asked for them, and are in no pair"
        if trace is not None:
            text += " of the matrices; the trace has them"
        found.append(finding("collectives-as-asked", text))
    if trace is not None and (shared := _shared(merged)) is not None:
        found.append(shared)
    if len(hosts) == 1 and merged.ranks > 1:
        text = (
            f"all ranks ran on {hosts[0]}: the jobs file puts a rank on each host of a fabric, from the first"
        )
        found.append(finding("one-host", text))
    return found


def add_place(result: dict[str, Any], output: Path) -> None:
    """Where the run is, if another has taken its name meanwhile."""
    place = Path(result["files"]["matrix"]).parent
    if place != Path(str(output)):
        text = f"{output} was made by another run meanwhile: this one is {place}"
        result["findings"] = [*result["findings"], finding("output-taken", text)]


def add_replay(result: dict[str, Any], written: Written) -> None:
    """What of the trace can be replayed, and what cannot."""
    result["replay"] = replayed(written)
    result["findings"] = [*result["findings"], *replay_findings(written)]


def replayed(written: Written) -> dict[str, Any]:
    """As part of a result."""
    return {
        "messages": written.messages,
        "collectives": written.collectives,
        "decomposed": [
            {"name": f"MPI_{name}", "algorithm": _algorithm(written, name), "calls": calls}
            for name, calls in sorted(written.decomposed.items())
        ],
        "left_out": [{"what": what, "count": count} for what, count in sorted(written.left_out.items())],
    }


def _algorithm(written: Written, name: str) -> str:
    return written.algorithms.get(name, schedules.ALGORITHMS[name])


def replay_findings(written: Written) -> list[Finding]:
    """What a format without communicators, or without collectives, cannot say."""
    found, count = [], units.count
    if written.threads > 1:
        text = f"in the trace that is replayed each rank is {written.threads} processes, one a thread"
        found.append(finding("threads-as-ranks", text))
    if written.decomposed:
        named = ", ".join(
            f"{count(calls)} {name.lower()} ({_algorithm(written, name)})"
            for name, calls in sorted(written.decomposed.items())
        )
        text = f"collectives that the format cannot name are written as messages, by algorithm: {named}"
        found.append(finding("decomposed-collectives", text))
    if written.left_out:
        named = ", ".join(f"{count(n)} {what}" for what, n in sorted(written.left_out.items()))
        found.append(finding("left-out-of-trace", f"the trace that is replayed leaves out: {named}"))
    return found


def _of_trace(merged: Merged, trace: Trace) -> list[Finding]:
    """What of the events is missing."""
    found, count = [], units.count
    if dropped := trace.meta["dropped"]:
        why = "the disk was full" if merged.no_space else "the limit came (--events-limit)"
        text = f"{count(sum(dropped.values()))} events of {count(len(dropped))} ranks were dropped: {why}"
        found.append(finding("dropped-events", f"{text}; the sums are whole"))
    if trace.meta["unread"]:
        found.append(finding("unread-events", f"{count(trace.meta['unread'])} events make no sense"))
    return found


def _shared(merged: Merged) -> Finding | None:
    """Ranks that waited for a processor: what they waited is in the trace as if they had computed."""
    most: tuple[int, int, str] | None = None
    for host, ranks in Counter(host for host in merged.hosts if host).items():
        there = merged.processors.get(host, 0)
        if 0 < there < ranks and (most is None or ranks * most[1] > most[0] * there):
            most = ranks, there, host
    if most is None:
        return None
    text = (
        f"{most[0]} ranks shared {most[1]} processor{'' if most[1] == 1 else 's'} of {most[2]}: times "
        "between calls hold waits for a processor; without flops_per_s in scenario.toml a replay has none"
    )
    return finding("oversubscribed", text)


def _ranks(lost: Sequence[Lost]) -> str:
    named = ", ".join(f"{one.rank}{f' ({one.host})' if one.host else ''}" for one in lost[:_MOST_NAMED]) + (
        f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    )
    return f"rank{'' if len(lost) == 1 else 's'} {named}"


def _detail(lost: Sequence[Lost]) -> str:
    return f": {lost[0].text}" if lost[0].text else ""
