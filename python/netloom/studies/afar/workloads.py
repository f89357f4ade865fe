"""The benchmarks and the workloads of AFAR's study, as scenarios.

A benchmark computes, sends 64 KB to each of its partners, and waits; so many times a step, ten steps. A run
here is a part of one step: `shorter` times fewer iterations, and one step of the ten. Times and loads are
then told `shorter` x 10 times as large. Table I's counts of iterations have the divisor 50 in common.
Source: Smith et al., SC 2018, sec. III-B, tables I and IV.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import ArgumentError
from netloom.studies.afar import published

if TYPE_CHECKING:
    from netloom._core import Fabric

SHORTER = (1, 2, 5, 10, 25, 50)
"""By which every benchmark's iterations can be divided."""
_FEWEST_RANKS = 128
"""Table IV's grids, X x 64 and 8 x 16 x Z, have so many points or a multiple."""


@dataclass(frozen=True)
class Benchmark:
    """A row of table I.

    Attributes
    ----------
    name : str
    iterations : int
        A step.
    compute_us : float
        Before the messages of an iteration.
    messages : float
        A process and iteration, on average.
    pattern : callable
        Who sends to whom, of a number of ranks and a seed.
    """

    name: str
    iterations: int
    compute_us: float
    messages: float
    pattern: Callable[[int, int], str]


BENCHMARKS = (
    Benchmark("bis", 1800, 560, 1, lambda ranks, _: f"bis:ranks={ranks}"),
    Benchmark("nn", 1200, 830, 4, lambda ranks, _: f"nn:{ranks // 64}x64,periodic"),
    Benchmark("pairs", 2500, 400, 0.5, lambda ranks, seed: f"pairs:ranks={ranks},seed={seed}"),
    Benchmark("fft-proxy", 150, 10_000, 15, lambda ranks, _: f"fft-proxy:8x16x{ranks // 128}"),
)
"""Table I. Its NN sends 256 KB, four messages, from every process: the grid is periodic."""


def scenario(fabric: str | Fabric, hosts: int, jobs: int, seed: int, shorter: int) -> dict[str, Any]:
    """A workload with one placement, as a scenario's keys.

    Parameters
    ----------
    fabric : str or Fabric
        A dump, a generator's spec, or either as it was read.
    hosts : int
        Of the fabric; eight ninths of them run jobs.
    jobs : int
        A quarter each of `BENCHMARKS`.
    seed : int
        Of the placement.
    shorter : int
        One of `SHORTER`.

    Returns
    -------
    dict
        What `Scenario.from_dict` takes.

    Raises
    ------
    ArgumentError
        If the fabric's hosts cannot be shared so.

    Examples
    --------
    >>> made = scenario("cab", 1296, 16, 1, 50)
    >>> [job["name"] for job in made["job"]][3:6]
    ['bis-4', 'nn-1', 'nn-2']
    >>> made["job"][4]["program"]["pattern"], made["job"][4]["program"]["iterations"]
    ('nn:18x64,periodic', 24)
    """
    share, of = published.USED
    ranks = hosts * share // of // jobs * published.RANKS_PER_HOST
    if jobs % len(BENCHMARKS) or ranks == 0 or ranks % _FEWEST_RANKS:
        raise ArgumentError(
            f"{jobs} jobs on {share} of {of} of {hosts} hosts have {ranks} ranks each: expected a "
            f"multiple of 4 jobs, and of {_FEWEST_RANKS} ranks"
        )
    listed = []
    for number in range(jobs):
        benchmark, copy = BENCHMARKS[number * 4 // jobs], number % (jobs // 4) + 1
        listed.append(
            {
                "name": f"{benchmark.name}-{copy}",
                "allocation": "random",
                "ranks_per_host": published.RANKS_PER_HOST,
                "program": {
                    "kind": "exchange",
                    "pattern": benchmark.pattern(ranks, copy),
                    "bytes": published.MESSAGE_BYTES,
                    "iterations": benchmark.iterations // shorter,
                    "compute_us": benchmark.compute_us,
                },
            }
        )
    return {
        "name": f"afar-{jobs}",
        "fabric": fabric,
        "seed": seed,
        "routes": "ftree",
        "job": listed,
    }


def benchmark_of(job: str) -> str:
    """The benchmark that a job runs, by its name.

    Examples
    --------
    >>> benchmark_of("fft-proxy-2")
    'fft-proxy'
    """
    return job.rpartition("-")[0]
