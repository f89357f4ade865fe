"""A picture and what it shows in numbers; what pictures are told apart by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netloom.errors import ArgumentError


@dataclass(frozen=True)
class Drawn:
    """A picture.

    Attributes
    ----------
    picture : bytes
        The file.
    result : dict
        What it shows, as JSON tells it, but for where it is written.
    rows : sequence of mappings or None
        The same as a table, where it is one.
    more : mapping
        What only its text tells.
    """

    picture: bytes
    result: dict[str, Any]
    rows: Sequence[Mapping[str, Any]] | None
    more: Mapping[str, Any] = field(default_factory=dict)


class OptionError(ArgumentError):
    """An option of a picture that is none: its name comes first."""


def endpoints(part: str | None, count: int) -> tuple[int, int]:
    """First and end of `FIRST:END`; either may be left out.

    Raises
    ------
    OptionError
        If that is no part of so many endpoints.
    """
    if part is None:
        return 0, count
    first, colon, end = part.partition(":")
    numbers = [first or "0", end or str(count)]
    if not colon or not all(number.isdecimal() for number in numbers):
        raise OptionError(f"part {part}: expected FIRST:END")
    low, high = map(int, numbers)
    if not low < high <= count:
        raise OptionError(f"part {part}: expected FIRST below END, END up to {count}")
    return low, high


def is_number(value: Any) -> bool:
    """Whether a document's value is a number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def placed(fabric: str, hosts: int) -> str:
    """A fabric in a title: `quartz1 (3,072 hosts)`."""
    return f"{Path(fabric).name} ({hosts:,} hosts)"
