"""The codec pipeline where stores, folders and buffers are not as one expects them."""

import asyncio
import multiprocessing
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.storage import LocalStore, MemoryStore, StorePath, WrapperStore

import zellige
from zellige.chunks import Chunks
from zellige.fetching import _place
from test_pipeline import Mirror

PIPELINE = "zellige.ZelligeCodecPipeline"


@pytest.fixture(autouse=True)
def pipeline():
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        zellige.pipeline_stats(reset=True)
        yield


def make(store, value=1, **more):
    options = {"shape": 8, "chunks": 4, "dtype": "i4", **more}
    array = zarr.create_array(store, **options)
    array[...] = value
    return array


def is_native():
    return zellige.pipeline_stats(reset=True)["reasons"] == {}


# ---------------------------------------------------------------------- memory


@pytest.mark.skipif(not hasattr(zarr.storage, "ManagedMemoryStore"), reason="zarr 3.1")
def test_a_managed_store_below_a_path(tmp_path):
    whole = zarr.storage.ManagedMemoryStore(tmp_path.name)
    make(zarr.storage.ManagedMemoryStore(tmp_path.name, path="a/b"))
    assert sorted(whole._store_dict) == ["a/b/c/0", "a/b/c/1", "a/b/zarr.json"]
    assert zarr.open_array(whole, path="a/b")[...].tolist() == 8 * [1]
    assert is_native()


def test_buffers_with_gaps():
    store = MemoryStore()
    array = make(store, np.arange(8), compressors=None)
    stored = store._store_dict["c/0"]
    gaps = np.zeros((16, 2), "u1")
    gaps[:, 0] = stored.as_numpy_array()
    store._store_dict["c/0"] = cpu.Buffer.from_array_like(gaps[:, 0])
    assert array[...].tolist() == list(range(8))
    array[1] = 7
    assert array[...].tolist() == [0, 7, 2, 3, 4, 5, 6, 7]
    assert is_native()


@pytest.mark.parametrize("how", ["memory", "file"])
def test_memory_that_is_read_only(how, tmp_path):
    array = make(MemoryStore())
    np.zeros(8, "i4").tofile(tmp_path / "out")
    memory = np.zeros(8, "i4")
    memory.flags.writeable = False
    if how == "file":
        memory = np.memmap(tmp_path / "out", "i4", "r")
    out = cpu.NDBuffer.from_ndarray_like(memory)
    with pytest.raises(ValueError, match="read-only"):
        array.get_basic_selection(Ellipsis, out=out)
    assert not memory.any()


def test_into_a_mapped_file(tmp_path):
    array = make(MemoryStore(), np.arange(8))
    memory = np.memmap(tmp_path / "out", "i4", "w+", shape=8)
    array.get_basic_selection(Ellipsis, out=cpu.NDBuffer.from_ndarray_like(memory))
    assert memory.tolist() == list(range(8))
    assert is_native()


def test_fallbacks_keep_nothing():
    zarr.registry.register_codec("mirror", Mirror)
    name = f"{Mirror.__module__}.{Mirror.__qualname__}"
    with zarr.config.set({"codecs.mirror": name}):
        array = make(MemoryStore(), compressors=[Mirror()])
        array[...]
        found = array[...]
        was = weakref.ref(found)
        del found
        assert was() is None


@pytest.mark.parametrize(
    "chunk, error",
    [(16 * b"\0", zellige.CorruptError), (b"\5" + 31 * b"\0", zellige.UnsupportedError)],
)
def test_a_chunk_that_is_none_does_not_fall_back(chunk, error, tmp_path):
    """Bytes of another thing than Blosc 1, some of them of Blosc 2."""
    array = make(LocalStore(tmp_path), compressors=zarr.codecs.BloscCodec())
    (tmp_path / "c" / "0").write_bytes(chunk)
    for use in (lambda: array[0:2], lambda: array.__setitem__(0, 5)):
        with pytest.raises(error, match="container version"):
            use()
    assert is_native()
    array[0:4] = 7
    assert array[0:4].tolist() == 4 * [7]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    """As the engine says it; the reason names no path."""
    text = (
        "array /a: store: the file system has no locks (option no_locks goes without, "
        "where nobody else writes)"
    )

    def refuse(*arguments):
        raise zellige.UnsupportedError(text)

    array = make(LocalStore(tmp_path))
    monkeypatch.setattr(Chunks, "write", refuse)
    array[0:2] = 5
    assert array[...].tolist() == [5, 5, 1, 1, 1, 1, 1, 1]
    reasons = zellige.pipeline_stats(reset=True)["reasons"]
    assert reasons == {"the file system has no locks": 1}


def test_errors_name_the_kind_of_store():
    for store in (MemoryStore(), WrapperStore(MemoryStore())):
        array = make(store, compressors=None)
        asyncio.run(store.set("c/1", cpu.Buffer.from_bytes(b"123")))
        with pytest.raises(zellige.CorruptError, match=f"{type(store).__name__}: array /: "):
            array[...]


