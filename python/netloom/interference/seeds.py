"""Generated machines on which the intervals are measured: seeds set down before the first of them ran."""

from __future__ import annotations

CHOSEN_ON = tuple(range(61, 121))
"""On these it was seen how a run's time alone is best told."""
MACHINES = tuple(range(121, 181))
"""Sixty others, which measure what was chosen."""
FLUID_CHOSEN_ON = tuple(range(1, 41))
"""The same of the second model, for each of its kinds."""
FLUID_MACHINES = tuple(range(1001, 1041))
"""And those that measure."""
