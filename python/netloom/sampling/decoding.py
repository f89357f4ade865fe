"""Estimates from sampled packets that receivers have kept, wherever that was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.errors import ArgumentError, FormatError
from netloom.findings import Finding, finding
from netloom.sampling.told import hottest
from netloom.shown import units

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric
    from netloom.session.session import Session

_MOST_CONTEXTS = 4096
"""Each has its own table of links."""
_MOST_WINDOWS = 2**32
_NEEDED = ("id", "source", "destination", "hops", "congested")
_MOST = {
    "id": 2**32,
    "hops": 256,
    "congested": 2,
    "context": 2**32,
    "link": 2**32,
    "bit": 2,
    "time_ps": 2**63,
    "bytes": 2**32,
}


@dataclass(frozen=True)
class Decoded:
    """What sampled packets say.

    Attributes
    ----------
    result : dict
        As JSON tells it.
    samples : pyarrow.Table
        A row a window, context and link.
    received : mapping
        What was received by pair, with bytes where packets have theirs.
    how : mapping
        How packets were sampled.
    """

    result: dict[str, Any]
    samples: pa.Table
    received: Mapping[str, npt.NDArray[Any]]
    how: Mapping[str, Any]


def decode(
    session: Session,
    net: Fabric,
    packets: str,
    *,
    rate: float | None = None,
    every_us: float | None = None,
    hop_bits: int | None = None,
    hash: str | None = None,
) -> Decoded:
    """Estimates traffic and congestion of links from packets that receivers have kept.

    Parameters
    ----------
    session : Session
        Reads, and tells.
    net : Fabric
        The fabric.
    packets : str
        A table (.parquet, .csv), a row a packet.
    rate, every_us, hop_bits, hash
        How they were sampled, where the table does not say.

    Raises
    ------
    ArgumentError
        If the table says otherwise.
    FormatError
        If it is no table of packets.
    """
    import pyarrow as pa

    from netloom import _core, hashes, sampling

    data = session.read("packets", packets)
    table = _table(data, packets)
    method = "one-bit" if "bit" in table.column_names else "whole"
    if method == "whole" and hash is not None:
        raise ArgumentError("hash is of packets with a bit, not with a link")
    kept = hashes.how_kept(table, packets)
    how = {"rate": 1.0, "hop_bits": 3, "hash": "gf", **kept}
    given = {"rate": rate, "hop_bits": hop_bits, "hash": hash}
    for option, key in (("rate", "rate"), ("hop-bits", "hop_bits")):
        if given[key] is not None and given[key] != kept.get(key, given[key]):
            raise ArgumentError(f"{option} {given[key]:g}: {packets} says {kept[key]:g}")
    how.update({key: value for key, value in given.items() if value is not None})
    how["hash"] = _core.sampling_hash(how["hash"] or "gf") if method == "one-bit" else None
    carried = "bit" if method == "one-bit" else "link"
    column = _Columns(table, net, packets)
    time_ps = column.numbers("time_ps", np.uint64)
    if every_us is not None:
        _windows(time_ps, every_us, packets)
    contexts = np.unique(column.numbers("context", np.uint32))
    if len(contexts) > _MOST_CONTEXTS:
        raise FormatError(
            f"{packets}: {len(contexts):,} contexts: expected at most {_MOST_CONTEXTS:,}", packets
        )
    with session.timed("decode"):
        samples, received, odd = _core.decode_packets(
            net,
            time_ps,
            column.numbers("context", np.uint32),
            column.numbers("id", np.uint32),
            column.hosts("source"),
            column.hosts("destination"),
            column.numbers("hops", np.uint8),
            column.numbers(carried, np.uint32),
            column.numbers("congested", np.uint8),
            method=method,
            every_us=every_us,
            **how,
        )
    found = pa.table(dict(samples))
    decoded = np.bincount(
        np.searchsorted(contexts, received["context"]),
        weights=np.asarray(received["packets"], np.float64),
        minlength=len(contexts),
    ).astype(np.int64)
    totals = [sampling.total(found, net.links, [int(context)]) for context in contexts]
    findings = _findings(odd, method, 1 << how["hop_bits"])
    findings += [
        finding("undecoded", f"context {context}: no packet of it can be decoded")
        for context, count in zip(contexts, decoded, strict=True)
        if count == 0
    ]
    if table.num_rows == 0:
        findings.append(finding("undecoded", "there are no packets"))
    elif decoded.sum() == 0:
        findings.insert(0, finding("undecoded", "no packet can be decoded: these are of another fabric"))
    result: dict[str, Any] = {
        "hosts": net.hosts,
        "switches": net.switches,
        "method": method,
        **how,
        "packets": table.num_rows,
        "decoded": int(decoded.sum()),
        "contexts": [
            {
                "context": int(context),
                "packets": int(count),
                "enough": sampling.enough(total, net, how["rate"]),
                "hottest": hottest(total, net),
            }
            for context, count, total in zip(contexts, decoded, totals, strict=True)
        ],
        "findings": findings,
        "output": None,
        "run": None,
    }
    settings = {"method": method, **how, "every_us": every_us}
    sizes = column.numbers("bytes", np.uint32) if "bytes" in table.column_names else None
    sized = {**received, "bytes": _bytes(column, sizes, received)}
    return Decoded(result, found, sized, settings)


def _bytes(
    column: _Columns, sizes: npt.NDArray[np.uint32] | None, received: Mapping[str, npt.NDArray[Any]]
) -> npt.NDArray[np.int64]:
    """The bytes of each pair's packets, as large as those of their context are in the mean; 0 if unknown."""
    if sizes is None:
        return np.zeros(len(received["context"]), np.int64)
    contexts, context, packets = np.unique(
        column.numbers("context", np.uint32), return_inverse=True, return_counts=True
    )
    mean = np.bincount(context, weights=sizes.astype(np.float64), minlength=len(contexts)) / packets
    of_row = np.searchsorted(contexts, received["context"])
    return np.asarray(np.rint(mean[of_row] * np.asarray(received["packets"])), np.int64)


