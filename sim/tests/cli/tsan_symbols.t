#!/bin/sh
# tsan_symbols.t -- every function that -fsanitize=thread makes a compiler call is one of ours.
#
# Each operation in each width and with each order is compiled by every gcc and clang that is
# installed, in C and C++; what the objects leave undefined must be defined in rewake, and in
# librewake-tsan. gcc names all that it can emit in cc1.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/tsan-*)
    echo '1..0 # SKIP this build has the entry points of the sanitizer itself'
    exit 0
    ;;
esac
library=$(dirname "$REWAKE")/librewake-tsan.so
defined() {
    nm -D --defined-only "$1" | awk '{ print $3 }' | grep '^__tsan_' | LC_ALL=C sort -u
}
defined "$REWAKE" >rewake.txt
defined "$library" >library.txt
same "rewake and librewake-tsan define the same" "$(LC_ALL=C comm -3 rewake.txt library.txt)" ''

# has_all CLAIM: all names of names.txt are defined. There must be many of them.
has_all() {
    LC_ALL=C sort -u names.txt >sorted.txt
    ok "$1: there are names" test "$(wc -l <sorted.txt)" -ge "$2"
    same "$1: all are defined" "$(LC_ALL=C comm -23 sorted.txt rewake.txt)" ''
}

# ---- One function for each operation, width and order. ----
{
    echo '#include <stdbool.h>'
    echo '#include <stdint.h>'
    echo '#include <string.h>'
    echo '__extension__ typedef unsigned __int128 w128; typedef uint64_t w64; typedef uint32_t w32;'
    echo 'typedef uint16_t w16; typedef uint8_t w8;'
    orders='RELAXED CONSUME ACQUIRE RELEASE ACQ_REL SEQ_CST'
    for bits in 8 16 32 64 128; do
        for order in $orders; do
            f=w${bits}_$order
            o=__ATOMIC_$order
            case $order in
            RELEASE | ACQ_REL) ;;
            *) echo "w$bits load_$f(w$bits *a) { return __atomic_load_n(a, $o); }" ;;
            esac
            case $order in
            CONSUME | ACQUIRE | ACQ_REL) ;;
            *) echo "void store_$f(w$bits *a, w$bits v) { __atomic_store_n(a, v, $o); }" ;;
            esac
            echo "w$bits exchange_$f(w$bits *a, w$bits v) { return __atomic_exchange_n(a, v, $o); }"
            for change in add sub and or xor nand; do
                echo "w$bits ${change}_$f(w$bits *a, w$bits v)" \
                    "{ return __atomic_fetch_$change(a, v, $o); }"
            done
            for weak in true false; do
                echo "bool cas_${weak}_$f(w$bits *a, w$bits *e, w$bits v)" \
                    "{ return __atomic_compare_exchange_n(a, e, v, $weak, $o, __ATOMIC_RELAXED); }"
            done
        done
        echo "w$bits sync_$bits(w$bits *a, w$bits v) { return __sync_fetch_and_add(a, v) +" \
            "__sync_lock_test_and_set(a, v) + __sync_val_compare_and_swap(a, v, v); }"
        echo "w$bits plain_$bits(w$bits *a, w$bits *b) { w$bits v = *a; *b = v; return v; }"
        echo "void both_$bits(w$bits *a) { *a += 3; }"
        echo "w$bits volatile_$bits(volatile w$bits *a, volatile w$bits *b) { return *b = *a; }"
        echo "struct __attribute__((packed)) packed_$bits { char c; w$bits a, b; };"
        echo "w$bits odd_$bits(struct packed_$bits *p) { p->b += 2; return p->a; }"
        echo "void odd_write_$bits(struct packed_$bits *p, w$bits v) { p->a = v; }"
        echo "w$bits odd_volatile_$bits(volatile struct packed_$bits *p) { return p->a = p->b; }"
    done
    echo 'void fences(void) {'
    for order in $orders; do
        echo "__atomic_thread_fence(__ATOMIC_$order); __atomic_signal_fence(__ATOMIC_$order);"
    done
    echo '}'
    echo 'struct big { char bytes[1000]; };'
    echo 'void copy(struct big *a, const struct big *b) { *a = *b; }'
    echo 'void move(char *a, const char *b, size_t n)'
    echo '{ memmove(a, b, n); memcpy(a, b + n, n); memset(a, 1, n); }'
} >all.c
{
    echo 'struct one { virtual int f(); int field; one(); virtual ~one(); };'
    echo 'struct two : one { int f() override; two(); };'
    echo 'int one::f() { return field; } one::one() : field(1) {} one::~one() {}'
    echo 'int two::f() { return 2; } two::two() {} int call(one *o) { return o->f(); }'
} >virtual.cc

# undefined COMPILER FLAGS...: what the two files call.
undefined() {
    compiler=$1
    cxx=$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')
    shift
    "$compiler" -fsanitize=thread "$@" -w -c all.c -o all.o &&
        "$cxx" -fsanitize=thread "$@" -w -c virtual.cc -o virtual.o &&
        nm -u all.o virtual.o | awk '{ print $2 }' | grep '^__tsan_' >names.txt
}
found=0
for compiler in gcc gcc-12 gcc-13 gcc-14 clang clang-14 clang-15 clang-16 clang-17 clang-18 \
    clang-19; do
    command -v $compiler >/dev/null || continue
    found=$((found + 1))
    for level in -O0 -O2; do
        ok "$compiler $level compiles all operations" undefined $compiler $level
        has_all "$compiler $level" 60
    done
    case $compiler in
    gcc*)
        strings "$($compiler -print-prog-name=cc1)" | grep -o '__tsan_[a-z0-9_]*' >names.txt
        has_all "$compiler: all that cc1 names" 66
        ;;
    clang*)
        ok "$compiler: compound accesses" undefined $compiler -O1 -mllvm \
            -tsan-compound-read-before-write -mllvm -tsan-distinguish-volatile
        has_all "$compiler: compound and volatile accesses" 70
        ;;
    esac
done
ok "a compiler was tried" test $found -gt 0
done_testing
