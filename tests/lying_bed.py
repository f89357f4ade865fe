"""Files that claim more than they hold, or unpack to far more than they are."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

ZEROS = 3 << 30 if "NETLOOM_TRIALS" in os.environ else 400 << 20
"""What a bomb unpacks to: more than a small file may, in a moment or in a campaign."""


def bomb(piece: bytes, head: bytes = b"") -> bytes:
    """Gzip of a piece again and again, a member each."""
    whole = piece * ((16 << 20) // len(piece))
    return gzip.compress(head, 9) + gzip.compress(whole, 9) * (ZEROS // len(whole) + 1)


def bomb_of_one_member() -> bytes:
    """Gzip of zeros, as gzip packs them."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    out = [packer.compress(bytes(1 << 24)) for _ in range(ZEROS >> 24)]
    return b"".join([*out, packer.flush()])


def member(shape: object, dtype: str = "<f8", data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """A file of NumPy whose header says what it likes."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    width = 2 if version == (1, 0) else 4
    text = text.ljust(118) + b"\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(width, "little") + text + data


def saved(array: object) -> bytes:
    """A file of NumPy that is right."""
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def archive(members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An npz of any members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return out.getvalue()


def sparse(kind: str = "csr", **changed: bytes) -> dict[str, bytes]:
    """The members of a sparse matrix of two ends; some are something else."""
    arrays = {
        "format": np.array(kind),
        "shape": np.array([2, 2]),
        "data": np.array([1.0]),
        "indptr": np.array([0, 1, 1]),
        "indices": np.array([1]),
        "row": np.array([0]),
        "col": np.array([1]),
    }
    return {name: saved(array) for name, array in arrays.items()} | changed


def large_member() -> bytes:
    """An npz whose data are as many zeros as they claim."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in sparse().items():
            if name != "data":
                file.writestr(f"{name}.npy", data)
        with file.open("data.npy", "w", force_zip64=True) as part:
            part.write(member((ZEROS // 8,)))
            for _ in range(ZEROS >> 24):
                part.write(bytes(1 << 24))
    return out.getvalue()


def many_entries() -> bytes:
    """An npz of 80 million entries of three bytes each, which are far more once they are traffic."""
    count = 80_000_000
    byte = member((count,), "|i1", bytes(count))
    return archive(sparse("coo", data=byte, row=byte, col=byte))


def sparse_file(path: Path, head: bytes) -> None:
    """A file that is one large hole after its beginning."""
    with open(path, "wb") as file:
        file.write(head)
        os.truncate(file.fileno(), ZEROS)


def table(columns: dict[str, object], **options: object) -> bytes:
    """A Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def one_text(length: int, rows: int) -> object:
    """A column of one long text, which is there once."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))


def _zeros(rows: int, **options: object) -> bytes:
    """Traffic of one pair, again and again."""
    zero = np.zeros(rows, np.int64)
    return table({"source": zero, "destination": zero, "bytes": np.zeros(rows)}, **options)


def _page_bomb() -> bytes:
    """Plain pages of zeros, as large as pages get."""
    rows = ZEROS // 16
    return table(
        {"bytes": np.zeros(rows)},
        compression="zstd",
        use_dictionary=False,
        data_page_size=2_000_000_000,
        row_group_size=rows,
        write_statistics=False,
    )


def _longer_footer() -> bytes:
    """A footer of 10^6 row groups."""
    return table({"source": np.arange(30_000)}, row_group_size=1)


def _nulls(rows: int) -> object:
    import pyarrow as pa

    return pa.nulls(rows, pa.float64())


MATRIX = b"%%MatrixMarket matrix coordinate real general\n"

LYING: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip-zeros": ("mtx", bomb_of_one_member),
    "gzip-lines": ("mtx", lambda: bomb(b"1 1 1\n", MATRIX + b"2 2 500000000\n")),
    "gzip-comments": ("mtx", lambda: bomb(b"% x\n", MATRIX)),
    "gzip-csv": ("csv", lambda: bomb(b"0,1,1\n", b"source,destination,bytes\n")),
    "mtx-rows": ("mtx", lambda: MATRIX + b"2147483647 2147483647 1\n1 1 1\n"),
    "mtx-entries": ("mtx", lambda: MATRIX + b"2 2 9223372036854775807\n1 1 1\n"),
    "csv-ends": ("csv", lambda: b"source,destination,bytes\n2147483646,0,1\n"),
    "npy-elements": ("npy", lambda: member((10**6, 10**6))),
    "npy-huge": ("npy", lambda: member((10**12, 10**12))),
    "npy-negative": ("npy", lambda: member((-1, -1))),
    "npy-itemsize": ("npy", lambda: member((1, 1), "|V2147483647")),
    "npy-text": ("npy", lambda: member((1000, 1000), "<U1000000")),
    "npy-nested": ("npy", lambda: member((1, 1), "(1000,1000,1000)f8")),
    "npy-header": ("npy", lambda: b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"{" * 1000),
    "npy-deep": ("npy", lambda: member("(" * 5000 + ")" * 5000)),
    "npy-empty": ("npy", lambda: member((0, 10**18))),
    "npz-zeros": ("npz", large_member),
    "npz-entries": ("npz", many_entries),
    "npz-claims": ("npz", lambda: archive(sparse(data=member((10**12,))))),
    "npz-shape": ("npz", lambda: archive(sparse("coo", shape=saved([2**31 - 1, 2**31 - 1])))),
    "npz-bzip2": ("npz", lambda: archive(sparse(data=member((1 << 27,), "|i1", bytes(1 << 27))), 12)),
    "npz-lzma": ("npz", lambda: archive(sparse(data=member((1 << 27,), "|i1", bytes(1 << 27))), 14)),
    "npz-members": ("npz", lambda: archive({f"a{i}": saved(i) for i in range(5000)})),
    "npz-hash": ("npz", lambda: archive(sparse(hosts_hash=saved("x" * 2_000_000)))),
    "parquet-zeros": ("parquet", lambda: _zeros(ZEROS // 24, compression="zstd")),
    "parquet-page": ("parquet", _page_bomb),
    "parquet-groups": ("parquet", _longer_footer),
    "parquet-text": ("parquet", lambda: table({"source": one_text(100_000, 10**6)})),
    "parquet-texts": (
        "parquet",
        lambda: table({"source": [["x" * 10_000] * 100] * 1000}, compression="zstd"),
    ),
    "parquet-delta": (
        "parquet",
        lambda: table(
            {"source": ["x" * 20_000] * 10_000},
            use_dictionary=False,
            column_encoding={"source": "DELTA_BYTE_ARRAY"},
            compression="zstd",
        ),
    ),
    "parquet-nulls": (
        "parquet",
        lambda: table({"source": _nulls(ZEROS // 8)}, compression="zstd"),
    ),
}
"""Traffic that lies: its ending, and what makes it."""
