"""`netloom plot`: draw traffic and loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netloom.cli import UsageError, common, render
from netloom.cli.common import Options, Run

_ENDINGS = (".svg", ".png")


def matrix(
    traffic: str, fabric: str | None = None, /, *, title: str | None = None, options: Options | None = None
) -> int:
    """Draw a traffic matrix.

    Parameters
    ----------
    traffic
        A file (.mtx, .csv, .npz, .parquet), a jobs file (.toml; needs a fabric), or a pattern spec.
    fabric
        The fabric on whose hosts it is.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .png).
    """
    from netloom.plot.matrix import matrix_picture

    run = _run("plot-matrix", options)
    net = None if fabric is None else run.fabric(fabric)
    demand = run.traffic(traffic, net)
    with run.timed("draw"):
        picture = matrix_picture(demand, title=title or Path(traffic).name, kind=_kind(run))
    result = {
        "endpoints": demand.endpoints,
        "pairs": demand.pairs,
        "total_bytes": demand.total_bytes,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: render.pairs([("written", str(result["output"]))]))


def loads(
    fabric: str, traffic: str, /, *routes: str, title: str | None = None, options: Options | None = None
) -> int:
    """Draw sorted link loads.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts, a jobs file, or a pattern spec.
    routes
        Engines' names, files of routes, `afar` or `optimize`: a curve each. The last one stands out.
    title
        Above the picture; by default the traffic's name.
    options
        Common options; `-o` takes the picture (.svg, .png).
    """
    from netloom.plot.loads import Curve, loads_picture

    if not routes:
        raise UsageError("plot loads draws routes: netloom plot loads FABRIC TRAFFIC ROUTES… -o FILE")
    run = _run("plot-loads", options, searches=True)
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
                "links_at_max": found.links_at_max,
            }
        )
    with run.timed("draw"):
        picture = loads_picture(
            curves,
            bound=found.ar_bound,
            bound_name="AR bound",
            title=title or Path(traffic).name,
            kind=_kind(run),
        )
    result: dict[str, Any] = {"ar_bound": found.ar_bound, "curves": rows, "output": run.write(picture)}
    return run.finish(result, lambda: text(result), rows=rows)


def text(result: dict[str, Any]) -> str:
    """What was drawn."""
    rows = [
        [row["routes"], render.size(row["max_load"]), render.percent(row["ar_gap_percent"])]
        for row in result["curves"]
    ]
    table = render.table(["routes", "maximum load", "AR gap"], rows, right=[1, 2])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"


def _run(verb: str, options: Options | None, *, searches: bool = False) -> Run:
    options = options or Options()
    if options.output is None:
        raise UsageError(f"{verb.replace('-', ' ')} needs -o FILE.svg or FILE.png")
    if common.is_stdin(str(options.output)):
        raise UsageError("a picture goes to a file: -o FILE.svg or FILE.png")
    return Run(verb, options, endings=_ENDINGS, searches=searches)


def _kind(run: Run) -> str:
    return common.ending(run.options.output).removeprefix(".")
