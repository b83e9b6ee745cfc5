# A reader that goes away ends the program quietly; a large array takes little memory.
array3 a '4000, 1000, 100' '100, 100, 100' '"uint8"'
zellige cat --raw a | head -c 3 | od -An -tx1
echo "status ${PIPESTATUS[*]}"
(ulimit -v 350000; zellige cat --raw a | wc -c)
(ulimit -v 350000; zellige cat --raw a '::-1, ::2' | wc -c)
