#!/bin/sh
# scenario.t -- the inputs that stop the target `scenario`, and what it prints then.
#
#   FUZZ=build/debug-gcc/fuzz REWAKE=build/rewake sh fuzz/tests/scenario.t
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
fuzz=$root/${FUZZ:-build/debug-gcc/fuzz}/scenario

# stops LINE FILE: the target, which runs LINE only, stops at FILE; its output is in said.txt.
stops() {
    ! FUZZ_SCENARIO=$1 "$fuzz" "$2" >said.txt 2>&1
}
token=$(rewake run canary/lost-wakeup --runs 300 --fresh --json --record none | sed -n \
    's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' | head -n 1)
rewake replay "$token" --artifact failing >/dev/null
printf 'canary/lost-wakeup\n' >default

ok "a run that fails stops it" stops canary/lost-wakeup failing
ok "the verdict is printed" grep -q '^canary/lost-wakeup: lost-wakeup (oracle rewake): ' said.txt
said=$(sed -n 's/^token: //p' said.txt)
same "the token is printed: that run fails in replay" "$(status replay "$said")" 1
ok "the command is printed" grep -q "^rewake replay $said\$" said.txt
ok "a run that passes does not stop it" "$fuzz" default
ok "a scenario that must fail is not run unless it is named" "$fuzz" failing
ok "nor is a scenario other than the one that is named" \
    sh -c "FUZZ_SCENARIO=kernel/stack/broken '$fuzz' failing"
ok "a fixed form passes" sh -c "sed 's|^canary/lost-wakeup|kernel/lost-wakeup/fixed|' failing |
    FUZZ_SCENARIO=kernel/lost-wakeup/fixed '$fuzz'"
for wrong in no/such 'canary/lost-wakeup -D tasks=3' 'canary/lost-wakeup -O step_ns=x' ' '; do
    FUZZ_SCENARIO=$wrong "$fuzz" default >said.txt 2>&1
    same "FUZZ_SCENARIO='$wrong': status" $? 2
    same "FUZZ_SCENARIO='$wrong': one line" "$(wc -l <said.txt)" 1
done

# ---- A seed names an existing scenario and existing options: else the target would skip it. ----
same "no seed of the corpus is refused" "$(for seed in "$root"/fuzz/corpus/scenario/seed-*; do
    [ "$(status replay "$seed" --db seeds.db)" -le 1 ] || echo "${seed##*/}"
done)" ""

# ---- The second run of an input equals its first, after any other runs. ----
rewake run zoo/tokio-4497/broken --runs 300 --fresh --record all --no-shrink --db z.db >/dev/null
for run in $(sqlite3 z.db 'SELECT run FROM runs WHERE verdict = 0 ORDER BY run LIMIT 8'); do
    rewake replay "run:$run" --db z.db --artifact "pass$run" >/dev/null
done
bad=$(sqlite3 z.db 'SELECT min(run) FROM runs WHERE verdict <> 0')
rewake replay "run:$bad" --db z.db --artifact failing.z >/dev/null
for order in "$(echo pass*)" "$(echo pass*) failing.z"; do
    # shellcheck disable=SC2086 # Several files.
    FUZZ_SCENARIO=zoo/tokio-4497/broken "$fuzz" $order $order >said.txt 2>&1
    grep '^token:' said.txt >>tokens.txt
done
FUZZ_SCENARIO=zoo/tokio-4497/broken "$fuzz" failing.z 2>&1 | grep '^token:' >>tokens.txt
same "runs that pass do not stop it, and one that fails is the same run after them" \
    "$(sort -u tokens.txt | wc -l) $(wc -l <tokens.txt)" '1 2'

# ---- A library. ----
build_library fixed
token=$(rewake run ./fixed.so --runs 300 --fresh --json --record none | sed -n \
    's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' | head -n 1)
rewake replay ./fixed.so "$token" --artifact sum >/dev/null
if REWAKE_LIBRARY=./fixed.so "$fuzz" sum >said.txt 2>&1; then
    echo 'nothing' >said.txt
fi
ok "a scenario of a library that must pass stops it" grep -q '^mine/fixed: invariant' said.txt
ok "the library is in the command" grep -q '^rewake replay ./fixed.so rw1:mine/fixed:' said.txt
REWAKE_LIBRARY=./none.so "$fuzz" sum >said.txt 2>&1
same "a missing library: status" $? 2

done_testing
