"""What the paper says of modes, and whether it comes out here."""

from __future__ import annotations

from typing import Any

from netloom.studies.modes.published import AWARE, DEFAULT, HIGH, STEADY
from netloom.studies.modes.runs import WITHIN, Row

Key = tuple[str, str]


def claims(rows: list[Row]) -> list[dict[str, Any]]:
    """Statements of the paper whose rows are all there, with ours beside.

    Returns
    -------
    list of dict
        `says`, `ours`, `holds`.
    """
    of = {(row.benchmark, row.size): row for row in rows}
    found: list[dict[str, Any]] = []

    def says(text: str, keys: list[Key], ours: str, holds: bool) -> None:
        if all(key in of for key in keys):
            found.append({"says": text, "ours": ours, "holds": holds})

    def high(key: Key) -> float:
        return of[key].ratio(HIGH) if key in of else 1.0

    little = [("ping-pong", "8"), ("barrier", "64 ranks")]
    says(
        "high bias is better for benchmarks with little data, as ping-pong or barrier (sec. 5.1)",
        little,
        ", ".join(f"{' '.join(key)} {high(key):.2f}" for key in little),
        all(high(key) < 1 for key in little),
    )
    much = [("alltoall", "16KiB"), ("broadcast", "1MiB"), ("halo3d", "128KiB")]
    says(
        "default is better for large alltoall, broadcast and halo3d (sec. 5.1)",
        much,
        ", ".join(f"{' '.join(key)} {high(key):.2f}" for key in much),
        all(high(key) > 1 for key in much),
    )
    small, large = ("alltoall", "128"), ("alltoall", "16KiB")
    if small in of and large in of:
        shares = [of[key].shares[AWARE] for key in (small, large)]
        says(
            "aware sends small all-to-alls with high bias and larger ones with the default (sec. 5.1)",
            [small, large],
            f"default's share {100 * shares[0]:.0f} % and {100 * shares[1]:.0f} %",
            shares[0] < shares[1],
        )
    if large in of:
        row = of[large]
        says(
            "in 16 KiB all-to-all aware is as good as the default, with less than all on it (sec. 5.1)",
            [large],
            f"{row.ratio(AWARE):.2f} of the default's time, {100 * row.shares[AWARE]:.0f} % on it",
            row.ratio(AWARE) <= WITHIN and row.shares[AWARE] < 1,
        )
    fails = [("broadcast", "1MiB"), ("sweep3d", "32KiB")]
    says(
        "aware fails in broadcasts of large messages and sweep3d: it oscillates (sec. 5.1)",
        fails,
        ", ".join(f"{' '.join(key)} {of[key].over_better(AWARE):.2f}" for key in fails if key in of),
        all(of[key].over_better(AWARE) > WITHIN for key in fails if key in of),
    )
    return found


def totals(rows: list[Row]) -> dict[str, Any]:
    """In how many rows `aware` and `aware:steady` hold."""
    return {
        "rows": len(rows),
        "aware_within": sum(row.over_better(AWARE) <= WITHIN for row in rows),
        "steady_within": sum(row.over_better(STEADY) <= WITHIN for row in rows),
        "steady_not_slower": sum(row.over_worse(STEADY) <= 1 for row in rows),
        "default_better": sum(row.ratio(HIGH, DEFAULT) > 1 for row in rows),
    }
