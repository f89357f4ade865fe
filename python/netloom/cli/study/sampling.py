"""`netloom study sampling`: table 2.1 of the dissertation, run here: errors beside their formulas.

One run is sampled again and again, by both methods and by ever smaller shares of its packets, and compared
with what its links really carried. Relative errors are root mean squares over the links that carry traffic,
over the root mean square of what they carry; the formulas' are those of sec. 2.3.2 and 2.5.1. Errors of the
congested share (sec. 2.3.2, Var[F]) are in points.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from netloom import extras
from netloom.cli.sample import report
from netloom.cli.shared import options, render
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.files import Scratch

if TYPE_CHECKING:
    from netloom.sampling import Samples, Totals

SCENARIO = """\
# miniGhost in tiles, variable by variable, as table 2.1 is of (Taffet, dissertation, sec. 2.4.2, 2.5.3):
# six of its 40 variables, a packet for nine.
name = "minighost-svaf"
fabric = "fattree:pods=3,leaves=24,hosts=32,spines=16,groups=2,cores=24"
profile = "codes"
routes = "adaptive"

[hardware]
packet_bytes = 35280
output_buffer_bytes = 564480
host_output_buffer_bytes = 282240

[software]
call_ns = 1000
copy_ns_per_byte = 6

[[job]]
name = "minighost"
ranks_per_host = 36
mapping = "tiled:3x3x4/4x4x2"

[job.program]
kind = "minighost"
strategy = "svaf"
shape = [24, 48, 24]
variables = 6
face_bytes = 352800
pack_us = 100
compute_us = 98700
noise = 1
noise_us = 150
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
CONSTANT_PERCENT = 1.70
"""What is in table 2.1's errors of congestion beside sampling. Errors of sampling grow with the root of the
downsampling, so two rows `a`, `b` with one packet of 1 and of 10 leave a constant `c² = (10 a² - b²) / 9`:
1.70 % of whole links, 1.69 % of one bit."""
MET = 0.9
"""A row of table 2.1 cannot be met where sampling makes less than this part of its error: what is left when
the constant is taken out (as squares)."""
_POINTS = ("fraction_points", "fraction_formula_points")
_FEWEST = 10
"""Sampled packets below which a row has no errors: where nothing is known of most links, all are 100 %."""


def sampling(
    scenario: str | None = None,
    /,
    *,
    routing: str | None = None,
    repeats: Annotated[int, options.within(1, 1000)] = 1,
    hash_: Annotated[str | None, Parameter(name="--hash")] = None,
    options: Computing | None = None,
) -> int:
    """How sure sampled packets are: table 2.1 of the dissertation, run here, beside it and the formulas.

    Parameters
    ----------
    scenario
        A scenario (.toml). [default: miniGhost as table 2.1 has it, with 6 of 40 variables]
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

    options = options or Computing()
    function = report.hash_function(hash_ or "gf")
    extras.need("arrow")
    run = Run("sample-study", options, product=False)
    overrides = [] if options.seed is None else [f"seed={options.seed}"]
    with Scratch.private() as scratch:
        name = scenario
        if name is None:
            name = str(scratch.path / "minighost-svaf.toml")
            scratch.write("minighost-svaf.toml", SCENARIO.encode())
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
        "unmet": _unmet(),
        "rows": rows,
    }
    return run.finish(result, lambda: _text(result), rows=rows)


def _unmet() -> list[dict[str, Any]]:
    """Rows of table 2.1 that no sampling of 800 million packets meets, and by how much."""
    rows = []
    for (method, times), (_, congested) in PUBLISHED.items():
        sampling_percent = math.sqrt(max(congested**2 - CONSTANT_PERCENT**2, 0.0))
        if sampling_percent < MET * congested:
            row = {"column": "congested", "method": method, "downsampling": times}
            rows.append(
                row | {"published_percent": congested, "of_sampling_percent": round(sampling_percent, 2)}
            )
    return rows


def _why(unmet: list[dict[str, Any]]) -> str:
    """The rows that cannot be met, and the reason."""
    lines = [
        [
            row["method"],
            render.count(row["downsampling"]),
            _percent(row["published_percent"]),
            _percent(row["of_sampling_percent"]),
        ]
        for row in unmet
    ]
    header = ["rows of table 2.1 that cannot be met", "one of", "congested", "of it sampling"]
    few, many = PUBLISHED["whole", 1][1], PUBLISHED["whole", 10][1]
    reason = (
        "Errors of sampling grow 3.16-fold where a tenth of the packets is sampled. The table's grow from\n"
        f"{few:.2f} to {many:.2f} % (whole links): beside sampling a constant of {CONSTANT_PERCENT:.2f} % "
        "is in them, which more packets\ndo not remove. Its cause is not published."
    )
    return f"{render.table(header, lines, right=range(1, len(header)))}\n\n{reason}"


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
    alike = row["congested_at_published_packets_percent"]
    row["congested_with_constant_percent"] = None if alike is None else math.hypot(alike, CONSTANT_PERCENT)
    return row | _fraction(row["sampled"], found, truth, carried)


def _fraction(
    sampled_packets: int, found: list[tuple[Totals, int]], truth: Totals, carried: Any
) -> dict[str, float | None]:
    """Errors of the congested share in points: root mean squares over links of which enough was sampled."""
    off: list[Any] = []
    told: list[Any] = []
    share = truth.congested[carried] / truth.traffic[carried]
    for one, _ in found:
        known = ~np.isnan(one.fraction()[carried])
        # Not cut off at 0 and 1: that would hide errors.
        estimate = one.congested[carried][known] / one.traffic[carried][known]
        off.append(estimate - share[known])
        told.append(one.fraction_error()[carried][known])
    some = sampled_packets >= _FEWEST and sum(map(len, off)) > 0
    measured, formula = (
        (100 * math.sqrt(float(np.mean(np.concatenate(each) ** 2))) if some else None) for each in (off, told)
    )
    return {
        "fraction_links": round(sum(map(len, off)) / len(off)),
        "fraction_points": measured,
        "fraction_formula_points": formula,
        "fraction_ratio": measured / formula if measured is not None and formula else None,
    }


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
    if result["hash"] != report.hash_function("gf"):
        head.append(("one bit", f"of {result['hash']}"))
    parts = [render.pairs(head)]
    for key in ("traffic", "congested"):
        congested = key == "congested"
        header = [
            f"{key}, method",
            "one of",
            "sampled",
            "measured",
            "formula",
            "ratio",
            "at 800 M",
            *([f"and {CONSTANT_PERCENT:.2f} %"] if congested else []),
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
                *([_percent(row["congested_with_constant_percent"])] if congested else []),
                _percent(row[f"{key}_published_percent"]),
            ]
            for row in result["rows"]
        ]
        parts.append(render.table(header, lines, right=range(1, len(header))))
    header = ["congested share, method", "one of", "links", "measured", "formula", "ratio"]
    lines = [
        [
            row["method"] if row["downsampling"] == 1 else "",
            count(row["downsampling"]),
            count(row["fraction_links"]),
            *("-" if row[key] is None else f"{row[key]:.2f}" for key in _POINTS),
            "-" if row["fraction_ratio"] is None else f"{row['fraction_ratio']:.3f}",
        ]
        for row in result["rows"]
    ]
    parts.append(render.table(header, lines, right=range(1, len(header))))
    parts.append(_why(result["unmet"]))
    if any(row["sampled"] < _FEWEST for row in result["rows"]):
        parts.append(f"- fewer than {_FEWEST} packets were sampled: errors of so few say nothing")
    return "\n\n".join(parts)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} %"
