#!/bin/sh
# run.t -- sweeps: what they count, where they stop, what they leave, the same for any --jobs.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
canary=canary/lost-wakeup

# figures FILE: runs, verdicts and digest of the first scenario in JSON.
figures() {
    grep '"event":"scenario"' "$1" |
        sed -e 's/.*"runs":\([0-9]*\).*"verdicts":\({[^}]*}\)/\1 \2 /' -e 's/,"checked".*//'
}

# ---- Exit status and figures. ----
same "a scenario that fails: status" "$(status run $canary --runs 100 --db a.db)" 1
ok "it is reported with a token" grep -q 'rewake replay rw1:canary/lost-wakeup:' out.txt
rewake run zoo/tokio-4497/broken --strategy random --fresh --fail-fast --record none --no-shrink \
    >fifo.txt
ok "a replay in FIFO order: of this run" grep -q '^Happens with a plain FIFO run queue\.$' fifo.txt
rewake run zoo/tokio-3652/broken --strategy random --fresh --fail-fast --record none --no-shrink \
    >fifo.txt
ok "one that passes proves no more" \
    grep -q '^Does not happen with a plain FIFO run queue\.$' fifo.txt
same "articles of S1 pass: status" "$(status run 'articles/s1/*' --runs 100 --db a.db)" 0
same "expected verdicts are found: status" "$(status run $canary --expect --runs 100 --db a.db)" 0
same "an expected verdict is not found: status" \
    "$(status run $canary --expect --seeds 1-1 --fresh --db a.db)" 1
same "no scenario matches: status" "$(status run 'nothing/*' --db a.db)" 4
ok "no scenario matches: one line" one_line err.txt
cp /bin/true server
refused "a program without its path, part of a scenario's name" 4 run server --runs 1 --db a.db
ok "... it is said" grep -q 'server is a program: name it by its path, ./server ' err.txt
rm server
same "... without such a program a pattern" "$(status list server)" 0
refused "a program that a shell would find" 4 run sqlite3 -- -u root
ok "... where it is" grep -q "by its path, $(command -v sqlite3) " err.txt
same "time is up: status" "$(status run 'articles/s1/*' --time 2s --db a.db)" 0
ok "time is up: it is said" grep -q 'time is up' out.txt

# ---- The same for any number of workers. ----
for jobs in 1 2 5; do
    rewake run $canary --runs 777 --jobs $jobs --fresh --json --db j$jobs.db >j$jobs.json
    figures j$jobs.json >j$jobs.txt
    rewake query "SELECT count(*), sum(seed), min(seed), max(number) FROM runs" \
        --db j$jobs.db >r$jobs.txt
done
same "figures for 1 and 2 workers" "$(cat j2.txt)" "$(cat j1.txt)"
same "figures for 1 and 5 workers" "$(cat j5.txt)" "$(cat j1.txt)"
same "rows for 1 and 2 workers" "$(cat r2.txt)" "$(cat r1.txt)"
same "tokens for 1 and 5 workers" "$(token_of j5.json)" "$(token_of j1.json)"
ok "figures are there" grep -q '^777 ' j1.txt
rewake run $canary --seeds 2-778 --fresh --json --db k.db >k.json
ok "another range has another digest" test "$(cat j1.txt)" != "$(figures k.json)"
rewake run $canary --fail-fast --runs 777 --jobs 1 --fresh --json --db f.db >f1.json
rewake run $canary --fail-fast --runs 777 --jobs 5 --fresh --json --db f.db >f5.json
same "where --fail-fast stops" "$(grep -o '"runs":[0-9]*,"failures":[0-9]*' f5.json)" \
    "$(grep -o '"runs":[0-9]*,"failures":[0-9]*' f1.json)"

# ---- A failure is printed minimized. ----
rewake run zoo/tokio-4497/broken --runs 200 --fresh --db s.db >s.txt
ok "how far it was shrunk" \
    grep -q '^Minimized: 1 scheduling choice differs .* (was [0-9]*; [0-9]* replays)\.$' s.txt
