"""Work with our engine in xarray: lazily, in parallel, a part at a time."""

import asyncio
import pickle
import threading

import dask
import numpy as np
import pytest
import xarray as xr
import zellige
from xarray_data import arrays, climate
from zellige.xarray import to_zarr

pytestmark = pytest.mark.filterwarnings("ignore")

both_formats = pytest.mark.parametrize("zarr_format", [2, 3])
SHARDS = {"grid": {"chunks": (3, 2), "shards": (6, 4)}, "row": {"chunks": (2,)}}


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    return zellige.MemoryStore() if request.param == "memory" else tmp_path / "s"


def read(store, **more):
    return xr.open_dataset(store, engine="zellige", **more)


# ------------------------------------------------------------------------------- reading


def test_is_found_by_xarray(tmp_path):
    assert "zellige" in xr.backends.list_engines()
    backend = xr.backends.list_engines()["zellige"]
    to_zarr(arrays(), tmp_path / "no_suffix")
    assert backend.guess_can_open(tmp_path / "no_suffix")
    assert backend.guess_can_open("a.zarr/")
    assert backend.guess_can_open(zellige.MemoryStore())
    assert not backend.guess_can_open(tmp_path) and not backend.guess_can_open(b"bytes")


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    to_zarr(arrays(), tmp_path / "s", encoding=SHARDS)
    for chunk in (tmp_path / "s/grid/c").glob("*/*"):
        chunk.write_bytes(b"bad")
    dataset = read(tmp_path / "s")
    assert not dataset["grid"].variable._in_memory
    assert dataset["row"].isel(x=slice(4, 7)).values.tolist() == [13, 16, 19]
    with pytest.raises(zellige.CorruptError):
        dataset["grid"].isel(y=0).load()


POINTS = {"y": [1, 9, 4], "x": [2, 2, 0]}
INDEXERS = {
    "integer": {"y": 3},
    "slices": {"y": slice(2, 20, 5), "x": slice(1, 9)},
    "backwards": {"y": slice(None, None, -3), "x": slice(9, 2, -1)},
    "lists": {"y": [5, 1, 1, 23], "x": [0, 15, 3]},
    "list and integer": {"y": [7, 2], "x": -1},
    "points": {dim: xr.DataArray(at, dims="p") for dim, at in POINTS.items()},
    "mixed": {"y": xr.DataArray([[1, 9], [4, 0]], dims=("p", "q")), "x": slice(3, 6)},
    "nothing": {"y": slice(4, 4)},
    "no points": {"y": xr.DataArray(np.empty(0, int), dims="p"), "x": 1},
}


@pytest.mark.parametrize("name", INDEXERS)
def test_indexing(store, name):
    to_zarr(arrays(), store, encoding=SHARDS)
    found = read(store)["grid"].isel(INDEXERS[name])
    assert not found.variable._in_memory
    xr.testing.assert_identical(found, arrays()["grid"].isel(INDEXERS[name]))
    again = asyncio.run(read(store)["grid"].isel(INDEXERS[name]).load_async())
    xr.testing.assert_identical(again, found)


@both_formats
def test_load_async(store, zarr_format, monkeypatch):
    """Beside the event loop, and the variables beside each other."""
    to_zarr(climate(), store, zarr_format=zarr_format)
    threads, read_now = set(), zellige.Array.read

    def watched(self, *args, **keywords):
        threads.add(threading.current_thread())
        return read_now(self, *args, **keywords)

    dataset = read(store)
    monkeypatch.setattr(zellige.Array, "read", watched)
    found = asyncio.run(dataset.load_async())
    assert threads and threading.main_thread() not in threads
    xr.testing.assert_identical(found, read(store).load())


@both_formats
def test_pickle(tmp_path, zarr_format):
    to_zarr(climate(), tmp_path / "s", zarr_format=zarr_format)
    for chunks in None, {}:
        dataset = read(tmp_path / "s", chunks=chunks)
        found = pickle.loads(pickle.dumps(dataset))
        assert not found["air"].variable._in_memory
        xr.testing.assert_identical(found.load(), dataset.load())


