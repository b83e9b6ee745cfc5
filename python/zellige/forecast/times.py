"""Times as CF writes them: whole numbers with `units`, instead of NumPy's data types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..errors import UsageError
from .coordinates import Values

__all__ = ["TimeEncoding", "decoded", "encoded"]

#: How times are stored: with the data types of zarr-python, or as CF does.
TimeEncoding = Literal["numpy", "cf"]

#: Words of CF and units of NumPy, the longest first.
_UNITS = {
    "days": "D",
    "hours": "h",
    "minutes": "m",
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "us",
    "nanoseconds": "ns",
}
_EPOCH = "1970-01-01"
_SINCE = re.compile(r"(\w+) since (\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?)Z?$")


def encoded(name: str, values: Values) -> tuple[Values, dict[str, str]]:
    """Values of a coordinate as numbers, in the longest unit in which they are whole, and
    the attributes that say so; what is no time stays."""
    if values.dtype.kind not in "mM":
        return values, {}
    if np.isnat(values).any():
        raise UsageError(f"coordinate {name} has a time that is none, which CF cannot say")
    for word, unit in _UNITS.items():
        numbers = values.astype(f"{values.dtype.kind}8[{unit}]")
        if (numbers == values).all():
            break
    else:
        raise UsageError(f"coordinate {name} has times below nanoseconds")
    if values.dtype.kind == "m":
        # The second is what xarray asks for: else it reads plain numbers.
        attributes = {"units": word, "dtype": "timedelta64[ns]"}
    else:
        attributes = {"units": f"{word} since {_EPOCH}", "calendar": "proleptic_gregorian"}
    return numbers.astype(np.int64), attributes


def decoded(values: Values, attributes: Mapping[str, Any]) -> Values:
    """Stored values as times again, where their attributes are those of :func:`encoded`."""
    units = attributes.get("units")
    if values.dtype.kind not in "iu" or not isinstance(units, str):
        return values
    if str(attributes.get("dtype", "")).startswith("timedelta64") and units in _UNITS:
        return values.astype(f"m8[{_UNITS[units]}]")
    found = _SINCE.match(units)
    if found is None or found[1] not in _UNITS:
        return values
    unit = _UNITS[found[1]]
    times: Values = np.array([found[2]], f"M8[{unit}]") + values.astype(f"m8[{unit}]")
    return times
