"""Work that people do with zarr-python, through each kind of store, compared with NumPy.

Runs on zarr-python 3.1.0 and later. What a version or a store does not have is skipped.
"""

import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np
import pytest
import zarr
from packaging.version import Version
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec
from zarr.codecs import TransposeCodec, ZstdCodec

NEW = Version(zarr.__version__)

# ------------------------------------------------------------------------------- stores


def local(folder):
    return zarr.storage.LocalStore(folder / "local")


def memory(folder):
    return zarr.storage.MemoryStore()


def managed_memory(folder):
    if not hasattr(zarr.storage, "ManagedMemoryStore"):
        pytest.skip("no ManagedMemoryStore in this version")
    return zarr.storage.ManagedMemoryStore(folder.name)


def zipped(folder):
    return zarr.storage.ZipStore(folder / "zipped.zip", mode="w")


def fsspec_memory(folder):
    pytest.importorskip("fsspec")
    return zarr.storage.FsspecStore.from_url(f"memory://{uuid4()}")


def fsspec_local(folder):
    pytest.importorskip("fsspec")
    return zarr.storage.FsspecStore.from_url(
        f"file://{folder}/fsspec", storage_options={"auto_mkdir": True}
    )


def obstore_memory(folder):
    obstore = pytest.importorskip("obstore.store")
    return zarr.storage.ObjectStore(obstore.MemoryStore())


def obstore_local(folder):
    obstore = pytest.importorskip("obstore.store")
    return zarr.storage.ObjectStore(obstore.LocalStore(folder / "obstore", mkdir=True))


def logging(folder):
    return zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="ERROR")


STORES = (
    local,
    memory,
    managed_memory,
    zipped,
    fsspec_memory,
    fsspec_local,
    obstore_memory,
    obstore_local,
    logging,
)


@pytest.fixture(params=STORES, ids=lambda make: make.__name__)
def store(request, tmp_path, record_property):
    made = request.param(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types without a specification, and of zip
        yield made
        made.close()
    if "zellige" in sys.modules:
        counted = sys.modules["zellige"].pipeline_stats(reset=True)
        record_property("counted", [request.param.__name__, counted])


@pytest.fixture
def can_delete(store):
    if not store.supports_deletes:
        pytest.skip("nothing can be deleted in this store")


# ------------------------------------------------------------------------------- values

RANDOM = np.random.default_rng(7)
NUMBERS = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >i2 >u4 >i8 >f4 >f8 >c16 ?".split()


def values(dtype, shape):
    dtype = np.dtype(dtype)
    bits = RANDOM.integers(-100, 100, shape)
    if dtype.kind in "mM":
        return bits.astype("i8").astype(dtype)
    if dtype.kind in "SU":
        return np.array([f"t{v}" for v in bits.flat]).reshape(shape).astype(dtype)
    if dtype.kind == "c":
        return (bits + 1j * bits[::-1]).astype(dtype)
    return bits.astype(dtype)


def array(store, data, chunks, name="a", **more):
    made = zarr.create_array(
        store, name=name, shape=data.shape, dtype=data.dtype, chunks=chunks, **more
    )
    made[...] = data
    return made


def agree(found, wanted):
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, wanted)


def reopened(made, store):
    mode = "r+" if isinstance(store, zarr.storage.ZipStore) else "r"
    return zarr.open_array(store, path=made.path, mode=mode)


# -------------------------------------------------------------------------------- tasks


def test_is_used(store):
    made = array(store, values("i4", (4,)), (2,))
    wanted = zarr.config.get("codec_pipeline.path")
    kind = type(made._async_array.codec_pipeline)
    assert wanted in (f"{kind.__module__}.{kind.__qualname__}", None)


@pytest.mark.parametrize("zarr_format", (2, 3))
@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers(store, dtype, zarr_format):
    data = values(dtype, (7, 9))
    made = array(store, data, (3, 4), zarr_format=zarr_format)
    agree(made[...], data)
    agree(reopened(made, store)[...], data)


