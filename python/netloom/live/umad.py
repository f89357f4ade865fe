"""The child behind [`netloom.live.mads`]: sends management datagrams through libibumad, many at a time.

A program of its own, on standard input and output, because ibsim's library has to be loaded before anything
else (`LD_PRELOAD`), and so that a library that gives up takes no more than this with it. It imports nothing
of netloom: it starts in 20 ms.

On start it says `int32`: 0, or an error number. Then, as often as it is asked:

    in   HEADER, then a REQUEST each
    out  an ANSWER each, in the order of the requests, then TAIL

Subnet management goes by directed route only, through the port's subnet management interface (SMI, queue
pair 0); all else by LID through the general one (GSI, queue pair 1). These are opened apart: a planarized
(XDR) adapter has a device for each, and no switch of such a fabric forwards subnet management by LID.

Source: InfiniBand Architecture Specification, vol. 1, sec. 13.4 (datagrams), 14.2.1.2 (directed routes);
libibumad's umad.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
import sys
import time

HEADER = struct.Struct("<IIII")
"""Requests, how many may be under way at once, milliseconds to wait for an answer, tries beyond the first."""
REQUEST = struct.Struct("<HBBHHI64s64s")
"""LID, management class, method, attribute, hops, modifier, the first octets of the attribute, the ports out
that a directed route takes, this machine's first. By LID where the class is not a directed one."""
DIRECTED = 0x81
"""The management class of subnet management by directed route."""
ANSWER = struct.Struct("<I192s")
"""0 (what came back follows), NO_ANSWER, NOT_ASKED, or the datagram's own status."""
TAIL = struct.Struct("<II")
"""Datagrams sent, tries beyond the first included; answers."""
NO_ANSWER, NOT_ASKED = 1 << 16, 1 << 17

Request = tuple[int, int, int, int, int, int, bytes, bytes]
"""A `REQUEST`, unpacked."""

_SIZE = 256
_DATA = 64
"""Where the attribute begins in a datagram, of either class."""
_GENERAL = struct.Struct(">BBBBHHQHHI")
_ROUTE_OF_LIDS = struct.Struct(">QHH28x")
"""M_Key, and the LIDs of those parts of a directed route that go by LID: none."""
_PERMISSIVE = 0xFFFF
_QKEY = 0x80010000


def library() -> ctypes.CDLL:
    """libibumad, with what is loaded before it in its place."""
    ctypes.CDLL("libibumad.so.3", mode=ctypes.RTLD_GLOBAL)
    found = ctypes.CDLL(None)
    found.umad_init()
    return found


class Port:
    """A port of this machine's adapter, opened for one of its two interfaces."""

    def __init__(self, of: ctypes.CDLL, device: str, port: int, *, smi: bool) -> None:
        self._library = of
        name = device.encode() or None
        self._smi = smi
        opens = of.umad_open_port
        if smi:
            with contextlib.suppress(AttributeError):
                opens = of.umad_open_smi_port
        self._port = int(opens(name, port))
        if self._port < 0:
            raise OSError(-self._port, "umad_open_port")
        # Only an opened port knows how long the kernel's own header is.
        self._head = int(self._library.umad_size())
        self._agents: dict[int, int] = {}
        self._out = ctypes.create_string_buffer(self._head + _SIZE)
        self._in = ctypes.create_string_buffer(self._head + _SIZE)
        self._length = ctypes.c_int()
        self._number = 0

    def send(self, request: Request, timeout_ms: int) -> int:
        """Sends one datagram; returns the number by which its answer is known."""
        lid, kind, method, attribute, hops, modifier, data, path = request
        agent = self._agents.get(kind)
        if agent is None:
            agent = int(self._library.umad_register(self._port, kind, 1, 0, None))
            if agent < 0:
                raise OSError(-agent, "umad_register")
            self._agents[kind] = agent
        self._number = self._number % 0xFFFFFFFF + 1
        # Where a directed route has its hops, other classes have nothing.
        general = _GENERAL.pack(1, kind, 1, method, 0, hops, self._number, attribute, 0, modifier)
        if kind == DIRECTED:
            lid = _PERMISSIVE
            route = _ROUTE_OF_LIDS.pack(0, _PERMISSIVE, _PERMISSIVE)
            # The route's first place is not used.
            datagram = general + route + data + b"\0" + path[: _DATA - 1]
        else:
            datagram = general.ljust(_DATA, b"\0") + data
        ctypes.memset(self._out, 0, self._head + _SIZE)
        ctypes.memmove(ctypes.addressof(self._out) + self._head, datagram, len(datagram))
        pair_number, key = (0, 0) if self._smi else (1, _QKEY)
        self._library.umad_set_addr(self._out, lid, pair_number, 0, key)
        done = int(self._library.umad_send(self._port, agent, self._out, _SIZE, timeout_ms, 0))
        if done < 0:
            raise OSError(-done, "umad_send")
        return self._number

    def receive(self, timeout_ms: int) -> tuple[int, int, bytes] | None:
        """The number, the status and the attribute of what comes in; None if nothing does."""
        self._length.value = _SIZE
        got = int(self._library.umad_recv(self._port, self._in, ctypes.byref(self._length), timeout_ms))
        if got < 0:
            return None
        raw = self._in.raw[self._head :]
        _, kind, _, _, status, _, number, _, _, _ = _GENERAL.unpack_from(raw)
        # The kernel gives a datagram back that nobody has answered.
        lost = int(self._library.umad_status(self._in)) != 0
        end = 2 * _DATA if kind == DIRECTED else _SIZE
        return number & 0xFFFFFFFF, NO_ANSWER if lost else status & 0x7FFF, raw[_DATA:end]


