"""What goes wrong around a forecast: input, the end of the process, shards.

A test for each fault that was tried with earth2studio's class, by its name there; those of
stores and of several writers are in test_forecast_failures.py.
"""

import os
import subprocess
import sys
import textwrap
from collections import OrderedDict

import numpy as np
import pytest
from forecasts import (
    BOTH,
    LAT,
    ONE_SHARD,
    backend,
    blocked,
    coords,
    fields,
    give,
    give_one,
    leads,
    made,
    objects,
    script,
    stored,
    threads,
)

import zellige


# ---------------------------------------------------------------------- wrong input


def test_permuted_lead_times(tmp_path):
    x = fields(4)
    with backend(tmp_path, 4) as io:
        io.write(x[:, [2, 0]], coords(leads(4)[[2, 0]]), "t2m")
        io.write(x[:, [1, 3]], coords(leads(4)[[1, 3]]), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)


def test_permuted_latitudes(tmp_path):
    with backend(tmp_path, 2) as io:
        give_one(io, fields(2), 0, 0)
        with pytest.raises(ValueError, match="lat has different values"):
            io.write(fields(1)[:, :, ::-1], coords(leads(2)[1:], lat=LAT[::-1]), "t2m")
    assert len(objects(tmp_path)) == 1


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 1, 6, 1), (5, 1, 6, 8), (1, 1, 6, 9)])
def test_shape_too_small_or_too_large(tmp_path, shape):
    with made(tmp_path, 1) as io:
        with pytest.raises(ValueError, match="values along"):
            io.write(np.ones(shape, "f4"), coords(leads(1)), "t2m")
    assert objects(tmp_path) == []


