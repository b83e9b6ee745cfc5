"""The backend for forecasts: what is written lies where it should."""

import asyncio
import datetime
import os
import threading
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest
from forecasts import (
    LAT,
    LON,
    Tensor,
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

import zellige
from zellige.forecast import AsyncZarrBackend
from zellige.forecast.fields import _Pinned

TIMES = {
    "one": np.array(["1958-01-31"], "M8[D]"),
    "three": np.array(
        ["1971-06-01T06:00:00", "2021-11-23T18:00:00", "2021-11-24T00:00:00"], "M8[s]"
    ),
}


def by_variable(time, variable):
    return OrderedDict(time=time, variable=np.array(variable), lat=LAT, lon=LON)


# ---------------------------------------------------------------------- one step at a time


@pytest.mark.parametrize("variable", [["t2m"], ["t2m", "tcwv"]], ids=["1", "2"])
@pytest.mark.parametrize("time", TIMES.values(), ids=TIMES)
def test_each_step_is_there_when_its_write_returns(tmp_path, time, variable):
    x = np.random.default_rng(1).random((len(time), len(variable), 6, 8), "f4")
    io = AsyncZarrBackend(tmp_path, {"time": time})
    where = by_variable(time, variable)
    for i in range(len(time)):
        where["time"] = time[i : i + 1]
        io.write(x[i : i + 1], where, "fields")
        now = stored(tmp_path, "fields")
        assert now.shape == x.shape and np.array_equal(now[: i + 1], x[: i + 1])
    io.close()
    # Another order of dimensions, after close.
    where = by_variable(time, variable)
    where.move_to_end("variable", last=False)
    y = np.moveaxis(x, 1, 0)
    for i in range(len(time)):
        where["time"] = time[i : i + 1]
        io.write(y[:, i : i + 1], where, "others")
        assert np.array_equal(stored(tmp_path, "others")[:, : i + 1], y[:, : i + 1])
    io.close()
    assert stored(tmp_path, "others").dimension_names == ("variable", "time", "lat", "lon")
    assert np.array_equal(stored(tmp_path, "fields")[...], x)


@pytest.mark.parametrize("variable", [["t2m"], ["t2m", "tcwv"]], ids=["1", "2"])
@pytest.mark.parametrize("place", ["memory", "directory"])
def test_steps_that_are_awaited(tmp_path, place, variable):
    store = zellige.MemoryStore() if place == "memory" else tmp_path
    time = TIMES["three"]
    x = np.random.default_rng(1).random((3, len(variable), 6, 8), "f4")
    io = AsyncZarrBackend(None, {"time": time}, store=store)
    where = by_variable(time, variable)

    async def run():
        for i in range(3):
            where["time"] = time[i : i + 1]
            await io.async_write(x[i : i + 1], where, "fields")
            assert np.array_equal(stored(store, "fields")[i], x[i])

    asyncio.run(run())
    io.close()
    assert np.array_equal(stored(store, "fields")[...], x)


@pytest.mark.parametrize("n_times", [1, 3])
def test_two_parallel_dimensions_with_another_between(tmp_path, n_times):
    time, lead = times(n_times), leads(3)
    io = AsyncZarrBackend(tmp_path, {"time": time, "lead_time": lead})
    io.chunked_coords = {"lat": 60}
    where = OrderedDict(
        time=time,
        variable=np.array(["v10m", "tcwv"]),
        lead_time=lead,
        lat=np.linspace(-90, 90, 180),
        lon=LON,
    )
    x = np.random.default_rng(2).random(tuple(map(len, where.values())), "f4")
    for i, j in np.ndindex(n_times, 3):
        where["time"], where["lead_time"] = time[i : i + 1], lead[j : j + 1]
        io.write(x[i : i + 1, :, j : j + 1], where, "fields")
        assert np.array_equal(stored(tmp_path, "fields")[i, :, j], x[i, :, j])
    io.close()
    assert stored(tmp_path, "fields").chunks == (1, 2, 1, 60, 8)


@pytest.mark.parametrize("names", [["t2m", "tcwv"], np.array(["t2m", "tcwv"])])
def test_several_fields_in_one_write(tmp_path, names):
    io = backend(tmp_path, 4, blocking=False)
    x, y = fields(4), fields(4, seed=1)
    for j in range(4):
        io.write([x[:, j : j + 1], y[:, j : j + 1]], coords(leads(4)[j : j + 1]), names)
    io.close()
    assert np.array_equal(stored(tmp_path)[...], x)
    assert np.array_equal(stored(tmp_path, "tcwv")[...], y)


def test_all_steps_in_one_write(tmp_path):
    x = fields(4, 3)
    with backend(tmp_path, 4, 3) as io:
        io.write(x, coords(leads(4), times(3)), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)
    assert len(objects(tmp_path)) == 12


def test_a_write_does_not_wait_for_the_store():
    """The store takes nothing before the last of eight steps has been given."""
    store = Watched()
    x = fields(8)
    with backend(memory(store), 8, blocking=False) as io:
        io.add_array(coords(leads(8)), "t2m")
        store.hold("/c/")
        give(io, x)
        assert not store.chunk_puts() or not objects(store)
        store.release()
    assert np.array_equal(stored(store)[...], x)


def test_a_blocking_write_waits_for_the_store():
    store = Watched()
    with backend(memory(store), 2, blocking=True) as io:
        io.add_array(coords(leads(2)), "t2m")
        store.hold("/c/")
        writer = threading.Thread(target=give_one, args=(io, fields(2), 0, 0))
        writer.start()
        assert store.waiting.wait(30)
        writer.join(0.05)
        assert writer.is_alive()
        store.release()
        writer.join(30)
        assert len(objects(store)) == 1


@pytest.mark.parametrize("blocking", [True, False])
def test_the_caller_may_change_a_field_that_was_given(tmp_path, blocking):
    field = np.empty((1, 1, 6, 8), "f4")
    with backend(tmp_path, 5, blocking=blocking, shard_coords={"lead_time": 4}) as io:
        for j in range(5):
            field[...] = j + 1
            io.write(field, coords(leads(5)[j : j + 1]), "t2m")
            field[...] = -999
    assert stored(tmp_path)[0, :, 0, 0].tolist() == [1, 2, 3, 4, 5]


def test_fields_in_any_memory_order(tmp_path):
    x = fields(2)
    flipped = np.asfortranarray(x)[:, :, ::-1]
    with backend(tmp_path, 2) as io:
        io.write(flipped[:, :1], coords(leads(2)[:1], lat=LAT[::-1]), "t2m")
        io.write(flipped[:, 1:].astype(">f4"), coords(leads(2)[1:], lat=LAT[::-1]), "t2m")
    assert np.array_equal(stored(tmp_path)[...], flipped)


class OfDlpack:
    """An array of another library."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [Tensor, OfDlpack, lambda x: x.tolist()])
def test_fields_of_other_libraries(tmp_path, kind):
    x = fields(1)
    with backend(tmp_path, 1) as io:
        io.add_array(coords(leads(1)), "t2m", "f8")
        given = kind(x)
        io.write(given if not isinstance(given, list) else [given], coords(leads(1)), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)


# ---------------------------------------------------------------------- coordinates


class Buffer:
    """Pinned memory; somebody else asks for some whenever it is looked at."""

    def __init__(self, n_bytes, asked=None):
        self.n_bytes, self.asked = n_bytes, asked

    def numel(self):
        if self.asked is not None:
            ask, self.asked = self.asked, None
            ask()
        return self.n_bytes


def test_pinned_memory_is_taken_by_one_thread_at_a_time(monkeypatch):
    torch = SimpleNamespace(uint8=None, empty=lambda n_bytes, **how: Buffer(n_bytes))
    monkeypatch.setattr("zellige.forecast.fields.import_module", lambda name: torch)
    pinned, taken = _Pinned(), []
    other = threading.Thread(target=lambda: taken.append(pinned.take(100)))

    def ask():
        other.start()
        other.join(0.2)

    pinned.give(Buffer(100, ask))
    pinned.give(Buffer(1))
    taken.append(pinned.take(100))
    other.join(30)
    assert len(taken) == 2 and taken[0] is not taken[1]
    assert [buffer.n_bytes for buffer in taken] == [100, 100]


def test_values_of_parallel_coordinates_in_another_order(tmp_path):
    x = fields(5, 2)
    order = [3, 0, 1, 4, 2]
    with backend(tmp_path, 5, 2, shard_coords={"lead_time": 5}) as io:
        io.write(x[::-1, order], coords(leads(5)[order], times(2)[::-1]), "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)


def test_hours_are_found_among_nanoseconds(tmp_path):
    x = fields(3)
    with backend(tmp_path, 3) as io:
        for j in range(3):
            where = coords(leads(3)[j : j + 1].astype("m8[h]"), times(1).astype("M8[h]"))
            io.write(x[:, j : j + 1], where, "t2m")
    assert np.array_equal(stored(tmp_path)[...], x)
    assert stored(tmp_path, "lead_time").dtype == "m8[ns]"


def test_times_of_python(tmp_path):
    time = np.array([datetime.datetime(2024, 1, 1)], object)
    lead = np.array([datetime.timedelta(hours=6)], object)
    with AsyncZarrBackend(tmp_path, {}) as io:
        where = OrderedDict(time=time, lead_time=lead, lat=LAT)
        io.write(np.ones((1, 1, 6), "f4"), where, "t2m")
    assert stored(tmp_path, "time")[0] == np.datetime64("2024-01-01", "ns")
    assert stored(tmp_path, "lead_time")[0] == np.timedelta64(6 * 3600 * 10**9, "ns")


def test_coordinates_of_other_types(tmp_path):
    x = np.arange(12, dtype="f4").reshape(2, 3, 2)
    where = OrderedDict(
        model=np.array(["first", "the second"]), level=np.array([1, 2, 3], "u2"), even=[1, 0]
    )
    with AsyncZarrBackend(tmp_path, {"model": where["model"]}) as io:
        io.write(x[1:], {**where, "model": where["model"][1:]}, "q")
        io.write(x[:1], {**where, "model": where["model"][:1]}, "q")
        assert {k: v.tolist() for k, v in io.coords.items()} == {
            "model": ["first", "the second"],
            "level": [1, 2, 3],
            "even": [1, 0],
        }
    assert np.array_equal(stored(tmp_path, "q")[...], x)


def test_times_as_cf_writes_them(tmp_path):
    x = fields(3, 2)
    for _ in range(2):  # made, and met again
        with backend(tmp_path, 3, 2, time_encoding="cf") as io:
            give(io, x)
            assert np.array_equal(io.coords["time"], times(2))
            assert np.array_equal(io.coords["lead_time"], leads(3))
    time, lead = stored(tmp_path, "time"), stored(tmp_path, "lead_time")
    assert time.attrs.asdict() == {
        "units": "days since 1970-01-01",
        "calendar": "proleptic_gregorian",
    }
    assert time[...].tolist() == [19723, 19724] and time.dtype == "i8"
    assert lead.attrs["units"] == "hours" and lead[...].tolist() == [0, 6, 12]
    with backend(tmp_path, 3, 2) as io:  # what is stored stays
        give(io, x + 1)
    assert np.array_equal(stored(tmp_path)[...], x + 1)


def test_times_that_cf_cannot_write_make_nothing(tmp_path):
    io = backend(tmp_path, 1, time_encoding="cf")
    valid = np.array(["2024-01-01", "NaT"], "M8[h]")
    with pytest.raises(ValueError, match="valid has a time that is none"):
        io.write(np.ones((1, 2), "f4"), {"lead_time": leads(1), "valid": valid}, "t2m")
    assert list(io) == []


def test_coordinates_and_attributes_of_add_array(tmp_path):
    with backend(tmp_path, 2, zarr_kwargs={"attributes": {"model": "one"}}) as io:
        io.add_array(coords(leads(2)), "t2m", attributes={"units": "K"})
    assert stored(tmp_path).attrs.asdict() == {"units": "K"}
    assert zellige.open_group(tmp_path).attrs.asdict() == {"model": "one"}
    assert stored(tmp_path, "lat").dimension_names == ("lat",)
    assert stored(tmp_path, "lat").chunks == (6,)


def test_a_coordinate_that_somebody_made_and_did_not_fill(tmp_path):
    """Whoever made it was stopped before its values were stored."""
    with backend(tmp_path, 2) as io:
        io.add_array(coords(leads(2)), [])
    for name in ("lat", "lead_time"):
        (tmp_path / name / "c" / "0").unlink()
    with backend(tmp_path, 2) as io:
        give(io, fields(2))
    assert np.array_equal(stored(tmp_path, "lat")[...], LAT)
    assert np.array_equal(stored(tmp_path, "lead_time")[...], leads(2))


@pytest.mark.parametrize("how", ["numpy", "cf"])
def test_coordinates_of_zeros_are_stored(tmp_path, how):
    """A coordinate that reads as nothing stored does is one all the same."""
    with backend(tmp_path, 1, time_encoding=how) as io:
        give(io, fields(1))
    assert objects(tmp_path, "lead_time") == ["c/0"]
    with pytest.raises(ValueError, match="lead_time is stored with different values"):
        AsyncZarrBackend(tmp_path, {"lead_time": leads(2)[1:]}, time_encoding=how)
    assert np.array_equal(stored(tmp_path, "lead_time")[...].astype("i8"), [0])


def test_coordinates_of_zeros_that_were_left_out(tmp_path):
    """As earth2studio's class does: the steps that are there keep their label."""
    where = {"member": np.array([0]), "lat": LAT, "lon": LON}
    with AsyncZarrBackend(tmp_path, {"member": np.array([0])}) as io:
        io.write(fields(1)[0], where, "t2m")
    (tmp_path / "member" / "c" / "0").unlink()
    for parallel in ({"member": np.array([1])}, {}):
        with pytest.raises(ValueError, match="member is stored with different values"):
            with AsyncZarrBackend(tmp_path, parallel) as io:
                io.write(fields(1)[0], {**where, "member": np.array([1])}, "z500")
    with AsyncZarrBackend(tmp_path, {"member": np.array([0])}) as io:
        io.write(fields(1)[0], where, "z500")
    assert stored(tmp_path, "member")[...].tolist() == [0]
    assert np.array_equal(stored(tmp_path, "z500")[...], stored(tmp_path)[...])


# ---------------------------------------------------------------------- layout


@pytest.mark.parametrize("n, shard", [(8, 4), (8, 8), (10, 4), (7, 8)])
def test_shards(tmp_path, n, shard):
    x = fields(n)
    options = {"blocking": False, "shard_coords": {"lead_time": shard}}
    if shard > n:
        with pytest.warns(zellige.errors.ZarrUserWarning, match="more than the 7"):
            io = backend(tmp_path, n, **options)
            io.add_array(coords(leads(n)), "t2m")
    else:
        io = backend(tmp_path, n, **options)
    give(io, x)
    io.close()
    array = stored(tmp_path)
    assert array.chunks == (1, 1, 6, 8) and array.shards == (1, shard, 6, 8)
    assert np.array_equal(array[...], x)
    assert len(objects(tmp_path)) == -(-n // shard)


def test_each_object_is_stored_once():
    store = Watched()
    io = backend(memory(store), 8, blocking=False, shard_coords={"lead_time": 4})
    give(io, fields(8))
    assert io.counts()["submitted"] == 8
    io.close()
    assert sorted(store.chunk_puts("t2m")) == ["t2m/c/0/0/0/0", "t2m/c/0/1/0/0"]
    assert io.counts()["stored"] == 2 and io.counts()["partial"] == 0
    assert np.array_equal(stored(store)[...], fields(8))


def test_a_second_run_completes_a_shard(tmp_path):
    x = fields(8)
    for steps in ([0, 1, 2, 3, 4, 5], [6, 7]):
        with backend(tmp_path, 8, shard_coords={"lead_time": 8}) as io:
            give(io, x, [(0, j) for j in steps])
        assert np.array_equal(stored(tmp_path)[:, steps], x[:, steps])
    assert np.array_equal(stored(tmp_path)[...], x)


def test_shards_over_two_dimensions(tmp_path):
    x = fields(4, 2)
    with backend(tmp_path, 4, 2, shard_coords={"time": 2, "lead_time": 2}) as io:
        give(io, x)
    assert stored(tmp_path).shards == (2, 2, 6, 8)
    assert len(objects(tmp_path)) == 2
    assert np.array_equal(stored(tmp_path)[...], x)


@pytest.mark.parametrize("name", ["zstd", "gzip", "blosc"])
def test_codecs_in_shards_and_chunks_of_other_dimensions(tmp_path, name):
    lat, x = np.linspace(-90, 90, 16), fields(4, lat=np.arange(16))
    io = backend(
        tmp_path,
        4,
        zarr_codecs={"name": name},
        chunked_coords={"lat": 8, "absent": 3},
        shard_coords={"lead_time": 2, "lat": 16},
    )
    with io:
        for j in range(4):
            io.write(x[:, j : j + 1], coords(leads(4)[j : j + 1], lat=lat), "t2m")
    array = stored(tmp_path)
    assert array.chunks == (1, 1, 8, 8) and array.shards == (1, 2, 16, 8)
    assert array.compressors[0].to_dict()["name"] == name
    assert stored(tmp_path, "lat").compressors[0].to_dict()["name"] == name
    assert np.array_equal(array[...], x)


def test_chunks_in_shards_that_are_named_for_one_dimension(tmp_path):
    lat, x = np.linspace(-90, 90, 32), fields(8, lat=np.arange(32))
    ways = {"chunked_coords": {"lat": 4}, "shard_coords": {"lead_time": 4}}
    with backend(tmp_path, 8, **ways) as io:
        for j in range(8):
            io.write(x[:, j : j + 1], coords(leads(8)[j : j + 1], lat=lat), "t2m")
    assert stored(tmp_path).shards == (1, 4, 32, 8)
    assert np.array_equal(stored(tmp_path)[...], x)


def test_shards_that_are_awaited():
    store, x = zellige.MemoryStore(), fields(8)
    io = backend(store, 8, shard_coords={"lead_time": 4})

    async def run():
        for j in range(6):
            await io.async_write(x[:, j : j + 1], coords(leads(8)[j : j + 1]), "t2m")
        assert len(objects(store)) == 1
        await io.async_flush()

    asyncio.run(run())
    assert np.array_equal(stored(store)[:, :6], x[:, :6])
    io.close()


def test_a_shard_of_one_chunk_is_none(tmp_path):
    with backend(tmp_path, 2, shard_coords={"lat": 6}) as io:
        give(io, fields(2))
    assert stored(tmp_path).shards is None


def test_the_stored_layout_stays(tmp_path):
    x = fields(8)
    for shard, steps in ((4, range(4)), (2, range(4, 8))):
        with backend(tmp_path, 8, shard_coords={"lead_time": shard}) as io:
            give(io, x, [(0, j) for j in steps])
    assert stored(tmp_path).shards == (1, 4, 6, 8)
    assert np.array_equal(stored(tmp_path)[...], x)


def test_a_fill_value_of_ones_own(tmp_path):
    with backend(tmp_path, 3, fill_value=np.nan, shard_coords={"lead_time": 3}) as io:
        io.add_array(coords(leads(3)), "mask", "u1")
        give(io, fields(3), [(0, 1)])
    now = stored(tmp_path)[...]
    assert np.isnan(now[:, [0, 2]]).all() and np.array_equal(now[:, 1:2], fields(3)[:, 1:2])
    assert stored(tmp_path, "mask").fill_value == 0  # NaN is none of its numbers


# ---------------------------------------------------------------------- arrays and names


def test_arrays_are_made_at_once_and_left_alone_later(tmp_path):
    io = backend(tmp_path, 2)
    io.add_array(coords(leads(2)), ["one", "two"])
    assert "one" in io and "two" in io and "three" not in io
    assert stored(tmp_path, "one").shape == (1, 2, 6, 8)
    give(io, fields(2), names="one")
    io.add_array(coords(leads(2)), np.array(["one", "three"]), dtype="f8")
    io.close()
    assert np.array_equal(stored(tmp_path, "one")[...], fields(2))
    assert stored(tmp_path, "three").dtype == "f8"
    assert sorted(io) == ["lat", "lead_time", "lon", "one", "three", "time", "two"]
    assert len(io) == 7


def test_arrays_of_different_dimensions(tmp_path):
    with backend(tmp_path, 2) as io:
        io.add_array({"lead_time": leads(2), "lat": LAT}, "zonal")
        io.add_array({"lead_time": leads(2), "member": np.arange(3)}, "score")
        io.write(np.ones((1, 3), "f4"), {"lead_time": leads(1), "member": range(3)}, "score")
    assert stored(tmp_path, "zonal").shape == (2, 6)
    assert stored(tmp_path, "score")[...].tolist() == [[1, 1, 1], [0, 0, 0]]


def test_only_coordinates(tmp_path):
    with backend(tmp_path, 2) as io:
        io.add_array(coords(leads(2)), [])
        assert list(io.coords) == ["lat", "lead_time", "lon", "time"]
        assert np.array_equal(io.coords["lat"], LAT)


def test_coords_are_in_the_order_of_the_arrays(tmp_path):
    with backend(tmp_path, 2) as io:
        io.add_array(coords(leads(2)), "t2m")
        io.add_array({"step": np.arange(2)}, [])
        assert list(io.coords) == ["time", "lead_time", "lat", "lon", "step"]


def test_what_add_array_does_not_know_is_told(tmp_path):
    io = backend(tmp_path, 1)
    with pytest.warns(zellige.errors.ZarrUserWarning, match="add_array ignores data"):
        io.add_array(coords(leads(1)), "t2m", data=fields(1))


def test_arrays_that_are_there_are_written(tmp_path):
    x = fields(2)
    with backend(tmp_path, 2) as io:
        give(io, x)
    with backend(tmp_path, 2) as io:
        give(io, x + 1, [(0, 1)], names=["t2m", "z500"])
    assert np.array_equal(stored(tmp_path)[...], np.concatenate([x[:, :1], x[:, 1:] + 1], 1))
    assert stored(tmp_path, "z500").shape == x.shape


def test_a_group_below_the_store(tmp_path):
    with backend(tmp_path, 2, zarr_kwargs={"path": "runs/first", "mode": "a"}) as io:
        give(io, fields(2))
    assert np.array_equal(stored(tmp_path, "runs/first/t2m")[...], fields(2))


def test_modes(tmp_path):
    with pytest.raises(FileNotFoundError):
        backend(tmp_path / "absent", 1, zarr_kwargs={"mode": "r+"})
    with pytest.raises(ValueError, match="writes nothing"):
        backend(tmp_path, 1, zarr_kwargs={"mode": "r"})
    with pytest.raises(TypeError, match="nonsense"):
        backend(tmp_path, 1, zarr_kwargs={"nonsense": 1})
    with backend(tmp_path, 1) as io:
        give(io, fields(1))
    with pytest.warns(zellige.errors.ZarrUserWarning, match="use_consolidated is ignored"):
        io = backend(tmp_path, 1, zarr_kwargs={"mode": "w", "use_consolidated": True})
    assert len(io) == 0


def test_writes_after_close(tmp_path):
    x = fields(4)
    io = backend(tmp_path, 4, shard_coords={"lead_time": 4})
    for steps in ([0, 1], [2], [3]):
        give(io, x, [(0, j) for j in steps])
        io.close()
        io.close()
    assert np.array_equal(stored(tmp_path)[...], x)


# ---------------------------------------------------------------------- places


def test_places(tmp_path):
    x = fields(1)
    for store, where in (
        (f"{tmp_path}/a", f"{tmp_path}/a"),
        (f"file://{tmp_path}/b", f"{tmp_path}/b"),
        (zellige.LocalStore(tmp_path / "c"), tmp_path / "c"),
    ):
        with backend(store, 1) as io:
            give(io, x)
        assert np.array_equal(stored(where)[...], x)
    objects = {}
    with backend(objects, 1) as io:
        give(io, x)
    assert np.array_equal(stored(objects)[...], x)


def test_places_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="where should the output go"):
        AsyncZarrBackend(None, {})
    with pytest.raises(ValueError, match="store_kwargs are for a URL"):
        AsyncZarrBackend(None, {}, store=str(tmp_path), store_kwargs={"region": "x"})
    with pytest.raises(TypeError, match="not a int"):
        AsyncZarrBackend(None, {}, store=3)
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="fs_factory is a function"):
        AsyncZarrBackend(str(tmp_path), {}, fs_factory="file")
    with pytest.warns(zellige.errors.ZarrUserWarning, match="file_name is ignored"):
        AsyncZarrBackend("elsewhere", {}, store=str(tmp_path))
    assert not os.path.exists("elsewhere")


class Files:
    """What is used of a file system of fsspec."""

    protocol = ("file", "local")


def test_a_factory_of_a_local_file_system(tmp_path):
    with pytest.warns(FutureWarning, match="fs_factory is deprecated"):
        io = AsyncZarrBackend(str(tmp_path), {"time": times(1), "lead_time": leads(1)}, Files)
    with io:
        give(io, fields(1))
    assert np.array_equal(stored(tmp_path)[...], fields(1))


def test_a_factory_of_a_file_system_that_cannot_wait(tmp_path):
    class Other:
        protocol, asynchronous = "s3", False

    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="not asynchronous"):
        AsyncZarrBackend("bucket/a", {}, Other)


# ---------------------------------------------------------------------- progress


def test_progress(tmp_path):
    told = []
    io = backend(
        tmp_path, 4, blocking=False, progress=lambda *numbers: told.append(numbers),
        shard_coords={"lead_time": 2},
    )
    with io:
        give(io, fields(4))
    n_bytes = fields(4).nbytes
    assert told[-1] == (n_bytes, n_bytes)
    assert [given for _, given in told[:4]] == [n_bytes // 4 * k for k in range(1, 5)]
    assert all(done <= given for done, given in told)