@pytest.mark.parametrize("kind", ["local", "memory", "other"])
def test_a_chunk_that_is_named_twice(kind, tmp_path):
    """Not by zarr-python, but a pipeline may be asked so."""
    stores = {"local": LocalStore(tmp_path), "memory": MemoryStore()}
    array = make(stores.get(kind) or WrapperStore(MemoryStore()), np.arange(8))
    spec = ArraySpec(
        (4,), array.metadata.dtype, 0, array.async_array.config, default_buffer_prototype()
    )
    chunk = StorePath(array.store, "c/0")
    pipeline = array.async_array.codec_pipeline
    halves = [(slice(2, 4), slice(0, 2)), (slice(0, 2), slice(2, 4))]
    batch = [(chunk, spec, (wanted,), (place,), False) for wanted, place in halves]
    out = cpu.NDBuffer.create(shape=(4,), dtype=np.dtype("i4"))
    found = asyncio.run(pipeline.read(batch, out))
    assert [one["status"] for one in found] == ["present", "present"]
    assert out.as_numpy_array().tolist() == [2, 3, 0, 1]
    asyncio.run(pipeline.write(batch, out))
    assert array[...].tolist() == list(range(8))
    new = cpu.NDBuffer.from_numpy_array(np.array([5, 6, 7, 8], "i4"))
    asyncio.run(pipeline.write(batch, new))
    assert array[...].tolist() == [7, 8, 5, 6, 4, 5, 6, 7]
    assert is_native()


# ---------------------------------------------------------------------- strings


def test_texts_stay_in_a_shard_inside_of_codecs():
    codecs = zarr.codecs
    shard = codecs.ShardingCodec(chunk_shape=(2,), codecs=[codecs.VLenUTF8Codec()])
    array = zarr.create_array(
        {},
        shape=6,
        chunks=6,
        dtype=str,
        fill_value="a long one",
        serializer=shard,
        compressors=[codecs.Crc32cCodec()],
    )
    want = 6 * ["a long one"]
    for i, text in enumerate(["", "x", "a longer one than that", "", "\U0001f600", "y"]):
        array[i] = want[i] = text
        assert array[...].tolist() == want
    assert is_native()


# ---------------------------------------------------------------------- folders


def test_a_folder_that_gives_its_name_away(tmp_path):
    old = make(LocalStore(tmp_path / "a"), 1)
    os.rename(tmp_path / "a", tmp_path / "b")
    new = make(LocalStore(tmp_path / "a"), 2)
    assert zarr.open_array(tmp_path / "b")[...].tolist() == 8 * [1]
    old[0] = 3  # by its name
    assert new[...].tolist() == [3] + 7 * [2]
    assert zarr.open_array(tmp_path / "b")[...].tolist() == 8 * [1]
    assert is_native()


def test_a_link_that_leads_elsewhere(tmp_path):
    for i in range(2):
        make(LocalStore(tmp_path / str(i)), i)
    (tmp_path / "now").symlink_to("0")
    array = zarr.open_array(tmp_path / "now")
    assert array[...].tolist() == 8 * [0]
    (tmp_path / "now").unlink()
    (tmp_path / "now").symlink_to("1")
    assert array[...].tolist() == 8 * [1]


def test_a_folder_that_is_gone(tmp_path):
    array = make(LocalStore(tmp_path / "a"))
    os.rename(tmp_path / "a", tmp_path / "b")
    assert array[...].tolist() == 8 * [0]
    array[:4] = 2
    assert array[...].tolist() == 4 * [2] + 4 * [0]


# ---------------------------------------------------------------------- other stores


class Slow(WrapperStore):
    """Others come in between."""

    async def get(self, *args, **more):
        await asyncio.sleep(0.001)
        return await super().get(*args, **more)


@pytest.mark.parametrize("shards", [None, (20,)])
@pytest.mark.parametrize("codecs", [None, [Mirror()]])
def test_parts_of_a_chunk_from_many_threads(shards, codecs):
    zarr.registry.register_codec("mirror", Mirror)
    store = Slow(MemoryStore())
    array = make(store, 0, shape=40, chunks=(10,), shards=shards, compressors=codecs)
    others = zarr.open_array(store, mode="r+")

    def write(i):
        (array if i % 2 else others)[i] = i

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(40)))
    assert array[...].tolist() == list(range(40))


def _two_roots(how, folder):
    """The same folder in two stores, and its path in each."""
    if how == "local":
        (folder / "link").symlink_to(folder)
        return (LocalStore(folder / "a"), ""), (LocalStore(folder / "link"), "a")
    if how == "wrapped":
        whole = LocalStore(folder)
        return (Slow(LocalStore(folder / "a")), ""), (zarr.storage.LoggingStore(whole), "a")
    if how == "fsspec":
        pytest.importorskip("fsspec")
        url, name = zarr.storage.FsspecStore.from_url, folder.name
        return (url(f"memory://{name}"), ""), (url("memory://"), name)
    if how == "fsspec and local":
        pytest.importorskip("fsspec")
        part = zarr.storage.FsspecStore.from_url(
            f"file://{folder}/a", storage_options={"auto_mkdir": True}
        )
        return (part, ""), (Slow(LocalStore(folder)), "a")
    stores = pytest.importorskip("obstore.store")
    parts = stores.LocalStore(str(folder / "a"), mkdir=True), stores.LocalStore(str(folder))
    a, whole = map(zarr.storage.ObjectStore, parts)
    return (a, ""), (whole, "a")


