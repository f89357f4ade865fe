"""A page's document as HTML: tables that need no script, and a picture of the fabric that one draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages import result as results
from netloom.pages.markup import Bar, Column, Row, facts, pick, table
from netloom.pages.strips import deepest, strips
from netloom.shown import html, legend
from netloom.shown.html import text
from netloom.shown.units import told

SCHEMA = "netloom.page/1"

_ROUTES = (
    Column("max_load", legend.LOAD, "B"),
    Column("max_load_between_switches", "between switches", "B"),
    Column("links_at_max", "links at max"),
    Column("mean_load", "mean load", "B"),
    Column("ar_bound", "AR bound", "B"),
    Column("ar_gap_percent", "AR gap", "%"),
    Column("lower_bound", "proven lower bound", "B"),
    Column("lower_bound_gap_percent", "gap to it", "%"),
    Column("proven_optimal", "proven optimal", "text"),
)
_JOBS = (
    Column("ranks", "ranks"),
    Column("completion_ms", "complete after", "ms"),
    Column("ratio", "to the first"),
    Column("message_latency_us/mean", "latency: mean", "µs"),
    Column("message_latency_us/p50", "half within", "µs"),
    Column("message_latency_us/p99", "99 % within", "µs"),
    Column("message_latency_us/max", "all within", "µs"),
    Column("time/waiting_share", "waiting", "share"),
    Column("messages", "messages"),
    Column("bytes", "bytes", "B"),
)


def page(document: Mapping[str, Any]) -> bytes:
    """Returns the page of a document.

    Parameters
    ----------
    document : mapping
        `title`, `netloom` (the version), `inputs`, and `parts`: what `pages.routed`, `pages.ran` and
        `pages.result` tell.
    """
    parts = []
    for number, part in enumerate(document["parts"]):
        parts += _KINDS[part["kind"]](f"/parts/{number}", part)
    parts.append(_inputs(document["inputs"]))
    title = str(document["title"])
    body = (
        f'<header><h1>{text(title)}</h1>\n<p class="faint">netloom {text(document["netloom"])}; all figures '
        'are in this file as JSON. <button id="save" hidden>Save JSON</button></p></header>\n<main>\n'
        + "\n".join(parts)
        + '\n</main>\n<div id="told" hidden></div>'
    )
    style, script = (html.asset("netloom.pages", f"report.{kind}") for kind in ("css", "js"))
    return html.page(title, body, document, style=style, script=script)


def sections(document: Mapping[str, Any]) -> list[str]:
    """Heads of a page's sections."""
    return [part["kind"] for part in document["parts"]] + ["inputs"]


def _section(head: str, *blocks: str, note: str = "") -> str:
    said = f'<p class="faint">{text(note)}</p>\n' if note else ""
    return f"<section><h2>{text(head)}</h2>\n{said}" + "\n".join(blocks) + "</section>"


def _beside(blocks: Sequence[str]) -> str:
    """Blocks side by side where there is room."""
    return '<div class="beside">' + "\n".join(f"<div>{block}</div>" for block in blocks) + "</div>"


def _colours(routings: Sequence[Mapping[str, Any]]) -> list[str]:
    return [look.colour for look in legend.looks([row["routing"] for row in routings])]


def _routes(at: str, part: Mapping[str, Any]) -> list[str]:
    routings = part["routings"]
    colours = _colours(routings)
    most = max((row["max_load"] for row in routings), default=0.0) or 1.0
    rows = [
        Row(
            [legend.name(row["routing"])],
            f"{at}/routings/{n}",
            row,
            colours[n],
            Bar(row["max_load"] / most, colours[n], bound=_place(part["bound"], most)),
        )
        for n, row in enumerate(routings)
    ]
    net = [
        Column("fabric/hosts", "hosts"),
        Column("fabric/switches", "switches"),
        Column("fabric/links", "links"),
        Column("traffic/pairs", "pairs that send"),
        Column("traffic/total_bytes", "all they send", "B"),
    ]
    changes = [
        Column("changed_entries", "entries changed"),
        Column("moved", "bytes moved", "share"),
    ][: 2 * (len(routings) > 1)]
    bound = (
        " The line in a bar is the AR bound: what ideal adaptive routing would load the hottest link with."
    )
    if part["bound"] is None:
        bound = " The AR bound is none of all these routes: they leave the ways that it ranges over."
        changes.append(Column("outside_because/text", "no gap", "text"))
    if any(row["stopped"] for row in routings):
        bound += " Stopped: the bounds of that routing are what was known when its time ended."
        changes.append(Column("stopped", "stopped", "text"))
    found = [
        _section(
            "Routes",
            facts(at, part, net),
            table("Maximum load beside the bound", ["routing"], [*_ROUTES, *changes], rows),
            note="Load of a link: bytes it carries, at the speed of the fastest link." + bound,
        ),
        _levels(at, routings, colours, "B", part["bound"]),
        _picture(part, "Load of every link"),
    ]
    if part["traffic"]["jobs"]:
        jobs = [
            Row([job["job"]], f"{at}/traffic/jobs/{n}", job) for n, job in enumerate(part["traffic"]["jobs"])
        ]
        found.append(
            _section("Jobs", table("Jobs of this traffic", ["job"], [Column("hosts", "hosts")], jobs))
        )
    blocks = []
    columns = [Column("value", "load", "B"), Column("pairs", "pairs")]
    for n, row in enumerate(routings):
        hottest = _busiest(f"{at}/routings/{n}", row, colours[n], columns)
        who = "".join(_users(f"{at}/routings/{n}/busiest/{k}", link) for k, link in enumerate(row["busiest"]))
        name = legend.name(row["routing"])
        blocks.append(f"{hottest}<details><summary>{text(name)}: who loads them</summary>\n{who}</details>")
    return [*found, _section("Hottest links, and who loads them", _beside(blocks))]


