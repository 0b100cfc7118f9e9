/*
 * false_seed_test.c -- a run is stored as a crash or a hang only if it is one alone.
 *
 * Each kind of damage is done in some runs, and must be found at these and at no other. What is
 * true is known from each run made alone in a separate process: by its seed, or, where a
 * strategy drew it, by its tape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/engine/sweep/sweep.h"
#include "sim/engine/worker/shared.h"
#include "sim/rewake.h"

#define RUNS 24u
#define HANG_MS 400u

struct job {
    struct rt_task task;
    struct sim_world *world;
};

static void (*act)(struct sim_world *world);

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    act(rt_container_of(task, struct job, task)->world);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

static const struct sim_scenario scenario = {
        .name = "test/damage", .about = "A test.", .setup = setup};

/* ---- Damage. --------------------------------------------------------------------------------- */

/* In some runs. */
static bool
strikes(struct sim_world *world)
{
    return sim_pick(world, 6) == 3;
}

/* All that this process shares with its parent, by `fill` (256: numbers drawn from a seed). */
static void
overwrite(int fill)
{
    char text[512];
    unsigned long from[64];
    unsigned long to[64];
    int count = 0;
    uint32_t drawn = 12345;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && count < 64 && fgets(text, sizeof(text), maps) != NULL) {
        if (strstr(text, " rw-s ") != NULL) {
            count += sscanf(text, "%lx-%lx", &from[count], &to[count]) == 2;
        }
    }
    for (int i = 0; i < count; i++) {
        for (unsigned long at = from[i]; at < to[i]; at += sizeof(drawn)) {
            drawn = drawn * 1664525u + 1013904223u;
            uint32_t word = fill == 256 ? drawn : (uint32_t)fill * 0x01010101u;
            *(uint32_t *)at = word; /* NOLINT: an address on purpose. */
        }
    }
}

static void
fill_zeros(struct sim_world *world)
{
    if (strikes(world)) {
        overwrite(0);
    }
}

static void
fill_ones(struct sim_world *world)
{
    if (strikes(world)) {
        overwrite(0xff);
    }
}

static void
fill_at_random(struct sim_world *world)
{
    if (strikes(world)) {
        overwrite(256);
    }
}

static struct sim_shared *
shared_of(struct sim_world *world)
{
    return rt_container_of(world, struct sim_shared, world);
}

/* What could be true: the first run has crashed. */
static void
miscount(struct sim_world *world)
{
    struct sim_shared *shared = shared_of(world);
    if (strikes(world) && shared->done > 0) {
        shared->results[0].verdict = SIM_VERDICT_CRASH;
        shared->results[0].failures = 1;
    }
}

/* Likewise: a run before this one is a crash. */
static void
slander(struct sim_world *world)
{
    if (strikes(world)) {
        struct sim_kept *kept = &shared_of(world)->kept[0];
        kept->outcome.verdict = SIM_VERDICT_CRASH;
        kept->outcome.oracle = SIM_ORACLE_PROCESS;
    }
}

static void
close_all(struct sim_world *world)
{
    if (strikes(world)) {
        for (int fd = 3; fd < 200; fd++) {
            (void)close(fd);
        }
    }
}

static void
close_unseen(struct sim_world *world)
{
    if (strikes(world)) {
        (void)syscall(SYS_close_range, 3u, ~0u, 0u);
    }
}

static void
replace_all(struct sim_world *world)
{
    if (strikes(world)) {
        int null = open("/dev/null", O_RDWR);
        for (int fd = 3; fd < 64; fd++) {
            (void)dup2(null, fd);
        }
    }
}

static void
fall(struct sim_world *world)
{
    if (strikes(world)) {
        *(volatile int *)(uintptr_t)(sim_pick(world, 2) * 8) = 1; /* NOLINT: that is the test. */
    }
}

static void
leave_by_exit(struct sim_world *world)
{
    if (strikes(world)) {
        exit(0);
    }
}

static void
spin(struct sim_world *world)
{
    volatile bool always = sim_pick(world, 8) == 3;
    while (always) {
    }
}

/* Outlives the run: nothing puts a static of this program back. */
static volatile int poison;

