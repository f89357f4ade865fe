"""Wrong arguments of the Python API: one of netloom's errors, with the argument's name and what was given.

Nothing is cast in silence: what is no whole number is no index.
"""

from __future__ import annotations

import datetime
import re

import numpy as np
import pytest

import netloom as nl

FABRIC = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
TRAFFIC = nl.Traffic.read("shift:1", FABRIC)
ROUTES = nl.route("ftree", FABRIC)
LOADS = nl.loads(FABRIC, ROUTES, TRAFFIC)


def triples(sources=(0, 1), destinations=(2, 3), amounts=(1.0, 2.0), endpoints=4, **more):
    return nl.Traffic.from_triples(endpoints, sources, destinations, amounts, **more)


WRONG = {
    "floats as indices": (
        lambda: triples([0.9, 1.0]),
        nl.TrafficError,
        "sources: expected whole numbers, found 0.9",
    ),
    "words as indices": (
        lambda: triples(["0", "1"]),
        nl.TrafficError,
        "sources: expected whole numbers, found '0'",
    ),
    "dates as indices": (
        lambda: triples(np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")),
        nl.TrafficError,
        "sources: expected whole numbers, found datetime.date(2026, 1, 1)",
    ),
    "truths as indices": (
        lambda: triples([True, False]),
        nl.TrafficError,
        "sources: expected whole numbers, found True",
    ),
    "nothing as an index": (
        lambda: triples([0, None]),
        nl.TrafficError,
        "sources[1]: expected a whole number, found None",
    ),
    "a negative index": (lambda: triples([0, -1]), nl.TrafficError, "sources[1]: expected 0 to 3, found -1"),
    "an index that is too large": (
        lambda: triples(destinations=[4, 0]),
        nl.TrafficError,
        "destinations[0]: expected 0 to 3, found 4",
    ),
    "a huge index": (
        lambda: triples([0, 2**64]),
        nl.TrafficError,
        "sources[1]: expected 0 to 3, found 18446744073709551616",
    ),
    "words as bytes": (
        lambda: triples(amounts=["1", "2"]),
        nl.TrafficError,
        "bytes: expected numbers, found '1'",
    ),
    "dates as bytes": (
        lambda: triples(amounts=[datetime.date(2026, 1, 1), 1]),
        nl.TrafficError,
        "bytes[0]: expected a number, found",
    ),
    "complex bytes": (lambda: triples(amounts=[1j, 2]), nl.TrafficError, "bytes: expected numbers, found 1j"),
    "NaN as bytes": (lambda: triples(amounts=[1.0, np.nan]), nl.TrafficError, "entry 1 has NaN bytes"),
    "negative bytes": (lambda: triples(amounts=[1.0, -2.0]), nl.TrafficError, "entry 1 has -2.0 bytes"),
    "NaN as packets": (lambda: triples(packets=[1.0, np.nan]), nl.TrafficError, "entry 1 has NaN packets"),
    "columns of two dimensions": (
        lambda: triples([[0, 1]]),
        nl.TrafficError,
        "sources: expected an array of one dimension, found 2",
    ),
    "columns that differ": (lambda: triples([0]), nl.TrafficError, "have 1, 2 and 2 entries"),
    "no endpoints": (
        lambda: triples(endpoints=0),
        nl.TrafficError,
        "endpoints: expected 1 to 10,000,000, found 0",
    ),
    "half an endpoint": (
        lambda: triples(endpoints=4.5),
        nl.TrafficError,
        "endpoints: expected a whole number or a fabric, found 4.5",
    ),
    "a name that is no host's": (
        lambda: triples(["nobody"], ["n1"], [1.0], FABRIC),
        nl.TrafficError,
        "sources[0]: no host of the fabric is called",
    ),
    "another fabric's hash": (
        lambda: triples(endpoints=FABRIC, hosts_hash="0" * 16),
        nl.TrafficError,
        "hosts_hash: 0000000000000000",
    ),
    "no islands": (
        lambda: nl.optimize(FABRIC, TRAFFIC, islands=0),
        nl.ArgumentError,
        "islands: expected a whole number, 1 or more, found 0",
    ),
    "negative work": (
        lambda: nl.optimize(FABRIC, TRAFFIC, work=-1),
        nl.ArgumentError,
        "work: expected a whole number, 0 or more, found -1",
    ),
    "half a unit of work": (
        lambda: nl.optimize(FABRIC, TRAFFIC, work=1.5),
        nl.ArgumentError,
        "work: expected a whole number, 0 or more, found 1.5",
    ),
    "a word as work": (
        lambda: nl.loads(FABRIC, ROUTES, TRAFFIC, work="much"),
        nl.ArgumentError,
        "work: expected a whole number, 0 or more, found 'much'",
    ),
    "negative depth": (
        lambda: nl.optimize(FABRIC, TRAFFIC, depth=-1),
        nl.ArgumentError,
        "depth: expected a whole number",
    ),
    "all threads but one": (
        lambda: nl.loads(FABRIC, ROUTES, TRAFFIC, threads=-1),
        nl.ArgumentError,
        "threads: expected a whole number, 0 or more, found -1",
    ),
    "a negative seed": (
        lambda: nl.optimize(FABRIC, TRAFFIC, seed=-1),
        nl.ArgumentError,
        "seed: expected a whole number",
    ),
    "a negative host that is frozen": (
        lambda: nl.optimize(FABRIC, TRAFFIC, today=ROUTES, frozen=[0, -1]),
        nl.ArgumentError,
        "frozen[1]: expected a whole number, 0 to 4294967295, found -1",
    ),
    "a path of a negative host": (
        lambda: ROUTES.path(-1, 0),
        nl.ArgumentError,
        "source: expected a whole number, 0 to 4294967295, found -1",
    ),
    "a path of a host that is not there": (
        lambda: ROUTES.path(0, 99),
        nl.RoutingError,
        "from 0 to 99: expected hosts below 4",
    ),
    "a negative phase": (
        lambda: TRAFFIC.phase(-1),
        nl.ArgumentError,
        "index: expected a whole number, 0 or more, found -1",
    ),
    "a phase that is not there": (
        lambda: TRAFFIC.phase(7),
        nl.TrafficError,
        "no phase 7: expected one below 1",
    ),
    "a negative count": (
        lambda: LOADS.hottest(-3),
        nl.ArgumentError,
        "count: expected a whole number, 0 or more, found -3",
    ),
    "no copies": (lambda: TRAFFIC.place(FABRIC, copies=0), nl.PlaceError, "copies"),
    "fewer copies than none": (
        lambda: TRAFFIC.place(FABRIC, copies=-1),
        nl.ArgumentError,
        "copies: expected a whole number, 0 to 4294967295, found -1",
    ),
    "LMC out of range": (
        lambda: nl.optimize_lmc(FABRIC, TRAFFIC, 300),
        nl.ArgumentError,
        "lmc: expected a whole number, 0 to 255, found 300",
    ),
    "a time limit of the past": (
        lambda: nl.optimize(FABRIC, TRAFFIC, time_limit=-1),
        nl.ArgumentError,
        "time_limit: expected a number of seconds",
    ),
    "a time limit that is no number": (
        lambda: nl.optimize(FABRIC, TRAFFIC, time_limit=float("nan")),
        nl.ArgumentError,
        "time_limit: expected a number of seconds",
    ),
    "a truth as a time limit": (
        lambda: nl.loads(FABRIC, ROUTES, TRAFFIC, time_limit=True),
        nl.ArgumentError,
        "time_limit: expected a number of seconds, not negative, found True",
    ),
    "a word as a penalty": (
        lambda: nl.optimize(FABRIC, TRAFFIC, today=ROUTES, penalty_per_change="1"),
        nl.ArgumentError,
        "penalty_per_change: expected bytes, not negative, found '1'",
    ),
    "an endless penalty": (
        lambda: nl.optimize(FABRIC, TRAFFIC, today=ROUTES, penalty_per_change=float("inf")),
        nl.ArgumentError,
        "penalty_per_change: expected bytes, not negative, found inf",
    ),
    "a threshold of AFAR that is no number": (
        lambda: nl.afar(FABRIC, TRAFFIC, max_load=float("nan")),
        nl.ArgumentError,
        "max_load: expected bytes, not negative, found nan",
    ),
    "a negative threshold of AFAR": (
        lambda: nl.afar(FABRIC, TRAFFIC, max_load=-1),
        nl.ArgumentError,
        "max_load: expected bytes, not negative, found -1",
    ),
    "more noise than there is": (
        lambda: nl.synth_counters(FABRIC, ROUTES, TRAFFIC, noise=2),
        nl.ArgumentError,
        "noise: expected a share, 0 to 1, found 2",
    ),
    "NumPy's truth as a scale": (
        lambda: nl.synth_counters(FABRIC, ROUTES, TRAFFIC, scale=np.True_),
        nl.ArgumentError,
        "scale: expected a factor, 0 to 1e15, found",
    ),
    "no bytes of a packet": (
        lambda: nl.synth_counters(FABRIC, ROUTES, TRAFFIC, mtu_bytes=0),
        nl.ArgumentError,
        "mtu_bytes: expected bytes, 1 to 1e9, found 0",
    ),
    "words as errors": (
        lambda: TRAFFIC.perturbed("much"),
        nl.ArgumentError,
        "error: expected a number, found 'much'",
    ),
    "a number of 5,000 digits": (
        lambda: nl.optimize(FABRIC, TRAFFIC, work=10**5000),
        nl.ArgumentError,
        "work: expected a whole number, 0 or more, found some int",
    ),
    "packets for half of the pairs": (
        lambda: triples(packets=[1.0]),
        nl.TrafficError,
        "packets and bytes have 1 and 2 entries: expected equal counts",
    ),
    "masked bytes": (
        lambda: triples(amounts=np.ma.masked_array([1.0, 2.0], [False, True])),
        nl.TrafficError,
        "bytes[1]: masked: expected a value",
    ),
    "a masked matrix": (
        lambda: nl.Traffic.from_scipy(np.ma.masked_less(np.eye(4), 1)),
        nl.TrafficError,
        "matrix[0, 1]: masked: expected a value",
    ),
    "a truth as the time limit of a verb": (
        lambda: nl.simulate_routings("none.toml", time_limit=True),
        nl.ArgumentError,
        "time_limit: expected seconds, 0 or more, found True",
    ),
    "no number as the time between checkpoints": (
        lambda: nl.simulate_routings("none.toml", checkpoint_every=float("nan")),
        nl.ArgumentError,
        "checkpoint_every: expected seconds, 0 to 1e9, found nan",
    ),
    "a word as ticks": (
        lambda: nl.diagnose_counters(FABRIC, "none.txt", tick_ns="1"),
        nl.ArgumentError,
        "tick_ns: expected nanoseconds, 0 to 1e9, found '1'",
    ),
    "a number as traffic": (
        lambda: nl.loads(FABRIC, "ftree", 5),
        nl.ArgumentError,
        "traffic: expected a Traffic, or a spec or file that Traffic.read takes, found 5",
    ),
    "nothing as a fabric": (
        lambda: nl.optimize(None, TRAFFIC),
        nl.ArgumentError,
        "fabric: expected a Fabric, or a spec or file that Fabric.read takes, found None",
    ),
    "a layer's load that is no number": (
        lambda: nl.optimize_layers(FABRIC, [("a", TRAFFIC, 1.0)], work=1).value_of([float("nan")]),
        nl.ArgumentError,
        "max_loads[0]: expected bytes, not negative, found NaN",
    ),
    "a fabric's spec that is none": (
        lambda: nl.loads("two-level:leafs=2", "ftree", "shift:1"),
        nl.SpecError,
        "leafs",
    ),
    "a traffic's spec that is none": (lambda: nl.optimize(FABRIC, "shift:x"), nl.SpecError, "shift"),
    "minus a traffic": (lambda: -1 * TRAFFIC, nl.TrafficError, "-1 times a traffic: expected"),
    "a sum of other sizes": (
        lambda: TRAFFIC + nl.Traffic.pattern("shift:1", 5),
        nl.TrafficError,
        "a sum of traffic of 4 endpoints and of 5",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_is_netlooms_and_names_the_argument(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=re.escape(message)):
        call()


def test_errors_of_arguments_are_value_errors_too():
    assert issubclass(nl.ArgumentError, ValueError)
    assert issubclass(nl.ArgumentError, nl.NetloomError)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            {"source": [0, np.nan], "destination": [1, 2], "bytes": [1, 2]},
            "column source: row 1 has no value",
        ),
        (
            {"source": [0, 1], "destination": [1.5, 2], "bytes": [1, 2]},
            "column destination: expected whole numbers",
        ),
        (
            {"source": [0, -1], "destination": [1, 2], "bytes": [1, 2]},
            "sources[1]: expected 0 to 2, found -1",
        ),
        ({"source": [0, 1], "destination": [1, 2], "bytes": [1, "x"]}, "column bytes: expected numbers"),
        ({"source": [0, 1], "destination": [1, 2], "bytes": [1, "12"]}, "column bytes: expected numbers"),
        ({"source": [0, 1], "destination": [1, 2], "bytes": [1, np.nan]}, "entry 1 has NaN bytes"),
        (
            {"source": [None, "n1"], "destination": ["n1", "n2"], "bytes": [1, 2]},
            "column source: row 0 has no value",
        ),
    ],
)
def test_frames_are_told_by_column_and_row(frame, message):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(nl.TrafficError, match=re.escape(message)):
        nl.Traffic.from_pandas(pandas.DataFrame(frame))
    with pytest.raises(nl.TrafficError):
        nl.Traffic.from_pandas(pandas.DataFrame(frame), FABRIC)


