/*
 * number_test.c -- descriptors: numbers, flags, pipes, eventfds, waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

/* A wait may always be interrupted. */
#define RETRY(result, call) \
    do { \
        (result) = (call); \
    } while ((result) == -1 && errno == EINTR)

#define FAILS(call, error) \
    do { \
        EXPECT_EQ((call), -1); \
        EXPECT_EQ(errno, error); \
    } while (0)

static void
numbers(void)
{
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    EXPECT_EQ(ends[0], 3);
    EXPECT_EQ(ends[1], 4);
    EXPECT_EQ(fcntl(3, F_GETFD), FD_CLOEXEC);
    EXPECT(fcntl(3, F_GETFL) & O_NONBLOCK);
    EXPECT_EQ(dup(4), 5);
    EXPECT_EQ(fcntl(5, F_GETFD), 0);
    EXPECT_EQ(dup2(3, 9), 9);
    EXPECT_EQ(fcntl(9, F_DUPFD, 7), 7);
    FAILS(dup3(3, 3, 0), EINVAL);
    EXPECT_EQ(close(3), 0);
    FAILS(close(3), EBADF);
    EXPECT_EQ(eventfd(0, 0), 3);
    FAILS(read(55, ends, 1), EBADF);
}

TEST(posix_numbers_are_the_lowest_free_ones)
{
    posix_lab_run(numbers, 5, SIM_VERDICT_PASS);
}

static int ends[2];

static void
writes(void)
{
    struct iovec parts[2] = {{(char[]){"hel"}, 3}, {(char[]){"lo"}, 2}};
    EXPECT_EQ(usleep(100), 0);
    EXPECT_EQ(writev(ends[1], parts, 2), 5);
    EXPECT_EQ(close(ends[1]), 0);
}

static void
reads(void)
{
    char buffer[8] = "";
    size_t used = 0;
    ssize_t size = 0;
    EXPECT_EQ(pipe(ends), 0);
    struct sim_thread *other = posix_lab_spawn(writes);
    while ((size = read(ends[0], buffer + used, sizeof(buffer) - used)) > 0) {
        used += (size_t)size;
    }
    EXPECT_EQ(size, 0);
    EXPECT_EQ(used, 5);
    EXPECT_EQ(memcmp(buffer, "hello", 5), 0);
    posix_lab_join(other);
}

TEST(posix_read_of_a_pipe_waits_for_bytes_and_for_the_end)
{
    posix_lab_run(reads, 50, SIM_VERDICT_PASS);
}

static void
pipe_sizes(void)
{
    static char bytes[8 * 4096];
    EXPECT_EQ(pipe2(ends, O_NONBLOCK), 0);
    EXPECT_EQ(fcntl(ends[0], F_GETPIPE_SZ), 65536);
    EXPECT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 1), 4096);
    EXPECT_EQ(write(ends[1], bytes, 4000), 4000);
    EXPECT_EQ(write(ends[1], "last", 4), 4);
    EXPECT_EQ(write(ends[1], bytes, 92), 92);
    FAILS(write(ends[1], "x", 1), EAGAIN);
    EXPECT_EQ(fcntl(ends[0], F_SETPIPE_SZ, 4 * 4096 + 1), 8 * 4096);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    FAILS(fcntl(ends[1], F_SETPIPE_SZ, 4096), EBUSY);
    EXPECT_EQ(read(ends[0], bytes, sizeof(bytes)), 4097);
    EXPECT_EQ(memcmp(bytes + 4000, "last", 4), 0);
    EXPECT_EQ(bytes[4096], 'x');
    EXPECT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    EXPECT_EQ(fcntl(ends[0], F_GETPIPE_SZ), 4096);
    FAILS(fcntl(ends[1], F_SETPIPE_SZ, 1048577), EPERM);
    FAILS(fcntl(ends[1], F_SETPIPE_SZ, -1), EINVAL);
    int event = eventfd(0, 0);
    FAILS(fcntl(event, F_SETPIPE_SZ, 4096), EBADF);
    FAILS(fcntl(event, F_GETPIPE_SZ), EBADF);
}

TEST(posix_pipe_is_as_large_as_the_program_wants)
{
    posix_lab_run(pipe_sizes, 5, SIM_VERDICT_PASS);
}

static void
enlarge(void)
{
    EXPECT_EQ(usleep(100), 0);
    EXPECT_EQ(fcntl(ends[0], F_SETPIPE_SZ, 8192), 8192);
}

static void
fills(void)
{
    static const char bytes[4096];
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    EXPECT_EQ(write(ends[1], bytes, 4096), 4096);
    struct sim_thread *other = posix_lab_spawn(enlarge);
    EXPECT_EQ(write(ends[1], bytes, 4096), 4096);
    posix_lab_join(other);
}

TEST(posix_write_continues_where_its_pipe_is_enlarged)
{
    posix_lab_run(fills, 20, SIM_VERDICT_PASS);
}

