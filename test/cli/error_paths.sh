# Each error of a store that is broken somehow begins with the path of the store, and has it
# once, whatever command meets it.
invalid=${ZELLIGE_SHARED:-$here/../../../shared}/fixtures/invalid
[ -d "$invalid" ] || exit 77
for store in "$invalid"/*/; do
  store=${store%/}
  for command in info ls tree attrs cat explain plot; do
    options=
    [ $command = plot ] && options="--output p.png"
    zellige $command $options "$store" 2>&1 >/dev/null | awk -v path="$store" \
      -v command=$command '
      { n = 0; at = $0
        while ((i = index(at, path)) > 0) { n++; at = substr(at, i + length(path)) }
        if (n != 1 || $0 !~ "^zellige: [a-z_]+: " || index($0, ": " path ": ") == 0)
          print command ": " $0 }'
  done
done
zellige ls "$invalid/json_empty" 2>&1 | sed "s|$invalid|invalid|"
zellige explain "$invalid/chunk_half" 2>&1 >/dev/null | sed "s|$invalid|invalid|"
zellige cat "$invalid/chunk_half" ../up 2>&1 | sed "s|$invalid|invalid|"
