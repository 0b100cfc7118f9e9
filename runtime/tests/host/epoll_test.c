/*
 * epoll_test.c -- the host over epoll: deadlines, notifications, descriptors, interruptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/tests/host/metal.h"
#include "runtime/tests/host/wall_clock.h"

static void
make_pipe(int ends[2])
{
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
}

static void
put(int descriptor)
{
    ck_assert_int_eq(write(descriptor, "x", 1), 1);
}

static void
take(int descriptor)
{
    char byte;
    ck_assert_int_eq(read(descriptor, &byte, 1), 1);
}

static void
close_pipe(const int ends[2])
{
    ck_assert_int_eq(close(ends[0]), 0);
    ck_assert_int_eq(close(ends[1]), 0);
}

static uint64_t
now_of(struct metal *metal)
{
    return rt_host_now(&metal->epoll.base.host);
}

/* A signal that interrupts the thread again and again. */
static void
on_alarm(int number)
{
    (void)number;
}

static void
alarm_every_us(suseconds_t us)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {{0, us}, {0, us}};
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* ---- Deadlines. ------------------------------------------------------------------------------ */

/* Goal: no sleep ends before its deadline, at any part of a millisecond. Holds E8, M1. */
TEST(epoll_deadline_is_never_early)
{
    struct metal metal;
    metal_init(&metal);
    for (uint32_t i = 0; i < 40; i++) {
        struct rt_pollable deadline;
        struct rt_pollable *const list[] = {&deadline};
        uint64_t at_ns = now_of(&metal) + UINT64_C(30000) * i + 1;
        EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, at_ns, &deadline), RT_OK);
        EXPECT_STR(metal_poll(&metal, list, 1), "a");
        EXPECT(now_of(&metal) >= at_ns);
        EXPECT(rt_pollable_ready(&deadline));
        rt_pollable_drop(&deadline);
    }
    metal_fini(&metal);
}

/* Goal: while CLOCK_REALTIME is set an hour back and forth, the host's clock does not, and no sleep
 * is shorter or longer for it. Holds M15, E8. */
TEST(epoll_steps_of_the_wall_clock_move_no_deadline)
{
    struct metal metal;
    uint64_t last_ns = 0;
    metal_init(&metal);
    wall_clock_steps();
    for (uint32_t i = 0; i < 20; i++) {
        struct rt_pollable deadline;
        struct rt_pollable *const list[] = {&deadline};
        uint64_t start_ns = wall_clock_monotonic_ns();
        EXPECT_EQ(rt_subscribe_duration(&metal.epoll.base.host, 2 * RT_MS, &deadline), RT_OK);
        EXPECT_STR(metal_poll(&metal, list, 1), "a");
        uint64_t took_ns = wall_clock_monotonic_ns() - start_ns;
        EXPECT(took_ns >= 2 * RT_MS);
        EXPECT(took_ns < 5 * RT_SECOND);
        EXPECT(now_of(&metal) >= last_ns);
        last_ns = now_of(&metal);
        rt_pollable_drop(&deadline);
    }
    metal_fini(&metal);
}

/* Goal: a sleep that ends for another reason does not report a deadline that is near. Holds E8. */
TEST(epoll_deadline_that_is_near_is_not_ready)
{
    struct metal metal;
    struct rt_pollable deadline;
    struct rt_pollable notify;
    struct rt_pollable *const list[] = {&deadline, &notify};
    metal_init(&metal);
    EXPECT_EQ(rt_host_subscribe(&metal.epoll.base.host, RT_SUBSCRIBE_NOTIFY, 0, &notify), RT_OK);
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t at_ns = now_of(&metal) + UINT64_C(900000);
        EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, at_ns, &deadline), RT_OK);
        rt_host_notify(&metal.epoll.base.host);
        const char *reported = metal_poll(&metal, list, 2);
        EXPECT(strcmp(reported, "b") == 0 || now_of(&metal) >= at_ns);
        rt_pollable_drop(&deadline);
    }
    metal_fini(&metal);
}

/* Holds M15: a deadline that is past, and M4: one that never comes. */
TEST(epoll_past_is_ready_and_never_is_not)
{
    struct metal metal;
    struct rt_pollable past;
    struct rt_pollable never;
    struct rt_pollable *const list[] = {&never, &past};
    metal_init(&metal);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, 1, &past), RT_OK);
    EXPECT_EQ(rt_subscribe_duration(&metal.epoll.base.host, UINT64_MAX, &never), RT_OK);
    EXPECT(rt_pollable_ready(&past));
    EXPECT(!rt_pollable_ready(&never));
    EXPECT_STR(metal_poll(&metal, list, 2), "b");
    metal_fini(&metal);
}

/* Goal: a sleep that signals interrupt all the time lasts as long as it should, and no shorter.
 * Holds E6. */
