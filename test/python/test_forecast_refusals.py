"""What the backend for forecasts refuses, before it makes or stores anything."""

import os
import warnings

import numpy as np
import pytest
from forecasts import (
    LAT,
    LON,
    Tensor,
    backend,
    coords,
    fields,
    give,
    leads,
    stored,
    times,
)

import zellige
from zellige.forecast import AsyncZarrBackend


@pytest.mark.parametrize(
    "options, message",
    [
        ({"parallel_coords": {"time": np.array([1, 1])}}, "time has the value 1 twice"),
        ({"parallel_coords": {"time": np.array(1)}}, "time has no axis"),
        ({"parallel_coords": {"time": np.ones((2, 2))}}, "time has 2 axes"),
        ({"parallel_coords": {"time": np.array([])}}, "time has no values"),
        ({"parallel_coords": {"time": np.array([{}], object)}}, "type object"),
        ({"shard_coords": {"time": 0}}, "shard_coords of time is 0"),
        ({"max_inflight_shards": 0}, "max_inflight_shards is 0"),
        ({"pool_size": 0}, "pool_size is 0"),
        ({"memory_budget": -1}, "memory_budget is -1"),
        ({"memory_budget": 10**30}, "memory_budget is 10+: it must be from 0"),
        ({"time_encoding": "julian"}, '"numpy" or "cf"'),
    ],
)
def test_bad_arguments(tmp_path, options, message):
    options = {"parallel_coords": {"time": times(2)}, **options}
    with pytest.raises(ValueError, match=message):
        AsyncZarrBackend(tmp_path / "new", **options)
    assert not os.path.exists(tmp_path / "new")


@pytest.mark.parametrize(
    "change, x, names, message",
    [
        ({}, [fields(1)], ["a", "b"], "1 fields for 2 names"),
        ({"lead_time": leads(9)[8:]}, fields(1), "a", r"lead_time has no value 1728\d+ nano"),
        ({"lead_time": np.array([54], "m8[h]")}, fields(1), "a", "no value 54 hours"),
        ({"time": times(3)[2:]}, fields(1), "a", "time has no value 2024-01-03"),
        ({"lead_time": np.array([1.0])}, fields(1), "a", "lead_time has no value 1.0"),
        ({"lead_time": leads(1)[[0, 0]]}, fields(2), "a", "lead_time has a value twice"),
        ({"lat": np.array(0)}, fields(1), "a", "lat has no axis"),
        ({}, fields(2), "a", "a has 2 values along lead_time, whose coordinate has 1"),
        ({}, fields(1)[0], "a", "a has 3 axes for the 4 dimensions"),
        ({}, fields(1), "lat", "lat is a coordinate: an array needs another name"),
        ({"lat": LAT[:1]}, fields(1, lat=LAT[:1]), "time", "time is a coordinate"),
        ({}, [fields(1)] * 2, ["a", "lon"], "lon is a coordinate"),
        ({}, fields(1).astype("g"), "a", "float128|longdouble"),
        ({}, np.array([["x"]]), "a", "elements of type <U1 cannot be stored"),
        ({}, Tensor(fields(1), "torch.bfloat16"), "a", "torch.bfloat16 cannot be stored"),
    ],
)
def test_a_refused_write_makes_nothing(tmp_path, change, x, names, message):
    io = backend(tmp_path, 4, 2)
    with pytest.raises(ValueError, match=message):
        io.write(x, {**coords(leads(1)), **change}, names)
    assert list(io) == []
    io.close()


def test_arrays_with_the_names_of_coordinates(tmp_path):
    """Nothing of such a call is made, and a coordinate that is there is not written."""
    with backend(tmp_path, 2) as io:
        with pytest.raises(ValueError, match="lat is a coordinate"):
            io.add_array(coords(leads(2)), ["t2m", "lat"])
        with pytest.raises(ValueError, match="lead_time is a coordinate"):
            io.add_array({"lat": LAT}, "lead_time")
        assert list(io) == []
        give(io, fields(2))
        with pytest.raises(ValueError, match="lat is a coordinate"):
            io.write(LAT[::-1].copy(), {"lat": LAT}, "lat")
    assert np.array_equal(stored(tmp_path, "lat")[...], LAT)


@pytest.mark.parametrize(
    "change, x, message",
    [
        ({"lat": LAT[::-1]}, fields(1), "lat has different values: -90.0 at 0"),
        ({"lat": LAT[:3]}, fields(1, lat=LAT[:3]), "3 values where 6 are stored"),
        ({}, fields(1).astype("f8"), "t2m is stored as float32, which cannot hold"),
        ({}, fields(1).astype("i4"), "t2m is stored as float32, which cannot hold"),
    ],
)
def test_a_write_that_does_not_fit_what_is_there(tmp_path, change, x, message):
    with backend(tmp_path, 4) as io:
        give(io, fields(4))
        with pytest.raises(ValueError, match=message):
            io.write(x, {**coords(leads(1)), **change}, "t2m")
        with pytest.raises(ValueError, match=message):
            io.write([fields(1), x], {**coords(leads(1)), **change}, ["new", "t2m"])
        assert "new" not in io
    assert np.array_equal(stored(tmp_path)[...], fields(4))


