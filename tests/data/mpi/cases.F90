! Small programs in Fortran that a recorder may harm or count wrongly: `cases NAME`. Compiled three times, with
! -DFORM=1 by `mpif.h`, 2 by `use mpi`, 3 by `use mpi_f08`: their constants are variables, which bindings know by
! their address.
#if FORM == 3
#define COMM type(MPI_Comm)
#define TYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define STATUS(n) type(MPI_Status) :: n
#define STATUSES(n, m) type(MPI_Status) :: n(m)
#define HANDLER type(MPI_Errhandler)
#define OPERATION type(MPI_Op)
#define WINDOW type(MPI_Win)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
#define COMM integer
#define TYPE integer
#define REQUEST integer
#define STATUS(n) integer :: n(MPI_STATUS_SIZE)
#define STATUSES(n, m) integer :: n(MPI_STATUS_SIZE, m)
#define HANDLER integer
#define OPERATION integer
#define WINDOW integer
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif
#if FORM == 1
#define NAMES use included; implicit none
#elif FORM == 2
#define NAMES use mpi; implicit none
#else
#define NAMES use mpi_f08; implicit none
#endif

#if FORM == 1
module included
    include 'mpif.h'
end module
#endif

module counted
    implicit none
    integer, parameter :: eight = selected_int_kind(18)
    integer :: me, ranks, right, left, handled = 0
    integer(eight) :: times(0:63, 2) = 0, bytes(0:63, 2) = 0
    real(8) :: out(20000) = 1, in(20000)
