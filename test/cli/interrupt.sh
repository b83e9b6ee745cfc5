# Ctrl-C ends a read in the way that shells know.
array3 a '200000, 1000, 1000' '100, 100, 100' '"uint8"'
timeout --foreground --preserve-status -s INT 0.5 zellige cat --raw a 2>err >/dev/null
echo "exit $?"
grep -v "^zellige: cancelled: a: array /: stopped by the caller$" err # where there was time
true
