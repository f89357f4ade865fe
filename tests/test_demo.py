"""`netloom demo`: everything it promises, from the inputs that ship with the package."""

from __future__ import annotations

import pytest

from netloom.live import missing_tools

ENGINES = ["minhop", "updn", "ftree", "d-mod-k", "s-mod-k", "random", "AFAR", "netloom"]


@pytest.mark.slow
def test_the_demo_keeps_its_promises(netloom):
    document = netloom.json("demo", "-o", "out")
    result = document["result"]
    rows = {row["engine"]: row for row in result["engines"]}
    assert list(rows) == ENGINES
    assert rows["netloom"]["max_load"] == min(row["max_load"] for row in rows.values())
    assert rows["AFAR"]["max_load"] <= rows["ftree"]["max_load"]
    # The bound does not depend on the engine, and nobody beats it.
    assert all(row["lower_bound"] <= row["max_load"] * (1 + 1e-9) for row in rows.values())
    assert result["fabric"]["hosts"] == 3072
    assert result["certificate"]["ok"] is True
    assert result["certificate"]["optimal"] == result["proven_optimal"]
    if not missing_tools():
        assert result["opensm"]["error"] is None
        assert result["opensm"]["tables_equal"] is True
        assert result["opensm"]["max_load"] < result["opensm"]["ftree_max_load"]
    for name in result["files"]:
        assert (netloom.folder / "out" / name).stat().st_size > 0
    again = netloom.result(
        "check",
        "quartz1",
        "out/routes.lfts",
        "--traffic",
        "out/traffic.mtx.gz",
        "--certificate",
        "out/certificate.json",
    )
    assert again["ok"] is True


def test_the_demo_writes_to_a_folder(netloom):
    assert "-o FOLDER" in netloom.refused("demo", "-o", "-", code=2)
    (netloom.folder / "taken").write_text("")
    assert "taken" in netloom.refused("demo", "-o", "taken")
