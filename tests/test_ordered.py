"""Jobs on machines with several adapters: bytes that stay inside, ranks by leaf, what launchers take."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import rankfile
from netloom.errors import PlaceError
from netloom.training.placed import Ranked, by_leaf, outside

RAILS = "rail:units=4,machines=2,rails=2,radix=8"
"""Machines 0 and 1 are on the leaves of unit 0, 2 and 3 on those of unit 1, and so on."""
SCATTERED = [4, 0, 7, 2]
"""Machines of a job, no two of a unit, in no order."""


def jobs_file(machines: list[int], matrix: str) -> str:
    names = ", ".join(f'"m{machine:03}"' for machine in machines)
    return f'[[job]]\nname = "t"\nmatrix = "{matrix}"\nhosts = [{names}]\nranks_per_host = 2\n'


def test_what_stays_inside_is_left_out_and_told(netloom, write):
    netloom.ok("traffic", "new", "nccl-pairs:ranks=8,bytes=8000", "-o", "pairs.mtx")
    jobs = write("jobs.toml", jobs_file(SCATTERED, "pairs.mtx"))
    plain = netloom.result("traffic", "place", RAILS, jobs)
    # Eight ranks with pieces of 1,000 bytes, two a machine: of seven receivers one is in the machine.
    assert (plain["total_bytes"], plain["inside_machines"]) == (56000, None)
    local = netloom.result("traffic", "place", RAILS, jobs, "--local", "-o", "placed.csv")
    assert (local["total_bytes"], local["inside_machines"], local["pairs"]) == (48000, 8000, 48)
    assert local["bytes"] == plain["bytes"]
    again = netloom.result("traffic", "show", "placed.csv", RAILS)
    assert (again["total_bytes"], again["fits"]) == (48000, True)
    fabric = nl.Fabric.generate(RAILS)
    machine = np.array(fabric.host_table()["machine"])
    source, target = nl.Traffic.read(netloom.folder / "placed.csv", fabric).to_scipy().nonzero()
    assert (machine[source] != machine[target]).all()


def test_ranks_follow_the_leaves_on_the_same_hosts(netloom, write):
    netloom.ok("traffic", "new", "nccl-ring:machines=4,gpus=2,bytes=8000", "-o", "ring.mtx")
    jobs = write("jobs.toml", jobs_file(SCATTERED, "ring.mtx"))
    rows = {}
    for name, words in (("given", []), ("leaf", ["--order", "leaf"])):
        files = ["--write-hostfile", f"{name}.txt", "--write-rankfile", f"{name}.rank"]
        result = netloom.result(
            "traffic", "place", RAILS, jobs, *words, *files, "--write-torchrun", f"{name}.tsv", "-o", "t.csv"
        )
        rows[name] = [(row["machine"], row["adapter"]) for row in result["jobs"][0]["placement"]]
        # What rank i sends rank j is now between their hosts.
        hosts = {name: number for number, name in enumerate(nl.Fabric.generate(RAILS).host_names)}
        placed = [hosts[row["host"]] for row in result["jobs"][0]["placement"]]
        ring = nl.Traffic.read(netloom.folder / "ring.mtx").to_scipy().toarray()
        on_hosts = nl.Traffic.read(netloom.folder / "t.csv").to_scipy().toarray()
        assert np.array_equal(on_hosts[np.ix_(placed, placed)], ring)
        assert on_hosts.sum() == ring.sum()
    assert rows["given"] == [(f"m{m:03}", f"mlx5_{r}") for m in SCATTERED for r in (0, 1)]
    assert rows["leaf"] == [(f"m{m:03}", f"mlx5_{r}") for m in sorted(SCATTERED) for r in (0, 1)]
    folder = netloom.folder
    assert (folder / "leaf.txt").read_text().split() == [name for name, _ in rows["leaf"]]
    assert (
        (folder / "leaf.rank").read_text().startswith("rank 0=m000 slot=0\nrank 1=m000 slot=1\nrank 2=m002")
    )
    lines = [line.split("\t") for line in (folder / "leaf.tsv").read_text().splitlines()]
    assert [name for name, _ in lines] == ["m000", "m002", "m004", "m007"]
    assert lines[3][1] == "--nnodes=4 --nproc-per-node=2 --node-rank=3 --master-addr=m000"


def test_leaves_come_before_names():
    # Hosts a and c are on one leaf, b and d on the other: by leaf they are neighbours, by name they are not.
    fabric = nl.Fabric.from_edges(
        [("a", "l0"), ("c", "l0"), ("b", "l1"), ("d", "l1"), ("l0", "s"), ("l1", "s")]
    )
    job = Ranked("t", np.arange(4), np.arange(4))
    moved, (ranked,) = by_leaf(nl.Traffic.pattern("ring:bytes=1", 4), [job], fabric)
    names = [fabric.host_names[host] for host in ranked.host_of_rank]
    assert names in (["a", "c", "b", "d"], ["b", "d", "a", "c"])
    assert moved.pairs == 4


def test_jobs_of_uneven_machines_have_no_order():
    fabric = nl.Fabric.generate(RAILS)
    job = Ranked("t", np.arange(4), np.array([0, 1, 2]))
    with pytest.raises(PlaceError, match=r'job "t".*found 2 of m000 and 1 of m001'):
        by_leaf(nl.Traffic.pattern("ring:bytes=1", fabric.hosts), [job], fabric)


def test_torchrun_numbers_ranks_machine_by_machine():
    for machines in (["a", "b", "a", "b"], ["a", "a", "b", "b", "b"], ["a", "a", "b"], ["a", "b", "b", "c"]):
        with pytest.raises(PlaceError, match="machine by machine, as many on each"):
            rankfile.torchrun(machines)
    with pytest.raises(PlaceError, match="names that torchrun knows"):
        rankfile.torchrun(["a b"])


def test_one_adapter_a_machine_leaves_all_out_of_the_machine():
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    every = nl.Traffic.pattern("all-to-all:bytes=10", 4)
    kept, stays = outside(every, fabric)
    assert (kept.total_bytes, stays) == (120, 0)