TEST(epoll_interrupted_sleep_goes_on)
{
    struct metal metal;
    struct rt_pollable deadline;
    struct rt_pollable *const list[] = {&deadline};
    metal_init(&metal);
    alarm_every_us(500);
    uint64_t at_ns = now_of(&metal) + UINT64_C(100000000);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, at_ns, &deadline), RT_OK);
    EXPECT_STR(metal_poll(&metal, list, 1), "a");
    EXPECT(now_of(&metal) >= at_ns);
    EXPECT(metal.epoll.waits > 3); /* It was interrupted. */
    alarm_every_us(0);
    metal_fini(&metal);
}

/* ---- Notifications. -------------------------------------------------------------------------- */

static uint64_t
eventfd_count(const struct metal *metal)
{
    uint64_t count = 0;
    ssize_t got = read(metal->epoll.base.eventfd, &count, sizeof(count));
    ck_assert(got == sizeof(count) || (got < 0 && errno == EAGAIN));
    return count;
}

/* Goal: many notifications are one report and one write, and a report takes all of them. Holds
 * E9. */
TEST(epoll_many_notifications_are_one)
{
    struct metal metal;
    struct rt_pollable notify;
    struct rt_pollable past;
    struct rt_pollable *const list[] = {&notify, &past};
    metal_init(&metal);
    EXPECT_EQ(rt_host_subscribe(&metal.epoll.base.host, RT_SUBSCRIBE_NOTIFY, 0, &notify), RT_OK);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, 1, &past), RT_OK);
    EXPECT(!rt_pollable_ready(&notify));
    for (uint32_t i = 0; i < 1000; i++) {
        rt_host_notify(&metal.epoll.base.host);
    }
    EXPECT(rt_pollable_ready(&notify));
    EXPECT_STR(metal_poll(&metal, list, 2), "ab");
    EXPECT_EQ(eventfd_count(&metal), 1);
    EXPECT_STR(metal_poll(&metal, list, 2), "b");
    rt_host_notify(&metal.epoll.base.host);
    EXPECT_STR(metal_poll(&metal, list, 1), "a");
    metal_fini(&metal);
}

/* Goal: a notification that a look at the network has fetched ends the next sleep. Holds D8. */
TEST(epoll_notification_fetched_by_the_network_is_kept)
{
    struct metal metal;
    struct rt_pollable notify;
    struct rt_pollable *const list[] = {&notify};
    struct rt_net_event event;
    metal_init(&metal);
    EXPECT_EQ(rt_host_subscribe(&metal.epoll.base.host, RT_SUBSCRIBE_NOTIFY, 0, &notify), RT_OK);
    rt_host_notify(&metal.epoll.base.host);
    EXPECT_EQ(rt_net_fetch(&metal.epoll.base.net, &event, 1), 0);
    EXPECT_STR(metal_poll(&metal, list, 1), "a");
    metal_fini(&metal);
}

#define ROUNDS 20000u

struct caller {
    struct metal *metal;
    atomic_uint said;
    atomic_uint heard;
};

static void *
call(void *argument)
{
    struct caller *caller = argument;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store(&caller->said, i);
        rt_host_notify(&caller->metal->epoll.base.host);
        while (i % 2 == 0 && atomic_load(&caller->heard) < i) {
        }
    }
    return NULL;
}

/* Goal: of notifications from another thread none is lost, whenever they come. Method: the host
 * sleeps without a deadline until it has seen the last one. Holds D8, E9. */
TEST(epoll_no_notification_is_lost)
{
    struct metal metal;
    struct rt_pollable notify;
    struct rt_pollable *const list[] = {&notify};
    struct caller caller = {.metal = &metal};
    pthread_t thread;
    metal_init(&metal);
    EXPECT_EQ(rt_host_subscribe(&metal.epoll.base.host, RT_SUBSCRIBE_NOTIFY, 0, &notify), RT_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, call, &caller), 0);
    while (atomic_load(&caller.heard) < ROUNDS) {
        EXPECT_STR(metal_poll(&metal, list, 1), "a");
        atomic_store(&caller.heard, atomic_load(&caller.said));
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    metal_fini(&metal);
}

/* ---- Descriptors. ---------------------------------------------------------------------------- */

/* Goal: a descriptor's pollable is a level: ready until its bytes are taken, and again with the
 * next ones. Holds P8. */
TEST(epoll_descriptor_is_a_level)
{
    struct metal metal;
    struct rt_pollable reads;
    struct rt_pollable past;
    struct rt_pollable *const list[] = {&reads, &past};
    int ends[2];
    metal_init(&metal);
    make_pipe(ends);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], RT_DESCRIPTOR_READABLE, &reads), RT_OK);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, 1, &past), RT_OK);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT(!rt_pollable_ready(&reads));
        EXPECT_STR(metal_poll(&metal, list, 2), "b");
        put(ends[1]);
        EXPECT(rt_pollable_ready(&reads));
        EXPECT_STR(metal_poll(&metal, list, 1), "a");
        EXPECT_STR(metal_poll(&metal, list, 2), "ab");
        take(ends[0]);
    }
    rt_pollable_drop(&reads);
    close_pipe(ends);
    metal_fini(&metal);
}

