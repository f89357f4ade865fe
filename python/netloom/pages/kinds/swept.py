"""`netloom sweep` on a page: means by group with their intervals, what matters, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, known, section, table
from netloom.pages.result import escaped, head, unit
from netloom.shown import legend
from netloom.shown.units import told

_ROUTING = "routing"


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    by = ", ".join(result["groups"][0]["by"]) if result["groups"] else ""
    return f"{result['scenario']}: {result['runs']:,} runs" + (f" by {by}" if by else "")


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom sweep run`, or the groups of a sweep's folder."""
    words = (
        Column("scenario", "scenario", "text"),
        Column("runs", "runs"),
        Column("done", "done"),
        Column("failed", "failed"),
        Column("stopped", "stopped", "text"),
        Column("seconds", "took", "s"),
        Column("cpu_seconds", "CPU time", "s"),
        Column("engine", "run by", "text"),
        Column("workers", "workers"),
        Column("interval/level", "intervals", "share"),
        Column("interval/method", "intervals by", "text"),
    )
    about = known(words, [result])
    keys = list(dict.fromkeys(key for group in result["groups"] for key in group["values"]))
    found = [section("Sweep", facts(at, result, about))]
    if keys:
        found.append(
            section(
                "Means by group",
                *(_key(at, result["groups"], key) for key in keys),
                note="A bar is the mean, the line across its end the 95 % interval.",
            )
        )
    if result["sensitivity"]:
        blocks = [_matters(f"{at}/sensitivity/{n}", one) for n, one in enumerate(result["sensitivity"])]
        found.append(section("What matters", *blocks, note="Shares of the variance, with 95 % intervals."))
    if result["errors"]:
        rows = [Row([str(n + 1)], f"{at}/errors/{n}", one) for n, one in enumerate(result["errors"])]
        columns = [
            Column("runs", "runs"),
            Column("at", "at", "text"),
            Column("error", "error", "text", sentence=True),
        ]
        found.append(section("Runs that failed", table("Errors", ["no."], columns, rows)))
    return found


def _key(at: str, groups: Sequence[Mapping[str, Any]], key: str) -> str:
    of = unit(key.replace(".", "/"))
    values = [(n, group, group["values"][key]) for n, group in enumerate(groups) if key in group["values"]]
    most = (
        max((value[word] or 0.0 for _, _, value in values for word in ("mean", "high")), default=0.0) or 1.0
    )
    least = min((value["mean"] or 0.0 for _, _, value in values), default=0.0)
    by = list(groups[0]["by"])
    looks = legend.looks([str(group["by"].get(_ROUTING, "")) for _, group, _ in values])
    rows = []
    for (n, group, value), look in zip(values, looks, strict=True):
        colour = look.colour if _ROUTING in by else legend.BLUE
        bar = None
        if value["mean"] is not None and least >= 0:
            interval = None
            if value["low"] is not None:
                interval = (max(value["low"], 0.0) / most, min(value["high"] / most, 1.0))
            bar = Bar(value["mean"] / most, colour, interval=interval)
        names = [_word(name, group["by"].get(name)) for name in by]
        rows.append(Row(names, f"{at}/groups/{n}/values/{escaped(key)}", value, colour, bar))
    columns = [
        Column("mean", "mean", of),
        Column("low", "95 % from", of),
        Column("high", "to", of),
        Column("median", "median", of),
        Column("n", "values"),
        Column("draws", "draws"),
        Column("no_interval", "no interval", "text"),
    ]
    return table(_head(key), by, columns, rows)


def _head(key: str) -> str:
    """What a kept key is called, without its unit, which figures have."""
    return head(key.replace(".", "/").replace("_ms", "").replace("_us", ""))


def _word(name: str, value: Any) -> str:
    return legend.name(str(value)) if name == _ROUTING else told(value, "n")


def _matters(at: str, one: Mapping[str, Any]) -> str:
    rows = [
        Row(
            [index["name"]],
            f"{at}/indices/{n}",
            index,
            bar=Bar(
                _share(index["total"]),
                legend.BLUE,
                interval=(
                    _share(index["total_low"]),
                    max(_share(index["total_high"]), _share(index["total_low"])),
                ),
            ),
        )
        for n, index in enumerate(one["indices"])
    ]
    columns = [
        Column("first", "alone", "share"),
        Column("first_low", "from", "share"),
        Column("first_high", "to", "share"),
        Column("total", "with others", "share"),
        Column("total_low", "from", "share"),
        Column("total_high", "to", "share"),
    ]
    group = ", ".join(f"{name} {_word(name, value)}" for name, value in one["by"].items())
    return table(
        f"{head(one['key'].replace('.', '/'))}{f' ({group})' if group else ''}", ["key"], columns, rows
    )


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
