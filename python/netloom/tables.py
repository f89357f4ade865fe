"""What a simulation measured, as Arrow tables: links, intervals, queues, latencies, ranks.

A row a link and lane, an interval, a bin; nothing is left out but rows in which everything is 0. Names carry
units. `links` also says between which nodes and levels a link lies, so that a run's folder needs no fabric to
be drawn or understood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom import extras, interop

__all__ = ["CUT_OFF", "HOST", "link_levels", "links_table", "tables"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow

    from netloom._core import Fabric, Simulation

HOST = -1
"""The level of a host, where a leaf's is 0."""
CUT_OFF = -2
"""The level of a switch that reaches no host."""


def tables(simulation: Simulation, fabric: Fabric) -> dict[str, pyarrow.Table]:
    """Returns everything that was measured: `links` and `ranks` always, the rest if it was recorded.

    Parameters
    ----------
    simulation : Simulation
        A simulation that has ended.
    fabric : Fabric
        The one it ran on.

    Returns
    -------
    dict of str to pyarrow.Table

    Raises
    ------
    NotInstalledError
        If PyArrow is not installed.

    Examples
    --------
    >>> import netloom as nl
    >>> scenario = nl.Scenario.read(nl.examples.path("scenarios/shuffle.toml"))
    >>> found = nl.tables.tables(nl.simulate(scenario, "ftree"), scenario.fabric)
    >>> found["links"].num_rows == scenario.fabric.links
    True
    """
    extras.need("arrow")
    import pyarrow as pa

    found = {"links": links_table(simulation, fabric)}
    more: dict[str, Mapping[str, Any] | None] = {
        "lanes": simulation.counters() if simulation.lanes > 1 else None,
        "ranks": simulation.ranks(),
        "latencies": simulation.histograms(),
        "intervals": simulation.intervals(),
        "queues": simulation.queues(),
        "queue_levels": simulation.queue_levels(),
    }
    for name, columns in more.items():
        if columns is not None:
            found[name] = pa.table(dict(columns))
    return found


def links_table(simulation: Simulation, fabric: Fabric) -> pyarrow.Table:
    """Returns a row a directed link, all lanes together, in the order of link ids.

    The columns of `fabric.to_arrow()`; `from_level` and `to_level` (-1: a host, 0: a leaf, -2: cut off);
    `switch`, the number of the lower switch at its ends; in a dragonfly or megafly `from_group` and
    `to_group` (-1: a host); the counters; and `utilisation`, 0 to 1: bytes over what fits through in the
    time that was simulated.

    Parameters
    ----------
    simulation : Simulation
        A simulation that has ended.
    fabric : Fabric
        The one it ran on.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    NotInstalledError
        If PyArrow is not installed.

    Examples
    --------
    >>> import netloom as nl
    >>> scenario = nl.Scenario.read(nl.examples.path("scenarios/shuffle.toml"))
    >>> table = nl.tables.links_table(nl.simulate(scenario, "ftree"), scenario.fabric)
    >>> table.num_rows == scenario.fabric.links
    True
    """
    extras.need("arrow")
    import pyarrow as pa

    counters = dict(simulation.counters())
    link = np.asarray(counters.pop("link"))
    counters.pop("lane", None)
    table = interop.fabric_to_arrow(fabric)
    columns = {**link_levels(fabric), **_link_groups(fabric)}
    for name, values in counters.items():
        # Not by weights: these are floating point, and counters are whole numbers.
        total = np.zeros(fabric.links, dtype=np.asarray(values).dtype)
        np.add.at(total, link, np.asarray(values))
        columns[name] = total
    speed = fabric.link_table()["bandwidth_bytes_per_s"]
    seconds = simulation.end_ps * 1e-12
    fits = np.asarray(speed, dtype=np.float64) * seconds
    busy = np.divide(columns["xmit_bytes"], fits, out=np.zeros(fabric.links), where=fits > 0)
    for name, column in [*columns.items(), ("utilisation", busy)]:
        table = table.append_column(name, pa.array(column))
    return table


def _link_groups(fabric: Fabric) -> dict[str, npt.NDArray[Any]]:
    """`from_group` and `to_group` of every link of a dragonfly or megafly; nothing of other fabrics."""
    if "groups" not in fabric.shape:
        return {}
    links = fabric.link_table()
    of_switches = np.asarray(fabric.switch_table()["group"], np.int32)
    group = np.concatenate([np.full(fabric.hosts, -1, np.int32), of_switches])
    return {"from_group": group[links["source"]], "to_group": group[links["target"]]}


def link_levels(fabric: Fabric) -> dict[str, npt.NDArray[Any]]:
    """Returns `from_level`, `to_level` and `switch` (the lower end that is one) of every link.

    Parameters
    ----------
    fabric : Fabric
        The fabric.

    Returns
    -------
    dict of str to numpy.ndarray
        By link id; a host's level is -1, a leaf's 0, that of a switch that reaches no host -2.
        Where levels would be a guess (a HyperX, a torus, a mesh, any graph) all other switches have level 0.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    >>> nl.tables.link_levels(fabric)["from_level"][:3].tolist()
    [-1, -1, -1]
    """
    links = fabric.link_table()
    source, target = np.asarray(links["source"], np.int64), np.asarray(links["target"], np.int64)
    of_switches = np.asarray(fabric.switch_table()["level"], dtype=np.int16)
    if not (fabric.shape["kind"] == "tree" or "groups" in fabric.shape):
        of_switches = np.minimum(of_switches, 0)
    level = np.concatenate(
        [np.full(fabric.hosts, HOST, np.int16), np.where(of_switches < 0, CUT_OFF, of_switches)]
    )
    below, above = level[source], level[target]
    up = below <= above
    lower = np.where(up, source, target)
    lower = np.where(lower < fabric.hosts, np.where(up, target, source), lower)
    return {"from_level": below, "to_level": above, "switch": (lower - fabric.hosts).astype(np.int32)}
