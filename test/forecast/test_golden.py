"""The stores of earth2studio's class and of ours, made by the same calls, are the same."""

import asyncio
import datetime
import json
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
import zarr
from earth2studio.io import AsyncZarrBackend as Theirs
from forecasts import LAT, LON, coords, fields, leads, times
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

from zellige.forecast import AsyncZarrBackend as Ours


def tensors(values):
    return torch.from_numpy(np.ascontiguousarray(values))


def steps(io, data, names="t2m", where=coords, order=None):
    """Writes some data step by step."""
    n_times, n_leads = data.shape[:2]
    for i, j in order or np.ndindex(n_times, n_leads):
        at = where(leads(n_leads)[j : j + 1], times(n_times)[i : i + 1])
        x = tensors(data[i : i + 1, j : j + 1])
        io.write(x if isinstance(names, str) else [x] * len(names), at, names)


def parallel(n_leads, n_times=1):
    return OrderedDict(time=times(n_times), lead_time=leads(n_leads))


# Each makes a store with a class, at a path.


def plain(cls, path):
    io = cls(path, parallel(3, 2))
    steps(io, fields(3, 2), ["t2m", "z500"])
    io.close()


def added_first(cls, path):
    io = cls(path, parallel(3, 2), blocking=False)
    io.add_array(coords(leads(3), times(2)), ["t2m", "z500"])
    io.add_array(coords(leads(3), times(2)), "count", dtype=np.int32)
    steps(io, fields(3, 2), ["t2m", "z500"])
    io.close()


def shards(cls, path):
    io = cls(path, parallel(10), shard_coords={"lead_time": 4}, blocking=False)
    steps(io, fields(10), ["t2m", "z500"])
    io.close()


def shards_without_an_end(cls, path):
    io = cls(path, parallel(10), shard_coords={"lead_time": 4}, blocking=False)
    steps(io, fields(10), order=[(0, 9), (0, 1), (0, 3)])
    io.flush()
    steps(io, fields(10), order=[(0, 2)])
    io.close()


def shards_over_two(cls, path):
    io = cls(path, parallel(4, 2), shard_coords={"time": 2, "lead_time": 2})
    steps(io, fields(4, 2))
    io.close()


def shards_of_chunks(cls, path):
    sizes = {"lead_time": 2, "lat": 6, "absent": 3}
    io = cls(path, parallel(4), chunked_coords={"lat": 3, "lon": 4}, shard_coords=sizes)
    steps(io, fields(4))
    io.close()


def shards_of_whole_chunks(cls, path):
    io = cls(path, parallel(4), chunked_coords={"lat": 2}, shard_coords={"lead_time": 4})
    steps(io, fields(4))
    io.close()


def shards_that_are_chunks(cls, path):
    io = cls(path, parallel(2), shard_coords={"lat": 6})
    steps(io, fields(2))
    io.close()


def chunks_longer_than_the_array(cls, path):
    io = cls(path, parallel(2), chunked_coords={"lat": 60, "lon": 5})
    steps(io, fields(2))
    io.close()


def zstd(cls, path):
    io = cls(path, parallel(4), zarr_codecs=ZstdCodec(level=3), shard_coords={"lead_time": 2})
    steps(io, fields(4))
    io.close()


def gzip(cls, path):
    io = cls(path, parallel(2), zarr_codecs=[GzipCodec(level=2)])
    steps(io, fields(2))
    io.close()


def blosc(cls, path):
    io = cls(path, parallel(2), zarr_codecs=BloscCodec(cname="zstd", clevel=3))
    steps(io, fields(2))
    io.close()


def types(cls, path):
    io = cls(path, parallel(2))
    for name in ("u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
        steps(io, fields(2).astype(name), f"x{name}")
    io.close()


def other_coordinates(cls, path):
    where = OrderedDict(
        run=np.array([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)], object),
        step=np.array([datetime.timedelta(hours=6)], object),
        hour=np.array(["2024-01-01T06", "2024-01-01T07"], "M8[h]"),
        delay=np.array([0, 90], "m8[m]"),
        variable=np.array(["t2m", "precipitation"]),
        level=np.array([1000, 500], "i2"),
    )
    io = cls(path, {"run": where["run"]})
    x = np.arange(32, dtype="f4").reshape(2, 1, 2, 2, 2, 2)
    for i in range(2):
        io.write(tensors(x[i : i + 1]), {**where, "run": where["run"][i : i + 1]}, "q")
    io.close()


def different_dimensions(cls, path):
    io = cls(path, parallel(2))
    io.add_array({"lead_time": leads(2), "lat": LAT}, "zonal")
    io.add_array({"lead_time": leads(2), "member": np.arange(3)}, ["score", "spread"])
    io.add_array({"quantile": np.array([0.1, 0.9])}, [])
    io.write(torch.ones(1, 3), {"lead_time": leads(2)[1:], "member": np.arange(3)}, "score")
    io.close()


def dimensions_between(cls, path):
    where = OrderedDict(
        time=times(3), variable=np.array(["u", "v"]), lead_time=leads(2), lat=LAT, lon=LON
    )
    x = np.random.default_rng(3).random((3, 2, 2, 6, 8), "f4")
    io = cls(path, parallel(2, 3), chunked_coords={"lat": 2})
    for i, j in np.ndindex(3, 2):
        at = {**where, "time": times(3)[i : i + 1], "lead_time": leads(2)[j : j + 1]}
        io.write(tensors(x[i : i + 1, :, j : j + 1]), at, "wind")
    io.close()


