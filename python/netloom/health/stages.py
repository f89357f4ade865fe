"""What a tree could carry, level by level: uplinks, over-subscription, bisection.

What a stage is, and what it could carry, is the core's (`crates/topology/src/stages.rs`); here are its names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    names = _NAMES.get(fabric.levels) or [f"level {level}" for level in range(fabric.levels)]
    return [
        {"from": below, "to": above, **one}
        for below, above, one in zip(names, names[1:], fabric.stages(), strict=False)
    ]
