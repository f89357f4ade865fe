"""A sampled run as the rules want it: samples and counters by window, receivers' sums, jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.diagnose.observed import Context, Links, Observed, Received

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Scenario
    from netloom.sampling import Samples

    Floats = npt.NDArray[np.float64]

MOST_CELLS = 1 << 26
"""Windows times contexts times links that are kept apart; else windows are taken together."""

_ALL_LANES = 255


def observed_of(samples: Samples, intervals: Mapping[str, Any] | None = None) -> Observed:
    """Returns what the rules look at.

    Parameters
    ----------
    samples : Samples
        Of one routing.
    intervals : mapping, optional
        Counters by interval (`Simulation.intervals`). Where their intervals are the samples' windows, windows
        are told apart; else the run is one window.
    """
    links = Links.of(samples.fabric)
    contexts = [Context(row["job"], row["phase"]) for row in samples.contexts.to_pylist()]
    every = samples.sampling.get("every_us")
    end_ps = max(samples.end_ps, 1)
    windows = 1
    if every and intervals is not None and len(intervals["start_ps"]):
        step = round(every * 1e6)
        starts = np.asarray(intervals["start_ps"], dtype=np.int64)
        apart = -(-end_ps // step)
        if not (starts % step).any() and apart * len(contexts) * len(links) <= MOST_CELLS:
            windows = apart
    if windows == 1:
        seconds = np.array([end_ps * 1e-12])
        sent = _summed(samples, links)[None, :]
    else:
        seconds = np.full(windows, step * 1e-12)
        # Counters count a packet when it begins: of a window cut short they would tell too much.
        seconds[-1] = max(end_ps - (windows - 1) * step, step // 2) * 1e-12
        sent = _by_window(intervals or {}, starts // step, windows, len(links))
    rows = {name: np.asarray(samples.samples[name]) for name in samples.samples.column_names}
    window = np.minimum(rows["window"].astype(np.int64), windows - 1)
    at = (window * len(contexts) + rows["context"].astype(np.int64)) * len(links) + rows["link"].astype(
        np.int64
    )

    def cells(name: str, power: int = 1) -> Floats:
        size = windows * len(contexts) * len(links)
        values = np.bincount(at, weights=rows[name].astype(np.float64) ** power, minlength=size)
        return values.astype(np.float64).reshape(windows, len(contexts), len(links))

    counted = {name: np.asarray(samples.contexts[name]).astype(np.float64) for name in ("packets", "bytes")}
    got = {
        name: np.asarray(samples.received[name]).astype(np.int64) for name in samples.received.column_names
    }
    return Observed(
        samples.fabric,
        links,
        seconds,
        [job.name for job in samples.jobs],
        [_in_order(job.host_of_rank) for job in samples.jobs],
        contexts,
        cells("traffic"),
        np.sqrt(cells("traffic_error", 2)),
        cells("congested"),
        np.sqrt(cells("congested_error", 2)),
        counted["bytes"] / np.maximum(counted["packets"], 1),
        sent,
        Received(
            np.minimum(got["window"], windows - 1),
            got["context"],
            got["source"],
            got["destination"],
            got["bytes"].astype(np.float64),
        ),
    )


def sampled(scenario: Scenario, every_us: float, **how: Any) -> Observed:
    """Simulates a scenario's first routing and samples it.

    `scenario` counts in intervals of `every_us` (`measure.counters_every_us`).
    """
    from netloom import _core, sampling

    found = _core.sample(scenario, every_us=every_us, **how)
    return observed_of(sampling.of(found, scenario), found.simulation.intervals())


def _in_order(host_of_rank: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Hosts by their first ranks."""
    hosts, first = np.unique(host_of_rank, return_index=True)
    return hosts[np.argsort(first)]


def _summed(samples: Samples, links: Links) -> Floats:
    """Bytes by link over the whole run."""
    if samples.links is None:
        return np.zeros(len(links))
    if "xmit_bytes" not in samples.links.column_names:
        return _estimated(samples, len(links))
    return np.asarray(samples.links["xmit_bytes"]).astype(np.float64)


def _estimated(samples: Samples, links: int) -> Floats:
    """The same where nobody counted: what the packets that were sampled amount to, at least."""
    counted = {name: np.asarray(samples.contexts[name]).astype(np.float64) for name in ("packets", "bytes")}
    size = counted["bytes"] / np.maximum(counted["packets"], 1)
    traffic = np.maximum(np.asarray(samples.samples["traffic"]).astype(np.float64), 0.0)
    weights = traffic * size[np.asarray(samples.samples["context"]).astype(np.int64)]
    link = np.asarray(samples.samples["link"]).astype(np.int64)
    return np.bincount(link, weights=weights, minlength=links).astype(np.float64)


def _by_window(intervals: Mapping[str, Any], window: Any, windows: int, links: int) -> Floats:
    """[W, L] bytes."""
    lane = np.asarray(intervals["lane"])
    # A row of all lanes together, where there are several.
    keep = lane == _ALL_LANES if (lane == _ALL_LANES).any() else np.ones(len(lane), dtype=bool)
    keep &= window < windows
    at = window[keep] * links + np.asarray(intervals["link"]).astype(np.int64)[keep]
    sent = np.asarray(intervals["xmit_bytes"]).astype(np.float64)[keep]
    sums = np.bincount(at, weights=sent, minlength=windows * links)
    return sums.astype(np.float64).reshape(windows, links)
