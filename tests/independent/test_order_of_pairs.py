"""Messages of one pair come as they were posted, unless a scenario asks for the other order."""

from __future__ import annotations

import pytest

from independent.world import goal, of, run

FABRIC = "two-level:leaves=2,hosts=4,spines=2"


def two(folder):
    """A long message and a short one of one tag, sent at once, received one after the other."""
    sends = ["s0: send 16000b to 1 tag 0", "s1: send 8b to 1 tag 0", "s1 requires s0"]
    receives = ["r0: recv 16000b from 0 tag 0", "r1: recv 8b from 0 tag 0", "r1 requires r0"]
    return goal(folder, [sends, receives])


@pytest.mark.parametrize("model", ["packet", "fluid"])
def test_a_short_message_does_not_overtake_a_long_one(tmp_path, model):
    ends = {}
    for injection in ("round-robin", "round-robin-messages"):
        _, found = run(of(FABRIC, two(tmp_path), hardware={"injection": injection}), model=model)
        ends[injection] = {size: posted + latency for (*_, posted, size), latency in found.items()}
    assert ends["round-robin"][16000] < ends["round-robin"][8]
    assert ends["round-robin-messages"][8] < ends["round-robin-messages"][16000]


@pytest.mark.parametrize(("model", "within"), [("packet", 0.02), ("fluid", 0.03)])
def test_a_receiver_works_on_messages_as_they_come(tmp_path, model, within):
    """Twenty of 200 kB to one rank, which works on each for as long as it travels: in order they overlap."""
    count, size = 20, 200_000
    sender = [f"s{k}: send {size}b to 1 tag {k}" for k in range(count)]
    receiver = []
    for k in range(count):
        receiver += [f"r{k}: recv {size}b from 0 tag {k} cpu {k + 1}", f"c{k}: calc {int(size * 0.08)}"]
        receiver.append(f"c{k} requires r{k}")
        if k:
            receiver.append(f"c{k} requires c{k - 1}")
    trace = goal(tmp_path, [sender, receiver])
    ends = {}
    for injection in ("round-robin", "in-order", "round-robin-messages"):
        ended, _ = run(of(FABRIC, trace, hardware={"injection": injection}), model=model)
        ends[injection] = ended.ranks()["end_ps"][1] * 1e-6
    assert ends["round-robin"] == pytest.approx(341.1, rel=within)
    assert ends["in-order"] == pytest.approx(ends["round-robin"], rel=within)
    assert ends["round-robin-messages"] > 1.6 * ends["round-robin"]


def test_receivers_take_turns(tmp_path):
    """Ten long messages to one rank and one to another, posted last: half the link is the second's."""
    size = 400_000
    sends = [*(f"send {size}b to 1 tag {k}" for k in range(10)), f"send {size}b to 2 tag 10"]
    receives = [f"recv {size}b from 0 tag {k}" for k in range(10)]
    trace = goal(tmp_path, [sends, receives, [f"recv {size}b from 0 tag 10"]])
    software = {"eager_bytes": 10**9, "call_ns": 0}
    _, found = run(of(FABRIC, trace, software=software))
    (last,) = (latency for (_, to, *_), latency in found.items() if to == 2)
    assert last == pytest.approx(2 * size * 0.08 * 4122 / 4096, rel=0.05)
