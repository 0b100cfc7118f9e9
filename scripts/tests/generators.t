#!/bin/sh
# generators.t -- test-main, sql-to-c, zoo-compile and zoo-link write what they promise.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
cc=${CC:-gcc}
here=$(pwd)

# ---- test-main ----
cat >"$tmp/b_test.c" <<'C'
#include "runtime/tests/test.h"
TEST(second_b)
{
    EXPECT(1 == 2);
}
TEST(first_b)
{
    EXPECT(true);
}
C
cat >"$tmp/a_test.c" <<'C'
#include "runtime/tests/test.h"
/* TEST(not_this_one) */
TEST(only_a)
{
    EXPECT_EQ(1, 1);
}
C
scripts/test-main suite "$tmp/a_test.c" "$tmp/b_test.c" >"$tmp/1.c"
scripts/test-main suite "$tmp/b_test.c" "$tmp/a_test.c" >"$tmp/2.c"
ok "the order of files does not matter" cmp "$tmp/1.c" "$tmp/2.c"
same "tests stand sorted by file, then by name" \
    "$(sed -n 's/^ *{"\([a-z_]*\)".*/\1/p' "$tmp/1.c" | tr '\n' ' ')" 'only_a first_b second_b '
ok "the program compiles" "$cc" -I. -DTEST_TIMEOUT_S=5 -o "$tmp/tests" "$tmp/1.c" \
    "$tmp/a_test.c" "$tmp/b_test.c" runtime/tests/panic.c runtime/base/error.c \
    runtime/fiber/context.c -lboost_context -lcheck_pic -lsubunit -lm -lrt -pthread
(cd "$tmp" && ./tests) >"$tmp/tap"
same "a failed test makes it fail" "$?" 1
same "it speaks TAP" "$(grep -c '^ok ' "$tmp/tap") $(grep -c '^not ok ' "$tmp/tap")" '2 1'
ok "a failure has its condition" grep -q 'not ok.*second_b.*expected: 1 == 2' "$tmp/tap"
same "T picks tests by name" "$(T='*_a' "$tmp/tests" | grep -c '^ok ')" 1
ok "what T leaves out cannot fail" env T='first_*' "$tmp/tests"

# ---- sql-to-c ----
cat >"$tmp/schema.sql" <<'SQL'
-- "quoted" and \back and what ??/ trigraphs
SELECT 1;
SQL
scripts/sql-to-c "$tmp/schema.sql" >"$tmp/schema.c"
cat >"$tmp/main.c" <<'C'
#include <stdio.h>
extern const char sim_schema_sql[];
int main(void) { return fputs(sim_schema_sql, stdout) < 0; }
C
ok "the SQL string compiles" "$cc" -std=c17 -o "$tmp/sql" "$tmp/main.c" "$tmp/schema.c"
"$tmp/sql" >"$tmp/back.sql"
ok "and is the file, byte for byte" cmp "$tmp/schema.sql" "$tmp/back.sql"

# ---- zoo-compile, zoo-link ----
# A runtime of two files; the patch plants a bug in one of them.
mkdir -p "$tmp/tree/runtime/base" "$tmp/tree/sim/bind" "$tmp/tree/scenarios/zoo" "$tmp/tree/o"
cd "$tmp/tree" || exit 1
cat >runtime/base/value.h <<'C'
int rt_value(void);
int rt_twice(void);
const char *rt_file(void);
#define VALUE 1
C
cat >runtime/base/value.c <<'C'
#include "runtime/base/value.h"
static int site __attribute__((section("rt_sites"), used)) = 1;
int rt_value(void) { return VALUE; }
const char *rt_file(void) { return __FILE__; }
C
cat >runtime/base/twice.c <<'C'
#include "runtime/base/value.h"
int rt_twice(void) { return 2 * rt_value(); }
C
cat >scenarios/zoo/z.c <<'C'
#include "runtime/base/value.h"
typedef int ask(void);
#ifdef ZOO_FORM_BROKEN
static ask *const form __attribute__((section("forms"), used)) = rt_twice;
static const char *(*const file)(void) __attribute__((section("files"), used)) = rt_file;
#else
static ask *const form __attribute__((section("forms"), used)) = rt_twice;
#endif
C
cat >main.c <<'C'
#include <stdio.h>
typedef int ask(void);
extern ask *const __start_forms[], *const __stop_forms[];
extern const char *(*const __start_files[])(void);
extern int __start_rt_sites[], __stop_rt_sites[];
int main(void)
{
    for (ask *const *f = __start_forms; f < __stop_forms; f++) {
        printf("%d ", (*f)());
    }
    return printf("%s %d\n", __start_files[0](), (int)(__stop_rt_sites - __start_rt_sites)) < 0;
}
C
compile() {
    mkdir -p "o/$(dirname "$1")"
    "$cc" -I. -c "$1" -o "o/${1%.c}.o"
}
for c in runtime/base/value.c runtime/base/twice.c scenarios/zoo/z.c main.c; do
    compile $c
done
# patch_of FILE SED-EXPRESSION: scenarios/zoo/z.patch that changes FILE so.
patch_of() {
    sed "$2" "$1" >"$tmp/new"
    diff -u --label "a/$1" --label "b/$1" "$1" "$tmp/new" >scenarios/zoo/z.patch
}
build() {
    rm -f o/zoo/z.o
    "$here/scripts/zoo-compile" z o/zoo/z "$cc" -I. -MMD -MP && "$here/scripts/zoo-link" o o/zoo z &&
        "$cc" -o program o/main.o \
        o/runtime/base/*.o o/scenarios/zoo/z.o o/zoo/z.o
}
patch_of runtime/base/value.c 's/return VALUE/return 10 * VALUE/'
ok "both forms link into one program" build
same "each form has its own runtime, a changed file a name of its own" "$(./program)" \
    '2 20 runtime/base/value.z.c 2'
not_ok "an object that is not patched is not compiled again" test -e o/zoo/z/runtime/base/twice.o
patch_of runtime/base/value.h 's/VALUE 1/VALUE 50/'
ok "a patch of a header builds" build
same "and reaches every file" "$(./program)" '2 100 runtime/base/value.c 2'
patch_of runtime/base/value.c 's/VALUE/3/'
sed -i 's/return VALUE/return 7/' runtime/base/value.c
not_ok "a patch that does not apply stops the build" build
build >"$tmp/said" 2>&1
ok "and is named" grep -q '^scenarios/zoo/z.patch does not apply' "$tmp/said"
: >scenarios/zoo/z.patch
not_ok "a patch that changes nothing stops the build" build

cd "$here" || exit 1
done_testing
