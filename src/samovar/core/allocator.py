"""Start-up tuning of the process: the one place for it, used by the command line and the benchmarks, never by import.

glibc gives every large tensor fresh pages from the kernel and returns them when it is freed. Filling them with zeros
again and again costs a third or more of the time of training convolutions on a CPU. With higher thresholds the memory
stays with the process and is used again; the results are the same to the bit.
"""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEEP = 2**30
"""Bytes: blocks up to this size are kept by the process."""


def tune_allocator() -> bool:
    """Raise glibc's thresholds; returns whether it was done (other C libraries are left alone)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # musl
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEEP)) and bool(mallopt(M_TRIM_THRESHOLD, KEEP))
