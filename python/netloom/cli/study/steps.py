"""`netloom study steps`: times of a job's steps told from counters, as in figures 7 and 8 of AFAR's paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from netloom import extras
from netloom.cli.shared import options, render
from netloom.cli.shared.options import Seeded
from netloom.cli.shared.run import Run
from netloom.studies.afar import published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom._core import Fabric
    from netloom.studies.afar.regression import Predicted, Samples

MACHINES = ("two-level:leaves=9,hosts=8,spines=4", "dragonfly:p=2,a=4,h=2")
"""A tree and a dragonfly, of 72 hosts both."""
FOLDS = 10
"""The paper's."""


def steps(
    *,
    fabric: str | None = None,
    runs: Annotated[int, options.within(FOLDS, 1000)] = 40,
    steps: Annotated[int, options.within(1, 1000)] = 20,
    options: Seeded | None = None,
) -> int:
    """Tell how long a job's steps take from what the links of its switches count.

    A job is simulated again and again, on other hosts and beside other jobs that come and go. Boosted trees
    learn its steps' times from the counters, and are judged by runs that they have not seen. Needs
    scikit-learn.

    Parameters
    ----------
    fabric
        A dump, or a generator spec. Dragonflies are routed by `ugal`, others by `ftree`. [default: a tree and
        a dragonfly of 72 hosts, one after the other]
    runs
        How often the job is run, 10 at least: a tenth of the runs is held out at a time.
    steps
        How many steps a run has.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    options = options or Seeded()
    extras.need("learn")
    run = Run("steps-study", options, product=False)
    specs = MACHINES if fabric is None else (fabric,)
    nets = [run.fabric(spec) for spec in specs]
    machines: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    stopped: str | None = None
    run.keeps()
    with run.timed("simulate"), run.bars() as bars:
        total = runs * len(specs)
        task = None if bars is None else bars.add_task("study", total=total, told="")

        def told(what: str) -> None:
            if bars is not None and task is not None:
                bars.update(task, advance=1, told=what)

        try:
            for spec, net in zip(specs, nets, strict=True):
                machine, of_machine = _machine(spec, net, runs, steps, run.seed, lambda: run.left, told)
                machines.append(machine)
                rows.extend(of_machine)
        except TimeoutError as why:
            stopped = str(why)
        except KeyboardInterrupt:
            stopped = "interrupted"
    result = {
        "machines": machines,
        "steps": rows,
        "stopped": stopped,
        "reproducible": stopped is None,
    }
    return run.finish(result, lambda: _text(result), rows=rows, stopped=stopped)


def _machine(
    spec: str,
    net: Fabric,
    runs: int,
    steps: int,
    seed: int,
    left: Callable[[], float | None],
    told: Callable[[str], None],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is found on one fabric, and its steps."""
    from netloom import _core
    from netloom.studies.afar import regression
    from netloom.studies.afar.steps import sample

    routing = "ugal" if net.shape["kind"] == "dragonfly" else "ftree"
    routes = _core.route("ftree", net, threads=1) if routing == "ftree" else None
    some = []
    for number in range(runs):
        some.append(sample(net, routing, steps, number, seed, routes=routes, left=left))
        told(f"{spec}: run {number + 1}")
    samples = regression.Samples.together(some)
    found = regression.predict(samples, seed=seed, count=FOLDS)
    machine = {
        "fabric": spec,
        "hosts": net.hosts,
        "routing": routing,
        "runs": runs,
        "steps": steps,
        "features": samples.features.shape[1],
        "least_ms": 1e3 * float(samples.seconds.min()),
        "most": float(found.relative.max()),
        "rank": found.rank,
        "filled": found.filled,
        "errors": _errors(found),
        "published": published.SQUARED_ERROR,
        "shown": _shown(samples, found),
    }
    listed = [
        {
            "fabric": spec,
            "run": int(number),
            "step": at % steps,
            "fold": int(found.fold[at]),
            "milliseconds": 1e3 * float(samples.seconds[at]),
            "relative": float(found.relative[at]),
            **{kind: float(found.by[kind][at]) for kind in regression.KINDS},
        }
        for at, number in enumerate(samples.run)
    ]
    return machine, listed


def _errors(found: Predicted) -> list[dict[str, Any]]:
    """The mean squared error of each model over the folds."""
    models: list[tuple[str, Any]] = [*found.by.items(), ("mean", found.mean)]
    spread = float(np.mean((found.mean - found.relative) ** 2))
    rows = []
    for name, predicted in models:
        by_fold = found.errors(predicted)
        rest = float(np.mean((predicted - found.relative) ** 2))
        rows.append(
            {
                "model": name,
                "mean_squared_error": float(by_fold.mean()),
                "deviation": float(by_fold.std(ddof=1)),
                "explained": 1 - rest / spread if spread > 0 else 0.0,
                "folds": [float(error) for error in by_fold],
            }
        )
    return rows


def _shown(samples: Samples, found: Predicted) -> list[int]:
    """Two runs to show: the one whose steps differ most, and the one in the middle by its time."""
    names = np.unique(samples.run)
    spread = [float(np.ptp(found.relative[samples.run == name])) for name in names]
    times = [float(samples.seconds[samples.run == name].sum()) for name in names]
    middle = sorted(zip(times, names, strict=True))[len(names) // 2][1]
    return [int(names[int(np.argmax(spread))]), int(middle)]


def _text(result: dict[str, Any]) -> str:
    parts = []
    for machine in result["machines"]:
        parts.append(_heading(machine))
        parts.append(_error_table(machine))
        parts.append(_step_table(machine, result["steps"]))
    if result["stopped"] is not None:
        parts.append(f"stopped: {result['stopped'].replace('-', ' ')}; the rest was not run")
    return "\n\n".join(parts) or "nothing was run"


def _heading(machine: dict[str, Any]) -> str:
    filled = f"{100 * machine['filled']:.0f} % of S is not 0"
    return render.pairs(
        [
            ("fabric", f"{machine['fabric']}, {machine['hosts']} hosts, {machine['routing']}"),
            ("steps", f"{machine['runs']} runs of {machine['steps']}; least {machine['least_ms']:.3f} ms"),
            ("features", f"{machine['features']}; L has rank {machine['rank']}, {filled}"),
        ]
    )


def _error_table(machine: dict[str, Any]) -> str:
    words = {
        "X": "X, all features",
        "L": "L, their low-rank part",
        "S": "S, their sparse part",
        "mean": "no counters: the mean",
    }
    paper, deviation = machine["published"]
    lines = [
        [
            words[row["model"]],
            f"{row['mean_squared_error']:.4f}",
            f"{row['deviation']:.4f}",
            "-" if row["model"] == "mean" else f"{100 * row['explained']:.0f} %",
            f"{paper} ± {deviation}" if row["model"] == "S" else "-",
        ]
        for row in machine["errors"]
    ]
    header = ["learnt from (figure 8)", "squared error", "over folds ±", "explained", "paper, MILC on Edison"]
    return render.table(header, lines, right=range(1, 5))


def _step_table(machine: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    header = ["step (figures 7, 8)"]
    columns = []
    for number in machine["shown"]:
        of_run = [row for row in rows if (row["fabric"], row["run"]) == (machine["fabric"], number)]
        header += [f"run {number}", "from X", "from S"]
        columns += [[f"{row[name]:.2f}" for row in of_run] for name in ("relative", "X", "S")]
    lines = [[str(at + 1), *cells] for at, cells in enumerate(zip(*columns, strict=True))]
    return render.table(header, lines, right=range(7))
