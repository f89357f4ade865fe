"""`netloom study list`: every table and figure of the papers that netloom makes, with its command; of AFAR's
and De Sensi et al.'s papers also those that it does not make, with the reason.

A row stands here if its command makes the numbers or the picture, and the repository's pages compare them
with the published ones. Tests parse every command, and look whether the files that it names are there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run

THESIS = "Taffet, dissertation"
AFAR = "Smith et al., SC 2018"
NOISE = "De Sensi et al., SC 2019"


@dataclass(frozen=True)
class Made:
    """A table or a figure.

    Attributes
    ----------
    source : str
        Which paper.
    what : str
        Which table or figure of it.
    about : str
        What it shows.
    command : str
        What makes it, from the repository's folder.
    page : str
        Where the two are compared.
    """

    source: str
    what: str
    about: str
    command: str
    page: str


@dataclass(frozen=True)
class NotMade:
    """A table or a figure that netloom does not make.

    Attributes
    ----------
    source, what, about : str
        As of `Made`.
    why : str
        The reason.
    """

    source: str
    what: str
    about: str
    why: str


def _afar(what: str, about: str, workloads: str) -> Made:
    command = f"netloom study afar --workloads {workloads}"
    return Made(AFAR, what, about, command, "docs/methods/afar.md")


def _sampled(name: str, what: str, about: str) -> Made:
    command = f"netloom sample run examples/sampling/{name}.toml -o run"
    return Made(THESIS, what, about, command, "docs/methods/case-studies.md")


def _routed(name: str, what: str, about: str) -> Made:
    command = f"netloom simulate examples/ch5/{name}.toml"
    return Made(THESIS, what, about, command, "docs/methods/simulator.md")


def _congested(name: str, what: str, about: str, routing: str) -> Made:
    command = f"netloom sample run examples/ch5/{name}.toml --routings {routing} --rate 0.1 -o run"
    return Made(THESIS, what, about, command, "docs/methods/case-studies.md")


def _noise(what: str, about: str, verb: str, scenario: str, rest: str) -> Made:
    command = f"netloom {verb} examples/{scenario}.toml {rest}".strip()
    return Made(NOISE, what, about, command, "docs/methods/noise.md")


LISTED = [
    Made(THESIS, "table 2.1", "errors of sampling", "netloom study sampling", "docs/verbs/study.md"),
    _afar("figure 1, left", "AFAR: bis and NN beside other jobs and alone", "8"),
    _afar("figure 4", "AFAR: slowdowns of 4, 8 and 16 jobs", "4,8,16"),
    _afar("figure 5", "AFAR: loads of links under 16 jobs", "16"),
    _afar("figure 6", "AFAR: time of processes against the hottest link", "4,8,16"),
    _afar("figure 9", "AFAR: 16 jobs, ftree and AFAR", "16"),
    _afar("figure 10", "AFAR: 8 jobs in eight placements", "8"),
    _afar("tables I, IV", "AFAR: the benchmarks, as they are run", "4,8,16"),
    Made(
        AFAR, "figure 7", "AFAR: a job, time step by time step", "netloom study steps", "docs/methods/afar.md"
    ),
    Made(AFAR, "figure 8", "AFAR: times told from counters", "netloom study steps", "docs/methods/afar.md"),
    Made(AFAR, "table II", "AFAR: what recording costs", "netloom study recorder", "docs/verbs/study.md"),
    _noise("equations 1, 2", "the transmission model", "noise", "noise/transmission", "--job pingpong"),
    _noise("figure 3", "16 KiB ping-pong by distance", "sweep run", "sc19/distance", "-o swept"),
    _noise("figure 4", "all-to-all of a host's ranks", "noise", "sc19/one-host", "--job alltoall"),
    _noise("figure 5", "spread of times and latencies", "noise", "sc19/pingpong", "--job pingpong"),
    _noise("table 1", "counters of a job that goes on", "simulate", "sc19/idle", "--format json"),
    _noise("figure 7", "ping-pong in two modes", "noise", "noise/modes", "--job pingpong"),
    Made(NOISE, "figures 8, 9", "benchmarks by mode", "netloom study modes", "docs/methods/noise.md"),
    Made(
        NOISE,
        "figures 8, 9",
        "where the default is better",
        "netloom study modes --benchmarks alltoall,broadcast,halo3d --sizes large --links 2 --rounds 2 "
        "--seeds 5",
        "docs/methods/noise.md",
    ),
    _sampled("pf3d-background", "section 2.4", "pF3D beside six incasts"),
    _sampled("pf3d-alone", "section 2.4", "pF3D alone"),
    _sampled("pf3d-shifted", "section 2.4", "pF3D with a shifted mapping"),
    _sampled("minighost-cyclic", "figure 2.7", "miniGhost, default mapping"),
    _sampled("minighost-linear", "figure 2.7", "miniGhost, ranks in order"),
    _sampled("minighost-tiled", "figure 2.7", "miniGhost, tiles in two levels"),
    _sampled("minighost-svaf", "figure 2.7", "miniGhost, variable by variable"),
    _sampled("minighost-svafp", "figure 2.7", "miniGhost, sums at the end of a step"),
    Made(
        THESIS,
        "figures 2.13, 2.15",
        "sampling in real packets",
        "netloom demo dataplane -o bed",
        "docs/verbs/demo.md",
    ),
    *(
        Made(
            THESIS,
            "table 3.3",
            f"{name}: AR gap of routes on a busy quartz1",
            f"netloom optimize quartz1 examples/jobs/table/{name}.toml --compare -o routes.lfts",
            "docs/methods/optimizer.md",
        )
        for name in ("lulesh", "snap", "amg", "hpcg", "nekbone", "miniamr")
    ),
    Made(
        THESIS,
        "tables 4.1 to 4.3",
        "traffic from counters",
        "netloom study chapter4",
        "docs/verbs/study.md",
    ),
    _routed("bisection-shuffle", "table 5.1", "bisection, shuffled"),
    _routed("bisection-shift", "table 5.1", "bisection, shifted"),
    _routed("cyclic-stencil-small", "table 5.2", "cyclic stencil, small messages"),
    _routed("cyclic-stencil-large", "table 5.2", "cyclic stencil, large messages"),
    _routed("barrier-bully", "table 5.3", "barrier beside a bully"),
    _routed("barrier-bully-modified", "table 5.4", "the same, modified bully"),
    Made(
        THESIS,
        "table 5.5",
        "irregular pattern",
        "netloom simulate examples/ch5/irregular.toml",
        "docs/methods/loop.md",
    ),
    Made(THESIS, "tables 5.1 to 5.5", "the closed loop", "netloom loop table", "docs/methods/loop.md"),
    _congested("bisection-shuffle", "figure 5.2", "congestion of the shuffle", "ftree"),
    _congested("bisection-shuffle", "figure 5.3", "congestion of the shuffle", "optimized"),
    _congested("cyclic-stencil-large", "figure 5.5", "congestion of the stencil", "optimized"),
    _congested("barrier-bully", "figure 5.7", "congestion of barrier and bully", "ftree"),
    _congested("barrier-bully", "figure 5.8", "congestion of barrier and bully", "adaptive"),
    _congested("barrier-bully", "figure 5.9", "congestion of barrier and bully", "optimized"),
]


NOT_MADE = [
    NotMade(
        AFAR,
        "figure 1, right",
        "MILC on Edison",
        "times of a production machine; what MILC sends there is not published",
    ),
    NotMade(AFAR, "figures 2, 3", "a fat tree, a Cascade", "drawings without data"),
    NotMade(
        AFAR,
        "table III",
        "Qbox, MILC and pF3D with AFAR",
        "what they send is not published; pF3D itself is confidential",
    ),
    NotMade(AFAR, "figures 11, 12", "commands that compile MILC and Qbox", "no data"),
    NotMade(NOISE, "figures 1, 2, 6", "a dragonfly, an adapter, an example", "drawings without data"),
    NotMade(
        NOISE,
        "figure 8 at its size",
        "1,024 nodes of Piz Daint",
        "64 hosts as in figure 9; a round of its all-to-alls is 268 million packets",
    ),
    NotMade(
        NOISE,
        "figure 10",
        "applications on Piz Daint",
        "what they send and compute is not in the paper; LAMMPS and others have to be recorded first",
    ),
]


def list_(*, options: Options | None = None) -> int:
    """List the papers' tables and figures that netloom makes, with their commands.

    Commands are for the repository's folder. What `sample run -o run` writes, `netloom plot congestion run`
    draws.

    Parameters
    ----------
    options
        Common options; `-o` writes the list (.json, .csv, else text).
    """
    run = Run("study-list", options or Options(), product=False)
    rows, missing = ([asdict(one) for one in listed] for listed in (LISTED, NOT_MADE))
    return run.finish({"made": rows, "not_made": missing}, lambda: _text(rows, missing), rows=rows)


def _text(rows: list[dict[str, Any]], missing: list[dict[str, Any]]) -> str:
    made = render.table(
        ["table or figure", "", "command"],
        [[row["what"], row["about"], row["command"]] for row in rows],
    )
    not_made = render.table(
        ["not made", "", "why"],
        [[row["what"], row["about"], row["why"]] for row in missing],
    )
    return f"{made}\n\n{not_made}"
