#!/bin/sh
# yields.t -- many steps in which nothing can be seen to be achieved are no livelock where the
# program comes to its end: threads that yield as they work, or wake each other.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
for name in yields hands; do
    ok "$name: it builds" "$cc" -g -w -o $name "$root/sim/tests/cli/lib/program/$name.c" -pthread
done
same "threads that yield as they work: status" \
    "$(status run ./yields --runs "$(few 40 10)" --check-determinism 10 --record none)" 0
same "one that waits for what never comes: status" \
    "$(status run ./yields --runs 1 --db y.db -- forever)" 1
ok "it is a livelock" grep -q '^FAIL yields: livelock' out.txt
ok "it is named" grep -q 'The run loops in main() (yields\.c:' out.txt
same "it is one again" "$(status explain ./yields run:1 --db y.db)" 1
rewake run ./hands --runs 1 --record none >out.txt 2>&1
if grep -q 'not simulated' out.txt; then
    echo "# not tried: this build refuses futexes"
else
    same "threads that wake each other: status" \
        "$(status run ./hands --runs "$(few 20 4)" --record none)" 0
fi
done_testing
