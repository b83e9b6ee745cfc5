"""Documents are JSON whatever is put into them, and give it back."""

import json
import math

import numpy as np
import pytest
import zellige

ALPHABET = 'aé\U0001f600\0\x01\x1f\x7f"\\/\b\f\n\r\t\u2028\ufeff\uffff\ud800\udfff'
NUMBERS = [
    *(0, 1, -1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64),
    *(10**40, -(10**19), 0.0, -0.0, 0.1, 1.0, 1e21, 1e-7, 5e-324, 2.0**-1022, 1e22),
    *(1.7976931348623157e308, -2.5, 1e16, 123456789012345678.0),
]


def refuse(token):
    raise AssertionError(token)


def members(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def documents(store):
    """All of them, read as strictly as can be."""
    for key in store.keys():
        if key.endswith(("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")):
            yield json.loads(
                bytes(store.get(key)).decode("utf-8"),
                parse_constant=refuse,
                object_pairs_hook=members,
            )


def text(rng, alphabet=ALPHABET):
    """Halves of a pair side by side are one character, as all of JSON's escapes have it."""
    found = "".join(rng.choice(list(alphabet), rng.integers(0, 8)))
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def value(rng, depth=0):
    kind = rng.integers(0, 7 if depth < 4 else 5)
    if kind == 0:
        return [None, True, False][rng.integers(3)]
    if kind <= 2:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 3:
        return float(np.frombuffer(rng.bytes(8), "f8")[0].clip(-1e300, 1e300))
    if kind == 4:
        return text(rng)
    n = rng.integers(0, 5)
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(n)]
    return {text(rng): value(rng, depth + 1) for _ in range(n)}


def finite(found):
    """Without NaN, which is no JSON."""
    if isinstance(found, float) and math.isnan(found):
        return 0.5
    if isinstance(found, list):
        return [finite(item) for item in found]
    if isinstance(found, dict):
        return {name: finite(item) for name, item in found.items()}
    return found


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_random_attributes(seed, zarr_format):
    """Half a surrogate pair has no UTF-8, but JSON escapes it. repr() tells 1 from 1.0,
    and 0.0 from -0.0."""
    rng = np.random.default_rng(seed)
    store = zellige.MemoryStore()
    wanted = {text(rng): finite(value(rng)) for _ in range(6)}
    group = zellige.create_group(store, zarr_format=zarr_format, attributes=wanted)
    array = group.create_array("a", shape=3, dtype="i1")
    for _ in range(4):
        more = {text(rng): finite(value(rng)) for _ in range(3)}
        array.attrs.update(more)
        group.update_attributes(more)
    group.consolidate()
    assert list(documents(store))
    for node, path in ((array, "a"), (group, "")):
        found = zellige.open(store, path=path)
        assert repr(found.attrs.asdict()) == repr(node.attrs.asdict())
        for name, item in more.items():
            assert repr(found.attrs[name]) == repr(item)


FLOATS = ["f2", "f4", "f8"]
FILLS = [math.nan, math.inf, -math.inf, -0.0, 0.1, 5e-324, 65504.0]


def filled(dtype, fill, zarr_format):
    """The fill value as it was stored and is read, by its bytes."""
    store = zellige.MemoryStore()
    zellige.create_array(
        store, shape=2, dtype=dtype, fill_value=fill, zarr_format=zarr_format
    )
    assert len(list(documents(store))) >= 1
    found = zellige.open_array(store)
    assert found[...][0].tobytes() == np.asarray(found.fill_value, found.dtype).tobytes()
    return found[...][0]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", FLOATS)
def test_float_fill_values(dtype, zarr_format):
    with np.errstate(over="ignore"):
        values = np.array(FILLS, dtype)
    bits = np.random.default_rng(1).bytes(200 * values.itemsize)
    values = [*values, *np.frombuffer(bits, dtype)]
    for fill in values:
        found = filled(dtype, fill, zarr_format)
        if np.isnan(fill):
            assert np.isnan(found)  # any NaN is stored as the one that has a name
        else:
            assert found.tobytes() == fill.tobytes()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_fill_values(dtype, zarr_format):
    for real in FILLS:
        for imaginary in FILLS:
            fill = np.array([real, imaginary], f"f{np.dtype(dtype).itemsize // 2}")
            found = filled(dtype, fill.view(dtype)[0], zarr_format)
            assert found.tobytes() == fill.tobytes()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integer_fill_values(dtype, zarr_format):
    about = np.iinfo(dtype)
    for fill in (about.min, about.max, about.max - 1, about.max // 3, 0):
        assert int(filled(dtype, fill, zarr_format)) == fill


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_text_fill_values(zarr_format):
    rng = np.random.default_rng(5)
    for _ in range(40):
        fill = text(rng, ALPHABET[:-2])
        store = zellige.MemoryStore()
        zellige.create_array(
            store, shape=2, dtype="string", fill_value=fill, zarr_format=zarr_format
        )
        assert len(list(documents(store))) >= 1
        found = zellige.open_array(store)
        assert found.fill_value == fill and list(found[...]) == [fill, fill]


def test_texts_that_are_no_unicode():
    """Half a surrogate pair is no text that could be stored."""
    for fill in ("\ud800", "a\udfff"):
        with pytest.raises((zellige.ZelligeError, ValueError)):
            zellige.create_array(
                zellige.MemoryStore(), shape=2, dtype="string", fill_value=fill
            )


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_times(zarr_format):
    for dtype in ("M8[ns]", "m8[10us]"):
        for fill in (0, -1, 2**63 - 1, -(2**63)):
            found = filled(dtype, np.array(fill, "i8").view(dtype)[()], zarr_format)
            assert int(found.view("i8")) == fill


def test_names_of_dimensions():
    rng = np.random.default_rng(3)
    for _ in range(40):
        store = zellige.MemoryStore()
        names = (text(rng, ALPHABET[:-2].replace("\0", "")), None)
        zellige.create_array(store, shape=(2, 3), dtype="i1", dimension_names=names)
        assert len(list(documents(store))) == 1
        assert zellige.open_array(store).dimension_names == names


def test_names_that_are_cut_nowhere():
    """A name goes to the library as text of C, which ends at NUL."""
    with pytest.raises(ValueError, match="null"):
        zellige.create_array(
            zellige.MemoryStore(), shape=2, dtype="i1", dimension_names=["a\0b"]
        )
    group = zellige.create_group(zellige.MemoryStore(), attributes={"a": 1, "a\0b": 2})
    with pytest.raises(ValueError, match="null"):
        del group.attrs["a\0b"]
    assert group.attrs == {"a": 1, "a\0b": 2} == zellige.open_group(group.store).attrs
