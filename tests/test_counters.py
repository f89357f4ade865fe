"""`netloom counters`: synthesis, readings, differences, findings."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import netloom as nl

CASES = ("ft2_32", "ft3_32")
REAL = ("--noise", "0.005", "--skew", "0.02", "--missing", "0.02", "--seed", "7")


@pytest.fixture
def real(paths):
    """Files of one of the simulated fabrics."""

    def find(case: str, name: str) -> Path:
        return paths.opensm / case / name

    return find


@pytest.mark.parametrize("case", CASES)
def test_the_difference_of_two_readings_is_what_was_sent(netloom, real, case):
    readings = [real(case, f"perfquery_x_{when}.txt.gz") for when in ("before", "after")]
    result = netloom.result("counters", "diff", real(case, "ibnetdiscover.txt"), *readings, "-o", "c.csv")
    assert (result["kind"], result["links_unknown"], result["lanes"]) == ("perfquery", 0, 0)
    # n requests and n answers of 72 units of four octets each; and what reading the counters itself sends.
    with gzip.open(real(case, "truth_requests.csv.gz"), "rt") as file:
        packets = 2 * sum(int(line.split(",")[2]) for line in file if not line.startswith("src"))
    assert packets <= result["host_packets"] <= 1.005 * packets
    assert result["host_bytes"] == 288 * result["host_packets"]
    shown = netloom.result("counters", "show", real(case, "ibnetdiscover.txt"), "c.csv")
    assert shown.pop("lost") == []
    assert {**shown, "kind": "perfquery"} == {
        k: v for k, v in result.items() if k not in ("output", "findings")
    }
    assert netloom.result("counters", "check", real(case, "ibnetdiscover.txt"), "c.csv")["ok"]


@pytest.mark.parametrize("case", CASES)
def test_all_tools_tell_the_same_counters(netloom, real, case):
    net = real(case, "ibnetdiscover.txt")
    plain = netloom.result("counters", "show", net, real(case, "perfquery_after.txt.gz"))
    errors = netloom.result("counters", "show", net, real(case, "ibqueryerrors_data.txt.gz"))
    assert errors["kind"] == "ibqueryerrors"
    # ibqueryerrors reads hosts too, and a moment later: a few packets more.
    assert (errors["links_by_both_ends"], plain["links_by_both_ends"]) == (
        plain["links"],
        plain["links"] - 64,
    )
    assert plain["link_bytes"] <= errors["link_bytes"] <= 1.05 * plain["link_bytes"]


def test_a_machine_full_of_counters_is_read(netloom, paths):
    result = netloom.result(
        "counters", "show", paths.quartz1, paths.opensm / "quartz1" / "ibqueryerrors_data.txt.gz"
    )
    assert (result["links"], result["links_unknown"]) == (12_288, 0)


def test_counters_by_lane_are_told_apart(netloom, paths, real):
    whole = gzip.decompress(real("ft2_32", "perfquery_x_after.txt.gz").read_bytes())
    lanes = gzip.decompress(real("ft2_32", "perfquery_vl_leaf00.txt.gz").read_bytes())
    (netloom.folder / "both.txt").write_bytes(whole + lanes)
    result = netloom.result("counters", "show", paths.ft2, "both.txt")
    assert result["lanes"] == 5
    # Port 8's lane 4 is full: its bytes (32 bits) and its packets (16 bits).
    assert result["flagged"]["saturated"] == 2
    checked = netloom.result("counters", "check", paths.ft2, "both.txt", code=1)
    texts = {(finding["kind"], finding["text"]) for finding in checked["findings"]}
    assert ("saturated", "bytes received at leaf00[8], lane 4: at its largest value") in texts
    assert ("unsupported", "spine00 does not count by lane") in texts


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_every_file_format_gives_the_counters_back(netloom, paths, ending):
    spec = ("ftree", paths.examples / "jobs" / "small.toml", "--vl-scheme", "3sl2vl:seed=4", *REAL)
    made = netloom.result("counters", "synth", paths.ft2, *spec, "-o", f"c.{ending}")
    again = netloom.result("counters", "show", paths.ft2, f"c.{ending}")
    assert again.pop("lost") == []
    assert again == {**{k: v for k, v in made.items() if k != "output"}, "kind": "table"}
    assert again["lanes"] == 2
    assert again["flagged"]["missing"] > 0


def test_synthesised_counters_carry_the_loads(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    loads = netloom.result("loads", paths.ft2, "ftree", jobs, "--hottest", "1")
    found = netloom.result("counters", "synth", paths.ft2, "ftree", jobs)
    hottest, busiest = loads["hottest"][0], found["busiest"][0]
    assert {k: busiest[k] for k in ("from", "from_port", "bytes")} == {
        "from": hottest["from"],
        "from_port": hottest["from_port"],
        "bytes": hottest["load"],
    }
    scaled = netloom.result("counters", "synth", paths.ft2, "ftree", jobs, "--scale", "10", "--seconds", "2")
    assert (scaled["host_bytes"], scaled["seconds"]) == (10 * found["host_bytes"], 2.0)


def test_noise_is_told_as_it_was_made(netloom):
    traffic = ("bisection-shuffle:seed=1", "--scale", "1e9")
    exact = netloom.result("counters", "synth", "quartz1", "ftree", *traffic)
    assert exact["noise_percent"] == 0
    noisy = netloom.result(
        "counters", "synth", "quartz1", "ftree", *traffic, "--noise", "0.005", "-o", "a.csv"
    )
    assert noisy["noise_percent"] == pytest.approx(0.5, rel=0.1)
    # Late readings add the spread of a difference of two uniform variates, 2 % / sqrt(6).
    late = netloom.result("counters", "synth", "quartz1", "ftree", *traffic, *REAL, "-o", "b.csv")
    assert late["noise_percent"] == pytest.approx(0.957, rel=0.15)
    assert netloom.result("counters", "check", "quartz1", "b.csv")["ok"]


def test_synthesis_depends_on_the_seed_and_not_on_threads(netloom, paths):
    for name, seed, threads in (("a", 1, 1), ("b", 1, 2), ("c", 2, 1)):
        options = ("--noise", "0.01", "--scale", "1e6", "--seed", seed, "--threads", threads)
        netloom.ok("counters", "synth", paths.ft2, "ftree", "all-to-all", *options, "-o", f"{name}.csv")
    a, b, c = ((netloom.folder / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_a_bad_counter_is_named_and_left_out(netloom, paths):
    netloom.ok(
        "counters",
        "synth",
        paths.ft3,
        "ftree",
        "all-to-all",
        "--scale",
        "1e6",
        "--seconds",
        "1000",
        "-o",
        "c.csv",
    )
    good = netloom.result("counters", "show", paths.ft3, "c.csv")
    text = (netloom.folder / "c.csv").read_text()
    # What p0leaf0 sends over port 5 (xmit_bytes is the first count) is halved.
    line = re.search(r"^[^\n]*,p0leaf0,5,p0spine\d,\d+,,(\d+),[^\n]*$", text, re.MULTILINE)
    assert line is not None
    bad = line[0].replace(f",,{line[1]},", f",,{int(line[1]) // 2},", 1)
    (netloom.folder / "bad.csv").write_text(text.replace(line[0], bad))
    checked = netloom.result("counters", "check", paths.ft3, "bad.csv", code=1)
    [finding] = checked["findings"]
    assert finding["kind"] == "conflict"
    assert "bytes sent at p0leaf0[5] are wrong" in finding["text"]
    assert netloom.result("counters", "show", paths.ft3, "bad.csv")["link_bytes"] == good["link_bytes"]
    # CSV lists what is wrong.
    assert netloom.ok("counters", "check", paths.ft3, "bad.csv", "--format", "csv", code=1).startswith(
        "kind,text,severity,class\nconflict,"
    )


def test_counters_of_a_simulation_are_read(netloom, paths):
    scenario = paths.examples / "scenarios" / "shuffle.toml"
    netloom.ok(
        "simulate", scenario, "--routings", "ftree", "--set", "measure.counters_every_us=20", "-o", "run"
    )
    net = re.search(r'^fabric = "(.*)"', scenario.read_text(), re.MULTILINE)
    assert net is not None
    fabric = scenario.parent / net[1] if (scenario.parent / net[1]).exists() else net[1]
    [folder] = [p for p in (netloom.folder / "run").iterdir() if p.is_dir()]
    by_interval = netloom.result("counters", "show", fabric, folder / "intervals.parquet")
    assert by_interval["kind"] == "simulation"
    assert by_interval["intervals"] > 1
    totals = netloom.result("counters", "show", fabric, folder / "links.parquet")
    assert (totals["host_bytes"], totals["link_bytes"]) == (
        by_interval["host_bytes"],
        by_interval["link_bytes"],
    )


def sysfs(folder: Path, machine: str, values: dict[str, str]) -> None:
    for name, text in values.items():
        file = folder / machine / "mlx5_0" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_a_folder_of_sysfs_trees_is_a_reading(netloom, paths):
    counters = {f"ports/1/counters/port_{name}": "1000\n" for name in ("xmit_data", "rcv_data")}
    sysfs(netloom.folder / "tree", "host0000", counters)
    sysfs(netloom.folder / "tree", "any", {"node_guid": "0002:c903:0000:0040\n", **counters})
    result = netloom.result("counters", "show", paths.ft2, "tree")
    assert (result["kind"], result["links_by_one_end"], result["host_bytes"]) == ("sysfs", 4, 8000)
    assert {link["from"] for link in result["busiest"]} == {"host0000", "host0001", "leaf00"}
    sysfs(netloom.folder / "tree", "any", {"ports/1/counters/port_xmit_data": "many\n"})
    error = netloom.refused("counters", "show", paths.ft2, "tree")
    assert (
        error
        == 'tree/any/mlx5_0/ports/1/counters/port_xmit_data:1: expected a number below 2^64, found "many"'
    )


def test_samples_of_an_exporter_make_intervals(netloom, paths):
    rows = ["time,__name__,guid,port,value"]
    for time, sent in ((1_700_000_000, 4000), (1_700_000_060, 10_000), (1_700_000_120, 10_400)):
        rows.append(f"{time},infiniband_switch_port_transmit_data_bytes_total,0x2c90200000000,5,{sent}")
    (netloom.folder / "samples.csv").write_text("\n".join(rows))
    result = netloom.result("counters", "show", paths.ft2, "samples.csv")
    assert (result["kind"], result["readings"]) == ("treydock/infiniband_exporter", 3)
    assert (result["intervals"], result["seconds"], result["link_bytes"]) == (2, 120.0, 6400)
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    # GUIDs are text: pyarrow would take them for numbers.
    text = pyarrow.csv.ConvertOptions(column_types={"guid": pa.string(), "time": pa.int64()})
    table = pyarrow.csv.read_csv(netloom.folder / "samples.csv", convert_options=text)
    table = table.set_column(0, "time", table["time"].cast(pa.timestamp("s")))
    pyarrow.parquet.write_table(table, netloom.folder / "samples.parquet")
    again = netloom.result("counters", "show", paths.ft2, "samples.parquet")
    assert again == {**result, "notes": again["notes"]}
    # One port of one leaf is no fabric.
    [note] = result["notes"]
    assert note == (
        "samples.csv: this looks like another fabric's file, or only a part of this one's: "
        "11 of the fabric's 12 switches were not read"
    )


def test_readings_that_do_not_belong_together_are_refused(netloom, paths, real):
    before, after = (real("ft2_32", f"perfquery_x_{when}.txt.gz") for when in ("before", "after"))
    assert "the fabric has no LIDs" in netloom.refused("counters", "show", paths.small, after)
    netloom.ok("counters", "diff", paths.ft2, before, after, "-o", "c.csv")
    assert "intervals already: expected two readings" in netloom.refused(
        "counters", "diff", paths.ft2, before, "c.csv"
    )
    # Taken the wrong way round every counter seems to have been set back.
    swapped = netloom.result("counters", "diff", paths.ft2, after, before, "-o", "s.csv", code=1)
    assert swapped["flagged"]["reset"] > 100
    assert netloom.result("counters", "check", paths.ft2, "s.csv", code=1)["ok"] is False
    renamed = (netloom.folder / "c.csv").read_text().replace("host0007", "login1")
    (netloom.folder / "other.csv").write_text(renamed)
    assert "other.csv:" in netloom.refused("counters", "show", paths.ft2, "other.csv")
    assert "counters are of another fabric" in netloom.refused("counters", "show", paths.ft2, "other.csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected counters (perfquery,"),
        (
            "hello\n",
            "c.txt:1: expected counters (perfquery, ibqueryerrors, ibdiagnet's db_csv, an",
        ),
        ("link,xmit_bytes\n0,-5\n", 'c.txt:2: expected xmit_bytes as a whole number from 0, found "-5"'),
        ("link,xmit_bytes\n0,nan\n", 'c.txt:2: expected xmit_bytes as a whole number from 0, found "nan"'),
        ("link,xmit_bytes\n999,5\n", "c.txt:2: expected links below 128, found 999"),
        (
            "# Port counters: Lid 2 port 1\nPortXmitData:..x\n",
            'c.txt:2: expected PortXmitData as a number below 2^64, found "x"',
        ),
        (
            "start_ns,end_ns,link,xmit_bytes\n5,4,0,1\n",
            "c.txt:2: expected an interval that ends after its start, found 5 to 4",
        ),
    ],
)
def test_bad_counters_are_refused_with_their_line(netloom, paths, text, expected):
    (netloom.folder / "c.txt").write_text(text)
    assert expected in netloom.refused("counters", "show", paths.ft2, "c.txt")


def test_bad_options_are_usage(netloom, paths):
    for option in ("--noise=-1", "--noise=2", "--missing=x", "--mtu=0", "--seconds=-1"):
        netloom.refused("counters", "synth", paths.ft2, "ftree", "all-to-all", option, code=2)
    bad = netloom.refused("counters", "synth", paths.ft2, "ftree", "all-to-all", "--vl-scheme", "5vl")
    assert (
        'VL scheme "5vl": expected SslVvl with :groups, :sources or :uniform, Vvl:random or 5vl:galois' in bad
    )
    netloom.refused("counters", "synth", paths.ft2, "ftree", "all-to-all", "-o", "c.txt", code=2)
    (netloom.folder / "damaged.parquet").write_bytes(b"PAR1 not really")
    assert "expected a Parquet file of counters" in netloom.refused(
        "counters", "show", paths.ft2, "damaged.parquet"
    )


def test_readings_of_another_fabric_are_told(netloom, paths, real):
    # LIDs are small numbers: every port of ft2_32 that ft3_32 happens to have was taken for its own.
    after = real("ft2_32", "perfquery_x_after.txt.gz")
    other = netloom.result("counters", "show", paths.ft3, after)
    assert any("this looks like another fabric's file: " in note for note in other["notes"])
    assert "\n\nnotes\n" in netloom.ok("counters", "show", paths.ft3, after)
    assert netloom.result("counters", "show", paths.ft2, after)["notes"] == []
    # Findings alone exit 1, and there are enough of them.
    assert netloom.result("counters", "check", paths.ft3, after, code=1)["notes"] == other["notes"]


def test_a_port_that_no_switch_has_is_named_with_its_line(netloom, paths, real):
    text = gzip.decompress(real("ft2_32", "perfquery_x_after.txt.gz").read_bytes()).decode()
    block = text[text.rindex("# Port extended") :]
    strange = re.sub(r"Lid \d+ port \d+", "Lid 35 port 77", block)
    (netloom.folder / "p.txt").write_text(text + strange)
    [note] = netloom.result("counters", "show", paths.ft2, "p.txt")["notes"]
    line = len(text.splitlines()) + 1
    assert note.startswith(f"p.txt:{line}: 1 port that this fabric does not have, left out: Lid 35 port 77")
    assert f"(line {line}; " in note
    assert "has ports 1 to 8)" in note
    (netloom.folder / "alone.txt").write_text(strange)
    error = netloom.refused("counters", "show", paths.ft2, "alone.txt")
    assert error.startswith("alone.txt:1: Lid 35 port 77 is not of this fabric (")


def test_what_no_host_link_tells_is_unknown(netloom, paths):
    # The cables between switches, and no other.
    netloom.ok("counters", "synth", paths.ft2, "ftree", "all-to-all", "-o", "c.csv")
    rows = (netloom.folder / "c.csv").read_text().splitlines(keepends=True)
    (netloom.folder / "up.csv").write_text("".join(row for row in rows if "host" not in row))
    shown = netloom.ok("counters", "show", paths.ft2, "up.csv")
    assert re.search(r"^sent by hosts +unknown$", shown, re.MULTILINE)
    assert "-0" not in shown
    result = netloom.result("counters", "show", paths.ft2, "up.csv")
    assert (result["host_bytes"], result["host_packets"]) == (None, None)
    assert result["link_bytes"] > 0


def test_a_table_is_taken_as_it_is_meant_or_refused(netloom, paths):
    netloom.ok("counters", "synth", paths.ft2, "ftree", "all-to-all", "-o", "c.csv")
    rows = (netloom.folder / "c.csv").read_text().splitlines(keepends=True)

    def refused(*lines: str) -> str:
        (netloom.folder / "bad.csv").write_text("".join(lines))
        return netloom.refused("counters", "show", paths.ft2, "bad.csv")

    bites = rows[0].replace("xmit_bytes", "xmit_bites")
    hint = 'bad.csv:1: unknown column "xmit_bites", did you mean "xmit_bytes"?'
    assert refused(bites, *rows[1:]) == hint
    assert refused("link,xmit_bites\n", "0,1\n") == hint
    other = rows[5].replace("0,1000000000,", "0,1000000001,", 1)
    assert refused(*rows[:5], other, *rows[6:]) == (
        "bad.csv:6: the interval 0 to 1000000001 overlaps 0 to 1000000000 of line 2: "
        "expected one after the other"
    )


@pytest.mark.parametrize("file", ["perfquery_x_after", "perfquery_after", "perfquery_vl_leaf00"])
def test_a_reading_cut_inside_a_block_is_refused(netloom, paths, real, file):
    text = gzip.decompress(real("ft2_32", f"{file}.txt.gz").read_bytes()).decode()
    fabric = nl.Fabric.read(paths.ft2)
    start = text.rindex("# Port")
    for end in range(start + 1, len(text) - 1):
        with pytest.raises(nl.FormatError) as refused:
            nl.Counters.parse(text[:end].encode(), fabric, label="p.txt")
        assert str(refused.value).startswith(f"p.txt:{len(text[:end].splitlines())}: "), end - start
    # Whole blocks are a reading, if of fewer ports.
    assert nl.Counters.parse(text[:start].encode(), fabric).readings == 1
    # A last number that is whole without the line's end: no digit follows a 0.
    assert text.endswith("0\n")
    results = []
    for written in (text, text[:-1]):
        (netloom.folder / "p.txt").write_text(written)
        results.append(netloom.result("counters", "show", paths.ft2, "p.txt"))
    assert results[0] == results[1]
    if file != "perfquery_x_after":  # whose last number is of no use
        (netloom.folder / "p.txt").write_text(text[:-2] + "12")
        error = netloom.refused("counters", "show", paths.ft2, "p.txt")
        assert "expected an end of the last line, found none: is the file cut short?" in error


def test_routes_with_a_hole_are_named(netloom, paths):
    netloom.ok("route", "ftree", paths.ft2, "-o", "whole.lfts")
    lines = (netloom.folder / "whole.lfts").read_text().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith("0x"))
    (netloom.folder / "hole.lfts").write_text("".join(lines[:first] + lines[first + 1 :]))
    for verb in (("counters", "synth"), ("loads",)):
        error = netloom.refused(*verb, paths.ft2, "hole.lfts", "all-to-all")
        assert error.startswith("hole.lfts: "), error
        assert "has no entry for it" in error


def test_a_difference_lists_the_busiest_links_that_are_asked_for(netloom, paths, real):
    readings = [real("ft2_32", f"perfquery_x_{when}.txt.gz") for when in ("before", "after")]
    for count in (0, 3):
        result = netloom.result("counters", "diff", paths.ft2, *readings, "--hottest", count, "-o", "c.csv")
        assert len(result["busiest"]) == count


def test_the_same_reading_twice_is_no_interval(netloom, real):
    """It passed as one in which nothing was carried."""
    net, reading = (real("ft2_32", name) for name in ("ibnetdiscover.txt", "perfquery_x_after.txt.gz"))
    result = netloom.result("counters", "diff", net, reading, reading, "--seconds", "60", code=1)
    (finding,) = result["findings"]
    assert (finding["kind"], finding["severity"]) == ("stale", "warning")
    assert "the same reading twice" in finding["text"]


def test_readings_in_the_wrong_order_are_a_finding(netloom, real):
    files = ("ibnetdiscover.txt", "perfquery_x_before.txt.gz", "perfquery_x_after.txt.gz")
    net, *readings = (real("ft2_32", name) for name in files)
    right = netloom.result("counters", "diff", net, *readings)
    assert (right["findings"], right["flagged"]["reset"]) == ([], 0)
    wrong = netloom.result("counters", "diff", net, *readings[::-1], "-o", "c.csv", code=1)
    (finding,) = wrong["findings"]
    assert finding["kind"] == "reversed"
    count = wrong["flagged"]["reset"]
    assert finding["text"].startswith(f"{count} of the {count} counters that changed have fallen: ")
    assert "looks like the later reading" in finding["text"]
    assert (netloom.folder / "c.csv").is_file(), "all counters may have been set back"
    assert "reversed: " in netloom.ok("counters", "diff", net, *readings[::-1], code=1)
    # Ports that were set back, among others that went on counting.
    first = gzip.decompress(readings[0].read_bytes()).decode()
    (netloom.folder / "first.txt").write_text(re.sub(r"(PortXmitData:\.+)\d+", r"\g<1>999999999", first))
    some = netloom.result("counters", "diff", net, "first.txt", readings[1])
    assert some["flagged"]["reset"] > 0
    assert some["findings"] == []


def test_error_counters_are_told_between_two_readings_and_of_one(netloom, paths):
    first = (paths.ibdiagnet / "small.db_csv").read_text()
    (netloom.folder / "before.db_csv").write_text(first)
    # At port 3 of leaf01: LinkDowned 2 to 3, symbol errors 17 to 90, discards 158 to 200 (too few to tell).
    old, new = "3,2,0,17,0,158,0,", "3,3,0,90,0,200,0,"
    (netloom.folder / "after.db_csv").write_text(first.replace(old, new).replace(",158,0,", ",200,0,"))
    result = netloom.result(
        "counters", "diff", "before.db_csv", "before.db_csv", "after.db_csv", "-o", "c.csv", code=1
    )
    told = [(one["kind"], one["severity"], one["text"]) for one in result["findings"]]
    assert told == [
        (
            "symbol-errors",
            "warning",
            "symbol errors (SymbolErrorCounter) at 1 port, 10 or more each: leaf01[3] 73",
        ),
        ("link-downed", "warning", "links that went down (LinkDownedCounter) at 1 port: leaf01[3] 1"),
    ]
    found = netloom.result("counters", "check", "after.db_csv", "after.db_csv")["findings"]
    assert {one["kind"] for one in found} == {"errors-since-reset"}
    assert "LinkDownedCounter" not in str(found), "three since a reset are usual"
    assert "thrown away instead of sent (PortXmitDiscards) at 1 port since" in str(found)
    lines = netloom.result("infer", "before.db_csv", "ftree", "after.db_csv", "-o", "t.mtx")["findings"]
    assert "errors-since-reset" in {one["kind"] for one in lines}


def test_a_full_error_counter_is_no_count(netloom, paths):
    text = (paths.ibdiagnet / "small.db_csv").read_text()
    old = "3,2,0,17,0,158,0,"
    assert old in text
    (netloom.folder / "full.db_csv").write_text(text.replace(old, "3,2,0,65535,0,158,0,"))
    found = netloom.result("counters", "check", "full.db_csv", "full.db_csv", code=1)["findings"]
    told = {one["kind"]: one["text"] for one in found}
    assert told["errors-full"].startswith("SymbolErrorCounter is full at 65535 at 1 port: ")
    assert told["errors-full"].endswith(": leaf01[3]")
    assert "65535" not in told["errors-since-reset"]


def test_a_guid_stands_beside_names_that_repeat(netloom, paths, write):
    """Five switches are called "SwitchIB Mellanox Technologies"; nobody could say which one is meant."""
    net = paths.root / "tests" / "data" / "cases" / "same-names" / "net.txt"
    fabric = nl.Fabric.read(net)
    nl.synth_counters(fabric, "minhop", nl.Traffic.read("all-to-all", fabric)).write(netloom.folder / "c.csv")
    name = "SwitchIB Mellanox Technologies"
    rows = netloom.result("counters", "show", net, "c.csv")["busiest"]
    guids = {f"0x{int(guid):016x}" for guid in fabric.switch_table()["guid"]}
    for row in rows:
        for side in ("from", "to"):
            assert (row[f"{side}_guid"] in guids) == (row[side] == name), row
    assert {row["to"] for row in rows} | {row["from"] for row in rows} > {name}
    text = netloom.ok("counters", "show", net, "c.csv")
    first = next(row for row in rows if row["to"] == name)
    assert f"{name}[{first['to_port']}] {first['to_guid']}" in text
    # A cable between two of them whose ends disagree, and errors at one.
    table = fabric.link_table()
    link = next(
        at for at, node in enumerate(table["source"]) if min(node, table["target"][at]) >= fabric.hosts
    )
    guid, port = (
        int(fabric.switch_table()["guid"][table["source"][link] - fabric.hosts]),
        table["source_port"][link],
    )
    write(
        "q.txt",
        f'Errors for 0x{guid:x} "{name}"\n   GUID 0x{guid:x} port {port}: [SymbolErrorCounter == 90] '
        "[PortXmitData == 12 (48B)] [PortRcvData == 1 (4B)] [PortXmitPkts == 1] [PortRcvPkts == 1]\n",
    )
    found = netloom.result("counters", "check", net, "q.txt", code=1)["findings"]
    [errors] = [one["text"] for one in found if one["kind"] == "errors-since-reset"]
    assert errors.endswith(f": {name} (0x{guid:016x})[{port}] 90")
    assert all(f"{name}[" not in one["text"] for one in found)
