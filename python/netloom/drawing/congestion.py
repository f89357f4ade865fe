"""Congested fractions of sampled runs, link by link or host by host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.drawing.drawn import Drawn, OptionError
from netloom.errors import FormatError, NetloomError
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom.plot.congestion import Panel
    from netloom.plot.layout import Layout
    from netloom.sampling import Samples

_PANELS = 36
"""Most panels of a picture."""


def congestion(
    session: Session,
    folders: Sequence[Path],
    *,
    by: Literal["context", "window"] | None = None,
    job: str | None = None,
    phase: str | None = None,
    part: str | None = None,
    grid: str | None = None,
    plane: str | None = None,
    routing: str | None = None,
    deviations: float = 4.0,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """Which links met congestion: thickness is traffic, darkness the congested fraction."""
    asked = _Asked(by, job, phase, deviations)
    words = [None] if routing is None else [word.strip() for word in routing.split(",")]
    found = [(folder, _read(session, folder, word)) for folder in folders for word in words]
    if routing is None:
        for folder in folders:
            first_word, *others = _routings(folder)
            if others:
                session.note(
                    f"{folder}: {first_word} is drawn; --routing {','.join([first_word, *others])} draws all"
                )
    first = found[0][1]
    for folder, samples in found[1:]:
        if samples.fabric.cabling_hash != first.fabric.cabling_hash:
            raise FormatError(f"{folder}: samples of another fabric than {folders[0]}", str(folder))
    panels = [
        panel
        for folder, samples in found
        for panel in _panels(folder, samples, asked, _before(folder, samples, folders, words))
    ]
    if len(panels) > _PANELS:
        raise NetloomError(f"{len(panels)} panels: expected at most {_PANELS} (--job and --phase choose)")
    names = ", ".join(dict.fromkeys(_name(folder) for folder in folders))
    told = title or f"{names} ({first.fabric.hosts:,} hosts): who met congestion"
    if grid is not None:
        return _hosts(session, panels, (found, grid, plane), told, kind)
    return _links(session, panels, first, part, told, kind)


@dataclass(frozen=True)
class _Asked:
    """Which panels, of what."""

    by: str | None
    job: str | None
    phase: str | None
    deviations: float


@dataclass(frozen=True)
class _Shown:
    """A panel with what it is made of."""

    panel: Panel
    contexts: list[Panel]
    row: dict[str, Any]


def _read(session: Session, folder: Path, routing: str | None) -> Samples:
    from netloom import sampling
    from netloom.runs import folder as runs

    samples = sampling.read(folder, routing)
    session.read("run", str(folder / runs.MANIFEST))
    for finding in samples.findings:
        session.note(f"{folder}: {finding['text']}")
    stopped = samples.result.get("stopped")
    if stopped is not None:
        session.note(
            f"{folder}: the run was stopped early ({stopped}): only its beginning is drawn", kind="warning"
        )
    return samples


def _routings(folder: Path) -> list[str]:
    """The routings of a run, in its order."""
    from netloom.runs import folder as runs

    return [str(entry["routing"]) for entry in runs.read_manifest(folder)["runs"]]


def _before(folder: Path, samples: Samples, folders: Sequence[Path], words: Sequence[str | None]) -> str:
    """What stands before a panel's own name: its run and its routing, where there are several."""
    several = len(words) > 1 or len(_routings(folder)) > 1
    names = [folder.name if len(folders) > 1 else "", samples.routing if several else ""]
    return " · ".join(name for name in names if name)


def _name(folder: Path) -> str:
    from netloom.runs import folder as runs

    return str(runs.read_manifest(folder)["scenario"]["name"])


