#!/usr/bin/env python3
"""The tests that xarray 2026.9.0 has of its zarr backend, in formats 2 and 3, with the
engine and the writer of Zellige in its place; "zarr" runs the same tests as they are."""

import argparse
import shutil

import harness

VERSION = "2026.9.0"
NEEDS = (
    f"xarray=={VERSION}",
    "zarr==3.4.2",
    "cftime",
    "dask[array]",
    "h5netcdf",
    "hypothesis",
    "netCDF4",
    "pytest",
    "pytest-asyncio",
    "pytest-xdist",
    "pytz",
    "scipy",
)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("engine", choices=["zellige", "zarr"], nargs="?", default="zellige")
engine = parser.parse_args().engine
folder = harness.source("xarray", VERSION)
shutil.copy(
    harness.HERE / "xarray_engine_classes.py", folder / "xarray/tests/test_zellige.py"
)
result = harness.tests(
    harness.environment("xarray_engine", NEEDS),
    folder,
    "xarray/tests/test_zellige.py",
    "-o",
    "addopts=",
    pipeline="batched",
    workers=2,
    environ={"ZELLIGE_ENGINE": engine},
)
harness.conclude("xarray_engine", engine, result, least=1100)
