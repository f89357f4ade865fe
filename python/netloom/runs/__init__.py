"""Folders of runs: what keeps one to a command at a time."""
