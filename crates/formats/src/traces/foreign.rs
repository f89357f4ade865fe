//! Files of the field that are no trace that is read: told by name, with what helps.

/// How a file begins, what it is, and what makes a trace of it that is read.
pub(crate) const FOREIGN: [(&[u8], &str, &str); 18] = [
    (b"#Paraver", "a Paraver trace", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"VEF", "a VEF trace", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"%EventDef", "a Paje trace", "SimGrid's -trace-ti, run again"),
    (b"\xc1\x1f\xfc\xc1", "a packet of CTF (LTTng)", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"/* CTF", "the metadata of CTF (LTTng)", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"SLOG 2", "an SLOG-2 trace (Jumpshot)", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"CLOG-", "a CLOG-2 trace (MPE)", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (
        b"{\"traceEvents\"",
        "a timeline of Chrome or Perfetto",
        "a trace of MPI: Score-P, DUMPI or netloom record",
    ),
    (
        b"SQLite format 3\0",
        "an SQLite database (Nsight Systems)",
        "a trace of MPI: Score-P, DUMPI or netloom record",
    ),
    (b"PAR1", "a Parquet file", "the folder that it is of, with trace.json"),
    (b"\xd4\xc3\xb2\xa1", "a capture of packets (pcap)", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (
        b"\x0a\x0d\x0d\x0a",
        "a capture of packets (pcapng)",
        "a trace of MPI: Score-P, DUMPI or netloom record",
    ),
    (b"PERFILE2", "a record of perf", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"gmon", "a profile of gprof", "a trace of MPI: Score-P, DUMPI or netloom record"),
    (b"CUBEX", "a Cube profile (Score-P)", "Score-P with SCOREP_ENABLE_TRACING=true"),
    (b"\x7fELF", "a program", "netloom record, which runs it"),
    (b"PK\x03\x04", "a zip archive", "the files in it"),
];

/// What a file is that is none of ours, and what helps.
pub(crate) fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    FOREIGN.iter().find(|(begins, _, _)| bytes.starts_with(begins)).map(|&(_, what, helps)| (what, helps))
}
