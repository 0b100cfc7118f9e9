/*
 * fiber_drive_test.c -- the loop that drives a call: the side channel, yields, late answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/tests/fiber/fiber_bed.h"

/* A task that drives a call, and an operation of its host function. */
struct driver {
    struct fiber_bed *bed;
    struct bed executor;
    struct rt_task task;
    struct rt_reply reply;
    bool at_once;  /* The operation completes inside the host function. */
    unsigned asks; /* Host calls so far. */
    unsigned unwound;
};

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    return rt_call_drive(&driver->bed->call, cx);
}

static void
driver_cleanup(struct rt_task *task)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    rt_call_delete(&driver->bed->call);
}

static void
host_read(struct rt_host_call *host)
{
    struct driver *driver = host->guest->store->data;
    driver->asks++;
    rt_reply_begin(&driver->reply, host);
    if (driver->at_once) {
        uint64_t word = 7;
        EXPECT(rt_reply_complete(&driver->reply, &word, 1));
    }
}

/* Adds up arguments[0] words that the host reads, after arguments[1] units of work each. */
static void
adding_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct driver *driver = guest->store->data;
    for (uint64_t i = 0; i < arguments[0]; i++) {
        uint64_t word = 0;
        for (uint64_t work = 0; work < arguments[1]; work++) {
            if (!rt_guest_check(guest, 1)) {
                driver->unwound++;
                return;
            }
        }
        if (!rt_guest_host(guest, host_read, NULL, &word)) {
            EXPECT_EQ(word, 0);
            driver->unwound++;
            return;
        }
        results[0] += word;
    }
}

static struct driver *
driver_new(uint64_t words, uint64_t work)
{
    struct driver *driver = malloc(sizeof(*driver));
    EXPECT(driver != NULL);
    driver->bed = fiber_bed_new();
    driver->bed->store.data = driver;
    driver->bed->arguments[0] = words;
    driver->bed->arguments[1] = work;
    driver->at_once = false;
    driver->asks = 0;
    driver->unwound = 0;
    bed_init(&driver->executor);
    rt_reply_init(&driver->reply, "a word");
    fiber_bed_call(driver->bed, adding_guest);
    rt_task_init(&driver->task, driver_poll, driver_cleanup, "driver");
    EXPECT_EQ(rt_post(&driver->executor.executor, &driver->task), RT_OK);
    return driver;
}

static void
driver_free(struct driver **driver)
{
    fiber_bed_free(&(*driver)->bed);
    free(*driver);
    *driver = NULL;
}

/* The runtime does not count switches to the guest; it counts wakes. */
static uint64_t
wakes(const struct driver *driver)
{
    return driver->executor.executor.counters.wakes + driver->executor.executor.counters.coalesced;
}

/*
 * Goal: a guest that waits for the host is not polled spuriously.
 * Method: k host calls that suspend, no yields: the task is polled k + 1 times, and woken only by
 * the operation. Holds F7, F8.
 */
TEST(drive_with_k_suspends_polls_k_plus_one_times)
{
    struct driver *driver = driver_new(5, 10);
    for (uint64_t word = 1; word <= 5; word++) {
        EXPECT_EQ(bed_run(&driver->executor), 1);
        EXPECT_EQ(driver->asks, word);
        EXPECT_EQ(bed_run(&driver->executor), 0);
        EXPECT_EQ(wakes(driver), word - 1);
        EXPECT(driver->bed->store.pending == NULL);
        EXPECT(rt_reply_complete(&driver->reply, &word, 1));
    }
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT_EQ(driver->bed->result, 15);
    EXPECT_EQ(driver->task.polls, 6);
    driver_free(&driver);
}

/*
 * Goal: spurious polls do no harm: the guest stays where it is.
 * Method: wake the task ten times while nothing has come. Holds F3, F8.
 */
