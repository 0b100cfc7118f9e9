#!/bin/sh
# swarm.t -- options that seeds draw: the same for all workers, printed, stored, and in the token.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

digests() {
    rewake run 'articles/s4/*' zoo/tokio-4044/broken "$@" --strategy random:swarm=1 --runs 400 \
        --fresh \
        --record none --json | grep -o '"name":"[^"]*"\|"digest":"[^"]*"\|"token":"[^"]*"'
}
digests --jobs 1 >one.txt
digests --jobs 2 >two.txt
digests --jobs 5 >five.txt
ok "there are digests" grep -q digest one.txt
ok "digests of 1 and 2 workers" diff one.txt two.txt
ok "digests of 1 and 5 workers" diff one.txt five.txt

# ---- A failure whose options were drawn. ----
rewake run 'zoo/*/broken' --strategy random:swarm=1 --runs 60 --fresh --json --db s.db >s.json
grep '"event":"failure".*"options_drawn"' s.json | head -n 12 >drawn.json
ok "some failures have options that their seed drew" test -s drawn.json
ok "they are JSON" every_line_is_json drawn.json
while IFS= read -r line; do
    printf '%s\n' "$line" >one.json
    name=$(sed 's/.*"scenario":"\([^"]*\)".*/\1/' one.json)
    same "the token of $name replays alone: status" "$(status replay "$(token_of one.json)")" 1
done <drawn.json

# ---- Rows without a token draw them again. ----
rewake run canary/lost-wakeup --strategy random:swarm=1 --runs 60 --record all --fresh --db a.db \
    >/dev/null
for run in 3 11 12 13 14 15; do
    status replay run:$run --db a.db >status.txt
    ok "run:$run of a sweep is the same run" grep -q 'same' out.txt
done

# ---- What is given stays. ----
rewake run 'zoo/*/broken' --strategy random:swarm=1 --runs 40 --fresh --json --record none \
    -O late_one_in=8 -O spurious_one_in=32 | grep '"event":"failure"' >g.json
ok "options are drawn" grep -q '"options_drawn"' g.json
ok "what was given is not drawn" not_in g.json '"late_one_in"\|"spurious_one_in"'

done_testing
