"""Routing modes of Aries by message, run again: De Sensi et al., SC 2019, sec. 5.1.

| module | what |
|---|---|
| `published` | what the paper says, and what it says nothing of |
| `runs` | its benchmarks on 64 hosts of five groups, beside neighbours |
| `signs` | ours beside the paper's statements |
"""
