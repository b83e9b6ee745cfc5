# Figures vary; what is counted does not.
shard s; zellige bench --json --rounds 2 s | grep -v 'n_requests\|n_bytes_read' | sed 's/\(best_s\|median_s\)": .*[0-9]/\1": T/'
grid a; zellige bench --cold --rounds 1 --threads 1 a 0:2 | sed 's/[0-9.]* \(s\|GB.s\|chunks.s\)\b/N \1/g; s/  */ /g'
array3 v 2 2 '"string"' '"codecs": [{"name": "vlen-utf8"}], "fill_value": "abc"'; zellige bench --rounds 1 v | head -n 2
# By whatever name a folder goes: what is measured has been forgotten, or there is no figure.
mv a 'a b'; for path in "file://$PWD/a%20b" "file://localhost$PWD/a b/"; do zellige bench --cold --rounds 1 --json "$path" | grep cold; done
