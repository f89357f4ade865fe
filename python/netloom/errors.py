"""What netloom raises. Every error is a [`NetloomError`] and says what was expected.

The Rust core raises these very classes (through a table it fills once), so that `except` clauses and
pickling work as with any Python class.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "CountersError",
    "FabricError",
    "FormatError",
    "InternalError",
    "LiveError",
    "NetloomError",
    "NotInstalledError",
    "OptimizeError",
    "PlaceError",
    "RoutingError",
    "SimulationError",
    "SpecError",
    "TrafficError",
]


class NetloomError(Exception):
    """The base of all errors that netloom raises on purpose."""


class FormatError(NetloomError):
    """A file is not what it should be.

    Parameters
    ----------
    message : str
        The whole message, position included (`net.txt:41: expected port 1 to 36, found 40`).
    path : str, optional
        The file.
    line : int, optional
        The line, from 1.
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str | None, int | None]]:
        return type(self), (str(self), self.path, self.line)


class FabricError(NetloomError):
    """Nodes and cables that do not make a fabric, or damage that names what is not there."""


class TrafficError(NetloomError):
    """Traffic with impossible entries, or that does not fit the fabric."""


class CountersError(NetloomError):
    """Counters that do not belong together, or say nothing."""


class ArgumentError(NetloomError, ValueError):
    """An argument out of its range, or a word that is not known; the message begins with its name."""


class SpecError(NetloomError):
    """A generator, pattern or engine spec that cannot be understood."""


class PlaceError(NetloomError):
    """Jobs that cannot be placed on the fabric."""


class RoutingError(NetloomError):
    """Routes that cannot be made, written or followed."""


class SimulationError(NetloomError):
    """A scenario that cannot run, or ranks that wait for what never comes."""


class OptimizeError(NetloomError):
    """The optimiser cannot work on this input."""


class LiveError(NetloomError):
    """A program outside (OpenSM, ibsim, a diagnostic tool) is missing, failed, or did not answer in time."""


class NotInstalledError(NetloomError, ImportError):
    """A library is not installed that an extra brings; the message has the command that installs it."""


class InternalError(NetloomError):
    """A bug in netloom: please report it."""
