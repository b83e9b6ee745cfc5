# pyright: reportUnnecessaryTypeIgnoreComment=true
"""Names as mypy and pyright see them: a comment that ignores nothing is an error in both."""

import zellige

zellige.opne_array("a.zarr")  # type: ignore[attr-defined]
zellige.codecs.Zstandard()  # type: ignore[attr-defined]
zellige.ZelligeCodecPipeline.nope()  # type: ignore[attr-defined]

n_chunks: int = zellige.pipeline_stats()["read_native"]
failure: type[RuntimeError] = zellige.FallbackError
writer: type[zellige.Writer] = zellige.Writer
entry: str = zellige.xarray.ZelligeBackendEntrypoint.description
