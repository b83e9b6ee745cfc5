# Pictures, seen through their pixels.
show() { python3 "$here/pixels.py" "$@"; }
echo "a map, the first row on top; what is not stored is -1"; grid a; zellige plot a -o p.png; show p.png 4 6
echo "part of it, mirrored"; zellige plot a "" ':2,::-1' -o p.png; show p.png 2 6
echo "values below the range are as dark as its low end"; zellige plot a -o p.png --range 12:40; show p.png 4 6
echo "missing: NaN, and what attributes name"
array3 f '2, 3' '2, 3' '"float32"' '"attributes": {"_FillValue": 9.5, "missing_value": [1, 2]}'; mkdir -p f/c/0
le 4 0 0x3f800000 0x7fc00000 0x40000000 0x41180000 0x40a00000 >f/c/0/0; zellige plot f -o p.png; show p.png 2 3
array3 x '2, 2' '2, 2' '"int16"' '"attributes": {"_FillValue": "AAAAAAAAFEA="}'; mkdir -p x/c/0
le 2 4 5 6 7 >x/c/0/0; zellige plot x -o p.png; show p.png 2 2
array2 y '2, 2' '2, 2' '"<i2"' '"fill_value": 5'; le 2 4 5 6 7 >y/0.0; zellige plot y -o p.png; show p.png 2 2
echo '{"_ARRAY_DIMENSIONS": ["y", "x"]}' >y/.zattrs; zellige plot y -o p.png; show p.png 2 2
echo "all of it missing"; rm y/0.0; zellige plot y -o p.png; show p.png 1 1
echo "coordinates grow upwards and to the right"
group3 s; array3 s/t '2, 3' '2, 3' '"uint8"' '"dimension_names": ["lat", "lon"]'; mkdir -p s/t/c/0; le 1 0 1 2 3 4 5 >s/t/c/0/0
array3 s/lat 2 2 '"int8"'; array3 s/lon 3 3 '"int8"'; mkdir s/{lat,lon}/c
le 1 10 20 >s/lat/c/0; le 1 5 6 7 >s/lon/c/0; zellige plot s t -o p.png; show p.png 2 3
le 1 7 6 5 >s/lon/c/0; zellige plot s/t -o p.png; show p.png 2 3
echo "unless they go up and down"; le 1 5 7 6 >s/lon/c/0; zellige plot s/t -o p.png; show p.png 2 3
echo "more axes: the first of the others"; array3 c '2, 2, 2' '1, 2, 2' '"uint8"'; mkdir -p c/c/{0,1}/0; le 1 9 1 2 3 >c/c/0/0/0; le 1 0 0 0 9 >c/c/1/0/0
zellige plot c -o p.png; show p.png 2 2; zellige plot c "" 1 -o p.png; show p.png 2 2
echo "a line"; array3 l 10 10 '"int32"' '"attributes": {"missing_value": -1}'; mkdir l/c; le 4 0 1 2 3 -1 -1 6 7 8 9 >l/c/0
zellige plot l -o p.png; show p.png --line 10; zellige plot l "" ::-1 -o p.png -w 700; show p.png --line 10
echo "more cells than pixels"; array3 m '5000, 3000' '1000, 1000' '"uint8"'; zellige plot m -o p.png; show p.png 1 1
echo "refused"; rm p.png
try zellige plot c "" : -o p.png
try zellige plot a "" 1,2 -o p.png
try zellige plot a "" 1:1 -o p.png
try zellige plot a -o no/p.png
try zellige plot a -o p.png --range 1
array3 w 2 2 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": ""'; try zellige plot w -o p.png
ls
