"""A run that was killed and runs again: only what it did not finish is stored anew."""

import os
import subprocess
import sys

import numpy as np
import pytest
from forecasts import BOTH, backend, coords, fields, give, leads, script, stored

N = 24

RUN = """
import sys
from forecasts import *
path, rank, n_ranks, delay = sys.argv[1], *map(int, sys.argv[2:4]), float(sys.argv[4])
ways = dict(resume=True, blocking=False, shard_coords={"lead_time": 3})
done = 0
with backend(path, 24, 2, **ways) as io:
    io.add_array(coords(leads(24), times(2)), BOTH)
    for i, j in [(i, j) for i in range(2) for j in range(24)][rank::n_ranks]:
        where = coords(leads(24)[j : j + 1], times(2)[i : i + 1])
        if io.is_stored(where, BOTH):
            done += 1
        give_one(io, fields(24, 2), i, j, BOTH)
        time.sleep(delay)
        print(j, flush=True)
counts = io.counts()
print("done", done, counts["stored"], counts["resumed"])
"""


def start(path, rank=0, n_ranks=1, delay=0.0):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path), str(rank), str(n_ranks), str(delay)],
        stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(__file__),
    )


def kill_after(process, n):
    for _, line in zip(range(n), process.stdout):
        pass
    process.kill()
    process.stdout.close()
    process.wait()


def told(process):
    """What the last line says: steps that were stored before, objects stored and skipped."""
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return [int(word) for word in out.splitlines()[-1].split()[1:]]


@pytest.mark.parametrize("n", [1, 7, 20, 40])
def test_only_the_rest_is_stored_after_a_kill(tmp_path, n):
    path = tmp_path / "run.zarr"
    kill_after(start(path, delay=0.005), n)
    n_done, n_stored, n_resumed = told(start(path))
    assert n_stored + n_resumed == 2 * 16 and n_done % 3 == 0
    assert n_resumed >= 2 * (n_done // 3) and (n_done > 0 or n < 7)
    for name in BOTH:
        assert np.array_equal(stored(path, name)[...], fields(N, 2))
    assert os.listdir(tmp_path) == ["run.zarr"], "nothing is left of the journal"


def test_resumed_with_another_number_of_processes(tmp_path):
    path = tmp_path / "run.zarr"
    backend(path, N, 2).close()
    ranks = [start(path, rank, 2, 0.01) for rank in range(2)]
    for rank, n in zip(ranks, (6, 9)):
        kill_after(rank, n)
    ranks = [start(path, rank, 3) for rank in range(3)]
    assert all(told(rank)[1] >= 0 for rank in ranks)
    told(start(path))
    for name in BOTH:
        assert np.array_equal(stored(path, name)[...], fields(N, 2))


def test_what_is_stored_is_known(tmp_path):
    path = tmp_path / "run.zarr"
    ways = {"resume": True, "blocking": False, "shard_coords": {"lead_time": 2}}
    first = backend(path, 6, **ways)
    assert not first.is_stored(coords(leads(6)), "t2m"), "there is no array yet"
    give(first, fields(6), [(0, j) for j in range(5)])
    first._output.settle(0, None, None)
    first.abort()
    with backend(path, 6, **ways) as io:
        known = [io.is_stored(coords(leads(6)[j : j + 1]), "t2m") for j in range(6)]
        assert known == [True] * 4 + [False] * 2
        assert not io.is_stored(coords(leads(6)), "t2m")
        assert io.is_stored(coords(leads(6)[[3, 0]]), "t2m")
        with pytest.raises(ValueError, match="no value"):
            io.is_stored(coords(leads(7)[6:]), "t2m")
        give(io, fields(6))
    assert io.counts()["resumed"] == 2 and io.counts()["stored"] == 1
    assert np.array_equal(stored(path)[...], fields(6))


def test_the_journal_stays_when_a_block_is_left_by_an_exception(tmp_path):
    path = tmp_path / "run.zarr"
    ways = {"resume": True, "blocking": False, "shard_coords": {"lead_time": 2}}
    with pytest.raises(RuntimeError), backend(path, 6, **ways) as io:
        give(io, fields(6), [(0, j) for j in range(5)])
        raise RuntimeError("the model has stopped")
    assert np.array_equal(stored(path)[:, :5], fields(6)[:, :5])
    assert sorted(os.listdir(tmp_path)) == ["run.zarr", "run.zarr.journal"]
    with backend(path, 6, **ways) as io:
        assert io.is_stored(coords(leads(6)[:4]), "t2m")
        give(io, fields(6))
    assert io.counts()["resumed"] == 2
    assert os.listdir(tmp_path) == ["run.zarr"]
    assert np.array_equal(stored(path)[...], fields(6))


def test_the_journal_stays_when_the_process_ends_without_close(tmp_path):
    path = tmp_path / "run.zarr"
    script(f"""
        io = backend({str(path)!r}, 6, resume=True, blocking=False)
        give(io, fields(6), [(0, j) for j in range(5)])
    """)
    with backend(path, 6, resume=True) as io:
        give(io, fields(6))
    assert io.counts()["resumed"] == 5 and io.counts()["stored"] == 1
    assert np.array_equal(stored(path)[...], fields(6))


def test_nothing_is_known_without_a_journal(tmp_path):
    with backend(tmp_path, 2) as io:
        give(io, fields(2))
        assert not io.is_stored(coords(leads(2)), "t2m")


def test_a_store_that_is_no_directory():
    store = {}
    with pytest.raises(ValueError, match="resume needs a directory"):
        backend(store, 2, resume=True)
    assert store == {}


def test_steps_are_kept_until_their_shard_is_full(tmp_path):
    path = tmp_path / "run.zarr"
    ways = dict(resume=True, blocking=False, shard_coords={"lead_time": 3}, partial="keep")
    first = backend(path, 6, **ways)
    for j in (0, 1, 3):
        give(first, fields(6), [(0, j)])
        first.flush()
        assert not stored(path)[...].any(), "no shard is full"
    first.abort()
    with backend(path, 6, **ways) as io:
        known = [io.is_stored(coords(leads(6)[j : j + 1]), "t2m") for j in range(6)]
        assert known == [True, True, False, True, False, False]
        give(io, fields(6), [(0, j) for j in range(6) if not known[j]])
        io.flush()
    counts = io.counts()
    assert counts["stored"] == 2 and counts["partial"] == 0
    assert np.array_equal(stored(path)[...], fields(6))
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_a_store_that_is_wiped_takes_its_journal_along(tmp_path):
    path = tmp_path / "run.zarr"
    ways = dict(resume=True, blocking=False, shard_coords={"lead_time": 3}, partial="keep")
    first = backend(path, 6, **ways)
    give(first, fields(6), [(0, 0), (0, 1), (0, 5)], BOTH)
    first.flush()
    first.abort()
    with backend(path, 6, zarr_kwargs={"mode": "w"}, **ways) as io:
        give(io, fields(6), [(0, 2)], "t2m")
    expected = np.zeros_like(fields(6))
    expected[0, 2] = fields(6)[0, 2]
    assert np.array_equal(stored(path)[...], expected)
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_keeping_needs_a_journal(tmp_path):
    with pytest.raises(ValueError, match="needs resume=True"):
        backend(tmp_path / "run.zarr", 2, partial="keep")
    with pytest.raises(ValueError, match="publish, keep"):
        backend(tmp_path / "run.zarr", 2, partial="side", resume=True)
    assert os.listdir(tmp_path) == []
