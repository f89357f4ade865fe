"""`netloom.exact.dictionary`: table 4.1's last column, by a linear program that is finished."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl

linprog = pytest.importorskip("scipy.optimize").linprog

from netloom.exact.dictionary import split  # noqa: E402

SMALL = "two-level:leaves=8,hosts=16,spines=8"


def written(folder, cells: np.ndarray, name: str = "one.mtx"):
    """Cells, `[destination, source]`, as a file and read again."""
    to, source = np.nonzero(cells)
    head = f"%%MatrixMarket matrix coordinate integer general\n{len(cells)} {len(cells)} {len(to)}\n"
    rows = "".join(f"{s + 1} {t + 1} {int(cells[t, s])}\n" for t, s in zip(to, source, strict=True))
    (folder / name).write_text(head + rows)
    return nl.Traffic.read(folder / name)


def cells_of(traffic) -> np.ndarray:
    return np.array(nl.coefficients(traffic, "identity")).reshape(traffic.endpoints, -1)


def test_a_shift_has_a_run_and_an_end():
    found = split(nl.Traffic.pattern("shift:1", 8))
    # [1, 0] begins the diagonal, [0, 7] closes the ring; each has a sum and a difference with nothing.
    assert (found.all, found.of_error, found.of_power) == (4, 4, 4)


@pytest.mark.parametrize("count", [6, 8])
def test_no_other_sum_has_less(tmp_path, count):
    """All cells as unknowns, and columns from the core's own bases: another program with the same optimum."""
    random = np.random.default_rng(count)
    cells = np.where(random.random((count, count)) < 0.5, random.integers(1, 50, (count, count)), 0)
    np.fill_diagonal(cells, 0)
    traffic = written(tmp_path, cells)
    found = split(traffic)
    assert all((part >= 0).all() for part in found.parts)
    assert np.allclose(sum(found.parts), cells)
    bases = []
    for basis in found.bases:
        columns = []
        for cell in range(count * count):
            if cell % (count + 1) == 0:
                continue
            unit = np.zeros(count * count)
            unit[cell] = 1
            columns.append(nl.coefficients(written(tmp_path, unit.reshape(count, count), "u.mtx"), basis))
        bases.append(np.array(columns).T)
    target = cells[~np.eye(count, dtype=bool)]
    size, rows = len(target), count * count
    one = np.eye(rows)
    zero = np.zeros((rows, size))
    equal = np.vstack(
        [
            np.hstack([bases[0], zero, -one, one, 0 * one, 0 * one]),
            np.hstack([zero, bases[1], 0 * one, 0 * one, -one, one]),
            np.hstack([np.eye(size), np.eye(size), np.zeros((size, 4 * rows))]),
        ]
    )
    best = linprog(
        np.concatenate([np.zeros(2 * size), np.ones(4 * rows)]),
        A_eq=equal,
        b_eq=np.concatenate([np.zeros(2 * rows), target]),
        method="highs-ipm",
    )
    sums = [
        np.abs(base @ part[~np.eye(count, dtype=bool)]).sum()
        for base, part in zip(bases, found.parts, strict=True)
    ]
    assert sum(sums) == pytest.approx(best.fun, rel=1e-7)


def test_lulesh_both_ways_alike_has_the_dissertations_row(tmp_path, paths):
    """Table 4.1, LULESH, every column; the recorded run itself sends twice as much one way as the other."""
    cells = cells_of(nl.Traffic.read(paths.examples / "data" / "lulesh-512.mtx.gz"))
    both = written(tmp_path, cells + cells.T)
    bases = nl.bases()[:-1]
    rows = [[round(count / 512 + 1e-9, 2) for count in nl.sparsity(both, basis)] for basis in bases]
    found = split(both)
    rows.append([round(count / 512, 2) for count in (found.all, found.of_error, found.of_power)])
    by_kind = list(zip(*rows, strict=True))
    # Identity, symmetric, differences, copy-shift and their symmetric ones, dictionary.
    assert by_kind[0] == (19.80, 9.90, 3.93, 1.97, 5.94, 2.97, 1.29)
    assert by_kind[1] == by_kind[2] == (5.25, 2.63, 0.56, 0.28, 0.86, 0.43, 0.04)


def test_the_study_counts_with_it(netloom):
    asked = ("study", "chapter4", "boxlibmg-64", "--fabric", SMALL, "--lanes", "5", "--bases", "identity")
    found = netloom.result(*asked, "--each", "5", "--simplex")
    assert found["simplex"]
    last = found["applications"][0]["coefficients"][-1]
    assert (last["basis"], last["a_rank"]) == ("dictionary", 46 / 64)


def test_both_parts_are_drawn(netloom, paths):
    data = paths.examples / "data" / "boxlibmg-64.mtx.gz"
    drawn = [
        netloom.result("plot", "coefficients", data, "--basis", f"dictionary:{part}", "-o", f"{part}.png")
        for part in (1, 2)
    ]
    assert sum(one["coefficients"] for one in drawn) == split(nl.Traffic.read(data)).all == 46
    some = netloom.result(
        "plot", "coefficients", data, "--basis", "dictionary:1", "--part", "0:8", "-o", "few.png"
    )
    assert some["endpoints"] == 8
