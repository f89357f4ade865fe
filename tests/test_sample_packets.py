"""Packets as NICs received them: which hash made their bits, and `netloom sample decode`."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pyarrow.parquet as pq
import pytest

from netloom import hashes, sampling
from netloom.errors import FormatError
from netloom.runs import folder as runs
from sampling_bed import FABRIC, MANY, SMALL, altered, kept, put, sampled, scenario

TREE = "two-level:leaves=2,hosts=2,spines=1"
HASHES = ["gf", "0x8d,0xb5e4dc75", "md5", "siphash", "siphash:00112233445566778899aabbccddeeff"]


@pytest.mark.parametrize("function", HASHES)
def test_any_hash_gives_estimates_as_sure_as_they_say(netloom, function):
    samples = sampled(netloom, "--method", "one-bit", "--hash", function, "--with-truth", text=MANY)
    estimated, truth = samples.total(), samples.true_total()
    sure = estimated.traffic_error > 0
    off = (estimated.traffic - truth.traffic)[sure] / estimated.traffic_error[sure]
    assert sure.sum() >= 60
    assert 0.6 < (off**2).mean() < 1.5
    assert hashes.hash_of(samples.sampling, "run") == {
        "gf": "0x8d,0x127be738",
        "siphash": "siphash:000102030405060708090a0b0c0d0e0f",
    }.get(function, function)
    if function != "gf":
        assert (
            f"one bit ({function.split(':')[0]}) in"
            in netloom.ok("sample", "run", scenario(netloom), "--method", "one-bit", "--hash", function)
            or "," in function
        )


@pytest.mark.parametrize("function", HASHES[1:])
def test_kept_packets_say_which_hash_made_their_bits(netloom, function):
    how = ["--method", "one-bit", "--packets", "--routings", "ftree", "--rate", 0.5]
    samples = sampled(netloom, *how, "--hash", function)
    packets = "run/0-ftree/packets.parquet"
    result = netloom.result("sample", "decode", FABRIC, packets, "-o", "again.parquet")
    assert (result["findings"], result["rate"]) == ([], 0.5)
    assert result["hash"] == hashes.hash_of(samples.sampling, "run")
    again = sampling.total(pq.read_table(netloom.folder / "again.parquet"), samples.fabric.links)
    assert (again.traffic == samples.total().traffic).all()
    # Options say otherwise: then it is another hash, and told.
    other = netloom.result("sample", "decode", FABRIC, packets, "--hash", "gf", code=1)
    assert "the hash of no link of theirs" in other["findings"][0]["text"]


def test_md5_is_what_anybody_else_computes(netloom):
    """Packets that keep host 0's link carry MD5(id || its number) mod 2, of one number out of 256."""
    how = ["--packets", "--routings", "ftree"]
    link = np.asarray(sampled(netloom, *how).packets["link"])
    rows = sampled(netloom, *how, "--method", "one-bit", "--hash", "md5").packets.to_pylist()
    kept = [(row["id"], row["bit"]) for row, of in zip(rows, link, strict=True) if of == 0]
    assert len(kept) > 40

    def bit(number: int, packet: int) -> int:
        return int(hashlib.md5(struct.pack(">II", packet, number)).hexdigest(), 16) % 2

    fits = [number for number in range(256) if all(bit(number, packet) == of for packet, of in kept)]
    assert len(fits) == 1


def test_hashes_that_there_are_not_are_refused_by_name(netloom):
    name = scenario(netloom)
    for word in ("sha1", "siphash:12", "0x8d,0", "1,2,3"):
        said = netloom.refused("sample", "run", name, "--method", "one-bit", "--hash", word, code=2)
        assert f"--hash {word}: expected MODULUS,G of 32 bits each" in said
        assert "md5, siphash" in said
    said = netloom.refused("sample", "run", name, "--method", "one-bit", "--hash", "1,1")
    assert "modulus 0x1: x^32 + 0x1 can be divided, so that its products make no field" in said
    sampled(netloom, "--method", "one-bit", "--hash", "md5", "--routings", "ftree")
    manifest = json.loads((netloom.folder / "run" / runs.MANIFEST).read_text())
    manifest["runs"][0]["result"]["sampling"]["hash"]["function"] = "sha9"
    (netloom.folder / "run" / runs.MANIFEST).write_bytes(runs.sealed(manifest))
    with pytest.raises(FormatError, match="hash sha9: expected MODULUS,G"):
        sampling.read(netloom.folder / "run")


def test_few_packets_are_said_to_be_too_few(netloom):
    """Not that nothing is congested."""
    done = netloom("sample", "run", scenario(netloom), "--rate", 0.0005, "--routings", "ftree", "-o", "run")
    assert "too few packets sampled to tell" in done.out
    assert "too few to tell which links are congested (a greater --rate)" in done.err
    told = netloom("diagnose", "run")
    assert "too few packets were sampled to tell whether anything is congested" in told.out
    assert "nothing is congested" not in told.out


