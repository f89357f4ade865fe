"""Everything that is read, bounded: plain files and pipes, gzip, NumPy's arrays, Parquet.

Idea: no input decides how much memory is taken. What it claims of itself (sizes, counts, lengths) is looked
at first, and must be within bounds that its own size gives (`limits`). No other module opens for reading what
a user names or a folder holds, nor unpacks anything; `xtask tidy` has the list of exceptions. What the core
reads by itself is bounded in `crates/python/src/io.rs` by the same numbers.
"""

from __future__ import annotations

from netloom.reading.documents import of_json
from netloom.reading.limits import RAISE, allow, most_bytes, most_expanded, parse_size
from netloom.reading.plain import gunzip, head, of_descriptor, refuse_links_of_others, stream, whole

__all__ = [
    "RAISE",
    "allow",
    "gunzip",
    "head",
    "most_bytes",
    "most_expanded",
    "of_descriptor",
    "of_json",
    "parse_size",
    "refuse_links_of_others",
    "stream",
    "whole",
]