/* Passes, and the next run in the same process dies of it. */
static void
poison_by_crash(struct sim_world *world)
{
    if (poison != 0) {
        abort();
    }
    poison = strikes(world);
}

static void
poison_by_hang(struct sim_world *world)
{
    while (poison != 0) {
    }
    poison = sim_pick(world, 8) == 3;
}

/* ---- What a sweep stores, and what is true. -------------------------------------------------- */

struct seen {
    uint32_t verdict;
    uint32_t length;
    uint8_t *tape;
};

struct heard {
    struct sim_sink sink;
    struct seen seen[RUNS];
    uint64_t kept;
    uint32_t diverged;
};

static bool
hear_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    struct heard *heard = (struct heard *)(void *)sink;
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_kept *kept = &batch->kept[i];
        struct seen *seen = &heard->seen[kept->outcome.seed - 1];
        EXPECT(seen->tape == NULL);
        seen->verdict = kept->outcome.verdict;
        seen->length = kept->tape_length;
        seen->tape = malloc((size_t)kept->tape_length + 1);
        EXPECT(seen->tape != NULL);
        if (kept->tape_length > 0) {
            memcpy(seen->tape, batch->tapes + kept->tape_offset, kept->tape_length);
        }
        heard->kept++;
        heard->diverged += kept->outcome.verdict == SIM_VERDICT_DIVERGED;
    }
    return true;
}

static bool
hear_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    (void)sink;
    /* What is reported first is alone what it is said to be. */
    EXPECT(failure->same || failure->outcome.verdict == SIM_VERDICT_DIVERGED);
    return true;
}

static bool
hear_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    (void)sink;
    return runs == totals->runs;
}

static bool
is_death(uint32_t verdict)
{
    return verdict == SIM_VERDICT_CRASH || verdict == SIM_VERDICT_HANG;
}

/* How the run ends in a process that has made no other. */
static uint32_t
verdict_alone(const struct sim_sweep_plan *plan, uint64_t seed, const struct seen *seen)
{
    static struct sim_deviation deviations[4096];
    struct sim_tape tape = {deviations, 0, 4096};
    struct sim_single alone;
    struct sim_options options;
    sim_run_spec_options(&plan->spec, seed, &options);
    EXPECT_EQ(sim_tape_decode(&tape, seen->length > 0 ? seen->tape : NULL, seen->length), RT_OK);
    const struct sim_run_spec what = {
            .scenario = plan->spec.scenario,
            .options = options,
            .seed = seed,
            .how = plan->spec.how == SIM_HOW_SEARCH ? SIM_HOW_STRICT : plan->spec.how,
            .tape = &tape,
            .hang_ms = HANG_MS,
    };
    EXPECT(sim_single_alone(&alone, &what));
    uint32_t verdict = sim_single_outcome(&alone)->verdict;
    sim_single_fini(&alone);
    return verdict;
}

/* Sweeps, and answers how many runs have died. */
static uint32_t
expect_true_seeds(const char *name, void (*damage)(struct sim_world *world), const char *strategy,
        uint32_t jobs, uint32_t *ret_diverged)
{
    static struct heard heard;
    char error[SIM_STRATEGY_ERROR_MAX];
    struct sim_pool pool;
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.scenario = &scenario,
            .spec.seed = 1,
            .runs = RUNS,
            .spec.how = strategy != NULL ? SIM_HOW_SEARCH : SIM_HOW_RANDOM,
            .deadline_ms = UINT64_MAX,
            .keep_all = true};
    uint32_t deaths = 0;
    act = damage;
    heard = (struct heard){
            .sink = {.batch = hear_batch, .failure = hear_failure, .tick = hear_tick}};
    sim_options_init(&plan.spec.options, &scenario);
    EXPECT(strategy == NULL || sim_search_parse(strategy, &plan.spec.search, error));
    sim_pool_init(&pool, jobs, HANG_MS);
    sim_sweep_run(&pool, &plan, &heard.sink, &result);
    ck_assert_msg(pool.error[0] == '\0', "%s: %s", name, pool.error);
    EXPECT_EQ(heard.kept, result.totals.runs);
    for (uint64_t i = 0; i < result.totals.runs; i++) {
        uint32_t alone = verdict_alone(&plan, i + 1, &heard.seen[i]);
        ck_assert_msg(is_death(alone) == is_death(heard.seen[i].verdict),
                "%s, %s, %u workers: run %u is a %s in the sweep and a %s alone", name,
                strategy != NULL ? strategy : "random", jobs, (unsigned)i + 1,
                sim_verdict_name(heard.seen[i].verdict), sim_verdict_name(alone));
        deaths += is_death(alone);
        free(heard.seen[i].tape);
    }
    EXPECT_EQ(result.totals.verdicts[SIM_VERDICT_CRASH] + result.totals.verdicts[SIM_VERDICT_HANG],
            deaths);
    sim_pool_fini(&pool);
    *ret_diverged = heard.diverged;
    return deaths;
}