@pytest.mark.parametrize("method", ["whole", "one-bit"])
def test_packets_that_were_kept_give_the_runs_samples(netloom, method):
    samples, packets = kept(netloom, method)
    result = netloom.result("sample", "decode", FABRIC, packets, "-o", "again.parquet")
    assert result["findings"] == []
    assert result["packets"] == result["decoded"] == samples.contexts.to_pylist()[0]["sampled"]
    again = sampling.total(pq.read_table(netloom.folder / "again.parquet"), samples.fabric.links)
    assert (again.traffic == samples.total().traffic).all()
    assert (again.congested_error == samples.total().congested_error).all()


def test_a_rate_that_packets_contradict_is_refused(netloom):
    _, packets = kept(netloom, "whole")
    words = ("sample", "decode", FABRIC, packets)
    assert netloom.result(*words, "--rate", 1)["findings"] == []
    assert f"--rate 0.5: {packets} says 1" in netloom.refused(*words, "--rate", 0.5, code=2)
    assert f"--hop-bits 4: {packets} says 3" in netloom.refused(*words, "--hop-bits", 4, code=2)


def test_packets_by_name_and_as_csv(netloom):
    samples, _ = kept(netloom, "whole")
    names = samples.fabric.host_names
    rows = ["id,source,destination,hops,link,congested"]
    for row in samples.packets.slice(0, 200).to_pylist():
        ends = f"{names[row['source']]},{names[row['destination']]}"
        rows.append(f"{row['id']},{ends},{row['hops']},{row['link']},{row['congested']}")
    (netloom.folder / "p.csv").write_text("\n".join(rows))
    assert netloom.result("sample", "decode", FABRIC, "p.csv")["decoded"] == 200
    (netloom.folder / "q.csv").write_text("\n".join([*rows, "1,nobody,host0001,2,3,0"]))
    assert "row 200: source nobody: expected a host of the fabric" in netloom.refused(
        "sample", "decode", FABRIC, "q.csv"
    )


def test_packets_of_another_hash_or_fabric_are_told(netloom):
    _, packets = kept(netloom, "one-bit")
    other = netloom.result("sample", "decode", FABRIC, packets, "--hash", "0xc5,0xb5e4dc75", code=1)
    assert "carry a bit that is the hash of no link of theirs" in other["findings"][0]["text"]
    small = "two-level:leaves=4,hosts=4,spines=4"
    found = netloom.result("sample", "decode", small, packets, code=1)["findings"]
    assert any("another fabric" in one["text"] for one in found)


def test_packets_on_links_that_their_hosts_do_not_cross_are_told(netloom):
    """Of host 0 and host 9, on other leaves: four links."""
    samples, _ = kept(netloom, "whole")
    names, ends = samples.fabric.host_names, samples.fabric.link_table()
    own = {name: link for link, name in enumerate(names)}
    leaf_of_9 = ends["target"][own[names[9]]]
    away = next(
        link
        for link in range(len(names), samples.fabric.links)
        if ends["source"][link] == leaf_of_9 and ends["target"][link] >= len(names)
    )
    head = "id,source,destination,hops,link,congested\n"
    for row, expected in [
        ("1,0,9,4,5,1", "1 packets carry a link that no packet of their hosts crosses in so many hops"),
        (f"1,0,9,4,{away},1", "carry a link that no packet of their hosts crosses in so many hops"),
        ("1,0,9,2,0,1", "have fewer hops than any way of their hosts"),
        (
            "1,0,9,6,0,1",
            "have more hops than a shortest way of their hosts: they took detours, or counts are wrong",
        ),
        ("1,0,1,4,0,1", "have more hops than a shortest way of their hosts"),
    ]:
        (netloom.folder / "p.csv").write_text(head + row + "\n1,0,9,4,0,0\n")
        result = netloom.result("sample", "decode", FABRIC, "p.csv", code=1)
        assert expected in result["findings"][0]["text"]
        assert "(the first: row 0)" in result["findings"][0]["text"]
        assert result["decoded"] == 1 + ("more hops" in expected)
    # Counts of one bit cannot tell four hops.
    (netloom.folder / "p.csv").write_text(head + "1,0,9,2,0,1\n")
    how = ["sample", "decode", FABRIC, "p.csv", "--hop-bits", 1]
    assert (
        "more than 2 hops apart: counts are full, estimates too small"
        in netloom.result(*how, code=1)["findings"][0]["text"]
    )
    (netloom.folder / "p.csv").write_text(head + "1,0,9,4,5,1\n")
    assert (
        netloom.result("sample", "decode", FABRIC, "p.csv", code=1)["findings"][0]["text"]
        == "no packet can be decoded: these are of another fabric"
    )


