#!/bin/sh
# program.t -- ordinary programs as scenarios: how they end, what they print, what a run leaves.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
build_program() {
    # shellcheck disable=SC2086 # Several flags.
    $cc -D_GNU_SOURCE -O1 -g -w ${3:-} "$root/sim/tests/cli/lib/program/$1.c" -o "$2" -lm
}
# said NAME ARGS...: the lines that the default schedule prints, which must fail.
said() {
    rm -f said.db
    name=$1
    shift
    rewake run "./$name" --runs 1 --fresh --record all --db said.db -- "$@" >/dev/null 2>&1
    rewake query "SELECT DISTINCT text FROM trace WHERE kind = 'out'" --json --db said.db |
        sed 's/^{"text":"\(.*\)"}$/\1/'
}
# verdict_of NAME ARGS...
verdict_of() {
    name=$1
    shift
    rewake run "./$name" --runs 5 --fresh --json --db v.db -- "$@" 2>/dev/null |
        sed -n 's/.*"event":"scenario".*"verdicts":{\([^}]*\)}.*/\1/p'
}
message_of() {
    name=$1
    shift
    rewake run "./$name" --runs 1 --fresh --json --db v.db -- "$@" 2>/dev/null |
        sed -n 's/.*"event":"failure".*"message":"\([^"]*\)".*/\1/p'
}

# ---- How a program ends. ----
ok "a program builds" build_program ends ends
strip ends -o stripped
build_program ends ends.so '-shared -fPIC'
for file in ends stripped ends.so; do
    same "$file: passes" "$(verdict_of $file)" '"pass":5'
    same "$file: exit from any depth" "$(verdict_of $file -e exit)" '"pass":5'
    same "$file: _exit" "$(verdict_of $file -e _exit)" '"pass":5'
    same "$file: quick_exit" "$(verdict_of $file -e quick)" '"pass":5'
    same "$file: a status" "$(verdict_of $file -e status)" '"exit":6'
    same "$file: errx" "$(verdict_of $file -e err)" '"exit":6'
    same "$file: abort" "$(verdict_of $file -e abort)" '"crash":6'
    same "$file: assert" "$(verdict_of $file -e assert)" '"invariant":6'
    same "$file: a signal" "$(verdict_of $file -e null)" '"crash":6'
    same "$file: fork" "$(verdict_of $file -e fork)" '"refused":6'
    same "$file: exec" "$(verdict_of $file -e exec)" '"refused":6'
    same "$file: system" "$(verdict_of $file -e system)" '"refused":6'
    same "$file: a write after free" "$(verdict_of $file -e after-free)" '"use-after-free":6'
    same "$file: a lock after free" "$(verdict_of $file -e lock-after-free)" '"use-after-free":6'
    same "$file: a signal after free" "$(verdict_of $file -e cond-after-free)" '"use-after-free":6'
    same "$file: free twice" "$(verdict_of $file -e twice)" '"contract":6'
done
same "assert: the message" \
    "$(message_of ends -e assert | sed 's/:[0-9]* in/: in/;s/ (.*ends.c/ (ends.c/')" \
    'assertion failed: constructed == 2 (ends.c: in end)'
message_of ends -e written >message.txt
line=$(grep -n 'block\[3\] = 1' "$root/sim/tests/cli/lib/program/ends.c" | cut -d: -f1)
ok "assert, after a write after free: the message" grep -q "before that, a block of 40 bytes that \
was freed at ends.c:$((line - 1)) was written at offset 12" message.txt
same "a lock after free: the message" "$(message_of ends -e lock-after-free)" \
    "a mutex is used in memory that was freed at ends.c:83, by 'main' in step 1"
same "a status: the message" "$(message_of ends -e status)" 'the program ended with status 3'
same "fork: the message" "$(message_of ends -e fork)" \
    'fork() was called, which is not simulated: a run is one process'

# ---- What it is given, and prints, in the order of a native run. ----
said ends -v -e status x y >said.txt
cat >wanted.txt <<'END'
constructor: 6 arguments of ./ends
option v
option e
argument x
argument y
LANG=C
handler with status 3: bye
first handler
destructor
END
ok "arguments, constructors, handlers, destructors" cmp said.txt wanted.txt
same "errx prints to stderr" "$(said ends -e err | grep wrong)" 'ends: it is wrong'

