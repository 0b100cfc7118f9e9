/*
 * order_test.c -- steps in a simpler order: the strategy `ordered`, and the passes that use it.
 *
 * Six tasks yield six times. What matters is one pair of steps: the last task sets a cell that the
 * first one reads, and it fails when it was set early.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/cell.h"
#include "sim/engine/shrink/shrink_priv.h"
#include "sim/rewake.h"

#define TASKS 6u
#define TURNS 6u

struct crowd;

struct walker {
    struct rt_task task;
    struct crowd *crowd;
    uint32_t number;
    uint32_t turns;
};

struct crowd {
    struct sim_cell flag;
    struct walker walkers[TASKS];
};

static rt_poll
walker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct walker *walker = rt_container_of(task, struct walker, task);
    uint32_t turn = walker->turns++;
    if (walker->number == 0 && turn == 2) {
        SIM_ALWAYS(sim_cell_get(&walker->crowd->flag) == 0);
    }
    if (walker->number == TASKS - 1 && turn == 3) {
        sim_cell_set(&walker->crowd->flag, 1);
    }
    if (walker->turns < TURNS) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct crowd *crowd = sim_new(world, struct crowd);
    sim_cell_init(world, &crowd->flag, "flag", 0);
    for (uint32_t i = 0; i < TASKS; i++) {
        crowd->walkers[i].crowd = crowd;
        crowd->walkers[i].number = i;
        rt_task_init(&crowd->walkers[i].task, walker_poll, NULL, "walker");
        sim_spawn(rt, &crowd->walkers[i].task);
    }
}

static const struct sim_scenario scenario = {
        .name = "test/order", .about = "A test.", .setup = setup};

static const struct sim_outcome *
fly(struct sim_single *single, enum sim_how how, uint64_t seed, const struct sim_tape *tape)
{
    struct sim_options options;
    sim_options_init(&options, &scenario);
    options.spurious_one_in = 0;
    const struct sim_run_spec candidate = {.scenario = &scenario,
            .options = options,
            .seed = seed,
            .how = (uint32_t)how,
            .tape = tape};
    const struct sim_outcome *outcome = sim_single_run(single, &candidate);
    EXPECT(outcome != NULL);
    return outcome;
}

/* The in-run indices of the actors that stepped, in order; returns how many. */
static uint32_t
who_stepped(const struct sim_single *single, uint32_t *actors, uint32_t most)
{
    const struct sim_recorder *recorder = sim_single_recorder(single);
    uint32_t count = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count && count < most; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->kind == SIM_EVENT_STEP) {
            actors[count++] = event->actor;
        }
    }
    return count;
}

static struct sim_deviation
step_of(uint32_t actor, uint32_t nth)
{
    return (struct sim_deviation){
            .stream = actor, .ordinal = nth, .kind = SIM_KIND_RUN, .n = 2, .index = 1};
}

/*
 * Goal: a pair is kept, and everything else goes as in the baseline.
 * Method: the first task's second step after the last one's fifth; an actor that need not
 * wait steps in turn. What the run wrote is a strict tape of it.
 */
