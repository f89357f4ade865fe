"""ibsim: a simulated InfiniBand fabric that answers management packets.

Its standard input is a FIFO opened for reading and writing: it is the console, and ibsim would spin on
end-of-file otherwise. Each instance has its own abstract socket name, so several run side by side.
`simulator ready` is printed before the sockets exist: what counts is `/proc/net/unix`.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType

from netloom.errors import LiveError
from netloom.files import Scratch
from netloom.live import process
from netloom.live.access import Access, running


class Ibsim:
    """A running ibsim; use it as a context manager.

    Parameters
    ----------
    fabric : path
        An ibsim net file or an `ibnetdiscover` dump (which keeps the LIDs).
    host : str
        The host from which clients see the fabric, for example where OpenSM runs.
    hosts, switches, ports : int
        Room to make for nodes and ports.
    start_seconds : float
        How long to wait for its sockets.
    """

    def __init__(
        self,
        fabric: str | os.PathLike[str],
        *,
        host: str,
        hosts: int = 4096,
        switches: int = 512,
        ports: int = 32768,
        start_seconds: float = 20.0,
    ) -> None:
        self.fabric = Path(fabric).resolve()
        self.host = host
        self.socket_name = f"netloom-{os.getpid()}-{id(self):x}"
        self._size = ["-N", str(hosts), "-S", str(switches), "-P", str(ports)]
        self._start_seconds = start_seconds
        self._stack = contextlib.ExitStack()
        self._console = -1
        self.folder = Path()

    def __enter__(self) -> Ibsim:
        program = process.require_tool("ibsim")
        with contextlib.ExitStack() as stack:
            scratch = stack.enter_context(Scratch.private())
            self.folder = scratch.path
            self._console = scratch.pipe("ibsim.console")
            stack.callback(os.close, self._console)
            child = stack.enter_context(
                process.spawn(
                    [program, "-s", *self._size, str(self.fabric)],
                    folder=scratch,
                    name="ibsim",
                    env={**os.environ, "IBSIM_SOCKNAME": self.socket_name},
                    console=self._console,
                    stop=lambda _child: self.command("Quit"),
                )
            )
            try:
                process.wait_until(
                    lambda: running(self.socket_name),
                    self._start_seconds,
                    f"starting ibsim on {self.fabric}",
                    child,
                )
            except LiveError as error:
                raise LiveError(f"{error} {process.tail(self.folder / 'ibsim.err')}".rstrip()) from None
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, value, trace)

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which tools see this fabric."""
        return process.client_environment(self.socket_name, self.host)

    def command(self, line: str) -> None:
        """Types a line on ibsim's console (`Unlink "leaf00"[5]`)."""
        os.write(self._console, line.encode() + b"\n")

    @property
    def access(self) -> Access:
        """How diagnostics ask this fabric."""
        return Access.ibsim(self.socket_name, self.host)

    def tool(self, *command: str, seconds: float = 60.0) -> bytes:
        """Runs a diagnostic tool on this fabric and returns what it prints; see `Access.run`."""
        return self.access.run(*command, seconds=seconds)

    def forwarding_tables(self, *, seconds: float = 60.0) -> bytes:
        """Reads every switch's forwarding table from the (simulated) switches themselves (`dump_fts`)."""
        return self.access.forwarding_tables(seconds=seconds)

    def discover(self, *, seconds: float = 60.0) -> bytes:
        """Returns what `ibnetdiscover` prints."""
        return self.access.discover(seconds=seconds)
