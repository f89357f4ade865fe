"""Tables of Parquet files, whose claims are looked at before Arrow takes memory for them.

Rows and values of the footer, sizes of the pages, and lengths of texts that a dictionary repeats must be
within `most_expanded` of the file's size.

Invariant: read in memory and on this thread. A pool's thread that still reads when the process ends aborts
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netloom import extras
from netloom.errors import FormatError
from netloom.reading import limits
from netloom.reading.pages import DELTA_BYTE_ARRAY, TEXTS, Chunk, Damaged, Footer, footer, pages

if TYPE_CHECKING:
    import pyarrow as pa


def table(
    data: bytes, label: str, what: str = "a Parquet file", columns: Sequence[str] | None = None
) -> pa.Table:
    """Reads a table.

    Parameters
    ----------
    data : bytes
        The file.
    label : str
        Its name, for messages.
    what : str
        What was expected, for messages.
    columns : sequence of str, optional
        Only these, as far as they are there.

    Returns
    -------
    pyarrow.Table
        Texts are plain arrays, whatever the file has.

    Raises
    ------
    FormatError
        If it is no Parquet file, is cut off, or claims more than `most_expanded` of its size.
    """
    extras.need("arrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        said, texts = _check(data, label)
        # Texts as dictionaries first: their lengths can be looked at.
        file = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False, read_dictionary=texts)
        if (file.metadata.num_rows, file.metadata.num_row_groups) != (said.rows, said.groups):
            raise Damaged("a footer that can be read in two ways")
        names = file.schema_arrow.names
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise Damaged(f"two columns have one name ({twice[:80]})")
        wanted = None if columns is None else [name for name in names if name in columns]
        found = file.read(columns=wanted, use_threads=False)
        return _plain(found, texts, len(data), label)
    except FormatError:
        raise
    except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise FormatError(f"{label}: expected {what} ({why})", label) from None
    except MemoryError:
        raise FormatError(
            f"{label}: expected {what}, found one that does not fit into memory", label
        ) from None


def metadata(data: bytes) -> dict[bytes, bytes]:
    """The key-value metadata of a file; empty if this is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return dict(pq.read_schema(pa.BufferReader(data)).metadata or {})
    except (pa.ArrowException, ValueError, OSError):
        return {}


def _check(data: bytes, label: str) -> tuple[Footer, list[str]]:
    """Refuses what claims too much; returns the footer, and the columns of texts."""
    said = footer(data)
    claimed, most = 0, limits.most_expanded(len(data))
    texts: set[str] = set()
    for chunk in said.chunks:
        if chunk.rows == chunk.values == 0:
            continue  # Nothing is read, and Arrow writes no pages.
        claimed += max(chunk.rows, chunk.values) * chunk.width
        if claimed > most:
            break
        unpacked, dictionary = _of_pages(data, chunk)
        claimed += unpacked
        if chunk.kind != TEXTS:
            continue
        if chunk.repeated:
            # Of lists no lengths are looked at later: any text may be as long as all of the dictionary.
            claimed += dictionary * chunk.values
        else:
            texts.add(chunk.path)
    if claimed > most:
        raise FormatError(
            f"{label}: {len(data)} bytes claim to hold {claimed} or more: expected at most {most} "
            f"({limits.RAISE})",
            label,
        )
    return said, sorted(texts)


def _of_pages(data: bytes, chunk: Chunk) -> tuple[int, int]:
    """How much the pages of a column unpack to; and of these, dictionaries."""
    unpacked = dictionary = 0
    for page in pages(data, chunk):
        if page.encoding == DELTA_BYTE_ARRAY:
            raise Damaged("texts in the encoding DELTA_BYTE_ARRAY are not read")
        unpacked += page.unpacked
        dictionary += page.unpacked if page.is_dictionary else 0
    return unpacked, dictionary


def _plain(found: pa.Table, texts: Sequence[str], size: int, label: str) -> pa.Table:
    """The same table without dictionaries, if it fits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    most = limits.most_expanded(size)
    for at, field in enumerate(found.schema):
        column = found.column(at)
        if not pa.types.is_dictionary(field.type):
            continue
        kind = field.type.value_type
        if pa.types.is_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
            for piece in column.chunks:
                lengths = pc.cast(pc.binary_length(piece.dictionary), pa.int64())
                most -= pc.sum(pc.take(lengths, piece.indices)).as_py() or 0
            if most < 0:
                raise FormatError(
                    f"{label}: column {field.name[:80]}: {size} bytes expand beyond "
                    f"{limits.most_expanded(size)}: expected less ({limits.RAISE})",
                    label,
                )
        found = found.set_column(at, field.name, column.cast(kind))
    return found
