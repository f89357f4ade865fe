"""Several addresses a host: the file that says which of them every pair uses (`--paths`).

A table looks at the destination's address only. With 2^N addresses a host the sender's choice among them is a
second table, beside the forwarding tables: a CSV `source,destination,path` of the pairs that do not use the
first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render


def row(result: Mapping[str, Any]) -> tuple[str, str]:
    """`addresses  2 a host (LMC 1); 312 pairs use another than the first`."""
    pairs = result["pairs_off_base"]
    use = "pair uses" if pairs == 1 else "pairs use"
    a_host = f"{2 ** result['lmc']} a host (LMC {result['lmc']})"
    return ("addresses", f"{a_host}; {render.count(pairs)} {use} another than the first")
