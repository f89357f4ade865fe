"""Standard streams that are closed, and Ctrl-C while a product is finished.

A closed stream (`>&-`) is no stream for Python, and its number goes to the next file that is opened: what is
written "to standard output" would land there. So all three numbers are taken before anything else, by streams
that fail as a full disk fails (standard error: that say nothing).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import os
import sys
import time

from netloom.cli.shared import guard
from netloom.session.interruption import Interruption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def hold() -> None:
    """Takes the numbers of closed streams."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one. The wrong way round: reading and writing fail.
            os.open(os.devnull, os.O_WRONLY if number == 0 else os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def abandon_stdout() -> None:
    """Lets what is left for standard output vanish: Python would complain again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("the command does without pandas", name=name)


def without_pandas() -> None:
    """Keeps pandas out of a process that is the command's own, and never asks for it.

    Arrow loads it, if it is installed, with the first column that becomes an array: a third of a second in
    which it swallows an interruption.
    """
    if _WithoutPandas not in sys.meta_path:
        sys.meta_path.insert(0, _WithoutPandas)


def end_as_interrupted() -> None:
    """Lets SIGTERM, with which batch systems end what has had its time, and SIGHUP, a lost terminal, do what
    Ctrl-C does.

    All are noted before they interrupt: what a library makes of KeyboardInterrupt while it loads may be
    any other error. Handlers of the caller, and signals that are ignored, stay as they are.
    """
    for number, usual in (
        (_signal.SIGINT, _signal.default_int_handler),
        (_signal.SIGTERM, _signal.SIG_DFL),
        (_signal.SIGHUP, _signal.SIG_DFL),
    ):
        current = _signal.getsignal(number)
        # Or the command's own first one (`netloom_start`).
        if current == usual or getattr(current, "early", False):
            try:
                _signal.signal(number, _interrupt)
            except ValueError:
                # Not the main thread (a library's user runs the command): signals are not ours there.
                return


def heed_lost_interrupts() -> None:
    """Has an interruption that Python drops come again; for a process that is the command's own.

    Where nothing can be raised (a destructor, a callback of an import's lock) Python prints a traceback,
    forgets the interruption and goes on.
    """
    usual = sys.unraisablehook

    def hook(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            # From a thread: here it would be dropped again.
            _thread.start_new_thread(_again, ())
        else:
            usual(lost)

    sys.unraisablehook = hook


def _again() -> None:
    time.sleep(0.01)
    os.kill(os.getpid(), _signal.SIGINT)


def _interrupt(*_: Any) -> None:
    critical: Any = sys.modules.get("netloom.critical")
    if critical is not None and critical.uninterrupted and not guard.heard:
        guard.heard = critical.waits = True
        return
    guard.heard = True
    raise Interruption


def width() -> int | None:
    """Columns of the terminal that standard output is (or what COLUMNS says of it); None if it is none."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def report(text: Callable[[], str]) -> None:
    """Prints what `text` makes, laid out for the terminal that it goes to."""
    from netloom.cli.shared import fit, render

    with fit.within(width()):
        tell(fit.wrapped(render.arrows(render.printable(text()))))


def tell(text: str) -> None:
    """Prints a report; on a terminal, words of severity have colours (but for NO_COLOR and TERM=dumb)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        print(text)
        return
    from rich.console import Console
    from rich.highlighter import RegexHighlighter
    from rich.theme import Theme

    class Severities(RegexHighlighter):
        highlights = (r"(?m)^  (?P<error>error) ", r"(?m)^  (?P<warning>warning) ", r"(?m)^  (?P<note>note) ")

    theme = Theme({"error": "bold red", "warning": "yellow", "note": "dim"})
    # Lines are as long as they are (`fit` has seen to that), and names are no markup.
    Console(highlighter=Severities(), theme=theme).print(text, markup=False, emoji=False, soft_wrap=True)


class DeferredInterrupt:
    """Ctrl-C that is only noted: from `start` on, what is being finished is finished."""

    def __init__(self) -> None:
        self.seen = False
        self._started = False

    def start(self) -> None:
        """From now on Ctrl-C is noted in `seen` and does nothing else. A second call does nothing."""
        if not self._started:
            self._started = True
            try:
                for number in guard.SIGNALS:
                    # One that is ignored (nohup) stays so.
                    if _signal.getsignal(number) != _signal.SIG_IGN:
                        _signal.signal(number, self._note)
            except ValueError:
                # Not the main thread (a library's user runs the command): Ctrl-C is not ours there.
                return

    def _note(self, *_: Any) -> None:
        self.seen = True
