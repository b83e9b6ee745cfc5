# Wrong calls exit with 2 and say what was expected.
try zellige
try zellige nix
try zellige cat
try zellige cat --nix a
try zellige cat -x a
try zellige cat --raw=1 a
try zellige cat --raw --npy a
try zellige cat --threads
try zellige cat --threads 0 a
try zellige cat -t x a
try zellige cat a b c d
try zellige info a --zarr-format 4
grid a; try zellige cat a "" '['
try zellige plot a