contains
    ! What the program itself counts: to `peer` (way 1), or got from it (2).
    subroutine counts(way, peer, n)
        integer, intent(in) :: way, peer, n
        if (peer < 0) return
        times(peer, way) = times(peer, way) + 1
        bytes(peer, way) = bytes(peer, way) + n
    end subroutine

    subroutine tell()
        character(len=900) :: folder
        character(len=16) :: number
        integer :: i
        call get_environment_variable('OWN', folder)
        write (number, '(i0)') me
        open (10, file=trim(folder)//'/own.'//trim(number), status='replace')
        do i = 0, ranks - 1
            if (times(i, 1) > 0) write (10, '(4(i0,1x))') me, i, times(i, 1), bytes(i, 1)
            if (times(i, 2) > 0) write (10, '(4(i0,1x))') i, me, times(i, 2), bytes(i, 2)
        end do
        close (10)
    end subroutine
end module

subroutine say(what, number)
    use counted
    NAMES
    character(len=*) :: what
    integer :: number, total, ierr
    call MPI_Reduce(number, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a,1x,i0)', what, total
end subroutine

subroutine ring(rounds, n)
    use counted
    NAMES
    integer :: rounds, n, i, ierr
    do i = 1, rounds
        call MPI_Sendrecv(out, n, MPI_DOUBLE_PRECISION, right, 3, in, n, MPI_DOUBLE_PRECISION, left, 3, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call counts(1, right, 8*n)
    end do
end subroutine

! Every constant of messages: any source, any tag, nobody, statuses that are wanted and that are not.
subroutine messages()
    use counted
    NAMES
    REQUEST :: requests(6)
    STATUS(one)
    STATUSES(all, 6)
    integer :: i, ierr, from, way
    logical :: flag
    from = 0
    do way = 1, 4
        do i = 1, 3
            call MPI_Irecv(in(100*i), 100, MPI_REAL, merge(MPI_ANY_SOURCE, left, way <= 2), &
                           merge(MPI_ANY_TAG, i, way == 2), MPI_COMM_WORLD, requests(i), ierr)
        end do
        do i = 1, 3
            call MPI_Isend(out, 10*i + way, MPI_REAL, right, i, MPI_COMM_WORLD, requests(3 + i), ierr)
            call counts(1, right, 4*(10*i + way))
        end do
        if (way == 1) call MPI_Waitall(6, requests, MPI_STATUSES_IGNORE, ierr)
        if (way == 2) call MPI_Waitall(6, requests, all, ierr)
        if (way == 3) then
            do i = 1, 6
                call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierr)
            end do
        end if
        flag = way < 4
        do while (.not. flag)
            call MPI_Testall(6, requests, flag, MPI_STATUSES_IGNORE, ierr)
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_Isend(out, 2, MPI_DOUBLE_COMPLEX, right, 7, MPI_COMM_WORLD, requests(1), ierr)
    call counts(1, right, 32)
    call MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, one, ierr)
    call MPI_Recv(in, 100, MPI_DOUBLE_COMPLEX, SOURCE_OF(one), TAG_OF(one), MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    from = SOURCE_OF(one)
    call MPI_Wait(requests(1), one, ierr)
    call MPI_Send(out, 5, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, 5, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, one, ierr)
    call say('from', from)
end subroutine

subroutine persistent()
    use counted
    NAMES
    REQUEST :: requests(2)
    integer :: i, ierr
    call MPI_Send_init(out, 7, MPI_LOGICAL, right, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Recv_init(in, 7, MPI_LOGICAL, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 4
        call MPI_Startall(2, requests, ierr)
        call counts(1, right, 28)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    do i = 1, 2
        call MPI_Request_free(requests(i), ierr)
    end do
end subroutine

! An address in place of a buffer.
subroutine bottom()
    use counted
    NAMES
    TYPE :: absolute, into, types(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    integer :: ierr, i, lengths(2)
    real(8) :: got(4)
    got = 0
    do i = 1, 3
        lengths = [2, i]
        types = [MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION]
        call MPI_Get_address(out(1), places(1), ierr)
        call MPI_Get_address(out(100), places(2), ierr)
        call MPI_Type_create_struct(2, lengths, places, types, absolute, ierr)
        call MPI_Type_commit(absolute, ierr)
        call MPI_Get_address(in(1), places(1), ierr)
        call MPI_Get_address(in(100), places(2), ierr)
        call MPI_Type_create_struct(2, lengths, places, types, into, ierr)
        call MPI_Type_commit(into, ierr)
        call MPI_Sendrecv(MPI_BOTTOM, 1, absolute, right, 1, MPI_BOTTOM, 1, into, left, 1, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierr)
        call counts(1, right, 8*(2 + i))
        call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, ierr)
        call MPI_Type_free(absolute, ierr)
        call MPI_Type_free(into, ierr)
    end do
end subroutine

! What is in place is no buffer; what is not of the root is ignored.
subroutine in_place()
    use counted
    NAMES
    integer :: ierr, i, lengths(64), places(64), values(64)
    lengths = 2
    places = [(2*(i - 1), i=1, 64)]
    values = me + 1
    call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, lengths, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    if (me == 0) then
        call MPI_Reduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call MPI_Scatter(values, 2, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierr)
    else
        call MPI_Reduce(values, in, 4, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
        call MPI_Gather(values, 2, MPI_INTEGER, in, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierr)
        call MPI_Scatter(in, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call ring(2, 3)
    call say('values', values(1))
end subroutine

subroutine neighbours()
    use counted
    NAMES
    COMM :: grid, graph
    integer :: ierr, i, got(4), sources(1), destinations(1)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., grid, ierr)
    got = -1
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, ierr)
    call counts(1, merge(left, -1, me > 0), 4)
    call counts(1, merge(right, -1, me + 1 < ranks), 4)
    call MPI_Comm_free(grid, ierr)
    sources = left
    destinations = right
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph, ierr)
    do i = 1, 3
        call MPI_Neighbor_alltoall(out, i, MPI_REAL, in, i, MPI_REAL, graph, ierr)
        call counts(1, right, 4*i)
    end do
    call MPI_Comm_free(graph, ierr)
    call say('neighbours', sum(got))
end subroutine

subroutine one_sided()
    use counted
    NAMES
    WINDOW :: win
    integer :: ierr, got
    integer, asynchronous :: room(16)
    room = 0
    call MPI_Win_create(room, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call MPI_Put(me + 1, 1, MPI_INTEGER, right, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
    call counts(1, right, 4)
    call MPI_Put(me, 0, MPI_INTEGER, MPI_PROC_NULL, 0_MPI_ADDRESS_KIND, 0, MPI_INTEGER, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call MPI_Get(got, 1, MPI_INTEGER, left, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
    call counts(2, left, 4)
    call MPI_Win_fence(0, win, ierr)
    call say('room', room(3) + got)
    call MPI_Win_free(win, ierr)
end subroutine

#if FORM == 3
subroutine handles(comm_, code)
    use counted
    use mpi_f08
    type(MPI_Comm) :: comm_
#else
subroutine handles(comm_, code)
    use counted
    integer :: comm_
#endif
    integer :: code
    handled = handled + 1
end subroutine

subroutine errors()
    use counted
    NAMES
    interface
#if FORM == 3
        subroutine handles(comm_, code)
            import :: MPI_Comm
            type(MPI_Comm) :: comm_
            integer :: code
        end subroutine
#else
        subroutine handles(comm_, code)
            integer :: comm_, code
        end subroutine
#endif
    end interface
    HANDLER :: mine
    integer :: ierr
    call MPI_Comm_create_errhandler(handles, mine, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine, ierr)
    call MPI_Send(me, 1, MPI_INTEGER, ranks + 5, 0, MPI_COMM_WORLD, ierr)
    call ring(2, 3)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(me, 1, MPI_INTEGER, ranks + 5, 0, MPI_COMM_WORLD, ierr)
    if (ierr /= MPI_SUCCESS) handled = handled + 1
    call ring(2, 3)
    call MPI_Errhandler_free(mine, ierr)
    call say('handled', handled)
end subroutine

subroutine stops()
    use counted
    NAMES
    integer :: ierr
    call ring(2, 3)
    call tell()
    call MPI_Finalize(ierr)
    stop 3
end subroutine

program cases
    use counted
    NAMES
    integer :: ierr
    character(len=32) :: name
    name = ''
    if (command_argument_count() > 0) call get_command_argument(1, name)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    right = mod(me + 1, ranks)
    left = mod(me + ranks - 1, ranks)
    select case (name)
    case ('messages'); call messages()
    case ('persistent'); call persistent()
    case ('bottom'); call bottom()
    case ('in_place'); call in_place()
    case ('neighbours'); call neighbours()
    case ('one_sided'); call one_sided()
    case ('errors'); call errors()
    case ('stops'); call stops()
    end select
    call tell()
    call MPI_Finalize(ierr)
end program
