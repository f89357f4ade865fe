"""Where arrays live: NumPy's in memory, or CuPy's on a GPU, with the same functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from netloom import extras
from netloom.errors import OptimizeError

DEVICES = ("auto", "cpu", "gpu")


@dataclass(frozen=True)
class Device:
    """Array functions of one place.

    Parameters
    ----------
    name : str
        `cpu` or `gpu`.
    arrays, sparse : module
        NumPy and SciPy's sparse matrices, or CuPy's.
    """

    name: str
    arrays: Any
    sparse: Any

    @classmethod
    def named(cls, name: str = "auto") -> Device:
        """The place of that name; `auto` is a GPU where there is one.

        Raises
        ------
        OptimizeError
            If there is no such place, or no GPU.
        """
        if name not in DEVICES:
            raise OptimizeError(f'device "{name}": expected {", ".join(DEVICES)}')
        why = None if name == "cpu" else reason_without_gpu()
        if name == "gpu" and why is not None:
            raise OptimizeError(f"no GPU: {why}")
        if name == "cpu" or why is not None:
            import numpy

            extras.need("scipy")
            import scipy.sparse

            return cls("cpu", numpy, scipy.sparse)
        import cupy
        import cupyx.scipy.sparse

        return cls("gpu", cupy, cupyx.scipy.sparse)

    def to_host(self, values: Any) -> Any:
        """As an array of NumPy."""
        return values if self.name == "cpu" else self.arrays.asnumpy(values)


def reason_without_gpu() -> str | None:
    """Why no GPU can be used, in a word; None if one can.

    Returns
    -------
    str, optional

    Examples
    --------
    >>> from netloom import gpu
    >>> gpu.reason_without_gpu()  # doctest: +SKIP
    "CuPy is not installed: pip install 'netloom-hpc[gpu]'"
    """
    try:
        import cupy
    except ImportError:
        return extras.told("gpu", library="cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return str(error)
    return None if count else "there is no device"
