/*
 * io_test.c -- registered sources: which waits an edge wakes, and what is recorded of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/shard/desk.h"

/* ---- Which waits are woken. ------------------------------------------------------------------ */

/* Holds E1, E5: an event wakes the waits for its direction of its source, and no others. */
TEST(io_event_wakes_the_waiters_of_its_direction)
{
    struct desk desk;
    struct clerk a, b, c;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    writer_of(&b, &desk, "b", 0);
    reader_of(&c, &desk, "c", 1);
    dumb_run(&desk.dumb);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 1);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b c b");
    dumb_event(&desk.net, desk.sockets[1], RT_NET_READABLE);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE | RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 2);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b c b c a");
    EXPECT(!rt_io_waited_for(desk.net.io));
    desk_fini(&desk);
}

/* Holds E3: an error or a hang-up alone, without IN or OUT, wakes both directions. */
TEST(io_error_and_hangup_wake_both_directions)
{
    static const uint32_t events[] = {RT_NET_ERROR, RT_NET_HANGUP};
    for (uint32_t i = 0; i < 2; i++) {
        struct desk desk;
        struct clerk a, b;
        desk_init(&desk);
        reader_of(&a, &desk, "reader", 0);
        writer_of(&b, &desk, "writer", 0);
        dumb_run(&desk.dumb);
        dumb_event(&desk.net, desk.sockets[0], events[i]);
        EXPECT_EQ(dumb_turn(&desk.net), 2);
        dumb_run(&desk.dumb);
        EXPECT_STR(desk.dumb.log, "reader writer reader writer");
        desk_fini(&desk);
    }
}

/* Holds E5: all waits for a direction are woken, first come, first served. */
TEST(io_every_waiter_of_a_direction_is_woken_in_order)
{
    struct desk desk;
    struct clerk a, b, c;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    reader_of(&b, &desk, "b", 0);
    reader_of(&c, &desk, "c", 0);
    dumb_run(&desk.dumb);
    rt_task_wake(&c.task);
    rt_task_wake(&a.task);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b c c a");
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 3);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT(rt_run_one(&desk.dumb.runtime.executor));
    }
    /* a has found that nothing is left; b and c have found nothing, and wait on. */
    EXPECT_STR(desk.dumb.log, "a b c c a a b c");
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 2);
    rt_task_cancel(&b.task);
    rt_task_cancel(&c.task);
    desk_fini(&desk);
}

/* Holds E5: a cancelled wait, and one whose task was cancelled, are not woken; the others are. */
TEST(io_waiter_that_is_gone_takes_no_wake)
{
    struct desk desk;
    struct clerk a, b, c;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    reader_of(&b, &desk, "b", 0);
    reader_of(&c, &desk, "c", 0);
    dumb_run(&desk.dumb);
    b.task.cleanup = NULL; /* Ends without taking its wait back. */
    rt_task_cancel(&b.task);
    rt_task_cancel(&a.task);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 1);
    rt_io_wait_cancel(&b.wait);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b c c");
    desk_fini(&desk);
}

/* Holds W11: a wait that another task polls wakes that one. */
TEST(io_wait_polled_by_another_task_wakes_that_task)
{
    struct desk desk;
    struct clerk a;
    struct spy first = {0};
    struct spy second = {0};
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    a.spy = &first;
    dumb_run(&desk.dumb);
    a.spy = &second;
    rt_task_wake(&a.task);
    dumb_run(&desk.dumb);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 1);
    EXPECT_EQ(first.wakes, 0);
    EXPECT_EQ(second.wakes, 1);
    rt_task_cancel(&a.task);
    EXPECT(spy_balanced(&first) && spy_balanced(&second));
    desk_fini(&desk);
}

/* ---- What is remembered. --------------------------------------------------------------------- */

/* Holds E1: an event without a waiter is there for a later one. */
TEST(io_event_before_the_wait_is_remembered)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 0);
    reader_of(&a, &desk, "a", 0);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a");
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    desk_fini(&desk);
}

/*
 * Holds E4: asking clears nothing, so a task that finds something and takes only part of it is not
 * put to sleep. The article's poll_readable clears (S3).
 */
TEST(io_question_does_not_clear)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    a.times = 3;
    a.keeps = true;
    dumb_run(&desk.dumb);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 1);
    dumb_run(&desk.dumb);
    EXPECT_EQ(a.readies, 3);
    EXPECT_STR(desk.dumb.log, "a a");
    desk_fini(&desk);
}

/*
 * Holds E1: events of the other direction do not keep one from clearing, or a reader of a
 * connection that is written to would try forever (tokio#8054).
 */
