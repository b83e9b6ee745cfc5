"""What goes wrong around a forecast: stores that fail, several writers, many shards.

A test for each fault that was tried with earth2studio's class, by its name there.
"""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from forecasts import (
    BOTH,
    LAT,
    ONE_SHARD,
    WAYS,
    Watched,
    backend,
    blocked,
    coords,
    fields,
    give,
    give_one,
    leads,
    made,
    memory,
    objects,
    script,
    stored,
    times,
    watched,
)


# ---------------------------------------------------------------------- a store that fails


def tried(io, data, order=None, names="t2m"):
    """Gives the steps whatever happens; those that raised, and what they said."""
    errors = {}
    for i, j in order or np.ndindex(*data.shape[:2]):
        try:
            give_one(io, data, i, j, names)
        except OSError as error:
            errors[i, j] = str(error)
    return errors


@pytest.mark.parametrize("options", WAYS)
def test_one_array_fails(tmp_path, options):
    """Every step of the other array is stored, also of the writes that raised."""
    x = fields(8)
    io, heal = blocked(tmp_path, 8, BOTH, **options)
    errors = tried(io, x, names=BOTH)
    assert all("t2m" in error for error in errors.values())
    for _ in range(3):
        with pytest.raises(OSError, match="t2m"):
            io.close()
    assert np.array_equal(stored(tmp_path, "z500")[...], x)
    heal()
    if errors:
        with pytest.raises(OSError, match="fields of t2m were refused"):
            io.close()
        give(io, x, errors)  # once more, and all is well
    io.close()
    assert np.array_equal(stored(tmp_path)[...], x)


@pytest.mark.parametrize("options", WAYS)
def test_healthy_array_after_failure(tmp_path, options):
    x = fields(8)
    io, _ = blocked(tmp_path, 8, BOTH, **options)
    tried(io, x, names="t2m")
    assert tried(io, x, names="z500") == {}
    with pytest.raises(OSError, match="t2m"):
        io.close()
    assert np.array_equal(stored(tmp_path, "z500")[...], x)
    io.abort()


def test_second_close_after_failure(tmp_path):
    io, heal = blocked(tmp_path, 4, **ONE_SHARD)
    tried(io, fields(4))
    for _ in range(4):
        with pytest.raises(OSError, match="t2m"):
            io.close()
    with pytest.raises(OSError, match="t2m"):
        give_one(io, fields(4), 0, 0)
    heal()
    give_one(io, fields(4), 0, 0)
    io.close()
    assert np.array_equal(stored(tmp_path)[...], fields(4))


@pytest.mark.parametrize("blocking", [True, False])
def test_store_fails_then_heals(blocking):
    store, x = Watched(), fields(8)
    io = made(memory(store), 8, shard_coords={"lead_time": 2}, blocking=blocking)
    store.fail("t2m/c/")
    errors = tried(io, x, [(0, j) for j in range(4)])
    store.heal()
    give(io, x, [(0, j) for j in range(4, 8)])
    if errors:
        with pytest.raises(OSError, match="fields of t2m were refused, and not given again"):
            io.close()
        give(io, x, errors)
    io.close()
    assert np.array_equal(stored(store)[...], x)


@pytest.mark.parametrize("shard", [{}, {"lead_time": 4}])
def test_blocking_retry_after_failure(shard):
    """Each step is given until its write returns: then all of them are stored."""
    store, x, n_failed = Watched(), fields(8), 0
    io = made(memory(store), 8, shard_coords=shard, blocking=True)
    for j in range(8):
        if j in (3, 5):
            store.fail("t2m/c/")
        for _ in range(2):
            try:
                give_one(io, x, 0, j)
            except OSError as error:
                assert "t2m" in str(error)
                n_failed += 1
                store.heal()
            else:
                break
    assert n_failed == 2
    store.heal()
    io.close()
    assert np.array_equal(stored(store)[...], x)


