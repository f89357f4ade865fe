"""Pages of `netloom report`, kind by kind: what each shows, and what it is recognised by."""

from __future__ import annotations

import json
import re

import pytest

import netloom as nl
from conftest import Netloom
from report_bed import KINDS, Page, every_kind, unpacked
from test_report import EVIL, checked

TREE = "two-level:leaves=4,hosts=4,spines=2"


@pytest.fixture(scope="module")
def made(tmp_path_factory, validate, forks, paths):
    """A folder with a page of every kind."""
    command = Netloom(tmp_path_factory.mktemp("kinds"), validate, forks)
    every_kind(command, paths)
    return command


def page(made, name) -> Page:
    return checked(Page((made.folder / f"{name}.html").read_text()))


def part(found: Page):
    return found.document["parts"][0]


def captions(found: Page) -> list[str]:
    return re.findall("<caption>(.*?)</caption>", found.source)


@pytest.mark.parametrize("name", KINDS)
def test_every_figure_of_every_kind_is_the_jsons(made, name):
    found = page(made, name)
    assert len(found.figures) > 10
    assert [tag for tag, _ in found.elements].count("script") == 2


@pytest.mark.parametrize("name", ["health", "diagnosis", "noise", "plan", "sweep", "watch"])
def test_a_result_is_whole_in_its_page(made, name):
    document = json.loads((made.folder / f"{name}.json").read_text())
    assert part(page(made, name))["document"] == document


def test_a_fabric_has_healths_findings_and_marks_its_links(made):
    found = page(made, "fabric")
    of = part(found)
    result = json.loads(made.ok("health", "today.txt", "--format", "json", code=1))["result"]
    assert of["cables"] == result["cables"]
    assert [one["kind"] for one in of["cables"]] == ["slow-cable"]
    assert {one["kind"] for one in result["findings"]} <= {one["kind"] for one in of["findings"]}
    # Both directions of the one cable are marked as what a warning is, nothing else.
    names, marks = unpacked(of["links"]["names"]), unpacked(of["links"]["values"][0]["of"])
    ends = [unpacked(of["links"][key]) for key in ("from", "to")]
    assert sorted(set(marks)) == [0.0, 2.0]
    marked = {frozenset((names[a], names[b])) for a, b, mark in zip(*ends, marks, strict=True) if mark}
    assert marked == {frozenset(end["name"] for end in of["cables"][0]["ends"])}
    assert [tier["marked"] for tier in of["tiers"]] == [0, 1, 1, 0]
    assert "Cables, the most urgent first" in captions(found)


def test_a_fabric_without_faults_says_so(netloom):
    netloom.ok("report", TREE, "-o", "page.html")
    found = checked(Page((netloom.folder / "page.html").read_text()))
    assert "Nothing is wrong with a cable." in found.source
    assert part(found)["stages"][0]["over_subscription"] == 2.0
    assert nl.report(nl.Fabric.generate(TREE), title=found.document["title"]).startswith(b"<!DOCTYPE")


def test_routes_have_their_certificates_verdict_and_what_changes(made, paths):
    first, other = part(page(made, "routes"))["routings"]
    loads = {
        name: nl.loads(net, routes, traffic).per_link
        for net in [nl.Fabric.read(paths.ft3)]
        for traffic in [nl.Traffic.read("bisection-shuffle:seed=1", net)]
        for name, routes in (("minhop", nl.route("minhop", net)),)
    }
    assert first["certificate"]["ok"]
    assert first["certificate"]["claim"] == first["lower_bound"]
    assert first["certificate"]["optimal"] == first["proven_optimal"]
    assert other["certificate"]["optimal"]
    assert first["changes"] == []
    # The hottest of the first carry less under the other, and by how much the list is in order.
    by = [abs(one["after"] - one["before"]) for one in other["changes"]]
    assert by == sorted(by, reverse=True)
    assert by[0] > 0
    assert max(one["before"] for one in other["changes"]) == loads["minhop"].max()
    found = page(made, "routes")
    assert "optimized after minhop" in captions(found)
    assert "Certificates, checked" in captions(found)


def test_a_run_has_the_tails_of_its_latencies(made):
    found = page(made, "run")
    result = json.loads(made.ok("plot", "tail", "run", "-o", "tail.svg", "--format", "json"))["result"]
    curves = {curve["routing"]: curve for curve in result["curves"]}
    for routing in part(found)["routings"]:
        (tail,) = routing["tails"]
        curve = curves[routing["routing"]]
        assert {key: tail[key] for key in ("messages", "p50_us", "p99_us", "max_us")} == {
            key: curve[key] for key in ("messages", "p50_us", "p99_us", "max_us")
        }
        assert tail["at_us"] == sorted(tail["at_us"])
        assert tail["longer"] == sorted(tail["longer"], reverse=True)
        assert (tail["at_us"][-1], tail["longer"][-1]) == (tail["max_us"], 0.0)
        within = [
            share for at, share in zip(tail["at_us"], tail["longer"], strict=True) if at <= tail["p99_us"]
        ]
        assert within[-1] <= 0.01
    assert 'class="chart"' in found.source


