# The same for programs: JSON that Python reads.
python='import json, sys; print(json.dumps(json.load(sys.stdin), sort_keys=True, indent=1))'
shard s; zellige info --json s | python3 -c "$python"
array2 b '3, 4' '2, 2' '"<f4"' '"compressor": {"id": "zstd", "level": 5}, "order": "F"'; zellige info --json b | python3 -c "$python"
group3 g '{"title": "é\u0001"}'; zellige info --json g | python3 -c "$python"
array3 u 4 4 '"uint8"' '"codecs": [{"name": "nix"}]'; zellige info --json u | python3 -c "$python"
