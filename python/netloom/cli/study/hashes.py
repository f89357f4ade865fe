"""`netloom study hashes`: figure 2.10 of Taffet's dissertation, bit by bit."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.options import Seeded
from netloom.cli.shared.run import Run
from netloom.studies import hashes as studied


def hashes(*hash: str, options: Seeded | None = None) -> int:
    """Figure 2.10 of the dissertation: a bit of a packet's id and a link's number, for links 1 to 1,024.

    A sampled packet keeps this bit of a link. The one of a field repeats along the links, a pseudo-random
    one does not; both are fair.

    Parameters
    ----------
    hash
        `gf` (netloom's), `md5`, or a field's modulus and constant, `0x8d,0xB5E4DC75`. [default: the
        dissertation's two]
    options
        Common options; `--seed` draws the packet's id, `-o` writes the result (.json, .csv, else text).
    """
    run = Run("hashes-study", options or Seeded(), product=False)
    packet = random.Random(run.seed).getrandbits(32)
    modulus = studied.modulus_of("gf")
    names = hash or (f"{modulus:#x},{studied.OF_THE_SOURCE:#x}", "md5")
    found = [studied.bits(name, packet) for name in names]
    rows = [
        {
            "hash": one.hash,
            "ones": sum(one.bits),
            "longest_run": one.longest_run,
            "like_first_row_percent": one.like_first_row_percent,
            "bits": "".join(map(str, one.bits)),
        }
        for one in found
    ]
    result = {"packet": packet, "links": studied.LINKS, "hashes": rows}
    return run.finish(result, lambda: _text(result), rows=rows)


def _text(result: Mapping[str, Any]) -> str:
    width, rows = studied.ROW, result["hashes"]
    lines = [
        "  ".join(row["bits"][at : at + width].translate({48: ".", 49: "#"}) for row in rows)
        for at in range(0, result["links"], width)
    ]
    head = "  ".join(f"{row['hash'][:width]:<{width}}" for row in rows).rstrip()
    cells = [
        [
            row["hash"],
            f"{row['ones']:,}",
            str(row["longest_run"]),
            f"{row['like_first_row_percent']:.1f} %",
        ]
        for row in rows
    ]
    named = ["hash", "ones", "longest run", "rows like the first or its inverse"]
    table = render.table(named, cells, right=range(1, 4))
    told = f"packet {result['packet']:#010x}, links 1 to {result['links']:,}, left to right, top to bottom"
    return "\n".join([told, "", head, *lines, "", table])
