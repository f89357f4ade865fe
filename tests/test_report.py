"""`netloom report`: one page that fetches nothing, whose figures are those of the JSON in it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netloom as nl
from conftest import Netloom
from report_bed import Page, agrees, unpacked

TREE = "two-level:leaves=4,hosts=4,spines=2"
EVIL = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a\u2028b\u202ec&amp;"]


def page(netloom, name="page.html"):
    return Page((netloom.folder / name).read_text())


def checked(found: Page) -> Page:
    """A page whose every figure is the JSON's, and which asks nobody for anything."""
    assert found.figures
    for figure in found.figures:
        assert agrees(figure, found.at(figure.at)), (figure, found.at(figure.at))
    for tag, attributes in found.elements:
        assert tag not in ("img", "link", "iframe", "object", "base"), tag
        assert not {"src", "href", "srcset", "action"} & set(attributes), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
    assert "default-src 'none'" in found.source
    assert "url(" not in found.source
    assert "http" not in found.source.replace("http-equiv", "")
    return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory, validate, forks, paths):
    command = Netloom(tmp_path_factory.mktemp("ran"), validate, forks)
    command.ok("simulate", paths.examples / "scenarios" / "shuffle.toml", "-o", "run", "-q")
    return command


def test_routes_lie_beside_the_bound(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    result = netloom.result("report", paths.ft2, jobs, "minhop", "optimize", "-o", "page.html")
    assert result["sections"] == ["routes", "inputs"]
    assert result["bytes"] == (netloom.folder / "page.html").stat().st_size
    found = checked(page(netloom))
    (part,) = found.document["parts"]
    for told in part["routings"]:
        loads = netloom.result("loads", paths.ft2, told["routing"], jobs)
        assert {key: told[key] for key in loads if key != "findings"} == {
            key: value for key, value in loads.items() if key != "findings"
        }
        assert max(level["max"] for level in told["levels"]) == loads["max_load"]
        hot = told["busiest"][0]
        users = netloom.result("loads", paths.ft2, told["routing"], jobs, "--users-of", hot["from"])["users"]
        assert hot["pairs"] in [link["pairs"] for link in users]
        assert [job["name"] for job in hot["jobs"]]
    assert found.document["inputs"][0]["role"] == "fabric"


def test_loads_of_all_links_are_in_the_page(netloom):
    netloom.ok("report", TREE, "shift:5", "ftree", "-o", "page.html")
    (part,) = page(netloom).document["parts"]
    told = part["links"]
    net = nl.Fabric.generate(TREE)
    loads = nl.loads(net, nl.route("ftree", net), nl.Traffic.read("shift:5", net))
    assert unpacked(told["values"][0]["of"]) == loads.per_link.tolist()
    names = unpacked(told["names"])
    assert names[:2] == ["host0000", "host0001"]
    table = net.link_table()
    assert unpacked(told["from"]) == table["source"].tolist()
    assert unpacked(told["to_port"]) == table["target_port"].tolist()
    everyone = sorted(link for tier in told["tiers"] for link in unpacked(tier["links"]))
    assert everyone == np.flatnonzero(table["alive"]).tolist()


def test_a_bound_that_the_time_limit_cut_is_said(netloom):
    """It stood in the JSON alone: the page gave what was known by then as the bound."""
    netloom.ok("report", TREE, "all-to-all", "ftree", "-o", "page.html", "--time-limit", "0")
    found = checked(page(netloom))
    assert found.document["parts"][0]["routings"][0]["stopped"] == "time-limit"
    assert "what was known when its time ended" in found.source
    netloom.ok("report", TREE, "all-to-all", "ftree", "-o", "page.html")
    assert "what was known when its time ended" not in page(netloom).source


def test_a_bound_that_routes_can_beat_is_no_line(netloom):
    """On a dragonfly minhop leaves the up*/down* ways: 6 B, and their bound is 7 B."""
    netloom.ok("report", "dragonfly:p=2,a=4,h=2", "shift:9", "minhop", "updn", "-o", "page.html")
    found = checked(page(netloom))
    (part,) = found.document["parts"]
    assert [of["max_load"] for of in part["routings"]] == [6.0, 7.0]
    assert part["bound"] is None
    assert 'class="bound"' not in found.source
    assert part["routings"][0]["outside_because"]["text"] in found.source
    netloom.ok("report", TREE, "shift:4", "ftree", "s-mod-k", "-o", "page.html")
    (part,) = checked(page(netloom)).document["parts"]
    # s-mod-k has no tables to compare.
    assert [of["changed_entries"] for of in part["routings"]] == [0, None]
    assert part["bound"] is not None


def test_a_run_shows_jobs_levels_and_times(ran):
    result = ran.result("report", "run", "-o", "page.html", "--title", "A < B")
    assert result["title"] == "A < B"
    found = checked(page(ran))
    assert "<title>A &lt; B</title>" in found.source
    (part,) = found.document["parts"]
    manifest = json.loads((ran.folder / "run" / "manifest.json").read_text())
    assert [of["result"] for of in part["routings"]] == [entry["result"] for entry in manifest["runs"]]
    assert [of["name"] for of in part["routings"][0]["times"]] == [
        "busiest link",
        "mean of links",
        "longest queue",
    ]
    for of in part["routings"]:
        most = max(level["max"] for level in of["levels"])
        assert most == pytest.approx(of["result"]["max_link_utilisation"])
    assert found.source.count('<table class="columns">') > 4


@pytest.mark.parametrize(
    "words",
    [
        ["loads", "FT2", "ftree", "bisection"],
        ["fabric", "show", "FT2"],
        ["optimize", "FT2", "bisection"],
        ["simulate", "SHUFFLE", "--routings", "ftree"],
        ["check", "FT2", "ftree"],
    ],
)
def test_any_verbs_result_is_a_page(netloom, paths, words):
    given = {"FT2": paths.ft2, "SHUFFLE": paths.examples / "scenarios" / "shuffle.toml"}
    document = netloom.json(*[given.get(word, word) for word in words])
    (netloom.folder / "result.json").write_text(json.dumps(document))
    netloom.ok("report", "result.json", "-o", "page.html")
    found = checked(page(netloom))
    assert found.document["parts"][0]["document"] == document
    # Every number of the result stands on the page.
    shown = {figure.at for figure in found.figures}

    def numbers(value, at):
        if isinstance(value, dict):
            for key, item in value.items():
                numbers(item, f"{at}/{key}")
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for n, item in enumerate(value):
                numbers(item, f"{at}/{n}")
        elif isinstance(value, int | float):
            assert at in shown, at

    numbers(document["result"], "/parts/0/document/result")


def test_the_same_input_gives_the_same_bytes(ran):
    for name, threads in (("a.html", 1), ("b.html", 2)):
        ran.ok("report", "run", "-o", name)
        ran.ok("report", TREE, "bisection", "ftree", "optimize", "-o", f"r{name}", "--threads", threads)
    assert (ran.folder / "a.html").read_bytes() == (ran.folder / "b.html").read_bytes()
    assert (ran.folder / "ra.html").read_bytes() == (ran.folder / "rb.html").read_bytes()


@pytest.mark.parametrize("evil", EVIL)
def test_names_are_never_code(netloom, paths, evil):
    (netloom.folder / "net.csv").write_text(cables(evil))
    netloom.ok("report", "net.csv", "shift:1", "ftree", "-o", "page.html", "--title", evil)
    found = checked(page(netloom))
    assert [tag for tag, _ in found.elements].count("script") == 2
    names = unpacked(found.document["parts"][0]["links"]["names"])
    assert any(evil in name for name in names)
    assert found.document["title"] == evil
    assert "\u2028" not in found.source
    assert "\u202e" not in found.source.split('id="data">')[0]


def cables(evil: str) -> str:
    quoted = evil.replace('"', '""')
    rows = ["from,from_port,to,to_port"]
    rows += [f'"{quoted}{n}",1,leaf{n // 2},{n % 2 + 1}' for n in range(4)]
    rows += [f"leaf{n},3,spine,{n + 1}" for n in range(2)]
    return "\n".join(rows) + "\n"


def test_half_a_surrogate_pair_of_a_result_stays_what_it_is(netloom):
    text = '{"schema": "netloom.x/1", "inputs": [], "result": {"name": "\\ud800</script>", "n": 1}}'
    (netloom.folder / "result.json").write_text(text)
    netloom.ok("report", "result.json", "-o", "page.html")
    found = page(netloom)
    assert found.document["parts"][0]["document"]["result"]["name"] == "\ud800</script>"


def test_the_api_makes_the_same_parts(netloom, ran):
    net = nl.Fabric.generate(TREE)
    traffic = nl.Traffic.read("bisection", net)
    made = Page(nl.report(net, traffic, {"ftree": nl.route("ftree", net)}, title="t").decode())
    netloom.ok("report", TREE, "bisection", "ftree", "-o", "page.html")
    assert checked(made).document["parts"] == page(netloom).document["parts"]
    of_run = Page(nl.report(ran.folder / "run").decode()).document
    assert of_run["parts"][0]["kind"] == "run"
    assert {one["role"] for one in of_run["inputs"]} == {"run"}
    with pytest.raises(TypeError, match="needs traffic and routes"):
        nl.report(net, traffic)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nothing"], 3, '"nothing" is nothing that report shows: expected FABRIC, FABRIC TRAFFIC ROUTES'),
        ([TREE, "bisection"], 2, "report shows FABRIC, FABRIC TRAFFIC ROUTES"),
        ([TREE, "bisection", "ftree", "ftree"], 2, "the same routes twice"),
        ([TREE, "bisection", "fredd"], 3, "neither a file nor an engine"),
        (["huge.json"], 3, "huge.json: expected what netloom VERB --format json prints"),
        (["long.json"], 3, "long.json: expected what netloom VERB --format json prints"),
        (["some.json"], 3, "some.json: expected what netloom VERB --format json prints"),
        (["one.json", "two.json"], 3, "two.json: is of another fabric than one.json"),
        (["empty"], 3, "empty: has no manifest.json"),
        ([TREE, "bisection", "ftree", "-o", "page.svg"], 2, "expected an ending of .html"),
    ],
)
def test_what_is_wrong_is_said(netloom, words, code, said):
    (netloom.folder / "empty").mkdir()
    (netloom.folder / "huge.json").write_text('{"schema": "netloom.x/1", "result": {"x": 1e400}}')
    long = '{"schema": "netloom.x/1", "result": {"bytes": 1%s}}' % ("0" * 400)
    (netloom.folder / "long.json").write_text(long)
    (netloom.folder / "some.json").write_text('{"schema": "other/1"}')
    for name in ("one", "two"):
        inputs = [{"role": "fabric", "source": name, "sha256": name}]
        document = {"schema": "netloom.loads/1", "inputs": inputs, "result": {}}
        (netloom.folder / f"{name}.json").write_text(json.dumps(document))
    output = [] if "-o" in words else ["-o", "page.html"]
    assert said in netloom.refused("report", *words, *output, code=code)


