"""Price against slowdown, of a plan."""

from __future__ import annotations

from typing import Any

from netloom.drawing import documents
from netloom.drawing.drawn import Drawn, is_number
from netloom.session.session import Session


def plan(session: Session, source: str, *, title: str | None = None, kind: str) -> Drawn:
    """Estimates and bounds of a plan's designs."""
    expected = "expected what netloom plan --format json prints"
    result = documents.read(session, source, expected, _is_known)["result"]
    rows = [_row("limit", None, one, one["estimate"], None) for one in result["limits"]]
    rows += [
        _of_design("chosen" if i == result["chosen"] else "front", one)
        for i, one in enumerate(result["designs"])
    ]
    rows += [_of_design("full", one) for one in [result["full"]] if one]
    rows += [_of_design("compared", one) for one in result["compared"]]
    # Only now: matplotlib takes a while to load.
    from netloom.plot.planned import Point, plan_picture

    def sides(*kinds: str, of: str = "slower_percent") -> list[tuple[float, float]]:
        return [(row["price_per_host"], row[of]) for row in rows if row["kind"] in kinds]

    points = [
        Point(
            f"{row['kind']}: {'+'.join(map(str, row['switches']))} switches",
            row["price_per_host"],
            row["slower_percent"],
            row["bound_percent"],
            best=row["kind"] == "chosen",
        )
        for row in rows
        if row["kind"] in ("chosen", "full", "compared")
    ]
    with session.timed("draw"):
        picture = plan_picture(
            sides("front", "chosen"),
            sides("front", "chosen", of="bound_percent"),
            sides("limit"),
            points,
            currency=result["catalogue"]["currency"],
            title=title or f"{result['name'] or 'a machine'} ({result['hosts']:,} hosts): slowdown by price",
            kind=kind,
        )
    drawn = {"points": rows}
    return Drawn(picture, drawn, rows)


def _of_design(kind: str, one: dict[str, Any]) -> dict[str, Any]:
    return _row(kind, one["spec"], one, one["slowdown"]["estimate"], one["slowdown"]["bound"])


def _row(
    kind: str, spec: str | None, one: dict[str, Any], estimate: float, bound: float | None
) -> dict[str, Any]:
    return {
        "kind": kind,
        "spec": spec,
        "switches": one.get("switches"),
        "price_per_host": one["price_per_host"],
        "slower_percent": 100 * (estimate - 1),
        "bound_percent": None if bound is None else 100 * (bound - 1),
    }


def _is_known(document: dict[str, Any]) -> bool:
    """Whether it is a plan's, with all that is drawn."""
    result = document["result"]
    known = str(document["schema"]).startswith("netloom.plan/1") and bool(result["designs"])
    beside = [one for one in [result["full"], *result["compared"]] if one]
    for one in [*result["designs"], *beside]:
        known = known and _is_price(one) and isinstance(one["spec"], str)
        known = known and all(isinstance(count, int) for count in one["switches"])
        known = known and _is_slowdown(one["slowdown"]["estimate"])
        known = known and _is_slowdown(one["slowdown"]["bound"])
    for one in result["limits"]:
        known = known and _is_price(one) and _is_slowdown(one["estimate"])
    known = known and isinstance(result["catalogue"]["currency"], str) and isinstance(result["hosts"], int)
    return known and isinstance(result["name"], str) and "chosen" in result


def _is_price(one: dict[str, Any]) -> bool:
    return is_number(one["price_per_host"]) and 0 < one["price_per_host"] < 1e12


def _is_slowdown(value: Any) -> bool:
    return is_number(value) and 1 <= value < 1e12