TEST(drive_polled_spuriously_does_not_resume)
{
    struct driver *driver = driver_new(1, 0);
    EXPECT_EQ(bed_run(&driver->executor), 1);
    for (unsigned i = 0; i < 10; i++) {
        rt_task_wake(&driver->task);
        EXPECT_EQ(bed_run(&driver->executor), 1);
        EXPECT_EQ(driver->asks, 1);
        EXPECT_EQ(driver->bed->call.guest.fiber.state, RT_FIBER_SUSPENDED);
    }
    uint64_t word = 3;
    EXPECT(rt_reply_complete(&driver->reply, &word, 1));
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT_EQ(driver->bed->result, 3);
    driver_free(&driver);
}

/*
 * Goal: a yield wakes its own task.
 * Method: a guest that computes 100 units, an interval of 10: ten yields, ten wakes. Holds F7, F8.
 */
TEST(drive_of_a_yielding_guest_wakes_itself)
{
    struct driver *driver = driver_new(1, 100);
    driver->at_once = true;
    rt_fuel_yield_interval(&driver->bed->store, 10);
    EXPECT_EQ(bed_run(&driver->executor), 11);
    EXPECT_EQ(wakes(driver), 10);
    EXPECT_EQ(driver->bed->result, 7);
    EXPECT(!rt_task_posted(&driver->task));
    driver_free(&driver);
}

/*
 * Goal: an operation that completes at once costs no suspend.
 * Method: 100 words that are there: one poll, and nothing is left in the side channel. Holds F9.
 */
TEST(drive_with_answers_at_once_polls_once)
{
    struct driver *driver = driver_new(100, 0);
    driver->at_once = true;
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT_EQ(driver->task.polls, 1);
    EXPECT_EQ(driver->bed->result, 700);
    EXPECT(driver->bed->store.pending == NULL);
    driver_free(&driver);
}

/*
 * Goal: an answer that comes after the call was deleted is written nowhere.
 * Method: cancel the task while the operation is under way; the guest has unwound and the stack has
 * gone to another guest when the answer comes. Not a byte of that stack changes, and the operation
 * sees that it was detached. Holds F11, F12.
 */
TEST(reply_after_the_deletion_writes_nothing)
{
    struct driver *driver = driver_new(1, 0);
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT(rt_reply_wanted(&driver->reply));
    rt_task_cancel(&driver->task);
    EXPECT_EQ(driver->unwound, 1);
    EXPECT(!rt_reply_wanted(&driver->reply));
    EXPECT(driver->reply.future.finished); /* Dropped: the operation must see that. */
    EXPECT(rt_slot_empty(&driver->reply.slot));
    char *stack = driver->bed->stacks.memory[0];
    memset(stack, 0x11, FIBER_STACK_SIZE);
    uint64_t word = 5;
    EXPECT(!rt_reply_complete(&driver->reply, &word, 1));
    for (size_t i = 0; i < FIBER_STACK_SIZE; i++) {
        EXPECT_EQ(stack[i], 0x11);
    }
    EXPECT_EQ(driver->bed->result, NO_RESULT);
    EXPECT_EQ(driver->bed->trap, NO_TRAP);
    driver_free(&driver);
}

/*
 * Goal: a future that drops a call, as an expired timeout does, deletes it, unless it has returned.
 * Method: drop one that waits for its host function: it has unwound, and a deletion is a fault;
 * drop one that has returned: the deletion is still to come. Holds F12.
 */
TEST(call_dropped_as_a_future_is_deleted_unless_it_has_returned)
{
    for (unsigned returned = 0; returned < 2; returned++) {
        struct driver *driver = driver_new(1, 0);
        struct rt_call *call = &driver->bed->call;
        rt_task_detach(&driver->task);
        driver->at_once = returned != 0;
        EXPECT_EQ(rt_call_poll(call), returned != 0);
        rt_future_drop(&call->future);
        EXPECT_EQ(driver->unwound, returned != 0 ? 0 : 1);
        if (returned != 0) {
            rt_call_delete(call);
        }
        EXPECT_FAULT(RT_E_STALE, rt_call_delete(call));
        driver_free(&driver);
    }
}

/*
 * Goal: a deletion between the suspend and the taking of the side channel leaves nothing there.
 * Method: poll the call by hand, do not take what is pending, delete; the store can be ended. Holds
 * F10, F11.
 */
