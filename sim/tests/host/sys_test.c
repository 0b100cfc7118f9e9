/*
 * sys_test.c -- system calls that block, and what the kernel arm (kernel/) does not compare.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/sys.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "sim/host/sys_inet.h"
#include "sim/tests/host/host_lab.h"

struct fixture {
    struct sim_fds *fds;
    int fd[4];
    char bytes[100000];
};

static struct fixture *
fixture_new(struct sim_world *world)
{
    struct fixture *fixture = sim_new(world, struct fixture);
    fixture->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    sim_set_state(world, fixture);
    return fixture;
}

/* A scenario of two loops. */
#define SCENARIO(identifier, open, first, second) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        struct fixture *fixture = fixture_new(world); \
        open; \
        (void)sim_loop_new(world, "first", first, fixture); \
        (void)sim_loop_new(world, "second", second, fixture); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "Two loops make system calls.", \
            .setup = identifier##_setup, \
            .profile = SIM_PROFILE_FD}

static int64_t
get(struct fixture *fixture, int fd, size_t size)
{
    return sim_sys_read(fixture->fds, fd, fixture->bytes, size, 0, RT_HERE);
}

static int64_t
put(struct fixture *fixture, int fd, size_t size)
{
    static const char zeros[sizeof(fixture->bytes)];
    return sim_sys_write(fixture->fds, fd, zeros, size, 0, RT_HERE);
}

/* ---- Blocking reads and writes. -------------------------------------------------------------- */

static void
write_late(struct sim_world *world, void *argument)
{
    sim_sleep(world, 2 * MS);
    EXPECT_EQ(put(argument, 4, 5), 5);
}

static void
read_early(struct sim_world *world, void *argument)
{
    int64_t size = 0;
    while (size < 5) {
        int64_t moved = get(argument, 3, 10);
        EXPECT(moved > 0);
        size += moved;
    }
    EXPECT_EQ(size, 5);
    EXPECT(sim_now(world) >= 2 * MS);
}

SCENARIO(reader_waits, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), read_early,
        write_late);

TEST(sys_read_blocks_until_there_is_something)
{
    host_lab_pass(&reader_waits, 40);
}

static void
write_much(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    EXPECT_EQ(put(fixture, 4, 90000), 90000);
    EXPECT_EQ(sim_sys_close(fixture->fds, 4), 0);
}

static void
read_to_end(struct sim_world *world, void *argument)
{
    int64_t size = 0;
    int64_t moved = 0;
    (void)world;
    while ((moved = get(argument, 3, 30000)) > 0) {
        size += moved;
    }
    EXPECT_EQ(moved, 0);
    EXPECT_EQ(size, 90000);
}

SCENARIO(writer_waits, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), write_much,
        read_to_end);

TEST(sys_write_blocks_until_all_is_written)
{
    host_lab_pass(&writer_waits, 40);
}

static const struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = 9};

static void
send_through_little(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    int fd = sim_sys_socket(fixture->fds, AF_INET, SOCK_STREAM);
    EXPECT_EQ(sim_sys_set_buffer(fixture->fds, fd, SIM_SYS_SHUT_WRITE, 1), 0);
    EXPECT_EQ(sim_sys_connect(
                      fixture->fds, fd, (const struct sockaddr *)&port, sizeof(port), RT_HERE),
            0);
    EXPECT_EQ(put(fixture, fd, 90000), 90000);
    EXPECT_EQ(sim_sys_close(fixture->fds, fd), 0);
}

static void
receive_through_little(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    int fd = sim_sys_accept(fixture->fds, 3, RT_HERE);
    EXPECT_EQ(sim_sys_set_buffer(fixture->fds, fd, SIM_SYS_SHUT_READ, 0), 0);
    (void)world;
    int64_t size = 0;
    int64_t moved = 0;
    while ((moved = get(fixture, fd, 30000)) > 0) {
        size += moved;
    }
    EXPECT_EQ(size, 90000);
}

static void
listen_at(struct fixture *fixture)
{
    EXPECT_EQ(sim_sys_socket(fixture->fds, AF_INET, SOCK_STREAM), 3);
    EXPECT_EQ(sim_sys_bind(fixture->fds, 3, (const struct sockaddr *)&port, sizeof(port)), 0);
    EXPECT_EQ(sim_sys_listen(fixture->fds, 3, 1), 0);
}

SCENARIO(little_room, listen_at(fixture), send_through_little, receive_through_little);

TEST(sys_buffer_has_a_least_size)
{
    host_lab_pass(&little_room, 40);
}

static void
write_into_nothing(struct sim_world *world, void *argument)
{
    (void)world;
    int64_t moved = put(argument, 4, 90000);
    EXPECT(moved == -EPIPE || (moved > 0 && moved < 90000));
}

static void
close_reader(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    sim_sleep(world, MS);
    EXPECT_EQ(sim_sys_close(fixture->fds, 3), 0);
}

