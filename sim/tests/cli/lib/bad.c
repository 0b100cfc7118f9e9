/*
 * bad.c -- a library of scenarios that misbehave in every way a process can.
 *
 * Built outside of the tree by the tests, as a user would build theirs. Each scenario does
 * in one task what its name says; those with `some` only where a decision says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/fiber/call.h"
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
    void (*act)(struct sim_world *world);
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    (void)cx;
    job->act(job->world);
    return RT_READY;
}

static void
start(struct sim_world *world, void (*act)(struct sim_world *world))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->act = act;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

#define SCENARIO(id, title, sentence, ...) \
    static void id##_setup(struct sim_world *world) \
    { \
        start(world, id); \
    } \
    SIM_SCENARIO(id##_scenario, .name = title, .about = sentence, .setup = id##_setup, __VA_ARGS__)

static void
good(struct sim_world *world)
{
    (void)sim_pick(world, 4);
}
SCENARIO(good, "bad/good", "Does nothing wrong.", .expect = SIM_VERDICT_PASS);

static void
crash(struct sim_world *world)
{
    static volatile int *volatile nowhere;
    (void)world;
    *nowhere = 1;
}
SCENARIO(crash, "bad/crash", "Follows a null pointer.", .expect = SIM_VERDICT_CRASH);

static void
some_crash(struct sim_world *world)
{
    if (sim_pick(world, 8) == 7) {
        crash(world);
    }
}
SCENARIO(some_crash, "bad/some-crash", "Follows a null pointer now and then.",
        .expect = SIM_VERDICT_CRASH);

static void
aborts(struct sim_world *world)
{
    (void)world;
    abort();
}
SCENARIO(aborts, "bad/abort", "Calls abort.", .expect = SIM_VERDICT_CRASH);

static void
exits(struct sim_world *world)
{
    (void)world;
    exit(3);
}
SCENARIO(exits, "bad/exit", "Calls exit.", .expect = SIM_VERDICT_CRASH);

static volatile int depth_wanted = 1 << 30;

static int
deeper(int depth)
{
    volatile char room[512];
    room[0] = (char)depth;
    return depth < depth_wanted ? deeper(depth + 1) + room[0] : room[0];
}

static void
overflows(struct sim_world *world)
{
    (void)world;
    depth_wanted -= deeper(0) & 1;
}
SCENARIO(overflows, "bad/overflow", "Uses its stack up.", .expect = SIM_VERDICT_CRASH);

static void
overflowing_host(struct rt_host_call *host)
{
    overflows(NULL);
    host->continuation.callback = rt_answered;
}

static void
overflowing_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, overflowing_host, arguments, results);
}

static void
guest_overflows(struct sim_world *world)
{
    struct rt_store *store = sim_new(world, struct rt_store);
    struct rt_call *call = sim_new(world, struct rt_call);
    struct rt_call_config config = {.guest = overflowing_guest};
    rt_store_init(store, sim_engine_new(world, NULL), NULL);
    SIM_ALWAYS(rt_call_init(call, store, &config) == RT_OK);
    (void)rt_call_poll(call);
}
SCENARIO(guest_overflows, "bad/guest-overflow", "Uses a guest's stack up, in a host function.",
        .expect = SIM_VERDICT_CRASH);

static void
some_hang(struct sim_world *world)
{
    static volatile int for_ever = 1;
    while (for_ever && sim_pick(world, 2) == 1) {
        while (for_ever) {
        }
    }
}
SCENARIO(some_hang, "bad/some-hang", "A step that never returns, now and then.",
        .expect = SIM_VERDICT_HANG);

static void
leaks(struct sim_world *world)
{
    (void)world;
    char *volatile kept = malloc(10);
    kept[0] = 0;
    kept = malloc(32);
    kept[0] = 0;
}
SCENARIO(leaks, "bad/leak", "Two blocks are not given back.", .expect = SIM_VERDICT_LEAK);

/* Every call of the family, and all of it given back. */
static void
mallocs(struct sim_world *world)
{
    void *aligned = NULL;
    char *grown = realloc(NULL, 3);
    memcpy(grown, "ab", 3);
    grown = realloc(grown, 4000);
    SIM_ALWAYS(strcmp(grown, "ab") == 0);
    unsigned char *zero = calloc(100, 3);
    for (int i = 0; i < 300; i++) {
        SIM_ALWAYS(zero[i] == 0);
    }
    SIM_ALWAYS(posix_memalign(&aligned, 4096, 100) == 0);
    SIM_ALWAYS((uintptr_t)aligned % 4096 == 0);
    char *copy = strdup("copy");
    (void)world;
    free(copy);
    free(aligned);
    free(zero);
    free(grown);
    free(NULL);
}
SCENARIO(mallocs, "bad/mallocs", "Allocates in every way and gives all of it back.",
        .expect = SIM_VERDICT_PASS);

/* Variables of the library are as they were at load, in every run. */
static int counter = 41;
static __thread int counter_of_thread = 7;
static char *kept_text;

static void
remembers(struct sim_world *world)
{
    (void)world;
    SIM_ALWAYS(counter == 41);
    SIM_ALWAYS(counter_of_thread == 7);
    SIM_ALWAYS(kept_text == NULL);
    counter++;
    counter_of_thread++;
    kept_text = sim_alloc(world, 4);
}
SCENARIO(remembers, "bad/remembers", "Changes its variables, and finds them unchanged.",
        .expect = SIM_VERDICT_PASS);

static void
prints(struct sim_world *world)
{
    (void)world;
    (void)printf("one line\ntwo ");
    (void)printf("halves");
}
SCENARIO(prints, "bad/prints", "Prints to stdout.", .expect = SIM_VERDICT_PASS);

static void
prints_and_fails(struct sim_world *world)
{
    (void)world;
    (void)puts("said before the end");
    SIM_ALWAYS(1 + 1 == 3);
}
SCENARIO(prints_and_fails, "bad/prints-and-fails", "Prints, then breaks its own rule.",
        .expect = SIM_VERDICT_INVARIANT);

/* What it does depends on a byte that it never wrote. */
static void
reads_fresh(struct sim_world *world)
{
    volatile unsigned char *fresh = sim_alloc(world, 16);
    if ((fresh[3] & 1) != 0) {
        sim_log(world, "odd");
    }
}
SCENARIO(reads_fresh, "bad/reads-fresh", "Reads memory that it never wrote.",
        .expect = SIM_VERDICT_PASS);

/* What it does depends on where its memory lies. */
static void
asks_address(struct sim_world *world)
{
    uintptr_t address = (uintptr_t)sim_alloc(world, 16);
    if ((address >> 44 & 1) != 0) {
        sim_log(world, "far");
    }
}
SCENARIO(asks_address, "bad/asks-address", "Depends on an address.", .expect = SIM_VERDICT_PASS);

/* What it does depends on the process: alone in a new one it passes. */
static void
has_past(struct sim_world *world)
{
    mode_t before = umask(0123);
    (void)world;
    SIM_ALWAYS(before != 0123);
}

static const struct sim_param past_params[] = {
        {.name = "size", .about = "Nothing but a number.", .value = 4, .min = 1, .max = 9},
        {.name = NULL},
};
SCENARIO(has_past, "bad/has-past", "Fails where it has run before.", .params = past_params,
        .expect = SIM_VERDICT_PASS);
