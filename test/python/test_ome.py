"""Images in several resolutions: attributes as OME-Zarr 0.5 wants them, and the arrays."""

import numpy as np
import pytest
import zellige
from conftest import same
from zellige import ome


def test_multiscales_says_what_the_specification_asks_for():
    got = ome.multiscales(
        "cells",
        "tcyx",
        [(0.1, 1, 0.5, 0.5), (0.1, 1, 1, 1)],
        translations=[None, (0, 0, 0.25, 0.25)],
        units={"t": "second", "x": "micrometer"},
        method="mean",
        metadata={"by": "hand"},
    )
    assert got == {
        "ome": {
            "version": "0.5",
            "multiscales": [
                {
                    "name": "cells",
                    "axes": [
                        {"name": "t", "type": "time", "unit": "second"},
                        {"name": "c", "type": "channel"},
                        {"name": "y", "type": "space"},
                        {"name": "x", "type": "space", "unit": "micrometer"},
                    ],
                    "datasets": [
                        {
                            "path": "0",
                            "coordinateTransformations": [
                                {"type": "scale", "scale": [0.1, 1.0, 0.5, 0.5]}
                            ],
                        },
                        {
                            "path": "1",
                            "coordinateTransformations": [
                                {"type": "scale", "scale": [0.1, 1.0, 1.0, 1.0]},
                                {
                                    "type": "translation",
                                    "translation": [0.0, 0.0, 0.25, 0.25],
                                },
                            ],
                        },
                    ],
                    "type": "mean",
                    "metadata": {"by": "hand"},
                }
            ],
        }
    }


def test_axes_of_other_names_and_types():
    axes = [
        {"name": "angle", "type": "rotation", "unit": "degree"},
        {"name": "down", "type": "space"},
        "x",
    ]
    got = ome.multiscales(None, axes, [(1, 1, 1)], paths=["full"])
    image = got["ome"]["multiscales"][0]
    assert image["axes"] == [*axes[:2], {"name": "x", "type": "space"}]
    assert "name" not in image and "type" not in image and "metadata" not in image
    assert image["datasets"][0]["path"] == "full"


@pytest.mark.parametrize(
    ("axes", "scales", "more", "words"),
    [
        ("x", [(1,)], {}, "2 to 5 axes"),
        ("tczyxx", [(1,) * 6], {}, "names of their own"),
        ("tcx", [(1,) * 3], {}, "2 or 3 axes of space"),
        ("ytx", [(1,) * 3], {}, "in this order"),
        ("qyx", [(1,) * 3], {}, "axis 'q'"),
        ([{"type": "space"}, "y", "x"], [(1,) * 3], {}, "an axis has a name"),
        ("yx", [(1, 1, 1)], {}, "a scale of 3 numbers for 2 axes"),
        ("yx", [(1, 0)], {}, "a scale of 0"),
        ("yx", [(1, float("nan"))], {}, "not all finite"),
        ("yx", [], {}, "at least one array"),
        ("yx", [(1, 1)], {"paths": ["0", "1"]}, "each array has one"),
        ("yx", [(1, 1)] * 2, {"paths": ["0", "0"]}, "paths of their own"),
        ("yx", [(1, 1)], {"units": {"z": "meter"}}, "a unit of 'z'"),
        ("yx", [(1, 1)], {"units": {"x": "um"}}, "no unit of space; there are angstrom"),
        ("yx", [(1, 1)], {"translations": [(1, 2, 3)]}, "a translation of 3 numbers"),
    ],
)
def test_what_is_forbidden(axes, scales, more, words):
    with pytest.raises(zellige.UsageError, match=words):
        ome.multiscales("a", axes, scales, **more)


def datasets(group):
    return group.attrs["ome"]["multiscales"][0]["datasets"]


def transformations(group, kind):
    return [
        next((t[kind] for t in one["coordinateTransformations"] if t["type"] == kind), None)
        for one in datasets(group)
    ]


def test_create_pyramid(tmp_path):
    pyramid = ome.create_pyramid(
        tmp_path / "image.zarr",
        (0, 3, 300, 201),
        "u2",
        "tcyx",
        3,
        chunks=(1, 1, 128, 128),
        shards=(4, 3, 256, 256),
        name="cells",
        scale=(0.1, 1, 0.5, 0.5),
        units={"t": "second", "y": "micrometer", "x": "micrometer"},
        fill_value=9,
    )
    assert [a.shape for a in pyramid.levels] == [
        (0, 3, 300, 201),
        (0, 3, 150, 101),
        (0, 3, 75, 51),
    ]
    assert [a.chunks for a in pyramid.levels] == [
        (1, 1, 128, 128),
        (1, 1, 128, 101),
        (1, 1, 75, 51),
    ]
    assert [a.shards for a in pyramid.levels] == [
        (4, 3, 256, 256),
        (4, 3, 256, 101),
        (4, 3, 75, 51),
    ]
    group = zellige.open_group(tmp_path / "image.zarr")
    assert [one["path"] for one in datasets(group)] == ["0", "1", "2"]
    assert list(group["2"].metadata.dimension_names) == ["t", "c", "y", "x"]
    assert group["2"].fill_value == 9
    assert transformations(group, "scale") == [
        [0.1, 1.0, 0.5, 0.5],
        [0.1, 1.0, 1.0, 1.0],
        [0.1, 1.0, 2.0, 2.0],
    ]
    assert transformations(group, "translation") == [
        None,
        [0.0, 0.0, 0.25, 0.25],
        [0.0, 0.0, 0.75, 0.75],
    ]
    image = group.attrs["ome"]["multiscales"][0]
    assert image["name"] == "cells" and image["type"] == "mean"
    assert image["metadata"]["factors"] == {"t": 1, "c": 1, "y": 2, "x": 2}
    assert pyramid.names == ("0", "1", "2") and pyramid.factors == (1, 1, 2, 2)


