"""What a site knows of its jobs' runs: when they ran and where, and what the links carried meanwhile.

A run is one execution of a job. Runs of one name, on as many hosts, are taken to do the same work: that is
the assumption behind all that is told of losses.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
        inside = np.minimum(self.end_s, end_s) - np.maximum(self.start_s, start_s)
        inside = np.maximum(inside, 0.0)
        length = self.end_s - self.start_s
        part = np.divide(inside, length, out=np.zeros_like(inside), where=length > 0)
        here = np.flatnonzero(inside)
        carried = part[here] @ self.bytes[here]
        if end_s <= start_s:
            return carried, np.zeros_like(carried)
        return carried, inside[here] @ self.known[here] / (end_s - start_s)


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
    found, left_out = [], list[str]()
    rows = _slurm(data, label, left_out) if slurm.is_slurm(data) else _table(data, label)
    for job, number, start, end, names in rows:
        missing = [name for name in names if name not in hosts]
        if missing:
            left_out.append(f"{job} {number}: {missing[0]} is no host of the fabric")
        elif end <= start or len(names) < 2:
            left_out.append(f"{job} {number}: it took no time, or has one host")
        else:
            found.append(JobRun(job, number, start, end, tuple(hosts[name] for name in names)))
    if not found:
        raise FormatError(f"{label}: expected runs on hosts of the fabric, found none")
    return found, left_out


_Row = tuple[str, str, float, float, Sequence[str]]


def _slurm(data: bytes, label: str, left_out: list[str]) -> list[_Row]:
    found: list[_Row] = []
    for job in slurm.read(data, label):
        if job.start is None or job.end is None or not job.ended:
            left_out.append(f"{job.name} {job.number}: it has not ended, or no start or end is told")
        else:
            found.append((job.name, job.number, job.start, job.end, job.nodes))
    return found


def _table(data: bytes, label: str) -> list[_Row]:
    try:
        lines = data.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{label}: expected text, found other bytes") from None
    rows = csv.DictReader(io.StringIO(lines))
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or [])]
    if missing:
        expected = ", ".join(COLUMNS)
        raise FormatError(f"{label}:1: expected the columns {expected}, found no {missing[0]}")
    found: list[_Row] = []
    for row in rows:
        try:
            start, end = float(row["start"]), float(row["end"])
        except (TypeError, ValueError):
            raise FormatError(f"{label}:{rows.line_num}: expected start and end in seconds") from None
        if not (np.isfinite(start) and np.isfinite(end)):
            raise FormatError(f"{label}:{rows.line_num}: expected start and end in seconds")
        found.append((row["job"] or "", row["number"] or "", start, end, (row["hosts"] or "").split()))
    return found
