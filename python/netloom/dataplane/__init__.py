"""Path sampling in real packets: the plan of a fabric's ports, and BPF programs for Linux.

`plan` says which number, mask and role every port has; `programs` compiles and loads the BPF programs of
`dataplane/bpf`, and runs one over a packet without any network.
"""

from netloom.dataplane.plan import MOST_HOPS, Port, ports
from netloom.dataplane.programs import Program, missing

__all__ = ["MOST_HOPS", "Port", "Program", "missing", "ports"]
