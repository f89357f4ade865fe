"""AFAR's study (Smith et al., SC 2018): jobs beside each other on cab, ftree's routes, AFAR's, and optimised ones."""
