"""Offered load, tables of loads and mappings, and the picture of a load: as a user would have them."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

LOADS = "0.2,0.5,1.2"
SCENARIO = """
fabric = "two-level:leaves=4,hosts=4,spines=4"
routes = ["ftree", "random"]
[[job]]
name = "load"
program = { kind = "uniform", bytes = "8KiB", load = 0.5, messages = 200 }
"""


@pytest.fixture
def scenario(netloom):
    (netloom.folder / "load.toml").write_text(SCENARIO)
    return "load.toml"


def test_what_is_offered_is_accepted_until_it_saturates(netloom, scenario):
    table = netloom.result("simulate", scenario, "--loads", LOADS)
    assert table["varied"] == "load"
    of_ftree = [row for row in table["rows"] if row["routing"] == "ftree"]
    assert [row["load"] for row in of_ftree] == [0.2, 0.5, 1.2]
    for row in of_ftree[:2]:
        measured = row["accepted"]
        assert measured["offered"] == pytest.approx(row["load"], rel=0.05)
        assert measured["accepted"] == pytest.approx(measured["offered"], rel=0.03)
        assert not measured["saturated"]
    full = of_ftree[2]["accepted"]
    assert full["saturated"]
    assert full["accepted"] < full["offered"]
    latencies = [row["accepted"]["latency_us"]["mean"] for row in of_ftree]
    assert all(later > 1.2 * earlier for earlier, later in pairwise(latencies))


def test_a_row_of_the_table_is_the_run_by_itself(netloom, scenario):
    row = netloom.result("simulate", scenario, "--loads", "0.5", "--routings", "random")["rows"][0]
    alone = netloom.result("simulate", scenario, "--routings", "random")["runs"][0]
    job = alone["jobs"][0]
    assert row["accepted"] == job["load"]
    assert row["completion_ms"] == job["completion_ms"]
    assert row["max_link_utilisation"] == alone["max_link_utilisation"]
    assert job["time"] is None, "nobody waits for offered load"


def test_load_that_is_not_accepted_is_told(netloom, scenario):
    set_ = "job.load.program.load=1.2"
    told = netloom.result("simulate", scenario, "--routings", "random", "--set", set_)["findings"]
    assert [(one["kind"], one["severity"]) for one in told] == [("load-not-accepted", "note")]
    assert "random: load is saturated" in told[0]["text"]


def test_the_picture_of_a_load(netloom, scenario):
    netloom.ok("simulate", scenario, "--loads", LOADS, "-o", "load.json")
    made = {}
    for name in ("a.svg", "b.pdf", "c.png"):
        result = netloom.result("plot", "load", "load.json", "-o", name)
        made[name] = (netloom.folder / name).read_bytes()
        assert [(row["curve"], row["points"]) for row in result["curves"]] == [("ftree", 3), ("random", 3)]
        assert result["curves"][0]["saturated_from"] == 1.2
        assert result["not_drawn"] == 0
    assert made["a.svg"].startswith(b"<?xml")
    assert made["b.pdf"].startswith(b"%PDF")
    assert made["c.png"].startswith(b"\x89PNG")
    netloom.ok("plot", "load", "load.json", "-o", "again.svg")
    assert (netloom.folder / "again.svg").read_bytes() == made["a.svg"]
    both = netloom.result("plot", "load", "load.json", "load.json", "-o", "two.svg")["curves"]
    assert [row["curve"] for row in both] == ["load.json · ftree", "load.json · random"]


def test_the_picture_refuses_what_is_no_table_of_loads(netloom, scenario):
    netloom.ok("simulate", scenario, "--mappings", "block", "-o", "mappings.json")
    (netloom.folder / "text.json").write_text("[1, 2]")
    (netloom.folder / "torn.json").write_text(
        '{"schema": "netloom.simulate-table/1", "result": {"varied": "load"'
    )
    for name in ("mappings.json", "text.json", "torn.json"):
        word = netloom.refused("plot", "load", name, "-o", "x.svg")
        assert word.startswith(f"{name}: expected what netloom simulate SCENARIO --loads"), word
    assert "-o FILE" in netloom.refused("plot", "load", "-o", "x.svg", code=2)
    document = netloom.json("simulate", scenario, "--loads", "0.2")
    for row in document["result"]["rows"]:
        row["accepted"] = None
    (netloom.folder / "empty.json").write_text(json.dumps(document))
    assert "nothing to draw" in netloom.refused("plot", "load", "empty.json", "-o", "x.svg")


def test_block_is_compared_with_tiles(netloom, write):
    """A grid is the job's own: mappings that do not cut it leave it alone."""
    scenario = write(
        "s.toml",
        'fabric = "two-level:leaves=4,hosts=2,spines=2"\n[[job]]\nname = "a"\ngrid = [4, 2, 1]\n'
        'mapping = "tiled:2x1x1"\nprogram = { kind = "halo", shape = [4, 2, 1], face_bytes = 65536 }\n',
    )
    result = netloom.result("simulate", scenario, "--mappings", "tiled:2x1x1,block")
    assert [row["mapping"] for row in result["rows"]] == ["tiled:2x1x1", "block"]
    alone = netloom.result("simulate", scenario, "--set", "job.a.mapping=block")
    assert alone["runs"][0]["jobs"][0]["completion_ms"] == result["rows"][1]["completion_ms"]


