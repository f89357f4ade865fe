"""Counters as they are read, with the routes that were in force, and earlier answers."""
