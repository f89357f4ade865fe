"""Parts of sparse matrices that fit together: looked at before SciPy converts anything; and dense ones.

SciPy checks the length and the ends of row pointers, not what lies between, and its conversions write where
these point: a file of 871 bytes made the process write outside of its memory. So whoever takes a matrix that
others made, from a file or as an object, looks at its arrays here first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import TrafficError

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Traffic

MOST_ENDPOINTS = 10_000_000
"""Rows and columns at most, as the core has it: conversions take memory for each, whatever is in them."""


def check_npz(arrays: Mapping[str, Any]) -> None:
    """Refuses the arrays of a file of `scipy.sparse.save_npz` that do not fit together.

    Parameters
    ----------
    arrays : mapping
        By name, as `numpy.load` gives them.

    Raises
    ------
    TrafficError
        Saying what was expected.
    KeyError
        If one is missing.
    """
    kind, shape = arrays["format"].item(), np.asarray(arrays["shape"])
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise TrafficError("expected a shape of two whole numbers")
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    found = {name: arrays[name] for name in names if name in arrays}
    check_parts(kind.decode("ascii") if isinstance(kind, bytes) else str(kind), shape.tolist(), found)


def check(matrix: Any) -> None:
    """Refuses a SciPy sparse matrix or array of two dimensions whose parts do not fit together.

    Raises
    ------
    TrafficError
        Saying what was expected.
    """
    names = ("data", "indices", "indptr", "row", "col", "offsets", "rows")
    parts = {name: getattr(matrix, name) for name in names if hasattr(matrix, name)}
    if matrix.format == "lil":
        _check_shape(matrix.shape)
        _check_lists(parts["rows"], parts["data"], matrix.shape)
    else:
        check_parts(matrix.format, matrix.shape, parts)


def check_parts(kind: str, shape: Sequence[int], parts: Mapping[str, Any]) -> None:
    """Refuses parts that are no matrix of this shape.

    Parameters
    ----------
    kind : str
        SciPy's word for the format: `csr`, `csc`, `bsr`, `coo`, `dia`; others are built of Python objects.
    shape : sequence of int
        Rows and columns.
    parts : mapping
        Its arrays by their names in SciPy.

    Raises
    ------
    TrafficError
        Saying what was expected.
    KeyError
        If an array is missing.

    Examples
    --------
    >>> check_parts("csr", (1, 1), {"indptr": np.array([0, 1]), "indices": np.array([0]), "data": np.ones(1)})
    """
    _check_shape(shape)
    rows, columns = (int(side) for side in shape)
    if kind in ("csr", "csc"):
        _check_values(parts["data"], 1)
        major, minor = (rows, columns) if kind == "csr" else (columns, rows)
        _check_pointers(parts, major, minor)
    elif kind == "bsr":
        _check_values(parts["data"], 3)
        high, wide = parts["data"].shape[1:]
        if not high or not wide or rows % high or columns % wide:
            raise TrafficError(f"blocks of {high} x {wide} do not fill a matrix of {rows} x {columns}")
        _check_pointers(parts, rows // high, columns // wide)
    elif kind == "coo":
        _check_values(parts["data"], 1)
        for name, most in (("row", rows), ("col", columns)):
            _check_indices(name, parts[name], len(parts["data"]), most)
    elif kind == "dia":
        _check_values(parts["data"], 2)
        offsets = _whole("offsets", parts["offsets"])
        if len(offsets) != len(parts["data"]) or len(np.unique(offsets)) != len(offsets):
            raise TrafficError(f"expected {len(parts['data'])} different offsets, one a diagonal")


def _check_shape(shape: Sequence[int]) -> None:
    rows, columns = (int(side) for side in shape)
    if not (0 <= rows <= MOST_ENDPOINTS and 0 <= columns <= MOST_ENDPOINTS):
        raise TrafficError(f"expected at most {MOST_ENDPOINTS} rows and columns, found {rows} x {columns}")


def _check_pointers(parts: Mapping[str, Any], major: int, minor: int) -> None:
    pointers, entries = _whole("row pointers", parts["indptr"]), len(parts["data"])
    rises = len(pointers) == major + 1 and pointers[0] == 0 and pointers[-1] == entries
    # Compared, not subtracted: differences of unsigned or extreme numbers wrap around.
    if not rises or bool(np.any(pointers[1:] < pointers[:-1])):
        raise TrafficError(
            f"row pointers of a sparse matrix: expected {major + 1} numbers that rise from 0 to {entries}, "
            "the number of entries"
        )
    _check_indices("indices", parts["indices"], entries, minor)


def _check_indices(name: str, indices: Any, entries: int, most: int) -> None:
    found = _whole(name, indices)
    if len(found) != entries:
        raise TrafficError(f"{name} of a sparse matrix: expected one for each of {entries} entries")
    if entries and not (found.min() >= 0 and found.max() < most):
        wrong = found.min() if found.min() < 0 else found.max()
        raise TrafficError(f"{name} of a sparse matrix: expected numbers from 0 to {most - 1}, found {wrong}")


def _check_values(data: Any, dimensions: int) -> None:
    if not isinstance(data, np.ndarray) or data.ndim != dimensions or data.dtype.kind not in "biufc":
        raise TrafficError(
            f"values of a sparse matrix: expected an array of {dimensions} dimensions of numbers"
        )


def _whole(name: str, numbers: Any) -> Any:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise TrafficError(f"{name} of a sparse matrix: expected whole numbers in one row")
    return numbers


def _check_lists(rows: Any, data: Any, shape: Sequence[int]) -> None:
    """A matrix of lists: as many values as columns in every row."""
    whole = len(rows) == len(data) == shape[0]
    if not whole or any(len(columns) != len(values) for columns, values in zip(rows, data, strict=True)):
        raise TrafficError("rows of a sparse matrix: expected as many values as columns in each")
    for columns in rows:
        if any(not 0 <= column < shape[1] for column in columns):
            raise TrafficError(f"rows of a sparse matrix: expected columns from 0 to {shape[1] - 1}")


def of_dense(matrix: Any) -> Any:
    """A dense array as a sparse one."""
    import scipy.sparse

    what = "expected a SciPy sparse matrix, or a dense array of numbers in 2 dimensions"
    refuse_mask("matrix", matrix)
    try:
        array = np.asarray(matrix)
    except (ValueError, TypeError) as error:
        raise TrafficError(f"{what}: {error}") from None
    if array.ndim != 2 or array.dtype.kind not in "iufbc":
        raise TrafficError(
            f"{what}, found {type(matrix).__name__} of {array.ndim} dimensions and type {array.dtype}"
        )
    # What is no number of bytes has to stay, or nobody would hear of it.
    return scipy.sparse.coo_array(array)


def of_triples(
    endpoints: Any,
    sources: Any,
    destinations: Any,
    values: Any,
    packets: Any = None,
    hosts_hash: str | None = None,
) -> Traffic:
    """Traffic from columns, nothing of which is cast in silence.

    Parameters
    ----------
    endpoints : int or Fabric
        How many there are, or the fabric whose hosts they are.
    sources, destinations : array_like
        Whole numbers; or names of the fabric's hosts.
    values, packets : array_like
        Real numbers; packets may be None.
    hosts_hash : str, optional
        Of the fabric whose hosts they are, if it is not given.

    Raises
    ------
    TrafficError
        If a column is none, or holds what it should not, with its name and the first such entry.
    """
    from netloom._core import Fabric, traffic_of_columns

    fabric = endpoints if isinstance(endpoints, Fabric) else None
    if fabric is not None:
        if hosts_hash not in (None, fabric.hosts_hash):
            raise TrafficError(
                f"hosts_hash: {hosts_hash}, of another fabric than the one given: expected none"
            )
        endpoints, hosts_hash = fabric.hosts, fabric.hosts_hash
    if isinstance(endpoints, bool) or not isinstance(endpoints, int | np.integer):
        raise TrafficError(f"endpoints: expected a whole number or a fabric, found {_shown(endpoints)}")
    if not 0 < endpoints <= MOST_ENDPOINTS:
        raise TrafficError(f"endpoints: expected 1 to {MOST_ENDPOINTS:,}, found {endpoints}")
    at = _numbers_of(fabric) if fabric is not None else None
    count = int(endpoints)
    return traffic_of_columns(
        count,
        _indices("sources", sources, count, at),
        _indices("destinations", destinations, count, at),
        _amounts("bytes", values),
        None if packets is None else _amounts("packets", packets),
        hosts_hash,
    )


def refuse_mask(name: str, array: Any) -> None:
    """Refuses an array of which entries are masked: what lies under a mask is no value.

    Raises
    ------
    TrafficError
        With the first such entry.
    """
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        entry = tuple(int(at) for at in np.argwhere(np.ma.getmaskarray(array))[0])
        where = ", ".join(map(str, entry))
        raise TrafficError(
            f"{name}[{where}]: masked: expected a value (`filled(0)` gives masked entries one)"
        )


def _numbers_of(fabric: Fabric) -> dict[str, int]:
    """The numbers of hosts by name; a name that several have is none."""
    names = fabric.host_names
    at = {name: number for number, name in enumerate(names)}
    if len(at) < len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                at.pop(name, None)
            seen.add(name)
    return at


def _column(name: str, column: Any) -> npt.NDArray[Any]:
    refuse_mask(name, column)
    try:
        array = np.asarray(column)
    except (ValueError, TypeError) as error:
        raise TrafficError(f"{name}: expected an array of one dimension ({error})") from None
    if array.ndim != 1:
        raise TrafficError(f"{name}: expected an array of one dimension, found {array.ndim}")
    return array


def _indices(name: str, column: Any, endpoints: int, at: dict[str, int] | None) -> npt.NDArray[np.uint64]:
    array = _column(name, column)
    if not len(array):
        return np.zeros(0, np.uint64)
    if array.dtype.kind in "OUT" and all(isinstance(value, str) for value in array):
        if at is None:
            raise TrafficError(
                f"{name}: expected whole numbers, found {_shown(array[0])}: names are those of a fabric's "
                "hosts, which is then given in place of the number of endpoints"
            )
        found = [at.get(str(value), -1) for value in array]
        missing = next((entry for entry, number in enumerate(found) if number < 0), None)
        if missing is not None:
            raise TrafficError(
                f"{name}[{missing}]: no host of the fabric is called {_shown(array[missing])} alone"
            )
        return np.array(found, np.uint64)
    if array.dtype.kind == "O":
        whole = [isinstance(value, int | np.integer) and not isinstance(value, bool) for value in array]
        if not all(whole):
            entry = whole.index(False)
            raise TrafficError(f"{name}[{entry}]: expected a whole number, found {_shown(array[entry])}")
    elif array.dtype.kind not in "iu":
        raise TrafficError(f"{name}: expected whole numbers, found {_shown(array[0])} ({array.dtype})")
    out = np.flatnonzero((array < 0) | (array >= endpoints))
    if len(out):
        entry = int(out[0])
        raise TrafficError(f"{name}[{entry}]: expected 0 to {endpoints - 1}, found {_shown(array[entry])}")
    return np.ascontiguousarray(array, np.uint64)


def _amounts(name: str, column: Any) -> npt.NDArray[np.float64]:
    array = _column(name, column)
    if not len(array):
        return np.zeros(0)
    if array.dtype.kind == "O":
        real = [
            isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool) for v in array
        ]
        if not all(real):
            entry = real.index(False)
            raise TrafficError(f"{name}[{entry}]: expected a number, found {_shown(array[entry])}")
    elif array.dtype.kind not in "iuf":
        raise TrafficError(f"{name}: expected numbers, found {_shown(array[0])} ({array.dtype})")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float64)


def _shown(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
