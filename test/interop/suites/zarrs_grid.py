#!/usr/bin/env python3
"""The tests of zarrs-python 0.2.3 with the pipeline in the place of its own: the grid of
selections written and read on a local store (2,780 sets, each in two ways), of which nothing
may fall back, and the others, which were written for zarr-python 3.1. What it marks as
failing with its own pipeline has to pass."""

import sys

import harness
from zarr_peer import NEEDS

pipeline = harness.asked(__doc__)
folder = harness.source("zarrs", "0.2.3")
ours, theirs = harness.PIPELINES[pipeline], "zarrs.ZarrsCodecPipeline"
module = ours.rpartition(".")[0]
for file in (folder / "tests").rglob("*.py"):
    text = file.read_text().replace(theirs, ours)
    file.write_text(text.replace("import zarrs\n", f"import {module}\n"))
options = {"pipeline": pipeline, "workers": 2}

new = harness.environment("zarr", NEEDS)
grid = "tests/pipeline/test_roundtrip.py"
found = harness.tests(new, folder, grid, "--runxfail", **options)
passed, n_all = found.count()["passed"], len(found.outcomes)
n_fallbacks = sum(
    counted["read_fallback"] + counted["written_fallback"] for _, counted in found.stats
)
print(f"grid: {passed} of {n_all} passed, {n_fallbacks} chunks fell back")

interpreter = harness.python("3.11", "3.11")
if interpreter is None:
    print("no Python 3.11 for the zarr-python that the other tests were written for")
else:
    old = harness.environment(
        "zarrs",
        ("zarr==3.1.6", "obstore", "pytest", "pytest-asyncio", "pytest-mock", "pytest-xdist"),
        interpreter,
    )
    # Of zarrs itself, or over the network.
    others = "roundtrip", "registry", "strict_mode", "version", "zarrs_http", "obstore"
    ignored = [f"--ignore-glob=*/test_{name}.py" for name in others]
    rest = harness.tests(old, folder, "tests", "--runxfail", *ignored, **options)
    found.outcomes |= rest.outcomes
    found.stats += [["others", counted] for _, counted in rest.stats]
    found.seconds += rest.seconds
if n_fallbacks:
    sys.exit("the grid has to be native")
harness.conclude("zarrs_grid", pipeline, found, least=5500, n_absent=interpreter is None)