def test_a_blocking_write_waits_for_each_of_its_arrays():
    """Also where they are given one by one, as one of them could not be stored before."""
    store, x = Watched(), fields(2)
    io = made(memory(store), 2, BOTH, blocking=True)
    for j in range(2):
        store.fail(f"t2m/c/0/{j}/")  # and the other is well again
        with pytest.raises(OSError, match="t2m"):
            give_one(io, x, 0, j, BOTH)
        assert f"t2m/c/0/{j}/0/0" not in store and f"z500/c/0/{j}/0/0" in store
    store.heal()
    io.close()
    for name in BOTH:
        assert np.array_equal(stored(store, name)[...], x)


def test_nothing_is_lent_by_a_write_that_raises():
    """Parts of it that are well are stored later: the caller may change them at once."""
    names, store, x = ["msl", "z500", "t2m"], Watched(), fields(2)
    io = made(memory(store), 2, names, blocking=True, pool_size=1)
    store.fail("t2m/c/")
    with pytest.raises(OSError, match="t2m"):
        give_one(io, x, 0, 0, names)
    store.hold("msl/c/")  # z500 waits behind it
    given = x[:, 1:].copy()
    with pytest.raises(OSError, match="t2m"):
        io.write([given] * 3, coords(leads(2)[1:]), names)
    given[...] = -1
    store.heal()
    store.release()
    give_one(io, x, 0, 1, "t2m")
    io.close()
    for name in names:
        assert np.array_equal(stored(store, name)[...], x)


def test_file_size_limit(tmp_path):
    """No file may be as large as the index of a shard, however few steps it got."""
    done = script(f"""
        import resource
        io = backend({str(tmp_path)!r}, 8, **{ONE_SHARD!r})
        io.add_array(coords(leads(8)), ["t2m", "flag"])
        io.add_array(coords(leads(8)), "flag", "u1")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for j in range(8):
            try:
                give_one(io, fields(8), 0, j)
            except OSError as error:
                assert "t2m" in str(error)
        for _ in range(3):
            try:
                io.close()
            except OSError as error:
                print(error)
        io.abort()
    """)
    assert done.stdout.count("t2m") >= 3 and len(done.stdout.splitlines()) == 3
    assert objects(tmp_path) == []
    assert (stored(tmp_path)[...] == 0).all()
    left = [name for _, _, names in os.walk(tmp_path) for name in names]
    assert set(left) == {"zarr.json", "0"}


def full(key):
    raise OSError(28, "No space left on device", key)


@pytest.mark.parametrize("shard", [{}, {"lead_time": 4}])
def test_disk_full(shard):
    """What was stored before is whole, nothing is torn, and each close tells."""
    x = fields(8, 5)

    class Disk(Watched):
        def __setitem__(self, key, value):
            if "/c/" in key and sum(map(len, self.values())) + len(value) > 6000:
                full(key)
            super().__setitem__(key, value)

    store = Disk()
    io = backend(memory(store), 8, 5, shard_coords=shard, blocking=False)
    io.add_array(coords(leads(8), times(5)), "t2m")
    tried(io, x)
    for _ in range(3):
        with pytest.raises(OSError, match="t2m.*No space left"):
            io.close()
    now = stored(store)[...]
    whole = [np.array_equal(now[at], x[at]) for at in np.ndindex(5, 8)]
    empty = [(now[at] == 0).all() for at in np.ndindex(5, 8)]
    assert 0 < sum(whole) < 40 and sum(whole) + sum(empty) == 40
    io.abort()


def test_read_only_mid_run():
    store, x = Watched(), fields(8)
    io = made(memory(store), 8, **ONE_SHARD)
    give(io, x, [(0, j) for j in range(4)])
    io.flush()
    store.fail()
    tried(io, x, [(0, j) for j in range(4, 8)])
    for _ in range(2):
        with pytest.raises(OSError, match="t2m"):
            io.close()
    assert np.array_equal(stored(store)[:, :4], x[:, :4])
    io.abort()


