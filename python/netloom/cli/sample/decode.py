"""`netloom sample decode`: estimates from sampled packets that receivers have kept, wherever that was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from netloom import extras
from netloom.cli.sample import report
from netloom.cli.shared import options, outputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.errors import ArgumentError
from netloom.runs import folder as runs


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
    from netloom import interop
    from netloom.sampling import decoding, measured

    options = options or Options()
    run = Run("sample-decode", options, endings=(".parquet", ".csv"))
    net = run.fabric(fabric, warn=True)
    if write_run is not None:
        runs.check_folder(write_run)
    try:
        function = report.hash_function(hash_)
        found = decoding.decode(
            run, net, packets, rate=rate, every_us=every_us, hop_bits=hop_bits, hash=function
        )
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None
    result = found.result
    if run.has_product:
        kind = outputs.ending(options.output)
        result["output"] = run.write(interop.table_bytes(found.samples, kind))
    if write_run is not None:
        tables = (found.samples, found.received)
        result["run"] = measured.write(run, write_run, (fabric, net), packets, found.how, tables)
    rows = [
        {"context": context["context"], **link}
        for context in result["contexts"]
        for link in context["hottest"]
    ]
    return run.finish(result, lambda: _text(result), rows=rows)


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
