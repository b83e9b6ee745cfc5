# The examples of writing in the guide do and print what stands there.
python3 - "$here/../../docs/guide/cli.md" <<'END'
import re, subprocess, sys
text = open(sys.argv[1]).read()
n = 0
for section in re.split("^## ", text, flags=re.M):
    if not section.startswith(("Creating", "Writing", "Changing")):
        continue
    for block in re.findall(r"(?:^    .*\n)+", section, flags=re.M):
        for example in re.split(r"^    \$ ", block, flags=re.M)[1:]:
            command, _, expected = example.partition("\n")
            expected = re.sub("^    ", "", expected, flags=re.M)
            got = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True).stdout
            n += 1
            if got != expected:
                print(f"$ {command}\n{got}--- the guide has\n{expected}")
print("examples" if n > 10 else f"only {n} examples")
END
