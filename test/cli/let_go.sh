# Ctrl-C does not wait for the large chunk in hand: the command ends as one that it killed.
python3 - <<'EOF'
import bz2, json, os, random
n, part = 64 << 20, random.Random(1).randbytes(1 << 20)
os.makedirs("a/c")
document = {
    "zarr_format": 3, "node_type": "array", "shape": [n], "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [n]}},
    "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
    "codecs": [{"name": "bytes"}, {"name": "numcodecs.bz2", "configuration": {"level": 9}}],
}
json.dump(document, open("a/zarr.json", "w"))
open("a/c/0", "wb").write(bz2.compress(part) * (n >> 20))  # a stream for each part
EOF
timeout --foreground --preserve-status -s INT 0.5 zellige cat --raw a 2>err | wc -c
echo "exit ${PIPESTATUS[0]}"
cat err
