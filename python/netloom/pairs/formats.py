"""Files with measured pairs: a table, and what LinkTest, hp2p and nccl-tests print or write.

Grammar.

- Table: CSV with the columns `from`, `to` (hosts) and `bytes_per_s`; optional `round` (pairs of equal rounds
  ran at the same time; empty: alone; `?`: beside others that are not known) and `mode`: `one-way` (also if
  empty), `both-ways` (both hosts sent at once; the rate of the slower direction), `ping-pong` (both sent in
  turn; bytes of a message over half of the time there and back).
- LinkTest 1.x, standard output: ranks and hosts from `task[000003] on HOST (…`, pairs alone from
  ` Task   0 to Task   3: … (123.45 MB/s)`, repeated pairs from `0: PINGPONG 1 <-> 2: 1st: … 2nd: …`: the
  first beside others, the second alone; the fastest of all pairs from `RESULT: Min Time:`. MB are 2^20 bytes.
- hp2p 4.x, `-f bin`: int32 n; n names of equal size; n x n doubles bytes per second, n x n doubles seconds,
  n x n int32 counts; little endian. Every iteration pairs all ranks anew, and rates are means over
  iterations: which pairs ran at the same time is not known.
- nccl-tests, standard output, any number of runs one after another: hosts from
  `#  Rank  0 … on HOST device …`, `busbw` of the largest size, out of place, GB/s of 10^9 bytes. Runs between
  two hosts with a rank each.

Sources: LinkTest 1.2p1 (`mpilinktest.c`), hp2p 4.1 (`hp2p_result.c`), nccl-tests 2.13 (`common.cu`).
"""

from __future__ import annotations

import csv
import io
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from netloom import reading
from netloom.errors import FormatError
from netloom.pairs.measured import ALONE, UNKNOWN, PairTest, PairTests

COLUMNS = ("from", "to", "bytes_per_s")
"""That every table has."""
_MODES = {
    "": (False, False),
    "one-way": (False, False),
    "both-ways": (True, False),
    "ping-pong": (False, True),
}
_MOST = 1e15
"""Bytes per second: more is no rate."""
_TASK = re.compile(r"^task\[ *(\d+)\] on (\S+) \(", re.MULTILINE)
_PRETEST = re.compile(r"^ *Task +(\d+) to Task +(\d+): *[0-9.]+us \( *([0-9.]+) MB/s\)", re.MULTILINE)
_FASTEST = re.compile(r"^RESULT: Min Time: +[0-9.]+us \( *([0-9.]+) MB/s\)", re.MULTILINE)
_RETEST = re.compile(
    r"^ *\d+: PINGPONG +(\d+) +<-> +(\d+): +1st: *[0-9.]+us \( *([0-9.]+) MB/s\)"
    r" +2nd: *[0-9.]+us \( *([0-9.]+) MB/s\)",
    re.MULTILINE,
)
_RANK = re.compile(r"^# +Rank +(\d+) .*? on +(\S+) +device +(\d+)")
_BOTH_SEND = ("sendrecv_perf", "alltoall_perf", "all_reduce_perf", "all_gather_perf", "reduce_scatter_perf")


@dataclass
class Read:
    """What a file has.

    Attributes
    ----------
    tool : str
        `table`, `linktest`, `hp2p` or `nccl-tests`.
    tests : PairTests
        Pairs of hosts of the fabric.
    left_out : dict of str to int
        Why rows were left out, and how many.
    rounds : list of str
        Names of the rounds, by number.
    partial : set of int
        Rounds of which a row was left out.
    fastest : float, optional
        Bytes per second of the fastest of all pairs, where a file has only some and says that.
    """

    tool: str
    tests: PairTests
    left_out: dict[str, int] = field(default_factory=dict)
    rounds: list[str] = field(default_factory=list)
    partial: set[int] = field(default_factory=set)
    fastest: float | None = None


