"""What a tree could carry, level by level: uplinks, over-subscription, bisection.

A stage is all cables from one level to the next above. Over-subscription is what can come from below over
what can go up, 1 where nothing is lost; of switches that differ, the worst. The bisection of a stage is half
of what all of its cables carry in one direction: what one half of the lower switches can send the other half,
whatever the routes. It is compared with what half of the hosts can send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from netloom._core import Fabric

_NAMES = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "spine", "core")}


def stages(fabric: Fabric) -> list[dict[str, Any]]:
    """The stages of a tree between switches, from the leaves up; none of a fabric that is no tree.

    Examples
    --------
    >>> import netloom as nl
    >>> (one,) = stages(nl.Fabric.generate("two-level:leaves=4,hosts=6,spines=3"))
    >>> one["uplinks"], one["over_subscription"], one["bisection_of_hosts"]
    ({'least': 3, 'most': 3}, 2.0, 0.5)
    """
    if fabric.shape["kind"] != "tree" or fabric.levels < 2:
        return []
    table, switch = fabric.link_table(), fabric.switch_table()
    level = np.concatenate([np.full(fabric.hosts, -1), np.asarray(switch["level"], np.int64)])
    alive = np.asarray(table["alive"], bool)
    low, high = level[table["source"]], level[table["target"]]
    speed = np.where(alive, np.asarray(table["bandwidth_bytes_per_s"], float), 0.0)
    names = _NAMES.get(fabric.levels)
    hosts = float(speed[: fabric.hosts].sum())
    found = []
    for below in range(fabric.levels - 1):
        up = alive & (low == below) & (high == below + 1)
        members = np.flatnonzero(level == below)
        of = np.asarray(table["source"])
        into = np.asarray(table["target"])
        cables = np.bincount(of[up], minlength=len(level))[members]
        goes = np.bincount(of, weights=np.where(up, speed, 0.0), minlength=len(level))[members]
        comes = np.bincount(into, weights=np.where(alive & (low < below), speed, 0.0), minlength=len(level))[
            members
        ]
        needed = comes > 0
        ratio = None
        if needed.any() and (goes[needed] > 0).all():
            ratio = float((comes[needed] / goes[needed]).max())
        total = float(speed[up].sum())
        found.append(
            {
                "from": names[below] if names else f"level {below}",
                "to": names[below + 1] if names else f"level {below + 1}",
                "cables": int(up.sum()),
                "uplinks": {"least": int(cables.min()), "most": int(cables.max())},
                "over_subscription": ratio,
                "bisection_bytes_per_second": total / 2,
                "bisection_of_hosts": total / hosts if hosts > 0 else None,
            }
        )
    return found
