#!/bin/sh
# short.t -- a call that moves fewer bytes than it could leaves an edge behind: programs may take it
# for the end of what is there.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
ok "it builds" "$cc" -g -w -o short "$root/sim/tests/cli/lib/program/short.c" -pthread
for kind in tcp unix pipe; do
    same "$kind: status" \
        "$(status run ./short --runs "$(few 300 60)" --check-determinism 20 --record none -- $kind)" 0
done
# Where little is under way a write to TCP is whole; what is much, or more than is read, may be cut.
ok "it builds" "$cc" -g -w -o whole "$root/sim/tests/cli/lib/program/whole.c" -pthread
same "few bytes: status" "$(status run ./whole --runs "$(few 1000 60)" --record none -- few)" 0
for what in much queue; do
    same "$what: found" "$(status run ./whole --runs 100 --fail-fast --record none -- $what)" 1
done
done_testing
