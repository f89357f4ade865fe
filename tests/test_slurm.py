"""Who was where, from Slurm: what can be used is, what cannot is left out with a finding."""

from __future__ import annotations

import json
import random

import pytest

from netloom import slurm
from netloom.errors import NetloomError


def squeue(*jobs: dict) -> bytes:
    return json.dumps({"meta": {"plugin": {"type": "openapi/slurmctld"}}, "jobs": jobs}).encode()


def job(number: int, nodes: str, **more: object) -> dict:
    return {"job_id": number, "name": "lulesh", "nodes": nodes, "job_state": ["RUNNING"], **more}


A = job(1, "host[0000-0007]", tasks={"set": True, "infinite": False, "number": 16})
B = job(2, "host[0008-0015]", cluster="here", tasks=8)
SACCT = """JobID|JobName|NodeList|State|Cluster|NTasks
1|lulesh|host[0000-0007]|RUNNING|here|
1.batch|batch|host0000|RUNNING|here|1
1.0|lulesh|host[0000-0007]|RUNNING|here|16
2|cg|host[0008-0015]|CANCELLED by 1000|here|
3|waits|None assigned|PENDING|here|
"""


def test_squeue_and_sacct_tell_nodes_and_tasks():
    found = slurm.read(squeue(A, B, job(3, "", job_state=["PENDING"])), "q.json")
    assert [(one.title, len(one.nodes), one.tasks) for one in found] == [
        ("lulesh.1", 8, 16),
        ("lulesh.2", 8, 8),
    ]
    # Old versions tell one state, sacct a state of its own and tasks by step.
    steps = [{"tasks": {"count": 1}}, {"tasks": {"count": 16}}]
    old = {"job_id": 7, "name": "x", "nodes": "a[1-4]", "state": {"current": "RUNNING"}, "steps": steps}
    assert slurm.read(json.dumps({"jobs": [old]}).encode(), "s")[0].tasks == 16
    found = slurm.read(SACCT.encode(), "sacct.txt")
    assert [(one.title, len(one.nodes), one.tasks) for one in found] == [
        ("lulesh.1", 8, 16),
        ("cg.2", 8, None),
    ]
    # -P ends lines without a bar, -p with one.
    bars = "".join(f"{line}|\n" for line in SACCT.splitlines())
    assert slurm.read(bars.encode(), "sacct.txt") == found


def test_what_cannot_be_used_is_left_out_and_told():
    jobs = slurm.read(
        squeue(
            A,
            job(2, "host[0008-0009],x17"),
            job(3, "y[1-9]", cluster="b"),
            job(4, "host0020"),
            job(5, "host0020"),
        ),
        "q.json",
    )
    kept, found = slurm.usable(jobs, [f"host{n:04}" for n in range(32)], "q.json")
    assert [one.number for one in kept] == ["1"]
    assert {one["kind"] for one in found} == {"job-left-out"}
    told = "\n".join(one["text"] for one in found)
    assert 'nodes that this fabric does not have: lulesh.2 ("x17")' in told
    assert 'of another cluster?: lulesh.3 (cluster "b")' in told
    assert "2 jobs left out, that share nodes" in told
    with pytest.raises(NetloomError, match="no job is left"):
        slurm.usable(jobs, ["z"], "q.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "q:1: expected JSON"),
        ('{"job": []}', 'expected "jobs", a list'),
        ('{"jobs": [3]}', "job 0: expected an object"),
        ('{"jobs": [{"nodes": "a[1-"}]}', "expected a job_id"),
        ('{"jobs": [{"job_id": 1, "nodes": "a[1-"}]}', "job 0: nodes: column"),
        ('{"jobs": [{"job_id": 1, "nodes": ["a"]}]}', "expected nodes as a hostlist"),
        ("JobID|State\n1|RUNNING\n", "q:1: expected a header with JobID and NodeList"),
        ("JobID|NodeList\n1\n", "q:2: expected 2 columns, found 1"),
        ("JobID|NodeList\n|a1\n", "q:2: expected a JobID"),
    ],
)
def test_what_is_not_slurm_s_is_refused_with_its_place(text, expected):
    with pytest.raises(NetloomError) as error:
        slurm.read(text.encode(), "q")
    assert expected in str(error.value)


def test_hostile_octets_are_refused_or_read():
    """Mutated output never ends in anything but jobs or an error of ours."""
    rng = random.Random(1)
    for whole in (squeue(A, B), SACCT.encode()):
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(0, 4)] = rng.randbytes(rng.randrange(0, 4))
            try:
                jobs = slurm.read(bytes(data), "q")
                if jobs:
                    slurm.usable(jobs, {node for one in jobs for node in one.nodes}, "q")
            except NetloomError:
                continue


def test_watch_and_infer_take_slurm_s_jobs_and_standard_input(netloom, paths):
    netloom.ok("counters", "synth", paths.ft2, "ftree", "permutation", "--seconds", "1", "-o", "c.csv")
    data = squeue(A, B, job(3, "elsewhere[1-4]", cluster="b")).decode()
    (netloom.folder / "q.json").write_text(data)
    words = ("--counters-from", "c.csv", "--jobs", "q.json", "--once", "--hottest", "1")
    result = netloom.result("watch", paths.ft2, *words, code=1)
    assert [(one["name"], one["hosts"]) for one in result["jobs"]] == [("lulesh.1", 8), ("lulesh.2", 8)]
    assert [one["kind"] for one in result["findings"]] == ["job-left-out"]
    (netloom.folder / "s.txt").write_text(SACCT)
    words = ("--counters-from", "c.csv", "--jobs", "s.txt", "--once")
    assert [one["name"] for one in netloom.result("watch", paths.ft2, *words)["jobs"]] == ["lulesh.1", "cg.2"]
    # Counters of the two jobs alone, so that there is nothing to find but the job that is left out.
    both = '[[job]]\nname = "a"\nhosts = "host[0000-0007]"\nranks = 8\n'
    netloom.ok("counters", "synth", paths.ft2, "ftree", "all-to-all", "--seconds", "1", "-o", "d.csv")
    result = netloom.result(
        "watch", paths.ft2, "--counters-from", "d.csv", "--jobs", "-", "--once", stdin=both.encode()
    )
    assert [(one["name"], one["hosts"]) for one in result["jobs"]] == [("a", 8)]
    result = netloom.result("infer", paths.ft2, "ftree", "c.csv", "--jobs", "-", stdin=data.encode(), code=1)
    assert "job-left-out" in {one["kind"] for one in result["findings"]}
    file = '[[job]]\nname = "a"\nhosts = "host[0000-0007]"\nmatrix = "m.mtx"\n'
    text = netloom.refused("infer", paths.ft2, "ftree", "c.csv", "--jobs", "-", stdin=file.encode())
    assert "expected jobs that name no files" in text
