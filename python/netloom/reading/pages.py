"""What the pages of a Parquet file claim, read from their headers alone.

Arrow takes memory for what a file's footer and its pages say: a page of 60 KB can unpack to 2 GB, and a count
of rows in the footer costs nothing to write. Both are looked at here, in a few microseconds a page.

Source: Apache Parquet, *parquet.thrift* (PageHeader); Apache Thrift, *Compact protocol encoding*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DELTA_BYTE_ARRAY = 7
"""Texts by what they share with the one before: a few bytes can stand for gigabytes."""
_DEPTH = 8
_LONGEST_HEADER = 1 << 20
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DICTIONARY = 7
_PAGES = {5: 2, _DICTIONARY: 2, 8: 4}
"""Fields of a page's header that say of what kind it is; in these, the one of its encoding."""


class Damaged(ValueError):
    """What is no header of a page."""


@dataclass(frozen=True)
class Page:
    """What the header of a page says."""

    unpacked: int
    packed: int
    encoding: int
    is_dictionary: bool


def pages(data: bytes, start: int, size: int) -> Iterator[Page]:
    """The pages of a column's chunk.

    Parameters
    ----------
    data : bytes
        The file.
    start, size : int
        Where the chunk is.

    Raises
    ------
    Damaged
        If something else is there.
    """
    at, end = start, start + size
    if not 0 <= start <= end <= len(data):
        raise Damaged("a column lies outside of the file")
    while at < end:
        header = _Compact(data, at, min(end, at + _LONGEST_HEADER))
        fields = header.struct(0)
        kind = next((number for number in _PAGES if isinstance(fields.get(number), dict)), None)
        unpacked, packed = fields.get(2), fields.get(3)
        if not (isinstance(unpacked, int) and isinstance(packed, int) and unpacked >= 0 and packed >= 0):
            raise Damaged("a page without its sizes")
        at = header.at + packed
        if at > end:
            raise Damaged("a page that ends after its column")
        if kind is not None:
            yield Page(unpacked, packed, fields[kind].get(_PAGES[kind], 0), kind == _DICTIONARY)


class _Compact:
    """Thrift's compact protocol: whole numbers and structs of them; the rest is skipped."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self.at, self._end = data, at, end

    def struct(self, depth: int) -> dict[int, Any]:
        """Whole numbers, and structs of such, by field."""
        if depth > _DEPTH:
            raise Damaged("a header too deep")
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else _signed(self._varint())
            value = self._value(kind, depth)
            if isinstance(value, (int, dict)):
                found[number] = value
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return _signed(self._varint())
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        # A page's header has no lists.
        raise Damaged("a header with something else in it")

    def _byte(self) -> int:
        if self.at >= self._end:
            raise Damaged("a header that is cut off")
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise Damaged("a number that is too long")

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > self._end:
            raise Damaged("a header that is cut off")


def _signed(value: int) -> int:
    """Zigzag."""
    return (value >> 1) ^ -(value & 1)
