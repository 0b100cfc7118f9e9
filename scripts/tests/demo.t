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
same "the failure is replayed twice" "$(grep -c '^digest of all events and decisions' out.txt)" 2
ok "and was reported" grep -q '^It fails when ' out.txt

cd "$here" || exit 1
done_testing
