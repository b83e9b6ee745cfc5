"""Datasets of xarray with what CF knows, and the two engines and writers to compare."""

import numpy as np
import pandas as pd
import xarray as xr
from zellige.xarray import to_zarr

WRITERS = {
    "xarray": lambda data, store, **kw: data.to_zarr(store, **kw),
    "zellige": to_zarr,
}
ENGINES = "zarr", "zellige"


def climate():
    """Packed and missing values, times of two calendars, texts, flags."""
    random = np.random.default_rng(3)
    air = random.normal(280, 5, (7, 5, 4))
    air[2, 1:3] = np.nan
    dataset = xr.Dataset(
        {
            "air": (("time", "y", "x"), air, {"units": "K", "valid": [0.0, 400.0]}),
            "packed": (("time", "y"), air[..., 0].round(1)),
            "flag": (("y", "x"), random.integers(0, 2, (5, 4)).astype(bool)),
            "wave": (("y",), random.normal(size=5) + 1j),
            "name": (("y",), np.array(["a", "", "zellige", "ü", "漢字"], dtype=object)),
            "code": (("y",), np.array([b"a", b"bb", b"", b"c", b"d"])),
            "lag": (("time",), np.arange(7).astype("m8[h]").astype("m8[ns]")),
            "no_leap": (("time",), xr.date_range("2001-02-26", periods=7, calendar="noleap")),
            "number": ((), 42, {"missing": np.nan}),
            "nothing": (("y", "none"), np.empty((5, 0))),
        },
        coords={
            "time": pd.date_range("1999-12-30", periods=7, freq="6h"),
            "x": np.linspace(0, 9, 4),
            "label": ("y", list("abcde")),
        },
        attrs={"title": "climate", "list": [1, 2], "table": {"a": None}},
    )
    dataset["packed"].encoding = {
        "dtype": "i2",
        "scale_factor": 0.1,
        "add_offset": 273.0,
        "_FillValue": -9999,
    }
    return dataset


def arrays(n=4):
    """Plain numbers in two variables, for regions and Dask."""
    y, x = np.arange(6 * n), np.arange(4 * n)
    return xr.Dataset(
        {
            "grid": (("y", "x"), np.add.outer(100.0 * y, x)),
            "row": (("x",), x.astype("i4") * 3 + 1),
        },
        coords={"y": y * 10, "x": x + 0.5},
    )
