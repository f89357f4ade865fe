"""The estimated error of inferred traffic: `netloom infer` writes it, `netloom optimize` reads it.

A comment in .mtx and .csv, a remark in .npz and .parquet, says how far leaf sums are believed to be off.
New routes replace today's only where they gain more than that error. So routes of a guess are hardly ever
worse than today's by more than its error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.findings import finding
from netloom.session.sources import ending as ending_of
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Routes, Traffic
    from netloom.session.session import Session

SURE_PERCENT = 1.5
"""Leaf sums that are off by no more than this are known: as `infer` calls them identified."""
_HEAD = 4096
"""Bytes of a file in which the comment stands."""
_MARK = re.compile(rb"^[%#] inferred: ([a-z ]+), leaf sums off by ([0-9.]+) %$", re.MULTILINE)
"""The comment. A remark is the same without the sign."""


@dataclass(frozen=True)
class Told:
    """What is believed of an inferred traffic."""

    verdict: str
    leaf_error_percent: float

    @property
    def is_sure(self) -> bool:
        """Whether it may be taken for the truth."""
        return self.verdict == "identified" and self.leaf_error_percent <= SURE_PERCENT

    @property
    def remark(self) -> str:
        """As files of traffic say it."""
        return f"inferred: {self.verdict}, leaf sums off by {self.leaf_error_percent:.4f} %"

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Told:
        """From a result of `infer`."""
        return cls(summary["verdict"], summary["estimated_leaf_error_percent"])


def marked(data: bytes, known: Told) -> bytes:
    """Traffic's text with the comment after its first line."""
    first, rest = data.split(b"\n", 1)
    sign = "%" if first.startswith(b"%") else "#"
    return first + f"\n{sign} {known.remark}\n".encode() + rest


def told(source: str) -> Told | None:
    """What a file of traffic says of itself, if it is an answer of `infer`."""
    if is_stdin(source):
        return None
    ending = ending_of(Path(source))
    if ending in (".npz", ".parquet"):
        from netloom import interop

        remark = interop.traffic_remark(source, "npz" if ending == ".npz" else "parquet")
        found = None if remark is None else _MARK.search(f"# {remark}".encode())
        return None if found is None else Told(found[1].decode(), float(found[2]))
    if ending not in (".mtx", ".csv"):
        return None
    try:
        head = reading.head(source, _HEAD)
    except OSError:
        return None  # Reading it says what is wrong.
    found = _MARK.search(head)
    return None if found is None else Told(found[1].decode(), float(found[2]))


def kept(
    session: Session, fabric: Fabric, traffic: Traffic, known: Told, today: Routes | str, better: LinkLoads
) -> tuple[Routes, LinkLoads] | None:
    """Today's routes and their loads, if better ones gain no more than the traffic may be off; told."""
    from netloom import _core

    name = "those given"
    if isinstance(today, str):
        name = "ftree" if fabric.regular else "updn"
        today = _core.route(name, fabric)
    loads = _core.loads(fabric, today, traffic, bounds=better)
    gain = 100.0 * (1.0 - better.max / loads.max) if loads.max > 0 else 0.0
    said = f"the traffic is inferred ({known.verdict}) and may be {known.leaf_error_percent:.3g} % off"
    if gain > known.leaf_error_percent:
        _say(session, "inferred", f"{said}: the largest load falls by {gain:.3g} % if it is right")
        return None
    text = (
        f"{said}, and other routes would gain {gain:.3g} %: these are today's ({name}). "
        "For routes that hold whoever talks to whom: netloom infer --write-hose, netloom optimize --hose"
    )
    _say(session, "routes-of-a-guess", text)
    return today, loads


def _say(session: Session, kind: str, text: str) -> None:
    session.findings.append(finding(kind, text))
    session.note(text)
