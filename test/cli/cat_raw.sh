# C order, little-endian, whatever the store has; variable length is one JSON list.
grid a; zellige cat --raw a | od -An -tx1
echo "big-endian"; array2 b 2 2 '">i4"'; le 1 0 0 0 1 255 255 255 254 >b/0
zellige cat --raw b | od -An -tx1
echo "column order"; array2 f '2, 3' '2, 3' '"|u1"' '"order": "F"'; le 1 1 2 3 4 5 6 >f/0.0
zellige cat --raw f | od -An -tx1
echo "records"; array2 r 2 2 '[["x", ">i2"], ["y", "|u1"]]' '"fill_value": null'; le 1 1 2 3 4 5 6 >r/0
zellige cat --raw r | od -An -tx1
echo "strings"; array3 s 3 3 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": ""'; mkdir s/c
{ le 4 3 1; printf 'a'; le 4 0; le 4 4; printf '"\té'; } >s/c/0
zellige cat --raw s; echo; zellige cat --raw s 0:0; echo
echo "bytes"; array3 v 2 2 '"variable_length_bytes"' '"codecs": [{"name": "vlen-bytes"}], "fill_value": ""'; mkdir v/c
{ le 4 2 4; le 1 255 254 253 252; le 4 0; } >v/c/0
zellige cat --raw v; echo
