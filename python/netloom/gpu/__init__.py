"""The fewest flows that explain counters, by the dissertation's own method, on a processor or a GPU.

    >>> import netloom as nl
    >>> from netloom import exact, gpu
    >>> fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    >>> counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("matching:seed=1", fabric))
    >>> equations = exact.Equations(fabric, "ftree", counters)
    >>> answer = gpu.fewest_flows(equations, equations.fewest_flows(), device="cpu")
    >>> answer.converged
    True

Everything is written for arrays of NumPy and of CuPy alike, and tested with both where there is a GPU
(`pip install 'netloom-hpc[gpu]'`, an NVIDIA driver of CUDA 12). `netloom.infer` needs neither: it solves the
same programs in Rust, by restarted PDHG.
"""

from __future__ import annotations

from netloom.gpu.arrays import DEVICES, Device, reason_without_gpu
from netloom.gpu.smoothed import Answer, fewest_flows

__all__ = ["DEVICES", "Answer", "Device", "fewest_flows", "reason_without_gpu"]