def _place(value: float | None, most: float) -> float | None:
    """Where a value lies from 0 to `most`, as part of it; None beyond."""
    return None if value is None or not 0 <= value <= most else value / most


def _levels(
    at: str, routings: Sequence[Mapping[str, Any]], colours: Sequence[str], unit: str, bound: float | None
) -> str:
    most = max((row["max"] for of in routings for row in of["levels"]), default=0.0) or 1.0
    most = max(most, bound or 0.0)
    place = None if bound is None else bound / most
    rows = []
    # All of one fabric: the same levels.
    for k, first in enumerate(routings[0]["levels"]):
        for n, of in enumerate(routings):
            row = of["levels"][k]
            names = [*([first["tier"]] if n == 0 else []), legend.name(of["routing"])]
            bar = Bar(row["max"] / most, colours[n], row["mean"] / most, place)
            span = len(routings) if n == 0 else 1
            rows.append(Row(names, f"{at}/routings/{n}/levels/{k}", row, colours[n], bar, span))
    columns = [Column("links", "links"), Column("mean", "mean", unit), Column("max", "largest", unit)]
    what = "Load" if unit == "B" else "Utilisation"
    line = " The long line is the AR bound." if bound is not None else ""
    return _section(
        f"{what} by level",
        table(f"{what} by level", ["links", "routing"], columns, rows),
        note=f"A bar ends at the largest of a level's links; the dot is their mean.{line}",
    )


def _busiest(at: str, row: Mapping[str, Any], colour: str, columns: Sequence[Column]) -> str:
    most = row["busiest"][0]["value"] if row["busiest"] else 1.0
    rows = [
        Row([link["from"], link["to"]], f"{at}/busiest/{k}", link, bar=Bar(link["value"] / most, colour))
        for k, link in enumerate(row["busiest"])
    ]
    between = " between switches" if row.get("busiest_between_switches") else ""
    return table(f"{legend.name(row['routing'])}: hottest links{between}", ["from", "to"], columns, rows)


def _users(at: str, link: Mapping[str, Any]) -> str:
    rows = [
        Row([one["source"], one["destination"], one["job"] or "–"], f"{at}/users/{k}", one)
        for k, one in enumerate(link["users"])
    ]
    jobs = [Row([job["name"]], f"{at}/jobs/{k}", job) for k, job in enumerate(link["jobs"]) if job["name"]]
    size = Column("bytes", "bytes", "B")
    tables = [table("Its jobs", ["job"], [Column("pairs", "pairs"), size], jobs)] if jobs else []
    many = "" if len(rows) == link["pairs"] else f" ({len(rows)} with most bytes)"
    tables.append(table(f"Its pairs{many}", ["source", "destination", "job"], [size], rows))
    name = f"{link['from']} → {link['to']}"
    return (
        f"<details><summary>{text(name)}: "
        f'<span data-at="{text(at)}/value" data-unit="B">{text(told(link["value"], "B"))}</span>'
        f"</summary>{''.join(tables)}</details>"
    )