def test_a_frame_of_a_fabric_has_its_hosts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [0, 1], "destination": [1, 2], "bytes": [1, 2]})
    assert nl.Traffic.from_pandas(frame, FABRIC, endpoints=4).endpoints == 4
    with pytest.raises(nl.TrafficError, match="endpoints: expected the fabric's 4 hosts, found 99"):
        nl.Traffic.from_pandas(frame, FABRIC, endpoints=99)


def test_a_column_of_whole_floats_with_gaps_is_no_column_of_hosts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [0.0, 1.0], "destination": [1, 2], "bytes": [1, 2]})
    # What a gap made of whole numbers, and dropna left: they are whole.
    assert nl.Traffic.from_pandas(frame, FABRIC).pairs == 2


def test_scipy_gets_arrays_that_it_may_change():
    matrix = TRAFFIC.to_scipy()
    matrix.data *= 2
    matrix.sum_duplicates()
    matrix.sort_indices()
    matrix[0, 3] = 5.0
    assert TRAFFIC.total_bytes == 4.0
    assert np.shares_memory(TRAFFIC.data, TRAFFIC.to_scipy(copy=False).data)


# What is taken


def test_endpoints_may_be_a_fabric_and_its_hosts_by_name():
    names = FABRIC.host_names
    by_name = triples([names[0], names[1]], np.array([names[2], names[3]]), endpoints=FABRIC)
    assert by_name == triples(hosts_hash=FABRIC.hosts_hash)
    assert triples(endpoints=FABRIC).hosts_hash == FABRIC.hosts_hash
    assert triples(np.array([0, 1], np.uint8), [2, 3], [1, 2]) == triples()


def test_traffic_adds_up_and_is_scaled():
    both = TRAFFIC + 3 * TRAFFIC
    assert both == TRAFFIC * 4
    assert (both.total_bytes, both.pairs, both.hosts_hash) == (16.0, 4, FABRIC.hosts_hash)
    phases = nl.Traffic.from_triples(4, [0], [1], [2.0], [1.0])
    assert (0.5 * phases).total_bytes == 1.0
    assert (0 * TRAFFIC).pairs == 0
    assert sum([TRAFFIC, TRAFFIC]) == 2 * TRAFFIC
    with pytest.raises(TypeError):
        _ = 1 + TRAFFIC  # type: ignore[operator]


def test_specs_stand_for_fabrics_and_traffic():
    spec = "two-level:leaves=2,hosts=2,spines=1"
    assert nl.loads(spec, "ftree", "shift:1") == LOADS
    assert nl.optimize(spec, "shift:1") == nl.optimize(FABRIC, TRAFFIC)