def read(data: bytes, label: str, hosts: Mapping[str, int]) -> Read:
    """The pairs of a file.

    Parameters
    ----------
    data : bytes
        The file.
    label : str
        Its name.
    hosts : mapping of str to int
        The numbers of hosts by their names; -1 for a name that several have.

    Raises
    ------
    FormatError
        If it is none of these, or no pair of hosts of the fabric is left.

    Examples
    --------
    >>> read(b"from,to,bytes_per_s\\na,b,12e9\\n", "pairs.csv", {"a": 0, "b": 1}).tests.bytes_per_s
    array([1.2e+10])
    """
    if data.startswith(b"\x1f\x8b"):
        data = reading.gunzip(data, label)
    found = _Rows(label, hosts)
    text = data.decode("utf-8", "replace")
    if _is_hp2p(data):
        tool = "hp2p"
        _hp2p(data, found)
    elif "nThread" in text[:10_000] and "# " in text[:10_000]:
        tool = "nccl-tests"
        _nccl(text, found)
    elif _TASK.search(text) or _RETEST.search(text):
        tool = "linktest"
        _linktest(text, found)
    else:
        tool = "table"
        _table(data, found)
    if not found.tests:
        why = "; ".join(f"{many} {reason}" for reason, many in found.left_out.items())
        expected = "expected pairs of hosts of the fabric with a rate, found none"
        raise FormatError(f"{label}: {expected}{f' ({why})' if why else ''}")
    tests = PairTests.of(found.tests)
    return Read(tool, tests, found.left_out, list(found.rounds), found.partial, found.fastest)


class _Rows:
    """Rows as they are found, with hosts looked up."""

    def __init__(self, label: str, hosts: Mapping[str, int]) -> None:
        self.label, self.hosts = label, hosts
        self.tests: list[PairTest] = []
        self.left_out: dict[str, int] = {}
        self.rounds: dict[str, int] = {}
        self.partial: set[int] = set()
        self.fastest: float | None = None

    def add(self, source: str, destination: str, rate: float, number: int, mode: str, place: str) -> None:
        """A row, unless it is of no use."""
        ends = [self.hosts.get(name, self.hosts.get(name.split(".")[0])) for name in (source, destination)]
        if not 0 <= rate <= _MOST:
            raise FormatError(
                f"{place}: expected a rate from 0 to {_MOST:g} bytes per second, found {rate:g}"
            )
        if number >= 0 and (None in ends or -1 in ends or rate == 0):
            # Who ran beside the others of this round is then not known.
            self.partial.add(number)
        if None in ends:
            self.leave("with a name that is no host of the fabric")
        elif -1 in ends:
            self.leave("of a machine with several adapters: name the host as `netloom fabric show` does")
        elif ends[0] == ends[1]:
            self.leave("with both ends on one host")
        elif rate == 0:
            self.leave("with a rate of 0: not measured, or failed")
        else:
            assert ends[0] is not None
            assert ends[1] is not None
            self.tests.append(PairTest(ends[0], ends[1], rate, number, *_MODES[mode]))

    def leave(self, why: str) -> None:
        """Counts a row that is left out."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


def _table(data: bytes, found: _Rows) -> None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{found.label}: expected a table (CSV) in UTF-8: {error.reason}") from None
    # Comments keep their place, so that lines have their numbers.
    lines = ["" if line.startswith("#") else line for line in io.StringIO(text)]
    reader = csv.DictReader(lines, strict=True)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise FormatError(
                f"{found.label}:1: expected the columns {', '.join(COLUMNS)} (or output of LinkTest or "
                f"nccl-tests, or hp2p's -f bin), found {', '.join(names)[:80] or 'nothing'}"
            )
        for row in reader:
            _row(row, f"{found.label}:{reader.line_num}", found)
    except csv.Error as error:
        raise FormatError(f"{found.label}:{reader.line_num}: {error}") from None


def _row(row: Mapping[str, str | None], place: str, found: _Rows) -> None:
    values = {name: (row.get(name) or "").strip() for name in (*COLUMNS, "round", "mode")}
    if None in row or not values["from"] or not values["to"]:
        raise FormatError(
            f"{place}: expected a host in each of from and to, and no more columns than line 1 has"
        )
    if values["mode"] not in _MODES:
        modes = ", ".join(name for name in _MODES if name)
        raise FormatError(f"{place}: expected one of {modes} as mode, found {values['mode'][:40]}")
    try:
        rate = float(values["bytes_per_s"] or 0)
    except ValueError:
        found_text = values["bytes_per_s"][:40]
        raise FormatError(f"{place}: expected bytes per second, found {found_text}") from None
    number = {"": ALONE, "?": UNKNOWN}.get(values["round"])
    if number is None:
        number = found.rounds.setdefault(values["round"], len(found.rounds))
    found.add(values["from"], values["to"], rate, number, values["mode"], place)


def _linktest(text: str, found: _Rows) -> None:
    hosts = {int(rank): host for rank, host in _TASK.findall(text)}

    def add(ends: tuple[str, str], rate: str, number: int) -> None:
        names = [hosts.get(int(rank)) for rank in ends]
        if None in names:
            missing = ends[names.index(None)]
            raise FormatError(f"{found.label}: expected a line task[{missing}] on HOST, found none")
        source, destination = names
        assert source is not None
        assert destination is not None
        found.add(source, destination, float(rate) * 2**20, number, "ping-pong", found.label)

    fastest = [float(rate) for rate in _FASTEST.findall(text)]
    found.fastest = max(fastest) * 2**20 if fastest else None
    for source, destination, rate in _PRETEST.findall(text):
        add((source, destination), rate, ALONE)
    for source, destination, first, second in _RETEST.findall(text):
        add((source, destination), first, UNKNOWN)
        add((source, destination), second, ALONE)


_WIDTHS = (256, 128, 64, 512, 1024)
"""Sizes of a processor's name in MPIs: Open MPI and MVAPICH 256, MPICH 128."""


