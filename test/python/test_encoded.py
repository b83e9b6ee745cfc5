"""Chunks as they are stored, out of arrays and into them."""

import gzip
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(1, 30 * 20 + 1, dtype="i4").reshape(30, 20)
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
ALL = list(np.ndindex(8, 4))  # chunks of 4 x 5


def sharding(chunk, codecs):
    configuration = {"chunk_shape": chunk, "codecs": codecs, "index_codecs": [LITTLE]}
    return {"name": "sharding_indexed", "configuration": configuration}


#: Arrays of chunks of 4 x 5, whose bytes are the same in all of version 3.
KINDS = {
    "chunks": {"chunks": (4, 5), "codecs": [LITTLE, GZIP]},
    "shards": {"chunks": (16, 10), "codecs": [sharding([4, 5], [LITTLE, GZIP])]},
    "nested shards": {
        "chunks": (16, 20),
        "codecs": [sharding([8, 10], [sharding([4, 5], [LITTLE, GZIP])])],
    },
    "version 2": {
        "chunks": (4, 5),
        "zarr_format": 2,
        "compressors": {"id": "gzip", "level": 1},
    },
}


def empty(store=None, **keywords):
    keywords = {"shape": DATA.shape, "dtype": "i4", **keywords}
    return zellige.create_array(store or zellige.MemoryStore(), **keywords)


def make(kind, store=None):
    array = empty(store, **KINDS[kind])
    array[...] = DATA
    return array


def decoded(data):
    return np.frombuffer(gzip.decompress(data), "<i4").reshape(4, 5)


# ---------------------------------------------------------------------- reading


@pytest.mark.parametrize("kind", KINDS)
def test_read(kind):
    array = make(kind)
    found = array.read_encoded(ALL)
    assert type(found) is list and set(map(type, found)) == {bytes}
    for (i, k), data in zip(ALL, found):
        part = DATA[i * 4 : i * 4 + 4, k * 5 : k * 5 + 5]
        same(decoded(data)[: len(part)], part)
    # In any order, more than once, from anything that can be iterated.
    picked = [31, 0, 7, 0]
    wanted = [found[i] for i in picked]
    assert array.read_encoded([ALL[i] for i in picked]) == wanted
    assert array.read_encoded(np.array(ALL)[picked]) == wanted
    assert array.read_encoded(list(ALL[i]) for i in picked) == wanted
    assert array.read_encoded([]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_stored(kind):
    array = make(kind)
    array.fill(selection=np.s_[:16])
    array.fill(selection=np.s_[16:20, :5])
    found = dict(zip(ALL, array.read_encoded(ALL)))
    gone = {index for index, data in found.items() if data is None}
    assert gone == {(i, k) for i, k in ALL if i < 4 or (i, k) == (4, 0)}
    strict = {"read_missing_chunks": False}
    assert empty(**KINDS[kind], config=strict).read_encoded(ALL[:3]) == [None] * 3


def test_axes():
    one = empty(shape=10, chunks=4, codecs=[LITTLE])
    one[...] = range(10)
    wanted = np.arange(4, 8, dtype="<i4").tobytes()
    for chunks in ([1], [(1,)], [np.int64(1)], np.array([1]), np.array([[1]])):
        assert one.read_encoded(chunks) == [wanted]
    none = empty(shape=(), chunks=(), codecs=[LITTLE])
    none[...] = 5
    assert none.read_encoded([(), ()]) == [np.array(5, "<i4").tobytes()] * 2
    none.write_encoded({(): np.array(6, "<i4").tobytes()})
    assert none[()] == 6


def test_edges_that_differ():
    grid = {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[4, 26], [20]]},
    }
    array = empty(chunk_grid=grid, codecs=[LITTLE])
    array[...] = DATA
    found = array.read_encoded([(1, 0), (0, 0)])
    assert found == [DATA[4:].tobytes(), DATA[:4].tobytes()]
    with pytest.raises(zellige.RangeError):
        array.read_encoded([(2, 0)])


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_chunks(kind):
    array = make(kind)

    def write(chunks):
        array.write_encoded([(chunk, b"") for chunk in chunks])

    for call in (array.read_encoded, write):
        for outside in ((8, 0), (0, -1), (0, 4), (2**70, 0), (0, -(2**70))):
            with pytest.raises(IndexError, match="outside the grid"):
                call([(0, 0), outside])
        for other in ((0,), (0, 0, 0), ()):
            with pytest.raises(ValueError, match="names no chunk of an array of 2 axes"):
                call([other])
        for wrong in (0, None, (0.0, 0), ("a", 0)):
            with pytest.raises(TypeError):
                call([wrong])
        with pytest.raises(TypeError):
            call(3)
    same(array[...], DATA)


def test_broken_shards(tmp_path):
    array = make("shards", tmp_path)
    (tmp_path / "c" / "1" / "1").write_bytes(b"short")
    with pytest.raises(zellige.CorruptError, match="c/1/1"):
        array.read_encoded(ALL)
    assert len(array.read_encoded(ALL[:16])) == 16


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_from_array_to_array(source, kind):
    a, b = make(source), empty(**KINDS[kind])
    encoded = a.read_encoded(ALL)
    b.write_encoded(zip(ALL, encoded))
    same(b[...], DATA)
    assert b.read_encoded(ALL) == encoded
    c = empty(**KINDS[kind])
    c.write_encoded(dict(zip(ALL, encoded)), promise="durable", timeout=60)
    same(c[...], DATA)


