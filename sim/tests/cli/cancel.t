#!/bin/sh
# cancel.t -- a scenario that declares to survive a cancel does, at every suspension point.
#
# The baseline run of each, with its faults off, is cancelled at its first suspension, then at its
# second, and so on. A point after the last one changes nothing, so the longest decides.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
points=40

# survivors: names of those that claim it; the broken ones fail by themselves.
survivors() {
    rewake list --json | sed -n 's/.*"name":"\([^"]*\)".*"survives":\([0-9]*\).*/\2 \1/p' |
        while read -r mask name; do
            case $name in
            */broken | canary/*) ;;
            *) [ $((mask & 1)) -eq 0 ] || echo "$name" ;;
            esac
        done
}

# fails_at NAME...: the suspension points at which one of them does not survive.
fails_at() {
    for point in $(seq $points); do
        rewake run "$@" --strategy baseline --runs 1 -O faults=0 -O cancel_at="$point" \
            --record none >"at$point.txt" || echo "$point"
    done
}

names=$(survivors)
# shellcheck disable=SC2086 # One pattern a name.
[ -z "$names" ] || same "what declares to survive a cancel does, at each suspension point" \
    "$(fails_at $names)" ""

build_library cancel
same "a lock that is not given back is found: at the first suspension and no other" \
    "$(fails_at ./cancel.so | tr '\n' ' ')" "1 "
done_testing