def _width(data: bytes) -> int | None:
    """The bytes of a name in a file of hp2p; None if it is none."""
    if len(data) < 4:
        return None
    (n,) = struct.unpack_from("<i", data)
    if not 2 <= n <= 1 << 20:
        return None
    names = len(data) - 4 - 20 * n * n
    return names // n if names > 0 and names % n == 0 and names // n in _WIDTHS else None


def _is_hp2p(data: bytes) -> bool:
    return _width(data) is not None


def _hp2p(data: bytes, found: _Rows) -> None:
    width = _width(data)
    assert width is not None
    (n,) = struct.unpack_from("<i", data)
    names = [
        data[4 + width * rank : 4 + width * (rank + 1)].split(b"\0")[0].decode("utf-8", "replace")
        for rank in range(n)
    ]
    rates = np.frombuffer(data, "<f8", n * n, 4 + width * n).reshape(n, n)
    counts = np.frombuffer(data, "<i4", n * n, len(data) - 4 * n * n).reshape(n, n)
    if not np.isfinite(rates).all() or (rates < 0).any():
        raise FormatError(f"{found.label}: expected bytes per second, 0 or more, found other numbers")
    for source, destination in np.argwhere((counts > 0) & (rates > 0)).tolist():
        # Each measures for itself; with `-d` names have a device behind a colon.
        ends = (names[source].split(":")[0], names[destination].split(":")[0])
        rate = float(rates[source, destination])
        found.add(*ends, rate, UNKNOWN, "both-ways", found.label)


def _nccl(text: str, found: _Rows) -> None:
    for begin, run in _runs(text):
        if len(run.hosts) != 2 or len(run.ranks) != 2:
            found.leave("runs of nccl-tests that are not between two hosts with a rank each")
        elif run.test is not None and run.test not in _BOTH_SEND:
            found.leave(f"runs of {run.test}, in which not both hosts send")
        elif run.rate is None:
            found.leave("runs of nccl-tests without a row of results")
        else:
            place = f"{found.label}:{begin}"
            source, destination = run.hosts
            found.add(source, destination, run.rate * 1e9, ALONE, "both-ways", place)


@dataclass
class _Run:
    """A run of nccl-tests."""

    test: str | None
    hosts: list[str] = field(default_factory=list)
    ranks: list[str] = field(default_factory=list)
    rate: float | None = None
    column: int = -1


def _runs(text: str) -> Iterator[tuple[int, _Run]]:
    run: _Run | None = None
    begin, test = 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# Collective test starting:"):
            test = line.rpartition(":")[2].strip()
        elif line.startswith("# nThread"):
            if run is not None:
                yield begin, run
            run, begin, test = _Run(test), number, None
        elif run is None:
            continue
        elif rank := _RANK.match(line):
            run.ranks.append(rank[1])
            if rank[2] not in run.hosts:
                run.hosts.append(rank[2])
        elif line.startswith("#") and "busbw" in line:
            run.column = line[1:].split().index("busbw")
        elif line and not line.startswith("#") and run.column >= 0:
            words = line.split()
            # Other programs print between; a row begins with its size.
            if len(words) > run.column and words[0].isdigit():
                run.rate = _number(words[run.column])
    if run is not None:
        yield begin, run


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
