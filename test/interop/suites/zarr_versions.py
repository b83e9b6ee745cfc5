#!/usr/bin/env python3
"""The work of work.py on local stores and in memory, with each zarr-python that is
supported, on the oldest and the newest Python found for it."""

import harness

VERSIONS = {
    "3.1.0": ("3.11", "3.11"),
    "3.1.6": ("3.11", "3.11"),
    "3.2.1": ("3.12", "3.12"),
    "3.3.0": ("3.12", "3.99"),
    "3.4.2": ("3.12", "3.99"),
}
NEEDS = "numcodecs[crc32c]", "packaging", "pytest>=7.3"

pipeline = harness.asked(__doc__)
found, n_absent = harness.Result({}, [], 0), 0
for version, range_of_python in VERSIONS.items():
    interpreter = harness.python(*range_of_python)
    if interpreter is None:
        print(f"no Python for zarr {version}")
        n_absent += 1
        continue
    result = harness.tests(
        harness.environment(f"zarr-{version}", (f"zarr=={version}", *NEEDS), interpreter),
        harness.HERE,
        "work.py",
        "--confcutdir=.",
        "-k",
        "not fsspec and not obstore and not zipped and not logging",
        pipeline=pipeline,
    )
    found.outcomes |= {f"{version} {test}": o for test, o in result.outcomes.items()}
    found.stats += [[f"{version} {label}", counted] for label, counted in result.stats]
    found.seconds += result.seconds
harness.conclude("zarr_versions", pipeline, found, n_absent=n_absent)
