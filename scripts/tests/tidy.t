#!/bin/sh
# tidy.t -- each rule of scripts/tidy passes a clean tree and finds the line that breaks it.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh

# A tree with one clean file; $1 is the file that each case adds, its body is read from stdin.
tree() {
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree/runtime/base" "$tmp/tree/$(dirname "$1")"
    file "$tmp/tree/runtime/base/clean.c" <<'C'
/* sprintf( and %p and FIX-ME of a comment are words, time() too. */
const char *clean(struct host *host, int n);
const char *
clean(struct host *host, int n)
{
    host->time(host);
    return n > 0 ? "double rand() strcpy(" : "";
}
C
    file "$tmp/tree/$1"
}

file() {
    {
        printf '/*\n * %s -- a case.\n *\n * SPDX-License-Identifier: Apache-2.0\n */\n' \
            "$(basename "$1")"
        cat
    } >"$1"
}

# finds RULE FILE WHAT: tidy fails in that rule alone, naming file, line ($at, or 6), and what.
finds() {
    scripts/tidy "$tmp/tree" >"$tmp/out" 2>"$tmp/err" && return 1
    cat "$tmp/out" "$tmp/err"
    [ "$(grep -c '^not ok' "$tmp/out")" -eq 1 ] || return 1
    grep -q "^not ok [0-9]* - tidy: $1\$" "$tmp/out" || return 1
    grep -qF "$2:${at:-6}: " "$tmp/err" && grep -qF "$3" "$tmp/err"
}

# breaks RULE FILE WHAT, body on stdin.
breaks() {
    tree "$2"
    ok "$1: $3 in $2 is found" finds "$1" "$2" "$3"
}

# allows FILE, body on stdin.
allows() {
    tree "$1"
    ok "$2 in $1 is allowed" scripts/tidy "$tmp/tree"
}

tree runtime/base/other.c </dev/null
ok "a clean tree passes" scripts/tidy "$tmp/tree"

breaks "no banned calls" sim/cli/a.c 'sprintf()' <<'C'
int x = sprintf(b, "a");
C
breaks "no banned calls" scenarios/zoo/a.c 'qsort()' <<'C'
static void f(void) { if (1) { (void)(qsort (a, b, c, d)); } }
C
allows sim/cli/a.c "a member called rand" <<'C'
static int x = my_rand(a->rand(1) + b.rand(2));
C
breaks "no clock or environment in the core" sim/core/a.c 'time()' <<'C'
static long now = time(NULL);
C
breaks "no clock or environment in the core" runtime/runtime.c 'getenv()' <<'C'
static char *home = getenv("HOME");
C
allows sim/engine/a.c "a wall clock" <<'C'
static int f(void) { return clock_gettime(1, &t); }
C
breaks "no allocation in the runtime" runtime/task/a.c 'malloc()' <<'C'
static void *p = malloc(1);
C
allows runtime/host/a.c "malloc" <<'C'
static void *p = malloc(1);
C
breaks "no floating point in the core" sim/core/a.c 'floating point' <<'C'
static double odds;
C
allows sim/engine/a.c "floating point" <<'C'
static double odds;
C
breaks "no pointer in output" sim/cli/a.c '%p' <<'C'
static int x = printf("%-16p", y);
C
breaks "no pointer in output" sim/cli/a.c 'a time of build' <<'C'
static const char *when = __DATE__;
C
breaks "runtime includes no system header" runtime/io/a.c 'unistd.h' <<'C'
#include <unistd.h>
C
allows runtime/io/a.c "a header of the language" <<'C'
#include <stdint.h>
C
allows runtime/host/a.c "a system header" <<'C'
#include <unistd.h>
C
breaks "includes point down" runtime/task/a.c 'sim/rewake.h' <<'C'
#include "sim/rewake.h"
C
breaks "includes point down" sim/judge/a.c 'reports/html.h' <<'C'
#include "reports/html.h"
C
breaks "includes point down" sim/core/a.c 'sim/cli/cli.h' <<'C'
#include "sim/cli/cli.h"
C
breaks "includes point down" sim/judge/a.c '../world.h' <<'C'
#include "../world.h"
C
allows sim/judge/a.c "an include of the runtime" <<'C'
#include "runtime/task/task.h"
C
breaks "include guards are paths" sim/judge/a.h 'is not #pragma once' <<'C'
#ifndef SIM_JUDGE_A_H
#endif
C
allows sim/judge/a.h "a header that is read once" <<'C'
#pragma once
C
breaks "include guards are paths" runtime/task/a.h 'is not #ifndef RT_TASK_A_H' <<'C'
#ifndef RT_JOBS_A_H
#endif
C
allows runtime/task/a.h "the runtime's short prefix in a guard" <<'C'
#ifndef RT_TASK_A_H
#endif
C
at=7
breaks "comments are whole" sim/judge/a.c 'an empty line in a comment' <<'C'
/* What it waits for may have woken another in its

 * place. */
