"""A sweep's folder: `parts/` with Parquet files of ended runs, `table.parquet` of all, `manifest.json`.

A part is named by the sum of its content and written by rename: it is there whole or not at all, and one that
was altered, or has other columns, is not read but told. Each task of an array has a folder of its own in
`parts/`, and reads no other's, so that it begins as fast beside ten thousand parts as beside ten. The
manifest says what the folder is for from the start, and at the end has the sum of the table and of every part
that went into it.

Small parts are joined to one, which is written before they are removed: a run may be in two parts.

Invariants: a part is never changed, a row of a run never replaced, and a part goes only when another has its
rows; so whoever reads while others join looks again for what came meanwhile, and has all. The table's rows
are in the order of the sweep's runs, whoever ran them. What a clock says is in the parts only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import interop
from netloom.errors import FormatError
from netloom.files import Folder
from netloom.manifest import MANIFEST, digest, is_whole, total_sum
from netloom.reading import parquet
from netloom.runs import lock
from netloom.sweeps import kept
from netloom.sweeps.spec import ROUTES, SEED, Spec, parse

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom.sweeps.work import Ended

PARTS, TABLE = "parts", "table.parquet"
SKIPPED = ("skipped", "skipped_error")
"""Columns where that was asked for: which share of a run was not simulated, as it repeats what was; and the
error that was foreseen, null where all that was left out repeats exactly."""
SCHEMA = "netloom.sweep-folder/1"
LOST = "its worker "
"""How the error of a run begins that no worker survived: it is run again."""
MOST_PARTS = 64
"""Small parts that are left as they are: reading one costs more than its rows."""
_LONGEST = 200
"""Letters of what another sweep's manifest says, in an error."""
_LARGE = 50_000
"""Rows of a part that is not joined any more."""
_PART = re.compile(r"[0-9a-f]{64}\.parquet")
_TASK = re.compile(r"task-\d{1,10}-of-\d{1,10}")
_IDENTITY = ("netloom", "scenario", "varied", "keep")
"""What two sweeps that share a folder agree on."""


