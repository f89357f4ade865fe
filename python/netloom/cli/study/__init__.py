"""Studies: tables of the dissertation, run here."""