C
at=
allows sim/judge/a.c "a paragraph, and a comment's beginning in a string" <<'C'
/* One.
 *
 * Two. */ /* Three. */

static const char *glob = "zoo/*", *quoted = "\"/*"; // scenarios/*

C
for word in "$(printf 'DESI%s, Actors' GN)" "$(printf 'SEMAN%s 3.1' TICS)" \
    "$(printf 'STYLE.m%s' d)"; do
    breaks "references are in the tree" sim/judge/a.c 'is not in the tree' <<C
/* Readiness changes between steps ($word). */
C
done
tree sim/judge/a.c <<C
/* Both orders are legal ($word). */
C
touch "$tmp/tree/sim/$word"
ok "a reference to a paper of the tree is allowed" scripts/tidy "$tmp/tree"
breaks "references are in the tree" sim/judge/a.c 'judge/gone.h is not in the tree' <<'C'
/* Described where it is defined (judge/gone.h). */
C
tree sim/judge/a.c <<'C'
/* Described where it is defined (judge/here.h), <sys/epoll.h>. */
#include "judge/gone.h"
C
: >"$tmp/tree/sim/judge/here.h"
ok "a reference to a header of the tree is allowed" scripts/tidy "$tmp/tree"
word=$(printf 'TO%s' DO) # In two parts: this file is looked at as well.
breaks "no unfinished work" scenarios/zoo/a.c 'finish it' <<C
/* $word: more of this. */
C
allows scenarios/zoo/a.c "a longer word" <<C
/* ${word}s and now-or-never are no marks. */
C
word=$(printf 'can %s' not)
breaks "plain words" sim/judge/a.c 'say cannot' <<C
/* It $word be so. */
C
allows sim/judge/a.c "a word with that in it" <<'C'
/* Folklore of copilots. */
C
wide=$(printf '%090d' 0)
breaks "lines fit" sim/cli/a.c '101 columns' <<C
/* $wide 1234 */
C
allows sim/cli/a.c "a line of 100 columns, one of them of three bytes" <<C
/* $wide 12… */
C
tab=$(printf '\t')
none=
breaks "lines fit" sim/cli/a.c 'a tab' <<C
${tab}int x;
C
breaks "lines fit" sim/cli/a.c 'blanks at the end' <<C
int x; $none
C

tree sim/cli/a.c </dev/null
echo 'int x;' >"$tmp/tree/sim/cli/a.c"
scripts/tidy "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
ok "a file without tag is found" grep -q 'sim/cli/a.c:1: no SPDX' "$tmp/err"
ok "a file without top comment is found" grep -q 'sim/cli/a.c:1: no top comment' "$tmp/err"
mkdir -p "$tmp/tree/reports/queries"
queries=$tmp/tree/reports/queries
printf -- '-- What?\n-- SPDX-License-Identifier: Apache-2.0\n' >"$queries/a.sql"
printf -- '-- b.sql -- b.\n-- SPDX-License-Identifier: Apache-2.0\n' >"$queries/b.sql"
scripts/tidy "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
ok "a query without question is found" grep -q 'reports/queries/b.sql:1: no question' "$tmp/err"
not_ok "one with a question is not" grep -q 'reports/queries/a.sql' "$tmp/err"
tree sim/tests/cli/a.sh </dev/null
printf '#!/bin/sh\n# a.sh -- a case.\n# SPDX-License-Identifier: Apache-2.0\n' \
    >"$tmp/tree/sim/tests/cli/a.sh"
scripts/tidy "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
ok "a program that is not executable is found" grep -q 'a.sh:1: .*chmod' "$tmp/err"

if command -v clang-format-14 >/dev/null; then
    cp .clang-format "$tmp/.clang-format"
    tree sim/cli/a.c <<'C'
int  x;
C
    cp .clang-format "$tmp/tree/.clang-format"
    ok "a file in another format is found" finds formatted sim/cli/a.c 'make format'
fi

# statics SOURCE: tidy with the object of a scenario.
statics() {
    tree scenarios/zoo/a.c </dev/null
    mkdir -p "$tmp/tree/objects/scenarios/zoo"
    echo "$1" | gcc -x c -fPIC -c - -o "$tmp/tree/objects/scenarios/zoo/a.o" || return 2
    TIDY_OBJECTS=objects scripts/tidy "$tmp/tree"
}
not_ok "a writable static is found" statics 'int f(void); int f(void) { static int n; return n++; }'
not_ok "a writable variable with a value is found" statics 'int n = 1;'
not_ok "a variable of each thread is found" statics '_Thread_local int n;'
ok "a constant is allowed" statics 'extern const int n; const int n = 1;'
ok "a constant table of addresses is allowed" statics \
    'extern int x(void); int (*const t[])(void) = {x}; static int (*const u[])(void) = {x};
    int (*const *f(void))(void) { return u; }'
ok "a record in a section of its own is allowed" statics \
    'int n __attribute__((section("rt_sites"))) = 1;'

done_testing
