"""A program that loads a profiler plug-in and calls it by NCCL's published interface, versions 3 to 6.

    python nccl_host.py PLUGIN CALLS.json [NEWEST]

NEWEST is the newest version that this NCCL knows (2.26: 3, 2.27: 4, 2.28: 5, from 2.29 on: 6); it takes the
newest that the plug-in has. CALLS is `[["comm", id, nodes, ranks, rank], ["coll", id, function, count,
datatype, root, algorithm, protocol, channels, times], ["p2p", id, function, count, datatype, peer, times],
["end", id], ["reload"], ["abort"], ["fork"], ["hostile"], ["close", ENDING], ["limit", BYTES], ["deaf"]]`.
Source: NVIDIA/nccl, `src/include/plugin/profiler/profiler_v3.h` to `_v6.h`, `src/plugin/profiler.cc`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    Union,
    byref,
    c_char_p,
    c_int,
    c_size_t,
    c_uint8,
    c_uint64,
    c_void_p,
)
from pathlib import Path

COLL, P2P, GROUP = 1 << 1, 1 << 2, 1 << 0
NAMED = (("name", c_char_p), ("commHash", c_uint64))
"""What version 3 says of the communicator at every event."""
COLL_FIELDS = (
    ("seqNumber", c_uint64),
    ("func", c_char_p),
    ("sendBuff", c_void_p),
    ("recvBuff", c_void_p),
    ("count", c_size_t),
    ("root", c_int),
    ("datatype", c_char_p),
    ("nChannels", c_uint8),
    ("nWarps", c_uint8),
    ("algo", c_char_p),
    ("proto", c_char_p),
)
P2P_FIELDS = (
    ("func", c_char_p),
    ("buff", c_void_p),
    ("datatype", c_char_p),
    ("count", c_size_t),
    ("peer", c_int),
)
GROUPED = (("parentGroup", c_void_p),)
HANDLE = POINTER(c_void_p)


def descriptor(version: int) -> type[Structure]:
    """The event of a version."""
    before = NAMED if version == 3 else ()
    after = GROUPED if version >= 5 else ()
    channels = () if version == 3 else (("nChannels", c_uint8),)
    coll = type("Coll", (Structure,), {"_fields_": (*before, *COLL_FIELDS, *after)})
    p2p = type("P2p", (Structure,), {"_fields_": (*before, *P2P_FIELDS, *channels, *after)})
    of = type("Of", (Union,), {"_fields_": (("coll", coll), ("p2p", p2p))})
    word = c_uint64 if version >= 5 else c_uint8
    fields = (("type", word), ("parentObj", c_void_p), ("rank", c_int), ("of", of))
    return type("Descriptor", (Structure,), {"_anonymous_": ("of",), "_fields_": fields})


def interface(version: int, event: type[Structure]) -> type[Structure]:
    """The functions of a version."""
    about = (c_int, c_int, c_int, c_void_p)
    init = {
        3: CFUNCTYPE(c_int, HANDLE, POINTER(c_int)),
        4: CFUNCTYPE(c_int, HANDLE, POINTER(c_int), c_char_p, c_uint64, *about),
    }.get(version, CFUNCTYPE(c_int, HANDLE, c_uint64, POINTER(c_int), c_char_p, *about))
    fields = (
        ("name", c_char_p),
        ("init", init),
        ("startEvent", CFUNCTYPE(c_int, c_void_p, HANDLE, POINTER(event))),
        ("stopEvent", CFUNCTYPE(c_int, c_void_p)),
        ("recordEventState", CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)),
        ("finalize", CFUNCTYPE(c_int, c_void_p)),
    )
    return type("Profiler", (Structure,), {"_fields_": fields})


class Nccl:
    """Communicators, and what is called on them, of one process."""

    def __init__(self, path: str, newest: int) -> None:
        self.path, self.newest = path, newest
        self.contexts: dict[int, c_void_p] = {}
        self.ranks: dict[int, int] = {}
        self.load()

    def load(self) -> None:
        self.library = CDLL(self.path)
        known = [v for v in range(self.newest, 2, -1) if hasattr(self.library, f"ncclProfiler_v{v}")]
        self.version = known[0]
        self.event = descriptor(self.version)
        name = f"ncclProfiler_v{self.version}"
        self.plugin = interface(self.version, self.event).in_dll(self.library, name)

    def comm(self, communicator: int, nodes: int, ranks: int, rank: int) -> None:
        self.contexts[communicator], mask = c_void_p(), c_int(0)
        self.ranks[communicator] = rank
        context, whole = byref(self.contexts[communicator]), (nodes, ranks, rank, None)
        if self.version == 3:
            done = self.plugin.init(context, byref(mask))
        elif self.version == 4:
            done = self.plugin.init(context, byref(mask), b"same", communicator, *whole)
        else:
            done = self.plugin.init(context, communicator, byref(mask), b"same", *whole)
        assert (done, mask.value) == (0, COLL | P2P)

    def told(self, communicator: int, told: Structure, part: Structure | None = None) -> None:
        told.rank = self.ranks[communicator]
        if part is not None and self.version == 3:
            part.name, part.commHash = b"same", communicator
        handle = c_void_p()
        assert self.plugin.startEvent(self.contexts[communicator], byref(handle), byref(told)) == 0
        assert handle.value, "NCCL stops and parents events by their handles"
        assert self.plugin.recordEventState(handle, 22, None) == 0
        assert self.plugin.stopEvent(handle) == 0

    def coll(self, communicator: int, *call) -> None:
        function, count, datatype, root, algorithm, protocol, channels, times = call
        for number in range(times):
            self.told(communicator, self.event(type=GROUP))
            told = self.event(type=COLL)
            names = (name and name.encode() for name in (function, datatype, algorithm, protocol))
            told.coll.func, told.coll.datatype, told.coll.algo, told.coll.proto = names
            told.coll.count, told.coll.root = count, root
            told.coll.nChannels, told.coll.nWarps, told.coll.seqNumber = channels, 16, number
            self.told(communicator, told, told.coll)

    def p2p(self, communicator: int, *call) -> None:
        function, count, datatype, peer, times = call
        for number in range(times):
            told = self.event(type=P2P)
            told.p2p.func, told.p2p.datatype = function and function.encode(), datatype and datatype.encode()
            told.p2p.count, told.p2p.peer = count, peer
            if self.version > 3:
                # NCCL 2.28 and later leave it unset where the plug-in has no version but 4.
                told.p2p.nChannels = number % 256
            self.told(communicator, told, told.p2p)

    def end(self, communicator: int) -> None:
        assert self.plugin.finalize(self.contexts.pop(communicator)) == 0

    def reload(self) -> None:
        """As NCCL does when its last communicator is gone and another comes."""
        import _ctypes

        for communicator in [*self.contexts]:
            self.end(communicator)
        _ctypes.dlclose(self.library._handle)
        self.load()

    def hostile(self) -> None:
        """What no NCCL does; every one of it is without effect."""
        handle, mask, some = c_void_p(), c_int(0), self.event(type=COLL)
        start, stop = self.plugin.startEvent, self.plugin.stopEvent
        # Null names are counted as empty ones, on a communicator of its own.
        self.comm(4242, 1, 1, 0)
        context = self.contexts[4242]
        self.told(4242, some, some.coll)
        for wrong in (c_void_p(), c_void_p(1 << 40), c_void_p(2**64 - 1), c_void_p(60000)):
            assert start(wrong, byref(handle), byref(some)) == 0
            assert stop(wrong) == self.plugin.finalize(wrong) == 0
            assert self.plugin.recordEventState(wrong, -1, None) == 0
        assert start(context, byref(handle), None) == start(context, None, byref(some)) == 0
        for unknown in (0, 3, 8, 64, 128, 255):
            assert start(context, byref(handle), byref(self.event(type=unknown))) == 0
        # Stopped before it began, and twice; ended twice, used after its end.
        assert stop(None) == stop(handle) == stop(handle) == 0
        self.end(4242)
        assert self.plugin.finalize(context) == self.plugin.finalize(context) == 0
        assert start(context, byref(handle), byref(some)) == 0
        no = (None, byref(mask)) if self.version == 3 else None
        rest = (1, 1, 0, None)
        no = no or (
            (None, byref(mask), None, 7, *rest) if self.version == 4 else (None, 7, None, None, *rest)
        )
        assert self.plugin.init(*no) == 0


def fork(nccl: Nccl) -> None:
    """A child calls on a communicator of its parent's."""
    child = os.fork()
    if child == 0:
        for communicator in [*nccl.contexts]:
            nccl.coll(communicator, "AllReduce", 5, "ncclInt8", 0, "RING", "LL", 1, 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def close(ending: str) -> None:
    """Closes what the process has open of an ending, and opens another file by its number."""
    for number in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if path.endswith(ending):
            os.close(int(number))
            Path(path).with_suffix(".mine").write_bytes(b"mine")
            other = os.open(Path(path).with_suffix(".mine"), os.O_RDWR)
            assert other == int(number)


def main() -> None:
    newest = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    nccl = Nccl(sys.argv[1], newest)
    assert nccl.version == newest
    for word, *rest in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")):
        if word == "abort":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "fork":
            fork(nccl)
        elif word == "close":
            close(*rest)
        elif word == "limit":
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (rest[0], resource.RLIM_INFINITY))
        elif word == "deaf":
            # Nobody reads standard error, and to write there is a signal that ends a program.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            ends = os.pipe()
            os.close(ends[0])
            os.dup2(ends[1], 2)
        else:
            getattr(nccl, word)(*rest)
    for communicator in [*nccl.contexts]:
        nccl.end(communicator)
    print(nccl.plugin.name.decode())


main()
