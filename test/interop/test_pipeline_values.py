"""What the codec pipeline makes of values: of other shapes than the places, and of texts that
are missing."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr
from zarr.codecs import ShardingCodec, VLenUTF8Codec
from zarr.storage import LocalStore, MemoryStore

import zellige
from test_pipeline import BATCHED, PIPELINE, all_native


@pytest.fixture(autouse=True)
def pipeline():
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        zellige.pipeline_stats(reset=True)
        yield


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    return LocalStore(tmp_path / "a.zarr") if request.param == "local" else MemoryStore()


# ---------------------------------------------------------------------- shapes

SHAPES = [(1, 4), (1, 1, 4), (3, 1), (1, 1), (1,), (4,), (1, 3, 4), (12,), (3, 4, 1)]


@pytest.mark.parametrize("dtype", [str, "i4"])
@pytest.mark.parametrize(
    "selection, shape",
    [
        (([0, 5, 1], slice(0, 6)), (3, 1)),
        (([0, 5, 1], slice(0, 6)), (1, 6)),  # refused: rows of two chunks
        (([0, 2, 1], slice(0, 6)), (1, 6)),
        ((slice(0, 8), [5, 0]), (8, 1)),
        ((slice(1, 3), slice(0, 6)), (1, 6)),
        ((slice(1, 3), slice(0, 6)), (2, 1)),
        ((2, slice(0, 6)), (1,)),
        ((2, [5, 0, 1]), (1,)),
    ],
)
def test_one_value_for_many(store, dtype, selection, shape):
    """By the engine, as zarr-python does it, and never from memory behind the value."""
    value = (1 + np.arange(np.prod(shape))).reshape(shape).astype(dtype)
    found = []
    for path, where in (PIPELINE, store), (BATCHED, MemoryStore()):
        with zarr.config.set({"codec_pipeline.path": path}):
            array = zarr.create_array(where, shape=(8, 6), chunks=(4, 6), dtype=dtype)
            try:
                array.oindex[selection] = value
                assert path == BATCHED or all_native()
                found.append(array[...].tolist())
            except (ValueError, IndexError) as error:
                found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [str, "i4"])
def test_values_of_another_shape(store, dtype, shape):
    """Texts or numbers, they are written or refused as in zarr-python."""
    value = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    found = []
    for path, where in (PIPELINE, store), (BATCHED, MemoryStore()):
        with zarr.config.set({"codec_pipeline.path": path}):
            array = zarr.create_array(
                where, shape=(3, 4), chunks=(2, 3), dtype=dtype, overwrite=True
            )
            try:
                array[...] = value
            except (ValueError, IndexError):
                found.append("refused")
            else:
                found.append(array[...].tolist())
    assert found[0] == found[1]


# ---------------------------------------------------------------------- texts


def texts_of(missing, shape, n_there):
    dtype = np.dtypes.StringDType(na_object=missing)
    objects = np.full(shape, missing, object)
    objects.reshape(-1)[:n_there] = "a"
    return np.array(objects.tolist(), dtype).reshape(shape)


def inside(shape, *codecs):
    return {"serializer": ShardingCodec(chunk_shape=shape, codecs=codecs)}


TEXT_LAYOUTS = {
    "chunks": {},
    "version 2": {"zarr_format": 2},
    "shards": inside((2, 3), VLenUTF8Codec()) | {"compressors": None},
    "shards in shards": inside((4, 3), inside((2, 3), VLenUTF8Codec())["serializer"])
    | {"compressors": None},
    "compressed shards": inside((2, 3), VLenUTF8Codec()),
}
needs_missing = pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1")


@pytest.mark.parametrize("missing", [np.nan, None, "gone"])
@pytest.mark.parametrize("layout", TEXT_LAYOUTS)
@needs_missing
@pytest.mark.filterwarnings("ignore")
def test_texts_that_are_missing(store, missing, layout):
    """Written, or refused, as zarr-python does with what NumPy gives for them."""
    found = []
    for path, where in (PIPELINE, store), (BATCHED, MemoryStore()):
        with zarr.config.set({"codec_pipeline.path": path}):
            for i, selection in enumerate(
                (
                    np.s_[0:2, 0:3],  # an inner chunk
                    np.s_[0:4, 0:6],
                    np.s_[1:3, 2:9],
                    np.s_[8:10, :],  # beyond the end
                    np.s_[::2, 6:12],
                    np.s_[1, 0:6],
                    np.s_[2:3],
                    ...,
                )
            ):
                # What zarr-python still writes after it has refused a part goes nowhere else.
                array = zarr.create_array(
                    where,
                    name=str(i),
                    shape=(10, 14),
                    chunks=(4, 6),
                    dtype=str,
                    **TEXT_LAYOUTS[layout],
                )
                texts = texts_of(missing, np.empty((10, 14))[selection].shape, 1)
                try:
                    array[selection] = texts
                    array[0:4] = texts[(0,) * texts.ndim]
                except TypeError as error:
                    found.append((path, str(error)))
                else:
                    found.append((path, array[...].tolist()))
    assert [f for p, f in found if p == PIPELINE] == [f for p, f in found if p == BATCHED]
    assert all_native()


@needs_missing
@pytest.mark.filterwarnings("ignore")
def test_texts_and_missing_ones_lose_nothing(store):
    array = zarr.create_array(store, shape=200, chunks=200, dtype=str)

    def add(i):
        array[i : i + 1] = texts_of(np.nan, 1, i % 2)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(200)))
    assert array[...].tolist() == 100 * ["nan", "a"]
    assert all_native()
