"""One name and one look for every engine and every other way to choose routes: tables, legends and curves.

A word is what commands and scenarios take (`optimize`, `optimized`); a name is what people read. A look is a
colour and dashes, so that no two engines differ in colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

Dashes: TypeAlias = "str | tuple[float, tuple[float, ...]]"

LOAD = "maximum load"
"""What tables call the load of the most loaded link."""


@dataclass(frozen=True)
class Look:
    """How a curve, a bar or a mark looks.

    Attributes
    ----------
    colour : str
        `#RRGGBB`; Okabe and Ito's, and three that differ from them in lightness.
    dashes : str or (float, tuple of float)
        As matplotlib takes them.
    marker : str
        Of curves beyond the engines, and of several of one engine; "" for none.
    """

    colour: str
    dashes: Dashes = "-"
    marker: str = ""


SOLID: Dashes = "-"
LONG: Dashes = (0, (5, 1.5))
DOTTED: Dashes = (0, (1.2, 1.2))
DASH_DOT: Dashes = (0, (6, 1.5, 1.2, 1.5))
SHORT: Dashes = (0, (3, 1.2))
WIDE: Dashes = (0, (8, 2))
EVEN: Dashes = (0, (2, 2))

BLUE, ORANGE, GREEN, PINK, SKY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"
BROWN, GREY, VERMILLION = "#8a6d3b", "#7f7f7f", "#D55E00"

_LOOKS = {
    "ftree": Look(BLUE, SOLID),
    "minhop": Look(ORANGE, LONG),
    "updn": Look(SKY, SHORT),
    "d-mod-k": Look(PINK, DASH_DOT),
    "s-mod-k": Look(BROWN, WIDE),
    "random": Look(GREY, EVEN),
    "dla": Look(BROWN, DOTTED),
    "dor": Look(BROWN, LONG),
    "layers": Look(GREY, LONG),
    "afar": Look(PINK, SOLID),
    "coloured": Look(SKY, LONG),
    "optimized": Look(VERMILLION, SOLID),
}
_SCHEMES = (
    Look(GREEN, DOTTED),
    Look(GREEN, DASH_DOT),
    Look(GREY, DOTTED),
    Look(GREEN, WIDE),
    Look(GREY, DASH_DOT),
)
"""Of schemes without tables, in the order of the core's list."""
_WORDS = {"optimize": "optimized", "netloom": "optimized", "AFAR": "afar"}
"""Other words for the same: what commands take, and what older results say."""
_OTHERS = [
    Look(colour, dashes, marker)
    for marker, dashes in (
        ("o", SOLID),
        ("s", LONG),
        ("^", DOTTED),
        ("D", DASH_DOT),
        ("v", SHORT),
        ("P", WIDE),
    )
    for colour in (BLUE, ORANGE, GREEN, PINK, SKY, BROWN, GREY)
]


def name(word: str) -> str:
    """What people read for a word: the engine's one name; files and other words stay as they are.

    Examples
    --------
    >>> name("optimize"), name("netloom-lmc-1"), name("mine.lfts")
    ('optimized', 'optimized-lmc-1', 'mine.lfts')
    """
    if word.startswith("netloom-lmc-"):
        return f"optimized-{word.removeprefix('netloom-')}"
    return _WORDS.get(word, word)


def link_name(link: Mapping[str, Any]) -> str:
    """What people read for a link, by its ends.

    Examples
    --------
    >>> link_name({"from": "leaf0", "from_port": 7, "to": "spine1", "to_port": 1})
    'leaf0[7] → spine1[1]'
    """
    return f"{link['from']}[{link['from_port']}] → {link['to']}[{link['to_port']}]"


def names() -> tuple[str, ...]:
    """Every engine that has a look."""
    return tuple(_all_looks())


def look(word: str) -> Look | None:
    """The look of an engine; None for words that are none."""
    return _all_looks().get(name(word).split(":")[0])


@cache
def _all_looks() -> dict[str, Look]:
    from netloom import _core

    schemes = [name for name, _ in _core.schemes()]
    return _LOOKS | dict(zip(schemes, _SCHEMES, strict=False))


def looks(words: Sequence[str]) -> list[Look]:
    """The looks of several curves, no two of the first 42 alike: engines their own, others what is left.

    Parameters
    ----------
    words : sequence of str
        The engine of every curve, a file's name, or anything else. The second curve of an engine has the
        engine's colour and dashes, and a marker.
    """
    found: list[Look] = []
    seen: dict[str, int] = {}
    others = 0
    for word in words:
        own = look(word)
        if own is None:
            found.append(_OTHERS[others % len(_OTHERS)])
            others += 1
            continue
        again = seen[name(word)] = seen.get(name(word), -1) + 1
        marker = ("", "*", "X", "d", "<", ">", "h")[again % 7]
        found.append(Look(own.colour, own.dashes, marker))
    return found
