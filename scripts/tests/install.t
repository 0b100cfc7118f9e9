#!/bin/sh
# install.t -- what is installed is whole: for a packager, and for a project that builds on it.
#
# With INSTALL_ALL=yes (in CI) the project is built in C and in C++ by both compilers; else once
# in each.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
root=$tmp/root
usr=$root/usr
cc=${CC:-gcc}
# fresh COMMAND...: as if no make had called this.
fresh() {
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$@"
}
pages=yes
command -v scdoc >/dev/null || pages=no
ok "make install" fresh make -s install DESTDIR="$root" PREFIX=/usr MAN=$pages CC="$cc"
[ -e "$usr/bin/rewake" ] || {
    cat "$tmp/.said" >&2
    done_testing
}
PATH=$usr/bin:$PATH
PKG_CONFIG_PATH=$usr/lib/pkgconfig
LD_LIBRARY_PATH=$usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
unset REWAKE REWAKE_SEED REWAKE_RUNS REWAKE_TIME REWAKE_JOBS REWAKE_DB REWAKE_STRATEGY

# ---- One version. ----
version=$(sed -n 's/^#define RT_VERSION "\(.*\)"/\1/p' runtime/base/version.h)
numbers=$(sed -n 's/^#define RT_VERSION_[A-Z]* //p' runtime/base/version.h | tr '\n' .)
same "version.h says it twice alike" "$version." "$numbers"
same "the program says the version" "$(rewake --version)" "rewake $version"
for pc in rewake rewake-rt; do
    ok "$pc.pc is valid" pkg-config --validate $pc
    same "$pc.pc says the version" "$(pkg-config --modversion $pc)" "$version"
done
same "so does CHANGELOG" "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" "$version"

# ---- Where things are. ----
ok "nothing that is installed knows DESTDIR" sh -c "! grep -rlI '$root' '$usr'"
ok "nor the folder in which it was built" sh -c "! readelf -d '$usr/bin/rewake' | grep -i 'r.*path'"
ok "the schema of --json is there" test -s "$usr/share/rewake/json.schema.json"
mkdir "$tmp/bin"
printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$tmp/bin/gdb" # Says what it is given.
chmod +x "$tmp/bin/gdb"
token=$(rewake run canary/leak --runs 20 --record none --json | grep -o 'rw1:[^"]*' | head -n 1)
same "the commands for gdb are there, and found" \
    "$(PATH="$tmp/bin:$PATH" rewake replay "$token" --gdb | grep 'rewake\.py$')" \
    "$usr/share/rewake/gdb/rewake.py"
