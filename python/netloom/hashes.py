"""How packets were sampled, as results and tables of packets say it: which hash, how many hops, what share.

A result names the hash by its function and constants, `packets.parquet` in its metadata as `--hash` takes
it, so that packets can be decoded alone. Which hashes there are: `crates/sampling/src/hash.rs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.errors import FormatError

if TYPE_CHECKING:
    import pyarrow as pa

_HOW = b"netloom.sampling"
"""The key of a table's metadata."""


def hash_of(sampling: Mapping[str, Any], label: str) -> str | None:
    """Returns the hash of a result's `sampling` as `--hash` takes it; None if packets carry whole links.

    Raises
    ------
    FormatError
        If there is no such hash.
    """
    from netloom import _core

    given = sampling.get("hash")
    if given is None:
        return None
    try:
        name = given.get("function", "gf")
        text = {
            "gf": f"{given.get('modulus')},{given.get('g')}",
            "siphash": f"siphash:{given.get('key')}",
        }.get(name, str(name))
        return _core.sampling_hash(text)
    except (AttributeError, ValueError) as error:
        raise FormatError(f"{label}: {error}", label) from None


def metadata(sampling: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Returns what `packets.parquet` says of itself, of a result's `sampling`."""
    how = {key: sampling[key] for key in ("method", "rate", "hop_bits")}
    return {_HOW: json.dumps({**how, "hash": hash_of(sampling, "sampling")}).encode()}


def how_kept(table: pa.Table, label: str) -> dict[str, Any]:
    """Returns what a table of packets says of itself: `rate`, `hop_bits` and `hash`; others' say nothing.

    Raises
    ------
    FormatError
        If it says what cannot be.
    """
    from netloom import _core

    said = (table.schema.metadata or {}).get(_HOW)
    if said is None:
        return {}
    try:
        how = reading.of_json(said)
        rate, hop_bits, function = float(how["rate"]), int(how["hop_bits"]), how["hash"]
        if not (0 < rate <= 1 and 1 <= hop_bits <= 5):
            raise ValueError(f"rate {rate}, hop_bits {hop_bits}: expected a share, and 1 to 5")
        function = None if function is None else _core.sampling_hash(str(function))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{label}: metadata {_HOW.decode()}: {error}", label) from None
    return {"rate": rate, "hop_bits": hop_bits, "hash": function}
