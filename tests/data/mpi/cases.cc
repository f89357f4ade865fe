// Small programs in C++ that a recorder may harm or count wrongly: `cases NAME`. What throws leaves MPI and the recorder
// without coming back; what follows must be counted all the same.
#include "own.h"
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int right_of, left_of;

static void say(const char *what, double value)
{
    double sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    if (me == 0)
        printf("%s %g\n", what, sum);
}

static void ring(int rounds, int doubles, MPI_Comm comm = WORLD, int tag = 3)
{
    std::vector<double> out(doubles), in(doubles);
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(out.data(), doubles, MPI_DOUBLE, right_of, tag, in.data(), doubles, MPI_DOUBLE, left_of, tag, comm,
                     MPI_STATUS_IGNORE);
        sends(right_of, 8 * doubles);
    }
}

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

static void comm_throws(MPI_Comm *, int *, ...) { throw failure("communicator"); }
static void win_throws(MPI_Win *, int *, ...) { throw failure("window"); }
static void file_throws(MPI_File *, int *, ...) { throw failure("file"); }

// A communicator whose errors are exceptions, freed where its scope ends.
struct throwing_comm {
    MPI_Comm comm;
    throwing_comm()
    {
        MPI_Errhandler handler;
        MPI_Comm_dup(WORLD, &comm);
        MPI_Comm_create_errhandler(comm_throws, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Errhandler_free(&handler);
    }
    ~throwing_comm() { MPI_Comm_free(&comm); }
};

template <class F> static int caught(F run)
{
    try {
        run();
    } catch (const failure &) {
        return 1;
    }
    return 0;
}

static void throws()
{
    throwing_comm own_comm;
    int x = 0, n = 0;
    MPI_Request request;
    MPI_Comm comm = own_comm.comm;
    n += caught([&] { MPI_Send(&x, 1, MPI_INT, ranks + 5, 0, comm); });
    ring(3, 2, comm);
    n += caught([&] { MPI_Isend(&x, 1, MPI_INT, ranks + 5, 0, comm, &request); });
    n += caught([&] { MPI_Recv(&x, 1, MPI_INT, ranks + 5, 0, comm, MPI_STATUS_IGNORE); });
    n += caught([&] { MPI_Bcast(&x, 1, MPI_INT, ranks + 5, comm); });
    ring(3, 4, comm);
    say("caught", n);
}

static throwing_comm *inner;

static void sends_badly(MPI_Comm *, int *, ...)
{
    int x = 0;
    ring(1, 1);
    MPI_Send(&x, 1, MPI_INT, ranks + 5, 0, inner->comm);
}

// An exception from within a handler's own call of MPI, through two handlers.
static void throws_twice()
{
    throwing_comm first;
    MPI_Errhandler handler;
    MPI_Comm outer;
    inner = &first;
    MPI_Comm_dup(WORLD, &outer);
    MPI_Comm_create_errhandler(sends_badly, &handler);
    MPI_Comm_set_errhandler(outer, handler);
    int x = 0, n = caught([&] { MPI_Send(&x, 1, MPI_INT, ranks + 5, 0, outer); });
    ring(3, 4);
    say("caught", n);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&outer);
}

static void window_throws()
{
    int *base, x = 7, n = 0;
    MPI_Win win;
    MPI_Errhandler handler;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &base, &win);
    *base = 0;
    MPI_Win_create_errhandler(win_throws, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_fence(0, win);
    n += caught([&] { MPI_Put(&x, 1, MPI_INT, ranks + 5, 0, 1, MPI_INT, win); });
    MPI_Put(&x, 1, MPI_INT, right_of, 0, 1, MPI_INT, win);
    own(0, right_of, 4);
    MPI_Win_fence(0, win);
    ring(2, 3);
    say("caught", n + *base);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);
}

static void file_open_throws()
{
    MPI_File file;
    MPI_Errhandler handler;
    MPI_File_create_errhandler(file_throws, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    int n = caught([&] { MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file); });
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    ring(2, 3);
    say("caught", n);
    MPI_Errhandler_free(&handler);
}

// An operation that throws leaves MPI_Scan on the second of two ranks; the first has sent then, and is done.
static void operation_throws()
{
    MPI_Op op;
    MPI_Comm two;
    double x = 1, y = 2;
    MPI_Comm_split(WORLD, me / 2, me, &two);
    MPI_Op_create([](void *, void *, int *, MPI_Datatype *) { throw failure("operation"); }, 1, &op);
    int n = caught([&] { MPI_Scan(&x, &y, 1, MPI_DOUBLE, op, two); });
    ring(2, 3);
    say("caught", n);
}

// A copy of an attribute that throws leaves MPI_Comm_dup.
static void copy_throws()
{
    int key;
    MPI_Comm copy;
    MPI_Comm_create_keyval([](MPI_Comm, int, void *, void *, void *, int *) -> int { throw failure("copy"); },
                           MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    int n = caught([&] { MPI_Comm_dup(MPI_COMM_SELF, &copy); });
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    ring(2, 3);
    say("caught", n);
}

// What a copy of an attribute sends is the program's, though MPI_Comm_dup is under way.
static void copy_sends()
{
    int key;
    MPI_Comm copy;
    MPI_Comm_create_keyval([](MPI_Comm, int, void *, void *, void *, int *flag) -> int {
        ring(1, 2);
        return *flag = 0;
    }, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    ring(2, 3);
}

// As wrappers of MPI do it: an error is returned, and thrown then.
static void check(int code)
{
    if (code != MPI_SUCCESS)
        throw failure("code");
}

static void threads()
{
    std::vector<std::thread> team;
    std::array<int, 3> failed{};
    std::vector<MPI_Comm> comms(failed.size());
    for (auto &comm : comms) {
        MPI_Comm_dup(WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    for (size_t i = 0; i < comms.size(); i++)
        team.emplace_back([&, i] {
            int x = 0;
            for (int turn = 0; turn < 5; turn++) {
                failed[i] += caught([&] { check(MPI_Send(&x, 1, MPI_INT, ranks + 5, 0, comms[i])); });
                ring(4, 1 + (int)i, comms[i], (int)i);
            }
        });
    for (auto &one : team)
        one.join();
    say("caught", std::accumulate(failed.begin(), failed.end(), 0));
    for (auto &comm : comms)
        MPI_Comm_free(&comm);
}

// MPI_Finalize where static objects are destroyed, as the runtimes of some libraries do it.
struct at_end {
    bool mine = false;
    ~at_end()
    {
        if (!mine)
            return;
        ring(2, 5);
        tell();
        MPI_Finalize();
    }
};
static at_end last;

static void destroyed()
{
    ring(2, 3);
    last.mine = true;
    exit(4);
}

static void uncaught()
{
    ring(2, 3);
    tell();
    MPI_Barrier(WORLD);
    throw failure("nobody catches this");
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)();
} CASES[] = {
    CASE(throws), CASE(throws_twice), CASE(window_throws), CASE(file_open_throws), CASE(operation_throws),
    CASE(copy_throws), CASE(copy_sends), CASE(threads), CASE(destroyed), CASE(uncaught),
};

int main(int argc, char **argv)
{
    int level;
    const std::string name = argc > 1 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, name == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    right_of = (me + 1) % ranks, left_of = (me + ranks - 1) % ranks;
    for (auto &one : CASES)
        if (name == one.name) {
            one.run();
            tell();
            MPI_Finalize();
            return 0;
        }
    MPI_Finalize();
    return 77;
}
