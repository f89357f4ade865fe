"""Fabrics, traffic, loads as other libraries' objects and files: SciPy, npz, Arrow, networkx.

Every way in ends in `Traffic.from_triples`, which checks every entry. Files keep what a matrix belongs to:
the number of endpoints and the hash of the ordered host names (`netloom` metadata in Parquet, an array of
that name in npz). Nothing here loops over pairs or links in Python, but where networkx leaves no choice.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom import extras, reading, sparse
from netloom._core import Fabric, LinkLoads, Scenario, Traffic, write_atomic
from netloom.errors import FormatError, NetloomError, SpecError, TrafficError
from netloom.reading import arrays, parquet

if TYPE_CHECKING:
    import pyarrow
    import scipy.sparse

_Path = str | os.PathLike[str]
_COLUMNS = ("source", "destination", "bytes")
_REMARK = "netloom.remark"
_LONGEST_HASH = 100
_FORMULA = r"^([=+\-@\t\r].)"
"""How a text begins that a spreadsheet would run."""
_ESCAPED = r"^'('*[=+\-@])"
"""How the core writes such a name in CSV (`crates/formats/src/csv.rs`)."""
_ENTRY_BYTES = 16
"""What an entry of traffic takes, at least: small numbers in a file become large ones in memory."""


# SciPy


def to_scipy(traffic: Traffic, copy: bool = True) -> scipy.sparse.csr_array:
    """Returns traffic as a SciPy CSR array, `[source, destination]` in bytes.

    Parameters
    ----------
    traffic : Traffic
        The traffic.
    copy : bool
        Arrays of its own; else it shares traffic's memory, which is read-only.
    """
    extras.need("scipy")
    import scipy.sparse

    shape = (traffic.endpoints, traffic.endpoints)
    indptr = traffic.indptr
    # SciPy wants one integer type for both; offsets are the short array.
    if traffic.pairs <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return scipy.sparse.csr_array((traffic.data, traffic.indices, indptr), shape=shape, copy=copy)


def from_scipy(matrix: Any, hosts_hash: str | None = None) -> Traffic:
    """Returns traffic from any square SciPy sparse matrix or array (duplicates add up), or a dense one.

    Parameters
    ----------
    matrix : sparse matrix or array, or array_like of 2 dimensions
        Bytes, 0 or more: `[source, destination]`.
    hosts_hash : str, optional
        Of the fabric whose hosts these are; ranks otherwise.

    Examples
    --------
    >>> from_scipy([[0, 5], [7, 0]]).total_bytes
    12.0

    Raises
    ------
    TrafficError
        If it is not square or not real, has parts that do not fit together, or entries that are negative or
        not finite.
    """
    extras.need("scipy")
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        matrix = sparse.of_dense(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise TrafficError(f"expected a square matrix, found {' x '.join(map(str, matrix.shape))}")
    if np.iscomplexobj(matrix):
        raise TrafficError("expected real numbers of bytes, found complex ones")
    sparse.check(matrix)
    try:
        triples = matrix.tocoo()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise TrafficError(f"expected a sparse matrix whose parts fit together ({error})") from None
    return _checked(triples.shape[0], triples.row, triples.col, triples.data, hosts_hash)


def _checked(endpoints: int, source: Any, destination: Any, value: Any, hosts_hash: str | None) -> Traffic:
    if not 0 < endpoints < 2**31:
        raise TrafficError(f"expected 1 to {2**31 - 1} endpoints, found {endpoints}")
    for what, index in (("source", source), ("destination", destination)):
        negative = np.flatnonzero(np.asarray(index) < 0)
        if len(negative):
            entry = int(negative[0])
            raise TrafficError(
                f"entry {entry}: {what} {int(index[entry])}: expected endpoints below {endpoints}"
            )
    return Traffic.from_triples(
        endpoints,
        np.ascontiguousarray(source, dtype=np.int64),
        np.ascontiguousarray(destination, dtype=np.int64),
        np.ascontiguousarray(value, dtype=np.float64),
        hosts_hash=hosts_hash,
    )


# npz


def read_traffic_npz(path: _Path) -> Traffic:
    """Reads a traffic from what [`write_traffic_npz`] or `scipy.sparse.save_npz` wrote.

    Raises
    ------
    FormatError
        If it is something else, or has impossible entries.
    """
    extras.need("scipy")
    import scipy.sparse

    name = os.fspath(path)
    try:
        data = reading.whole(path)
        with arrays.npz(data, name) as found:
            hosts_hash = str(found["hosts_hash"])[:_LONGEST_HASH] if "hosts_hash" in found else ""
            sparse.check_npz(found)
            _check_entries(found, len(data), name)
        matrix = scipy.sparse.load_npz(io.BytesIO(data))
        return from_scipy(matrix, hosts_hash or None)
    except FormatError:
        raise
    except NetloomError as error:
        raise FormatError(f"{name}: {error}", name) from None
    except OSError as error:
        if error.filename is not None:
            raise
        raise FormatError(f"{name}: expected an npz file that is whole ({error})", name) from None
    except Exception as error:  # whatever unpacking makes of broken bytes: zlib, lzma, ast, struct, …
        if "pickle" in str(error):
            # NumPy's advice would be to trust the file.
            raise FormatError(f"{name}: expected arrays of numbers, found Python objects", name) from None
        # Without a name, what SciPy and zipfile say is about the bytes in memory.
        why = "" if "BytesIO" in str(error) else f" ({str(error)[:200]})"
        raise FormatError(
            f"{name}: expected a sparse matrix as scipy.sparse.save_npz writes it{why}", name
        ) from None


def _check_entries(found: Mapping[str, Any], size: int, name: str) -> None:
    """Refuses more entries than a file of this size may stand for."""
    entries, most = int(np.asarray(found["data"]).size), reading.most_expanded(size) // _ENTRY_BYTES
    if entries > most:
        raise FormatError(
            f"{name}: {size} bytes hold {entries} entries: expected at most {most} ({reading.RAISE})", name
        )


def read_traffic_npy(path: _Path) -> Traffic:
    """Reads a dense square array of bytes that `numpy.save` wrote: row sends, column receives.

    Raises
    ------
    FormatError
        If it is something else, not square, or has a value that is negative or no number.
    """
    extras.need("scipy")
    import scipy.sparse

    name = os.fspath(path)
    array = arrays.npy(reading.whole(path), name)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufb":
        raise FormatError(f"{name}: expected an array of numbers as numpy.save writes it", name)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        shape = " x ".join(map(str, array.shape)) or "one number"
        raise FormatError(f"{name}: expected as many rows as columns, found {shape}", name)
    wrong = np.argwhere(~(np.isfinite(array) & (array >= 0)))
    if len(wrong):
        row, column = wrong[0]
        value = array[row, column]
        where = f"row {row}, column {column}"
        raise FormatError(f"{name}: {where}: expected bytes, 0 or more, found {value}", name)
    try:
        return from_scipy(scipy.sparse.csr_matrix(array), None)
    except NetloomError as error:
        raise FormatError(f"{name}: {error}", name) from None


def write_traffic_npz(traffic: Traffic, path: _Path) -> None:
    """Writes traffic as npz; `scipy.sparse.load_npz` reads it too."""
    write_atomic(path, traffic_bytes(traffic, "npz"))


# Arrow and Parquet


def traffic_to_arrow(traffic: Traffic) -> pyarrow.Table:
    """Returns traffic as a table of `source`, `destination` (uint32) and `bytes` (float64), sorted."""
    extras.need("arrow")
    import pyarrow as pa

    source = np.repeat(np.arange(traffic.endpoints, dtype=np.uint32), np.diff(traffic.indptr))
    columns = [
        pa.array(source),
        pa.array(traffic.indices.view(np.uint32)),
        pa.array(traffic.data),
    ]
    return pa.table(
        columns, names=list(_COLUMNS), metadata=_metadata("traffic", traffic.hosts_hash, traffic.endpoints)
    )


def read_traffic_parquet(path: _Path) -> Traffic:
    """Reads traffic from Parquet: columns `source`, `destination` (from 0) and `bytes`.

    Without netloom's metadata the number of endpoints is one more than the largest index.

    Raises
    ------
    FormatError
        If it is something else, or has impossible entries.
    """
    extras.need("arrow")
    import pyarrow as pa
    import pyarrow.compute as pc

    name = os.fspath(path)
    table = parquet.table(reading.whole(path), name)
    distinct_columns(table, name)
    missing = [column for column in _COLUMNS if column not in table.column_names]
    if missing:
        raise FormatError(
            f"{name}: expected columns source, destination and bytes; {', '.join(missing)} missing "
            f"(found {', '.join(table.column_names) or 'none'})",
            name,
        )
    table = table.select(list(_COLUMNS))
    for column in table.column_names:
        if table[column].null_count:
            raise FormatError(
                f"{name}: column {column} has {table[column].null_count} nulls, expected none", name
            )
    try:
        source = pc.cast(table["source"], pa.int64()).to_numpy()
        destination = pc.cast(table["destination"], pa.int64()).to_numpy()
        value = pc.cast(table["bytes"], pa.float64()).to_numpy()
        endpoints, hosts_hash = _belongs_to(table.schema.metadata or {}, source, destination)
        return _checked(endpoints, source, destination, value, hosts_hash)
    except (pa.ArrowException, ValueError) as error:
        raise FormatError(f"{name}: {_first_line(error)}", name) from None
    except NetloomError as error:
        raise FormatError(f"{name}: {error}", name) from None


def write_traffic_parquet(traffic: Traffic, path: _Path) -> None:
    """Writes traffic as Parquet."""
    write_atomic(path, traffic_bytes(traffic, "parquet"))


def traffic_bytes(traffic: Traffic, kind: Literal["npz", "parquet"], remark: str | None = None) -> bytes:
    """Returns the file that holds this traffic, and a `remark` on it, which [`traffic_remark`] reads."""
    if kind == "parquet":
        table = traffic_to_arrow(traffic)
        if remark is not None:
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), _REMARK: remark})
        return table_bytes(table, ".parquet")
    # The members that scipy.sparse.save_npz writes, and two of ours.
    members = {
        "format": np.array("csr"),
        "shape": np.array([traffic.endpoints, traffic.endpoints]),
        "indptr": traffic.indptr,
        "indices": traffic.indices,
        "data": traffic.data,
        "_is_array": np.array(True),
        "hosts_hash": np.array(traffic.hosts_hash or ""),
    }
    if remark is not None:
        members[_REMARK] = np.array(remark)
    out = io.BytesIO()
    # Not numpy.savez_compressed: it stamps the time, and equal traffic should give equal bytes.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in members.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            archive.writestr(_entry(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def traffic_remark(path: _Path, kind: Literal["npz", "parquet"]) -> str | None:
    """The remark in a file of traffic; None if there is none, or this is no such file."""
    try:
        if kind == "npz":
            with arrays.npz(reading.whole(path), os.fspath(path)) as held:
                return str(held[_REMARK]) if _REMARK in held else None
        found = parquet.metadata(reading.whole(path)).get(_REMARK.encode())
        return None if found is None else found.decode()
    except Exception:  # whatever broken bytes make of it: reading the traffic says what is wrong
        return None


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def loads_to_arrow(loads: LinkLoads, fabric: Fabric) -> pyarrow.Table:
    """Returns every link's columns of [`fabric_to_arrow`] and `load` (bytes at the fastest link's speed)."""
    extras.need("arrow")
    import pyarrow as pa

    table = fabric_to_arrow(fabric)
    return table.append_column("load", pa.array(loads.per_link))


def fabric_to_arrow(fabric: Fabric) -> pyarrow.Table:
    """Returns the directed links as a table.

    Columns `from`, `from_port`, `to`, `to_port`, `bandwidth_bytes_per_s`, `alive`, `between_switches`; the
    rows are in the order of link ids, so that they match `LinkLoads.per_link`.
    """
    extras.need("arrow")
    import pyarrow as pa

    links = fabric.link_table()
    names = pa.array([*fabric.host_names, *fabric.switch_names])
    columns = {
        "from": pa.DictionaryArray.from_arrays(pa.array(links["source"].astype(np.int32)), names),
        "from_port": pa.array(links["source_port"]),
        "to": pa.DictionaryArray.from_arrays(pa.array(links["target"].astype(np.int32)), names),
        "to_port": pa.array(links["target_port"]),
        "bandwidth_bytes_per_s": pa.array(links["bandwidth_bytes_per_s"]),
        "alive": pa.array(links["alive"]),
        "between_switches": pa.array(links["between_switches"]),
    }
    metadata = _metadata("links", fabric.hosts_hash, fabric.hosts)
    metadata["netloom.cabling_hash"] = fabric.cabling_hash
    return pa.table(columns, metadata=metadata)


def distinct_columns(table: pyarrow.Table, label: str) -> None:
    """Refuses a table in which two columns have one name.

    Raises
    ------
    FormatError
        With that name.
    """
    names = table.column_names
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise FormatError(f"{label}: column {twice} stands there twice, expected once", label)


def table_bytes(table: pyarrow.Table, ending: str) -> bytes:
    """Returns a table as the bytes of a file that ends in `.parquet` or `.csv`."""
    out = io.BytesIO()
    if ending == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, out, compression="zstd")
    else:
        import pyarrow.csv

        pyarrow.csv.write_csv(_without_formulas(table), out)
    return out.getvalue()


def _without_formulas(table: pyarrow.Table) -> pyarrow.Table:
    """A table for spreadsheets: an apostrophe before texts that they would run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts = table.column(at).cast(kind)
            safe = pc.replace_substring_regex(texts, _FORMULA, r"'\1")
            table = table.set_column(at, field.name, safe)
    return table


