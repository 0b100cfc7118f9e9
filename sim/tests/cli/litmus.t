#!/bin/sh
# litmus.t -- code made by `rewake cc` is explored to the end, and sees sequential consistency.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-* | */cov-*) ;;
*)
    echo '1..0 # SKIP a library of `rewake cc` cannot be loaded by this build'
    exit 0
    ;;
esac
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    ok "$compiler compiles it" env CC=$compiler "$REWAKE" cc -std=c17 -D_GNU_SOURCE -O1 -w -shared \
        -fPIC -I"$root" "$root/sim/tests/cli/lib/litmus.c" -o $compiler.so
    for test in sb mp lb s r two_plus_two_w corr wrc iriw add; do
        same "$compiler: $test: all interleavings" \
            "$(status explore ./$compiler.so litmus/$test --strategy dpor)" 0
        ok "$compiler: $test: that is all of them" grep -q 'complete' out.txt
    done
    same "$compiler: a lost update is found" \
        "$(status explore ./$compiler.so litmus/lost_add --strategy dpor)" 1
    ok "$compiler: minimized to one deviation" grep -q '1 deviation' out.txt
done
done_testing
