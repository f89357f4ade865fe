"""Machines with several adapters: every rank on its machine, in every verb."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess

import pytest

import mpi_bed
import netloom as nl
import rails_bed


@pytest.fixture
def case(netloom, paths):
    """The folder's copy of examples/rails."""
    for file in (paths.examples / "rails").iterdir():
        (netloom.folder / file.name).write_bytes(file.read_bytes())
    return netloom


def placement(netloom, *words: object) -> list[tuple[str, str]]:
    """Machine and adapter of every rank of the only job, as `traffic place` tells."""
    (job,) = netloom.result("traffic", "place", *words)["jobs"]
    assert [row["rank"] for row in job["placement"]] == list(range(job["ranks"]))
    return [(row["machine"], row["adapter"]) for row in job["placement"]]


@pytest.mark.parametrize("jobs", ["squeue.json", "squeue-4.json"])
def test_slurm_s_tasks_and_nodes_are_tasks_and_machines(case, jobs):
    result = case.result(
        "infer", "net.txt", "minhop", "counters.csv", "--jobs", jobs, "--truth", "traffic.csv"
    )
    # 16 adapters of 4 machines, not g0's 4 alone.
    assert [(job["hosts"], job["ranks"]) for job in result["hypothesis"]] == [(16, 16)]
    assert "outside-jobs" not in {one["kind"] for one in result["findings"]}
    assert result["unexplained_percent"] < 0.001
    words = ("--counters-from", "counters.csv", "--jobs", jobs, "--once")
    (job,) = case.result("watch", "net.txt", *words)["jobs"]
    assert job["hosts"] == 16


def test_four_ranks_are_on_four_machines(case):
    assert placement(case, "net.txt", "jobs.toml") == [(f"g{machine}", "mlx5_0") for machine in range(4)]
    text = case.ok("traffic", "place", "net.txt", "jobs.toml")
    assert text.splitlines()[-2:] == [
        "job  ranks  machines  hosts  leaves  first host",
        "t        4         4     16       4  g0 mlx5_0",
    ]


def test_a_simulated_job_is_on_four_machines(case, write):
    scenario = write(
        "s.toml",
        'fabric = "net.txt"\nroutes = ["minhop"]\n[[job]]\nhosts = "g[0-3]"\nranks = 4\n'
        'program = { kind = "all-to-all", bytes = 1000 }\n',
    )
    run = nl.Scenario.read(case.folder / scenario)
    names = run.fabric.host_names
    assert [names[host] for host in run.jobs[0].host_of_rank] == [
        f"g{machine} mlx5_0" for machine in range(4)
    ]
    case.ok("simulate", scenario)


RAILS_FABRIC = ("rails.txt", rails_bed.rails, rails_bed.RAILS, "")
STORAGE_FABRIC = ("storage.txt", rails_bed.with_storage, 4, "mlx5_4")


