"""Tables of a sampled run as Parquet: which columns each has, and what can be in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric

COLUMNS: dict[str, tuple[str, ...]] = {
    "contexts": ("context", "job", "job_name", "phase", "packets", "sampled", "bytes"),
    "samples": (
        *("window", "start_ps", "end_ps", "context", "link"),
        *("traffic", "traffic_error", "congested", "congested_error", "tested"),
    ),
    "received": ("window", "context", "source", "destination", "packets", "bytes"),
    "packets": ("time_ps", "context", "id", "source", "destination", "hops", "congested"),
    "truth": ("window", "start_ps", "end_ps", "context", "link", "traffic", "congested"),
    "ranks": ("job", "rank", "host", "end_ps"),
}
"""What each table must have."""
_WORDS = ("job_name", "phase")
_REAL = ("traffic", "traffic_error", "congested", "congested_error")


def parquet(data: bytes, name: str, label: str) -> pa.Table:
    """Reads a table of the kind `name` from Parquet.

    Raises
    ------
    FormatError
        If it is something else, is cut off, or lacks columns.
    """
    import pyarrow as pa

    from netloom import interop
    from netloom.reading import parquet as reader

    table = reader.table(data, label, "a Parquet file, whole")
    try:
        table.validate(full=True)
    except (pa.ArrowException, ValueError, OSError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise FormatError(f"{label}: expected a Parquet file, whole ({why})", label) from None
    interop.distinct_columns(table, label)
    missing = [column for column in COLUMNS.get(name, ()) if column not in table.column_names]
    if missing:
        raise FormatError(
            f"{label}: expected columns {', '.join(COLUMNS[name])}; {', '.join(missing)} missing", label
        )
    for column in table.column_names:
        if table[column].null_count:
            raise FormatError(
                f"{label}: column {column}: {table[column].null_count} nulls, expected none", label
            )
    return table


def check_table(
    table: pa.Table, name: str, fabric: Fabric, sampling: Mapping[str, Any], contexts: int, label: str
) -> None:
    """Refuses a table with entries that cannot be.

    Raises
    ------
    FormatError
        With the first such row.
    """
    import pyarrow as pa

    most_hops = 1 << int(sampling["hop_bits"])
    below: dict[str, tuple[int, str]] = {
        "context": (contexts, f"contexts 0 to {contexts - 1} of contexts.parquet"),
        "link": (fabric.links, f"links below {fabric.links}"),
        "source": (fabric.hosts, f"hosts below {fabric.hosts}"),
        "destination": (fabric.hosts, f"hosts below {fabric.hosts}"),
        "bit": (2, "0 or 1"),
        "hops": (most_hops + 1, f"1 to {most_hops} hops"),
    }
    if name == "packets":
        below["congested"] = (2, "0 or 1")
    for column in table.column_names:
        kind = table.schema.field(column).type
        if column in _WORDS:
            continue
        real = column in _REAL and name == "samples"
        if not (pa.types.is_floating(kind) if real else pa.types.is_integer(kind)):
            raise FormatError(f"{label}: column {column}: expected numbers, found {kind}", label)
        values = np.asarray(table[column])
        if real:
            error = column.endswith("_error")
            _first(~np.isfinite(values), values, column, "a finite number", label)
            _first(error & (values < 0), values, column, "an error of 0 or more", label)
            continue
        most, expected = below.get(column, (1 << 63, f"0 to {(1 << 63) - 1}"))
        wrong = (values < 0) | (values >= most) | ((values == 0) if column == "hops" else False)
        _first(wrong, values, column, expected, label)
    if {"start_ps", "end_ps"} <= set(table.column_names):
        ends = np.asarray(table["end_ps"])
        _first(ends < np.asarray(table["start_ps"]), ends, "end_ps", "start_ps or later", label)
    if name == "contexts":
        order = np.asarray(table["context"])
        _first(order != np.arange(len(order)), order, "context", "contexts counted from 0", label)
        more = np.asarray(table["sampled"]) > np.asarray(table["packets"])
        _first(more, np.asarray(table["sampled"]), "sampled", "at most as many as were received", label)
    if name == "packets":
        lacks = "link" if sampling["method"] == "whole" else "bit"
        if lacks not in table.column_names:
            raise FormatError(
                f"{label}: expected a column {lacks}, as the method is {sampling['method']}", label
            )


def _first(wrong: Any, values: npt.NDArray[Any], column: str, expected: str, label: str) -> None:
    rows = np.flatnonzero(np.broadcast_to(wrong, values.shape))
    if len(rows):
        raise FormatError(f"{label}: row {rows[0]}: {column} {values[rows[0]]}: expected {expected}", label)