def test_processes(tmp_path):
    to_zarr(arrays(), tmp_path / "s", encoding=SHARDS)
    dataset = read(tmp_path / "s", chunks={})
    assert dataset["grid"].chunks == ((3,) * 8, (2,) * 8)
    with dask.config.set(scheduler="processes", num_workers=2):
        assert float(dataset["grid"].sum()) == float(arrays()["grid"].sum())


def test_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    to_zarr(arrays(), "~/s")
    assert (tmp_path / "s/zarr.json").exists()
    xr.testing.assert_identical(read("~/s"), arrays())


def test_many_files(tmp_path):
    for n in range(3):
        to_zarr(arrays().isel(y=slice(8 * n, 8 * n + 8)), tmp_path / f"{n}.zarr")
    paths = [tmp_path / f"{n}.zarr" for n in range(3)]
    dataset = xr.open_mfdataset(paths, engine="zellige", data_vars="minimal")
    xr.testing.assert_identical(dataset.load(), arrays())


# ------------------------------------------------------------------------------- writing


@both_formats
def test_modes(store, zarr_format):
    ways = {"zarr_format": zarr_format}
    to_zarr(arrays(), store, **ways)
    with pytest.raises(FileExistsError):
        to_zarr(arrays(), store, **ways)
    to_zarr(arrays()[["row"]] + 1, store, "a", **ways)
    xr.testing.assert_equal(read(store), arrays().assign(row=arrays()["row"] + 1))
    to_zarr(arrays()[["row"]] * 2, store, "r+")
    xr.testing.assert_equal(read(store)["row"], arrays()["row"] * 2)
    with pytest.raises(ValueError, match="non-pre-existing"):
        to_zarr(arrays().rename(row="new"), store, "r+")
    with pytest.raises(ValueError, match="mode 'x' is none of"):
        to_zarr(arrays(), store, "x")
    to_zarr(arrays()[["row"]], store, "w", **ways)
    assert set(read(store).data_vars) == {"row"}


@both_formats
@pytest.mark.parametrize("is_dask", [False, True])
def test_regions(store, zarr_format, is_dask):
    encoding = {"grid": {"chunks": (6, 4)}, "row": {"chunks": (2,)}}
    wanted = arrays()
    to_zarr(wanted, store, encoding=encoding, zarr_format=zarr_format)
    for y, x in ((6, 18), (4, 16)), ((0, 6), (0, 4)):
        region = {"x": slice(*x), "y": slice(*y)}
        part = wanted[["grid"]].isel(region) * -1
        wanted["grid"][region] = part["grid"]
        to_zarr(part.chunk(y=6, x=4) if is_dask else part, store, region=region)
        xr.testing.assert_identical(read(store), wanted)
    part = wanted.isel(y=slice(12, 18), x=slice(8, 16)) + 5
    to_zarr(part.chunk(y=6, x=4) if is_dask else part, store, region="auto")
    wanted["grid"][12:18, 8:16] += 5
    wanted["row"][8:16] += 5
    xr.testing.assert_identical(read(store), wanted)


def test_regions_that_are_none(store):
    to_zarr(arrays(), store)
    shifted = arrays().isel(y=slice(0, 4)).assign_coords(y=[1, 2, 3, 4])
    with pytest.raises(KeyError, match="Not all values"):
        to_zarr(shifted, store, region="auto")
    with pytest.raises(ValueError, match="non-contiguous"):
        to_zarr(arrays().isel(y=[0, 2]), store, region="auto")
    with pytest.raises(ValueError, match="different dimension sizes"):
        to_zarr(arrays().isel(y=slice(3))[["grid"]].drop_vars("x"), store, region={"y": slice(4)})
    with pytest.raises(ValueError, match="at least one dimension in common"):
        to_zarr(arrays(), store, region={"y": slice(None)})
    xr.testing.assert_identical(read(store), arrays())


@both_formats
@pytest.mark.parametrize("is_dask", [False, True])
def test_append(store, zarr_format, is_dask):
    wanted = climate().drop_vars("nothing")
    parts = [wanted.isel(time=slice(a, b)) for a, b in ((0, 3), (3, 4), (4, 7))]
    encoding = {"air": {"chunks": (1, 5, 4)}}
    to_zarr(parts[0], store, encoding=encoding, zarr_format=zarr_format)
    for part in parts[1:]:
        part = part.chunk(time=1) if is_dask else part
        to_zarr(part, store, append_dim="time", align_chunks=is_dask)
    xr.testing.assert_allclose(read(store, decode_timedelta=True), wanted)


