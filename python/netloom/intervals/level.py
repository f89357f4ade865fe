"""What all intervals promise."""

from __future__ import annotations

LEVEL = 0.95
"""How often they hold what they are of."""
NORMAL = 1.959964
"""The normal distribution's quantile of 97.5 %."""
