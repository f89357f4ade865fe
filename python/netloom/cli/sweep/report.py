"""What `netloom sweep` tells."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from netloom import intervals
from netloom.cli.shared import render
from netloom.cli.simulate.report import at_most

_MOST = 40
"""Groups that the text has; the result has all."""


def script_text(result: Mapping[str, Any], sweep: str, folder: str, options: Sequence[str]) -> str:
    """What is to be done with the script."""
    count = render.count
    script = shlex.quote(str(result["script"]))
    left = result["runs"] - result["done"]
    return render.pairs(
        [
            ("sweep", f"{result['scenario']}: {count(left)} of {count(result['runs'])} runs to do"),
            ("script", f"{result['script']}, an array of {count(result['workers'])} tasks"),
            ("now", f"sbatch {script}"),
            ("then", shlex.join(["netloom", "sweep", "merge", sweep, folder, *options])),
        ]
    )


def part_text(result: Mapping[str, Any]) -> str:
    """A line."""
    return render.pairs([("part", f"{result['part']} of {render.count(result['parts'])}: {_done(result)}")])


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV holds: a row a group and key."""
    return [
        {
            **group["by"],
            "key": key,
            "runs": group["runs"],
            "failed": group["failed"],
            **value,
            "cluster": ",".join(value["cluster"] or ()) or None,
        }
        for group in result["groups"]
        for key, value in group["values"].items()
    ]


def text(result: Mapping[str, Any]) -> str:
    """The report."""
    count = render.count
    level = f"{100 * result['interval']['level']:.0f} %"
    head = [
        ("sweep", f"{result['scenario']}: {_done(result)}"),
        ("table", f"{result['table']}, {count(result['rows'])} rows"),
    ]
    if "skipped" in result:
        told = result["skipped"]
        what = f"{100 * told['share']:.1f} % of the simulated time in the mean of {count(told['runs'])} runs"
        what += f", {count(told['skipped'])} of which left something out"
        head.append(("skipped", what + at_most(told["error"])))
    parts = [render.pairs(head)]
    if result["groups"]:
        parts.append(f"mean and its {level} interval ({result['interval']['method']})\n{_groups(result)}")
        parts += _draws(result)
    if result["sensitivity"]:
        parts.append(f"share of the variance and its {level} interval\n{_shares(result)}")
    failed = [
        (f"{count(one['runs'])} x", f"{one['at']}: {one['error']}" if one["at"] else one["error"])
        for one in result["errors"]
    ]
    if failed:
        parts.append(f"failed\n{render.pairs(failed)}")
    return "\n\n".join(parts)


def _done(result: Mapping[str, Any]) -> str:
    count = render.count
    runs = f"{count(result['done'])} of {count(result['runs'])} done"
    if result["reused"] and result.get("engine") != "merge":
        runs += f", {count(result['reused'])} of them before"
    if result["failed"]:
        runs += f", {count(result['failed'])} failed"
    if result["stopped"] is not None:
        told = "the same command goes on"
        if result["stopped"] == "incomplete":
            told = f"{count(result['runs'] - result['done'])} are missing"
        runs += f" ({result['stopped']}: {told})"
    return runs


def _groups(result: Mapping[str, Any]) -> str:
    shown: Sequence[Mapping[str, Any]] = result["groups"][:_MOST]
    names, keys = list(shown[0]["by"]), list(shown[0]["values"])
    lines = [
        [
            *(_word(group["by"][name]) for name in names),
            render.count(group["runs"]),
            *(_cell(group["values"][key]) for key in keys),
        ]
        for group in shown
    ]
    header = [*names, "runs", *keys]
    told = render.table(header, lines, right=[len(names)])
    more = len(result["groups"]) - len(shown)
    return told + (f"\n… and {render.count(more)} groups more: --format csv has them" if more else "")


def _shares(result: Mapping[str, Any]) -> str:
    """Variance shares: a row a group, kept key and key of the design."""
    names = list(result["sensitivity"][0]["by"])
    lines = []
    for one in result["sensitivity"][:_MOST]:
        head = [*(_word(one["by"][name]) for name in names), one["key"]]
        for share in one["indices"]:
            cells = [
                f"{share[kind]:.3f} [{share[f'{kind}_low']:.3f}, {share[f'{kind}_high']:.3f}]"
                for kind in ("first", "total")
            ]
            lines.append([*head, share["name"], *cells])
        if not one["indices"]:
            lines.append([*head, "-", "-", "-"])
    return render.table([*names, "of", "key", "first order", "total"], lines)


def _draws(result: Mapping[str, Any]) -> list[str]:
    """What counted as a draw, and why means have no interval."""
    told = [
        (group["by"], key, value)
        for group in result["groups"]
        for key, value in group["values"].items()
        if value["n"]
    ]
    values = [value for _, _, value in told]
    lines = []
    for names in dict.fromkeys(tuple(value["cluster"] or ()) for value in values):
        some = [one for one in told if names and tuple(one[2]["cluster"] or ()) == names]
        if some:
            draws = sorted({value["draws"] for _, _, value in some})
            many = f"{draws[0]}" if len(draws) == 1 else f"{draws[0]} to {draws[-1]}"
            of = "" if len(some) == len(values) else f" ({_of(some)})"
            lines.append(("draws", f"{many}: runs that agree in {', '.join(names)} are one{of}"))
    for reason, why in intervals.WHY.items():
        number = sum(value["no_interval"] == reason for value in values)
        if number:
            lines.append(
                ("no interval", f"{render.count(number)} of {render.count(len(values))} means: {why}")
            )
    return [render.pairs(lines)] if lines else []


def _of(some: Sequence[tuple[Mapping[str, Any], str, Mapping[str, Any]]]) -> str:
    """Which means: the first by its group and key, and how many there are."""
    by, key, _ = some[0]
    first = f"{key} of {', '.join(_word(value) for value in by.values())}"
    return first if len(some) == 1 else f"{first} and {render.count(len(some) - 1)} more"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _cell(value: Mapping[str, Any]) -> str:
    if value["mean"] is None:
        return "-"
    between = "" if value["low"] is None else f" [{value['low']:.4g}, {value['high']:.4g}]"
    return f"{value['mean']:.4g}{between}"


def clock(seconds: float) -> str:
    """A length of time as people say it: `40 s`, `3 min`, `2 h 10 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    if whole < 6000:
        return f"{round(whole / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
