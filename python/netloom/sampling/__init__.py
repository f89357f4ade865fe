"""Paths sampled inside packets: what `netloom sample run -o` wrote, read and checked.

`read` takes a routing of a run's folder, `of` a run in memory (`netloom._core.sample`); both give
[`Samples`], so that plots and diagnosis need not know where it came from. Estimates are of all delivered
packets, whatever share of them was sampled; below a few standard errors they say nothing.

| module | idea |
|---|---|
| `samples` | the tables of a run, and sums over them |
| `columns` | which tables have which columns, and what can be in them |
| `findings` | what is odd: nothing sampled, too little, more than counters say |
| `memory` | a run in memory |
| `reading` | a run's folder |
| `runs` | a scenario simulated, and sampled, under every routing |
| `decoding`, `measured` | packets that receivers kept, and these as a run's folder |
| `told` | contexts and their hottest links, as results have them |
"""

from netloom.sampling.columns import COLUMNS, check_table, parquet
from netloom.sampling.memory import columns_of, of
from netloom.sampling.reading import read
from netloom.sampling.samples import Job, Samples, Totals, enough, total

__all__ = [
    "COLUMNS",
    "Job",
    "Samples",
    "Totals",
    "check_table",
    "columns_of",
    "enough",
    "of",
    "parquet",
    "read",
    "total",
]
