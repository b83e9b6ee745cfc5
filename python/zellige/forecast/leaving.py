"""What is left to be stored when the process ends: told, and stored if that can be.

All of it is stored while threads can still be started, which stores written in Python need:
for a child of multiprocessing, which was forked, that is the end. What threads gave to files
after that is stored when everybody else has ended.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  that it ends after us
import os
import sys
import threading
import weakref
from typing import Protocol

from ..threads import end_threads

__all__ = ["watch"]


class Leaving(Protocol):
    """Output that may not have been closed."""

    def _leave(self, is_early: bool) -> bool: ...


_OPEN: weakref.WeakSet[Leaving] = weakref.WeakSet()


def _leave_early() -> None:
    end_threads()  # what is awaited is given first
    for output in list(_OPEN):
        output._leave(True)


def _leave() -> None:
    end_threads()
    if not all([output._leave(False) for output in list(_OPEN)]):
        sys.stdout.flush()
        sys.stderr.flush()
        # Nothing else makes a process fail that is ending already.
        os._exit(1)


getattr(threading, "_register_atexit", atexit.register)(_leave_early)


def watch(output: Leaving) -> None:
    """Closes an output at the end of the process, before the libraries that it uses end."""
    _OPEN.add(output)
    atexit.unregister(_leave)
    atexit.register(_leave)
