"""Codecs that are written in Python stand in chains like those of the library."""

import gc
import json
import signal
import weakref

import numpy as np
import pytest

import zellige
from zellige import codecs


class Xor:
    """bytes to bytes; counts its objects."""

    codec_id = "test-xor"
    seen = []

    def __init__(self, key=1):
        self.key = key

    def encode(self, buf):
        self.seen.append(type(buf))
        return np.frombuffer(np.ascontiguousarray(buf).tobytes(), "u1") ^ self.key

    def decode(self, buf, out=None):
        return bytes(np.frombuffer(buf, "u1") ^ self.key)


class Flip:
    """array to array"""

    def encode(self, array):
        return array[::-1]

    decode = encode


class Text:
    """array to bytes"""

    def encode(self, array):
        return json.dumps(array.tolist()).encode()

    def decode(self, buf):
        return np.array(json.loads(buf))


@pytest.fixture(scope="module", autouse=True)
def _registered():
    codecs.register(Xor)
    codecs.register(Flip, name="test.flip", kind="array-array")
    codecs.register(Text, name="test.text", id="test-text", kind="array-bytes")


DATA = np.arange(40 * 30, dtype="i4").reshape(40, 30)


@pytest.mark.parametrize(
    "how",
    [
        {"codecs": ["test.text"]},
        {"codecs": ["test.flip", "test.text", "zstd"]},
        {
            "codecs": [
                "test.flip",
                codecs.BytesCodec(),
                {"name": "numcodecs.test-xor", "configuration": {"key": 9}},
            ]
        },
        {"compressors": [{"name": "test-xor", "configuration": {}}], "shards": (20, 30)},
        {"zarr_format": 2, "filters": [{"id": "test-xor", "key": 3}]},
        {"zarr_format": 2, "filters": [codecs.Delta("<i4"), {"id": "test-xor"}]},
        {"zarr_format": 2, "filters": [{"id": "test-text"}], "compressors": None},
    ],
    ids=str,
)
def test_arrays(how):
    array = zellige.create_array(
        zellige.MemoryStore(), data=DATA, chunks=(10, 10), fill_value=-1, **how
    )
    assert np.array_equal(array[:], DATA)
    assert np.array_equal(array[3:35:4, 7], DATA[3:35:4, 7])
    array[5, 5] = 7
    assert array[5, 5] == 7 and array[5, 6] == DATA[5, 6]


def test_what_it_is_given():
    Xor.seen.clear()
    zellige.create_array(
        zellige.MemoryStore(),
        data=DATA,
        zarr_format=2,
        compressors=None,
        filters=[{"id": "test-xor"}],
    )
    assert Xor.seen and set(Xor.seen) == {np.ndarray}
    Xor.seen.clear()
    zellige.create_array(
        zellige.MemoryStore(),
        data=DATA,
        compressors=[{"name": "test-xor", "configuration": {}}],
    )
    assert Xor.seen and set(Xor.seen) == {bytes}


def test_stored_bytes_are_theirs():
    array = zellige.create_array(
        zellige.MemoryStore(), data=DATA[:2, :3], codecs=["test.flip", "test.text"]
    )
    assert array.store.get("c/0/0") == b"[[30, 31, 32], [0, 1, 2]]"


def test_alone():
    chain = codecs.Chain(["test.flip", "test.text"], dtype="i4", shape=(2, 3))
    assert chain.encode(DATA[:2, :3]) == b"[[30, 31, 32], [0, 1, 2]]"
    assert np.array_equal(chain.decode(b"[[30, 31, 32], [0, 1, 2]]"), DATA[:2, :3])
    with pytest.raises(zellige.CorruptError, match="codec test.text: JSONDecodeError: "):
        chain.decode(b"[")
    with pytest.raises(zellige.CorruptError, match="expected"):
        chain.decode(b"[1]")


def test_exceptions_become_errors():
    class Broken(Xor):
        codec_id = "test-broken"

        def encode(self, buf):
            if self.key == 1:
                raise RuntimeError("no way in")
            return 5 if self.key == 2 else super().encode(buf)

        def decode(self, buf, out=None):
            raise KeyError("no way back")

    codecs.register(Broken)
    for key, message in ((1, "RuntimeError: no way in"), (2, "TypeError: ")):
        with pytest.raises(zellige.ZelligeError, match=message):
            zellige.create_array(
                zellige.MemoryStore(),
                data=DATA,
                zarr_format=2,
                compressors={"id": "test-broken", "key": key},
            )
    array = zellige.create_array(
        zellige.MemoryStore(),
        data=DATA,
        zarr_format=2,
        compressors={"id": "test-broken", "key": 3},
    )
    with pytest.raises(zellige.CorruptError, match="codec test-broken: KeyError: 'no"):
        array[:]
    with pytest.raises(zellige.MetadataError, match="TypeError: .*colour"):
        zellige.create_array(
            zellige.MemoryStore(),
            data=DATA,
            zarr_format=2,
            compressors={"id": "test-broken", "colour": 3},
        )


def test_the_last_one_counts():
    def make(number):
        class Number:
            def encode(self, buf):
                return buf + bytes([number])

            def decode(self, buf):
                assert buf[-1] == number
                return buf[:-1]

        return Number

    codecs.register(make(1), name="test.number")
    store = zellige.MemoryStore()
    first = zellige.create_array(store, data=DATA, compressors=["test.number"])
    codecs.register(make(2), name="test.number")
    assert np.array_equal(first[:], DATA)
    again = zellige.open_array(first.store)
    with pytest.raises(zellige.CorruptError, match="AssertionError"):
        again[:]


def test_states_go_with_their_arrays():
    alive = []

    class Kept(Xor):
        codec_id = "test-kept"

        def __init__(self):
            super().__init__()
            alive.append(weakref.ref(self))

    codecs.register(Kept)
    array = zellige.create_array(
        zellige.MemoryStore(), data=DATA, zarr_format=2, compressors={"id": "test-kept"}
    )
    assert any(ref() is not None for ref in alive)
    del array
    gc.collect()
    assert all(ref() is None for ref in alive)


def test_what_is_refused():
    with pytest.raises(zellige.ExistsError, match="built in"):
        codecs.register(Xor, id="zstd")
    with pytest.raises(zellige.UsageError, match="kind"):
        codecs.register(Xor, kind="bytes")
    with pytest.raises(zellige.UsageError, match="name"):
        codecs.register(Text)


@pytest.fixture
def handled():
    """Ctrl-C raises, also where a shell has made this process ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupts_are_not_errors_of_codecs(handled):
    class Interrupted(Xor):
        codec_id = "test-interrupted"

        def decode(self, buf, out=None):
            raise KeyboardInterrupt

    codecs.register(Interrupted)
    array = zellige.create_array(
        zellige.MemoryStore(),
        data=DATA,
        zarr_format=2,
        compressors={"id": "test-interrupted"},
    )
    with pytest.raises(KeyboardInterrupt):
        try:
            array[:]
        except zellige.CorruptError:
            for _ in range(1000):  # Python looks for signals between two rounds
                pass
