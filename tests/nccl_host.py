"""A program that loads a profiler plug-in and calls it by NCCL's published interface, version 4.

    python nccl_host.py PLUGIN CALLS.json

CALLS is `[["comm", id, nodes, ranks, rank], ["coll", id, function, count, datatype, root, algorithm,
protocol, channels, times], ["p2p", id, function, count, datatype, peer, times], ["abort"]]`.
Source: NVIDIA/nccl, `src/include/plugin/profiler/profiler_v4.h`.
"""

from __future__ import annotations

import json
import os
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


class Coll(Structure):
    _fields_ = (
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


class P2p(Structure):
    _fields_ = (
        ("func", c_char_p),
        ("buff", c_void_p),
        ("datatype", c_char_p),
        ("count", c_size_t),
        ("peer", c_int),
        ("nChannels", c_uint8),
    )


class Of(Union):
    _fields_ = (("coll", Coll), ("p2p", P2p))


class Descriptor(Structure):
    _anonymous_ = ("of",)
    _fields_ = (("type", c_uint8), ("parentObj", c_void_p), ("rank", c_int), ("of", Of))


HANDLE = POINTER(c_void_p)


class Profiler(Structure):
    _fields_ = (
        ("name", c_char_p),
        (
            "init",
            CFUNCTYPE(c_int, HANDLE, POINTER(c_int), c_char_p, c_uint64, c_int, c_int, c_int, c_void_p),
        ),
        ("startEvent", CFUNCTYPE(c_int, c_void_p, HANDLE, POINTER(Descriptor))),
        ("stopEvent", CFUNCTYPE(c_int, c_void_p)),
        ("recordEventState", CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)),
        ("finalize", CFUNCTYPE(c_int, c_void_p)),
    )


def main() -> None:
    plugin = Profiler.in_dll(CDLL(sys.argv[1]), "ncclProfiler_v4")
    contexts: dict[int, c_void_p] = {}
    mask = c_int(0)

    def event(communicator: int, told: Descriptor) -> None:
        handle = c_void_p()
        assert plugin.startEvent(contexts[communicator], byref(handle), byref(told)) == 0
        assert handle.value, "NCCL stops and parents events by their handles"
        assert plugin.stopEvent(handle) == 0

    for word, *rest in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")):
        if word == "comm":
            communicator, nodes, ranks, rank = rest
            contexts[communicator] = c_void_p()
            context = byref(contexts[communicator])
            assert plugin.init(context, byref(mask), None, communicator, nodes, ranks, rank, None) == 0
            assert mask.value == COLL | P2P
        elif word == "coll":
            communicator, function, count, datatype, root, algorithm, protocol, channels, times = rest
            for number in range(times):
                event(communicator, Descriptor(type=GROUP))
                told = Descriptor(type=COLL)
                names = (name.encode() for name in (function, datatype, algorithm, protocol))
                told.coll.func, told.coll.datatype, told.coll.algo, told.coll.proto = names
                told.coll.count, told.coll.root = count, root
                told.coll.nChannels, told.coll.nWarps, told.coll.seqNumber = channels, 16, number
                event(communicator, told)
        elif word == "p2p":
            communicator, function, count, datatype, peer, times = rest
            for _ in range(times):
                told = Descriptor(type=P2P)
                told.p2p.func, told.p2p.datatype = function.encode(), datatype.encode()
                told.p2p.count, told.p2p.peer, told.p2p.nChannels = count, peer, 2
                event(communicator, told)
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    for context in contexts.values():
        assert plugin.finalize(context) == 0
    print(plugin.name.decode())


main()