struct kind {
    const char *name;
    void (*damage)(struct sim_world *world);
    bool dies;     /* The run that does it dies, or is seen to have done it. */
    bool diverges; /* Another may die of it. */
};

static const struct kind to_memory[] = {
        {"fill_zeros", fill_zeros, true, false},
        {"fill_ones", fill_ones, true, false},
        {"fill_at_random", fill_at_random, true, false},
};

static const struct kind to_others[] = {
        {"miscount", miscount, false, false},
        {"slander", slander, false, false},
        {"close_all", close_all, true, false},
        {"close_unseen", close_unseen, false, false},
        {"replace_all", replace_all, true, false},
        {"fall", fall, true, false},
        {"leave_by_exit", leave_by_exit, true, false},
        {"poison_by_crash", poison_by_crash, false, true},
};

static void
expect_all(const struct kind *kinds, size_t count, const char *strategy, uint32_t jobs)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t diverged = 0;
        uint32_t deaths =
                expect_true_seeds(kinds[i].name, kinds[i].damage, strategy, jobs, &diverged);
        EXPECT(!kinds[i].dies || deaths > 0);
        EXPECT(kinds[i].diverges || diverged == 0);
        EXPECT(!kinds[i].diverges || jobs > 1 || diverged > 0);
    }
}

#define COUNT(kinds) (sizeof(kinds) / sizeof(*(kinds)))

/*
 * Goal: every crash and every hang that is stored happened to that run alone.
 * Method: each kind of damage, with 1 and 2 workers; each run is repeated, alone.
 */
TEST(false_seed_is_never_stored_by_random)
{
    expect_all(to_others, COUNT(to_others), NULL, 1);
    expect_all(to_others, COUNT(to_others), NULL, 2);
}

TEST(false_seed_is_never_stored_after_a_write_astray)
{
    expect_all(to_memory, COUNT(to_memory), NULL, 1);
}

TEST(false_seed_is_never_stored_after_a_write_astray_of_two_workers)
{
    expect_all(to_memory + 1, 1, NULL, 2);
}

/* Hangs take real time: once. */
TEST(false_seed_is_never_stored_of_a_hang)
{
    uint32_t diverged = 0;
    EXPECT(expect_true_seeds("spin", spin, NULL, 1, &diverged) > 0);
    EXPECT_EQ(diverged, 0);
    EXPECT_EQ(expect_true_seeds("poison_by_hang", poison_by_hang, NULL, 1, &diverged), 0);
    EXPECT(diverged > 0);
}

/* The same where runs are drawn by what others have taught. */
TEST(false_seed_is_never_stored_by_a_portfolio)
{
    expect_all(to_others, COUNT(to_others), "portfolio", 1);
    expect_all(to_others, COUNT(to_others), "portfolio", 2);
}

TEST(false_seed_is_never_stored_by_a_portfolio_after_a_write_astray)
{
    expect_all(to_memory + 1, 1, "portfolio", 1);
}

/* An enumeration cannot go back by one run: its tape says what the run was. */
TEST(false_seed_is_never_stored_by_an_enumeration)
{
    uint32_t diverged = 0;
    EXPECT(expect_true_seeds("fall", fall, "exhaustive", 1, &diverged) > 0);
    EXPECT_EQ(diverged, 0);
    EXPECT_EQ(expect_true_seeds("poison", poison_by_crash, "exhaustive", 1, &diverged), 0);
    EXPECT(diverged > 0);
}
