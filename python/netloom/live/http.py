"""Pages that others serve, fetched with patience that ends and memory that does not grow.

Idea: who answers may be broken or hostile, and a command that fetches again and again must outlive that.
One deadline holds for all of a fetch: names, connections, redirects, headers and body. A reply has a largest
size, and what its header says of its size is looked at first.

Invariants: whatever goes wrong is a `LiveError` that names the URL, without a password. Only HTTP is spoken:
a redirect to a file or another protocol is refused. `http_proxy` and `https_proxy` are followed as usual.

Source: RFC 9110 (HTTP semantics), RFC 9112 (HTTP/1.1, chunked transfer coding).
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Protocol

from netloom.errors import LiveError

MOST_BYTES = 256 << 20
"""How large a reply may be: samples of 400,000 ports."""
_REDIRECTS = 5
_PIECE = 1 << 16
_LONGEST_WORD = 200
"""Of what the other side says, in messages."""


class Missing(LiveError):
    """The server says that it has no such page (404)."""


def get(url: str, *, seconds: float = 10.0, most_bytes: int = MOST_BYTES) -> bytes:
    """Fetches a page.

    Parameters
    ----------
    url : str
        `http://` or `https://`, without a user or a password.
    seconds : float, default 10
        For all of it.
    most_bytes : int, default 256 MiB
        How large it may be.

    Returns
    -------
    bytes
        The body.

    Raises
    ------
    Missing
        If the server has no such page.
    LiveError
        Naming the URL, if it cannot be had whole, in time, and within the size.

    Examples
    --------
    >>> get("ftp://example.org/")
    Traceback (most recent call last):
    ...
    netloom.errors.LiveError: ftp://example.org/: expected http:// or https://
    """
    deadline = time.monotonic() + seconds
    try:
        _check(url)
        with _opener(deadline).open(url) as answer:
            return _body(answer, most_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        kind = Missing if error.code == 404 else LiveError
        raise kind(f"{without_password(url)}: {error.code} {_short(error.reason)}".rstrip()) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise LiveError(f"{without_password(url)}: {_why(error, seconds)}") from None


def without_password(url: str) -> str:
    """A URL as it may be shown: without user and password."""
    scheme, slashes, rest = url.partition("//")
    place, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{place.rpartition('@')[2]}{slash}{path}"


class _Refused(ValueError):
    """What is not fetched, or not taken; says why."""


def _check(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise _Refused("expected http:// or https://")
    if "@" in parts.netloc:
        raise _Refused("expected a URL without user and password: commands and results would show them")
    if not parts.hostname:
        raise _Refused("expected the name of a machine")


def _body(answer: http.client.HTTPResponse, most: int) -> bytes:
    """All of a reply that is as long as it says and not too long."""
    told = answer.length  # None of a body in chunks, and of one that ends with the connection.
    if told is not None and told > most:
        raise _Refused(f"{told:,} bytes: expected at most {most:,}")
    pieces = io.BytesIO()
    while piece := answer.read(_PIECE):
        pieces.write(piece)
        if pieces.tell() > most:
            raise _Refused(f"more than {most:,} bytes: expected no more")
    if told is not None and pieces.tell() < told:
        raise _Refused(f"the reply ends after {pieces.tell():,} of {told:,} bytes")
    return pieces.getvalue()


def _why(error: Exception, seconds: float) -> str:
    """What went wrong, shortly."""
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, TimeoutError):
        return f"no whole reply within {seconds:.3g} s"
    if isinstance(reason, http.client.IncompleteRead):
        return "the reply ends before it is whole"
    if isinstance(reason, http.client.HTTPException):
        return f"no reply of HTTP ({_short(reason) or type(reason).__name__})"
    if isinstance(reason, OSError) and reason.strerror:
        return _short(reason.strerror)
    return _short(reason)


def _short(said: object) -> str:
    text = " ".join(str(said).split())
    return text if len(text) <= _LONGEST_WORD else text[:_LONGEST_WORD] + "…"


# The deadline


class _Socket(Protocol):
    """What is used of a socket, encrypted or not."""

    def settimeout(self, value: float | None, /) -> None:
        """How long a call may wait, s."""

    def recv_into(self, buffer: Any, /) -> int:
        """Waits for octets."""

    def sendall(self, data: bytes, /) -> None:
        """Sends all of it."""

    def close(self) -> None:
        """Ends it."""


class _Stream(io.RawIOBase):
    """What a socket receives until the deadline."""

    def __init__(self, timed: _Timed) -> None:
        self._timed = timed

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, into: Any) -> int:
        """Waits for octets."""
        return self._timed.before_deadline().recv_into(into)

    def close(self) -> None:
        """The socket closes with the last that uses it."""
        if not self.closed:
            self._timed.close()
        super().close()


class _Timed:
    """A socket as `http.client` uses one: its reply ends at the deadline."""

    def __init__(self, sock: _Socket, deadline: float) -> None:
        self._sock, self._deadline, self._users = sock, deadline, 1

    def before_deadline(self) -> _Socket:
        """The socket, which now waits until the deadline at most."""
        self._sock.settimeout(_left(self._deadline))
        return self._sock

    def sendall(self, data: bytes) -> None:
        """Sends a request."""
        self.before_deadline().sendall(data)

    def makefile(self, _: str) -> io.BufferedReader:
        """The reply."""
        self._users += 1
        return io.BufferedReader(_Stream(self), _PIECE)

    def close(self) -> None:
        """Closes the socket when nobody uses it any more."""
        self._users -= 1
        if self._users == 0:
            self._sock.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connected(host: str, port: int, deadline: float) -> socket.socket:
    """A connection to the first address of a machine that takes one."""
    error: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(deadline))
            sock.connect(address)
        except OSError as failed:
            sock.close()
            error = failed
            if isinstance(failed, TimeoutError):
                break
        else:
            return sock
    raise error


def _addresses(host: str, port: int, deadline: float) -> list[Any]:
    """Looks a name up. The resolver knows no deadline, so it is left to itself where it takes too long."""
    found: list[Any] = []
    failed: list[Exception] = []

    def look() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failed.append(error)

    thread = threading.Thread(target=look, name="netloom lookup", daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError
    return found


def _opener(deadline: float) -> urllib.request.OpenerDirector:
    """Speaks HTTP and nothing else, until the deadline."""

    class Plain(http.client.HTTPConnection):
        """Over TCP."""

        def connect(self) -> None:
            sock = _connected(self.host, self.port, deadline)
            try:
                self.sock = self._over(sock)
            except BaseException:
                sock.close()
                raise

        def _over(self, sock: socket.socket) -> Any:
            if getattr(self, "_tunnel_host", None):
                # Of a proxy: the tunnel's reply is read from the socket, then TLS begins on it.
                self.sock = _Timed(sock, deadline)
                self._tunnel()  # type: ignore[attr-defined]
            return self._inside(sock)

        def _inside(self, sock: socket.socket) -> Any:
            return _Timed(sock, deadline)

    class Encrypted(Plain):
        """Over TLS."""

        default_port = http.client.HTTPS_PORT

        def _inside(self, sock: socket.socket) -> Any:
            sock.settimeout(_left(deadline))
            name = getattr(self, "_tunnel_host", None) or self.host
            return _Timed(ssl.create_default_context().wrap_socket(sock, server_hostname=name), deadline)

    class Http(urllib.request.HTTPHandler):
        """`http://`."""

        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, request)

    class Https(urllib.request.HTTPSHandler):
        """`https://`."""

        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Encrypted, request)

    class Redirects(urllib.request.HTTPRedirectHandler):
        """To HTTP only, and not too often."""

        max_redirections = _REDIRECTS
        max_repeats = 1

        def redirect_request(
            self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
        ) -> urllib.request.Request | None:
            fp.close()  # Its body is of no use, and might never end.
            try:
                _check(newurl)
            except ValueError as error:
                raise _Refused(f"redirects to {_short(without_password(newurl))}: {error}") from None
            _left(deadline)
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        Http(),
        Https(),
        Redirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    opener.addheaders = [("Accept", "text/plain"), ("User-Agent", "netloom")]
    return opener
