/*
 * bench_thread.c -- what a decision point of a thread costs, and a queue with a mutex.
 *
 * A step of the adders is a point, an addition and its event, as an atomic of an instrumented
 * program. They run without and with a thread pointer for each thread; the difference is what the
 * pointers cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/decide/strategies.h"
#include "sim/core/record/site.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/thread/tcb.h"
#include "sim/thread/thread.h"

/* ---- Programs. ------------------------------------------------------------------------------- */

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    uint32_t slot;
    uint64_t sum;
    struct sim_sync *word;
};

static void
begin(struct sim_world *world, void *(*fn)(void *), uint32_t threads)
{
    struct shared *shared = sim_new(world, struct shared);
    shared->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    shared->filled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    shared->emptied = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    shared->word = sim_sync_at(world, &shared->sum, SIM_SYNC_FUTEX);
    for (uint32_t i = 0; i < threads; i++) {
        const struct sim_thread_start start = {.fn = fn, .argument = shared};
        (void)sim_thread_spawn(world, &start);
    }
}

static void *
add(void *argument)
{
    struct shared *shared = argument;
    struct sim_world *world = sim_thread_now->actor.world;
    for (int i = 0; i < 100; i++) {
        sim_thread_point();
        shared->sum++;
        if (world->recorder.events_on) {
            sim_world_event(
                    world, SIM_EVENT_SET, sim_sync_object(world, shared->word), 0, 0, shared->sum);
        }
        sim_world_progress(world);
    }
    return NULL;
}

static void
two_adders(struct sim_world *world)
{
    begin(world, add, 2);
}

#define MESSAGES 10u

static void *
produce(void *argument)
{
    struct shared *shared = argument;
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        (void)pthread_mutex_lock(&shared->mutex);
        while (shared->slot != 0) {
            (void)pthread_cond_wait(&shared->emptied, &shared->mutex);
        }
        shared->slot = i;
        (void)pthread_cond_signal(&shared->filled);
        (void)pthread_mutex_unlock(&shared->mutex);
    }
    return NULL;
}

static void *
consume(void *argument)
{
    struct shared *shared = argument;
    pthread_t producer;
    (void)pthread_create(&producer, NULL, produce, shared);
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        (void)pthread_mutex_lock(&shared->mutex);
        while (shared->slot == 0) {
            (void)pthread_cond_wait(&shared->filled, &shared->mutex);
        }
        shared->sum += shared->slot;
        shared->slot = 0;
        (void)pthread_cond_signal(&shared->emptied);
        (void)pthread_mutex_unlock(&shared->mutex);
    }
    (void)pthread_join(producer, NULL);
    return NULL;
}

static void
one_slot(struct sim_world *world)
{
    begin(world, consume, 1);
}

static const struct sim_scenario adds = {.name = "bench/2x100-adds", .setup = two_adders};
static const struct sim_scenario slot = {.name = "bench/slot", .setup = one_slot};

/* ---- Measuring. ------------------------------------------------------------------------------ */

static struct sim_world world;
static struct sim_random random_strategy;
static struct sim_baseline baseline;

/* What a round makes runs of. */
struct load {
    const struct sim_scenario *scenario;
    struct sim_strategy *strategy;
    bool events;
    bool per_step; /* ns a step, not a run. */
};

static double
round_of(void *argument)
{
    const struct load *load = argument;
    struct sim_case what = {.scenario = load->scenario, .strategy = load->strategy};
    struct sim_outcome outcome;
    uint64_t steps = 0;
    uint32_t runs = 500;
    sim_options_init(&what.options, load->scenario);
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < runs; i++) {
        what.seed = i;
        sim_judge(&world, &what, (struct sim_recording){load->events, false}, &outcome);
        steps += outcome.steps;
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf(
                    "seed %u: %s: %s\n", i, sim_verdict_name(outcome.verdict), outcome.message);
            exit(1);
        }
    }
    double took_ns = stopwatch_now_ns() - start_ns;
    return took_ns / (load->per_step ? (double)steps : runs);
}

static struct stopwatch_figure
say(const char *what, struct load load, double target)
{
    struct stopwatch_figure figure = stopwatch_measure(round_of, &load);
    stopwatch_say(what, figure, target);
    return figure;
}

static void *
array(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

int
main(void)
{
    struct sim_strategy *by_chance = &random_strategy.strategy;
    struct sim_strategy *as_it_comes = &baseline.strategy;
    sim_sites_init();
    sim_random_init(&random_strategy);
    sim_baseline_init(&baseline);
    struct sim_world_memory memory = {
            .record = {.events = array(65536, sizeof(struct sim_event)),
                    .events_capacity = 65536,
                    .hashes = array(65536, sizeof(uint64_t)),
                    .hashes_capacity = 65536},
            .tape = {NULL, 0, 0},
    };
    sim_world_init(&world, &memory, NULL, 0xa5);
    stopwatch_head("threads: default options and oracles; ns");
    struct stopwatch_figure plain = say("2 threads x 100 adds, a step, no events",
            (struct load){&adds, by_chance, false, true}, 32);
    (void)say("2 threads x 100 adds, a step, events and digest",
            (struct load){&adds, by_chance, true, true}, 37);
    (void)say("the same, never pre-empted, no events",
            (struct load){&adds, as_it_comes, false, true}, 17);
    (void)say("the same, never pre-empted, events and digest",
            (struct load){&adds, as_it_comes, true, true}, 21);
    (void)say("queue of one slot, 10 messages, a run, no events",
            (struct load){&slot, by_chance, false, false}, 1e9 / 240000);
    (void)say("queue of one slot, 10 messages, a run, events and digest",
            (struct load){&slot, by_chance, true, false}, 1e9 / 210000);
    if (sim_thread_pointers_possible()) {
        sim_thread_pointers_want();
        struct stopwatch_figure own = say("2 threads x 100 adds with own thread pointers, a step",
                (struct load){&adds, by_chance, false, true}, plain.median + 7);
        (void)printf("  own thread pointers cost %.1f ns a step; at most 7\n",
                own.median - plain.median);
    }
    return 0;
}
