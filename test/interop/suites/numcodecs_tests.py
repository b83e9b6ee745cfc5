#!/usr/bin/env python3
"""The tests that numcodecs 0.17.1 has of its codecs in zarr-python."""

import harness
from zarr_peer import NEEDS

pipeline = harness.asked(__doc__)
folder = harness.source("numcodecs", "0.17.1")
result = harness.tests(
    harness.environment("zarr", NEEDS),
    folder,
    "-o",
    "addopts=",
    "tests/test_zarr3.py",
    pipeline=pipeline,
)
harness.conclude("numcodecs_tests", pipeline, result, least=20)
