# Arrays that somebody else writes: what is there, and each change of it.
drop_time() { sed 's/^ *[0-9.]* s  //; s/, [-0-9.]*\/s//; s/, [0-9.]* [a-zA-Z]*\/s//'; }
# Until the output has this; 20 s at most.
seen() { for _ in {1..400}; do grep -qs "$1" out && return; sleep 0.05; done; }
group3 run
array3 run/T '0, 3' '2, 3' '"uint8"' '"dimension_names": ["time", "x"]'
array3 run/x '3' '3' '"uint8"' '"dimension_names": ["x"]'
array3 run/deep/scalar '' '' '"uint8"'
group3 run/deep
grid a
echo "once"
zellige watch a --once
zellige watch a --once --objects
zellige watch a --once --axis -1
zellige watch run --once
zellige watch run --once --axis time --objects
zellige watch run T --once --json
zellige watch run deep --once --json --objects

echo "rows that come"
zellige watch run -i 0.02 --axis time --until 4 >out &
seen . # what has begun
for row in 1 2 3 4; do
  sleep 0.15
  echo "$row $row $row" | zellige write run T - --append 0
done
wait $!
echo "exit $?"
drop_time <out | sort -u | grep -v '^T  [0123]'
grep -c '^ *[0-9.]* s  T  . x 3  . row' out | sed 's/^[2345]$/one line for each change/'

echo "objects that come, a new array, one that breaks"
rm out
{
  seen '"x"'
  zellige fill run x --value 7
  zellige create run y --shape 5 --dtype int16
  seen '"y"'
  echo '{' >run/T/zarr.json
  seen '"error"'
  kill -INT "$(cat pid)"
} 2>/dev/null &
env --default-signal=INT bash -c 'echo $$ >pid; exec zellige watch run -i 0.02 --objects --json >out'
echo "exit $?"
wait
sed 's/^{"seconds": [0-9.]*, //' out

echo "errors"
try zellige watch nowhere --once
try zellige watch run nothing --once
try zellige watch run/T --once
try zellige watch a --once --interval soon
