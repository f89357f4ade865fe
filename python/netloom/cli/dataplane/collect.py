"""`netloom dataplane collect`: what receivers tell, as the table that `netloom sample decode` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from netloom.cli.shared import options, outputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import ProductOptions
from netloom.cli.shared.run import Run
from netloom.errors import LiveError
from netloom.findings import finding

if TYPE_CHECKING:
    from netloom.dataplane.collecting import Packets

_ENDINGS = (".parquet", ".csv")


def collect(
    *,
    seconds: Annotated[float, options.within(0.0, 1e7)] = 0.0,
    max_packets: Annotated[int | None, options.within(1, 2**31 - 1)] = None,
    journal: Path | None = None,
    options: ProductOptions | None = None,
) -> int:
    """Write down what receivers tell of packets: the table that `netloom sample decode` reads.

    What is read once is not told again. Receivers keep 131,072 packets each until they are read; what they
    had no room for is counted. Ctrl-C ends it, and what there is is written.

    Parameters
    ----------
    seconds
        For how long; with 0 only what receivers have reported so far.
    max_packets
        End earlier, once there are so many packets.
    journal
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    options
        Common options; `-o` takes the table (.parquet, .csv).
    """
    from netloom import extras, interop
    from netloom.dataplane import attaching
    from netloom.dataplane.collecting import Collector
    from netloom.dataplane.journal import DEFAULT, Journal

    options = options or ProductOptions()
    run = Run("dataplane-collect", options, endings=_ENDINGS)
    if not run.has_product or run.product_to_stdout:
        raise UsageError("expected a file for the table: -o packets.parquet (or .csv)")
    extras.need("arrow")
    attaching.need()
    book = Journal(DEFAULT if journal is None else journal)
    interrupted = False
    try:
        with book.locked(make=False):
            now = book.read()
            if now is None or not now.is_of_this_boot:
                raise LiveError(f"{book.folder}: nothing is up: `netloom dataplane up`")
            with Collector(now) as collector:
                with run.timed("collect"):
                    try:
                        with run.progress("collect") as progress:
                            most = max_packets or 0
                            report = None if progress is None else lambda count: progress(count, most)
                            collector.wait(seconds, max_packets, report)
                    except KeyboardInterrupt:
                        interrupted = True
                run.finishing()
                found = collector.take()
    except FileNotFoundError:
        raise LiveError(f"{book.folder}: nothing is up: `netloom dataplane up`") from None
    written = run.write(
        interop.table_bytes(packets_table(found, now.hash, now.rate), outputs.ending(options.output))
    )
    table = found.table
    count = len(table["id"])
    findings = []
    if found.lost:
        findings.append(
            finding(
                "events-lost", f"{render.count(found.lost)} packets since up: receivers had no room for them"
            )
        )
    if found.unknown_addresses:
        some = ", ".join(found.addresses)
        findings.append(
            finding(
                "unknown-addresses",
                f"{render.count(found.unknown_addresses)} packets of addresses that no host has ({some}): "
                "left out",
            )
        )
    result: dict[str, Any] = {
        "packets": count,
        "lost": found.lost,
        "unknown_addresses": found.unknown_addresses,
        "receivers": sum(port.role == "host" for port in now.ports),
        "first_ps": int(table["time_ps"][0]) if count else None,
        "last_ps": int(table["time_ps"][-1]) if count else None,
        "congested": int(np.sum(table["congested"], dtype=np.int64)),
        "output": written,
        "findings": findings,
    }
    return run.finish(result, lambda: _text(result), interrupted=interrupted)


def packets_table(found: Packets, hash_name: str, rate: float) -> Any:
    """The table of packets, with what says how they were sampled (Arrow)."""
    import pyarrow as pa

    from netloom import hashes
    from netloom.dataplane.collecting import HOP_BITS

    names = pa.array(found.hosts, pa.string())
    columns: dict[str, Any] = dict(found.table)
    for name in ("source", "destination"):
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(columns[name].astype(np.int32)), names).cast(
            pa.string()
        )
    modulus, _, g = hash_name.partition(",")
    how = {
        "method": "one-bit",
        "rate": rate,
        "hop_bits": HOP_BITS,
        "hash": {"function": "gf", "modulus": modulus, "g": g},
    }
    return pa.table(columns).replace_schema_metadata(hashes.metadata(how))


def _text(result: dict[str, Any]) -> str:
    count = render.count
    rows = [("packets", f"{count(result['packets'])} from {count(result['receivers'])} receivers")]
    if result["packets"]:
        first, last = (result[key] / 1e12 for key in ("first_ps", "last_ps"))
        rows.append(("time", f"{first:.2f} to {last:.2f} s since up"))
        rows.append(("congested", count(result["congested"])))
    rows.append(("written", str(result["output"])))
    return render.pairs(rows) + render.findings(result["findings"])
