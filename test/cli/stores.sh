# Functions that make stores, for the scripts beside this file.

# le BYTES NUMBER...: the numbers as little-endian integers of so many bytes.
le() {
  local n_bytes=$1 number i text=
  shift
  for number; do
    for ((i = 0; i < n_bytes; i++)); do
      text+=$(printf '\\x%02x' $((number >> 8 * i & 255)))
    done
  done
  printf "$text"
}

# array3 FOLDER SHAPE CHUNK TYPE [FIELDS]: the document of a version 3 array, as
# '4, 6' '2, 3' '"int16"'. FIELDS are further members, or replace codecs and fill_value.
array3() {
  local more=${5:-}
  mkdir -p "$1"
  [[ $more == *'"codecs"'* ]] ||
    more+=${more:+, }'"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]'
  [[ $more == *'"fill_value"'* ]] || more+=', "fill_value": 0'
  cat >"$1/zarr.json" <<EOF
{"zarr_format": 3, "node_type": "array", "shape": [$2], "data_type": $4,
 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [$3]}},
 "chunk_key_encoding": {"name": "default"}, $more}
EOF
}

# group3 FOLDER [ATTRIBUTES]
group3() {
  mkdir -p "$1"
  echo '{"zarr_format": 3, "node_type": "group", "attributes": '"${2:-"{}"}"'}' >"$1/zarr.json"
}

# array2 FOLDER SHAPE CHUNK TYPE [FIELDS]: the same for version 2.
array2() {
  local more=${5:-}
  mkdir -p "$1"
  for field in '"compressor": null' '"filters": null' '"fill_value": 0' '"order": "C"'; do
    [[ $more == *"${field%%:*}"* ]] || more+="${more:+, }$field"
  done
  echo '{"zarr_format": 2, "shape": ['"$2"'], "chunks": ['"$3"'], "dtype": '"$4, $more}" \
    >"$1/.zarray"
}

# group2 FOLDER [ATTRIBUTES]
group2() {
  mkdir -p "$1"
  echo '{"zarr_format": 2}' >"$1/.zgroup"
  [ -n "${2:-}" ] && echo "$2" >"$1/.zattrs"
  return 0
}

# grid FOLDER: int16, 4 x 6 in chunks of 2 x 3, element (i, k) is 10 i + k; the chunk of
# the last rows and columns is not stored, and its elements are -1.
grid() {
  array3 "$1" '4, 6' '2, 3' '"int16"' '"fill_value": -1'
  mkdir -p "$1"/c/{0,1}
  le 2 0 1 2 10 11 12 >"$1/c/0/0"
  le 2 3 4 5 13 14 15 >"$1/c/0/1"
  le 2 20 21 22 30 31 32 >"$1/c/1/0"
}

# shard FOLDER: uint8, 8 in shards of 4 with chunks of 2; of the second shard only the
# first chunk is there, a third shard is missing.
shard() {
  array3 "$1" '12' '4' '"uint8"' '"fill_value": 9, "dimension_names": ["x"],
 "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
  "codecs": [{"name": "bytes"}],
  "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]'
  mkdir -p "$1/c"
  { le 1 1 2 3 4; le 8 0 2 2 2; } >"$1/c/0"
  { le 1 5 6; le 8 0 2 -1 -1; } >"$1/c/1"
}

# Runs a command, then tells its exit code; its errors go to standard output.
try() {
  "$@" 2>&1
  echo "exit $?"
}
