"""What De Sensi et al., SC 2019, say of routing modes by message.

*Mitigating network noise on Dragonfly networks through application-aware routing*, sec. 5.1, figs. 8 and 9.
The sizes of those figures are in pictures only, so ours are chosen: little, middling and much.
"""

from __future__ import annotations

FABRIC = "aries:groups=5,links={}"
"""Five groups of a Cray XC, by cables between two of them."""
LINKS = 24
"""Those of Edison (Smith et al., SC 2018)."""
SWITCHES, HOSTS = 33, 64
"""Of the job on Cori (fig. 9)."""
BENCHMARKS = {
    "ping-pong": ("8", "16KiB", "1MiB"),
    "allreduce": ("64", "4KiB", "256KiB"),
    "alltoall": ("128", "1KiB", "16KiB"),
    "barrier": ("16 ranks", "32 ranks", "64 ranks"),
    "broadcast": ("1KiB", "64KiB", "1MiB"),
    "halo3d": ("1KiB", "16KiB", "128KiB"),
    "sweep3d": ("256", "4KiB", "32KiB"),
}
"""Sizes of messages by benchmark; of an all-to-all to each rank. A barrier has ranks instead."""
SIZES = ("small", "middle", "large")
"""Which of them is which."""
DEFAULT, HIGH, AWARE, STEADY = ROUTINGS = (
    "adaptive:default",
    "adaptive:3",
    "aware",
    "aware:steady",
)
"""The paper's three, and ours. Its default is ADAPTIVE_0, and ADAPTIVE_1 for all-to-all."""
FAILS = {("broadcast", "1MiB"), ("sweep3d", "256"), ("sweep3d", "4KiB"), ("sweep3d", "32KiB")}
"""Where the paper's algorithm does not find the better mode: large broadcasts and sweep3d."""
SLOWER = {("alltoall", "1KiB")}
"""Where it finds it and is slower all the same, as counters take time to read; ours take none."""
