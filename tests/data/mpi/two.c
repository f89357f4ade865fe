/* Two MPI libraries in one process: the program's own, and the one that is named. */
#include <dlfcn.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    if (!dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))
        return 9;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
