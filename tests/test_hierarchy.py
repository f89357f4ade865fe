"""`netloom traffic show --levels`: numbers of paper 004, worked elsewhere, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import levels
from netloom.hierarchy import Hierarchy, use

# P(H >= 2), (>= 3), (>= 4), rank r on host r: counted from the matrices by other code.
SHARES = [
    ("lulesh-64.mtx.gz", "4x4x4x4", [0.6775, 0.3444, 0.0]),
    ("snap-168.mtx.gz", "4x4x4x4", [0.5935, 0.3968, 0.0839]),
    ("nekbone-256.mtx.gz", "8x8x8", [0.6799, 0.3222]),
    ("hpcg-216.mtx.gz", "16x16", [0.5118]),
    ("ft-128.ti.gz", "4x4x4x4", [0.9764, 0.8819, 0.5039]),
]


@pytest.mark.parametrize(("name", "sizes", "expected"), SHARES)
def test_shares_that_leave_groups_are_those_counted_from_the_matrix(netloom, paths, name, sizes, expected):
    found = netloom.result("traffic", "show", paths.examples / "data" / name, "--levels", sizes)["levels"]
    assert found["beyond"] == pytest.approx([1.0, *expected], abs=6e-5)
    assert found["visits"] == pytest.approx([2 * share for share in found["beyond"]])
    # A chain of the same steps crosses as many links.
    assert levels.visits(found["first"], found["onward"]) == pytest.approx(found["visits"])


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [("direct:4x5x21", [2.6420, 1.5656, 0.9547]), ("direct:2x3x7", [1.5854, 1.2683, 0.8780])],
)
def test_uniform_traffic_on_a_direct_network(netloom, sizes, expected):
    """GUPS of paper 004, even gateways. By hand for 2 x 3 x 7, half of the nodes not being the gateway:

    1/41 same board: 1 link; 4/41 same rack: 2 x 1/2 of level 1, 1 of level 2; 36/41 other racks: twice 5/6 of
    level 1 and twice 2/3 of level 2, 1 of level 3.
    """
    nodes = Hierarchy.parse(sizes).nodes
    found = netloom.result("traffic", "show", f"all-to-all:ranks={nodes},bytes=24", "--levels", sizes)
    assert found["levels"]["visits"] == pytest.approx(expected, abs=6e-5)
    assert found["levels"]["even"] is True
    assert Hierarchy.parse("direct:8x16x4").is_even is False


def test_ways_of_a_direct_network_end_where_they_should():
    """Three boards of two. Node 0 has the link to the next board, where it ends at the second node."""
    hierarchy = Hierarchy.parse("direct:2x3")
    traffic = nl.Traffic.from_triples(6, [1], [3], [5.0])
    # 1 to 0, over to 3.
    found = use(traffic, hierarchy)
    assert found.visits.tolist() == [1.0, 1.0]
    assert found.first.tolist() == [1.0, 0.0]
    assert found.onward.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    # 1 to 0, over to 3, 3 to 2.
    assert use(nl.Traffic.from_triples(6, [1], [2], [5.0]), hierarchy).visits.tolist() == [2.0, 1.0]
    # 1 has the link to the board after the next: over to 4, 4 to 5.
    assert use(nl.Traffic.from_triples(6, [1], [5], [5.0]), hierarchy).visits.tolist() == [1.0, 1.0]


def test_table_1_tall_trees_cross_more_links_than_flat_ones_and_random_ranks_more_than_ranks_in_order(paths):
    """Order of table I of paper 004, by links a byte crosses: its own trace is not public."""
    matrix = nl.Traffic.read(paths.examples / "data" / "nekbone-256.mtx.gz").to_scipy().tocoo()
    draw = np.random.default_rng(3).permutation(256)
    random = nl.Traffic.from_triples(256, draw[matrix.row], draw[matrix.col], matrix.data)
    rows = []
    for traffic in (nl.Traffic.read(paths.examples / "data" / "nekbone-256.mtx.gz"), random):
        rows.append(
            [use(traffic, Hierarchy.parse(sizes)).visits.sum() for sizes in ("4x4x4x4", "8x8x8", "16x16")]
        )
    in_order, at_random = rows
    assert in_order == sorted(in_order, reverse=True)
    assert at_random == sorted(at_random, reverse=True)
    assert all(one < other for one, other in zip(in_order, at_random, strict=True))


@pytest.mark.parametrize("sizes", ["", "4x", "4x1", "direct:", "4,4", "ring:4x4", "-4x4", "2x2x2x2x2x2x2"])
def test_sizes_that_are_none_are_refused(netloom, sizes):
    error = netloom.refused("traffic", "show", "all-to-all:ranks=4", f"--levels={sizes}", code=2)
    assert "--levels: expected sizes of at least 2 from the ground up" in error


def test_more_endpoints_than_room_are_refused(netloom):
    error = netloom.refused("traffic", "show", "all-to-all:ranks=17", "--levels", "4x4")
    assert "--levels: expected at most 16 endpoints, as 4x4 has, found 17" in error