def _panels(folder: Path, samples: Samples, asked: _Asked, before: str) -> Iterator[_Shown]:
    """The panels of a run, their names behind `before`."""
    if samples.contexts.num_rows == 0 or samples.samples.num_rows == 0:
        raise FormatError(f"{folder}: no sampled packet was received: there is nothing to draw", str(folder))
    rows = [row for row in samples.contexts.to_pylist() if asked.job in (None, row["job_name"])]
    if not rows:
        names = ", ".join(dict.fromkeys(samples.contexts["job_name"].to_pylist()))
        raise FormatError(f'{folder}: has no job "{asked.job}": expected {names}', str(folder))
    if asked.phase is not None:
        words = [word.strip() for word in asked.phase.split(",")]
        known = list(dict.fromkeys(row["phase"] for row in rows))
        for word in words:
            if word not in known:
                raise FormatError(
                    f'{folder}: has no phase "{word}": expected {", ".join(known)}', str(folder)
                )
        rows = [row for row in rows if row["phase"] in words]
    jobs = {row["job_name"] for row in rows}

    def named(row: dict[str, Any], *, whole: bool = False) -> str:
        phase = f"tag {row['phase']}" if row["phase"].isdigit() else row["phase"]
        words = (row["job_name"] if whole or len(jobs) > 1 else "", "" if phase == "all" else phase)
        return " ".join(word for word in words if word)

    groups: list[tuple[str, list[dict[str, Any]], list[int] | None]]
    if asked.by == "context":
        groups = [(named(row), [row], None) for row in rows]
    elif asked.by == "window":
        groups = [
            (f"{start * 1e-9:.4g} to {end * 1e-9:.4g} ms", rows, [number])
            for number, start, end in samples.windows
        ]
    else:
        groups = [("" if before else samples.routing, rows, None)]
    for name, members, windows in groups:
        told = " · ".join(word for word in (before, name) if word) or samples.routing
        ids = [int(row["context"]) for row in members]
        panel = _panel(told, samples, ids, windows, asked.deviations)
        parts = [
            _panel(named(row, whole=True), samples, [int(row["context"])], windows, asked.deviations)
            for row in members
        ]
        yield _Shown(panel, parts, {"panel": told, "run": str(folder), "contexts": len(ids)})


def _panel(
    name: str, samples: Samples, contexts: list[int], windows: list[int] | None, deviations: float
) -> Panel:
    from netloom.plot.congestion import Panel

    total = samples.total(contexts, windows)
    known = ~np.isnan(total.fraction(deviations))
    return Panel(
        name,
        np.where(known, total.traffic, 0.0),
        np.where(known, total.congested, 0.0),
        np.where(known, total.fraction_doubt(), 0.0),
    )


_MANY = 1000
"""Hosts from which on pods without traffic are not drawn: they would take the room of those with some."""


def _links(
    session: Session, shown: Sequence[_Shown], samples: Samples, part: str | None, title: str, kind: str
) -> Drawn:
    from netloom.plot.congestion import congestion_picture
    from netloom.plot.layout import idle_pods, layout
    from netloom.plot.page import congestion_page

    carried = np.sum([found.panel.traffic for found in shown], axis=0) > 0
    folded = part is None and samples.fabric.hosts > _MANY and samples.fabric.shape["kind"] == "tree"
    idle = idle_pods(samples.fabric, carried) if folded else []
    if idle:
        pods = f"{len(idle)} idle pod{'' if len(idle) == 1 else 's'}"
        session.note(f"{pods} not drawn, whose links carry nothing (--part pod:0-… draws all)")
        title = f"{title}; {pods} not drawn"
    place = layout(samples.fabric, part, without=idle)
    ends = link_ends(samples, place)
    panels = [found.panel for found in shown]
    with session.timed("draw"):
        if kind == "html":
            contexts = [found.contexts for found in shown]
            picture = congestion_page(place, panels, contexts, ends, title=title)
        else:
            picture = congestion_picture(place, panels, title=title, kind=kind)
    rows = [_row(found, samples, place, ends) for found in shown]
    result: dict[str, Any] = {"panels": rows, "links": len(place.links)}
    return Drawn(picture, result, rows)


def link_ends(samples: Samples, place: Layout) -> list[tuple[str, str]]:
    """From where to where each drawn link goes, by name."""
    table = samples.fabric.link_table()
    names = [*samples.fabric.host_names, *samples.fabric.switch_names]
    source, target = (np.asarray(table[key])[place.links] for key in ("source", "target"))
    return [(names[a], names[b]) for a, b in zip(source, target, strict=True)]


