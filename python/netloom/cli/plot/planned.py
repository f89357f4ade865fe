"""`netloom plot plan`: price against slowdown, from what `netloom plan` printed."""

from __future__ import annotations

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.options import PictureOptions
from netloom.drawing import planned


def plan(source: str, /, *, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw price against slowdown: estimates and bounds of a plan's designs, and the limit at every price.

    Parameters
    ----------
    source
        What `netloom plan --format json` printed.
    title
        Above the picture; by default the plan's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-plan", options),
        lambda run, kind: planned.plan(run, source, title=title, kind=kind),
        lambda result: render.pairs([("written", str(result["output"]))]),
    )
