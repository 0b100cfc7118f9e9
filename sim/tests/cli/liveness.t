#!/bin/sh
# liveness.t -- programs that do not recover, from the command line: found, replayed, explained.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "broken forms break as they say, fixed ones settle: status" \
    "$(status run 'liveness/*' --runs 200 --expect --fresh --record none)" 0

broken=liveness/reset-duel/broken
rewake run --strategy random $broken --runs 20 --fresh --json --db l.db >l.json
ok "it is the oracle liveness that finds it" grep -q '"oracle":"liveness"' l.json
same "its token replays alone: status" "$(status replay "$(token_of l.json)")" 1
ok "its token replays alone: the same" grep -q 'same failure, livelock (oracle liveness)' out.txt
status run $broken --runs 20 --fresh --record none >status.txt
ok "the report says what happened" grep -q 'the run does not recover: no faults after' out.txt
ok "the database has the word" test "$(rewake query --db l.db --json \
    "SELECT count(*) AS n FROM oracles WHERE name = 'liveness'")" = '{"n":1}'

# A network that always loses packets ends the duel sooner or later: it hides the bug.
same "never free of faults, the bug is hidden: status" \
    "$(status run $broken --runs 200 --fresh --record none -O fault_free_after=4000000000)" 0

done_testing
