"""What inputs are called on the command line, and how a wrong one is told: files, `-`, specs, engines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from netloom import groups, reading
from netloom.cli.shared import render
from netloom.cli.shared.exits import STDIO, UsageError
from netloom.cli.shared.outputs import ending
from netloom.findings import Finding, finding

if TYPE_CHECKING:
    from netloom._core import Fabric, Scenario
    from netloom.cli.shared.run import Run

OPTIMISERS = ("afar", "coloured", "optimize")
"""Names that stand for routes made for the traffic at hand, beside the engines' names."""

_LINES = 3
"""How many lines of a file are told for every kind of fault."""


def fault_lines(faults: Sequence[tuple[int, str, str]], file: str) -> Iterator[Finding]:
    """The first faults of every kind in `file`, a file of routes, by line, and how many more there are."""
    name = "-" if file == STDIO else file
    for kind in dict.fromkeys(kind for _, kind, _ in faults):
        lines = [(line, text) for line, of, text in faults if of == kind]
        for line, text in lines[:_LINES]:
            yield finding(kind, f"{name}:{line}: {text}")
        if len(lines) > _LINES:
            yield finding(kind, f"{name}: and {render.count(len(lines) - _LINES)} more lines")


@contextlib.contextmanager
def of_ibdiagnet(source: str) -> Iterator[None]:
    """An error about ibdiagnet's list of links, which is not read, names the dumps that are."""
    from netloom.errors import FormatError

    try:
        yield
    except FormatError as error:
        path = Path(source)
        if not path.name.endswith(".lst"):
            raise
        beside = [path.with_suffix(f".{kind}") for kind in ("ibnetdiscover", "db_csv", "net_dump")]
        there = next((f"{one}, which is there" for one in beside if one.is_file()), "ibdiagnet2.db_csv")
        text = f"ibdiagnet's lst is not read: expected its ibnetdiscover, db_csv or net_dump, such as {there}"
        raise FormatError(f"{source}: {text}", source) from error


def split_plane(source: str) -> tuple[str, str | None]:
    """A fabric's file and one of its planes: `net.txt#2`, unless a file is called so."""
    file, mark, plane = source.rpartition("#")
    if not mark or os.path.exists(source) or not is_file_or_stdin(file):
        return source, None
    return file, plane


def is_file_or_stdin(source: str) -> bool:
    """Whether there is something to read."""
    return source == STDIO or os.path.exists(source)


def with_roots(run: Run, fabric: Fabric, stated: str | None) -> Fabric:
    """The fabric with the switches that `--roots` puts on top of up*/down* ways.

    These are names or GUIDs with commas, or the lines of OpenSM's `root_guid_file`.
    """
    if stated is None:
        return fabric
    names = stated.split(",")
    if os.path.isfile(stated):
        lines = run.read("roots", stated).decode("utf-8", "replace").splitlines()
        names = [line.partition("#")[0] for line in lines]
    roots = [name.strip() for name in names if name.strip()]
    if not roots:
        raise UsageError(f"--roots {stated}: expected names or GUIDs of switches, found none")
    return fabric.with_roots(roots)


def with_groups(run: Run, fabric: Fabric, stated: str | None) -> Fabric:
    """The fabric as a dragonfly of the groups that `--groups` states, by a file or a rule."""
    if stated is None:
        return fabric
    names = [str(name) for name in fabric.switch_table()["name"]]
    data = run.read("groups", stated) if os.path.isfile(stated) else None
    try:
        return fabric.with_groups(groups.stated(stated, names, data))
    except ValueError as error:
        raise UsageError(f"--groups {stated}: {error}") from None


def note_jobs_file(run: Run, given: Scenario) -> None:
    """Says that jobs of a jobs file have no programs, and what is run in their place."""
    if given.jobs_of_file is not None:
        run.note(
            f"{given.path}: jobs of a jobs file run as matrix programs: all messages of a phase at once, "
            "and the next phase when they have arrived"
        )


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


def raise_not_an_engine(
    source: str, what: str = "not an engine", *, with_traffic: bool = True, others: Sequence[str] = ()
) -> NoReturn:
    """Raises the error for a name that is no engine's (`what` it is not), with the nearest that is.

    Without traffic the optimisers cannot be meant; `others` are names that this verb takes too.
    """
    import difflib

    from netloom import _core
    from netloom.errors import SpecError

    names = [name for name, _ in _core.engines()] + (list(OPTIMISERS) if with_traffic else [])
    names += others
    if not with_traffic and source in OPTIMISERS:
        what += " (it makes routes for a traffic, and there is none here)"
    near = difflib.get_close_matches(source.lower(), names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise SpecError(f'"{source}" is {what}: expected one of {", ".join(names)}{hint}')


_NOT_RECORDED = (".mtx", ".csv", ".npz", ".npy", ".parquet", ".toml")


def is_recorded(source: str) -> bool:
    """Whether a path is a recorded run: a trace, an index or a folder of such, or a schedule."""
    from netloom import _core

    if os.path.isdir(source):
        return True
    if not os.path.isfile(source) or ending(Path(source)) in _NOT_RECORDED:
        return False
    return _core.traffic_format(reading.head(source, 1 << 20, unpack=False)) in ("ti", "goal")


def of_run(source: str, name: str) -> str:
    """The file `name` of a folder that `netloom record` made; what is none stays as it is."""
    inside = os.path.join(source, name)
    return inside if os.path.isdir(source) and os.path.isfile(inside) else source


def nearest_pattern(source: str) -> str | None:
    """The pattern's name that a source looks like, if one does."""
    from netloom import _core
    from netloom.errors import NetloomError

    try:
        _core.Traffic.pattern(source, 2)
    except NetloomError as error:
        _, found, near = str(error).partition("did you mean ")
        return near.strip('"?') if found else None
    return None


def is_stdin(source: str) -> bool:
    """Whether a source is standard input."""
    return source == STDIO
