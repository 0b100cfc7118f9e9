/*
 * observe_test.c -- what a run has covered, and when two runs are the same but for their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/rewake.h"
#include "sim/search/cover/observe.h"
#include "sim/tests/lab.h"

static struct sim_cover cover;

/* ---- Runs made by hand. ---------------------------------------------------------------------- */

#define EVENTS 256u

static struct {
    struct sim_event events[EVENTS];
    struct sim_recorder recorder;
} made;

static void
made_begin(void)
{
    made.recorder = (struct sim_recorder){.over = UINT64_MAX, .events_on = true};
    made.recorder.memory.events = made.events;
    made.recorder.memory.events_capacity = EVENTS;
}

static void
made_add(uint32_t kind, uint32_t actor, uint32_t object, uint32_t site, uint64_t argument)
{
    ck_assert_uint_lt(made.recorder.count, EVENTS);
    uint32_t step = made.recorder.count == 0
                            ? 0
                            : made.events[made.recorder.count - 1].step + (kind == SIM_EVENT_STEP);
    made.events[made.recorder.count++] = (struct sim_event){
            .kind = (uint8_t)kind,
            .actor = (uint16_t)actor,
            .object = object,
            .site = site,
            .argument = argument,
            .step = step,
    };
}

/* ---- Brute force over small programs. -------------------------------------------------------- */

#define ACTORS 3u
#define STEPS 3u
#define TRANSITIONS (ACTORS * STEPS)
#define PER_STEP 2u

/* A program: each actor's steps, each step's events. */
struct program {
    struct sim_event events[TRANSITIONS][PER_STEP];
    bool dependent[TRANSITIONS][TRANSITIONS];
};

static uint64_t random_state;

static uint32_t
below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % n);
}

static struct sim_event
any_event(uint32_t site)
{
    static const uint8_t kinds[] = {SIM_EVENT_GET, SIM_EVENT_GET, SIM_EVENT_SET, RT_PROBE_WAKE,
            RT_PROBE_POLL, RT_PROBE_STORE, RT_PROBE_FIRE_EMPTY, SIM_EVENT_READY, RT_PROBE_TURN,
            RT_PROBE_ARM, RT_PROBE_EXPIRE, SIM_EVENT_WRITE, RT_PROBE_COMPLETE, RT_PROBE_WAKE_DEAD,
            RT_PROBE_CLONE, SIM_EVENT_LOG};
    return (struct sim_event){
            .kind = kinds[below(sizeof(kinds))],
            .object = SIM_OBJECT(RT_OBJECT_USER, 0, 1 + below(3)),
            .site = site,
    };
}

static bool
dependent(const struct program *program, uint32_t a, uint32_t b)
{
    if (a / STEPS == b / STEPS) {
        return true;
    }
    for (uint32_t i = 0; i < PER_STEP * PER_STEP; i++) {
        if (sim_events_conflict(
                    &program->events[a][i / PER_STEP], &program->events[b][i % PER_STEP])) {
            return true;
        }
    }
    return false;
}

static void
program_make(struct program *program)
{
    for (uint32_t i = 0; i < TRANSITIONS; i++) {
        for (uint32_t k = 0; k < PER_STEP; k++) {
            program->events[i][k] = any_event(i * PER_STEP + k + 1);
        }
    }
    for (uint32_t i = 0; i < TRANSITIONS * TRANSITIONS; i++) {
        uint32_t a = i / TRANSITIONS;
        uint32_t b = i % TRANSITIONS;
        program->dependent[a][b] = dependent(program, a, b);
    }
}

/* One bit for each pair of dependent transitions: which of them came first. Two interleavings are
 * equivalent when these agree. */
static uint64_t
order_of(const struct program *program, const uint32_t *sequence)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < TRANSITIONS; i++) {
        for (uint32_t k = i + 1; k < TRANSITIONS; k++) {
            uint32_t a = sequence[i];
            uint32_t b = sequence[k];
            uint32_t low = a < b ? a : b;
            uint32_t high = a < b ? b : a;
            if (a > b && program->dependent[a][b]) {
                bits |= UINT64_C(1) << (high * (high - 1) / 2 + low);
            }
        }
    }
    return bits;
}

