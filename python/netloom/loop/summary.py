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
svg { display: block; margin: 1rem 0; max-width: 100% }
td.why { color: #555; font-size: 13px; padding-top: 0 }
tr.told td { border-bottom: 0; padding-bottom: 0 }
svg text { font-size: 12px; fill: currentColor }
.grid { stroke: #ddd } .way { stroke: #8a8a8a; stroke-width: 2 }
.before { fill: #fff; stroke: #8a8a8a; stroke-width: 2 } .after { fill: #2a6fb0 }
@media (prefers-color-scheme: dark) {
html { color-scheme: dark } body { background: #16181b; color: #d8d8d8 } td.why { color: #a0a0a0 }
td { border-bottom-color: #3a3d42 } .applied { color: #5cc98a } .rolled { color: #f0806f }
.grid { stroke: #3a3d42 } .before { fill: #16181b } .after { fill: #6fb0ea }
}
"""

_COLUMNS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("time before (ms)", lambda row: _number(row["time_before_ms"], 3)),
    ("after", lambda row: _number(row["time_after_ms"], 3)),
    ("AR gap before (%)", lambda row: _number(row["gap_before_percent"], 2)),
    ("after", lambda row: _number(row["gap_after_percent"], 2)),
    ("predicted (%)", lambda row: _number(row["predicted_gain"], 1)),
    ("at least", lambda row: _number(row["sure_gain"], 1)),
    ("must gain", lambda row: _number(row["asked_percent"], 1)),
    ("found (%)", lambda row: _number(row["realised_gain"], 1)),
    ("entries", lambda row: f"{row['changed_entries']:,}"),
    ("seconds", lambda row: _number(sum(row["seconds"].values()), 1)),
)


def page(result: Mapping[str, Any]) -> bytes:
    """The page of a result of `netloom loop`."""
    rows: Sequence[Mapping[str, Any]] = result["rounds"]
    name = html.escape(result["loop"])
    columns = [(title, text) for title, text in _COLUMNS if any(text(row) for row in rows)]
    head = "".join(f'<th class="n">{html.escape(title)}</th>' for title, _ in columns)
    body = "".join(_row(row, [text for _, text in columns]) for row in rows)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>netloom loop: {name}</title><style>{_STYLE}</style></head>
<body><h1>{name}</h1>
<p>{html.escape(result["scenario"])}: {result["hosts"]:,} hosts, {result["switches"]:,} switches, from
{html.escape(result["routes"])}, counters {html.escape(result["counters"])}, inferred from {result["weight"]}.
Changed {result["applied"]} times, kept {result["kept"]}, rolled back {result["rolled_back"]}.</p>
{_gaps(rows)}
<table><thead><tr><th class="n">round</th><th>work</th><th>verdict</th>{head}<th>decision</th></tr></thead>
<tbody>{body}</tbody></table>
<p>Routes change where a gain is predicted that is, with the doubt, at least what it must be: what the change
costs and a margin.</p></body></html>
""".encode()


def _row(row: Mapping[str, Any], texts: Sequence[Callable[[Mapping[str, Any]], str]]) -> str:
    """A round's numbers, and below them its reason, as wide as the table."""
    cells = "".join(f'<td class="n">{text(row)}</td>' for text in texts)
    kind = row["decision"].split()[0]
    return (
        f'<tr class="told"><td class="n">{row["number"]}</td><td>{html.escape(row["phase"])}</td>'
        f"<td>{html.escape(row['verdict'] or '')}</td>{cells}"
        f'<td><span class="{kind}">{html.escape(row["decision"])}</span></td></tr>'
        f'<tr><td></td><td class="why" colspan="{len(texts) + 3}">{html.escape(row["reason"])}</td></tr>'
    )


_LEFT, _WIDE, _RIGHT, _ROW, _TOP, _FOOT = 150, 420, 170, 24, 8, 40
"""Pixels: for rounds' names, of the axis, for numbers, of a round, above the first and below the last."""
_NAME = 20
"""Characters of a round's work."""


def _gaps(rows: Sequence[Mapping[str, Any]]) -> str:
    """AR gaps before and after every round: a row a round, a dot each, and the numbers beside them."""
    keys = ("gap_before_percent", "gap_after_percent")
    most = max((row[key] or 0.0 for row in rows for key in keys), default=0)
    if most <= 0:
        return ""
    step = _step(most)
    top = step * -(-most // step)
    whole, base = _LEFT + _WIDE + _RIGHT, _TOP + _ROW * len(rows)

    def at(value: float) -> float:
        return _LEFT + _WIDE * value / top

    parts = []
    for tick in range(round(top / step) + 1):
        x = at(tick * step)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{base}"/>')
        parts.append(f'<text x="{x:.1f}" y="{base + 16}" text-anchor="middle">{tick * step:g} %</text>')
    for place, row in enumerate(rows):
        y = _TOP + _ROW * (place + 0.5)
        work = str(row["phase"])
        work = work if len(work) <= _NAME else f"{work[: _NAME - 1]}…"
        before, after = (row[key] for key in keys)
        told = " → ".join(f"{value:.2f}" for value in (before, after) if value is not None)
        name = f"round {row['number']}, {row['phase']}: {told or 'unknown'} %"
        parts.append(f"<g><title>{html.escape(name)}</title>")
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">')
        parts.append(f"{row['number']} {html.escape(work)}</text>")
        if before is not None and after is not None:
            parts.append(f'<line class="way" x1="{at(before):.1f}" x2="{at(after):.1f}" y1="{y}" y2="{y}"/>')
        for kind, value in (("before", before), ("after", after)):
            if value is not None:
                parts.append(f'<circle class="{kind}" cx="{at(value):.1f}" cy="{y}" r="4.5"/>')
        parts.append(f'<text x="{_LEFT + _WIDE + 14}" y="{y + 4}">{told + " %" if told else ""}</text></g>')
    told = "AR gap before (hollow) and after (filled) every round"
    return (
        f'<svg width="{whole}" height="{base + _FOOT}" viewBox="0 0 {whole} {base + _FOOT}" role="img" '
        f'aria-label="{told}">{"".join(parts)}</svg><p>{told}.</p>'
    )


def _step(most: float) -> float:
    """A round number of which three to six make `most`."""
    size = 10.0 ** math.floor(math.log10(most))
    return next(size * part for part in (0.2, 0.25, 0.5, 1, 2) if most / (size * part) <= 6)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
