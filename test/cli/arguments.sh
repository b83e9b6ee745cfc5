# PATH [ARRAY] [SELECTION]: which argument is which, and node names that are numbers.
group3 s; grid s/0; group3 s/g; grid s/g/a
zellige cat s 0 3,0
zellige cat s/0 3,0
zellige cat s /g/a/ 2,1
zellige cat s/g/ a 2,1
zellige cat s/g/a "" 2,1
zellige cat -- s/0 -4,-6
zellige cat s/0 -4,-6
try zellige cat s/0 0/a
try zellige cat s
try zellige cat s ../s/0
try zellige cat nowhere
echo text >file; try zellige cat file
