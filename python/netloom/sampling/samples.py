"""The tables of a sampled run, and sums over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.findings import Finding

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric


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

    def fraction_error(self) -> npt.NDArray[np.float64]:
        """Standard errors of the congested shares; NaN for links without traffic.

        Congested packets count in both estimates, the others in the traffic alone, and packets are sampled by
        themselves: to first order `(1 - F)² Var[congested] + F² (Var[traffic] - Var[congested])` over the
        traffic squared, which for whole links on ways of one length is the dissertation's
        `(l - 1) M²/N² (1/M - 1/N)` (sec. 2.3.2). It holds where many packets were sampled of the link.
        """
        there = self.traffic > 0
        traffic = np.where(there, self.traffic, 1.0)
        share = np.clip(self.congested / traffic, 0.0, 1.0)
        of_both = self.congested_error**2
        of_rest = np.maximum(self.traffic_error**2 - of_both, 0.0)
        error = np.sqrt((1.0 - share) ** 2 * of_both + share**2 * of_rest) / traffic
        return np.where(there, error, np.nan)

    def fraction_doubt(self) -> npt.NDArray[np.float64]:
        """How far the congested shares are from the farther end of their Wilson intervals of one deviation.

        Beside the standard error it is not 0 where all or none of the sampled packets found congestion: of
        few packets that tells little. NaN for links without traffic; 0 where traffic is exact.

        Source: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
        """
        share = np.clip(
            np.divide(self.congested, self.traffic, out=np.zeros_like(self.traffic), where=self.traffic > 0),
            0.0,
            1.0,
        )
        error = self.fraction_error()
        # One bit in every packet knows the traffic, not what was congested of it.
        of_packets = np.where(self.traffic_error > 0, self.traffic_error, self.congested_error)
        exact = of_packets <= 0
        # As many packets, sampled by themselves, would make errors as large: by their number, by the share.
        count = (self.traffic / np.where(exact, 1.0, of_packets)) ** 2
        spread = share * (1.0 - share)
        known = (spread > 0) & (error > 0)
        by_share = np.divide(spread, error**2, out=np.full_like(count, np.inf), where=known)
        count = np.maximum(np.minimum(count, by_share), 1e-9)
        middle = (share + 0.5 / count) / (1.0 + 1.0 / count)
        half = np.sqrt(spread / count + 0.25 / count**2) / (1.0 + 1.0 / count)
        doubt = np.maximum(share - (middle - half), (middle + half) - share)
        return np.where(self.traffic > 0, np.where(exact, 0.0, doubt), np.nan)


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
    findings : sequence of Finding
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
    findings: tuple[Finding, ...] = field(default=())

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
