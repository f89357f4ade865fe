"""Generated machines on which the intervals are measured: seeds set down before the first of them ran."""

from __future__ import annotations

CHOSEN_ON = tuple(range(61, 241))
"""On these it was seen how a run's time alone is best told."""
MACHINES = tuple(range(241, 301))
"""Sixty others, which measure what was chosen."""
FLUID_CHOSEN_ON = (*range(1, 21), *range(1001, 1041), *range(2001, 2041))
"""The same of the second model, for each of its kinds."""
FLUID_MACHINES = tuple(range(3001, 3041))
"""And those that measure."""
