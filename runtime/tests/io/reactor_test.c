/*
 * reactor_test.c -- which waits a turn wakes, in which order, and what the host is not asked.
 *
 * Readers (dumb_host.h) wait for one source each; a turn is taken by hand, then
 * what it woke is polled, and the log shows the order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/reactor.h"

#include "runtime/tests/io/turn.h"

/*
 * The tutorial: a reader waits, the host is asked about its source and nothing
 * else, the source becomes ready, the reader is woken, takes it and is done.
 */
TEST(reactor_wait_is_woken_when_its_source_is_ready)
{
    struct dumb_runtime dumb;
    struct reader reader;
    dumb_init(&dumb);
    reader_start(&reader, &dumb, "a", 3, 1);
    EXPECT_STR(run(&dumb), "a");
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    EXPECT(!rt_reactor_ready(&dumb.runtime.reactor));

    dumb.host.ready[3] = true;
    EXPECT(rt_reactor_ready(&dumb.runtime.reactor));
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    EXPECT_EQ(dumb.host.list_count, 1);
    EXPECT_EQ(dumb_listed(&dumb.host, 3), 1);

    EXPECT_STR(run(&dumb), "a");
    EXPECT_EQ(reader.task.end, RT_TASK_DONE);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    finish(&dumb);
}

/* Holds R1: ready at the first check is READY; nothing is registered, the host not polled. */
TEST(reactor_ready_source_registers_nothing)
{
    struct dumb_runtime dumb;
    struct reader reader;
    dumb_init(&dumb);
    dumb.host.ready[0] = true;
    reader_start(&reader, &dumb, "a", 0, 1);
    EXPECT_STR(run(&dumb), "a");
    EXPECT_EQ(reader.task.end, RT_TASK_DONE);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    EXPECT_EQ(dumb.runtime.reactor.poller.slab.touched, 0);
    EXPECT_EQ(dumb.host.polls, 0);
    finish(&dumb);
}

/* Holds R2: three tasks, one pollable: one entry in the list, three wakes. */
TEST(reactor_every_wait_of_a_pollable_is_woken)
{
    struct dumb_runtime dumb;
    struct reader readers[3];
    struct rt_pollable shared;
    static const char *const names[] = {"a", "b", "c"};
    dumb_init(&dumb);
    dumb_subscribe(&dumb.host, 5, &shared);
    for (uint32_t i = 0; i < 3; i++) {
        reader_start(&readers[i], &dumb, names[i], 5, 1);
        readers[i].shared = &shared;
        readers[i].keeps = true;
    }
    dumb_run(&dumb);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 3);
    EXPECT_EQ(dumb.runtime.reactor.poller.slab.used, 1);
    dumb.host.ready[5] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 3);
    EXPECT_EQ(dumb.host.list_count, 1);
    EXPECT_STR(run(&dumb), "a b c");
    EXPECT_EQ(dumb.runtime.executor.posted, 0);
    rt_pollable_drop(&shared);
    finish(&dumb);
}

/* Holds R3: the first of two to stop waiting leaves the other one waiting. */
TEST(reactor_shared_pollable_stays_until_its_last_wait_goes)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 1, 1);
    reader_start(&b, &dumb, "b", 1, 1);
    b.shared = &a.pollable;
    dumb_run(&dumb);
    rt_wait_cancel(&a.wait);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    EXPECT_EQ(dumb.runtime.reactor.poller.slab.used, 1);
    rt_wait_cancel(&b.wait);
    EXPECT_EQ(dumb.runtime.reactor.poller.slab.used, 0);
    rt_wait_cancel(&b.wait);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    finish(&dumb);
}

/* Holds R3: a cancelled wait is not in the next list and is not woken. */
TEST(reactor_cancelled_wait_is_not_listed)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    reader_start(&b, &dumb, "b", 1, 1);
    dumb_run(&dumb);
    rt_wait_cancel(&a.wait);
    EXPECT(rt_slot_empty(&a.wait.slot));
    EXPECT(rt_list_empty(&a.task.slots));
    rt_reactor_audit(&dumb.runtime.reactor);
    dumb.host.ready[0] = true;
    dumb.host.ready[1] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    EXPECT_EQ(dumb_listed(&dumb.host, 0), 0);
    EXPECT_EQ(dumb_listed(&dumb.host, 1), 1);
    EXPECT_STR(run(&dumb), "b");
    finish(&dumb);
}

