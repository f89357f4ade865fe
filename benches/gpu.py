"""The smoothed dual on a processor and on a GPU, beside restarted PDHG in Rust.

`python benches/gpu.py [HOSTS …]`: counters of a bisection shuffle of the first HOSTS hosts of quartz1 on five
lanes, without noise. Every objective is compared with PDHG's. A GPU solves each problem once before it is
timed, so that its kernels are compiled.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import scipy.sparse

import netloom as nl
from netloom import exact, gpu

LANES = "5sl5vl:seed=1"
REPEATS = 3


def shuffle(hosts: int, of: int) -> nl.Traffic:
    """1 MB both ways between random partners of the two halves of the first `hosts` hosts."""
    partners = hosts // 2 + np.random.default_rng(hosts).permutation(hosts // 2)
    first = np.arange(hosts // 2)
    ends = np.concatenate([first, partners]), np.concatenate([partners, first])
    return nl.Traffic.from_scipy(scipy.sparse.csr_matrix((np.full(hosts, 1e6), ends), shape=(of, of)))


def main() -> None:
    """Print a row a size and place."""
    sizes = [int(word) for word in sys.argv[1:]] or [256, 512, 1024]
    fabric = nl.Fabric.generate("quartz1")
    devices = ["cpu", *(["gpu"] if gpu.reason_without_gpu() is None else [])]
    print("hosts columns  where  seconds   steps  violation  objective/PDHG - 1")
    for hosts in sizes:
        traffic = shuffle(hosts, fabric.hosts)
        counters = nl.synth_counters(fabric, "ftree", traffic, vl_scheme=LANES)
        equations = exact.Equations(fabric, "ftree", counters, vl_scheme=LANES)
        started = time.perf_counter()
        ours = equations.fewest_flows()
        seconds = time.perf_counter() - started
        columns = len(ours["values"])
        print(f"{hosts:5} {columns:7}  pdhg  {seconds:8.3f}")
        best = float(ours["cost"] @ ours["values"])
        for device in devices:
            if device == "gpu":
                gpu.fewest_flows(equations, ours, device=device, rounds=2)
            answers = [gpu.fewest_flows(equations, ours, device=device) for _ in range(REPEATS)]
            taken = statistics.median(answer.seconds for answer in answers)
            last = answers[-1]
            print(
                f"{hosts:5} {columns:7}  {device:4}  {taken:8.3f} {last.steps:7} {last.violation:10.1e} "
                f"{last.objective / best - 1:10.1e}"
            )


if __name__ == "__main__":
    main()
