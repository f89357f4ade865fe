"""Who was where, from Slurm: `squeue --json`, `sacct --json`, `sacct -P`.

A scheduler knows more than one fabric: jobs that wait, that have ended, that share nodes, of other clusters.
Those that wait or have ended do not count; what else cannot be used is left out with a finding, never
refused; only where nothing is left there is an error. Of a past time (`Period`) jobs count by their start and
end, whatever became of them.

Grammar. JSON: `{"jobs": [{"job_id", "name", "nodes": HOSTLIST, "job_state": WORD or [WORD] (squeue) or
"state": {"current": WORD or [WORD]} (sacct), "cluster", "tasks": N or {"number": N}, "steps": [{"tasks":
{"count": N}}], "start_time", "end_time" (squeue) or "time": {"start", "end"} (sacct), seconds since 1970}]}`;
"het": {"job_id", "job_offset"} of a component of a heterogeneous job; of other keys nothing is asked. Text: a
header with `JobID` and `NodeList` between bars, a row a job or step (`123.batch`, `123.0`), of which only
`NTasks` counts; `Start` and `End` as `2026-11-27T10:00:00`, local time, or in seconds since 1970. A job that
was requeued has a row for every time that it ran. sacct escapes no bar: those that are too many are
`JobName`'s, if that is the only column of free text. A byte order mark is passed over.
Source: Slurm 21.08 to 24.11, `man squeue`, `man sacct`, data_parser plugins v0.0.37 to v0.0.42.
"""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netloom.errors import FormatError, NetloomError, PlaceError
from netloom.findings import Finding, finding

_NOT_THERE = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
"""States of jobs that have no nodes yet."""
_ENDED = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "TIMEOUT"),
)
"""States of jobs that have their nodes no more."""
_NO_NODES = ("", "none", "none assigned", "(null)", "unknown", "n/a")
_FREE_TEXT = {
    *("jobname", "admincomment", "comment", "systemcomment", "constraints", "reason", "submitline", "wckey"),
    *("workdir", "container", "extra", "failednode", "licenses"),
}
"""Columns of sacct that may hold a bar."""
_TOLD = 5
"""Jobs that are told one by one of every reason."""


@dataclass(frozen=True)
class SlurmJob:
    """A job as Slurm tells of it."""

    number: str
    name: str
    nodes: list[str]
    tasks: int | None
    cluster: str | None
    ended: bool = False
    """Whether its state says so."""
    start: float | None = None
    """Seconds since 1970; None if it is not told."""
    end: float | None = None
    """The same; of a job that runs it is a guess of Slurm's, and not asked."""

    @property
    def title(self) -> str:
        """`lulesh.123`: names alone are not unique."""
        return f"{self.name}.{self.number}" if self.name else self.number


@dataclass(frozen=True)
class Period:
    """A past time.

    Parameters
    ----------
    start, end : float
        Seconds since 1970.

    Examples
    --------
    >>> Period.parse("1700000000,1700000060").end
    1700000060.0
    """

    start: float
    end: float

    @classmethod
    def parse(cls, text: str) -> Period:
        """Of `START,END`, each as Slurm prints times (local ones) or in seconds since 1970.

        Raises
        ------
        ValueError
            If it is anything else, or ends before it starts.
        """
        parts = text.split(",")
        times = [_time(part.strip()) for part in parts]
        if len(times) != 2 or times[0] is None or times[1] is None or times[0] > times[1]:
            raise ValueError(
                f'expected START,END, as 2026-11-27T10:00:00,2026-11-27T10:05:00, found "{text}"'
            )
        return cls(times[0], times[1])

    def meets(self, job: SlurmJob) -> bool:
        """Whether the job had its nodes for some of this time."""
        ended = job.end if job.ended else None
        return job.start is not None and job.start < self.end and (ended is None or ended > self.start)