/* Holds R3: a wait that found it ready without a wake has left the list too. */
TEST(reactor_ready_at_a_renewal_takes_the_wait_back)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 2);
    dumb_run(&dumb);
    dumb.host.ready[0] = true;
    a.times = 1;
    rt_task_wake(&a.task);
    dumb_run(&dumb);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT_EQ(dumb.host.polls, 0);
    finish(&dumb);
}

/*
 * Holds R4: a woken wait is not listed again before its task had its turn; then
 * it is, without a new registration.
 */
TEST(reactor_woken_wait_is_not_listed_again)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    reader_start(&b, &dumb, "b", 1, 1);
    dumb_run(&dumb);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 1);
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT_EQ(dumb_listed(&dumb.host, 0), 0);
    EXPECT_EQ(dumb_listed(&dumb.host, 1), 1);
    EXPECT(!rt_reactor_ready(&dumb.runtime.reactor));

    /* Another task was faster: the reader finds nothing, and keeps waiting. */
    dumb.host.ready[0] = false;
    EXPECT_STR(run(&dumb), "a");
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 2);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 1);
    EXPECT_EQ(dumb_listed(&dumb.host, 0), 1);
    finish(&dumb);
}

static void
poll_blocks(struct dumb_host *host)
{
    (void)host;
    ck_abort_msg("the host was asked to block");
}

/* Holds R4: the end of a task empties its slot: its wait asks for nothing, even before cleanup. */
TEST(reactor_wait_of_a_cancelled_task_is_not_listed)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    a.task.cleanup = NULL;
    dumb_run(&dumb);
    rt_task_cancel(&a.task);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    dumb.host.ready[0] = true;
    EXPECT(!rt_reactor_ready(&dumb.runtime.reactor));
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    uint32_t woken = 0;
    EXPECT_EQ(
            rt_reactor_turn(&dumb.runtime.reactor, RT_TURN_BLOCK, NULL, 0, &woken), RT_E_DEADLOCK);
    EXPECT_EQ(dumb.host.polls, 0);
    rt_wait_cancel(&a.wait);
    rt_pollable_drop(&a.pollable);
    finish(&dumb);
}

/* Holds R5, P3. */
TEST(reactor_blocking_turn_without_a_wait_is_a_deadlock)
{
    struct dumb_runtime dumb;
    dumb_init(&dumb);
    uint32_t woken = 77;
    EXPECT_EQ(
            rt_reactor_turn(&dumb.runtime.reactor, RT_TURN_BLOCK, NULL, 0, &woken), RT_E_DEADLOCK);
    EXPECT_EQ(woken, 77);
    EXPECT_EQ(dumb.host.polls, 0);
    /* The refusal was not a turn that never ended. */
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    finish(&dumb);
}

/* Holds R5: an entry of the caller's own is something to block on. */
TEST(reactor_blocking_turn_on_extras_alone_wakes_no_task)
{
    struct dumb_runtime dumb;
    struct rt_pollable deadline;
    dumb_init(&dumb);
    EXPECT_EQ(rt_subscribe_instant(&dumb.host.seam, 500, &deadline), RT_OK);
    struct rt_pollable *extra[] = {&deadline};
    uint32_t woken = 77;
    EXPECT_EQ(rt_reactor_turn(&dumb.runtime.reactor, RT_TURN_BLOCK, extra, 1, &woken), RT_OK);
    EXPECT_EQ(woken, 0);
    EXPECT_EQ(dumb.host.now_ns, 500);
    rt_pollable_drop(&deadline);
    finish(&dumb);
}

