"""Arrays to give to writers, and a store that stops or fails when it is told to."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import zellige

DATA = np.random.default_rng(0).integers(0, 1 << 30, (12, 20, 30), "i4")
SHAPES = dict(chunks=(1, 8, 10), shards=(4, 16, 20))


@pytest.fixture
def array(tmp_path):
    return zellige.create_array(tmp_path / "a", shape=DATA.shape, dtype="i4", **SHAPES)


class Gated(dict):
    """A store that takes no chunks while it is shut."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.fails = False
        self.n_tries = 0

    def __setitem__(self, key, value):
        if "c/" in key:
            self.n_tries += 1
            self.gate.wait()
            if self.fails:
                raise OSError("no space is left")
        super().__setitem__(key, value)


@pytest.fixture
def gated():
    """A store, and an array in it; open at the end, so that nobody waits for ever."""
    store = Gated()
    yield (
        store,
        zellige.create_array(
            store, shape=(8, 1000), dtype="f8", chunks=(1, 1000), compressors=None
        ),
    )
    store.gate.set()


def n_threads():
    """Once those that are about to end have ended."""
    found = [len(os.listdir("/proc/self/task"))]
    while found[-5:] != [found[-1]] * 5:
        time.sleep(0.01)
        found.append(len(os.listdir("/proc/self/task")))
    return found[-1]


def run(script, *args, timeout=60):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
