"""A fabric while it runs: load by level, the hottest links, congestion, jobs, what the loop decided.

| module | idea |
|---|---|
| `picture` | what counters of an interval say, as figures |
| `journals` | what rounds of the loop and changes of routes say of themselves |
| `sources` | readings, one after another: polled, fetched from an exporter, or in files |
| `screen` | a picture on a terminal |
| `exporter` | the same, and every port's counters, for Prometheus |
"""
