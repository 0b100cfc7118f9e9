/*
 * cases_test.c -- what the kernel does, case by case, among what the fake host may do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/host/sys.h"
#include "sim/tests/host/kernel/arm.h"

/* clang-format off */

#define IN SIM_FD_IN
#define OUT SIM_FD_OUT
#define RDHUP SIM_FD_RDHUP
#define EDGE SIM_FD_EDGE
#define ONESHOT SIM_FD_ONESHOT
#define EXCLUSIVE SIM_FD_EXCLUSIVE

#define EPOLL() {KERNEL_EPOLL, 0, 0, 0}
#define PIPE() {KERNEL_PIPE, 0, 0, 0}
#define STREAM() {KERNEL_STREAM, 0, 0, 0}
#define DGRAM() {KERNEL_DGRAM, 0, 0, 0}
#define EVENT(count, semaphore) {KERNEL_EVENT, count, semaphore, 0}
#define TIMER() {KERNEL_TIMER, 0, 0, 0}
#define SET(fd, first_ms, interval_ms) {KERNEL_SET, fd, first_ms, interval_ms}
#define ADD(epoll, fd, events) {KERNEL_ADD, epoll, fd, events}
#define MODIFY(epoll, fd, events) {KERNEL_MODIFY, epoll, fd, events}
#define REMOVE(epoll, fd) {KERNEL_REMOVE, epoll, fd, 0}
#define WAIT(epoll) {KERNEL_WAIT, epoll, 8, 0}
#define WAIT_ONE(epoll) {KERNEL_WAIT, epoll, 1, 0}
#define WAIT_MS(epoll, ms) {KERNEL_WAIT, epoll, 8, ms}
#define POLL(fd, events) {KERNEL_POLL, fd, events, 0}
#define READ(fd, size) {KERNEL_READ, fd, size, 0}
#define PEEK(fd, size) {KERNEL_PEEK, fd, size, 0}
#define WRITE(fd, size) {KERNEL_WRITE, fd, size, 0}
#define POST(fd, value) {KERNEL_POST, fd, 0, value}
#define SHUTDOWN(fd, how) {KERNEL_SHUTDOWN, fd, how, 0}
#define DUP(fd) {KERNEL_DUP, fd, 0, 0}
#define DUP_TO(fd, to) {KERNEL_DUP_TO, fd, to, 0}
#define CLOSE(fd) {KERNEL_CLOSE, fd, 0, 0}
#define ERROR(fd) {KERNEL_ERROR, fd, 0, 0}
#define READABLE(fd) {KERNEL_READABLE, fd, 0, 0}
#define SLEEP(ms) {KERNEL_SLEEP, ms, 0, 0}
#define SOCKET(kind) {KERNEL_SOCKET, KERNEL_##kind, 0, 0}
#define BIND(fd, address) {KERNEL_BIND, fd, address, 0}
#define LISTEN(fd, backlog) {KERNEL_LISTEN, fd, backlog, 0}
#define CONNECT(fd, address) {KERNEL_CONNECT, fd, address, 0}
#define ACCEPT(fd) {KERNEL_ACCEPT, fd, 0, 0}
#define ACCEPT_FULL(fd) {KERNEL_ACCEPT_FULL, fd, 0, 0}
#define SEND_TO(fd, address, size) {KERNEL_SEND_TO, fd, address, size}
#define SETTLE() {KERNEL_SETTLE, 0, 0, 0}
#define FILL(fd, size) {KERNEL_FILL, fd, size, 0}
#define DRAIN(fd) {KERNEL_DRAIN, fd, 0, 0}

/* The program, in both worlds. */
#define COMPARE(...) \
    static const struct kernel_step steps[] = {__VA_ARGS__}; \
    kernel_check(steps, sizeof(steps) / sizeof(steps[0]), __func__)

/* clang-format on */

/* ---- Triggering. ----------------------------------------------------------------------------- */

TEST(kernel_level_is_reported_while_it_holds)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN), WAIT(0), WRITE(2, 5), WAIT(0), WAIT(0), READ(1, 3),
            WAIT(0), READ(1, 8), WAIT(0), READ(1, 8));
}

TEST(kernel_edge_is_reported_once_for_each_write)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN | EDGE), WRITE(2, 5), WAIT(0), WAIT(0), WRITE(2, 5),
            WAIT(0), READ(1, 3), WAIT(0), READ(1, 100), WAIT(0), WRITE(2, 1), WAIT(0));
}

