"""How few coefficients traffic has in the dissertation's dictionary of two bases: a finished linear program.

A matrix is the sum of two, none negative, each in a basis of its own; of all such sums the one whose
coefficients add up to least is asked for. Only cells with traffic can have a part, so the program has an
unknown a pair and not one a cell, and HiGHS's simplex ends in about a second for 10,000 pairs, in a corner:
with few coefficients. The core's own (`netloom.sparsity`) is of first order and ended after 1,000 steps:
its counts are upper bounds.

Source: Taffet, dissertation, sec. 4.3, eq. 4.3.5 and table 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom import _core, extras
from netloom.errors import OptimizeError

extras.need("exact", library="scipy")
import scipy.optimize  # noqa: E402
import scipy.sparse  # noqa: E402

_Array = npt.NDArray[np.float64]
_Cells = npt.NDArray[np.int64]

_NOTHING = 1e-7
"""Coefficients below this part of the largest are none."""
_ERROR, _POWER = 0.1, 0.9


@dataclass(frozen=True)
class Split:
    """Traffic as a sum of two.

    Attributes
    ----------
    bases : tuple of str
        Of the first part and of the second.
    parts : tuple of array
        Bytes, `[destination, source]`; they add up to the traffic.
    coefficients : tuple of array
        Of the parts, each in its basis, of the same shape.
    all, of_error, of_power : int
        Coefficients of both that are not zero; the largest that suffice for an error of 10 %; that keep 90 %
        of their norm. Equal ones are in or out together.
    """

    bases: tuple[str, str]
    parts: tuple[_Array, _Array]
    coefficients: tuple[_Array, _Array]
    all: int
    of_error: int
    of_power: int


def split(
    traffic: _core.Traffic,
    *,
    first: int = 0,
    count: int | None = None,
    time_limit: float | None = None,
) -> Split | None:
    """Traffic in the dictionary: symmetric differences, and symmetric copy-shift.

    `symmetric` in place of the latter, if the number of ranks is no power of two.

    Parameters
    ----------
    traffic : Traffic
        Between ranks.
    first, count : int, optional
        Only these endpoints; all unless given.
    time_limit : float, optional
        Seconds for the solver.

    Returns
    -------
    Split or None
        None if the time was not enough.

    Raises
    ------
    OptimizeError
        If the solver fails otherwise.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom.exact.dictionary import split
    >>> found = split(nl.Traffic.pattern("shift:1", 8))
    >>> found.all, [float(part.sum()) > 0 for part in found.parts]
    (4, [True, False])
    """
    count = traffic.endpoints - first if count is None else count
    cells = np.asarray(_core.coefficients(traffic, "identity", first=first, count=count), float)
    cells = cells.reshape(count, count)
    bases = ("symmetric-differences", "symmetric-copy-shift" if count & (count - 1) == 0 else "symmetric")
    at = np.nonzero(cells)
    most = float(cells.max(initial=0.0)) or 1.0
    bytes_ = cells[at] / most
    one, other = (_coefficients(basis, count, *at) for basis in bases)
    share = _least(one, other, bytes_, time_limit)
    if share is None:
        return None
    parts = []
    for values in (share, bytes_ - share):
        part = np.zeros((count, count))
        part[at] = np.clip(values, 0.0, bytes_)
        parts.append(part)
    made = [matrix @ part[at] for matrix, part in zip((one, other), parts, strict=True)]
    least = _NOTHING * max(float(np.abs(each).max(initial=0.0)) for each in made)
    made = [np.where(np.abs(each) > least, each, 0.0) for each in made]
    counts = _counted(bases, made, parts[0] + parts[1])
    shaped = [(each * most).reshape(count, count) for each in made]
    return Split(bases, (parts[0] * most, parts[1] * most), (shaped[0], shaped[1]), *counts)


def _least(
    one: scipy.sparse.csr_matrix, other: scipy.sparse.csr_matrix, bytes_: _Array, time_limit: float | None
) -> _Array | None:
    """The first part's bytes y: |one y| + |other (bytes - y)| is least."""
    one, other = (rows[np.diff(rows.indptr) > 0] for rows in (one, other))
    blocks = []
    for rows, width, before in ((one, one.shape[0], False), (-other, other.shape[0], True)):
        own = [-scipy.sparse.identity(width), scipy.sparse.identity(width)]
        blocks.append([rows, None, None, *own] if before else [rows, *own, None, None])
    coefficients = 2 * (one.shape[0] + other.shape[0])
    found = scipy.optimize.linprog(
        np.concatenate([np.zeros(len(bytes_)), np.ones(coefficients)]),
        A_eq=scipy.sparse.bmat(blocks, format="csc"),
        b_eq=np.concatenate([np.zeros(one.shape[0]), -(other @ bytes_)]),
        bounds=np.column_stack(
            [
                np.zeros(len(bytes_) + coefficients),
                np.concatenate([bytes_, np.full(coefficients, np.inf)]),
            ]
        ),
        method="highs-ds",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if found.status == 1:
        return None
    if found.status != 0:
        raise OptimizeError(f"HiGHS found no optimum: {found.message}")
    return np.asarray(found.x[: len(bytes_)], float)


def _coefficients(basis: str, count: int, to: _Cells, source: _Cells) -> scipy.sparse.csr_matrix:
    """All coefficients, `to * count + source`, by those cells."""
    place = np.arange(len(to))
    step = np.ones(len(to), np.int64) if basis.endswith("differences") else np.full(len(to), count)
    if basis.endswith("copy-shift"):
        step = _block(to, source)
    later = (to + step < count) & (source + step < count)
    row = np.concatenate([to, (to + step)[later]])
    column = np.concatenate([source, (source + step)[later]])
    cell = np.concatenate([place, place[later]])
    value = np.concatenate([np.ones(len(to)), -np.ones(int(later.sum()))])
    if basis.startswith("symmetric"):
        low, high, sign = np.maximum(row, column), np.minimum(row, column), np.where(row < column, 1.0, -1.0)
        pair = row != column
        # On the diagonal a cell stays; elsewhere the sum is below it, the upper less the lower above.
        row = np.concatenate([low, high[pair]])
        column = np.concatenate([high, low[pair]])
        cell, value = np.concatenate([cell, cell[pair]]), np.concatenate([value, (value * sign)[pair]])
    shape = (count * count, len(to))
    return scipy.sparse.csr_matrix((value, (row * count + column, cell)), shape=shape)


def _block(to: _Cells, source: _Cells) -> _Cells:
    """The size of the smallest aligned block of a power of two that holds both."""
    apart = np.bitwise_xor(to, source)
    size = np.ones_like(apart)
    while np.any(apart):
        size = np.where(apart > 0, 2 * size, size)
        apart >>= 1
    return size


def _counted(bases: tuple[str, str], made: list[_Array], cells: _Array) -> tuple[int, int, int]:
    """All, for an error of 10 %, for 90 % of the norm."""
    sizes = np.sort(np.abs(np.concatenate(made)))[::-1]
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return 0, 0, 0
    # Behind which one the next is smaller: those that are as large but for rounding go together.
    ends = np.flatnonzero(np.append(sizes[1:] < sizes[:-1] * (1 - 1e-9), True)) + 1
    norms = np.sqrt(np.cumsum(sizes**2))
    power = next(int(end) for end in ends if norms[end - 1] >= _POWER * norms[-1] * (1 - 1e-12))
    whole = float(np.linalg.norm(cells))

    def is_close(end: int) -> bool:
        least = sizes[end - 1] * (1 - 1e-9)
        kept = [np.where(np.abs(one) >= least, one, 0.0) for one in made]
        off = sum(_cells_of(basis, one, len(cells)) for basis, one in zip(bases, kept, strict=True)) - cells
        return float(np.linalg.norm(off)) <= _ERROR * whole

    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_close(int(ends[middle])) else (middle + 1, high)
    return len(sizes), int(ends[low]), power


def _cells_of(basis: str, coefficients: _Array, count: int) -> _Array:
    """What coefficients are of: undoes `_coefficients`."""
    given = coefficients.reshape(count, count)
    sums, differences = np.tril(given, -1), np.triu(given, 1)
    cells: _Array = np.diag(np.diag(given)) + (sums - differences.T) / 2 + (sums.T + differences) / 2
    if basis.endswith("differences"):
        for at in range(1, count):
            cells[at, 1:] += cells[at - 1, :-1]
    elif basis.endswith("copy-shift"):
        size = 1
        while size <= count:
            half = size // 2
            for start in range(size, count, size):
                now, last = slice(start, start + size), slice(start - size, start)
                if size == 1:
                    cells[now, now] += cells[last, last]
                    continue
                cells[now, now][half:, :half] += cells[last, last][half:, :half]
                cells[now, now][:half, half:] += cells[last, last][:half, half:]
            size *= 2
    return cells
