#!/bin/sh
# manual.t -- `rewake manual` and `rewake completion`: both have the options of `--help`.
#
# scripts/tests/install.t renders the pages, and loads what is installed into the shells.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

options() {
    grep -o -- '--[a-z][a-z-]*' | LC_ALL=C sort -u
}
commands=$(rewake help | sed -n 's/^  rewake \([a-z]*\) .*/\1/p')
ok "there are commands" test "$(echo $commands | wc -w)" -ge 15

# ---- Pages. ----
for command in $commands; do
    rewake manual "$command" | sed 's/\\//g' | options >page.txt
    rewake "$command" --help | sed 1d | options >help.txt
    same "the page of $command has all options" "$(LC_ALL=C comm -13 page.txt help.txt)" ''
done
rewake manual >index.txt
for command in $commands; do
    ok "the first page names $command" grep -q "$command" index.txt
done
refused "no such page" 2 manual no-such-command
if command -v scdoc >/dev/null; then
    ok "scdoc takes it" sh -c "'$REWAKE' manual run | scdoc"
else
    echo "# not rendered: scdoc is missing"
fi

# ---- Completion. ----
rewake completion bash >bash.txt
ok "bash can read it" bash -n bash.txt
rewake completion zsh >zsh.txt
rewake completion fish | sed 's/ -l \([a-z-]*\)/ --\1/g' >fish.txt
for shell in bash zsh fish; do
    rewake run --help | sed '1d; /^Options of the runs/,$d' | grep '^  ' |
        grep -o -- '^  [ -][a-zA-Z,]* *--[a-z-]*' | options >help.txt
    options <$shell.txt >known.txt
    same "$shell knows all options of run" "$(LC_ALL=C comm -13 known.txt help.txt)" ''
done
refused "no such shell" 2 completion tcsh
done_testing
