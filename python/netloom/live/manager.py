"""A running OpenSM: what its options say, and how it is asked to load its file of routes again.

Idea: nothing is configured twice. The process itself says which options file it was started with, which file
of routes it reads, where it logs and where its console is; options on its command line count before those in
the file.

It is asked on its console (`reroute`: only changed blocks are sent) where that is a FIFO or a loopback
socket, else by SIGHUP (which also discovers the fabric again). That it has loaded the file is seen in its
log; that the switches have the tables is for the caller to read back.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import socket
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from netloom import reading
from netloom.errors import LiveError
from netloom.live import processes
from netloom.live.access import Access

HOW_TO_CONFIGURE = (
    "in its options file: routing_engine file,no_fallback and lfts_file /PATH/routes.lfts; restart it"
)
"""What an OpenSM needs so that it loads files of routes."""

_LONGEST_ANSWER = 1 << 20
_PIECE = 4096
_LARGEST = 64 << 20
"""Of options, and of what a log has new."""
_OPTIONS_FILE = Path("/etc/opensm/opensm.conf")
_OPTIONS = {
    "-F": "config",
    "--config": "config",
    "-R": "routing_engine",
    "--routing_engine": "routing_engine",
    "-U": "lfts_file",
    "--lfts_file": "lfts_file",
    "-q": "console",
    "--console": "console",
    "-C": "console_port",
    "--console-port": "console_port",
    "-l": "lmc",
    "--lmc": "lmc",
    "-f": "log_file",
    "--log_file": "log_file",
}
"""Options of its command line, by their names in the options file."""

_CONFIGURED = re.compile(rb"osm_ucast_mgr_process: (.+?) tables configured on all switches")
_REFUSED = b"No routing engine able"
_REASON = re.compile(rb"^.*do_ucast_file_load: (.+)$", re.MULTILINE)
_UP = b"SUBNET UP"
_LATER = 0.01


@dataclass(frozen=True)
class Problem:
    """Why a manager should not be asked to change routes."""

    kind: str
    """A word for it (`no-file-engine`)."""
    text: str
    """What is wrong, and what to do."""


@dataclass(frozen=True)
class Manager:
    """A running OpenSM; see `Manager.running` and `Manager.of_process`."""

    pid: int
    options: Mapping[str, str]
    """Its options by name, those of its command line before those of its file."""
    options_file: Path | None

    @classmethod
    def of_process(cls, pid: int) -> Manager:
        """The OpenSM with this process id.

        Raises
        ------
        LiveError
            If there is no such process, or its command line or options may not be read.
        """
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape").split("\0")
            folder = Path(os.readlink(f"/proc/{pid}/cwd"))
        except OSError as error:
            raise LiveError(
                f"OpenSM, process {pid}: {error.strerror}: expected one of this user's, or root"
            ) from None
        given = _given(arguments[1:])
        named = given.pop("config", None)
        file = folder / named if named else _OPTIONS_FILE if _OPTIONS_FILE.exists() else None
        options = {} if file is None else _read_options(file)
        options |= given
        for name in ("lfts_file", "log_file"):
            if name in options:
                options[name] = str(folder / options[name])
        return cls(pid, options, file)

    @classmethod
    def running(cls, access: Access, pid: int | None = None) -> Manager:
        """The OpenSM of this machine that manages a fabric.

        Raises
        ------
        LiveError
            If none runs here, or several do and `pid` says none of them.
        """
        found = _processes(access.socket_name)
        if pid is not None:
            if pid not in found:
                there = f"process {', '.join(map(str, found))} is" if found else "none runs here"
                raise LiveError(f"process {pid} is no OpenSM of {access.what}: {there}")
            return cls.of_process(pid)
        if not found:
            doubts = processes.unverified()
            hidden = [one for one in doubts if one.hidden]
            if hidden:
                listed = ", ".join(str(one.pid) for one in hidden)
                raise LiveError(
                    f"process {listed} is an OpenSM that this user may not look at: call netloom as root, or "
                    "as the user that OpenSM runs as"
                )
            told = "".join(f" (process {one.pid} is called opensm but {one.why})" for one in doubts)
            raise LiveError(
                f"no OpenSM of {access.what} runs on this machine{told}: call netloom where the master runs, "
                "as root or as the user that it runs as"
            )
        if len(found) > 1:
            listed = ", ".join(map(str, found))
            raise LiveError(
                f"{len(found)} OpenSM run here (processes {listed}): expected one, or --opensm PID"
            )
        return cls.of_process(found[0])

    @staticmethod
    def all_running(access: Access) -> list[int]:
        """The processes of this machine's OpenSMs of a fabric."""
        return _processes(access.socket_name)

    @property
    def engines(self) -> list[str]:
        """Its routing engines in order."""
        return [name for name in re.split(r"[,\s]+", self.options.get("routing_engine", "minhop")) if name]

    @property
    def routes_file(self) -> Path | None:
        """The file that its `file` engine reads."""
        name = self.options.get("lfts_file")
        return None if name is None else Path(name)

    @property
    def log(self) -> Path:
        """Its log."""
        return Path(self.options.get("log_file", "/var/log/opensm.log"))

    @property
    def lmc(self) -> int:
        """The LID mask control that it gives ports."""
        return int(self.options.get("lmc", "0"), 0)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        try:
            return "\nState:\tZ" not in Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return False

    @property
    def console(self) -> Literal["fifo", "socket"] | None:
        """How its console can be reached; None if it cannot."""
        kind = self.options.get("console", "off")
        if kind in ("loopback", "socket"):
            return "socket"
        if kind == "local":
            with contextlib.suppress(OSError):
                if stat.S_ISFIFO(os.stat(f"/proc/{self.pid}/fd/0").st_mode):
                    return "fifo"
        return None

    def problems(self) -> list[Problem]:
        """What of its options forbids changing routes through it."""
        found = []
        engines = self.engines
        where = f" ({self.options_file})" if self.options_file is not None else ""
        if engines[:1] != ["file"] or self.routes_file is None:
            text = f"OpenSM routes with {','.join(engines)}, not with a file of routes: "
            text += HOW_TO_CONFIGURE + where
            found.append(Problem("no-file-engine", text))
        elif "no_fallback" not in engines:
            text = "OpenSM would fall back to minhop on the whole fabric if it did not like the file: "
            found.append(Problem("fallback", f"{text}routing_engine file,no_fallback{where}"))
        if sign := self._adaptive():
            text = (
                f"adaptive routing is active in OpenSM ({sign}): switches choose among ports, so "
                "forwarding tables are not the whole truth"
            )
            found.append(Problem("adaptive", text))
        cached = self.options.get("use_ucast_cache", "FALSE").upper() == "TRUE"
        if cached and self.console is None:
            text = "OpenSM caches routes (-A, use_ucast_cache) and would not read the file again: "
            found.append(Problem("cached", text + "switch that off, or give it a console (-q loopback)"))
        return found

    def ask(self) -> Literal["reroute", "SIGHUP"]:
        """Asks it to load its file again, and returns how, without waiting.

        Raises
        ------
        LiveError
            If it does not run any more, or may not be asked.
        """
        if not self.alive:
            raise LiveError(f"OpenSM, process {self.pid}, does not run any more")
        kind = self.console
        try:
            if kind == "fifo":
                console = os.open(f"/proc/{self.pid}/fd/0", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    os.write(console, b"reroute\n")
                finally:
                    os.close(console)
                return "reroute"
            if kind == "socket":
                with contextlib.suppress(OSError):
                    self.type("reroute")
                    return "reroute"
            os.kill(self.pid, signal.SIGHUP)
        except OSError as error:
            raise LiveError(f"OpenSM, process {self.pid}, cannot be asked: {error.strerror}") from None
        return "SIGHUP"

    def type(self, line: str, *, seconds: float = 5.0) -> str:
        """Types a line on its loopback console and returns what it answers.

        Raises
        ------
        OSError
            If the console cannot be reached.
        """
        port = int(self.options.get("console_port", "10000"), 0)
        deadline = time.monotonic() + seconds
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as console:
            _until_prompt(console, deadline)
            console.sendall(line.encode() + b"\n")
            said = _until_prompt(console, deadline)
            with contextlib.suppress(OSError):
                console.sendall(b"quit\n")
        return said.decode(errors="replace")

    def reload(self, *, seconds: float = 60.0) -> tuple[Literal["reroute", "SIGHUP"], float]:
        """Has it load its file again; waits until its log says so.

        Where its log cannot be read, this returns at once.

        Returns
        -------
        tuple
            How it was asked, and how many seconds it took.

        Raises
        ------
        LiveError
            If it ends, does not like the file, takes other routes, or says nothing in time.
        """
        start = time.monotonic()
        position = self.log_size()
        how = self.ask()
        while position is not None:
            said = self.log_from(position)
            configured = _CONFIGURED.findall(said)
            if configured and configured[-1] != b"file":
                raise LiveError(f"OpenSM did not take the file but fell back to {configured[-1].decode()}")
            if configured and (how == "reroute" or _UP in said):
                break
            if _REFUSED in said and not configured:
                reason = _REASON.search(said)
                text = reason[1].decode(errors="replace") if reason else f"see {self.log}"
                raise LiveError(f"OpenSM does not like the file of routes: {text}")
            if not self.alive:
                raise LiveError(f"OpenSM, process {self.pid}, ended while it loaded the routes")
            if time.monotonic() - start > seconds:
                raise LiveError(
                    f"OpenSM said nothing of new routes in {self.log} for {seconds:g} s after {how}"
                )
            time.sleep(_LATER)
        return how, time.monotonic() - start

    def _adaptive(self) -> str | None:
        """The option that shows adaptive routing, if one does."""
        for name in ("ar_mode", "ar_enable", "adaptive_routing", "shield_mode"):
            value = self.options.get(name, "0").upper()
            if value not in ("0", "FALSE", "OFF", "NO", "(NULL)"):
                return f"{name} {value}"
        for name in self.engines:
            if name.startswith("ar_"):
                return f"routing_engine {name}"
        plugin = self.options.get("event_plugin_name", "")
        return f"event_plugin_name {plugin}" if "armgr" in plugin else None

    def log_size(self) -> int | None:
        """How long its log is; None if it cannot be read."""
        try:
            with open(self.log, "rb") as log:
                return log.seek(0, os.SEEK_END)
        except OSError:
            return None

    def log_from(self, position: int) -> bytes:
        """What its log has from there on, or from its beginning if it is shorter by now."""
        try:
            with open(self.log, "rb") as log:
                # It may have been cut off and begun again.
                end = log.seek(0, os.SEEK_END)
                log.seek(max(position if end >= position else 0, end - _LARGEST))
                return log.read(_LARGEST)
        except OSError:
            return b""


def _given(arguments: list[str]) -> dict[str, str]:
    """The options of a command line that concern routes, by their names in an options file."""
    found: dict[str, str] = {}
    for i, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if argument in ("-A", "--ucast_cache"):
            found["use_ucast_cache"] = "TRUE"
        elif argument in _OPTIONS and i + 1 < len(arguments):
            found[_OPTIONS[argument]] = arguments[i + 1]
        elif name.startswith("--") and equals and name in _OPTIONS:
            found[_OPTIONS[name]] = value
        elif argument[:2] in _OPTIONS and len(argument) > 2 and argument[1] != "-":
            found[_OPTIONS[argument[:2]]] = argument[2:]
    return found


def _read_options(file: Path) -> dict[str, str]:
    try:
        text = reading.whole(file, most=_LARGEST).decode(errors="replace")
    except FileNotFoundError:
        return {}  # OpenSM takes its defaults then.
    except OSError as error:
        raise LiveError(f"OpenSM's options file {file}: {error.strerror}") from None
    options = {}
    for line in text.splitlines():
        words = line.split("#", 1)[0].split(None, 1)
        if len(words) == 2 and words[1].strip() != "(null)":
            options[words[0]] = words[1].strip().strip('"')
    return options


def configured_routes_file() -> Path | None:
    """The file of routes that the options file names, whether OpenSM runs or not."""
    try:
        name = _read_options(_OPTIONS_FILE).get("lfts_file") if _OPTIONS_FILE.exists() else None
    except LiveError:
        return None
    return None if name is None else Path(name)


def _processes(socket_name: str | None) -> list[int]:
    """The OpenSM processes of an ibsim, or of real fabrics."""
    return processes.found(socket_name)


def _until_prompt(console: socket.socket, deadline: float) -> bytes:
    said = bytearray()
    while not said[-_PIECE:].rstrip().endswith(b"$"):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        console.settimeout(left)
        more = console.recv(_PIECE)
        if not more:
            break
        said += more
        if len(said) > _LONGEST_ANSWER:
            raise OSError(errno.EFBIG, f"the console answers more than {_LONGEST_ANSWER} bytes")
    return bytes(said)
