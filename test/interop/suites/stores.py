#!/usr/bin/env python3
"""The work of work.py through each kind of store that zarr-python has, with the share of
chunks of each that the engine itself read and wrote."""

import harness
from zarr_peer import NEEDS

pipeline = harness.asked(__doc__)
result = harness.tests(
    harness.environment("zarr", NEEDS),
    harness.HERE,
    "work.py",
    "--confcutdir=.",
    pipeline=pipeline,
)
harness.conclude("stores", pipeline, result, least=700)
