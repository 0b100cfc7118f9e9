#!/bin/sh
# demo.t -- the first command of the README, without its set-up.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
here=$PWD
rewake=$(realpath "${REWAKE:-build/rewake}")
cd "$tmp" || exit 1

demo() {
    "$here/scripts/demo-steps" "$rewake" >out.txt 2>&1 || {
        cat out.txt
        return 1
    }
}
ok "the demo shows what it says" demo
ok "it shows the bug, explained" grep -q '^It fails when ' out.txt
ok "it shows the page" test -s .rewake/demo/index.html
ok "it shows the fix" grep -q '^+    pthread_mutex_lock(&mutex);$' out.txt
same "what was fixed passes" "$(tail -n 1 out.txt | cut -c 1-9)" 'PASS lost'
# Most machines have no debug information of the C library.
if unshare --mount mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
    mv out.txt with.txt
    # shellcheck disable=SC2016
    ok "without that of the C library" unshare --mount sh -c \
        'mount -t tmpfs none /usr/lib/debug && "$@" >out.txt' sh \
        "$here/scripts/demo-steps" "$rewake"
    ok "... the explanation is the same" cmp with.txt out.txt
fi
if command -v script >/dev/null; then
    script -qec "stty cols 80; $here/scripts/demo-steps $rewake" /dev/null </dev/null \
        >narrow.txt
    same "no line is wider than a terminal of 80 columns" \
        "$(tr -d '\r' <narrow.txt | grep -v "$tmp" | grep '^.\{81\}')" ''
    # setup, make and scripts/demo have a line each.
    ok "it fits on a page of 60 lines" test "$(wc -l <narrow.txt)" -le 57
fi

cd "$here" || exit 1
done_testing
