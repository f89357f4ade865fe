"""Buffers, windows and speeds by a formula: what a long message gets of a link, by packets and as a flow."""

from __future__ import annotations

import pytest

from independent.world import cables, goal, on, run

FAST = 12.5e9
WIRE, NS_PER_BYTE, SWITCH, CREDIT = 4122, 0.08, 100.0, 8 * 0.08


def ns_per_packet(buffer_bytes, cable):
    """Between two switches: packet `i` leaves when the room of packet `i - n` is back."""
    fits, count = buffer_bytes // WIRE, 1000
    back, end, starts = [0.0] * count, 0.0, []
    for number in range(count):
        start = max(end, back[number - fits] if number >= fits else 0.0)
        end = start + WIRE * NS_PER_BYTE
        starts.append(start)
        back[number] = end + SWITCH + cable + cable + CREDIT
    return (end - starts[0]) / count


@pytest.mark.parametrize("model", ["packet", "fluid"])
@pytest.mark.parametrize("buffer_bytes", [4122, 8300, 65536])
@pytest.mark.parametrize("cable", [25, 500, 5000])
def test_a_long_message_gets_what_fits_the_buffer_over_the_round_trip(tmp_path, model, buffer_bytes, cable):
    fabric = cables(2, 2, [(0, 1, 2, 1, FAST), (1, 1, 3, 1, FAST), (2, 2, 3, 2, FAST)])
    size = 4_096_000
    trace = goal(tmp_path, [[f"send {size}b to 1 tag 0"], [f"recv {size}b from 0 tag 0"]])
    text = (
        f"[hardware]\ninput_buffer_bytes = {buffer_bytes}\ncable_delay_ns = {cable}\n"
        "host_cable_delay_ns = 25\n"
        "[software]\neager_bytes = 1000000000\n"
    )
    _, found = run(on(fabric, tmp_path, trace, text), model=model)
    (latency,) = found.values()
    expected = 1000 * max(ns_per_packet(buffer_bytes, cable), ns_per_packet(buffer_bytes, 25))
    assert latency == pytest.approx(expected + 550 + 350 + cable, rel=0.02)


@pytest.mark.parametrize("model", ["packet", "fluid"])
def test_an_adapters_window_over_the_way_there_and_back_is_its_rate(tmp_path, model):
    """Eight packets without a response over cables of 5 us: a fourth of the link's rate, or less."""
    fabric = cables(2, 2, [(0, 1, 2, 1, FAST), (1, 1, 3, 1, FAST), (2, 2, 3, 2, FAST)])
    size = 4_096_000
    trace = goal(tmp_path, [[f"send {size}b to 1 tag 0"], [f"recv {size}b from 0 tag 0"]])
    text = (
        "[hardware]\nwindow_packets = 8\ncable_delay_ns = 5000\nhost_cable_delay_ns = 25\n"
        "input_buffer_bytes = 1000000\n[software]\neager_bytes = 1000000000\n"
    )
    _, found = run(on(fabric, tmp_path, trace, text), model=model)
    (latency,) = found.values()
    there = WIRE * NS_PER_BYTE + 25 + SWITCH + 5000 + SWITCH + 25
    back = 3 * 26 * NS_PER_BYTE + 25 + SWITCH + 5000 + SWITCH + 25
    assert latency == pytest.approx(1000 / 8 * (there + back), rel=0.03)


@pytest.mark.parametrize("model", ["packet", "fluid"])
@pytest.mark.parametrize("slow", [1.25e9, 2.5e9, 5e9, 10e9])
def test_a_slow_sender_does_not_hold_a_fast_link_at_its_pace(tmp_path, model, slow):
    """Hosts 0 (slow) and 1 send 2 MB each over one cable: at most half for 0, the rest for 1."""
    size = 2_000_000
    wires = [
        (0, 1, 4, 1, slow),
        (1, 1, 4, 2, FAST),
        (2, 1, 5, 1, FAST),
        (3, 1, 5, 2, FAST),
        (4, 3, 5, 3, FAST),
    ]
    trace = goal(
        tmp_path,
        [[f"send {size}b to 2"], [f"send {size}b to 3"], [f"recv {size}b from 0"], [f"recv {size}b from 1"]],
    )
    text = "[software]\neager_bytes = 1000000000\n"
    _, found = run(on(cables(4, 2, wires), tmp_path, trace, text), model=model)
    by_sender = {sender: latency for (sender, *_), latency in found.items()}
    wire = size / 4096 * WIRE
    slow_rate = min(slow, FAST / 2)
    fast_rate = FAST - slow_rate
    assert by_sender[1] == pytest.approx(wire / fast_rate * 1e9, rel=0.02)
