"""What the backend for forecasts refuses, before it makes or stores anything."""

import os

import numpy as np
import pytest
from forecasts import (
    LAT,
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


def test_shards_of_a_dimension_that_is_not_there(tmp_path):
    with backend(tmp_path, 2, shard_coords={"level": 4}) as io:
        with pytest.warns(zellige.errors.ZarrUserWarning, match="names level"):
            io.add_array(coords(leads(2)), "t2m")
    assert stored(tmp_path).shards is None
