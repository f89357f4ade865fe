"""Servers on real sockets that reply with what a test says, octet by octet."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterator

Reply = bytes | Callable[[socket.socket], None]
"""What a server sends and then closes, or does."""


def ok(body: bytes, *headers: str) -> bytes:
    """An ordinary reply."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def drip(data: bytes, piece: bytes = b"x", seconds: float = 0.02) -> Callable[[socket.socket], None]:
    """Sends this, then a bit and another bit for as long as anybody listens."""

    def send(sock: socket.socket) -> None:
        sock.sendall(data)
        gone = threading.Event()
        while not gone.wait(seconds):
            sock.sendall(piece)

    return send


def endless(data: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    """Sends this, then a piece again and again, as fast as it is taken."""

    def send(sock: socket.socket) -> None:
        sock.sendall(data)
        for _ in itertools.repeat(None):
            sock.sendall(piece)

    return send


def reset(data: bytes) -> Callable[[socket.socket], None]:
    """Sends this, then breaks the connection off."""

    def send(sock: socket.socket) -> None:
        sock.sendall(data)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return send


def silent(sock: socket.socket) -> None:
    """Says nothing until the other side goes."""
    while sock.recv(1 << 16):
        pass


def redirect(place: str) -> bytes:
    """Sends the other side elsewhere."""
    return f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")


_HEAD = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

ODD: dict[str, Reply] = {
    "nothing": b"",
    "no-http": b"\x00\xff\xfe garbage \x1b[2J\r\n\r\n" * 9,
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "no-status": b"HTTP/1.1\r\n\r\n",
    "odd-status": b"HTTP/1.1 abc Fine\r\n\r\n",
    "negative-status": b"HTTP/1.1 -200 Fine\r\n\r\n",
    "future-version": b"HTTP/9.9 200 OK\r\n\r\nx",
    "long-status": b"HTTP/1.1 200 " + b"O" * 200_000 + b"\r\n\r\n",
    "long-header": _HEAD + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
    "many-headers": _HEAD + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)) + b"\r\n",
    "cut-header": _HEAD + b"Content-Le",
    "only-continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
    "cut-body": _HEAD + b"Content-Length: 1000\r\n\r\nshort",
    "huge-length": _HEAD + b"Content-Length: 99999999999999999999\r\n\r\nx",
    "negative-length": _HEAD + b"Content-Length: -5\r\n\r\nx",
    "odd-length": _HEAD + b"Content-Length: 1e9\r\n\r\nx",
    "reset": reset(_HEAD + b"Content-Length: 1000\r\n\r\nx"),
    "odd-chunk": _CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n",
    "cut-chunk": _CHUNKED + b"ffff\r\nabc",
    "huge-chunk": _CHUNKED + b"fffffffffffffffff\r\nabc",
    "negative-chunk": _CHUNKED + b"-10\r\nabc",
    "long-chunk-line": _CHUNKED + b"1;" + b"x" * 200_000 + b"\r\na\r\n0\r\n\r\n",
    "no-chunk-end": _CHUNKED + b"3\r\nabc\r\n",
    "server-error": b"HTTP/1.1 500 \x1b]0;title\x07" + b"bad " * 5000 + b"\r\n\r\n",
    "wants-password": b'HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n',
    "not-modified": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "to-ftp": redirect("ftp://127.0.0.1/etc/passwd"),
    "to-file": redirect("file:///etc/passwd"),
    "to-nowhere": redirect("http://"),
    "to-odd-place": redirect("http://[::1"),
    "to-odd-port": redirect("http://127.0.0.1:99999/"),
    "to-password": redirect("http://user:secret@127.0.0.1/"),
    "to-control": redirect("http://127.0.0.1:1/\x01\x7f\xff"),
    "to-itself": redirect("/metrics"),
    "other-body": ok(b"<html>" * 100),
    "binary-body": ok(bytes(range(256)) * 100),
    "gzip-body": ok(b"\x1f\x8b\x08\x00" + b"\xff" * 100, "Content-Encoding: gzip"),
    "odd-samples": ok(b'infiniband_hca_port_x{guid="' + b"\\" * 1000 + b'"} 1e999\n'),
}
"""Replies that no exporter should send, and that end by themselves."""

SLOW: dict[str, Reply] = {
    "silent": silent,
    "dripping-status": drip(b"", b"H"),
    "dripping-header": drip(_HEAD, b"X: y\r\n"),
    "dripping-body": drip(_HEAD + b"Content-Length: 100000\r\n\r\n"),
    "dripping-chunks": drip(_CHUNKED, b"1\r\nx\r\n"),
    "endless-continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "dripping-trailer": drip(_CHUNKED + b"1\r\nx\r\n0\r\n", b"X: y\r\n"),
    "endless-redirect": endless(redirect("/metrics").replace(b"Content-Length: 0\r\n", b""), b"x" * 9999),
}
"""Replies that never end."""

LARGE: dict[str, Reply] = {
    "endless-body": endless(_HEAD + b"\r\n", b"x" * 65536),
    "endless-chunks": endless(_CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
}
"""Replies that no memory holds."""


@contextlib.contextmanager
def serving(replies: Iterator[Reply]) -> Iterator[str]:
    """Gives every connection the next reply, until the block ends or there is none; yields the URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer(sock: socket.socket, reply: Reply) -> None:
            with contextlib.suppress(OSError), sock:
                sock.recv(1 << 16)
                if callable(reply):
                    reply(sock)
                else:
                    sock.sendall(reply)

        def serve() -> None:
            with contextlib.suppress(OSError):
                for reply in replies:
                    sock, _ = listening.accept()
                    threading.Thread(target=answer, args=(sock, reply), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        # A connection wakes it, a closed socket ends it.
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
