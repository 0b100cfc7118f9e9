#!/bin/sh
# quick_set.t -- the quick set: few runs for many, and what it says when they are others by now.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
program=$REWAKE
edges=$root/${EDGES:-build/edges-clang/rewake}
QUICK_SET=$(pwd)/set
export QUICK_SET REWAKE
# quick_set ARGS...: its status; keeps out.txt and err.txt.
quick_set() {
    "$root/scripts/quick-set" "$@" >out.txt 2>err.txt
    echo $?
}
# refuses CLAIM STATUS ARGS...: with one line on stderr, and nothing else.
refuses() {
    claim=$1
    wanted=$2
    shift 2
    same "$claim: status" "$(quick_set "$@")" "$wanted"
    same "$claim: one line" "$(wc -l <err.txt | tr -d ' ') $(wc -c <out.txt | tr -d ' ')" "1 0"
}

# ---- In any build: a program that has changed. ----
# Its runs, by a program that knows the library: `replay --each ARGS` is `replay ./fixed.so ...`.
cat >with-library <<END
#!/bin/sh
shift
exec "$program" replay ./fixed.so "\$@"
END
chmod +x with-library
REWAKE=$(pwd)/with-library
# make_set FLAGS: a set of three runs of the library as it is with these flags.
make_set() {
    build_library fixed "$1"
    rm -f l.db
    "$program" run ./fixed.so --strategy random --seeds 1-200 --record all --fresh --no-shrink \
        --db l.db >/dev/null
    echo '# edges 10, and 20 things that schedules do.' >set
    for run in $(sqlite3 l.db "SELECT run FROM runs ORDER BY verdict = 0, number LIMIT 3"); do
        "$program" replay ./fixed.so "run:$run" --json --db l.db
    done | sed -n 's/.*"token":"\([^"]*\)".*/\1/p' >>set
}
make_set -DFIXED
same "a set of passing runs: status" "$(quick_set)" 0
same "... one line" "$(cat out.txt err.txt)" "quick-set: 3 runs replayed: 3 the same"
make_set ''
same "a set with failures that come again: status" "$(quick_set)" 0
same "... one line" "$(cat out.txt err.txt)" "quick-set: 3 runs replayed: 3 the same"
same "... the first of them fails" "$(status replay "$(sed -n 2p set)")" 1
build_library fixed -DFIXED
same "failures that are gone: status" "$(quick_set)" 0
ok "... it says how to make the set again" grep -q '; make quick-set-renew$' out.txt
cp set failing
# A seed that fails, in a token of the fixed program, where it passes.
make_set -DFIXED
sed -i '2,$d' set
seed=$(sed -n '2s/rw1:mine.fixed:\([0-9]*\):.*/\1/p' failing)
"$program" run ./fixed.so --strategy random --seeds "$seed-$seed" --record all --fresh \
    --db s.db >/dev/null
"$program" replay ./fixed.so run:1 --json --db s.db |
    sed -n 's/.*"token":"\([^"]*\)".*/\1/p' >>set
build_library fixed
same "a run that passed and fails: status" "$(quick_set)" 1
ok "... the run is named" grep -q "^mine/fixed, seed $seed: .*; it was pass" err.txt
ok "... and how many" grep -q '^quick-set: 1 runs that held hold no longer$' err.txt

# ---- What cannot be replayed. ----
make_set ''
echo rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi >>set
same "one token of another program: status" "$(quick_set)" 0
ok "... is counted" grep -q '3 runs replayed: 3 the same; 1 could not be judged' out.txt
ok "... it says how to make it again" grep -q '3 of 4 runs as they were; make quick-set-renew' \
    out.txt
echo rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi >set
same "tokens of another program only: status" "$(quick_set)" 1
echo '# nothing' >set
refuses "a set of nothing" 2
QUICK_SET=nowhere refuses "no set" 2
refuses "usage" 2 renovate
REWAKE=nowhere refuses "no program" 2
ok "... says what to do" grep -q 'make BUILD=edges CC=clang$' err.txt

# ---- Made again: where edges are counted. ----
REWAKE=$program
cp failing set
if "$program" replay --each @/dev/null --code 2>&1 | grep -q 'no edges of code'; then
    same "renew without edges: status" "$(RUNS=2 quick_set renew articles/s1/two-requests)" 2
    ok "... says what to do" grep -q 'make BUILD=edges CC=clang' err.txt
    ok "... leaves the set" cmp set failing
fi
if [ -x "$edges" ]; then
    REWAKE=$edges
    same "renew: status" "$(RUNS=30 quick_set renew canary/contract 'articles/s1/*')" 0
    reached=$(sed 's/.* cover: \([0-9]*\) edges of code.*/\1/' out.txt)
    ok "renew: a few of many runs" grep -Eq '^quick-set: [1-9][0-9]? runs cover what [0-9]{3} ' \
        out.txt
    same "replayed where edges are counted: status" "$(quick_set)" 0
    same "... the same, and all edges" "$(sed 's/.*replayed: \([0-9]*\) the same; /\1 of /' \
        out.txt)" "$(grep -c '^rw1:' set) of $reached edges of code reached"
    cp set kept
    REWAKE_JOBS=1 RUNS=30 quick_set renew canary/contract 'articles/s1/*' >/dev/null
    ok "any number of workers makes the same set" cmp set kept
    sed -i '/^rw1:canary/d' set
    same "a run less: status" "$(quick_set)" 0
    ok "... edges are missing" grep -Eq "^quick-set: made of other code: [0-9]+ of $reached edges" \
        out.txt
fi
done_testing