def whole_fields(cls, path):
    io = cls(path, parallel(3, 2), shard_coords={"lead_time": 3})
    io.write(tensors(fields(3, 2)), coords(leads(3), times(2)), "t2m")
    io.close()


def zeros(cls, path):
    io = cls(path, parallel(4), shard_coords={"lead_time": 2})
    steps(io, 0 * fields(4))
    io.close()


def awaited(cls, path):
    async def run():
        for j in range(6):
            x = tensors(fields(6)[:, j : j + 1])
            await io.async_write(x, coords(leads(6)[j : j + 1]), "t2m")
        await io.async_flush()

    io = cls(path, parallel(6), shard_coords={"lead_time": 4})
    asyncio.run(run())
    io.close()


def a_second_run(cls, path):
    for part in (range(3), range(3, 8)):
        io = cls(path, parallel(8), shard_coords={"lead_time": 8})
        steps(io, fields(8), order=[(0, j) for j in part])
        io.close()


def consolidated(cls, path):
    io = cls(path, parallel(2))
    io.add_array(coords(leads(2)), "t2m")
    steps(io, fields(2))
    io.close()
    zarr.consolidate_metadata(io.store)


CALLS = [
    plain, added_first, shards, shards_without_an_end, shards_over_two, shards_of_chunks,
    shards_of_whole_chunks, shards_that_are_chunks, chunks_longer_than_the_array, zstd, gzip,
    blosc, types, other_coordinates, different_dimensions, dimensions_between, whole_fields,
    zeros, awaited, a_second_run, consolidated,
]


def plainly(document):
    """A document without what may be said in two ways."""
    if document.get("storage_transformers") == []:
        del document["storage_transformers"]
    if document.get("fill_value") == "NaT":
        document["fill_value"] = -(2**63)
    if document.get("data_type") in ("uint8", "int8"):  # bytes have no order
        document["codecs"][0].pop("configuration", None)
    known = document.get("consolidated_metadata")
    for one in known["metadata"].values() if known else ():
        plainly(one)
    return document


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls.__name__)
def test_stores_are_the_same(tmp_path, calls):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    calls(Theirs, str(theirs))
    calls(Ours, str(ours))
    files = {p.relative_to(theirs) for p in theirs.rglob("*") if p.is_file()}
    assert {p.relative_to(ours) for p in ours.rglob("*") if p.is_file()} == files
    for file in files:
        one, other = (theirs / file).read_bytes(), (ours / file).read_bytes()
        if Path(file).name == "zarr.json":
            assert plainly(json.loads(other)) == plainly(json.loads(one)), file
    one, other = (zarr.open_group(path, use_consolidated=False) for path in (theirs, ours))
    assert sorted(one) == sorted(other)
    assert dict(one.attrs) == dict(other.attrs)
    for name in one:
        if one[name].dtype.itemsize > 1:
            assert one[name].metadata == other[name].metadata, name
        found = other[name][...]
        assert found.dtype == one[name].dtype
        assert np.array_equal(found, one[name][...]), name


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("calls", [plain, shards, shards_of_chunks, types, other_coordinates])
def test_stores_of_no_codec_are_the_same_byte_by_byte(tmp_path, calls):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    calls(Theirs, str(theirs))
    calls(Ours, str(ours))
    for path in theirs.rglob("*"):
        if path.is_file() and path.name != "zarr.json":
            assert (ours / path.relative_to(theirs)).read_bytes() == path.read_bytes()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("first, second", [(Theirs, Ours), (Ours, Theirs)])
def test_one_goes_on_where_the_other_ended(tmp_path, first, second):
    x = fields(8)
    for cls, part in ((first, range(3)), (second, range(3, 8))):
        io = cls(str(tmp_path), parallel(8), shard_coords={"lead_time": 4})
        steps(io, x, order=[(0, j) for j in part])
        assert np.array_equal(io["t2m"][:, part.start : part.stop], x[:, part])
        io.close()
    assert np.array_equal(zarr.open_group(tmp_path)["t2m"][...], x)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_both_have_the_same_surface(tmp_path):
    made = []
    for cls in (Theirs, Ours):
        io = cls(str(tmp_path / cls.__module__), parallel(2))
        io.add_array(coords(leads(2)), "t2m")
        made.append(io)
    theirs, ours = made
    assert set(ours) == set(theirs) and len(ours) == len(theirs)
    assert ("t2m" in ours, "absent" in ours) == ("t2m" in theirs, "absent" in theirs)
    assert list(ours.coords) == list(theirs.coords)
    for name, values in theirs.coords.items():
        assert np.array_equal(ours.coords[name], values)
    assert ours["t2m"].shape == theirs["t2m"].shape
    assert type(ours.store) is type(theirs.store) and type(ours.root) is type(theirs.root)
    for name in ("blocking", "zarr_codecs", "chunked_coords", "shard_coords"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert {n: v.tolist() for n, v in ours.parallel_coords.items()} == {
        n: v.tolist() for n, v in theirs.parallel_coords.items()
    }
    for io in made:
        io.close()


def test_both_take_the_same_arguments():
    from inspect import Parameter, signature

    for name in ("__init__", "add_array", "write", "async_write", "flush", "close"):
        theirs = signature(getattr(Theirs, name)).parameters
        ours = signature(getattr(Ours, name)).parameters
        named = [p for p in theirs.values() if p.kind is not Parameter.VAR_KEYWORD]
        for (at, mine), given in zip(enumerate(ours.values()), named):
            assert (mine.name, mine.kind) == (given.name, given.kind), at
            assert mine.default == given.default or mine.default is given.default
        assert len(ours) >= len(named)
