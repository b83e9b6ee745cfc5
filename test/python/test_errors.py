"""Exceptions: their classes, their words, and that nothing leaks out of a failed call."""

import numpy as np
import pytest
import zellige
from conftest import write_v3
from zellige import _core, errors

EXPECTED = {
    "no_memory": MemoryError,
    "usage": ValueError,
    "range": IndexError,
    "limit": ValueError,
    "unsupported": ValueError,
    "not_found": KeyError,
    "exists": FileExistsError,
    "io": OSError,
    "metadata": ValueError,
    "corrupt": ValueError,
    "cancelled": TimeoutError,
}


def test_a_class_for_each_status():
    assert {kind for _, kind, _, _ in _core.STATUS} == set(EXPECTED)
    for number, kind, exit_code, _ in _core.STATUS:
        error = errors.from_status(number, "what was found")
        assert isinstance(error, EXPECTED[kind]) and isinstance(error, zellige.ZelligeError)
        assert error.kind == kind and error.exit_code == exit_code
        assert str(error) == "what was found"
        assert not isinstance(error, NotImplementedError)
    assert issubclass(zellige.NotFoundError, FileNotFoundError)
    assert type(errors.from_status(999, "x")) is zellige.ZelligeError


def test_limits_are_told():
    names = [name for name, *_ in _core.LIMITS]
    assert "chunk_bytes" in names and all(value > 0 for _, value, _, _ in _core.LIMITS)


def test_corrupt_chunk(tmp_path):
    data = np.arange(8, dtype="<i4")
    array = zellige.open_array(write_v3(tmp_path / "deep", data, (4,)))
    (tmp_path / "deep" / "c" / "1").write_bytes(b"short")
    assert (array[:4] == data[:4]).all()
    with pytest.raises(zellige.CorruptError, match="c/1"):
        array[...]
    with pytest.raises(zellige.CorruptError):
        zellige.read_many([(array, 0), (array, 5)])
    assert (array[:4] == data[:4]).all()


def test_broken_document(tmp_path):
    (tmp_path / "zarr.json").write_text("{")
    for function in (zellige.open, zellige.open_array, zellige.open_group):
        with pytest.raises(zellige.MetadataError):
            function(tmp_path)


def test_wrong_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        zellige.open(tmp_path / "nothing")
    with pytest.raises(ValueError):
        zellige.open_array("a\0b")
    with pytest.raises(ValueError):
        zellige.open_array(tmp_path, path="a\0b")
    with pytest.raises(zellige.UnsupportedError, match="s3://"):
        zellige.open("s3://bucket/a.zarr")
    for nothing in (None, {}):  # an empty store in memory
        with pytest.raises(zellige.NotFoundError):
            zellige.open(nothing)
    for bad in (3, [], b"bytes"):
        with pytest.raises(TypeError):
            zellige.open(bad)


def test_text_that_is_no_utf8(tmp_path):
    store = zellige.MemoryStore()
    codecs = [{"name": "vlen-utf8"}]
    zellige.create_array(
        store, data=np.array(["abcd"], object), dtype="string", codecs=codecs
    )
    raw = store.get("c/0")
    store.put("c/0", raw.replace(b"abcd", b"ab\xff\xfe"))
    with pytest.raises(zellige.CorruptError, match="UTF-8"):
        zellige.open_array(store)[...]


def test_wrong_timeouts(tmp_path):
    array = zellige.open_array(write_v3(tmp_path, np.zeros(3), (3,)))
    for bad in (-1, float("nan"), "soon", 1e300):
        with pytest.raises((ValueError, TypeError)):
            array.read(timeout=bad)
    assert array.read(timeout=60).shape == (3,)