TEST(kernel_edge_reports_what_holds_when_it_is_added)
{
    COMPARE(EPOLL(), PIPE(), WRITE(2, 5), ADD(0, 1, IN | EDGE), WAIT(0), WAIT(0));
}

TEST(kernel_edge_is_dropped_when_all_was_read_before)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN | EDGE), WRITE(2, 5), READ(1, 5), WAIT(0), WRITE(2, 1),
            WAIT(0));
}

TEST(kernel_oneshot_is_silent_until_it_is_modified)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN | ONESHOT), WRITE(2, 5), WAIT(0), WAIT(0), WRITE(2, 5),
            WAIT(0), MODIFY(0, 1, IN | ONESHOT), WAIT(0), WAIT(0), CLOSE(2), WAIT(0),
            MODIFY(0, 1, 0), WAIT(0));
}

TEST(kernel_order_is_that_of_becoming_ready)
{
    COMPARE(EPOLL(), PIPE(), PIPE(), PIPE(), ADD(0, 1, IN), ADD(0, 3, IN), ADD(0, 5, IN),
            WRITE(6, 1), WRITE(2, 1), WRITE(4, 1), WAIT(0), WAIT(0), WAIT_ONE(0), WAIT_ONE(0),
            WAIT_ONE(0), WAIT(0));
}

TEST(kernel_modify_reports_again)
{
    COMPARE(EPOLL(), EVENT(1, 0), ADD(0, 1, IN | EDGE), WAIT(0), WAIT(0), MODIFY(0, 1, IN | EDGE),
            WAIT(0), MODIFY(0, 1, IN | OUT | EDGE), WAIT(0), WAIT(0));
}

/* ---- Whose registration it is. --------------------------------------------------------------- */

TEST(kernel_duplicate_is_registered_apart)
{
    COMPARE(EPOLL(), PIPE(), DUP(1), ADD(0, 1, IN), ADD(0, 3, IN), ADD(0, 1, IN), WRITE(2, 1),
            WAIT(0), REMOVE(0, 3), WAIT(0), REMOVE(0, 3));
}

TEST(kernel_closed_number_is_reported_while_a_duplicate_is_open)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN), DUP(1), CLOSE(1), WRITE(2, 1), WAIT(0), REMOVE(0, 1),
            MODIFY(0, 1, IN), REMOVE(0, 3), WAIT(0), CLOSE(3), WAIT(0));
}

TEST(kernel_reused_number_is_another_registration)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN), DUP(1), CLOSE(1), EVENT(1, 0), ADD(0, 1, IN),
            WRITE(2, 1), WAIT(0), REMOVE(0, 1), WAIT(0), CLOSE(3), WAIT(0));
}

TEST(kernel_close_of_the_last_number_ends_it)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN), WRITE(2, 1), CLOSE(1), WAIT(0), PIPE(), WAIT(0),
            ADD(0, 1, IN));
}

TEST(kernel_dup_to_closes_what_was_there)
{
    COMPARE(EPOLL(), PIPE(), EVENT(1, 0), ADD(0, 3, IN), WAIT(0), DUP_TO(1, 3), WAIT(0),
            ADD(0, 3, IN), WRITE(2, 1), WAIT(0), DUP_TO(3, 3), DUP_TO(9, 3), DUP_TO(3, 7),
            READ(7, 1), WAIT(0));
}

TEST(kernel_errors_of_epoll_ctl)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 0, IN), ADD(1, 2, IN), ADD(0, 9, IN), ADD(9, 1, IN),
            MODIFY(0, 1, IN), REMOVE(0, 1), ADD(0, 1, IN), ADD(0, 1, IN), WAIT(1), WAIT(9),
            {KERNEL_WAIT, 0, 0, 0});
}

/* ---- The end. -------------------------------------------------------------------------------- */

TEST(kernel_hup_and_err_are_reported_unasked)
{
    COMPARE(EPOLL(), PIPE(), PIPE(), ADD(0, 1, 0), ADD(0, 4, 0), WAIT(0), CLOSE(2), WAIT(0),
            CLOSE(3), WAIT(0), WRITE(4, 1), READ(1, 1), WAIT(0));
}

