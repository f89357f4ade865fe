"""`netloom record`: what an MPI program sends."""
