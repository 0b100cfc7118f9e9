#!/bin/sh
# program_hostile.t -- programs that do what a simulated run cannot stand: each has a verdict, or is
# refused with a reason and the line, and the sweep goes on.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
source=$root/sim/tests/cli/lib/program/hostile.c
ok "it builds" "$cc" -D_GNU_SOURCE -O0 -g -w -o hostile "$source" -pthread

# ends DEED STATUS TEXT: of 20 runs; the report has the text, in one line.
ends() {
    same "$1: status" "$(status run ./hostile --runs 20 --hang 1 --record none -- "$1")" "$2"
    tr -s '\n ' '  ' <out.txt >line.txt
    ok "$1: $3" grep -q -e "$3" line.txt
}
while IFS='|' read -r deed code text; do
    ends "$deed" "$code" "$text"
done <<'END'
raw-write|0|20 passed
raw-getpid|0|20 passed
raw-uring|0|20 passed
raw-futex|0|20 passed
raw-close|0|20 passed
mask|0|20 passed
close|0|20 passed
tick|0|20 passed
leave|0|20 passed
tsc|0|20 passed
tsc-spin|0|20 passed
raw-fork|125|the program calls the kernel's fork, .* #1 raw_fork hostile.c:62
raw-unknown|125|the program calls the kernel's call 9999, .* #1 raw_unknown hostile.c:68
clone|125|the program calls clone, .* #0 raw_clone hostile.c:82
fork|125|fork() was called, .* a run is one process
exec|125|execv() was called, .* #0 run_exec hostile.c
dlopen|125|dlopen() was called, .* link the program with libm.so.6
overflow|1|the stack overflowed in descend (hostile.c
handler|1|`main` waits for a lock that it holds itself .* #0 lock_in_handler hostile.c
handler-late|1|`main` waits for a lock that it holds itself .* #0 lock_in_handler hostile.c
leap|1|'thread 1' jumps with longjmp to where 'main' called setjmp
bell|1|a block of 4 bytes was written at offset 0 after it was freed
destroyed|1|'main' uses a condition variable that was destroyed
END
# A hang takes a second of real time in each run.
same "spin: status" \
    "$(status run ./hostile --runs 20 --fail-fast --hang 1 --record none -- spin)" 1
ok "spin: the line" grep -q 'real time in spin (hostile.c' out.txt
done_testing
