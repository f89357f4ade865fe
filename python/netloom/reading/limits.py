"""How much an input may hold: so much in all, and so many times its size once it is unpacked.

A file of 5 MB can unpack to gigabytes, and 50 KB can claim a terabyte. So what expands, or is sparse on disk,
may take `most_expanded` of its size, and any input `most_bytes`. What really repeats itself more than that is
read if `--max-input` or `NETLOOM_MAX_INPUT` allows it. The numbers, and what is allowed, are the core's
(`crates/formats/src/gzip.rs`).
"""

from __future__ import annotations

import os
import re

RAISE = "--max-input or NETLOOM_MAX_INPUT raises that"
"""How a bound is raised, for messages."""
VARIABLE = "NETLOOM_MAX_INPUT"
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def allow(size: int) -> None:
    """Allows every input to hold so many bytes, unpacked too, whatever its size.

    Parameters
    ----------
    size : int
        Bytes; 0 is as usual.

    Examples
    --------
    >>> allow(1 << 40)
    >>> most_expanded(1) == 1 << 40
    True
    >>> allow(0)
    """
    from netloom import _core

    _core.allow_input(size)


def parse_size(text: str) -> int:
    """The bytes of `8G`: a number, and K, M, G or T for 2^10, 2^20, 2^30 or 2^40 of them.

    Raises
    ------
    ValueError
        If it is something else, or 0.

    Examples
    --------
    >>> parse_size("8G") == 8 * 2**30
    True
    """
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text.strip().upper())
    size = int(found[1]) << _UNITS[found[2]] if found else 0
    if not 0 < size < 1 << 60:
        raise ValueError(f'expected bytes, such as 8G or 500M, found "{text[:40]}"')
    return size


def most_bytes() -> int:
    """The most that one input may hold, bytes: 4 GiB unless more or less is allowed."""
    from netloom import _core

    return _core.most_input()


def most_expanded(size: int) -> int:
    """The most that an input of `size` bytes may expand to, bytes.

    100 times its size, at least 256 MiB, up to 768 MiB; beyond, 20 times its size, up to `most_bytes`.
    """
    from netloom import _core

    return _core.most_input(size)


def of_environment() -> None:
    """Allows what `NETLOOM_MAX_INPUT` says.

    Raises
    ------
    ValueError
        If it is no size.
    """
    text = os.environ.get(VARIABLE)
    if text:
        try:
            allow(parse_size(text))
        except ValueError as error:
            raise ValueError(f"{VARIABLE}: {error}") from None