def arrow_csv() -> Any:
    """Arrow's reader of CSV, but for its own handlers: while it reads it takes signals, and loses some."""
    extras.need("arrow")
    import pyarrow
    import pyarrow.csv

    pyarrow.enable_signal_handlers(False)
    return pyarrow.csv


def counters_csv(data: bytes, name: str) -> bytes:
    """Returns a Parquet table of counters as CSV, which the core reads; time stamps become milliseconds."""
    extras.need("arrow")
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as csv

    table = parquet.table(data, name, "a Parquet file of counters")
    try:
        distinct_columns(table, name)
        for at, field in enumerate(table.schema):
            column = table.column(at)
            if pa.types.is_dictionary(field.type):
                column = column.cast(field.type.value_type)
            elif pa.types.is_timestamp(field.type):
                column = pc.cast(column, pa.timestamp("ms"), safe=False).cast(pa.int64())
            table = table.set_column(at, field.name, column)
        out = io.BytesIO()
        csv.write_csv(table, out)
    except FormatError:
        raise
    except (pa.ArrowException, ValueError) as error:
        raise FormatError(
            f"{name}: expected a Parquet file of counters ({_first_line(error)})", name
        ) from None
    return out.getvalue()


def counters_parquet(text: bytes) -> bytes:
    """Returns our CSV of counters as Parquet."""
    extras.need("arrow")
    import pyarrow as pa
    import pyarrow.compute as pc

    csv = arrow_csv()
    words = {"from": pa.string(), "to": pa.string(), "quality": pa.string(), "lane": pa.uint8()}
    counts = ["start_ns", "end_ns", "xmit_bytes", "rcv_bytes", "xmit_packets", "rcv_packets", "wait_ticks"]
    types = {**words, **dict.fromkeys(counts, pa.uint64())}
    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(use_threads=False),
        convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )
    for name in ("from", "to"):
        if name in table.column_names:
            at = table.column_names.index(name)
            table = table.set_column(at, name, pc.replace_substring_regex(table[name], _ESCAPED, r"\1"))
    return table_bytes(table, ".parquet")


