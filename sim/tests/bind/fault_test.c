/*
 * fault_test.c -- the faults around a task: cancel, migrate; and the clock.
 *
 * Each has two programs: a correct one survives it in every run, and one with a bug of that kind
 * is found, and only with the fault.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/tests/lab.h"

#define SEEDS 300u

/* How many of SEEDS runs do not pass; one quiescence is audited in `audit_one_in`. */
static uint32_t
failures_audited(const struct sim_scenario *scenario, uint64_t faults, uint64_t audit_one_in)
{
    struct sim_scenario brave = *scenario;
    brave.survives = faults;
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0xa5);
    struct sim_options options;
    sim_options_init(&options, &brave);
    options.audit_one_in = audit_one_in;
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        failed += lab_judge_with(lab, &brave, &options, seed, false).verdict != SIM_VERDICT_PASS;
    }
    lab_fini(lab);
    free(lab);
    return failed;
}

static uint32_t
failures(const struct sim_scenario *scenario, uint64_t faults)
{
    return failures_audited(scenario, faults, 32);
}

/* ---- A bell that is signalled once, and a task that also waits for something else. ----------- */

struct bell {
    struct rt_slot listener;
    struct rt_slot other; /* Never fired; satisfies T12. */
    bool registered;
    bool signalled;
    bool forgetful; /* Keeps the waker of the first poll (W11 broken). */
    struct rt_task hearer;
    struct rt_task ringer;
    uint32_t left; /* The ringer's polls. */
};

static rt_poll
hear(struct rt_task *task, struct rt_cx *cx)
{
    struct bell *bell = rt_container_of(task, struct bell, hearer);
    if (bell->signalled) {
        (void)rt_slot_clear(&bell->listener);
        (void)rt_slot_clear(&bell->other);
        return RT_READY;
    }
    if (!bell->forgetful || !bell->registered) {
        rt_slot_replace(&bell->listener, cx, "the bell");
        bell->registered = true;
    }
    rt_slot_replace(&bell->other, cx, "the door");
    return RT_PENDING;
}

static rt_poll
ring(struct rt_task *task, struct rt_cx *cx)
{
    struct bell *bell = rt_container_of(task, struct bell, ringer);
    if (bell->left-- > 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    bell->signalled = true;
    (void)rt_slot_wake(&bell->listener);
    return RT_READY;
}

static void
bell_setup(struct sim_world *world, bool forgetful)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bell *bell = sim_new(world, struct bell);
    bell->forgetful = forgetful;
    bell->left = 3;
    rt_slot_init(&bell->listener);
    rt_slot_init(&bell->other);
    rt_task_init(&bell->hearer, hear, NULL, "hearer");
    rt_task_init(&bell->ringer, ring, NULL, "ringer");
    sim_spawn(rt, &bell->hearer);
    sim_spawn(rt, &bell->ringer);
}

static void
bell_fixed(struct sim_world *world)
{
    bell_setup(world, false);
}

static void
bell_broken(struct sim_world *world)
{
    bell_setup(world, true);
}

static const struct sim_scenario good_bell = {.name = "test/bell", .setup = bell_fixed};
static const struct sim_scenario bad_bell = {.name = "test/bad-bell", .setup = bell_broken};

/*
 * Goal: after a migration only the wakes of the new waker count.
 * Method: a future that keeps the waker of its first poll, which is harmless while its task has the
 * same waker. Holds W11.
 */
TEST(migrate_finds_a_future_that_keeps_its_first_waker)
{
    EXPECT_EQ(failures(&bad_bell, 0), 0);
    ck_assert_uint_gt(failures(&bad_bell, SIM_FAULT_MIGRATE), 10);
    EXPECT_EQ(failures(&good_bell, SIM_FAULT_MIGRATE), 0);
}

TEST(migrate_goes_together_with_cancel_and_reentrancy)
{
    uint64_t all = SIM_FAULT_MIGRATE | SIM_FAULT_CANCEL | SIM_FAULT_REENTRANCY;
    struct sim_scenario background = good_bell;
    EXPECT_EQ(failures(&background, SIM_FAULT_MIGRATE | SIM_FAULT_REENTRANCY), 0);
    /* A cancelled ringer rings no bell: the claim to survive that is wrong, and is refuted. */
    ck_assert_uint_gt(failures(&background, all), 0);
}

/* ---- The clock. ------------------------------------------------------------------------------ */

struct reader {
    struct rt_task task;
    struct rt_sleep sleep;
    uint64_t latest_ns;
    uint32_t left;
};

static uint32_t steps_back;

