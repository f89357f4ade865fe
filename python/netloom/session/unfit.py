"""Options that do not fit together: a table a verb, looked through once, before any work.

A row is about one option and others: either they exclude each other, or the one needs one of the others. Its
text names both. Options are written as they are typed; where a value counts, with it: `--objective sum`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from netloom.errors import ArgumentError


class Unfit(NamedTuple):
    """A row of a table.

    Attributes
    ----------
    option : str
        What the row is about.
    others : tuple of str
        The option that it excludes; or those of which it needs one.
    needs : bool
        Whether it needs them.
    text : str
        What is told.
    """

    option: str
    others: tuple[str, ...]
    needs: bool
    text: str


def exclude(option: str, others: Sequence[str], text: str) -> list[Unfit]:
    """An option that excludes others; `{option}` and `{other}` in the text are their names."""
    return [Unfit(option, (other,), False, text.format(option=option, other=other)) for other in others]


def need(options: Sequence[str], others: Sequence[str], text: str) -> list[Unfit]:
    """Options that need one of some others; `{option}` in the text is the option's name."""
    return [Unfit(option, tuple(others), True, text.format(option=option)) for option in options]


def named(*groups: object, **single: object) -> set[str]:
    """Names of the options that are given: of groups of options, and of single ones by their parameters.

    A group's option is given where it is not its default, another where it is neither None, false nor empty.
    An option with a word is there with the word too: `--judge` and `--judge fluid`.
    """
    found: set[str] = set()
    for group in groups:
        for field in fields(group):  # type: ignore[arg-type]
            if (value := getattr(group, field.name)) != field.default:
                found |= _names(field.name, value)
    for name, value in single.items():
        if value is not None and value is not False and value != () and value != []:
            found |= _names(name, value)
    return found


def _names(name: str, value: Any) -> set[str]:
    option = f"--{name.strip('_').replace('_', '-')}"
    return {option, f"{option} {value}"} if isinstance(value, str) else {option}


def refusal(table: Sequence[Unfit], given: set[str]) -> str | None:
    """What is told of options that do not fit together; None if they do.

    Parameters
    ----------
    table : sequence of Unfit
        The verb's; the first row that applies is told.
    given : set of str
        The options that are given.
    """
    for row in table:
        if row.option in given and any(other in given for other in row.others) != row.needs:
            return row.text
    return None


def refuse_arguments(table: Sequence[Unfit], given: set[str]) -> None:
    """Refuses arguments of a function that do not fit together, told by their names there.

    Raises
    ------
    ArgumentError
    """
    if (told := refusal(table, given)) is not None:
        told = told.replace("--from FILE", "today").replace("--from", "today")
        raise ArgumentError(re.sub(r"--([a-z-]+)", lambda option: option[1].replace("-", "_"), told))
