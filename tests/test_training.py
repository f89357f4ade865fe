"""Rails, rings and hashing: what training jobs meet on the way."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl

RING = "two-level:leaves=8,hosts=8,spines=8"


def scattered_ring(fabric: nl.Fabric, seed: int) -> nl.Traffic:
    """Every host sends to the next of a random order of all."""
    order = np.random.default_rng(seed).permutation(fabric.hosts)
    return nl.Traffic.from_triples(fabric.hosts, order, np.roll(order, -1), np.full(len(order), 1e6))


def test_a_ring_collides_by_hash_and_not_by_optimised_tables(netloom):
    fabric = nl.Fabric.generate(RING)
    traffic = scattered_ring(fabric, 1)
    loads, most = nl.ecmp_loads(fabric, traffic, draws=101)
    assert loads.max == sorted(most)[50] >= 3e6
    assert set(np.array(most) / 1e6) <= set(range(1, 9)), "whole flows add up"
    found = nl.optimize(fabric, traffic)
    assert found.loads.max == 1e6
    assert found.loads.proven_optimal


def test_more_queue_pairs_spread_better(netloom):
    fabric = nl.Fabric.generate(RING)
    traffic = scattered_ring(fabric, 2)
    medians = [nl.ecmp_loads(fabric, traffic, pairs=pairs, draws=21)[0].max for pairs in (1, 4, 16, 64, 4096)]
    assert medians == sorted(medians, reverse=True)
    assert medians[-1] == pytest.approx(1e6, rel=0.1)


def test_bytes_are_conserved_and_threads_do_not_matter(netloom):
    fabric = nl.Fabric.generate("rail:units=2,machines=4,rails=4,radix=8")
    traffic = nl.Traffic.read("permutation:seed=3,bytes=12", fabric)
    one, by_draw = nl.ecmp_loads(fabric, traffic, pairs=3, draws=5, threads=1)
    two, same = nl.ecmp_loads(fabric, traffic, pairs=3, draws=5, threads=2)
    assert by_draw == same
    assert np.array_equal(one.per_link, two.per_link)
    # Every byte takes as many links as shortest ways have, whatever is drawn.
    walked = nl.loads(fabric, "updn", traffic).per_link.sum()
    assert one.per_link.sum() == pytest.approx(walked)


def test_the_spread_is_told(netloom):
    result = netloom.result("loads", RING, "ecmp:pairs=2,draws=40", "permutation:seed=1")
    spread = result["spread"]
    assert spread["draws"] == 40
    assert spread["p5"] <= spread["p50"] == result["max_load"] <= spread["p95"]
    text = netloom.ok("loads", RING, "ecmp:draws=40", "permutation:seed=1")
    assert "in 90 % of 40; shown is the median" in text
    assert "spread" not in netloom.result("loads", RING, "ftree", "permutation:seed=1")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("ecmp:pairs=0", 'ecmp:pairs=0: pairs: expected a whole number, 1 to 65536, found "0"'),
        ("ecmp:pairs=65537", "expected a whole number, 1 to 65536"),
        ("ecmp:draws=1e3", "draws: expected a whole number, 1 to 10000"),
        ("ecmp:queues=4", 'expected pairs=N and draws=N, each once, found "queues=4"'),
        ("ecmp:pairs=4,pairs=4", "each once"),
        ("ecmp:", 'found ""'),
    ],
)
def test_bad_words_are_refused(netloom, word, told):
    done = netloom("loads", RING, word, "permutation:seed=1")
    assert done.code == 3
    assert told in done.err


def test_options_of_tables_are_refused(netloom):
    done = netloom("loads", RING, "ecmp", "permutation:seed=1", "--users-of", "leaf0[1]")
    assert done.code in (2, 3)
    done = netloom("loads", RING, "ecmp", "permutation:seed=1", "--paths", "p.csv")
    assert (done.code, "--paths: expected routes that are tables" in done.err) == (2, True)


def test_rails_have_the_superpods_counts(netloom):
    for units, leaves, spines in [(4, 32, 16), (16, 128, 192)]:
        fabric = nl.Fabric.generate(f"rail:units={units},machines=32,rails=8")
        assert (fabric.hosts, fabric.switches) == (units * 256, leaves + spines)
    machines = {name.split()[0] for name in fabric.host_names}
    assert len(machines) == 512


def test_a_ring_within_a_unit_stays_on_its_rail(netloom):
    fabric = nl.Fabric.generate("rail:units=4,machines=8,rails=4,radix=16")
    hosts = fabric.hosts
    # Rank 4 m + r is adapter r of machine m: of a unit's 8 machines each sends to the next, in a ring.
    source = np.arange(hosts)
    target = source // 32 * 32 + (source % 32 + 4) % 32
    traffic = nl.Traffic.from_triples(hosts, source, target, np.ones(hosts))
    assert nl.loads(fabric, "ftree", traffic).max_between_switches == 0
    assert nl.ecmp_loads(fabric, traffic)[0].max_between_switches == 0


def uplinks(pairs: int, messages: int) -> np.ndarray:
    """Bytes of messages between the first hosts of two leaves, by cable up from the first leaf."""
    scenario = {
        "name": "flows",
        "fabric": "two-level:leaves=2,hosts=8,spines=8",
        "routes": [f"ecmp:pairs={pairs}"],
        "seed": 5,
        "job": [
            {
                "name": "flows",
                "hosts": ["host0000", "host0008"],
                "program": {
                    "kind": "stream",
                    "pattern": "shift:1",
                    "messages": messages,
                    "bytes": "64KiB",
                },
            }
        ],
    }
    run = nl.simulate(nl.Scenario.from_dict(scenario))
    fabric = nl.Fabric.generate(scenario["fabric"])
    links, counters = fabric.link_table(), run.counters()
    sent = np.zeros(len(links["source"]))
    np.add.at(sent, counters["link"], counters["xmit_bytes"])
    up = (links["source"] == fabric.hosts) & (links["target"] >= fabric.hosts)
    return sent[up]


def test_packets_of_a_flow_take_one_way_and_queue_pairs_more():
    one = uplinks(1, 32)
    data = one.max()
    assert data > 32 * 65536
    assert sorted(one)[-2] == 0, "all packets of two hosts are one flow"
    many = uplinks(16, 32)
    assert (many > 0).sum() >= 4
    assert many.sum() == pytest.approx(data, rel=0.01)


def test_flows_are_packets_only(netloom, paths):
    shuffle = paths.examples / "scenarios" / "shuffle.toml"
    done = netloom("simulate", shuffle, "--routings", "ecmp", "--model", "fluid")
    assert done.code in (2, 3)
    for word in ("ecmp:pairs=0", "ecmp:queues=2", "ecmp:pairs=100000"):
        done = netloom("simulate", shuffle, "--routings", word)
        assert done.code in (2, 3)
        assert "expected ecmp:pairs=N with N from 1 to 65536" in done.err
