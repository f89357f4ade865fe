"""The door to the core: proofs that hold, interrupts that count, files that are whole."""

import contextlib
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom import _core


def test_a_bound_for_tables_proves_nothing_for_routes_by_source() -> None:
    # Whole items (all that a leaf sends to one host) need 8 on some link; s-mod-k splits them by source.
    fabric = nl.Fabric.read("two-level:leaves=4,hosts=4,spines=2")
    senders, receivers = np.repeat(np.arange(4), 3), np.tile([4, 8, 12], 4)
    traffic = nl.Traffic.from_triples(16, senders, receivers, np.ones(12))
    tables = nl.loads(fabric, "d-mod-k", traffic)
    by_source = nl.loads(fabric, "s-mod-k", traffic)
    assert tables.lower_bound == 8.0
    assert by_source.max == 6.0
    assert by_source.lower_bound == by_source.ar_bound == 6.0


def test_an_interrupt_while_the_background_is_made_is_not_lost() -> None:
    fabric = nl.Fabric.read("xgft:m=18x18x36,w=1x18x18")
    traffic = nl.Traffic.read("permutation:seed=1", fabric)

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        stopped: str | None = "interrupted"
        with contextlib.suppress(KeyboardInterrupt):
            stopped = nl.optimize(fabric, traffic).stopped
        assert stopped == "interrupted"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_two_writers_of_one_path_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([65 + i]) * 3_000_000 for i in range(2)]
    failures: list[BaseException] = []

    def write(data: bytes) -> None:
        try:
            for _ in range(10):
                _core.write_atomic(path, data)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_bytes() in contents
    for thread in threads:
        thread.join()
    assert not failures
    assert path.read_bytes() in contents
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    _core.write_atomic(path, b"whole")
    assert path.read_bytes() == b"whole"


@pytest.mark.parametrize("option", ["copies", "ranks_per_host"])
def test_no_copies_and_no_ranks_are_refused(option: str) -> None:
    fabric = nl.Fabric.read("two-level:leaves=4,hosts=4,spines=2")
    traffic = nl.Traffic.pattern("bisection", 4)
    with pytest.raises(nl.PlaceError, match=r"copies|ranks_per_host|ranks a host|at least"):
        traffic.place(fabric, hosts="host[0000-0015]", **{option: 0})  # type: ignore[arg-type]