@pytest.mark.parametrize(("name", "make", "adapters", "storage"), [RAILS_FABRIC, STORAGE_FABRIC])
@pytest.mark.parametrize("machines", [2, 8, 32])
def test_all_verbs_agree_where_every_rank_is(netloom, write, name, make, adapters, storage, machines):
    write(name, make())
    ranks = machines * adapters
    want = [f"g{machine} mlx5_{local}" for machine in range(machines) for local in range(adapters)]
    nodes = f"g[0-{machines - 1}]"
    # Neighbours on a line of machines, rail by rail.
    grid = f"stencil:{adapters}x{machines},axis=y,bytes=1000000"
    where = f'hosts = "{nodes}"\n' + (f'storage = "{storage}"\n' if storage else "")
    jobs = write("jobs.toml", f'[[job]]\nname = "a"\npattern = "{grid}"\n{where}')
    scenario = write(
        "s.toml",
        f'fabric = "{name}"\nroutes = ["minhop"]\n[[job]]\nname = "a"\nranks = {ranks}\n{where}'
        f'program = {{ kind = "halo", shape = [{ranks}, 1, 1], face_bytes = 1000000, iterations = 1 }}\n',
    )
    squeue = {"job_id": 1, "name": "a", "nodes": nodes, "job_state": ["RUNNING"], "tasks": ranks}
    slurm = write("q.json", json.dumps({"jobs": [squeue]}))
    chosen = ("--storage", storage) if storage else ()

    # traffic place
    (job,) = netloom.result("traffic", "place", name, jobs)["jobs"]
    assert [row["host"] for row in job["placement"]] == want
    assert all(row["host"] == f"{row['machine']} {row['adapter']}" for row in job["placement"])
    # simulate, sample, diagnose, loop, plot run: the scene of a scenario
    run = nl.Scenario.read(netloom.folder / scenario)
    assert [run.fabric.host_names[host] for host in run.jobs[0].host_of_rank] == want
    # optimize and what takes traffic: what its ranks send, between these hosts
    netloom.ok("traffic", "place", name, jobs, "-o", "t.csv")
    fabric = nl.Fabric.read(netloom.folder / name)
    sent = nl.Traffic.read(netloom.folder / jobs, fabric).to_scipy().tocoo()
    names = fabric.host_names
    pairs = {(names[i], names[j]) for i, j in zip(sent.row.tolist(), sent.col.tolist(), strict=True)}
    assert pairs == {pair for both in zip(want, want[adapters:], strict=False) for pair in (both, both[::-1])}
    # infer and watch, of the counters that this leaves, with Slurm's job and with the jobs file
    netloom.ok("counters", "synth", name, "minhop", "t.csv", "--seconds", "10", "-o", "c.csv")
    for file, words in ((slurm, chosen), (jobs, ())):
        told = netloom.result("infer", name, "minhop", "c.csv", "--jobs", file, *words, "--truth", "t.csv")
        assert [(one["hosts"], one["ranks"]) for one in told["hypothesis"]] == [(ranks, ranks)]
        assert "outside-jobs" not in {one["kind"] for one in told["findings"]}
        assert told["unexplained_percent"] < 0.01
        assert told["verdict"] == "identified"
        assert told["leaf_error_percent"] < 0.5
        seen = netloom.result("watch", name, "--counters-from", "c.csv", "--jobs", file, *words, "--once")
        assert [one["hosts"] for one in seen["jobs"]] == [ranks]


def test_slurm_s_uneven_tasks_say_only_who_was_there(case, write):
    squeue = {"job_id": 1, "name": "a", "nodes": "g[0-3]", "job_state": ["RUNNING"], "tasks": 6}
    slurm = write("uneven.json", json.dumps({"jobs": [squeue]}))
    result = case.result("infer", "net.txt", "minhop", "counters.csv", "--jobs", slurm)
    assert [(job["hosts"], job["ranks"]) for job in result["hypothesis"]] == [(16, 16)]


@pytest.mark.parametrize(
    ("keys", "key", "said"),
    [
        ('adapters = "mlx5_9"', 3, 'no machine of the fabric has adapter "mlx5_9", did you mean "mlx5_0"?'),
        ('storage = "rail:4"', 3, "no machine of the fabric has rail 4 (counted from 0)"),
        ('adapters = "switch:rail9"', 3, 'has adapter on a switch "rail9", did you mean "rail0"?'),
        ('adapters = "rail:x"', 3, 'adapters: expected a rail\'s number as in rail:0, found "x"'),
        ('storage = "mlx5_[0-3]"', 2, 'lists "g0", of which its adapters and storage leave nothing'),
        ("ranks = 17", 2, "lists 4 hosts, 1 x 17 ranks at 4 a host need 5"),
    ],
)
def test_what_no_dealing_gives_is_refused_with_its_line(case, write, keys, key, said):
    text = f'[[job]]\nhosts = "g[0-3]"\n{keys}\n'
    line = case.refused("traffic", "place", "net.txt", write("bad.toml", text), "-o", "out.mtx")
    assert line.startswith(f"bad.toml:{key}: ")
    assert said in line


