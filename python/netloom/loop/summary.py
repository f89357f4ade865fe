"""A loop in one page: every round with what it predicted and found. HTML without scripts or links."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top }
th { border-bottom: 2px solid #444; font-weight: 600 } td { border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.applied { color: #0a6b2d; font-weight: 600 } .rolled { color: #a3210f; font-weight: 600 }
svg { display: block; margin: 1rem 0 } .why { color: #555; font-size: 13px }
"""

_COLUMNS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("time before (ms)", lambda row: _number(row["time_before_ms"], 3)),
    ("after", lambda row: _number(row["time_after_ms"], 3)),
    ("AR gap before (%)", lambda row: _number(row["gap_before_percent"], 2)),
    ("after", lambda row: _number(row["gap_after_percent"], 2)),
    ("predicted (%)", lambda row: _number(row["predicted_gain"], 1)),
    ("at least", lambda row: _number(row["sure_gain"], 1)),
    ("asked", lambda row: _number(row["asked_percent"], 1)),
    ("found (%)", lambda row: _number(row["realised_gain"], 1)),
    ("entries", lambda row: f"{row['changed_entries']:,}"),
    ("seconds", lambda row: _number(sum(row["seconds"].values()), 1)),
)


def page(result: Mapping[str, Any]) -> bytes:
    """The page of a result of `netloom loop`."""
    rows: Sequence[Mapping[str, Any]] = result["rounds"]
    name = html.escape(result["loop"])
    head = "".join(f'<th class="n">{html.escape(title)}</th>' for title, _ in _COLUMNS)
    body = "".join(_row(row) for row in rows)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>netloom loop: {name}</title><style>{_STYLE}</style></head>
<body><h1>{name}</h1>
<p>{html.escape(result["scenario"])}: {result["hosts"]:,} hosts, {result["switches"]:,} switches, from
{html.escape(result["routes"])}, counters {html.escape(result["counters"])}, inferred from {result["weight"]}.
Changed {result["applied"]} times, kept {result["kept"]}, rolled back {result["rolled_back"]}.</p>
{_gaps(rows)}
<table><thead><tr><th class="n">round</th><th>work</th><th>verdict</th>{head}<th>decision</th></tr></thead>
<tbody>{body}</tbody></table></body></html>
""".encode()


def _row(row: Mapping[str, Any]) -> str:
    cells = "".join(f'<td class="n">{text(row)}</td>' for _, text in _COLUMNS)
    kind = row["decision"].split()[0]
    return (
        f'<tr><td class="n">{row["number"]}</td><td>{html.escape(row["phase"])}</td>'
        f"<td>{html.escape(row['verdict'] or '')}</td>{cells}"
        f'<td><span class="{kind}">{html.escape(row["decision"])}</span>'
        f'<div class="why">{html.escape(row["reason"])}</div></td></tr>'
    )


_LEFT, _HEIGHT, _FOOT, _SHORTEST = 56, 180, 40, 420
"""Pixels: left of the bars, of the longest bar, below the axis, and of the narrowest chart."""


def _gaps(rows: Sequence[Mapping[str, Any]]) -> str:
    """AR gaps before and after every round, as bars over an axis in percent."""
    most = max(
        (row[key] or 0.0 for row in rows for key in ("gap_before_percent", "gap_after_percent")), default=0
    )
    if most <= 0:
        return ""
    step = _step(most)
    top = step * -(-most // step)
    each = max(30, (_SHORTEST - _LEFT) // len(rows))
    wide = (each - 8) // 2
    whole, base = _LEFT + each * len(rows), _HEIGHT + 10

    def at(value: float) -> float:
        return base - _HEIGHT * value / top

    parts = []
    for tick in range(round(top / step) + 1):
        y = at(tick * step)
        parts.append(f'<line x1="{_LEFT}" x2="{whole}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" font-size="12" text-anchor="end">{tick * step:g} %</text>'
        )
    for place, row in enumerate(rows):
        left = _LEFT + place * each + 4
        for side, key, colour in ((0, "gap_before_percent", "#b5b5b5"), (1, "gap_after_percent", "#2a6fb0")):
            y = at(row[key] or 0.0)
            told = f"round {row['number']}, {row['phase']}: {key.split('_')[1]} {_number(row[key], 2)} %"
            parts.append(
                f'<rect x="{left + side * wide}" y="{y:.1f}" width="{wide - 1}" height="{base - y:.1f}" '
                f'fill="{colour}"><title>{html.escape(told)}</title></rect>'
            )
        middle = f'x="{left + wide}" y="{base + 16}" font-size="12" text-anchor="middle"'
        parts.append(f"<text {middle}>{row['number']}</text>")
    parts.append(f'<text x="{_LEFT}" y="{base + 34}" font-size="12">round</text>')
    told = "AR gap before (grey) and after (blue) every round"
    return (
        f'<svg width="{whole}" height="{base + _FOOT}" role="img" '
        f'aria-label="{told}">{"".join(parts)}</svg><p>{told}.</p>'
    )


def _step(most: float) -> float:
    """A round number of which three to six make `most`."""
    size = 10.0 ** math.floor(math.log10(most))
    return next(size * part for part in (0.2, 0.25, 0.5, 1, 2) if most / (size * part) <= 6)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
