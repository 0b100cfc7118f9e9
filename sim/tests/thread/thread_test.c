/*
 * thread_test.c -- threads as actors: decision points, waits, the end of a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/thread.h"

#include "runtime/tests/test.h"
#include "sim/core/scenario.h"
#include "sim/tests/lab.h"

/* Of the run in progress: in its memory, as a copy of the arena must have all of it. */
struct state {
    struct sim_world *world;
    struct sim_sync *signalled;
    uint32_t ready;
    uint32_t order[64]; /* Which thread was where, in order. */
    uint32_t count;
    enum sim_woken woken;
    bool spurious;
    uint64_t due_ns;
};

static struct state *
state_of(void)
{
    return sim_world_current->state;
}

static struct sim_thread *
spawn(struct sim_world *world, void *(*fn)(void *), uintptr_t argument)
{
    const struct sim_thread_start start = {.fn = fn, .argument = (void *)argument};
    return sim_thread_spawn(world, &start);
}

static struct state *
state_new(struct sim_world *world)
{
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->signalled = sim_sync_at(world, &state->ready, SIM_SYNC_COND);
    state->due_ns = SIM_NEVER;
    state->spurious = true;
    sim_set_state(world, state);
    return state;
}

/* ---- Decision points. ------------------------------------------------------------------------ */

static void *
walker(void *argument)
{
    struct state *state = state_of();
    for (int i = 0; i < 4; i++) {
        sim_thread_point();
        state->order[state->count++] = (uint32_t)(uintptr_t)argument;
    }
    return argument;
}

static void
two_walkers(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, walker, 1);
    (void)spawn(world, walker, 2);
}

static uint32_t
changes(const struct state *state)
{
    uint32_t changes = 0;
    for (uint32_t i = 1; i < state->count; i++) {
        changes += state->order[i] != state->order[i - 1];
    }
    return changes;
}

static uint32_t fewest, most;

static void
note_changes(struct sim_world *world, void *state)
{
    uint32_t found = changes(state);
    (void)world;
    SIM_ALWAYS(((struct state *)state)->count == 8);
    fewest = found < fewest ? found : fewest;
    most = found > most ? found : most;
}

static const struct sim_scenario walks = {
        .name = "test/walks", .setup = two_walkers, .check = note_changes};

/*
 * Goal: by default the running thread continues, so each deviation is a pre-emption.
 * Method: two threads with four points each: one change of thread in the baseline run; random runs
 * have up to seven.
 */
TEST(thread_points_continue_by_default)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    fewest = UINT32_MAX;
    most = 0;
    struct sim_outcome outcome = lab_run(&lab, &walks, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert_int_eq(outcome.deviations, 0);
    ck_assert_int_eq(most, 1);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        outcome = lab_run(&lab, &walks, seed, false);
        ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    }
    ck_assert_int_eq(fewest, 1);
    ck_assert_int_eq(most, 7);
    lab_fini(&lab);
}

static bool
never_before_all_have_ended(struct sim_world *world, void *state)
{
    (void)state;
    return world->foreground == 0;
}

static const struct sim_scenario walks_by_the_world = {.name = "test/walks",
        .setup = two_walkers,
        .check = note_changes,
        .done = never_before_all_have_ended};

/*
 * Goal: a step that is begun on a thread's stack is the step that the world would have begun.
 * Method: the same runs with a `done`, which makes the world take each step itself: the digests,
 * which have all events, are equal.
 */
TEST(thread_switches_are_the_worlds_steps)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t direct = lab_run(&lab, &walks, seed, false).digest;
        ck_assert(direct != 0);
        ck_assert(direct == lab_run(&lab, &walks_by_the_world, seed, false).digest);
    }
    lab_fini(&lab);
}

/* ---- A thread that looks again and again. ---------------------------------------------------- */

static void *
spinner(void *argument)
{
    struct state *state = state_of();
    while (state->ready == 0) {
        sim_thread_point();
    }
    return argument;
}

static void *
setter(void *argument)
{
    sim_thread_point();
    state_of()->ready = 1;
    return argument;
}

static void
spin(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, spinner, 1);
    (void)spawn(world, setter, 2);
}

static void
spin_in_vain(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, spinner, 1);
    (void)spawn(world, spinner, 2);
}

static const struct sim_scenario spins = {.name = "test/spins", .setup = spin};
static const struct sim_scenario spins_in_vain = {.name = "test/vain", .setup = spin_in_vain};

/*
 * Goal: a thread that waits by looking gives way, also in the baseline run; one that waits in vain
 * is a livelock.
 * Method: the spinner comes first. Two spinners without a setter.
 */
TEST(thread_that_spins_gives_way)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    struct sim_outcome outcome = lab_run(&lab, &spins, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert_uint_ge(outcome.steps, SIM_THREAD_ROW);
    ck_assert_uint_lt(outcome.steps, SIM_THREAD_ROW + 10);
    ck_assert_int_eq(lab_run(&lab, &spins_in_vain, 1, false).verdict, SIM_VERDICT_LIVELOCK);
    lab_fini(&lab);
}

static const struct sim_scenario spins_by_the_world = {
        .name = "test/spins", .setup = spin, .done = never_before_all_have_ended};

/*
 * Goal: when it gives way does not depend on whether the world is asked in between, as it is for a
 * stop of the judge, a checkpoint, or a debugger.
 * Method: the same run with a `done`, which makes the world take each step itself.
 */
TEST(thread_that_spins_gives_way_in_both_ways)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bool baseline = seed == 1;
        uint64_t direct = lab_run(&lab, &spins, seed, baseline).digest;
        ck_assert(direct == lab_run(&lab, &spins_by_the_world, seed, baseline).digest);
    }
    lab_fini(&lab);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static void *
