#!/bin/sh
# completion.t -- what shells offer: their completion functions are driven as the shells do it.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
command -v bash >/dev/null || {
    echo '1..0 # SKIP bash is missing'
    exit 0
}
build_library parts
rewake run canary/lost-wakeup --runs 100 --fail-fast --no-shrink --db c.db >/dev/null
run=$(first_failure c.db)
rewake completion bash >rewake.bash
ok "bash: takes it" bash -n rewake.bash

# offered LINE: what bash offers at the end of that line, one word a line.
cat >drive.bash <<'END'
source ./rewake.bash
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_rewake
printf '%s\n' "${COMPREPLY[@]}"
END
offered() {
    bash drive.bash "$REWAKE $1"
}
offers() {
    offered "$1" >offered.txt
    ok "bash: '$1' offers $2" grep -qxF -e "$2" offered.txt
}

offers 'exp' export
offers 'run --ch' --check-determinism
offers 'query wai' waiting
same "bash: every question" "$(offered 'query ' | grep -c .)" \
    "$(rewake query | grep -c '^[a-z-]*[ \[].*[A-Z]' | awk '{ print $1 - 1 }')"
offers 'query --db c.db line' line
offers "query --db c.db waiting run" "$run"
offers 'export sa' sarif
offers 'export junit canary/li' canary/livelock
offers 'completion ' zsh
offers 'manual ' rewake
offers 'manual expl' explain
offers 'run zoo/tokio-4497/b' zoo/tokio-4497/broken
offers 'run --runs 3 zoo/tokio-4497/b' zoo/tokio-4497/broken
offers 'run ./parts.so parts/r' parts/ring
same "bash: a library has its own only" "$(offered 'run ./parts.so zoo/tokio-4497')" ''
offers 'run ./par' ./parts.so
offers 'run --strategy p' pct
offers 'run --strategy=po' portfolio
offers 'run -O spur' spurious_one_in=
offers 'run -D noi' noise=
offers 'run --record ' none
offers 'replay --db c.db ru' "$run"
# Where bash parts words at colons, what stands before the last one is there already.
offers "replay --db c.db run:" "${run#run:}"
offers 'replay --export c.d' c.db
same "bash: numbers are not offered" "$(offered 'run --runs ')" ''

rewake completion fish >rewake.fish
if command -v fish >/dev/null; then
    # offers_fish LINE WORD
    offers_fish() {
        fish --no-config -c "source rewake.fish; complete -C '$1'" >said.txt 2>&1
        ok "fish: '$1' offers $2" grep -q -e "^$2" said.txt
    }
    PATH="$(dirname "$REWAKE"):$PATH"
    export PATH
    offers_fish 'rewake exp' export
    offers_fish 'rewake run --ch' --check-determinism
    offers_fish 'rewake run --strategy p' pct
    offers_fish 'rewake query wai' waiting
    offers_fish 'rewake run zoo/tokio-4497/b' zoo/tokio-4497/broken
fi

if command -v zsh >/dev/null; then
    rewake completion zsh >_rewake
    ok "zsh: takes it" zsh -n _rewake
    # Without a terminal: what it would ask zsh to offer.
    cat >drive.zsh <<'END'
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- $commands }
words=(${(z)1}) CURRENT=$(( $#words + 1 ))
source ./_rewake
END
    said() {
        zsh -f drive.zsh "rewake $1" >said.txt
        ok "zsh: '$1' offers $2" grep -qF -e "$2" said.txt
    }
    said '' 'export:write what was found'
    said query '1:word:(bounds causes '
    said export ' sarif '
    said completion '1:word:(bash fish zsh )'
    said manual ' query replay report rewake run '
    said run '-O[set an option'
    said run 'spurious_one_in= '
    said run ':NAME:(portfolio '
    said replay '"" "runs" "files"'
fi
done_testing
