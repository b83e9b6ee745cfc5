"""What a forecast costs: requests to the store, memory, threads, and nobody's patience."""

import threading
import time

import numpy as np
import pytest
from forecasts import (
    Watched,
    backend,
    coords,
    fields,
    give,
    give_one,
    leads,
    memory,
    objects,
    stored,
    times,
)

SIDE = np.arange(64.0)
FIELD = 64 * 64 * 4  # bytes


def large(n_leads, n_times=1):
    return fields(n_leads, n_times, SIDE, SIDE)


def give_large(io, data, order):
    n_times, n_leads = data.shape[:2]
    for i, j in order:
        lead, time = leads(n_leads)[j : j + 1], times(n_times)[i : i + 1]
        io.write(data[i : i + 1, j : j + 1], coords(lead, time, SIDE, SIDE), "t2m")


# ---------------------------------------------------------------------- requests


@pytest.mark.parametrize("shard", [{}, {"lead_time": 4}])
def test_steps_of_73_arrays_ask_the_store_for_nothing(shard):
    """So what a write costs its caller does not depend on how slow the store is."""
    store, names = Watched(), [f"v{k}" for k in range(73)]
    x = fields(8)
    io = backend(memory(store), 8, shard_coords=shard, blocking=False)
    io.add_array(coords(leads(8)), names)
    store.forget()
    give(io, x, names=names)
    assert threading.get_ident() not in store.callers
    io.close()
    assert not [key for key in store.reads if "/c/" not in key]
    assert io.counts()["opened"] == 0, "objects of a new store are not looked at"
    assert len(store.puts) == len(set(store.puts)) == 73 * (2 if shard else 8)
    assert all(np.array_equal(stored(store, name)[...], x) for name in names[::24])


def test_a_shard_that_is_there_is_looked_at_once():
    store, x = Watched(), fields(8)
    for steps in ([0, 1], [2, 3, 5], [4, 6, 7]):
        store.forget()
        with backend(memory(store), 8, shard_coords={"lead_time": 8}, blocking=False) as io:
            give(io, x, [(0, j) for j in steps])
        assert io.counts()["opened"] <= 1 and len(store.chunk_puts()) == 1
    assert np.array_equal(stored(store)[...], x)


def test_a_store_of_20_ms_does_not_slow_writes_down():
    """39 writes take less time than the store takes for them."""
    store, x = Watched(), fields(40)
    io = backend(memory(store), 40, blocking=False)
    io.add_array(coords(leads(40)), "t2m")
    give_one(io, x, 0, 0)
    store.delay = 0.02
    start = time.perf_counter()
    give(io, x, [(0, j) for j in range(1, 40)])
    assert time.perf_counter() - start < 39 * 0.02 / 2
    io.close()
    assert np.array_equal(stored(store)[...], x)


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("place", ["directory", "memory"])
def test_the_worst_order_stays_in_the_budget(tmp_path, place):
    """All of 16 shards are half full at the same time, with a budget of 4."""
    store = tmp_path if place == "directory" else memory({})
    x, budget = large(8, 16), 4 * 8 * FIELD
    io = backend(
        store, 8, 16, memory_budget=budget, shard_coords={"lead_time": 8}, blocking=False
    )
    give_large(io, x, [(i, j) for j in range(8) for i in range(16)])
    io.close()
    counts = io.counts()
    assert counts["bytes_peak"] <= counts["bytes_budget"] == budget
    assert counts["spilled"] > 0 and counts["opened"] == 0
    assert counts["stored"] == 16 and counts["partial"] == 0
    assert np.array_equal(stored(store)[...], x)


def test_a_shard_needs_no_more_than_itself_and_a_chunk_for_each_thread(tmp_path):
    io = backend(tmp_path, 16, shard_coords={"lead_time": 16}, blocking=False, pool_size=2)
    x = large(16)
    give_large(io, x, np.ndindex(1, 16))
    io.close()
    assert io.counts()["bytes_peak"] <= (16 + 2) * FIELD + 4096  # and its index
    assert np.array_equal(stored(tmp_path)[...], x)


def test_the_budget_is_160_mib_and_more_where_it_must_be(tmp_path):
    with backend(tmp_path, 2) as io:
        give(io, fields(2))
        assert io.counts()["bytes_budget"] == 160 << 20


def test_a_budget_that_is_too_small(tmp_path):
    io = backend(tmp_path, 8, memory_budget=1 << 10, shard_coords={"lead_time": 8})
    with pytest.raises(ValueError, match="budget"):
        give_large(io, large(8), [(0, 0)])
    io.abort()


# ---------------------------------------------------------------------- waiting


def test_only_writes_that_are_not_done_are_waited_for():
    """One object is kept waiting; room for two more is enough for all that come after."""
    store, x = Watched(), large(12)
    io = backend(memory(store), 12, blocking=False, pool_size=2, memory_budget=8 * FIELD)
    io.add_array(coords(leads(12), lat=SIDE, lon=SIDE), "t2m")
    store.hold("t2m/c/0/0/")
    give_large(io, x, [(0, 0)])
    assert store.waiting.wait(30)
    give_large(io, x, [(0, j) for j in range(1, 12)])  # the oldest is not waited for
    assert "t2m/c/0/0/0/0" not in store
    store.release()
    io.close()
    assert io.counts()["bytes_peak"] <= 8 * FIELD
    assert np.array_equal(stored(store)[...], x)


def test_a_write_gives_up_after_its_timeout():
    """The budget is full and nothing moves: the write is refused, and close tells until it
    has been given again."""
    store, x = Watched(), large(12)
    io = backend(
        memory(store), 12, blocking=False, pool_size=1, memory_budget=8 * FIELD,
        async_timeout=0.2,
    )
    io.add_array(coords(leads(12), lat=SIDE, lon=SIDE), "t2m")
    store.hold("t2m/c/")
    given = 0
    with pytest.raises(TimeoutError):
        for given in range(12):
            give_large(io, x, [(0, given)])
    assert 0 < given < 11
    store.release()
    with pytest.raises(OSError, match="1 fields of t2m were refused"):
        io.flush()
    give_large(io, x, [(0, j) for j in range(given, 12)])
    io.close()
    assert np.array_equal(stored(store)[...], x)


def test_flush_and_close_have_deadlines():
    store = Watched()
    io = backend(memory(store), 4, blocking=False)
    io.add_array(coords(leads(4)), "t2m")
    store.hold("t2m/c/")
    give(io, fields(4))
    with pytest.raises(TimeoutError):
        io.flush(timeout=0.1)
    store.release()
    io.flush(timeout=30)
    io.close(timeout=30)
    assert np.array_equal(stored(store)[...], fields(4))


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_shards_are_stored_at_once_than_allowed(limit):
    store = Watched()
    store.delay = 0.02  # for others to come
    io = backend(
        memory(store), 12, shard_coords={"lead_time": 2}, blocking=False,
        max_inflight_shards=limit,
    )
    give(io, fields(12))
    io.close()
    assert 1 <= store.most <= limit
    assert len(objects(store)) == 6
    assert np.array_equal(stored(store)[...], fields(12))
