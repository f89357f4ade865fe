"""`netloom sample decode`: estimates from sampled packets that receivers have kept, wherever that was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt
from cyclopts import Parameter

from netloom import extras
from netloom.cli.sample import measured, report
from netloom.cli.shared import options, outputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.errors import FormatError
from netloom.findings import Finding, finding
from netloom.runs import folder as runs

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric

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


def decode(
    fabric: str,
    packets: str,
    /,
    *,
    rate: Annotated[float | None, options.within(1e-9, 1.0)] = None,
    every_us: Annotated[float | None, options.within(0.1, 1e8)] = None,
    hop_bits: Annotated[int | None, options.within(1, 5)] = None,
    hash_: Annotated[str | None, Parameter(name="--hash")] = None,
    write_run: Path | None = None,
    options: Options | None = None,
) -> int:
    """Estimates traffic and congestion of links from packets that receivers have kept.

    Packets that cannot be are left out and told: exit code 1. What `netloom sample run --packets` wrote says
    how it was sampled; options say otherwise.

    Parameters
    ----------
    fabric
        A dump, or a generator spec.
    packets
        A table (.parquet, .csv): a row a packet with `id`, `source`, `destination` (numbers or names of
        hosts), `hops`, `congested`, and `bit` or `link`; `time_ps`, `context` and `bytes` if they are
        known.
    rate
        The share of packets that was sampled. [default: what the table says, else 1]
    every_us
        Windows of so many microseconds of `time_ps`. [default: one]
    hop_bits
        Bits of the hop count. [default: what the table says, else 3]
    hash_
        The hash that made the bit: `gf`, `MODULUS,G`, `md5`, `siphash` or `siphash:KEY`. [default: what the
        table says, else gf]
    write_run
        A folder that `netloom plot congestion` and `netloom diagnose` read, as they read a run's.
    options
        Common options; `-o` writes the samples (.parquet, .csv), a row a window, context and link.
    """
    extras.need("arrow")
    import pyarrow as pa

    from netloom import _core, hashes, interop, sampling

    options = options or Options()
    run = Run("sample-decode", options, endings=(".parquet", ".csv"))
    net = run.fabric(fabric, warn=True)
    if write_run is not None:
        runs.check_folder(write_run)
    data = run.read("packets", packets)
    table = _table(data, packets)
    method = "one-bit" if "bit" in table.column_names else "whole"
    if method == "whole" and hash_ is not None:
        raise UsageError("--hash is of packets with a bit, not with a link")
    kept = hashes.how_kept(table, packets)
    how = {"rate": 1.0, "hop_bits": 3, "hash": "gf", **kept}
    given = {"rate": rate, "hop_bits": hop_bits, "hash": report.hash_function(hash_)}
    for option, key in (("--rate", "rate"), ("--hop-bits", "hop_bits")):
        if given[key] is not None and given[key] != kept.get(key, given[key]):
            raise UsageError(f"{option} {given[key]:g}: {packets} says {kept[key]:g}")
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
    with run.timed("decode"):
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
                "hottest": report.hottest(total, net),
            }
            for context, count, total in zip(contexts, decoded, totals, strict=True)
        ],
        "findings": findings,
        "output": None,
        "run": None,
    }
    if run.has_product:
        kind = outputs.ending(options.output)
        result["output"] = run.write(interop.table_bytes(found, kind))
    if write_run is not None:
        settings = {"method": method, **how, "every_us": every_us}
        sizes = column.numbers("bytes", np.uint32) if "bytes" in table.column_names else None
        sized = {**received, "bytes": _bytes(column, sizes, received)}
        result["run"] = measured.write(run, write_run, (fabric, net), packets, settings, (found, sized))
    rows = [
        {"context": context["context"], **link}
        for context in result["contexts"]
        for link in context["hottest"]
    ]
    return run.finish(result, lambda: _text(result), rows=rows)


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
        finding("undecoded", f"{render.count(count)} packets {words[name]} (the first: row {row})")
        for name, (count, row) in odd.items()
        if count
    ]


def _text(result: dict[str, Any]) -> str:
    count = render.count
    what = {"whole": "a whole link", "one-bit": "one bit"}[result["method"]]
    head = [
        ("fabric", f"{count(result['hosts'])} hosts, {count(result['switches'])} switches"),
        ("packets", f"{count(result['packets'])} with {what} each, {count(result['decoded'])} decoded"),
    ]
    parts = [render.pairs(head), report.links_text(result["contexts"])]
    written = [result[key] for key in ("output", "run") if result[key] is not None]
    if written:
        parts.append(render.pairs([("written", ", ".join(written))]))
    return "\n\n".join(parts) + render.findings(result["findings"])