# ---- A token has the arguments, and a hash of the environment. ----
rewake run ./ends --runs 5 --fresh --json --db t.db --env LANG=x -- -e status >t.json 2>/dev/null
token=$(token_of t.json)
same "replay without arguments" "$(status replay ./ends "$token" --env LANG=x)" 1
ok "replay: the same run" grep -q 'same failure, exit' out.txt
same "replay with the same arguments" \
    "$(status replay ./ends "$token" --env LANG=x -- -e status)" 1
refused "replay with other arguments" 2 replay ./ends "$token" --env LANG=x -- -e exit
refused "replay in another environment" 125 replay ./ends "$token"
ok "replay in another environment: it is said" grep -q 'environment' err.txt
refused "a token of a program, for a library of scenarios" 125 replay "$token"
same "two runs of one command line: one token" "$token" \
    "$(rewake run ./ends --runs 5 --fresh --json --db t2.db --env LANG=x -- -e status \
        2>/dev/null >t2.json; token_of t2.json)"
same "refused runs alone: status" "$(status run ./ends --runs 5 --fresh --db q.db -- -e fork)" 125
same "--leaks" "$(status run ./ends --runs 5 --fresh --db q.db --leaks -- -e leak)" 1
same "without --leaks" "$(status run ./ends --runs 5 --fresh --db q.db -- -e leak)" 0

# ---- Between a call that wakes a thread and the next call the woken one may run. ----
ok "a program whose object is freed by the woken thread builds" build_program after after -pthread
for how in signal post; do
    same "$how, then a write: it is found" "$(status run ./after --runs 200 --fresh -- $how)" 1
    ok "$how, then a write: the verdict" grep -q '^use-after-free: ' out.txt
    same "a write, then $how: passes" \
        "$(status run ./after --runs "$(few 1000 100)" --fresh -- $how fixed)" 0
done

# ---- What frees is a library: named is the program's line, and which steps freed and wrote. ----
string=$root/sim/tests/cli/lib/program/string.cpp
ok "a program with a string builds" g++ -g -O1 "$string" -o string -pthread
same "a string's memory is written after the string has freed it: status" \
    "$(status run ./string --runs 200 --fail-fast --fresh)" 1
tr -s '\n ' ' ' <out.txt >words.txt
line=$(grep -n 'text.append(more)' "$string" | cut -d: -f1)
ok "... the call that freed it, in the program" grep -q "#0 add string.cpp:$line #1 main " words.txt
row=$(sed -n "s/.*; 'main' freed it in step \([0-9]*\), 'thread 1' wrote in step \([0-9]*\), \
and it was noticed, at step \([0-9]*\).*/\1 \2 \3/p" words.txt)
# shellcheck disable=SC2086 # Three numbers.
set -- $row 0 0 0
ok "... and the steps, in their order" test "$1" -gt 0 -a "$1" -lt "$2" -a "$2" -le "$3"
ok "... the thread ends in the step in which it writes" \
    grep -q "^ *$2  *[0-9.]*us .* takes waker back from its timer" out.txt

# ---- A circle of locks: which threads, which locks, where each waits and has taken its own. ----
ok "a program with two locks builds" build_program crossed crossed -pthread
rewake run ./crossed --runs 300 --fresh --json --db c.db >crossed.json 2>/dev/null
rewake explain ./crossed "$(token_of crossed.json)" --db c.db 2>&1 | tr '\n' ' ' >crossed.txt
for said in '`thread 1` waits for right, in left_first() (crossed.c:15), which `thread 2` took at' \
    'in right_first() (crossed.c:24) and has not' \
    '`thread 2` waits for left, in right_first() (crossed.c:25), which `thread 1` took at' \
    'in left_first() (crossed.c:14) and has not' 'none of them can go first'; do
    ok "crossed: $said" grep -qF "$said" crossed.txt
done

# ---- A run remembers nothing of those before, in one process and in a fresh one. ----
ok "a program that would remember builds" build_program remembers remembers
for what in variables random environment strtok stdio locale handlers heap rounding errors \
    arguments mappings signals process timers descriptors files float messages settings; do
    rewake run ./remembers --runs 1000 --jobs 1 --fresh --json --record all --db r.db \
        --check-determinism 1 -- $what >r.json 2>/dev/null
    ok "$what: 1,000 runs pass" grep -q '"verdicts":{"pass":1000}' r.json
    same "$what: replicas are equal" "$(grep -c '"unequal":0' r.json)" 1
    same "$what: one digest" "$(sqlite3 r.db 'SELECT count(DISTINCT digest) FROM runs')" 1
    rm -f r.db
