#!/bin/sh
# ci.t -- a job of CI runs each test; and what .ci/run adds up, with stand-ins for what it runs.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh

# tests_of JOB: the shell tests that it runs.
tests_of() {
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n COUNT=yes "$1" CC=gcc 2>/dev/null |
        grep ' prove \|TESTS=' | tr " '" '\n\n' | grep '/tests/.*[.]t$' | sort
}
for job in check check-long check-asan coverage-gate; do
    tests_of $job >"$tmp/$job.txt"
done
find . -path ./build -prune -o -path '*/tests/*' -name '*.t' -print | sed 's|^\./||' | sort \
    >"$tmp/all.txt"
same "each test is run by a job of CI" "$(sort -u "$tmp"/check*.txt "$tmp/coverage-gate.txt" |
    comm -13 - "$tmp/all.txt")" ''
same "no test is run by both parts of the check" \
    "$(comm -12 "$tmp/check.txt" "$tmp/check-long.txt")" ''
sort -u "$tmp/check.txt" "$tmp/check-long.txt" >"$tmp/both.txt"
same "what counts code runs in the program that ships, too, but for the corpora of fuzz targets" \
    "$(sort -u "$tmp/check-asan.txt" "$tmp/coverage-gate.txt" | comm -23 - "$tmp/both.txt" |
        grep -v '^fuzz/')" ''

mkdir -p "$tmp/.ci" "$tmp/scripts" "$tmp/bin"
cp .ci/run "$tmp/.ci/run"
cd "$tmp" || exit 1

# stand_in PROGRAM LINE...: a program that does what the lines say.
stand_in() {
    program=$1
    shift
    {
        echo '#!/bin/sh'
        printf '%s\n' "$@"
    } >"$program"
    chmod +x "$program"
}
stand_in scripts/setup 'exit 0'
stand_in scripts/schedules-covered 'exit 0'
stand_in scripts/check 'echo "Files=2, Tests=100,  3 wallclock secs (0.02 usr)"'
# shellcheck disable=SC2016 # For the stand-in.
stand_in bin/make 'case $1 in
check-asan) echo "Files=1, Tests=50,  1 wallclock secs (0.02 usr)" ;;
check-long) echo "Files=1, Tests=7,  1 wallclock secs (0.02 usr)" ;;
coverage-gate) cat coverage.txt && exit "$(cat status.txt)" ;;
esac'

# ci STATUS LINE...: its last line, where `make coverage-gate` says this.
ci() {
    echo "$1" >status.txt
    shift
    printf '%s\n' "$@" >coverage.txt
    PATH=$tmp/bin:$PATH .ci/run >ci.txt 2>&1
    echo "$? $(tail -n 1 ci.txt)"
}
sums='coverage: Files=3, Tests=200, 9 wallclock secs (0.02 usr)'
same "each run of a test counts" "$(ci 0 "$sums")" '0 357 passed, 0 failed'
same "tests that fail when lines are counted" \
    "$(ci 2 'coverage: a/b.t    (Wstat: 512 (exited 2) Tests: 9 Failed: 2)' "$sums")" \
    '1 355 passed, 2 failed'
same "a gate that is shut" "$(ci 2 "$sums")" '1 356 passed, 1 failed'
same "a build that breaks" "$(ci 2)" '1 156 passed, 1 failed'
done_testing