def test_integers_that_floats_do_not_have(tmp_path):
    """They are taken as long as they do not change, also along coordinates."""
    x = np.array([[[2**53, 2**54 + 4]]])
    sides = {"lat": LAT[:1], "lon": LON[:2]}
    at = {"time": times(1), **sides}
    with AsyncZarrBackend(None, {"time": times(1)}, store=str(tmp_path)) as io:
        io.add_array(at, "a", "f8")
        with pytest.raises(ValueError, match="float64, which cannot hold all values of int64"):
            io.write(x + 1, at, "a")
        io.write(x, at, "a")
    assert stored(tmp_path, "a")[...].tolist() == x.tolist()


LATE = np.datetime64("9999-01-01", "D")  # too late for nanoseconds, whose number wraps
WRAPPED = (int(LATE.astype(int)) * 86_400_000_000_000 + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**53 + 1, 2.0**53),
        (2**63 - 1, 2.0**63),
        (LATE, np.datetime64(WRAPPED, "ns")),
    ],
)
def test_coordinates_that_are_nearly_equal(tmp_path, one, other):
    with backend(tmp_path / "a", 1) as io:
        io.add_array({"k": np.array([one])}, "a", "f4")
        with pytest.raises(ValueError, match="k has different values"):
            io.add_array({"k": np.array([other])}, "b", "f4")
    parallel = {"k": np.array([one, one - 3])}
    with AsyncZarrBackend(None, parallel, store=str(tmp_path / "b")) as io:
        with pytest.raises(ValueError, match="k has no value"):
            io.write(np.zeros(1, "f4"), {"k": np.array([other])}, "a")


def test_equal_coordinates_of_other_types(tmp_path):
    """Large ones too: integers with a sign or without, floats that are whole, times."""
    days = np.array(["2024-01-01", "NaT"], "M8[D]")
    pairs = [
        (np.array([2**53 + 1, 7]), np.array([2**53 + 1, 7], "u8")),
        (np.array([2**54 + 4, 7]), np.array([2**54 + 4, 7.0])),
        (days, days.astype("M8[ns]")),
    ]
    for i, (one, other) in enumerate(pairs):
        with AsyncZarrBackend(None, {"k": one}, store=str(tmp_path / str(i))) as io:
            for k in (slice(0, 2), slice(1, 2)):
                io.write(np.full(2, 3, "f4")[k], {"k": other[k]}, "a")
        assert stored(tmp_path / str(i), "a")[...].tolist() == [3, 3]


def test_an_array_of_other_dimensions(tmp_path):
    with backend(tmp_path, 2) as io:
        give(io, fields(2))
        with pytest.raises(ValueError, match="t2m has the dimensions time, lead_time, lat, lon"):
            io.write(np.ones(1, "f4"), {"lead_time": leads(1)}, "t2m")
        with pytest.raises(ValueError, match="not lead_time"):
            io.add_array({"lead_time": leads(2)}, "t2m")


@pytest.mark.parametrize("which", ["other", "fewer", "more"])
def test_a_store_of_other_parallel_values(tmp_path, which):
    with backend(tmp_path, 2) as io:
        give(io, fields(2))
    other = {"other": leads(3)[[0, 2]], "fewer": leads(1), "more": leads(3)}[which]
    with pytest.raises(ValueError, match="lead_time is stored with different values"):
        AsyncZarrBackend(tmp_path, {"time": times(1), "lead_time": other})
    with backend(tmp_path, 2) as io:
        give(io, fields(2), [(0, 0)], names="more")
    assert stored(tmp_path, "more").shape == (1, 2, 6, 8)


def test_a_coordinate_of_other_values_for_another_array(tmp_path):
    with AsyncZarrBackend(tmp_path, {}) as io:
        io.add_array({"quantile": np.array([0.1, 0.5, 0.9])}, "a")
        with pytest.raises(ValueError, match="different values"):
            io.add_array({"quantile": np.array([0.25, 0.75])}, "b")
        assert "b" not in io


def test_shards_that_cannot_be(tmp_path):
    for sizes, message in (
        ({"lat": 5}, "no multiple of a chunk of 3"),
        ({"lat": 3}, "must cover a dimension"),
    ):
        io = backend(tmp_path, 2, chunked_coords={"lat": 3}, shard_coords=sizes)
        with pytest.raises(ValueError, match=message):
            give(io, fields(2))
        assert list(io) == []


@pytest.mark.parametrize("way", ["add_array", "write"])
def test_one_warning_a_call(tmp_path, way):
    """It points at the caller, however many arrays there are."""
    with backend(tmp_path, 2, shard_coords={"lead_time": 3}) as io:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if way == "write":
                io.write([fields(2)] * 5, coords(leads(2)), list("abcde"))
            else:
                io.add_array(coords(leads(2)), list("abcde"))
    assert [warning.filename for warning in told] == [__file__]
    assert "3 elements, more than the 2" in str(told[0].message)


def test_shards_of_a_dimension_that_is_not_there(tmp_path):
    with backend(tmp_path, 2, shard_coords={"level": 4}) as io:
        with pytest.warns(zellige.errors.ZarrUserWarning, match="names level"):
            io.add_array(coords(leads(2)), "t2m")
    assert stored(tmp_path).shards is None