ok "FIFO order is that of what is printed" grep -q '^Happens with a plain FIFO run queue\.$' s.txt
small=$(sed -n 's/^replay: rewake replay \([^ ]*\).*/\1/p' s.txt)
found=$(rewake query "SELECT token FROM failures WHERE token <> ''" --json --db s.db |
    sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
sed -n '/^FAIL /,/^step /p' s.txt >answer.txt
ok "the failure is explained, answer first: what is blocked" \
    grep -q ' is blocked forever although ' answer.txt
ok "... why, with the line" grep -q '(tokio-4497\.c:[0-9]*)' answer.txt
ok "... and what it depends on" grep -q '^It fails ' answer.txt
same "... and the explanation is in the database" \
    "$(rewake query 'SELECT count(*) AS n FROM explained' --json --db s.db)" '{"n":1}'
rewake run zoo/tokio-4497/broken --runs 200 --fresh --record none >n.txt
ok "without a database the run as it was found is printed" \
    grep -q '^found:  rewake replay rw1:' n.txt
same "the shrunk run replays: status" "$(status replay "$small" --db s.db)" 1
ok "the shrunk run replays: the same" grep -q 'same failure, ' out.txt
same "what was found replays: status" "$(status replay "$found" --db s.db)" 1
same "both are in the database" "$(rewake query 'SELECT token, shrunk_token, shrunk_to FROM
    failures WHERE token IS NOT NULL' --json --db s.db)" \
    "{\"token\":\"$found\",\"shrunk_token\":\"$small\",\"shrunk_to\":1}"
rewake run --strategy random zoo/shuttle-105/broken --fresh --fail-fast --record none >fifo.txt
ok "one that needs another order" grep -q '^Does not happen with a plain FIFO run queue\.$' fifo.txt
rewake run zoo/tokio-4497/broken --runs 200 --fresh --no-shrink --db u.db >u.txt
ok "--no-shrink: as it was found" not_in u.txt '^Minimized\|^found:'
same "--no-shrink: nothing is stored" \
    "$(rewake query 'SELECT count(*) AS n FROM shrunk' --json --db u.db)" '{"n":0}'
rewake run zoo/tokio-4497/broken --runs 200 --fresh --expect --db e.db >/dev/null
same "--expect: what is stated is not shrunk" \
    "$(rewake query 'SELECT count(*) AS n FROM shrunk' --json --db e.db)" '{"n":0}'
for jobs in 1 2 5; do
    rewake run 'zoo/tokio-3*/broken' --runs 100 --jobs $jobs --fresh --db w$jobs.db >/dev/null
    rewake query 'SELECT token, digest, replays, stopped FROM shrunk' --db w$jobs.db >w$jobs.txt
done
ok "several are shrunk" test "$(wc -l <w1.txt)" -gt 4
same "shrunk runs for 1 and 2 workers" "$(cat w2.txt)" "$(cat w1.txt)"
same "shrunk runs for 1 and 5 workers" "$(cat w5.txt)" "$(cat w1.txt)"
rewake run zoo/tokio-4497/broken --runs 50 --fresh --record none --json >s.json
ok "--json has both" grep -q '"shrunk":{"token":"'"$small"'".*"token":"'"$found"'"' s.json
ok "--json is JSON" every_line_is_json s.json

# ---- The database. ----
same "runs by verdict add up" "$(rewake query 'SELECT (SELECT sum(runs) FROM sweep_verdicts) =
    (SELECT sum(runs) FROM sweeps) AS same' --json --db j1.db)" '{"same":1}'
same "every failing run has one row" "$(rewake query 'SELECT count(*) = (SELECT runs FROM
    sweep_verdicts WHERE verdict <> 0) AS same FROM runs WHERE verdict <> 0' --json --db j1.db)" \
    '{"same":1}'
