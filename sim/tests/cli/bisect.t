#!/bin/sh
# bisect.t -- the commit with which a run began to fail, in a repository of twelve.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
command -v git >/dev/null || {
    echo '1..0 # SKIP git is missing: scripts/setup --ci installs it'
    exit 0
}
export GIT_CONFIG_NOSYSTEM=1 HOME="$tmp" GIT_CONFIG_GLOBAL="$tmp/.gitconfig"
git config --global user.name Tester
git config --global user.email tester@example.com
git config --global init.defaultBranch main
mkdir 'boxes of it'
export TMPDIR="$tmp/boxes of it"

# ---- Twelve commits in a folder with a blank; the 8th breaks it, 6 and 10 do not build.
mkdir -p 'repo of mine/tests'
cd 'repo of mine' || exit 1
git init -q .
cat >tests/build.sh <<END
#!/bin/sh
# Built where it stands; what FLAGS says is the commit's.
exec $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -shared -fPIC $library_flags -I"$root" \$(cat FLAGS) \
    mine.c -o mine.so
END
chmod +x tests/build.sh
echo 'mine.so' >.gitignore
cp "$root/sim/tests/cli/lib/fixed.c" tests/mine.c
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    case $i in
    6) flags='-DFIXED -include nothing.h' ;;
    10) flags='-include nothing.h' ;;
    [1-7]) flags=-DFIXED ;;
    *) flags=-O1 ;;
    esac
    echo "$flags" >tests/FLAGS
    echo "$i" >tests/number
    git add -A
    git commit -q -m "number $i"
done
eighth=$(git rev-parse --short HEAD~4)
(cd tests && ./build.sh) || exit 1
rewake run ./tests/mine.so --runs 50 --fresh --no-shrink --json --db "$tmp/b.db" >"$tmp/b.json"
token=$(token_of "$tmp/b.json")
ok "there is a run that fails" test -n "$token"

# The reader's own tree is dirty, and has a file that is not git's.
echo 'mine' >>tests/number
echo 'also mine' >tests/untracked
git status --porcelain=v2 --branch >"$tmp/before"
untouched() {
    git -C "$tmp/repo of mine" status --porcelain=v2 --branch | cmp - "$tmp/before" &&
        [ "$(cat "$tmp/repo of mine/tests/untracked")" = 'also mine' ]
}
clean() {
    [ -z "$(ls "$TMPDIR")" ] && [ "$(git worktree list | wc -l)" -eq 1 ] &&
        ! git for-each-ref | grep -q bisect
}

cd tests || exit 1
"$REWAKE" bisect mine.so "$token" -- ./build.sh >"$tmp/out.txt" 2>"$tmp/err.txt"
same "bisect: status" "$?" 0
cat "$tmp/out.txt" "$tmp/err.txt" >"$tmp/.said"
ok "bisect: the 8th commit" grep -q "fails is $eighth (Tester, .*): number 8" "$tmp/out.txt"
ok "bisect: it says how to see it" grep -q '^show: git show' "$tmp/out.txt"
ok "bisect: the bad end is tried first" sh -c \
    "head -n 1 '$tmp/err.txt' | grep -q 'number 12 *fails'"
ok "bisect: what does not build is skipped" grep -q 'number \(6\|10\) *does not build: skipped' \
    "$tmp/err.txt"
ok "bisect: nothing was touched" untouched
ok "bisect: nothing is left" clean
cd .. || exit 1
"$REWAKE" bisect tests/mine.so "$token" --good HEAD~11 --bad HEAD~1 -- \
    sh -c 'cd tests && ./build.sh' >"$tmp/out.txt" 2>"$tmp/err.txt"
same "bisect from the top, with both ends: status" "$?" 0
ok "bisect from the top: the 8th commit" grep -q "fails is $eighth " "$tmp/out.txt"
ok "bisect from the top: the ends are as they were named" \
    sh -c "sed -n '1,2p' '$tmp/err.txt' | tr '\n' ' ' |
        grep -q 'number 11 *fails.*number 1 *passes'"

# A rewake with the scenarios in it: that of each commit replays the run.
with_program='(cd tests && ./build.sh) || exit 1
printf "%s\n" "#!/bin/sh" "[ \$1 = replay ] || exec \"$REWAKE\" \"\$@\"" "shift" \
    "exec \"$REWAKE\" replay \"\$(dirname \"\$0\")/tests/mine.so\" \"\$@\"" >rewake
chmod +x rewake'
export REWAKE
sh -c "$with_program"
"$REWAKE" bisect ./rewake "$token" -- sh -c "$with_program" >"$tmp/out.txt" 2>"$tmp/err.txt"
same "bisect by a program: status" "$?" 0
ok "bisect by a program: the 8th commit" grep -q "fails is $eighth " "$tmp/out.txt"
ok "bisect by a program: what does not build is skipped" grep -q 'does not build: skipped' \
    "$tmp/err.txt"
