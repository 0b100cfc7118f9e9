#!/bin/sh
# docs.t -- each command of the documentation is run, and prints what the pages show.
#
# scripts/docs-run says how a page marks its commands and what they print. When the program has
# changed: `make pages`, and check the difference.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
if [ "$asan" = yes ]; then
    echo "1..0 # SKIP what is installed is another build; the pages are tried with it elsewhere"
    exit 0
fi
run=$root/scripts/docs-run

# As the pages say, and once for all of them: they share a home.
export HOME="$tmp/pages/home"
mkdir -p "$HOME"
ok "installs" make -s -C "$root" install PREFIX="$HOME/.local"
PATH=$HOME/.local/bin:$PATH
export PATH

# The tutorial is the last one: each page begins with an empty home, and its folder is read below.
pages="README.md $(cd "$root" && find sim/docs -name '*.md' ! -name tutorial.md | LC_ALL=C sort)
sim/docs/tutorial.md"
for page in $pages; do
    ok "$page: its commands print what it shows" "$run" pages "$page"
    ok "$page: no line but of a table or of output is wider than 120 columns" \
        sh -c "! sed '/^\`\`\`text/,/^\`\`\`\$/d; /^|/d' '$root/$page' | grep '^.\{121\}'"
    ok "$page: the index of pages names it" test "${page%README.md}" != "$page" -o \
        "$(grep -c "(${page##*/})" "$root/sim/docs/README.md")" -gt 0
done
ok "README leads to the index of pages" grep -q '(sim/docs/README.md)' "$root/README.md"
ok "README has at most 150 lines" test "$(wc -l <"$root/README.md")" -le 150
same "README says after how many runs its bug is found" \
    "$(sed -n 's/^\*\*Found in \([0-9]*\) runs.*/\1/p' "$root/README.md")" \
    "$(grep -o '[0-9]* runs' pages/README-md/found.txt | sed -n '$s/ runs//p')"

# Commands and links in the pages of the folders. Commands for gdb are `(gdb) rewake ...`.
# shellcheck disable=SC2046 # Several files.
ok "the folders' pages name commands, options and files that there are" "$run" --text pages \
    CHANGELOG.md CONTRIBUTING.md SECURITY.md $(cd "$root" &&
        find runtime sim scenarios fuzz reports scripts -name '*.md' | LC_ALL=C sort)

# The commands of the README have just made the page that its picture is from.
"$root/scripts/report-picture" pages/README-md/pages/failure-*.html >picture.svg
ok "the README shows the picture that is made" cmp picture.svg "$root/sim/docs/lost-wakeup.svg"
ok "the picture has a legend" grep -q '>blocked forever</text>' picture.svg
for class in b 'b bb' life w run pb l x band; do
    case $(grep -c "class=\"$class\"" picture.svg) in
    0) ;;
    *) ok "the legend has class '$class'" sh -c \
        "sed -n '/lanes-legend/,\$p' picture.svg | grep -q 'class=\"$class\"'" ;;
    esac
done

rewake --help | sed -n 's/^  rewake \([a-z]*\) .*/\1/p' >commands.txt
ok "there are commands" test "$(wc -l <commands.txt)" -gt 10
same "the page of commands has a line for each" \
    "$(while read -r name; do
        grep -q "^rewake $name " "$root/sim/docs/commands.md" || echo "$name"
    done <commands.txt)" ""

# SARIF's helpUri leads to these sections.
rewake query 'SELECT name FROM verdicts' --json --db "pages/README-md/.rewake/trace.db" |
    sed 's/.*:"\(.*\)".*/\1/' >verdicts.txt
ok "there are verdicts" test "$(wc -l <verdicts.txt)" -gt 10
same "each verdict has a section" \
    "$(while read -r name; do
        grep -qx "## $name" "$root/sim/docs/verdicts.md" || echo "$name"
    done <verdicts.txt)" ""

# ---- The tutorial's executor is the one that is tested, but for its one bug. ----
sed -n '/^#define TASKS_MAX/,/^SIM_SCENARIO/p' "$HOME/tutorial/executor.c" |
    sed 's/^ *//' | grep -v '^$' | sort -u >pages.txt
