"""Packets from elsewhere as the folder of a run: what `netloom plot congestion` and `netloom diagnose` read.

There was no simulation, so the folder says what packets say and nothing more: contexts, samples, what was
received. Every context is a job of its own, whose ranks are the hosts that its packets came from or went
to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.runs import folder as runs
from netloom.session.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom._core import Fabric

ROUTING = "measured"
"""The word by which the packets are known."""


def write(
    session: Session,
    folder: Path,
    fabric: tuple[str, Fabric],
    packets: str,
    how: Mapping[str, Any],
    tables: tuple[pa.Table, Mapping[str, Any]],
) -> str:
    """Writes the folder.

    Parameters
    ----------
    session : Session
        The call.
    folder : Path
        Where.
    fabric : str and Fabric
        As it was named, and read.
    packets : str
        The file of packets, for its name.
    how : mapping
        `method`, `rate`, `hop_bits`, `hash` (as `--hash` takes it) and `every_us`.
    tables : table and mapping
        Samples, and what was received by pair.

    Returns
    -------
    str
        Where it is.
    """
    import pyarrow as pa

    from netloom import interop

    source, net = fabric
    samples, received = tables
    numbers = np.unique(
        np.concatenate([np.asarray(samples["context"]), np.asarray(received["context"])]).astype(np.int64)
    )
    counted = {
        name: np.asarray(received[name]).astype(np.int64)
        for name in ("window", "source", "destination", "packets", "bytes")
    }
    context = np.searchsorted(numbers, np.asarray(received["context"]))
    names = ["packets" if len(numbers) == 1 else f"context {number}" for number in numbers]
    ranks = [_hosts(counted, context == i) for i in range(len(numbers))]
    ends = np.asarray(samples["end_ps"], np.int64)
    end_ps = int(ends.max()) if len(ends) else 0
    found = {
        "contexts": {
            "context": np.arange(len(numbers)),
            "job": np.arange(len(numbers)),
            "job_name": pa.array(names, pa.string()),
            "phase": pa.array(["all"] * len(numbers), pa.string()),
            **{
                name: np.bincount(context, counted[of], len(numbers)).astype(np.int64)
                for name, of in (("packets", "packets"), ("sampled", "packets"), ("bytes", "bytes"))
            },
        },
        "samples": {
            **{name: samples[name] for name in samples.column_names},
            "context": np.searchsorted(numbers, np.asarray(samples["context"])),
        },
        "received": {**counted, "context": context},
        "ranks": {
            "job": np.repeat(np.arange(len(numbers)), [len(hosts) for hosts in ranks]),
            "rank": np.concatenate([np.arange(len(hosts)) for hosts in ranks] or [np.array([], np.int64)]),
            "host": np.concatenate(ranks or [np.array([], np.int64)]),
            "end_ps": np.full(sum(map(len, ranks)), end_ps, np.int64),
        },
    }
    files = {
        f"{name}.parquet": interop.table_bytes(pa.table(columns), ".parquet")
        for name, columns in found.items()
    }
    files["links.parquet"] = interop.table_bytes(interop.fabric_to_arrow(net), ".parquet")
    result = {
        "simulated_ms": end_ps * 1e-9,
        "stopped": None,
        "jobs": [
            {"name": name, "ranks": len(hosts), "completion_ms": None}
            for name, hosts in zip(names, ranks, strict=True)
        ],
        "sampling": {**how, "hash": _function(how["hash"]), "contexts": "job", "fabric": source},
    }
    path = os.path.basename(packets) or "packets"
    manifest = {
        "schema": runs.RUN_SCHEMA,
        **session.origin(),
        "scenario": {"name": path, "source": path, "text": "", "overrides": []},
        "model": ROUTING,
        "profile": ROUTING,
        "hosts": net.hosts,
        "switches": net.switches,
        "links": net.links,
        "not_run": [],
    }
    place = runs.place_for(folder, complete=True)
    session.finishing()
    with session.timed("write"):
        runs.write_run(place, manifest, [runs.Recorded({"routing": ROUTING, **result}, files)])
    return str(place)


def _hosts(
    received: Mapping[str, npt.NDArray[np.int64]], which: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    return np.unique(np.concatenate([received["source"][which], received["destination"][which]]))


def _function(name: str | None) -> dict[str, str | None] | None:
    """A hash as results have it."""
    if name is None:
        return None
    word, _, key = name.partition(":")
    if word in ("md5", "siphash"):
        return {"function": word, "modulus": None, "g": None, "key": key or None}
    modulus, _, g = name.partition(",")
    return {"function": "gf", "modulus": modulus, "g": g, "key": None}