so=$(readlink -f "$usr/lib/librewake-rt.so")
same "the shared library is named by its version" "$(basename "$so")" "librewake-rt.so.$version"
soname=$(readelf -d "$so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
ok "its soname is there" test "$(readlink -f "$usr/lib/$soname")" = "$so"
ok "it has names of its own only" sh -c \
    "! nm -D --defined-only '$so' | awk '{ print \$NF }' | grep -v '^rt_'"
same "no page that is installed has a dead link" "$(scripts/tests/links "$usr")" ''
same "the examples are there" "$(ls "$(pkg-config --variable=examples rewake)")" \
    "$(ls scripts/examples)"

# ---- Debian's packages: each file that is installed is of one of them. ----
mkdir -p "$tmp/deb/usr/lib/triplet"
cp -a "$usr/." "$tmp/deb/usr"
mv "$tmp"/deb/usr/lib/[!t]* "$tmp/deb/usr/lib/triplet"
(cd "$tmp/deb" && cat "$OLDPWD"/scripts/packaging/debian/*.install | while read -r pattern; do
    # shellcheck disable=SC2086 # It is one.
    find $pattern ! -type d
done | LC_ALL=C sort) >"$tmp/packaged.txt" 2>"$tmp/unmatched.txt"
[ $pages = no ] || same "packages: each line of debian/*.install matches something" \
    "$(cat "$tmp/unmatched.txt")" ''
[ $pages = no ] || same "packages: each file is in one" "$(cat "$tmp/packaged.txt")" \
    "$(cd "$tmp/deb" && find usr ! -type d | LC_ALL=C sort)"

# ---- Manual pages and completion: of the same table as the options. ----
options_of() {
    grep -o -- '--[a-z][a-z-]*' | LC_ALL=C sort -u | tr '\n' ' '
}
if [ $pages = yes ]; then
    for command in $(rewake help | sed -n 's/^  rewake \([a-z]*\) .*/\1/p'); do
        # The page is its help, and perhaps more.
        sed 's/\\//g' "$usr/share/man/man1/rewake-$command.1" >"$tmp/page"
        missing=
        for option in $(rewake "$command" --help | sed '1d' | options_of); do
            grep -q -- "$option" "$tmp/page" || missing="$missing $option"
        done
        same "rewake-$command(1) has all options" "$missing" ''
    done
    same "each page has the version" "$(grep -L "$version" "$usr"/share/man/man?/*)" ''
    command -v man >/dev/null && same "each page renders without a warning" \
        "$(MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$usr"/share/man/man?/* 2>&1 >/dev/null)" ''
    # A header whose functions all have two underscores makes no promise.
    same "headers without a page" "$(cd "$usr/include/rewake" &&
        find . -name '*.h*' | sed 's,^./,,' | while read -r header; do
            page=rewake-$(echo "${header%.h*}" | tr / -).3
            [ -e "$usr/share/man/man3/$page" ] || echo "$header"
        done | LC_ALL=C sort)" 'runtime/io/attempt.h
runtime/time/wheel.h'
    page=$usr/share/man/man3/rewake-runtime-sync-semaphore.3
    same "a header's functions are names of its page, and none of its bodies is there" "$(
        sed -n '/^.SH NAME/{n;p}' "$page" | grep -ow 'rt_semaphore_init\|rt_semaphore_release'
        grep -l 'return .*;' "$usr"/share/man/man3/rewake-runtime-base-list.3)" 'rt_semaphore_init
rt_semaphore_release'
    for page in man7/rewake-scenario.7 man3/rewake-rt.3 man3/rewake-foreign.3; do
        ok "a page of other things: $page" test -e "$usr/share/man/$page"
        # What it names is there for who includes what is installed.
        for name in $(sed 's/\\f[A-Z]//g; s/\\//g' "$usr/share/man/$page" | LC_ALL=C grep -oiE \
            '\b(rt|sim)_[a-z_]*[a-z]' | sort -u); do
            grep -rqw "$name" "$usr/include/rewake" || same "$page: it names" "$name" ''
        done
    done
else
    echo "# no manual pages: scdoc is missing"
fi
if command -v bash >/dev/null; then
    cat >"$tmp/try.bash" <<'END'
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
_rewake
printf '%s ' "${COMPREPLY[@]}"
END
    completed() {
        bash "$tmp/try.bash" "$usr/share/bash-completion/completions/rewake" "$@"
    }
    same "bash: a command" "$(completed rewake mer)" 'merge '
    same "bash: an option" "$(completed rewake run --sha)" '--shard '
    same "bash: a strategy" "$(completed rewake run --strategy gui)" 'guided '
    same "bash: an option of the runs" "$(completed rewake run -O late)" 'late_one_in= '
    same "bash: a scenario" "$(completed rewake run zoo/tokio-4497/b)" 'zoo/tokio-4497/broken '
    same "bash: options are those of help" "$(completed rewake run -- | options_of)" \
        "$(rewake run --help | sed '/^Options of the runs/,$d' | grep '^  ' | grep -o -- \
            '^  [ -][a-zA-Z,]* *--[a-z-]*' | options_of)"
fi
if command -v zsh >/dev/null; then
    ok "zsh: it loads" zsh -f -c "fpath=('$usr/share/zsh/site-functions' \$fpath)
        autoload -Uz compinit && compinit -D -u && [[ \$_comps[rewake] == _rewake ]] &&
        autoload +X _rewake"
fi

# ---- A program on the runtime: shared, and static. ----
cat >"$tmp/program.c" <<'END'
#include <runtime/base/version.h>
#include <runtime/task/executor.h>
#include <stdio.h>
int
main(void)
{
    printf("%s %d\n", RT_VERSION, rt_err_name(RT_OK) != NULL);
    return 0;
}
END
# shellcheck disable=SC2046 # Several flags.
ok "a program on the shared library builds" $cc -std=c17 "$tmp/program.c" -o "$tmp/shared" \
    $(pkg-config --cflags --libs rewake-rt)
same "... and runs" "$("$tmp/shared")" "$version 1"
ok "... by its soname" sh -c "readelf -d '$tmp/shared' | grep -q 'NEEDED.*$soname'"
# shellcheck disable=SC2046
ok "a program on the static library builds" $cc -std=c17 "$tmp/program.c" -o "$tmp/static" \
    $(pkg-config --cflags rewake-rt) -static $(pkg-config --static --libs rewake-rt)
same "... and runs" "$("$tmp/static")" "$version 1"

# ---- A project. ----
# project LANGUAGE COMPILER
project() {
    flag=
    [ "$1" = C ] || flag=--cpp
    dir="$tmp/$1 by $2"
    ok "$1, $2: a project" rewake-new-project $flag "$dir"
    ok "$1, $2: it builds" fresh make -s -C "$dir" CC="$2" CXX="$2"
    ok "$1, $2: one fails and one passes, as stated" fresh make -s -C "$dir" check
    (cd "$dir" && exec rewake run ./mine.so mine/broken --fresh >out.txt 2>&1)
    same "$1, $2: a lost wake-up is found: status" $? 1
    ok "$1, $2: and reported" grep -q '^lost-wakeup: `reader` is blocked forever' "$dir/out.txt"
}
project C gcc
[ -d "$tmp/C by gcc" ] || done_testing # What follows needs it.
project C++ clang++
if [ "${INSTALL_ALL:-}" = yes ]; then
    project C clang
    project C++ g++
fi

# ---- Projects of CMake and of Meson; a program as it is. ----
same "rewake init is that script" "$(rewake init --meson "$tmp/by name")" \
    "$tmp/by name is there; next: cd $tmp/by name && meson setup build && meson compile -C build && \
meson test -C build"
if command -v cmake >/dev/null; then
    for flag in '' --cpp; do
        dir="$tmp/cmake$flag"
        # shellcheck disable=SC2086 # Perhaps no flag.
        ok "cmake $flag: a project" rewake-new-project $flag --cmake "$dir"
        ok "cmake $flag: it is configured" \
            env CC=gcc CXX=g++ cmake -S "$dir" -B "$dir/build" -DCMAKE_PREFIX_PATH="$usr"
        ok "cmake $flag: it builds" fresh cmake --build "$dir/build"
        ok "cmake $flag: its test passes" env -C "$dir/build" ctest
    done
    mkdir "$tmp/cmake-rt"
    cp "$tmp/program.c" "$tmp/cmake-rt"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(p C)' \
        "find_package(rewake ${version%.*} REQUIRED)" 'add_executable(p program.c)' \
        'target_link_libraries(p rewake::rt)' >"$tmp/cmake-rt/CMakeLists.txt"
    ok "cmake: a program on the runtime" sh -c "cd '$tmp/cmake-rt' &&
        CC=gcc cmake -S . -B b -DCMAKE_PREFIX_PATH='$usr' && cmake --build b"
    same "... and runs" "$("$tmp/cmake-rt/b/p")" "$version 1"
    sed -i 's/rewake [0-9.]* REQ/rewake 9.9 REQ/' "$tmp/cmake-rt/CMakeLists.txt"
    not_ok "cmake: another version is refused" \
        cmake -S "$tmp/cmake-rt" -B "$tmp/cmake-rt/c" -DCMAKE_PREFIX_PATH="$usr"
fi
if command -v meson >/dev/null; then
    for flag in '' --cpp; do
        dir="$tmp/meson$flag"
        # shellcheck disable=SC2086
        ok "meson $flag: a project" rewake-new-project $flag --meson "$dir"
        ok "meson $flag: it builds" sh -c "cd '$dir' && CC=gcc CXX=g++ meson setup build &&
            meson compile -C build"
        ok "meson $flag: its test passes" meson test -C "$dir/build"
    done
fi
mkdir "$tmp/there"
echo mine >"$tmp/there/.gitlab-ci.yml"
ok "--program: beside what is there" rewake-new-project --program ./prog "$tmp/there"
same "--program: what is there is left alone" "$(cat "$tmp/there/.gitlab-ci.yml")" mine
ok "--program: the jobs run it" \
    grep -q 'rewake run ./prog --expect' "$tmp/there/.github/workflows/rewake.yml"
not_ok "no mark of a template is left" grep -rqI --exclude-dir=build '@[A-Z][A-Z]*@' \
    "$tmp/there" "$tmp/cmake" "$tmp/C by gcc"
mv "$root" "$root.moved"
same "a tree that was moved is found" "$(PKG_CONFIG_PATH=$root.moved/usr/lib/pkgconfig \
    pkg-config --variable=rewake rewake | xargs realpath)" \
    "$(realpath "$root.moved/usr/bin/rewake")"
mv "$root.moved" "$root"

# ---- What the project's README says to do, line by line. ----
# type_in DIR: each line that is indented and a command; `status N` in its comment is how it ends.
# `make search` has a minute: here so many runs instead, as a machine may be busy.
cat >"$tmp/bin/counted" <<'END'
#!/bin/sh
[ "$5" = --time ] && exec rewake "$1" "$2" "$3" "$4" --runs 500
exec rewake "$@"
END
chmod +x "$tmp/bin/counted"
type_in() {
    sed -n 's/^    //p' "$1/README.md" | grep -v PREFIX >"$tmp/lines"
    token=
    while read -r line; do
        expected=$(printf '%s' "$line" | sed -n 's/.*# status \([0-9]*\):.*/\1/p')
        line=$(printf '%s' "$line" | sed "s| *#.*||; s|TOKEN|$token|")
        (cd "$1" && fresh REWAKE="$tmp/bin/counted" sh -c "$line" >"$tmp/said.txt" 2>&1)
        same "README of ${1##*/}: $line" "$?" "${expected:-0}"
        token=$(sed -n 's/^replay: .* //p' "$tmp/said.txt")
    done <"$tmp/lines"
}
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$tmp/gitconfig" HOME="$tmp"
printf '[user]\nname = n\nemail = e\n' >"$GIT_CONFIG_GLOBAL"
# One commit, one seed: the same tests every time.
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
command -v git >/dev/null && for dir in "$tmp/C by gcc" "$tmp/C++ by clang++"; do
    rm -rf "$dir/.rewake"
    type_in "$dir"
    ok "README of ${dir##*/}: what is built is not in git" sh -c \
        "! git -C '$dir' ls-files | grep -q 'mine.so\\|rewake/'"
done
for link in $(grep -ho '\](http[^)]*)' "$tmp/C by gcc/README.md"); do
    same "a link to nothing in particular" "$link" ''
done
ok "where rewake is not found, make says what to do" sh -c \
    "env -u MAKEFLAGS -u MAKELEVEL PKG_CONFIG_PATH=/nowhere PKG_CONFIG_LIBDIR=/nowhere \
        make -B -C '$tmp/C by gcc' 2>&1 | grep -q 'where is rewake?'"
not_ok "a folder with something in it is left alone" rewake-new-project "$tmp/C by gcc"
for arguments in '' '--cpp' '-x' 'a b' '--program prog x'; do
    # shellcheck disable=SC2086
    (cd "$tmp" && rewake-new-project $arguments >/dev/null 2>&1)
    same "new-project $arguments: usage" $? 2
done

# ---- CI: the workflows' own steps, in their order, in fresh clones; one piece is the same. ----
ci=$(pwd)/scripts/tests/ci-run
# service NAME FILE EXPECTED: runs it in $tmp/NAME; EXPECTED is how its four parts end.
service() {
    rm -rf "${tmp:?}/$1"
    "$ci" --skip 'install rewake' --skip before_script --set RUNS=200 "$project/$2" "$project" \
        "$tmp/$1" >"$tmp/ended.txt"
    same "$1: how its jobs end" "$(tr '\n' ' ' <"$tmp/ended.txt")" \
        "part 1 $3 part 2 $3 part 3 $3 part 4 $3 merge 1 success "
    same "$1: all parts are kept" "$(ls -d "$tmp/$1"/artifacts/*part-*/trace.db | wc -l)" 4
    same "$1: so are their reports" "$(ls "$tmp/$1"/artifacts/*part-*/rewake.xml | wc -l)" 4
    merged=$(find "$tmp/$1/artifacts" -name all.db -printf '%h')
    ok "$1: what is made of them is kept" \
        test -s "$merged/rewake.xml" -a -s "$merged/report/index.html"
    same "$1: the parts are the sweep in one piece" \
        "$(rows "$merged/all.db")" "$(rows "$tmp/one.db")"
    sed 's/^/# /' "$tmp/$1"/logs/merge.txt | grep 'status [1-9]'
}
rows() {
    rewake query --db "$1" 'SELECT scenario, complete, runs, digest FROM shards_in ORDER BY 1'
}
one_piece() {
    (cd "$project" && make -s clean && fresh RUNS=200 make -s part PART=1/1 >"$tmp/said.txt" 2>&1)
    same "$1: one piece: status" "$?" "$2"
    rewake merge "$tmp/one.db" "$project/part-1-of-1/trace.db" >/dev/null
}
if python3 -c 'import yaml' 2>/dev/null && command -v git >/dev/null; then
    project="$tmp/C by gcc"
    one_piece "as stated" 0
    service GitHub .github/workflows/rewake.yml success
    not_ok "GitHub: nothing is annotated" grep -rq '^::' "$tmp/GitHub/logs"
    ok "GitHub: the summary" grep -q '2 scenarios, 400 runs: 2 passed' "$tmp/GitHub/summary.md"
    service GitLab .gitlab-ci.yml success

    # A bug that is not expected.
    sed -i 's/, .expect = SIM_VERDICT_LOST_WAKEUP//' "$project/mine.c"
    git -C "$project" commit -qam bug
    rm "$tmp/one.db"
    one_piece "a bug" 2
    service GitHub .github/workflows/rewake.yml failure
    for part in 1 2 3 4; do
        ok "GitHub: part $part is annotated at the line" \
            grep -q '^::error file=mine.c,line=4[0-9],' "$tmp/GitHub/logs/part-$part.txt"
    done
    ok "GitHub: the summary" \
        grep -q '| mine/broken | \*\*failed\*\* | 200 ' "$tmp/GitHub/summary.md"
    ok "GitHub: a page of the failure, with the run" sh -c \
        "grep -q '<svg' '$tmp'/GitHub/artifacts/rewake/report/failure-*.html"
    service GitLab .gitlab-ci.yml failure
    ok "GitLab: the failed test" grep -q '<failure ' "$tmp/GitLab/artifacts/rewake.xml"
    git clone -q "$project" "$tmp/elsewhere" && fresh make -s -C "$tmp/elsewhere"
    (cd "$tmp/elsewhere" && sh -c "$(sed -n 's/^\(rewake explain .*\) --db .*/\1/p' \
        "$tmp/GitHub/summary.md" | head -n 1)" >"$tmp/explained.txt" 2>&1)
    same "what the summary says to type, elsewhere: status" "$?" 1
    ok "... and it explains" grep -q '^lost-wakeup: `reader` is blocked' "$tmp/explained.txt"

    # What it does not know is not passed over.
    sed 's/if: failure()/if: cancelled()/' "$project/.github/workflows/rewake.yml" >"$tmp/odd.yml"
    "$ci" --skip 'install rewake' --set RUNS=1 "$tmp/odd.yml" "$project" "$tmp/odd" >/dev/null 2>&1
    same "a workflow with a condition that is not understood: status" $? 2
    sed 's/- make .*/- "false"/' "$project/.gitlab-ci.yml" >"$tmp/odd.yml"
    same "a step that fails ends its job" "$("$ci" --skip before_script --set RUNS=1 \
        "$tmp/odd.yml" "$project" "$tmp/odd2" | tail -n 1)" "merge 1 failure"
    cd "$project" || exit 1
    rm -rf part-*
    ok "make: parts" sh -c "for i in 1 2 3; do RUNS=200 make -s part PART=\$i/3; done
        test -s part-3-of-3/trace.db"
    ok "make: merged" fresh make -s merge
    same "make: all parts are in" "$(rewake query --json 'SELECT DISTINCT parts FROM shards_in' \
        --db all.db)" '{"parts":"3 of 3"}'
    cd "$OLDPWD" || exit 1
else
    echo "# the templates for CI are not run: git, or python3-yaml, is missing"
fi

ok "make uninstall" fresh make -s uninstall DESTDIR="$root" PREFIX=/usr CC="$cc"
same "... leaves nothing" "$(find "$root" -type f -o -type l | head -n 5)" ''
done_testing
