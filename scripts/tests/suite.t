#!/bin/sh
# suite.t -- a part of libuv's own tests under rewake (scripts/suite), from Debian's source package.
#
# Twenty-five that are quick: timers, threads, sockets, signals, files. A quarter of a minute of two
# processors, most of which compiles them. Without a network it is skipped.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
[ -n "${CI:-}" ] || {
    echo "1..0 # SKIP it downloads a source package; CI=1 scripts/tests/suite.t runs it"
    exit 0
}
run_suite() {
    REWAKE=${REWAKE:-build/rewake} timeout -k 1 300 scripts/suite "$@" >"$tmp/said.txt" 2>&1
}
status=0
run_suite libuv "$tmp/libuv" timer_again timer_order timer_run_once async async_null_cb \
    idle_starvation loop_alive loop_stop loop_backend_timeout thread_mutex thread_rwlock \
    thread_create semaphore_2 barrier_2 condvar_1 condvar_3 threadpool_queue_work_simple \
    threadpool_multiple_event_loops tcp_write_after_connect tcp_try_write udp_connect \
    we_get_signal poll_nested_epoll fs_file_async embed || status=$?
if grep -q 'cannot be downloaded' "$tmp/said.txt"; then
    echo "1..0 # SKIP $(head -n 1 "$tmp/said.txt")"
    exit 0
fi
cp "$tmp/said.txt" "$tmp/.said"
same "the tests of libuv pass, or are refused: status" "$status" 0
grep '|' "$tmp/said.txt" >"$tmp/table.txt"
same "those that do not pass" "$(grep -v '|pass|$' "$tmp/table.txt")" ''
# One that fails natively, as on a busy machine, has no line.
ok "at least twenty of them ran" test "$(grep -c '|pass|$' "$tmp/table.txt")" -ge 20

# One that is refused, and one of which no line is expected.
run_suite libuv "$tmp/libuv" pipe_sendmsg no_such_test
ok "what is not simulated is refused by name" \
    grep -q '^pipe_sendmsg|refused|.*sendmsg with control data' "$tmp/said.txt"
not_ok "a test that is none has no line" grep -q '^no_such_test' "$tmp/said.txt"
done_testing
