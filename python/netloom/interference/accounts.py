"""What a site knows of its jobs' runs: when they ran and where, and what the links carried meanwhile.

A run is one execution of a job. Runs of one name, on as many hosts, are taken to do the same work: that is
the assumption behind all that is told of losses.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom import slurm
from netloom.errors import FormatError

if TYPE_CHECKING:
    from netloom._core import Counters

COLUMNS = ("job", "number", "start", "end", "hosts")
"""Of a table of runs: hosts are names with spaces between."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JobRun:
    """A run of a job.

    Attributes
    ----------
    job : str
        Its name: runs of one name do the same.
    number : str
        Which run.
    start_s, end_s : float
        Seconds, by the counters' clock.
    hosts : tuple of int
        Numbers of hosts of the fabric.
    """

    job: str
    number: str
    start_s: float
    end_s: float
    hosts: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end_s - self.start_s


_UNKNOWN = {"saturated", "reset", "missing", "unsupported"}
"""Qualities of counters that do not say what a link carried."""


@dataclass(frozen=True)
class _Interval:
    """By directed link."""

    bytes: Array
    read: npt.NDArray[np.bool_]
    doubtful: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, links: int) -> _Interval:
        """One of which nothing was read."""
        return cls(np.zeros(links), np.zeros(links, dtype=bool), np.zeros(links, dtype=bool))

    def add(self, link: int, row: Mapping[str, str]) -> None:
        """A row of counters; of lanes, one that is not known is enough."""
        name = "xmit_bytes" if row["xmit_bytes"] else "rcv_bytes"
        doubts = dict(word.split("=", 1) for word in row["quality"].split())
        self.read[link] = True
        self.doubtful[link] |= not row[name] or bool(_UNKNOWN & set(doubts.get(name, "").split("+")))
        self.bytes[link] += float(row[name] or 0)


@dataclass(frozen=True)
class Carried:
    """What every link carried, interval by interval.

    Attributes
    ----------
    start_s, end_s : array of float
        Of the intervals.
    bytes : array of float
        By interval and directed link.
    known : array of bool
        Whether that was read, and neither saturated nor set back.
    """

    start_s: Array
    end_s: Array
    bytes: Array
    known: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, counters: Counters, links: int) -> Carried:
        """Of counters with their intervals' times.

        Parameters
        ----------
        counters : Counters
        links : int
            Directed links of the fabric.
        """
        # What is sent, not `measure`: ends that are read at two moments differ, and own loads are compared.
        whole: dict[tuple[int, int], _Interval] = {}
        by_lane: dict[tuple[int, int], _Interval] = {}
        for row in csv.DictReader(io.StringIO(counters.to_bytes().decode())):
            span = (int(row["start_ns"]), int(row["end_ns"]))
            of = (by_lane if row["lane"] else whole).setdefault(span, _Interval.of(links))
            of.add(int(row["link"]), row)
        # Lanes beside their whole link would count twice.
        found = by_lane | whole
        starts, ends = (np.array([span[at] for span in found]) / 1e9 for at in (0, 1))
        carried = np.array([one.bytes for one in found.values()]).reshape(len(found), links)
        known = np.array([one.read & ~one.doubtful for one in found.values()]).reshape(len(found), links)
        return cls(starts, ends, carried, known)

    def during(self, start_s: float, end_s: float) -> tuple[Array, Array]:
        """What each link carried in a time, bytes, and for which share of it that is known.

        Of an interval that is only partly in it, as large a part counts.
        """
        part = self.parts(start_s, end_s)
        here = np.flatnonzero(part)
        carried = part[here] @ self.bytes[here]
        if end_s <= start_s:
            return carried, np.zeros_like(carried)
        inside = part[here] * (self.end_s - self.start_s)[here]
        return carried, inside @ self.known[here] / (end_s - start_s)

    def across(self, start_s: float, end_s: float) -> float:
        """The share of a time that lies in intervals which reach beyond its start or its end.

        What was carried in those is not known to be of that time.
        """
        part = self.parts(start_s, end_s)
        beyond = (part > 0) & ((self.start_s < start_s) | (self.end_s > end_s))
        inside = float((part * (self.end_s - self.start_s))[beyond].sum())
        return inside / (end_s - start_s) if end_s > start_s else 0.0

    def parts(self, start_s: float, end_s: float) -> Array:
        """How much of each interval is in a time."""
        inside = np.maximum(np.minimum(self.end_s, end_s) - np.maximum(self.start_s, start_s), 0.0)
        length = self.end_s - self.start_s
        part: Array = np.divide(inside, length, out=np.zeros_like(inside), where=length > 0)
        return part