static uint64_t
hash_of(const struct program *program, const uint32_t *sequence)
{
    struct sim_cover_run run;
    made_begin();
    for (uint32_t i = 0; i < TRANSITIONS; i++) {
        uint32_t actor = 1 + sequence[i] / STEPS;
        made_add(SIM_EVENT_STEP, actor, 0, 0, i * 100);
        for (uint32_t k = 0; k < PER_STEP; k++) {
            const struct sim_event *event = &program->events[sequence[i]][k];
            made_add(event->kind, actor, event->object, event->site, 0);
        }
    }
    made_add(SIM_EVENT_END, 0, 0, 0, 0);
    (void)sim_cover_run(&cover, &made.recorder, NULL, 0, &run);
    ck_assert(!run.partial && !run.coarse);
    ck_assert_uint_eq(run.transitions, TRANSITIONS + 1);
    return run.order_hash;
}

/* All interleavings of the program: 9! / 3!^3. */
#define INTERLEAVINGS 1680u

struct interleaving {
    uint64_t order;
    uint64_t hash;
};

static struct {
    struct interleaving all[INTERLEAVINGS];
    uint32_t count;
    uint32_t sequence[TRANSITIONS];
    uint32_t taken[ACTORS];
} tree;

static void
walk(const struct program *program, uint32_t depth)
{
    if (depth == TRANSITIONS) {
        tree.all[tree.count++] = (struct interleaving){
                order_of(program, tree.sequence), hash_of(program, tree.sequence)};
        return;
    }
    for (uint32_t actor = 0; actor < ACTORS; actor++) {
        if (tree.taken[actor] < STEPS) {
            tree.sequence[depth] = actor * STEPS + tree.taken[actor]++;
            walk(program, depth + 1);
            tree.taken[actor]--;
        }
    }
}

/* What goes with what: keys and values, each key once. */
#define PAIRS 4096u

struct pairs {
    uint64_t keys[PAIRS];
    uint64_t values[PAIRS];
    bool taken[PAIRS];
    uint32_t count;
};

/* Notes that `value` goes with `key`; false when another one does. */
static bool
pairs_agree(struct pairs *pairs, uint64_t key, uint64_t value)
{
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52);
    while (pairs->taken[at] && pairs->keys[at] != key) {
        at = (at + 1) % PAIRS;
    }
    if (!pairs->taken[at]) {
        pairs->taken[at] = true;
        pairs->keys[at] = key;
        pairs->values[at] = value;
        pairs->count++;
    }
    return pairs->values[at] == value;
}

static uint32_t
check_classes(void)
{
    static struct pairs hashes;
    static struct pairs orders;
    memset(&hashes, 0, sizeof(hashes));
    memset(&orders, 0, sizeof(orders));
    for (uint32_t i = 0; i < tree.count; i++) {
        EXPECT(pairs_agree(&orders, tree.all[i].order, tree.all[i].hash));
        EXPECT(pairs_agree(&hashes, tree.all[i].hash, tree.all[i].order));
    }
    return orders.count;
}

/*
 * Goal: the hash is that of the Mazurkiewicz trace: equal for two interleavings exactly when
 * one can be made of the other by exchanging independent neighbours.
 * Method: 30 random programs of 3 actors with 3 steps of 2 events each, over every mode of access
 * and every resource; all 1,680 interleavings of each. Orders of dependent pairs (brute force) and
 * hashes go with each other one to one.
 */
TEST(observe_hash_is_equal_exactly_for_equivalent_interleavings)
{
    struct program program;
    uint32_t all_classes = 0;
    random_state = 1;
    for (uint32_t round = 0; round < 30; round++) {
        program_make(&program);
        tree.count = 0;
        walk(&program, 0);
        ck_assert_uint_eq(tree.count, INTERLEAVINGS);
        all_classes += check_classes();
    }
    /* The programs are neither all independent nor all dependent. */
    ck_assert_uint_gt(all_classes, 30 * 10);
    ck_assert_uint_lt(all_classes, 30 * INTERLEAVINGS / 2);
}

/* ---- Real runs. ------------------------------------------------------------------------------ */

struct adder {
    struct rt_task task;
    struct sim_cell *mine;
    struct sim_cell *shared;
    uint32_t left;
};

static rt_poll
adder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct adder *adder = rt_container_of(task, struct adder, task);
    if (adder->left == 0) {
        return RT_READY;
    }
    (void)sim_cell_add(adder->left == 2 ? adder->shared : adder->mine, 1);
    adder->left--;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
