"""What notebooks show: pages of arrays and groups, and plots."""

import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import zellige

EVIL = "</td></svg><script>alert('1')</script><img src=x onerror=\"alert(2)\">&#60;\u202e\ud800"
TAGS = set(
    "div style b i span table thead tbody tr th td details summary svg path text".split()
)
ATTRIBUTES = set(
    "class open d fill fill-opacity stroke stroke-width stroke-opacity x y text-anchor "
    "transform xmlns width height viewbox role aria-label font-size".split()
)
EMPTY = {"path"}


class Page(HTMLParser):
    """Checks that tags are ours and nest; collects the text, cell by cell."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words, self.counts = [], [], {}
        self.feed(html)
        self.close()
        assert not self.open
        self.text = "".join(self.words)

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in EMPTY, tag
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.words.append("\n" if tag in ("tr", "div", "summary", "text") else " ")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def page(node):
    html = node._repr_html_()
    html.encode()  # a page must be UTF-8
    return Page(html)


def made(**keywords):
    return zellige.create_array(zellige.MemoryStore(), **keywords)


# ---------------------------------------------------------------------- arrays


def test_array():
    array = made(
        shape=(240, 181, 360),
        dtype="f4",
        chunks=(12, 46, 60),
        shards=(48, 92, 180),
        fill_value=7.5,
        dimension_names=("time", None, "longitude"),
        attributes={"units": "K", "levels": [1, 2]},
    )
    array[0] = 1
    shown = page(array)
    rows = [" ".join(row.split()) for row in shown.text.splitlines()]
    assert "time axis 1 longitude size number" in rows
    assert "array 240 181 360 59.7 MiB" in rows
    assert "shard 48 92 180 3.03 MiB 20" in rows
    assert "chunk 12 46 60 129 KiB 480" in rows
    assert "type float32" in rows
    assert "fill value 7.5" in rows
    assert "time 240" in rows and "181" in rows and "longitude 360" in rows
    assert "2 attributes" in rows and "units K" in rows and "levels [1, 2]" in rows
    (codecs,) = (row for row in rows if row.startswith("codecs"))
    assert "zstd" in codecs and "crc32c" in codecs
    (stored,) = (row for row in rows if row.startswith("stored"))
    ratio = array.nbytes / array.nbytes_stored()
    assert f"ratio {ratio:.3g}, 4 of 20 objects" in stored


def n_lines(array):
    """Straight lines of the drawing, without the outlines of its sides."""
    drawn = array._repr_html_().partition("<svg")[2].split("<path")
    return sum(part.count("M") for part in drawn if 'stroke-width=".6"' in part)


@pytest.mark.parametrize(
    ("shape", "chunks", "lines"),
    [
        ((100,), (25,), 3),
        ((100, 100), (25, 50), 3 + 1),
        ((100, 100, 100), (25, 50, 34), 2 * (3 + 1 + 2)),  # each on two sides of three
        ((5, 100, 100, 100), (1, 25, 50, 34), 2 * (3 + 1 + 2)),
        ((10**9,), (1,), 0),  # too many to draw
        ((10**9, 100), (10**6, 100), 0),
        ((7,), (7,), 0),
    ],
)
def test_drawing(shape, chunks, lines):
    assert n_lines(made(shape=shape, chunks=chunks, dtype="u1")) == lines


def test_drawing_uneven():
    sizes = [[10, 20, 30], [50, 25, 25]]
    configuration = {"kind": "inline", "chunk_shapes": sizes}
    grid = {"name": "rectilinear", "configuration": configuration}
    array = made(shape=(60, 100), dtype="u1", chunk_grid=grid)
    assert n_lines(array) == 4
    assert "varies" in page(array).text


@pytest.mark.parametrize(
    "keywords",
    [
        {"shape": (), "dtype": "f8"},
        {"shape": (0, 5), "dtype": "i4"},
        {"shape": (3,), "dtype": str},
        {"shape": (3,), "dtype": "M8[s]"},
        {"shape": (3,), "dtype": [("a", "i4"), ("b", "f8", (2,))], "zarr_format": 2},
        {"shape": (3,), "dtype": "u1", "zarr_format": 2, "compressors": None},
        {"shape": (2,) * 32, "dtype": "u1", "chunks": (1,) * 32},
    ],
)
def test_every_kind(keywords):
    assert "zellige.Array" in page(made(**keywords)).text


def test_long_store_is_not_listed(monkeypatch):
    monkeypatch.setattr(zellige.Array, "_stored", lambda _: pytest.fail("it was listed"))
    array = made(shape=(10**6,), chunks=(100,), dtype="u1")
    assert "not counted: up to 10,000 objects" in page(array).text


def test_version_2_names():
    names = {"_ARRAY_DIMENSIONS": ["y", "x"]}
    array = made(shape=(4, 6), dtype="u1", zarr_format=2, attributes=names)
    assert "y 4" in page(array).text
    wrong = made(shape=(4,), dtype="u1", zarr_format=2, attributes={"_ARRAY_DIMENSIONS": 5})
    assert "axis 0" in page(wrong).text


# ---------------------------------------------------------------------- groups


@pytest.fixture
def group():
    group = zellige.create_group(zellige.MemoryStore(), attributes={"title": "all"})
    group.create_array("air", shape=(4, 6), dtype="f4", dimension_names=("y", "x"))
    group.create_group("deep/deeper").create_array("wind", shape=(3,), dtype="i2")
    group.create_group("empty")
    return group


def test_group(group):
    shown = page(group)
    text = " ".join(shown.text.split())
    assert "1 array, 2 groups" in text
    assert "air (y: 4, x: 6) float32, 96 bytes" in text
    assert "deep/ deeper/ wind (3) int16" in text
    assert "empty/ empty" in text
    assert "1 attribute title all" in text
    assert shown.counts["details"] == 3


def test_tree(group):
    tree = group.tree()
    assert str(tree) == repr(tree) and "└── wind (3,) int16" in tree
    shown = page(tree)
    assert shown.text.split()[:3] == ["/", "air", "(y:"]
    assert shown.counts["details"] == 3
    assert "/deep" in page(group["deep"].tree()).text


def test_many_members():
    group = zellige.create_group(zellige.MemoryStore())
    below = group.create_group("below")
    for i in range(300):
        below.create_group(f"member{i}")
    shown = page(group)
    assert shown.text.count("member") == 199
    assert "and 101 more" in shown.text


def test_broken_member(group):
    group.store.put("broken/zarr.json", b'{"zarr_format": 3, "node_type": "array"}')
    assert "broken cannot be opened: " in " ".join(page(group).text.split())


# ---------------------------------------------------------------------- hostile text


def test_nothing_gets_through_unescaped():
    name = "<script>alert(1)<script>"
    group = zellige.create_group(
        zellige.MemoryStore(), attributes={EVIL: EVIL, "n": [EVIL]}
    )
    array = group.create_array(
        name,
        shape=(6, 6),
        chunks=(2, 2),
        dtype="u1",
        dimension_names=("<script>x</script>", '"><img src=y>'),
        attributes={EVIL: EVIL, "n": {EVIL: [EVIL]}, "z": "x" * 10**6},
    )
    texts = made(shape=(2,), dtype=str, fill_value="</td><script>x</script>")
    fields = [("<script>", "i4"), ("</td>", "i4")]
    record = made(shape=(2,), dtype=fields, zarr_format=2)
    for node in (group, array, texts, record, group.tree()):
        shown = page(node)  # no tag and no attribute that is not ours
        assert "<script>" in shown.text
        assert "\u202e" not in shown.text
    assert len(array._repr_html_()) < 20_000


def test_hostile_error():
    document = (
        '{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "uint8", '
        '"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}}, '
        '"chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": ["bytes", '
        '{"name": "<script>"}]}'
    )
    group = zellige.create_group(zellige.MemoryStore())
    group.store.put("a/zarr.json", document.encode())
    assert "codec <script>: not known" in page(group).text


# ---------------------------------------------------------------------- plots


@pytest.fixture
def axes():
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    figure, axes = pyplot.subplots()
    yield axes
    figure.canvas.draw()  # what is wrong with a drawing shows when it is drawn
    pyplot.close(figure)


@pytest.fixture
def climate():
    group = zellige.create_group(zellige.MemoryStore())
    group.create_array(
        "y", data=np.array([60.0, 50, 40, 30]), attributes={"units": "degrees"}
    )
    group.create_array("time", data=np.array(["2001-01-01", "2001-01-03"], "M8[D]"))
    group.create_array("x", data=np.array([3.0, 1, 2, 5, 4]))  # in no order
    return group.create_array(
        "air",
        data=np.arange(40, dtype="f4").reshape(2, 4, 5),
        fill_value=-1,
        dimension_names=("time", "y", "x"),
        attributes={"long_name": "Air $T", "units": "K", "_FillValue": 23.0},
    )


def test_map(axes, climate):
    climate[1, 0, 0] = -1
    climate[1, 0, 1] = np.nan
    assert climate.plot(1, axes) is axes
    assert axes.get_title() == r"Air \$T [K], time = 2001-01-03"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y [degrees]")
    (mesh,) = axes.collections
    drawn = mesh.get_array()
    assert np.array_equal(drawn.mask.nonzero(), [[0, 0, 0], [0, 1, 3]])
    assert np.array_equal(drawn.compressed(), np.delete(np.arange(20, 40), [0, 1, 3]))
    assert axes.get_ylim() == (25, 65)  # places of y, but positions of x
    assert axes.get_xlim() == (-0.5, 4.5)
    assert axes.figure.axes[1].get_ylabel() == "K"


def test_line(axes, climate):
    climate.plot((slice(None, None, -1), 3, 4), axes)
    assert axes.get_title() == r"Air \$T [K], y = 30.0, x = 4.0"
    (line,) = axes.lines
    assert np.array_equal(line.get_xdata(), np.array(["2001-01-03", "2001-01-01"], "M8[D]"))
    assert np.array_equal(line.get_ydata(), [39, 19])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "K")


def test_gap_in_a_line(axes, climate):
    climate.plot((1, 0), axes, color="red")
    line, missing = axes.lines
    assert line.get_color() == "red"
    assert list(np.ma.getmaskarray(line.get_ydata())) == [False, False, False, True, False]
    assert list(missing.get_xdata()) == [3]


def test_axes_of_its_own(axes):
    array = made(data=np.arange(6).reshape(1, 2, 1, 3), zarr_format=2)
    drawn = array.plot()
    assert drawn is not axes and drawn.get_xlabel() == "axis 3"
    assert drawn.get_ylim() == (1.5, -0.5)  # rows from the top


def test_packed_values(axes):
    packing = {"scale_factor": 0.5, "add_offset": 10, "missing_value": [1, 2]}
    made(data=np.array([0, 1, 2, 3], "i2"), attributes=packing).plot(ax=axes)
    assert list(axes.lines[0].get_ydata().compressed()) == [10, 11.5]


def test_missing_value_in_base64(axes):
    packing = {"_FillValue": "AAAAAAAA8D8="}  # 1.0
    made(data=np.array([0.0, 1, 2]), attributes=packing).plot(ax=axes)
    assert list(axes.lines[0].get_ydata().compressed()) == [0, 2]


def test_thinned(axes):
    made(shape=(4000, 3000), dtype="u1", chunks=(1000, 1000)).plot(ax=axes)
    assert axes.collections[0].get_array().shape == (1334, 1500)
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "axis 1, one in 2",
        "axis 0, one in 3",
    )


@pytest.mark.parametrize("dtype", ["bool", "i8", "u2", "f2", "f8", "m8[s]", "M8[s]"])
def test_types(axes, dtype):
    made(data=np.arange(4).astype("i8").astype(dtype)).plot(ax=axes)
    assert len(axes.lines[0].get_ydata()) == 4


@pytest.mark.parametrize(
    ("keywords", "selection", "says"),
    [
        ({"shape": (2, 3, 4), "dtype": "f4"}, ..., "3 axes cannot be drawn"),
        ({"shape": (2, 3), "dtype": "f4"}, (0, 0), "one element"),
        ({"shape": (2, 3), "dtype": "f4"}, (0, 0, 0), "does not fit"),
        ({"shape": (2, 3), "dtype": "f4"}, [0, 1], "integers and slices"),
        ({"shape": (2, 3), "dtype": "f4"}, slice(2, 2), "nothing is selected"),
        ({"shape": (2,), "dtype": "c8"}, ..., "complex"),
        ({"shape": (2,), "dtype": str}, ..., "cannot be drawn"),
        ({"shape": (2, 3), "dtype": "M8[s]"}, ..., "one axis only"),
    ],
)
def test_refused(axes, keywords, selection, says):
    with pytest.raises(zellige.UsageError, match=says):
        made(**keywords).plot(selection, axes)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        made(shape=(3,), dtype="f4").plot()
