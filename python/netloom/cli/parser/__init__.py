"""How the command line is parsed and described: verbs, examples, completion, manual pages."""