def _run(at: str, part: Mapping[str, Any]) -> list[str]:
    routings = part["routings"]
    colours = _colours(routings)
    jobs = [(n, k, job) for n, of in enumerate(routings) for k, job in enumerate(of["result"]["jobs"])]
    most = max((job.get("completion_ms") or 0.0 for _, _, job in jobs), default=0.0) or 1.0
    rows = [
        Row(
            [job["name"], legend.name(routings[n]["routing"])],
            f"{at}/routings/{n}/result/jobs/{k}",
            job,
            colours[n],
            Bar((job.get("completion_ms") or 0.0) / most, colours[n]),
        )
        for n, k, job in sorted(jobs, key=lambda one: (one[1], one[0]))
    ]
    whole = [
        Row([legend.name(of["routing"])], f"{at}/routings/{n}/result", of["result"], colours[n])
        for n, of in enumerate(routings)
    ]
    columns = [
        Column("simulated_ms", "simulated", "ms"),
        Column("packets", "packets"),
        Column("packet_latency_us/mean", "packet latency: mean", "µs"),
        Column("packet_latency_us/p99", "99 % within", "µs"),
        Column("max_link_utilisation", "busiest link", "share"),
        Column("stopped", "stopped", "text"),
    ]
    about = [
        Column("run/scenario", "scenario", "text"),
        Column("run/model", "model", "text"),
        Column("run/hosts", "hosts"),
        Column("run/switches", "switches"),
        Column("run/links", "links"),
        Column("run/longest_ms", "longest routing", "ms"),
    ]
    shown = [
        Column(c.key, c.head, c.unit) for c in _JOBS if any(pick(r.value, c.key) is not None for r in rows)
    ]
    found = [
        _section("Jobs", facts(at, part, about), table("Jobs by routing", ["job", "routing"], shown, rows)),
        _section("Routings", table("The whole run by routing", ["routing"], columns, whole)),
        _levels(at, routings, colours, "share", None),
        _picture(part, "Utilisation of every link"),
    ]
    longest, queue = part["run"]["longest_ms"], deepest(routings)
    if any(of["times"] for of in routings):
        found.append(
            _section(
                "Levels over time",
                *(strips(f"{at}/routings/{n}", of, longest, queue) for n, of in enumerate(routings)),
                note="Stronger colour is more: busiest link, mean of links, longest queue of a level.",
            )
        )
    links = [
        Column("value", "utilisation", "share"),
        Column("bytes", "bytes", "B"),
        Column("packets", "packets"),
    ]
    busiest = [_busiest(f"{at}/routings/{n}", of, colours[n], links) for n, of in enumerate(routings)]
    return [*found, _section("Busiest links", _beside(busiest))]


def _picture(part: Mapping[str, Any], head: str) -> str:
    names = [one["routing"] for one in part["links"]["values"]]
    colours = _colours(part["routings"])
    choices = "".join(
        f'<label><input type="radio" name="routing" value="{n}"{" checked" if n == 0 else ""}/>'
        f'<i class="dot" style="background:{colours[n]}"></i>{text(legend.name(name))}</label>'
        for n, name in enumerate(names)
    )
    choices = f"<fieldset><legend>routing</legend>{choices}</fieldset>\n" if len(names) > 1 else ""
    return (
        f'<section id="picture" hidden><h2>{text(head)}</h2>\n'
        '<p class="faint">A column is a switch (for hosts their leaf), a row a cable; gaps part pods. '
        "Point at a link to read it, click to open its switch. Ctrl and the wheel zoom, dragging moves. "
        "Keyboard: arrows, Enter opens, + and − zoom, 0 shows all.</p>\n"
        f'{choices}<div id="key"></div>\n'
        f'<canvas id="fabric" tabindex="0" role="img" aria-label="{text(head)}, by level"></canvas>\n'
        '<p id="at" aria-live="polite"></p>\n<div id="opened" aria-live="polite"></div></section>'
    )


def _result(at: str, part: Mapping[str, Any]) -> list[str]:
    found = results.tables(part["document"]["result"], f"{at}/document/result", "")
    blocks = []
    for name, _, rows, keys in found:
        columns = [Column(key, results.head(key), _unit(key, rows, part["verb"])) for key in keys]
        if len(rows) == 1 and not rows[0][0].rsplit("/", 1)[1].isdigit():
            blocks.append((f"<h3>{text(name)}</h3>" if name else "") + facts(rows[0][0], rows[0][1], columns))
        else:
            listed = [Row([str(n + 1)], where, row) for n, (where, row) in enumerate(rows)]
            blocks.append(table(name.replace("_", " "), ["no."], columns, listed))
    return [_section(f"Result of netloom {part['verb']}", *blocks)]


def _unit(key: str, rows: Sequence[tuple[str, Any]], verb: str) -> str:
    """Text where a column holds any."""
    values = [pick(row, key) for _, row in rows]
    words = any(isinstance(value, str | bool | list) for value in values)
    return "text" if words else results.unit(key, verb)


def _inputs(inputs: Sequence[Mapping[str, Any]]) -> str:
    rows = [Row([one["role"], one["source"]], f"/inputs/{n}", one) for n, one in enumerate(inputs)]
    columns = [Column("sha256", "SHA-256", "text")]
    return _section("Made of", table("Inputs", ["what", "source"], columns, rows))


_KINDS = {"routes": _routes, "run": _run, "result": _result}
