"""A sampled run's folder, as samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import FabricError, FormatError
from netloom.hashes import hash_of
from netloom.manifest import content, read_manifest
from netloom.sampling.columns import COLUMNS, check_table, parquet
from netloom.sampling.findings import with_findings
from netloom.sampling.samples import Job, Samples

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric


def read(folder: str | Path, routing: str | None = None, *, fabric: Fabric | None = None) -> Samples:
    """Reads a routing of a folder that `netloom sample run -o` wrote.

    Parameters
    ----------
    folder : str or Path
        The run's.
    routing : str, optional
        The scenario's word; the first that was sampled if not given.
    fabric : Fabric, optional
        The one it ran on; made or read anew, as the scenario names it, if not given.

    Raises
    ------
    FormatError
        If the folder is not a sampled run, is damaged, or holds what cannot be.
    FabricError
        If the samples are another fabric's, or the fabric's file is not there any more.
    OSError
        If there is no such folder.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    entries = [entry for entry in manifest["runs"] if entry["result"].get("sampling") is not None]
    if not entries:
        raise FormatError(
            f"{folder}: has no samples: expected a folder of netloom sample run -o", str(folder)
        )
    names = [str(entry["routing"]) for entry in entries]
    if routing is not None and routing not in names:
        raise FormatError(f"{folder}: has no samples of {routing}: expected {', '.join(names)}", str(folder))
    entry = entries[0 if routing is None else names.index(routing)]
    place = folder / entry["folder"]
    found = {
        name: parquet(content(folder, entry, f"{name}.parquet"), name, str(place / f"{name}.parquet"))
        for name in ("links", *COLUMNS)
        if f"{name}.parquet" in entry["files"]
    }
    missing = [name for name in ("contexts", "samples", "received", "links", "ranks") if name not in found]
    if missing:
        raise FormatError(
            f"{place}: has no {missing[0]}.parquet: expected a folder of netloom sample run -o", str(place)
        )
    links, ranks = found.pop("links"), found.pop("ranks")
    sampling = dict(entry["result"]["sampling"])
    hash_of(sampling, str(folder))
    fabric = _fabric(folder, manifest, sampling, links, fabric)
    names_of = {int(job): str(name) for job, name in _pairs(found["contexts"], "job", "job_name")}
    listed = [str(job["name"]) for job in entry["result"]["jobs"]]
    job_of, host_of = (np.asarray(ranks[name]).astype(np.int64) for name in ("job", "host"))
    jobs = tuple(Job(name, host_of[job_of == number]) for number, name in enumerate(listed))
    for number, name in names_of.items():
        if number >= len(listed) or listed[number] != name:
            raise FormatError(f"{place}/contexts.parquet: job {number}, {name}: the run has no such job")
    made = Samples(fabric, entry["routing"], sampling, entry["result"], jobs, links=links, **found)
    if links.num_rows != fabric.links:
        raise FormatError(
            f"{place}/links.parquet: {links.num_rows:,} rows: expected {fabric.links:,}, one for every link",
            str(place),
        )
    for name, table in found.items():
        check_table(table, name, fabric, sampling, made.contexts.num_rows, str(place / f"{name}.parquet"))
    return with_findings(made)


def _fabric(
    folder: Path,
    manifest: Mapping[str, Any],
    sampling: Mapping[str, Any],
    links: pa.Table,
    given: Fabric | None,
) -> Fabric:
    """The fabric that links are numbered by."""
    from netloom import _core

    metadata = links.schema.metadata or {}
    wanted = metadata.get(b"netloom.cabling_hash", b"").decode()
    source = str(sampling.get("fabric", ""))
    if given is None:
        if _core.is_generator(source):
            given = _core.Fabric.generate(source)
        else:
            files = [entry["source"] for entry in manifest["inputs"] if entry["role"] == "fabric"]
            if not files or not Path(files[0]).is_file():
                raise FabricError(
                    f"{folder}: its fabric is {files[0] if files else source}, which is not there: give it"
                )
            given = _core.Fabric.read(files[0])
    if given.cabling_hash != wanted:
        raise FabricError(
            f"{folder}: samples of another fabric: {manifest['hosts']} hosts and {manifest['links']} links "
            f"(cabling {wanted[:12] or 'unknown'}), found {given.hosts} and {given.links} "
            f"({given.cabling_hash[:12]})"
        )
    return given


def _pairs(table: pa.Table, one: str, other: str) -> Iterator[tuple[Any, Any]]:
    return zip(table[one].to_pylist(), table[other].to_pylist(), strict=True)
