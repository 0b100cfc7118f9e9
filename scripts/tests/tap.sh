# tap.sh -- the few words in which tests of programs are written; prove reads what they say.
#
#   . scripts/tests/tap.sh
#   ok "a claim" command arg...       passes when the command does
#   not_ok "a claim" command arg...   passes when it fails
#   same "a claim" ACTUAL EXPECTED    passes when the two texts are one
#   done_testing                      last line
#
# $tmp is a folder of this test's own. What a failed command printed goes to stderr.
#
# SPDX-License-Identifier: Apache-2.0
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tap_number=0
tap_failed=0

# tap_say STATUS CLAIM
tap_say() {
    tap_number=$((tap_number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_number - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_number - $2"
        sed 's/^/# /' "$tmp/.said" >&2
    fi
}

ok() {
    tap_claim=$1
    shift
    tap_status=0
    "$@" >"$tmp/.said" 2>&1 || tap_status=1
    tap_say "$tap_status" "$tap_claim"
}

not_ok() {
    tap_claim=$1
    shift
    tap_status=1
    "$@" >"$tmp/.said" 2>&1 || tap_status=0
    tap_say "$tap_status" "$tap_claim"
}

same() {
    tap_status=0
    [ "$2" = "$3" ] || tap_status=1
    printf 'is:       %s\nexpected: %s\n' "$2" "$3" >"$tmp/.said"
    tap_say "$tap_status" "$1"
}

done_testing() {
    echo "1..$tap_number"
    [ "$tap_failed" -eq 0 ]
    exit
}