@pytest.mark.parametrize("chunked", [{}, {"lat": 2, "lon": 3}])
def test_dimension_order(tmp_path, chunked):
    """Axes are known by their names: the field is turned into the order of the array."""
    x = fields(4)
    with made(tmp_path, 4, chunked_coords=chunked) as io:
        for j in range(4):
            where = coords(leads(4)[j : j + 1])
            where = OrderedDict((k, where[k]) for k in ("lon", "lead_time", "lat", "time"))
            io.write(x[:, j : j + 1].transpose(3, 1, 2, 0), where, "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)


def test_narrowing(tmp_path):
    with made(tmp_path, 1) as io:
        with pytest.raises(ValueError, match="float32, which cannot hold all values of float64"):
            io.write(np.full((1, 1, 6, 8), 1e300), coords(leads(1)), "t2m")
        io.write(np.full((1, 1, 6, 8), 7, "f2"), coords(leads(1)), "t2m")  # wider is fine
    assert (stored(tmp_path)[...] == 7).all()


def test_unknown_lead_time(tmp_path):
    io = backend(tmp_path, 2)
    with pytest.raises(ValueError, match="lead_time has no value 54 hours"):
        io.write(fields(1), coords(np.array([54], "m8[h]")), "t2m")
    assert list(io) == []


def test_nan_coordinate(tmp_path):
    lat = LAT.copy()
    lat[2] = np.nan
    x = fields(3)
    for steps in ([0, 1], [2]):
        with backend(tmp_path, 3) as io:
            for j in steps:
                io.write(x[:, j : j + 1], coords(leads(3)[j : j + 1], lat=lat), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)
    assert np.array_equal(stored(tmp_path, "lat")[...], lat, equal_nan=True)


@pytest.mark.parametrize(
    "dtype", ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i8", "f2", "f8", "c8", "c16"]
)
def test_element_types(tmp_path, dtype):
    x = fields(2).astype(dtype)
    with backend(tmp_path, 2) as io:
        give(io, x)
    assert stored(tmp_path).dtype == dtype and np.array_equal(stored(tmp_path)[...], x)


def test_chunk_does_not_divide(tmp_path):
    lat, x = np.linspace(90, -90, 25), fields(4, lat=np.arange(25))
    ways = {"chunked_coords": {"lat": 10}, "shard_coords": {"lead_time": 2}}
    with backend(tmp_path, 4, **ways) as io:
        for j in range(4):
            io.write(x[:, j : j + 1], coords(leads(4)[j : j + 1], lat=lat), "t2m")
    assert stored(tmp_path).chunks[2] == 10 and stored(tmp_path).shards[2] == 30
    assert np.array_equal(stored(tmp_path)[...], x)


# ---------------------------------------------------------------------- the end of a run


def test_write_after_close(tmp_path):
    script(f"""
        io = backend({str(tmp_path)!r}, 6, **{ONE_SHARD!r})
        give(io, fields(6), [(0, j) for j in range(4)])
        io.close()
        give(io, fields(6), [(0, j) for j in range(4, 6)])
    """)
    assert np.array_equal(stored(tmp_path)[...], fields(6))


@pytest.mark.parametrize("round", range(5))
def test_process_ends_without_close(tmp_path, round):
    done = script(f"""
        io = backend({str(tmp_path)!r}, 8, **{ONE_SHARD!r})
        give(io, fields(8), [(0, j) for j in range(6)])
    """)
    assert np.array_equal(stored(tmp_path)[:, :6], fields(8)[:, :6])
    assert "was not closed: storing what it was given" in done.stderr


def test_process_ends_and_cannot_store(tmp_path):
    done = script(f"""
        io = backend({str(tmp_path)!r}, 6, **{ONE_SHARD!r})
        io.add_array(coords(leads(6)), "t2m")
        open({str(tmp_path / "t2m" / "c")!r}, "w").close()
        give(io, fields(6), [(0, 0)])
    """, ends=False)
    assert done.returncode == 1
    assert "could not be stored" in done.stderr and "t2m" in done.stderr


def test_script_raises_before_close(tmp_path):
    done = script(f"""
        io = backend({str(tmp_path)!r}, 6, **{ONE_SHARD!r})
        give(io, fields(6))
        raise RuntimeError("the model has stopped")
    """, ends=False)
    assert done.returncode == 1 and "RuntimeError: the model has stopped" in done.stderr
    assert np.array_equal(stored(tmp_path)[...], fields(6))


def test_script_raises_within_a_block(tmp_path):
    done = script(f"""
        with backend({str(tmp_path)!r}, 6, **{ONE_SHARD!r}) as io:
            give(io, fields(6))
            raise RuntimeError("the model has stopped")
    """, ends=False)
    assert done.returncode == 1 and "RuntimeError: the model has stopped" in done.stderr
    assert np.array_equal(stored(tmp_path)[...], fields(6))


def test_process_ends_with_a_store_of_python():
    """It is called while the process ends; what it holds is looked at last."""
    done = script(f"""
        import atexit
        store = Watched()
        atexit.register(lambda: print(sorted(store.chunk_puts()), flush=True))
        io = backend(memory(store), 6, **{ONE_SHARD!r})
        give(io, fields(6))
    """)
    assert done.stdout.strip() == "['t2m/c/0/0/0/0', 't2m/c/0/1/0/0']"


@pytest.mark.parametrize("how", ["fork", "forkserver"])
@pytest.mark.parametrize("broken", [False, True])
def test_child_ends_without_close(tmp_path, how, broken):
    """Children of multiprocessing end without what others do at the end."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(f"""
        import multiprocessing, sys, warnings
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from forecasts import *
        kept = []
        def work(path):
            io = backend(path, 8, **ONE_SHARD)
            io.add_array(coords(leads(8)), "t2m")
            if {broken}:
                open(path + "/t2m/c", "w").close()
            kept.append(io)  # to the end of the process
            give(io, fields(8), [(0, j) for j in range(3)])
        if __name__ == "__main__":
            child = multiprocessing.get_context({how!r}).Process(
                target=work, args=({str(tmp_path / "a")!r},)
            )
            child.start()
            child.join(30)
            print(child.exitcode)
    """))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60
    )
    if broken:
        assert "could not be stored" in done.stderr and "t2m" in done.stderr
    else:
        assert done.stdout == "0\n", done.stderr
        assert np.array_equal(stored(tmp_path / "a")[:, :3], fields(8)[:, :3])


def test_a_thread_that_outlives_the_main_one(tmp_path):
    """What it gives then is stored too, and nothing is said when it closes."""
    done = script(f"""
        import time
        io = backend({str(tmp_path)!r}, 8, **{ONE_SHARD!r})
        give(io, fields(8), [(0, 0)])
        def work():
            threading.main_thread().join()
            time.sleep(0.2)
            give(io, fields(8), [(0, j) for j in range(1, 8)])
            io.close()
        threading.Thread(target=work).start()
    """)
    assert done.stderr == ""
    assert np.array_equal(stored(tmp_path)[...], fields(8))


def test_deleted_without_close(tmp_path):
    io = backend(tmp_path, 8, **ONE_SHARD)
    give(io, fields(8), [(0, j) for j in range(6)])
    with pytest.warns(zellige.errors.ZarrUserWarning, match="was not closed"):
        del io
    assert np.array_equal(stored(tmp_path)[:, :6], fields(8)[:, :6])


@pytest.mark.parametrize("blocking", [True, False])
def test_threads_after_close(tmp_path, blocking):
    zellige.create_array(tmp_path / "x", shape=9, dtype="i4")[...] = 1
    before = threads()
    for k in range(3):
        io = backend(tmp_path / str(k), 8, blocking=blocking, shard_coords={"lead_time": 4})
        assert threads() == before, "none before the first write"
        give(io, fields(8), names=BOTH)
        if not blocking:
            assert threads() > before
        io.close()
        assert threads() == before


def test_no_thread_is_left_after_a_failed_close(tmp_path):
    before = threads()
    io, heal = blocked(tmp_path, 4, **ONE_SHARD)
    give(io, fields(4), [(0, 0)])
    with pytest.raises(OSError):
        io.close()
    assert threads() == before
    heal()
    io.close()
    assert threads() == before


# ---------------------------------------------------------------------- shards


def test_incomplete_shard_at_close(tmp_path):
    x = fields(8)
    for steps in (range(6), range(6, 8)):
        with backend(tmp_path, 8, **ONE_SHARD) as io:
            give(io, x, [(0, j) for j in steps])
        assert np.array_equal(stored(tmp_path)[:, steps], x[:, steps])
        if steps == range(6):
            assert (stored(tmp_path)[:, 6:] == 0).all()
    assert np.array_equal(stored(tmp_path)[...], x)


def test_missing_step_is_visible(tmp_path):
    with backend(tmp_path, 4, fill_value=np.nan, **ONE_SHARD) as io:
        give(io, 0 * fields(4), [(0, 0), (0, 2), (0, 3)])
    missing = np.isnan(stored(tmp_path)[0]).all(axis=(1, 2))
    assert missing.tolist() == [False, True, False, False]


@pytest.mark.parametrize("options", [ONE_SHARD, {"blocking": False}], ids=["shard", "chunk"])
def test_same_step_twice(tmp_path, options):
    x = fields(8)
    for round in range(20):
        with backend(tmp_path / str(round), 8, **options) as io:
            give(io, -x, [(0, 2), (0, 5)])
            give(io, x)
            give(io, x + round, [(0, 2)])
        wanted = x.copy()
        wanted[0, 2] += round
        assert np.array_equal(stored(tmp_path / str(round))[...], wanted)


def test_same_step_after_flush(tmp_path):
    x = fields(8)
    with backend(tmp_path, 8, **ONE_SHARD) as io:
        give(io, x)
        io.flush()
        give(io, x + 1, [(0, 2)])
    wanted = x.copy()
    wanted[0, 2] += 1
    assert np.array_equal(stored(tmp_path)[...], wanted)


def test_read_back_mid_run(tmp_path):
    x, seen = fields(8), []
    with backend(tmp_path, 8, **ONE_SHARD) as io:
        for j in range(8):
            give_one(io, x, 0, j)
            if j in (1, 5):
                io.flush()  # what io[name] does first
                seen.append(np.array_equal(stored(tmp_path)[:, : j + 1], x[:, : j + 1]))
    assert seen == [True, True]
    assert np.array_equal(stored(tmp_path)[...], x)


def test_reopened_with_other_shard_size(tmp_path):
    x = fields(8)
    for shard, steps in ((4, range(3)), (8, range(3, 8))):
        with backend(tmp_path, 8, shard_coords={"lead_time": shard}, blocking=False) as io:
            give(io, x, [(0, j) for j in steps])
    assert stored(tmp_path).shards[1] == 4
    assert np.array_equal(stored(tmp_path)[...], x)
