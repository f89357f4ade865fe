"""Counters from a file, a folder of sysfs trees, an exporter; readings that are no interval."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom.findings import Finding, finding
from netloom.session.session import Session
from netloom.session.sources import is_stdin
from netloom.shown import units

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric

_REVERSED = 0.9
"""The part of the counters that changed that have fallen where readings look reversed, at least."""


def read(session: Session, source: str, fabric: Fabric, *, role: str = "counters") -> Counters:
    """Reads counters from a file, a folder (sysfs trees, textfiles), an exporter's URL or standard input."""
    return parsed(session, source_of(session, source, role=role), source, fabric)


Source: TypeAlias = "bytes | list[tuple[str, bytes]]"
"""What counters are read from: a file's bytes, or the files of sysfs trees."""


def source_of(session: Session, source: str, *, role: str = "counters") -> Source:
    """What a file, a folder (sysfs trees, textfiles), an exporter's URL or standard input holds."""
    from netloom import sysfs
    from netloom.live import exporters

    if exporters.is_url(source) or exporters.is_textfiles(source):
        with session.timed("fetch"):
            samples = exporters.fetch(source) if exporters.is_url(source) else exporters.read_folder(source)
        session.note_input(role, source, hashlib.sha256(samples).hexdigest())
        return samples
    with session.timed("read"):
        if not is_stdin(source) and os.path.isdir(source):
            files = sysfs.read_tree(source)
            session.note_input(role, source, sysfs.digest(files))
            return files
        return session.read(role, source)


def parsed(session: Session, held: Source, source: str, fabric: Fabric) -> Counters:
    """The counters of what `source_of` got."""
    from netloom import _core

    with session.timed("read"):
        if isinstance(held, list):
            return _core.Counters.from_sysfs(held, fabric, label=source)
        return _core.Counters.parse(held, fabric, label=source)


def summary(found: Counters, *, busiest: int = 10) -> dict[str, Any]:
    """The figures that results tell of counters."""
    return {**found.summary(busiest=busiest), "notes": found.notes}


def odd_readings(first: Counters, second: Counters, between: Counters, before: str) -> list[Finding]:
    """The finding of two readings that are no interval: in the wrong order, or the same one twice.

    `between` is what was counted from one to the other: where data are not counted, or errors came, readings
    with equal data may be two.
    """
    fallen, changed = second.fallen_since(first)
    told = between.summary(busiest=0)
    if changed == 0 and told["links_unknown"] < told["links"] and not between.port_errors:
        text = (
            f"no counter of data or packets changed since {before}: the same reading twice, or nobody has "
            "read the ports anew in between"
        )
        return [finding("stale", text)]
    return reversed_readings(fallen, changed, before)


def reversed_readings(fallen: int, changed: int, before: str) -> list[Finding]:
    """The finding of readings of which nearly all counters fell; one port that was set back is none."""
    if fallen <= _REVERSED * changed:
        return []
    what = (
        f"{units.count(fallen)} of the {units.count(changed)} counters that changed have fallen: {before} "
        f"looks like the later reading (or all were set back in between): expected the earlier one first"
    )
    return [finding("reversed", what)]