def test_packets_of_any_routes_on_a_damaged_fabric_can_be(netloom):
    """minhop goes down and up again there: such ways are odd, not impossible."""
    whole = "fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=2"
    netloom.ok("fabric", "damage", whole, "--random-links", 12, "--seed", 1, "-o", "damaged.net", "-q")
    text = SMALL.replace(FABRIC, "damaged.net").replace(
        '["ftree", "adaptive"]', '["minhop", "updn", "ftree"]'
    )
    netloom.ok(
        "sample", "run", scenario(netloom, text), "--packets", "--allow-credit-loops", "-o", "run", "-q"
    )
    for folder in ("0-minhop", "1-updn", "2-ftree"):
        packets = f"run/{folder}/packets.parquet"
        result = netloom.result("sample", "decode", "damaged.net", packets)
        assert (result["decoded"], result["findings"]) == (result["packets"], [])
        assert result["packets"] > 2_000


def test_ids_under_which_links_look_alike_are_refused(netloom):
    """Ids below 16 leave four bits of the hash: 16 values for 160 links."""
    rows = [f"{number % 16},0,9,4,1,0" for number in range(200)]
    (netloom.folder / "p.csv").write_text("\n".join(["id,source,destination,hops,bit,congested", *rows]))
    said = netloom.refused("sample", "decode", FABRIC, "p.csv")
    assert "ids have 4 bits, under which 128 of 128 links look like others" in said
    assert netloom("sample", "decode", FABRIC, "p.csv", "--hash", "md5").code in (0, 1)


def test_windows_end_with_the_last_packet(netloom):
    """Not at the end of all time."""
    samples, packets = kept(netloom, "whole")
    last = int(np.asarray(samples.packets["time_ps"]).max())
    for every in ([], ["--every-us", 20]):
        netloom.ok("sample", "decode", FABRIC, packets, "-o", "again.parquet", *every)
        ends = np.asarray(pq.read_table(netloom.folder / "again.parquet")["end_ps"])
        assert int(ends.max()) == last
    late = (
        "id,source,destination,hops,link,congested,time_ps\n1,0,9,4,0,0,1\n1,0,9,4,0,0,9000000000000000000\n"
    )
    (netloom.folder / "p.csv").write_text(late)
    said = netloom.refused("sample", "decode", FABRIC, "p.csv", "--every-us", 0.1)
    assert "row 1: time_ps 9000000000000000000: more than 4,294,967,296 windows of 0.1 us" in said
    # Nor in what others wrote.
    sampled(netloom, "--routings", "ftree")
    said = altered(netloom, "samples", end_ps=put(3, 2**64 - 1))
    assert "row 3: end_ps 18446744073709551615: expected 0 to 9223372036854775807" in said


