# A bar on a terminal once a read takes longer than a moment; it leaves nothing behind.
script -qec true /dev/null >/dev/null 2>&1 || exit 77 # no terminals here
array3 a '200, 1000, 1000' '10, 100, 100' '"uint8"'
script -qec 'zellige cat --raw a | (sleep 0.6; cat >/dev/null)' /dev/null >out
tr '\r' '\n' <out | grep -c '^\[#*\.*\] *[0-9]* %$' | sed 's/^[1-9][0-9]*$/a bar/'
tail -c 60 out | tr '\r' '|' | sed 's/^.*|\( *\)|$/last: \1|/'
echo "none without a terminal"
zellige cat --raw a 2>&1 >/dev/null | wc -c
