"""Traffic that is only known roughly (`--error`): samples of what it may be, each a traffic that may come."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netloom.cli.shared.exits import UsageError
from netloom.errors import TrafficError

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic
    from netloom.cli.shared.run import Run

MOST_PERCENT = 1e5


def part(error: str) -> float | None:
    """The error as a part of every entry: 0.05 of `5` and `5%`; None where it names a file.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if os.path.exists(error):
        return None
    try:
        percent = float(error.removesuffix("%"))
    except ValueError:
        raise UsageError(f"--error {error}: expected a percentage or a file of bytes an entry") from None
    if not 0 <= percent <= MOST_PERCENT:
        raise UsageError(f"--error {error}: expected 0 to {MOST_PERCENT:g} percent")
    return percent / 100


def samples(run: Run, error: str, number: int, fabric: Fabric, traffic: Traffic) -> list[tuple[str, Traffic]]:
    """What the traffic may be: names and traffics, of one seed each, counted on from the run's."""
    relative = part(error)
    errors = None if relative is not None else run.traffic(error, fabric, role="errors")
    if errors is not None and errors.endpoints != traffic.endpoints:
        raise TrafficError(
            f"{error}: has {errors.endpoints} endpoints, the traffic {traffic.endpoints}: expected one size"
        )
    found = []
    for k in range(1, number + 1):
        seed = (run.seed + k) % 2**64
        if errors is None:
            assert relative is not None
            sample = traffic.perturbed(relative, seed=seed)
        else:
            sample = traffic.perturbed_by(errors, seed=seed)
        found.append((f"seed {seed}", sample))
    return found