TEST(io_write_events_do_not_keep_a_reader_from_clearing)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 0);
    reader_of(&a, &desk, "a", 0);
    a.keeps = true;
    dumb_run(&desk.dumb);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&desk.net), 0);
    rt_io_clear(&desk.sources[0], RT_DIRECTION_READ, a.seen);
    EXPECT_EQ(desk.sources[0].readiness[RT_DIRECTION_READ].bits, 0);
    EXPECT_EQ(desk.sources[0].readiness[RT_DIRECTION_WRITE].bits, RT_READY_AVAILABLE);
    desk_fini(&desk);
}

static void
event_in_the_clone(struct spy *spy, char what)
{
    struct desk *desk = spy->argument;
    if (what == 'c' && spy->clones == 0) {
        dumb_event(&desk->net, desk->sockets[0], RT_NET_READABLE);
        EXPECT_EQ(dumb_turn(&desk->net), 0);
    }
}

/*
 * Holds E4: register, then check once more. An event that comes while the waker is being stored (a
 * foreign one runs when it is cloned) finds an empty slot, and wakes no task.
 */
TEST(io_event_while_the_waker_is_stored_is_seen)
{
    struct desk desk;
    struct clerk a;
    struct spy spy = {.hook = event_in_the_clone, .argument = &desk};
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    a.spy = &spy;
    dumb_run(&desk.dumb);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(spy.clones, 1);
    EXPECT(spy_balanced(&spy));
    desk_fini(&desk);
}

/* Holds E1: what the audit of a source reports when an edge was noted and no task woken. */
TEST(io_source_that_is_ready_while_a_task_waits_is_reported)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    dumb_run(&desk.dumb);
    EXPECT(rt_io_source_audit(&desk.sources[0].object) == NULL);
    rt_readiness_event(&desk.sources[0].readiness[RT_DIRECTION_WRITE], RT_READY_AVAILABLE);
    EXPECT(rt_io_source_audit(&desk.sources[0].object) == NULL);
    rt_readiness_event(&desk.sources[0].readiness[RT_DIRECTION_READ], RT_READY_AVAILABLE);
    EXPECT_STR(rt_io_source_audit(&desk.sources[0].object),
            "a task waits for a direction that is known to be ready");
    rt_task_cancel(&a.task);
    EXPECT(rt_io_source_audit(&desk.sources[0].object) == NULL);
    desk_fini(&desk);
}

/* ---- Registration. --------------------------------------------------------------------------- */

/* What can be refused is, and leaves everything as it was. */
TEST(io_registration_is_refused_without_a_trace)
{
    struct desk desk;
    struct rt_io_source more[DUMB_IO_SOURCES];
    desk_init(&desk);
    int socket = dumb_open(&desk.net);
    EXPECT_EQ(rt_io_register(desk.net.io, &desk.sources[0], socket, 0), RT_E_BUSY);
    for (uint32_t i = 0; i < DUMB_IO_SOURCES - 2; i++) {
        rt_io_source_init(&more[i]);
    }
    desk.net.watch = RT_E_FULL;
    EXPECT_EQ(rt_io_register(desk.net.io, &more[0], socket, 0), RT_E_FULL);
    EXPECT(more[0].io == NULL);
    int sockets[DUMB_IO_SOURCES];
    for (uint32_t i = 0; i < DUMB_IO_SOURCES - 3; i++) {
        EXPECT(rt_io_has_room(desk.net.io));
        sockets[i] = dumb_open(&desk.net);
        EXPECT_EQ(rt_io_register(desk.net.io, &more[i], sockets[i], RT_NET_READABLE), RT_OK);
        EXPECT_EQ(more[i].readiness[RT_DIRECTION_READ].bits, RT_READY_AVAILABLE);
        EXPECT_EQ(more[i].readiness[RT_DIRECTION_WRITE].bits, 0);
    }
    EXPECT(!rt_io_has_room(desk.net.io));
    EXPECT_EQ(rt_io_register(desk.net.io, &more[DUMB_IO_SOURCES - 3], socket, 0), RT_E_FULL);
    for (uint32_t i = 0; i < DUMB_IO_SOURCES - 3; i++) {
        rt_io_deregister(&more[i]);
        rt_io_deregister(&more[i]);
        desk.net.seam.ops->close(&desk.net.seam, sockets[i]);
    }
    desk.net.seam.ops->close(&desk.net.seam, socket);
    desk_fini(&desk);
}

/*
 * Holds E7: one batch holds events of two sources; the first to be woken removes the second, and
 * a new one gets its socket number and its entry. The event reaches neither.
 */
static void
replace_the_second(struct spy *spy, char what)
{
    struct desk *desk = spy->argument;
    if (what == 'w') {
        desk_close(desk, 1);
        int socket = dumb_open(&desk->net);
        EXPECT_EQ(socket, desk->sockets[1]);
        rt_io_source_init(&desk->sources[1]);
        EXPECT_EQ(rt_io_register(desk->net.io, &desk->sources[1], socket, 0), RT_OK);
    }
}