def test_rails_that_differ_are_told_with_their_machines(netloom, write):
    own = ["mlx5_0@l0", "mlx5_1@l1"]
    write("net.txt", rails_bed.fabric([own, own, ["mlx5_1@l1", "mlx5_2@l2"]]))
    job = '[[job]]\nhosts = "g[0-2]"\npattern = "all-to-all:ranks=3"\nadapters = "{}"\n'
    line = netloom.refused("traffic", "place", "net.txt", write("rail.toml", job.format("rail:0")))
    assert 'rail 0 is adapter "mlx5_0" of machine "g0" and "mlx5_1" of "g2"' in line
    line = netloom.refused("traffic", "place", "net.txt", write("name.toml", job.format("mlx5_0")))
    assert line.startswith("name.toml:4: ")
    assert 'machine "g2" has no adapter "mlx5_0"' in line
    both = write("both.toml", job.format("mlx5_1"))
    assert placement(netloom, "net.txt", both) == [(f"g{machine}", "mlx5_1") for machine in range(3)]


def test_adapters_without_jobs_are_a_mistake(case):
    line = case.refused("infer", "net.txt", "minhop", "counters.csv", "--storage", "mlx5_3", code=2)
    assert "--storage is about the jobs of --jobs" in line
    words = ("infer", "net.txt", "minhop", "counters.csv", "--jobs", "squeue.json", "--adapters")
    assert 'no machine of the fabric has adapter "mlx5_7"' in case.refused(*words, "mlx5_7")
    assert "adapters: expected a rail's number" in case.refused(*words, "rail:")


def test_launchers_are_told_the_machine_of_every_rank(case, write):
    jobs = write(
        "jobs8.toml", '[[job]]\nhosts = "g[0-3]"\npattern = "all-to-all:ranks=8"\nmapping = "cyclic"\n'
    )
    words = ("--write-rankfile", "ranks.txt", "--write-hostfile", "hosts.txt")
    result = case.result("traffic", "place", "net.txt", jobs, *words)
    assert (result["rankfile"], result["hostfile"]) == ("ranks.txt", "hosts.txt")
    machines = [row["machine"] for row in result["jobs"][0]["placement"]]
    assert machines == [f"g{rank % 4}" for rank in range(8)]
    assert (case.folder / "hosts.txt").read_text().split("\n") == [*machines, ""]
    lines = (case.folder / "ranks.txt").read_text().splitlines()
    assert lines == [f"rank {rank}=g{rank % 4} slot={rank // 4}" for rank in range(8)]
    two = write("two.toml", '[[job]]\nhosts = "g0"\nranks = 1\n[[job]]\nhosts = "g1"\nranks = 1\n')
    line = case.refused("traffic", "place", "net.txt", two, "--write-rankfile", "r.txt", code=2)
    assert "--write-rankfile is about one job, two.toml has 2" in line
    # What no launcher knows: an adapter that never got its machine's name.
    net = (
        (case.folder / "net.txt").read_text().replace("g0 mlx5_0", "MT4129 ConnectX7   Mellanox Technologies")
    )
    one = write("one.toml", '[[job]]\nhosts = ["0x506b4b0300c00010"]\nranks = 1\n')
    line = case.refused(
        "traffic", "place", write("odd.txt", net), one, "--write-hostfile", "h.txt", "-o", "t.csv"
    )
    assert 'expected machines by names that Slurm knows, found "0x506b4b0300c00010"' in line


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Open MPI is not installed")
def test_open_mpi_takes_the_rank_file(netloom, write):
    here = socket.gethostname()
    # As many ranks as there are cores that they may be bound to.
    ranks = min(len(os.sched_getaffinity(0)), 2)
    net = rails_bed.fabric([["mlx5_0@l0", "mlx5_1@l1"], ["mlx5_0@l0", "mlx5_1@l1"]]).replace(
        '"g0 ', f'"{here} '
    )
    jobs = write(
        "jobs.toml",
        f'[[job]]\nhosts = ["{here}"]\npattern = "all-to-all:ranks={ranks}"\nranks_per_host = 2\n',
    )
    netloom.ok("traffic", "place", write("net.txt", net), jobs, "--write-rankfile", "ranks.txt")
    command = ["mpirun.openmpi", "--host", f"{here}:{ranks}", "-np", str(ranks), "--rankfile", "ranks.txt"]
    shown = ["sh", "-c", "echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK"]
    environment = {**os.environ, **mpi_bed.ENVIRONMENT}
    done = subprocess.run(
        [*command, *shown], cwd=netloom.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} {rank}" for rank in range(ranks)]