def read(data: bytes, label: str, hosts: Mapping[str, int]) -> tuple[list[JobRun], list[str]]:
    """Runs from a table (CSV), or from Slurm's `sacct`.

    Parameters
    ----------
    data : bytes
        The file.
    label : str
        Its name.
    hosts : mapping
        The numbers of hosts by their names, and by those of their machines.

    Returns
    -------
    list of JobRun, list of str
        And what was left out, in words.

    Raises
    ------
    FormatError
        If it is neither, or nothing is left.
    """
    left_out = list[str]()
    rows = _slurm(data, label, left_out) if slurm.is_slurm(data) else _table(data, label)
    found: list[JobRun] = []
    for job, number, start, end, names in rows:
        missing = [name for name in names if name not in hosts]
        if missing:
            left_out.append(f"{job} {number}: {missing[0]} is no host of the fabric")
        elif end <= start or len(names) < 2:
            left_out.append(f"{job} {number}: it took no time, or has one host")
        else:
            places = tuple(dict.fromkeys(hosts[name] for name in names))
            found.append(JobRun(job, number, start, end, places))
    if not found:
        raise FormatError(f"{label}: expected runs on hosts of the fabric, found none")
    return _told_apart(found, label), left_out


def _told_apart(runs: Sequence[JobRun], label: str) -> list[JobRun]:
    """Runs of one number, as of a job that was requeued, by their turn: `7`, `7#2`."""
    found: list[JobRun] = []
    last: dict[tuple[str, str], list[JobRun]] = {}
    for run in runs:
        earlier = last.setdefault((run.job, run.number), [])
        if any(run.start_s < one.end_s and one.start_s < run.end_s for one in earlier):
            what = f"{run.job} {run.number}".strip()
            raise FormatError(f"{label}: expected one run {what} at a time, found two that overlap")
        earlier.append(run)
        found.append(replace(run, number=f"{run.number}#{len(earlier)}") if len(earlier) > 1 else run)
    return found


def resolution_s(runs: Sequence[JobRun]) -> float:
    """To how many seconds starts and ends are told: 60, 1, 0.1, 0.01, 0.001; 0 if to less."""
    times = np.array([time for run in runs for time in (run.start_s, run.end_s)])
    for step in (60.0, 1.0, 0.1, 0.01, 0.001):
        # Seconds since 1970 are told to some millionths.
        if np.all(np.abs(times - np.round(times / step) * step) < 2e-6):
            return step
    return 0.0


_Row = tuple[str, str, float, float, Sequence[str]]


def _slurm(data: bytes, label: str, left_out: list[str]) -> list[_Row]:
    found: list[_Row] = []
    parts: dict[str, list[slurm.SlurmJob]] = {}
    jobs = slurm.read(data, label)
    heterogeneous = {job.number.partition("+")[0] for job in jobs if "+" in job.number}
    for job in jobs:
        if job.start is None or job.end is None or not job.ended:
            left_out.append(f"{job.name} {job.number}: it has not ended, or no start or end is told".strip())
        elif job.number.partition("+")[0] in heterogeneous:
            parts.setdefault(job.number.partition("+")[0], []).append(job)
        else:
            found.append((_name(job.name, job.number), job.number, job.start, job.end, job.nodes))
    # The components of a heterogeneous job are one program.
    for number, jobs in parts.items():
        for together in _at_once(jobs):
            start = min(job.start or 0.0 for job in together)
            end = max(job.end or 0.0 for job in together)
            nodes = list(dict.fromkeys(node for job in together for node in job.nodes))
            found.append((_name(together[0].name, number), number, start, end, nodes))
    return found


def _at_once(jobs: Sequence[slurm.SlurmJob]) -> list[list[slurm.SlurmJob]]:
    """Components by the time at which they ran: a job may be requeued."""
    found: list[list[slurm.SlurmJob]] = []
    until = -math.inf
    for job in sorted(jobs, key=lambda job: (job.start or 0.0, job.number)):
        if (job.start or 0.0) >= until:
            found.append([])
        found[-1].append(job)
        until = max(until, job.end or 0.0)
    return found


def _name(name: str, number: str) -> str:
    """A job without a name is itself alone, or all of its array."""
    return name or number.partition("_")[0]


def _table(data: bytes, label: str) -> list[_Row]:
    try:
        lines = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{label}: expected text, found other bytes") from None
    rows = csv.DictReader(io.StringIO(lines))
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or [])]
    if missing:
        expected = ", ".join(COLUMNS)
        raise FormatError(
            f"{label}:1: expected the columns {expected} (or what sacct -P prints), found no {missing[0]}"
        )
    found: list[_Row] = []
    for row in rows:
        where = f"{label}:{rows.line_num}"
        if None in row or None in row.values():
            raise FormatError(f"{where}: expected {len(rows.fieldnames or [])} columns, found more or fewer")
        try:
            start, end = float(row["start"]), float(row["end"])
        except ValueError:
            raise FormatError(f"{where}: expected start and end in seconds") from None
        if not (np.isfinite(start) and np.isfinite(end)):
            raise FormatError(f"{where}: expected start and end in seconds")
        number = row["number"] or f"line {rows.line_num}"
        found.append((_name(row["job"], number), number, start, end, row["hosts"].split()))
    return found
