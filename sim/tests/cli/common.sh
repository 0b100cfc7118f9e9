# common.sh -- what the tests of the command line share: a folder, a library, a few words.
#
#   rewake ARGS...        runs the program under test in the test's own folder
#   status ARGS...        the same; prints its exit status, keeps out.txt and err.txt
#   build_library NAME [FLAGS]  builds lib/NAME.c as a user would, outside of the tree
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
root=$(pwd)
REWAKE=${REWAKE:-build/rewake}
case $REWAKE in
/*) ;;
*) REWAKE=$root/$REWAKE ;;
esac
cc=${CC:-gcc}
unset REWAKE_SEED REWAKE_RUNS REWAKE_TIME REWAKE_JOBS REWAKE_DB REWAKE_STRATEGY
# asan is there when the program has it: a library of its kind is built the same way.
case $REWAKE in
*asan*) library_flags='-fsanitize=address,undefined -fno-sanitize-recover=all' asan=yes ;;
*) library_flags='' asan=no ;;
esac
cd "$tmp" || exit 1

# few N M: N, or M with asan, where a run takes ten times as long, and where lines are counted, as
# further runs reach no other lines.
few() {
    case $REWAKE in
    *asan* | */cov-*) echo "$2" ;;
    *) echo "$1" ;;
    esac
}

rewake() {
    "$REWAKE" "$@"
}

status() {
    "$REWAKE" "$@" >out.txt 2>err.txt
    echo $?
}

build_library() {
    # shellcheck disable=SC2086 # Several flags.
    $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" \
        ${2:-} "$root/sim/tests/cli/lib/$1.c" -o "$1.so"
}

# one_line FILE: it has one line, which begins with the program's name.
one_line() {
    [ "$(wc -l <"$1")" -eq 1 ] && grep -q '^rewake[ a-z]*: .' "$1"
}

# refused CLAIM STATUS ARGS...: that exit status, nothing on stdout, one line on stderr.
refused() {
    claim=$1
    wanted=$2
    shift 2
    got=$(status "$@")
    same "$claim: status" "$got" "$wanted"
    ok "$claim: one line on stderr" one_line err.txt
    ok "$claim: nothing on stdout" test ! -s out.txt
}

# every_line_is_json FILE
every_line_is_json() {
    [ -s "$1" ] || return 1
    # One question for each line, in one process.
    sed "s/'/''/g; s/.*/SELECT 'no JSON: ' || '&' WHERE NOT json_valid('&');/" "$1" |
        sqlite3 :memory: >"$tmp/.bad" 2>&1 && [ ! -s "$tmp/.bad" ] || {
        head -n 3 "$tmp/.bad"
        return 1
    }
}

# first_failure DB: the first reported failure in DB, as run:ID.
first_failure() {
    sqlite3 "$1" "SELECT 'run:' || min(run) FROM details WHERE token IS NOT NULL AND run > 0"
}

token_of() {
    sed -n 's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' "$1" | head -n 1
}

# not_in FILE PATTERN: no line matches.
not_in() {
    ! grep -q "$2" "$1"
}

# soon COMMAND...: it succeeds within 30 s.
soon() {
    left=300
    until "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.1
    done
}

# gone PID: no such process, or one that only waits to be buried.
gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

# has_done DB RUNS: the sweep has written down so many.
has_done() {
    [ "$(sqlite3 "$1" 'SELECT coalesce(max(runs), 0) FROM sweeps' 2>/dev/null || echo 0)" -ge "$2" ]
}

# has_computed PID: one of its workers has, for 0.3 s. Runs that do not hang take a hundredth of
# that. (The sweep itself waits, and writes nothing down.)
has_computed() {
    cat /proc/[0-9]*/stat 2>/dev/null |
        awk -v parent="$1" '$4 == parent && $14 >= 30 { found = 1 } END { exit !found }'
}
