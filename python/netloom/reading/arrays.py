"""Arrays of NumPy's files, whose headers are looked at before memory is taken.

A header of 128 bytes can claim 10^12 numbers, and a zip archive of 5 MB can hold gigabytes of zeros. So an
array must have as many bytes as its header says, and an archive may hold `most_expanded` of its size.

Source: NumPy, *A simple file format for NumPy arrays* (NEP 1); PKWARE, APPNOTE 6.3.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from netloom.errors import FormatError
from netloom.reading import limits

_MEMBERS = 64
_LONGEST_HEADER = 10_000
"""NumPy's own limit: beyond, its parser may be slow."""
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def npy(data: bytes, label: str) -> Any:
    """The array of a file of `numpy.save`.

    Raises
    ------
    FormatError
        If it is none, is cut off, claims more than it holds, or holds Python objects.
    """
    file = io.BytesIO(data)
    try:
        _check_header(file, len(data), label, "an array of numbers as numpy.save writes it")
        file.seek(0)
        return np.load(file, allow_pickle=False)
    except FormatError:
        raise
    except Exception:  # whatever NumPy makes of broken bytes
        raise FormatError(f"{label}: expected an array of numbers as numpy.save writes it", label) from None


@contextmanager
def npz(data: bytes, label: str) -> Iterator[Any]:
    """The arrays of a file of `numpy.savez`, by name; what breaks later is the caller's.

    Raises
    ------
    FormatError
        If it is no archive, or claims more than `most_expanded` of its size.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise FormatError(f"{label}: expected an npz file, as scipy.sparse.save_npz writes it", label)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > _MEMBERS:
            raise FormatError(f"{label}: expected at most {_MEMBERS} arrays, found {len(members)}", label)
        claimed, most = sum(member.file_size for member in members), limits.most_expanded(len(data))
        if claimed > most:
            raise FormatError(
                f"{label}: {len(data)} bytes expand to {claimed}: expected at most {most} ({limits.RAISE})",
                label,
            )
        for member in members:
            # Of other packings, Python unpacks a whole piece at once, however large that gets.
            if member.compress_type not in _PACKED:
                raise FormatError(
                    f"{label}: {member.filename[:80]}: expected members that are stored or deflated", label
                )
            with archive.open(member) as file:
                _check_header(file, member.file_size, label)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        yield arrays


def _check_header(
    file: IO[bytes], size: int, label: str, what: str = "arrays of numbers, found Python objects"
) -> None:
    """Refuses an array that has other bytes than its header says."""
    version = np.lib.format.read_magic(file)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if reader is None:
        raise FormatError(f"{label}: expected an array of version 1 or 2 of NumPy's format", label)
    # The length of a header is its own claim too.
    at = file.tell()
    length = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if length > _LONGEST_HEADER:
        raise FormatError(f"{label}: an array's header of {length} bytes: expected less", label)
    file.seek(at)
    shape, _, dtype = reader(file, max_header_size=_LONGEST_HEADER)
    if dtype.hasobject:
        raise FormatError(f"{label}: expected {what}", label)
    held = size - file.tell()
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != held:
        sides = " x ".join(map(str, shape))[:80] or "one"
        raise FormatError(
            f"{label}: an array of {sides} numbers of {dtype.itemsize} bytes: expected as many bytes, "
            f"found {held}",
            label,
        )
