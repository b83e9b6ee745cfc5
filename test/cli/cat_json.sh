# Lists in the shape of the result; numbers as short as they can be.
grid a; zellige cat --json a
zellige cat -j a 1
zellige cat -j a 1,2
echo "empty"; zellige cat -j a 0:2,3:3; zellige cat -j a 0:0
echo "floats"; array3 f 4 4 '"float64"'; mkdir f/c; le 8 0x3fb999999999999a 0x7ff8000000000000 0x7ff0000000000000 0x8000000000000000 >f/c/0
zellige cat -j f
echo "strings"; array3 s 2 2 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": ""'; mkdir s/c
{ le 4 2 1; printf 'a'; le 4 4; printf '"\té'; } >s/c/0
zellige cat -j s
zellige cat -j s 1
echo "bytes"; array3 b 2 2 '"variable_length_bytes"' '"codecs": [{"name": "vlen-bytes"}], "fill_value": ""'; mkdir b/c
{ le 4 2 2; printf 'hi'; le 4 0; } >b/c/0
zellige cat -j b
