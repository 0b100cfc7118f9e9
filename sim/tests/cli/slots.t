#!/bin/sh
# slots.t -- what empties a slot is in the record: in the columns, in the ledger and in its view.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
build_library slots
lib=./slots.so

# shown NAME: the baseline run of slots/NAME, as `show` has it.
shown() {
    rewake run $lib "slots/$1" --strategy baseline --runs 1 --record all --no-shrink --fresh \
        --db "$1.db" >"$1.run" 2>&1
    rewake show $lib run:1 --db "$1.db" | sed '/^replay:/d'
}

# closed NAME OBJECT: how the waits in OBJECT ended, after the view and after the table of `show`.
closed() {
    sqlite3 "$1.db" "SELECT group_concat(how, ' ') FROM (SELECT how FROM wake_ledger
        WHERE reason = '$2' ORDER BY opened_n)"
}
tabled() {
    awk -v what="$2" 'index($0, what) && / (fired|ended|erased|freed|replaced) at / {
        for (i = 1; i < NF; i++) if ($(i + 1) == "at") print $i }' "$1" | tr '\n' ' ' | sed 's/ $//'
}

# words_in FILE PATTERN: it is there, broken into any lines.
words_in() {
    tr '\n' ' ' <"$1" | tr -s ' ' | grep -q -- "$2"
}

# ---- The end of a task, and of a cancelled one. ----
shown ends >ends.txt
ok "the end of a task is said to empty the slot of a child" \
    words_in ends.txt 'its end empties "a cancellation"'
same "... and it is a row of the ledger" "$(tabled ends.txt 'a cancellation')" "ended"
same "... and of the view" "$(closed ends 'a cancellation')" "ended"
shown cancelled >cancelled.txt
for what in 'the answer' 'a cancellation'; do
    ok "a cancel is said to empty the slot of $what" \
        words_in cancelled.txt "erases the waker of group 1 for \"$what\""
    same "... and it is a row of the ledger" "$(tabled cancelled.txt "$what")" "ended"
    same "... and of the view" "$(closed cancelled "$what")" "ended"
done

# ---- Names. ----
shown free-last >free-last.txt
ok "a slot has its name before its first store" \
    grep -q 'wakes box: no waiter registered' free-last.txt
ok "... and in the ledger" grep -q 'the lid (box)' free-last.txt

# ---- Memory that is freed. ----
same "each of them ends as it says: status" \
    "$(status run $lib --runs 200 --expect --fresh --record none --no-shrink)" 0
same "replica runs agree: status" "$(status run $lib 'slots/free-last' --runs 50 --fresh \
    --record none --check-determinism 1)" 0
shown free-held >free-held.txt
same "the view has the name of the slot" "$(sqlite3 free-held.db \
    "SELECT object FROM wake_ledger WHERE reason = 'the lid'")" "box"
leak='the memory of "box" was freed at slots.c:[0-9]* with the waker of .user. in it, stored at'
ok "a leak names slot, task and both lines" \
    words_in free-held.txt "$leak slots.c:[0-9]*"
same "... it is a row of the ledger" "$(tabled free-held.txt 'the lid')" "freed"
same "... and of the view" "$(closed free-held 'the lid')" "freed"
shown place-held >place-held.txt
ok "so does that of a place" \
    words_in place-held.txt "$leak slots.c:[0-9]*"
same "... with its row" "$(tabled place-held.txt 'the lid')" "freed"
same "... and in the view" "$(closed place-held 'the lid')" "freed"
while IFS='|' read -r name words; do
    shown "$name" >shown.txt
    ok "slots/$name: $words" words_in shown.txt "$words"
done <<'END'
wake-freed|a slot was used after its memory was freed
free-twice|this memory was freed before
free-task|the memory of task .user. was freed before the task had ended
place-used|.box. was used after its memory was freed at slots.c:
forget-clone|1 waker clone was neither woken nor dropped
END
done_testing
