"""Plans of machines: the run times that they need, and the answer.

`answer` has `netloom.plan`, `runs` how long recorded runs take on a network without taper, `reference` the
same in every order, for the bounds, `judged` what a few designs take packet by packet.
"""
