#!/bin/sh
# zoo.t -- the table of real bugs: what it says, what it stores, and what it does not let pass;
# and that the READMEs show the same one.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- Bugs that are what they say. ----
some=$(few 'zoo/[bm]*' 'zoo/mon*')
same "bugs are found, their fixed forms pass: status" \
    "$(status zoo "$some" --runs 300 --db z.db)" 0
listed=$(rewake list "$some/broken" | grep -c '^zoo/')
ok "one line a bug" test "$(grep -c '^zoo/[bm]' out.txt)" -eq "$listed"
ok "its verdict is in it" grep -q '^zoo/monoio-147 *lost-wakeup' out.txt
ok "no line is wider than a terminal" not_in out.txt '^.\{101\}'
same "the table is stored" \
    "$(rewake query "SELECT class, verdict, baseline, found FROM zoo_table WHERE name = 'zoo/monoio-147'" \
        --json --db z.db)" \
    '{"class":"A","verdict":"lost-wakeup","baseline":"no","found":"20/20"}'
rewake zoo 'zoo/tokio-4497/*' --runs 300 --db z.db >/dev/null
same "measured again, a bug has one row" \
    "$(rewake query "SELECT count(*) AS n FROM zoo WHERE name = 'zoo/tokio-4497'" --json --db z.db)" \
    '{"n":1}'
same "the same figures for 1 and 3 workers" \
    "$(rewake zoo "$some" --runs 300 --record none --jobs 3)" \
    "$(rewake zoo "$some" --runs 300 --record none --jobs 1)"
same "as JSON: status" "$(status zoo "$some" --runs 100 --json --record none)" 0
ok "every line is JSON" every_line_is_json out.txt
same "a bug by its own name: status" "$(status zoo zoo/tokio-4497 --runs 300 --record none)" 0
same "no bug matches: status" "$(status zoo 'articles/*' --record none)" 4
ok "no bug matches: one line" one_line err.txt

# ---- One bug that ends in two verdicts. ----
same "either verdict is as expected: status" "$(status run zoo/libuv-3686/broken --strategy random \
    --runs 100 --expect --fresh --no-shrink --db also.db)" 0
same "both were met" "$(rewake query 'SELECT count(DISTINCT verdict) AS n FROM runs
    WHERE verdict <> 0' --json --db also.db)" '{"n":2}'
rewake merge both.db also.db >merged.txt
for db in also both; do
    rewake export junit --db $db.db >junit.xml
    ok "an export accepts both ($db.db)" grep -q '<testsuites .* failures="0"' junit.xml
done

# ---- The tables of the READMEs are those of the files and of what is registered. ----
table=$root/scenarios/README.md
(cd "$root/scenarios/zoo" && ls ./*.c) | sed 's|./\(.*\).c|\1|' >files.txt
row='^[|] [a-z][a-z0-9-]*-[0-9a-f]+ [|] '  # Of a documented bug; invented ones have a table below.
awk -v row="$row" '$0 ~ row || /^[|] invented-/ { print $2 }' "$table" | sort >rows.txt
same "every file has a row, every row a file" "$(cat rows.txt)" "$(cat files.txt)"
rewake list 'zoo/*' --json >forms.json
for form in broken fixed; do
    same "every file registers its $form form" \
        "$(sed -n "s|.*\"name\":\"zoo/\([^/]*\)/$form\".*|\1|p" forms.json)" "$(cat files.txt)"
done
# "async-io-07b6cca lost-wakeup", as registered and as the table has it (a relative: by its first
# result).
sed -n 's|.*"name":"zoo/\([^/]*\)/broken".*"expect":"\([^"]*\)".*|\1 \2|p' forms.json >expect.txt
awk -F ' [|] ' -v row="$row" '$0 ~ row { print substr($1, 3), $5 }
    /^[|] invented-/ { split($5, word, " "); print substr($1, 3), word[1] }' "$table" | sort \
        >said.txt
ok "each row has the verdict that is stated" diff expect.txt said.txt
same "each row has its kind: those with a patch" \
    "$(awk -F ' [|] ' '$4 == "patch" { print substr($1, 3) }' "$table" | sort)" \
    "$(cd "$root/scenarios/zoo" && ls ./*.patch | sed 's|./\(.*\).patch|\1|')"
# Bugs in the libraries themselves: "libuv-492 lost-wakeup", by the heads of their patches.
(cd "$root/scenarios/real" && for patch in *.patch; do
    echo "${patch%.patch} $(sed -n 's/^Verdict: //p' "$patch")"
done) | sort >heads.txt
awk -F ' [|] ' '/^[|] `/ && NF == 8 { gsub(/[|` ]/, "", $1); print $1, $5 }' "$table" | sort \
    >real.txt
ok "each bug in a library has its row, with its verdict" diff heads.txt real.txt
(cd "$root/scenarios/real" && ls ./*.c) | sed 's|./\(.*\).c|\1|' | sort >programs.txt
same "each has its program" "$(cat programs.txt)" "$(cut -d' ' -f1 heads.txt | sort)"
# Those that are programs: each is listed, with its verdict and a command that finds its source.
rewake zoo --programs --json >programs.json
json='.*"name":"\([^"]*\)","verdict":"\([^"]*\)".*'
(cd "$root/scenarios/threads" && for file in *.c; do
    echo "threads/${file%.c} $(sed -n 's/^ \* Must end in: \([^,. ]*\).*/\1/p' "$file")"
done; sed 's|^|real/|' "$OLDPWD/heads.txt") | sort >stated.txt
sed "s|$json|\1 \2|" programs.json | sort >listed.txt
ok "zoo --programs lists each program, with its verdict" diff stated.txt listed.txt
sed -n 's|.*"run":"[^"]*\(scenarios/threads/[^ ]*\).*|\1|p
    s|.*"run":"scripts/real \([^"]*\)".*|scenarios/real/\1.patch|p' programs.json >named.txt
