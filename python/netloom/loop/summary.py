"""A loop in one page: every round with what it foretold and found. HTML without scripts or links."""

from __future__ import annotations

import html
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
    ("foretold (%)", lambda row: _number(row["predicted_gain"], 1)),
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


def _gaps(rows: Sequence[Mapping[str, Any]]) -> str:
    """AR gaps before and after every round, as bars."""
    most = max((row["gap_before_percent"] or 0.0 for row in rows), default=0.0)
    if most <= 0:
        return ""
    width, height = 28, 120
    bars = []
    for at, row in enumerate(rows):
        for side, key, colour in ((0, "gap_before_percent", "#c9c9c9"), (1, "gap_after_percent", "#2a6fb0")):
            tall = height * min(1.0, (row[key] or 0.0) / most)
            left = at * width + side * 11
            bars.append(
                f'<rect x="{left}" y="{height - tall:.1f}" width="10" height="{tall:.1f}" fill="{colour}"/>'
            )
        bars.append(f'<text x="{at * width + 4}" y="{height + 14}" font-size="11">{row["number"]}</text>')
    whole = max(1, len(rows)) * width
    told = f"AR gap before (grey) and after (blue) every round, up to {most:.0f} %"
    return (
        f'<svg width="{whole}" height="{height + 20}" role="img" '
        f'aria-label="{told}">{"".join(bars)}</svg><p>{told}.</p>'
    )


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
