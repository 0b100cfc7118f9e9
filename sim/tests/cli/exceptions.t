#!/bin/sh
# exceptions.t -- ordinary programs in C++: exceptions, unwinding, thread-local objects, and
# variables of a library that the executable has a copy of.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
source=$root/sim/tests/cli/lib/program

# digest_of PROGRAM JOBS WHAT: of 100 runs; nothing unless all pass.
digest_of() {
    rewake run "./$1" --seeds 1-100 --fresh --record none --no-shrink --jobs "$2" --json -- "$3" \
        2>/dev/null | sed -n 's/.*"verdicts":{"pass":100}.*"digest":"\([^"]*\)".*/\1/p'
}

for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    ok "$cxx: it builds" $cxx -std=c++20 -O1 -g -w "$source/exceptions.cpp" -o $cxx -pthread
    for what in threads calls locals futures waits exit cancel; do
        digest_of $cxx 1 $what >one.txt
        ok "$cxx, $what: 100 runs pass" test -s one.txt
        same "$cxx, $what: one digest for 1 and 2 workers" \
            "$(digest_of $cxx 2 $what)" "$(cat one.txt)"
    done
done
same "not caught: status" "$(status run ./g++ --runs 5 --fresh --db u.db -- uncaught)" 1
ok "not caught: the verdict" grep -q '^crash: SIGABRT, abort() was called' out.txt
ok "not caught: where it was thrown" grep -q 'exceptions.cpp' out.txt
same "not caught: the message" \
    "$(rewake query "SELECT DISTINCT text FROM trace WHERE kind = 'out'" --db u.db | grep 'what()')" \
    "  what():  own 7"
same "not caught in a thread: status" "$(status run ./g++ --runs 5 --fresh -- uncaught-thread)" 1
ok "not caught in a thread: the verdict" grep -q '^crash: SIGABRT.* of `thread 1`' out.txt
same "caught and not rethrown: status" "$(status run ./g++ --runs 5 --fresh -- swallow)" 1
ok "caught and not rethrown: it is said" grep -q 'caught the end of a thread' out.txt

# The executable's copy has the library's first value when the library's constructor changes it.
cat >level.c <<'END'
int level = 5;
__attribute__((constructor)) static void raise_it(void) { level++; }
int level_of_library(void) { return level; }
END
cat >copies.c <<'END'
extern int level;
int level_of_library(void);
int main(void) { return level++ == 6 && level_of_library() == 7 ? 0 : 1; }
END
ok "a library builds" ${CC:-cc} -shared -fPIC level.c -o liblevel.so
ok "a program with a copy of its variable builds" ${CC:-cc} copies.c -o copies -L. -llevel \
    -Wl,-rpath,"$PWD"
same "copies: status" "$(status run ./copies --runs 20 --fresh --check-determinism 10)" 0
done_testing