def test_append_what_does_not_fit(store):
    to_zarr(climate()[["code"]], store)
    with pytest.raises(ValueError, match="does not match any existing dataset dimensions"):
        to_zarr(climate()[["code"]], store, append_dim="z")
    longer = climate()[["code"]].assign(code=("y", np.full(5, b"longer")))
    with pytest.raises(ValueError, match="Mismatched dtypes"):
        to_zarr(longer, store, append_dim="y")
    assert read(store).sizes["y"] == 5


def test_texts_of_variable_length_take_any(store):
    names = xr.Dataset({"name": ("x", np.array(["a", "bb"], object))})
    to_zarr(names, store)
    to_zarr(xr.Dataset({"name": ("x", np.array(["longer"]))}), store, append_dim="x")
    assert read(store)["name"].values.tolist() == ["a", "bb", "longer"]


# ------------------------------------------------------------------------------- Dask


def in_chunks(**chunks):
    return arrays(10).chunk(**chunks)


def test_shared_shards_are_refused(store):
    with pytest.raises(ValueError, match="would overlap multiple Dask chunks"):
        to_zarr(in_chunks(y=5, x=4), store, encoding=SHARDS)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_shared_shards_lose_nothing(tmp_path, scheduler):
    """Dask chunks that share shards, written at the same time."""
    dataset = in_chunks(y=5, x=3)
    with dask.config.set(scheduler=scheduler, num_workers=4):
        to_zarr(dataset, tmp_path / "s", encoding=SHARDS, safe_chunks=False)
    xr.testing.assert_identical(read(tmp_path / "s"), arrays(10))


@pytest.mark.parametrize("chunks", [{"y": 5, "x": 3}, {"y": 1, "x": 7}, {"y": 60, "x": 13}])
def test_aligned_chunks(store, chunks):
    to_zarr(in_chunks(**chunks), store, encoding=SHARDS, align_chunks=True)
    xr.testing.assert_identical(read(store), arrays(10))
    part = in_chunks(**chunks).isel(y=slice(7, 29), x=slice(5, 31)) * 2
    ways = {"region": {"y": slice(7, 29), "x": slice(5, 31)}, "align_chunks": True}
    to_zarr(part.drop_vars(["y", "x"]), store, **ways)
    wanted = arrays(10)
    wanted["grid"][7:29, 5:31] *= 2
    wanted["row"][5:31] *= 2
    xr.testing.assert_identical(read(store), wanted)


def test_chunks_are_those_of_dask(store):
    to_zarr(in_chunks(y=7, x=40), store)
    assert read(store)["grid"].encoding["chunks"] == (7, 40)
    with pytest.raises(ValueError, match="uniform chunk sizes"):
        to_zarr(arrays().chunk(y=(5, 6, 13)), store, "w")


def test_compute_later(store):
    encoding = {"grid": {"chunks": (20, 10)}, "row": {"chunks": (10,)}}
    later = to_zarr(in_chunks(y=20, x=10), store, encoding=encoding, compute=False)
    found = read(store)
    assert np.isnan(found["grid"]).all() and (found["row"] == 0).all()
    assert (found["y"] == arrays(10)["y"]).all()
    assert later.compute() is None
    xr.testing.assert_identical(read(store), arrays(10))


def test_empty_chunks(tmp_path):
    zeros = xr.Dataset({"a": ("x", np.zeros(4, "i4"))})
    encoding = {"a": {"chunks": (2,)}}

    def n_stored():
        return len([*(tmp_path / "s/a/c").glob("*")])

    to_zarr(zeros, tmp_path / "s", "w", encoding=encoding)
    assert n_stored() == 0
    to_zarr(zeros, tmp_path / "s", "w", encoding=encoding, write_empty_chunks=True)
    assert n_stored() == 2
    encoding["a"]["write_empty_chunks"] = True
    to_zarr(zeros, tmp_path / "s", "w", encoding=encoding)
    assert n_stored() == 2
    with pytest.raises(ValueError, match="write_empty_chunks"):
        to_zarr(zeros, tmp_path / "s", "w", encoding=encoding, write_empty_chunks=False)
