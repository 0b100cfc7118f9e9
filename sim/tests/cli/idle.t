#!/bin/sh
# idle.t -- a program whose threads all wait for the outside passes, and the report says that it was
# idle; one that waits for itself is a deadlock, and a lost wake-up is found in a server too.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
source=$root/sim/tests/cli/lib/program/idle.c
ok "it builds" "$cc" -D_GNU_SOURCE -O0 -g -w -o idle "$source" -pthread

for how in accept epoll poll datagram sigwait pause reloads pool; do
    same "$how: status" "$(status run ./idle --runs 50 --fresh --db i.db -- $how)" 0
    ok "$how: it is said" grep -q '50 pass  50 of these idle' out.txt
done
same "the database names them" \
    "$(sqlite3 i.db 'SELECT DISTINCT o.name FROM runs JOIN oracles o USING (oracle)')" idle
rewake run ./idle --runs 50 --fresh --json --db i.db -- pool >i.json
ok "JSON counts them" grep -q '"verdicts":{"pass":50},"idle":50' i.json

same "a ring of locks beside a listener: status" \
    "$(status run ./idle --runs 50 --record none -- crossed)" 1
ok "a ring of locks beside a listener" grep -q '^FAIL idle: deadlock' out.txt
same "a thread sends the signal before another sleeps: status" \
    "$(status run ./idle --runs 200 --record none -- kicked)" 1
ok "a thread sends the signal before another sleeps" grep -q '^FAIL idle: deadlock' out.txt
same "one that another signal may wake: status" \
    "$(status run ./idle --runs 200 --record none -- served)" 0
ok "one that another signal may wake" grep -Eq ' 200 pass  [1-9][0-9]* of these idle' out.txt
same "no one rings the doorbell: status" \
    "$(status run ./idle --runs 50 --record none -- doorbell)" 1
ok "no one rings the doorbell" grep -q '^FAIL idle: deadlock' out.txt
same "a server that loses a wake: status" \
    "$(status run ./idle --runs 1000 --record none -- lost)" 1
ok "a server that loses a wake" grep -q '^FAIL idle: lost-wakeup' out.txt
done_testing