static rt_poll
read_clock(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    uint64_t now_ns = rt_cx_now(cx);
    steps_back += now_ns < reader->latest_ns;
    reader->latest_ns = now_ns > reader->latest_ns ? now_ns : reader->latest_ns;
    if (reader->left == 0) {
        return RT_READY;
    }
    if (rt_sleep_poll(&reader->sleep, cx) == RT_READY) {
        reader->left--;
        rt_sleep_init(&reader->sleep, 1000000);
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

static void
reader_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reader *reader = sim_new(world, struct reader);
    reader->left = 4;
    rt_sleep_init(&reader->sleep, 1000000);
    rt_task_init(&reader->task, read_clock, NULL, "reader");
    sim_spawn(rt, &reader->task);
}

static const struct sim_scenario waiter = {.name = "test/clock", .setup = reader_setup};

/* Goal: under fault `clock` a reading may be older than the one before it, and sleeping tasks are
 * still woken. Holds M11. */
TEST(clock_reads_backwards_only_under_fault_clock)
{
    steps_back = 0;
    EXPECT_EQ(failures(&waiter, 0), 0);
    EXPECT_EQ(steps_back, 0);
    EXPECT_EQ(failures(&waiter, SIM_FAULT_CLOCK), 0);
    ck_assert_uint_gt(steps_back, 0);
}

/* ---- Under a loop. --------------------------------------------------------------------------- */

#define LETTERS 12u
#define PACE_NS UINT64_C(5000000)
/* The host may leave a ready one out of a few polls (P6). */
#define LOOKS 8u

/* Letters that arrive one after the other, and a task that takes them. */
struct post {
    struct sim_rt *rt;
    struct sim_source *letters;
    struct rt_task task;
    struct rt_pollable pollable;
    struct rt_wait wait;
    uint32_t taken;
};

static rt_poll
take_letters(struct rt_task *task, struct rt_cx *cx)
{
    struct post *post = rt_container_of(task, struct post, task);
    while (post->taken < LETTERS) {
        rt_err err;
        RT_AWAIT_INTO(
                err, sim_source_take(post->letters), rt_wait_for(&post->wait, &post->pollable, cx));
        EXPECT_EQ(err, RT_OK);
        post->taken++;
    }
    rt_pollable_drop(&post->pollable);
    return RT_READY;
}

static struct post *
post_new(struct sim_world *world)
{
    struct post *post = sim_new(world, struct post);
    post->rt = sim_rt_new(world, &(struct sim_rt_options){.by_loop = true});
    post->letters = sim_source_new(sim_rt_host(post->rt), "letters");
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_source_event_in(post->letters, 1000, PACE_NS);
    }
    EXPECT_EQ(sim_source_subscribe(post->letters, &post->pollable), RT_OK);
    rt_wait_init(&post->wait);
    rt_task_init(&post->task, take_letters, NULL, "taker");
    return post;
}

static void
sleep_in_host(struct sim_world *world, void *argument)
{
    struct post *post = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(post->rt), &post->task) == RT_OK);
    SIM_ALWAYS(post->taken == LETTERS);
}

static void
look_now_and_then(struct sim_world *world, void *argument)
{
    struct post *post = argument;
    struct rt_runtime *runtime = sim_rt_runtime(post->rt);
    struct rt_run_result result = {0, 1, RT_STALL_SLEEPING};
    sim_spawn(post->rt, &post->task);
    while (result.remaining > 0) {
        SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, UINT64_MAX, &result) == RT_OK);
        sim_sleep(world, PACE_NS);
        SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_POLL, NULL) == RT_OK);
    }
}

static void
sleeping_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "main", sleep_in_host, post_new(world));
}

static void
looking_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "main", look_now_and_then, post_new(world));
}

static const struct sim_scenario sleeping = {.name = "test/sleeping", .setup = sleeping_setup};
static const struct sim_scenario looking = {
        .name = "test/looking", .setup = looking_setup, .slack_ns = LOOKS * PACE_NS};

/*
 * Goal: faults on a task are deferred while its loop is blocked.
 * Method: a loop that blocks in its host without expecting wakes from outside. With another waker
 * its task would not be polled before the next letter, and the loop could not be notified.
 */
TEST(faults_are_deferred_while_the_loop_is_blocked)
{
    uint64_t faults = SIM_FAULT_MIGRATE | SIM_FAULT_REENTRANCY;
    EXPECT_EQ(failures_audited(&sleeping, 0, 1), 0);
    EXPECT_EQ(failures_audited(&sleeping, faults, 1), 0);
    EXPECT_EQ(failures_audited(&looking, faults, 1), 0);
}

/* Goal: no wake is late because of a suspend. Method: a loop that polls every 5 ms and declares
 * that slack, under a clock that jumps by up to a second. */
TEST(clock_that_jumps_makes_no_wake_late)
{
    EXPECT_EQ(failures_audited(&looking, 0, 1), 0);
    EXPECT_EQ(failures_audited(&looking, SIM_FAULT_CLOCK, 1), 0);
}
