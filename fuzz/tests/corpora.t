#!/bin/sh
# corpora.t -- each fuzz target runs its corpus, and odd inputs, without a finding.
#
#   FUZZ=build/debug-gcc/fuzz sh fuzz/tests/corpora.t
#
# SPDX-License-Identifier: Apache-2.0
set -u
fuzz=${FUZZ:-build/debug-gcc/fuzz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/empty"
printf '\0' >"$work/nul"
head -c 70000 /dev/zero >"$work/zeros"
head -c 4096 /dev/zero | tr '\0' '\377' >"$work/ones"

number=0
bad=0
for file in fuzz/runtime/*.c fuzz/sim/*.c; do
    name=$(basename "$file" .c)
    case $name in empty | "*") continue ;; esac
    number=$((number + 1))
    if said=$("$fuzz/$name" "$work" "fuzz/corpus/$name" 2>&1); then
        echo "ok $number - $name: ${said##*: }"
    else
        bad=$((bad + 1))
        echo "not ok $number - $name"
        echo "$said" | sed 's/^/# /' >&2
    fi
done
echo "1..$number"
[ "$bad" -eq 0 ]
