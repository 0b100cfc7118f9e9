#!/bin/sh
# mutants.t -- every planted bug still fits the code, and every statement has a test that kills one.
#
# Whether the tests do kill them takes minutes: `make mutants`.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh

# stale FOLDER: patches that do not apply any more.
stale() {
    for patch in "$1"/*.patch; do
        patch -p1 -f -s --dry-run <"$patch" >/dev/null 2>&1 || echo "${patch##*/}"
    done
}
same "every mutant applies" "$(stale runtime/tests/mutants)" ""
same "every mutant of a fuzz target applies" "$(stale fuzz/mutants)" ""

# few: fuzz targets with fewer than three mutants.
few() {
    for file in fuzz/runtime/*.c fuzz/sim/*.c; do
        name=$(basename "$file" .c)
        [ "$name" = empty ] || [ "$(find fuzz/mutants -name "$name-*.patch" | wc -l)" -ge 3 ] ||
            echo "$name"
    done
}
same "every fuzz target has three mutants" "$(few)" ""

# unnamed: patches whose head does not say what they break and which tests kill them.
unnamed() {
    for patch in runtime/tests/mutants/*.patch; do
        { grep -q '^# Breaks [A-Z][0-9]*: ' "$patch" && grep -q '^# Killed by: [a-z]' "$patch"; } ||
            echo "${patch##*/}"
    done
}
same "every mutant says what it breaks and who kills it" "$(unnamed)" ""
ok "every statement has a test and a mutant that this test kills" scripts/statements
done_testing
