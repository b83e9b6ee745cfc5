# On a terminal each look is drawn over the one before.
script -qec true /dev/null >/dev/null 2>&1 || exit 77 # no terminals here
group3 run
array3 run/a '0' '2' '"uint8"'
array3 run/b '9' '2' '"uint8"'
script -qec 'zellige watch run -i 0.02 --until 2; echo "exit $?"' /dev/null </dev/null >out &
sleep 0.3
echo '1 2' | zellige write run/a - --append 0
wait $!
# What is left on a screen: lines that move up erase what was drawn since.
python3 - out <<'END'
import re, sys
lines, at = [], 0
text = open(sys.argv[1], newline="").read().replace("\r", "")
for part in re.split(r"(\033\[\d*A|\033\[\?7[lh]|\033\[[KJ]|\n)", text):
    if up := re.fullmatch(r"\033\[(\d*)A", part):
        at -= int(up[1])
        assert at >= 0
    elif part == "\n":
        at += 1
    elif part == "\033[J":
        del lines[at:]
    elif part and not part.startswith("\033"):
        lines[at:at + 1] = [part]
print(re.sub(r"[-\d.]+/s", "N/s", "\n".join(lines)))
print("drawn again" if text.count("\033[2A") > 2 else "drawn once")
END