SCENARIO(reader_leaves, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0),
        write_into_nothing, close_reader);

TEST(sys_write_that_blocks_ends_with_its_reader)
{
    host_lab_pass(&reader_leaves, 40);
}

/* The description outlives its number while a call is blocked on it. */
static void
read_closed(struct sim_world *world, void *argument)
{
    (void)world;
    EXPECT_EQ(get(argument, 3, 1), 1);
}

static void
close_number_then_write(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    sim_sleep(world, MS);
    EXPECT_EQ(sim_sys_close(fixture->fds, 3), 0);
    EXPECT_EQ(put(fixture, 4, 1), 1);
}

SCENARIO(number_closed, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), read_closed,
        close_number_then_write);

TEST(sys_read_keeps_a_description_whose_number_is_closed)
{
    host_lab_pass(&number_closed, 40);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static void
wait_nested(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct sim_fd_event event;
    (void)world;
    EXPECT_EQ(sim_sys_epoll_add(fixture->fds, 3, 4, SIM_FD_IN, 4), 0);
    EXPECT_EQ(sim_sys_epoll_add(fixture->fds, 4, 5, SIM_FD_IN | SIM_FD_EDGE, 5), 0);
    EXPECT_EQ(sim_sys_epoll_wait(fixture->fds, 3, &event, 1, SIM_NEVER, RT_HERE), 1);
    EXPECT_EQ(event.data, 4);
    EXPECT_EQ(sim_sys_epoll_wait(fixture->fds, 4, &event, 1, SIM_NEVER, RT_HERE), 1);
    EXPECT_EQ(event.data, 5);
}

static void
post(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    uint64_t one = 1;
    sim_sleep(world, MS);
    EXPECT_EQ(sim_sys_write(fixture->fds, 5, &one, sizeof(one), 0, RT_HERE), 8);
}

static void
open_nested(struct fixture *fixture)
{
    EXPECT_EQ(sim_sys_epoll(fixture->fds, "outer"), 3);
    EXPECT_EQ(sim_sys_epoll(fixture->fds, "inner"), 4);
    EXPECT_EQ(sim_sys_eventfd(fixture->fds, "event", 0, false), 5);
}

SCENARIO(waits_nested, open_nested(fixture), wait_nested, post);

TEST(sys_wait_in_an_outer_instance_ends_by_an_inner_event)
{
    host_lab_pass(&waits_nested, 40);
}

static void
poll_both(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct sim_sys_poll polls[] = {{3, SIM_FD_IN, 0}, {-1, SIM_FD_IN, 9}, {5, SIM_FD_IN, 0}};
    int ready = sim_sys_poll(fixture->fds, polls, 3, MS / 2, RT_HERE);
    EXPECT(ready == 0 || sim_now(world) >= MS); /* A slow step. */
    EXPECT(sim_now(world) >= MS / 2);
    EXPECT_EQ(sim_sys_poll(fixture->fds, polls, 3, SIM_NEVER, RT_HERE), 1);
    EXPECT_EQ(polls[0].ret_events, 0);
    EXPECT_EQ(polls[1].ret_events, 0);
    EXPECT_EQ(polls[2].ret_events, SIM_FD_IN);
    polls[0].fd = 77;
    EXPECT_EQ(sim_sys_poll(fixture->fds, polls, 3, SIM_NEVER, RT_HERE), 2);
    EXPECT_EQ(polls[0].ret_events, SIM_SYS_INVALID);
}

SCENARIO(polls_both, open_nested(fixture), poll_both, post);

TEST(sys_poll_waits_for_any_and_for_time)
{
    host_lab_pass(&polls_both, 40);
}

/* ---- Lost wake-ups, and calls that cannot wait. ---------------------------------------------- */

static void
read_for_ever(struct sim_world *world, void *argument)
{
    (void)world;
    (void)get(argument, 3, 1);
}

static void
do_nothing(struct sim_world *world, void *argument)
{
    (void)world;
    (void)argument;
}

SCENARIO(no_writer, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), read_for_ever,
        do_nothing);

TEST(sys_read_without_a_writer_is_a_deadlock)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_EQ(lab_judge(&lab, &no_writer, 1, false).verdict, SIM_VERDICT_DEADLOCK);
    lab_fini(&lab);
}

SCENARIO(blocks_in_setup, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0);
         (void)get(fixture, 3, 1), do_nothing, do_nothing);

