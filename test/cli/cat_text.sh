# One value a line for one axis; rows, and an empty line between planes, for more.
echo "two axes"; grid a; zellige cat a
echo "one axis"; zellige cat a 1
echo "no axis"; zellige cat a 1,2
echo "three axes"; array3 b '2, 2, 2' '2, 2, 2' '"uint8"'; mkdir -p b/c/0/0; le 1 1 2 3 4 5 6 7 8 >b/c/0/0/0
zellige cat b
echo "nothing"; zellige cat a 0:0
echo "floats"; array3 f 5 5 '"float32"'; mkdir f/c; le 4 0x3f800000 0x3dcccccd 0x7fc00000 0xff800000 0x80000000 >f/c/0
zellige cat f
echo "strings"; array3 s 3 3 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": ""'; mkdir s/c
{ le 4 3 3; printf 'a b'; le 4 0; le 4 4; printf '"\té'; } >s/c/0
zellige cat s
echo "times"; array2 t 3 3 '"<M8[h]"'; le 8 -1 262968 0x8000000000000000 >t/0
zellige cat t
echo "records"; array2 r 2 2 '[["x", "<i2"], ["y", "|b1"]]' '"fill_value": null'; { le 2 1; le 1 1; le 2 -2; le 1 0; } >r/0
zellige cat r
