"""Arguments of functions written in Python, checked against their signature before anything is done.

What is a truth value is `True` or `False`: the word "no" is none. Whole numbers are whole and within their
range, words are known ones. Reals whose range a function knows itself are left to it.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from netloom.errors import ArgumentError
from netloom.session.arguments import real

_Call = TypeVar("_Call", bound=Callable[..., Any])
_EVERYWHERE: dict[str, tuple[float, float]] = {
    "seed": (0, 2**64 - 1),
    "work": (0, 2**64 - 1),
    "threads": (0, 1024),
}
"""Ranges that arguments have in every function, as the command's options have."""


def checked(**ranges: tuple[float, float]) -> Callable[[_Call], _Call]:
    """Makes a function check what it is given.

    Parameters
    ----------
    **ranges : (int, int) or (float, float)
        The least and the most of arguments by name, besides those that all functions have.

    Returns
    -------
    callable
        A decorator. What it makes raises `ArgumentError` with the argument's name, what was expected and what
        was found.

    Examples
    --------
    >>> @checked(stages=(1, 1000))
    ... def change(stages: "int" = 8, yes: "bool" = False) -> None: ...
    >>> change(yes="no")
    Traceback (most recent call last):
    netloom.errors.ArgumentError: yes: expected True or False, found 'no'
    """

    def decorate(call: _Call) -> _Call:
        signature = inspect.signature(call)
        tests = {
            name: test
            for name, parameter in signature.parameters.items()
            if (test := _test(name, str(parameter.annotation), call.__globals__, {**_EVERYWHERE, **ranges}))
        }

        @functools.wraps(call)
        def asked(*given: Any, **named: Any) -> Any:
            # What does not bind is Python's own TypeError.
            for name, value in signature.bind(*given, **named).arguments.items():
                if name in tests and value is not signature.parameters[name].default:
                    tests[name](value)
            return call(*given, **named)

        return asked  # type: ignore[return-value]

    return decorate


def _test(
    name: str, annotation: str, names: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]]
) -> Callable[[Any], None] | None:
    """What tests an argument; None where there is nothing to test."""
    parts = [part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation)]
    may_miss = "None" in parts
    kinds = [part for part in parts if part != "None"]
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    several = re.fullmatch(r"Sequence\[(.+)\]", kind)
    choices = _choices(several[1] if several else kind, names)

    def test(value: Any) -> None:
        if value is None and may_miss:
            return
        if several and isinstance(value, str | bytes):
            expected = f"some of {', '.join(choices)}" if choices else "a sequence of values"
            raise ArgumentError(f"{name}: expected {expected}, found {_told(value)}")
        if kind == "bool":
            if type(value).__name__ not in ("bool", "bool_"):
                raise ArgumentError(f"{name}: expected True or False, found {_told(value)}")
        elif kind == "int":
            _whole(name, value, *ranges.get(name, (-math.inf, math.inf)))
        elif kind == "float" and name in ranges:
            least, most = ranges[name]
            real(name, value, f"a number from {least:g} to {most:g}", least, most)
        elif several and choices:
            if not all(one in choices for one in value):
                raise ArgumentError(f"{name}: expected some of {', '.join(choices)}, found {_told(value)}")
        elif choices and value not in choices:
            raise ArgumentError(f"{name}: expected {' or '.join(choices)}, found {_told(value)}")

    return test if kind in ("bool", "int", "float") or choices or several else None


def _choices(kind: str, names: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that an argument may be; none where it may be any."""
    if re.fullmatch(r"\w+", kind):
        named = names.get(kind)
        return typing.get_args(named) if typing.get_origin(named) is typing.Literal else ()
    return tuple(re.findall(r"""['"]([^'"]*)['"]""", kind)) if kind.startswith("Literal[") else ()


def _whole(name: str, value: Any, least: float, most: float) -> None:
    """A whole number of a range."""
    try:
        number = None if type(value).__name__.startswith("bool") else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        bounded = "" if math.isinf(least) else f" from {least:,} to {most:,}"
        raise ArgumentError(f"{name}: expected a whole number{bounded}, found {_told(value)}")


def _told(value: Any) -> str:
    huge = isinstance(value, int) and abs(value) >= 10**60
    return "a huge number" if huge else repr(value)[:60]
