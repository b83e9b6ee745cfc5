"""What the array API standard asks of an array, as far as a stored one has it."""

import operator

import numpy as np
import pytest
import zellige
from conftest import same

DATA = np.arange(6, dtype="f4").reshape(2, 3)


def test_facts():
    array = zellige.array(DATA)
    assert (array.dtype, array.shape, array.ndim, array.size) == (DATA.dtype, (2, 3), 2, 6)
    assert array.device == "cpu"
    xp = array.__array_namespace__()
    assert float(xp.sum(xp.asarray(array))) == 15.0
    same(xp.asarray(array), DATA)
    assert not any(
        hasattr(array, f"__{name}__") for name in ("add", "mul", "matmul", "neg")
    )


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element(shape):
    array = zellige.create_array(shape=shape, dtype="i4", fill_value=5)
    assert (int(array), float(array), complex(array), bool(array)) == (5, 5.0, 5 + 0j, True)
    assert operator.index(array) == 5 and [0] * array == [0] * 5
    assert not zellige.create_array(shape=shape, dtype="i4")
    real = zellige.create_array(shape=shape, dtype="f8", fill_value=2.5)
    assert (float(real), int(real)) == (2.5, 2)
    with pytest.raises(TypeError):
        operator.index(real)


def test_several_elements():
    array = zellige.array(DATA)
    for convert in (int, float, complex, operator.index):
        with pytest.raises(TypeError):
            convert(array)
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(array)
    with pytest.raises(ValueError):
        bool(zellige.create_array(shape=0, dtype="i4"))


def test_dlpack():
    array = zellige.array(DATA)
    same(np.from_dlpack(array), DATA)
    assert array.__dlpack_device__() == (1, 0)
