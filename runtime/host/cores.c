/*
 * cores.c -- the threads of shards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/cores.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "runtime/base/assert.h"

uint32_t
rt_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
    return count > 0 ? (uint32_t)count : 1;
}

/* The n-th processor that this process may use, counted around; -1: unknown. */
static int
processor_of(uint32_t number)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return -1;
    }
    uint32_t left = number % rt_processors();
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set) && left-- == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Before its thread has begun, the one that makes everything may do all. */
static bool
here(void *argument)
{
    const struct rt_core *core = argument;
    /* Acquire: `thread` was written before. */
    return !atomic_load_explicit(&core->started, memory_order_acquire) ||
           pthread_equal(core->thread, pthread_self()) != 0;
}

/* ---- Making. --------------------------------------------------------------------------------- */

static rt_err
make_shards(struct rt_cores *cores)
{
    size_t pairs = (size_t)cores->count * cores->count;
    size_t members = cores->count * sizeof(struct rt_shard *);
    size_t pipes = pairs * sizeof(struct rt_pipe);
    size_t places = pairs * RT_SHARD_LANE * sizeof(struct rt_message *);
    char *memory = malloc(members + pipes + places);
    if (memory == NULL) {
        return rt_failed(&cores->failure, "memory for shards");
    }
    cores->memory = memory;
    struct rt_shards_config config = {
            .count = cores->count,
            .members = (void *)memory,
            .pipes = (void *)(memory + members),
            .places = (void *)(memory + members + pipes),
            .lane_capacity = RT_SHARD_LANE,
    };
    rt_shards_init(&cores->shards, &config);
    return RT_OK;
}

static rt_err
make_shard(struct rt_core *core)
{
    struct rt_shard_config config = {.runtime = &core->machine.runtime,
            .cells = core->cells,
            .here = here,
            .argument = core};
    return rt_shard_init(&core->shard, &core->cores->shards, core->number, &config);
}

static rt_err
make_machine(struct rt_core *core)
{
    const struct rt_cores_config *how = &core->cores->config;
    struct rt_machine_config config = {.host = &core->host->host,
            .net = &core->host->net,
            .tasks = how->tasks,
            .sockets = how->sockets,
            .task_quota_ns = how->task_quota_ns};
    rt_err err = rt_machine_init(&core->machine, &config);
    if (err != RT_OK) {
        return err;
    }
    core->cells = calloc(core->machine.runtime.executor.targets.capacity, sizeof(core->cells[0]));
    err = core->cells == NULL ? rt_failed(&core->host->failure, "memory for a shard")
                              : make_shard(core);
    if (err != RT_OK) {
        free(core->cells);
        rt_machine_fini(&core->machine);
    }
    return err;
}

static rt_err
make_core(struct rt_cores *cores, uint32_t number)
{
    struct rt_core *core = &cores->all[number];
    const struct rt_linux_kind *kind = cores->config.kind;
    core->cores = cores;
    core->number = number;
    core->processor = cores->config.unpinned ? -1 : processor_of(number);
    atomic_init(&core->started, false);
    rt_err err = kind->make(cores->count > 1, &cores->failure, &core->host);
    if (err != RT_OK) {
        return err;
    }
    err = make_machine(core);
    if (err != RT_OK) {
        cores->failure = core->host->failure;
        kind->end(core->host);
    }
    return err;
}

static void
end_core(struct rt_core *core)
{
    rt_shard_fini(&core->shard);
    rt_machine_fini(&core->machine);
    core->cores->config.kind->end(core->host);
    free(core->cells);
}

static void
release(struct rt_cores *cores, uint32_t made)
{
    for (uint32_t i = 0; i < made; i++) {
        end_core(&cores->all[i]);
    }
    free(cores->all);
    free(cores->memory);
}

