"""OpenSM on an ibsim fabric: start with an engine or a file of routes, reload, stop.

What it writes (logs, dumps) stays in one temporary folder. With `file,no_fallback` OpenSM never replaces
a file that it does not like by routes of its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType

from netloom.errors import LiveError
from netloom.files import Scratch
from netloom.live import process
from netloom.live.ibsim import Ibsim
from netloom.live.manager import Manager

_CONFIGURATION = "force_log_flush TRUE\nsweep_interval 0\n"
_UP = b"SUBNET UP"
_STANDBY = b"Entering STANDBY state"


class OpenSM:
    """A running OpenSM; use it as a context manager, inside the `with` of its [`Ibsim`].

    Entering waits until the subnet is up.

    Parameters
    ----------
    fabric : Ibsim
        The simulated fabric that it manages.
    engine : str
        Its routing engine (`minhop`, `updn`, `ftree`, …).
    routes : path, optional
        A file of routes: the engine is then `file,no_fallback`.
    lmc : int
        LID mask control.
    settings : str
        More lines for its options file.
    host : str, optional
        The host that it runs on; the fabric's own unless given.
    console : str
        Where its console is: `local` (a FIFO here), `loopback` or `off`.
    standby : bool
        Whether another one is master: entering waits until this one stands by.
    start_seconds : float
        How long to wait for the subnet.
    """

    def __init__(
        self,
        fabric: Ibsim,
        *,
        engine: str = "minhop",
        routes: str | os.PathLike[str] | None = None,
        lmc: int = 0,
        settings: str = "",
        host: str | None = None,
        console: str = "local",
        standby: bool = False,
        start_seconds: float = 60.0,
    ) -> None:
        self.fabric = fabric
        self.engine = engine if routes is None else "file,no_fallback"
        self.routes = None if routes is None else Path(routes).resolve()
        self._lmc = lmc
        self._settings = settings
        self._host = fabric.host if host is None else host
        self._kind_of_console = console
        self._ready = _STANDBY if standby else _UP
        self._start_seconds = start_seconds
        self._stack = contextlib.ExitStack()
        self._console = -1
        self._child: subprocess.Popen[bytes] | None = None
        self.folder = Path()

    def __enter__(self) -> OpenSM:
        program = process.require_tool("opensm")
        with contextlib.ExitStack() as stack:
            scratch = stack.enter_context(Scratch.private())
            self.folder = scratch.path
            configuration = self.folder / "opensm.conf"
            scratch.write("opensm.conf", (_CONFIGURATION + self._settings).encode())
            self._console = scratch.pipe("opensm.console")
            stack.callback(os.close, self._console)
            command = [program, "-F", str(configuration), "-R", self.engine, "-D", "0x43"]
            command += ["-q", self._kind_of_console, "-f", str(self.log), "-l", str(self._lmc)]
            if self.routes is not None:
                command += ["-U", str(self.routes)]
            folder = str(self.folder)
            self._child = stack.enter_context(
                process.spawn(
                    command,
                    folder=scratch,
                    name="opensm",
                    env={
                        **process.client_environment(self.fabric.socket_name, self._host),
                        "OSM_TMP_DIR": folder,
                        "OSM_CACHE_DIR": folder,
                    },
                    console=self._console,
                    stop=lambda child: child.send_signal(signal.SIGTERM),
                )
            )
            self._wait_for_sweeps(1, self._start_seconds)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, value, trace)

    @property
    def log(self) -> Path:
        """Its log."""
        return self.folder / "opensm.log"

    @property
    def manager(self) -> Manager:
        """What it says of itself, and how it is asked."""
        assert self._child is not None, "use OpenSM as a context manager"
        return Manager.of_process(self._child.pid)

    def heavy_sweep(self, *, seconds: float = 60.0) -> None:
        """Has it rediscover the fabric and load its file of routes again (SIGHUP); waits until done."""
        assert self._child is not None, "use OpenSM as a context manager"
        sweeps = self._sweeps()
        self._child.send_signal(signal.SIGHUP)
        self._wait_for_sweeps(sweeps + 1, seconds)

    def command(self, line: str) -> None:
        """Types a line on its console (`reroute`)."""
        os.write(self._console, line.encode() + b"\n")

    def _sweeps(self) -> int:
        return self.log.read_bytes().count(self._ready) if self.log.exists() else 0

    def _wait_for_sweeps(self, count: int, seconds: float) -> None:
        assert self._child is not None
        try:
            process.wait_until(
                lambda: self._sweeps() >= count,
                seconds,
                f"OpenSM ({self.engine}) bringing the subnet up",
                self._child,
            )
        except LiveError as error:
            raise LiveError(f"{error} {process.tail(self.folder / 'opensm.err')}".rstrip()) from None
