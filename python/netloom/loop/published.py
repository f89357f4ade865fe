"""Tables 5.1 to 5.5 of the dissertation (Taffet, Rice University), as printed there.

Times in ms, gaps in percent; by table, column and row. Rows are named as ours are: routings by their words,
`loop` for routes from inferred traffic, `known` for routes from traffic that was given, `alone` for a job
without its neighbour. Table 5.3 has no `loop`: its optimised routes are from a stylised matrix, 100 units a
bully host and 1 a barrier partner, and 6.33 ms is the special formulation's, few links above 150 units
(sec. 5.4.1); the combined formulation's took 7.8 ms.
"""

from __future__ import annotations

from typing import Final

TITLES: Final = {
    "5.1": "bisection patterns, ms",
    "5.2": "cyclic stencil, ms",
    "5.3": "barrier and bully, random allocation, ms",
    "5.4": "barrier and bully, at most 15 bully hosts a leaf, ms",
    "5.5": "BoxLib CNS (there 1024 hosts, here 512), AR gap in %",
}

PUBLISHED: Final[dict[tuple[str, str, str], float]] = {
    ("5.1", "shift", "ftree"): 1.688,
    ("5.1", "shift", "adaptive"): 1.750,
    ("5.1", "shift", "loop"): 1.691,
    ("5.1", "shuffle", "ftree"): 6.715,
    ("5.1", "shuffle", "adaptive"): 1.871,
    ("5.1", "shuffle", "loop"): 1.691,
    ("5.2", "large messages", "ftree"): 1.331,
    ("5.2", "large messages", "adaptive"): 1.373,
    ("5.2", "large messages", "random"): 3.322,
    ("5.2", "large messages", "loop"): 2.392,
    ("5.2", "large messages, sum only", "ftree"): 1.331,
    ("5.2", "large messages, sum only", "loop"): 2.392,
    ("5.2", "small messages", "ftree"): 1.016,
    ("5.2", "small messages", "adaptive"): 1.042,
    ("5.2", "small messages", "random"): 3.250,
    ("5.2", "small messages", "loop"): 1.016,
    ("5.3", "random allocation", "alone"): 4.19,
    ("5.3", "random allocation", "ftree"): 30.81,
    ("5.3", "random allocation", "adaptive"): 60.29,
    ("5.3", "random allocation", "known"): 6.33,
    ("5.4", "at most 15 a leaf, bytes", "alone"): 4.19,
    ("5.4", "at most 15 a leaf, bytes", "ftree"): 29.78,
    ("5.4", "at most 15 a leaf, bytes", "adaptive"): 9.26,
    ("5.4", "at most 15 a leaf, bytes", "loop"): 4.78,
    ("5.4", "at most 15 a leaf, mixed", "alone"): 4.19,
    ("5.4", "at most 15 a leaf, mixed", "ftree"): 29.78,
    ("5.4", "at most 15 a leaf, mixed", "adaptive"): 9.26,
    ("5.4", "at most 15 a leaf, mixed", "loop"): 4.46,
    ("5.5", "irregular", "known"): 0.04,
    ("5.5", "irregular", "ftree"): 105.94,
    ("5.5", "irregular", "random"): 84.16,
    ("5.5", "irregular", "loop"): 69.13,
}
