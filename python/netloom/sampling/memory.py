"""A sampled run in memory, as samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.sampling.columns import COLUMNS
from netloom.sampling.findings import with_findings
from netloom.sampling.samples import Job, Samples

if TYPE_CHECKING:
    from netloom._core import Sampled, Scenario


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
    return with_findings(made)


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
