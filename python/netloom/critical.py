"""Critical sections, which are not ended by force: a change of a live fabric takes the time that undoing it
takes, a program that is recorded the time that its ranks take to end.

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


@contextlib.contextmanager
def section() -> Iterator[None]:
    """While a fabric is changed, or set right again."""
    global sections
    sections += 1
    try:
        yield
    finally:
        sections -= 1
