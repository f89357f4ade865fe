"""What Python programs send: pickled objects, arrays, collectives with large counts where MPI has them."""

import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
out, into = array.array("d", [rank] * 1000), array.array("d", [0] * 1000)
for _ in range(10):
    world.Sendrecv(out, right, 0, into, left, 0)
    request = world.Isend([out, 10 + rank, MPI.DOUBLE], left, 1)
    world.Recv(into, right, 1)
    request.Wait()
world.send({"rank": rank}, right, 2)
world.recv(source=left, tag=2)
half = world.Split(rank % 2, -rank)
half.Sendrecv(out, (half.rank + 1) % half.size, 0, into, (half.rank - 1) % half.size, 0)
half.Free()
counts = [10 * (1 + peer) for peer in range(size)]
# Everybody gets what rank 0, 1, … contribute: 10, 20, … doubles.
gathered = array.array("d", [0] * sum(counts))
world.Allgatherv([out, counts[rank], MPI.DOUBLE], [gathered, counts, MPI.DOUBLE])
assert list(gathered) == [float(peer) for peer in range(size) for _ in range(counts[peer])]
request = world.Ialltoallv(
    [out, [3] * size, [3 * peer for peer in range(size)], MPI.DOUBLE],
    [into, [3] * size, [3 * peer for peer in range(size)], MPI.DOUBLE],
)
request.Wait()
assert list(into[: 3 * size]) == [float(peer) for peer in range(size) for _ in range(3)]
world.Bcast([out, 500, MPI.DOUBLE], 0)
assert out[0] == 0
