"""What a fabric says of itself: the InfiniBand diagnostics, on a real fabric or on ibsim's.

Idea: the tools are the same, only their environment differs. Nothing here changes a fabric. Every call is
bounded in time, and an error says what to do.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netloom.errors import LiveError
from netloom.live import interfaces, process

DISCOVERIES = 6
"""How often a fabric is discovered at most, until everything in it answers."""
_UNANSWERED = re.compile(r"mad \((?:DR path slid 0; dlid 0; )?([^)]*)\) bad status")
_SIM_REFUSED = "sim_init: connect failed"
_BY_DIRECTED_ROUTE = ("dump_fts", "ibnetdiscover", "ibportstate", "smpquery")
"""Tools that send subnet management, or only that."""
_NO_DEVICE = ("can't open UMAD port", "Failed to open", "can't read ABI version", "discover failed")
_NO_PERMISSION = ("Permission denied", "Operation not permitted")


@dataclass(frozen=True)
class Discovery:
    """What a discovery has found."""

    dump: bytes = field(repr=False)
    """As `ibnetdiscover` prints it."""
    unanswered: tuple[str, ...] = ()
    """Questions that nobody answered though the link was up: what is behind them may be missing."""


@dataclass(frozen=True)
class Access:
    """A way to ask a fabric; see `Access.local` and `Access.ibsim`."""

    ca: str | None = None
    """The channel adapter to ask through (`mlx5_0`); the tools choose if None."""
    port: int | None = None
    """Its port; the tools choose if None."""
    socket_name: str | None = None
    """The socket name of an ibsim; None for a real fabric."""
    host: str | None = None
    """The host of that ibsim's fabric from which to look; ibsim chooses if None."""
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """The tools' environment; None is this process's."""
    subnet: tuple[str, int] | None = None
    """Device and port for subnet management where these are others: of a planarized port, with its plane."""

    @classmethod
    def local(cls, *, ca: str | None = None, port: int | None = None) -> Access:
        """The fabric that this machine is on.

        Raises
        ------
        LiveError
            If the port has several planes, and none of them is named.
        """
        found = interfaces.of(ca, port)
        return cls(ca=found.gsi[0] or None, port=found.gsi[1] or None, subnet=found.smi)

    @classmethod
    def ibsim(cls, socket_name: str, host: str | None = None) -> Access:
        """The fabric of the ibsim with this socket name (`IBSIM_SOCKNAME`), seen from `host`.

        Raises
        ------
        LiveError
            If ibsim's client library is not installed.
        """
        environment = process.client_environment(socket_name, host)
        return cls(socket_name=socket_name, host=host, environment=environment)

    @classmethod
    def of_options(cls, *, sim: str | None, ca: str | None, port: int | None) -> Access:
        """The fabric that `--sim SOCKET[,HOST]`, or `--ca` and `--port`, name.

        Raises
        ------
        LiveError
            If both are given, or no such ibsim runs.
        """
        if sim is None:
            return cls.local(ca=ca, port=port)
        if ca is not None or port is not None:
            raise LiveError(
                "--sim is a simulated fabric, --ca and --port name a real one: expected one of them"
            )
        name, _, host = sim.partition(",")
        if not running(name):
            raise LiveError(f"--sim {sim}: no ibsim has the socket name {name!r} (IBSIM_SOCKNAME)")
        return cls.ibsim(name, host or None)

    @property
    def gsi(self) -> tuple[str, int]:
        """Device and port for all but subnet management; the library chooses where they are empty."""
        return self.ca or "", self.port or 0

    @property
    def smi(self) -> tuple[str, int]:
        """Device and port for subnet management."""
        return self.gsi if self.subnet is None else self.subnet

    @property
    def what(self) -> str:
        """This fabric in words, for messages."""
        if self.socket_name is not None:
            return f"the fabric of ibsim {self.socket_name}"
        plane = "" if self.subnet is None else f"plane {self.subnet[1]} of "
        parts = [self.ca or "", f"port {self.port}" if self.port is not None else ""]
        through = " ".join(part for part in parts if part)
        return f"{plane}the fabric behind {through}" if through else f"{plane}this machine's fabric"

    def run(self, tool: str, *arguments: str, seconds: float = 60.0) -> bytes:
        """Runs a diagnostic tool and returns what it prints.

        Parameters
        ----------
        tool : str
            Its name (`ibnetdiscover`).
        *arguments : str
            What follows it; adapter and port are put before these.
        seconds : float
            How long it may take.

        Raises
        ------
        LiveError
            If it is not installed, may not use the device, fails, or takes too long.
        """
        return self._run(tool, arguments, seconds)[0]

    def _run(self, tool: str, arguments: Sequence[str], seconds: float) -> tuple[bytes, str]:
        """What a tool prints, and what it says of it."""
        program = process.require_tool(tool)
        device, port = self.smi if tool in _BY_DIRECTED_ROUTE else self.gsi
        own = [*(["-C", device] if device else []), *(["-P", str(port)] if port else [])]
        child = subprocess.Popen(
            [program, *own, *arguments],
            env=None if self.environment is None else dict(self.environment),
            cwd=None if self.socket_name is None else process.clients_folder(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A terminal's Ctrl-C reaches only Python.
            start_new_session=True,
        )
        try:
            out, errors = child.communicate(timeout=seconds)
        except BaseException as error:
            if self.socket_name is None:
                child.kill()
            process.end_client(child)
            if isinstance(error, subprocess.TimeoutExpired):
                raise LiveError(f"{tool}: no answer from {self.what} after {seconds:g} s") from None
            raise
        finally:
            for pipe in (child.stdout, child.stderr):
                assert pipe is not None
                pipe.close()
        said = errors.decode(errors="replace").strip()
        if child.returncode != 0:
            raise LiveError(f"{tool}: {self._why(said, child.returncode)}")
        if tool == "dump_fts" and (failed := [line for line in said.splitlines() if "failed" in line]):
            # It goes on without what was not answered, and ends well.
            raise LiveError(f"{tool}: tables were not read whole: {failed[-1]}")
        return out, said

    def discover(self, *, seconds: float = 60.0) -> bytes:
        """Returns what `ibnetdiscover` prints; see `discovery`."""
        return self.discovery(seconds=seconds).dump

    def discovery(self, *, seconds: float = 60.0) -> Discovery:
        """Discovers the fabric, again where questions were lost: `ibnetdiscover` leaves out what is behind.

        Nodes that never answer are ordinary. So this ends when everything answers, when twice the same is
        silent, or after `DISCOVERIES` times, with the one that shows most.
        """
        best, before = Discovery(b""), None
        for _ in range(DISCOVERIES):
            dump, said = self._run("ibnetdiscover", (), seconds)
            found = Discovery(dump, tuple(sorted(_UNANSWERED.findall(said))))
            if not found.unanswered:
                return found
            if len(found.dump) >= len(best.dump):
                best = found
            if found.unanswered == before:
                break
            before = found.unanswered
        return best

    def forwarding_tables(self, *, seconds: float = 60.0) -> bytes:
        """Reads every switch's forwarding table from the switches themselves (`dump_fts`)."""
        return self.run("dump_fts", seconds=seconds)

    def refused(self) -> str:
        """Why this ibsim takes no client: it has no such host, or no place left; it does not say which."""
        environment = dict(self.environment or {})
        environment.pop("SIM_HOST", None)
        child = subprocess.Popen(
            [process.require_tool("sminfo")],
            env=environment,
            cwd=process.clients_folder(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _, said = child.communicate()
        if self.host is not None and _SIM_REFUSED not in said.decode(errors="replace"):
            return f"the ibsim {self.socket_name} has no host {self.host!r} (--sim SOCKET,HOST)"
        return (
            f"the ibsim {self.socket_name} takes no more clients: it has ten places, and one that was killed "
            "keeps its own until ibsim is restarted"
        )

    def _why(self, said: str, status: int) -> str:
        """What a tool's last words mean, and what to do."""
        lines = [line for line in said.splitlines() if "attached as client" not in line]
        last = lines[-1] if lines else ""
        if self.socket_name is None:
            if any(word in said for word in _NO_PERMISSION) or not _may_open_device():
                return (
                    "no permission on the device /dev/infiniband/umad*: expected root, or a group that may "
                    'read and write it (udev: KERNEL=="umad*", GROUP="rdma", MODE="0660")'
                )
            if any(word in said for word in _NO_DEVICE):
                through = f" {self.ca}" if self.ca else ""
                return (
                    f"no InfiniBand device{through} here, or ib_umad is not loaded (modprobe ib_umad): {last}"
                )
        elif not running(self.socket_name):
            return f"the ibsim {self.socket_name} has ended"
        elif _SIM_REFUSED in said:
            return self.refused()
        return f"exit status {status}: {last}"


def running(socket_name: str) -> bool:
    """Whether an ibsim with this socket name runs: `simulator ready` is printed before its sockets exist."""
    try:
        with open("/proc/net/unix", encoding="ascii", errors="replace") as sockets:
            # A name may be padded, which shows as more @.
            return any(line.rpartition(" ")[2].strip("@\n") == f"{socket_name}:ctl" for line in sockets)
    except OSError:
        return False


def _may_open_device() -> bool:
    """Whether all management devices that there are may be used by this process."""
    try:
        devices = [name for name in os.listdir("/dev/infiniband") if name.startswith("umad")]
    except OSError:
        return True
    return all(os.access(f"/dev/infiniband/{name}", os.R_OK | os.W_OK) for name in devices)
