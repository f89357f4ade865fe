"""Two planes in one file: every verb works on one, and says which where nobody did."""

from __future__ import annotations

import pytest

import netloom as nl
import rails_bed


@pytest.fixture
def planes(netloom, write):
    """Four machines with an adapter on each of two leaves that nothing joins; one has none on the second."""
    both = ["mlx5_0@a", "mlx5_1@b"]
    write("net.txt", rails_bed.fabric([both, both, both, ["mlx5_0@a"]], spines=0))
    write("jobs.toml", '[[job]]\nhosts = "g[0-2]"\npattern = "all-to-all:ranks=3,bytes=1000"\n')
    return netloom


def placed(netloom, fabric: str) -> list[str]:
    (job,) = netloom.result("traffic", "place", fabric, "jobs.toml")["jobs"]
    return [row["host"] for row in job["placement"]]


def test_the_largest_plane_is_taken_and_told(planes):
    done = planes("loads", "net.txt", "minhop", "all-to-all")
    assert done.code == 0
    assert (
        '2 planes that no cable joins: 1 (4 hosts, with "g0 mlx5_0"), 2 (3 hosts, with "g0 mlx5_1")'
        in done.err
    )
    assert planes.result("fabric", "show", "net.txt")["hosts"] == 4
    assert placed(planes, "net.txt") == [f"g{machine} mlx5_0" for machine in range(3)]


@pytest.mark.parametrize("name", ["net.txt#2", "net.txt#b", "net.txt#g1 mlx5_1"])
def test_a_plane_is_asked_for_by_number_or_name(planes, write, name):
    assert planes.result("fabric", "show", name)["hosts"] == 3
    assert placed(planes, name) == [f"g{machine} mlx5_1" for machine in range(3)]
    done = planes("loads", name, "minhop", "all-to-all")
    assert (done.code, done.err) == (0, "")
    assert nl.Fabric.read(planes.folder / name).host_names == [f"g{machine} mlx5_1" for machine in range(3)]
    scenario = write(
        "s.toml", f'fabric = "{name}"\n[[job]]\nprogram = {{ kind = "collective", collective = "barrier" }}\n'
    )
    assert nl.Scenario.read(planes.folder / scenario).fabric.hosts == 3
    planes.ok("simulate", scenario)


def test_counters_of_each_plane_are_read(planes):
    parts = []
    for plane in ("1", "2"):
        words = ("minhop", "all-to-all", "--seconds", "1", "-o", "c.csv")
        planes.ok("counters", "synth", f"net.txt#{plane}", *words)
        parts.append((planes.folder / "c.csv").read_text().splitlines(keepends=True))
    assert parts[0][0] == parts[1][0]
    for plane in ("1", "2"):
        own = parts[int(plane) - 1]
        (planes.folder / "own.csv").write_text("".join(own))
        result = planes.result("infer", f"net.txt#{plane}", "minhop", "own.csv")
        assert result["unexplained_percent"] < 0.01


def test_a_plane_that_is_not_there_is_refused(planes, write):
    line = planes.refused("fabric", "show", "net.txt#3")
    assert line == 'net.txt: expected a plane\'s number, 1 to 2, or the name of a node in it, found "3"'
    assert "did you mean" in planes.refused("loads", "net.txt#aa", "minhop", "all-to-all")
    # A file of that very name is a file.
    (planes.folder / "net.txt#1").write_text((planes.folder / "net.txt").read_text())
    assert planes.result("fabric", "show", "net.txt#1")["hosts"] == 4
