#!/bin/sh
# peers.t -- clients of a program that is a server: what they do, the bugs that only a half-close, a
# reset or a slow reader shows, and what is refused.
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
for name in polls attends; do
    ok "$name builds" $cc -D_GNU_SOURCE -O1 -g -w -o $name \
        "$root/sim/tests/cli/lib/program/$name.c" -pthread
done
rewake run ./attends --runs 1 --record none -- 7000 >out.txt 2>&1
if grep -q refused out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
# What polls answers to "ab\n", as an ANSWER.
line='ab\n'
answer=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "ab\\n" }')

# ---- Correct servers pass, with all clients at once. ----
runs=$(few 3000 300)
same "polls: passes" "$(status run ./polls --runs "$runs" --fresh --record none \
    --peer "halfclose:7000:$line:$answer" --peer "reset:7000:$line" \
    --peer "slow:7000:$line:$answer" --peer 2xconnect:7000 --peer send:7000:x -- 7000)" 0
ok "polls: ... and is idle then" grep -q "$runs of these idle" out.txt
same "attends: passes" "$(status run ./attends --runs "$runs" --fresh --record none \
    --peer '2xhalfclose:7000:go\n:done' --peer '2xreset:7000:go\n' --peer 'slow:7000:go\n:done' \
    --peer 2xconnect:7000 -- 7000)" 0

# ---- Broken ones: nothing to see with an ordinary client; found, minimized, replayed. ----
runs=$(few 1000 100)
# shows PROGRAM BUG VERDICT EXPECTED PEER...: `send` does not show it, and these peers do.
shows() {
    name=$1
    bug=$2
    verdict=$3
    expected=$4
    shift 4
    same "$name, $bug: send does not show it" "$(status run "./$name" --runs "$runs" --fresh \
        --record none --peer "3xsend:7000:$line:$expected" -- 7000 "$bug")" 0
    same "$name, $bug: found" "$(status run "./$name" --runs 1000 --fresh --fail-fast \
        --db "$bug.db" "$@" -- 7000 "$bug")" 1
    ok "$name, $bug: ... $verdict" grep -q "^FAIL $name: $verdict" out.txt
    ok "$name, $bug: ... minimized" grep -q 'inim[ia]' out.txt
    token=$(sed -n 's/^replay: .* \(rw1:[^ ]*\).*/\1/p' out.txt)
    same "$name, $bug: ... replayed, the peers are in the token" \
        "$(status replay "./$name" "$token")" 1
    ok "$name, $bug: ... as the same" grep -q "same failure, $verdict" out.txt
    same "$name, $bug: ... explained" "$(status explain "./$name" "$token")" 1
}
shows polls half invariant "$answer" --peer "halfclose:7000:$line:$answer"
shows polls reset deadlock "$answer" --peer "2xreset:7000:$line" \
    --peer "send:7000:$line:$answer"
shows polls slow livelock "$answer" --peer "slow:7000:$line:$answer"
shows attends half invariant 'done' --peer "halfclose:7000:$line:done"
shows attends reset deadlock 'done' --peer "2xreset:7000:$line" --peer "send:7000:$line:done"

# ---- A scenario is a client: the same server, the same bug. ----
ok "a library with clients builds" build_library asks
same "a scenario: passes" "$(status run ./attends --runs "$runs" --fresh --record none \
    --peer ./asks.so:asks/shuts -- 7000)" 0
same "a scenario: what needs a half-close is not seen without" "$(status run ./attends \
    --runs "$runs" --fresh --record none --peer ./asks.so:asks/plain -- 7000 half)" 0
same "a scenario: found" "$(status run ./attends --runs 1000 --fresh --fail-fast --record none \
    --peer ./asks.so:asks/shuts -- 7000 half)" 1
ok "a scenario: ... by its own check" grep -q 'SIM_ALWAYS(client->moved.err == RT_OK)' out.txt
token=$(sed -n 's/^replay: .* \(rw1:[^ ]*\).*/\1/p' out.txt)
same "a scenario: ... replayed" "$(status replay ./attends "$token")" 1
ok "a scenario: ... as the same" grep -q "same failure, invariant" out.txt
same "a scenario beside other clients" "$(status run ./attends --runs 500 --fresh --record none \
    --peer ./asks.so:asks/shuts --peer '2xreset:7000:go\n' -- 7000)" 0

# ---- A failure is tried first where the program is given the same. ----
rewake run ./polls --runs 5 --db half.db --peer connect:7000 -- 7000 half >out.txt 2>&1
ok "other peers: it is not tried" test -z "$(grep -i forgotten out.txt)"
rewake run ./polls --runs 5 --db half.db --peer "halfclose:7000:$line:$answer" -- 7000 half \
    >out.txt 2>&1
ok "the same peers: it is tried, and fails again" grep -q 'invariant' out.txt

# ---- What a peer does is in the columns, and other peers make another run. ----
rewake run ./polls --seeds 7-7 --fresh --strategy random --db c.db --record all \
    --peer halfclose:7000:hi -- 7000 >/dev/null 2>&1
rewake show ./polls run:1 --db c.db --peer halfclose:7000:hi -- 7000 >show.txt 2>&1
ok "the columns: connects" grep -q 'halfclose 1: .*"is connected"' show.txt
ok "the columns: ends its direction" grep -q '"ends its direction"' show.txt
token=$(rewake run ./polls --runs 100 --fresh --no-shrink --fail-fast --record none \
    --peer "halfclose:7000:$line:$answer" -- 7000 half 2>&1 |
    sed -n 's/^replay: .* \(rw1:.*\)/\1/p')
same "other peers than the token's are refused" \
    "$(status replay ./polls "$token" --peer connect:7000)" 2
ok "... and it says what to do" grep -q 'leave out --peer' err.txt
same "a port without a listener" "$(status run ./polls --runs 10 --fresh --record none \
    --peer connect:7001 -- 7000)" 1
ok "... is what the peer waits for" grep -q '`connect 1` waits for a listener' out.txt
same "a Unix socket without a listener" "$(status run ./polls --runs 10 --fresh \
    --record none --peer connect:/run/x -- 7000)" 1

# ---- Bad input. ----
refuses() {
    same "refused: $1" "$(status run ./polls --peer "$1" -- 7000)" 2
    ok "... $2" grep -qF -e "$2" err.txt
}
refuses knock:7000 'none of connect, send'
refuses connect 'has no port'
refuses connect:0 'has no port'
refuses connect:65536 'has no port'
refuses 0xconnect:7000 'not of clients'
refuses 999xconnect:7000 'not of clients'
refuses 'send:7000:\q' 'escape'
refuses 'send:7000:\x4' 'escape'
refuses 'send:7000:a:b:c' 'more than'
refuses ./asks.so 'say which'
refuses ./asks.so:asks/none 'no scenario of that name'
refuses ./none.so 'No such file'
refuses ./polls 'this is a program'
same "a peer of no program" "$(status run 'zoo/*' --peer connect:7000)" 2
ok "... says so" grep -q 'a client of a program' err.txt
done_testing
