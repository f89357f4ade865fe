"""A real slurmctld loads `topology.conf`, and shows the same tree."""

from __future__ import annotations

import os
import re

import pytest

import netloom as nl
import slurm_cluster
from conftest import ROOT
from netloom._core import expand_hostlist
from netloom.exports import slurm

CASES = ROOT / "tests" / "data"

pytestmark = pytest.mark.skipif(
    bool(slurm_cluster.missing_tools()), reason=f"not installed: {', '.join(slurm_cluster.missing_tools())}"
)


def shown(text: str) -> dict[str, tuple[int, set[str], set[str]]]:
    """Level, nodes and switches below each switch, as `scontrol show topology` prints them."""
    found = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        words = dict(word.split("=", 1) for word in line.split())
        below = [set(expand_hostlist(words[key])) if key in words else set() for key in ("Nodes", "Switches")]
        found[words["SwitchName"]] = (int(words["Level"]), *below)
    return found


def expected(fabric: nl.Fabric) -> dict[str, tuple[int, set[str], set[str]]]:
    """The same from our tree: Slurm counts levels from the leaves, and lists all nodes below."""
    found: dict[str, tuple[int, set[str], set[str]]] = {}
    for one in slurm.tree(fabric):
        below = [found[name] for name in one.switches]
        level = 1 + max(own[0] for own in below) if below else 0
        nodes = set(one.nodes).union(*(own[1] for own in below))
        found[one.name] = (level, nodes, set(one.switches))
    return found


@pytest.mark.parametrize(
    ("source", "switches"),
    [
        # 4 pods of 24 leaves.
        ("opensm/quartz1/ibnetdiscover.txt.gz", 96 + 4 + 1),
        ("opensm/ft2_32/ibnetdiscover.txt", 8 + 1),
        ("quirks/rails_and_names.txt", None),
        ("cases/same-names/net.txt", None),
        ("fattree:pods=2,leaves=2,hosts=3,spines=2,groups=2,cores=2", 4 + 2 + 1),
        ("two-level:leaves=1,hosts=4,spines=1", 1),
        # 9 groups of 4 switches.
        ("dragonfly:p=2,a=4,h=2", 36 + 9 + 1),
    ],
)
def test_slurmctld_loads_the_tree_that_was_written(netloom, source, switches):
    generated = ":" in source
    fabric = nl.Fabric.generate(source) if generated else nl.Fabric.read(CASES / source)
    netloom.ok("fabric", "convert", source if generated else CASES / source, "-o", "topology.conf")
    nodes = slurm.hostlist(sorted(set(fabric.host_table()["machine"])))
    topology = (netloom.folder / "topology.conf").read_bytes()
    with slurm_cluster.cluster(nodes=nodes, topology=topology) as cluster:
        found = shown(cluster.run("scontrol", "show", "topology").stdout)
        said = (cluster.folder / "slurmctld.err").read_text()
        # A node is found below all of its switches.
        one = fabric.host_table()["machine"][-1]
        above = cluster.run("scontrol", "show", "topology", one).stdout
    assert found == expected(fabric)
    assert switches is None or len(found) == switches
    assert set(shown(above)) == {name for name, (_, below, _) in found.items() if one in below}
    # Of nodes without a switch, or switches that are not joined, it warns.
    assert not re.search(r"(warning|error).*(topology|switch)", said, re.IGNORECASE), said


STORAGE = CASES / "cases" / "storage-adapter-first" / "net.txt"


@pytest.mark.parametrize("words", [("--adapters", "mlx5_1"), ("--storage", "mlx5_0")])
def test_the_adapters_that_count_say_where_machines_are(netloom, words):
    (netloom.folder / "slurm.conf").write_text(
        "ClusterName=x\nNodeName=DEFAULT CPUs=4\nnodename=n[00-03] State=UNKNOWN\nNodeName=n[04-07]\n"
    )
    for nodes in ("n[00-07]", "slurm.conf"):
        netloom.ok("fabric", "convert", STORAGE, *words, "--nodes", nodes, "-o", "topology.conf")
        topology = (netloom.folder / "topology.conf").read_bytes()
        with slurm_cluster.cluster(nodes="n[00-07]", topology=topology) as cluster:
            found = shown(cluster.run("scontrol", "show", "topology").stdout)
            said = (cluster.folder / "slurmctld.err").read_text()
        assert {name: below for name, (level, below, _) in found.items() if level == 0} == {
            "comp0": {f"n{n:02}" for n in range(4)},
            "comp1": {f"n{n:02}" for n in range(4, 8)},
        }
        assert not re.search(r"lookup failure|Invalid hostnames", said), said


def test_adapters_of_slurm_s_tree_are_asked_for_and_refused_by_name(netloom):
    done = netloom("fabric", "convert", STORAGE, "-o", "t.yaml")
    assert "8 machines have adapters at several leaves, as n00" in done.err
    done = netloom("fabric", "convert", STORAGE, "--adapters", "mlx5_1", "-o", "u.conf")
    assert done.code == 3
    assert 'machine "oss0" has no adapter "mlx5_1"' in done.err
    assert "--nodes says which machines are Slurm's" in done.err
    assert netloom("fabric", "convert", STORAGE, "--nodes", "n99", "-o", "u.conf").code == 3
    assert netloom("fabric", "convert", STORAGE, "--nodes", "n[0", "-o", "u.conf").code == 3
    (netloom.folder / "none.conf").write_text("ClusterName=x\n")
    assert netloom("fabric", "convert", STORAGE, "--nodes", "none.conf", "-o", "u.conf").code == 3
    assert netloom("fabric", "convert", STORAGE, "--adapters", "mlx5_1", "-o", "u.net").code == 2
    assert not (netloom.folder / "u.conf").exists()


def test_a_tree_that_lacks_a_node_is_told_by_slurm():
    """That the test above looks at what slurmctld says."""
    text = slurm.topology_conf(nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1"))
    with slurm_cluster.cluster(nodes="host[0000-0004]", topology=text) as cluster:
        said = (cluster.folder / "slurmctld.err").read_text()
    assert re.search(r"WARNING: switches lack access to 1 nodes: host0004", said)


@pytest.mark.skipif(
    bool(slurm_cluster.missing_tools(jobs=True)),
    reason=f"not installed: {', '.join(slurm_cluster.missing_tools(jobs=True))}",
)
def test_a_cluster_of_one_machine_runs_jobs_and_leaves_none(tmp_path):
    """What `slurm_cluster` promises to tests that need jobs: an array runs, what still runs is ended."""
    with slurm_cluster.cluster(jobs=True) as cluster:
        script = tmp_path / "job.sh"
        script.write_text(f"#!/bin/sh\necho $SLURM_ARRAY_TASK_ID > {tmp_path}/$SLURM_ARRAY_TASK_ID.out\n")
        cluster.run("sbatch", "--wait", "--array=0-3", "--output=/dev/null", script)
        assert [int(p.read_text()) for p in sorted(tmp_path.glob("*.out"))] == [0, 1, 2, 3]
        script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 1000\n")
        cluster.run("sbatch", "--output=/dev/null", script)
        cluster.until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text().strip()))
        folder = cluster.folder
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