adders(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_cell *cells = sim_zalloc(world, 4 * sizeof(*cells));
    for (uint32_t i = 0; i < 4; i++) {
        sim_cell_init(world, &cells[i], NULL, 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct adder *adder = sim_new(world, struct adder);
        adder->mine = &cells[i];
        adder->shared = &cells[3];
        adder->left = 3;
        rt_task_init(&adder->task, adder_poll, NULL, "adder");
        sim_spawn(rt, &adder->task);
    }
}

static const struct sim_scenario three_adders = {
        .name = "test/adders", .setup = adders, .declared = true};

/* The order in which the three accessed the cell that all share: two digits each. */
static uint32_t
order_at_shared(const struct sim_recorder *recorder)
{
    uint32_t order = 0;
    for (uint64_t i = 0; i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->kind == SIM_EVENT_SET && SIM_OBJECT_NTH(event->object) == 4) {
            order = order * 10 + event->actor;
        }
    }
    return order;
}

/*
 * Goal: what the runtime itself does in a step (queues, wakes, counters) orders nothing that
 * footprint.h does not order.
 * Method: three tasks of three steps; only the middle ones touch what is shared. 400 seeds give
 * hundreds of digests and six hashes, one for each order at the shared cell.
 */
TEST(observe_hash_of_real_runs_depends_on_shared_things_only)
{
    struct lab lab;
    struct {
        uint32_t order;
        uint64_t hash;
    } known[6];
    uint32_t count = 0;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct sim_cover_run run;
        struct sim_outcome outcome = lab_run(&lab, &three_adders, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
        (void)sim_cover_run(&cover, &lab.world.recorder, NULL, 0, &run);
        uint32_t order = order_at_shared(&lab.world.recorder);
        uint32_t i = 0;
        while (i < count && known[i].order != order) {
            ck_assert_uint_ne(known[i].hash, run.order_hash);
            i++;
        }
        if (i == count) {
            ck_assert_uint_lt(count, 6);
            known[count].order = order;
            known[count++].hash = run.order_hash;
        }
        ck_assert_uint_eq(known[i].hash, run.order_hash);
    }
    EXPECT_EQ(count, 6);
    lab_fini(&lab);
}

/* ---- Elements. ------------------------------------------------------------------------------- */

#define SITE_STORE 101u
#define SITE_OTHER 102u
#define SITE_FIRE 103u
#define SITE_ARM 104u
#define TASK SIM_OBJECT(RT_OBJECT_TASK, 0, 1)
#define OTHER SIM_OBJECT(RT_OBJECT_TASK, 0, 2)
#define SLOT SIM_OBJECT(RT_OBJECT_SLOT, 0, 1)
#define SLOT_2 SIM_OBJECT(RT_OBJECT_SLOT, 0, 2)
#define TIMER SIM_OBJECT(RT_OBJECT_TIMER, 0, 1)

static struct sim_element found[SIM_COVER_ELEMENTS_MAX];
static uint32_t found_count;

static void
observe(void)
{
    struct sim_cover_run run;
    found_count = sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
}

static bool
has(uint32_t kind, uint32_t first, uint32_t second)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < found_count; i++) {
        times += found[i].kind == kind && found[i].first == first && found[i].second == second;
    }
    ck_assert_uint_le(times, 1);
    return times == 1;
}

static uint32_t
count_of(uint32_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found_count; i++) {
        count += found[i].kind == kind;
    }
    return count;
}

static void
poll_begins(uint32_t actor, uint32_t task)
{
    made_add(SIM_EVENT_STEP, actor, 0, 0, 0);
    made_add(RT_PROBE_POLL, actor, task, 1, 0);
}

static void
poll_ends(uint32_t actor, uint32_t task)
{
    made_add(RT_PROBE_POLLED, actor, task, 1, 0);
}

static void
wake_by_slot(uint32_t actor, uint32_t slot, uint32_t task, uint32_t site)
{
    made_add(RT_PROBE_FIRE, actor, slot, site, task);
    made_add(RT_PROBE_WAKE, actor, task, site, 0);
}