/* Goal: one that is ready and not waited for neither keeps a sleep from sleeping nor is lost. */
TEST(epoll_descriptor_that_is_not_listed_does_not_spin)
{
    struct metal metal;
    struct rt_pollable reads;
    struct rt_pollable deadline;
    struct rt_pollable *const list[] = {&deadline, &reads};
    int ends[2];
    metal_init(&metal);
    make_pipe(ends);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], RT_DESCRIPTOR_READABLE, &reads), RT_OK);
    put(ends[1]);
    uint64_t at_ns = now_of(&metal) + UINT64_C(5000000);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, at_ns, &deadline), RT_OK);
    EXPECT_STR(metal_poll(&metal, list, 1), "a");
    EXPECT(metal.epoll.waits <= 4);
    EXPECT_STR(metal_poll(&metal, list, 2), "ab");
    rt_pollable_drop(&reads);
    close_pipe(ends);
    metal_fini(&metal);
}

/* Goal: both directions of one descriptor, as two pollables and twice in a list. Holds P5. */
TEST(epoll_descriptor_may_be_waited_for_twice)
{
    struct metal metal;
    struct rt_pollable reads;
    struct rt_pollable again;
    struct rt_pollable hang_up;
    struct rt_pollable *const list[] = {&again, &reads, &again, &hang_up};
    int ends[2];
    metal_init(&metal);
    make_pipe(ends);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], RT_DESCRIPTOR_READABLE, &reads), RT_OK);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], RT_DESCRIPTOR_READABLE, &again), RT_OK);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], RT_DESCRIPTOR_WRITABLE, &hang_up), RT_OK);
    put(ends[1]);
    EXPECT_STR(metal_poll(&metal, list, 4), "abc");
    ck_assert_int_eq(close(ends[1]), 0);
    EXPECT_STR(metal_poll(&metal, list, 4), "abcd"); /* E3: without interest in it. */
    rt_pollable_drop(&hang_up);
    rt_pollable_drop(&reads);
    EXPECT_STR(metal_poll(&metal, list, 1), "a");
    rt_pollable_drop(&again);
    ck_assert_int_eq(close(ends[0]), 0);
    metal_fini(&metal);
}

/* Goal: a number that is used again is another descriptor, and the old pollable's readiness is not
 * the new one's. Holds E7. */
TEST(epoll_number_used_again_is_another_descriptor)
{
    struct metal metal;
    struct rt_pollable old;
    struct rt_pollable new;
    struct rt_pollable past;
    struct rt_pollable *const list[] = {&past, &new};
    int first[2];
    int second[2];
    metal_init(&metal);
    make_pipe(first);
    EXPECT_EQ(rt_subscribe_instant(&metal.epoll.base.host, 1, &past), RT_OK);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, first[0], RT_DESCRIPTOR_READABLE, &old), RT_OK);
    put(first[1]);
    rt_pollable_drop(&old);
    close_pipe(first);
    make_pipe(second);
    EXPECT_EQ(second[0], first[0]);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, second[0], RT_DESCRIPTOR_READABLE, &new), RT_OK);
    EXPECT_STR(metal_poll(&metal, list, 2), "a");
    put(second[1]);
    EXPECT_STR(metal_poll(&metal, list, 2), "ab");
    rt_pollable_drop(&new);
    close_pipe(second);
    metal_fini(&metal);
}

TEST(epoll_refuses_what_cannot_be_waited_for)
{
    struct rt_epoll_config one = {.descriptors = 1};
    struct metal metal;
    struct rt_pollable pollable;
    struct rt_pollable other;
    int ends[2];
    metal_init_with(&metal, &one, 0);
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    uint32_t what = RT_DESCRIPTOR_READABLE;
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, file, what, &pollable), RT_E_INVALID);
    EXPECT_EQ(metal.epoll.base.failure.error, EPERM);
    ck_assert_int_eq(close(file), 0);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, file, what, &pollable), RT_E_INVALID);
    make_pipe(ends);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], what, &pollable), RT_OK);
    EXPECT_EQ(rt_epoll_subscribe(&metal.epoll, ends[0], what, &other), RT_E_FULL);
    EXPECT_FAULT(RT_E_IN_USE, rt_epoll_fini(&metal.epoll));
    rt_pollable_drop(&pollable);
    close_pipe(ends);
    metal_fini(&metal);
}

TEST(epoll_empty_list_is_refused)
{
    struct metal metal;
    uint32_t count = 0;
    metal_init(&metal);
    EXPECT_EQ(metal.epoll.base.host.ops->poll(&metal.epoll.base.host, NULL, 0, &count, &count),
            RT_E_EMPTY_POLL);
    metal_fini(&metal);
}
