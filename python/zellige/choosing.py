"""The ways that zarr-python names to get and set parts of an array, and those to fields of
records. Knows no more than what the brackets can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import SelectionError
from .selection import Blocks, Outer, Points

__all__ = ["Choosing"]

Fields = str | Sequence[str] | None


def _apart(key: Any) -> tuple[Any, list[str], bool]:
    """A key without its names of fields; the names; True where one was meant alone."""
    items = list(key) if isinstance(key, tuple) else [key]
    names: list[str] = []
    rest: list[Any] = []
    alone = True
    for item in items:
        if isinstance(item, str):
            names.append(item)
        elif isinstance(item, list) and item and isinstance(item[0], str):
            names += item
            alone = False
        else:
            rest.append(item)
    return tuple(rest) if rest else ..., names, alone and len(names) == 1


def _basic(key: Any) -> Any:
    """Integers, slices and the like, as NumPy's basic indexing takes them."""
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, (list, np.ndarray)) and np.ndim(item) > 0:
            raise SelectionError(
                "a basic selection has integers and slices: see get_orthogonal_selection, "
                "get_coordinate_selection and get_mask_selection"
            )
    return key


def _mask(mask: Any) -> Points:
    found = np.asarray(mask)
    if found.dtype != np.bool_:
        raise SelectionError(f"a mask is of booleans, not {found.dtype}")
    return Points(found)


class Choosing(_core.Array):
    """Parts of an array by zarr-python's names."""

    # ------------------------------------------------------------------ fields

    def _part_of(self, names: list[str], alone: bool) -> Any:
        known = self.dtype.names
        if known is None:
            raise SelectionError(f"elements of type {self.dtype} have no fields")
        for name in names:
            if name not in known:
                raise SelectionError(f"no field {name!r} among {', '.join(known)}")
        return names[0] if alone else names

    def _get_fields(self, key: Any) -> Any:
        """`array["x"]`, `array[0:5, "x", "y"]`: fields of records."""
        rest, names, alone = _apart(key)
        part = self._part_of(names, alone)
        return self._field_of(self[rest], part)

    def _field_of(self, found: Any, part: str | list[str]) -> Any:
        if isinstance(part, str):
            one = found[part]
            return np.asarray(one, order="C") if isinstance(one, np.ndarray) else one
        packed = np.empty(
            np.shape(found), np.dtype([(name, self.dtype[name]) for name in part])
        )
        for name in part:
            packed[name] = found[name]
        return packed if packed.ndim else packed[()]

    def _set_fields(self, key: Any, value: Any) -> None:
        """Reads records, changes fields of them and writes them back."""
        rest, names, alone = _apart(key)
        self._set_part(rest, self._part_of(names, alone), value)

    def _set_part(self, key: Any, part: str | list[str], value: Any) -> None:
        found = np.array(self[key])
        if isinstance(part, str):
            found[part] = value
        else:
            value = np.asarray(value)
            for name in part:
                found[name] = value[name] if value.dtype.names else value
        self[key] = found

    # ------------------------------------------------------------------ both ways

    def _get(self, key: Any, out: Any, fields: Fields) -> Any:
        if fields is not None and len(fields) > 0:
            alone = isinstance(fields, str)
            names = [fields] if isinstance(fields, str) else list(fields)
            found = self._field_of(self[key], self._part_of(names, alone))
            if out is None:
                return found
            out[...] = found
            return out
        if hasattr(out, "as_numpy_array"):  # a buffer of zarr-python
            out = out.as_numpy_array()
        return self[key] if out is None else self.read(key, out=out)

    def _set(self, key: Any, value: Any, fields: Fields) -> None:
        if fields is not None and len(fields) > 0:
            alone = isinstance(fields, str)
            names = [fields] if isinstance(fields, str) else list(fields)
            self._set_part(key, self._part_of(names, alone), value)
        else:
            self[key] = value

    # ------------------------------------------------------------------ by their names

    def get_basic_selection(
        self,
        selection: Any = ...,
        *,
        out: npt.NDArray[Any] | None = None,
        prototype: Any = None,
        fields: Fields = None,
    ) -> Any:
        """Integers and slices. `prototype` has no meaning here."""
        return self._get(_basic(selection), out, fields)

    def set_basic_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes where :func:`get_basic_selection` reads."""
        self._set(_basic(selection), value, fields)

    def get_orthogonal_selection(
        self,
        selection: Any,
        *,
        out: npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: Any = None,
    ) -> Any:
        """Each axis by itself; see `oindex`."""
        return self._get(Outer(selection), out, fields)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes where :func:`get_orthogonal_selection` reads."""
        self._set(Outer(selection), value, fields)

    def get_coordinate_selection(
        self,
        selection: Any,
        *,
        out: npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: Any = None,
    ) -> Any:
        """Points by their positions along each axis; see `vindex`."""
        return self._get(Points(selection), out, fields)

    def set_coordinate_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes where :func:`get_coordinate_selection` reads."""
        self._set(Points(selection), value, fields)

    def get_mask_selection(
        self,
        mask: Any,
        *,
        out: npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: Any = None,
    ) -> Any:
        """Points where a mask of the whole array is true; see `vindex`."""
        return self._get(_mask(mask), out, fields)

    def set_mask_selection(
        self, mask: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes where :func:`get_mask_selection` reads."""
        self._set(_mask(mask), value, fields)

    def get_block_selection(
        self,
        selection: Any,
        *,
        out: npt.NDArray[Any] | None = None,
        fields: Fields = None,
        prototype: Any = None,
    ) -> Any:
        """Chunks of the grid by their numbers; see `blocks`."""
        return self._get(Blocks(selection), out, fields)

    def set_block_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes where :func:`get_block_selection` reads."""
        self._set(Blocks(selection), value, fields)
