"""Commands on a terminal of their own: what they draw on standard error tells how far they are."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from pathlib import Path


class OnTerminal:
    """A command whose standard error is a terminal; `drawn` is what it has written there.

    Parameters
    ----------
    command : list of str
        The words of the command.
    cwd : Path
        Its folder.
    """

    def __init__(self, command: list[str], cwd: Path) -> None:
        terminal, other_end = pty.openpty()
        self.drawn = b""
        self._more = threading.Condition()
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=other_end,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        )
        os.close(other_end)
        # A terminal that nobody reads is full soon, and the command waits.
        self._reader = threading.Thread(target=self._read, args=(terminal,), daemon=True)
        self._reader.start()

    def wait_for(self, *words: str, seconds: float = 100) -> None:
        """Until one of the words is on the terminal; fails if the command ends before, or takes longer."""

        def there() -> bool:
            return any(word.encode() in self.drawn for word in words)

        with self._more:
            self._more.wait_for(lambda: there() or not self._reader.is_alive(), seconds)
        if not there():
            self.process.kill()
            raise AssertionError(f"{words} were not drawn within {seconds} s: {self.drawn!r}")

    def end(self, seconds: float = 100) -> tuple[int, bytes]:
        """Exit code and standard output of the command once it has ended."""
        out, _ = self.process.communicate(timeout=seconds)
        self._reader.join(seconds)
        return self.process.returncode, out

    def _read(self, terminal: int) -> None:
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # The other end of a terminal is gone once the command has ended.
                data = b""
            with self._more:
                self.drawn += data
                self._more.notify_all()
            if not data:
                os.close(terminal)
                return
