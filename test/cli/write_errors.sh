# Bad input is one clear error, and nothing is changed.
zellige create a -s 4,6 -d int16 -c 2,3; seq 24 | zellige write a -; zellige cat --raw a >before
refuse() { try zellige write "$@"; zellige cat --raw a | cmp - before; }
bad() { try zellige write a - "${@:2}" < <(printf "$1"); zellige cat --raw a | cmp - before; }
bad '1 2 3'
bad ''
bad '1 2 x 4 5 6' -r 0
bad '1 2 40000 4 5 6' -r 0
bad '1 2 3.5 4 5 6' -r 0
bad '[[1, 2], [3]]' -r :2,:2
bad '[1, 2, 3]' -r :2,:2
bad '[[1, 2], [3, 4]' -r :2,:2
bad '[[1, 2], [3, 4]] 5' -r :2,:2
bad '1 2 3' --raw
bad '12345678' --raw
bad '1\n' -r 4
bad '1\n' -r '['
bad '1\n' --append z
bad '1 2 3 4\n' --append 0
bad '1\n' --append 0 -r 0
bad '1\0002' -r 0,:2
bad '\223NUMPY'
bad '\223NUMPY\1\0\5\0{abcd'
bad '\223NUMPY\4\0\5\0{abcd'
refuse a nowhere
refuse a .
refuse a
refuse a x y
refuse a x - </dev/null
npy() { python3 - "$@" <<'END'
import sys
descr, order, shape, n = sys.argv[1:]
head = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)
out = b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head.encode() + bytes(int(n))
open("x.npy", "wb").write(out)
END
  refuse a x.npy
}
npy "'<f4'" False '(4, 6)' 96
npy "'<i4'" False '(4, 6)' 96
npy "'|O'" False '(4, 6)' 96
npy "'<i2'" False '(6, 4)' 48
npy "'<i2'" False '(4, 6)' 47
npy "'<i2'" Maybe '(4, 6)' 48
npy "'<i2'" False '(4, -6)' 48
npy "'<i2'" False '(4611686018427387904, 4611686018427387904)' 48
npy "[('x', '<i2'), ('y', '>i2')]" False '(4, 6)' 96
echo "other types"
for type in uint2 float16 bool 'datetime64[D]' 'datetime64[M]' S2 U2 string bytes complex64; do
  zellige create b -s 1 -d "$type" --overwrite
  for text in 4 1e9 x 2000-02-30 2000-01-02T10 'a\x' '[1]' '[1,2,3]' '""'; do
    printf '%s %s: ' "$type" "$text"
    echo "$text" | zellige write b - 2>&1 && zellige cat b
  done
done
echo "not UTF-8"; zellige create b -s 1 -d U2 --overwrite; printf '\377\n' | try zellige write b -
zellige create b -s 1 -d string --overwrite; printf '\377\n' | try zellige write b -; printf '\\ud800\n' | try zellige write b -
echo "fill"; try zellige fill a --value x; try zellige fill a --value '1 2'; try zellige fill a -r 9; try zellige fill a -v 1 -p never
echo "resize"; try zellige resize a 4; try zellige resize a 4,-1; try zellige resize a x; try zellige resize a b 4,6; zellige cat --raw a | cmp - before