TEST(kernel_pipe_is_read_to_its_end)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN), WRITE(2, 5), CLOSE(2), WAIT(0), READ(1, 3), WAIT(0),
            READ(1, 3), READ(1, 3), WAIT(0), POLL(1, IN));
}

TEST(kernel_rdhup_of_a_half_closed_stream)
{
    COMPARE(EPOLL(), STREAM(), ADD(0, 1, IN | RDHUP | EDGE), ADD(0, 2, IN | OUT | RDHUP | EDGE),
            WAIT(0), WRITE(1, 5), SHUTDOWN(1, 2), WAIT(0), WRITE(1, 1), READ(2, 9), READ(2, 9),
            WRITE(2, 3), WAIT(0), READ(1, 9), READ(1, 9), SHUTDOWN(2, 2), WAIT(0), READ(1, 9),
            POLL(1, IN), POLL(2, OUT));
}

TEST(kernel_shutdown_of_reading)
{
    COMPARE(EPOLL(), STREAM(), ADD(0, 1, IN | OUT | RDHUP), ADD(0, 2, IN | OUT | RDHUP),
            WRITE(2, 4), SHUTDOWN(1, 1), WAIT(0), READ(1, 9), READ(1, 9), WRITE(2, 1), WRITE(1, 1),
            READ(2, 9), WAIT(0), SHUTDOWN(1, 2), WAIT(0), SHUTDOWN(9, 2), PIPE(), SHUTDOWN(3, 2));
}

TEST(kernel_close_with_unread_bytes_resets)
{
    COMPARE(EPOLL(), STREAM(), ADD(0, 1, IN | OUT | RDHUP | EDGE), WAIT(0), WRITE(1, 4),
            WRITE(2, 3), CLOSE(2), WAIT(0), READ(1, 2), WRITE(1, 1), READ(1, 9), READ(1, 9),
            READ(1, 9), ERROR(1), WAIT(0));
}

TEST(kernel_socket_error_is_taken_once)
{
    COMPARE(STREAM(), WRITE(0, 4), CLOSE(1), POLL(0, IN), ERROR(0), POLL(0, IN), ERROR(0),
            READ(0, 1), WRITE(0, 1), PIPE(), ERROR(1));
}

TEST(kernel_datagrams_keep_their_limits)
{
    COMPARE(EPOLL(), DGRAM(), ADD(0, 2, IN | EDGE), WRITE(1, 10), WRITE(1, 0), WRITE(1, 7), WAIT(0),
            PEEK(2, 4), READ(2, 4), READ(2, 20), READABLE(2), READ(2, 20), READ(2, 20), CLOSE(2),
            WRITE(1, 3), WRITE(1, 3), POLL(1, IN | OUT), READ(1, 2), WAIT(0));
}

TEST(kernel_datagrams_to_a_closed_peer)
{
    COMPARE(EPOLL(), DGRAM(), ADD(0, 1, OUT | EDGE), WAIT(0), WRITE(2, 8), CLOSE(2), WAIT(0),
            WRITE(1, 7), WAIT(0), READ(1, 2), WRITE(1, 7), SHUTDOWN(1, 3), WRITE(1, 7));
}

TEST(kernel_datagrams_after_shutdown)
{
    COMPARE(DGRAM(), WRITE(0, 3), SHUTDOWN(1, 1), POLL(1, IN | RDHUP), READ(1, 3), READ(1, 3),
            WRITE(0, 3), SHUTDOWN(0, 2), WRITE(0, 3), POLL(0, IN | OUT), SHUTDOWN(0, 3),
            POLL(0, IN | OUT));
}

/* ---- Space. ---------------------------------------------------------------------------------- */

TEST(kernel_full_pipe_counts_pages)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 2, OUT | EDGE), WAIT(0), FILL(2, 4096), WAIT(0), READ(1, 100),
            WAIT(0), WRITE(2, 1), READ(1, 3996), WAIT(0), WRITE(2, 1), WRITE(2, 4096),
            WRITE(2, 4095), WRITE(2, 1), POLL(2, OUT), READABLE(1));
}

TEST(kernel_read_of_a_pipe_that_is_not_full_is_no_edge_for_the_writer)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 2, OUT | EDGE), WAIT(0), WRITE(2, 4096), WRITE(2, 4096),
            WAIT(0), READ(1, 4096), WAIT(0), READ(1, 4096), WAIT(0));
}

