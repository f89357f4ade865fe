"""Linux' sysfs as files: the counters of InfiniBand ports in a folder, of one machine or of many.

A folder holds `/sys/class/infiniband` as it is or copied, below a folder a machine: `node7/mlx5_0/ports/1/…`.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from netloom import reading

_LARGEST = 1 << 20
"""No file of a port is as large."""
_WANTED = (
    "port_xmit_",
    "port_rcv_",
    "symbol_error",
    "link_",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
)
"""Counters of data and of errors; `link_` begins two of those, and a port's `link_layer`."""
_ALSO = frozenset({"node_guid", "lid"})


def read_tree(folder: str | os.PathLike[str]) -> list[tuple[str, bytes]]:
    """Returns the files that say something of ports, by path below the folder, in order of paths.

    Parameters
    ----------
    folder : path
        What is walked; links to folders are followed once, as `/sys/class/infiniband` has nothing else.

    Raises
    ------
    OSError
        Naming the file that cannot be read. Counters that the device refuses (EINVAL) read as "N/A".
    """
    root = Path(folder)
    found: list[tuple[str, bytes]] = []
    seen: set[tuple[int, int]] = set()
    for path, folders, files in os.walk(root, followlinks=True):
        folders.sort()
        status = os.stat(path)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        # Links lead from a device to its parent and back: below a device only its ports matter.
        if "ports" in folders:
            folders[:] = ["ports"]
        for name in sorted(files):
            if name in _ALSO or name.startswith(_WANTED):
                file = Path(path, name)
                found.append((file.relative_to(root).as_posix(), _read(file)))
    # A folder that is called after its machine says so.
    return [(f"{root.name}/{name}", data) for name, data in sorted(found)]


def _read(file: Path) -> bytes:
    try:
        return reading.whole(file, most=_LARGEST)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EOPNOTSUPP):
            return b"N/A"
        raise


def digest(files: Sequence[tuple[str, bytes]]) -> str:
    """A sha256 over names and contents."""
    total = hashlib.sha256()
    for name, data in files:
        total.update(f"{name}\0{len(data)}\0".encode() + data)
    return total.hexdigest()
