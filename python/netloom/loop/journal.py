"""What rounds did, for good: a row a round in Parquet, written whole after every round.

Beside it, a folder a round with what went in and came out: counters, the inferred traffic of every phase,
the routes in force at its end. A round's row is written last, with the sums of its files, so that a row
stands for files that are there. Whoever is killed between two rounds leaves a journal of whole rounds.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom import extras
from netloom.errors import FormatError, NetloomError
from netloom.files import Folder
from netloom.loop.round import STEPS, Round
from netloom.reading import parquet

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic
    from netloom.loop.lived import Live
    from netloom.loop.prediction import Layers
    from netloom.loop.simulated import Output

FILE = "journal.parquet"
LOCK = "in-use"
"""What a loop that runs keeps in its folder."""
SUMMARY = "summary.html"
"""The same as a page; who runs the loop writes it."""
_FOLDER = "round-{:04d}"
_ROUND = re.compile(r"round-[0-9]{4,9}")
_OURS = re.compile(r"(counters\.csv|routes\.lfts|traffic(-\d+)?\.mtx)\.gz")
"""What rounds leave; other files in their folders are somebody's own."""


class Journal:
    """The rounds of one loop, in a folder.

    Parameters
    ----------
    folder : path
        Where it is; made if need be. A journal that is there is gone on with, or replaced.
    append : bool
        Go on with the rows that are there.
    """

    def __init__(self, folder: Path, *, append: bool = False) -> None:
        self.folder = folder
        self._rows: list[dict[str, Any]] = []
        if not folder.is_dir():
            with Folder.open(folder.parent) as parent:
                parent.make(folder.name)
        if append and (folder / FILE).is_file():
            self._rows = read(folder)
        elif not append:
            self.clear()

    def clear(self) -> None:
        """Takes away the journal that is there, its file first; files that no journal writes stay."""
        with Folder.open(self.folder) as journal:
            journal.remove(FILE)
            journal.remove_own(_ROUND, _OURS)
        self._rows = []

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What it holds."""
        return self._rows

    def append(
        self, entry: Round, files: Mapping[str, bytes] | None = None, more: Mapping[str, Any] | None = None
    ) -> None:
        """Writes down a round, and its files before it; `more` are columns of a live one.

        Raises
        ------
        OSError
            If there is no room, or no permission: nothing is half written.
        """
        with Folder.open(self.folder) as journal:
            self._append(journal, entry, files or {}, more or {})

    def _append(
        self, journal: Folder, entry: Round, files: Mapping[str, bytes], more: Mapping[str, Any]
    ) -> None:
        where = _FOLDER.format(entry.number)
        sums: list[str] = []
        for name, data in sorted(files.items()):
            with journal.folder(where, make=True) as folder:
                folder.write(name, data)
            sums.append(f"{name} {hashlib.sha256(data).hexdigest()}")
        row = entry.result()
        seconds = row.pop("seconds")
        row |= {f"seconds_{step}": seconds.get(step) for step in STEPS}
        row["files"] = sums
        row |= more
        rows = [*self._rows, row]
        journal.write(FILE, _parquet(rows))
        self._rows = rows


def files_of(output: Output) -> dict[str, bytes]:
    """What a simulated round leaves: counters, traffic by phase, routes."""
    found = {
        "counters.csv.gz": _packed(output.counters.to_bytes()),
        "routes.lfts.gz": _packed(output.routes.to_bytes()),
    }
    return found | _traffic(output.layers)


def of_live(live: Live) -> tuple[Round, dict[str, bytes], dict[str, Any]]:
    """What a live round leaves: its row; counters, traffic and tables, as far as there are; more columns."""
    files = {"routes.lfts.gz": _packed(live.after.tables.to_bytes())}
    if live.counters is not None:
        files["counters.csv.gz"] = _packed(live.counters.to_bytes())
    files |= _traffic(live.layers)
    more = {
        "mads": live.mads,
        "journal_id": None if live.applied is None else live.applied.journal_id,
        "findings": [f"{one['kind']}: {one['text']}" for one in live.findings],
        "hosts": live.before.fabric.hosts_hash,
        "weights": [weight for _, weight in live.layers],
    }
    return live.round, files, more


Remembered: TypeAlias = "tuple[int, str, Layers]"
"""A round's number, the sum of its jobs, its traffic."""


