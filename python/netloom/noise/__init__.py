"""Network noise: how much messages vary, and what of it other jobs cause, message by message.

`times` tells how times vary, `messages` joins a job's messages of two runs, `seeds` puts runs with several
seeds together, `waits` finds on which link and behind whose bytes a job waits.
"""

from __future__ import annotations

from netloom.noise.messages import MOST_SIZES, Joined, Messages, by_size, joined, worst
from netloom.noise.seeds import exceeding, over_runs
from netloom.noise.times import Sent, differences, estimate, impact, summary

__all__ = [
    "MOST_SIZES",
    "Joined",
    "Messages",
    "Sent",
    "by_size",
    "differences",
    "estimate",
    "exceeding",
    "impact",
    "joined",
    "over_runs",
    "summary",
    "worst",
]