@pytest.mark.parametrize("name", ["links", "ranks", "queues"])
def test_a_damaged_run_is_refused(ran, name):
    """Also where the page shows nothing of the file."""
    file = ran.folder / "run" / "0-ftree" / f"{name}.parquet"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:-1] + b"x")
        assert "damaged, or altered" in ran.refused("report", "run", "-o", "new.html")
    finally:
        file.write_bytes(whole)
    assert "nothing after run" in ran.refused("report", "run", "run", "-o", "new.html", code=2)


def test_a_page_goes_through_a_pipe_and_to_no_terminal(netloom):
    words = ("report", TREE, "bisection", "ftree", "-o", "-")
    assert netloom.ok(*words).startswith("<!DOCTYPE html>")
    refused = netloom.on_terminal(*words)
    assert refused.code == 2
    assert "not to a terminal" in refused.out + refused.err


def test_loads_that_differ_read_differently():
    """Four loads within a thousandth all read 2.48 MB."""
    from netloom.pages.markup import Column, Row, table

    loads = [2_483_336.0, 2_483_200.0, 2_481_900.0]
    rows = [Row([str(n)], f"/{n}", {"load": load}) for n, load in enumerate(loads)]
    told = table("t", ["no."], [Column("load", "load", "B")], rows)
    for words in ("2.4833 MB", "2.4832 MB", "2.4819 MB"):
        assert words in told


@pytest.mark.parametrize(
    ("key", "verb", "unit"),
    [
        ("links_at_max_bound", "optimize", "n"),
        ("max_load_between_switches", "loads", "B"),
        ("load", "simulate-table", "n"),
        ("jobs/time/waiting_share", "simulate", "share"),
        ("time_to_best", "optimize", "s"),
    ],
)
def test_a_key_says_its_unit(key, verb, unit):
    from netloom.pages import result

    assert result.unit(key, verb) == unit