done

# With threads: orders differ. A replica of each seventh run has not seen those between.
for what in stacks addresses; do
    rewake run ./remembers --runs 1000 --jobs 1 --fresh --json --record none \
        --check-determinism 7 -- $what >r.json 2>/dev/null
    ok "$what: 1,000 runs pass" grep -q '"verdicts":{"pass":1000}' r.json
    same "$what: replicas are equal" "$(grep -c '"unequal":0' r.json)" 1
done

# Of two workers each has merged the heap that it was forked with.
rewake run ./remembers --runs 200 --jobs 2 --fresh --json --record none -- settings >r.json 2>&1
ok "settings: 200 runs of two workers pass" grep -q '"verdicts":{"pass":200}' r.json

# To look for the debug information of a stripped program brings no libraries into this process.
strip -o stripped-remembers remembers
rewake run ./stripped-remembers --runs 100 --jobs 1 --fresh --record all --db r.db \
    -- messages >/dev/null 2>&1
same "messages of a stripped program: one digest" \
    "$(sqlite3 r.db 'SELECT count(DISTINCT digest), count(*) FROM runs')" "1|100"

# A library whose thread-locals lie at a fixed offset, as jemalloc's do.
cat >fixed_tls.c <<'END'
__thread char block[30000] __attribute__((tls_model("initial-exec")));
int first(void) { return block[0]++; }
END
echo 'int first(void); int main(void) { return first(); }' >uses_tls.c
"$cc" -shared -fPIC -o libfixed_tls.so fixed_tls.c
"$cc" -o uses_tls uses_tls.c -L. -lfixed_tls -Wl,-rpath,"$PWD"
same "30,000 bytes of thread-locals at a fixed offset" \
    "$(status run ./uses_tls --runs 10 --fresh)" 0

# ---- What cannot be loaded. ----
build_program ends static -static 2>/dev/null && refused "a static program" 2 run ./static
build_program ends fixed '-no-pie -fno-pie' && refused "a program at a fixed place" 2 run ./fixed
printf '#!/bin/sh\n' >script
chmod +x script
refused "a script" 2 run ./script
cp ends suid && chmod u+s suid && refused "a set-user-ID program" 2 run ./suid
printf '\177ELF and nothing more' >short
refused "a file that begins as a program" 2 run ./short
for command in 'run ./none' 'run ./none.so' 'explain ./none run:2' 'replay /none rw1:x'; do
    # shellcheck disable=SC2086 # Several arguments.
    refused "$command: a program that is not there" 2 $command
    ok "$command: and says so" grep -q 'none.*: No such file or directory$' err.txt
done
# ---- Calls that it looks up itself, and more than a run can hold. ----
build_program next next
same "calls behind RTLD_NEXT are simulated" "$(verdict_of next)" '"pass":5'
same "... and those of the C library's that are not" "$(said next fails)" "$(./next)"
build_program opens opens
same "too many descriptors: refused" "$(verdict_of opens)" '"refused":6'
ok "... with the number" \
    grep -q '^more than 4095 threads and descriptors in one run are not simulated' <<END
$(message_of opens)
END
# ---- Libraries that it opens itself. ----
build_program loads libloads.so '-shared -fPIC -DLIBRARY -Wl,--no-as-needed'
build_program loads loads '-rdynamic -Wl,--no-as-needed ./libloads.so'
same "dlopen of what it is linked with: passes" "$(verdict_of loads)" '"pass":5'
same "... prints nothing" "$(said loads)" ''
same "dlopen of another library: refused" "$(verdict_of loads ./absent.so)" '"refused":6'
same "... of one that rewake is linked with, too" "$(verdict_of loads libsqlite3.so.0)" \
    '"refused":6'
ok "... the message has its name" \
    sh -c "'$REWAKE' run ./loads --runs 1 --record none -- libsqlite3.so.0 2>&1 | tr '\n' ' ' |
        grep -q 'dlopen() was called.* link the program with libsqlite3.so.0'"
done_testing
