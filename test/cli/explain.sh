# The plan: which objects, how they are fetched, which ranges.
shard s; zellige explain s
zellige explain s 1:3
zellige explain --plan-only s
zellige explain --limit 1 s
zellige explain --json s 2:6
grid a; zellige explain a 1:3
zellige explain a 0:0