TEST(io_event_of_a_removed_source_never_reaches_its_successor)
{
    struct desk desk;
    struct clerk a;
    struct spy spy = {.hook = replace_the_second, .argument = &desk};
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    a.spy = &spy;
    dumb_run(&desk.dumb);
    uint32_t index = desk.sources[1].key.index;
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    dumb_event(&desk.net, desk.sockets[1], RT_NET_HANGUP);
    EXPECT_EQ(dumb_turn(&desk.net), 1);
    EXPECT_EQ(desk.sources[1].key.index, index);
    EXPECT_EQ(desk.sources[1].readiness[RT_DIRECTION_READ].bits, 0);
    EXPECT_EQ(desk.net.io->stale, 1);
    rt_task_cancel(&a.task);
    desk_fini(&desk);
}

/* Holds E10: a task that waits for a source that is removed is woken, and finds SHUTDOWN. */
TEST(io_waiter_of_a_removed_source_is_woken)
{
    struct desk desk;
    struct clerk a, b;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    writer_of(&b, &desk, "b", 0);
    dumb_run(&desk.dumb);
    desk_close(&desk, 0);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b a b");
    EXPECT_EQ(a.seen.bits, RT_READY_SHUTDOWN);
    desk_fini(&desk);
}

/* Holds E10: shutting down wakes all, forever, and registers no more sources. */
TEST(io_shutdown_wakes_all_and_stays)
{
    struct desk desk;
    struct clerk a, b, c;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    writer_of(&b, &desk, "b", 1);
    dumb_run(&desk.dumb);
    rt_io_shutdown(desk.net.io);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b a b");
    EXPECT_EQ(b.seen.bits, RT_READY_SHUTDOWN);
    /* Cleared by a and b, if that were possible. */
    reader_of(&c, &desk, "c", 0);
    dumb_run(&desk.dumb);
    EXPECT_EQ(c.seen.bits, RT_READY_SHUTDOWN);
    desk_close(&desk, 2);
    int socket = dumb_open(&desk.net);
    EXPECT_EQ(rt_io_register(desk.net.io, &desk.sources[2], socket, 0), RT_E_SHUTDOWN);
    desk.net.seam.ops->close(&desk.net.seam, socket);
    desk_fini(&desk);
}

/* ---- Wakers that do something. --------------------------------------------------------------- */

static struct clerk *victim;

static void
do_everything(struct spy *spy, char what)
{
    struct desk *desk = spy->argument;
    uint32_t woken = 0;
    if (what == 'w') {
        EXPECT_EQ(rt_io_turn(desk->net.io, &woken), RT_E_REENTERED);
        EXPECT_EQ(rt_runtime_turn(&desk->dumb.runtime, RT_TURN_POLL, NULL), RT_E_REENTERED);
        rt_task_cancel(&victim->task);
        desk_close(desk, 0);
    }
}

/*
 * Holds W7: the first of three waiters of one event cancels the second and removes the source of
 * the third, which is woken nevertheless.
 */
TEST(io_wake_may_cancel_waits_and_remove_the_source)
{
    struct desk desk;
    struct clerk a, b, c;
    struct spy spy = {.hook = do_everything, .argument = &desk};
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    reader_of(&b, &desk, "b", 0);
    writer_of(&c, &desk, "c", 0);
    a.spy = &spy;
    victim = &b;
    dumb_run(&desk.dumb);
    dumb_event(&desk.net, desk.sockets[0], RT_NET_HANGUP);
    EXPECT_EQ(dumb_turn(&desk.net), 2);
    dumb_run(&desk.dumb);
    EXPECT_STR(desk.dumb.log, "a b c c");
    rt_task_cancel(&a.task);
    EXPECT(spy_balanced(&spy));
    desk_fini(&desk);
}

/* ---- Misuse. --------------------------------------------------------------------------------- */

TEST(io_misuse_is_named)
{
    struct desk desk;
    struct rt_io_source source = {0};
    desk_init(&desk);
    EXPECT_FAULT(RT_E_INVALID, EXPECT_EQ(rt_io_register(desk.net.io, &source, 0, 0), RT_OK));
    EXPECT_FAULT(RT_E_IN_USE, rt_io_fini(desk.net.io));
}

static uint32_t
fetch_too_many(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max)
{
    (void)net;
    (void)ret_events;
    return max + 1;
}

TEST(io_network_that_breaks_its_contract_is_a_panic)
{
    struct desk desk;
    uint32_t woken = 0;
    desk_init(&desk);
    struct rt_net_ops ops = *desk.net.seam.ops;
    ops.fetch = fetch_too_many;
    desk.net.seam.ops = &ops;
    EXPECT_PANIC(EXPECT_EQ(rt_io_turn(desk.net.io, &woken), RT_OK));
}
