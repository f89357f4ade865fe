"""A sweep's means with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netloom.drawing.drawn import Drawn, OptionError, is_number
from netloom.errors import FormatError
from netloom.session.session import Session


def sweep(
    session: Session, folder: Path, *, keys: str | None = None, title: str | None = None, kind: str
) -> Drawn:
    """Means and their intervals by group, a panel a kept key."""
    from netloom.plot.sweep import sweep_picture
    from netloom.sweeps import summary
    from netloom.sweeps.store import table_of

    with session.timed("read"):
        table, spec = table_of(folder)
        groups = [group for group in summary.groups(table, spec, session.seed) if group["runs"]]
    if not groups:
        raise FormatError(f"{folder}: no run has ended: there is nothing to draw")
    wanted = _wanted(keys, list(groups[0]["values"]))
    across, words = _across(groups)
    panels = [_panel(key, groups, across, words) for key in wanted]
    panels = [panel for panel in panels if panel.curves]
    if not panels:
        raise FormatError(f"{folder}: {', '.join(wanted)}: no run has a number: there is nothing to draw")
    with session.timed("draw"):
        picture = sweep_picture(
            panels,
            across=across,
            words=words,
            named=", ".join(_differ(groups, across)),
            title=title or f"{folder.resolve().name}: means by {across}, with 95 % intervals",
            kind=kind,
        )
    rows = [
        {"key": panel.key, "curve": curve.name, "points": len(curve.points)}
        for panel in panels
        for curve in panel.curves
    ]
    result = {"across": across, "curves": rows}
    return Drawn(picture, result, rows)


def _wanted(keys: str | None, kept: Sequence[str]) -> list[str]:
    if not kept:
        raise OptionError("plot sweep draws numbers, and this sweep keeps none")
    if keys is None:
        return list(kept)
    found = [word.strip() for word in keys.split(",")]
    odd = next((word for word in found if word not in kept), None)
    if odd is not None:
        raise OptionError(f'keys {keys}: expected some of {", ".join(kept)}, found "{odd}"')
    return list(dict.fromkeys(found))


def _across(groups: Sequence[Mapping[str, Any]]) -> tuple[str, list[str] | None]:
    """What lies across, and its words if these are no numbers."""
    names = [name for name in groups[0]["by"] if len({str(group["by"][name]) for group in groups}) > 1]
    names = names or list(groups[0]["by"])[:1]
    for name in names:
        if all(is_number(group["by"][name]) for group in groups):
            return name, None
    return names[0], list(dict.fromkeys(_word(group["by"][names[0]]) for group in groups))


def _differ(groups: Sequence[Mapping[str, Any]], across: str) -> list[str]:
    """What curves differ in."""
    return [
        name
        for name in groups[0]["by"]
        if name != across and len({str(group["by"][name]) for group in groups}) > 1
    ]


def _panel(key: str, groups: Sequence[Mapping[str, Any]], across: str, words: Sequence[str] | None) -> Any:
    from netloom.plot.sweep import Curve, Panel, Point

    differ = _differ(groups, across)
    curves: dict[tuple[str, str], list[Point]] = {}
    for group in groups:
        value = group["values"][key]
        if value["mean"] is None:
            continue
        at = group["by"][across] if words is None else words.index(_word(group["by"][across]))
        name = ", ".join(_word(group["by"][other]) for other in differ)
        first = "routing" if "routing" in differ else differ[0] if differ else None
        engine = name if first is None else _word(group["by"][first])
        point = Point(float(at), value["mean"], value["low"], value["high"])
        curves.setdefault((name, engine), []).append(point)
    ordered = [
        Curve(name, engine, sorted(points, key=lambda point: point.at))
        for (name, engine), points in curves.items()
    ]
    return Panel(key, ordered)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