def test_levels_until_one_chunk_covers_it(tmp_path):
    pyramid = ome.create_pyramid(
        tmp_path / "a.zarr",
        (40, 1000, 30),
        "f4",
        "zyx",
        factors={"z": 2, "y": 3},
        chunks=(16, 64, 64),
        how="decimate",
        translation=(1, 2, 3),
    )
    assert [a.shape for a in pyramid.levels] == [
        (40, 1000, 30),
        (20, 334, 30),
        (10, 112, 30),
        (5, 38, 30),
    ]
    group = pyramid.group
    assert transformations(group, "translation") == [[1.0, 2.0, 3.0]] * 4
    assert transformations(group, "scale")[3] == [8.0, 27.0, 1.0]


def test_a_group_that_is_there(tmp_path):
    group = zellige.create_group(tmp_path / "g.zarr", attributes={"kept": 1})
    ome.create_pyramid(group, (8, 8), "u1", "yx", 1)
    group = zellige.open_group(tmp_path / "g.zarr", mode="r+")
    assert group.attrs["kept"] == 1 and group["0"].shape == (8, 8)
    with pytest.raises(zellige.ExistsError, match="attributes of OME already"):
        ome.create_pyramid(group, (9, 9), "u1", "yx", 1)
    ome.create_pyramid(group, (9, 9), "u1", "yx", 1, overwrite=True)
    assert zellige.open_group(tmp_path / "g.zarr")["0"].shape == (9, 9)
    with pytest.raises(zellige.UsageError, match="of version 2"):
        ome.create_pyramid(
            zellige.create_group(tmp_path / "old.zarr", zarr_format=2), (8, 8), "u1", "yx"
        )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"how": "median"}, "how is one of mean"),
        ({"levels": 0}, "there is at least one"),
        ({"factors": (0, 2)}, "at least 1"),
        ({"factors": (2,)}, "one for each of 2 axes"),
        ({"factors": {"z": 2}}, "a factor of 'z'"),
        ({"shape": (8,)}, "a shape of 1 lengths for 2 axes"),
        ({"scale": (1,)}, "scale of 1 numbers"),
    ],
)
def test_bad_pyramids_leave_nothing(tmp_path, more, words):
    arguments = {"shape": (8, 8), "dtype": "u1", "axes": "yx", **more}
    with pytest.raises(zellige.UsageError, match=words):
        ome.create_pyramid(tmp_path / "a.zarr", **arguments)
    assert not (tmp_path / "a.zarr").exists()


# ---------------------------------------------------------------------- levels on the way


