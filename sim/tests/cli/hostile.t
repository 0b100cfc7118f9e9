#!/bin/sh
# hostile.t -- runs that damage rewake itself, and workers that are killed.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
ok "a library outside of the tree builds" build_library hostile
lib=./hostile.so

# verdicts NAME ARGS...: of a sweep, as JSON has them.
verdicts() {
    name=$1
    shift
    rewake run $lib "hostile/$name" --fresh --json --db v.db "$@" 2>/dev/null |
        sed -n 's/.*"event":"scenario".*"verdicts":{\([^}]*\)}.*/\1/p'
}
message_of() {
    rewake run $lib "hostile/$1" --runs 40 --fresh --json --db v.db 2>/dev/null |
        sed -n 's/.*"event":"failure".*"message":"\([^"]*\)".*/\1/p' | head -n 1
}

# fails_alone NAME VERDICT: some seeds fail so, for any number of workers; each replays.
fails_alone() {
    name=$1
    one=$(verdicts "$name" --runs 120 --jobs 1)
    ok "$name: some fail" sh -c "echo '$one' | grep -q '\"pass\":.*\"$2\":'"
    same "$name: the same for 3 workers" "$(verdicts "$name" --runs 120 --jobs 3)" "$one"
    rewake run $lib "hostile/$name" --runs 120 --fresh --json --db t.db >t.json 2>/dev/null
    token=$(token_of t.json)
    same "$name: replay: status" "$(status replay $lib "$token" --db t.db)" 1
    ok "$name: replay: the same" grep -q "same failure, $2" out.txt
    same "$name: the database is whole" "$(sqlite3 t.db 'PRAGMA integrity_check')" ok
}

# ---- A run that overwrites foreign memory is responsible for it. ----
# Under the address sanitizer these fill its own shared memory as well, and it dies of that.
if [ $asan = no ]; then
    fails_alone some-zeros crash
    fails_alone some-ones crash
    same "every run writes there" "$(verdicts ones --runs 60)" '"crash":61'
    message_of some-ones >message.txt
    ok "it is said" grep -q "wrote over memory of rewake" message.txt
fi

# ---- A destructor that ends the process well is not asked. ----
same "a library that says 0 at the end: status" \
    "$(status run $lib hostile/vfork --runs 2 --fresh --record none)" 1

# ---- Children, descriptors. ----
fails_alone some-fork contract
message_of some-fork >message.txt
ok "fork: it is said" grep -q 'fork() was called inside the run' message.txt
same "vfork" "$(verdicts vfork --runs 5)" '"contract":6'
same "a hidden fork is no second worker" "$(verdicts fork-unseen --runs 50)" '"pass":50'
before=$(date +%s)
fails_alone leaves-a-child crash
ok "a worker whose child holds its pipe is found dead" test $(($(date +%s) - before)) -lt 60
fails_alone some-close crash
message_of some-close >message.txt
ok "closing everything: it is said" grep -q "closed a descriptor that is rewake's own" message.txt
same "writing to every descriptor reaches nothing" "$(verdicts writes --runs 200)" '"pass":200'
same "errno is 0 where a run begins" "$(verdicts errno --runs 50)" '"pass":50'

# ---- Workers are killed, again and again, and every run has its verdict. ----
"$REWAKE" run $lib hostile/slow --runs 4000 --jobs 2 --fresh --json --db k.db >k.json 2>k.err &
pid=$!
killed=0
while [ $killed -lt 15 ] && kill -0 $pid 2>/dev/null; do
    worker=$(pgrep -P $pid | head -n 1)
    [ -n "$worker" ] && kill -KILL "$worker" 2>/dev/null && killed=$((killed + 1))
    sleep 0.05
done
wait $pid
code=$?
ok "kill -9 of workers: some were killed" test $killed -gt 3
ok "kill -9 of workers: 0, or 3 where a run was hit" test $code -eq 0 -o $code -eq 3
ok "kill -9 of workers: every run is there" grep -q '"event":"scenario".*"runs":4000' k.json
same "kill -9 of workers: nothing on stderr" "$(grep -c 'bug of rewake' k.err)" 0

# A process that is killed in a run: what did it is named, and the run has a verdict. Run 0 has the
# first process, the seeds have the second.
# killed_in NTH RUN TEXT: the NTH process of the sweep, in RUN; TEXT is its line at the end.
killed_in() {
    nth=$1
    "$REWAKE" run $lib hostile/slower --runs 2 --jobs 1 --fresh --db s.db >s.txt 2>&1 &
    pid=$!
    seen=
    while [ "$(echo $seen | wc -w)" -lt "$nth" ] && kill -0 $pid; do
        child=$(pgrep -P $pid | head -n 1)
        case " $seen " in
        *" $child "*) sleep 0.05 ;;
        *) seen="$seen $child" ;;
        esac
    done
    sleep 0.2
    kill -KILL "$child"
    wait $pid
    same "killed in run $2: status" "$?" 3
    ok "killed in run $2: the cause is named" grep -q 'process outside of rewake' s.txt
    ok "killed in run $2: all others pass" grep -q "^FAIL hostile/slower  *$3\$" s.txt
}
killed_in 1 0 '3 runs  2 pass  1 diverged .*'
killed_in 2 1 '2 runs  1 pass  1 diverged .*'
done_testing
