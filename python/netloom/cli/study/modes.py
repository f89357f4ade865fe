"""`netloom study modes`: figs. 8 and 9 of De Sensi et al., SC 2019, run here."""

from __future__ import annotations

from statistics import median
from typing import Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Seeded
from netloom.cli.shared.run import Run
from netloom.studies.modes import published, signs
from netloom.studies.modes.runs import Row, Study

_ALL = ",".join(published.BENCHMARKS)


def modes(
    *,
    benchmarks: str = _ALL,
    sizes: str = ",".join(published.SIZES),
    links: Annotated[int, options.within(2, 48)] = published.LINKS,
    seeds: Annotated[int, options.within(1, 100)] = 1,
    rounds: Annotated[int | None, options.within(1, 1000)] = None,
    options: Seeded | None = None,
) -> int:
    """Routing modes by message: figs. 8 and 9 of De Sensi et al., run here, beside what they say.

    Seven benchmarks, three sizes each, on 64 hosts of 33 switches in five groups of a Cray XC, beside
    neighbours at 0.3: the default, high bias, the paper's algorithm and one that does not oscillate.

    Parameters
    ----------
    benchmarks
        Which, with commas: ping-pong, allreduce, alltoall, barrier, broadcast, halo3d, sweep3d.
    sizes
        Which of a benchmark's three, with commas: small, middle, large.
    links
        Cables between two groups, an even number.
    seeds
        Runs of each row, with other neighbours; rows are medians.
    rounds
        Rounds of each benchmark. [default: 1 to 40, by benchmark and size]
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    options = options or Seeded()
    asked = _some("benchmarks", benchmarks, list(published.BENCHMARKS))
    places = [published.SIZES.index(size) for size in _some("sizes", sizes, list(published.SIZES))]
    run = Run("modes-study", options, product=False)
    if links % 2:
        raise UsageError(f"--links {links}: expected an even number of 2 to 48, as cables come in twos")
    fabric = published.FABRIC.format(links)
    net = run.fabric(fabric)
    first = run.seed
    study = Study(net, range(first, first + seeds), links=links, rounds=rounds, left=lambda: run.left)
    rows: list[Row] = []
    stopped: str | None = None
    run.keeps()
    with run.timed("simulate"), run.bars() as bars:
        task = None if bars is None else bars.add_task("study", total=None, told="")

        def told(what: str) -> None:
            if bars is not None and task is not None:
                bars.update(task, told=what)

        try:
            for benchmark in asked:
                known = published.BENCHMARKS[benchmark]
                rows += [study.row(benchmark, known[place], told) for place in places]
        except TimeoutError as why:
            stopped = str(why)
        except KeyboardInterrupt:
            stopped = "interrupted"
    found = [row.result() for row in rows]
    result = {
        "fabric": fabric,
        "seeds": seeds,
        "claims": signs.claims(rows),
        "totals": signs.totals(rows),
        "rows": found,
        "stopped": stopped,
        "reproducible": stopped is None,
    }
    return run.finish(result, lambda: _text(result), rows=_flat(found), stopped=stopped)


def _some(name: str, text: str, known: list[str]) -> list[str]:
    found = [item.strip() for item in text.split(",")]
    for item in found:
        if item not in known:
            raise UsageError(f"--{name} {text}: expected some of {','.join(known)}, with commas")
    return [item for item in known if item in found]


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds: a row a benchmark, size and routing."""
    return [
        {"benchmark": row["benchmark"], "size": row["size"], "routing": routing, "paper": row["paper"]}
        | {"ratio": row["ratio"][routing], "default_share": row["default_share"][routing]}
        for row in rows
        for routing in row["ratio"]
    ]


def _ratio(row: dict[str, Any], routing: str) -> str:
    """A routing's time over the default's; of several seeds the median, and the least and the most."""
    times = row["times_us"]
    ratios = [one / two for one, two in zip(times[routing], times[published.DEFAULT], strict=True)]
    spread = f" ({min(ratios):.3f} to {max(ratios):.3f})" if len(ratios) > 1 else ""
    return f"{row['ratio'][routing]:.3f}{spread}"


def _text(result: dict[str, Any]) -> str:
    parts = []
    if result["rows"]:
        lines = [
            [
                row["benchmark"],
                row["size"],
                f"{median(row['times_us'][published.DEFAULT]):.1f}",
                *[_ratio(row, routing) for routing in published.ROUTINGS[1:]],
                *[
                    f"{100 * row['default_share'][routing]:.0f} %"
                    for routing in (published.AWARE, published.STEADY)
                ],
                f"{row['aware_over_better']:.3f}",
                row["paper"],
            ]
            for row in result["rows"]
        ]
        header = ["benchmark", "size", "default (µs)", "high bias", "aware", "steady"]
        header += ["aware on default", "steady on default", "aware over better", "paper's aware"]
        parts.append(render.table(header, lines, right=range(2, 9), spare=[7, 6]))
        totals = result["totals"]
        count = totals["rows"]
        parts.append(
            render.pairs(
                [
                    ("aware within 5 % of the better mode", f"{totals['aware_within']} of {count}"),
                    ("steady within 5 % of the better mode", f"{totals['steady_within']} of {count}"),
                    ("steady not slower than the worse mode", f"{totals['steady_not_slower']} of {count}"),
                ]
            )
        )
    if result["claims"]:
        lines = [
            [claim["says"], claim["ours"], "as there" if claim["holds"] else "not here"]
            for claim in result["claims"]
        ]
        parts.append(render.table(["the paper says", "high bias over default, or as said", ""], lines))
    if result["stopped"]:
        parts.append(render.pairs([("stopped", result["stopped"])]))
    return "\n\n".join(parts)