same "seeds are one range" "$(rewake query 'SELECT first, last FROM seeds' --json --db j5.db)" \
    '{"first":1,"last":777}'
rewake run $canary --runs 50 --record all --db all.db >/dev/null
same "--record all: every run has a row" \
    "$(rewake query 'SELECT count(*) AS n FROM runs' --json --db all.db)" '{"n":50}'
rewake run $canary --runs 50 --record none >/dev/null
ok "--record none: no file" test ! -e .rewake

# ---- Remembered failures. ----
rewake run $canary --runs 100 --db m.db >/dev/null
rewake run $canary --seeds 1-1 --db m.db >m.txt
ok "tried first" grep -q '^remembered: .*still fails' m.txt
same "they count: status" "$(status run $canary --seeds 1-1 --db m.db)" 1
ok "they are counted" grep -q '^2 runs, 1 of them remembered: 1 passed, 1 failed' out.txt
same "no figure of the sweep has them" \
    "$(sqlite3 m.db 'SELECT runs FROM sweeps ORDER BY sweep DESC LIMIT 1')" 1
same "--fresh skips them: status" "$(status run $canary --seeds 1-1 --fresh --db m.db)" 0

# ---- JSON, environment. ----
rewake run "$canary" 'articles/*' --runs 20 --json --db e.db >e.json
ok "every line is JSON" every_line_is_json e.json
same "every line has its version" "$(grep -vc '^{"v":1,"event":"' e.json)" 0
same "start comes first, summary last" \
    "$(sed -n 's/.*"event":"\([a-z]*\)".*/\1/p' e.json | sed -n '1p;$p' | tr '\n' ' ')" \
    'start summary '
REWAKE_RUNS=7 REWAKE_SEED=40 "$REWAKE" run 'articles/s1/*' --json --db v.db >v.json
ok "REWAKE_RUNS and REWAKE_SEED are kept" grep -q '"seed":"40","runs":7' v.json
same "flags win" "$(REWAKE_RUNS=7 "$REWAKE" run articles/s1/two-requests --runs 3 --json --db v.db |
    grep -c '"runs":3,"failed":0')" 1
same "a bad REWAKE_JOBS: status" "$(REWAKE_JOBS=x "$REWAKE" run 2>/dev/null; echo $?)" 2

# ---- What a new user types. ----
refused "run of nothing" 2 run
ok "run of nothing: what there is" grep -q 'rewake run ./prog -- ARGS' err.txt
same "--builtin: all there are" "$(rewake run --builtin --runs 1 --json --record none 2>/dev/null |
    head -n 1 | sed -n 's/.*"event":"start".*"scenarios":\([0-9]*\).*/\1/p')" \
    "$(rewake list --json | wc -l)"
