"""How the threads of torch wait for each other: a setting of the process, made before torch loads.

By default they spin, which is fastest where every thread has a core to itself. Where other programs
work too, a thread spins while the one it waits for is not running: fitting 200 photographs then
takes three seconds instead of a few hundredths of one. Waiting threads that sleep cost an idle
machine next to nothing, and the results are the same to the bit.
"""

import os
import sys

POLICY = "OMP_WAIT_POLICY"
"""The variable of OpenMP, which is read when torch is imported."""


def let_threads_sleep() -> bool:
    """Let threads sleep while they wait; return whether that has an effect.

    It has none if torch is loaded already, or if the user has chosen.
    """
    if "torch" in sys.modules or POLICY in os.environ:
        return False
    os.environ[POLICY] = "PASSIVE"
    return True
