"""A fabric as other programs' input: what Slurm places jobs by, what SimGrid simulates on.

| module | |
|---|---|
| `slurm` | `topology.conf` and `topology.yaml`: leaves with their nodes, and what joins them |
| `simgrid` | `platform.xml`: hosts, switches and cables |

Both know less than a fabric: what they leave out is said where they are made.
"""