def _table(data: bytes, label: str) -> pa.Table:
    import pyarrow as pa

    from netloom import interop, sampling

    if data.startswith(b"PAR1") or label.endswith(".parquet"):
        table = sampling.parquet(data, "kept", label)
    else:
        try:
            csv = interop.arrow_csv()
            table = csv.read_csv(pa.BufferReader(data), read_options=csv.ReadOptions(use_threads=False))
        except pa.ArrowException as error:
            why = (str(error).splitlines() or ["unreadable"])[0]
            raise FormatError(f"{label}: expected a table of packets ({why})", label) from None
    interop.distinct_columns(table, label)
    missing = [name for name in _NEEDED if name not in table.column_names]
    if missing or not {"bit", "link"} & set(table.column_names):
        raise FormatError(
            f"{label}: expected columns {', '.join(_NEEDED)}, and bit or link; found "
            f"{', '.join(table.column_names) or 'none'}",
            label,
        )
    return table


def _windows(time_ps: npt.NDArray[np.uint64], every_us: float, label: str) -> None:
    """Refuses times that make more windows than are counted."""
    late = np.flatnonzero(time_ps / (every_us * 1e6) >= _MOST_WINDOWS)
    if len(late):
        raise FormatError(
            f"{label}: row {late[0]}: time_ps {time_ps[late[0]]}: more than {_MOST_WINDOWS:,} windows of "
            f"{every_us:g} us from 0: expected times of this run, or longer windows"
        )


class _Columns:
    """Columns of packets as the core takes them."""

    def __init__(self, table: pa.Table, fabric: Fabric, label: str) -> None:
        self._table = table
        self._fabric = fabric
        self._label = label

    def numbers(self, name: str, kind: Any) -> npt.NDArray[Any]:
        """A column of whole numbers; zeros if there is none."""
        import pyarrow as pa

        if name not in self._table.column_names:
            return np.zeros(self._table.num_rows, kind)
        column = self._table[name]
        if column.null_count:
            raise FormatError(f"{self._label}: column {name}: {column.null_count} nulls, expected none")
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        if not pa.types.is_integer(column.type) and self._table.num_rows:
            raise FormatError(f"{self._label}: column {name}: expected whole numbers, found {column.type}")
        values = np.asarray(column)
        most = _MOST.get(name, 2**32)
        wrong = np.flatnonzero((values < 0) | (values >= most))
        if len(wrong):
            raise FormatError(
                f"{self._label}: row {wrong[0]}: {name} {values[wrong[0]]}: expected 0 to {most - 1}"
            )
        return np.ascontiguousarray(values, dtype=kind)

    def hosts(self, name: str) -> npt.NDArray[np.uint32]:
        """A column of hosts, by number or by name."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            return self.numbers(name, np.uint32)
        number = pc.index_in(column, pa.array(self._fabric.host_names, column.type))
        unknown = np.flatnonzero(np.asarray(pc.is_null(number)))
        if len(unknown):
            row = int(unknown[0])
            raise FormatError(
                f"{self._label}: row {row}: {name} {column[row].as_py()}: expected a host of the fabric"
            )
        return np.asarray(number).astype(np.uint32)


def _findings(odd: dict[str, tuple[int, int]], method: str, most_hops: int) -> list[Finding]:
    impossible = (
        "carry a bit that is the hash of no link of theirs: another hash, fabric or routing"
        if method == "one-bit"
        else "carry a link that there is not: another fabric"
    )
    longer = "take detours that one bit knows nothing of" if method == "one-bit" else "took detours"
    shortest = "a shortest up*/down* way" if method == "one-bit" else "any way"
    words = {
        "no_way": "are of hosts that no way joins, or that there are not: another fabric",
        "impossible": impossible,
        "off_way": "carry a link that no packet of their hosts crosses in so many hops: another fabric",
        "hops": f"have hops that cannot be: expected 2 to {most_hops}",
        "short": f"have fewer hops than {shortest} of their hosts: another fabric, or wrong counts",
        "long": f"have more hops than a shortest way of their hosts: they {longer}, or counts are wrong",
        "full": f"are of hosts more than {most_hops} hops apart: counts are full, estimates too small",
    }
    return [
        finding("undecoded", f"{units.count(count)} packets {words[name]} (the first: row {row})")
        for name, (count, row) in odd.items()
        if count
    ]
