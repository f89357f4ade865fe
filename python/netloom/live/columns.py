"""Counters as arrays by link, a counter each, as the two ends read them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric

    Array = npt.NDArray[np.float64]


def column(fabric: Fabric, counters: Counters, name: str, *, interval: int = 0) -> Array | None:
    """A counter of whole links, by link; NaN where it was not read. None if nobody counts it."""
    from netloom.interop import arrow_csv

    table = arrow_csv().read_csv(io.BytesIO(counters.to_bytes()))
    if name not in table.column_names:
        return None
    starts = table["start_ns"].to_numpy()
    wanted = starts == np.unique(starts)[interval]
    # A row a link, and beside it one a lane.
    wanted &= np.asarray(table["lane"].is_null())
    values = np.full(fabric.links, np.nan)
    read = table[name].to_numpy(zero_copy_only=False).astype(float)
    values[table["link"].to_numpy()[wanted]] = read[wanted]
    return values
