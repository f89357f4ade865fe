"""`netloom plot congestion`: congested fractions of sampled runs, link by link or host by host."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.drawing import congestion as drawing

_ENDINGS = (".svg", ".pdf", ".png", ".html")


def congestion(
    *folders: Path,
    by: Literal["context", "window"] | None = None,
    job: str | None = None,
    phase: str | None = None,
    part: str | None = None,
    grid: str | None = None,
    plane: str | None = None,
    routing: str | None = None,
    deviations: float = 4.0,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw which links met congestion: thickness is traffic, darkness the congested fraction.

    Parameters
    ----------
    folders
        What `netloom sample run -o` wrote; of several, all share the scales.
    by
        A panel a context (a job's phase), or a panel a window of time. [default: one panel a run]
    job
        Only this job's packets.
    phase
        Only these phases, `2,4,6`: tags, or other words of `contexts.parquet`.
    part
        Only these leaves and what lies above them: `leaf:0-5`, `pod:1`.
    grid
        Instead of links, the job's hosts where their ranks lie in its process grid, `24x48x24`, as dark as
        the links to them.
    plane
        Of a grid, only these z, in hosts: `0`, `0-4`. [default: all]
    routing
        Which routings of the runs, `ftree,optimized`, side by side. [default: the first]
    deviations
        A link whose traffic is less than so many standard errors is not drawn.
    title
        Above the picture; by default the scenario's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png) or a page to point at (.html).
    """
    if not folders:
        raise UsageError("plot congestion draws sampled runs: netloom plot congestion RUN… -o FILE")
    if not 0.0 <= deviations <= 100.0:
        raise UsageError(f"--deviations {deviations:g}: expected 0 to 100")
    if grid is None and plane is not None:
        raise UsageError("--plane needs --grid")
    return drawn(
        prepared("plot-congestion", options, endings=_ENDINGS, tables=True),
        lambda run, kind: drawing.congestion(
            run,
            folders,
            by=by,
            job=job,
            phase=phase,
            part=part,
            grid=grid,
            plane=plane,
            routing=routing,
            deviations=deviations,
            title=title,
            kind=kind,
        ),
        _text,
    )


def _text(result: dict[str, Any]) -> str:
    if "shape" in result:
        return _hosts_text(result)

    def percent(value: float | None) -> str:
        return "-" if value is None else render.percent(value)

    rows = [
        [
            row["panel"],
            *(percent(row[f"{place}_percent"]) for place in ("from_hosts", "up", "down", "to_hosts")),
            row["worst"] or "-",
            "-"
            if row["worst"] is None
            else render.measured(row["worst_percent"], row["worst_error_percent"] or 0.0),
        ]
        for row in result["panels"]
    ]
    head = ["panel", "from hosts", "up", "down", "to hosts", "most congested", "share"]
    table = render.table(head, rows, right=[1, 2, 3, 4, 6])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"


def _hosts_text(result: dict[str, Any]) -> str:
    heights = range(result["shape"][1])
    rows = [
        [str(y), *(render.percent(row["congested_percent_by_y"][y]) for row in result["panels"])]
        for y in heights
    ]
    head = ["y", *(row["panel"] for row in result["panels"])]
    table = render.table(head, rows, right=list(range(len(head))))
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"
