"""Output of forecasts: fields as a model makes them, while it makes the next.

>>> from zellige.forecast import AsyncZarrBackend
>>> io = AsyncZarrBackend("forecast.zarr", {"time": times, "lead_time": steps}, blocking=False)
>>> io.write([t2m, z500], coords, ["t2m", "z500"])
>>> io.close()

It takes the place of the class of this name in earth2studio, which is not needed. Torch is
not needed either, nor zarr-python but for `store`, `root` and ``io[name]``.
"""

from __future__ import annotations

from .backend import AsyncZarrBackend

__all__ = ["AsyncZarrBackend"]