TEST(sys_call_that_blocks_outside_of_loops_is_a_contract)
{
    host_lab_expect(&blocks_in_setup, 1, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Numbers, flags, signals. ---------------------------------------------------------------- */

static void
use_numbers(struct sim_world *world, void *argument)
{
    struct sim_fds *fds = ((struct fixture *)argument)->fds;
    (void)world;
    EXPECT_EQ(sim_sys_dup(fds, 3, 10), 10);
    EXPECT_EQ(sim_sys_dup(fds, 3, 10), 11);
    EXPECT_EQ(sim_sys_dup(fds, 99, 0), -EBADF);
    EXPECT_EQ(sim_sys_set_number_flags(fds, 10, SIM_SYS_CLOEXEC), 0);
    EXPECT_EQ(sim_sys_number_flags(fds, 10), SIM_SYS_CLOEXEC);
    EXPECT_EQ(sim_sys_number_flags(fds, 11), 0);
    EXPECT_EQ(sim_sys_close(fds, 10), 0);
    EXPECT_EQ(sim_sys_dup(fds, 3, 0), 5);
    EXPECT_EQ(sim_sys_dup(fds, 3, 10), 10);
    EXPECT_EQ(sim_sys_number_flags(fds, 10), 0); /* Of the number, not of the description. */
    EXPECT_EQ(sim_sys_set_status(fds, 10, SIM_SYS_NONBLOCK), 0);
    EXPECT_EQ(sim_sys_status(fds, 11), SIM_SYS_NONBLOCK); /* Of the description. */
    EXPECT_EQ(sim_sys_dup_to(fds, 3, 5000), -EBADF);
    EXPECT_EQ(sim_sys_dup_to(fds, 3, 2), -EBADF);
    EXPECT_EQ(sim_sys_dup_to(fds, 3, 1026), 1026); /* The last one. */
}

SCENARIO(numbers, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), use_numbers,
        do_nothing);

TEST(sys_flags_are_of_the_number_or_of_the_description)
{
    host_lab_pass(&numbers, 2);
}

static void
use_up_numbers(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    int number = 0;
    (void)world;
    while (number >= 0) {
        number = sim_sys_dup(fixture->fds, 3, 0);
    }
    EXPECT_EQ(number, -EMFILE);
    EXPECT_EQ(sim_sys_epoll(fixture->fds, "no number"), -EMFILE);
    EXPECT_EQ(sim_sys_close(fixture->fds, 500), 0);
    EXPECT_EQ(sim_sys_pipe(fixture->fds, "two numbers", fixture->fd), -EMFILE);
    EXPECT_EQ(sim_sys_epoll(fixture->fds, "epoll"), 500);
}

SCENARIO(no_numbers, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), use_up_numbers,
        do_nothing);

TEST(sys_table_that_is_full_is_emfile)
{
    host_lab_pass(&no_numbers, 1);
}

static void
read_signals(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    EXPECT_EQ(get(fixture, 3, 127), -EINVAL);
    EXPECT_EQ(get(fixture, 3, 300), 128); /* Blocks for the first one. */
    EXPECT_EQ(fixture->bytes[0], 7);
    EXPECT_EQ(sim_sys_events(fixture->fds, 3), 0);
}

static void
send_signal(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    static const char info[SIM_SYS_SIGNAL_SIZE] = {7};
    sim_sleep(world, MS);
    EXPECT_EQ(sim_sys_signalfd_push(fixture->fds, 3, info), 0);
    EXPECT_EQ(sim_sys_signalfd_push(fixture->fds, 4, info), -EBADF);
}

SCENARIO(signals, EXPECT_EQ(sim_sys_signalfd(fixture->fds, "signals"), 3), read_signals,
        send_signal);

TEST(sys_signalfd_is_read_as_a_queue)
{
    host_lab_pass(&signals, 20);
}

static void
use_old_calls(struct sim_world *world, void *argument)
{
    struct sim_fds *fds = ((struct fixture *)argument)->fds;
    char bytes[8] = {0};
    int pair[2] = {0, 0};
    (void)world;
    EXPECT_OK(sim_fd_pair(fds, "pair", 0, 0, pair));
    EXPECT_EQ(sim_sys_read(fds, pair[0], bytes, 8, SIM_SYS_DONTWAIT, RT_HERE), -EAGAIN);
    EXPECT_EQ(sim_sys_write(fds, pair[1], bytes, 8, 0, RT_HERE), 8);
    EXPECT(sim_sys_read(fds, pair[0], bytes, 8, 0, RT_HERE) > 0); /* Blocks. */
    EXPECT_EQ(sim_fd_write(fds, 4, bytes, 2), 2);                 /* The pipe. */
    EXPECT(sim_fd_read(fds, 3, bytes, 8) > 0);
    EXPECT_EQ(sim_sys_shutdown(fds, pair[0], SIM_SYS_SHUT_WRITE), -ENOTSOCK);
    EXPECT_EQ(sim_sys_readable(fds, pair[0]), -ENOTTY);
}

SCENARIO(old_calls, EXPECT_EQ(sim_sys_pipe(fixture->fds, "pipe", fixture->fd), 0), use_old_calls,
        do_nothing);

TEST(sys_calls_and_older_ones_share_a_table)
{
    host_lab_pass(&old_calls, 20);
}
