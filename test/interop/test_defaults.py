"""Arrays that peers make in their own words, where the grid gives them a document."""

import numpy as np
import pytest
import tensorstore
import zarr
import zarrista
import zellige
from elements import BOTH, elements, plain
from zarrista.store import FilesystemStore

pytestmark = pytest.mark.filterwarnings("ignore")

SHAPE = (30, 40)
PLAIN = [name for name, kind in BOTH.items() if kind.memory != object]
NUMBERS = [name for name in PLAIN if BOTH[name].memory.kind in "biufc"]


def is_read(folder, data):
    assert plain(zellige.open_array(folder)[...]) == plain(data)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", PLAIN)
def test_zarr_python(tmp_path, name, zarr_format):
    data = elements(BOTH[name], SHAPE)
    zarr.create_array(tmp_path / "a", data=data, zarr_format=zarr_format)
    is_read(tmp_path / "a", data)
    zarr.save_array(tmp_path / "b", data, zarr_format=zarr_format)
    is_read(tmp_path / "b", data)
    if zarr_format == 3:
        zarr.create_array(tmp_path / "c", data=data, chunks=(5, 8), shards=(10, 24))
        is_read(tmp_path / "c", data)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_python_texts(tmp_path, zarr_format):
    data = elements(BOTH["string"], SHAPE)
    for i, dtype in enumerate((str, np.dtypes.StringDType())):
        folder = tmp_path / str(i)
        array = zarr.create_array(folder, shape=SHAPE, dtype=dtype, zarr_format=zarr_format)
        array[...] = data
        is_read(folder, data)


@pytest.mark.parametrize("driver", ["zarr", "zarr3"])
@pytest.mark.parametrize("name", NUMBERS)
def test_tensorstore(tmp_path, name, driver):
    data = elements(BOTH[name], SHAPE)
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/"}
    tensorstore.open(spec, create=True, dtype=data.dtype, shape=SHAPE).result().write(
        data
    ).result()
    is_read(tmp_path, data)


@pytest.mark.parametrize("name", NUMBERS)
def test_zarrista(tmp_path, name):
    data = elements(BOTH[name], SHAPE)
    grid = zarrista.ChunkGrid.regular(SHAPE, chunk_shape=(10, 24))
    fill = zarrista.FillValue(bytes(data.itemsize))
    builder = zarrista.ArrayBuilder(grid, zarrista.DataType.from_string(name), fill)
    array = builder.subchunk_shape((5, 8)).create(FilesystemStore(tmp_path), "/")
    array.store_array_subset(..., zarrista.ArrayBytes(data.tobytes()))
    is_read(tmp_path, data)
