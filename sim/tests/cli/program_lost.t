#!/bin/sh
# program_lost.t -- lost wake-ups in programs that know nothing of rewake are found, minimized and
# explained with their lines; without and with `rewake cc`, by both compilers.
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
# build COMPILER HOW NAME: with the compiler itself, or with `rewake cc`; the program is HOW-NAME.
build() {
    case $2 in
    plain) $1 -g -O1 -w -o "$2-$3" "$root/sim/tests/cli/lib/program/$3.c" -pthread ;;
    cc) CC=$1 rewake cc -O1 -w -o "$2-$3" "$root/sim/tests/cli/lib/program/$3.c" -pthread ;;
    esac
}
# line_of NAME TEXT: the number of the line of the source that has it.
line_of() {
    grep -n -m1 -F "$2" "$root/sim/tests/cli/lib/program/$1.c" | cut -d: -f1
}
deviations() {
    sed -n 's/^Minimized: \([0-9]*\) scheduling.*/\1/p; s/^Already minimal: \([0-9]*\) .*/\1/p' \
        out.txt | head -1
}
build gcc plain lost && rewake run ./plain-lost --runs 1 --record none >out.txt 2>&1
if grep -q refused out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi

# found HOW NAME VERDICT LINE...: it is found, with few deviations, and the report has these lines.
found() {
    how=$1
    name=$2
    verdict=$3
    shift 3
    same "$compiler, $how: $name fails" \
        "$(status run "./$how-$name" --runs 3000 --fail-fast --record none)" 1
    ok "$compiler, $how: $name: $verdict" grep -q "^FAIL $how-$name: $verdict" out.txt
    ok "$compiler, $how: $name: at most two deviations" test "$(deviations)" -le 2
    for text in "$@"; do
        line=$(line_of "$name" "$text")
        ok "$compiler, $how: $name: line $line, $text" grep -q "$name.c:$line" out.txt
    done
    ok "$compiler, $how: $name: where each thread is" grep -q 'Where each thread is' out.txt
}
# A wait in no loop continues at any time: it is not late. One that looks again is.
ok "trusts builds" build gcc plain trusts
for mode in once often; do
    same "a wait that trusts whatever ends it, $mode: passes" \
        "$(status run ./plain-trusts --runs 500 --fresh --record none -- $mode)" 0
done
same "one that looks again is late" \
    "$(status run ./plain-trusts --runs 500 --fail-fast --fresh --record none -- late)" 1
ok "... and nothing else" grep -q '^failed: plain-trusts: late-wakeup' out.txt
# A spin lock that is taken and given back in one step is no write that is lost.
ok "guarded builds" build gcc plain guarded
same "a deadlock beside a spin lock: fails" \
    "$(status run ./plain-guarded --runs 10 --fail-fast --fresh --record none)" 1
line=$(line_of guarded pthread_cond_wait)
ok "... says where it waits" grep -q "(guarded.c:$line)" out.txt
ok "... and not the lock" sh -c '! grep -q "registering" out.txt'
# run_to_failure NAME: its first failure, in joined.txt without ends of lines.
run_to_failure() {
    rewake run "./plain-$1" --runs 3000 --fail-fast --record none >out.txt 2>&1
    tr '\n' ' ' <out.txt >joined.txt
}
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for how in plain cc; do
        for name in lost bell futex joins; do
            ok "$compiler, $how: $name builds" build $compiler $how $name
        done
        found $how lost lost-wakeup 'pthread_cond_wait(' 'pthread_cond_signal('
        ok "$compiler, $how: lost: the source of the line is printed" \
            grep -q '^  lost\.c:[0-9]* .*pthread_cond_signal(.*;$' out.txt
    done
    ok "$compiler: names of variables" grep -q 'reads ready: 0' out.txt
    found cc bell lost-wakeup 'epoll_wait('
    for how in plain cc; do
        rm -f j.db
        same "$compiler, $how: joins fails" "$(status run "./$how-joins" --runs 1 --db j.db)" 1
        same "$compiler, $how: joins is explained" \
            "$(status explain "./$how-joins" run:1 --db j.db)" 1
        ok "$compiler, $how: the thread that is joined is named, not the one that joins" grep -q \
            "^\`thread 1\` is blocked in take() (joins.c:$(line_of joins \
                'pthread_cond_wait('))" out.txt
    done
    # A futex is a call of syscall(), which not every build simulates.
    rewake run ./cc-futex --runs 1 --record none >out.txt 2>&1
    if grep -q 'not simulated' out.txt; then
        echo "# not tried: this build refuses futexes"
    else
        found cc futex lost-wakeup 'syscall(SYS_futex, &turn, FUTEX_WAIT'
    fi
done

# ---- What others change while one waits, and do not wake it for. ----
# Of a loop a replay shows it, also where with another word put back the process dies.
build gcc plain counted && run_to_failure counted
ok "counted: the line that owes the wake" grep -q "changes what it checked before it blocked, in \
take_away() (counted.c:$(line_of counted 'loop->watched--'))" joined.txt
# One that checks something else when it is woken is not asked: what it had read.
build gcc plain readers && run_to_failure readers
ok "readers: where it waits" grep -q "stands in reads() (readers.c:$(line_of readers \
    'pthread_cond_wait(')), and does not continue" joined.txt
ok "readers: what another changes" grep -q "changes at step [0-9]*, in fail() \
(readers.c:$(line_of readers 'display->error = 1')), called from reads() ([^)]*), what \
\`thread [12]\` had read" joined.txt
# A wait in no loop that ends for nothing, in a run that needs that.
build gcc plain unlooped && run_to_failure unlooped
ok "unlooped: where it is woken for nothing" grep -q "is woken for nothing, as may happen at any \
time, in wait_for() (unlooped.c:$(line_of unlooped 'pthread_cond_wait(')), called from stop()" \
    joined.txt
done_testing
