"""Bits of a packet's id and a link's number, one link after the other: figure 2.10 of Taffet's dissertation.

`gf` is the leading bit of `id d g` in GF(2^32) (sec. 2.5.2), `md5` the last one of MD5 over both, four bytes
each with the highest first, as `crates/sampling` has them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from netloom import _core
from netloom.errors import ArgumentError

LINKS = 1024
ROW = 32
OF_THE_SOURCE = 0xB5E4DC75
"""The dissertation's constant g; netloom's own is another one of it."""
_SIZE = 1 << 32


@dataclass(frozen=True)
class Bits:
    """A hash of links 1 to `LINKS`, under one id.

    Attributes
    ----------
    hash : str
        `md5`, or `MODULUS,G`.
    bits : tuple of int
        Link by link.
    """

    hash: str
    bits: tuple[int, ...]

    @property
    def longest_run(self) -> int:
        """The most equal bits in a row."""
        longest = run = 1
        for one, two in zip(self.bits, self.bits[1:], strict=False):
            run = run + 1 if one == two else 1
            longest = max(longest, run)
        return longest

    @property
    def like_first_row_percent(self) -> float:
        """How alike rows of 32 links are to the first or its inverse: 100 if they repeat, by chance 57."""
        rows = [self.bits[at : at + ROW] for at in range(0, LINKS, ROW)]
        same = [sum(one == two for one, two in zip(rows[0], row, strict=True)) for row in rows[1:]]
        return 100 * sum(max(count, ROW - count) for count in same) / (ROW * len(same))


def bits(name: str, packet: int) -> Bits:
    """The bits of a hash under a packet's id.

    Parameters
    ----------
    name : str
        `gf`, `md5`, or `MODULUS,G` of a field.
    packet : int
        The id, 32 bits.

    Raises
    ------
    ArgumentError
        If there is no such hash, or it is one that needs a key.

    Examples
    --------
    >>> sum(bits("md5", 1).bits) / 1024
    0.4...
    """
    full = _core.sampling_hash(name)
    if full == "md5":
        return Bits(full, tuple(_md5(packet, link) for link in range(1, LINKS + 1)))
    if full.startswith("siphash"):
        raise ArgumentError(f"hash {name}: expected gf, md5 or MODULUS,G")
    modulus, g = (int(word, 0) for word in full.split(","))
    of = product(packet, g, modulus)
    return Bits(full, tuple(product(of, link, modulus) >> 31 for link in range(1, LINKS + 1)))


def modulus_of(name: str) -> int:
    """The modulus of a field's hash."""
    return int(_core.sampling_hash(name).split(",")[0], 0)


def product(one: int, two: int, modulus: int) -> int:
    """The product in GF(2^32) with x^32 + `modulus`."""
    found = 0
    for at in range(31, -1, -1):
        found <<= 1
        if found & _SIZE:
            found ^= _SIZE | modulus
        if two >> at & 1:
            found ^= one
    return found


def _md5(packet: int, link: int) -> int:
    text = packet.to_bytes(4, "big") + link.to_bytes(4, "big")
    return hashlib.md5(text, usedforsecurity=False).digest()[-1] & 1