/* Holds R6: the list and one entry that is always ready; without a wait the host is not called. */
TEST(reactor_nonblocking_turn_does_not_block)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    dumb.host.blocked = poll_blocks;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT_EQ(dumb.host.polls, 0);
    EXPECT_EQ(dumb.host.subscribes, 0);

    reader_start(&a, &dumb, "a", 0, 1);
    dumb_run(&dumb);
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT_EQ(dumb.host.polls, 1);
    EXPECT_EQ(dumb.host.list_count, 2);
    EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_INSTANT), 1);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 1);
    /* The entry is kept, not subscribed again. */
    EXPECT_EQ(dumb.host.subscribes, 2);
    finish(&dumb);
}

/* Holds P10: a host that reports one entry a time, and the always ready one first, is outlasted. */
TEST(reactor_entry_that_is_always_ready_starves_no_other)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    dumb_run(&dumb);
    dumb.host.ready[0] = true;
    dumb.host.at_most = 1;
    dumb.host.backwards = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    /* In a turn that blocks it is not there, and cannot keep it from waking. */
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    finish(&dumb);
}

TEST(reactor_nonblocking_turn_on_a_full_host_is_refused)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    dumb_run(&dumb);
    dumb.host.capacity = dumb.host.alive;
    uint32_t woken = 77;
    EXPECT_EQ(rt_reactor_turn(&dumb.runtime.reactor, RT_TURN_POLL, NULL, 0, &woken), RT_E_FULL);
    EXPECT_EQ(woken, 77);
    dumb.host.capacity++;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    finish(&dumb);
}

/*
 * Holds R7.
 * Method: sources are waited for in an order of their own, t2 waits for the
 * pollable of t and comes last; whatever order the host answers in, wakes are in
 * list order.
 */
TEST(reactor_wakes_in_the_order_of_registration)
{
    static const uint32_t sources[] = {9, 2, 7, 4};
    static const char *const names[] = {"n", "t", "s", "f"};
    for (uint32_t way = 0; way < 3; way++) {
        struct dumb_runtime dumb;
        struct reader readers[5];
        dumb_init(&dumb);
        dumb.host.backwards = way == 1;
        dumb.host.last_first = way == 2;
        for (uint32_t i = 0; i < 4; i++) {
            reader_start(&readers[i], &dumb, names[i], sources[i], 1);
            dumb.host.ready[sources[i]] = false;
        }
        reader_start(&readers[4], &dumb, "t2", 2, 1);
        readers[4].shared = &readers[1].pollable;
        readers[1].task.cleanup = NULL;
        dumb_run(&dumb);
        for (uint32_t i = 0; i < 4; i++) {
            dumb.host.ready[sources[i]] = true;
        }
        EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 5);
        for (uint32_t i = 0; i < 4; i++) {
            EXPECT(dumb.host.list[i] == &readers[i].pollable);
        }
        EXPECT_STR(run(&dumb), "n t t2 s f");
        EXPECT_EQ(readers[1].task.end, RT_TASK_DONE);
        rt_wait_cancel(&readers[4].wait);
        rt_pollable_drop(&readers[1].pollable);
        finish(&dumb);
    }
}

/* Holds R7: a wait that is renewed keeps its position, one that was registered again is last. */
TEST(reactor_position_in_the_list_is_kept_by_a_renewal)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 2);
    reader_start(&b, &dumb, "b", 1, 1);
    dumb_run(&dumb);
    rt_task_wake(&a.task);
    dumb_run(&dumb);
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT(dumb.host.list[0] == &a.pollable);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 1);
    dumb_run(&dumb);
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT(dumb.host.list[0] == &b.pollable);
    EXPECT(dumb.host.list[1] == &a.pollable);
    finish(&dumb);
}

/* ---- One wait, several masters. -------------------------------------------------------------- */

/* Holds W11: of two tasks that poll one wait, the last one is woken. */
TEST(reactor_wait_polled_by_another_task_wakes_that_task)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct spy spies[2] = {{0}, {0}};
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    a.spy = &spies[0];
    dumb_run(&dumb);
    a.spy = &spies[1];
    rt_task_wake(&a.task);
    dumb_run(&dumb);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    EXPECT_EQ(spies[0].drops, 1);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    EXPECT_EQ(spies[0].wakes, 0);
    EXPECT_EQ(spies[1].wakes, 1);
    finish(&dumb);
    EXPECT(spy_balanced(&spies[0]));
    EXPECT(spy_balanced(&spies[1]));
}

