"""`netloom simulate` on a jobs file: its matrices are what runs."""

from __future__ import annotations

import pytest

import netloom as nl

FABRIC = "two-level:leaves=8,hosts=4,spines=4"


def jobs(write, *lines: str, name: str = "jobs.toml") -> str:
    return write(name, "\n".join(["seed = 3", "[[job]]", 'name = "a"', *lines, ""]))


def test_every_job_and_copy_runs_where_other_verbs_place_it(netloom, paths):
    """The flagship example: two copies of a real application, four ranks a host, on random hosts."""
    file = paths.examples / "jobs" / "boxlib.toml"
    done = netloom("simulate", file, "--set", f"fabric={FABRIC}", "--format", "json")
    assert done.code == 0, done.err
    assert "jobs of a jobs file run as matrix programs" in done.err
    result = netloom.result("simulate", file, "--set", f"fabric={FABRIC}")
    assert [job["name"] for job in result["runs"][0]["jobs"]] == ["boxlibmg.0", "boxlibmg.1"]
    fabric = nl.Fabric.generate(FABRIC)
    scenario = nl.Scenario.read(file, [f"fabric={FABRIC}"])
    traffic, placed = nl.place_jobs(fabric, file)
    assert [job.host_of_rank.tolist() for job in scenario.jobs] == [
        job.host_of_rank.tolist() for job in placed
    ]
    assert (scenario.traffic().to_scipy() != traffic.to_scipy()).nnz == 0
    assert scenario.seed == 1


def test_it_is_the_program_of_kind_matrix(netloom, write):
    write("m.csv", "0,1,65536\n1,2,65536\n3,0,1000\n")
    file = jobs(write, 'matrix = "m.csv"', 'mapping = "cyclic"')
    program = write(
        "s.toml",
        f'fabric = "{FABRIC}"\nseed = 3\n[[job]]\nname = "a"\nmapping = "cyclic"\n'
        'program = { kind = "matrix", matrix = "m.csv" }\n',
    )
    ours = netloom.result("simulate", file, "--set", f"fabric={FABRIC}")
    theirs = netloom.result("simulate", program)
    assert ours["runs"][0]["jobs"] == theirs["runs"][0]["jobs"]


def test_patterns_and_phases_run_in_order(netloom, write):
    one = jobs(write, 'pattern = "stencil:4x4,bytes=65536"', name="one.toml")
    two = jobs(
        write,
        *("[[job.phase]]", 'pattern = "stencil:4x4,bytes=65536"', "repeats = 2"),
        *("[[job.phase]]", 'pattern = "stencil:4x4,bytes=65536"'),
        name="two.toml",
    )
    once, thrice = (
        netloom.result("simulate", file, "--set", f"fabric={FABRIC}")["runs"][0]["jobs"][0]["completion_ms"]
        for file in (one, two)
    )
    assert 2 * once < thrice < 3.5 * once


def test_the_fabric_may_stand_in_the_file_and_options_change_jobs(netloom, write):
    body = ["[[job]]", 'name = "a"', 'pattern = "stencil:4x4,bytes=65536"', ""]
    file = write("jobs.toml", "\n".join([f'fabric = "{FABRIC}"', *body]))
    result = netloom.result("simulate", file, "--mappings", "block,random")
    assert [row["mapping"] for row in result["rows"]] == ["block", "random"]
    word = netloom.refused("simulate", file, "--set", "job.a.mapping=blok")
    assert word.startswith("--set job.a.mapping=blok: mapping: expected block")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['matrix = "m.csv"', "zzz = 1"], 'jobs.toml:5: a job has no key "zzz"'),
        (['matrix = "gone.csv"'], "gone.csv"),
        (
            ['matrix = "m.csv"', "copies = 2", "cross_copies = true"],
            "jobs.toml:6: cross_copies: expected false",
        ),
        (['matrix = "m.csv"', "copies = 40"], 'jobs.toml:2: job "a" needs 80 hosts'),
        (['matrix = "m.csv"', "start_us = 3"], 'jobs.toml:5: a job has no key "start_us"'),
    ],
)
def test_what_cannot_run_is_refused_with_its_line(netloom, write, lines, said):
    write("m.csv", "0,1,65536\n")
    word = netloom.refused("simulate", jobs(write, *lines), "--set", f"fabric={FABRIC}")
    assert said in word


def test_without_a_fabric_it_says_how_to_name_one(netloom, write):
    word = netloom.refused("simulate", jobs(write, 'pattern = "stencil:4x4"'))
    assert (
        word
        == "jobs.toml: a jobs file names no fabric: expected --set fabric=quartz1, or another spec or file"
    )
