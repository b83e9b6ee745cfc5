# Attributes as they are stored: large integers, NaN, order; also of what cannot be opened.
group3 g '{"z": 18446744073709551615, "a": 1.50, "list": [1, 2, [3]], "nan": NaN, "o": {"x": {}, "y": []}, "s": "é\u0007\n"}'
zellige attrs g
array3 u 4 4 '"uint8"' '"codecs": [{"name": "nix"}], "attributes": {"units": "K"}'; zellige attrs u
group2 t; array2 t/a 4 4 '"|u1"'; zellige attrs t; zellige attrs t a; echo '{"units": "K"}' >t/a/.zattrs; zellige attrs t a
try zellige attrs t b
