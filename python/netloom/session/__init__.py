"""One computation: what it may spend, what it reads, whom it tells; and several beside each other."""

STDIO = "<stdin>"
"""What a lone `-` of the command line is: standard input, or standard output after `-o`."""
