"""An array of a store as xarray indexes it: nothing is read before it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xarray.backends import BackendArray
from xarray.core import indexing

from ..array import Array
from ..selection import Outer, Points

__all__ = ["LazyArray"]

_ALL_KINDS = indexing.IndexingSupport.VECTORIZED


class LazyArray(BackendArray):
    """Reads what an indexer asks for in one call of the engine."""

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def _as_array(self, value: Any) -> npt.NDArray[Any]:
        """What was read; one element alone becomes an array without axes."""
        if isinstance(value, np.ndarray):
            return value
        result = np.empty((), self.dtype)
        result[()] = value
        return result

    def _selection(self, key: indexing.ExplicitIndexer, items: tuple[Any, ...]) -> Any:
        if isinstance(key, indexing.VectorizedIndexer):
            return Points(items)
        return Outer(items)  # plain indices are the simplest case of it

    def __getitem__(self, key: indexing.ExplicitIndexer) -> npt.NDArray[Any]:
        def read(items: tuple[Any, ...]) -> npt.NDArray[Any]:
            return self._as_array(self._array[self._selection(key, items)])

        found: npt.NDArray[Any] = indexing.explicit_indexing_adapter(
            key, self.shape, _ALL_KINDS, read
        )
        return found

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> npt.NDArray[Any]:
        """The same for ``load_async``: the engine works beside the event loop."""

        async def read(items: tuple[Any, ...]) -> npt.NDArray[Any]:
            found = await self._array.read_async(self._selection(key, items))
            return self._as_array(found)

        found: npt.NDArray[Any] = await indexing.async_explicit_indexing_adapter(
            key, self.shape, _ALL_KINDS, read
        )
        return found
