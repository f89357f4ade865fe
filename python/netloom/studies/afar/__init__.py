"""AFAR's study (Smith et al., SC 2018): jobs beside each other, ftree's routes, AFAR's, optimised ones."""