def ask(
    port: Port,
    requests: list[Request],
    window: int,
    timeout_ms: int,
    retries: int,
) -> tuple[list[bytes], int, int]:
    """Asks all, `window` at a time. A node that has never answered is not asked again once it has failed."""
    answers = [ANSWER.pack(NOT_ASKED, b"")] * len(requests)
    # By number, oldest first: every one waits equally long.
    under_way: dict[int, tuple[int, int, float]] = {}
    again: list[tuple[int, int]] = []
    alive: set[tuple[int, bytes]] = set()
    silent: set[tuple[int, bytes]] = set()
    following = sent = answered = 0

    def lost(number: int) -> None:
        index, tries, _ = under_way.pop(number)
        if tries < retries:
            again.append((index, tries + 1))
            return
        answers[index] = ANSWER.pack(NO_ANSWER, b"")
        if _node(requests[index]) not in alive:
            silent.add(_node(requests[index]))

    while under_way or again or following < len(requests):
        while len(under_way) < window and (again or following < len(requests)):
            if again:
                index, tries = again.pop()
            else:
                index, tries = following, 0
                following += 1
            if _node(requests[index]) in silent:
                continue
            number = port.send(requests[index], timeout_ms)
            under_way[number] = (index, tries, time.monotonic() + timeout_ms / 1000.0)
            sent += 1
        if not under_way:
            continue
        deadline = next(iter(under_way.values()))[2]
        came = port.receive(max(1, int((deadline - time.monotonic()) * 1000.0)))
        if came is not None and came[0] in under_way:
            number, status, data = came
            if status == NO_ANSWER:
                lost(number)
            else:
                index = under_way.pop(number)[0]
                alive.add(_node(requests[index]))
                answers[index] = ANSWER.pack(status, data)
                answered += 1
        now = time.monotonic()
        for number in [number for number, (_, _, until) in under_way.items() if until < now]:
            lost(number)
    return answers, sent, answered


def _node(request: Request) -> tuple[int, bytes]:
    """Who is asked."""
    return request[0], request[7][: request[4]]


def main(gsi: str, gsi_port: str, smi: str, smi_port: str) -> int:
    """Answers batches until its input ends."""
    out = sys.stdout.buffer
    devices = {False: (gsi, int(gsi_port)), True: (smi, int(smi_port))}
    opened: dict[bool, Port] = {}
    try:
        of = library()
        # The one that all fabrics need; the other when it is asked for.
        opened[False] = Port(of, *devices[False], smi=False)
    except OSError as error:
        # Without a number: the library itself is not there.
        out.write(struct.pack("<i", error.errno or -1))
        out.flush()
        return 1
    out.write(struct.pack("<i", 0))
    out.flush()
    while head := sys.stdin.buffer.read(HEADER.size):
        count, window, timeout_ms, retries = HEADER.unpack(head)
        data = sys.stdin.buffer.read(count * REQUEST.size)
        requests: list[Request] = list(REQUEST.iter_unpack(data))
        answers, sent, answered = [ANSWER.pack(NOT_ASKED, b"")] * count, 0, 0
        for directed in (True, False):
            chosen = [index for index, one in enumerate(requests) if (one[1] == DIRECTED) == directed]
            if not chosen:
                continue
            if directed not in opened:
                opened[directed] = Port(of, *devices[directed], smi=directed)
            port = opened[directed]
            told, more, came = ask(port, [requests[index] for index in chosen], window, timeout_ms, retries)
            for index, answer in zip(chosen, told, strict=True):
                answers[index] = answer
            sent, answered = sent + more, answered + came
        out.write(b"".join(answers))
        out.write(TAIL.pack(sent, answered))
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
