"""How a page shows what it is of: a module a noun, which makes its sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from netloom.pages.kinds import (
    diagnosis,
    fabric,
    health,
    looped,
    noise,
    planned,
    routes,
    run,
    sampled,
    swept,
    watched,
)


class Kind(Protocol):
    """A module here that shows the result of a verb."""

    def title(self, result: Mapping[str, Any], /) -> str:
        """What a page of it is called."""

    def sections(self, at: str, result: Mapping[str, Any], /) -> list[str]:
        """Its markup; `at` is where the result is in the page's document."""


PARTS: Mapping[str, Callable[[str, Mapping[str, Any]], list[str]]] = {
    "fabric": fabric.sections,
    "routes": routes.sections,
    "run": run.sections,
}
"""Sections of what netloom computes or reads for a page, by the kind of its part."""
RESULTS: Mapping[str, Kind] = {
    "diagnose": diagnosis,
    "health": health,
    "loop": looped,
    "loop-live": looped,
    "noise": noise,
    "plan": planned,
    "sample": sampled,
    "sweep": swept,
    "watch": watched,
}
"""Of verbs' results, by the verb; all others are shown by `generic`."""
LACKING = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a result raises that is not as its verb writes it."""


def title(verb: str, result: Mapping[str, Any]) -> str | None:
    """What a page of a verb's result is called, if that has a name of its own."""
    try:
        return RESULTS[verb].title(result)
    except LACKING:
        return None
