#!/bin/sh
# rust.t -- an ordinary executable of rustc: thread-local variables, futexes, panics.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
if ! rustc -g -O "$root/sim/tests/cli/lib/program/workers.rs" -o workers 2>/dev/null; then
    ok "rustc is not installed: left out" true
    done_testing
    exit
fi
same "2,000 runs, one in ten repeated in another process: status" \
    "$(status run ./workers --runs 2000 --check-determinism 10 --fresh --db r.db)" 0
ok "all pass" grep -q '^PASS.* 2000 pass .* 0 of [0-9]* differ' out.txt
for jobs in 1 2; do
    rewake run ./workers --seeds 1-1000 --strategy random --record none --no-shrink --fresh \
        --jobs $jobs --json 2>/dev/null |
        sed -n 's/.*"event":"scenario",.*"digest":"\([^"]*\)".*/\1/p' >digest.$jobs
done
ok "there is a digest" test -s digest.1
same "it is the same for 1 and 2 workers" "$(cat digest.1)" "$(cat digest.2)"
done_testing
