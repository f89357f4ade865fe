"""What a Parquet file claims of itself, read from its footer and the headers of its pages alone.

Arrow takes memory for what these say: a page of 60 KB can unpack to 2 GB, and a count of rows costs nothing
to write. So both are looked at first, in microseconds a page. Not by Arrow's own view of a footer: an odd one
ends the process there, by an exception that nobody catches.

Source: Apache Parquet, *parquet.thrift* (FileMetaData, PageHeader); Apache Thrift, *Compact protocol*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DELTA_BYTE_ARRAY = 7
"""Texts by what they share with the one before: a few bytes can stand for gigabytes."""
TEXTS = 6
"""The physical type BYTE_ARRAY."""
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, TEXTS: 12}
_MARK = b"PAR1"
_DEPTH = 12
_LONGEST_HEADER = 1 << 20
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DICTIONARY = 7
_PAGES = {5: 2, _DICTIONARY: 2, 8: 4}
"""Fields of a page's header that say of what kind it is; in these, the one of its encoding."""
_REPEATED = 2

_Fields = dict[tuple[int, int], Any]
"""What a struct holds, by field and type: what has another type than it should is not there."""


class Damaged(ValueError):
    """What is no footer, or no header of a page."""


@dataclass(frozen=True)
class Page:
    """What the header of a page says."""

    unpacked: int
    encoding: int
    is_dictionary: bool


@dataclass(frozen=True)
class Chunk:
    """A column of a row group, as the footer tells it."""

    path: str
    kind: int
    width: int
    """Bytes a value, in memory; of texts without their letters."""
    repeated: bool
    rows: int
    values: int
    start: int
    packed: int


@dataclass(frozen=True)
class Footer:
    """What a file says that it holds."""

    rows: int
    groups: int
    chunks: list[Chunk]


def footer(data: bytes) -> Footer:
    """The footer of a file.

    Raises
    ------
    Damaged
        If there is none.
    """
    size = int.from_bytes(data[-8:-4], "little")
    at = len(data) - 8 - size
    if not (data.startswith(_MARK) and data.endswith(_MARK) and at >= len(_MARK)):
        raise Damaged("no footer")
    fields = _Compact(data, at, len(data) - 8).struct(0)
    leaves = _leaves(_structs(fields, 2))
    groups = _structs(fields, 4)
    chunks = []
    for group in groups:
        columns = _structs(group, 1)
        if len(columns) != len(leaves):
            raise Damaged("a row group without all columns")
        rows = group.get((3, _I64), 0)
        chunks += [_chunk(column, leaf, rows) for column, leaf in zip(columns, leaves, strict=True)]
    return Footer(fields.get((3, _I64), 0), len(groups), chunks)


def pages(data: bytes, chunk: Chunk) -> Iterator[Page]:
    """The pages of a column's chunk.

    Raises
    ------
    Damaged
        If something else is there.
    """
    at, end = chunk.start, chunk.start + chunk.packed
    if not 0 <= at <= end <= len(data):
        raise Damaged("a column lies outside of the file")
    while at < end:
        header = _Compact(data, at, min(end, at + _LONGEST_HEADER))
        fields = header.struct(0)
        kind = next((number for number in _PAGES if (number, _STRUCT) in fields), None)
        unpacked, packed = fields.get((2, _I32), -1), fields.get((3, _I32), -1)
        if min(unpacked, packed) < 0:
            raise Damaged("a page without its sizes")
        at = header.at + packed
        if at > end:
            raise Damaged("a page that ends after its column")
        if kind is not None:
            encoding = fields[kind, _STRUCT].get((_PAGES[kind], _I32), 0)
            yield Page(unpacked, encoding, kind == _DICTIONARY)


@dataclass(frozen=True)
class _Leaf:
    """A column of the schema, which is what Arrow goes by."""

    path: str
    kind: int
    width: int
    repeated: bool


def _leaves(elements: list[_Fields]) -> list[_Leaf]:
    """The columns of a schema, which is a tree written as a list."""
    found: list[_Leaf] = []
    unfinished: list[tuple[int, bool, str]] = []
    """Of the elements above: how many children are still to come, whether any is repeated, and the name."""
    for at, element in enumerate(elements):
        above, path = False, ""
        if unfinished:
            left, above, path = unfinished.pop()
            if left > 1:
                unfinished.append((left - 1, above, path))
        repeated = above or element.get((3, _I32)) == _REPEATED
        if at:  # The first is the whole.
            name = element.get((4, _BINARY), b"").decode(errors="replace")
            path = f"{path}.{name}" if path else name
        children = element.get((5, _I32), 0)
        if children > 0:
            unfinished.append((children, repeated, path))
        elif (1, _I32) in element:
            kind = element[1, _I32]
            width = _WIDTHS.get(kind) or max(element.get((2, _I32), 1), 1)
            found.append(_Leaf(path, kind, width, repeated))
    return found


def _chunk(column: _Fields, leaf: _Leaf, rows: int) -> Chunk:
    about = column.get((3, _STRUCT), {})
    start, dictionary = about.get((9, _I64), 0), about.get((11, _I64), 0)
    values = about.get((5, _I64), 0)
    if min(rows, values) < 0:
        raise Damaged("fewer rows than none")
    return Chunk(
        path=leaf.path,
        kind=leaf.kind,
        width=leaf.width,
        repeated=leaf.repeated,
        rows=rows,
        values=values,
        start=min(start, dictionary) if dictionary > 0 else start,
        packed=about.get((7, _I64), 0),
    )


def _structs(fields: _Fields, number: int) -> list[_Fields]:
    found = fields.get((number, _LIST), [])
    if not all(isinstance(one, dict) for one in found):
        raise Damaged("a list of something else")
    return found  # type: ignore[no-any-return]


class _Compact:
    """Thrift's compact protocol."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self.at, self._end = data, at, end

    def struct(self, depth: int) -> _Fields:
        """The fields of a struct."""
        if depth > _DEPTH:
            raise Damaged("a header too deep")
        found: _Fields = {}
        number = 0
        while (head := self._byte()) != _STOP:
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else _signed(self._varint())
            found[number, kind] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return _signed(self._varint())
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        raise Damaged("a header with something else in it")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count, kind = head >> 4, head & 15
        count = self._varint() if count == 15 else count
        # Everything takes a byte at least, so this ends with the header. Truths are bytes here.
        kind = _BYTE if kind in (_TRUE, _FALSE) else kind
        if count > self._end - self.at:
            raise Damaged("a list that is cut off")
        return [self._value(kind, depth + 1) for _ in range(count)]

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

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > self._end:
            raise Damaged("a header that is cut off")
        return self._data[self.at - count : self.at]


def _signed(value: int) -> int:
    """Zigzag."""
    return (value >> 1) ^ -(value & 1)
