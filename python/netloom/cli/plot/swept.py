"""`netloom plot sweep`: a sweep's means with their intervals, as its folder's table has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import SeededPicture
from netloom.drawing import swept
from netloom.session.sources import is_stdin


def sweep(
    folder: Path,
    /,
    *,
    keys: str | None = None,
    title: str | None = None,
    options: SeededPicture | None = None,
) -> int:
    """Draw a sweep: means and their 95 % intervals by group, a panel a kept key.

    What the sweep is grouped by first, or the first of it that is numbers, lies across; the rest are curves.

    Parameters
    ----------
    folder
        What `netloom sweep run -o FOLDER` wrote.
    keys
        Of the kept keys these, with commas. [default: all that are numbers]
    title
        Above the picture; by default the folder's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png), `--seed` is that of the intervals.
    """
    if is_stdin(str(folder)):
        raise UsageError("a sweep is a folder: it cannot be -")
    return drawn(
        prepared("plot-sweep", options, tables=True),
        lambda run, kind: swept.sweep(run, folder, keys=keys, title=title, kind=kind),
        _text,
    )


def _text(result: Mapping[str, Any]) -> str:
    rows = [[row["key"], row["curve"] or "-", str(row["points"])] for row in result["curves"]]
    told = render.table(["key", "curve", "points"], rows, right=[2])
    return f"{told}\n\n{render.pairs([('across', result['across']), ('written', str(result['output']))])}"