TEST(kernel_full_pipe_with_odd_writes)
{
    COMPARE(PIPE(), WRITE(1, 4000), WRITE(1, 100), WRITE(1, 5000), WRITE(1, 60000), WRITE(1, 5000),
            WRITE(1, 90), POLL(1, OUT), READ(0, 4100), WRITE(1, 10), POLL(1, OUT), DRAIN(0),
            POLL(1, OUT), WRITE(1, 100000), READABLE(0), READ(0, 70000));
}

TEST(kernel_full_stream_is_writable_again_below_a_quarter)
{
    COMPARE(EPOLL(), STREAM(), ADD(0, 1, OUT | EDGE), WAIT(0), FILL(1, 1000), WAIT(0),
            READ(2, 1000), WAIT(0), WRITE(1, 1), POLL(1, OUT), DRAIN(2), WAIT(0), POLL(1, OUT),
            WAIT(0));
}

TEST(kernel_read_of_a_stream_is_an_edge_for_the_writer)
{
    COMPARE(EPOLL(), STREAM(), ADD(0, 1, OUT | EDGE), WAIT(0), WRITE(1, 100), WAIT(0), READ(2, 40),
            WAIT(0), READ(2, 60), WAIT(0), PEEK(2, 1), WRITE(1, 5), PEEK(2, 3), WAIT(0),
            READABLE(2));
}

TEST(kernel_write_to_a_full_pipe_is_an_edge)
{
    COMPARE(EPOLL(), PIPE(), ADD(0, 1, IN | EDGE), WRITE(2, 70000), WAIT(0), WAIT(0),
            WRITE(2, 4097), WAIT(0), WRITE(2, 1), WAIT(0));
}

/* ---- eventfd, timerfd. ----------------------------------------------------------------------- */

TEST(kernel_eventfd_overflow)
{
    COMPARE(EPOLL(), EVENT(0, 0), ADD(0, 1, IN | OUT), WAIT(0), POST(1, UINT64_MAX),
            POST(1, UINT64_MAX - 1), WAIT(0), POST(1, 1), POST(1, 0), READ(1, 8), WAIT(0),
            READ(1, 8), POST(1, UINT64_MAX - 2), WAIT(0), POST(1, 2), POST(1, 1), WAIT(0));
}

TEST(kernel_eventfd_semaphore)
{
    COMPARE(EPOLL(), EVENT(3, 1), ADD(0, 1, IN | EDGE), WAIT(0), READ(1, 8), READ(1, 8), WAIT(0),
            POST(1, 2), WAIT(0), READ(1, 8), READ(1, 8), READ(1, 8), READ(1, 8), WAIT(0));
}

TEST(kernel_eventfd_read_is_an_edge_for_out)
{
    COMPARE(EPOLL(), EVENT(0, 0), ADD(0, 1, IN | OUT | EDGE), WAIT(0), POST(1, 1), WAIT(0),
            READ(1, 8), WAIT(0), READ(1, 8), WAIT(0), READ(1, 7), WRITE(1, 7), WRITE(1, 9),
            WRITE(1, 0), READ(1, 0));
}

TEST(kernel_eventfd_zero_is_an_edge)
{
    COMPARE(EPOLL(), EVENT(5, 0), ADD(0, 1, IN | EDGE), WAIT(0), POST(1, 0), WAIT(0), READ(1, 20),
            POST(1, 0), WAIT(0));
}

TEST(kernel_timerfd_expires)
{
    COMPARE(EPOLL(), TIMER(), ADD(0, 1, IN | EDGE), READ(1, 8), SET(1, 5, 0), WAIT(0),
            WAIT_MS(0, 1000), READ(1, 7), READ(1, 8), READ(1, 8), WAIT(0), WRITE(1, 8));
}

TEST(kernel_timerfd_set_forgets_expirations)
{
    COMPARE(EPOLL(), TIMER(), ADD(0, 1, IN), SET(1, 2, 0), SLEEP(10), POLL(1, IN), SET(1, 10000, 0),
            POLL(1, IN), READ(1, 8), SET(1, 1, 0), SLEEP(10), SET(1, 0, 0), WAIT(0), READ(1, 8));
}

TEST(kernel_timerfd_repeats)
{
    COMPARE(EPOLL(), TIMER(), ADD(0, 1, IN | EDGE), SET(1, 100, 100), WAIT_MS(0, 1000), READ(1, 8),
            WAIT(0), WAIT_MS(0, 1000), READ(1, 8));
}

