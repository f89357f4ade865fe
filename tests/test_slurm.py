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
    assert [(one.title, len(one.nodes), one.tasks, one.ended) for one in found] == [
        ("lulesh.1", 8, 16, False),
        ("cg.2", 8, None, True),
    ]
    # -P ends lines without a bar, -p with one.
    bars = "".join(f"{line}|\n" for line in SACCT.splitlines())
    assert slurm.read(bars.encode(), "sacct.txt") == found


def test_a_requeued_job_counts_by_the_time_it_ran():
    text = (
        "JobID|JobName|Start|End|NodeList|State\n"
        "7|a|100|200|host0000,host0001|REQUEUED\n"
        "7|a|300|400|host0002,host0003|COMPLETED\n"
    )
    found = slurm.read(text.encode(), "sacct.txt")
    assert [(one.start, one.ended) for one in found] == [(100.0, True), (300.0, True)]
    names = [f"host000{at}" for at in range(4)]
    for period, nodes in (("100,150", names[:2]), ("350,390", names[2:]), ("100,400", names[2:])):
        kept, told = slurm.usable(found, names, "sacct.txt", slurm.Period.parse(period))
        assert [one.nodes for one in kept] == [nodes]
        assert told == []


def test_parts_of_a_heterogeneous_job_are_numbered_as_sacct_does():
    parts = [
        job(20 + at, f"host000{at}", het={"job_id": 20, "job_offset": {"set": True, "number": at}})
        for at in (0, 1)
    ]
    single = job(30, "host0002", het={"job_id": 0, "job_offset": {"set": False, "number": 0}})
    found = slurm.read(squeue(*parts, single), "q.json")
    assert [one.number for one in found] == ["20+0", "20+1", "30"]


def test_a_byte_order_mark_is_passed_over():
    marked = b"\xef\xbb\xbf" + SACCT.encode()
    assert slurm.is_slurm(marked)
    assert slurm.read(marked, "sacct.txt") == slurm.read(SACCT.encode(), "sacct.txt")


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


def test_jobs_that_have_ended_do_not_count():
    rows = [
        *(
            ("101", "COMPLETED", 100, 200),
            ("102", "CANCELLED by 1001", 300, 400),
            ("103", "FAILED", 500, 600),
        ),
        *(("104", "TIMEOUT", 700, 800), ("105", "NODE_FAIL", 900, 1000), ("110", "RUNNING", 950, "Unknown")),
    ]
    lines = [f"{number}|x|n[00-03]|{state}|{start}|{end}" for number, state, start, end in rows]
    table = "\n".join(["JobID|JobName|NodeList|State|Start|End", *lines, ""])
    listed = [
        job(int(number), "n[00-03]", job_state=[state.split()[0]], start_time=start, end_time={"number": end})
        for number, state, start, end in rows
    ]
    times = [
        {"job_id": one["job_id"], "nodes": one["nodes"], "state": {"current": one["job_state"]}}
        | {"time": {"start": one["start_time"], "end": row[3]}}
        for one, row in zip(listed, rows, strict=True)
    ]
    known = [f"n{n:02}" for n in range(4)]
    for data in (table.encode(), squeue(*listed), squeue(*times)):
        jobs = slurm.read(data, "q")

        def numbers(period=None, jobs=jobs):
            kept, found = slurm.usable(jobs, known, "q", period)
            assert found == []
            return [one.number for one in kept]

        assert numbers() == ["110"]
        # By start and end, whatever became of them; a job that runs has no end.
        assert numbers(slurm.Period(120, 130)) == ["101"]
        assert numbers(slurm.Period(350, 450)) == ["102"]
        assert numbers(slurm.Period(5000, 5001)) == ["110"]
        with pytest.raises(NetloomError, match=r"no job is left: 6 ran at other times"):
            numbers(slurm.Period(210, 290))
    # Two after each other in one interval: nobody can tell whose traffic it is.
    with pytest.raises(NetloomError, match="share nodes"):
        slurm.usable(jobs, known, "q", slurm.Period(150, 350))
    with pytest.raises(NetloomError, match="no job is left: 5 ended before"):
        slurm.usable(jobs[:-1], known, "q")
    untold = slurm.read(squeue(job(7, "n00"), job(8, "n01", start_time=5)), "q")
    kept, found = slurm.usable(untold, known, "q", slurm.Period(10, 20))
    assert [one.number for one in kept] == ["8"]
    assert "no Start is told, or End: lulesh.7" in found[0]["text"]


@pytest.mark.parametrize(
    "text", ["", "1", "5,4", "yesterday,today", "1,2,3", "Unknown,4", "2026-11-27T10:00:00", "nan,inf"]
)
def test_what_is_no_period_is_refused(text):
    with pytest.raises(ValueError, match="expected START,END"):
        slurm.Period.parse(text)


def test_ended_jobs_of_a_site_do_not_count(netloom, paths):
    case = paths.root / "tests" / "data" / "cases" / "sacct-finished-jobs"
    for listed, names in (("sacct.txt", ["now.110", "other.111"]), ("squeue.json", ["b3.9"])):
        words = ("--counters-from", case / "counters.csv", "--jobs", case / listed, "--once")
        result = netloom.result("watch", case / "net.txt", *words)
        assert [one["name"] for one in result["jobs"]] == names
        assert result["findings"] == []
    words = ("infer", case / "net.txt", "minhop", case / "counters.csv", "--jobs", case / "sacct.txt")
    result = netloom.result(*words)
    assert result["total_bytes"] == pytest.approx(3000)
    assert netloom(*words, "--during", "soon").code == 2
    done = netloom(*words, "--during", "2026-11-27T10:00:00,2026-11-27T10:05:00")
    assert done.code == 3
    assert "no Start is told" in done.err


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
    assert [one["name"] for one in netloom.result("watch", paths.ft2, *words)["jobs"]] == ["lulesh.1"]
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


@pytest.mark.parametrize("state", ["LAUNCH_FAILED", "RECONFIG_FAIL", "OUT_OF_ME+", "CANCELLED+"])
def test_rare_and_cut_states_have_ended_too(state):
    lines = ["JobID|JobName|NodeList|State", "7|x|n[00-03]|RUNNING", f"8|y|n[00-03]|{state}", ""]
    kept, _ = slurm.usable(slurm.read("\n".join(lines).encode(), "q"), [f"n{n:02}" for n in range(4)], "q")
    assert [one.number for one in kept] == ["7"]