/* Goal: a poll is put down to the wake that led to it, and to the line that it had waited at. */
TEST(observe_wake_cause_is_the_wake_and_where_the_poll_goes_on)
{
    made_begin();
    poll_begins(1, TASK);
    made_add(RT_PROBE_STORE, 1, SLOT, SITE_STORE, TASK);
    made_add(RT_PROBE_STORE, 1, SLOT_2, SITE_OTHER, TASK);
    poll_ends(1, TASK);
    poll_begins(2, OTHER);
    wake_by_slot(2, SLOT, TASK, SITE_FIRE);
    poll_ends(2, OTHER);
    observe();
    EXPECT_EQ(count_of(SIM_ELEMENT_WAKE_CAUSE), 0);
    poll_begins(1, TASK);
    observe();
    EXPECT(has(SIM_ELEMENT_WAKE_CAUSE, SITE_FIRE, SITE_STORE));
    EXPECT_EQ(count_of(SIM_ELEMENT_WAKE_CAUSE), 1);
    EXPECT(has(SIM_ELEMENT_STORED, SITE_STORE, 0));
    EXPECT(has(SIM_ELEMENT_STORED, SITE_OTHER, 0));
    EXPECT(has(SIM_ELEMENT_FIRED, SITE_STORE, SITE_FIRE));
}

/* Goal: the outcome of a waker is covered by where it was stored and where it ended. */
TEST(observe_wakers_end_where_they_were_stored)
{
    made_begin();
    poll_begins(1, TASK);
    made_add(RT_PROBE_FIRE_EMPTY, 1, SLOT, SITE_FIRE, 0);
    made_add(RT_PROBE_STORE, 1, SLOT, SITE_STORE, TASK);
    poll_ends(1, TASK);
    poll_begins(2, OTHER);
    made_add(RT_PROBE_REPLACE, 2, SLOT, SITE_OTHER, TASK);
    made_add(RT_PROBE_STORE, 2, SLOT, SITE_OTHER, OTHER);
    made_add(RT_PROBE_ERASE, 2, SLOT, SITE_FIRE, OTHER);
    made_add(RT_PROBE_WAKE, 2, TASK, SITE_FIRE, 1);
    observe();
    EXPECT(has(SIM_ELEMENT_FIRED_EMPTY, SITE_FIRE, 0));
    EXPECT(has(SIM_ELEMENT_TOO_EARLY, SITE_FIRE, SITE_STORE));
    EXPECT(has(SIM_ELEMENT_REPLACED, SITE_STORE, SITE_OTHER));
    EXPECT(has(SIM_ELEMENT_ERASED, SITE_OTHER, SITE_FIRE));
    EXPECT(has(SIM_ELEMENT_COALESCED, SITE_FIRE, SITE_STORE));
    EXPECT_EQ(count_of(SIM_ELEMENT_TOO_EARLY), 1);
}

static void
race(bool timer_first)
{
    made_begin();
    poll_begins(1, TASK);
    made_add(RT_PROBE_STORE, 1, TIMER, SITE_ARM, TASK);
    made_add(RT_PROBE_ARM, 1, TIMER, SITE_ARM, 1000);
    made_add(RT_PROBE_STORE, 1, SLOT, SITE_STORE, TASK);
    poll_ends(1, TASK);
    if (timer_first) {
        made_add(SIM_EVENT_CLOCK, 0, 0, 0, 1000);
        made_add(SIM_EVENT_STEP, 3, 0, 0, 0);
        made_add(RT_PROBE_EXPIRE, 3, TIMER, SITE_OTHER, 1000);
        wake_by_slot(3, TIMER, TASK, SITE_OTHER);
        poll_begins(1, TASK);
        made_add(RT_PROBE_ERASE, 1, SLOT, SITE_OTHER, TASK);
    } else {
        poll_begins(2, OTHER);
        wake_by_slot(2, SLOT, TASK, SITE_FIRE);
        poll_begins(1, TASK);
        made_add(RT_PROBE_ERASE, 1, TIMER, SITE_OTHER, TASK);
        made_add(RT_PROBE_DISARM, 1, TIMER, SITE_OTHER, 1000);
    }
    observe();
}

/* Goal: whether the timer or the awaited event was first is covered, in both orders. */
TEST(observe_timer_and_event_are_told_in_their_order)
{
    race(true);
    EXPECT(has(SIM_ELEMENT_TIMER_FIRST, SITE_ARM, SITE_STORE));
    EXPECT_EQ(count_of(SIM_ELEMENT_EVENT_FIRST), 0);
    race(false);
    EXPECT(has(SIM_ELEMENT_EVENT_FIRST, SITE_ARM, SITE_STORE));
    EXPECT_EQ(count_of(SIM_ELEMENT_TIMER_FIRST), 0);
}

