"""Confidence intervals of 95 %: `means` from few or many draws, `medians` by order statistics.

How they are measured is in docs/methods/intervals.md.
"""

from __future__ import annotations

from netloom.intervals.level import LEVEL
from netloom.intervals.means import FEW, LEAST, METHOD, RESAMPLES, WHY, Interval, Reason, cluster_means, mean
from netloom.intervals.medians import median_ranks
from netloom.intervals.student import student

__all__ = [
    "FEW",
    "LEAST",
    "LEVEL",
    "METHOD",
    "RESAMPLES",
    "WHY",
    "Interval",
    "Reason",
    "cluster_means",
    "mean",
    "median_ranks",
    "student",
]
