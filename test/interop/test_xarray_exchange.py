"""What xarray's own writer and engine, and ours, make of each other's stores."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
import zarr
import zellige
from xarray_data import ENGINES, WRITERS, arrays, climate
from zellige.xarray import to_zarr

pytestmark = pytest.mark.filterwarnings("ignore")

both_formats = pytest.mark.parametrize("zarr_format", [2, 3])
DECODING = {"decode_timedelta": True}


def opened(store, engine, **more):
    return xr.open_dataset(store, engine=engine, **DECODING, **more)


def alike(one, other):
    """Equality in which NaN is itself."""
    return one is other or bool(one == other) or bool(one != one and other != other)


@both_formats
@pytest.mark.parametrize("writer", WRITERS)
def test_both_read_the_same(tmp_path, writer, zarr_format):
    dataset = climate()
    WRITERS[writer](dataset, tmp_path / "s", zarr_format=zarr_format)
    theirs, ours = (opened(tmp_path / "s", engine) for engine in ENGINES)
    for name in ours.variables:
        one, other = ours[name].encoding, theirs[name].encoding
        assert one.keys() == other.keys()
        assert all(alike(one[key], other[key]) for key in one), (one, other)
        assert ours[name].dtype == theirs[name].dtype, name
    xr.testing.assert_identical(ours, theirs)
    xr.testing.assert_allclose(ours, dataset)


@both_formats
def test_both_write_the_same_documents(tmp_path, zarr_format):
    dataset = climate()
    made = {}
    for writer, write in WRITERS.items():
        write(dataset, tmp_path / writer, zarr_format=zarr_format)
        group = zellige.open_group(tmp_path / writer)
        made[writer] = {name: array.metadata for name, array in group.arrays()}
        assert group.is_consolidated
    assert made["xarray"].keys() == made["zellige"].keys()
    # what is chosen where nobody asks
    chosen = {"chunks", "chunk_grid", "codecs", "compressor", "storage_transformers"}
    for name, theirs in made["xarray"].items():
        ours = made["zellige"][name]
        for key in theirs.keys() - chosen:
            assert ours[key] == theirs[key] or {ours[key], theirs[key]} == {0, None}


ENCODINGS = {
    "shards": {
        "chunks": (3, 2),
        "shards": (6, 4),
        "compressors": [{"name": "gzip", "configuration": {"level": 2}}],
    },
    "filters": {
        "chunks": (5, 4),
        "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        "serializer": {"name": "bytes", "configuration": {"endian": "big"}},
        "compressors": [
            {"name": "zstd", "configuration": {"level": 4, "checksum": True}},
            {"name": "crc32c"},
        ],
        "fill_value": -1.5,
    },
    "nothing": {"chunks": (24, 16), "compressors": None},
    "of zarr-python": {
        "chunks": (4, 4),
        "compressors": [zarr.codecs.BloscCodec(cname="lz4", clevel=3, typesize=8)],
    },
}


@pytest.mark.parametrize("second", WRITERS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ENCODINGS)
def test_encoding_is_kept(tmp_path, name, engine, second):
    to_zarr(arrays(), tmp_path / "a", encoding={"grid": ENCODINGS[name]})
    again = xr.open_dataset(tmp_path / "a", engine=engine)
    WRITERS[second](again, tmp_path / "b")
    first, last = (zellige.open_array(tmp_path / s, path="grid") for s in "ab")
    asked = ENCODINGS[name]
    assert first.chunks == asked["chunks"] and first.shards == asked.get("shards")
    for key in "chunk_grid", "codecs", "fill_value", "data_type":
        assert last.metadata[key] == first.metadata[key]
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "b", engine="zellige"), arrays())


@pytest.mark.parametrize("second", WRITERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_encoding_of_version_2_is_kept(tmp_path, engine, second):
    import numcodecs

    asked = {
        "chunks": (5, 4),
        "filters": [numcodecs.Delta("f8")],
        "compressors": numcodecs.Zlib(2),
        "_FillValue": -1.0,
    }
    to_zarr(arrays(), tmp_path / "a", encoding={"grid": asked}, zarr_format=2)
    again = xr.open_dataset(tmp_path / "a", engine=engine)
    WRITERS[second](again, tmp_path / "b", zarr_format=2)
    first, last = (zellige.open_array(tmp_path / s, path="grid") for s in "ab")
    assert first.metadata["compressor"] == {"id": "zlib", "level": 2}
    assert first.metadata["filters"][0]["id"] == "delta" and first.fill_value == -1
    for key in "chunks", "compressor", "filters", "fill_value", "dtype":
        assert last.metadata[key] == first.metadata[key]


@pytest.mark.parametrize("versions", [(2, 3), (3, 2)])
def test_from_one_version_to_the_other(tmp_path, versions):
    """What the other version cannot have is left out, as nobody asked for it."""
    encoding = {"grid": {"chunks": (3, 2), "_FillValue": -1.0}}
    if versions[0] == 3:
        encoding["grid"] |= ENCODINGS["shards"]
    dataset = arrays().assign(name=("x", np.array([f"t{i}" for i in range(16)], object)))
    to_zarr(dataset, tmp_path / "a", encoding=encoding, zarr_format=versions[0])
    again = xr.open_dataset(tmp_path / "a", engine="zellige")
    to_zarr(again, tmp_path / "b", zarr_format=versions[1])
    assert zellige.open_array(tmp_path / "b", path="grid").chunks == (3, 2)
    found = xr.open_dataset(tmp_path / "b", engine="zarr")
    xr.testing.assert_equal(found, dataset)


def test_asked_encoding_must_make_sense(tmp_path):
    for bad in {"level": 3}, {"fill_value": 1, "chunks": (2, 2)}:
        with pytest.raises(ValueError, match="unexpected encoding parameters"):
            to_zarr(arrays(), tmp_path / "a", "w", encoding={"grid": bad}, zarr_format=2)
    with pytest.raises(TypeError, match="no length"):
        to_zarr(arrays(), tmp_path / "a", "w", encoding={"grid": {"chunks": (2, 2.5)}})


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_trees(tmp_path, writer, zarr_format):
    tree = xr.DataTree.from_dict(
        {"/": arrays()[["row"]], "/a": climate().drop_dims("x"), "/a/b": climate()[["lag"]]}
    )
    WRITERS[writer](tree, tmp_path / "s", zarr_format=zarr_format)
    for engine in ENGINES:
        found = xr.open_datatree(tmp_path / "s", engine=engine, **DECODING)
        assert found.groups == tree.groups
        xr.testing.assert_allclose(found, tree)
    part = xr.open_datatree(tmp_path / "s", engine="zellige", group="a", **DECODING)
    wanted = tree["/a/b"].to_dataset(inherit=False)
    xr.testing.assert_allclose(part["b"].to_dataset(inherit=False), wanted)
    flat = xr.open_groups(tmp_path / "s", engine="zellige", **DECODING)
    assert list(flat) == ["/", "/a", "/a/b"]
    xr.testing.assert_identical(flat["/"], tree.to_dataset())
    one = xr.open_dataset(tmp_path / "s", engine="zellige", group="a/b", **DECODING)
    assert set(one.data_vars) == {"lag"}


def test_tree_of_ours_is_asked_by_group(tmp_path):
    tree = xr.DataTree.from_dict({"/": arrays()[["row"]], "/a": arrays()[["grid"]]})
    asked = {"/a": {"grid": {"chunks": (3, 2)}}}
    to_zarr(tree, tmp_path / "s", encoding=asked)
    assert zellige.open_array(tmp_path / "s", path="a/grid").chunks == (3, 2)
    with pytest.raises(ValueError, match="unexpected encoding group"):
        to_zarr(tree, tmp_path / "t", encoding={"/b": {}})


@pytest.mark.parametrize("name", [None, "grid", "x"])
@pytest.mark.parametrize("writer", WRITERS)
def test_arrays(tmp_path, writer, name):
    """Also without a name, and with the name of a coordinate."""
    array = arrays()["grid"].rename(name)
    WRITERS[writer](array, tmp_path / "s")
    for engine in ENGINES:
        found = xr.open_dataarray(tmp_path / "s", engine=engine)
        xr.testing.assert_identical(found, array)


@pytest.mark.parametrize("consolidated", [None, True, False])
@pytest.mark.parametrize("path", [None, "a/b"])
def test_consolidated(tmp_path, consolidated, path):
    to_zarr(arrays(), tmp_path / "s", group=path, consolidated=consolidated)
    is_there = zellige.open_group(tmp_path / "s").is_consolidated
    assert is_there == (consolidated is not False)
    ways = {"group": path, "engine": "zellige"}
    for wanted in (None, False, *([True] if is_there else [])):
        found = xr.open_dataset(tmp_path / "s", consolidated=wanted, **ways)
        xr.testing.assert_identical(found, arrays())
    if not is_there:
        with pytest.raises(ValueError, match="no consolidated metadata"):
            xr.open_dataset(tmp_path / "s", consolidated=True, **ways)


def test_consolidated_metadata_stay_true(tmp_path):
    to_zarr(arrays(), tmp_path / "s")
    to_zarr(arrays(), tmp_path / "s", append_dim="y", consolidated=False)
    assert xr.open_dataset(tmp_path / "s", engine="zellige").sizes["y"] == 48


def test_lengths_that_differ(tmp_path):
    """A rectilinear grid, which xarray reads and does not write."""
    chunks = ((1, 3, 20), 16)
    to_zarr(arrays(), tmp_path / "s", encoding={"grid": {"chunks": chunks}})
    found = xr.open_dataset(tmp_path / "s", engine="zellige", chunks={})
    assert found["grid"].encoding["chunks"] == chunks
    assert found["grid"].chunks == ((1, 3, 20), (16,))
    to_zarr(found, tmp_path / "t")
    made = zellige.open_array(tmp_path / "t", path="grid")
    assert made.write_chunk_sizes == ((1, 3, 20), (16,))
    with zarr.config.set({"array.rectilinear_chunks": True}):
        theirs = xr.open_dataset(tmp_path / "t", engine="zarr")
        assert theirs["grid"].encoding["chunks"] == chunks
        xr.testing.assert_identical(theirs.load(), arrays())


def test_fill_value_as_mask(tmp_path):
    dataset = xr.Dataset({"a": ("x", [1, 7, 3])})
    to_zarr(dataset, tmp_path / "s", encoding={"a": {"fill_value": 7}})
    ways = {"engine": "zellige"}
    assert xr.open_dataset(tmp_path / "s", **ways)["a"].dtype == "i8"
    masked = xr.open_dataset(tmp_path / "s", use_zarr_fill_value_as_mask=True, **ways)
    np.testing.assert_array_equal(masked["a"], [1, np.nan, 3])


def test_fill_value_of_others(tmp_path):
    """In version 3 some write the attribute as a plain number."""
    zellige.create_array(
        tmp_path / "s",
        path="a",
        data=np.array([1, -9.0, 3]),
        dimension_names=["x"],
        attributes={"_FillValue": -9.0},
    )
    found = xr.open_dataset(tmp_path / "s", engine="zellige")
    np.testing.assert_array_equal(found["a"], [1, np.nan, 3])


def test_no_names_of_dimensions(tmp_path):
    zellige.create_array(tmp_path / "s", path="a", data=np.zeros(3))
    with pytest.raises(KeyError, match="dimension_names"):
        xr.open_dataset(tmp_path / "s", engine="zellige")


def test_netcdf_names_of_dimensions(tmp_path):
    """NCZarr has them in a document, with the groups that they are of."""
    array = zellige.create_array(tmp_path / "s", path="a", data=np.ones(3), zarr_format=2)
    document = '{"_NCZARR_ARRAY": {"dimrefs": ["/x"]}, "zarr_format": 2, "shape": [3], '
    document += '"chunks": [3], "dtype": "<f8", "fill_value": 0, "order": "C", '
    document += '"filters": null, "compressor": {"id": "zstd", "level": 0}}'
    array.store.put("a/.zarray", document.encode())
    ways = {"engine": "zellige", "mask_and_scale": False}
    assert xr.open_dataset(tmp_path / "s", **ways)["a"].dims == ("x",)


ALONE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *more):
        is_hidden = name.partition(".")[0] in ("zarr", "numcodecs")
        return None if is_hidden else self.finder.find_spec(name, *more)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]
import zellige
assert not {"xarray", "pandas", "dask"} & set(sys.modules)
import numpy as np
import xarray as xr
from zellige.xarray import to_zarr
names = np.array(["a", "b", "c"], object)
data = xr.Dataset({"a": ("x", [1., 2, 3]), "b": ("x", names)}, coords={"x": [4, 5, 6]})
for zarr_format in 2, 3:
    path = f"{sys.argv[1]}/{zarr_format}.zarr"
    to_zarr(data.chunk(x=2), path, zarr_format=zarr_format, align_chunks=True)
    to_zarr(data, path, append_dim="x")
    found = xr.open_dataset(path)  # no engine is named: only ours is there
    xr.testing.assert_identical(found.isel(x=slice(3)), data)
    assert found.sizes["x"] == 6
assert "zarr" not in sys.modules
"""


def test_without_zarr_python(tmp_path):
    subprocess.run([sys.executable, "-W", "ignore", "-c", ALONE, str(tmp_path)], check=True)
