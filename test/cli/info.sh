# What is told of arrays and groups of both versions.
echo "sharded"; shard s; zellige info s
echo "plain"; grid a; zellige info a
echo "version 2"; array2 b '3, 4' '2, 2' '"<f4"' '"compressor": {"id": "zstd", "level": 5}, "filters": [{"id": "delta", "dtype": "<f4"}], "fill_value": "NaN"'
echo '{"a": 1, "b": [1, 2]}' >b/.zattrs; zellige info b
echo "scalar"; array3 c '' '' '"bool"' '"fill_value": true'; zellige info c
echo "strings"; array3 d 2 2 '"string"' '"codecs": ["vlen-utf8"], "fill_value": "x y"'; zellige info d
echo "group"; group3 g '{"title": "t"}'; group3 g/h; grid g/a; zellige info g
echo "unknown codec"; array3 u 4 4 '"uint8"' '"codecs": [{"name": "bytes"}, {"name": "nix", "configuration": {"level": 3}}]'; zellige info u
echo "unknown type"; array3 t 4 4 '"nix64"'; zellige info t