class Store:
    """The folder of a sweep.

    Parameters
    ----------
    path : Path
        The folder.
    spec : Spec
        The sweep.
    about : mapping
        What the manifest says of it; `netloom`, `scenario` (a sum), `varied`, `keep` and `skip_repeats` say
        whether what is there belongs to it.
    task : (int, int), optional
        The number of a task, and of how many: its parts have a folder of their own, others' are not read.
    """

    def __init__(
        self, path: Path, spec: Spec, about: Mapping[str, Any], task: tuple[int, int] | None = None
    ) -> None:
        self.path, self.spec, self.about = path, spec, about
        self._own = None if task is None else f"task-{task[0]}-of-{task[1]}"
        self._large: set[str] = set()
        self.damaged: list[str] = []
        """Parts that are not what was written; their runs are run again."""
        self.strange: list[str] = []
        """Parts whose columns, or their types, are not this sweep's; the same goes for their runs."""

    @property
    def _skipped(self) -> Sequence[str]:
        return () if self.spec.skip_repeats is None else SKIPPED

    def prepare(self) -> None:
        """Makes the folder, or takes one of the same sweep.

        Raises
        ------
        OSError
            If it cannot be written, or is not empty and no sweep's.
        FormatError
            If it is another sweep's, or its manifest was altered.
        """
        with Folder.open(self.path, make=True) as folder:
            before = manifest_of(folder)
            if before is not None:
                self._compare(before)
            with folder.folder(PARTS, make=True):
                pass
            if before is None or before["sweep"] != self.about["sweep"]:
                folder.write(MANIFEST, _sealed({"schema": SCHEMA, **self.about, "table": None, "parts": {}}))

    def join_in(self, *, same_text: bool) -> None:
        """Looks whether a folder was made for this sweep; changes nothing in it.

        Parameters
        ----------
        same_text : bool
            Whether for this very text of it, not for a larger or smaller one.

        Raises
        ------
        OSError
            If there is none, it is empty or no sweep's.
        FormatError
            If it is another sweep's, or its manifest was altered.
        """
        with Folder.open(self.path) as folder:
            before = manifest_of(folder)
            if before is None:
                told = "is empty: expected a folder of netloom sweep run"
                raise FileNotFoundError(errno.ENOENT, told, str(self.path))
            self._compare(before)
            if same_text and before["sweep"]["text"] != self.about["sweep"]["text"]:
                told = "is of another sweep: expected a folder of this one (netloom sweep run --slurm)"
                raise FormatError(f"{self.path}: {told}", str(self.path))

    def _compare(self, before: Mapping[str, Any]) -> None:
        words = {
            "netloom": "was made by netloom {}: expected {}",
            "scenario": "is of another scenario: expected a folder of this one, or a new one",
            "varied": "has a sweep over {}: expected {}, or a new folder",
            "keep": "has a sweep that keeps {}: expected {}, or a new folder",
        }
        for key in _IDENTITY:
            if before[key] != self.about[key]:
                there, here = (
                    ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                    for value in (before[key], self.about[key])
                )
                there = there[:_LONGEST]
                raise FormatError(f"{self.path}: {words[key].format(there, here)}", str(self.path))
        there, here = (_skips(about.get("skip_repeats")) for about in (before, self.about))
        if there != here:
            told = f"has runs {there}: expected runs {here}, or a new folder"
            raise FormatError(f"{self.path}: {told}", str(self.path))

    def schema(self, *, clocked: bool) -> pa.Schema:
        """The columns of the table; `clocked`: of the parts, with `seconds`."""
        import pyarrow as pa

        kinds = {
            "integer": pa.int64(),
            "number": pa.float64(),
            "boolean": pa.bool_(),
            "string": pa.string(),
        }
        fields = [(key, _kind(self.spec.of(key))) for key in self.spec.varied if key not in (SEED, ROUTES)]
        fields += [("run", pa.string()), (SEED, pa.int64())]
        fields += [(key, pa.string()) for key in ("routing", "job", "stopped")]
        fields += [(key, kinds[kept.kind_of(key)]) for key in self.spec.keep]
        fields += [(name, pa.float64()) for name in self._skipped]
        fields += [("seconds", pa.float64())] if clocked else []
        return pa.schema([*fields, ("error", pa.string())])

    def write_part(self, runs: Iterable[tuple[str, Mapping[str, Any], Ended]]) -> None:
        """Writes ended runs, each with its key and its values, as a part."""
        import pyarrow as pa

        schema = self.schema(clocked=True)
        columns: list[list[Any]] = [[] for _ in schema.names]
        for key, values, ended in runs:
            first = [_cell(values[name]) for name in self.spec.varied if name not in (SEED, ROUTES)]
            none = [None, values.get(SEED), None, *(None for _ in (*self.spec.keep, *self._skipped))]
            for job, seed, *rest in ended["rows"] or [none]:
                row = [*first, key, seed, values[ROUTES], job, *rest, ended["seconds"], ended["error"]]
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        self._write(_lean(pa.Table.from_arrays(arrays, schema=schema)))

    def _write(self, data: bytes) -> str:
        """Writes a part where this process's are; returns its name."""
        name = f"{digest(data)}.parquet"
        with Folder.open(self.path) as folder, folder.folder(PARTS) as parts:
            if self._own is None:
                parts.write(name, data)
                return name
            with parts.folder(self._own, make=True) as own:
                own.write(name, data)
            return f"{self._own}/{name}"

    def _names(self) -> list[str]:
        """The parts that are read, as seen from `parts/`: of a task those of all and its own, else all."""
        with Folder.open(self.path) as folder, folder.folder(PARTS) as parts:
            there = parts.names()
            found = [name for name in there if _PART.fullmatch(name)]
            tasks = [name for name in there if _TASK.fullmatch(name) and self._own in (None, name)]
            for task in tasks:
                if parts.kind(task) == "folder":
                    with parts.folder(task) as own:
                        found += [f"{task}/{name}" for name in own.names() if _PART.fullmatch(name)]
        return found

    def parts(self) -> Iterator[tuple[str, pa.Table]]:
        """Names and tables of the parts that are whole, by name; also of those that came meanwhile."""
        seen: set[str] = set()
        while new := [name for name in self._names() if name not in seen]:
            seen.update(new)
            for name in new:
                # One that has gone is in another, which is there by now.
                with contextlib.suppress(FileNotFoundError):
                    table = self._part(name)
                    if table is not None:
                        yield name, table

    def _part(self, name: str) -> pa.Table | None:
        """A part; None if it is not what was written, or another sweep's."""
        with _opened(self.path, name) as (folder, last):
            data = folder.read(last)
        if f"{digest(data)}.parquet" != last:
            self.damaged.append(name)
            return None
        table = parquet.table(data, str(self.path / PARTS / name))
        if not table.schema.equals(self.schema(clocked=True)):
            self.strange.append(name)
            return None
        return table

    def join(self, most: int | None = None) -> None:
        """Joins small parts, if there are many; a task its own, else all, and those of tasks be they few.

        Parameters
        ----------
        most : int, optional
            So many may stay. [default: `MOST_PARTS`]
        """
        small: list[tuple[str, pa.Table]] = []
        rows = 0
        for name, table in self._fresh():
            if table.num_rows >= _LARGE and self._is_own(name):
                self._large.add(name)
                continue
            small.append((name, table))
            rows += table.num_rows
            if rows >= _LARGE:
                self._large.add(self._joined(small))
                small, rows = [], 0
        strange = any(not self._is_own(name) for name, _ in small)
        if strange or len(small) > (MOST_PARTS if most is None else most):
            self._joined(small)

    def _fresh(self) -> Iterator[tuple[str, pa.Table]]:
        """The parts that may be joined, but those that are known to be large."""
        for name in self._names():
            # A task leaves what is everybody's alone.
            if name not in self._large and (self._own is None or self._is_own(name)):
                with contextlib.suppress(FileNotFoundError):
                    table = self._part(name)
                    if table is not None:
                        yield name, table

    def _is_own(self, name: str) -> bool:
        return name.rpartition("/")[0] == (self._own or "")

    def _joined(self, small: Sequence[tuple[str, pa.Table]]) -> str:
        """Writes one part of several, then removes them."""
        whole = _once([table for _, table in small])
        joined = self._write(interop.table_bytes(whole, ".parquet"))
        for name, _ in small:
            if name != joined:
                with contextlib.suppress(FileNotFoundError), _opened(self.path, name) as (folder, last):
                    folder.remove(last)
        return joined

    def done(self) -> tuple[set[str], set[str]]:
        """Keys of the runs that are there; and of those, the ones that failed."""
        done, failed = set(), set()
        for _, table in self.parts():
            for key, error in zip(table["run"].to_pylist(), table["error"].to_pylist(), strict=True):
                if error is None or not error.startswith(LOST):
                    done.add(key)
                    if error is not None:
                        failed.add(key)
        return done, failed

    def merge(self, keys: Iterable[str]) -> pa.Table:
        """Writes the table of these runs, as far as they are there, in this order; returns it."""
        import pyarrow as pa

        schema = self.schema(clocked=False)
        rows: dict[str, list[int]] = {}
        lost: dict[str, list[int]] = {}
        tables, names, at = [], [], 0
        for name, table in self.parts():
            names.append(name)
            here: dict[str, list[int]] = {}
            for key, is_lost in _runs(table):
                if is_lost:
                    lost.setdefault(key, [at])
                else:
                    here.setdefault(key, []).append(at)
                at += 1
            for key, numbers in here.items():
                rows.setdefault(key, numbers)
            tables.append(table.drop_columns(["seconds"]))
        order = [number for key in keys for number in rows.get(key) or lost.get(key) or ()]
        whole = pa.concat_tables(tables) if tables else schema.empty_table()
        merged = whole.take(pa.array(order, pa.int64())).combine_chunks()
        data = interop.table_bytes(merged, ".parquet")
        sums = {name: name.partition(".")[0] for name in names}
        with Folder.open(self.path) as folder:
            folder.write(TABLE, data)
            about = {"schema": SCHEMA, **self.about, "table": digest(data), "parts": sums}
            folder.write(MANIFEST, _sealed(about))
        return merged


