/*
 * bench_memory.c -- does a warm world allocate? Ten million runs, and the process's size on the
 * way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/decide/strategies.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"

#define RUNS 10000000u
#define LOOKS 5u

struct yielder {
    struct rt_task task;
    uint32_t left;
};

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct yielder *yielder = rt_container_of(task, struct yielder, task);
    if (yielder->left-- == 0) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        struct yielder *yielder = sim_new(world, struct yielder);
        rt_task_init(&yielder->task, yielder_poll, NULL, "yielder");
        yielder->left = 4;
        sim_spawn(rt, &yielder->task);
    }
}

static const struct sim_scenario scenario = {.name = "bench/memory", .setup = setup};

static unsigned long
resident_kib(void)
{
    unsigned long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "VmRSS: %lu", &kib);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib;
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
    static struct sim_world world;
    struct sim_random random;
    sim_sites_init();
    sim_random_init(&random);
    struct sim_world_memory memory = {
            .record = {.events = array(4096, sizeof(struct sim_event)),
                    .events_capacity = 4096,
                    .hashes = array(4096, sizeof(uint64_t)),
                    .hashes_capacity = 4096},
    };
    sim_world_init(&world, &memory, NULL, 0xa5);
    struct sim_case what = {.scenario = &scenario, .strategy = &random.strategy};
    sim_options_init(&what.options, &scenario);
    (void)printf("a warm world, %u runs of two tasks and ten steps, events and digest on\n", RUNS);
    for (uint32_t i = 0; i < RUNS; i++) {
        struct sim_outcome outcome;
        what.seed = i;
        sim_judge(&world, &what, (struct sim_recording){true, false}, &outcome);
        if (outcome.verdict != SIM_VERDICT_PASS) {
            return 1;
        }
        if (i == 1000 || (i + 1) % (RUNS / LOOKS) == 0) {
            struct mallinfo2 heap = mallinfo2();
            (void)printf("after %8u runs: resident %6lu KiB, heap in use %8zu bytes, a run's arena "
                         "%zu bytes\n",
                    i, resident_kib(), heap.uordblks, world.arena.used);
        }
    }
    return 0;
}
