"""Small programs with mpi4py that a recorder may harm or count wrongly: `cases.py NAME`.

As own.h does it, each counts for itself what it sends: pickles too, whose bytes Python tells.
"""

import os
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
right, left = (me + 1) % ranks, (me - 1) % ranks
own: dict[tuple[int, int], list[int]] = {}


def sends(peer: int, size: int, source: int = me) -> None:
    """Counts a message to `peer`, or from `source` of what is got here."""
    if peer >= 0 and source >= 0:
        pair = own.setdefault((source, peer), [0, 0])
        pair[0], pair[1] = pair[0] + 1, pair[1] + size


def pickled(thing: object) -> int:
    return len(MPI.pickle.dumps(thing))


def say(what: str, value: float) -> None:
    # Objects are reduced by messages of mpi4py's own; arrays by MPI.
    total = array("d", [0])
    world.Reduce(array("d", [value]), total)
    if me == 0:
        print(what, total[0], flush=True)


def ring(rounds: int, doubles: int) -> None:
    out, into = array("d", [1] * doubles), array("d", [0] * doubles)
    for _ in range(rounds):
        world.Sendrecv(out, right, 3, into, left, 3)
        sends(right, 8 * doubles)


def pickles() -> None:
    thing = {"rank": me, "list": list(range(50 * (me + 1)))}
    request = world.isend(thing, right, 1)
    got = [world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)["rank"]]
    request.wait()
    sends(right, pickled(thing))
    status = MPI.Status()
    request = world.isend("again", right, 2)
    message = world.mprobe(MPI.ANY_SOURCE, 2, status)
    message.recv()
    request.wait()
    sends(right, pickled("again"))
    got.append(status.Get_source())
    got.append(len(world.sendrecv((me,) * 5, right, 4, None, left, 4)))
    sends(right, pickled((me,) * 5))
    request = world.irecv(source=left, tag=5)
    sent = world.issend(None, right, 5)
    request.wait()
    sent.wait()
    sends(right, pickled(None))
    world.bcast(thing if me == 0 else None)
    world.scatter([(rank,) for rank in range(ranks)] if me == 0 else None)
    world.alltoall([(me, peer) for peer in range(ranks)])
    say("got", sum(got) + sum(world.allgather(me)))


def neighbours() -> None:
    grid = world.Create_cart([ranks], [False])
    to = [peer if 0 <= peer < ranks else -1 for peer in (me - 1, me + 1)]
    out, into = array("i", [me] * 4), array("i", [-1] * 4)
    grid.Neighbor_allgather([out, 1, MPI.INT], [into, 1, MPI.INT])
    grid.Neighbor_alltoall([out, 1, MPI.INT], [into, 1, MPI.INT])
    grid.Ineighbor_alltoallv([out, [1, 2], [0, 1], MPI.INT], [into, [2, 1], [0, 2], MPI.INT]).Wait()
    for place, peer in enumerate(to):
        for size in (4, 4, 4 + 4 * place):
            sends(peer, size)
    grid.Free()
    circle = world.Create_dist_graph_adjacent([left], [right])
    circle.Neighbor_alltoallw([out, [2], [0], [MPI.INT]], [into, [2], [0], [MPI.INT]])
    sends(right, 8)
    circle.Free()
    say("sum", sum(into))


def windows() -> None:
    window = MPI.Win.Allocate(64, 8, comm=world)
    room = memoryview(window).cast("d")
    room[:] = memoryview(array("d", [0] * 8))
    mine, got = array("d", [me + 1.0]), array("d", [0.0])
    world.Barrier()
    window.Lock(right, MPI.LOCK_SHARED)
    window.Put(mine, right, 1)
    sends(right, 8)
    window.Flush(right)
    window.Get(got, right, 1)
    sends(me, 8, right)
    window.Flush(right)
    window.Accumulate(mine, right, 2, MPI.SUM)
    sends(right, 8)
    window.Fetch_and_op(mine, got, right, 2, MPI.SUM)
    sends(right, 8)
    sends(me, 8, right)
    window.Get_accumulate(mine, got, right, 2, MPI.NO_OP)
    sends(me, 8, right)
    window.Rput(mine, right, 3).Wait()
    sends(right, 8)
    window.Unlock(right)
    world.Barrier()
    say("room", sum(room) + got[0])
    window.Free()


def swap() -> None:
    # Open MPI 4.1 crashes in it by itself.
    if MPI.Get_library_version().startswith("Open MPI v4"):
        world.Barrier()
        MPI.Finalize()
        sys.exit(77)
    window = MPI.Win.Allocate(8 * ranks, 8, comm=world)
    memoryview(window)[:] = bytes(8 * ranks)
    mine, expected, before = array("q", [me + 1]), array("q", [0]), array("q", [-1])
    world.Barrier()
    window.Lock(right, MPI.LOCK_SHARED)
    for _ in range(2):
        window.Compare_and_swap(mine, expected, before, right, me)
        sends(right, 8)
        sends(me, 8, right)
        window.Flush(right)
    window.Unlock(right)
    world.Barrier()
    say("swapped", before[0])
    window.Free()


def raised() -> None:
    failed = 0
    for peer in (ranks + 5, right, ranks + 7):
        try:
            request = world.isend("x", peer, 9)
            sends(right, pickled("x"))
            world.recv(source=left, tag=9)
            request.wait()
        except MPI.Exception:
            failed += 1
    try:
        world.Bcast(array("d", [1.0]), root=ranks + 5)
    except MPI.Exception:
        failed += 1
    ring(3, 2)
    say("failed", failed)


def in_place() -> None:
    values = array("i", [me + 1] * 4 * ranks)
    world.Allreduce(MPI.IN_PLACE, values)
    world.Allgather(MPI.IN_PLACE, [values, 4, MPI.INT])
    world.Alltoall(MPI.IN_PLACE, [values, 4, MPI.INT])
    world.Reduce(MPI.IN_PLACE if me == 0 else values, values if me == 0 else None)
    ring(2, 3)
    say("values", values[0])


def uncaught() -> None:
    ring(2, 3)
    tell()
    world.Barrier()
    raise RuntimeError("nobody catches this")


def tell() -> None:
    with open(os.path.join(os.environ["OWN"], f"own.{me}"), "w") as out:
        for (source, peer), (times, size) in own.items():
            print(source, peer, times, size, file=out)


CASES = [pickles, neighbours, windows, swap, raised, in_place, uncaught]

if __name__ == "__main__":
    {case.__name__: case for case in CASES}[sys.argv[1]]()
    tell()
