# What is refused leaves nothing behind, not even a folder.
refuse() { try zellige create "$@"; [ -e new ] && echo "left: $(find new)"; rm -rf new; }
refuse new
refuse new --shape 4
refuse new --shape 4,x -d int8
refuse new --shape 4, -d int8
refuse new --shape=-4 -d int8
refuse new -s 4 -d nix
refuse new -s 4 -d '>f4'
refuse new -s 4 -d 'M8[x]'
refuse new -s 4 -d int8 -c 2,2
refuse new -s 4 -d int8 -c 0
refuse new -s 4 -d int8 -c auto:x
refuse new -s 4 -d int8 --shards 4
refuse new -s 4 -d int8 -c 3 --shards 4
refuse new -s 4 -d int8 --shards auto --format 2
refuse new -s 4 -d int8 --fill 300
refuse new -s 4 -d int8 --codecs nix
refuse new -s 4 -d int8 --codecs zstd:x
refuse new -s 4 -d int8 --codecs crc32c --format 2
refuse new -s 4 -d int8 --codecs gzip,zlib --format 2
refuse new -s 4 -d int8 --codecs '[{"name": "gzip"}]'
refuse new -s 4 -d int8 --order X
refuse new -s 4 -d int8 --separator -
refuse new -s 4 -d int8 --dims a,b
refuse new -s 4 -d int8 --dims a --format 2
refuse new -s 4 -d int8 --attrs '{"a": NaN}'
refuse new -s 4 -d int8 --attrs '{"a"'
refuse new -s 4 -d int8 --attrs '[1]'
refuse new -s 4 -d int8 --promise nix
refuse new -s 4 -d int8 --like nowhere
refuse new ../b -s 4 -d int8
refuse new --group -s 4
refuse new --group --overwrite --exist-ok
refuse new --group --format 4
refuse new .zlg-tmp-0 -s 1 -d int8
refuse new a/.zlg-tmp-0 --group
mkdir empty; refuse empty/new/er .zlg-tmp-0 --group; refuse empty .zlg-tmp-0 --group; find empty; rmdir empty
refuse new "a/b/$(printf 'x%.0s' {1..256})" --group 2>&1 | sed 's/xx*/x/'
echo "with the tokens of Python"; zellige create new -s 4 -d int8 --attrs '{"a": NaN}' --python-tokens; zellige attrs new; rm -r new
echo "what is there"; zellige create a -s 4 -d int8 -c 2; seq 4 | zellige write a -
try zellige create a -s 4 -d int8
try zellige create a x --group
zellige create a -s 4 -d int8 --exist-ok; zellige cat a
try zellige create a -s 5 -d int8 --exist-ok
zellige create a -s 5 -d int8 --overwrite; zellige cat a; find a
echo "other things are not overwritten"; mkdir other; touch other/file; try zellige create other --group --overwrite; ls other
try zellige create other/file --group
