"""Programs that are in the kernel already, found by their id: whose they are, and their maps.

Nothing is pinned: a filter holds its program, a program its maps. The settings of a port say which
`netloom dataplane up` put a program there, so one is known as ours by a random number, not by a name.

Source: Linux, include/uapi/linux/bpf.h (`bpf_prog_info`, `bpf_map_info`).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from netloom.dataplane import namespaces
from netloom.dataplane.libbpf import library
from netloom.dataplane.netlink import Direction
from netloom.dataplane.programs import FIRST, PORT, counts
from netloom.errors import LiveError

_INFO_BYTES, _MAP_INFO_BYTES = 80, 40
_COUNT_AT, _IDS_AT, _NAME_AT = 52, 56, 24
_MOST_MAPS = 64
_TCX = {"ingress": 46, "egress": 47}
"""Kinds of places (`bpf_attach_type`) where programs are put without a filter, since Linux 6.6."""


def tcx_programs(namespace: str | None, index: int, direction: Direction) -> int:
    """How many programs an interface has that see packets before all filters (TCX).

    Parameters
    ----------
    namespace : str or None
        As `ip netns` names it; None: this process's.
    index : int
        Of the interface.
    direction : {"ingress", "egress"}

    Returns
    -------
    int
        0 where the kernel has no such places.
    """
    number = ctypes.c_uint32(0)
    with namespaces.inside(namespace):
        failed = library().bpf_prog_query(index, _TCX[direction], 0, None, None, ctypes.byref(number))
    return 0 if failed else number.value


class Loaded:
    """A program of a filter; closes with its `with` block.

    Parameters
    ----------
    number : int
        Its id.

    Raises
    ------
    LiveError
        If there is none, or this process may not look at it.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._open: list[int] = []
        self._maps: dict[str, int] = {}
        fd = self._opened(library().bpf_prog_get_fd_by_id(number))
        try:
            for map_id in _map_ids(fd):
                found = self._opened(library().bpf_map_get_fd_by_id(map_id))
                info = _info(found, bytes(_MAP_INFO_BYTES))
                self._maps[info[_NAME_AT:].split(b"\0")[0].decode(errors="replace")] = found
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Loaded:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its descriptors; the program stays."""
        while self._open:
            os.close(self._open.pop())

    @property
    def owner(self) -> int:
        """The number of the `up` that put it there; 0 if it is none of netloom's."""
        descriptor = self._maps.get("netloom_port")
        if (
            descriptor is None
            or struct.unpack_from("=I", _info(descriptor, bytes(_MAP_INFO_BYTES)), 12)[0] != PORT.size
        ):
            return 0
        value = ctypes.create_string_buffer(PORT.size)
        if library().bpf_map_lookup_elem(descriptor, FIRST, value):
            return 0
        return int(PORT.unpack(value.raw)[-1])

    @property
    def counts(self) -> dict[str, int]:
        """What it did to packets so far."""
        return counts(self._map("netloom_counts"), f"program {self._number}")

    @property
    def events(self) -> int:
        """The descriptor of a receiver's ring buffer."""
        return self._map("netloom_events")

    def _map(self, name: str) -> int:
        if name not in self._maps:
            raise LiveError(f"program {self._number}: has no map {name}")
        return self._maps[name]

    def _opened(self, descriptor: int) -> int:
        if descriptor < 0:
            raise LiveError(f"program {self._number}: {os.strerror(-descriptor)}")
        self._open.append(descriptor)
        return descriptor


@contextmanager
def looked_at(number: int | None) -> Iterator[Loaded | None]:
    """A program, or None if it has just gone."""
    try:
        found = None if number is None else Loaded(number)
    except LiveError:
        found = None
    if found is None:
        yield None
        return
    with found:
        yield found


def owner(number: int | None) -> int:
    """Whose a filter's program is; 0 if it is none of netloom's."""
    with looked_at(number) as found:
        return 0 if found is None else found.owner


def _map_ids(fd: int) -> list[int]:
    ids = (ctypes.c_uint32 * _MOST_MAPS)()
    given = bytearray(_INFO_BYTES)
    struct.pack_into("=IQ", given, _COUNT_AT, _MOST_MAPS, ctypes.addressof(ids))
    info = _info(fd, bytes(given))
    count = struct.unpack_from("=I", info, _COUNT_AT)[0]
    return list(ids[: min(count, _MOST_MAPS)])


def _info(descriptor: int, given: bytes) -> bytes:
    value = ctypes.create_string_buffer(given, len(given))
    size = ctypes.c_uint32(len(given))
    error = library().bpf_obj_get_info_by_fd(descriptor, value, ctypes.byref(size))
    if error:
        raise LiveError(f"bpf_obj_get_info_by_fd: {os.strerror(-error)}")
    return value.raw