waiter(void *argument)
{
    struct state *state = state_of();
    sim_thread_point();
    while (state->ready == 0) {
        if (argument != NULL) {
            sim_thread_point(); /* Not held by a lock: a signal may come here. */
        }
        const struct sim_thread_wait wait = {
                .sync = state->signalled, .spurious = state->spurious, .due_ns = state->due_ns};
        state->woken = sim_thread_block(&wait);
        if (state->woken == SIM_WOKEN_TIMEOUT) {
            return NULL;
        }
    }
    return argument;
}

static void *
ringer(void *argument)
{
    struct state *state = state_of();
    sim_thread_point();
    state->ready = 1;
    (void)sim_thread_wake_one(state->world, state->signalled, NULL, true);
    return argument;
}

static void
ring_late(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, waiter, 1);
    (void)spawn(world, ringer, 2);
}

static void
ring_in_time(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, waiter, 0);
    (void)spawn(world, ringer, 2);
}

static void
ring_never(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, waiter, 1);
}

static void
time_out(struct sim_world *world)
{
    state_new(world)->due_ns = 5000000;
    (void)spawn(world, waiter, 1);
}

static void
ring_a_mutex(struct sim_world *world)
{
    state_new(world)->spurious = false;
    (void)spawn(world, waiter, 1);
    (void)spawn(world, ringer, 2);
}

static const struct sim_scenario rings_late = {.name = "test/late", .setup = ring_late};
static const struct sim_scenario rings_in_time = {.name = "test/in-time", .setup = ring_in_time};
static const struct sim_scenario rings_never = {.name = "test/never", .setup = ring_never};
static const struct sim_scenario times_out = {.name = "test/time-out", .setup = time_out};
static const struct sim_scenario rings_mutex = {.name = "test/mutex", .setup = ring_a_mutex};

static uint32_t
count(struct lab *lab, const struct sim_scenario *scenario, enum sim_verdict verdict)
{
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        count += lab_judge(lab, scenario, seed, false).verdict == verdict;
    }
    return count;
}

/*
 * Goal: a signal between check and sleep is a lost wake-up, and the same waiter without that gap
 * passes; the judge asks a thread whose wait may end for nothing, and no other.
 * Method: four waiters. The one that may not be asked ends in deadlock by the same interleavings.
 */
TEST(thread_wait_is_judged)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    uint32_t lost = count(&lab, &rings_late, SIM_VERDICT_LOST_WAKEUP);
    ck_assert_int_gt(lost, 10);
    ck_assert_int_eq(count(&lab, &rings_late, SIM_VERDICT_PASS), 300 - lost);
    ck_assert_int_eq(count(&lab, &rings_in_time, SIM_VERDICT_PASS), 300);
    ck_assert_int_eq(lab_judge(&lab, &rings_never, 1, false).verdict, SIM_VERDICT_DEADLOCK);
    ck_assert_int_eq(count(&lab, &rings_mutex, SIM_VERDICT_DEADLOCK), lost);
    lab_fini(&lab);
}

/*
 * Goal: a wait with a time ends at that time, and is judged as one that its program has chosen.
 * Method: one thread, 5 ms, no signal.
 */
TEST(thread_wait_times_out)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    struct sim_outcome outcome = lab_judge(&lab, &times_out, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert_uint_ge(outcome.sim_ns, 5000000);
    lab_fini(&lab);
}

/* ---- The end. -------------------------------------------------------------------------------- */

static void *
child(void *argument)
{
    sim_thread_point();
    if (argument != NULL) {
        sim_thread_exit(argument);
    }
    return (void *)7;
}

static void
note(void *argument)
{
    struct state *state = state_of();
    state->order[state->count++] = (uint32_t)(uintptr_t)argument;
}

static void *
parent(void *argument)
{
    struct sim_thread *self = sim_thread_now;
    struct sim_thread_cleanup *cleanups = sim_zalloc(self->actor.world, 2 * sizeof(*cleanups));
    SIM_ALWAYS(sim_thread_join(spawn(self->actor.world, child, 0), NULL) == (void *)7);
    SIM_ALWAYS(sim_thread_join(spawn(self->actor.world, child, 9), NULL) == (void *)9);
    cleanups[0] = (struct sim_thread_cleanup){note, (void *)1, NULL};
    cleanups[1] = (struct sim_thread_cleanup){note, (void *)2, &cleanups[0]};
    self->cleanups = &cleanups[1];
    return argument;
}

static void
family(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, parent, 1);
}

static void
check_family(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->count == 2);
    SIM_ALWAYS(state->order[0] == 2 && state->order[1] == 1);
}

static void *
leaver(void *argument)
{
    (void)argument;
    sim_thread_point();
    sim_thread_end_program();
}

static void
leave_others(struct sim_world *world)
{
    (void)state_new(world);
    (void)spawn(world, waiter, 1);
    (void)spawn(world, leaver, 2);
}

static const struct sim_scenario families = {
        .name = "test/family", .setup = family, .check = check_family};
static const struct sim_scenario leaves_others = {.name = "test/leaves", .setup = leave_others};

/*
 * Goal: a joined thread's result arrives, cleanups run at the end, the last one first, and a
 * program may end while threads are blocked.
 * Method: 300 runs each.
 */
TEST(thread_ends)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    ck_assert_int_eq(count(&lab, &families, SIM_VERDICT_PASS), 300);
    ck_assert_int_eq(count(&lab, &leaves_others, SIM_VERDICT_PASS), 300);
    lab_fini(&lab);
}
