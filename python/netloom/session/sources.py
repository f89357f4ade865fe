"""What inputs are called, and how a wrong one is told: files, `-`, specs, engines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from netloom import reading
from netloom.session import STDIO

OPTIMISERS = ("afar", "coloured", "optimize")
"""Names that stand for routes made for the traffic at hand, beside the engines' names."""


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


RECORDED = ("ti", "goal", "dumpi", "otf2", "chakra")
"""Formats of recorded runs, as the core names them."""

_NOT_RECORDED = (".mtx", ".csv", ".npz", ".npy", ".parquet", ".toml")


def is_recorded(source: str) -> bool:
    """Whether a path is a recorded run: a trace, an index or a folder of such, or a schedule."""
    from netloom import _core

    if os.path.isdir(source):
        return True
    if not os.path.isfile(source) or ending(Path(source)) in _NOT_RECORDED:
        return False
    return _core.traffic_format(reading.head(source, 1 << 20, unpack=False)) in RECORDED


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


def name_of(source: str) -> str:
    """What messages call a source: the file, or `-`."""
    return "-" if is_stdin(source) else source


def ending(path: Path | None) -> str:
    """The ending that names a format: `.mtx` of `a.mtx.gz`; empty without a path."""
    return "" if path is None else Path(str(path).removesuffix(".gz")).suffix
