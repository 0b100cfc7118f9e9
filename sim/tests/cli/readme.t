#!/bin/sh
# readme.t -- what was installed is enough.
#
# The example of sim/docs/scenario.md compiles against the installed headers and is found out with
# every command; and there is enough for every part, for programs, and for a runtime of one's own.
# What the pages themselves say, docs.t tries.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- The example: the first C block of the page on scenarios, outside of the tree. ----
awk '/^```c$/ { on = 1; next } on && /^```$/ { exit } on' "$root/sim/docs/scenario.md" >mine.c
ok "the page has an example" grep -q SIM_SCENARIO mine.c
ok "no line but a table's is wider than 100 columns" \
    test -z "$(grep -v '^|' "$root/README.md" | grep '^.\{101\}')"

# Under the sanitizers the installed program is another build: only the headers are at stake there.
prefix=$tmp/prefix
make -s -C "$root" install PREFIX="$prefix" >install.txt 2>&1
same "make install: status" "$?" 0
ok "installed: the program" test -x "$prefix/bin/rewake"
ok "installed: the runtime's library" test -f "$prefix/lib/librewake-rt.a"
ok "installed: no header of a test" sh -c "! find '$prefix/include' | grep -q tests"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags rewake)
ok "pkg-config names the headers" sh -c "printf '%s' '$flags' | grep -q include/rewake"
# shellcheck disable=SC2086 # Several flags.
for compiler in gcc clang; do
    ok "the example compiles with $compiler, all warnings" $compiler -std=c17 -Wall -Wextra \
        -Wpedantic -Werror -shared -fPIC $flags mine.c -o mine-$compiler.so
done

# ---- Every command works with it. ----
installed=$prefix/bin/rewake
for library in ./mine-gcc.so ./mine-clang.so; do
    "$installed" list $library >list.txt
    ok "$library: list" grep -q '^mine/box' list.txt
    "$installed" run $library --runs 50 --json --fresh --db mine.db >run.json 2>/dev/null
    same "$library: run finds a bug: status" "$?" 1
    ok "$library: it is a lost wake-up" grep -q '"verdict":"lost-wakeup"' run.json
    token=$(token_of run.json)
    "$installed" replay $library "$token" >replay.txt
    same "$library: replay fails again: status" "$?" 1
    "$installed" show $library "$token" >show.txt
    same "$library: show: status" "$?" 0
    ok "$library: show has the ledger" grep -q '^reader .*something in the box .*mine.c:' show.txt
    ok "$library: show has the missing wake" \
        grep -q 'here reader should have been woken' show.txt
    "$installed" diff $library "$token" "$token" >diff.txt
    same "$library: diff of a run with itself: status" "$?" 0
done
"$installed" query "SELECT DISTINCT verdict FROM failures" --db mine.db >query.txt
ok "query" grep -q lost-wakeup query.txt
same "both compilers' libraries make the same token" \
    "$("$installed" run ./mine-gcc.so --runs 9 --json --record none 2>/dev/null | token_of /dev/stdin)" \
    "$("$installed" run ./mine-clang.so --runs 9 --json --record none 2>/dev/null |
        token_of /dev/stdin)"

# ---- What was installed is enough: for scenarios with every part, and for a program. ----
strict='-std=c17 -Wall -Wextra -Wpedantic -Werror'
# with COMPILER FILE FLAGS...: a file of lib/, away from the tree.
with() {
    compiler=$1
    cp "$root/sim/tests/cli/lib/$2" .
    file=$2
    shift 2
    # shellcheck disable=SC2086 # Several flags.
    $compiler $strict "$file" "$@"
}
# links PROGRAM LIBRARY
links() {
    objdump -p "$1" | grep -q "NEEDED.*$2"
}
for compiler in gcc clang; do
    # By the public headers alone, with nothing of the tree in sight.
    for other in executor evented; do
        sed 's|"sim/rewake.h"|<sim/rewake.h>|' "$root/scenarios/foreign/$other.c" >$other.c
        # shellcheck disable=SC2046 # Several flags.
        ok "$compiler: another runtime builds: $other" $compiler $strict -shared -fPIC \
            $(pkg-config --cflags rewake) $other.c -o $other-$compiler.so
    done
    # shellcheck disable=SC2046 # Several flags.
    ok "$compiler: a library with every part builds, all warnings" \
        with $compiler parts.c -shared -fPIC $(pkg-config --cflags rewake) -o parts-$compiler.so
    "$installed" run ./parts-$compiler.so --runs 200 --expect --fresh --db i.db >parts.txt 2>&1
    same "$compiler: 200 seeds of each: status" "$?" 0
    same "$compiler: there are seven" "$(grep -c '^PASS parts/.* 200 runs  200 pass' parts.txt)" 7
    for fibers in -UFIBERS -DFIBERS; do
        # shellcheck disable=SC2046 # Several flags.
        ok "$compiler $fibers: a program links with the runtime" with $compiler ship.c $fibers \
            $(pkg-config --static --cflags --libs rewake-rt | sed 's/-lrewake-rt/-l:lib&.a/;
                s/lib-l/lib/') -o ship$fibers
        same "$compiler $fibers: it runs" "$(./ship$fibers)" 55
    done
    ok "$compiler: fibers switch stacks by Boost.Context" \
        links ./ship-DFIBERS boost_context
    ok "$compiler: others do not need it" sh -c '! objdump -p ./ship-UFIBERS | grep -q boost'
done

done_testing
