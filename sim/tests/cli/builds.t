#!/bin/sh
# builds.t -- one token is the same run, one failure shrinks to the same, one sweep has the same
# digest, in every build: gcc and clang, -O0 to -O2, with asan.
#
# REWAKE_MATRIX lists the builds; `make check-long` has made them.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ -n "${REWAKE_MATRIX:-}" ] || {
    echo '1..0 # SKIP no builds are named: make check-long'
    exit 0
}
token=$(rewake run canary/lost-wakeup --strategy random --runs 300 --record none --json |
    token_of -)
large=$(rewake run zoo/smol-151/broken --runs 200 --fail-fast --record none --json | token_of -)
# digests: of the lines of JSON.
digests() {
    grep -o '"name":"[^"]*".*"digest":"[^"]*"' | sed 's/"seconds":[0-9.]*,//'
}
# of PROGRAM: what it says of the token, of the failure and of the sweeps.
of() {
    "$1" replay "$token" --json | grep -o '"digest":"[^"]*"' >replay.txt
    "$1" shrink "$large" --json >shrink.txt
    "$1" run 'articles/*' canary/lost-wakeup --runs 60 --record none --json 2>/dev/null |
        digests >sweep.txt
}
of "$REWAKE"
for what in replay shrink sweep; do
    mv $what.txt "$what-here.txt"
    ok "there is something to compare: $what" test -s "$what-here.txt"
done
for build in $REWAKE_MATRIX; do
    ok "$build is there" test -x "$root/$build"
    of "$root/$build"
    for what in replay shrink sweep; do
        same "the same $what by $build" "$(cat "$what.txt")" "$(cat "$what-here.txt")"
    done
done
done_testing
