# A header that fills 64 bytes, or a multiple, and the elements behind it.
grid a; zellige cat --npy a 1:3,-1 | od -An -c
zellige cat --npy a 1,2 | tail -c +11 | head -n 1 | sed 's/ *$//'
descr() { zellige cat --npy "$1" | tail -c +11 | head -n 1 | sed 's/ *$//'; }
array2 t 1 1 '">M8[25s]"'; descr t
array2 u 1 1 '"<U3"' '"fill_value": ""'; descr u
array2 r 1 1 '[["x", ">i2"], ["y", [["re", "<f4"], ["im", "<f4"]]], ["it'"'"'s", "|S2", [2, 3]]]' '"fill_value": null'; descr r
array3 b 1 1 '"bfloat16"'; descr b
array3 c 1 1 '"complex64"' '"fill_value": [0, 0]'; descr c
array3 s 1 1 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": ""'; try zellige cat --npy s