def test_packets_that_cannot_be_are_told_or_refused(netloom):
    _, packets = kept(netloom, "one-bit")
    head = "id,source,destination,hops,bit,congested,context\n"
    for rows, expected in [
        ("5,0,0,4,1,0,3\n", "hosts that no way joins"),
        ("5,0,99,4,1,0,3\n", "hosts that no way joins"),
        ("5,0,9,1,1,0,3\n", "hops that cannot be: expected 2 to 8"),
        ("0,0,9,4,1,0,3\n", "the hash of no link of theirs"),
        ("0,0,9,4,1,0,3\n", "context 3: no packet of it can be decoded"),
        ("", "there are no packets"),
    ]:
        (netloom.folder / "p.csv").write_text(head + rows)
        findings = netloom.result("sample", "decode", FABRIC, "p.csv", code=1)["findings"]
        assert any(expected in one["text"] for one in findings)
    for rows, expected in [
        ("5,0,9,4,2,0,3\n", "row 0: bit 2: expected 0 to 1"),
        ("5,-1,9,4,1,0,3\n", "row 0: source -1: expected 0 to "),
        ("5,0,9,4,1,7,3\n", "row 0: congested 7: expected 0 to 1"),
        ("x,0,9,4,1,0,3\n", "column id: expected whole numbers"),
    ]:
        (netloom.folder / "p.csv").write_text(head + rows)
        assert expected in netloom.refused("sample", "decode", FABRIC, "p.csv")
    (netloom.folder / "p.csv").write_text("a,b\n1,2\n")
    assert "expected columns id" in netloom.refused("sample", "decode", FABRIC, "p.csv")
    data = (netloom.folder / packets).read_bytes()
    (netloom.folder / "cut.parquet").write_bytes(data[: len(data) // 2])
    text = netloom.refused("sample", "decode", FABRIC, "cut.parquet")
    assert "cut.parquet: expected a Parquet file, whole" in text


def test_packets_on_ways_that_are_not_shortest_are_counted_and_told(netloom):
    """Hosts of leaf00 to host0002 by spine00, down to leaf02, up again to spine01."""
    fabric = "two-level:leaves=3,hosts=2,spines=2"
    netloom.ok("route", "ftree", fabric, "-o", "t.lfts", "-q")
    tables = (netloom.folder / "t.lfts").read_text()
    for switch, port in (("spine00", "003"), ("leaf02", "004")):
        at = tables.index("0x0003 ", tables.index(f"('{switch}'"))
        tables = f"{tables[:at]}0x0003 {port}{tables[at + 10 :]}"
    (netloom.folder / "t.lfts").write_text(tables)
    text = f'fabric = "{fabric}"\nroutes = "t.lfts"\n[[job]]\nname = "two"\nhosts = "host[0002,0000-0001]"\n'
    text += 'program = { kind = "incast", bytes = 400000 }\n'
    bit = sampled(netloom, "--method", "one-bit", text=text)
    # Two such links of six.
    packets = sum(count for count, _ in bit.exchanged().values())
    assert bit.sampling["astray"] / packets == pytest.approx(1 / 3, abs=0.15)
    said = netloom.result("sample", "run", "s.toml", "--method", "one-bit")["runs"][0]["findings"]
    told = f"{bit.sampling['astray']} sampled packets kept a link that is on no shortest way"
    assert any(one["text"].startswith(told) for one in said)
    # A whole link needs no candidates.
    whole = sampled(netloom, text=text)
    assert whole.sampling["astray"] == 0
    links = whole.fabric.link_table()
    names = [*whole.fabric.host_names, *whole.fabric.switch_names]
    ends = {
        (names[links["source"][at]], names[links["target"][at]]) for at in whole.samples["link"].to_pylist()
    }
    assert {("spine00", "leaf02"), ("leaf02", "spine01")} <= ends


@pytest.mark.parametrize("method", ["whole", "one-bit"])
def test_decoded_packets_are_drawn_and_diagnosed_as_a_run_is(netloom, method):
    samples = sampled(netloom, "--packets", "--routings", "ftree", "--method", method)
    packets = "run/0-ftree/packets.parquet"
    words = ("sample", "decode", FABRIC, packets, "--write-run", "decoded", "--quiet")
    assert netloom.json(*words)["result"]["run"] == "decoded"
    again = sampling.read(netloom.folder / "decoded", fabric=samples.fabric)
    assert again.findings == ()
    assert (again.total().traffic == samples.total().traffic).all()
    assert (again.total().congested == samples.total().congested).all()
    received = np.asarray(samples.received["packets"]).sum()
    assert np.asarray(again.contexts["packets"]).sum() == received
    assert len(again.jobs) == len(samples.jobs)
    mine = netloom.json("plot", "congestion", "run", "-o", "a.svg", "--quiet")["result"]["panels"]
    theirs = netloom.json("plot", "congestion", "decoded", "-o", "b.svg", "--quiet")["result"]["panels"]
    assert [panel["worst"] for panel in theirs] == [panel["worst"] for panel in mine]
    assert netloom("diagnose", "decoded").code in (0, 1)
    # It is replaced as a run is; what is no run is not.
    netloom.ok(*words)
    (netloom.folder / "taken").mkdir()
    (netloom.folder / "taken" / "mine").write_text("x")
    assert "is not empty" in netloom.refused(*words[:5], "taken", "--quiet")


def test_sizes_of_packets_are_weighed_by_context(netloom):
    # Hosts 0 and 1 are at one leaf; link 0 is host 0's own.
    rows = ["id,source,destination,hops,link,congested,context,bytes"]
    rows += ["1,0,1,2,0,0,4294967295,100", "1,0,1,2,0,0,4294967295,200", "1,0,1,2,0,0,7,1500"]
    (netloom.folder / "packets.csv").write_text("\n".join(rows) + "\n")
    netloom("sample", "decode", TREE, "packets.csv", "--write-run", "decoded", "--quiet")
    contexts = pq.read_table(netloom.folder / "decoded" / "0-measured" / "contexts.parquet")
    assert contexts["job_name"].to_pylist() == ["context 7", "context 4294967295"]
    decoded = contexts["packets"].to_pylist()
    assert contexts["bytes"].to_pylist() == [1500 * decoded[0], 150 * decoded[1]]
    wrong = "\n".join([rows[0], "1,0,1,2,0,0,0,-1"]) + "\n"
    (netloom.folder / "packets.csv").write_text(wrong)
    words = ("sample", "decode", TREE, "packets.csv", "--write-run", "other", "--quiet")
    assert "bytes -1" in netloom.refused(*words)