def test_samples_say_whose_packets_met_congestion(made):
    found = page(made, "samples")
    assert part(found)["kind"] == "run"
    hot = part(found)["routings"][0]["result"]["contexts"][0]["hottest"]
    assert hot
    assert f"{hot[0]['from']} → {hot[0]['to']}" in found.source
    assert "Links that packets found congested, with standard errors" in captions(found)


def test_a_diagnosis_has_its_findings_with_what_was_tried(made):
    found = page(made, "diagnosis")
    (one, *_) = part(found)["document"]["result"]["findings"]
    for words in (one["text"], one["remedy"], *one["evidence"], *one["root_links"]):
        assert any(figure.text == words for figure in found.figures), words
    tried = [figure for figure in found.figures if "/tried/" in figure.at and figure.unit == "ms"]
    assert len(tried) == 2 * len(one["tried"])


def test_noise_names_who_and_where(made):
    found = page(made, "noise")
    (job,) = part(found)["document"]["result"]["runs"][0]["jobs"]
    for neighbour in job["neighbours"]:
        assert f'<th scope="row">{neighbour["job"]}</th>' in found.source
    link = job["links"][0]
    assert f"{link['from']}[{link['from_port']}] → {link['to']}[{link['to_port']}]" in found.source
    # Picoseconds are told in a unit that one reads.
    assert any(figure.at.endswith("completion_ps") and figure.text.endswith("µs") for figure in found.figures)


def test_a_plan_has_its_assumptions_and_where_prices_are_from(made):
    found = page(made, "plan")
    result = part(found)["document"]["result"]
    shown = {figure.text for figure in found.figures}
    assert {*result["assumptions"], *result["catalogue"]["sources"]} <= shown
    assert all(design["spec"] in shown for design in [*result["designs"], result["full"]])
    assert "No design was simulated: bound and estimate" in found.source
    assert found.source.count('class="p"') >= len(result["designs"])


def test_a_sweeps_folder_has_the_groups_of_its_result(made):
    made.ok("report", "swept", "-o", "folder.html", "-q")
    folder, result = (part(page(made, name))["document"]["result"] for name in ("folder", "sweep"))
    for key in ("groups", "runs", "done", "failed", "sensitivity", "errors"):
        assert folder[key] == result[key]
    assert 'class="interval"' in page(made, "sweep").source


def test_a_journal_has_the_rounds_of_its_loop(made):
    rounds = part(page(made, "loop"))["document"]["result"]["rounds"]
    told = json.loads((made.folder / "loop.json").read_text())["result"]["rounds"]
    for one, other in zip(rounds, told, strict=True):
        assert {key: one[key] for key in other if key != "seconds"} == {
            key: other[key] for key in other if key != "seconds"
        }
    assert any(figure.text == told[0]["reason"] for figure in page(made, "loop").figures)


def test_what_lacks_keys_is_shown_as_any_result(netloom):
    """Of another version, or somebody's own: its figures are there all the same."""
    for verb in ("noise", "plan", "sweep", "loop", "sample", "diagnose", "health", "watch"):
        text = json.dumps({"schema": f"netloom.{verb}/9", "inputs": [], "result": {"hosts": 7, "runs": [1]}})
        (netloom.folder / "odd.json").write_text(text)
        netloom.ok("report", "odd.json", "-o", "page.html")
        found = checked(Page((netloom.folder / "page.html").read_text()))
        assert found.document["title"] == f"odd.json: netloom {verb}"
        assert any(figure.at.endswith("/hosts") and figure.text == "7" for figure in found.figures)
        assert f"netloom.{verb}/9 is of another version" in found.source


@pytest.mark.parametrize("name", ["health", "diagnosis", "noise", "plan", "sweep", "watch"])
@pytest.mark.parametrize("evil", EVIL)
def test_texts_of_results_are_never_code(made, name, evil):
    """Every name and every sentence of a result, and every name of a key that is not netloom's."""

    def spoilt(value):
        if isinstance(value, dict):
            return {key: spoilt(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoilt(item) for item in value]
        return value + evil if isinstance(value, str) else value

    document = json.loads((made.folder / f"{name}.json").read_text())
    document["result"] = spoilt(document["result"])
    (made.folder / "evil.json").write_text(json.dumps(document))
    made.ok("report", "evil.json", "-o", "evil.html", "-q")
    found = page(made, "evil")
    assert [tag for tag, _ in found.elements].count("script") == 2
    assert "Result of netloom" not in found.source


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["kept", "more"], 2, "a folder is a page of its own: expected nothing after kept"),
        (["broken"], 3, "journal.parquet: "),
        (["spoilt"], 3, "damaged, or altered"),
    ],
)
def test_folders_that_are_wrong_are_refused(made, words, code, said):
    import shutil

    (made.folder / "broken").mkdir(exist_ok=True)
    (made.folder / "broken" / "journal.parquet").write_bytes(b"PAR1 no")
    shutil.copytree(made.folder / "swept", made.folder / "spoilt", dirs_exist_ok=True)
    table = made.folder / "spoilt" / "table.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    assert said in made.refused("report", *words, "-o", "new.html", code=code)
