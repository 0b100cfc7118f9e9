#!/bin/sh
# where.t -- a failure names its line: crashes, broken rules, leaked wakers; and paths in exports.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
lib=$root/sim/tests/cli/lib

# build_where OUTPUT FLAGS...: from the folder of the library, with relative paths.
build_where() {
    output=$1
    shift
    # shellcheck disable=SC2086 # Several flags.
    (cd "$lib" && $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags \
        -I"$root" -I. "$@" where.c deep/where_deep.c -o "$output")
}
# line_of FILE TEXT: the line of the file in which it stands.
line_of() {
    grep -n -m 1 -F "$2" "$lib/$1" | cut -d: -f1
}
# report_of NAME [LIB]: what `run` prints of it.
report_of() {
    rewake run "${2:-./where.so}" "where/$1" --runs 1 --fresh --db w.db 2>/dev/null
}

ok "a library of two files builds" build_where "$tmp/where.so"
deep=deep/where_deep.c

# ---- Crashes. With the sanitizers it is their report that ends the process, by abort. ----
write=$(line_of $deep 'target->value = 1;')
report_of writes >writes.txt
ok "a crash: function and line, in the second file" \
    grep -q "^crash: SIG.* in write_it (where_deep.c:$write), step 1 (0ns) of .job.\.\$" writes.txt
[ $asan = yes ] || ok "a crash: what was done to which address" \
    grep -q '^crash: SIGSEGV, NULL + 0x1d8 written in ' writes.txt
calls=$(line_of $deep 'write_it(target);')
ok "a crash: its stack" grep -q \
    "^  #0 write_it where_deep.c:$write  #1 where_write where_deep.c:$calls  #2 writes where.c:" \
    writes.txt
run=$(sed -n 's/^failed: .*(\(run:[0-9]*\))$/\1/p' writes.txt)
debug=$(sed -n 's/^debug:  //p' writes.txt)
same "a crash: the command that stops there in gdb" "$debug" \
    "$(sed -n 's/^replay: //p' writes.txt) --gdb"
