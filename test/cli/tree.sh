# Hierarchies: parents first, names in bytewise order, broken members told and passed over.
group3 s; group3 s/b; group3 s/b/empty; grid s/b/z; grid s/a; grid s/a.b; mkdir s/nothing
mkdir s/bad; echo '{' >s/bad/zarr.json; array3 s/c 1 1 '"nix"'
zellige tree s
zellige tree -d 1 s
zellige tree s b
zellige tree s/a
zellige ls s; zellige ls -l s; zellige ls -l s b; zellige ls s/a
echo "version 2"; group2 t; group2 t/g; array2 t/g/x '2, 3' '2, 3' '"<M8[ns]"'; zellige tree t
try zellige tree s/nothing