/* ---- epoll in epoll. ------------------------------------------------------------------------- */

TEST(kernel_nested_level)
{
    COMPARE(EPOLL(), EPOLL(), PIPE(), ADD(0, 1, IN), ADD(1, 2, IN), WAIT(0), WRITE(3, 1), WAIT(0),
            WAIT(0), POLL(1, IN), WAIT(1), WAIT(0), READ(2, 1), WAIT(0), WAIT(1), POLL(1, IN));
}

TEST(kernel_nested_edge)
{
    COMPARE(EPOLL(), EPOLL(), PIPE(), ADD(0, 1, IN | EDGE), ADD(1, 2, IN), WRITE(3, 1), WAIT(0),
            WAIT(0), WRITE(3, 1), WAIT(0), WAIT(1), WAIT(0), READ(2, 2), WRITE(3, 1), WAIT(0));
}

TEST(kernel_nested_edge_in_the_inner_one)
{
    COMPARE(EPOLL(), EPOLL(), PIPE(), ADD(0, 1, IN), ADD(1, 2, IN | EDGE), WRITE(3, 1), WAIT(0),
            WAIT(0), WAIT(1), WAIT(0), WRITE(3, 1), WAIT(0), READ(2, 2), WAIT(0), WAIT(1));
}

TEST(kernel_nested_oneshot)
{
    COMPARE(EPOLL(), EPOLL(), EVENT(1, 0), ADD(0, 1, IN | ONESHOT), ADD(1, 2, IN | ONESHOT),
            WAIT(0), WAIT(0), MODIFY(0, 1, IN | EDGE), WAIT(0), WAIT(1), MODIFY(1, 2, IN), WAIT(0));
}

TEST(kernel_nested_limits)
{
    COMPARE(EPOLL(), EPOLL(), EPOLL(), EPOLL(), EPOLL(), EPOLL(), ADD(0, 1, IN), ADD(1, 0, IN),
            ADD(1, 2, IN), ADD(2, 0, IN), ADD(2, 3, IN), ADD(3, 4, IN), ADD(4, 5, IN),
            ADD(5, 0, IN), ADD(0, 2, IN), ADD(0, 1, IN));
}

TEST(kernel_two_instances)
{
    COMPARE(EPOLL(), EPOLL(), PIPE(), ADD(0, 2, IN | EDGE), ADD(1, 2, IN | EDGE), WRITE(3, 1),
            WAIT(0), WAIT(1), WAIT(0), CLOSE(0), WRITE(3, 1), WAIT(1));
}

TEST(kernel_closed_instance_is_forgotten)
{
    COMPARE(EPOLL(), EPOLL(), EVENT(1, 0), ADD(0, 1, IN), ADD(1, 2, IN), WAIT(0), CLOSE(1), WAIT(0),
            EPOLL(), ADD(0, 1, IN), WAIT(0), READ(1, 8), WRITE(1, 8));
}

TEST(kernel_exclusive_limits)
{
    COMPARE(EPOLL(), EPOLL(), PIPE(), ADD(0, 2, IN | EXCLUSIVE), ADD(1, 2, IN | EXCLUSIVE),
            MODIFY(0, 2, IN), MODIFY(0, 2, IN | EXCLUSIVE), ADD(0, 3, IN | EXCLUSIVE | ONESHOT),
            ADD(0, 1, IN | EXCLUSIVE), ADD(0, 3, IN | EXCLUSIVE | RDHUP), WRITE(3, 1), WAIT(0),
            WAIT(1), WAIT(0));
}

/* ---- TCP. ------------------------------------------------------------------------------------ */

/* A listener is 0, an accepted connection 2, its peer 1. */
#define CONNECTION(kind) \
    SOCKET(kind), BIND(0, 0), LISTEN(0, 5), SOCKET(kind), CONNECT(1, 0), SETTLE(), ACCEPT(0), \
            SETTLE()

TEST(kernel_tcp_connect_is_refused)
{
    COMPARE(SOCKET(TCP), POLL(0, IN | OUT), CONNECT(0, 1), SETTLE(), POLL(0, IN | OUT | RDHUP),
            ERROR(0), ERROR(0), POLL(0, IN | OUT | RDHUP), WRITE(0, 1), READ(0, 1));
}