def test_final_flush_fails():
    """The last shard lacks a part, so that only close stores it."""
    store, x = Watched(), fields(6)
    io = made(memory(store), 6, **ONE_SHARD)
    give(io, x, [(0, j) for j in range(4)])
    io.flush()
    store.fail("t2m/c/")
    give(io, x, [(0, j) for j in range(4, 6)])
    for _ in range(3):
        with pytest.raises(OSError, match="t2m"):
            io.close()
    assert np.array_equal(stored(store)[:, :4], x[:, :4])
    store.heal()
    io.close()
    assert np.array_equal(stored(store)[...], x)


@pytest.mark.parametrize("given", [range(4), range(2)], ids=["all", "half"])
def test_torn_shard_from_earlier_run(tmp_path, given):
    """It is replaced where all of it is given, else named."""
    x = fields(4)
    with backend(tmp_path, 4, **ONE_SHARD) as io:
        give(io, x + 1)
    (path,) = (p for p in (tmp_path / "t2m" / "c").rglob("*") if p.is_file())
    path.write_bytes(path.read_bytes()[:-9])
    io = backend(tmp_path, 4, **ONE_SHARD)
    give(io, x, [(0, j) for j in given])
    if len(given) == 4:
        io.close()
        assert np.array_equal(stored(tmp_path)[...], x)
        return
    for _ in range(2):
        with pytest.raises(ValueError, match="t2m.*c/0/0/0/0"):
            io.close()
    io.abort()


# ---------------------------------------------------------------------- several writers


@pytest.mark.parametrize("blocking", [True, False])
def test_two_writers_one_process(tmp_path, blocking):
    x = fields(8)
    first = backend(tmp_path, 8, shard_coords={"lead_time": 8}, blocking=blocking)
    second = backend(tmp_path, 8, shard_coords={"lead_time": 8}, blocking=blocking)
    for j in range(8):
        give_one((first, second)[j % 2], x, 0, j)
    first.close()
    second.close()
    assert np.array_equal(stored(tmp_path)[...], x)


