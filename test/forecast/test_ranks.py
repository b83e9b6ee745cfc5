"""A campaign of several ranks on top of the class, with the rules of earth2studio's recipe.

A rank runs whole forecasts: each writes some times and all of their lead times. The campaign
here is small, and asks of the class all that the recipe asks.
"""

import os
import shutil
import subprocess
import sys
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
import zarr
from earth2studio.io import ZarrBackend
from forecasts import LAT, LON, fields, leads, stored, times

from zellige.forecast import AsyncZarrBackend

NAMES = ["t2m", "z500"]
ITERATED = ("time", "lead_time", "ensemble")
TIMES, LEADS = times(4), leads(4)
TOTAL = OrderedDict(time=TIMES, lead_time=LEADS, lat=LAT, lon=LON)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Campaign:
    """Opens the output of one rank, and says where that would lose data."""

    def __init__(
        self, path, *, rank=0, n_ranks=1, backend="async", chunks=None, shards=None,
        threads=0, overwrite=False, resume=False,
    ):
        if backend not in ("async", "sync"):
            raise ValueError(f"no backend {backend}")
        self.path, self.rank, self.n_ranks = Path(path), rank, n_ranks
        self.backend, self.threads = backend, threads
        self.chunks, self.shards = dict(chunks or {}), dict(shards or {})
        self.overwrite, self.resume = overwrite, resume
        self.io = None
        if backend == "sync" and self.shards:
            raise ValueError("the sync backend has no shards")
        if backend == "async" and any(self.chunks.get(k, 1) != 1 for k in ITERATED):
            raise ValueError("a chunk is 1 along the axes that are iterated")
        if n_ranks > 1 and set(self.shards) - {"lead_time"}:
            raise ValueError("ranks share the shards of this axis")

    def open(self):
        is_there = self.path.exists()
        if is_there and self.rank == 0:
            if self.overwrite:
                shutil.rmtree(self.path)
                is_there = False
            elif not self.resume:
                raise FileExistsError(self.path)
        if self.backend == "sync":
            chunks = {"time": 1, "lead_time": 1, **self.chunks}
            self.io = ZarrBackend(str(self.path), chunks=chunks)
        else:
            self.io = AsyncZarrBackend(
                str(self.path),
                parallel_coords={k: v for k, v in TOTAL.items() if k in ITERATED},
                blocking=self.threads == 0,
                pool_size=max(1, self.threads),
                chunked_coords={k: n for k, n in self.chunks.items() if k not in ITERATED},
                shard_coords=self.shards,
            )
        if self.rank == 0 and not is_there:
            self.io.add_array(OrderedDict(TOTAL), np.array(NAMES))
        else:
            self.look()
        return self

    def look(self):
        """What another made must be what this rank expects."""
        for name in NAMES:
            if name not in self.io:
                raise ValueError(f"{name} is missing")
            array = self.io[name]
            for dim, chunk, shard in zip(
                array.metadata.dimension_names, array.chunks, array.shards or array.chunks
            ):
                if self.backend == "async" and dim in ITERATED and chunk != 1:
                    raise ValueError(f"chunks of {name} along {dim} are shared")
                if self.n_ranks > 1 and dim in ("time", "ensemble") and shard > chunk:
                    raise ValueError(f"shards of {name} along {dim} are shared")
        for dim, values in TOTAL.items():
            assert np.array_equal(self.io.coords[dim], values)

    def run(self, data):
        for i in range(self.rank, len(TIMES), self.n_ranks):
            for j in range(len(LEADS)):
                where = OrderedDict(TOTAL)
                where["time"], where["lead_time"] = TIMES[i : i + 1], LEADS[j : j + 1]
                x = torch.from_numpy(np.ascontiguousarray(data[i : i + 1, j : j + 1]))
                self.io.write([x, x * 2], where, NAMES)
        return self

    def end(self):
        if self.backend == "async":
            self.io.close()
        if self.rank == 0:
            zarr.consolidate_metadata(self.io.store)


def whole(path, data):
    return np.array_equal(stored(path)[...], data) and np.array_equal(
        stored(path, "z500")[...], 2 * data
    )


X = fields(4, 4)


# ---------------------------------------------------------------------- one rank


@pytest.mark.parametrize("threads", [0, 4])
def test_both_backends_store_the_same(tmp_path, threads):
    for backend in ("sync", "async"):
        made = Campaign(tmp_path / backend, backend=backend, threads=threads).open()
        made.run(X).end()
    one, other = zarr.open_group(tmp_path / "sync"), zarr.open_group(tmp_path / "async")
    assert sorted(one) == sorted(other)
    for name in one:
        assert np.array_equal(one[name][...], other[name][...])


def test_a_backend_that_is_not_known(tmp_path):
    with pytest.raises(ValueError, match="no backend"):
        Campaign(tmp_path / "a", backend="netcdf")


@pytest.mark.parametrize("axis", ITERATED)
def test_chunks_of_an_iterated_axis_are_refused(tmp_path, axis):
    with pytest.raises(ValueError, match="a chunk is 1"):
        Campaign(tmp_path / "a", chunks={axis: 2})


def test_chunks_of_another_axis(tmp_path):
    Campaign(tmp_path / "a", chunks={"lat": 3}).open().run(X).end()
    assert stored(tmp_path / "a").chunks == (1, 1, 3, 8) and whole(tmp_path / "a", X)


@pytest.mark.parametrize("axis", ["time", "ensemble"])
def test_shards_of_an_axis_that_ranks_share_are_refused(tmp_path, axis):
    with pytest.raises(ValueError, match="ranks share"):
        Campaign(tmp_path / "a", n_ranks=2, shards={axis: 2})


