"""Findings about tables that are read or made: faults of a file, and what is taken in ftree's place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netloom.findings import Finding, finding
from netloom.session.sources import name_of
from netloom.shown import units

if TYPE_CHECKING:
    from netloom._core import Fabric

_LINES = 3
"""How many lines of a file are told for every kind of fault."""


def fault_lines(faults: Sequence[tuple[int, str, str]], file: str) -> Iterator[Finding]:
    """The first faults of every kind in `file`, a file of routes, by line, and how many more there are."""
    name = name_of(file)
    for kind in dict.fromkeys(kind for _, kind, _ in faults):
        lines = [(line, text) for line, of, text in faults if of == kind]
        for line, text in lines[:_LINES]:
            yield finding(kind, f"{name}:{line}: {text}")
        if len(lines) > _LINES:
            yield finding(kind, f"{name}: and {units.count(len(lines) - _LINES)} more lines")


def fallbacks(words: Iterable[str], fabric: Fabric) -> list[Finding]:
    """What is taken for ftree's tables where these would lose pairs: of `ftree`, `auto` and `optimized`.

    Of `ftree` also why an OpenSM that was not told the roots has other tables.
    """
    words = list(words)
    started = [word for word in words if word == "auto" or word.startswith("optimized")]
    named = [word for word in words if word.lower().removeprefix("snooping:") == "ftree"]
    if not (started or named):
        return []
    if all(one["kind"] != "other-ranks" for one in fabric.findings):
        why = irregular(fabric) if named else None
        theirs = f"an OpenSM that was not told the roots takes minhop's tables here, not these: {why}"
        return [] if why is None else [finding("ftree-fallback", f"{word}: {theirs}") for word in named]
    why = "ftree's would lose pairs of hosts on this damaged tree"
    told = [f"{word}: minhop's tables are taken, as OpenSM does; {why}" for word in named]
    told += [f"{word}: updn's tables are taken to begin with; {why}" for word in started]
    return [finding("ftree-fallback", text) for text in told]


def irregular(fabric: Fabric) -> str | None:
    """Why OpenSM's ftree gives a tree up unless it was told the roots, in words; None if it does not.

    It wants all switches of a level to have as many neighbours above and, but for leaves, below, and all
    cables of a level to come in bundles of one size, up and down (`fabric_validate_topology`).
    """
    import numpy as np

    if fabric.shape["kind"] != "tree":
        return None
    table, links, names = fabric.switch_table(), fabric.link_table(), fabric.switch_names
    level = np.asarray(table["level"])
    ends = np.stack([np.asarray(links[key], np.int64) - fabric.hosts for key in ("source", "target")])
    ends = ends[:, np.asarray(links["alive"]) & (ends >= 0).all(axis=0)]
    (source, target), cables = np.unique(ends, axis=1, return_counts=True)
    for side, upward in (("above", True), ("below", False)):
        there = (level[source] < level[target]) == upward
        neighbours = np.bincount(source[there], minlength=len(level))
        for one in range(int(level.max(initial=0)) + 1):
            mine = np.flatnonzero(level == one)
            if len(mine) and (upward or one > 0):
                few, many = mine[neighbours[mine].argmin()], mine[neighbours[mine].argmax()]
                if neighbours[few] != neighbours[many]:
                    counts = f"{neighbours[many]} neighbours {side}, {names[few]} {neighbours[few]}"
                    return f"{names[many]} has {counts}"
            bundles = np.flatnonzero(there & (level[source] == one))
            if len(bundles):
                thin, thick = bundles[cables[bundles].argmin()], bundles[cables[bundles].argmax()]
                if cables[thin] != cables[thick]:
                    first, second = (
                        f"{names[source[k]]} has {cables[k]} {'cable' if cables[k] == 1 else 'cables'} to "
                        f"{names[target[k]]}"
                        for k in (thick, thin)
                    )
                    return f"{first}, {second}"
    return None