def _runs(table: pa.Table) -> Iterator[tuple[str, bool]]:
    """Of every row of a part its run, and whether it says that no worker survived it."""
    for key, error in zip(table["run"].to_pylist(), table["error"].to_pylist(), strict=True):
        yield key, error is not None and error.startswith(LOST)


def _once(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows of parts; of a run that several have those of the first, and of one that ended only these."""
    import pyarrow as pa

    said = [list(_runs(table)) for table in tables]
    taken = {key for rows in said for key, is_lost in rows if not is_lost}
    found = []
    done: set[str] = set()
    for table, rows in zip(tables, said, strict=True):
        mask = [key not in done and not (is_lost and key in taken) for key, is_lost in rows]
        done |= {key for (key, _), keep in zip(rows, mask, strict=True) if keep}
        found.append(table if all(mask) else table.filter(pa.array(mask, pa.bool_())))
    return pa.concat_tables(found).combine_chunks()


def _lean(table: pa.Table) -> bytes:
    """A part of few rows: what a file says of itself takes longer to read than what it holds."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    plain = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    pq.write_table(table, out, compression="zstd", **plain)
    return out.getvalue()


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator[tuple[Folder, str]]:
    """The folder that a part is in, and its name there."""
    task, _, last = name.rpartition("/")
    with Folder.open(path) as folder, folder.folder(PARTS) as parts:
        if not task:
            yield parts, last
            return
        with parts.folder(task) as own:
            yield own, last


def manifest_of(folder: Folder) -> dict[str, Any] | None:
    """What a sweep's folder says of itself; None if it is empty.

    Raises
    ------
    OSError
        If it holds something else.
    FormatError
        If it was altered.
    """
    names = [name for name in folder.names() if name != lock.NAME and not name.startswith(".netloom-")]
    if not names:
        return None
    if folder.kind(MANIFEST) != "file":
        raise OSError(
            errno.ENOTEMPTY, f"is not empty and has no {MANIFEST}: expected a new folder", str(folder.path)
        )
    file = folder.path / MANIFEST
    try:
        document = json.loads(folder.read(MANIFEST))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise FormatError(f"{file}: expected what netloom sweep run -o writes", str(file))
    sweep = document.get("sweep")
    told = isinstance(sweep, dict) and all(isinstance(sweep.get(key), str) for key in ("text", "path"))
    if not told or not is_whole(document) or not all(key in document for key in _IDENTITY):
        raise FormatError(f"{file}: damaged, or altered: expected what netloom sweep run -o wrote", str(file))
    return document


def table_of(path: Path) -> tuple[pa.Table, Spec]:
    """Reads the table of a sweep's folder, and which sweep it is of.

    Raises
    ------
    FormatError
        If the folder is no sweep's, has no table yet, or was altered.
    OSError
        If it cannot be read.
    """
    with Folder.open(path) as folder:
        about = manifest_of(folder)
        if about is None or about.get("table") is None:
            raise FormatError(f"{path}: has no {TABLE} yet: expected a sweep that has run", str(path))
        data = folder.read(TABLE)
    if digest(data) != about["table"]:
        file = path / TABLE
        raise FormatError(f"{file}: damaged, or altered: netloom sweep merge writes it again", str(file))
    sweep = about["sweep"]
    return parquet.table(data, str(path / TABLE)), parse(sweep["text"], Path(sweep["path"]))


def _skips(error: Any) -> str:
    """How runs were made, in an error."""
    return "in full" if error is None else f"with --skip-repeats {error!s:.{_LONGEST}}"


def _sealed(document: Mapping[str, Any]) -> bytes:
    text = json.dumps({**document, "sha256": total_sum(document)}, indent=2, ensure_ascii=False)
    return f"{text}\n".encode(errors="surrogateescape")


def _kind(values: Sequence[Any]) -> Any:
    """The type of a column of such values."""
    import pyarrow as pa

    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int) for value in values):
        return pa.int64()
    if all(isinstance(value, int | float) for value in values):
        return pa.float64()
    return pa.string()


def _cell(value: Any) -> Any:
    """A value as its column has it; what is neither text nor number as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
