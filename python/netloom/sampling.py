"""Paths sampled inside packets: what `netloom sample -o` wrote, read and checked.

`read` takes a routing of a run's folder, `of` a run in memory (`netloom._core.sample`); both give
[`Samples`], so that plots and diagnosis need not know where it came from. Estimates are of all delivered
packets, whatever share of them was sampled; below a few standard errors they say nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.errors import FabricError, FormatError
from netloom.hashes import hash_of
from netloom.manifest import content, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric, Sampled, Scenario

COLUMNS: dict[str, tuple[str, ...]] = {
    "contexts": ("context", "job", "job_name", "phase", "packets", "sampled", "bytes"),
    "samples": (
        *("window", "start_ps", "end_ps", "context", "link"),
        *("traffic", "traffic_error", "congested", "congested_error", "tested"),
    ),
    "received": ("window", "context", "source", "destination", "packets", "bytes"),
    "packets": ("time_ps", "context", "id", "source", "destination", "hops", "congested"),
    "truth": ("window", "start_ps", "end_ps", "context", "link", "traffic", "congested"),
    "ranks": ("job", "rank", "host", "end_ps"),
}
"""What each table must have."""
_WORDS = ("job_name", "phase")
_REAL = ("traffic", "traffic_error", "congested", "congested_error")


@dataclass(frozen=True)
class Job:
    """A job of the run.

    Attributes
    ----------
    name : str
        Its name.
    host_of_rank : array of int
        The host of every rank.
    """

    name: str
    host_of_rank: npt.NDArray[np.int64]

    @property
    def hosts(self) -> npt.NDArray[np.int64]:
        """Its hosts, in ascending order."""
        return np.unique(self.host_of_rank)


@dataclass(frozen=True)
class Totals:
    """Sums over windows and contexts, an entry a link of the fabric; zero where nothing was tested.

    Attributes
    ----------
    traffic, congested : array of float
        Packets that crossed it, and those that it was congested for.
    traffic_error, congested_error : array of float
        Their standard errors.
    tested : array of int
        Sampled packets that say something of it.
    """

    traffic: npt.NDArray[np.float64]
    traffic_error: npt.NDArray[np.float64]
    congested: npt.NDArray[np.float64]
    congested_error: npt.NDArray[np.float64]
    tested: npt.NDArray[np.int64]

    def fraction(self, deviations: float = 4.0) -> npt.NDArray[np.float64]:
        """Congested shares, 0 to 1; NaN for links whose traffic is below so many standard errors, or none."""
        known = (self.traffic > 0) & (self.traffic >= deviations * self.traffic_error)
        share = np.divide(self.congested, self.traffic, out=np.zeros_like(self.traffic), where=known)
        return np.where(known, np.clip(share, 0.0, 1.0), np.nan)


@dataclass(frozen=True)
class Samples:
    """One routing of a sampled run.

    Attributes
    ----------
    fabric : Fabric
        The one it ran on.
    routing : str
        The scenario's word.
    sampling : mapping
        How it was sampled: `method` ("whole", "one-bit"), `rate`, `seed`, `hash`, `hop_bits`, `marking`
        ("queue", "probabilistic", "ecn"), `ecn_bytes`, `every_us`, `contexts` ("job", "tag"), `astray`.
    result : mapping
        What the run has shown: the routing's entry of `result.runs` of `netloom simulate`.
    jobs : sequence of Job
        By number.
    contexts : pyarrow.Table
        A row a context, numbered from 0: `context`, `job` (number), `job_name`, `phase` ("all"; by tag: the
        tag's number, "collective", "others"), `packets` (received), `sampled`, `bytes` (on the wire).
    samples : pyarrow.Table
        A row a window, context and link that sampled packets may have crossed: `window`, `start_ps`,
        `end_ps`, `context`, `link`, `traffic`, `traffic_error`, `congested`, `congested_error` (packets, all
        and not the sampled ones alone), `tested` (sampled packets).
    received : pyarrow.Table
        A row a window, context and pair of hosts, exact: `window`, `context`, `source`, `destination`,
        `packets`, `bytes`.
    packets : pyarrow.Table or None
        A row a sampled packet, if they were kept: `time_ps`, `context`, `id`, `source`, `destination`,
        `hops`, `bit` or `link`, `congested`.
    truth : pyarrow.Table or None
        As `samples` without errors, exact, if it was counted.
    links : pyarrow.Table or None
        Counters of all traffic by link, as in a run's folder; None in memory without them.
    findings : sequence of str
        What is odd, in words: contexts without packets, samples that contradict counters.
    """

    fabric: Fabric
    routing: str
    sampling: Mapping[str, Any]
    result: Mapping[str, Any]
    jobs: tuple[Job, ...]
    contexts: pa.Table
    samples: pa.Table
    received: pa.Table
    packets: pa.Table | None = None
    truth: pa.Table | None = None
    links: pa.Table | None = None
    findings: tuple[str, ...] = field(default=())

    @property
    def end_ps(self) -> int:
        """Simulated time at the end."""
        return round(float(self.result["simulated_ms"]) * 1e9)

    @property
    def windows(self) -> list[tuple[int, int, int]]:
        """Number, start and end (ps) of the windows in which something was tested."""
        columns = [np.asarray(self.samples[name]) for name in ("window", "start_ps", "end_ps")]
        _, first = np.unique(columns[0], return_index=True)
        return [(int(columns[0][at]), int(columns[1][at]), int(columns[2][at])) for at in first]

    def total(
        self, contexts: Collection[int] | None = None, windows: Collection[int] | None = None
    ) -> Totals:
        """Sums over some contexts and windows, or all of them."""
        return total(self.samples, self.fabric.links, contexts, windows)

    @property
    def enough(self) -> bool:
        """Whether all contexts together say something of congestion: see `enough`."""
        return enough(self.total(), self.fabric, float(self.sampling["rate"]))

    def true_total(
        self, contexts: Collection[int] | None = None, windows: Collection[int] | None = None
    ) -> Totals | None:
        """The same of the truth, with errors of zero; None if it was not counted."""
        if self.truth is None:
            return None
        return total(self.truth, self.fabric.links, contexts, windows)

    def exchanged(self, contexts: Collection[int] | None = None) -> dict[tuple[int, int], tuple[int, int]]:
        """Packets and bytes by source and destination, in some contexts or all of them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = self.received
        if contexts is not None:
            rows = rows.filter(pc.is_in(rows["context"], pa.array(sorted(contexts), rows["context"].type)))
        sums = rows.group_by(["source", "destination"], use_threads=False).aggregate(
            [("packets", "sum"), ("bytes", "sum")]
        )
        columns = (sums[name].to_pylist() for name in ("source", "destination", "packets_sum", "bytes_sum"))
        source, destination, packets, size = columns
        return dict(zip(zip(source, destination, strict=True), zip(packets, size, strict=True), strict=True))


def total(
    table: pa.Table,
    links: int,
    contexts: Collection[int] | None = None,
    windows: Collection[int] | None = None,
) -> Totals:
    """Sums a table of samples, of a fabric with so many links, over some contexts and windows or all."""
    keep = np.ones(table.num_rows, bool)
    for name, chosen in (("context", contexts), ("window", windows)):
        if chosen is not None:
            keep &= np.isin(np.asarray(table[name]), np.asarray(sorted(chosen), np.int64))
    link = np.asarray(table["link"])[keep].astype(np.int64)

    def sums(name: str, power: int = 1) -> npt.NDArray[np.float64]:
        if name not in table.column_names:
            return np.zeros(links)
        values = np.asarray(table[name])[keep].astype(np.float64) ** power
        return np.bincount(link, weights=values, minlength=links).astype(np.float64)

    return Totals(
        sums("traffic"),
        np.sqrt(sums("traffic_error", 2)),
        sums("congested"),
        np.sqrt(sums("congested_error", 2)),
        sums("tested").astype(np.int64),
    )


def enough(found: Totals, fabric: Fabric, rate: float) -> bool:
    """Whether so many of a share `rate` of packets were sampled that one can say something of congestion.

    That is so if a link between switches would be sure (four standard errors) had all packets that say
    something of it crossed it.
    """
    ends = fabric.link_table()
    tested = found.tested > 0
    between = tested & (ends["source"] >= fabric.hosts) & (ends["target"] >= fabric.hosts)
    at_most = np.maximum(found.traffic, found.tested / rate)
    return bool((at_most >= 4 * found.traffic_error)[between if between.any() else tested].any())


# In memory


def of(sampled: Sampled, scenario: Scenario) -> Samples:
    """Returns what `netloom._core.sample` has sampled, without files.

    Parameters
    ----------
    sampled : Sampled
        What it returned.
    scenario : Scenario
        What it was given.
    """
    import pyarrow as pa

    from netloom import tables

    jobs = tuple(Job(job.name, np.asarray(job.host_of_rank, np.int64)) for job in scenario.jobs)
    found = {name: pa.table(dict(columns)) for name, columns in columns_of(sampled, scenario).items()}
    simulation = sampled.simulation
    links = tables.links_table(simulation, scenario.fabric)
    made = Samples(
        scenario.fabric,
        simulation.routing,
        sampled.settings(),
        simulation.result(),
        jobs,
        links=links,
        **found,
    )
    return _with_findings(made)


def columns_of(sampled: Sampled, scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Returns the tables of a sampled run by name, as columns."""
    names = [job.name for job in scenario.jobs]
    contexts = dict(sampled.contexts())
    named = {"job_name": [names[job] for job in contexts["job"]]}
    found: dict[str, dict[str, Any]] = {
        "contexts": {name: named[name] if name in named else contexts[name] for name in COLUMNS["contexts"]},
        "samples": dict(sampled.samples()),
        "received": dict(sampled.received()),
    }
    for name, more in (("packets", sampled.packets()), ("truth", sampled.truth())):
        if more is not None:
            found[name] = dict(more)
    return found


# From files


def read(folder: str | Path, routing: str | None = None, *, fabric: Fabric | None = None) -> Samples:
    """Reads a routing of a folder that `netloom sample -o` wrote.

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
        raise FormatError(f"{folder}: has no samples: expected a folder of netloom sample -o", str(folder))
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
            f"{place}: has no {missing[0]}.parquet: expected a folder of netloom sample -o", str(place)
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
    return _with_findings(made)


def parquet(data: bytes, name: str, label: str) -> pa.Table:
    """Reads a table of the kind `name` from Parquet.

    Raises
    ------
    FormatError
        If it is something else, is cut off, or lacks columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data), use_threads=False, pre_buffer=False)
        table.validate(full=True)
    except (pa.ArrowException, ValueError, OSError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise FormatError(f"{label}: expected a Parquet file, whole ({why})", label) from None
    missing = [column for column in COLUMNS.get(name, ()) if column not in table.column_names]
    if missing:
        raise FormatError(
            f"{label}: expected columns {', '.join(COLUMNS[name])}; {', '.join(missing)} missing", label
        )
    for column in table.column_names:
        if table[column].null_count:
            raise FormatError(
                f"{label}: column {column}: {table[column].null_count} nulls, expected none", label
            )
    return table


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


# What can be


def check_table(
    table: pa.Table, name: str, fabric: Fabric, sampling: Mapping[str, Any], contexts: int, label: str
) -> None:
    """Refuses a table with entries that cannot be.

    Raises
    ------
    FormatError
        With the first such row.
    """
    import pyarrow as pa

    most_hops = 1 << int(sampling["hop_bits"])
    below: dict[str, tuple[int, str]] = {
        "context": (contexts, f"contexts 0..{contexts - 1} of contexts.parquet"),
        "link": (fabric.links, f"links below {fabric.links}"),
        "source": (fabric.hosts, f"hosts below {fabric.hosts}"),
        "destination": (fabric.hosts, f"hosts below {fabric.hosts}"),
        "bit": (2, "0 or 1"),
        "hops": (most_hops + 1, f"1 to {most_hops} hops"),
    }
    if name == "packets":
        below["congested"] = (2, "0 or 1")
    for column in table.column_names:
        kind = table.schema.field(column).type
        if column in _WORDS:
            continue
        real = column in _REAL and name == "samples"
        if not (pa.types.is_floating(kind) if real else pa.types.is_integer(kind)):
            raise FormatError(f"{label}: column {column}: expected numbers, found {kind}", label)
        values = np.asarray(table[column])
        if real:
            error = column.endswith("_error")
            _first(~np.isfinite(values), values, column, "a finite number", label)
            _first(error & (values < 0), values, column, "an error of 0 or more", label)
            continue
        most, expected = below.get(column, (1 << 63, f"0..{(1 << 63) - 1}"))
        wrong = (values < 0) | (values >= most) | ((values == 0) if column == "hops" else False)
        _first(wrong, values, column, expected, label)
    if {"start_ps", "end_ps"} <= set(table.column_names):
        ends = np.asarray(table["end_ps"])
        _first(ends < np.asarray(table["start_ps"]), ends, "end_ps", "start_ps or later", label)
    if name == "contexts":
        order = np.asarray(table["context"])
        _first(order != np.arange(len(order)), order, "context", "contexts counted from 0", label)
        more = np.asarray(table["sampled"]) > np.asarray(table["packets"])
        _first(more, np.asarray(table["sampled"]), "sampled", "at most as many as were received", label)
    if name == "packets":
        lacks = "link" if sampling["method"] == "whole" else "bit"
        if lacks not in table.column_names:
            raise FormatError(
                f"{label}: expected a column {lacks}, as the method is {sampling['method']}", label
            )


def _first(wrong: Any, values: npt.NDArray[Any], column: str, expected: str, label: str) -> None:
    rows = np.flatnonzero(np.broadcast_to(wrong, values.shape))
    if len(rows):
        raise FormatError(f"{label}: row {rows[0]}: {column} {values[rows[0]]}: expected {expected}", label)


def _with_findings(samples: Samples) -> Samples:
    from dataclasses import replace

    return replace(samples, findings=(*_empty(samples), *_few(samples), *_contradictions(samples)))


def _few(samples: Samples) -> Iterator[str]:
    """All contexts together say nothing of any link."""
    sampled, packets = (int(np.asarray(samples.contexts[name]).sum()) for name in ("sampled", "packets"))
    if sampled > 0 and not samples.enough:
        yield (
            f"{sampled:,} of {packets:,} packets were sampled: too few to tell which links are congested "
            f"(a greater --rate{'' if samples.sampling['method'] == 'whole' else ', or --method whole'})"
        )


def _empty(samples: Samples) -> Iterator[str]:
    """Contexts of which nothing is known."""
    seen = set()
    for row in samples.contexts.to_pylist():
        seen.add(row["job"])
        name = f"context {row['context']} ({row['job_name']}, {row['phase']})"
        if row["packets"] == 0:
            yield f"{name}: no packets were received"
        elif row["sampled"] == 0:
            yield f"{name}: none of its {row['packets']:,} packets was sampled"
    for number, job in enumerate(samples.jobs):
        if number not in seen:
            yield f"job {job.name}: no packets were received, so it has no context"


def _contradictions(samples: Samples) -> Iterator[str]:
    """Where samples say more than counters allow: those count everything that was sent."""
    if samples.links is None:
        return
    counted = np.asarray(samples.links["xmit_packets"]).astype(np.float64)
    if len(counted) != samples.fabric.links:
        yield f"counters of {len(counted):,} links, of a fabric with {samples.fabric.links:,}"
        return
    received = np.bincount(
        np.asarray(samples.received["source"]).astype(np.int64),
        weights=np.asarray(samples.received["packets"]).astype(np.float64),
        minlength=samples.fabric.hosts,
    )
    # The first links are the hosts' own, in their order.
    for host in np.flatnonzero(received > counted[: samples.fabric.hosts])[:3]:
        yield (
            f"host {samples.fabric.host_names[host]}: {int(received[host]):,} packets of it were received, "
            f"its counter says {int(counted[host]):,} were sent"
        )
    total = samples.total()
    over = total.traffic - counted > 6 * total.traffic_error + 1e-9 * counted + 0.5
    for link in np.flatnonzero(over)[:3]:
        yield (
            f"link {link}: {total.traffic[link]:,.0f} ± {total.traffic_error[link]:,.0f} packets by samples, "
            f"{int(counted[link]):,} by its counter"
        )
