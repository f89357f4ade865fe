"""Generated machines on which the intervals are measured: seeds set down before the first of them ran."""

from __future__ import annotations

MACHINES = tuple(range(1, 61))
"""Sixty, by seed."""
