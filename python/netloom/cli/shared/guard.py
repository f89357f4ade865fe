"""Every command ends: soon after SIGINT, SIGTERM or SIGHUP, and soon after its time limit.

A signal becomes KeyboardInterrupt on the main thread, a time limit a request to the computation; what
searches answers with its best so far, and that is written. A step that neither looks nor has anything to
keep (a library, the core while it reads, checks or makes tables) would hold the command for as long as it
takes. So a thread of its own waits beside: it hears of a signal at once, through Python's wake-up file,
lets `GRACE_S` pass and ends the process. What is half written is a temporary file; it is removed first, so
files are whole or absent. Children die with us (`live.process`).
While a live fabric is changed, a first signal has the change undone, however long that takes; while files
that belong together are written, all of them are (`netloom.critical`).

Invariants: once there is something to keep (`Limit.keeps`), only a signal ends the process, no time limit.
Time for which the process was suspended, or the machine let it wait for a processor, does not count, up to
four times the grace: that is meant as time to work in. Only modules that are compiled into Python are
imported: until the handlers stand, Ctrl-C is not ours.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import os
import sys
import time

INTERRUPTED, TOO_LATE = 130, 124
"""Exit codes; the second is that of timeout(1)."""
SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
"""Ctrl-C, the end of a batch job, a terminal or ssh that is lost."""
GRACE_S = 1.5
"""From a signal to the end by force: dead within two seconds."""
WRITING_S = 0.4
"""The same while gigabytes are written: the system takes a second or more to remove what is there of them."""
_LOOK_S = 0.05
"""How often it is looked at the clock, where there is something to wait for."""
_STARVED = 5.0
"""How many times longer that is at most, where the machine hardly runs us."""

left_behind = False
"""Whether a thread still computes what nobody waits for: the interpreter must not be taken down around it."""

writing = False
"""Whether a large file is being written, under a temporary name."""

heard = False
"""Whether a signal came: modules that are interrupted while they load say so in many ways."""

_limit: Limit | None = None
_woken = -1
_ended = _thread.allocate_lock()
"""Held while the thread waits."""


class TooLate(Exception):
    """A time limit of so many seconds passed, and a partial answer is none."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the time limit of {seconds:g} s passed before there was anything to keep")


class Limit:
    """A time limit of the whole command, from `began` (of `time.perf_counter`) on."""

    def __init__(self, seconds: float, began: float) -> None:
        self.seconds, self.began = seconds, began
        self.aside = 0.0
        self.kept = self.looked_at = False

    @property
    def left(self) -> float:
        """Seconds left for what looks at the limit, 0 if none are."""
        self.looked_at = True
        return max(0.0, self.began + self.seconds - self.aside - time.perf_counter())

    def sets_aside(self, seconds: float) -> None:
        """What must be done whole with the best found needs this long; at most half of what is left."""
        self.aside = min(seconds, self.left / 2)

    @property
    def slack(self) -> float:
        """Seconds by which a command may end later."""
        return max(2.0, 0.1 * self.seconds)

    @property
    def late(self) -> str | None:
        """What is told where the limit passed in steps that none can cut short."""
        passed = time.perf_counter() - self.began
        if self.looked_at or passed <= self.seconds:
            return None
        return (
            f"the time limit of {self.seconds:g} s came before the end, after {passed:.1f} s: this is whole"
        )

    def keeps(self) -> None:
        """From here on there is something to write: what runs looks at the limit itself."""
        self.kept = True


def start() -> None:
    """Starts to wait for signals; on the main thread, once. Else it does nothing."""
    global _woken, heard
    if _woken >= 0:
        return
    heard = False
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        _signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    except ValueError:
        # Not the main thread: a library's user runs the command, and signals are not ours.
        os.close(read)
        os.close(write)
        return
    _woken = write
    _ended.acquire(blocking=False)
    _thread.start_new_thread(_wait, (read,))


