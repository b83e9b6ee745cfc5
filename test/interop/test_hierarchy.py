"""Groups, attributes, names of dimensions and consolidated metadata, with zarr-python."""

import numpy as np
import pytest
import zarr
import zellige

pytestmark = pytest.mark.filterwarnings("ignore")

ATTRIBUTES = {"né": [1, 2.5, None, {"a": "b"}], "big": 2**63 - 1}
DATA = np.arange(6, dtype="i2").reshape(2, 3)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_reads_ours(tmp_path, zarr_format):
    root = zellige.create_group(
        tmp_path / "g", attributes=ATTRIBUTES, zarr_format=zarr_format
    )
    names = {"dimension_names": ["y", None]} if zarr_format == 3 else {}
    root.create_array("a/b", data=DATA, attributes=ATTRIBUTES, **names)
    root.create_group("c", attributes={"k": 1})
    found = zarr.open_group(tmp_path / "g", mode="r")
    assert dict(found.attrs) == ATTRIBUTES and dict(found["c"].attrs) == {"k": 1}
    assert sorted(found.keys()) == ["a", "c"] and isinstance(found["a"], zarr.Group)
    assert dict(found["a/b"].attrs) == ATTRIBUTES and (found["a/b"][...] == DATA).all()
    if zarr_format == 3:
        assert found["a/b"].metadata.dimension_names == ("y", None)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("is_consolidated", [False, True])
def test_ours_reads_zarr_python(tmp_path, zarr_format, is_consolidated):
    root = zarr.create_group(tmp_path / "g", attributes=ATTRIBUTES, zarr_format=zarr_format)
    names = {"dimension_names": ["y", None]} if zarr_format == 3 else {}
    array = root.require_group("a").create_array(
        "b", shape=DATA.shape, dtype=DATA.dtype, attributes=ATTRIBUTES, **names
    )
    array[...] = DATA
    root.create_group("c", attributes={"k": 1})
    if is_consolidated:
        zarr.consolidate_metadata(tmp_path / "g", zarr_format=zarr_format)
    found = zellige.open_group(tmp_path / "g")
    assert found.is_consolidated == is_consolidated
    assert dict(found.attrs) == ATTRIBUTES and dict(found["c"].attrs) == {"k": 1}
    assert [path for path, _ in found.members(max_depth=None)] == ["a", "a/b", "c"]
    assert dict(found["a/b"].attrs) == ATTRIBUTES and (found["a/b"][...] == DATA).all()
    if zarr_format == 3:
        assert found["a/b"].dimension_names == ("y", None)
