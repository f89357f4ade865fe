"""A picture as lines and tables, and these on a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from netloom.findings import by_severity
from netloom.shown.units import seconds
from netloom.watch.journals import Told
from netloom.watch.picture import Link, Picture

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_BAR = 12
_FOUND = 6
"""Findings that are told above the tables."""
_FEWEST = 2
"""Rows that are left of a table before tables are left out."""
_UNITS = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s")


@dataclass(frozen=True)
class Section:
    """A table of a picture."""

    title: str
    header: list[str]
    rows: list[list[str]]
    right: tuple[int, ...] = ()
    """Columns whose cells end at the right."""
    bar: int | None = None
    """A column that is a bar, 0 to 1, as text of a number."""
    whole: bool = False
    """Whether it is shown whole or not at all."""
    more: int = 0
    """Rows that are left out for want of room."""

    @property
    def heading(self) -> str:
        """Its title, and how many rows are left out."""
        return f"{self.title}  … {self.more:,} more" if self.more else self.title


def head(
    what: str, picture: Picture, cost: str, trouble: str | None, found: Sequence[Mapping[str, str]] = ()
) -> list[str]:
    """The lines above the tables; findings among them, the worst first."""
    unknown = f", {picture.links_unknown:,} links unknown" if picture.links_unknown else ""
    lines = [
        f"{what}: {picture.hosts:,} hosts, {picture.switches:,} switches, {picture.links:,} links{unknown}",
        f"over {seconds(picture.seconds)}{', ' + cost if cost else ''}",
    ]
    if picture.idle:
        lines.append("idle: hosts sent no more than management does")
    told = [f"{one['severity']}: {one['text']}" for one in by_severity(found)]
    if len(told) > _FOUND:
        told = [*told[: _FOUND - 1], f"… and {len(told) - _FOUND + 1} more findings"]
    return [*lines, *([f"trouble: {trouble}"] if trouble else []), *told]


@dataclass
class View:
    """What is on the terminal: the last picture, when it came, and how long ago that is."""

    console: Console | None = None
    lines: list[str] = field(default_factory=list)
    tables: list[Section] = field(default_factory=list)
    clock: str = ""
    at_s: float = 0.0

    def put(self, lines: list[str], tables: list[Section]) -> None:
        """Takes a new picture."""
        self.lines, self.tables = lines, tables
        self.clock, self.at_s = time.strftime("%H:%M:%S"), time.monotonic()

    def now(self) -> RenderableType:
        """The picture as it fits the terminal as it is now."""
        if not self.lines or self.console is None:
            return ""
        age = time.monotonic() - self.at_s
        lines = [*self.lines[:1], f"{self.clock}, {age:.0f} s ago; Ctrl-C leaves", *self.lines[1:]]
        return screen(*fitted(lines, self.tables, self.console.height, self.console.width))


def fitted(
    lines: Sequence[str], tables: Sequence[Section], rows: int, columns: int
) -> tuple[list[str], list[Section]]:
    """Lines and tables that fit a terminal; one line more names the tables for which there is no room."""
    lines = [line if len(line) <= columns else f"{line[: max(columns - 1, 0)]}…" for line in lines]
    fits = fitting(lines, tables, rows)
    if len(fits) == len(tables):
        return lines, fits
    fits = fitting([*lines, ""], tables, rows)
    shown = {table.title for table in fits}
    absent = [f"{table.title} ({len(table.rows):,})" for table in tables if table.title not in shown]
    return [*lines, f"no room for: {', '.join(absent)}"[:columns]], fits


def fitting(lines: Sequence[str], tables: Sequence[Section], rows: int) -> list[Section]:
    """The tables, the longest cut first, so that they and `lines` fit into `rows` lines of a terminal.

    Where even two rows of each are too many, one is left of each, then the last tables are left out. Tables
    that are whole are not cut, and are the last to go.
    """
    tables = list(tables)
    fewest = _FEWEST

    def height() -> int:
        return len(lines) + sum(3 + len(table.rows) for table in tables)

    while tables and height() > rows:
        at = max(range(len(tables)), key=lambda i: 0 if tables[i].whole else len(tables[i].rows))
        longest = tables[at]
        if not longest.whole and len(longest.rows) > fewest:
            tables[at] = replace(longest, rows=longest.rows[:-1], more=longest.more + 1)
        elif fewest > 1:
            fewest = 1
        else:
            tables.pop(max((i for i in range(len(tables)) if not tables[i].whole), default=-1))
    return tables


def sections(picture: Picture, told: Told) -> list[Section]:
    """The tables, those with something in them."""
    waits = any(level.wait_ticks_per_s is not None for level in picture.levels)
    found = [
        Section(
            "load by level",
            ["links", "number", "carried", "mean", "busiest", "", *(["waiting"] if waits else [])],
            [
                [
                    level.name,
                    f"{level.links:,}",
                    rate(level.bytes_per_s),
                    share(level.mean_utilisation),
                    share(level.max_utilisation),
                    f"{level.max_utilisation:.4f}",
                    *([ticks(level.wait_ticks_per_s)] if waits else []),
                ]
                for level in picture.levels
            ],
            (1, 2, 3, 4, 6),
            bar=5,
            whole=True,
        ),
        Section("hottest links", *_links(picture.hottest), (1, 2, 4), bar=3),
        Section("packets waited most", *_links(picture.waiting), (1, 2, 4), bar=3),
        Section(
            "jobs",
            ["job", "hosts", "sent", "received", "busiest"],
            [
                [
                    job.name,
                    f"{job.hosts:,}",
                    rate(job.sent_bytes_per_s),
                    rate(job.received_bytes_per_s),
                    share(job.max_utilisation),
                ]
                for job in picture.jobs
            ],
            (1, 2, 3, 4),
        ),
        Section(
            "rounds of the loop",
            ["round", "gap before", "after", "predicted", "found", "changed", "decision", "why"],
            [
                [
                    str(row["number"]),
                    _percent(row["gap_before_percent"]),
                    _percent(row["gap_after_percent"]),
                    _percent(row["predicted_gain"]),
                    _percent(row["realised_gain"]),
                    f"{row['changed_entries']:,}",
                    row["decision"],
                    row["reason"],
                ]
                for row in told.rounds
            ],
            (0, 1, 2, 3, 4, 5),
        ),
        Section(
            "changes of routes",
            ["change", "time", "entries", "state", "why"],
            [
                [str(row["id"]), row["time"], f"{row['changed_entries']:,}", row["state"], row["why"] or ""]
                for row in told.changes
            ],
            (0, 2),
        ),
    ]
    return [section for section in found if section.rows]


def screen(lines: list[str], tables: list[Section]) -> RenderableType:
    """All of it for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(line, style=_style(line)) for line in lines]
    parts[0].stylize("bold")
    for section in tables:
        table = Table(
            title=section.heading, title_justify="left", title_style="bold", box=None, pad_edge=False
        )
        for column, name in enumerate(section.header):
            right = column in section.right
            table.add_column(name, justify="right" if right else "left", header_style="dim", no_wrap=True)
        for row in section.rows:
            table.add_row(
                *(
                    Text(bar(float(cell)), style=_colour(float(cell)))
                    if column == section.bar
                    else Text(cell)
                    for column, cell in enumerate(row)
                )
            )
        parts += [Text(), table]
    return Group(*parts)


