# Each kind of error: its word, its exit code, and what is wrong, on one line.
grid a
echo "corrupt"; printf '\0' >a/c/0/1; try zellige cat --raw a >out; tail -n 2 out | tail -c 200
echo "rest of it"; zellige cat a 2:,0:3
echo "range"; try zellige cat a 4
echo "not_found"; try zellige cat a b
echo "metadata"; mkdir m; echo '{"zarr_format": 3, "node_type": "array", "shape": [-1]}' >m/zarr.json; try zellige info m
echo '{' >m/zarr.json; try zellige info m
mkdir m2; echo '{"zarr_format": 1e18, "shape": [1]}' >m2/.zarray; try zellige info m2
echo "unsupported"; array3 u 4 4 '"uint8"' '"codecs": [{"name": "bytes"}, {"name": "nix"}]'; try zellige cat u
echo "limit"; array3 l 9223372036854775807 9223372036854775807 '"uint16"'; mkdir l/c; le 2 1 >l/c/0; try zellige cat l 0
array3 n '4294967296, 4294967296' '1, 1' '"uint8"'; try zellige cat n
echo "io"; zellige cat a 2:,0:3 2>&1 >/dev/full; echo "exit $?"