sed 's/^ *//' "$root/scenarios/foreign/executor.c" | sort -u >tested.txt
same "lines of the tutorial's executor that the tested one does not have" \
    "$(comm -23 pages.txt tested.txt | tr '\n' ' ')" \
    "SIM_SCENARIO(mine, .name = \"mine/executor\", .about = \"A job and a client on an executor of \
my own.\", if (!any) { setup(struct sim_world *world) "

# ---- The pieces, copied, are the same file. ----
ok "docs-run --files" "$run" --files written sim/docs/tutorial.md
sed 's/^```/~~~/' "$root/sim/docs/tutorial.md" | sed -n '/^~~~c$/,/^~~~$/{ /^~~~/d; p; }' >copied.c
ok "--files writes what stands in the pieces" cmp copied.c written/executor.c
same "the tutorial leaves no file" \
    "$(find "$HOME/tutorial" -type f ! -path '*/.rewake/*' -printf '%f\n' | sort | tr '\n' ' ')" \
    "executor.c executor.so fix.patch "
# Pasted with an empty line between two pieces, the patch still fits.
sed 's/^}$/&\n/' copied.c >written/executor.c
ok "the patch fits where lines were left empty" sh -c \
    "cd written && $(grep '^patch ' "$root/sim/docs/tutorial.md")"
same "... and leaves no file" "$(find written -type f | sort | tr '\n' ' ')" \
    "written/executor.c written/fix.patch "
not_ok "--files of a page that has none" "$run" --files written "$root/LICENSE"

# ---- A page that is wrong is found out. ----
# page TEXT: that page, as wrong.md; a line of `~~~` is a fence.
page() {
    printf '%s\n' "$@" | sed 's/^~~~/```/' >"$tmp/wrong.md"
}
wrong() {
    claim=$1
    says=$2
    "$run" pages "$tmp/wrong.md" >said.txt 2>&1
    same "$claim: status" "$?" 1
    ok "$claim: it is said where" grep -q "wrong.md:.*$says" said.txt
}
page '~~~sh' 'echo a; echo b' '~~~' '<!-- output -->' '~~~' 'a' 'b' '~~~' '~~~sh' 'true' '~~~'
ok "a page that is right" "$run" pages "$tmp/wrong.md"
page '~~~sh' 'echo 1 a 7; echo b; echo c' '~~~' '<!-- output -->' '~~~' '1 … 7' '...' '~~~'
ok "a page that leaves something open" "$run" pages "$tmp/wrong.md"
page '~~~sh' 'echo a' '~~~' '<!-- output -->' '~~~' 'b' '~~~'
wrong "other output" "something else is printed"
page '~~~sh' 'echo a; echo b' '~~~' '<!-- output -->' '~~~' '...' 'a' '~~~'
wrong "output with more after it" "something else is printed"
page '~~~sh' 'exit_with() { return 3; }; exit_with' '~~~'
wrong "an unexpected status" "ends with status '3'"
page '<!-- status 1 -->' '~~~sh' 'true' '~~~'
wrong "a status that does not come" "ends with status '0', and not 1"
page '~~~' 'anything' '~~~'
wrong "a fence of nothing" "say what this is"
page '~~~c' 'int x;' '~~~'
wrong "code that is not compiled" "say what this is"
page 'Use `rewake run --no-such-option`.'
wrong "an option that is none" "has no option --no-such-option"
page '~~~sh' 'true || \' 'rewake run --no-such-option' '~~~'
wrong "an option that is none, in commands" "has no option --no-such-option"
page 'Use `rewake frobnicate`.'
wrong "a command that is none" "there is no command"
page 'See [there](nowhere.md).'
wrong "a link to nowhere" "there is no nowhere.md"
page '# A B: `c-d`' '[there](#a-b-c-d)'
ok "a link to a heading" "$run" --text pages "$tmp/wrong.md"
page '# A B: `c-d`' 'See [there](#a-b-c).'
wrong "a link to no heading" "has no heading #a-b-c"
page '<!-- from here on: printf "a\\nb\\n" -->' '' a b
ok "a page whose rest a command makes" "$run" pages "$tmp/wrong.md"
page '<!-- from here on: printf "a\\nb\\n" -->' '' a c
wrong "a rest that is something else" "prints something else"
page '~~~sh' 'true'
wrong "a fence that is not closed" "not closed"
page '<!-- outptu -->' '~~~sh' 'true' '~~~'
wrong "a comment that means nothing" "means nothing"

done_testing