refused "a command that is mistyped" 2 shrnik
ok "a command that is mistyped: which was meant" grep -q "did you mean 'shrink'?" err.txt
refused "an option that is mistyped" 2 run $canary --fail-fats
ok "an option that is mistyped: which was meant" grep -q "did you mean '--fail-fast'?" err.txt
refused "an option with a value that is mistyped" 2 run $canary --stratgey=random
ok "an option with a value: which was meant" grep -q "did you mean '--strategy'?" err.txt
refused "a scenario that is mistyped" 4 run canary/lost-wakup
ok "a scenario that is mistyped: which was meant" grep -q "did you mean '$canary'?" err.txt
refused "the last part of one" 4 run lost-wakup
ok "the last part of one: which was meant" grep -q "did you mean '$canary'?" err.txt
refused "an option of runs that is mistyped" 2 run $canary -O ordre=fifo
ok "an option of runs that is mistyped: which was meant" grep -q "did you mean 'order'?" err.txt
refused "a query that is mistyped" 2 query failurs
ok "a query that is mistyped: which was meant" grep -q "did you mean 'failures'?" err.txt
refused "a format that is mistyped" 2 export junti
ok "a format that is mistyped: which was meant" grep -q "did you mean 'junit'?" err.txt
printf '#!/bin/sh\n' >my-prog
chmod +x my-prog
refused "a program without its folder" 4 run my-prog
ok "a program without its folder: how it is named" grep -q 'by its path, ./my-prog ' err.txt
refused "explore: a name that is mistyped" 4 explore canary/lost-wakup
refused "explore: several" 2 explore canary
ok "explore: several: which" grep -q 'canary/leak, ' err.txt
same "a pattern is one over parts of names" \
    "$(rewake list --json 3652 | sed 's/.*"name":"\([^"]*\)".*/\1/' | tr '\n' ' ')" \
    'zoo/tokio-3652/broken zoo/tokio-3652/fixed '
same "... unless a whole name is that" "$(rewake list --json $canary | wc -l)" 1
same "help COMMAND is its --help" "$(rewake help shrink)" "$(rewake shrink --help)"
refused "help of no command" 2 help shrnik
for value in fifo 2; do
    rewake run zoo/tokio-4497/broken -O order=$value --runs 50 --json --record none \
        >order-$value.json
done
same "-O by name and by number are the same" "$(figures order-fifo.json)" "$(figures order-2.json)"
refused "-O: a name that is none" 2 run $canary -O order=fofo
ok "-O: a name that is none: those there are" \
    grep -q 'none of scenario, any, fifo, lifo-slot' err.txt
refused "-O: a name for a number" 2 run $canary -O step_ns=fifo
ok "the line of the start has what was given" sh -c \
    "'$REWAKE' run $canary -O order=fifo --runs 1 --record none | grep -q -- '-O order=fifo'"

# ---- As little as possible, and one line for what comes next. ----
rewake run zoo/tokio-4497/fixed --runs 20 --db n.db >next.txt
same "a scenario that passes is one line" "$(sed '1d; /^default schedule/,$d' next.txt | wc -l)" 1
same "one line says what comes next" "$(grep -c '^next: .* show a new schedule$' next.txt)" 1
rewake run zoo/tokio-4497/fixed --runs 20 --record none -v >next.txt
ok "-v: what it has covered" grep -q '^  covered [0-9]* points, the last new one by run' next.txt
rewake run zoo/tokio-4497/fixed --runs 20 --db n.db --quiet >next.txt
ok "--quiet: not a word" test ! -s next.txt
rewake run zoo/tokio-4497/broken --runs 20 --fresh --db n.db >next.txt
same "a failure: its page comes next" "$(tail -n 1 next.txt)" \
    'next: rewake report --db n.db (pages for a browser)'
rewake run zoo/tokio-4497/broken zoo/tokio-4497/fixed --runs 20 --fresh --db n.db --quiet >next.txt
same "--quiet: the failure, and its count" "$(cut -c 1-36 next.txt | tr -s ' ')" \
    'FAIL zoo/tokio-4497/broken: lost-wak
FAIL zoo/tokio-4497/broken '
rewake run zoo/tokio-4497/broken --runs 20 --record none --quiet >next.txt
same "--quiet: the token where no row has it" \
    "$(sed -n '2s/\(tokio-4497\).*/\1/p' next.txt)" 'replay: rewake replay rw1:zoo/tokio-4497'

# ---- Usage. ----
refused "an unknown command" 2 frobnicate
refused "an unknown option" 2 run --frobnicate
refused "an option without its value" 2 run --seed
refused "a seed out of range" 2 run --seed 9223372036854775808
refused "seeds that end too early" 2 run --seeds 5-4
refused "runs beyond the last seed" 2 run --seed 9223372036854775807 --runs 2
refused "an unknown strategy" 2 run --strategy best
refused "an unknown parameter" 2 run $canary -D nothing=1
refused "an unknown option of runs" 2 run $canary -O nothing=1
refused "no number" 2 run $canary -O step_ns=x
refused "an option of runs out of its range" 2 run $canary -O order=9
ok "an option of runs out of its range: the range" grep -q '0 to 6' err.txt
refused "a limit of no steps" 2 run $canary -O steps_max=0
same "--seeds of one" \
    "$(rewake run $canary --seeds 3 --record none 2>&1 | sed 's/; [0-9.]* s$//')" \
    "$(rewake run $canary --seeds 3-3 --record none 2>&1 | sed 's/; [0-9.]* s$//')"
refused "--seeds and --seed" 2 run $canary --seeds 1-2 --seed 1
refused "--seeds and --runs" 2 run $canary --runs 2 --seeds 1-2
same "--seeds and REWAKE_SEED, REWAKE_RUNS: the flag wins" "$(REWAKE_SEED=7 REWAKE_RUNS=9 \
    "$REWAKE" run $canary --seeds 1-2 --record none --json | grep -c '"runs":2,"failed":0')" 1
refused "a database in memory" 2 run $canary --db :memory:
refused "a database by URI" 2 run $canary --db 'file:x.db?mode=memory'
refused "two libraries" 2 run ./one.so ./two.so
refused "two libraries, the second one later" 2 list 'articles/*' ./two.so
ln -s nowhere/x.db dangling
refused "a database by a link to nowhere" 70 run $canary --db dangling
ok "a database by a link to nowhere: no wrong advice" not_in err.txt 'run something first'
refused "a database where no file can be" 70 run $canary --db /proc/self/mem
ok "a database where no file can be: no wrong advice" not_in err.txt 'run something first'
refused "two runs, and one seed left" 2 run --seed 9223372036854775807 --runs 2
ok "one seed left: it is one" grep -q 'there is only 1 seed left' err.txt
same "a pattern that matches nothing beside one that does: status" \
    "$(status run 'articles/s1/*' 'seeds/s9/*' --runs 3 --record none)" 2
ok "a pattern that matches nothing: one line" one_line err.txt
ok "a pattern that matches nothing: which" grep -q 'seeds/s9/\*' err.txt
for command in list zoo measure; do
    refused "$command: a second pattern that matches nothing" 2 \
        $command 'zoo/tokio-4497/*' 'seeds/s9/*'
done

# ---- Questions. ----
rewake query --json 'SELECT 1e999 AS a, -1e999 AS b, 1.5e300 AS c, 1 AS a, 2 AS a' --db a.db >q.json
ok "query --json: infinity and columns of one name: JSON" every_line_is_json q.json
same "query --json: columns of one name are numbered" "$(cat q.json)" \
    '{"a":null,"b":null,"c":1.5e+300,"a:2":1,"a:3":2}'
refused "query: a function that loads code" 2 query "SELECT load_extension('x')" --db a.db
refused "query: an argument that a function refuses" 2 query "SELECT json('{')" --db a.db

rewake help >help.txt
commands=$(sed -n 's/^  rewake \([a-z]*\) .*/\1/p' help.txt)
ok "help names all commands" test "$(echo "$commands" | wc -l)" -ge 12
wide='^.\{101\}'
ok "help is no wider than 100 columns" not_in help.txt "$wide"
rewake list >list.txt
ok "list is no wider than 100 columns" not_in list.txt "$wide"
stated=$(tr -s '\n ' '  ' <list.txt |
    grep -o '\[expected: [a-z-]*\(, also [a-z-]*\)\{0,1\}\]' | wc -l)
ok "list loses no word" test "$stated" \
    -eq "$(rewake list --json | grep -vc '"expect":"pass"')"
for command in $commands; do
    rewake $command --help >help.txt
    ok "$command has help" grep -q "^usage: rewake $command " help.txt
    ok "help of $command is no wider than 100 columns" not_in help.txt "$wide"
done

# ---- Interrupted, killed. ----
"$REWAKE" run 'articles/*' --time 60s --db i.db >i.txt 2>&1 &
pid=$!
soon has_computed $pid
kill -INT $pid
wait $pid
same "^C: it reports and ends with 5" "$?" 5
ok "^C: figures are there" grep -q '^[0-9]* runs: [0-9]* passed' i.txt
# Under nohup the signal is ignored, and a shell cannot undo that.
env --default-signal=HUP "$REWAKE" run 'articles/*' --time 60s --record none >hup.txt 2>&1 &
pid=$!
soon has_computed $pid
kill -HUP $pid
wait $pid
same "SIGHUP: it reports and ends with 5" "$?" 5
ok "SIGHUP: figures are there" grep -q '^[0-9]* runs: [0-9]* passed' hup.txt
"$REWAKE" run 'articles/*' --time 60s --record none >/dev/null 2>usr.txt &
pid=$!
soon has_computed $pid
kill -USR1 $pid
sleep 0.3
kill -INT $pid
wait $pid
ok "SIGUSR1: progress, and no end" \
    grep -q '^articles/[^ ]*: [0-9]* runs, 0 failed, [0-9] s\(; [0-9]* runs/s.*\)\{0,1\}$' usr.txt
{
    rewake query 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)
        SELECT i FROM n' --db a.db 2>pipe.err
    echo $? >pipe.txt
} | head -n 1 >/dev/null
same "stdout is closed: status, as of other programs" "$(cat pipe.txt)" 141
ok "stdout is closed: not a word" test ! -s pipe.err
{
    rewake run 'zoo/bach-*/broken' --runs 100 --fresh --db unread.db 2>pipe.err
    echo $? >pipe.txt
} | true
same "stdout of a run is closed: status" "$(cat pipe.txt)" 141
ok "stdout of a run is closed: not a word" test ! -s pipe.err
same "stdout of a run is closed: the database is whole" \
    "$(sqlite3 unread.db 'PRAGMA integrity_check')" ok
{
    sleep 0.2 # The reader is gone by then.
    (trap '' PIPE && rewake list 2>pipe.err)
    echo $? >pipe.txt
} | true
same "stdout is closed, and the signal ignored: status" "$(cat pipe.txt)" 70
ok "stdout is closed, and the signal ignored: a line says so" one_line pipe.err
"$REWAKE" run 'articles/*' --time 60s --db k9.db >/dev/null 2>&1 &
pid=$!
soon has_done k9.db 1
children=$(pgrep -P $pid | tr '\n' ' ')
kill -KILL $pid
wait $pid 2>/dev/null
same "kill -9: the database opens, and has runs" \
    "$(rewake query 'SELECT max(runs) > 0 AS held FROM sweeps' --json --db k9.db)" '{"held":1}'
same "kill -9: the database is whole" "$(sqlite3 k9.db 'PRAGMA integrity_check')" ok
sleep 0.2
ok "kill -9: no worker is left" sh -c "for p in $children; do [ ! -e /proc/\$p ] ||
    grep -q '^State:.*Z' /proc/\$p/status || exit 1; done; [ -n '$children' ]"
# ---- A long name keeps the columns of all others, and all is within 100 columns. ----
mkdir -p long
sed 's|mine/fixed|mine/a-name-that-is-longer-than-forty-characters|' \
    "$root/sim/tests/cli/lib/fixed.c" >long/long.c
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" long/long.c \
    -o long.so
rewake list ./long.so >list.txt
ok "list: a long name has a separate line" \
    grep -qx 'mine/a-name-that-is-longer-than-forty-characters' list.txt
ok "list: what it is about stands in its column" grep -q '^ \{33\}[^ ]' list.txt
rewake run ./long.so --runs 20 --no-shrink --fresh --check-determinism 100 --expect --record none \
    >long.txt
ok "run: so does the line of a scenario" \
    grep -q '^ \{32\} *20 runs  .*invariant' long.txt
ok "run: no line of the table is wider than 100 columns" \
    awk '/runs  |replica runs/ && length > 100 {
    exit 1 }' long.txt
done_testing
