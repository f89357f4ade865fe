"""`netloom diagnose pairs`: slow pairs of hosts, told apart into cables, hosts and collisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.options import Threaded
from netloom.cli.shared.run import Run

_TOLD = 5
"""Collisions and pairs that the text names."""


def pairs(
    fabric: str,
    routes: str,
    tests: str,
    /,
    *,
    healthy: Annotated[float | None, options.within(1, 100)] = None,
    options: Threaded | None = None,
) -> int:
    """Explain slow pairs of hosts: a cable, a host, or other pairs that met them on a link.

    Exit code 1 says that a pair was slow, whatever the cause.

    Parameters
    ----------
    fabric
        The fabric with the speeds that its cables should have: a dump, or a generator spec.
    routes
        The routes in force: a file, or an engine's name.
    tests
        Rates of pairs: a table (.csv) with the columns from, to, bytes_per_s and, of pairs that ran at the
        same time, round; or what LinkTest, hp2p (-f bin) or nccl-tests wrote.
    healthy
        What a healthy test measures, in % of the cables' nominal rate. [default: from the tests]
    options
        Common options; `-o` writes the result (.json), or the slow pairs with their causes (.csv).
    """
    from netloom.pairs.answer import diagnose_pairs

    run = Run("diagnose-pairs", options or Threaded(), product=False)
    result = diagnose_pairs(fabric, routes, tests, healthy_percent=healthy, session=run)
    rows = [{**row, "round": row["round"] or ""} for row in result["slow_pairs"]]
    found = result["slow"] > 0 or result["doubt"] is not None
    return run.finish(result, lambda: _text(result, fabric, routes), rows=rows, findings=found)


def _text(result: Mapping[str, Any], fabric: str, routes: str) -> str:
    parts = [render.pairs(_head(result))]
    for number, finding in enumerate(result["findings"], 1):
        parts.append(f"{number}. {_title(finding)}\n{render.pairs(_body(finding))}")
    if result["collisions"]:
        parts.append(_collisions(result, fabric))
    rest = [
        ("measure-alone", "were slow beside others, for no reason that these tests tell: measure them alone"),
        (
            "contradicted",
            "were slow alone, but every link of their way carried more in another test: measure them again "
            "(a host's software, a cable that fails now and then)",
        ),
    ]
    for cause, text in rest:
        names = [f"{row['from']} to {row['to']}" for row in result["slow_pairs"] if row["cause"] == cause]
        if names:
            more = f" and {render.count(len(names) - _TOLD)} more" if len(names) > _TOLD else ""
            parts.append(f"{render.count(len(names))} {text}\n  {', '.join(names[:_TOLD])}{more}")
    if not result["slow"]:
        parts.append("no pair is slower than the others" if result["doubt"] else "no pair is slow")
    if result["doubt"]:
        parts.append(_DOUBTS[result["doubt"]])
    return "\n\n".join(parts)


_DOUBTS = {
    "low": "The healthy level is low: unless software holds all pairs back, no pair of this file is healthy. "
    "Say with --healthy what is usual here.",
    "high": "The healthy level is above the cables' rate: the rates are no bytes per second, or the fabric's "
    "speeds are not those of its cables.",
}


def _head(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    count = render.count
    how = [
        f"{count(result['alone'])} alone" if result["alone"] else "",
        f"in {count(result['rounds'])} round{'s' * (result['rounds'] != 1)}" if result["rounds"] else "",
        f"{count(result['beside_unknown'])} beside unknown others" if result["beside_unknown"] else "",
    ]
    cleared = f"{count(result['cables_cleared'])} of {count(result['cables'])} carried their rate both ways"
    not_crossed = result["cables"] - result["cables_crossed"]
    rows = [
        ("tests", f"{count(result['tests'])} ({result['tool']}): {', '.join(word for word in how if word)}"),
        (
            "healthy",
            f"{result['efficiency_percent']:.0f} % of the cables' rate, +- {result['noise_percent']:.1f} %",
        ),
        ("slow", count(result["slow"])),
        ("cables", cleared + (f", {count(not_crossed)} were not tested" if not_crossed else "")),
    ]
    rows += [("left out", f"{count(row['rows'])} {row['why']}") for row in result["left_out"]]
    return rows


def _title(finding: Mapping[str, Any]) -> str:
    if finding["cause"] == "one-of":
        return f"at least one of {len(finding['cables'])} cables is slow"
    if finding["cause"] == "host":
        return f"slow host: {finding['host']}"
    return "slow cable"


def _body(finding: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for cable in finding["cables"]:
        words = {"out": cable["out"], "back": cable["back"]}
        ways = (
            "slow both ways" if set(words.values()) == {"slow"} else f"{words['out']}; back: {words['back']}"
        )
        rows.append(("cable", f"{cable['text']} ({ways})"))
    rate = f"{render.size(finding['bytes_per_s'])}/s, {finding['share_percent']:.0f} % of what it should"
    if finding["seems"] and finding["should_be"]:
        rate += f": as {finding['seems']} instead of {finding['should_be']}"
    rows += [("carries", rate), ("explains", f"{render.count(finding['tests'])} slow tests")]
    if finding["measure_next"]:
        pair = finding["measure_next"]
        rows.append(
            ("measure", f"{pair['from']} to {pair['to']}, alone: it tells some of these cables from others")
        )
    elif not finding["separable"]:
        rows.append(
            ("measure", "no pair of hosts tells them apart by these routes: look at their ports' counters")
        )
    elif finding["cause"] == "host":
        rows.append(("look at", "its adapter, its slot and its cable"))
    else:
        end = finding["cables"][0]["from"]
        rows.append(
            (
                "look at",
                f"`netloom health`; meanwhile: `netloom optimize --avoid '{end['name']}[{end['port']}]'`",
            )
        )
    return rows


def _collisions(result: Mapping[str, Any], fabric: str) -> str:
    met = sum(row["slow"] for row in result["collisions"])
    behind = sum(len(row["behind"]) for row in result["collisions"])
    rows = [
        [
            row["link"],
            row["round"],
            str(len(row["pairs"])),
            ", ".join(f"{one['from']} to {one['to']}" for one in row["pairs"][:3]),
        ]
        for row in result["collisions"][:_TOLD]
    ]
    lines = [
        f"{render.count(met)} slow tests met others on a full link"
        + (f", {render.count(behind)} waited behind them" if behind else "")
        + ": no cable's fault",
        render.table(["link", "round", "pairs", "of them"], rows, right=[2]),
    ]
    if len(result["collisions"]) > _TOLD:
        lines.append(
            f"{render.count(len(result['collisions']) - _TOLD)} more links and rounds: --format json"
        )
    worst = result["worst_round"]
    if worst is not None:
        now, least = worst["pairs_on_fullest_link"], worst["least_by_other_routes"]
        told = f"round {worst['round']}: {now:g} pairs on the fullest link"
        if least < now - 1e-9:
            told += (
                f", at least {least:g} by any such routes: `netloom optimize` finds routes for known traffic"
            )
        else:
            told += ", and no routes of this kind have fewer"
        lines.append(told)
    return "\n".join(lines)
