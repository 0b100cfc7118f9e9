#!/bin/sh
# ci.t -- what .ci/run adds up, with everything that it runs stood in for.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
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
stand_in bin/prove 'echo "Files=1, Tests=7,  1 wallclock secs (0.02 usr)"'
# shellcheck disable=SC2016 # For the stand-in.
stand_in bin/make 'case $1 in
check-asan) echo "Files=1, Tests=50,  1 wallclock secs (0.02 usr)" ;;
coverage) cat coverage.txt && exit "$(cat status.txt)" ;;
esac'

# ci STATUS LINE...: its last line, where `make coverage` says this.
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