def bar(value: float) -> str:
    """A share of 1 as a bar."""
    eighths = round(min(1.0, max(0.0, value)) * _BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("" if rest == 0 else "▏▎▍▌▋▊▉"[rest - 1])


def rate(bytes_per_s: float) -> str:
    """Bytes per second with a unit: `1.25 GB/s`."""
    unit = 0
    while bytes_per_s >= 999.95 and unit < len(_UNITS) - 1:
        bytes_per_s /= 1000.0
        unit += 1
    return f"{bytes_per_s:.{0 if unit == 0 else 2 if bytes_per_s < 99.995 else 1}f} {_UNITS[unit]}"


def share(value: float) -> str:
    """A share of 1 in percent."""
    return f"{100.0 * value:.1f} %"


def ticks(per_s: float | None) -> str:
    """Ticks of waiting per second; they have no unit of their own."""
    return "" if per_s is None else f"{per_s:,.0f}/s"


def _links(links: list[Link]) -> tuple[list[str], list[list[str]]]:
    header = ["link", "carried", "busy", "", "waiting"]
    rows = [
        [
            f"{link.source}[{link.source_port}] → {link.target}[{link.target_port}]",
            rate(link.bytes_per_s),
            share(link.utilisation),
            f"{link.utilisation:.4f}",
            ticks(link.wait_ticks_per_s),
        ]
        for link in links
    ]
    return header, rows


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"


def _style(line: str) -> str:
    if line.startswith(("trouble:", "error:")):
        return "bold red"
    return "yellow" if line.startswith("warning:") else ""


def _colour(value: float) -> str:
    return "green" if value < 0.5 else "yellow" if value < 0.8 else "red"
