"""`netloom plot`: draw traffic, loads, what a search found, and simulated runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netloom import extras
from netloom.cli.shared import outputs, render, results
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions, SearchingPicture, SeededPicture
from netloom.cli.shared.run import Run
from netloom.cli.simulate import report
from netloom.drawing import basics, runs
from netloom.drawing.drawn import Drawn, OptionError
from netloom.plot.paper import DPI, PAPER, Paper
from netloom.session.sources import is_stdin
from netloom.shown import legend

_ENDINGS = (".svg", ".pdf", ".png")


def matrix(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    grey: bool = False,
    part: str | None = None,
    title: str | None = None,
    options: SeededPicture | None = None,
) -> int:
    """Draw a traffic matrix.

    Parameters
    ----------
    traffic
        A file (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder, .goal), a
        jobs file (.toml; needs a fabric), or a pattern spec.
    fabric
        The fabric on whose hosts it is.
    grey
        As in the dissertation's appendix A: from white, for nothing, to black, destinations downwards.
    part
        Only these endpoints, `FIRST:END`: `10:522` are 512 from number 10.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-matrix", options),
        lambda run, kind: basics.matrix(run, traffic, fabric, grey=grey, part=part, title=title, kind=kind),
        lambda result: render.pairs([("written", str(result["output"]))]),
    )


def loads(
    fabric: str,
    traffic: str,
    /,
    *routes: str,
    title: str | None = None,
    options: SearchingPicture | None = None,
) -> int:
    """Draw sorted link loads.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts, a jobs file, or a pattern spec.
    routes
        Engines' names, files of routes, `afar`, `coloured` or `optimize`: a curve each. The last one stands
        out.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    if not routes:
        raise UsageError("plot loads draws routes: netloom plot loads FABRIC TRAFFIC ROUTES… -o FILE")
    return drawn(
        prepared("plot-loads", options),
        lambda run, kind: basics.loads(run, fabric, traffic, routes, title=title, kind=kind),
        text,
    )


def text(result: dict[str, Any]) -> str:
    """What was drawn."""
    rows = [
        [legend.name(row["routes"]), render.size(row["max_load"]), results.gap(row["ar_gap_percent"])]
        for row in result["curves"]
    ]
    table = render.table(["routes", legend.LOAD, "AR gap"], rows, right=[1, 2])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"


def history(*results: str, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw how a search got better: gap to the lower bound against time.

    Parameters
    ----------
    results
        What `netloom optimize --format json` printed: a curve a file.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    if not results:
        raise UsageError("plot history draws results: netloom plot history RESULT.json… -o FILE")
    return drawn(
        prepared("plot-history", options),
        lambda run, kind: basics.history(run, results, title=title, kind=kind),
        _history_text,
    )


def front(source: str, /, *, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw what changed entries buy: gap to the lower bound against their number.

    Parameters
    ----------
    source
        What `netloom optimize --front --format json` printed.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-front", options),
        lambda run, kind: basics.front(run, source, title=title, kind=kind),
        lambda result: render.pairs([("written", str(result["output"]))]),
    )


def run(folder: Path, /, *, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw a simulated run: how busy every link was, by level, and when.

    A column a routing. Strips of time need a scenario that records them (`measure.counters_every_us`,
    `measure.queues_every_us`).

    Parameters
    ----------
    folder
        What `netloom simulate -o` wrote.
    title
        Above the picture; by default the scenario's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-run", options, tables=True),
        lambda run, kind: runs.run(run, folder, title=title, kind=kind),
        _run_text,
    )


def _run_text(result: dict[str, Any]) -> str:
    rows = [
        [
            legend.name(row["routing"]),
            report.number(row["completion_ms"], 3),
            "-" if row["max_link_utilisation"] is None else f"{100 * row['max_link_utilisation']:.1f} %",
            row["busiest"] or "-",
        ]
        for row in result["routings"]
    ]
    table = render.table(["routing", "complete (ms)", "busiest link", "level"], rows, right=[1, 2])
    out = [("written", str(result["output"]))]
    model = result["model"]
    if not any(row["intervals"] for row in result["routings"]):
        packets = "measure.counters_every_us in the scenario asks for it"
        out.append(
            ("over time", f"not recorded: {packets if model == 'packet' else 'the fluid model does not'}")
        )
    return f"{table}\n\n{render.pairs(out)}"


def _history_text(result: dict[str, Any]) -> str:
    rows = [
        [
            row["result"],
            "unknown" if row["gap_percent"] is None else render.percent(row["gap_percent"]),
            "" if row["seconds"] is None else f"{row['seconds']:.2f}",
        ]
        for row in result["curves"]
    ]
    table = render.table(["result", "gap to bound", "found after (s)"], rows, right=[1, 2])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"


def drawn(run: Run, draw: Callable[[Run, str], Drawn], text: Callable[[dict[str, Any]], str]) -> int:
    """Draws, writes and tells: `draw` is given what the picture's ending says it is."""
    try:
        found = draw(run, outputs.ending(run.options.output).removeprefix("."))
    except OptionError as error:
        told = str(error)
        raise UsageError(told if told.startswith("plot ") else f"--{told}") from None
    result = {**found.result, "output": run.write(found.picture)}
    return run.finish(result, lambda: text({**result, **found.more}), rows=found.rows)


def prepared(
    verb: str,
    options: PictureOptions | None,
    *,
    endings: tuple[str, ...] = _ENDINGS,
    tables: bool = False,
) -> Run:
    """A run whose product is a picture; it is drawn on the paper that the options say.

    `tables`: of tables that Arrow reads.
    """
    extras.need("plot", *(["arrow"] if tables else []))
    options = options or PictureOptions()
    if options.output is None:
        files = [f"FILE{ending}" for ending in endings]
        raise UsageError(f"{verb.replace('-', ' ')} needs -o {', '.join(files[:-1])} or {files[-1]}")
    if is_stdin(str(options.output)):
        raise UsageError("a picture goes to a file: -o FILE.svg, FILE.pdf or FILE.png")
    inches = None if options.size is None else _inches(options.size)
    PAPER.set(Paper(inches, options.dpi or DPI))
    return Run(verb, options, endings=endings)


def _inches(text: str) -> tuple[float, float]:
    """Width and height of `6.5x4`.

    Raises
    ------
    UsageError
        If they are none, or no paper's.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", text)
    sides = (0.0, 0.0) if match is None else (float(match[1]), float(match[2]))
    if not all(1.0 <= side <= 100.0 for side in sides):
        raise UsageError(f"--size {text}: expected WIDTHxHEIGHT in inches, 1 to 100 each, such as 6.5x4")
    return sides
