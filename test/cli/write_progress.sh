# A long write has a bar and can be stopped; what it stopped at is whole, or not there.
script -qec true /dev/null >/dev/null 2>&1 || exit 77 # no terminals here
truncate -s 600000000 zeros
zellige create a -s 6000,100000 -d uint8 -c 100,10000 --codecs gzip:9
script -qec 'zellige write a zeros --raw --keep-empty' /dev/null >out
tr '\r' '\n' <out | grep -c '^\[#*\.*\] *[0-9]* %$' | sed 's/^[1-9][0-9]*$/a bar/'
tail -c 60 out | tr '\r' '|' | sed 's/^.*|\( *\)|$/last: \1|/'
find a -type f | wc -l
echo "stopped"; zellige create a --overwrite -s 6000,100000 -d uint8 -c 100,10000 --codecs gzip:9
timeout --foreground --preserve-status -s INT 0.3 zellige write a zeros --raw --keep-empty 2>err
echo "exit $?"; cat err; find a -name '.*'
zellige cat --raw a | cmp -n 600000000 - zeros