TEST(reactor_wait_that_changes_its_pollable_leaves_the_old_one)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct rt_pollable second;
    dumb_init(&dumb);
    dumb_subscribe(&dumb.host, 1, &second);
    reader_start(&a, &dumb, "a", 0, 1);
    dumb_run(&dumb);
    a.shared = &second;
    rt_task_wake(&a.task);
    dumb_run(&dumb);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    dumb.host.ready[0] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_POLL), 0);
    EXPECT_EQ(dumb_listed(&dumb.host, 0), 0);
    EXPECT_EQ(dumb_listed(&dumb.host, 1), 1);
    /* The new one is ready at once: nothing is left of the wait. */
    dumb.host.ready[1] = true;
    rt_task_wake(&a.task);
    dumb_run(&dumb);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    rt_pollable_drop(&second);
    finish(&dumb);
}

/* ---- What is not allowed. -------------------------------------------------------------------- */

TEST(reactor_without_capacity_is_a_fault_that_names_the_task)
{
    static struct reader readers[DUMB_WAITS + 1];
    struct dumb_runtime dumb;
    dumb_init(&dumb);
    for (uint32_t i = 0; i <= DUMB_WAITS; i++) {
        reader_start(&readers[i], &dumb, i < DUMB_WAITS ? "fits" : "too many", i, 1);
    }
    /* One more wait for a pollable that is known already needs no capacity. */
    readers[1].shared = &readers[0].pollable;
    readers[DUMB_WAITS].shared = &readers[0].pollable;
    for (uint32_t i = 0; i <= DUMB_WAITS; i++) {
        EXPECT(rt_run_one(&dumb.runtime.executor));
    }
    readers[1].shared = &readers[1].pollable;
    rt_task_wake(&readers[1].task);
    EXPECT(rt_run_one(&dumb.runtime.executor));
    readers[DUMB_WAITS].shared = &readers[DUMB_WAITS].pollable;
    rt_task_wake(&readers[DUMB_WAITS].task);
    EXPECT_FAULT(RT_E_FULL, (void)rt_run_one(&dumb.runtime.executor));
    EXPECT_STR(test_trap.who, "too many");
}

TEST(reactor_wait_on_a_bare_executor_is_a_fault)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    dumb.runtime.executor.runtime = NULL;
    dumb.runtime.executor.begin_round = NULL;
    reader_start(&a, &dumb, "a", 0, 1);
    EXPECT_FAULT(RT_E_INVALID, (void)rt_run_one(&dumb.runtime.executor));
    EXPECT_STR(test_trap.who, "a");
}

TEST(reactor_ended_with_a_wait_is_a_fault)
{
    struct dumb_runtime dumb;
    struct reader a;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    dumb_run(&dumb);
    EXPECT_FAULT(RT_E_IN_USE, rt_reactor_fini(&dumb.runtime.reactor));
    rt_wait_cancel(&a.wait);
    rt_reactor_fini(&dumb.runtime.reactor);
}

/* A separate test of the audit: each contradiction that it checks is planted once. */
TEST(reactor_audit_finds_contradictions)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 0, 1);
    reader_start(&b, &dumb, "b", 1, 1);
    dumb_run(&dumb);
    struct rt_reactor *reactor = &dumb.runtime.reactor;
    rt_reactor_audit(reactor);
    reactor->waiting++;
    EXPECT_PANIC(rt_reactor_audit(reactor));
    reactor->waiting--;
    a.wait.marked = true;
    EXPECT_PANIC(rt_reactor_audit(reactor));
    a.wait.marked = false;
    struct rt_key key = a.wait.key;
    a.wait.key = b.wait.key;
    EXPECT_PANIC(rt_reactor_audit(reactor));
    a.wait.key = key;
    a.wait.pollable = &b.pollable;
    EXPECT_PANIC(rt_reactor_audit(reactor));
    a.wait.pollable = &a.pollable;
    reactor->waking = &a.wait.link;
    EXPECT_PANIC(rt_reactor_audit(reactor));
    reactor->waking = NULL;
    rt_reactor_audit(reactor);
    finish(&dumb);
}
