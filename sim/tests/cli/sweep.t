#!/bin/sh
# sweep.t -- a sweep is the same for any number of workers, of parts and of runs.
#
# Runs of 300 tasks teach more than 3,000 facts each: there limits count (search/learn/observe.c).
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # Several words.
. sim/tests/cli/common.sh
scenario="kernel/twostage-100/broken -D writers=200 -D readers=100" # Several words.

# rows DB: what each run was.
rows() {
    sqlite3 "$1" 'SELECT number, seed, digest, verdict, steps, hex(tape) FROM runs ORDER BY number'
}

# digest ARGS...: of the sweep that `run` makes.
digest() {
    rewake run --record none --no-shrink --json "$@" 2>/dev/null |
        sed -n 's/^{"v":1,"event":"scenario".*"digest":"\([0-9a-f]*\)".*/\1/p'
}

# ---- Any number of workers, with each strategy. ----
strategies=$(few "portfolio guided rf surw pos pct urw relay random baseline" "portfolio rf")
for strategy in $strategies; do
    one=$(digest $scenario --seeds 1-60 --strategy $strategy --jobs 1)
    ok "$strategy: there is a digest" test ${#one} -eq 16
    for jobs in $(few "2 4 8" 3); do
        same "$strategy: $jobs workers" \
            "$(digest $scenario --seeds 1-60 --strategy $strategy --jobs $jobs)" "$one"
    done
done
for jobs in 1 4; do
    rewake run $scenario --seeds 1-150 --jobs $jobs --record all --no-shrink --db jobs$jobs.db \
        >/dev/null 2>&1
done
rows jobs1.db >rows1.txt
same "every run has a row" "$(grep -c '^[0-9]*|[1-9]' rows1.txt)" 150
same "row by row" "$(rows jobs4.db)" "$(cat rows1.txt)"

# ---- Fewer runs are the beginning of more. ----
rewake run $scenario --seeds 1-60 --jobs 2 --record all --no-shrink --db few.db >/dev/null 2>&1
same "--seeds 1-60 is the beginning of --seeds 1-150" "$(rows few.db)" "$(head -n 60 rows1.txt)"

# ---- Any number of parts. ----
# in_parts N: the sweep made in N parts, merged.
in_parts() {
    for i in $(seq "$1"); do
        rewake run $scenario --seeds 1-150 --shard "$i/$1" --jobs $((1 + i % 2)) --record all \
            --no-shrink --db "part$1-$i.db" >/dev/null 2>&1
    done
    rewake merge "parts$1.db" part"$1"-*.db >/dev/null
}
for parts in 1 $(few "3 8" 3); do in_parts $parts; done
rows parts1.db >parts1.txt
same "1 part: every run has a row" "$(grep -c '^[0-9]*|[1-9]' parts1.txt)" 150
for parts in $(few "3 8" 3); do
    same "$parts parts: row by row" "$(rows parts$parts.db)" "$(cat parts1.txt)"
    same "$parts parts: the digest" "$(sqlite3 parts$parts.db 'SELECT digest, runs FROM sweeps')" \
        "$(sqlite3 parts1.db 'SELECT digest, runs FROM sweeps')"
done
done_testing