def _metadata(kind: str, hosts_hash: str | None, endpoints: int) -> dict[str, str]:
    metadata = {"netloom": f"{kind}/1", "netloom.endpoints": str(endpoints)}
    if hosts_hash is not None:
        metadata["netloom.hosts_hash"] = hosts_hash
    return metadata


def _belongs_to(metadata: Mapping[bytes, bytes], source: Any, destination: Any) -> tuple[int, str | None]:
    hosts_hash = metadata.get(b"netloom.hosts_hash")
    if b"netloom.endpoints" in metadata:
        endpoints = int(metadata[b"netloom.endpoints"])
    else:
        endpoints = 1 + max(int(source.max(initial=-1)), int(destination.max(initial=-1)))
    return endpoints, None if hosts_hash is None else hosts_hash.decode()[:_LONGEST_HASH]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# Scenarios


def scenario_from_dict(scenario: Mapping[str, Any], folder: _Path | None = None) -> Scenario:
    """Returns a scenario from a dictionary with the keys of a scenario's file.

    Parameters
    ----------
    scenario : mapping
        As the file's tables: `{"fabric": "quartz1", "routes": ["ftree"], "job": [{…}]}`. The fabric may be a
        `Fabric` too.
    folder : path, optional
        Where the files that it names are. [default: the current one]

    Raises
    ------
    FormatError, SpecError
        As for a file, in the same words; lines are those of the dictionary written as TOML.
    """
    import tomlkit

    if not isinstance(scenario, Mapping):
        raise SpecError(f"expected a dictionary, found {type(scenario).__name__}")
    fabric = scenario.get("fabric")
    if isinstance(fabric, Fabric):
        scenario = {**scenario, "fabric": "at hand"}
    try:
        text = tomlkit.dumps(scenario)
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"a scenario's values are texts, numbers, truths, lists and tables: {error}"
        ) from None
    if isinstance(fabric, Fabric):
        return Scenario.on(fabric, text, "<dict>", folder or "")
    return Scenario.parse(text.encode(), label="<dict>", folder=folder or "")
