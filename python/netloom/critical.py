"""Critical sections, which are not ended by force: a change of a live fabric takes the time that undoing it
takes, a program that is recorded the time that its ranks take to end, files that belong together the time
that writing all of them takes.

The command line ends a process soon after a signal, whatever it does (`cli/shared/guard.py`). Tables half
sent are worse than a command that answers late, so what sends them says so here. A second signal ends it all
the same; the journal then says what is to be recovered.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

sections = 0
"""Those that are under way."""
uninterrupted = 0
"""Those of them in which a first signal waits for the end of the section, too."""
waits = False
"""Whether one does."""


@contextlib.contextmanager
def section() -> Iterator[None]:
    """While a fabric is changed, or set right again."""
    global sections
    sections += 1
    try:
        yield
    finally:
        sections -= 1


@contextlib.contextmanager
def files() -> Iterator[None]:
    """While files are written that belong together, such as tables and the lanes of their packets.

    A signal that comes meanwhile interrupts at the end.

    Raises
    ------
    KeyboardInterrupt
        At the end, if it did.
    """
    global uninterrupted, waits
    uninterrupted += 1
    try:
        with section():
            yield
    finally:
        uninterrupted -= 1
        came, waits = waits, False
    if came:
        raise KeyboardInterrupt
