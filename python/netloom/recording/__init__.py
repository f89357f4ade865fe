"""Recording MPI programs: the preloaded library, how a program is run with it, and what its records say.

`launching` runs a command with what `make build` made of native/recorder; `records` reads a rank's file;
`merging` makes a whole of them; `unreported` says why no rank wrote one; `jobs` writes what
`netloom optimize` and `netloom simulate` take.
"""
