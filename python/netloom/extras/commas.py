"""Tables as CSV without PyArrow: the same bytes that `pyarrow.csv.write_csv` makes of them.

Names and texts are in quotes, numbers as short as they can be read back, truths `true` and `false`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads

_DECIMALS = (-6, 10)
"""Powers of ten of the first digit between which a number is written without an exponent."""


def loads_csv(loads: LinkLoads, fabric: Fabric) -> bytes:
    """Returns what `loads.to_arrow()` has as CSV, to the byte as PyArrow writes it, which is faster.

    Parameters
    ----------
    loads : LinkLoads
        The loads of every link.
    fabric : Fabric
        The one they are of.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
    >>> loads = nl.loads(fabric, "ftree", nl.Traffic.read("bisection", fabric))
    >>> loads_csv(loads, fabric).splitlines()[1]
    b'"host0000",1,"leaf00",1,1.25e+10,true,false,1'
    """
    links = fabric.link_table()
    names = np.array([*fabric.host_names, *fabric.switch_names])
    columns = {
        "from": names[links["source"]],
        "from_port": links["source_port"],
        "to": names[links["target"]],
        "to_port": links["target_port"],
        **{name: links[name] for name in ("bandwidth_bytes_per_s", "alive", "between_switches")},
        "load": loads.per_link,
    }
    return csv_bytes(columns)


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """Returns columns as CSV.

    Parameters
    ----------
    columns : mapping
        Columns by name, all equally long: arrays, or lists of texts.

    Examples
    --------
    >>> csv_bytes({"from": ["h1"], "load": [2.0]})
    b'"from","load"\\n"h1",2\\n'
    """
    lines = [",".join(map(_text, columns))]
    lines += map(",".join, zip(*map(_written, columns.values()), strict=True))
    return "".join(f"{line}\n" for line in lines).encode()


def _written(column: Any) -> Iterable[str]:
    values = np.asarray(column)
    if values.dtype.kind == "f":
        return map(_number, values.tolist())
    if values.dtype.kind == "b":
        return ("true" if value else "false" for value in values.tolist())
    return map(str if values.dtype.kind in "iu" else _text, values.tolist())


def _text(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _number(value: float) -> str:
    text = repr(value)
    if text.endswith(".0") and len(text) <= _DECIMALS[1] + 2:
        return text[:-2]
    if "n" in text:  # inf, nan
        return text
    number = Decimal(text).normalize()
    first = number.adjusted()
    if number == 0 or _DECIMALS[0] <= first < _DECIMALS[1]:
        return f"{number:f}"
    digits = "".join(map(str, number.as_tuple().digits))
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{'-' if number < 0 else ''}{mantissa}e{first:+d}"