TEST(kernel_tcp_connect_reports_its_error_once)
{
    COMPARE(SOCKET(TCP), CONNECT(0, 1), SETTLE(), READ(0, 1), READ(0, 1), WRITE(0, 1), ERROR(0),
            CONNECT(0, 1), SETTLE(), CONNECT(0, 1), SETTLE(), CONNECT(0, 1), SETTLE(), WRITE(0, 1),
            WRITE(0, 1));
}

TEST(kernel_tcp_connection)
{
    COMPARE(EPOLL(), SOCKET(TCP), BIND(1, 0), LISTEN(1, 5), ADD(0, 1, IN | OUT), WAIT(0), ACCEPT(1),
            SOCKET(TCP), ADD(0, 2, IN | OUT | RDHUP | EDGE), WAIT(0), CONNECT(2, 0), SETTLE(),
            WAIT(0), CONNECT(2, 0), CONNECT(2, 0), ERROR(2), ACCEPT(1), WAIT(0),
            ADD(0, 3, IN | OUT | RDHUP | EDGE), WAIT(0), WRITE(2, 10), SETTLE(), WAIT(0),
            READ(3, 4), READABLE(3), READ(3, 20), READ(3, 20), WAIT(0));
}

TEST(kernel_tcp_half_close)
{
    COMPARE(CONNECTION(TCP), EPOLL(), ADD(3, 1, IN | OUT | RDHUP | EDGE),
            ADD(3, 2, IN | OUT | RDHUP | EDGE), WAIT(3), WRITE(1, 5), SHUTDOWN(1, 2), SETTLE(),
            WAIT(3), READ(2, 9), READ(2, 9), WRITE(2, 3), SETTLE(), WAIT(3), READ(1, 9), READ(1, 9),
            WRITE(1, 1), CLOSE(2), SETTLE(), WAIT(3), READ(1, 9), POLL(1, IN | OUT));
}

TEST(kernel_tcp_close_with_unread_bytes_resets)
{
    COMPARE(CONNECTION(TCP), WRITE(1, 5), SETTLE(), CLOSE(2), SETTLE(), POLL(1, IN | OUT | RDHUP),
            READ(1, 1), READ(1, 1), WRITE(1, 1), ERROR(1));
}

TEST(kernel_tcp_write_to_a_closed_peer_is_answered_by_a_reset)
{
    COMPARE(CONNECTION(TCP), CLOSE(2), SETTLE(), POLL(1, IN | OUT | RDHUP), WRITE(1, 5), SETTLE(),
            POLL(1, IN | OUT | RDHUP), WRITE(1, 1), WRITE(1, 1), READ(1, 1), ERROR(1));
}

TEST(kernel_tcp_shutdown_of_reading)
{
    COMPARE(CONNECTION(TCP), SHUTDOWN(1, 1), POLL(1, IN | OUT | RDHUP), READ(1, 1), WRITE(1, 2),
            SETTLE(), READ(2, 9), SHUTDOWN(1, 3), SETTLE(), POLL(1, IN | OUT | RDHUP),
            POLL(2, IN | OUT | RDHUP), READ(2, 1));
}

TEST(kernel_accept_without_a_number_keeps_the_connection)
{
    COMPARE(EPOLL(), SOCKET(TCP), BIND(1, 0), LISTEN(1, 5), ADD(0, 1, IN), SOCKET(TCP),
            CONNECT(2, 0), SETTLE(), WAIT(0), ACCEPT_FULL(1), WAIT(0), ACCEPT(1), WAIT(0),
            ACCEPT(1), ACCEPT_FULL(1));
}

TEST(kernel_listener_that_closes_resets_its_queue)
{
    COMPARE(SOCKET(TCP), BIND(0, 0), LISTEN(0, 5), SOCKET(TCP), CONNECT(1, 0), SETTLE(),
            POLL(1, IN | OUT), CLOSE(0), SETTLE(), POLL(1, IN | OUT | RDHUP), READ(1, 1),
            READ(1, 1), SOCKET(TCP), CONNECT(0, 0), SETTLE(), ERROR(0));
}

TEST(kernel_tcp_backlog_that_is_full_keeps_connects_waiting)
{
    COMPARE(SOCKET(TCP), BIND(0, 0), LISTEN(0, 1), SOCKET(TCP), SOCKET(TCP), SOCKET(TCP),
            CONNECT(1, 0), SETTLE(), CONNECT(2, 0), SETTLE(), CONNECT(3, 0), SETTLE(), POLL(1, OUT),
            POLL(2, OUT), POLL(3, OUT), ACCEPT(0), ACCEPT(0), ACCEPT(0));
}

