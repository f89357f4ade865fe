"""A table or a figure of a paper, and the states that it can be in."""

from __future__ import annotations

from dataclasses import dataclass

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
NOT_OURS = "not ours"
STATES = {
    REPRODUCED: "a command makes it, and a page shows that it agrees",
    PARTLY: "a command makes it; set-up, size or some of its numbers differ",
    NOT_REPRODUCED: "no command makes it, or nothing that it shows comes out",
    NOT_OURS: "a drawing, a listing or an example: nothing of it is measured or computed there",
}
"""What each state means."""


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    number : str
        `000` to `004`.
    key : str
        Its first author, as `--paper` takes it.
    source : str
        As pages cite it.
    about : str
        What it is about.
    """

    number: str
    key: str
    source: str
    about: str


@dataclass(frozen=True)
class Item:
    """A table or a figure.

    Attributes
    ----------
    paper : str
        The paper's number.
    what : str
        `table 3.2`, `figure 5.7`.
    about : str
        What it shows.
    state : str
        One of `STATES`.
    why : str
        What differs, why it is not made, or what does not come out; empty if it is reproduced.
    commands : tuple of str
        What makes it, from the repository's folder; several make its parts, or one after the other.
    page : str or None
        Where it is compared with what is made here.
    """

    paper: str
    what: str
    about: str
    state: str
    why: str = ""
    commands: tuple[str, ...] = ()
    page: str | None = None