rm rewake
ok "bisect by a program: nothing was touched" untouched

cd tests || exit 1
run=$(rewake query --db "$tmp/b.db" --json \
    'SELECT run FROM failures WHERE token IS NOT NULL LIMIT 1' | tr -cd 0-9)
"$REWAKE" bisect mine.so "run:$run" --db "$tmp/b.db" -- ./build.sh >"$tmp/out.txt" 2>"$tmp/err.txt"
same "bisect of a run of the database: status" "$?" 0
ok "bisect of a run of the database: the 8th commit" grep -q "fails is $eighth " "$tmp/out.txt"
cd .. || exit 1

# Between a good 7 and a bad 9, with 8 not to be judged, the commit is unknown.
"$REWAKE" bisect tests/mine.so "$token" --good HEAD~5 -- sh -c \
    'cd tests && case $(cat number) in 8) exit 1 ;; esac; ./build.sh' \
    >"$tmp/out.txt" 2>"$tmp/err.txt"
same "one of several: status" "$?" 5
ok "one of several: two of them" test "$(grep -c '^  [0-9a-f]\{12\}$' "$tmp/out.txt")" -eq 2

# ---- What cannot be judged. ----
cd tests || exit 1
fails() {
    claim=$1
    wanted=$2
    shift 2
    "$REWAKE" bisect "$@" >"$tmp/out.txt" 2>"$tmp/err.txt"
    same "$claim: status" "$?" "$wanted"
    ok "$claim: the last line says it" \
        sh -c "tail -n 1 '$tmp/err.txt' | grep -q '^rewake[ a-z]*: .'"
    ok "$claim: nothing is left" clean
}
fails "a bad end that passes" 125 mine.so "$token" --bad HEAD~6 -- ./build.sh
fails "a good end that fails" 125 mine.so "$token" --good HEAD~1 -- ./build.sh
fails "a build that never works" 125 mine.so "$token" -- sh -c 'echo no rule >&2; exit 2'
ok "a build that never works: its last words" grep -q '^    no rule' "$tmp/err.txt"
fails "a build that makes nothing" 125 mine.so "$token" -- true
fails "a build that is not there" 125 mine.so "$token" -- ./nothing
fails "no such commit" 2 mine.so "$token" --good nowhere -- ./build.sh
fails "an option for a commit" 2 mine.so "$token" --good=--all -- ./build.sh
fails "a run without a token" 125 mine.so run:"$(rewake query --db "$tmp/b.db" --json \
    'SELECT run FROM failures WHERE token IS NULL LIMIT 1' | tr -cd 0-9)" --db "$tmp/b.db" -- true
fails "no such run" 2 mine.so run:99 --db "$tmp/b.db" -- ./build.sh
fails "no run at all" 2 mine.so run:x --db "$tmp/b.db" -- ./build.sh
fails "a damaged token" 2 mine.so "${token%?}" -- ./build.sh
fails "no library" 2 mine.c "$token" -- ./build.sh
fails "a program that is none of rewake's" 2 /bin/true "$token" -- ./build.sh
fails "a token as the first argument" 2 "$token" ./build.sh -s
fails "a library elsewhere" 2 /nowhere/mine.so "$token" -- ./build.sh
fails "no build" 2 mine.so "$token"
fails "a run that failed from the first commit on" 125 mine.so "$token" -- sh -c \
    'echo -O1 >FLAGS; ./build.sh'

# ---- Told to end, or killed. ----
for signal in INT TERM KILL; do
    rm -f "$tmp/building"
    # As a terminal does: a shell gives its background jobs SIGINT ignored.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$REWAKE" bisect mine.so "$token" -- \
        sh -c "echo \$\$ >'$tmp/building'; sleep 60" >"$tmp/out.txt" 2>"$tmp/err.txt" &
    pid=$!
    soon test -s "$tmp/building"
    kill -$signal $pid
    ok "SIG$signal: it ends" soon gone $pid
    wait $pid 2>/dev/null
    ended=$?
    [ $signal = KILL ] || same "SIG$signal: status" "$ended" 5
    ok "SIG$signal: so does the build" soon gone "$(cat "$tmp/building")"
    ok "SIG$signal: nothing is left" soon clean
done
cd .. || exit 1
ok "nothing was touched by any of these" untouched
cd "$tmp" || exit 1
mkdir bare
cd bare || exit 1
"$REWAKE" bisect mine.so "$token" -- true >"$tmp/out.txt" 2>"$tmp/err.txt"
same "outside of any repository: status" "$?" 2
cd "$tmp" || exit 1
done_testing