def _row(found: _Shown, samples: Samples, place: Layout, ends: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What a panel shows, in numbers: means over links with traffic, and the darkest that carries much."""
    panel = found.panel
    traffic, fraction = panel.traffic[place.links], panel.fraction[place.links]
    between = np.arange(len(traffic)) < len(place.cables)
    down = np.concatenate([place.above, np.zeros(len(place.hosts), bool)])
    table = samples.fabric.link_table()
    source, target = (np.asarray(table[end])[place.links] for end in ("source", "target"))
    carries = traffic > 0

    def mean(which: Any) -> float | None:
        chosen = carries & which
        # Not of fractions cut off at 0 and 1: noise would not cancel.
        share = panel.congested[place.links][chosen] / traffic[chosen]
        return float(np.clip(100.0 * share.mean(), 0.0, 100.0)) if chosen.any() else None

    worst = int(np.argmax(fraction * np.sqrt(traffic))) if carries.any() else None
    return {
        **found.row,
        "packets": float(traffic.max(initial=0.0)),
        "up_percent": mean(between & ~down),
        "down_percent": mean(between & down),
        "from_hosts_percent": mean(source < samples.fabric.hosts),
        "to_hosts_percent": mean(target < samples.fabric.hosts),
        "worst": None if worst is None else " → ".join(ends[worst]),
        "worst_percent": None if worst is None else float(100.0 * fraction[worst]),
        "worst_error_percent": None
        if worst is None or panel.fraction_error is None
        else float(100.0 * panel.fraction_error[place.links][worst]),
    }


def _hosts(
    session: Session,
    shown: Sequence[_Shown],
    asked: tuple[list[tuple[Path, Samples]], str, str | None],
    title: str,
    kind: str,
) -> Drawn:
    """Hosts on the job's grid."""
    from netloom.plot.places import places, places_picture

    found, grid, plane = asked
    if kind == "html":
        raise OptionError("grid draws .svg, .pdf or .png")
    shape = (
        [int(word) for word in grid.split("x")]
        if re.fullmatch(r"[1-9]\d{0,8}(x[1-9]\d{0,8}){0,2}", grid)
        else []
    )
    if not shape:
        raise OptionError(f'grid {grid}: expected a process grid such as "24x48x24"')
    samples = found[0][1]
    fitting = [job for job in samples.jobs if len(job.host_of_rank) == int(np.prod(shape))]
    if not fitting:
        ranks = ", ".join(f"{job.name} has {len(job.host_of_rank):,}" for job in samples.jobs)
        raise NetloomError(f"--grid {grid}: no job has so many ranks ({ranks})")
    place = places(shape, fitting[0].host_of_rank)
    for folder, other in found[1:]:
        same = [job for job in other.jobs if np.array_equal(job.host_of_rank, fitting[0].host_of_rank)]
        if not same:
            raise FormatError(
                f"{folder}: its ranks are on other hosts than those of {found[0][0]}", str(folder)
            )
    planes = _planes(plane, place.shape[2])
    table = samples.fabric.link_table()
    target = np.asarray(table["target"], np.int64)
    # A host's own link down, by its number.
    link = np.full(samples.fabric.hosts, -1)
    to_hosts = np.flatnonzero(target < samples.fabric.hosts)
    link[target[to_hosts]] = to_hosts
    lines = [(panel.panel.name, panel.panel.fraction[link[place.hosts]]) for panel in shown]
    with session.timed("draw"):
        picture = places_picture(place, lines, planes=planes, title=title, kind=kind)
    rows = []
    for panel, (name, fraction) in zip(shown, lines, strict=True):
        inside = np.isin(place.at[:, 2], planes)
        by_y = [float(100.0 * fraction[inside & (place.at[:, 1] == y)].mean()) for y in range(place.shape[1])]
        rows.append({**panel.row, "panel": name, "congested_percent_by_y": by_y})
    result = {"panels": rows, "shape": list(place.shape), "planes": planes}
    return Drawn(picture, result, rows)


def _planes(plane: str | None, count: int) -> list[int]:
    if plane is None:
        return list(range(count))
    first, _, last = plane.partition("-")
    last = last or first
    if not (first.isdigit() and last.isdigit() and int(first) <= int(last) < count):
        raise OptionError(f"plane {plane}: expected FIRST-LAST of 0 to {count - 1}")
    return list(range(int(first), int(last) + 1))
