"""How results are shown, in tables, pictures and on the terminal alike: names and looks of engines, units."""