def test_mappings_beside_each_other_and_each_job_alone(netloom, paths):
    """The solver of the example is slowed down by its neighbour under ftree; alone it is not."""
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    arguments = ("simulate", scenario, "--routings", "ftree", "--mappings", "block,random", "--alone")
    table = netloom.result(*arguments)
    rows = {(row["mapping"], row["job"]): row for row in table["rows"]}
    assert list(rows) == [(m, j) for m in ("block", "random") for j in ("solver", "bully")]
    for mapping in ("block", "random"):
        row = rows[mapping, "solver"]
        assert row["slowdown"] == pytest.approx(row["completion_ms"] / row["alone_ms"])
        assert row["slowdown"] > 1.01
        time = row["time"]
        spent = time["compute_ms"] + time["call_ms"] + sum(time["waiting_ms"].values())
        assert 0.9 * time["elapsed_ms"] < spent <= time["elapsed_ms"] * (1 + 1e-9)
        assert time["waiting_share"] == pytest.approx(sum(time["waiting_ms"].values()) / time["elapsed_ms"])
    assert rows["block", "solver"]["ratio"] == 1
    one = netloom.result("simulate", scenario, "--routings", "ftree", "--set", "job.solver.mapping=random",
                         "--set", "job.bully.mapping=random")["runs"][0]  # fmt: skip
    assert rows["random", "solver"]["completion_ms"] == one["jobs"][0]["completion_ms"]
    told = netloom.ok(*arguments)
    assert "slowdown" in told
    assert "waiting" in told


def test_tables_go_into_data_frames(netloom, scenario):
    netloom.ok("simulate", scenario, "--loads", "0.2,0.3", "-o", "load.csv")
    head, *rows = (netloom.folder / "load.csv").read_text().splitlines()
    assert len(rows) == 4
    for column in ("load", "routing", "load_accepted", "load_saturated", "load_mean_us", "completion_ms"):
        assert column in head.split(","), column


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--loads", "0.2,x"], "expected shares of a link such as 0.1,0.5,0.9"),
        (["--loads", "0.2,0.2"], "expected different values"),
        (["--loads", "0.2,"], "expected different values"),
        (["--loads", "0.2", "--mappings", "block"], "expected one of them"),
        (["--alone"], "--alone goes with --mappings"),
        (["--loads", "0.2", "--checkpoint", "kept"], "not with --loads, --mappings"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(netloom, scenario, options, word):
    assert word in netloom.refused("simulate", scenario, *options, code=2)


def test_bad_values_are_told_as_of_the_option(netloom, scenario, paths):
    told = netloom.refused("simulate", scenario, "--loads", "0.2,20", code=2)
    assert "--loads 20: load: expected a share of a host's link" in told
    told = netloom.refused("simulate", scenario, "--mappings", "block,blok", code=2)
    assert "--mappings blok: mapping: expected" in told
    shuffle = paths.examples / "scenarios" / "shuffle.toml"
    assert "no job of" in netloom.refused("simulate", shuffle, "--loads", "0.2", code=2)


def test_a_message_above_the_eager_limit_that_nobody_receives_is_explained(netloom):
    lines = ["0 init", "1 init", "0 send 1 0 100000", "1 compute 1", "0 finalize", "1 finalize", ""]
    (netloom.folder / "send.ti").write_text("\n".join(lines))
    (netloom.folder / "send.toml").write_text(
        'fabric = "two-level:leaves=2,hosts=2,spines=1"\n[[job]]\ntrace = "send.ti"\n'
    )
    word = netloom.refused("simulate", "send.toml")
    assert "messages above software.eager_bytes = 16384 leave only once their receiver is ready" in word
