#!/bin/sh
# semantics.t -- the page of the runtime's statements has all of them, and names what there is.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
page=runtime/SEMANTICS.md

# All ids in their order, with " later" behind those that come later.
awk '!/^#/ && NF >= 2 {
    later = " "
    for (i = 3; i <= NF; i++) later = later $i " "
    for (n = 1; n <= $2; n++) print $1 n (index(later, " " $1 n " ") ? " later" : "")
}' runtime/tests/statements.txt >"$tmp/ids.txt"
sed -n 's/^- \*\*\([A-Z][0-9]*\)\*\* \(\*later\.\*\)*.*/\1 \2/p' "$page" |
    sed 's/ \*later.*/ later/; s/ $//' >"$tmp/page.txt"
ok "there are statements" test "$(wc -l <"$tmp/ids.txt")" -gt 150
ok "the page has each statement, and says which come later" diff "$tmp/ids.txt" "$tmp/page.txt"

# What a test claims to hold is a statement.
grep -rhoE 'Holds [A-Z][0-9]+((,| and) [A-Z][0-9]+)*' runtime/tests sim/tests |
    grep -oE "[$(grep -oE '^[A-Z]' runtime/tests/statements.txt | tr -d '\n')][0-9]+" |
    sort -u >"$tmp/held.txt"
sed 's/ .*//' "$tmp/ids.txt" | sort -u >"$tmp/sorted.txt"
ok "no test holds what is no statement" test -z "$(comm -23 "$tmp/held.txt" "$tmp/sorted.txt")"

grep -oE '`(rt|RT)_[A-Za-z_0-9]+`' "$page" | tr -d '\140' | sort -u >"$tmp/names.txt"
ok "the page names functions and errors" test "$(wc -l <"$tmp/names.txt")" -gt 20
find runtime -name '*.h' ! -path '*/tests/*' -exec cat {} + >"$tmp/headers.txt"
while read -r name; do
    case $name in
    RT_E_*) pattern="X(${name#RT_E_}," ;;
    *) pattern="$name" ;;
    esac
    ok "there is $name" grep -qF "$pattern" "$tmp/headers.txt"
done <"$tmp/names.txt"

done_testing