static void
nonblocking(void)
{
    char byte = 'x';
    int on = 1, count = 0;
    eventfd_t value = 0;
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(ioctl(ends[0], FIONBIO, &on), 0);
    FAILS(read(ends[0], &byte, 1), EAGAIN);
    EXPECT_EQ(write(ends[1], "abc", 3), 3);
    EXPECT_EQ(ioctl(ends[0], FIONREAD, &count), 0);
    EXPECT_EQ(count, 3);
    int event = eventfd(2, EFD_NONBLOCK);
    EXPECT_EQ(eventfd_write(event, 3), 0);
    EXPECT_EQ(eventfd_read(event, &value), 0);
    EXPECT_EQ(value, 5);
    FAILS(eventfd_read(event, &value), EAGAIN);
}

TEST(posix_nonblocking_calls_return_at_once)
{
    posix_lab_run(nonblocking, 20, SIM_VERDICT_PASS);
}

static void
broken(void)
{
    EXPECT(signal(SIGPIPE, SIG_IGN) == SIG_DFL);
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(close(ends[0]), 0);
    FAILS(write(ends[1], "x", 1), EPIPE);
}

TEST(posix_write_to_a_pipe_without_reader_is_epipe)
{
    posix_lab_run(broken, 5, SIM_VERDICT_PASS);
}

static void
killed(void)
{
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(close(ends[0]), 0);
    (void)!write(ends[1], "x", 1);
    EXPECT(false);
}

TEST(posix_sigpipe_without_handler_ends_the_program)
{
    posix_lab_run(killed, 1, SIM_VERDICT_CRASH);
    EXPECT(strstr(posix_lab_message(), "SIGPIPE") != NULL);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static void
rings(void)
{
    EXPECT_EQ(eventfd_write(ends[0], 1), 0);
}

static void
waits_by_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
    eventfd_t value = 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ends[0] = eventfd(0, EFD_NONBLOCK);
    EXPECT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), 0);
    FAILS(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), EEXIST);
    EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
    int count = 0;
    RETRY(count, epoll_wait(epoll, &event, 1, 3));
    EXPECT_EQ(count, 0);
    struct sim_thread *other = posix_lab_spawn(rings);
    RETRY(count, epoll_wait(epoll, &event, 1, -1));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(event.data.u64, 77);
    EXPECT_EQ(eventfd_read(ends[0], &value), 0);
    posix_lab_join(other);
    FAILS(epoll_pwait2(epoll, &event, 1, NULL, NULL), ENOSYS);
}

TEST(posix_epoll_wait_waits_for_another_thread)
{
    posix_lab_run(waits_by_epoll, 100, SIM_VERDICT_PASS);
}

static void
waits_by_poll_and_select(void)
{
    fd_set in;
    struct timeval soon = {0, 2000};
    EXPECT_EQ(pipe(ends), 0);
    struct pollfd polls[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
    int count = 0;
    RETRY(count, poll(polls, 1, 5));
    EXPECT_EQ(count, 0);
    RETRY(count, poll(polls, 2, -1));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(polls[0].revents, 0);
    EXPECT_EQ(polls[1].revents, POLLOUT);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    FD_ZERO(&in);
    FD_SET(ends[0], &in);
    EXPECT_EQ(select(ends[0] + 1, &in, NULL, NULL, &soon), 1);
    EXPECT(FD_ISSET(ends[0], &in));
    polls[1].fd = 77;
    EXPECT_EQ(poll(polls, 2, -1), 2);
    EXPECT_EQ(polls[1].revents, POLLNVAL);
}

TEST(posix_poll_and_select_report_what_is_ready)
{
    posix_lab_run(waits_by_poll_and_select, 20, SIM_VERDICT_PASS);
}

static void
polls_without_waiting(void)
{
    struct itimerspec second = {.it_value = {1, 0}};
    uint64_t expired = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct pollfd poll_timer = {timer, POLLIN, 0};
    EXPECT_EQ(timerfd_settime(timer, 0, &second, NULL), 0);
    while (poll(&poll_timer, 1, 0) == 0) {
    }
    EXPECT_EQ(read(timer, &expired, sizeof(expired)), 8);
    EXPECT_EQ(expired, 1);
}

TEST(posix_polls_in_a_row_get_to_a_timer)
{
    posix_lab_run(polls_without_waiting, 5, SIM_VERDICT_PASS);
}

static void
pair(void)
{
    int both[2];
    char buffer[4];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    EXPECT_EQ(send(both[0], "abcd", 4, MSG_NOSIGNAL), 4);
    EXPECT_EQ(recv(both[1], buffer, 4, MSG_PEEK | MSG_WAITALL), 4);
    EXPECT_EQ(recv(both[1], buffer, 4, MSG_WAITALL), 4);
    FAILS(recv(both[1], buffer, 4, MSG_DONTWAIT), EAGAIN);
    EXPECT_EQ(shutdown(both[0], SHUT_WR), 0);
    EXPECT_EQ(recv(both[1], buffer, 4, 0), 0);
    EXPECT_EQ(write(both[1], "x", 1), 1);
}

TEST(posix_a_pair_has_two_halves)
{
    posix_lab_run(pair, 20, SIM_VERDICT_PASS);
}

static void
stuck(void)
{
    char byte;
    EXPECT_EQ(pipe(ends), 0);
    (void)!read(ends[0], &byte, 1);
}

TEST(posix_a_read_that_nothing_can_end_is_a_deadlock)
{
    posix_lab_run(stuck, 2, SIM_VERDICT_DEADLOCK);
    EXPECT(strstr(posix_lab_message(), "main") != NULL);
}
