#!/bin/sh
# cpp.t -- C++: every public header compiles, and coroutines stand in the simulator.
#
# With both compilers. The library is built as a user would build it, outside of the tree.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
strict='-std=c++20 -Wall -Wextra -Werror'

# Those that `make install` installs and that are not a folder's own; of the simulator, the one.
headers="$(cd "$root" && find runtime \( -name '*.h' -o -name '*.hpp' \) ! -path '*/tests/*' \
    ! -name '*internal.h' ! -path runtime/base/banned.h | LC_ALL=C sort) sim/rewake.h"

# include_all SORT-FLAGS: one file, in that order, so that none leans on another by chance.
include_all() {
    echo "$headers" | tr ' ' '\n' | LC_ALL=C sort ${1:-} | sed 's/.*/#include "&"/'
}

# build COMPILER
build() {
    # shellcheck disable=SC2086 # Several flags.
    $1 $strict -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" \
        "$root/sim/tests/cli/lib/coroutine.cc" -o "coroutine-$1.so"
}

ok "there are headers" test "$(include_all | grep -c '^#include "runtime/.*[ph]"$')" -gt 60

for cxx in g++ clang++; do
    lib=./coroutine-$cxx.so
    include_all >forth.cc
    include_all -r >back.cc
    for probes in -URT_PROBES -DRT_PROBES; do
        # shellcheck disable=SC2086 # Several flags.
        ok "$cxx $probes: all headers" $cxx $strict $probes -I"$root" -fsyntax-only forth.cc back.cc
    done
    # asan's library is the compiler's own: clang's does not go into gcc's program.
    case $asan-$cc-$cxx in yes-gcc-clang++ | yes-clang-g++) continue ;; esac
    ok "$cxx: a library of coroutines builds" build $cxx
    same "$cxx: the fixed form passes: status" \
        "$(status run $lib cpp/box/fixed --runs "$(few 2000 200)" --check-determinism 1 --fresh \
            --db c.db)" 0
    ok "$cxx: nothing but passes" grep -q ' 2,\{0,1\}00\{1,2\} pass' out.txt
    same "$cxx: also when each quiescence is audited: status" \
        "$(status run $lib cpp/box/fixed --runs 200 -O audit_one_in=1 --fresh --db c.db)" 0
    same "$cxx: the broken form is found: status" \
        "$(status run $lib cpp/box/broken --fresh --db c.db)" 1
    ok "$cxx: it is a lost wake-up" grep -q '^lost-wakeup: `reader` is blocked forever' out.txt
    ok "$cxx: what it waits for is printed" grep -q 'it waits for a letter in the box' out.txt
    ok "$cxx: lambdas have the name of what they stand in" \
        test -z "$(grep 'operator()' out.txt)"
    ok "$cxx: and where it began to" grep -q 'coroutine\.cc:[0-9]' out.txt
done
done_testing
