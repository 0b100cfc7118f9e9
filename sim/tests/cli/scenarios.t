#!/bin/sh
# scenarios.t -- what every scenario of the tree promises.
#
# Articles, fixed forms and kept runs pass, broken forms fail as expected, canaries are found;
# baseline runs are those of the articles, event for event.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- `list` has every scenario that a file names; objects in an archive would be dropped. ----
rewake list --json >list.json
cat "$root"/scenarios/*/*.c | grep -o '"[a-z0-9]*/[a-z0-9/-]*"' | sort -u >named.txt
ok "files name scenarios" test "$(wc -l <named.txt)" -gt 10
while IFS= read -r name; do
    ok "list has $name" grep -q "\"name\":$name" list.json
done <named.txt

# ---- Broken forms are found, fixed forms pass. ----
same "the zoo repaired, 500 seeds each, --expect: status" \
    "$(status run 'zoo/*/fixed' --runs "$(few 500 50)" --expect --fresh --record none)" 0
# A failure costs much more than a run, and nearly all of these are found in 100; the others, and
# those that fail in another way than they say, are tried at 500.
rewake run 'zoo/*/broken' --runs "$(few 100 10)" --expect --fresh --record none --no-shrink \
    >broken.txt 2>&1
ok "the zoo broken: at least 50" test "$(grep -c '^[A-Z]* zoo/.*/broken ' broken.txt)" -ge 50
rare=$(sed -n 's/^FAIL \(zoo[^ ]*\) .*NOT AS EXPECTED.*/\1/p' broken.txt)
[ $asan = no ] || rare= # Few runs.
ok "the zoo broken: 100 seeds are enough for most" test "$(echo $rare | wc -w)" -le 5
[ -z "$rare" ] || same "the zoo broken, 500 seeds each: status" \
    "$(status run $rare --runs 500 --expect --fresh --record none --no-shrink)" 0
same "the zoo and the articles, an audit at each quiescence, --expect: status" \
    "$(status run 'zoo/*/fixed' 'articles/*' --runs "$(few 100 10)" --expect --fresh --record none \
        -O audit_one_in=1)" 0
same "the articles: status" \
    "$(status run 'articles/*' --runs "$(few 500 50)" --expect --fresh --record none --check-determinism 2)" 0
# Under the sanitizer a crash takes a tenth of a second, and the next one shows no more.
# shellcheck disable=SC2046 # None, or one word.
same "the canaries, --expect: status" \
    "$(status run 'canary/*' --runs 300 --expect --fresh --record none --hang "$(few 1s 3s)" \
        $(few '' --fail-fast))" 0
# Kept runs are made once each, however many are asked for.
same "regress/*, --expect: status" \
    "$(status run 'regress/*' --expect --fresh --record none --check-determinism 100)" 0
kept=$(ls "$root"/scenarios/regress/*.c | wc -l)
ok "regress/*: one run a file, all pass" grep -q "^$kept runs: $kept passed, 0 failed" out.txt
# Of the broken kernels those that 500 random runs are enough for; `make bench-search` has all.
same "kernels, --expect: status" \
    "$(status run 'kernel/*/fixed' kernel/reorder-3/broken kernel/twostage-2/broken \
        kernel/stack/broken kernel/lost-wakeup/broken --runs 500 --expect --fresh \
        --record none --check-determinism 2)" 0
same "a canary without --expect is a bug: status" \
    "$(status run canary/lost-wakeup --runs 300 --fresh --record none)" 1

# ---- Golden traces: the baseline run of each article, as columns. ----
for name in articles/s1/two-requests articles/s1/noop-block-on articles/s1/stream-group \
    articles/s2/guest-transform articles/s3/three-tasks articles/s3/echo-server \
    articles/s4/proxy-one-message articles/s4/socket-polls articles/s4/socket-callbacks \
        articles/s5/wander \
    canary/lost-wakeup zoo/bach-48/fixed; do
    golden=$root/sim/tests/golden/$(printf '%s' "$name" | tr / _).txt
    rm -f golden.db*
    rewake run "$name" --strategy baseline --runs 1 --record all --fresh --db golden.db \
        >/dev/null 2>&1
    rewake show run:1 --db golden.db | sed '/^replay:/d' >shown.txt
    [ "${GOLDEN:-}" != new ] || cp shown.txt "$golden"
    ok "golden trace of $name" diff -u "$golden" shown.txt
done
rewake query "SELECT text FROM trace WHERE kind = 'out'" --db golden.db >/dev/null

# The article prints its order; so do we, for any seed.
cat >expected.txt <<'END'
[task 1] starting
[task 2] starting
[task 3] I complete immediately
[task 2] woke up after 50ms
[task 1] woke up after 100ms
[task 2] woke up after another 100ms
All tasks completed
END
for seed in 1 2 77; do
    rm -f out.db*
    rewake run articles/s3/three-tasks --seeds $seed-$seed --record all --fresh --db out.db \
        >/dev/null 2>&1
    rewake show run:1 --db out.db >/dev/null
    rewake replay run:1 --db out.db >/dev/null
    rewake query "SELECT text FROM trace WHERE kind = 'out'" --db out.db | sed '/^text/d; /^-/d' \
        >printed.txt
    ok "three tasks, seed $seed: exactly the article's output" diff -u expected.txt printed.txt
done

done_testing
