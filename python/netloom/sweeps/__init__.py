"""Parameter sweeps: a scenario again and again with keys varied, on whatever runs tasks, as one table.

`spec` reads what varies and numbers the runs, `kept` knows the result keys, `work` runs a batch in a worker,
`pool` is the local pool of processes, `store` the folder of Parquet parts and its manifest, `engine` hands
batches to an executor and writes what comes back.

Invariants: a run is known by the sum of all that its result depends on, so what is there is not run again.
A table depends on the sweep alone, never on who ran what, nor on how often it was killed.
"""

from __future__ import annotations
