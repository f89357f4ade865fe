"""`netloom sample --study`: table 2.1 of the dissertation, run here: errors beside their formulas.

One run is sampled again and again, by both methods and by ever smaller shares of its packets, and compared
with what its links really carried. Relative errors are root mean squares over the links that carry traffic,
over the root mean square of what they carry; the formulas' are those of sec. 2.3.2 and 2.5.1.
"""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from netloom.cli import common, render, sampled
from netloom.cli.common import Options, Run

if TYPE_CHECKING:
    from netloom.sampling import Samples, Totals

SCENARIO = """\
# A 27-point stencil under adaptive routing, on as many hosts, leaves and links as table 2.1 is of.
name = "stencil"
fabric = "two-level:leaves=24,hosts=32,spines=16"
routes = "adaptive"

[[job]]
name = "stencil"

[job.program]
kind = "halo"
shape = [8, 16, 6]
face_bytes = "96KiB"
edge_bytes = 8192
corner_bytes = 1024
iterations = 10
"""
"""Unless another is given."""
PUBLISHED_PACKETS = 800_000_000
PUBLISHED = {
    ("whole", 1): (0.16, 1.71),
    ("whole", 10): (0.52, 1.81),
    ("whole", 100): (1.68, 2.97),
    ("whole", 1000): (5.31, 7.85),
    ("one-bit", 1): (0.73, 1.95),
    ("one-bit", 10): (2.27, 3.51),
    ("one-bit", 100): (7.50, 10.15),
    ("one-bit", 1000): (23.63, 29.84),
}
"""Table 2.1: relative errors in percent of traffic and congestion, by method and downsampling."""
_FEWEST = 10
"""Sampled packets below which a row has no errors: where nothing is known of most links, all are 100 %."""


