#!/bin/sh
# watch.t -- `rewake watch`: a library is built again, badly, slowly, in another place; ^C.
#
# Whatever is waited for has a deadline; nothing here is asked to be fast.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
source=$root/sim/tests/cli/lib/fixed.c
mkdir 'a folder'
lib='a folder/mine.so'

# build FLAGS FILE
build() {
    # shellcheck disable=SC2086 # Several flags.
    $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -shared -fPIC $library_flags -I"$root" $1 "$source" \
        -o "$2"
}
# has COUNT PATTERN FILE: so many lines match.
has() {
    [ "$(grep -c "$2" "$3")" -ge "$1" ]
}
# begin ARGS...: watches in the background. A shell gives such jobs SIGINT ignored: perl does not.
begin() {
    : >out.txt
    : >err.txt
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$REWAKE" watch "$@" >out.txt 2>err.txt &
    pid=$!
}
finish() {
    kill -INT $pid
    wait $pid
    ended=$?
}

# ---- Built again, fixed. ----
build '' "$lib"
begin "$lib" 'mine/*' --runs 20 --fresh --no-shrink --db w.db
ok "watch: it runs at once" soon has 1 '^20 runs: ' out.txt
ok "watch: and finds the bug" grep -q 'mine/fixed: invariant' out.txt
ok "watch: it says what is watched" soon has 1 'mine.so is watched' err.txt
build -DFIXED "$lib"
ok "watch: built again, it runs again" soon has 2 '^20 runs: ' out.txt
ok "watch: the new library" grep -q '^20 runs: 20 passed, 0 failed' out.txt
ok "watch: a change is reported" grep -q 'mine.so has changed' err.txt
touch "$lib"
ok "watch: touched, it runs again" soon has 3 '^20 runs: ' out.txt

# ---- Another file put in its place; others in the folder are nothing to it. ----
build -DFIXED "a folder/other.so"
touch "a folder/mine.so.tmp"
build '' new.so
mv new.so "$lib"
ok "watch: another one in its place" soon has 4 '^20 runs: ' out.txt
same "watch: other files are none of its business" "$(grep -c '^20 runs: ' out.txt)" 4

# ---- One that does not load is reported, and does not end it. ----
echo 'no library' >"$lib"
ok "watch: one that does not load is reported" soon has 1 '^rewake run: .*mine.so' err.txt
ok "watch: and it continues" kill -0 $pid
rm "$lib"
# Half of it, and a while later all.
build -DFIXED new.so
half=$(($(wc -c <new.so) / 2))
head -c $half new.so >"$lib"
sleep 0.8
same "watch: half a library is waited for" "$(grep -c '^rewake run: ' err.txt)" 1
tail -c +$((half + 1)) new.so >>"$lib"
ok "watch: the other half, and it runs" soon has 5 '^20 runs: ' out.txt
same "watch: nothing else was refused" "$(grep -c '^rewake run: ' err.txt)" 1

# ---- The folder goes, and comes again. ----
rm -r 'a folder'
mkdir 'a folder'
mv new.so "$lib"
ok "watch: a folder that comes again" soon has 6 '^20 runs: ' out.txt
finish
same "^C: status" "$ended" 0
same "no control characters but on a terminal" "$(grep -c "$(printf '\033')" out.txt)" 0

# ---- A change ends a run; so does ^C. ----
build -DFIXED "$lib"
begin "$lib" --time 60s --fresh --db t.db
ok "a long run: it has begun" soon sh -c "pgrep -P $pid >first"
build -DFIXED "$lib"
ok "a long run: a change ends it" soon gone "$(cat first)"
ok "a long run: another one has begun" soon sh -c "pgrep -P $pid >second"
kill -INT $pid
ok "^C in a run: it ends" soon gone $pid
wait $pid
same "^C in a run: status" "$?" 0
ok "^C in a run: the run as well" soon gone "$(cat second)"

# ---- Not there yet; --json; words that are wrong. ----
rm "$lib"
begin "$lib" --runs 5 --fresh --json --db j.db
ok "not there yet: it is waited for" soon has 1 'is missing' err.txt
build -DFIXED "$lib"
ok "not there yet: then it runs" soon has 1 '"event":"summary"' out.txt
finish
ok "--json: nothing but JSON on stdout" every_line_is_json out.txt
refused "an option that run does not have" 2 watch "$lib" --bound 3
refused "a value that is none" 2 watch "$lib" --runs none
done_testing
