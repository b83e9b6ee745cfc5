#!/usr/bin/env python3
"""The tests that anndata 0.13.4 marks as of its reading and writing of zarr."""

import harness

VERSION = "0.13.4"
NEEDS = (
    f"anndata[lazy]=={VERSION}",
    "zarr==3.4.2",
    "awkward>=2.6.3",
    "boltons",
    "dask[distributed]",
    "fast-array-utils>=1.2.3",
    "filelock",
    "joblib",
    "jsonschema",
    "matplotlib",
    "openpyxl",
    "pandas==3.0.*",  # later ones keep its tests from changing their own texts
    "pooch",
    "pyarrow",
    "pytest",
    "pytest-mock",
    "pytest-xdist[psutil]",
    "scanpy>=1.10",
    "scikit-learn",
)

pipeline = harness.asked(__doc__)
result = harness.tests(
    harness.environment("anndata", NEEDS),
    harness.source("anndata", VERSION),
    "tests",
    "-m",
    "zarr_io",
    pipeline=pipeline,
    workers=2,
    environ={"PYTHONHASHSEED": "0"},  # the workers have to agree on the order of its sets
)
harness.conclude("anndata_tests", pipeline, result, least=100)
