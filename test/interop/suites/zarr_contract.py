#!/usr/bin/env python3
"""What zarr-python 3.4.2 asks of every pipeline: its CodecPipelineTests, on stores with and
without synchronous calls; that each stored byte and each read value is that of its own two
pipelines; and its tests of GetResult and of threaded types."""

import harness
from zarr_peer import NEEDS, VERSION

pipeline = harness.asked(__doc__)
path = harness.PIPELINES[pipeline]
batched, fused = harness.PIPELINES["batched"], harness.PIPELINES["fused"]
folder = harness.source("zarr", VERSION) / "tests"


def put_in_place_of(other, test, name):
    """A copy of a test file with the pipeline in the place of another one."""
    text = (folder / f"{test}.py").read_text()
    assert f'"{other}"' in text
    (folder / f"{name}.py").write_text(text.replace(f'"{other}"', f'"{path}"'))
    return f"tests/{name}.py"


(folder / "test_suite.py").write_text(f"""
from tests.test_codec_pipeline_suite import CodecPipelineTests

class TestPipeline(CodecPipelineTests):
    pipeline_path = "{path}"
""")
files = (
    "tests/test_suite.py",
    put_in_place_of(fused, "test_pipeline_parity", "test_parity_with_batched"),
    put_in_place_of(batched, "test_pipeline_parity", "test_parity_with_fused"),
    put_in_place_of(fused, "test_codec_pipeline", "test_results"),
)
result = harness.tests(
    harness.environment("zarr", NEEDS), folder.parent, *files, pipeline=pipeline
)
for file, expected in zip(files, (63, 336, 336, None)):
    names = [n for n, outcome in result.outcomes.items() if n.startswith(file)]
    passed = sum(result.outcomes[n] == "passed" for n in names)
    print(f"{file}: {passed} of {len(names)} passed")
    assert expected in (len(names), None)
harness.conclude("zarr_contract", pipeline, result, least=740)