@pytest.mark.parametrize("zarr_format", (2, 3))
@pytest.mark.parametrize("dtype", ("M8[ns]", "m8[s]", "S5", "U6", ">U3"))
def test_times_and_texts(store, dtype, zarr_format):
    data = values(dtype, (6, 5))
    made = array(store, data, (4, 2), zarr_format=zarr_format)
    agree(made[...], data)
    agree(made[1::2, 3], data[1::2, 3])


@pytest.mark.parametrize("zarr_format", (2, 3))
def test_records(store, zarr_format):
    data = np.zeros((5, 4), [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    data["a"], data["b"] = values("i4", (5, 4)), values("f8", (5, 4))
    data["c"] = b"xyz"
    made = array(store, data, (2, 3), zarr_format=zarr_format)
    agree(made[...], data)
    agree(made[1:4, ::2], data[1:4, ::2])


@pytest.mark.parametrize("zarr_format", (2, 3))
@pytest.mark.parametrize("shards", (None, (8,)))
def test_strings(store, zarr_format, shards):
    if shards and zarr_format == 2:
        pytest.skip("no shards in format 2")
    data = np.array(["", "a", "zellige", "ü", "漢字" * 9] * 4, object)[:16]
    made = zarr.create_array(
        store,
        name="a",
        shape=(16,),
        dtype=str,
        chunks=(4,),
        shards=shards,
        zarr_format=zarr_format,
    )
    made[...] = data
    assert list(made[...]) == list(data)
    made[3:6] = np.array(["x", "", "yy"], object)
    data[3:6] = ["x", "", "yy"]
    assert list(reopened(made, store)[...]) == list(data)
    assert list(made[2:9:3]) == list(data[2:9:3])


CHAINS = {
    "none": {"compressors": None},
    "gzip": {"compressors": GzipCodec(level=1)},
    "zstd": {"compressors": ZstdCodec(level=1, checksum=True)},
    "blosc": {"compressors": BloscCodec(cname="lz4", shuffle="bitshuffle")},
    "crc32c": {"compressors": [Crc32cCodec()]},
    "two": {"compressors": [ZstdCodec(), GzipCodec()]},
    "big": {"serializer": BytesCodec(endian="big")},
    "transpose": {"filters": [TransposeCodec(order=(1, 0))]},
}


@pytest.mark.parametrize("shards", (None, (8, 6)))
@pytest.mark.parametrize("chain", CHAINS)
def test_codecs(store, chain, shards):
    data = values("i4", (19, 11))
    made = array(store, data, (4, 3), shards=shards, **CHAINS[chain])
    agree(made[...], data)
    agree(reopened(made, store)[5:14, 2:9], data[5:14, 2:9])


def test_numcodecs_in_version_2(store):
    import numcodecs

    data = values("i4", (20, 6))
    for n, compressor in enumerate((numcodecs.Zlib(1), numcodecs.LZ4(), numcodecs.Blosc())):
        made = array(
            store,
            data,
            (6, 4),
            name=f"a{n}",
            zarr_format=2,
            filters=[numcodecs.Delta("i4")],
            compressors=compressor,
            order="F",
        )
        agree(made[...], data)
        made[3:9, 1] = 5
        wanted = data.copy()
        wanted[3:9, 1] = 5
        agree(reopened(made, store)[...], wanted)


def test_nested_shards(store):
    data = values("f4", (24, 16))
    inner = ShardingCodec(chunk_shape=(6, 4), codecs=[BytesCodec(), ZstdCodec()])
    outer = ShardingCodec(chunk_shape=(12, 8), codecs=[inner])
    made = array(store, data, (24, 16), serializer=outer, compressors=None)
    agree(made[...], data)
    made[5:13, 3:9] = 2.5
    data[5:13, 3:9] = 2.5
    agree(reopened(made, store)[...], data)
    agree(made[::5, 7], data[::5, 7])


LAYOUTS = {
    "chunks": {"chunks": (4, 3, 5)},
    "shards": {"chunks": (4, 3, 5), "shards": (8, 6, 10)},
    "version_2": {"chunks": (4, 3, 5), "zarr_format": 2},
    "version_2_F": {"chunks": (4, 3, 5), "zarr_format": 2, "order": "F"},
}
BASIC = {
    "element": (3, 4, 5),
    "integers": (3, slice(None), -1),
    "box": (slice(2, 9), slice(1, 8), slice(3, 17)),
    "steps": (slice(1, None, 3), slice(None, None, 2), slice(2, 19, 7)),
    "ellipsis": (..., slice(4, 11)),
    "nothing": (slice(3, 3), 2),
}
OUTER = {
    "lists": ([1, 5, 6], [0, 7], slice(2, 13)),
    "unordered": ([9, 0, 5], slice(None), [16, 2]),
    "integer_and_list": (3, [6, 1], slice(None, None, 4)),
    "mask": (np.arange(11) % 3 == 1, slice(1, 5), [1]),
}


@pytest.fixture(params=LAYOUTS)
def pair(request, store):
    """An array and what stands in it."""
    data = values("i4", (11, 9, 20))
    return array(store, data, **LAYOUTS[request.param]), data


@pytest.mark.parametrize("name", BASIC)
def test_basic(pair, name):
    made, data = pair
    key = BASIC[name]
    agree(made[key], np.asarray(data[key]))
    new = values("i4", np.shape(data[key]))
    made[key] = data[key] = new
    agree(made[...], data)


@pytest.mark.parametrize("name", OUTER)
def test_outer(pair, name):
    made, data = pair
    key = OUTER[name]
    lists = [np.atleast_1d(np.arange(n)[k]) for k, n in zip(key, data.shape)]
    grid = np.ix_(*lists)
    shape = tuple(len(i) for i, k in zip(lists, key) if not isinstance(k, int))
    agree(made.oindex[key], data[grid].reshape(shape))
    new = values("i4", shape)
    made.oindex[key] = new
    data[grid] = new.reshape(data[grid].shape)
    agree(made[...], data)


def test_points(pair):
    made, data = pair
    key = [RANDOM.permutation(n)[:7] for n in data.shape]
    agree(made.vindex[tuple(key)], data[tuple(key)])
    new = values("i4", 7)
    made.vindex[tuple(key)] = data[tuple(key)] = new
    agree(made[...], data)


def test_mask(pair):
    made, data = pair
    mask = data % 5 == 2
    agree(made.get_mask_selection(mask), data[mask])
    made.set_mask_selection(mask, 77)
    data[mask] = 77
    agree(made[...], data)


def test_last_value_stays(pair):
    """Of several values for one element, as in NumPy."""
    made, data = pair
    points = [RANDOM.integers(0, 5, 300) for _ in data.shape]
    new = np.arange(300, dtype="i4")
    made.vindex[tuple(points)] = data[tuple(points)] = new
    agree(made[...], data)
    rows, columns = RANDOM.integers(0, 11, 30), RANDOM.integers(0, 9, 40)
    new = np.arange(30 * 40, dtype="i4").reshape(30, 40)
    made.oindex[rows, columns, 7] = new
    data[np.ix_(rows, columns)[0], columns, 7] = new
    agree(made[...], data)


def test_values_that_do_not_fit(pair):
    """Are refused, and nothing is written."""
    made, data = pair
    for n in (5, 9):
        with pytest.raises(ValueError):
            made[:7, 0, 0] = np.zeros(n, "i4")
        with pytest.raises(ValueError):
            made.oindex[[9, 1, 5, 0, 3, 10, 2], 0, 0] = np.zeros(n, "i4")
    agree(made[...], data)


def test_blocks(store):
    data = values("i4", (11, 9))
    made = array(store, data, (4, 3))
    agree(made.blocks[1, 2], data[4:8, 6:9])
    made.blocks[2] = data[8:] = 3
    agree(made[...], data)


def test_out(pair):
    """Into memory that lies in strides or in Fortran order."""
    made, data = pair
    strided = np.zeros((22, 9, 20), "i4")[::2]
    fortran = np.zeros(data.shape, "i4", order="F")
    for into in (strided, fortran):
        buffer = zarr.core.buffer.cpu.NDBuffer.from_numpy_array(into)
        made.get_basic_selection(..., out=buffer)
        agree(into, data)


def test_values_of_any_layout(pair):
    made, data = pair
    new = values("i4", data.shape[::-1])
    made[...] = new.T
    agree(made[...], new.T)
    made[...] = np.broadcast_to(np.int32(4), data.shape)
    agree(made[...], np.full_like(data, 4))


def test_fill(store):
    made = zarr.create_array(store, name="a", shape=(9, 9), chunks=(4, 4), dtype="f8", fill_value=7.5)
    agree(made[...], np.full((9, 9), 7.5))
    made[2:6, 3] = 1
    wanted = np.full((9, 9), 7.5)
    wanted[2:6, 3] = 1
    agree(reopened(made, store)[...], wanted)


def is_chunk(key):
    return not key.endswith(("zarr.json", ".zarray", ".zattrs", ".zgroup"))


def keys(store):
    async def listed():
        return [key async for key in store.list()]

    return sorted(filter(is_chunk, zarr.core.sync.sync(listed())))


@pytest.mark.parametrize("shards", (None, (4,)))
@pytest.mark.parametrize("kept", (False, True))
def test_empty_chunks(store, can_delete, kept, shards):
    made = array(
        store,
        np.arange(1, 9.0),
        (2,),
        shards=shards,
        fill_value=0,
        config={"write_empty_chunks": kept},
    )
    n_all = len(keys(store))
    made[...] = 0
    assert len(keys(store)) == (n_all if kept else 0)
    made[...] = -0.0
    assert len(keys(store)) == n_all
    assert np.signbit(made[...]).all()


def test_missing_chunks(store):
    if Version("3.2") > NEW:
        pytest.skip("read_missing_chunks came with 3.2")
    made = zarr.create_array(
        store,
        name="a",
        shape=(8,),
        chunks=(2,),
        shards=(4,),
        dtype="i4",
        config={"read_missing_chunks": False},
    )
    made[:2] = 5
    agree(made[:4], np.array([5, 5, 0, 0], "i4"))
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        made[...]


def test_corrupt_chunk(store):
    made = array(store, values("i4", (6,)), (3,), compressors=[Crc32cCodec()])
    buffer = zarr.core.buffer.cpu.Buffer.from_bytes(b"\1" * 16)
    zarr.core.sync.sync(store.set("a/c/0", buffer))
    with pytest.raises(ValueError):
        made[...]


def test_read_only(store):
    if isinstance(store, zarr.storage.ZipStore):
        pytest.skip("a zip file is opened for the one or for the other")
    made = array(store, values("i4", (6,)), (3,))
    with pytest.raises(ValueError):
        reopened(made, store)[...] = 1


def test_resize_and_append(store, can_delete):
    data = values("i4", (6, 5))
    made = array(store, data, (4, 4), shards=None)
    made.append(data)
    agree(made[...], np.concatenate([data, data]))
    made.resize((3, 2))
    agree(made[...], data[:3, :2])


def test_groups(store):
    group = zarr.create_group(store)
    data = values("u2", (30,))
    group.create_array("x/y", shape=(30,), dtype="u2", chunks=(7,))[...] = data
    agree(zarr.open_group(store, mode="r+")["x/y"][...], data)


def test_pickle(store):
    if isinstance(store, zarr.storage.ZipStore):
        store.close()
        pytest.skip("a zip file that is being written cannot be pickled")
    made = array(store, values("i4", (6,)), (3,))
    try:
        pickled = pickle.dumps(made)
    except Exception as error:
        pytest.skip(f"this store cannot be pickled: {error}")
    pipelines = [a._async_array.codec_pipeline for a in (made, pickle.loads(pickled))]
    assert pipelines[0] == pipelines[1]
    if isinstance(store, zarr.storage.LocalStore):
        agree(pickle.loads(pickled)[...], made[...])


def test_threads(store):
    if isinstance(store, zarr.storage.ZipStore):
        pytest.skip("one writer at a time")
    data = values("i4", (64, 64))
    made = array(store, data, (8, 8), shards=None)

    def change(n):
        rows = slice(8 * n, 8 * n + 8)
        for _ in range(4):
            made[rows] = made[rows] + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(change, range(8)))
    agree(made[...], data + 4)