rewake replay ./where.so "$run" --db w.db >replay.txt 2>&1
same "a crash: replay has it as well" "$(sed -n 's/^debug:  //p' replay.txt)" "$debug"
rewake report --db w.db -o pages "$run" >/dev/null 2>&1
page=pages/failure-${run#run:}.html
same "a crash: the page has its stack" \
    "$(sed -n '/id="stack"/,/<\/ol>/s/^<li><code>\(.*\)<\/code><\/li>$/\1/p' "$page" | head -n 2)" \
    "write_it where_deep.c:$write
where_write where_deep.c:$calls"
ok "a crash: the page has the command" grep -q 'gdb, stopped where it fails.* --gdb</code>' "$page"
not_ok "a crash: no frame of rewake" \
    grep -q '#[0-9]* .*\(executor\|step\|serve\|fiber\)\.c' writes.txt
not_ok "a crash: no line of rewake" grep -q 'executor\.c' writes.txt
report_of calls >calls.txt
line=$(line_of $deep 'function();')
ok "a call of NULL: the line of the call" grep -q "in where_call (where_deep.c:$line)" calls.txt
[ $asan = yes ] || ok "a call of NULL: it is said" \
    grep -q '^crash: SIGSEGV, NULL called as a function in ' calls.txt
report_of asserts >asserts.txt
line=$(line_of $deep 'assert(good == 1);')
ok "an assertion of the C library: the line that made it" \
    grep -q "^crash: SIGABRT, abort() was called in where_assert (where_deep.c:$line)" asserts.txt
report_of fiber >fiber.txt
line=$(grep -n 'where_write(where_nothing)' "$lib/where.c" | tail -n 1 | cut -d: -f1)
ok "a crash on a fiber: its stack ends at the loop's function" \
    grep -q "^  #0 write_it where_deep.c:$write  #1 where_write .*  #2 loop where.c:$line\$" \
    fiber.txt
# Frames of the stack that was found last are remembered (sim/core/code/frames.c).
rewake run ./where.so where/writes where/writes-too --runs 2 --fresh --db w.db >two.txt 2>/dev/null
same "one search, two crashes: each has its own stack" \
    "$(grep -o '#2 writes[a-z_]* where.c:' two.txt | cut -d' ' -f2 | sort -u | tr '\n' ' ')" \
    'writes writes_too '

# ---- A library without debug information. ----
cp where.so bare.so
strip bare.so
report_of writes ./bare.so >bare.txt
ok "a stripped library: the function of a dynamic symbol, or the offset" \
    grep -q '^crash: SIG.* at bare.so+0x[0-9a-f]*, step 1' bare.txt
ok "a stripped library: the stack has the function that is exported" \
    grep -q '#1 where_write bare.so+0x' bare.txt

# ---- Its debug information is in a file beside it, which it names. ----
if command -v objcopy >objcopy.txt 2>&1; then
    objcopy --only-keep-debug where.so apart.debug
    cp bare.so apart.so
    objcopy --add-gnu-debuglink=apart.debug apart.so
    report_of writes ./apart.so >apart.txt
    ok "a separate file with debug information is found" \
        grep -q "^crash: SIG.* in write_it (where_deep.c:$write), " apart.txt
fi

# ---- C++. ----
if command -v "${CXX:-g++}" >cxx.txt 2>&1; then
    # shellcheck disable=SC2086 # Several flags.
    ok "a library in C++ builds" "${CXX:-g++}" -std=c++20 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared \
        -fPIC $library_flags -I"$root" "$lib/where_class.cc" -o class.so
    report_of class ./class.so >class.txt
    line=$(line_of where_class.cc 'packet->size = 1;')
    ok "a crash in C++: the member with its class" \
        grep -q "^crash: SIG.* in Server::answer (where_class.cc:$line)" class.txt
fi

# ---- Broken rules. ----
report_of forgets >forgets.txt
line=$(line_of where.c 'forgets_poll(struct rt_task')
tr '\n' ' ' <forgets.txt >joined.txt
ok "PENDING without a waker: the poll function and its line" grep -q \
    "contract: .server. returned PENDING without registering a waker in forgets_poll (where.c:$line)" \
    joined.txt
not_ok "PENDING without a waker: no line of rewake" grep -q 'executor\.c' forgets.txt
report_of misuses >misuses.txt
line=$(line_of $deep 'rt_task_fini(task);')
tr '\n' ' ' <misuses.txt >joined.txt
ok "a misused function of the runtime: who called it" \
    grep -q "in rt_task_fini, called from where_end (where_deep.c:$line)" joined.txt

# ---- Leaks. ----
report_of overwrites >leak.txt
tr '\n' ' ' <leak.txt >joined.txt
first=$(line_of where.c 'keeper->kept = rt_waker_clone')
ok "a leaked waker: whose it is and where it was cloned" grep -q \
    "lost: - the waker of .keeper., cloned at where.c:$first in keeper_poll() in step 1 " joined.txt
ok "a leaked waker: the step that overwrote it" \
    grep -q 'It was overwritten or forgotten in step 2 (100ns), a step of .keeper.' joined.txt
ok "a leaked waker: the line of that step" \
    grep -q 'which clones a waker at where.c:[0-9]* in keeper_poll()' joined.txt
not_ok "a leaked waker: no line of rewake" grep -q 'executor\.c\|task\.c' leak.txt

# ---- A loop that waits in its host: that line is rewake's, and no place to open. ----
rewake run zoo/libuv-826/broken --runs 20 --fresh --no-shrink --db loop.db --json >loop.json 2>&1
ok "a blocked loop: it fails" grep -q '"verdict":"deadlock"' loop.json
not_ok "a blocked loop: no line of rewake in JSON" grep -q 'fd_wait\.c' loop.json
for format in github sarif junit markdown; do
    rewake export $format --db loop.db >loop.$format
    not_ok "a blocked loop: no line of rewake in $format" grep -q 'fd_wait' loop.$format
done
rewake report --db loop.db -o loop-pages >report.txt
not_ok "a blocked loop: no line of rewake in pages" grep -rq 'fd_wait\.c' loop-pages
ok "a blocked loop: the scenario's file" grep -q '^::error file=scenarios/.*,title=' loop.github

# ---- The same line in all outputs. ----
mkdir repo repo/.git repo/src repo/src/deep repo/build
cp "$lib/where.c" "$lib/where.h" repo/src/
cp "$lib/$deep" repo/src/deep/
repo=$(cd repo && pwd -P)
# paths CLAIM LIB FOLDER: what GitHub and SARIF say of the crash, from that folder.
paths() {
    (cd "$3" && REWAKE_DB=paths.db && export REWAKE_DB && rm -f paths.db*
        "$REWAKE" run "$2" where/writes --runs 1 --fresh >run.txt 2>&1
        "$REWAKE" export github >github.txt
        "$REWAKE" export sarif >sarif.json)
    ok "$1: GitHub" grep -q "^::error file=src/deep/where_deep.c,line=$write,title=" "$3/github.txt"
    same "$1: SARIF" "$(sqlite3 :memory: "SELECT json_extract(readfile('$3/sarif.json'),
        '\$.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri')
        || ':' || json_extract(readfile('$3/sarif.json'),
        '\$.runs[0].results[0].locations[0].physicalLocation.region.startLine')")" \
        "src/deep/where_deep.c:$write"
}
# build_repo FOLDER OUTPUT PREFIX: the copy, its files named with PREFIX before them.
build_repo() {
    # shellcheck disable=SC2086 # Several flags.
    (cd "$1" && $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags \
        -I"$root" -I"$3" "$3/where.c" "$3/deep/where_deep.c" -o "$2")
}
unset GITHUB_WORKSPACE
ok "absolute paths, as CMake gives: it builds" build_repo "$repo/build" absolute.so "$repo/src"
paths "absolute paths, in the build folder" ./absolute.so "$repo/build"
paths "absolute paths, at the root" build/absolute.so "$repo"
ok "paths with ..: it builds" build_repo "$repo/build" up.so ../src
paths "paths with .., in the build folder" ./up.so "$repo/build"
paths "paths with .., from elsewhere" "$repo/build/up.so" "$tmp"
ok "relative paths: it builds" build_repo "$repo" relative.so src
paths "relative paths, at the root" ./relative.so "$repo"
rm -r repo/.git
paths "no git: relative to the working directory" ./relative.so "$repo"
GITHUB_WORKSPACE=$repo
export GITHUB_WORKSPACE
paths "a workspace: relative to it" "$repo/build/absolute.so" "$tmp"
unset GITHUB_WORKSPACE

# The rows that they are made of, and JSON.
ok "the database has the stack" test "$(sqlite3 "$tmp/w.db" \
    "SELECT count(*) FROM stacks WHERE n = 0 AND function = 'write_it' AND line = $write")" -ge 1
rewake run ./where.so where/writes --runs 1 --fresh --json --db w.db >run.json 2>/dev/null
ok "JSON: the sites are the stack" grep -q \
    "\"sites\":\[{\"file\":\"where_deep.c\",\"line\":$write,\"function\":\"write_it\"}," run.json
done_testing