@pytest.mark.parametrize("kind", KINDS)
def test_some(kind):
    """The rest stays as it is stored."""
    array = make(kind)
    before = dict(zip(ALL, array.read_encoded(ALL)))
    fresh = np.full((4, 5), -3, "<i4")
    data = gzip.compress(fresh.tobytes())
    array.write_encoded({(2, 1): data, (7, 3): None, (4, 0): bytearray(before[0, 0])})
    wanted = DATA.copy()
    wanted[8:12, 5:10], wanted[28:, 15:], wanted[16:20, :5] = fresh, 0, DATA[:4, :5]
    same(array[...], wanted)
    after = dict(zip(ALL, array.read_encoded(ALL)))
    before.update({(2, 1): data, (7, 3): None, (4, 0): before[0, 0]})
    assert after == before
    array.write_encoded([])
    array.write_encoded({})
    assert dict(zip(ALL, array.read_encoded(ALL))) == before


def test_the_last_one_counts():
    array = make("shards")
    array.write_encoded([((0, 0), b"a"), ((0, 1), b"b"), ((0, 0), None), ((0, 1), b"c")])
    assert array.read_encoded([(0, 0), (0, 1)]) == [None, b"c"]


def test_anything_with_bytes():
    array = empty(shape=20, chunks=4, codecs=[LITTLE])
    one = np.arange(4, dtype="<i4")
    data = one.tobytes()
    array.write_encoded(
        {0: data, 1: bytearray(data), 2: memoryview(data), 3: one, np.int64(4): one[::1]}
    )
    assert array.read_encoded(range(5)) == [data] * 5
    for wrong in ("text", 5, [1, 2]):
        with pytest.raises(TypeError):
            array.write_encoded({0: wrong})
    with pytest.raises((BufferError, ValueError)):
        array.write_encoded({0: np.arange(8, dtype="<i4")[::2]})
    for wrong in ([3], [(0,)], [(0, b"", 1)], ["ab"]):
        with pytest.raises(TypeError, match="a tuple"):
            array.write_encoded(wrong)
    assert array.read_encoded(range(5)) == [data] * 5


@pytest.mark.parametrize("kind", ["chunks", "shards"])
def test_nobody_looks_at_them(kind):
    array = make(kind)
    array.write_encoded({(0, 0): b"no gzip", (0, 1): b""})
    assert array.read_encoded([(0, 0), (0, 1)]) == [b"no gzip", b""]
    for place in np.s_[0, 0], np.s_[0, 5]:
        with pytest.raises(zellige.CorruptError):
            array[place]
    same(array[4:], DATA[4:])


def test_shards_that_hold_nothing_are_removed(tmp_path):
    array = make("shards", tmp_path)
    assert array.nchunks_initialized == 32
    array.write_encoded({index: None for index in ALL if index[0] < 4 and index[1] < 2})
    assert sorted(p.name for p in (tmp_path / "c" / "0").iterdir()) == ["1"]
    array.write_encoded({(0, 0): None})
    assert (array[:16, :10] == 0).all()


def test_chunks_of_the_fill_value_are_kept():
    array = empty(**KINDS["shards"])
    array.write_encoded({(0, 0): gzip.compress(bytes(80))})
    assert array.read_encoded([(0, 0), (0, 1)])[1] is None
    assert array.read_encoded([(0, 0)]) != [None] and (array[...] == 0).all()


def test_refused(tmp_path):
    make("shards", tmp_path)
    array = zellige.open_array(tmp_path, "r")
    with pytest.raises(zellige.UsageError, match="for reading only"):
        array.write_encoded({(0, 0): b""})
    with pytest.raises(zellige.UsageError, match="promise"):
        zellige.open_array(tmp_path, "r+").write_encoded({(0, 0): b""}, promise="x")
    wrapped = empty(chunks=(16, 10), codecs=[sharding([4, 5], [LITTLE]), GZIP])
    wrapped[...] = DATA
    assert wrapped.read_encoded([(0, 0)]) == [DATA[:4, :5].tobytes()]
    with pytest.raises(zellige.UnsupportedError, match="around a shard"):
        wrapped.write_encoded({(0, 0): bytes(80)})
    same(wrapped[...], DATA)


def test_texts():
    how = {"shape": 5, "dtype": "string", "chunks": 2, "shards": 4, "compressors": GZIP}
    a, b = empty(**how), empty(**how)
    a[...] = ["a", "", "β", "dd", "e"]
    b.write_encoded(zip(range(3), a.read_encoded(range(3))))
    assert b[...].tolist() == ["a", "", "β", "dd", "e"]


# ---------------------------------------------------------------------- threads, signals


def test_many_writers_of_one_shard(tmp_path):
    array = empty(tmp_path, shape=64, chunks=1, shards=64, codecs=None)
    wanted = np.arange(64, dtype="i4")
    source = empty(shape=64, chunks=1, shards=64)
    source[...] = wanted + 1
    encoded, errors = source.read_encoded(range(64)), []

    def write(k):
        try:
            for i in range(k, 64, 8):
                array.write_encoded({i: encoded[i]})
                assert array.read_encoded([i]) == [encoded[i]]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    same(array[...], wanted + 1)


def test_deadline_and_ctrl_c(tmp_path):
    script = textwrap.dedent(f"""
        import os, signal, threading, time
        import zellige
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
        array = zellige.create_array({str(tmp_path)!r}, shape=300_000, dtype="u1", chunks=1)
        chunks = range(300_000)
        writes = [(i, b"1") for i in chunks]
        for call in (array.read_encoded, array.write_encoded):
            given = chunks if call == array.read_encoded else writes
            try:
                call(given, timeout=0.05)
            except TimeoutError:
                print("late")
            def interrupt():
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=interrupt).start()
            try:
                for _ in range(100):
                    call(given)
            except KeyboardInterrupt:
                print("stopped")
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.split() == ["late", "stopped"] * 2, result.stderr
