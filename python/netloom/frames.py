"""Links, loads and traffic as pandas DataFrames, and traffic from them.

Pandas makes floats of whole numbers where a value is missing: such columns are taken where what is there is
whole, and refused by row where it is not.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import extras
from netloom._core import Fabric, LinkLoads, Traffic
from netloom.errors import TrafficError

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("source", "destination", "bytes")


def to_pandas(noun: Fabric | LinkLoads | Traffic) -> pandas.DataFrame:
    """Returns what `to_arrow` of a fabric, loads or traffic has as a DataFrame.

    Raises
    ------
    NotInstalledError
        If pandas or PyArrow is not installed (`pip install 'netloom-hpc[pandas]'`).
    """
    extras.need("pandas")
    return noun.to_arrow().to_pandas()


def traffic_from_pandas(
    frame: pandas.DataFrame, fabric: Fabric | None = None, endpoints: int | None = None
) -> Traffic:
    """Returns traffic from a DataFrame with the columns `source`, `destination` and `bytes`; rows add up.

    Parameters
    ----------
    frame : pandas.DataFrame
        Sources and destinations are numbers from 0, or with a fabric also names of its hosts.
    fabric : Fabric, optional
        Whose hosts they are.
    endpoints : int, optional
        How many there are. [default: the fabric's hosts; else one more than the largest number]

    Raises
    ------
    TrafficError
        If columns are missing, an end is no host, or an entry is impossible.
    """
    if not hasattr(frame, "columns"):
        raise TrafficError(f"expected a DataFrame, found {type(frame).__name__}")
    twice = [column for column in _COLUMNS if list(frame.columns).count(column) > 1]
    if twice:
        raise TrafficError(f"expected one column {twice[0]}, found {list(frame.columns).count(twice[0])}")
    missing = [column for column in _COLUMNS if column not in frame.columns]
    if missing:
        found = ", ".join(map(str, frame.columns)) or "none"
        raise TrafficError(
            f"expected columns source, destination and bytes; {', '.join(missing)} missing (found {found})"
        )
    ends = []
    for column in _COLUMNS[:2]:
        ends.append(_ends(column, frame[column], fabric))
    amounts = frame["bytes"].to_numpy()
    if amounts.dtype.kind not in "iufO":
        raise TrafficError(f"column bytes: expected numbers, found {amounts.dtype}")
    if amounts.dtype.kind == "O":
        row = next((row for row, value in enumerate(amounts) if isinstance(value, str | bytes | bool)), None)
        if row is not None:
            raise TrafficError(f"column bytes: expected numbers, found {amounts[row]!r} in row {row}")
    try:
        amounts = amounts.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TrafficError(f"column bytes: expected numbers ({error})") from None
    if fabric is not None and endpoints not in (None, fabric.hosts):
        raise TrafficError(f"endpoints: expected the fabric's {fabric.hosts} hosts, found {endpoints!r}")
    if endpoints is None:
        largest = max((int(end.max()) for end in ends if len(end)), default=0)
        endpoints = largest + 1 if fabric is None else fabric.hosts
    return Traffic.from_triples(
        endpoints, ends[0], ends[1], amounts, hosts_hash=None if fabric is None else fabric.hosts_hash
    )


def _ends(column: str, series: pandas.Series[Any], fabric: Fabric | None) -> Any:
    """Numbers of endpoints: whole ones as they are, names by the fabric."""
    gaps = np.flatnonzero(series.isna().to_numpy())
    if len(gaps):
        raise TrafficError(f"column {column}: row {gaps[0]} has no value")
    values = series.to_numpy()
    if values.dtype.kind == "f":
        # What had gaps once is of floats in pandas, and is whole all the same.
        broken = np.flatnonzero(values != np.floor(values))
        if len(broken):
            row = int(broken[0])
            raise TrafficError(f"column {column}: expected whole numbers, found {values[row]} in row {row}")
        values = values.astype(np.int64)
    if not np.issubdtype(values.dtype, np.integer):
        values = _hosts(column, values, fabric)
    return values


def _hosts(column: str, values: Any, fabric: Fabric | None) -> Any:
    """Numbers of hosts by name."""
    if fabric is None:
        raise TrafficError(
            f"column {column}: expected whole numbers from 0, or a fabric whose hosts are named"
        )
    number = {name: at for at, name in enumerate(fabric.host_names)}
    table = fabric.host_table()
    guids = {int(guid): at for key in ("guid", "port_guid") for at, guid in enumerate(table[key])}

    def host(value: Any) -> int:
        text = str(value)
        at = number.get(text)
        if at is None and text.startswith("0x"):
            with contextlib.suppress(ValueError):
                at = guids.get(int(text, 16))
        if at is None:
            raise TrafficError(f'column {column}: "{value}" is no host of the fabric')
        return at

    return np.fromiter((host(value) for value in values), np.int64, len(values))