def test_two_writers_two_processes(tmp_path):
    """Each has every second step of one shard, which both store at the same time."""
    x = fields(8)
    made(tmp_path, 8, shard_coords={"lead_time": 8}).close()
    programs = [
        subprocess.Popen(
            [
                sys.executable, "-c",
                "from forecasts import *; import sys\n"
                f"with backend({str(tmp_path)!r}, 8, blocking=False) as io:\n"
                f"    give(io, fields(8), [(0, j) for j in range({rank}, 8, 2)])\n"
                "    print('given', flush=True); sys.stdin.readline()\n",
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=os.path.dirname(__file__),
        )
        for rank in range(2)
    ]
    for program in programs:
        assert program.stdout.readline() == "given\n"
    for program in programs:
        program.stdin.write("\n")
        program.stdin.flush()
    assert [program.wait(60) for program in programs] == [0, 0]
    for program in programs:
        program.stdin.close()
        program.stdout.close()
    assert np.array_equal(stored(tmp_path)[...], x)


RUN = """
    print("on its way", flush=True)
    with backend({path!r}, 16, blocking={blocking}, shard_coords={shard}) as io:
        io.add_array(coords(leads(16)), ["t2m", "z500"])
        for j in range(16):
            give_one(io, fields(16), 0, j, ["t2m", "z500"])
            print(j, flush=True)
"""


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("after", [0, 3, 7, 11, 15])
def test_kill_then_rerun(tmp_path, after, blocking):
    """Nothing is torn, a blocking write that returned is stored, the same run completes."""
    x = fields(16)
    shard = {} if blocking else {"lead_time": 4}
    text = "from forecasts import *\n" + textwrap.dedent(
        RUN.format(path=str(tmp_path), blocking=blocking, shard=shard)
    )
    run = [sys.executable, "-c", text]
    where = {"cwd": os.path.dirname(__file__), "text": True}
    with subprocess.Popen(run, stdout=subprocess.PIPE, **where) as process:
        for line in process.stdout:
            if line == f"{after}\n":
                process.kill()
                break
    for name in BOTH:
        now = stored(tmp_path, name)[0]
        whole = [np.array_equal(now[j], x[0, j]) for j in range(16)]
        assert all(whole[j] or (now[j] == 0).all() for j in range(16))
        if blocking:
            assert all(whole[: after + 1])
    assert subprocess.run(run, stdout=subprocess.DEVNULL, **where).returncode == 0
    for name in BOTH:
        assert np.array_equal(stored(tmp_path, name)[...], x)
    assert {n for _, _, names in os.walk(tmp_path) for n in names} <= {
        "zarr.json", *map(str, range(16))
    }


# ---------------------------------------------------------------------- many of them


def test_many_shards(tmp_path):
    """A write asks the store for nothing, however many shards there are."""
    for n in (125, 2000):
        store, io = watched(n, shard_coords={"lead_time": 1}, blocking=False)
        give_one(io, fields(n), 0, 0)
        store.forget()
        give(io, fields(n), [(0, j) for j in range(1, 40)])
        io.flush()
        assert not [key for key in store.reads if "/c/" not in key]
        assert io.counts()["opened"] == 0
        io.close()


def test_thousands_of_open_shards(tmp_path):
    n, lat = 2000, LAT[:2]
    x = fields(n * 4, lat=lat)
    io = backend(tmp_path, n * 4, shard_coords={"lead_time": 4}, blocking=False)
    for k in range(4):
        steps = np.arange(k, n * 4, 4)
        io.write(x[:, steps], coords(leads(n * 4)[steps], lat=lat), "t2m")
        if k == 0:
            assert io.counts()["open"] == n
    io.close()
    assert io.counts()["stored"] == n and len(objects(tmp_path)) == n
    assert np.array_equal(stored(tmp_path)[...], x)


def test_sparse_shards(tmp_path):
    """100 shards hold 1 of 50 steps each: memory is that of the steps, not of the shards."""
    x = fields(1, lat=np.arange(100), lon=np.arange(80))
    lat, lon = np.arange(100.0), np.arange(80.0)
    io = backend(tmp_path, 5000, shard_coords={"lead_time": 50}, blocking=False)
    for k in range(100):
        io.write(x + k, coords(leads(5000)[50 * k : 50 * k + 1], lat=lat, lon=lon), "t2m")
    assert io.counts()["open"] == 100
    assert io.counts()["bytes_peak"] < 3 * 100 * x.nbytes
    io.close()
    now = stored(tmp_path)
    assert all(np.array_equal(now[0, 50 * k], x[0, 0] + k) for k in range(100))


def test_bad_order_small_pool(tmp_path):
    """16 shards are half full at once, with one thread."""
    x = fields(4, 16)
    ways = {"max_inflight_shards": 1, "pool_size": 2, **ONE_SHARD}
    with backend(tmp_path, 4, 16, **ways) as io:
        give(io, x, [(i, j) for j in range(4) for i in range(16)])
    assert np.array_equal(stored(tmp_path)[...], x)


@pytest.mark.parametrize("blocking", [True, False])
def test_called_from_threads(tmp_path, blocking):
    """One backend, eight callers, who make the arrays at the same time too."""
    x = fields(8, 8)
    with backend(tmp_path, 8, 8, shard_coords={"lead_time": 4}, blocking=blocking) as io:
        with ThreadPoolExecutor(8) as pool:
            steps = [(i, j) for i in range(8) for j in range(8)]
            list(pool.map(lambda at: give_one(io, x, *at, BOTH), steps))
    for name in BOTH:
        assert np.array_equal(stored(tmp_path, name)[...], x)


def test_used_after_fork(tmp_path):
    """The child is told at once, and its end stores nothing of its parent's."""
    done = script(f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # threads are known to be there
        io = backend({str(tmp_path)!r}, 8, **{ONE_SHARD!r})
        give(io, fields(8), [(0, j) for j in range(6)])
        child = os.fork()
        if child == 0:
            signal.alarm(15)
            for call in (lambda: give_one(io, fields(8), 0, 6), io.flush, io.close):
                try:
                    call()
                except ValueError as error:
                    print(error, flush=True)
            del io
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0
        give(io, fields(8), [(0, j) for j in range(6, 8)])
        io.close()
    """)
    assert done.stdout.count("opened before a fork") == 3
    assert np.array_equal(stored(tmp_path)[...], fields(8))
