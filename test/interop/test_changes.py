"""zarr-python sees what Zellige changed over time, and the other way round."""

import json

import numpy as np
import pytest
import zarr
import zellige

pytestmark = pytest.mark.filterwarnings("ignore")

DATA = np.arange(60, dtype="i4").reshape(6, 10)


@pytest.fixture(params=[2, 3])
def version(request):
    return request.param


def test_zarr_python_sees_ours(tmp_path, version):
    root = zellige.create_group(tmp_path, zarr_format=version)
    shards = {"shards": (4, 10)} if version == 3 else {}
    array = root.create_array("g/x", data=DATA, chunks=(2, 5), fill_value=7, **shards)
    array.append(DATA[:3])
    array.append(np.ones((9, 2)), axis=1)
    array.resize((8, 11))
    array.attrs.update(units="K", n=2**63)
    array[6:, ::3] = -1
    array.fill(selection=(slice(0, 2), slice(None)))
    root["g"].attrs["k"] = [1, None]
    root.create_array("gone", data=DATA)
    root.create_array("before", data=DATA)
    del root["gone"]
    root.move("before", "g/after")
    root.consolidate()
    wanted = np.full((8, 11), 7)
    wanted[2:6, :10], wanted[6:8, :10], wanted[2:, 10] = DATA[2:], DATA[:2], 1
    wanted[6:, ::3] = -1
    for use_consolidated in (True, False):
        found = zarr.open_group(tmp_path, mode="r", use_consolidated=use_consolidated)
        assert sorted(name for name, _ in found.members(None)) == ["g", "g/after", "g/x"]
        assert np.array_equal(found["g/x"][...], wanted)
        assert np.array_equal(found["g/after"][...], DATA)
        assert dict(found["g/x"].attrs) == {"units": "K", "n": 2**63}
        assert dict(found["g"].attrs) == {"k": [1, None]}


def test_ours_sees_zarr_python(tmp_path, version):
    root = zarr.create_group(tmp_path, zarr_format=version)
    made = root.create_array("g/x", shape=(6, 10), chunks=(4, 5), dtype="i4", fill_value=7)
    made[...] = DATA
    zarr.consolidate_metadata(tmp_path)
    ours = zellige.open_group(tmp_path, "r+")
    assert ours.is_consolidated
    ours["g/x"].append(DATA[:1])
    ours["g"].create_array("y", data=DATA)
    ours["g/x"].attrs["k"] = 1
    found = zarr.open_group(tmp_path, mode="r+", use_consolidated=True)
    assert found["g/x"].shape == (7, 10) and dict(found["g/x"].attrs) == {"k": 1}
    assert np.array_equal(found["g/y"][...], DATA)
    found["g/x"].resize((9, 10))
    array = zellige.open_array(tmp_path, "r+", "g/x")
    array[8] = 5
    assert np.array_equal(
        zarr.open_array(tmp_path / "g/x", mode="r")[...],
        np.concatenate([DATA, DATA[:1], np.full((1, 10), 7), np.full((1, 10), 5)]),
    )


def test_copies_are_read_alike(tmp_path, version):
    source = zarr.create_group(tmp_path / "a", zarr_format=version, attributes={"t": 1})
    source.create_array("g/x", data=DATA, chunks=(4, 5))
    source.create_array("s", data=np.array(["a", "né", ""], np.dtypes.StringDType()))
    zellige.copy(tmp_path / "a", tmp_path / "same")
    zellige.copy(tmp_path / "a", tmp_path / "other", zarr_format=5 - version)
    for name in ("same", "other"):
        found = zarr.open_group(tmp_path / name, mode="r")
        assert dict(found.attrs) == {"t": 1}
        assert np.array_equal(found["g/x"][...], DATA)
        assert found["s"][...].tolist() == ["a", "né", ""]


def _edges(path):
    document = json.loads((path / "zarr.json").read_text())
    return document["shape"], document["chunk_grid"]


@pytest.mark.parametrize("edges", [[[1, 2, 3], 4], [[4, 4, 4], [3, 1, 3]], [4, [7]]])
def test_listed_edges_change_alike(tmp_path, edges):
    """Documents are equal after each step, and both read what either has made. (What falls
    away from a chunk on the border stays there with zarr-python, so elements may differ.)"""
    length = [n if isinstance(n, int) else sum(n) for n in edges]
    with zarr.config.set({"array.rectilinear_chunks": True}):
        paths = [tmp_path / name for name in ("ours", "theirs", "both")]
        for path in paths:
            made = zarr.create_array(
                path, shape=length, chunks=edges, dtype="i4", fill_value=-1
            )
            made[...] = np.arange(made.size).reshape(made.shape)
        ours, theirs, both = paths
        steps = [(0, 3), (0, 3), (1, 2), (0, 5), (9, 2), (1, 1), (30, 8), (0, 1), (1, 3)]
        steps += [(0, 9), (2, 0), (7, 9)]
        for i, (first, second) in enumerate(steps):
            for path, module in (
                (ours, zellige),
                (theirs, zarr),
                (both, (zellige, zarr)[i % 2]),
            ):
                array = module.open_array(path, mode="r+")
                if first > 1 or second == 0:
                    array.resize((first, second))
                else:
                    shape = list(array.shape)
                    shape[first] = second
                    array.append(np.full(shape, i), axis=first)
            assert _edges(ours) == _edges(theirs) == _edges(both)
            for path in paths:
                read = [m.open_array(path, mode="r")[...] for m in (zellige, zarr)]
                assert np.array_equal(*read), (path.name, steps[: i + 1])
