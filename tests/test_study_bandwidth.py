"""`netloom study bandwidth`: figure 8 of Chen et al."""

from __future__ import annotations

import pytest


def test_theorem_3_3_carries_most_and_fills_every_level(netloom):
    """Visits 3.5, 2, 1: equal thirds carry (1/3)/3.5, the theorem 1/6.5; that is 6.5/10.5 of it."""
    rows = {row["division"]: row for row in netloom.result("study", "bandwidth")["rows"]}
    assert list(rows) == ["as built", "equal", "theorem 3.3", "most at the top"]
    assert rows["equal"]["throughput"] == pytest.approx(6.5 / 10.5)
    assert rows["theorem 3.3"]["bandwidth_shares"] == pytest.approx([3.5 / 6.5, 2 / 6.5, 1 / 6.5])
    assert rows["theorem 3.3"]["used_percent"] == pytest.approx([100, 100, 100])
    # A 6.5th on the first level, which needs 3.5 of them: it alone is full.
    assert rows["most at the top"]["throughput"] == pytest.approx(1 / 3.5)
    assert rows["most at the top"]["used_percent"] == pytest.approx([100, 100 / 3.5, 100 / 3.5**2])
    # As built 3.82 : 1.02 : 1.30 of 6.14: the second level ends it.
    assert rows["as built"]["throughput"] == pytest.approx(1.02 / 6.14 / 2 * 6.5)
    for row in rows.values():
        assert sum(row["bandwidth_shares"]) == pytest.approx(1)


def test_visits_of_ones_own(netloom):
    rows = netloom.result("study", "bandwidth", "2", "0.5")["rows"]
    assert [row["division"] for row in rows] == ["equal", "theorem 3.3", "most at the top"]
    assert rows[0]["throughput"] == pytest.approx(2.5 / 4)


@pytest.mark.parametrize("words", [("1",), ("1", "0"), ("1", "nan"), ("2", "inf")])
def test_visits_that_are_none_are_refused(netloom, words):
    assert "expected two levels or more" in netloom.refused("study", "bandwidth", *words, code=2)