@pytest.mark.parametrize("how", ["local", "wrapped", "fsspec", "fsspec and local", "obstore"])
def test_parts_of_a_chunk_by_way_of_two_roots(how, tmp_path):
    zarr.registry.register_codec("mirror", Mirror)
    (first, path), other = _two_roots(how, tmp_path)
    make(first, 0, shape=200, chunks=50, compressors=[Mirror()])
    arrays = [zarr.open_array(s, path=p, mode="r+") for s, p in ((first, path), other)]

    def write(i):
        arrays[i % 2][i] = i

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(200)))
    assert arrays[0][...].tolist() == list(range(200))


def test_stores_that_are_not_the_same_do_not_wait():
    kept = [MemoryStore(), MemoryStore()]
    stores = pytest.importorskip("obstore.store")
    kept += [zarr.storage.ObjectStore(stores.MemoryStore()) for _ in range(2)]
    places = [_place(store) for store in kept]
    for bucket, prefix in ("b", None), ("b", "a"), ("c", "a"):
        s3 = stores.S3Store(bucket, prefix=prefix, region="x")
        places.append(_place(zarr.storage.ObjectStore(s3)))
    assert places[-2] == f"{places[-3]}a"
    assert len(set(places)) == len(places)


def test_who_is_cancelled_keeps_nobody_waiting():
    array = make(Slow(MemoryStore()), 0)

    async def run():
        write = array.async_array.setitem
        tasks = [asyncio.ensure_future(write(slice(i, i + 1), i)) for i in range(4)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert array[1:].tolist() == [1, 2, 3, 0, 0, 0, 0]


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("n_bytes", [0, 5])
def test_a_shard_shorter_than_its_index(location, n_bytes):
    store = MemoryStore()
    codec = zarr.codecs.ShardingCodec(chunk_shape=(2,), index_location=location)
    array = make(WrapperStore(store), chunks=4, serializer=codec, compressors=None)
    short = store._store_dict["c/1"].to_bytes()[:n_bytes]
    store._store_dict["c/1"] = cpu.Buffer.from_bytes(short)
    with pytest.raises(zellige.CorruptError, match="c/1.*the shard has"):
        array[6]


def _append(array, event):
    array[...] = 4
    event.set()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_something_is_written():
    array = make(MemoryStore(), shape=200_000, chunks=10)
    other = make(WrapperStore(MemoryStore()), shape=200_000, chunks=10)
    stop = threading.Event()

    def write(array):
        while not stop.is_set():
            array[...] = 1

    threads = [threading.Thread(target=write, args=(a,)) for a in (array, other)]
    for thread in threads:
        thread.start()
    context = multiprocessing.get_context("fork")
    for a in (array, other):
        for _ in range(3):
            event = context.Event()
            process = context.Process(target=_append, args=(a, event))
            process.start()
            assert event.wait(60)
            process.join()
    stop.set()
    for thread in threads:
        thread.join()


# ---------------------------------------------------------------------- far and many


def test_the_longest_axis():
    array = zarr.create_array({}, shape=(1 << 63) - 1, chunks=1000, dtype="i2")
    at = 1 << 62
    array[at : at + 3] = 7
    assert array[at - 1 : at + 4].tolist() == [0, 7, 7, 7, 0]
    assert is_native()


def test_an_array_that_has_grown_very_long():
    array = zarr.create_array({}, shape=10, chunks=1000, dtype="i2")
    array[...] = 1
    at = (1 << 62) + (1 << 60)
    array.resize(at + 10)
    array[at] = 7
    assert array[at - 1 : at + 2].tolist() == [0, 7, 0]
    assert is_native()


def test_many_chunks_of_all_lengths():
    edges = [1, 2, 3] * 30
    with zarr.config.set({"array.rectilinear_chunks": True}):
        try:
            array = zarr.create_array({}, shape=(180, 180), chunks=[edges] * 2, dtype="i4")
        except (TypeError, ValueError):
            pytest.skip("no rectilinear grids in this zarr")
        data = np.arange(180 * 180, dtype="i4").reshape(180, 180)
        array[...] = data
        assert np.array_equal(array[7:170:3, 100:], data[7:170:3, 100:])
    assert is_native()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["__a", "b/__c/d", "__"])
def test_names_kept_for_extensions(name, zarr_format, tmp_path):
    """zarr-python lets people use them."""
    for store in (MemoryStore(), LocalStore(tmp_path)):
        array = zarr.create_array(
            store, name=name, shape=6, chunks=4, dtype="i2", zarr_format=zarr_format
        )
        array[...] = np.arange(6)
        assert zarr.open_array(store, path=name)[...].tolist() == list(range(6))
    assert is_native()