def is_slurm(data: bytes) -> bool:
    """Whether this is Slurm's output and not a jobs file (TOML)."""
    head = data.removeprefix(BOM_UTF8).lstrip()[:4096]
    first = head.split(b"\n")[0]
    return (
        head.startswith(b"{")
        or bool(re.match(rb"(?i)[^\n=]*\bJobID(Raw)?\|", first + b"|"))
        or _is_for_people(first.decode(errors="replace"))
    )


def _is_for_people(header: str) -> bool:
    """Whether it begins the table that squeue prints by default."""
    return "|" not in header and bool(re.match(r"\s*JOBID\s.*\bNODELIST\b", header))


def read(data: bytes, label: str) -> list[SlurmJob]:
    """The jobs that have nodes, or had them.

    Raises
    ------
    FormatError
        Naming the line or job, and what was expected.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{label}: expected UTF-8, found another octet at {error.start}", label) from None
    return _of_json(text, label) if text.lstrip().startswith("{") else _of_table(text, label)


def usable(
    jobs: Sequence[SlurmJob], known: Iterable[str], label: str, period: Period | None = None
) -> tuple[list[SlurmJob], list[Finding]]:
    """The jobs all of whose nodes are `known` and nobody else's, and findings for those that are left out.

    Of jobs that had ended, or were not there in `period` if that is given, nothing is said.

    Raises
    ------
    PlaceError
        If no job is left.
    """
    names = set(known)
    past = len(jobs)
    jobs, untold = _there(jobs, period)
    past -= len(jobs) + len(untold)
    # Of a job that was requeued, the last time that it ran.
    jobs = list({(job.cluster, job.number): job for job in jobs}.values())
    shared = Counter(node for job in jobs for node in set(job.nodes))
    kept: list[SlurmJob] = []
    why: dict[str, list[str]] = {}
    if untold:
        why["of which no Start is told, or End"] = [job.title for job in untold]
    for job in jobs:
        unlisted = [node for node in job.nodes if node not in names]
        twice = [node for node in job.nodes if shared[node] > 1]
        if len(unlisted) == len(job.nodes):
            of = f' (cluster "{job.cluster}")' if job.cluster else ""
            why.setdefault("none of their nodes is in this fabric: of another cluster?", []).append(
                f"{job.title}{of}"
            )
        elif unlisted:
            why.setdefault("with nodes that this fabric does not have", []).append(
                f'{job.title} ("{unlisted[0]}")'
            )
        elif twice:
            why.setdefault("that share nodes, so that nobody can tell whose traffic it is", []).append(
                f'{job.title} ("{twice[0]}")'
            )
        else:
            kept.append(job)
    found = []
    for reason, titles in why.items():
        more = f" and {len(titles) - _TOLD} more" if len(titles) > _TOLD else ""
        what = f"{len(titles)} job{'s' if len(titles) > 1 else ''}"
        text = f"{label}: {what} left out, {reason}: {', '.join(titles[:_TOLD])}{more}"
        found.append(finding("job-left-out", text))
    if not kept:
        others = f"{past} ended before" if period is None else f"{past} ran at other times"
        told = [one["text"].removeprefix(f"{label}: ") for one in found] + [others] * (past > 0)
        reasons = "; ".join(told)
        raise PlaceError(f"{label}: no job is left: {reasons or 'none has nodes'}")
    return kept, found


def _there(jobs: Sequence[SlurmJob], period: Period | None) -> tuple[Sequence[SlurmJob], Sequence[SlurmJob]]:
    """Those that have their nodes, or had them in a period; and those of which that is not told."""
    if period is None:
        return [job for job in jobs if not job.ended], []
    there: list[SlurmJob] = []
    untold: list[SlurmJob] = []
    for job in jobs:
        if job.start is None or (job.ended and job.end is None):
            untold.append(job)
        elif period.meets(job):
            there.append(job)
    return there, untold


def jobs_file(jobs: Sequence[SlurmJob]) -> str:
    """The same as a jobs file: nodes are machines, tasks are ranks."""
    parts = []
    for job in jobs:
        lines = [f"name = {_quoted(job.title)}", f"hosts = [{', '.join(map(_quoted, job.nodes))}]"]
        # As many ranks as tasks, where these lie evenly; else only who was there.
        if job.tasks is not None and job.tasks >= len(job.nodes) and job.tasks % len(job.nodes) == 0:
            lines += [f"ranks = {job.tasks}", f"ranks_per_host = {job.tasks // len(job.nodes)}"]
        parts.append("\n".join(["[[job]]", *lines, ""]))
    return "\n".join(parts)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's too, but for the one octet that only TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _of_json(text: str, label: str) -> list[SlurmJob]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise FormatError(
            f"{label}:{line}: expected JSON as squeue --json prints it: {error}", label
        ) from None
    rows = whole.get("jobs")
    if not isinstance(rows, list):
        raise FormatError(f'{label}: expected "jobs", a list, as in squeue --json and sacct --json', label)
    jobs = []
    for number, row in enumerate(rows):
        where = f"{label}: job {number}"
        if not isinstance(row, Mapping):
            raise FormatError(f"{where}: expected an object", label)
        told = row.get("job_state", row.get("state"))
        told = told.get("current") if isinstance(told, Mapping) else told
        states = [told] if isinstance(told, str) else told if isinstance(told, list) else []
        nodes = row.get("nodes")
        steps = row.get("steps")
        tasks = _number(row.get("tasks"))
        if tasks is None and isinstance(steps, list):
            counts = [_number(step.get("tasks")) for step in steps if isinstance(step, Mapping)]
            tasks = max((count for count in counts if count is not None), default=None)
        made = _job(
            _component(row),
            row.get("name"),
            nodes,
            [str(one) for one in states],
            tasks,
            row.get("cluster"),
            where,
            _times(row),
        )
        if made is not None:
            jobs.append(made)
    return jobs


def _component(row: Mapping[str, Any]) -> Any:
    """The number of a job; of a part of a heterogeneous one as sacct prints it, `123+1`."""
    het = row.get("het")
    whole = _number(het.get("job_id")) if isinstance(het, Mapping) else None
    if whole is None or not isinstance(het, Mapping):
        return row.get("job_id")
    return f"{whole}+{_number(het.get('job_offset')) or 0}"


def _times(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """Start and end of a job of squeue, or of sacct."""
    time = row.get("time")
    time = time if isinstance(time, Mapping) else {}
    return row.get("start_time", time.get("start")), row.get("end_time", time.get("end"))


def _of_table(text: str, label: str) -> list[SlurmJob]:
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and _is_for_people(lines[start]):
        text = "expected squeue --json (or sacct -P), found squeue's table, which cuts names and lists short"
        raise FormatError(f"{label}:{start + 1}: {text}", label)
    header = [name.strip().lower() for name in lines[start].rstrip("|").split("|")]
    column = {name: at for at, name in enumerate(header)}
    number = column.get("jobid", column.get("jobidraw"))
    if number is None or "nodelist" not in column:
        expected = (
            "expected a header with JobID and NodeList (sacct -P -o JobID,JobName,NodeList,State,NTasks)"
        )
        raise FormatError(f"{label}:{start + 1}: {expected}", label)
    rows: dict[tuple[str, ...], int] = {}
    tasks: dict[str, int] = {}
    # sacct -p ends its lines with a bar too, sacct -P does not.
    ending = lines[start].endswith("|")
    for at, line in enumerate(lines[start + 1 :], start + 2):
        if not line.strip():
            continue
        cells = _cells(line.removesuffix("|") if ending else line, header, f"{label}:{at}")
        job, _, step = cells[number].partition(".")
        if not job:
            raise FormatError(f"{label}:{at}: expected a JobID, found none", label)
        ntasks = _number(cells[column["ntasks"]]) if "ntasks" in column else None
        if ntasks is not None:
            tasks[job] = max(ntasks, tasks.get(job, 0))
        if not step:
            rows.setdefault(tuple(cells), at)
    found = []
    for told, at in rows.items():
        row = {name: told[place] for name, place in column.items()}
        states = row.get("state", "").split()[:1]
        made = _job(
            told[number],
            row.get("jobname"),
            row["nodelist"],
            states,
            tasks.get(told[number]),
            row.get("cluster"),
            f"{label}:{at}",
            (row.get("start"), row.get("end")),
        )
        if made is not None:
            found.append(made)
    return found


def _cells(line: str, header: Sequence[str], where: str) -> list[str]:
    """A row's cells, with the bars that a name holds."""
    cells = line.split("|")
    more = len(cells) - len(header)
    if more > 0:
        free = [at for at, name in enumerate(header) if name in _FREE_TEXT]
        if [header[at] for at in free] != ["jobname"]:
            raise FormatError(
                f"{where}: expected {len(header)} columns, found {len(cells)}: a name with a bar?"
            )
        cells[free[0] : free[0] + more + 1] = ["|".join(cells[free[0] : free[0] + more + 1])]
    elif more < 0:
        raise FormatError(f"{where}: expected {len(header)} columns, found {len(cells)}")
    return [cell.strip() for cell in cells]


