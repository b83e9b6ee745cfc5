#!/usr/bin/env python3
"""All tests of zarr-python 3.4.2 with the pipeline as the one that it is told to use; those
that take random cases take the same ones each time."""

import harness
from zarr_peer import NEEDS, VERSION

pipeline = harness.asked(__doc__)
python = harness.environment("zarr", NEEDS)
folder = harness.source("zarr", VERSION)
result = harness.tests(
    python,
    folder,
    "tests",
    "--ignore=tests/benchmarks",
    "--hypothesis-seed=0",
    pipeline=pipeline,
    workers=2,
)
harness.conclude("zarr_tests", pipeline, result, least=12000)