def reduced(data, factors, how):
    """Windows that are cut short at the end, one after the other."""
    shape = [-(-n // f) for n, f in zip(data.shape, factors)]
    made = np.empty(shape, data.dtype)
    for at in np.ndindex(*shape):
        window = data[tuple(slice(i * f, i * f + f) for i, f in zip(at, factors))]
        if how == "decimate":
            made[at] = window.flat[0]
        elif how == "mean":
            made[at] = np.rint(window.mean())
        else:
            made[at] = getattr(window, how)()
    return made


@pytest.mark.parametrize("how", ["mean", "min", "max", "decimate"])
def test_a_stream_feeds_its_levels(tmp_path, how):
    pyramid = ome.create_pyramid(
        tmp_path / "run.zarr",
        (0, 21, 34),
        "u2",
        "tyx",
        3,
        chunks=(1, 8, 16),
        shards=(4, 16, 32),
        how=how,
    )
    frames = np.random.default_rng(5).integers(0, 5000, (11, 21, 34), "u2")
    group = zellige.open_group(tmp_path / "run.zarr")
    with zellige.Writer(pyramid.group) as writer:
        pyramid.feed(writer)
        for i in range(0, 8, 2):
            writer.append("0", frames[i : i + 2])
        writer.flush()
        assert [group[name].shape[0] for name in pyramid.names] == [8, 8, 8]
        for frame in frames[8:]:
            writer.append("0", frame)
    expected = frames
    for name in pyramid.names:
        assert np.array_equal(group[name][...], expected)
        expected = reduced(expected, pyramid.factors, how)


def test_parts_in_any_order_feed_the_levels(tmp_path):
    pyramid = ome.create_pyramid(
        tmp_path / "a.zarr", (37, 53), "f4", "yx", 3, factors=(2, 3), chunks=(8, 8)
    )
    data = np.random.default_rng(6).random((37, 53), "f4")
    corners = [(i, k) for i in range(0, 37, 12) for k in range(0, 53, 18)]
    boxes = [np.s_[i : i + 12, k : k + 18] for i, k in corners]
    with zellige.Writer(pyramid.group) as writer:
        pyramid.feed(writer)
        for box in reversed(boxes):
            writer.submit("0", box, data[box])
        with pytest.raises(zellige.UsageError, match="axis 1: what is given begins"):
            writer.submit("0", np.s_[0:12, 1:19], data[0:12, 1:19])
    first = zellige.open_array(tmp_path / "a.zarr/1")[...]
    window = data[10:12, 6:9].astype("f8")
    assert first.shape == (19, 18) and first[5, 2] == np.float32(window.sum() / 6)
    second = zellige.open_array(tmp_path / "a.zarr/2")
    assert second[9, 5] == np.float32(first[18:, 15:].astype("f8").sum() / 3)


def gone_on(path, frames, f):
    """What the guide says to do after a kill; f frames become one in the next level."""
    group = zellige.open_group(path, "r+")
    levels = [group[name] for name in ("0", "1", "2")]
    n = min(level.shape[0] * f**i for i, level in enumerate(levels))
    n -= n % f**2
    rest = levels[0][n:]
    for i, level in enumerate(levels):
        level.resize((n // f**i, *level.shape[1:]))
    with zellige.Writer(group) as writer:
        writer.add_coarser("0", "1", (f, 2))
        writer.add_coarser("1", "2", (f, 2))
        if len(rest) > 0:
            writer.append("0", rest)
            writer.flush()
        for i in range(n + len(rest), len(frames), f * f):
            writer.append("0", frames[i : i + f * f])


@pytest.mark.parametrize("f", [1, 2])
@pytest.mark.parametrize("n", [0, 4, 20, 28])
@pytest.mark.parametrize("shards", [(4, 8, 4), (8, 4, 4), (4, 4, 12)])
def test_levels_that_a_kill_left_of_different_lengths(tmp_path, f, n, shards):
    frames = np.random.default_rng(n).integers(0, 1000, (40, 8), "i4")
    group = zellige.create_group(tmp_path)
    for i, rows in enumerate(shards):
        shape = {"shape": (0, 8 >> i), "chunks": (1, 8 >> i), "shards": (rows, 8 >> i)}
        group.create_array(str(i), dtype="i4", **shape)
    writer = zellige.Writer(group)
    writer.add_coarser("0", "1", (f, 2))
    writer.add_coarser("1", "2", (f, 2))
    if n > 0:
        writer.append("0", frames[:n])
    writer.drain()
    writer.abort()  # the rest is lost, as by a kill
    lengths = [zellige.open_array(tmp_path / str(i)).shape[0] * f**i for i in range(3)]
    assert n < 28 or len(set(lengths)) > 1, "nothing is to be made good"
    gone_on(tmp_path, frames, f)
    for i in range(3):
        same(zellige.open_array(tmp_path / str(i))[...], frames)
        windows = frames.reshape(-1, f, 4 >> i, 2)
        frames = windows.mean((1, 3)).round().astype("i4")


def test_coarser_arrays_that_do_not_fit(tmp_path):
    group = zellige.create_group(tmp_path / "g.zarr")
    group.create_array("a", shape=(8, 8), dtype="u1")
    group.create_array("b", shape=(4, 4), dtype="u1")
    group.create_array("c", shape=(4, 4), dtype="u2")
    with zellige.Writer(group) as writer:
        with pytest.raises(zellige.UsageError, match="how is one of mean"):
            writer.add_coarser("a", "b", (2, 2), "median")
        with pytest.raises(zellige.UsageError, match="same axes and data type"):
            writer.add_coarser("a", "c", (2, 2))
        with pytest.raises(zellige.UsageError, match="8 by a factor of 4 makes 2"):
            writer.add_coarser("a", "b", (4, 4))
        with pytest.raises(TypeError, match="a tuple of 2 integers"):
            writer.add_coarser("a", "b", (2,))
        writer.add_coarser("a", "b", (2, 2), "max")
        writer.submit("a", ..., np.arange(64, dtype="u1").reshape(8, 8))
    assert group["b"][0].tolist() == [9, 11, 13, 15]
    with zellige.Writer(zellige.open_array(tmp_path / "g.zarr/a", "r+")) as writer:
        with pytest.raises(zellige.UsageError, match="a writer of one array"):
            writer.add_coarser("a", "b", (2, 2))
