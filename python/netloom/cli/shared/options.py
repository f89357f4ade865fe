"""Options that verbs share, and what an option's value may be: told as a usage error, before any work.

`--seed`, `--threads` and `--work` are options of the verbs in which they act, and of no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, validators


def within(least: int, most: float) -> Parameter:
    """An option's range: a number outside is a usage error, never one of the core's.

    Where `most` is whole, so is the option: 1.5 is refused, not rounded.
    """
    converter = _whole if isinstance(most, int) else None
    return Parameter(validator=validators.Number(gte=least, lte=most), converter=converter)


def _whole(_: Any, tokens: Sequence[Any]) -> int:
    value = tokens[0].value
    try:
        return int(value)
    except ValueError:
        raise ValueError(f'expected a whole number, found "{value}"') from None


COMMON = Group("Common options", sort_key=9)
"""What every verb has: in the help below what is a verb's own."""

_U64 = within(0, 2**64 - 1)
SKIP_REPEATS = Parameter(validator=validators.Number(gte=0, lt=1))
"""The error allowed where iterations are not simulated again, a share."""
COUNT = within(0, 2**31 - 1)
"""How many of something: no fabric has more."""
COUNTS = Parameter(converter=lambda _, tokens: [_count(token) for token in tokens])
"""The same, where an option may be given several times."""


def _count(token: Any) -> int:
    value = _whole(int, [token])
    if not 0 <= value < 2**31:
        raise ValueError(f"expected a number from 0 to {2**31 - 1}, found {value}")
    return value


def _size(_: Any, tokens: Sequence[Any]) -> int:
    from netloom.reading import parse_size

    return parse_size(tokens[0].value)


SIZE = Parameter(converter=_size)
"""Bytes with a unit."""


class FolderPath(PosixPath):
    """A path written with a slash at its end, which a plain `Path` forgets."""


def _output_path(_: Any, tokens: Sequence[Any]) -> Path:
    value = tokens[0].value
    if not value:
        raise ValueError("expected a file's name, found nothing")
    return FolderPath(value) if value.endswith("/") else Path(value)


OUTPUT_PATH = Parameter(converter=_output_path)
"""What an option that names an output is annotated with."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that every verb has."""

    output: Annotated[Path | None, OUTPUT_PATH, Parameter(name=["--output", "-o"])] = None
    """Write the product here (`-` is standard output); its format follows its ending."""
    format: Literal["text", "json", "csv"] = "text"
    """How to print the result."""
    time_limit: Annotated[float | None, within(0, 1e9)] = None
    """End after so many seconds with the best result so far. Not reproducible."""
    name_map: Path | None = None
    """A node-name-map, as the InfiniBand tools use: nodes have these names instead of a dump's own."""
    max_input: Annotated[int | None, SIZE] = None
    """Largest input to read, in bytes after decompression: `8G`. [default: 4G; for compressed files 20 to 100
    times their size]"""
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False
    """No progress, no notes, no text report; JSON and CSV are still printed."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class Seeded(Options):
    """Options of verbs that draw, or read traffic: ranks are placed at random where a jobs file says so."""

    seed: Annotated[int | None, _U64] = None
    """Seed of everything random; the same seed gives the same bytes. [default: 0]"""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class Threaded(Options):
    """Options of verbs that compute on several threads."""

    threads: Annotated[int, within(0, 1024)] = 0
    """Threads to use; 0 is one a core. Results do not depend on it."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class Computing(Seeded, Threaded):
    """Options of verbs that make routes, or simulate."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class Searching(Computing):
    """Options of verbs that search: for routes, or for the bound of a traffic."""

    work: Annotated[int | None, _U64] = None
    """Stop searching after so many units of work: a reproducible limit."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class ProductOptions(Options):
    """Options of verbs that need `-o`: `--help` marks it as required."""

    output: Annotated[Path | None, OUTPUT_PATH, Parameter(name=["--output", "-o"], required=True)] = None
    """Write the product here (`-` is standard output); its format follows its ending."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class SeededProduct(ProductOptions, Seeded):
    """The same, of verbs that draw, or read traffic."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class SearchingProduct(ProductOptions, Searching):
    """The same, of verbs that search."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class PictureOptions(ProductOptions):
    """Options of verbs that draw."""

    output: Annotated[Path | None, OUTPUT_PATH, Parameter(name=["--output", "-o"], required=True)] = None
    """Write the picture here; its format follows its ending."""

    size: str | None = None
    """Width and height of the picture in inches, `6.5x4`. [default: depends on the drawing]"""
    dpi: Annotated[int | None, within(20, 2400)] = None
    """Pixels per inch of a PNG. [default: 150]"""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class SeededPicture(PictureOptions, Seeded):
    """The same, of verbs that draw what has to be placed or resampled first."""


@Parameter(name="*", group=COMMON)
@dataclass(frozen=True, kw_only=True)
class SearchingPicture(PictureOptions, Searching):
    """The same, of verbs that draw routes that are made first."""
