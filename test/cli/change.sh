# Nodes over time: shapes, names, attributes, consolidated metadata, what writers left.
nodes() { zellige tree "$@"; }
zellige create s g/a -s 4,6 -d int8 -c 2,3 --attrs '{"units": "K"}'; seq 24 | zellige write s g/a -
echo "resize"; zellige resize s g/a 3,4; find s/g/a/c -type f | sort; zellige resize s g/a 5,6 --json; zellige cat s g/a
echo "listed edges"; zellige create e -s 3 -d int8 -c 3
sed -i -z 's/"regular"/"rectilinear"/; s/"chunk_shape": *\[[^]]*]/"kind": "inline", "chunk_shapes": [[1, 2]]/' e/zarr.json
for n in 5 2 8 6; do zellige resize e $n; seq 11 1$n | head -$n | zellige write e -; zellige cat e | paste -sd " "; done; rm -r e/c
sed -n '/chunk_shapes/,/}/p' e/zarr.json | tr -d ' \n'; echo; zellige resize e 0; rm -r e
echo "move"; zellige mv s g/a /b/; nodes s; zellige cat s b 1
try zellige mv s b g; try zellige mv s nix c; try zellige mv s b g/x/y; try zellige mv s b b/c; nodes s
echo "attributes"; zellige attrs s b --set 'a=[1, {"x": null}]' --set 's="é"' --delete units -p durable; zellige attrs s b
zellige attrs s b --set a=2 -d s -d nix; zellige attrs s b; zellige attrs s b | zellige attrs s b -s n=1; zellige attrs s b
echo "all or nothing"; cp s/b/zarr.json before
try zellige attrs s b -s a=3 -s c=x
try zellige attrs s b -s a=3 -s c=NaN
try zellige attrs s b -s a=3 -d a
try zellige attrs s b -s a=3 -s a=4
try zellige attrs s b -s 'a=3,"c":4'
try zellige attrs s b -s a
try zellige attrs s b -s a=
try zellige attrs s nix -s a=3
cmp s/b/zarr.json before
zellige attrs s b -s c=NaN -s d=-Infinity --python-tokens; zellige attrs s b
echo "members that are not known stay"; sed -i '0,/{/s//{ "extra": {"must_understand": false},/' s/zarr.json; zellige attrs s -s t=1; grep -c extra s/zarr.json; zellige attrs s
echo "two writers at once lose nothing"
for w in x y; do (for i in {1..30}; do zellige attrs s b -s "$w$i=$i"; done) & done; wait
zellige attrs s b | grep -c '"[xy][0-9]*": [0-9]*'
echo "version 2"; zellige create t g/a --format 2 -s 4 -d '<i4' -c 2; zellige attrs t g/a -s 'u="m"'; cat t/g/a/.zattrs; echo
zellige attrs t g -s k=1 -p verified; zellige attrs t g -d k; zellige attrs t g; zellige consolidate t; ls -A t; zellige info t | grep format
echo "consolidated"; zellige consolidate s -p durable --python-tokens; zellige info s | grep format; try zellige consolidate s b; try zellige consolidate s nix
try zellige attrs s b -s a=5; try zellige create s b/c --group; try zellige mv s b g/b; try zellige mv s g/b b; try zellige resize s b 4,6
echo "no JSON"; zellige create n x -s 1 -d int8 --attrs '{"a": NaN}' --python-tokens; try zellige consolidate n
zellige consolidate n --python-tokens; grep -c NaN n/zarr.json; zellige consolidate n; rm -r n
echo "sweep"; left=.zlg-tmp-0123456789abcde; touch s/b/c/0/${left}{0,1,2} s/g/${left}{3,4} s/b/c/0/x
python3 -c 'import fcntl, subprocess, sys
alive = open(sys.argv[1], "r+")
fcntl.lockf(alive, fcntl.LOCK_EX)
subprocess.run(["zellige", "sweep", "s", "b"])' s/b/c/0/${left}1
ls -A s/b/c/0; zellige sweep --json s; ls -A s/b/c/0 s/g
echo "remove"; try zellige rm s b; zellige consolidate s; nodes s; ls s; try zellige rm s b; try zellige rm s; try zellige rm nix; try zellige rm s/g
zellige rm --force s; ls; echo "nothing else"; mkdir u; touch u/file; try zellige rm --force u; ls u
echo "no arrays"; try zellige resize t g 4; try zellige fill t g; try zellige write t g - </dev/null