def release(*, ends: bool) -> None:
    """The command has ended; `ends`: the process will, undisturbed. Else signals are the caller's again."""
    global _woken, _limit, heard
    _limit, heard = None, False
    if _woken < 0:
        return
    if ends:
        ignore()
    _signal.set_wakeup_fd(-1)
    os.close(_woken)
    _woken = -1
    # The interpreter is not taken down around a thread that is just waking up.
    _ended.acquire(timeout=1)


def ignore() -> None:
    """From now on no signal disturbs: what is said or ended is said and ended once."""
    for number in SIGNALS:
        _signal.signal(number, _signal.SIG_IGN)


def leave(code: int) -> None:
    """Ends the process; all that it was to write is written.

    Not by the interpreter's own end: it takes libraries down around their threads, and one of Arrow's that
    still ran made a command that had said its word die of SIGABRT (once in 1,360).
    """
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def limit(seconds: float, began: float) -> Limit:
    """The command's time limit; it ends the process until there is something to keep."""
    global _limit
    _limit = Limit(seconds, began)
    if _woken >= 0:
        os.write(_woken, b"\0")
    return _limit


def end(code: int, text: str) -> None:
    """Ends the process now, whatever it does."""
    try:
        # By descriptor and inode; only what is loaded can have made any.
        for module, remove in (("netloom._core", "remove_temporaries"), ("netloom.files", "remove_all")):
            if module in sys.modules:
                getattr(sys.modules[module], remove, _nothing)()
    finally:
        _leave(code, text)


def _leave(code: int, text: str) -> None:
    try:
        os.write(2, f"netloom: {text}\n".encode())
    finally:
        os._exit(code)


def _nothing() -> None:
    """In the place of what a module that is just being loaded does not have yet."""


def _wait(read: int) -> None:
    """On a thread of its own, until `release` or the end."""
    import select

    global heard
    signalled: tuple[float, dict[str, float]] | None = None
    stood, changing = 0.0, False
    while True:
        if changing and not _in_section():
            changing, signalled, stood = False, (time.perf_counter(), _starved()), 0.0
        elif signalled is not None and not changing:
            # One that began after the signal is gone through, too.
            changing = _in_section()
        grace = min(GRACE_S, WRITING_S) if writing else GRACE_S
        if signalled is not None and not changing and _over(grace, signalled[0] + stood, signalled[1]):
            end(INTERRUPTED, "interrupted")
        asked = _limit
        waits = signalled is None and asked is not None and not asked.kept
        if asked is not None and waits and _over(asked.seconds + asked.slack, asked.began + stood, {}):
            end(TOO_LATE, f"error: {TooLate(asked.seconds)}")
        timed, looked = signalled is not None or waits, time.perf_counter()
        ready, _, _ = select.select([read], [], [], _LOOK_S if timed else None)
        slept = time.perf_counter() - looked
        if timed and slept > 5 * _LOOK_S:
            stood += slept - _LOOK_S  # Suspended, as by Ctrl-Z.
        if not ready:
            continue
        numbers = os.read(read, 64)
        if not numbers:
            os.close(read)
            _ended.release()
            return
        if any(number in SIGNALS for number in numbers):
            if signalled is None or changing:
                # A change of a fabric is undone first, however long that takes; a second signal ends that.
                changing = signalled is None and _in_section()
                signalled, stood = (time.perf_counter(), _starved()), 0.0
            heard = True


def _in_section() -> bool:
    """Whether tables are being sent, or undone, or files that belong together are being written."""
    critical = sys.modules.get("netloom.critical")
    return critical is not None and critical.sections > 0


def _over(seconds: float, since: float, starved_then: dict[str, float]) -> bool:
    """Whether so much time has passed in which a processor was ours if we wanted one, or much more."""
    passed = time.perf_counter() - since
    if passed < seconds or passed >= _STARVED * seconds:
        return passed >= seconds
    starved = _starved()
    return (
        passed - max((t - starved_then.get(task, 0.0) for task, t in starved.items()), default=0.0) >= seconds
    )


def _starved() -> dict[str, float]:
    """Seconds for which each thread could have run and was not let; empty where the system does not say."""
    found = {}
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/schedstat", encoding="ascii") as stat:
                found[task] = int(stat.read().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        # A thread has just ended, or this is not Linux.
        return found
    return found
