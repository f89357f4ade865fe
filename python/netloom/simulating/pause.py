"""What pause frames (PFC, IEEE 802.1Qbb) need of a switch's buffers: a calculator, no part of the simulator.

Headroom is what still arrives after a port has decided to pause its neighbour: while a frame of its own and
the pause leave, what is on the cable in both directions, and the frame that the neighbour has begun.
A shared buffer: Zhu et al., Congestion control for large-scale RDMA deployments, SIGCOMM 2015, section 4.
"""

from __future__ import annotations

import math

from netloom.errors import ArgumentError
from netloom.session.arguments import real

_NS_PER_M = 5.0
"""Of light in a cable."""
_PAUSE_BYTES = 64


def pfc_headroom(gbps: float, cable_m: float, frame_bytes: float, *, reaction_us: float = 0.0) -> int:
    """Bytes of headroom that a port needs for a priority, so that pause frames lose nothing.

    `2 d C + 2 frames + 64 + reaction x C`, with `d` the cable's delay at 5 ns a metre. A calculator:
    the simulator has credits and no pause frames.

    Parameters
    ----------
    gbps : float
        The link's speed, Gb/s.
    cable_m : float
        The cable's length.
    frame_bytes : float
        The longest frame with all its headers.
    reaction_us : float, default 0
        From the arrival of a pause frame to the last frame that is begun, as the device's maker says.

    Returns
    -------
    int
        Rounded up.

    Raises
    ------
    ArgumentError
        If an argument is out of its range.

    Examples
    --------
    >>> import netloom as nl
    >>> nl.pfc_headroom(100, 5, 4122)
    8933
    >>> nl.pfc_headroom(100, 5, 4122, reaction_us=3)
    46433
    """
    gbps = real("gbps", gbps, "Gb/s, 0.001 to 1e6", least=1e-3, most=1e6)
    cable_m = real("cable_m", cable_m, "metres, 0 to 1e6", most=1e6)
    frame_bytes = real("frame_bytes", frame_bytes, "bytes, 64 to 1e6", least=64, most=1e6)
    reaction_us = real("reaction_us", reaction_us, "microseconds, 0 to 1e6", most=1e6)
    on_the_way_ns = 2 * cable_m * _NS_PER_M + reaction_us * 1e3
    return math.ceil(on_the_way_ns * gbps / 8 + 2 * frame_bytes + _PAUSE_BYTES)


def pfc_thresholds(
    buffer_bytes: float, ports: int, headroom_bytes: float, *, priorities: int = 8, share: float = 8.0
) -> dict[str, float]:
    """Thresholds of a switch whose ports share one buffer, so that marking begins before pausing.

    A calculator, as `pfc_headroom`. Inputs' queues pause, outputs' queues mark, one each a port and priority.
    At the worst all outputs' queues are as long as marking lets them be, and one input holds what waits for
    all ports.

    Parameters
    ----------
    buffer_bytes : float
        The switch's buffer.
    ports : int
        Its ports.
    headroom_bytes : float
        Reserved for a port and priority (`pfc_headroom`).
    priorities : int, default 8
        That may be paused.
    share : float, default 8
        A queue is paused at `share / priorities` of what is free of the shared part (the paper's beta).

    Returns
    -------
    dict
        `reserved_bytes`: all headroom. `xoff_bytes`: the highest fixed threshold of a queue.
        `marking_below_bytes`: where outputs must have begun to mark, if queues are paused by `share`.

    Raises
    ------
    ArgumentError
        If an argument is out of its range, or the buffer has no room for the headroom.

    Examples
    --------
    The buffer of the paper: 12 MB, 32 ports, 8 priorities, 22.4 kB.

    >>> import netloom as nl
    >>> found = nl.pfc_thresholds(12e6, 32, 22400)
    >>> found["xoff_bytes"], round(found["marking_below_bytes"])
    (24475.0, 21756)
    """
    buffer_bytes = real("buffer_bytes", buffer_bytes, "bytes, 1 to 1e15", least=1, most=1e15)
    headroom_bytes = real("headroom_bytes", headroom_bytes, "bytes, 0 to 1e12", most=1e12)
    share = real("share", share, "a number of 0.001 to 1000", least=1e-3, most=1e3)
    queues = _whole("ports", ports, 65_536) * _whole("priorities", priorities, 8)
    reserved = queues * headroom_bytes
    if buffer_bytes <= reserved:
        expected = f"more than {reserved:,.0f} bytes, the headroom of {queues:,} queues"
        raise ArgumentError(f"buffer_bytes: expected {expected}, found {buffer_bytes:,.0f}")
    shared = buffer_bytes - reserved
    return {
        "reserved_bytes": reserved,
        "xoff_bytes": shared / queues,
        "marking_below_bytes": share * shared / (queues * (share + 1)),
    }


def _whole(name: str, value: object, most: int) -> int:
    expected = f"a whole number of 1 to {most:,}"
    number = real(name, value, expected, least=1, most=most)
    if number != int(number):
        raise ArgumentError(f"{name}: expected {expected}, found {value!r}")
    return int(number)
