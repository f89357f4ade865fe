"""Objects are what they hold: pickles, copies, equality, hashes and weak references of every public class."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import struct
import weakref
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netloom as nl

ROOT = Path(__file__).parents[1]
SPEC = "two-level:leaves=4,hosts=4,spines=4"
CLASSES = {
    getattr(nl, name)
    for name in nl.__all__
    if isinstance(getattr(nl, name), type) and not issubclass(getattr(nl, name), Exception)
}
NO_PICKLES = {
    nl.Simulation: "a run holds the scripts of its ranks; its tables and its scenario travel",
    nl.Inferred: "it holds the equations that it solved; its traffic and its summary travel",
}
"""Classes whose objects are not pickled, with the reason; the error says what to send instead."""


@cache
def fabric() -> nl.Fabric:
    return nl.Fabric.generate(SPEC)


@cache
def damaged() -> nl.Fabric:
    """A real dump with LIDs, GUIDs and a finding, a dead cable and stated roots."""
    whole = nl.Fabric.read(ROOT / "tests/data/opensm/ft2_32/ibnetdiscover.txt")
    return whole.damage(random_links=2, seed=1)[0].with_roots(["spine00"])


@cache
def traffic() -> nl.Traffic:
    return nl.Traffic.read("random:partners=3,seed=1", fabric())


@cache
def placed() -> tuple[nl.Traffic, list[nl.Job]]:
    return nl.place_jobs(damaged(), ROOT / "examples/jobs/boxlib.toml")


@cache
def best() -> nl.Optimized:
    return nl.optimize(fabric(), traffic(), work=2000)


@cache
def scenario() -> nl.Scenario:
    return nl.Scenario.read(ROOT / "examples/scenarios/shuffle.toml", ["seed=7"])


@cache
def counters() -> nl.Counters:
    return nl.synth_counters(fabric(), "ftree", traffic(), vl_scheme="5sl5vl:seed=1", noise=0.01, missing=0.1)


@cache
def readings() -> nl.Counters:
    """What a port of a switch had counted, errors too, twice."""
    switches = damaged().switch_table()
    lid = int(switches["lid"][list(switches["name"]).index("leaf00")])

    def dump(count: int) -> bytes:
        values = {"SymbolErrorCounter": 17 + count, "LinkDownedCounter": 3, "PortXmitWait": 0}
        values |= dict.fromkeys(("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"), 12 * count)
        head = f"# Port counters: Lid {lid} port 3 (CapMask: 0x1300)\nPortSelect:....3\n"
        return (head + "".join(f"{name}:....{value}\n" for name, value in values.items())).encode()

    return nl.Counters.parse(dump(2), damaged()).since(nl.Counters.parse(dump(1), damaged()), seconds=1.0)


@cache
def recovered() -> nl.Recovered:
    job = nl.Scenario.of_traffic(fabric(), traffic()).jobs
    exact = nl.synth_counters(fabric(), "ftree", traffic())
    return nl.recover(fabric(), "ftree", exact, job, "differences", steps=200)


def _layers() -> nl.OptimizedLayers:
    pattern = nl.Traffic.read("shift:3", fabric())
    return nl.optimize_layers(fabric(), [("a", traffic(), 2.0), ("b", pattern, 1.0)], work=2000, depth=0)


OBJECTS: dict[str, Callable[[], Any]] = {
    "Fabric": fabric,
    "Fabric damaged": damaged,
    "Fabric of cables": lambda: nl.Fabric.from_edges(
        [(f"h{i}", f"leaf{i // 2}") for i in range(4)] + [("leaf0", "leaf1")]
    ),
    "Fabric of a dragonfly": lambda: nl.Fabric.generate("dragonfly:p=2,a=4,h=2"),
    "Traffic": traffic,
    "Traffic of jobs": lambda: placed()[0],
    "Traffic of ranks": lambda: nl.Traffic.read(ROOT / "examples/data/lulesh-64.mtx.gz"),
    "Traffic of phases": lambda: nl.Traffic.pattern("shift:1", 6).place(fabric(), copies=2),
    "Traffic with packets": lambda: nl.Traffic.from_triples(3, [0, 1], [1, 2], [5.0, 7.0], [1.0, 2.0]),
    "Hose": lambda: nl.Hose.of(traffic()),
    "Job": lambda: placed()[1][0],
    "Routes": lambda: nl.route("ftree", damaged()),
    "Routes by source": lambda: nl.route("s-mod-k", fabric()),
    "Routes with lanes": lambda: nl.route("dla", nl.Fabric.generate("dragonfly:p=2,a=4,h=2")),
    "Routes of several addresses": lambda: nl.optimize_lmc(fabric(), traffic(), 1, work=2000).routes,
    "Certificate": lambda: best().certificate,
    "LinkLoads": lambda: nl.loads(damaged(), "updn", placed()[0]),
    "Hose's loads": lambda: nl.hose_loads(fabric(), "ftree", nl.Hose.of(traffic())),
    "Optimized": best,
    "Optimized of several addresses": lambda: nl.optimize_lmc(fabric(), traffic(), 1, work=2000),
    "OptimizedLayers": _layers,
    "OptimizedHose": lambda: nl.optimize_hose(fabric(), nl.Hose.of(traffic()), work=2000, depth=0),
    "CheckReport": lambda: nl.check(damaged(), nl.route("updn", damaged())),
    "Verdict": lambda: nl.verify_certificate(fabric(), traffic(), best().certificate, best().routes),
    "MixReport": lambda: nl.mix(fabric(), nl.route("ftree", fabric()), best().routes),
    "Counters": counters,
    "Counters of readings": readings,
    "Recovered": recovered,
    "Scenario": scenario,
    "Scenario of a dictionary": lambda: nl.Scenario.from_dict(
        {
            "fabric": SPEC,
            "routes": ["ftree"],
            "job": [{"name": "a", "program": {"kind": "all-to-all", "bytes": 64}}],
        }
    ),
    "Scenario of traffic": lambda: nl.Scenario.of_traffic(fabric(), traffic()),
    "Scenario with traffic": lambda: scenario().with_traffic(nl.Traffic.read("shift:1", scenario().fabric)),
    "Scenario of one job": lambda: scenario().alone(scenario().jobs[0].name),
}
NOT_PICKLED: dict[str, Callable[[], Any]] = {
    "Simulation": lambda: nl.simulate(nl.Scenario.of_traffic(fabric(), traffic()), "ftree"),
    "Inferred": lambda: nl.infer(fabric(), "ftree", nl.synth_counters(fabric(), "ftree", traffic())),
}


def made(name: str) -> Any:
    return (OBJECTS | NOT_PICKLED)[name]()


def again(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def members(value: Any) -> dict[str, Any]:
    """What every property says."""
    names = [name for name in dir(type(value)) if not name.startswith("_")]
    return {name: getattr(value, name) for name in names if not callable(getattr(type(value), name))}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def test_every_public_class_is_tried():
    tried = {type(make()) for make in OBJECTS.values()}
    refused = {type(make()) for make in NOT_PICKLED.values()}
    assert refused == set(NO_PICKLES)
    # Outcomes are of the classes that extend it; the last two are plain records.
    assert tried | refused | {nl.Outcome, nl.OptimizedTables, nl.RunFolder} == CLASSES


@pytest.mark.parametrize("name", OBJECTS)
def test_a_pickle_holds_all(name):
    value = made(name)
    back = again(value)
    assert type(back) is type(value)
    assert back is not value
    assert back == value
    assert hash(back) == hash(value)
    assert repr(back) == repr(value)
    for member, expected in members(value).items():
        assert same(expected, getattr(back, member)), member
    assert pickle.dumps(back) == pickle.dumps(again(back))
    assert again(value, 2) == value


@pytest.mark.parametrize("name", OBJECTS | NOT_PICKLED)
def test_copies_are_the_object_itself_which_never_changes(name):
    value = made(name)
    assert copy.copy(value) is value
    assert copy.deepcopy([value])[0] is value


@pytest.mark.parametrize("name", OBJECTS | NOT_PICKLED)
def test_nothing_equals_what_is_of_another_kind(name):
    value = made(name)
    assert value != name
    assert (value == None) is False  # noqa: E711
    assert value in {value: 1}


def test_different_contents_are_not_equal():
    different = [
        fabric(),
        nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2"),
        fabric().damage(random_links=1, seed=1)[0],
        fabric().with_roots([fabric().switch_names[-1]]),
        damaged(),
        traffic(),
        2 * traffic(),
        nl.Traffic.pattern("shift:1", 16),
        nl.Traffic.read("shift:1", fabric()),
        nl.route("ftree", fabric()),
        nl.route("random", fabric()),
        nl.loads(fabric(), "ftree", traffic()),
        nl.loads(fabric(), "random", traffic()),
        *placed()[1],
    ]
    for at, value in enumerate(different):
        assert [other for other in different if other == value] == [value], at


def test_equal_calls_give_equal_results_though_clocks_differ():
    again = nl.optimize(fabric(), traffic(), work=2000)
    assert again == best()
    assert len({again, best()}) == 1
    assert nl.Fabric.generate(SPEC) == fabric()


@pytest.mark.parametrize("name", OBJECTS | NOT_PICKLED)
def test_weak_references_end_with_the_object(name):
    # A copy of its own: those of this file are kept.
    value = again(made(name)) if name in OBJECTS else made(name)
    ended = weakref.ref(value)
    assert ended() is value
    del value
    gc.collect()
    assert ended() is None


def test_a_fabric_that_several_results_share_is_there_once():
    alone = len(pickle.dumps(nl.Fabric.generate("quartz1")))
    large = nl.Fabric.generate("quartz1")
    light = nl.Traffic.from_triples(large, [0], [9], [1.0])
    several = [large, *(nl.loads(large, "ftree", light * factor) for factor in (1, 2, 3))]
    apart = sum(len(pickle.dumps(one)) for one in several)
    assert len(pickle.dumps(several)) < apart - 2.9 * alone
    back = again(several)
    assert back == several


@pytest.mark.parametrize("name", NOT_PICKLED)
def test_what_is_not_pickled_says_what_to_send(name):
    with pytest.raises(TypeError, match=f"no pickles of netloom.{name}: send "):
        pickle.dumps(made(name))


def optimum(net: nl.Fabric, sent: nl.Traffic) -> nl.Optimized:
    return nl.optimize(net, sent, work=2000)


@pytest.mark.parametrize("start", ["forkserver", "spawn"])
def test_pools_send_objects_both_ways(start):
    with ProcessPoolExecutor(1, mp_context=get_context(start)) as pool:
        assert pool.submit(optimum, fabric(), traffic()).result(timeout=120) == best()


def test_dask_sends_objects_and_knows_equal_ones():
    protocol = pytest.importorskip("distributed.protocol")
    from dask.base import tokenize

    assert protocol.deserialize(*protocol.serialize(best())) == best()
    assert tokenize(nl.Fabric.generate(SPEC)) == tokenize(fabric())
    assert tokenize(damaged()) != tokenize(fabric())


# Damaged and hostile bytes


def parts_of(name: str) -> tuple[str, bytes, tuple[Any, ...]]:
    _, arguments = made(name).__reduce__()
    return arguments


def sealed(body: bytes, whole: bytes) -> bytes:
    """A body with the sum that it should have: what a hostile sender does."""
    version = whole[4 : whole.index(b"\n", 4) + 1]
    return struct.pack("<I", zlib.crc32(body)) + version + body


def unpickled(name: str, data: bytes, parts: tuple[Any, ...]) -> Any:
    from netloom._core import unpickled

    return unpickled(name, data, parts)


@pytest.mark.parametrize("name", OBJECTS)
def test_bytes_that_were_damaged_on_the_way_are_refused(name):
    kind, data, parts = parts_of(name)
    for damage in (data[:-1], data[:3], b"", data + b"x", data[:-1] + bytes([data[-1] ^ 1])):
        with pytest.raises(nl.FormatError, match=f"no pickle of netloom.{kind}: its bytes"):
            unpickled(kind, damage, parts)


def test_other_versions_classes_and_parts_are_refused():
    kind, data, parts = parts_of("Routes")
    with pytest.raises(nl.FormatError, match='has no class "Nothing"'):
        unpickled("Nothing", data, parts)
    with pytest.raises(nl.FormatError, match="it is of version"):
        unpickled(kind, data[:4] + b"0.0.0" + data[data.index(b"\n", 4) :], parts)
    for wrong in ((), (traffic(),), (3,)):
        with pytest.raises(nl.FormatError, match="a part is"):
            unpickled(kind, data, wrong)
    with pytest.raises(nl.FormatError, match="tables are none of its fabric"):
        unpickled(kind, data, (fabric(),))


@pytest.mark.parametrize("name", OBJECTS)
def test_hostile_bytes_are_refused_or_make_an_object_that_holds(name):
    """Any bytes with the right sum: an error of netloom's, or an object whose properties can all be asked."""
    kind, data, parts = parts_of(name)
    body = data[data.index(b"\n", 4) + 1 :]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(int(os.environ.get("NETLOOM_TRIALS", "60"))):
        bent = bytearray(body)
        for _ in range(int(rng.integers(1, 4))):
            if not bent:
                break
            at = int(rng.integers(len(bent)))
            act = int(rng.integers(3))
            if act == 0:
                bent[at] = int(rng.integers(256))
            elif act == 1:
                del bent[at : at + int(rng.integers(1, 9))]
            else:
                bent[at:at] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), np.uint8))
        try:
            value = unpickled(kind, sealed(bytes(bent), data), parts)
        except (nl.NetloomError, OSError):
            continue
        repr(value), members(value), hash(value), pickle.dumps(value)
