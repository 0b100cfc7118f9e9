#!/bin/sh
# rings.t -- rings of a doorbell that come of the question itself are no progress which a wake-up
# has put off; what was there before the question is.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
ok "it builds" "$cc" -g -w -o rings "$root/sim/tests/cli/lib/program/rings.c" -pthread
for what in timers socket; do
    same "$what: status" "$(status run ./rings --runs "$(few 1000 50)" --record none -- $what)" 0
done
for what in one three; do
    same "$what: status" "$(status run ./rings --runs 50 --record none -- $what)" 1
    ok "$what: it is late" grep -q '^FAIL rings: late-wakeup' out.txt
done
done_testing