TEST(call_deleted_with_an_untaken_pending_drops_it)
{
    struct driver *driver = driver_new(1, 0);
    rt_task_detach(&driver->task);
    EXPECT(!rt_call_poll(&driver->bed->call));
    EXPECT(driver->bed->store.pending == &driver->reply.future);
    EXPECT_FAULT(RT_E_IN_USE, rt_store_fini(&driver->bed->store));
    rt_call_delete(&driver->bed->call);
    EXPECT(driver->bed->store.pending == NULL);
    EXPECT(driver->reply.future.finished);
    EXPECT(!rt_reply_complete(&driver->reply, NULL, 0));
    fiber_bed_free(&driver->bed);
}

/*
 * Goal: the side channel is taken once, and holds one.
 * Method: take it twice; set it twice; end the store with one in it. Holds F8, F10.
 */
TEST(store_pending_is_taken_once)
{
    struct fiber_bed *bed = fiber_bed_new();
    struct rt_sleep_future a;
    struct rt_sleep_future b;
    rt_sleep_future_init(&a, 1);
    rt_sleep_future_init(&b, 1);
    EXPECT(rt_store_take_pending(&bed->store) == NULL);
    rt_store_set_pending(&bed->store, &a.future);
    EXPECT_FAULT(RT_E_BUSY, rt_store_set_pending(&bed->store, &b.future));
    EXPECT_FAULT(RT_E_IN_USE, rt_store_fini(&bed->store));
    EXPECT(rt_store_take_pending(&bed->store) == &a.future);
    EXPECT(rt_store_take_pending(&bed->store) == NULL);
    fiber_bed_free(&bed);
}

static void
host_contradictory(struct rt_host_call *host)
{
    struct driver *driver = host->guest->store->data;
    rt_reply_begin(&driver->reply, host);
    host->continuation = (struct rt_continuation){.callback = rt_answered};
}

static void
contradictory_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, host_contradictory, arguments, results);
}

/*
 * Goal: a guest that has its answer waits for nothing.
 * Method: a host function that says both. Holds F9.
 */
TEST(host_function_ready_and_pending_is_a_fault)
{
    struct driver *driver = driver_new(1, 0);
    rt_call_delete(&driver->bed->call);
    fiber_bed_call(driver->bed, contradictory_guest);
    EXPECT_FAULT_ON(&driver->bed->call.guest.fiber.context, RT_E_INVALID,
            (void)rt_call_poll(&driver->bed->call));
    free(driver->bed);
    free(driver);
}

/*
 * Goal: errors travel through the trap, and the pending future only ends.
 * Method: an operation that fails. Holds F10.
 */
TEST(reply_that_fails_traps_the_guest)
{
    struct driver *driver = driver_new(3, 0);
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT(rt_reply_fail(&driver->reply, RT_TRAP_HOST));
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT_EQ(driver->bed->trap, RT_TRAP_HOST);
    EXPECT_EQ(driver->bed->result, NO_RESULT);
    EXPECT_EQ(driver->asks, 1);
    driver_free(&driver);
}

/*
 * Goal: a reply has one use at a time, and one completion.
 * Method: complete it twice, before any begin, and begin it while it is in use. Holds F11.
 */
TEST(reply_misused_is_a_fault)
{
    struct driver *driver = driver_new(1, 0);
    uint64_t word = 5;
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_reply_complete(&driver->reply, &word, 1));
    EXPECT_EQ(bed_run(&driver->executor), 1);
    struct rt_host_call *host = driver->reply.host;
    EXPECT_FAULT(RT_E_BUSY, rt_reply_begin(&driver->reply, host));
    EXPECT(rt_reply_complete(&driver->reply, &word, 1));
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_reply_complete(&driver->reply, &word, 1));
    EXPECT_FAULT(RT_E_BUSY, rt_reply_begin(&driver->reply, host));
    EXPECT_EQ(bed_run(&driver->executor), 1);
    EXPECT_EQ(driver->bed->result, 5);
    driver_free(&driver);
}
