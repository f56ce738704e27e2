"""Memory settings of the process, made by the command line and the benchmarks, never by an import.

glibc gets fresh pages from the kernel for every large tensor and returns them when the tensor is
freed. The kernel fills them with zeros each time, which costs a third or more of the time of
training convolutions on a CPU. With higher thresholds the process keeps the memory and uses it
again; the results are the same to the bit.
"""

import ctypes
import sys

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
KEEP = 2**30
"""Blocks up to this many bytes are kept by the process."""


def tune_allocator() -> bool:
    """Raise glibc's thresholds, and return whether that was possible.

    Other C libraries are left alone.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # musl has no such function
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEEP)) and bool(mallopt(M_TRIM_THRESHOLD, KEEP))
