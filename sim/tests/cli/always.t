#!/bin/sh
# always.t -- SIM_ALWAYS in an ordinary program: a verdict with its line under rewake, nothing
# elsewhere. The header is copied, and needs no other.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-* | */cov-*) ;;
*)
    echo '1..0 # SKIP programs are not run by this build'
    exit 0
    ;;
esac
cp "$root/sim/always.h" .
source=$root/sim/tests/cli/lib/program/always.c
line=$(grep -n -m1 -F 'SIM_ALWAYS(' "$source" | cut -d: -f1)
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    ok "$compiler: a program builds" $compiler -I. -g -O1 -Wall -Wextra -Werror -o always \
        "$source" -pthread
    same "$compiler: alone it is not evaluated" "$(./always)" 'evaluated: 0'
    rewake run ./always --runs 1 --record none >out.txt 2>&1
    if grep -q refused out.txt; then
        echo "# not tried: this build plays no threads"
        continue
    fi
    same "$compiler: what holds passes" \
        "$(status run ./always --runs "$(few 1000 100)" --fresh --record none -- in-turn)" 0
    same "$compiler: what does not hold is found" \
        "$(status run ./always --runs 1000 --fresh --fail-fast --record none)" 1
    ok "$compiler: ... as invariant" grep -q '^FAIL always: invariant' out.txt
    ok "$compiler: ... in its words" grep -q 'SIM_ALWAYS(++evaluated > 0 && sum == 2)' out.txt
    ok "$compiler: ... with its line" grep -q "always.c:$line" out.txt
done
cp always.h always.hpp
printf '#include "always.hpp"\nint main() { SIM_ALWAYS(true); SIM_PROGRESS(); }\n' >plus.cc
ok "C++" g++ -std=c++20 -Wall -Wextra -Werror -o plus plus.cc
ok "C++: alone" ./plus
done_testing