def _has_ended(state: str) -> bool:
    """Whether a job in this state has its nodes no more; sacct cuts long ones: `OUT_OF_ME+`."""
    word = state.upper()
    cut = word.removesuffix("+")
    return cut in _ENDED or (cut != word and len(cut) > 4 and any(one.startswith(cut) for one in _ENDED))


def _job(
    number: Any,
    name: Any,
    nodes: Any,
    states: list[str],
    tasks: int | None,
    cluster: Any,
    where: str,
    times: tuple[Any, Any],
) -> SlurmJob | None:
    """A job that has nodes, or had them; None for one that waits."""
    from netloom import _core

    start, end = map(_time, times)
    # A requeued job's earlier times have nodes, and an end.
    again = "REQUEUED" in states and start is not None and end is not None
    waits = any(one in _NOT_THERE for one in states) and not again
    if nodes is None or str(nodes).strip().lower() in _NO_NODES or waits:
        return None
    if not isinstance(nodes, str):
        raise FormatError(f"{where}: expected nodes as a hostlist, found {type(nodes).__name__}")
    if number is None:
        raise FormatError(f"{where}: expected a job_id, found none")
    try:
        hosts = list(dict.fromkeys(_core.expand_hostlist(nodes)))
    except NetloomError as error:
        raise FormatError(f"{where}: nodes: {error}") from None
    # `COMPLETING` alone is of a job whose nodes are not free yet; beside it stands what became of the job.
    ended = again or any(map(_has_ended, states))
    of = str(cluster) if cluster else None
    return SlurmJob(str(number), str(name or ""), hosts, tasks, of, ended, start, end)


def _time(told: Any) -> float | None:
    """Seconds since 1970 of a time as Slurm tells it; None for one that is not known (`Unknown`, 0)."""
    if isinstance(told, Mapping):
        told = None if told.get("set") is False else told.get("number")
    if isinstance(told, str):
        try:
            told = (
                float(told) if told.isascii() and told.isdigit() else datetime.fromisoformat(told).timestamp()
            )
        except (ValueError, OverflowError, OSError):
            return None
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(told) if math.isfinite(told) and told > 0 else None


def _number(told: Any) -> int | None:
    """A number as Slurm's versions tell it: 4, "4", {"set": true, "number": 4}, {"count": 4}."""
    if isinstance(told, Mapping):
        if told.get("set") is False:
            return None
        told = told.get("number", told.get("count"))
    if isinstance(told, str) and told.isascii() and told.isdigit():
        told = int(told)
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= 1 << 24 else None
