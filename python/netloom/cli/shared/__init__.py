"""What all verbs share: the run, its options, inputs, outputs and how results are told."""