def remembered(journal: Journal, fabric: Fabric, rounds: int) -> list[Remembered]:
    """What the last live rounds have shown, as far as they were sure enough of it to propose routes.

    Parameters
    ----------
    journal : Journal
        Of live rounds.
    fabric : Fabric
        Rounds that saw other hosts are left out, and those whose files are gone or not as they were written.
    rounds : int
        How many rounds back.

    Returns
    -------
    list of (int, str, layers)
        Oldest first.
    """
    found: list[Remembered] = []
    for row in journal.rows[-rounds:] if rounds > 0 else []:
        if not row["proposed"] or row.get("hosts") != fabric.hosts_hash:
            continue
        sums = dict(line.split(" ", 1) for line in row["files"])
        weights = row.get("weights") or []
        names = [_traffic_name(number, len(weights)) for number in range(len(weights))]
        with contextlib.suppress(OSError, NetloomError):
            layers = [
                (_unpacked(journal.folder, row["number"], name, sums[name], fabric), weight)
                for name, weight in zip(names, weights, strict=True)
                if name in sums
            ]
            if layers and len(layers) == len(weights):
                found.append((row["number"], row["jobs"], layers))
    return found


def _unpacked(folder: Path, number: int, name: str, told: str, fabric: Fabric) -> Traffic:
    """The traffic that a round has written."""
    from netloom import _core
    from netloom.interop import from_scipy

    label = f"{_FOLDER.format(number)}/{name}"
    with Folder.open(folder) as journal, journal.folder(_FOLDER.format(number)) as there:
        data = there.read(name)
    if hashlib.sha256(data).hexdigest() != told:
        raise FormatError(f"{label}: is not what the round has written", label)
    traffic = _core.Traffic.parse(_core.gunzip(data, label), "mtx", label=label)
    return from_scipy(traffic.to_scipy(), fabric.hosts_hash)


def _traffic(layers: Layers) -> dict[str, bytes]:
    """A file a phase."""
    return {
        _traffic_name(number, len(layers)): _packed(traffic.to_bytes("mtx"))
        for number, (traffic, _) in enumerate(layers)
    }


def _traffic_name(number: int, count: int) -> str:
    return "traffic.mtx.gz" if count == 1 else f"traffic-{number}.mtx.gz"


def rounds_of(rows: Sequence[Mapping[str, Any]]) -> list[Round]:
    """The rounds of a journal's rows, as a loop remembers them."""
    names = {one.name for one in fields(Round)} - {"seconds"}
    return [
        Round(
            seconds={
                step: row[f"seconds_{step}"] for step in STEPS if row.get(f"seconds_{step}") is not None
            },
            **{name: row[name] for name in names if name in row},
        )
        for row in rows
    ]


def is_live(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a journal's rows are of rounds on a fabric, not in the simulator."""
    return all("mads" in row for row in rows)


def read(folder: Path) -> list[dict[str, Any]]:
    """The rows of a journal.

    Raises
    ------
    FormatError
        If its file is damaged, or something else.
    """
    extras.need("arrow")
    import pyarrow as pa

    with Folder.open(folder) as journal:
        data = journal.read(FILE)
    label = str(folder / FILE)
    table = parquet.table(data, label, "the journal of a loop")
    try:
        rows: list[dict[str, Any]] = table.to_pylist()
    except (pa.ArrowException, ValueError, OSError) as error:  # Arrow has no class of its own for all.
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{label}: expected the journal of a loop ({why})", label) from None
    return rows


def is_journal(folder: Path) -> bool:
    """Whether a folder holds a journal, or nothing but the lock of a loop that was killed."""
    if not folder.exists():
        return True
    with Folder.open(folder) as there:
        return there.kind(FILE) == "file" or all(name == LOCK for name in there.names())


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=0)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {"bound_class", "phase", "jobs", "verdict", "decision", "reason", "routes", "proposed", "hosts"}
    whole = {"number", "changed_entries", "inferred_phases", "mads", "journal_id"}

    def kind(name: str) -> pa.DataType:
        if name in ("files", "findings"):
            return pa.list_(pa.string())
        if name == "weights":
            return pa.list_(pa.float64())
        return pa.string() if name in texts else pa.int64() if name in whole else pa.float64()

    schema = pa.schema([(name, kind(name)) for name in rows[-1]])
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out)
    return out.getvalue()
