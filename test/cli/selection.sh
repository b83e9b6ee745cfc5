# NumPy's notation: what each selection picks of 0 .. 9, and of a grid.
array3 a 10 4 '"uint8"'; mkdir a/c; le 1 0 1 2 3 >a/c/0; le 1 4 5 6 7 >a/c/1; le 1 8 9 0 0 >a/c/2
for s in '' : 3: :-3 2:8:3 ::-1 8:2:-3 -1 -4:-1 20: -20:2 :: '[1,5,-1]' '[9,0,0]' '[]' ... '...,2' ' 1 : 3 ' \
  ::-9223372036854775808 99999999999999999999: 5:5 7:2; do
  echo "$s -> $(zellige cat -j a "" "$s")"
done
grid g
for s in 1 ,1 ':,1' 1,2 '...,1' '1,...' '1,...,2' '::2,::-2' '[3,0],[5,1]' '-1,:' '0:2,'; do
  echo "$s -> $(zellige cat -j g "" "$s" 2>&1 | tr -d '\n')"
done
echo "refused"
for s in 10 -11 '[10]' '[1' x 1,2 '1 2' 0:1:0 '...,...' '1:2:3:4' '[1,,2]' 0..1 100000000000000000000; do
  zellige cat a "" "$s" >out 2>err; echo "$s -> exit $? $(cat out err)"
done