same "... and a command, with a file that there is" \
    "$(cd "$root" && xargs ls -d <"$tmp/named.txt" | wc -l)" "$(wc -l <stated.txt)"
same "zoo --programs of one" "$(rewake zoo --programs 'real/libuv-492' | sed -n 2,3p)" \
    "  scripts/real NAME
real/libuv-492              lost-wakeup    libuv/libuv#492, PR #493"
rewake zoo --programs >programs.txt
same "... as text: a row for each, as many as the README says" \
    "$(grep -c '^threads/\|^real/' programs.txt) $(wc -l <stated.txt)" \
    "$(sed -n 's/^`--programs` lists \([0-9]*\) more.*/\1 \1/p' "$root/README.md")"
ok "... no line is wider than a terminal" not_in programs.txt '^.\{101\}'
same "no program matches: status" "$(status zoo --programs 'zoo/*')" 4
rewake zoo 'zoo/[!i]*' --runs 1 --json --record none >zoo.json 2>/dev/null
sed -n 's|.*"name":"zoo/\([^"]*\)".*"reference":"\([^"]*\)".*|\1 \2|p' zoo.json >reference.txt
awk -F ' [|] ' -v row="$row" '$0 ~ row { print substr($1, 3), $2 }' "$table" | sort >cited.txt
ok "there are references" test -s reference.txt
same "each row begins with the reference that is registered" \
    "$(paste -d '\t' reference.txt cited.txt | awk -F '\t' 'index($2, $1) != 1')" ""
# "A 11 contract 1 deadlock 3 …": a class, how many, and how many of each verdict.
for file in "$root"/scenarios/zoo/*.c; do
    echo "$(sed -n 's/.*[.]bug = "\(.\).*/\1/p' "$file") $(basename "$file" .c)"
done | sort -k 2 | join -1 2 -2 1 - expect.txt | awk '{ n[$2]++; v[$2 " " $3]++ }
    END { for (i in n) print i, n[i]; for (i in v) print i, v[i] }' | LC_ALL=C sort >classes.txt
awk -F ' [|] ' '/^[|] [A-JR], / { class = substr($1, 3, 1); print class, $2
    n = split($3, found, /, | [|]$/)
    for (i = 1; i <= n; i++) if (found[i] != "") print class, found[i] }' "$table" |
    LC_ALL=C sort >shown.txt
ok "the table of classes counts them and their verdicts" diff classes.txt shown.txt
same "the README says how many there are" \
    "$(sed -n 's/.* holds \([0-9]*\) documented bugs .*/\1/p' "$root/README.md")" \
    "$(grep -vc invented- files.txt)"

# ---- What the head of each bug says of its cause (scenarios/README.md). ----
zoo=$root/scenarios/zoo
kinds='never-stored never-fired replaced erased coalesced dropped fired-early not-a-wake'
name='[a-z_][a-z0-9_]*'
site="($(echo "$kinds" | tr ' ' '|')) in $name( or $name)*"
clause="($site|order, $name before $name)"
(cd "$zoo" && grep -l '\.bug = ' ./*.c) >bugs.txt
(cd "$zoo" && xargs grep -c '^ [*] Cause: ') <bugs.txt >lines.txt
ok "there are bugs" test -s lines.txt
same "each bug has one line about its cause" "$(grep -v ':1$' lines.txt)" ""
(cd "$zoo" && xargs sed -n 's/^ [*] Cause: //p') <bugs.txt >causes.txt
same "which is well formed" "$(grep -vE "^$clause( or $clause)*\$" causes.txt)" ""
same "and has three readings at most" "$(grep ' or .* or .* or ' causes.txt)" ""
# A definition begins its line; in a patch that line may be an added one.
find "$root/runtime" -name '*.[ch]' >sources.txt
find "$zoo" -name '*.h' >>sources.txt
xargs sed -n "s/^\($name\)(.*/\1/p" <sources.txt | sort -u >shared.txt
while IFS= read -r file; do
    here=${file%.c}
    sed -n "s/^[ +]\{0,1\}\($name\)(.*/\1/p" "$zoo/$here".* | sort -u - shared.txt >defined.txt
    sed -n 's/^ [*] Cause: //p' "$zoo/$file" | tr -cs 'a-z0-9_-' '\n' | sort -u >words.txt
    printf '%s\n' $kinds in or order before | sort - defined.txt | comm -23 words.txt - |
        sed "s|^|$here: |"
done <bugs.txt >unknown.txt
same "whose functions there are in its file, its patch, or the runtime" "$(cat unknown.txt)" ""

# ---- Bugs that are not. ----
build_library zoo
same "a bug that is not found: status" \
    "$(status zoo ./zoo.so 'false/u1/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'NOT FOUND' out.txt
same "a fixed form that fails: status" \
    "$(status zoo ./zoo.so 'false/u2/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'FAILS' out.txt
same "another verdict than stated: status" \
    "$(status zoo ./zoo.so 'false/u3/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'NOT AS EXPECTED' out.txt
same "no fixed form: status" "$(status zoo ./zoo.so 'false/u4/*' --runs 50 --record none)" 0
ok "it says so" grep -q ' none$' out.txt
same "a worker that is killed from outside is no failure" \
    "$(status zoo ./zoo.so 'false/u5/*' --runs 50 --record none)" 0
ok "it was killed" test -e killed
done_testing
