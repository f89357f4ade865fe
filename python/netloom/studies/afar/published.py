"""What the study of AFAR had and found, and what was set down here before the first run.

Source: S. A. Smith, C. E. Cromey, D. K. Lowenthal, J. Domke, N. Jain, J. J. Thiagarajan, A. Bhatele,
*Mitigating inter-job interference using adaptive flow-aware routing*, SC 2018.
"""

from __future__ import annotations

from collections.abc import Mapping

FABRIC = "cab"
"""Sec. III-A: 1,296 hosts, 72 leaves of 18, radix 36, three levels, QDR."""
USED = (8, 9)
"""The share of hosts that the jobs have together: 1,152 of 1,296 (sec. IV-A; 1,200 were available)."""
RANKS_PER_HOST = 16
STEPS = 10
"""Of a run, a barrier after each (app. B)."""
MESSAGE_BYTES = 64 * 1024
"""Table I: 64 KB a message, counted as 65,536 bytes."""

PLACEMENTS: Mapping[int, tuple[int, ...]] = {4: (1, 2, 3), 8: (1, 2, 3, 4, 5, 6, 7, 8), 16: (1, 2, 3)}
"""Seeds of placements by number of jobs, as many as the paper has. Set down before the first run."""
LOAD_PLACEMENTS = tuple(range(1, 13))
"""Of 16 jobs, of which only loads (figure 5) and AFAR's tables are made. Set down before the first run."""
FIGURE_6 = (1, 2, 3)
"""The paper's figure 6 has every workload in three placements."""
FIGURE_9 = 2
"""The paper's figure 9 is of its second placement of 16 jobs."""
THRESHOLDS_GB: Mapping[int, float] = {4: 65.0, 8: 65.0, 16: 61.5}
"""AFAR's, by number of jobs: of 8 jobs 65 GB, of 16 jobs 61.5 GB (sec. V-D). The paper has none of 4."""
BIN_GB = 5.0
"""Of figure 5's histogram."""

BREAKPOINT_GB, R_SQUARED = 58.0, 0.93
"""Figure 6. `bis` takes 14.5 s alone: 58 GB is what a link of 4 GB/s carries in 14.5 s."""
GAINS_PERCENT: Mapping[str, float] = {"bis": 25.0, "nn": 13.0}
"""Median improvements of 8 jobs (sec. V-D); of all benchmarks together 4.7."""
MOST_SLOWER_PERCENT = 3.2
"""The largest increase of a run time under AFAR, of 8 jobs."""
SQUARED_ERROR = (0.35, 0.21)
"""Of times over the least, told from the sparse features of MILC's steps on Edison: mean and standard
deviation over ten folds (sec. IV-D)."""
CHANGES: Mapping[int, int] = {8: 10, 16: 20}
"""At most so many entries were changed."""
