#!/bin/sh
# cc.t -- `rewake cc` and `rewake cxx` are the compiler, and what they make also runs alone.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-* | */cov-* | /usr/bin/*) ;;
*)
    echo '1..0 # SKIP a program cannot be linked with this build of librewake-tsan'
    exit 0
    ;;
esac
cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int counter;
static _Bool flag;
static void *
add(void *argument)
{
    for (int i = 0; i < 10000; i++) {
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
        char before = 0;
        while (!__atomic_compare_exchange_n(&flag, (_Bool *)&before, 1, 0, 5, 5)) {
            before = 0;
        }
        __atomic_store_n(&flag, 0, __ATOMIC_RELEASE);
    }
    return argument;
}
int
main(int count, char **arguments)
{
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(arguments);
    pthread_join(other, NULL);
    printf("%d\n", __atomic_load_n(&counter, __ATOMIC_ACQUIRE));
    return count - 1;
}
END
cat >prog.cc <<'END'
#include <atomic>
#include <cstdio>
#include <thread>
static std::atomic<long> counter;
int
main()
{
    std::thread other([] { counter += 2; });
    counter.fetch_add(1);
    other.join();
    std::printf("%ld\n", counter.load());
}
END
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    cxx=$(echo $compiler | sed 's/gcc/g++/; s/clang/clang++/')
    CC=$compiler
    CXX=$cxx
    export CC CXX
    same "$compiler: one step" "$(status cc -O1 -pthread -o one prog.c)" 0
    same "$compiler: it runs alone" "$(./one)" 20000
    same "$compiler: compiled, then linked" \
        "$(status cc -c -O1 prog.c -o prog.o) $(status cc -pthread -o two prog.o)" '0 0'
    same "$compiler: it runs alone" "$(./two)" 20000
    ok "$compiler: it asks for our entry points" sh -c 'nm -D two | grep -q "U __tsan_atomic32"'
    ok "$compiler: and needs no other run time" sh -c '! ldd two | grep -q libtsan'
    same "$compiler: a library" "$(status cc -shared -fPIC -o lib.so prog.c)" 0
    same "$compiler: C++" "$(status cxx -O1 -pthread -o three prog.cc)" 0
    same "$compiler: C++ runs alone" "$(./three)" 3
    echo 'void fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }' >fence.c
    same "$compiler: a fence is no warning" \
        "$(status cc -O1 -Wall -Wextra -Werror -c fence.c -o fence.o)" 0
    same "$compiler: its options are its own" "$(status cc --version)" 0
    ok "$compiler: and its output" grep -q -e "$compiler" -e GCC out.txt
    same "$compiler: an error is the compiler's" "$(status cc -o x missing.c)" 1
    ok "$compiler: and its message" grep -q 'missing.c' err.txt
    same "$compiler: -- is passed" \
        "$(status cc -- --missing)" "$($compiler -- --missing 2>/dev/null; echo $?)"
done
CC="env A=1 gcc"
same "CC may have arguments" "$(status cc -pthread -o four prog.c)" 0
CC=no-such-compiler
export CC
refused "no such compiler" 70 cc prog.c
unset CC CXX
same "without CC one is found" "$(status cc -pthread -o five prog.c)" 0
same "help is rewake's where it is all that is asked" "$(status cc --help)" 0
ok "help says what it does" grep -q 'librewake-tsan' out.txt
# Where memory lies does not depend on whether events are recorded; what a replica's memory was
# filled with is no difference where it is read and not used.
cat >placed.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_long *count;
static void *
add(void *argument)
{
    atomic_long *own = malloc(sizeof(*own));
    atomic_exchange(own, 1); /* What was there does not matter. */
    long before = atomic_load(count);
    atomic_store(count, before + 1);
    printf("%p\n", malloc(100));
    return argument;
}
int
main(void)
{
    pthread_t other;
    count = malloc(sizeof(*count));
    atomic_init(count, 0);
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    usleep(1); /* The first call of the system in a run, after it made a thread. */
    assert(*count == 2);
    return 0;
}
END
rewake cc -O1 -w -o placed placed.c -pthread
rewake run ./placed --runs 1000 --jobs 1 --fresh --record none --no-shrink --json \
    --check-determinism 7 >placed.json 2>/dev/null
same "a lost update in memory of malloc: its verdict" \
    "$(jq -r 'select(.event == "failure").verdict' placed.json | sort -u)" invariant
same "... and equal replicas" \
    "$(jq -r 'select(.event == "scenario").unequal' placed.json)" 0

# What is read in memory that was freed, atomic or not; what was only never written may be read.
cat >reads.c <<'END'
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct pair {
    long plain;
    atomic_long atomic;
};
int
main(int count, char **arguments)
{
    char how = count > 1 ? arguments[1][0] : 'n';
    struct pair *volatile other = malloc(sizeof(*other));
    struct pair *volatile pair = malloc(sizeof(*pair));
    free(other);
    if (how != 'n') {
        free(pair);
    }
    switch (how) {
    case 'a':
        return atomic_load(&pair->atomic) == 1;
    case 'c':
        return atomic_fetch_add(&pair->atomic, 1) == 1;
    case 'e':
        return atomic_compare_exchange_strong(&pair->atomic, &(long){1}, 2);
    default:
        return pair->plain == 1;
    }
}
END
rewake cc -O1 -w -o reads reads.c
same "memory that was never written may be read" "$(status run ./reads --runs 5 --record none)" 0
for how in plain atomic change exchange; do
    rewake run ./reads --runs 1 --fail-fast --fresh --db reads.db -- $how >reads.txt
    ok "freed memory is read ($how): its verdict" grep -q '^FAIL reads: use-after-free' reads.txt
    tr '\n' ' ' <reads.txt >words.txt
    ok "... where it was freed" \
        grep -q 'a variable is used in memory that was freed at reads.c:16' words.txt
    word=$(echo $how | sed 's/change/fetch/')
    line=$(grep -n "^ *return.*$word" reads.c | head -1 | cut -d: -f1)
    ok "... and where it is used" grep -q "main reads.c:$line" words.txt
done

mkdir alone && cp "$REWAKE" alone/rewake
REWAKE=$PWD/alone/rewake
refused "without the library" 70 cc -o six prog.c
ok "the message has what to do" grep -q 'make install' err.txt
same "which is not needed to compile" "$(status cc -c prog.c)" 0
done_testing
