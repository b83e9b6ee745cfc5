"""What the tests of zellige.forecast share: coordinates, fields, stores that watch."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections import OrderedDict

import numpy as np

import zellige
from zellige import _core
from zellige.forecast import AsyncZarrBackend
from zellige.mapping import Mapped

LAT = np.linspace(90, -90, 6)
LON = np.linspace(0, 360, 8, endpoint=False)


def times(n):
    return np.datetime64("2024-01-01", "ns") + np.arange(n) * np.timedelta64(24, "h")


def leads(n):
    return (np.arange(n) * np.timedelta64(6, "h")).astype("m8[ns]")


def coords(lead, time=None, lat=LAT, lon=LON):
    """The coordinates of a field, in the order of its axes."""
    time = times(1) if time is None else time
    return OrderedDict(time=time, lead_time=lead, lat=lat, lon=lon)


def fields(n_leads, n_times=1, lat=LAT, lon=LON, seed=0):
    """No two values are the same, and none is zero."""
    shape = n_times, n_leads, len(lat), len(lon)
    values = np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(shape)
    return values + np.float32(1e6 * seed)


def backend(store, n_leads, n_times=1, **options):
    """A backend for so many times and lead times; `store` is a path or a store."""
    parallel = OrderedDict(time=times(n_times), lead_time=leads(n_leads))
    return AsyncZarrBackend(None, parallel, store=store, **options)


def give(io, data, order=None, names="t2m"):
    """Writes the steps of some data one by one."""
    n_times, n_leads = data.shape[:2]
    for i, j in order or np.ndindex(n_times, n_leads):
        give_one(io, data, i, j, names)


def give_one(io, data, i, j, names="t2m"):
    part = data[i : i + 1, j : j + 1]
    where = coords(leads(data.shape[1])[j : j + 1], times(data.shape[0])[i : i + 1])
    io.write(part if isinstance(names, str) else [part] * len(names), where, names)


def stored(store, name="t2m"):
    """An array as another process would see it."""
    if isinstance(store, dict):
        store = zellige.MemoryStore(store)
    return zellige.open_array(store, "r", path=name)


def objects(store, name="t2m"):
    """Keys of the chunks or shards of an array."""
    if isinstance(store, dict):
        store = zellige.MemoryStore(store)
    keys = zellige.open_group(store, "r").store.keys(name)
    return sorted(key for key in keys if not key.endswith(".json"))


class Watched(dict):
    """The objects of a store by key: counts what is asked of it, and obeys.

    `hold(part)` keeps those that store a key with this part waiting until `release`;
    `fail(part)` makes them fail until `heal`. `delay` is what each request takes.
    """

    delay = 0.0

    def __init__(self):
        super().__init__()
        self.reads, self.puts, self.callers, self.most = [], [], set(), 0
        self.waiting = threading.Event()  # somebody is kept waiting
        self._now = 0
        self._bad, self._held = None, None
        self._gate = threading.Event()
        self._lock = threading.Lock()

    def fail(self, part=""):
        self._bad = part

    def heal(self):
        self._bad = None

    def hold(self, part=""):
        self._gate.clear()
        self._held = part

    def release(self):
        self._held = None
        self._gate.set()

    def forget(self):
        self.reads.clear()
        self.puts.clear()
        self.callers.clear()

    def chunk_puts(self, name="t2m"):
        return [key for key in self.puts if key.startswith(f"{name}/c/")]

    def looked(self, key):
        self.reads.append(key)
        self.callers.add(threading.get_ident())
        time.sleep(self.delay)

    def put(self, key):
        """What comes before a change; `most` is how many were there at once."""
        with self._lock:
            self.puts.append(key)
            self.callers.add(threading.get_ident())
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            time.sleep(self.delay)
            if self._held is not None and self._held in key:
                self.waiting.set()
                assert self._gate.wait(60)
            if self._bad is not None and self._bad in key:
                raise OSError(f"{key} does not want to be stored")
        finally:
            with self._lock:
                self._now -= 1


class _Watching(Mapped):
    """Such a store as the binding calls it."""

    def open(self, key):
        self.mapping.looked(key)
        return super().open(key)

    def change(self, key, *how):
        self.mapping.put(key)
        return super().change(key, *how)


def memory(watched):
    if not isinstance(watched, Watched):
        return zellige.MemoryStore(watched)
    return _core.open_store(
        zellige.MemoryStore, _Watching(watched), False, False, False, False
    )


def watched(n_leads, n_times=1, **options):
    """Such a store, and a backend of it."""
    store = Watched()
    return store, backend(memory(store), n_leads, n_times, **options)


class Tensor:
    """What is used of a tensor of torch."""

    is_cuda = False

    def __init__(self, array, dtype=None):
        self.array, self.dtype = array, dtype or f"torch.{array.dtype}"

    def detach(self):
        return self

    def numpy(self, force):
        assert force
        return self.array


# ---------------------------------------------------------------------- for faults

BOTH = ["t2m", "z500"]
ONE_SHARD = {"shard_coords": {"lead_time": 4}, "blocking": False}
WAYS = [ONE_SHARD, {"blocking": False}, {"blocking": True}]


def made(tmp_path, n_leads, names="t2m", **options):
    """A backend whose arrays are there."""
    io = backend(tmp_path, n_leads, **options)
    io.add_array(coords(leads(n_leads)), names)
    return io


def blocked(tmp_path, n_leads, names="t2m", **options):
    """Such a backend that cannot store a chunk of t2m until the function is called."""
    io = made(tmp_path, n_leads, names, **options)
    at = tmp_path / "t2m" / "c"
    at.write_text("no folder")
    return io, at.unlink


def script(text, *, ends=True):
    """Runs a program that has io, give and so on; how it ended, and what it printed."""
    before = textwrap.dedent("""
        import os, sys, signal
        import numpy as np
        from forecasts import *
    """)
    done = subprocess.run(
        [sys.executable, "-c", before + textwrap.dedent(text)],
        capture_output=True, text=True, timeout=60, cwd=os.path.dirname(__file__),
    )
    if ends:
        assert done.returncode == 0, done.stderr
    return done


def threads():
    return set(os.listdir("/proc/self/task"))
