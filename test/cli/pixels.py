"""pixels FILE ROWS COLUMNS: what a plot shows, read from its pixels.

Finds the frame, looks at the middle of each cell inside it, and prints a letter for each
colour: "-" is missing, "." nothing, then a, b, c ... from the darkest to the lightest.
With --line COLUMNS: how high the line is at the middle of each column, 0 to 9.
"""

import struct
import sys
import zlib

INK, MISSING, WHITE, LINE = (40, 40, 48), (178, 178, 178), (255, 255, 255), (33, 104, 163)


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def unfilter(kind, row, above):
    """A row of three bytes a pixel; PNG, section 9.2."""
    for i in range(len(row)):
        a = row[i - 3] if i >= 3 else 0
        b = above[i]
        c = above[i - 3] if i >= 3 else 0
        add = [0, a, b, (a + b) // 2, paeth(a, b, c) if kind == 4 else 0][kind]
        row[i] = (row[i] + add) & 255


def read_png(path):
    """Rows of (r, g, b)."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        (n,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n : at + 12 + n])[0] == zlib.crc32(
            kind + body
        )
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2)
        packed += body if kind == b"IDAT" else b""
        at += 12 + n
    plain = zlib.decompress(packed)
    rows, above = [], bytearray(3 * width)
    for y in range(height):
        start = y * (3 * width + 1)
        row = bytearray(plain[start + 1 : start + 1 + 3 * width])
        unfilter(plain[start], row, above)
        above = row
        rows.append([tuple(row[3 * x : 3 * x + 3]) for x in range(width)])
    return rows


def longest_run(row):
    """(length, start) of the longest run of ink."""
    best, start = (0, 0), 0
    for x, pixel in enumerate([*row, None]):
        if pixel != INK:
            best = max(best, (x - start, -start))
            start = x + 1
    return best[0], -best[1]


def frame(rows):
    """(left, top, width, height) inside the frame."""
    runs = [longest_run(row) for row in rows]
    widest = max(runs)
    edges = [y for y, run in enumerate(runs) if run == widest]
    return widest[1] + 1, edges[0] + 1, widest[0] - 2, edges[-1] - edges[0] - 1


def show_map(rows, n_rows, n_columns):
    left, top, width, height = frame(rows)
    cells = [
        [
            rows[top + int((i + 0.5) * height / n_rows)][
                left + int((k + 0.5) * width / n_columns)
            ]
            for k in range(n_columns)
        ]
        for i in range(n_rows)
    ]
    shades = sorted({c for row in cells for c in row} - {MISSING, WHITE}, key=sum)
    names = {MISSING: "-", WHITE: "."} | {c: chr(97 + i) for i, c in enumerate(shades)}
    for row in cells:
        print(*[names[c] for c in row])


def show_line(rows, n_columns):
    left, top, width, height = frame(rows)
    heights = []
    for k in range(n_columns):
        x = left + int((k + 0.5) * width / n_columns)
        column = [rows[top + y][x] for y in range(height)]
        if column.count(MISSING) > height / 2:  # lines of the grid lie over it
            heights.append("-")
            continue
        near = [
            y
            for y, c in enumerate(column)
            if sum(abs(a - b) for a, b in zip(c, LINE)) < 120
        ]
        middle = 1 - (sum(near) / len(near) + 0.5) / height if near else None
        heights.append("." if middle is None else str(int(middle * 10)))
    print(*heights)


def main():
    rows = read_png(sys.argv[1])
    print(f"{len(rows[0])} pixels wide")
    if sys.argv[2] == "--line":
        show_line(rows, int(sys.argv[3]))
    else:
        show_map(rows, int(sys.argv[2]), int(sys.argv[3]))


main()
