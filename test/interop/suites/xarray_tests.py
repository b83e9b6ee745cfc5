#!/usr/bin/env python3
"""The tests that xarray 2026.9.0 has of its zarr backend, in formats 2 and 3, through
xarray.open_zarr and to_zarr as they are."""

import harness

VERSION = "2026.9.0"
NEEDS = (
    f"xarray=={VERSION}",
    "zarr==3.4.2",
    "cftime",
    "dask[distributed]",
    "fsspec",
    "h5netcdf",
    "hypothesis",
    "netCDF4",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-xdist",
    "pytz",
    "scipy",
)

pipeline = harness.asked(__doc__)
folder = harness.source("xarray", VERSION)
names = "backends", "backends_api", "backends_datatree"
result = harness.tests(
    harness.environment("xarray", NEEDS),
    folder,
    *(f"xarray/tests/test_{name}.py" for name in names),
    "-o",
    "addopts=",
    "-k",
    "Zarr or zarr",
    pipeline=pipeline,
    workers=2,
)
harness.conclude("xarray_tests", pipeline, result, least=900)