TEST(ordered_run_keeps_its_pairs_and_is_plain_otherwise)
{
    struct sim_single single;
    uint32_t plain[TASKS * TURNS];
    uint32_t actors[TASKS * TURNS];
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 300);
    (void)fly(&single, SIM_HOW_LENIENT, 0, NULL);
    EXPECT_EQ(who_stepped(&single, plain, TASKS * TURNS), TASKS * TURNS);
    uint32_t first = plain[0];
    uint32_t last = plain[TASKS - 1];
    struct sim_deviation entries[2] = {step_of(first, 1), step_of(last, 4)};
    const struct sim_tape tape = {entries, 2, 2};
    EXPECT_EQ(fly(&single, SIM_HOW_ORDERED, 0, &tape)->verdict, SIM_VERDICT_INVARIANT);
    uint64_t digest = sim_single_outcome(&single)->digest;
    uint32_t count = who_stepped(&single, actors, TASKS * TURNS);
    uint32_t of_last = 0;
    uint32_t of_first = 0;
    for (uint32_t i = 0; i < count; i++) {
        of_last += actors[i] == last;
        of_first += actors[i] == first;
        EXPECT(of_first < 2 || of_last >= 5);
        EXPECT(i >= TASKS || actors[i] == plain[i]);
    }
    EXPECT(of_first >= 2);
    struct sim_deviation written[64];
    struct sim_tape done = sim_single_deviations(&single);
    EXPECT(done.count > 0 && done.count <= 64);
    memcpy(written, done.entries, done.count * sizeof(*written));
    const struct sim_tape strict = {written, done.count, 64};
    EXPECT_EQ(fly(&single, SIM_HOW_STRICT, 0, &strict)->verdict, SIM_VERDICT_INVARIANT);
    EXPECT(sim_single_outcome(&single)->digest == digest);
    sim_single_fini(&single);
}

/* What cannot be kept is kept as far as it can: here each of two waits for the other. */
TEST(ordered_run_goes_on_where_all_have_to_wait)
{
    struct sim_single single;
    uint32_t plain[TASKS * TURNS];
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 300);
    (void)fly(&single, SIM_HOW_LENIENT, 0, NULL);
    (void)who_stepped(&single, plain, TASKS * TURNS);
    struct sim_deviation entries[4];
    uint32_t low = plain[1] < plain[2] ? plain[1] : plain[2];
    uint32_t high = plain[1] < plain[2] ? plain[2] : plain[1];
    entries[0] = step_of(low, 0);
    entries[1] = step_of(high, 0);
    entries[2] = step_of(high, 0);
    entries[3] = step_of(low, 0);
    const struct sim_tape tape = {entries, 4, 4};
    EXPECT_EQ(fly(&single, SIM_HOW_ORDERED, 0, &tape)->verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(sim_single_outcome(&single)->steps, TASKS * TURNS);
    sim_single_fini(&single);
}

/*
 * Goal: one sorting leaves of a walk at random only what the failure needs.
 * Method: a failing run has more than ten steps out of turn; sorted, by one candidate, fewer than
 * half of them, and it fails all the same.
 */
TEST(shrink_sort_keeps_the_order_that_matters)
{
    struct sim__shrinker *shrinker = calloc(1, sizeof(*shrinker));
    struct sim_deviation entries[64];
    struct sim_outcome failure = {.seed = 0};
    struct sim_options options;
    uint64_t seed = 0;
    uint32_t preemptions = 0;
    EXPECT(shrinker != NULL);
    sim_single_init(&shrinker->single, NULL, &sim_shared_for_candidates, 300);
    while (failure.verdict == SIM_VERDICT_PASS || preemptions <= 10) {
        EXPECT(++seed < 5000);
        failure = *fly(&shrinker->single, SIM_HOW_RANDOM, seed, NULL);
        preemptions = failure.deviations <= 64 ? failure.deviations : 0;
    }
    struct sim_tape done = sim_single_deviations(&shrinker->single);
    memcpy(entries, done.entries, done.count * sizeof(*entries));
    const struct sim_tape tape = {entries, done.count, 64};
    sim_options_init(&options, &scenario);
    options.spurious_one_in = 0;
    const struct sim_shrink_plan plan = {.spec.scenario = &scenario,
            .spec.options = options,
            .spec.tape = &tape,
            .failure = &failure,
            .replays_max = 100,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = 300};
    shrinker->plan = &plan;
    EXPECT(sim__shrink_begin(shrinker));
    uint32_t before = shrinker->key.preemptions;
    sim__shrink_sort(shrinker);
    EXPECT_EQ(shrinker->replays, 2);
    EXPECT(shrinker->key.preemptions * 2 < before);
    EXPECT(shrinker->key.preemptions > 0);
    free(shrinker->best.entries);
    free(shrinker->candidate.entries);
    sim_single_fini(&shrinker->single);
    free(shrinker);
}
