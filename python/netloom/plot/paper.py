"""What a picture is drawn on: its size and its pixels. Set by a verb, read where bytes are made.

Nothing heavy is imported: a verb sets it before anything is drawn.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

DPI = 150
"""Pixels an inch, unless asked for."""


@dataclass(frozen=True)
class Paper:
    """A picture's size.

    Attributes
    ----------
    inches : (float, float) or None
        Width and height; None: as what is drawn needs.
    dpi : int
        Pixels an inch, of pictures (and parts of them) that are made of pixels.
    """

    inches: tuple[float, float] | None = None
    dpi: int = DPI


PAPER: ContextVar[Paper] = ContextVar("paper", default=Paper())  # noqa: B039 (it is frozen)
"""What pictures are drawn on now."""
