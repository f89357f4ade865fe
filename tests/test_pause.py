"""What pause frames need of buffers: by a walk in nanoseconds, and the published arithmetic."""

from __future__ import annotations

import math

import pytest

import netloom as nl


def arrives_after(metres: int, frame: int, reaction_ns: int) -> int:
    """Bytes that come after a port wants to pause, at a byte a nanosecond: everything at its worst.

    The port has just begun a frame of its own, and the neighbour begins one as it obeys.
    """
    cable, now = 5 * metres, 0
    now += frame  # Our own frame leaves first.
    now += 64  # The pause frame itself.
    now += cable + reaction_ns
    last = now + frame  # The neighbour ends the frame that it has just begun.
    return len(range(-cable, last))  # What was on the cable when the pause was wanted, and since.


@pytest.mark.parametrize(("metres", "frame", "reaction_us"), [(0, 64, 0), (5, 1538, 0), (20, 4122, 3)])
def test_headroom_is_what_arrives_at_the_worst(metres, frame, reaction_us):
    assert nl.pfc_headroom(8, metres, frame, reaction_us=reaction_us) == arrives_after(
        metres, frame, reaction_us * 1000
    )


def test_headroom_by_hand():
    """10 Gb/s, 5 m: 62.5 bytes on the cable twice, two frames, 64; rounded up."""
    assert nl.pfc_headroom(10, 5, 1538) == math.ceil(62.5 + 2 * 1538 + 64) == 3203
    assert nl.pfc_headroom(100, 5, 4122) == 8_933
    assert nl.pfc_headroom(400, 20, 4122) == 18_308
    reactions = [(10, 5, 1538), (100, 5, 4122), (400, 20, 4122)]
    assert [nl.pfc_headroom(*of, reaction_us=3) for of in reactions] == [6_953, 46_433, 168_308]


def test_the_dcqcn_papers_buffer():
    """12 MB, 32 ports, 8 priorities, 22.4 kB: 24.475 kB fixed, 21.756 kB with beta = 8."""
    found = nl.pfc_thresholds(12e6, 32, 22_400)
    assert found["reserved_bytes"] == 5_734_400
    assert found["xoff_bytes"] == 24_475
    assert found["marking_below_bytes"] == pytest.approx(21_756, abs=0.5)
    # All 256 outputs' queues that long, and all that 32 of them hold from one input: just paused.
    long = found["marking_below_bytes"]
    free = 12e6 - 5_734_400 - 256 * long
    assert 8 * free / 8 == pytest.approx(32 * long, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nl.pfc_headroom(0, 5, 1538), "gbps: expected Gb/s, 0.001 to 1e6, found 0"),
        (lambda: nl.pfc_headroom(10, -1, 1538), "cable_m: expected metres, 0 to 1e6, found -1"),
        (lambda: nl.pfc_headroom(10, 5, 63), "frame_bytes: expected bytes, 64 to 1e6, found 63"),
        (lambda: nl.pfc_headroom(10, 5, 1538, reaction_us=math.nan), "reaction_us: expected microseconds"),
        (lambda: nl.pfc_headroom("10", 5, 1538), "gbps: expected Gb/s"),
        (
            lambda: nl.pfc_thresholds(12e6, 1.5, 22_400),
            "ports: expected a whole number of 1 to 65,536, found",
        ),
        (lambda: nl.pfc_thresholds(12e6, 32, 22_400, priorities=9), "priorities: expected a whole number"),
        (lambda: nl.pfc_thresholds(12e6, 32, 22_400, share=0), "share: expected a number of 0.001 to 1000"),
        (
            lambda: nl.pfc_thresholds(5_734_400, 32, 22_400),
            "buffer_bytes: expected more than 5,734,400 bytes, the headroom of 256 queues, found 5,734,400",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(call, message):
    with pytest.raises(nl.ArgumentError) as refused:
        call()
    assert message in str(refused.value)
