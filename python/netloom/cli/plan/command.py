"""`netloom plan`: which network for a machine that is to be bought, and for which applications."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from netloom.cli.plan import report
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.guard import TooLate
from netloom.cli.shared.options import SKIP_REPEATS, Computing, within
from netloom.cli.shared.run import Run
from netloom.findings import finding
from netloom.session.sources import ending, is_stdin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom._core import Fabric

PAGES: dict[str, Literal["html", "md"]] = {".html": "html", ".md": "md"}
"""Endings of `-o` that ask for a page for a tender."""
ENDINGS = (*PAGES, ".json", ".csv", ".txt", "")
"""All that `-o` may end with: the report is text without one of the others."""
ASSUMPTIONS = (
    "T is how many times as long the busiest switch takes if every byte takes the best way; links alone take "
    "f T times a run on a full tree with the same leaves and ranks in the same order, and max(1, f T) is the "
    "bound; 1 - f + f T is an estimate, without collisions of routes, bursts and congestion, and without "
    "what a run can hide behind its waiting",
    "all cables have one speed, every host one cable; switches, cables and power as in the catalogue",
    "every application has the machine for itself: its copies fill it, unless the plan says how many",
    "f is the share of wire time: bytes of the busiest host of every phase over the speed of a link, over "
    "the run time on a network without taper; of traces by packets, unless the plan gives it",
)

DRAGONFLIES = (
    "dragonflies: cables within a group are {:g} m long, the cheapest of the catalogue, those between groups "
    "as those of spines (of leaves in a plan of two levels); the estimate is by random minimal ways or "
    "random detours, whichever carry more, in the first draw of each order"
)


def plan(
    plan: Path,
    /,
    *,
    by_packets: bool = False,
    today: str | None = None,
    failures: bool = False,
    dragonflies: Annotated[float | None, within(0.0, 10_000.0)] = None,
    skip_repeats: Annotated[float | None, SKIP_REPEATS] = None,
    options: Computing | None = None,
) -> int:
    """Which network for a machine that is to be bought, and for which applications.

    Counts one switch, or the fat trees of two and three levels that the ports allow, with evenly spread
    hosts, prices them with a catalogue, and compares what the site's own applications send across leaves and
    pods with the cables there. What comes out is the front of price against slowdown. No design is simulated
    without `--by-packets`, but traces whose run time the plan does not say: once, on a network without taper.

    Parameters
    ----------
    plan
        A plan (.toml): hosts, ports of a switch, catalogue, cables, applications.
    by_packets
        Run the applications packet by packet on the chosen design, its two neighbours on the front, and the
        designs to compare with.
    today
        The fabric that the site has (a dump or a spec): run them there, too. It is judged, not redesigned.
    failures
        Tell what is left of throughput after the worst cable, spine and core, and after 1 % of cables.
    dragonflies
        Set dragonflies in one front with the trees, with cables of so many metres within a group.
    skip_repeats
        Of runs packet by packet (`--by-packets`, `--today`), do not simulate iterations that repeat earlier
        ones again. The value is the error that is allowed, a share; 0: exact repeats only, and the result is
        the same.
    options
        Common options; `--seed` overrides the plan's, `-o` writes the result (.json, .csv), or a page for a
        tender (.html, .md).
    """
    from netloom.planning.answer import fail, present
    from netloom.planning.answer import plan as planned
    from netloom.planning.dragonflies import dragonflies as of_groups
    from netloom.planning.judged import judged

    if skip_repeats is not None and not by_packets and today is None:
        raise UsageError("--skip-repeats is of runs: expected --by-packets or --today")
    if is_stdin(str(plan)):
        raise UsageError("a plan cannot come from standard input: its paths are relative to it")
    options = options or Computing()
    if options.output is not None and options.output.suffix not in ENDINGS:
        raise UsageError(f"{options.output}: expected an ending of {', '.join(ENDINGS[:-1])}")
    kind = PAGES.get(ending(options.output))
    run = Run("plan", options, product=kind is not None)
    run.read("plan", str(plan))
    has = None if today is None else (today, present(today))
    if today is not None and Path(today).exists():
        run.read("fabric", today)
    with run.timed("plan"), run.progress("plan") as progress:
        try:
            result = planned(
                plan, seed=options.seed, threads=options.threads, time_limit=run.left, progress=progress
            )
        except TimeoutError:
            # Which designs are best is known once all are counted.
            raise TooLate(options.time_limit or 0.0) from None
    run.keeps()
    result["dragonflies"] = None

    def until() -> float | None:
        return None if run.left is None else time.monotonic() + run.left

    if dragonflies is not None:
        with run.timed("dragonflies"), run.progress("dragonflies") as progress:
            result["dragonflies"] = of_groups(
                plan, result, local_m=dragonflies, threads=options.threads, until=until(), progress=progress
            )
    if by_packets or has is not None:
        with run.timed("judge"), run.progress("judge") as progress:
            result["judged"] = judged(
                plan,
                result,
                today=has,
                skip_repeats=skip_repeats,
                threads=options.threads,
                until=until(),
                progress=progress,
            )
    if failures:
        with run.timed("failures"), run.progress("failures") as progress:
            fail(plan, result, threads=options.threads, until=until(), progress=progress)
    for role, path in _files(plan):
        run.read(role, path)
    late = report.unjudged(result) or (failures and report.unfailed(result)) or report.uncounted(result)
    result["assumptions"] = [report.first(result), *ASSUMPTIONS]
    if result["dragonflies"] is not None:
        result["assumptions"].append(DRAGONFLIES.format(dragonflies))
    result["findings"] = [finding(kind, text) for kind, text in _doubts(result, has)]
    del result["notes"]
    if kind is not None:
        from netloom.pages.tender import tender

        result["output"] = None
        result["output"] = run.write(tender(run.document(result), kind))
    stopped = "time-limit" if late and run.left is not None else None
    return run.finish(result, lambda: report.text(result), rows=report.rows(result), stopped=stopped)


def _files(plan: Path) -> list[tuple[str, str]]:
    """The files that a plan names, those of traces of several files too."""
    from netloom import _core

    found: list[tuple[str, str]] = []
    for role, path in _core.plan_files(plan):
        if role != "trace" or Path(path).is_file():
            found.append((role, str(path)))
        if role == "trace":
            found += [(role, part) for part in _core.trace_files(path)]
    return list(dict.fromkeys(found))


def _doubts(result: Mapping[str, Any], today: tuple[str, Fabric] | None) -> list[tuple[str, str]]:
    """What a reader of the plan should know."""
    found: list[tuple[str, str]] = list(dict.fromkeys(result["notes"]))
    if result["chosen"] is None and result["target_slowdown"] is not None:
        best = min(one["slowdown"]["estimate"] for one in result["designs"])
        target = result["target_slowdown"]
        text = f"no design's estimate is at most {target:g}: the least is {best:.4f}"
        found.append(("no-design", text))
    for number in result["better"]:
        spec = result["compared"][number]["spec"]
        text = f"{spec}, which the plan compares with, is what the goal prefers: no such tree is looked at"
        found.append(("better-compared", text))
    if late := report.unjudged(result):
        found.append(("not-judged", f"the time limit came before all runs were over: {', '.join(late)}"))
    if late := report.uncounted(result):
        text = f"the time limit came before loads of all dragonflies were known: {', '.join(late)}"
        found.append(("not-judged", text))
    if late := report.unfailed(result):
        text = f"the time limit came before all failures were looked at: {', '.join(late)}"
        found.append(("not-judged", text))
    if today is not None:
        source, fabric = today
        is_tree = fabric.shape["kind"] == "tree"
        what = "" if is_tree else f" (it is no tree, but {fabric.shape['kind']})"
        found.append(("judged-as-is", f"{source} is judged, not redesigned{what}: no design is made from it"))
        found += [
            ("not-judged", f"{source}: {routing}: {why}") for routing, why in report.refused(result).items()
        ]
    found += [
        ("cut-off", f"{spec}: without one {kind}, hosts that send to each other are cut off")
        for spec, kind in report.cut(result)
    ]
    kept = {} if result["chosen"] is None else {"chosen": result["designs"][result["chosen"]]}
    kept |= {"full": result["full"]} if result["full"] else {}
    for name, one in kept.items():
        if one["up_between_leaves"] < one["up_per_leaf"]:
            text = (
                f"{name}: {one['up_per_leaf']} cables go up a leaf, in bundles that differ by one; two "
                f"leaves can use at least {one['up_between_leaves']} between each other (machine.bundles = "
                '"equal" asks for all)'
            )
            found.append(("uneven-bundles", text))
    return found
