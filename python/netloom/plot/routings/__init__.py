"""Routings compared, one picture a question: which cable, how long, how late, how far from the bound."""
