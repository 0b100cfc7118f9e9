#!/bin/sh
# posix.t -- the table of sim/docs/calls.md has every call of sim/posix/calls.h, and no
# other.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# names LETTERS: of the entries in these lists; the name is the second word, or the only one.
names() {
    sed -n "/define SIM_POSIX_/,\$s/[A-Z]([^,()]*, \([a-z_A-Z0-9]*\),.*/&\n@\1/p" \
        "$root/sim/posix/calls.h" | sed -n 's/^@//p'
    grep -oE '[VRFN]\([a-z_0-9]+[,)]' "$root/sim/posix/calls.h" | sed 's/..//; s/[,)]$//'
}
{
    names
    echo syscall
} | grep -vxE 'name|alias' | sort -u >listed.txt
sed -n '/^| threads/q; /^| what | calls/,$s/^| [^|]* | \([^|]*\) |.*/\1/p' \
    "$root/sim/docs/calls.md" |
    grep -oE '`[a-z_A-Z0-9]+`' | tr -d '`' | sort -u >table.txt
ok "there are many" test "$(wc -l <listed.txt)" -gt 250
same "every call is in the page" "$(comm -23 listed.txt table.txt | tr '\n' ' ')" ""
same "... and no other" "$(comm -13 listed.txt table.txt | tr '\n' ' ')" ""
done_testing