TEST(kernel_calls_on_sockets_in_the_wrong_state)
{
    COMPARE(SOCKET(TCP), ACCEPT(0), SHUTDOWN(0, 2), READ(0, 1), WRITE(0, 1), LISTEN(0, 3),
            CONNECT(0, 1), READ(0, 1), WRITE(0, 1), POLL(0, IN | OUT), SOCKET(UDP), LISTEN(1, 3),
            ACCEPT(1), SHUTDOWN(1, 2), WRITE(1, 1), READ(1, 1), POLL(1, IN | OUT), PIPE(),
            LISTEN(2, 1), ACCEPT(2), ACCEPT(9), BIND(2, 1), BIND(9, 1), CONNECT(2, 1));
}

TEST(kernel_addresses_are_taken_once)
{
    COMPARE(SOCKET(TCP), BIND(0, 0), BIND(0, 1), SOCKET(TCP), BIND(1, 0), SOCKET(UDP), BIND(2, 0),
            SOCKET(UDP), BIND(3, 0), CLOSE(0), BIND(1, 0), SOCKET(UNIX), SOCKET(UNIX), BIND(0, 2),
            BIND(4, 2), BIND(0, 3));
}

/* ---- UDP, and Unix sockets with names. ------------------------------------------------------- */

TEST(kernel_udp_datagrams)
{
    COMPARE(EPOLL(), SOCKET(UDP), BIND(1, 0), ADD(0, 1, IN | OUT | EDGE), SOCKET(UDP), WAIT(0),
            SEND_TO(2, 0, 10), SEND_TO(2, 0, 0), SEND_TO(2, 0, 7), SETTLE(), WAIT(0), READABLE(1),
            READ(1, 4), READ(1, 9), READ(1, 9), READ(1, 9), WRITE(2, 1), CONNECT(2, 0), WRITE(2, 3),
            SETTLE(), READ(1, 9), WAIT(0));
}

TEST(kernel_udp_to_no_socket_is_refused_later)
{
    COMPARE(SOCKET(UDP), CONNECT(0, 1), WRITE(0, 3), SETTLE(), POLL(0, IN | OUT), WRITE(0, 3),
            WRITE(0, 3), SETTLE(), READ(0, 1), READ(0, 1), SOCKET(UDP), SEND_TO(1, 1, 3), SETTLE(),
            POLL(1, IN | OUT));
}

TEST(kernel_unix_connection)
{
    COMPARE(SOCKET(UNIX), CONNECT(0, 0), BIND(0, 0), SOCKET(UNIX), CONNECT(1, 0), LISTEN(0, 2),
            POLL(0, IN | OUT), POLL(1, IN | OUT), CONNECT(1, 0), POLL(1, IN | OUT),
            POLL(0, IN | OUT), WRITE(1, 5), ACCEPT(0), READ(2, 9), WRITE(2, 2), READ(1, 9),
            CONNECT(1, 0), SHUTDOWN(2, 2), READ(1, 1), POLL(1, IN | OUT | RDHUP), CLOSE(2),
            POLL(1, IN | OUT | RDHUP), WRITE(1, 1));
}

TEST(kernel_unix_backlog)
{
    COMPARE(SOCKET(UNIX), BIND(0, 0), LISTEN(0, 1), SOCKET(UNIX), SOCKET(UNIX), SOCKET(UNIX),
            CONNECT(1, 0), CONNECT(2, 0), CONNECT(3, 0), ACCEPT(0), CONNECT(3, 0), CLOSE(0),
            POLL(2, IN | OUT | RDHUP), READ(2, 1), POLL(3, IN | OUT | RDHUP));
}

TEST(kernel_unix_datagrams)
{
    COMPARE(SOCKET(UNIX_DGRAM), BIND(0, 0), SOCKET(UNIX_DGRAM), SEND_TO(1, 1, 3), SEND_TO(1, 0, 3),
            SETTLE(), READ(0, 9), CONNECT(1, 0), WRITE(1, 4), SETTLE(), POLL(0, IN | OUT), CLOSE(0),
            WRITE(1, 4), WRITE(1, 4), POLL(1, IN | OUT));
}
