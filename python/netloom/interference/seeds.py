"""Generated machines on which the intervals are measured: seeds set down before the first of them ran."""

from __future__ import annotations

CHOSEN_ON = tuple(range(1, 61))
"""On these it was seen which runs must not be told: those unlike all quiet ones, and of few quiet ones."""
MACHINES = tuple(range(61, 121))
"""Sixty others, which measure what was chosen."""
