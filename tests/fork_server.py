"""Runs the command in forks of a process that has imported it already.

Most of a short command's time is Python's start and its imports: 0.2 s of CPU, three thousand times in a
test run. `Server` starts one process that imports everything once. For each call it forks; the fork gets the
call's arguments, folder, environment and streams and runs `netloom.cli.main` as the installed script does, to
the end of its process. What a fork cannot show is left to the real command (`suits`). With
`NETLOOM_TEST_EXEC=1` (`make test-exec`) the real command runs every time.

Protocol, over a Unix socket, one connection a call: the client sends a pickled request together with its
three streams; the server answers with the fork's process id, and with its wait status once it has ended.
"""

from __future__ import annotations

import array
import os
import pickle
import pty
import selectors
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_LENGTH = struct.Struct("<q")

# What a fork can be given after its imports. Any other variable may have been read by an import.
_LATE = ("NETLOOM_", "PYTEST_")
_LATE_NAMES = {"COLUMNS", "PATH", "TMPDIR"}


def suits(environment: dict[str, str], options: dict[str, Any]) -> bool:
    """Whether a fork shows what the real command would: no options of the process itself, and an
    environment that differs only in what is read late."""
    if options or os.environ.get("NETLOOM_TEST_EXEC"):
        return False
    names = {*environment, *_AT_START}
    changed = {name for name in names if environment.get(name) != _AT_START.get(name)}
    return all(name in _LATE_NAMES or name.startswith(_LATE) for name in changed)


_AT_START = dict(os.environ)

# What netloom imports inside of functions.
_IMPORTED_LATE = (
    "cyclopts",
    "matplotlib.backends.backend_agg",
    "matplotlib.collections",
    "matplotlib.figure",
    "numpy",
    "pyarrow.csv",
    "pyarrow.parquet",
    "rich.table",
    "scipy.sparse",
    "tomlkit",
)


class Server:
    """One process that forks; started by its first call."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def run(
        self,
        arguments: list[str],
        cwd: Path,
        environment: dict[str, str],
        stdin: bytes | None,
        timeout: float,
        *,
        terminal: bool = False,
    ) -> tuple[int, bytes, bytes]:
        """The exit code (negative: the signal) and what was printed; else TimeoutExpired.

        `terminal`: standard output is one.
        """
        connection = self._connect()
        ours, theirs = _streams(stdin is not None, terminal=terminal)
        with connection:
            mask = os.umask(0)
            os.umask(mask)
            request = pickle.dumps((arguments, str(cwd), environment, mask))
            descriptors = array.array("i", theirs)
            socket.send_fds(connection, [_LENGTH.pack(len(request))], descriptors)
            for descriptor in theirs:
                os.close(descriptor)
            connection.sendall(request)
            (pid,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
            try:
                out, err = _communicate(ours, stdin, time.monotonic() + timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, timeout) from None
            (status,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
        return os.waitstatus_to_exitcode(status), out, err

    def script(self) -> Path:
        """A folder for the PATH of a shell, whose `netloom` runs in a fork too."""
        home = self._start()
        folder = Path(home) / "bin"
        if not folder.exists():
            folder.mkdir()
            client = Path(__file__).with_name("fork_client.py")
            command = shlex.join([sys.executable, "-ISE", str(client), f"{home}/socket"])
            (folder / "netloom").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (folder / "netloom").chmod(0o755)
        return folder

    def close(self) -> None:
        """Ends the server."""
        if self._process is not None and self._folder is not None:
            self._process.terminate()
            self._process.wait()
            self._folder.cleanup()
            self._process = None

    def _start(self) -> str:
        """Its folder, with a socket that it listens to."""
        if self._process is None or self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="netloom-tests-")
            ready, told = os.pipe()
            self._process = subprocess.Popen(
                [sys.executable, __file__, self._folder.name, str(told)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[told],
                env=_AT_START,
            )
            os.close(told)
            with open(ready, "rb") as pipe:
                assert pipe.read() == b"ready", "the fork server did not start"
        return self._folder.name

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self._start()}/socket")
        return connection


def _streams(with_input: bool, *, terminal: bool) -> tuple[list[int], list[int]]:
    """Our ends and the fork's ends of standard input, output and error; -1: we have none."""
    if with_input:
        read_in, write_in = os.pipe()
    else:
        read_in, write_in = os.open(os.devnull, os.O_RDONLY), -1
    read_out, write_out = pty.openpty() if terminal else os.pipe()
    read_err, write_err = os.pipe()
    return [write_in, read_out, read_err], [read_in, write_out, write_err]


