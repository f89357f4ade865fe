"""`netloom study bandwidth`: figure 8 of Chen et al., bandwidth divided among the levels of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run

_VISITS = (3.5, 2.0, 1.0)
_BUILT = (3.82, 1.02, 1.30)


def bandwidth(*visits: float, options: Options | None = None) -> int:
    """Figure 8 of Chen et al.: one sum of bandwidth, divided among a network's levels in four ways.

    As the paper's direct network is built, equally, by its theorem 3.3, and with most at the top: the rate
    that goes in, over the best one, and how busy every level is at that rate.

    Parameters
    ----------
    visits
        Links of every level that a packet crosses, from the lowest level up; `traffic show --levels` counts
        them. [default: the paper's 3.5, 2, 1, of GUPS on 8 x 16 x 512 nodes]
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    from netloom import levels

    run = Run("bandwidth-study", options or Options(), product=False)
    crossed = list(visits or _VISITS)
    if len(crossed) < 2 or not all(0 < one < 1e9 for one in crossed):
        found = " ".join(f"{one:g}" for one in crossed)
        raise UsageError(f"{found}: expected two levels or more, each with visits above 0")
    best, optimal = levels.best_bandwidth(crossed, budget=1.0)
    built = [share / sum(_BUILT) for share in _BUILT]
    ways = {
        **({} if visits else {"as built": built}),
        "equal": [1 / len(crossed)] * len(crossed),
        "theorem 3.3": optimal.tolist(),
        "most at the top": sorted(optimal.tolist()),
    }
    rows = []
    for name, shares in ways.items():
        rate = levels.throughput(crossed, bandwidth=shares, offered=float("inf"))
        used = [100 * rate * one / share for one, share in zip(crossed, shares, strict=True)]
        rows.append(
            {
                "division": name,
                "bandwidth_shares": shares,
                "throughput": rate / best,
                "used_percent": used,
            }
        )
    result = {"visits": crossed, "rows": rows}
    flat = [
        {"division": row["division"], "throughput": row["throughput"]}
        | {f"bandwidth_{at}": share for at, share in enumerate(row["bandwidth_shares"], 1)}
        | {f"used_percent_{at}": one for at, one in enumerate(row["used_percent"], 1)}
        for row in rows
    ]
    return run.finish(result, lambda: _text(result), rows=flat)


def _text(result: Mapping[str, Any]) -> str:
    count = len(result["visits"])
    header = ["division", *(f"level {at}" for at in range(1, count + 1)), "throughput"]
    header += [f"used {at}" for at in range(1, count + 1)]
    lines = [
        [
            row["division"],
            *(f"{share:.3f}" for share in row["bandwidth_shares"]),
            f"{row['throughput']:.3f}",
            *(f"{used:.1f} %" for used in row["used_percent"]),
        ]
        for row in result["rows"]
    ]
    visits = " : ".join(f"{one:g}" for one in result["visits"])
    return f"visits {visits}\n\n{render.table(header, lines, right=range(1, len(header)))}"