def test_shards_of_any_axis_for_one_rank(tmp_path):
    Campaign(tmp_path / "a", shards={"time": 2, "lead_time": 4}).open().run(X).end()
    assert stored(tmp_path / "a").shards == (2, 4, 6, 8) and whole(tmp_path / "a", X)


def test_the_sync_backend_has_no_shards(tmp_path):
    with pytest.raises(ValueError, match="no shards"):
        Campaign(tmp_path / "a", backend="sync", shards={"lead_time": 2})


def test_sharded_output(tmp_path):
    Campaign(tmp_path / "a", shards={"lead_time": 3}, threads=2).open().run(X).end()
    seen = zarr.open_consolidated(tmp_path / "a")
    assert seen["t2m"].shards == (1, 3, 6, 8) and np.array_equal(seen["t2m"][...], X)


def test_no_shards_for_one_of_the_stores(tmp_path):
    Campaign(tmp_path / "a", shards={}).open().run(X).end()
    assert stored(tmp_path / "a").shards is None


# ---------------------------------------------------------------------- its life


def test_arrays_are_made_at_once(tmp_path):
    made = Campaign(tmp_path / "a").open()
    assert all(name in made.io for name in NAMES)
    assert stored(tmp_path / "a").shape == X.shape
    made.end()


def test_overwriting_removes_what_was_there(tmp_path):
    Campaign(tmp_path / "a").open().run(X).end()
    (tmp_path / "a" / "left").write_text("over")
    Campaign(tmp_path / "a", overwrite=True).open().end()
    assert not (tmp_path / "a" / "left").exists()
    assert (stored(tmp_path / "a")[...] == 0).all()


def test_what_is_there_is_not_overwritten(tmp_path):
    Campaign(tmp_path / "a").open().run(X).end()
    with pytest.raises(FileExistsError):
        Campaign(tmp_path / "a").open()
    assert whole(tmp_path / "a", X)


def test_threads_that_write(tmp_path):
    made = Campaign(tmp_path / "a", threads=4).open()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: made.run(X), range(4)))
    made.end()
    assert whole(tmp_path / "a", X)


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("axis", ["time", "lead_time"])
def test_going_on_in_chunks_of_an_iterated_axis_is_refused(tmp_path, axis):
    Campaign(tmp_path / "a", backend="sync", chunks={axis: 2}).open().run(X)
    with pytest.raises(ValueError, match="chunks of t2m"):
        Campaign(tmp_path / "a", resume=True).open()


def test_the_sync_backend_goes_on_in_them(tmp_path):
    Campaign(tmp_path / "a", backend="sync", chunks={"time": 2}).open()
    Campaign(tmp_path / "a", backend="sync", chunks={"time": 2}, resume=True).open().run(X)
    assert whole(tmp_path / "a", X)


def test_ranks_do_not_go_on_in_shards_that_they_would_share(tmp_path):
    Campaign(tmp_path / "a", shards={"time": 4}).open().end()
    with pytest.raises(ValueError, match="shards of t2m along time are shared"):
        Campaign(tmp_path / "a", n_ranks=2, resume=True).open()


@pytest.mark.parametrize("shards", [{"lead_time": 4}, {}], ids=["lead_time", "none"])
def test_ranks_go_on_where_each_has_shards_of_its_own(tmp_path, shards):
    Campaign(tmp_path / "a", shards=shards).open().end()
    for rank in range(2):
        ways = {"rank": rank, "n_ranks": 2, "resume": True, "shards": shards}
        Campaign(tmp_path / "a", **ways).open().run(X).end()
    assert whole(tmp_path / "a", X)


# ---------------------------------------------------------------------- processes

RANK = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1] / "python")]!r}
import conftest
from test_ranks import *
path, rank, shards = sys.argv[1], int(sys.argv[2]), eval(sys.argv[3])
made = Campaign(path, rank=rank, n_ranks=1, shards=shards, threads=2, resume=True)
made.n_ranks = 3  # the rule is not asked
made.look = lambda: None
made.open().run(X).io.close()
"""


@pytest.mark.parametrize("shards", [{"lead_time": 4}, {}, {"time": 4, "lead_time": 2}])
def test_three_processes(tmp_path, shards):
    """Also shards that they share lose nothing, where files have locks."""
    Campaign(tmp_path / "a", shards=shards).open().end()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, tmp_path / "a", str(rank), repr(shards)],
            env=dict(os.environ, PYTHONWARNINGS="ignore"),
        )
        for rank in range(3)
    ]
    assert [rank.wait(60) for rank in ranks] == [0, 0, 0]
    assert whole(tmp_path / "a", X)


def test_processes_that_make_the_arrays_at_the_same_time(tmp_path):
    # Whether the folder is there already or not: each of them makes what is missing.
    make = "made.rank, made.look = 0, lambda: made.io.add_array(TOTAL, np.array(NAMES))"
    text = RANK.replace("made.look = lambda: None", make).replace(
        "made.open()", "made.open(); made.rank = rank; made"
    )
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", text, tmp_path / "a", str(rank), "{}"],
            env=dict(os.environ, PYTHONWARNINGS="ignore"),
        )
        for rank in range(3)
    ]
    assert [rank.wait(60) for rank in ranks] == [0, 0, 0]
    assert whole(tmp_path / "a", X)
    assert np.array_equal(stored(tmp_path / "a", "lat")[...], LAT)
