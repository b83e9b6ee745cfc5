"""xarray's tests of its zarr backend with Zellige in its place; xarray_engine.py puts this
file beside them.

`Reads` is what their class asks for: `open` with ``engine="zellige"``, of what zarr-python
wrote. `Both` goes further: all that opens with ``engine="zarr"``, and each ``to_zarr``, is
ours, so that a test that does not call `open` or `save` tests us as well.

With ZELLIGE_ENGINE=zarr nothing is replaced, to see what the same tests give without us.
"""

import contextlib
import os

import pytest
import xarray as xr
import zarr
from xarray.backends.common import BACKEND_ENTRYPOINTS
from xarray.tests import test_backends as theirs
from xarray.tests import test_backends_datatree as trees
from xarray.tests.test_backends import (  # noqa: F401
    default_zarr_format,
    test_open_dataset_chunking_zarr,
    test_chunking_consistency,
    test_raises_key_error_on_invalid_zarr_store,
    test_zarr_create_default_indexes,
    tmp_store,
)
from xarray.tests.test_backends_datatree import (  # noqa: F401
    unaligned_datatree_zarr_factory,
)

import zellige.xarray

ENGINE = os.environ.get("ZELLIGE_ENGINE", "zellige")


def to_zarr(data, store=None, *args, **kwargs):
    if kwargs.get("zarr_format") is None and kwargs.get("mode") != "r+":
        kwargs["zarr_format"] = zarr.config.get("default_zarr_format")
    return zellige.xarray.to_zarr(data, store, *args, **kwargs)


def replace(monkeypatch):
    entry = "zarr", zellige.xarray.ZelligeBackendEntrypoint
    monkeypatch.setitem(BACKEND_ENTRYPOINTS, "zarr", entry)
    for kind in (xr.Dataset, xr.DataArray, xr.DataTree):
        monkeypatch.setattr(kind, "to_zarr", to_zarr)


@pytest.fixture(autouse=True)
def ours(request, monkeypatch):
    is_both = request.cls is None or issubclass(request.cls, Both)
    if ENGINE == "zellige" and is_both:
        replace(monkeypatch)


class Reads:
    @contextlib.contextmanager
    def open(self, path, **kwargs):
        with xr.open_dataset(
            path, engine=ENGINE, mode="r", **kwargs, **self.version_kwargs
        ) as dataset:
            yield dataset


class Both(Reads):
    pass


class TestReads(Reads, theirs.TestZarrDirectoryStore):
    pass


class TestBoth(Both, theirs.TestZarrDirectoryStore):
    pass


class TestMemory(Both, theirs.ZarrBase):
    @contextlib.contextmanager
    def create_zarr_target(self):
        ours = ENGINE == "zellige"
        yield zellige.MemoryStore() if ours else zarr.storage.MemoryStore()


@pytest.mark.usefixtures("default_zarr_format")
class TestWriteEmpty(Both):
    """Their class has the tests of the directory store once more."""

    version_kwargs = {}
    temp_dir = theirs.TestZarrWriteEmpty.temp_dir
    roundtrip_dir = theirs.TestZarrWriteEmpty.roundtrip_dir
    create_zarr_target = theirs.TestZarrWriteEmpty.create_zarr_target
    test_default_zarr_fill_value = theirs.TestZarrWriteEmpty.test_default_zarr_fill_value
    test_write_empty = theirs.TestZarrWriteEmpty.test_write_empty
    test_avoid_excess_metadata_calls = (
        theirs.TestZarrWriteEmpty.test_avoid_excess_metadata_calls
    )


class TestDataArray(Both, theirs.TestDataArrayToZarr):
    pass


class TestRegionAuto(Both, theirs.TestZarrRegionAuto):
    pass


class TestNCZarr(Both, theirs.TestNCZarr):
    pass


class TestRectilinear(Both, theirs.TestZarrRectilinearChunksRead):
    pass


class TestTree(Both, trees.TestZarrDatatreeIO):
    pass
