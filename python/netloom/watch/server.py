"""A page served over HTTP by one thread, whoever connects and whatever they do.

Idea: every connection is one request, and has a deadline for it and another for its reply. There are so many
connections at once and no more: one more ends the one that has waited longest, so whoever asks at once is
served, and whoever only connects costs a descriptor for a while.

Invariants: nothing waits for one connection; no request is kept beyond `LONGEST_REQUEST`. The page is shared,
not copied.

Source: RFC 9112, of which a server of one page needs the request line and the end of the header.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

CONNECTIONS = 64
"""At once."""
REQUEST_SECONDS = 10.0
REPLY_SECONDS = 30.0
LONGEST_REQUEST = 16 << 10
_PIECE = 1 << 18
_REST_SECONDS = 0.2
"""Between two tries to accept where that fails."""


class Page:
    """What is served; replaced as a whole."""

    def __init__(self) -> None:
        self._data = b""

    def put(self, text: str) -> None:
        """Serves this from now on."""
        self._data = text.encode(errors="backslashreplace")

    def get(self) -> bytes:
        """What is served now."""
        return self._data


@dataclass
class _Connection:
    """Somebody who asks."""

    sock: socket.socket
    until: float
    asked: bytearray = field(default_factory=bytearray)
    reply: list[memoryview] = field(default_factory=list)


class Server:
    """Serves a page until it is closed.

    Parameters
    ----------
    listening : socket.socket
        Bound and listening; the server closes it.
    page : Page
        What is served at `/metrics` and `/`.
    """

    def __init__(self, listening: socket.socket, page: Page) -> None:
        self._listening, self._page = listening, page
        self._open: dict[int, _Connection] = {}
        """By descriptor, oldest first."""
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = socket.socketpair()
        self._rests_until = 0.0
        for sock in (listening, self._woken):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="netloom exporter", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread and all connections."""
        self._wake.send(b"x")
        self._thread.join()
        for connection in list(self._open.values()):
            self._end(connection)
        self._selector.close()
        for sock in (self._listening, self._woken, self._wake):
            sock.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select(self._seconds_to_wait()):
                if key.fileobj is self._woken:
                    return
                if key.fileobj is self._listening:
                    self._accept()
                elif key.fd in self._open:
                    self._go_on(self._open[key.fd])
            now = time.monotonic()
            for connection in [one for one in self._open.values() if one.until <= now]:
                self._end(connection)
            if self._rests_until and now >= self._rests_until:
                self._rests_until = 0.0
                self._selector.register(self._listening, selectors.EVENT_READ)

    def _seconds_to_wait(self) -> float | None:
        dues = [one.until for one in self._open.values()] + ([self._rests_until] if self._rests_until else [])
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _accept(self) -> None:
        try:
            sock, _ = self._listening.accept()
        except BlockingIOError:
            return
        except OSError:
            # No descriptor is left, say: whoever waits longest gives theirs, and it is tried again later.
            self._end_oldest()
            self._selector.unregister(self._listening)
            self._rests_until = time.monotonic() + _REST_SECONDS
            return
        if len(self._open) >= CONNECTIONS:
            self._end_oldest()
        sock.setblocking(False)
        connection = _Connection(sock, time.monotonic() + REQUEST_SECONDS)
        self._open[sock.fileno()] = connection
        self._selector.register(sock, selectors.EVENT_READ)
        # Who asks at once is answered at once, before others take the place.
        self._go_on(connection)

    def _end_oldest(self) -> None:
        """Of those that have not asked yet, if there is one."""
        waiting = (one for one in self._open.values() if not one.reply)
        oldest = next(waiting, None) or next(iter(self._open.values()), None)
        if oldest is not None:
            self._end(oldest)

    def _end(self, connection: _Connection) -> None:
        del self._open[connection.sock.fileno()]
        self._selector.unregister(connection.sock)
        connection.sock.close()

    def _go_on(self, connection: _Connection) -> None:
        try:
            if not connection.reply and not self._asked(connection):
                return
            while connection.reply:
                sent = connection.sock.send(connection.reply[0][:_PIECE])
                rest = connection.reply[0][sent:]
                connection.reply[:1] = [rest] if rest else []
        except BlockingIOError:
            return
        except OSError:
            self._end(connection)
            return
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_WR)
        self._end(connection)

    def _asked(self, connection: _Connection) -> bool:
        """Whether the request is there; then the reply is ready."""
        data = connection.sock.recv(LONGEST_REQUEST)
        connection.asked += data
        whole = b"\r\n\r\n" in connection.asked or b"\n\n" in connection.asked
        if not data and not whole:
            raise ConnectionResetError
        if not whole and len(connection.asked) < LONGEST_REQUEST:
            return False
        connection.reply = self._reply(bytes(connection.asked), whole)
        connection.asked.clear()
        connection.until = time.monotonic() + REPLY_SECONDS
        self._selector.modify(connection.sock, selectors.EVENT_WRITE)
        return True

    def _reply(self, asked: bytes, whole: bool) -> list[memoryview]:
        method, _, rest = asked.partition(b"\n")[0].strip().partition(b" ")
        path = rest.split(b" ")[0].split(b"?")[0]
        if not whole:
            status, data = "431 Request Header Fields Too Large", b"expected a shorter request\n"
        elif method not in (b"GET", b"HEAD"):
            status, data = "501 Not Implemented", b"expected GET\n"
        elif path not in (b"/metrics", b"/"):
            status, data = "404 Not Found", b"not here: /metrics\n"
        else:
            status, data = "200 OK", self._page.get()
        head = (
            f"HTTP/1.0 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        ).encode()
        return [memoryview(head)] + ([memoryview(data)] if data and method != b"HEAD" else [])