def _communicate(ours: list[int], stdin: bytes | None, deadline: float) -> tuple[bytes, bytes]:
    """Feeds standard input and reads the other two to their ends."""
    feed, out, err = ours
    found: dict[int, list[bytes]] = {out: [], err: []}
    rest = memoryview(stdin or b"")
    with selectors.DefaultSelector() as selector:
        for descriptor in found:
            selector.register(descriptor, selectors.EVENT_READ)
        if feed >= 0:
            os.set_blocking(feed, False)
            selector.register(feed, selectors.EVENT_WRITE)
        try:
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == feed:
                        try:
                            rest = rest[os.write(feed, rest[: 1 << 16]) :]
                        except BrokenPipeError:
                            rest = rest[:0]
                        if rest:
                            continue
                    else:
                        try:
                            data = os.read(key.fd, 1 << 16)
                        except OSError:  # A terminal whose other end is gone.
                            data = b""
                        if data:
                            found[key.fd].append(data)
                            continue
                    selector.unregister(key.fd)
                    os.close(key.fd)
        finally:
            for descriptor in list(selector.get_map()):
                os.close(descriptor)
    return b"".join(found[out]), b"".join(found[err])


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        assert piece, "the other side of the fork server is gone"
        data += piece
    return data


def _serve(folder: str, told: int) -> None:
    """The server's process, until it is ended."""
    _import_everything()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/socket")
    listener.listen()
    os.write(told, b"ready")
    os.close(told)
    parent = os.getppid()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while os.getppid() == parent:
            for key, _ in selector.select(1.0):
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    pid = _fork(connection, [listener.fileno(), selector.fileno()])
                    connection.sendall(_LENGTH.pack(pid))
                    selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (connection, pid))
                    continue
                connection, pid = key.data
                _, status = os.waitpid(pid, 0)
                selector.unregister(key.fd)
                os.close(key.fd)
                with connection:
                    try:
                        connection.sendall(_LENGTH.pack(status))
                    except BrokenPipeError:
                        continue  # The call had timed out.


def _fork(connection: socket.socket, not_theirs: list[int]) -> int:
    """Forks; the fork becomes the command and does not return."""
    head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 3)
    (length,) = _LENGTH.unpack(head)
    arguments, cwd, environment, mask = pickle.loads(_exactly(connection, length))
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    try:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        for descriptor in (connection.detach(), *not_theirs):
            os.close(descriptor)
        # The server's own streams know what kind of file they were opened on.
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.umask(mask)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [str(Path(sys.executable).with_name("netloom")), *arguments]
        from netloom.cli import main

        code = main()
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 70
    os._exit(code)


def _import_everything() -> None:
    """All modules of netloom, and what they import when they need it."""
    import gc
    import importlib
    import pkgutil

    import netloom
    from netloom.cli.shared import streams

    streams.without_pandas()
    for module in pkgutil.walk_packages(netloom.__path__, "netloom."):
        if module.name.startswith(("netloom.gpu", "netloom.exact")) or module.name.endswith("__main__"):
            continue
        importlib.import_module(module.name)
    for name in _IMPORTED_LATE:
        importlib.import_module(name)
    from netloom.cli.parser.verbs import build_app

    build_app()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    # Python put this folder first, which is no place for a command's imports.
    sys.path.pop(0)
    _serve(sys.argv[1], int(sys.argv[2]))
