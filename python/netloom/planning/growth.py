"""Growth: hosts that still fit on a design without a cable that moves, and what the next step costs.

Free ports for hosts come first. A leaf more fits where the spines have a port for each of its cables, a pod
more where the cores have. What is added is built as what is there: leaves with as many hosts and cables up,
pods with as many spines. Leaves added to pods share the cables up of their spines, so `taper` is told as it
is when all is added. Ports of leaves that no host was meant for are counted (`leaf_ports`), not used: hosts
there would share cables up that are for fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def growth(design: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """What fits on a design of a plan beyond its hosts.

    Parameters
    ----------
    design : mapping
        One of the designs of `result`.
    result : mapping
        What `_core.plan` answers.

    Returns
    -------
    dict
        `growth` of a design in `docs/schemas/plan.json`.

    Examples
    --------
    >>> result = netloom.plan("plan.toml")
    >>> growth(result["full"], result)["hosts_without_recabling"]
    0
    """
    radix, down, up = design["radix"], design["hosts_per_leaf"], design["up_per_leaf"]
    free = design["host_ports"] - result["hosts"]
    leaf_ports = (radix - down - up) * design["switches"][0]
    leaves = pods = pod_leaves = 0
    taper = list(design["taper"])
    if design["levels"] == 1:
        free, leaf_ports = free + leaf_ports, 0
    elif design["levels"] == 2:
        count, spines = design["switches"]
        leaves = (spines * radix - count * up) // up
    else:
        of = _keys(design["spec"])
        per_pod, spines = of["leaves"], of["spines"]
        bundle, cables = of.get("leaf-cables", 1), of.get("core-cables", 1)
        climbing = of["cores"] * cables
        more = (radix - per_pod * bundle - climbing) // bundle
        leaves, pod_leaves = more * of["pods"], per_pod + more
        taken = spines // of["groups"] * cables
        pods = (radix - of["pods"] * taken) // taken
        taper[1] = pod_leaves * bundle / climbing
    return {
        "hosts_without_recabling": free + (leaves + pods * pod_leaves) * down,
        "host_ports": free,
        "leaf_ports": leaf_ports,
        "leaves": leaves,
        "pods": pods,
        "taper": taper,
        "next_step": _next(design, result, leaves, pods),
    }


def _next(
    design: Mapping[str, Any], result: Mapping[str, Any], leaves: int, pods: int
) -> dict[str, Any] | None:
    """The leaf or the pod that comes next, and its price; None where neither fits."""
    if not leaves and not pods:
        return None
    catalogue = result["catalogue"]
    (switch,) = [one["price"] for one in catalogue["switches"] if one["radix"] == design["radix"]]
    cable = {one["level"]: one["price"] for one in catalogue["cables"]}
    hosts = design["hosts_per_leaf"]
    price = switch + design["up_per_leaf"] * cable["leaves"] + hosts * cable["hosts"]
    if not leaves:
        of = _keys(design["spec"])
        climbing = of["cores"] * of.get("core-cables", 1)
        price = of["leaves"] * price + of["spines"] * (switch + climbing * cable["spines"])
        hosts *= of["leaves"]
    return {
        "what": "leaf" if leaves else "pod",
        "hosts": hosts,
        "price": price,
        "price_per_host": price / hosts,
    }


def _keys(spec: str) -> dict[str, int]:
    """The numbers of a spec of a fat tree."""
    return {key: int(value) for key, value in (one.split("=") for one in spec.split(":", 1)[1].split(","))}
