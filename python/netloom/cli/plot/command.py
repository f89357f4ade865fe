"""`netloom plot`: draw traffic, loads, what a search found, and simulated runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import extras
from netloom.cli.plot import documents
from netloom.cli.shared import inputs as sources
from netloom.cli.shared import outputs, render, results
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.cli.simulate import report
from netloom.errors import FormatError
from netloom.plot.paper import DPI, PAPER, Paper
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.plot.cells import Borders

_ENDINGS = (".svg", ".pdf", ".png")


def matrix(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    grey: bool = False,
    part: str | None = None,
    title: str | None = None,
    options: PictureOptions | None = None,
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
    from netloom.plot.matrix import grey_picture, matrix_picture

    run = prepared("plot-matrix", options)
    net = None if fabric is None else run.fabric(fabric)
    demand = run.traffic(traffic, net)
    first, end = endpoints(part, demand.endpoints)
    with run.timed("draw"):
        draw = grey_picture if grey else matrix_picture
        where = "" if fabric is None or net is None else f" on {placed(fabric, net.hosts)}"
        told = title or f"{Path(traffic).name}{where}: bytes from source to destination"
        lines = None if net is None or demand.hosts_hash is None else borders(net)
        picture = draw(demand, first, end, title=told, kind=picture_kind(run), borders=lines)
    result = {
        "endpoints": demand.endpoints,
        "pairs": demand.pairs,
        "total_bytes": demand.total_bytes,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: render.pairs([("written", str(result["output"]))]))


def loads(
    fabric: str,
    traffic: str,
    /,
    *routes: str,
    title: str | None = None,
    options: PictureOptions | None = None,
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
    from netloom.plot.loads import Curve, loads_picture

    if not routes:
        raise UsageError("plot loads draws routes: netloom plot loads FABRIC TRAFFIC ROUTES… -o FILE")
    run = prepared("plot-loads", options, searches=True)
    net = run.fabric(fabric)
    demand = run.traffic(traffic, net)
    curves, rows = [], []
    for name in routes:
        tables = run.routes(name, net, demand)
        with run.timed("loads"):
            found = run.loads(net, tables, demand)
        alive = net.link_table()["alive"]
        curves.append(
            Curve(Path(name).name, found.per_link[alive], best=len(routes) > 1 and name == routes[-1])
        )
        rows.append(
            {
                "routes": name,
                "max_load": found.max,
                "ar_gap_percent": found.ar_gap_percent,
                "outside_because": found.outside_because,
                "links_at_max": found.links_at_max,
            }
        )
    with run.timed("draw"):
        picture = loads_picture(
            curves,
            bound=found.ar_bound,
            bound_name="AR bound",
            title=title or f"{Path(traffic).name} on {placed(fabric, net.hosts)}: load of every link",
            kind=picture_kind(run),
        )
    result: dict[str, Any] = {
        "ar_bound": found.ar_bound,
        "bound_class": found.ar_bound_class,
        "curves": rows,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: text(result), rows=rows)


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
    from netloom.plot.search import Stairs, history_picture

    if not results:
        raise UsageError("plot history draws results: netloom plot history RESULT.json… -o FILE")
    run = prepared("plot-history", options)
    curves, rows, names = [], [], []
    for source in results:
        document = _result(run, source)
        found = document["result"]
        # Of several matrices a step's load is the objective's value.
        goal = found["objective"]
        gaps = [_gap(step["max_load"], goal["lower_bound"]) for step in found["history"]]
        steps = [
            (s["seconds"], gap) for s, gap in zip(found["history"], gaps, strict=True) if gap is not None
        ]
        rows.append(
            {
                "result": "-" if sources.is_stdin(source) else source,
                "seconds": found["time_to_best"],
                "gap_percent": goal["gap_percent"],
                "bound_class": goal["bound_class"],
                "steps": len(steps),
            }
        )
        names.append(_what(document))
        if steps:
            end = document["seconds"].get("optimize", 0.0)
            curves.append(Stairs(Path(source).stem, [s for s, _ in steps], [g for _, g in steps], end))
    if not curves:
        raise FormatError(f"{results[0]}: has no search to draw")
    with run.timed("draw"):
        picture = history_picture(
            curves,
            title=title or f"{', '.join(dict.fromkeys(names))}: gap to the bound over time",
            kind=picture_kind(run),
        )
    result: dict[str, Any] = {"curves": rows, "output": run.write(picture)}
    return run.finish(result, lambda: _history_text(result), rows=rows)


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
    from netloom.plot.search import front_picture

    run = prepared("plot-front", options)
    document = _result(run, source)
    if not document["result"].get("front"):
        raise FormatError(f"{source}: has no front: it is made by netloom optimize --front --format json")
    rows = [
        {
            "changed_entries": point["changed_entries"],
            "max_load": point["max_load"],
            "gap_percent": point["lower_bound_gap_percent"],
        }
        for point in document["result"]["front"]
    ]
    points = [(row["changed_entries"], row["gap_percent"]) for row in rows if row["gap_percent"] is not None]
    with run.timed("draw"):
        told = title or f"{_what(document)}: gap to the bound by changed entries"
        picture = front_picture(points, title=told, kind=picture_kind(run))
    result: dict[str, Any] = {
        "bound_class": document["result"]["bound_class"],
        "points": rows,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: render.pairs([("written", str(result["output"]))]), rows=rows)


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
    from netloom.runs import folder as runs

    this = prepared("plot-run", options, tables=True)
    manifest = runs.read_manifest(folder)
    this.read("run", str(folder / runs.MANIFEST))
    if not manifest["runs"]:
        raise FormatError(f"{folder}: has no routing to draw")
    # Only now: matplotlib takes a while to load.
    from netloom.plot.run import run_picture
    from netloom.runs import panels

    # One scale of time: what is busy for as long is as dark, however long its routing's run took.
    longest_ms = max(entry["result"]["simulated_ms"] for entry in manifest["runs"])
    read = runs.reader(this)
    found = [panels.panel(read, folder, entry, longest_ms, this.note) for entry in manifest["runs"]]
    name = manifest["scenario"]["name"]
    with this.timed("draw"):
        told = title or f"{name}: {manifest['hosts']:,} hosts, {manifest['model']} model"
        picture = run_picture(
            [panel for panel, _ in found], title=told, kind=picture_kind(this), longest_ms=longest_ms
        )
    rows = [row for _, row in found]
    result: dict[str, Any] = {"scenario": name, "routings": rows, "output": this.write(picture)}
    return this.finish(result, lambda: _run_text(result, manifest["model"]), rows=rows)


def _run_text(result: dict[str, Any], model: str) -> str:
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


def _result(run: Run, source: str) -> dict[str, Any]:
    """The JSON object that `netloom optimize --format json` printed."""

    def is_known(document: dict[str, Any]) -> bool:
        known = str(document["schema"]).startswith("netloom.optimize/1")
        known = known and isinstance(document["result"]["history"], list)
        return known and isinstance(document["result"]["objective"], dict) and _drawable(document)

    return documents.read(run, source, "expected what netloom optimize --format json prints", is_known)


def _drawable(document: dict[str, Any]) -> bool:
    """Whether what pictures are made of is there: inputs by role, steps of the search, points of a front."""

    def numbers(rows: Any, *keys: str) -> bool:
        return all(isinstance(row[key], int | float) for row in rows for key in keys)

    result = document["result"]
    inputs = all(isinstance(one[key], str) for one in document["inputs"] for key in ("role", "source"))
    goal = (
        isinstance(result["objective"]["lower_bound"], int | float) and "gap_percent" in result["objective"]
    )
    seconds = isinstance(document["seconds"], dict) and "time_to_best" in result
    steps = numbers(result["history"], "max_load", "seconds")
    points = result.get("front") or []
    gaps = all(isinstance(point["lower_bound_gap_percent"], int | float | None) for point in points)
    return inputs and goal and seconds and steps and gaps and numbers(points, "max_load", "changed_entries")


def _what(document: dict[str, Any]) -> str:
    """Traffic and fabric of a result: `boxlib.toml on net.txt`."""
    sources = {one["role"]: Path(one["source"]).name for one in reversed(document["inputs"])}
    told = sources.get("traffic") or sources.get("jobs") or "netloom optimize"
    return f"{told} on {sources['fabric']}" if "fabric" in sources else told


_MOST_LINES = 64
"""Lines between pods or leaves that leave a matrix to be seen."""


def borders(net: Fabric) -> Borders | None:
    """Between which hosts a pod ends (in a dragonfly a group), or a leaf where there is one pod.

    None where hosts of one lie apart, or there are too many.
    """
    import numpy as np

    from netloom.plot.cells import Borders
    from netloom.plot.layout import pods

    leaf = np.asarray(net.link_table()["target"], np.int64)[: net.hosts] - net.hosts
    by = {"leaves": leaf}
    if net.shape["kind"] == "dragonfly":
        by = {"groups": np.asarray(net.switch_table()["group"], np.int64)[leaf], **by}
    elif net.shape["kind"] == "tree":
        by = {"pods": pods(net)[leaf], **by}
    for what, of in by.items():
        at = (np.flatnonzero(np.diff(of)) + 1).tolist()
        if at and len(at) == len(np.unique(of)) - 1 and len(at) <= _MOST_LINES:
            return Borders(what, at)
    return None


def _gap(load: float, bound: float) -> float | None:
    """Percent above the bound; None if there is no bound."""
    if load <= bound * (1 + 1e-9):
        return 0.0
    return (load / bound - 1) * 100 if bound > 0 else None


def endpoints(part: str | None, count: int) -> tuple[int, int]:
    """First and end of `FIRST:END`; either may be left out.

    Raises
    ------
    UsageError
        If that is no part of so many endpoints.
    """
    if part is None:
        return 0, count
    first, colon, end = part.partition(":")
    numbers = [first or "0", end or str(count)]
    if not colon or not all(number.isdecimal() for number in numbers):
        raise UsageError(f"--part {part}: expected FIRST:END")
    low, high = map(int, numbers)
    if not low < high <= count:
        raise UsageError(f"--part {part}: expected FIRST below END, END up to {count}")
    return low, high


def prepared(
    verb: str,
    options: PictureOptions | None,
    *,
    searches: bool = False,
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
    if sources.is_stdin(str(options.output)):
        raise UsageError("a picture goes to a file: -o FILE.svg, FILE.pdf or FILE.png")
    inches = None if options.size is None else _inches(options.size)
    PAPER.set(Paper(inches, options.dpi or DPI))
    return Run(verb, options, endings=endings, searches=searches)


def placed(fabric: str, hosts: int) -> str:
    """A fabric in a title: `quartz1 (3,072 hosts)`."""
    return f"{Path(fabric).name} ({hosts:,} hosts)"


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


def picture_kind(run: Run) -> str:
    """What the picture's ending says it is."""
    return outputs.ending(run.options.output).removeprefix(".")
