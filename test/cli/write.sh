# Text, lists, bytes and NumPy files into regions; what is not in them stays.
new() { zellige create a -s 4,6 -d int16 -c 2,3 --fill -1 --overwrite "$@"; }
echo "all of it"; new; seq 24 | zellige write a -; zellige cat a
echo "a part, in several forms"; new
echo "1 2, 3" | zellige write a - --region 0,::2
echo "[[4, 5], [6, 7]]" | zellige write a - -r "[3,1],-2:"
printf '\1\0\2\0' | zellige write a - --raw -r "1:3,1"
echo 9 >nine; zellige write a nine -r "2:,0"
zellige write a nine -r "3,3"
zellige cat a; find a -type f | sort
echo "nothing"; : | zellige write a - -r "0:0"; echo "[]" | zellige write a - -r "0:0,:"
echo "from another array"; new; seq 24 | zellige write a -; zellige create b --like a; zellige cat --npy a | zellige write b -; zellige cat --raw b | cmp - <(zellige cat --raw a)
zellige cat --npy a 1:3 >rows.npy; zellige write b rows.npy -r "::3" --json; zellige cat b
zellige cat --npy a 0 | zellige write b -; zellige cat b
echo "a second input in one file"; (cat nine nine; echo) >two; (read -r first; zellige write b - -r 0,0) <two; zellige cat b 0,0
echo "appended"; new --dims y,x
echo "1 2 3 4 5 6" | zellige write a - --append 0 --json
printf '7 8 9 10 11' | zellige write a - --append x; zellige cat a
echo "strings"; zellige create s -s 2,2 -d string -c 1,2; printf 'a b\t\n\\u00e9\\n\tc\r\n' | zellige write s -; zellige cat -j s
zellige cat s | zellige write s - ; zellige cat --raw s | zellige write s - --raw; zellige cat -j s
echo "xyz" | zellige write s - -r 0; zellige cat -j s
echo "records"; zellige create r --format 2 -s 2 -d '[["x", "<i2"], ["y", [["re", "<f4"], ["k", "|b1"]], [2]]]'
echo '[1, [[0.5, true], [NaN, false]]]' | zellige write r -; echo '[[2,[[1,true],[2,true]]]]' | zellige write r - -r 1:; zellige cat r; zellige cat r | zellige write r -; zellige cat -j r | zellige write r -; zellige cat r
echo "complex"; zellige create z -s 2 -d complex64; printf '[1,2]\n["NaN",-0.5]\n' | zellige write z -; zellige cat z; echo "[[3,4],[5,6]]" | zellige write z -; zellige cat -j z
echo "times"; zellige create t -s 4 -d 'datetime64[h]'; printf '1969-12-31T23\n2000-01-01\nNaT\n17\n' | zellige write t -; zellige cat t; zellige cat -j t | zellige write t -; zellige cat t
zellige create t -s 2 -d 'timedelta64[h]' --overwrite; echo "NaT -5" | zellige write t -; zellige cat t
echo "what a chunk of the fill value leaves"; new; zellige fill a --value -1 --json; zellige fill a --value -1 --keep-empty --json
echo "fill"; zellige fill a --value 7 -r 1:3,1:5; zellige cat a; zellige fill a -r "0:2, :" --json; zellige cat a; find a -type f | sort
zellige fill s --value '' -r 1; zellige fill s -v 'two words' -r 0,1; zellige cat -j s
zellige fill z --value '[1, "NaN"]' -r 0; zellige cat z