rt_err
rt_cores_init(struct rt_cores *cores, const struct rt_cores_config *config)
{
    rt_assert(cores != NULL);
    rt_assert(config->begin != NULL);
    *cores = (struct rt_cores){.config = *config};
    cores->config.kind = config->kind != NULL ? config->kind : &rt_epoll_kind;
    cores->count = config->count != 0 ? config->count : rt_processors();
    rt_assert(pthread_mutex_init(&cores->gate, NULL) == 0);
    cores->all = aligned_alloc(
            RT_CACHE_LINE, (cores->count * sizeof(struct rt_core) + RT_CACHE_LINE - 1) /
                                   RT_CACHE_LINE * RT_CACHE_LINE);
    rt_err err = cores->all != NULL ? make_shards(cores)
                                    : rt_failed(&cores->failure, "memory for cores");
    uint32_t made = 0;
    while (err == RT_OK && made < cores->count) {
        cores->all[made] = (struct rt_core){.result = RT_OK};
        err = make_core(cores, made);
        made += err == RT_OK;
    }
    if (err != RT_OK) {
        release(cores, made);
    }
    return err;
}

void
rt_cores_fini(struct rt_cores *cores)
{
    rt_assert(cores->running == 0);
    release(cores, cores->count);
    (void)pthread_mutex_destroy(&cores->gate);
}

/* ---- Running. -------------------------------------------------------------------------------- */

/* A processor that was taken away meanwhile is no reason to fail. */
static void
pin(const struct rt_core *core)
{
    cpu_set_t set;
    if (core->processor < 0) {
        return;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)core->processor, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* The threads begin together, or none does: a shard without a thread would never be drained. */
static bool
may_begin(struct rt_cores *cores)
{
    rt_assert(pthread_mutex_lock(&cores->gate) == 0);
    bool begins = !cores->given_up;
    rt_assert(pthread_mutex_unlock(&cores->gate) == 0);
    return begins;
}

static void
run(struct rt_core *core)
{
    const struct rt_cores_config *config = &core->cores->config;
    pin(core);
    core->result = config->begin(core, config->argument);
    if (core->result != RT_OK) {
        rt_cores_close(core->cores);
    }
    /* In any case: the other shards end only with this one. */
    rt_err err = rt_shard_run(&core->shard);
    if (err != RT_OK) {
        rt_panic(__FILE__, __LINE__, "a shard's loop ended before its shutdown");
    }
    if (config->end != NULL) {
        config->end(core, config->argument);
    }
}

static void *
core_main(void *argument)
{
    struct rt_core *core = argument;
    if (!may_begin(core->cores)) {
        return NULL;
    }
    core->thread = pthread_self();
    /* Release: `thread`. */
    atomic_store_explicit(&core->started, true, memory_order_release);
    run(core);
    atomic_store_explicit(&core->started, false, memory_order_release);
    return NULL;
}

static rt_err
create_threads(struct rt_cores *cores)
{
    while (cores->running < cores->count) {
        struct rt_core *core = &cores->all[cores->running];
        int error = pthread_create(&core->joins, NULL, core_main, core);
        if (error != 0) {
            cores->given_up = true;
            errno = error;
            (void)rt_failed(&cores->failure, "pthread_create");
            return RT_E_FULL;
        }
        cores->running++;
    }
    return RT_OK;
}

rt_err
rt_cores_start(struct rt_cores *cores)
{
    rt_assert(cores->running == 0);
    rt_assert(pthread_mutex_lock(&cores->gate) == 0);
    rt_err err = create_threads(cores);
    rt_assert(pthread_mutex_unlock(&cores->gate) == 0);
    if (err != RT_OK) {
        rt_err joined = rt_cores_join(cores);
        rt_assert(joined == RT_OK);
    }
    return err;
}

void
rt_cores_close(struct rt_cores *cores)
{
    rt_shards_close(&cores->shards);
}

rt_err
rt_cores_join(struct rt_cores *cores)
{
    rt_err err = RT_OK;
    for (uint32_t i = 0; i < cores->running; i++) {
        struct rt_core *core = &cores->all[i];
        rt_assert(pthread_join(core->joins, NULL) == 0);
        if (err == RT_OK && core->result != RT_OK) {
            err = core->result;
            cores->failure = core->host->failure;
        }
    }
    cores->running = 0;
    return err;
}
