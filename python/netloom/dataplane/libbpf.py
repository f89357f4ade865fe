"""The functions of libbpf that are used, by ctypes: nothing is needed to build netloom.

Source: libbpf 1.1 (bpf/bpf.h, bpf/libbpf.h).
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

LIBRARY = "libbpf.so.1"
RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
"""What a ring buffer calls for each record."""


@functools.lru_cache
def library() -> Any:
    """libbpf, with the types of the functions that are used."""
    loaded = ctypes.CDLL(LIBRARY, use_errno=True)
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
        ("bpf_object__open_mem", pointer, (text, ctypes.c_size_t, pointer)),
        ("bpf_object__load", number, (pointer,)),
        ("bpf_object__close", None, (pointer,)),
        ("bpf_object__find_program_by_name", pointer, (pointer, text)),
        ("bpf_object__find_map_fd_by_name", number, (pointer, text)),
        ("bpf_program__fd", number, (pointer,)),
        ("bpf_map_update_elem", number, (number, text, text, ctypes.c_uint64)),
        ("bpf_map_lookup_elem", number, (number, text, pointer)),
        ("bpf_prog_test_run_opts", number, (number, pointer)),
        ("bpf_prog_get_fd_by_id", number, (ctypes.c_uint32,)),
        ("bpf_prog_query", number, (number, number, ctypes.c_uint32, pointer, pointer, pointer)),
        ("bpf_map_get_fd_by_id", number, (ctypes.c_uint32,)),
        ("bpf_obj_get_info_by_fd", number, (number, pointer, pointer)),
        ("libbpf_num_possible_cpus", number, ()),
        ("ring_buffer__new", pointer, (number, RUN, pointer, pointer)),
        ("ring_buffer__add", number, (pointer, number, RUN, pointer)),
        ("ring_buffer__consume", number, (pointer,)),
        ("ring_buffer__poll", number, (pointer, number)),
        ("ring_buffer__free", None, (pointer,)),
        ("libbpf_set_print", pointer, (pointer,)),
    ):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    loaded.libbpf_set_print(None)  # Errors are told by us.
    return loaded
