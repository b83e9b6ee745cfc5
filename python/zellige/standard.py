"""The Python array API standard, as far as a stored array can: what an array is, and ways to
the elements, which are read for it. No arithmetic: that is done with what was read."""

from __future__ import annotations

import operator
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

__all__ = ["Standard"]


class Standard(_core.Array):
    """An array to functions that take arrays of any library."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def device(self) -> str:
        """Where elements that are read lie."""
        return "cpu"

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """NumPy, whose functions read the array that they are given."""
        tell = getattr(np.empty(0), "__array_namespace__", None)  # from NumPy 2.1
        if tell is None:
            return np
        namespace: ModuleType = tell(api_version=api_version)
        return namespace

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("elements are read into new memory: copy=False cannot be had")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __dlpack__(self, **keywords: Any) -> Any:
        asked = {name: value for name, value in keywords.items() if value is not None}
        return np.asarray(self[...]).__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # memory of the CPU

    # ------------------------------------------------------------------ one element

    def _element(self) -> Any:
        if self.size != 1:
            raise TypeError(f"an array of {self.size} elements is not one number")
        return np.asarray(self[...]).reshape(1)[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"an array of {self.size} elements is neither true nor false: ask its size, "
                "or any or all of its elements"
            )
        return bool(self._element())

    def __int__(self) -> int:
        return int(self._element())

    def __float__(self) -> float:
        return float(self._element())

    def __complex__(self) -> complex:
        return complex(self._element())

    def __index__(self) -> int:
        return operator.index(self._element())
