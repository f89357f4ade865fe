"""Traffic that is only known roughly (`--error`): samples of what it may be, each a traffic that may come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.errors import TrafficError

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic
    from netloom.session.session import Session


def samples(
    session: Session, error: float | str | Traffic, number: int, fabric: Fabric, traffic: Traffic
) -> list[tuple[str, Traffic]]:
    """What the traffic may be: names and traffics, of one seed each, counted on from the session's.

    `error` is a percentage, or traffic with the error of each entry in bytes.
    """
    relative = error / 100 if isinstance(error, int | float) else None
    errors = None if isinstance(error, int | float) else session.traffic(error, fabric, role="errors")
    if errors is not None and errors.endpoints != traffic.endpoints:
        raise TrafficError(
            f"{error}: has {errors.endpoints} endpoints, the traffic {traffic.endpoints}: expected one size"
        )
    found = []
    for k in range(1, number + 1):
        seed = (session.seed + k) % 2**64
        if errors is None:
            assert relative is not None
            sample = traffic.perturbed(relative, seed=seed)
        else:
            sample = traffic.perturbed_by(errors, seed=seed)
        found.append((f"seed {seed}", sample))
    return found
