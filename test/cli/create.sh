# New arrays and groups of both versions: words become documents.
show() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); [print(k, json.dumps(d[k])) for k in sys.argv[2:] if k in d]' "$@"; }
echo "by default"; zellige create a --shape 10,20 --dtype float32; cat a/zarr.json
echo "what can be said"
zellige create b x/y -s 240,37 -d '<i2' -c 12,37 --shards 120,37 --index start --codecs gzip:3,crc32c --fill -9 --dims time, --separator . --attrs '{"units": "K"}' --promise durable
zellige info b x/y; ls b b/x; show b/x/y/zarr.json chunk_key_encoding
echo "version 2"; zellige create c --format 2 -s 4,6 -d float64 -c 2,3 --fill NaN --order F --separator / --codecs blosc:zstd:7 --attrs '{"a": [1]}'
show c/.zarray dtype fill_value order dimension_separator compressor filters; cat c/.zattrs; echo
echo "types"
for type in bool uint8 '<f8' complex64 'datetime64[25s]' 'timedelta64[ns]' S5 U3 V4 string bytes bfloat16 '{"name": "r16"}'; do
  zellige create t3 -s 2 -d "$type" --overwrite && show t3/zarr.json data_type
  [[ $type == b*16 || $type == {* ]] && continue
  zellige create t2 -s 2 -d "$type" --overwrite --format 2 && show t2/.zarray dtype filters
done
echo "codecs"
for codecs in none zstd zstd:-5 blosc blosc:lz4hc bz2:9 lz4:2 zlib 'zstd:3,crc32c' '[{"name": "bytes", "configuration": {"endian": "big"}}]'; do
  zellige create k3 -s 2 -d int32 --codecs "$codecs" --overwrite && show k3/zarr.json codecs
done
zellige create k3 -s 2,3 -d int32 --order F --overwrite; show k3/zarr.json codecs
zellige create k2 -s 2 -d string --format 2 --codecs none --overwrite; show k2/.zarray compressor filters
echo "fill values"
for fill in 5 -2.5 Infinity -Infinity '"NaN"' 0x7fc00001; do zellige create f -s 2 -d float32 --fill "$fill" --overwrite && show f/zarr.json fill_value; done
zellige create f -s 2 -d string --fill 'a b' --overwrite; show f/zarr.json fill_value
echo "chosen shapes"
zellige create s -s 1000,1000 -d float64 --chunks auto:1M --shards auto:4M --json | grep '"chunks\|"shards'
zellige create s -s 1000,1000 -d float64 --chunks 100,100 --shards auto:2M --overwrite --json | grep '"chunks\|"shards'
zellige create s -s "" -d int8 --overwrite; zellige cat s
echo "like another"; zellige create l --like b/x/y -s 480,37 --json | grep '"shape\|"chunks\|"shards\|"attributes\|"data_type'
zellige create l --like b/x/y -c 6,37 --codecs none --overwrite; show l/zarr.json codecs
zellige create l --like c --codecs none --overwrite --json | grep 'zarr_format\|"data_type\|"compressor\|"order'
echo "groups"; zellige create g --group --attrs '{"z": 1}'; zellige create g h/i --group --format 2; zellige tree g; cat g/zarr.json