def study(
    scenario: str | None = None,
    /,
    *,
    routing: str | None = None,
    repeats: Annotated[int, common.within(1, 1000)] = 1,
    hash_: Annotated[str | None, Parameter(name="--hash")] = None,
    options: Options | None = None,
) -> int:
    """How sure sampled packets are: table 2.1 of the dissertation, run here, beside it and the formulas.

    Parameters
    ----------
    scenario
        A scenario (.toml). [default: a stencil of 768 hosts under adaptive routing]
    routing
        One of its routings. [default: its first]
    repeats
        How often each row is sampled, with other draws; errors are root mean squares over them.
    hash_
        The hash of one bit: `gf`, `MODULUS,G`, `md5`, `siphash` or `siphash:KEY`. [default: gf]
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    from netloom import _core, sampling

    options = options or Options()
    function = sampled.hash_function(hash_ or "gf")
    run = Run("sample-study", options, product=False)
    overrides = [] if options.seed is None else [f"seed={options.seed}"]
    with tempfile.TemporaryDirectory() as folder:
        name = scenario
        if name is None:
            name = str(Path(folder) / "stencil.toml")
            Path(name).write_text(SCENARIO)
        else:
            run.read("scenario", name)
        given = _core.Scenario.read(name, overrides)
    word = given.routings[0] if routing is None else routing
    tables = given.routes(word)
    threads = options.threads or os.cpu_count() or 1

    def once(method: str, times: int, seed: int, *, truth: bool = False) -> Samples:
        found = _core.sample(
            given,
            word,
            routes=tables,
            threads=threads,
            method=method,
            hash=function if method == "one-bit" else None,
            rate=1 / times,
            seed=seed,
            truth=truth,
        )
        if found.interrupted:
            raise KeyboardInterrupt
        return sampling.of(found, given)

    with run.timed("simulate"), run.bars() as bars:
        task = None if bars is None else bars.add_task("study", total=len(PUBLISHED) * repeats + 1, told="")
        first = once("whole", 1, run.seed, truth=True)
        truth = first.true_total()
        assert truth is not None
        rows = []
        for method, times in PUBLISHED:
            of_row = []
            for repeat in range(repeats):
                samples = once(method, times, run.seed + 1 + repeat)
                of_row.append((samples.total(), int(np.asarray(samples.contexts["sampled"]).sum())))
                if bars is not None and task is not None:
                    bars.advance(task)
            rows.append(_row(method, times, of_row, truth, int(first.result["packets"])))
    result = {
        "scenario": given.name,
        "routing": word,
        "hosts": given.fabric.hosts,
        "packets": int(first.result["packets"]),
        "packet_hops": int(first.result["packet_hops"]),
        "congested_hops_percent": 100 * float(truth.congested.sum() / max(truth.traffic.sum(), 1.0)),
        "links": int((truth.traffic > 0).sum()),
        "repeats": repeats,
        "hash": function,
        "published_packets": PUBLISHED_PACKETS,
        "rows": rows,
    }
    return run.finish(result, lambda: _text(result), rows=rows)


def _row(
    method: str, times: int, found: list[tuple[Totals, int]], truth: Totals, packets: int
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "method": method,
        "downsampling": times,
        "sampled": round(sum(count for _, count in found) / len(found)),
    }
    carried = truth.traffic > 0
    for key, published in zip(("traffic", "congested"), PUBLISHED[method, times], strict=True):
        true = getattr(truth, key)[carried]
        scale = math.sqrt(float((true**2).sum())) if row["sampled"] >= _FEWEST else 0.0
        off = np.mean([((getattr(one, key)[carried] - true) ** 2).sum() for one, _ in found])
        told = np.mean([(getattr(one, f"{key}_error")[carried] ** 2).sum() for one, _ in found])
        measured = 100 * math.sqrt(float(off)) / scale if scale else None
        formula = 100 * math.sqrt(float(told)) / scale if scale else None
        row[f"{key}_percent"] = measured
        row[f"{key}_formula_percent"] = formula
        row[f"{key}_ratio"] = measured / formula if measured is not None and formula else None
        # Errors fall with the root of packets, for a fabric as large and traffic as even.
        row[f"{key}_at_published_packets_percent"] = (
            None if measured is None else measured * math.sqrt(packets / PUBLISHED_PACKETS)
        )
        row[f"{key}_published_percent"] = published
    return row


def _text(result: dict[str, Any]) -> str:
    count = render.count
    head = [
        ("scenario", f"{result['scenario']}, {result['routing']}, {count(result['hosts'])} hosts"),
        (
            "packets",
            f"{count(result['packets'])} over {count(result['packet_hops'])} links in all, "
            f"{result['congested_hops_percent']:.0f} % congested; "
            f"table 2.1 is of {count(result['published_packets'])}",
        ),
        ("errors", f"relative, over {count(result['links'])} links that carry traffic"),
    ]
    if result["hash"] != sampled.hash_function("gf"):
        head.append(("one bit", f"of {result['hash']}"))
    parts = [render.pairs(head)]
    for key in ("traffic", "congested"):
        header = [
            f"{key}, method",
            "one of",
            "sampled",
            "measured",
            "formula",
            "ratio",
            "at 800 M",
            "table 2.1",
        ]
        lines = [
            [
                row["method"] if row["downsampling"] == 1 else "",
                count(row["downsampling"]),
                count(row["sampled"]),
                *(_percent(row[f"{key}{suffix}"]) for suffix in ("_percent", "_formula_percent")),
                "-" if row[f"{key}_ratio"] is None else f"{row[f'{key}_ratio']:.3f}",
                _percent(row[f"{key}_at_published_packets_percent"]),
                _percent(row[f"{key}_published_percent"]),
            ]
            for row in result["rows"]
        ]
        parts.append(render.table(header, lines, right=range(1, len(header))))
    if any(row["sampled"] < _FEWEST for row in result["rows"]):
        parts.append(f"- fewer than {_FEWEST} packets were sampled: errors of so few say nothing")
    return "\n\n".join(parts)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} %"