/* Goal: a blocked task that another waits for is covered, and one that never blocked is not. */
TEST(observe_blocked_and_blocking_waited_at_the_same_time)
{
    made_begin();
    poll_begins(2, OTHER);
    made_add(RT_PROBE_STORE, 2, SLOT_2, SITE_OTHER, OTHER);
    poll_ends(2, OTHER);
    poll_begins(1, TASK);
    made_add(RT_PROBE_STORE, 1, SLOT, SITE_STORE, TASK);
    poll_ends(1, TASK);
    made_add(SIM_EVENT_STEP, 3, 0, 0, 0);
    wake_by_slot(3, SLOT_2, OTHER, SITE_FIRE);
    poll_begins(2, OTHER);
    wake_by_slot(2, SLOT, TASK, SITE_FIRE);
    observe();
    EXPECT(has(SIM_ELEMENT_BLOCKED_BLOCKING, SITE_STORE, SITE_OTHER));

    made_begin();
    poll_begins(1, TASK);
    made_add(RT_PROBE_STORE, 1, SLOT, SITE_STORE, TASK);
    poll_ends(1, TASK);
    poll_begins(2, OTHER);
    wake_by_slot(2, SLOT, TASK, SITE_FIRE);
    observe();
    EXPECT_EQ(count_of(SIM_ELEMENT_BLOCKED_BLOCKING), 0);
}

/* Goal: a read of a cell that another task wrote is covered; one of the task's own write is not. */
TEST(observe_reads_from_is_told_across_tasks)
{
    uint32_t cell = SIM_OBJECT(RT_OBJECT_USER, 0, 1);
    made_begin();
    made_add(SIM_EVENT_STEP, 1, 0, 0, 0);
    made_add(SIM_EVENT_SET, 1, cell, SITE_STORE, 1);
    made_add(SIM_EVENT_GET, 1, cell, SITE_ARM, 1);
    made_add(SIM_EVENT_STEP, 2, 0, 0, 0);
    made_add(SIM_EVENT_GET, 2, cell, SITE_OTHER, 1);
    observe();
    EXPECT(has(SIM_ELEMENT_READS_FROM, SITE_STORE, SITE_OTHER));
    EXPECT_EQ(count_of(SIM_ELEMENT_READS_FROM), 1);
}

/* Goal: limits are reported and nothing is written beyond the caller's memory. */
TEST(observe_says_what_did_not_fit)
{
    struct sim_element two[3] = {{0, 0, 0}, {0, 0, 0}, {77, 77, 77}};
    struct sim_cover_run run;
    race(true);
    EXPECT_EQ(sim_cover_run(&cover, &made.recorder, two, 2, &run), 2);
    EXPECT(run.cut);
    EXPECT_EQ(two[2].kind, 77);
    EXPECT(!run.partial);
    made.recorder.count += EVENTS;
    (void)sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
    EXPECT(run.partial);
    EXPECT(!run.cut);
}

/* Goal: a goal that the scenario's check reaches counts, and is no part of the run. */
TEST(observe_sees_goals_of_check)
{
    struct sim_cover_run run;
    race(true);
    (void)sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
    uint64_t hash = run.order_hash;
    made.recorder.over = made.recorder.count;
    made_add(SIM_EVENT_GOAL, 0, 0, SITE_FIRE, 0);
    made_add(SIM_EVENT_END, 0, 0, 0, 0);
    observe();
    EXPECT(has(SIM_ELEMENT_GOAL, SITE_FIRE, 0));
    (void)sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
    EXPECT(run.order_hash == hash);
}

/* Goal: how the background was cancelled after the run is no part of it. */
TEST(observe_ends_where_the_run_ends)
{
    struct sim_cover_run run;
    race(true);
    (void)sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
    uint64_t hash = run.order_hash;
    made.recorder.over = made.recorder.count;
    made_add(RT_PROBE_CANCEL, 5, OTHER, SITE_OTHER, 0);
    made_add(SIM_EVENT_END, 0, 0, 0, 0);
    (void)sim_cover_run(&cover, &made.recorder, found, SIM_COVER_ELEMENTS_MAX, &run);
    EXPECT(run.order_hash == hash);
}
